"""Counted features -> weights: raw, log, ppmi, llr or log-llr."""

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from distsim.base.errors import ParameterError
from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.kernels import contexts as kernel
from distsim.kernels.compiled import frozen
from distsim.kernels.schemes import SCHEMES, Scheme

__all__ = ["SCHEMES", "Weigher", "Weighting"]

_KEPT_STEPS = 4096.0
LARGEST_SHIFT = 100.0  # far beyond any logarithm of a ratio of counts
LARGEST_DISCOUNT = 1e6


@dataclass(frozen=True)
class Weighting:
    """How a feature's count c(p, f) becomes its weight.

    Arguments:
        scheme:
            `raw`: c(p, f), the thesis's model (5.2.1).
            `log`: ln(1 + c(p, f)).
            `ppmi`: max(0, ln(c(p, f) / (c(p) P(f))) - shift), P(f) = m(f)^alpha / sum m^alpha
                with m(f) the feature's count in the corpus and c(p) the phrase's total, both
                within the feature's family.
            `llr`: Dunning's G2 of phrase and feature, 0 where they meet no more often than
                chance has it.
            `log-llr`: ln(1 + G2), so that a few very strong features, mostly function words, do
                not hide the others.
        alpha: below 1 makes rare features weigh less (ppmi).
        shift: higher keeps only stronger associations (ppmi).
        subsample: the share t of its family from which on a feature is too frequent to tell
            much: one with the share s > t counts sqrt(t / s) times as often, in c(p, f), c(p)
            and m(f) alike (ppmi). It is the expectation of word2vec's subsampling (Mikolov
            et al. 2013, 2.3), with nothing left to chance. None: every feature counts in full.
        discount: d takes the weight times c / (c + d), c being c(p, f): associations seen once
            or twice are mostly luck (Pantel and Lin 2002, 3; ppmi). 0 takes nothing off.
        least: weights below it are 0, where a phrase has others: what hardly tells is mostly luck,
            too (ppmi).

    >>> Weighting("ppmi", shift=0.5).manifest()
    {'scheme': 'ppmi', 'alpha': 0.75, 'shift': 0.5}
    """

    scheme: str = "raw"
    _: KW_ONLY
    alpha: float = 0.75
    shift: float = 1.0
    subsample: float | None = None
    discount: float = 0.0
    least: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, str) or self.scheme not in SCHEMES:
            raise ParameterError(f"weights {self.scheme!r}: choose one of {', '.join(SCHEMES)}")
        for name in ("alpha", "shift", "discount", "least"):
            _require_number(name, getattr(self, name))
        if self.subsample is not None:
            _require_number("subsample", self.subsample)
        if not 0.0 < self.alpha <= 1.0:
            raise ParameterError(f"alpha {self.alpha}: choose more than 0, at most 1")
        if not abs(self.shift) <= LARGEST_SHIFT:
            raise ParameterError(
                f"shift {self.shift}: choose -{LARGEST_SHIFT:g} to {LARGEST_SHIFT:g}"
            )
        if self.subsample is not None and not 0.0 < self.subsample <= 1.0:
            raise ParameterError(
                f"subsample {self.subsample}: choose a share of the neighbours, above 0 and at "
                "most 1"
            )
        if not 0.0 <= self.discount <= LARGEST_DISCOUNT:
            raise ParameterError(
                f"discount {self.discount}: choose 0 to {LARGEST_DISCOUNT:g} occurrences"
            )
        if not 0.0 <= self.least <= LARGEST_SHIFT:
            raise ParameterError(f"least {self.least}: choose 0 to {LARGEST_SHIFT:g}")

    @property
    def needs(self) -> Scheme:
        """What the scheme needs; see kernels.schemes."""
        return SCHEMES[self.scheme]

    @property
    def uses_marginals(self) -> bool:
        """Whether a weight depends on the corpus beyond the phrase's own counts."""
        return self.needs.marginals

    def manifest(self) -> dict[str, Any]:
        """Return what a manifest keeps: the scheme and the settings that matter to it."""
        settings = {name: getattr(self, name) for name in self.needs.settings}
        if self.subsample is None:
            settings.pop("subsample", None)
        for name in ("discount", "least"):
            if not getattr(self, name):
                settings.pop(name, None)
        return {"scheme": self.scheme} | settings

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Weighting":
        """Return the weighting that a manifest describes."""
        return cls(**{name: value for name, value in values.items() if name != "marginals"})


