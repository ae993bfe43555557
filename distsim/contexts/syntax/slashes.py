r"""Family `ccg`: the slashed labels of a phrase that is part of a constituent.

Thesis 3.2.2, after Zollmann and Venugopal (2006): the phrase may be an X that lacks a Y on its
right (X/Y) or on its left (X\Y).

Of every label X/Y the two features `r_syn_pref_X` (the phrase begins an X) and `r_syn_miss_Y`
(a Y is missing on its right); of every label X\Y `l_syn_suff_X` and `l_syn_miss_Y`. A label
counts once; two labels with one side in common count that side twice.
"""

from collections.abc import Iterator

from distsim.contexts.syntax.templates import Place, Template

NAME = "ccg"


def templates() -> Iterator[tuple[Place, Template]]:
    """Yield the templates with their places, in the kernel's order."""
    for place, prefix in enumerate(("r_syn_pref_", "r_syn_miss_", "l_syn_suff_", "l_syn_miss_")):
        yield (place,), Template(prefix)
