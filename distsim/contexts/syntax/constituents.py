"""Family `constituent`: the constituents that are the phrase.

`c_syn_span_NP`: one feature for every node over exactly the phrase, parts of speech and unary
chains included, the root left out; labels without their functions (NP-SBJ is NP).
"""

from collections.abc import Iterator

from distsim.contexts.syntax.templates import Place, Template

NAME = "constituent"


def templates() -> Iterator[tuple[Place, Template]]:
    """Yield the template of constituents, with its place in Templates.spans."""
    yield (0,), Template("c_syn_span_")
