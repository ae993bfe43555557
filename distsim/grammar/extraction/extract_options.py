"""Options of an extraction, and its presets."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from distsim.base.arguments import check_types, in_range, one_of
from distsim.base.choices import Chains, ExtractPreset, Labels, Unlabelled
from distsim.base.errors import ParameterError
from distsim.base.settings import presets
from distsim.grammar.kernels import extraction as kernels

_LABELS: dict[str, int] = {
    "none": kernels.X_ONLY,
    "thesis": kernels.THESIS,
    "slashes": kernels.NO_SUMS,
    "constituents": kernels.CONSTITUENTS,
    "every": kernels.EVERY,
}
_UNLABELLED: dict[str, int] = {
    "keep": kernels.NONE_NEEDED,
    "drop-gappy": kernels.IN_GAPPY,
    "drop": kernels.IN_ALL,
}
_LONGEST_GAPPY = 15  # a gap's place is four bits


@dataclass(frozen=True, kw_only=True)
class ExtractOptions:
    """Options of an extraction: limits and labels of rules; the defaults are those of Hiero.

    Arguments:
        longest: tokens of an initial pair, on either side; at most 15 where there are gaps.
        most_symbols: symbols of either side of a rule with gaps.
        most_gaps: 0, 1 or 2.
        loose: the edges of an initial pair may run on over unlinked words; many more rules.
        min_linked: linked words that must be outside the gaps.
        may_touch: two gaps may be neighbours on the source side.
        labels: `none` (all are X); `thesis`, the first of constituent, X/Y, X\\Y, X+Y, X+Y+Z
            (thesis 3.2.2); `slashes`, without sums; `constituents` alone (Callison-Burch 2008, 3);
            `every`, a rule for each label that the span has (the same, 3.2), no gaps.
        unlabelled: what becomes of rules with X as label or gap where there are trees:
            `keep`, `drop-gappy` (only those with gaps) or `drop`.
        chains: of constituents over the same words the `top` one or the `bottom` one.
        whole: each sentence pair, however long, is a rule too.
        min_count: rarer rules are left out once everything is counted; those of one word
            without gaps stay.

    >>> ExtractOptions(most_gaps=0, longest=7).labels
    'none'
    """

    longest: int = 10
    most_symbols: int = 5
    most_gaps: int = 2
    loose: bool = False
    min_linked: int = 1
    may_touch: bool = False
    labels: Labels = "none"
    unlabelled: Unlabelled = "keep"
    chains: Chains = "top"
    whole: bool = True
    min_count: int = 1

    def __post_init__(self) -> None:
        check_types(self)
        in_range(self.most_gaps, "most_gaps", 0, 2)
        top = _LONGEST_GAPPY if self.most_gaps else kernels.CHART - 1
        in_range(self.longest, "longest", 1, top)
        in_range(self.most_symbols, "most_symbols", 1, top)
        in_range(self.min_linked, "min_linked", 0)
        in_range(self.min_count, "min_count", 1)
        one_of(self.labels, _LABELS, "labels")
        one_of(self.unlabelled, _UNLABELLED, "unlabelled")
        one_of(self.chains, get_args(Chains), "chains")
        if self.labels == "every" and self.most_gaps:
            raise ParameterError("labels 'every' is for rules without gaps: set most_gaps to 0")

    def settings(self, has_trees: bool) -> np.ndarray:
        """Return the options as the kernels read them, int64[9].

        has_trees: without trees every label is X, and none is needed.

        >>> ExtractOptions(labels="thesis", unlabelled="drop").settings(False).tolist()
        [10, 5, 2, 0, 1, 0, 0, 0, 1]
        """
        return np.array(
            [
                self.longest,
                self.most_symbols,
                self.most_gaps,
                self.loose,
                self.min_linked,
                self.may_touch,
                _LABELS[self.labels] if has_trees else kernels.X_ONLY,
                _UNLABELLED[self.unlabelled] if has_trees else kernels.NONE_NEEDED,
                self.whole,
            ],
            np.int64,
        )


# What `distsim extract --preset NAME` starts from: data/recipes/extract/NAME.toml.
PRESETS = presets("extract", get_args(ExtractPreset), ExtractOptions())
