"""Settings of the paraphraser: the parameters of Marton (2013), filters and limits."""

from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from distsim.base.arguments import (
    Entailment,
    OppositesPlace,
    ParaphrasePreset,
    check_types,
    in_range,
    one_of,
)
from distsim.base.errors import ParameterError
from distsim.base.settings import presets
from distsim.contexts.weights import Weighting

LONGEST_PHRASE = 6
WIDEST = 20

ENTAILMENTS: tuple[str, ...] = get_args(Entailment)


@dataclass(frozen=True, kw_only=True)
class ParaphraseOptions:
    """Settings of the paraphraser (Marton 2013, section 3.2; his names are given).

    Arguments:
        window: MaxPos; tokens on either side whose words are counted in a profile.
        places: number of nearest words on either side that are counted once more, with their
            position: substitutes of a phrase occur directly beside the same words; 0: none, as
            in the paper.
        sample: s; maximum number of occurrences from which a profile is made.
        mcc: a side of a context grows until its count is at most this; higher finds more
            candidates and takes longer.
        max_length: MaxPhraseLen; the longest candidates, in tokens.
        min_score: minScore; paraphrases below are left out. None: below .05, with `kinds` and for
            phrases .03, but no words of the finder, whose scores are no cosines.
        k: maximum number of paraphrases; those of a lower k begin those of a higher one.
        weighting: strength of association between a phrase and a collocate. LLR is the
            paper's; its logarithm, the default, finds more renamed words and ranks them better
            (bench/README.md), rare ones above all.
        entailment: leave out candidates whose words all occur in the focal phrase in the same
            order (`contained`: the paper's wording), or the other way round (`containing`: the
            paper's example, `spoken very softly` for `spoken softly`), or `both`.
        length_difference: leave out candidates longer or shorter by more tokens; None: none.
        substrings: leave out candidates that contain the focal phrase or are a part of it.
        collapsed: leave out candidates that begin with one paraphrase, or the focal phrase,
            and end with another (`fall tokyo ap stock prices fell` for `fall`).
        overlapping: leave out candidates that stand across the edge of the focal phrase (`in las`
            for `las vegas`), or have punctuation that it has not.
        doubt: the score of a candidate that occurs n times is multiplied by n / (n + doubt):
            one that occurs once is similar to the focal phrase by the context alone by which
            it was found. 0: no change.
        min_count: a candidate that was found by a single shared context, and by nothing else,
            occurs so often at least: a rarer one is like the focal phrase by little but the
            context by which it was found. 1: all are kept.
        walk: approximate number of occurrences of contexts that are visited; None: no limit.
        screened: maximum number of candidates, those of the strongest evidence; None: all.
        screens: (occurrences, candidates, share) of each screen: profiles of so few occurrences
            decide which candidates remain, at most that many, with at least that share of the
            score of the `depth`-th best; none: all are profiled in full.
        depth: number of best candidates that the screens should not lose; 2 `depth` pass a screen
            that would leave fewer.
        candidate_sample: maximum number of occurrences for the profile of a candidate; None:
            `sample`.
        one_sided: maximum number of candidates from contexts of one side, seen on the left and on
            the right; 0: none.
        one_sided_mcc: maximum count of such a side.
        neighbours: so many more candidates from a table of signatures, one for each set of
            distinctive words, and as many of those as long as the focal phrase, or more; 0: none.
        neighbour_strength: one for a set of distinctive words has at least so many occurrences
            behind it; one as long as the focal phrase 5, or all that the table asks for.
        finder: find paraphrases of a single word by what `sign` stored beside the table, if it did.
        weights: of what `sign` stored: `substitutes`, which ship, or a file of `rank`.
        forms: beside such a table, also other forms of the focal phrase, and all forms of its
            paraphrases; those of a word are found by contexts then.
        opposites: with a table, opposites of the focal phrase come below the other paraphrases
            (`last`), are left out (`out`), or stay where they rank (`ranked`).
        kinds: the score of a candidate for a phrase of several words is multiplied by how alike the
            words right beside both are, on the left and on the right, common words as they are,
            others by their last letter: phrases of one grammatical kind stand between the same.
        filled: candidates from contexts, with those as long as the focal phrase, are so many in
            all: phrases with few contexts are rare, and found by little but their signatures.

    Raises:
        ParameterError: a value is outside its range.

    >>> ParaphraseOptions().weighting.scheme
    'log-llr'
    """

    window: int = 6
    places: int = 2
    sample: int = 10_000
    mcc: int = 512
    max_length: int = 6
    min_score: float | None = None
    k: int = 20
    weighting: Weighting = field(default_factory=lambda: Weighting("log-llr"))
    entailment: Entailment = "off"
    length_difference: int | None = 2
    substrings: bool = True
    collapsed: bool = True
    overlapping: bool = True
    doubt: float = 1.0
    min_count: int = 5
    walk: int | None = 1_000_000
    screened: int | None = 30_000
    screens: tuple[tuple[int, int, float], ...] = (
        (16, 800, 0.2), (64, 200, 0.4), (256, 60, 0.8),
    )  # fmt: skip
    depth: int = 20
    candidate_sample: int | None = None
    one_sided: int = 100
    one_sided_mcc: int = 64
    neighbours: int = 100
    neighbour_strength: int = 20
    filled: int = 400
    finder: bool = True
    weights: str = "substitutes"
    forms: bool = False
    opposites: OppositesPlace = "last"
    kinds: bool = True

    def __post_init__(self) -> None:
        check_types(self)
        in_range(self.window, "window", 1, WIDEST)
        in_range(self.places, "places", 0, WIDEST)
        in_range(self.sample, "sample", 1)
        in_range(self.mcc, "mcc", 1)
        in_range(self.max_length, "longest candidates", 1, LONGEST_PHRASE)
        in_range(self.k, "k", 1)
        in_range(self.min_count, "minimum count", 1)
        in_range(self.depth, "depth", 1)
        for occurrences, kept, share in self.screens:
            in_range(share, "share of a screen", 0.0, 1.0)
            in_range(occurrences, "occurrences of a screen", 1)
            in_range(kept, "kept by a screen", 1)
        if self.min_score is not None:
            in_range(self.min_score, "minimum score", 0.0, 1.0)
        for name in ("walk", "screened", "candidate_sample"):
            value = getattr(self, name)
            if value is not None:
                in_range(value, name.replace("_", " "), 1)
        for name in ("one_sided", "neighbours", "neighbour_strength", "filled"):
            in_range(getattr(self, name), name.replace("_", " "), 0)
        if self.length_difference is not None:
            in_range(self.length_difference, "length difference", 0)
        in_range(self.one_sided_mcc, "one-sided mcc", 1)
        if not 0.0 <= self.doubt < float("inf"):
            raise ParameterError(f"doubt {self.doubt}: choose 0 or more")
        weighting = self.weighting
        if weighting.subsample is not None or weighting.discount or weighting.min_weight:
            raise ParameterError(
                "a subsample, discount or least weight: profiles know none, leave them out"
            )
        one_of(self.opposites, get_args(OppositesPlace), "opposites")
        one_of(self.entailment, ENTAILMENTS, "entailment")

    def manifest(self) -> dict[str, Any]:
        """Return the settings as plain values, for a file that was made with them."""
        return {**asdict(self), "weighting": self.weighting.manifest()}


# What `distsim paraphrase --preset NAME` starts from: data/recipes/paraphrase/NAME.toml.
PRESETS = presets("paraphrase", get_args(ParaphrasePreset), ParaphraseOptions())