def known_logarithms(n: int) -> np.ndarray:
    """Return ln i of i = 0 .. n - 1, 0 for 0, float64, as kernels look them up."""
    return frozen(np.log(np.maximum(1, np.arange(n))))


_LOGARITHMS = known_logarithms(4096)  # of most counts


class Weigher:
    """Weighs the features of one feature space."""

    def __init__(self, space: FeatureSpace, weighting: Weighting) -> None:
        needs = weighting.needs
        self._code = needs.code
        self._shift = float(weighting.shift)
        self._discount = float(weighting.discount)
        self._least = float(weighting.least)
        self._families = frozen(space.families)
        nothing = np.empty(0)
        wants_marginals = needs.marginals and not needs.probabilities
        self._marginals = frozen(space.marginals if wants_marginals else nothing)
        self._totals = frozen(space.totals if needs.marginals else nothing)
        self._chances = np.empty((0, 2))
        if needs.probabilities:
            log_p, kept = space.log_p, space.kept
            if kept is None:
                totals = space.totals[space.families]
                kept = kept_shares(space.marginals, totals, weighting.subsample)
            if log_p is None:
                log_p = feature_log_probabilities(space, weighting.alpha, kept)
            self._chances = np.column_stack([2.0 * space.families + kept, np.log(kept) - log_p])
        self._chances = frozen(self._chances)

    def weigh(self, contexts: ContextCounts) -> np.ndarray:
        """Return the weight of every feature of every row, float64."""
        weights: np.ndarray = kernel.weigh(
            frozen(contexts.starts), frozen(contexts.features), frozen(contexts.counts),
            self._families, self._marginals, self._chances, self._totals,
            _LOGARITHMS, self._code, self._shift, self._discount, self._least,
        )  # fmt: skip
        return weights


def prepared(space: FeatureSpace, weighting: Weighting) -> FeatureSpace:
    """Return a space with what weights need of every feature made once, to be kept and mapped."""
    if not weighting.needs.probabilities:
        return space
    kept = kept_shares(space.marginals, space.totals[space.families], weighting.subsample)
    log_p = space.log_p
    if log_p is None:
        log_p = feature_log_probabilities(space, weighting.alpha, kept)
    return replace(space, log_p=log_p, kept=kept)


def kept_shares(marginals: np.ndarray, totals: np.ndarray, subsample: float | None) -> np.ndarray:
    """Return the share of its occurrences with which each feature counts, float64.

    Multiples of 2^-12, so that sums of shares times counts are exact in any order.

    Arguments:
        marginals: each feature's count. totals: that of its family.
        subsample: as in Weighting.
    """
    if subsample is None:
        return np.ones(marginals.size)
    shares = marginals / np.maximum(totals, 1.0)
    kept = np.sqrt(subsample / np.maximum(shares, subsample))
    rounded: np.ndarray = np.maximum(np.round(kept * _KEPT_STEPS), 1.0) / _KEPT_STEPS
    return rounded


def feature_log_probabilities(
    space: FeatureSpace, alpha: float, kept: np.ndarray | None = None
) -> np.ndarray:
    """Return ln P(f) with P(f) = m(f)^alpha / sum of m^alpha over f's family.

    Arguments:
        kept: the share of m(f) that counts, by feature; all of it where None.
    """
    marginals = space.marginals if kept is None else space.marginals * kept
    log_p = np.full(space.marginals.size, np.inf)
    for family in range(len(space.family_names)):
        mine = np.flatnonzero((space.families == family) & (marginals > 0))
        # Equal marginals have equal powers: few distinct ones, summed exactly, so that the
        # sum does not depend on how the features are numbered.
        counts, inverse, repeats = np.unique(
            marginals[mine], return_inverse=True, return_counts=True
        )
        powers = [math.pow(count, alpha) for count in counts.tolist()]
        total = math.fsum(p * n for p, n in zip(powers, repeats.tolist(), strict=True))
        log_p[mine] = np.array([math.log(p / total) for p in powers])[inverse]
    return log_p


def _require_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ParameterError(f"{name} {value!r}: is {type(value).__name__}, wanted a number")
