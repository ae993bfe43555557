"""Family `head`: the head token of a phrase that is one complete subtree.

`c_head_lex_investment` and the other kinds: the one token of the phrase whose basic head lies
outside, only where every other token of the phrase depends on it and nothing outside does.
"""

from collections.abc import Iterable, Iterator

from distsim.contexts.syntax.templates import KINDS, Place, Template

NAME = "head"


def templates(kinds: Iterable[str]) -> Iterator[tuple[Place, Template]]:
    """Yield the templates, each with its place [kind].

    Arguments:
        kinds: names of tokens in features, out of KINDS.
    """
    for kind in kinds:
        yield (KINDS.index(kind),), Template(f"c_head_{kind}_")
