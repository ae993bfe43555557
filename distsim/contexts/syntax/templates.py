"""Templates of features' names: text around two slots, each filled by a text of the corpus."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

KINDS = ("lex", "lem", "pos", "ner")
SIDES = ("l", "r")

# Where a template is in the array by which the kernel finds it.
Place = tuple[int, ...]


class Template(NamedTuple):
    """The names `prefix + a + middle + b + suffix`; b is empty where one text is enough.

    >>> Template("l_dep_", "_lex_").name("amod", "long")
    'l_dep_amod_lex_long'
    """

    prefix: str
    middle: str = ""
    suffix: str = ""

    def name(self, a: str, b: str) -> str:
        """Return the name of one feature.

        Arguments:
            a, b: the texts at the two places; b is empty where one is enough.
        """
        return f"{self.prefix}{a}{self.middle}{b}{self.suffix}"

    @property
    def pattern(self) -> str:
        """The name of all features of this shape: a family of its own when it is weighed."""
        return f"{self.prefix}*{self.middle}{self.suffix}"


NGRAM = "ngram"


def ngram_templates(kinds: Iterable[str], window: int) -> Iterator[tuple[Place, Template]]:
    """Yield the templates, each with its place [side, kind, tokens - 1, distance - 1].

    Family `ngram`: words, lemmas, parts of speech and entity classes near a phrase.

    `l_lex_on_to_3`, `r_pos_NN_1`: the unigrams and bigrams that lie within `window` tokens of the
    phrase's edge, on its left (l) and right (r). The number is how far the n-gram's first token is
    from the phrase: on the left i - position, on the right position - j + 1 for a phrase [i, j).
    N-grams reach neither into the phrase nor over the sentence's edge.

    Arguments:
        kinds: names of tokens in features, out of KINDS.
        window: tokens on either side.
    """
    for side_number, side in enumerate(SIDES):
        for kind in kinds:
            for distance in range(1, window + 1):
                place = (side_number, KINDS.index(kind))
                start = f"{side}_{kind}_"
                yield (*place, 0, distance - 1), Template(start, f"_{distance}")
                if (distance > 1) if side == "l" else (distance < window):
                    yield (*place, 1, distance - 1), Template(start, "_", f"_{distance}")


CONSTITUENT = "constituent"


def constituent_templates() -> Iterator[tuple[Place, Template]]:
    """Yield the template of constituents, with its place in Templates.spans.

    Family `constituent`: the constituents that are the phrase.

    `c_syn_span_NP`: one feature for every node over exactly the phrase, parts of speech and unary
    chains included, the root left out; labels without their functions (NP-SBJ is NP).
    """
    yield (0,), Template("c_syn_span_")


SLASHES = "ccg"


def slash_templates() -> Iterator[tuple[Place, Template]]:
    r"""Yield the templates with their places, in the kernel's order.

    Family `ccg`: the slashed labels of a phrase that is part of a constituent.

    Thesis 3.2.2, after Zollmann and Venugopal (2006): the phrase may be an X that lacks a Y on its
    right (X/Y) or on its left (X\Y).

    Of every label X/Y the two features `r_syn_pref_X` (the phrase begins an X) and `r_syn_miss_Y`
    (a Y is missing on its right); of every label X\Y `l_syn_suff_X` and `l_syn_miss_Y`. A label
    counts once; two labels with one side in common count that side twice.
    """
    for place, prefix in enumerate(("r_syn_pref_", "r_syn_miss_", "l_syn_suff_", "l_syn_miss_")):
        yield (place,), Template(prefix)


# In the order of the kernel's graphs: the family and what its features' names begin with.
GRAPHS = {"dep": "", "enhanced": "e", "collapsed": "c", "propagated": "p"}
DEPENDENCIES = tuple(GRAPHS)
ROOT = "ROOT"


def dependency_templates(
    families: Iterable[str], kinds: Iterable[str]
) -> Iterator[tuple[Place, Template]]:
    """Yield the templates, each with its place [graph, direction, side, kind].

    Families `dep`, `enhanced`, `collapsed`, `propagated`: arcs that cross a phrase's edge.

    `l_dep_amod_lex_city`: a token of the phrase depends on `city`, which is on the left;
    `r_gov_nsubj_pos_NN`: one governs an NN on the right. The side is where the arc's other end
    lies; the root's arc is `l_dep_root_lex_ROOT`, of any kind. Basic dependencies are `dep` and
    `gov`, enhanced ones `edep` and `egov`, collapsed `cdep` and `cgov`, propagated `pdep`, `pgov`.

    Arguments:
        kinds: names of tokens in features, out of KINDS.
    """
    kinds = list(kinds)
    for family in families:
        graph = DEPENDENCIES.index(family)
        for direction, role in enumerate(("dep", "gov")):
            for side_number, side in enumerate(SIDES):
                for kind in kinds:
                    yield (
                        (graph, direction, side_number, KINDS.index(kind)),
                        Template(f"{side}_{GRAPHS[family]}{role}_", f"_{kind}_"),
                    )


HEAD = "head"


def head_templates(kinds: Iterable[str]) -> Iterator[tuple[Place, Template]]:
    """Yield the templates, each with its place [kind].

    Family `head`: the head token of a phrase that is one complete subtree.

    `c_head_lex_investment` and the other kinds: the one token of the phrase whose basic head lies
    outside, only where every other token of the phrase depends on it and nothing outside does.

    Arguments:
        kinds: names of tokens in features, out of KINDS.
    """
    for kind in kinds:
        yield (KINDS.index(kind),), Template(f"c_head_{kind}_")
