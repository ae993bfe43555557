"""The syntactic model: its switches (families, kinds, window) and templates."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from distsim.base.arguments import check_types, in_range, one_of
from distsim.base.errors import ParameterError
from distsim.contexts.kernels import syntax as kernel
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import hash_states

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


FAMILIES = (
    NGRAM, CONSTITUENT, SLASHES, *DEPENDENCIES,
    HEAD,
)  # fmt: skip
WIDEST = 4  # the toolkit's own default; the thesis's text has 3
LONGEST = 8  # tokens of a phrase: three bits of a packed occurrence


@dataclass(frozen=True, kw_only=True)
class SyntaxModel:
    """Syntactic model: the families and kinds of features that a phrase has.

    Arguments:
        families: names out of FAMILIES; fewer families, fewer features and less time.
        kinds: of lex, lem, pos, ner: what tokens are named by.
        window: tokens on either side in which n-grams are features, 1 to 4.

    Raises:
        ParameterError: a name is not known, nothing is left, or the window is out of range.

    >>> SyntaxModel(families=("dep", "head"), window=2).kinds
    ('lex', 'lem', 'pos', 'ner')
    """

    name: ClassVar[str] = "syntax"
    families: tuple[str, ...] = FAMILIES
    kinds: tuple[str, ...] = KINDS
    window: int = 3

    def __post_init__(self) -> None:
        check_types(self)
        object.__setattr__(self, "families", _chosen("features", self.families, FAMILIES))
        object.__setattr__(self, "kinds", _chosen("kinds", self.kinds, KINDS))
        in_range(self.window, "window", 1, WIDEST)

    @cached_property
    def _placed(self) -> dict[str, dict[Place, int]]:
        """Where each template is, by the kernel's name for the array."""
        return {
            array: {place: number for number, (name, place, _) in self._numbered if name == array}
            for array in ("ngrams", "spans", "slashes", "arcs", "heads")
        }

    @cached_property
    def _numbered(self) -> list[tuple[int, tuple[str, Place, Template]]]:
        templates: list[tuple[str, Place, Template]] = []
        if NGRAM in self.families:
            templates += [("ngrams", *t) for t in ngram_templates(self.kinds, self.window)]
        if CONSTITUENT in self.families:
            templates += [("spans", *t) for t in constituent_templates()]
        if SLASHES in self.families:
            templates += [("slashes", *t) for t in slash_templates()]
        graphs = [name for name in DEPENDENCIES if name in self.families]
        templates += [("arcs", *t) for t in dependency_templates(graphs, self.kinds)]
        if HEAD in self.families:
            templates += [("heads", *t) for t in head_templates(self.kinds)]
        return list(enumerate(templates))

    @cached_property
    def templates(self) -> list[Template]:
        """All templates; a feature's family, when it is weighed, is the number of its own."""
        return [template for _, (_, _, template) in self._numbered]

    def kernel_templates(self, root_text: int) -> kernel.Templates:
        """Return the templates as arrays for the kernel.

        Arguments:
            root_text: the number of the text of the root.
        """
        middles = [template.middle.encode() for template in self.templates]
        suffixes = [template.suffix.encode() for template in self.templates]
        pieces = [piece for pair in zip(middles, suffixes, strict=True) for piece in pair]
        ends = np.cumsum([0, *map(len, pieces)])
        prefixes = [template.prefix.encode() for template in self.templates]
        prefix_ends = np.cumsum([0, *map(len, prefixes)])
        shapes: dict[str, tuple[int, ...]] = {
            "ngrams": (2, len(KINDS), 2, self.window),
            "arcs": (len(DEPENDENCIES), 2, 2, len(KINDS)),
            "spans": (1,),
            "slashes": (4,),
            "heads": (len(KINDS),),
        }
        arrays = {}
        for name, shape in shapes.items():
            numbers = np.full(shape, kernel.OFF, np.int16)
            for place, number in self._placed[name].items():
                numbers[place] = number
            arrays[name] = frozen(numbers)
        return kernel.Templates(
            **arrays,
            root=frozen(np.array([root_text], np.int32)),
            states=frozen(
                hash_states(
                    frozen(np.frombuffer(b"".join(prefixes), np.uint8)), frozen(prefix_ends)
                )
            ),
            text=frozen(np.frombuffer(b"".join(pieces), np.uint8)),
            offsets=frozen(np.stack([ends[:-1:2], ends[1::2], ends[2::2]], axis=1)),
        )

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint."""
        return {
            "name": "syntax",
            "window": self.window,
            "families": list(self.families),
            "kinds": list(self.kinds),
        }

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "SyntaxModel":
        """Return the model that a manifest describes.

        Arguments:
            values: as `manifest` returns them.
        """
        return cls(
            families=tuple(values["families"]),
            kinds=tuple(values["kinds"]),
            window=values["window"],
        )


def _chosen(argument: str, names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in their canonical order.

    Raises:
        ParameterError: one is not known, or there are none.
    """
    for name in names:
        one_of(name, known, argument)
    if not names:
        raise ParameterError(f"{argument}: none chosen: choose of {', '.join(known)}")
    return tuple(name for name in known if name in names)
