"""Families `dep`, `enhanced`, `collapsed`, `propagated`: arcs that cross a phrase's edge.

`l_dep_amod_lex_city`: a token of the phrase depends on `city`, which is on the left;
`r_gov_nsubj_pos_NN`: one governs an NN on the right. The side is where the arc's other end
lies; the root's arc is `l_dep_root_lex_ROOT`, of any kind. Basic dependencies are `dep` and
`gov`, enhanced ones `edep` and `egov`, collapsed `cdep` and `cgov`, propagated `pdep`, `pgov`.
"""

from collections.abc import Iterable, Iterator

from distsim.contexts.syntax.templates import KINDS, SIDES, Place, Template

# In the order of the kernel's graphs: the family and what its features' names begin with.
GRAPHS = {"dep": "", "enhanced": "e", "collapsed": "c", "propagated": "p"}
NAMES = tuple(GRAPHS)
ROOT = "ROOT"


def templates(families: Iterable[str], kinds: Iterable[str]) -> Iterator[tuple[Place, Template]]:
    """Yield the templates, each with its place [graph, direction, side, kind].

    Arguments:
        families: names out of NAMES.
        kinds: names of tokens in features, out of KINDS.
    """
    kinds = list(kinds)
    for family in families:
        graph = NAMES.index(family)
        for direction, role in enumerate(("dep", "gov")):
            for side_number, side in enumerate(SIDES):
                for kind in kinds:
                    yield (
                        (graph, direction, side_number, KINDS.index(kind)),
                        Template(f"{side}_{GRAPHS[family]}{role}_", f"_{kind}_"),
                    )
