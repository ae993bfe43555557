"""Counted features -> weights: raw, log, ppmi, llr or log-llr."""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.errors import ParameterError
from distsim.kernels import contexts as kernel
from distsim.kernels.compiled import frozen

Scheme = Literal["raw", "log", "ppmi", "llr", "log-llr"]
SCHEMES: tuple[str, ...] = get_args(Scheme)
LARGEST_SHIFT = 100.0  # far beyond any logarithm of a ratio of counts
_CODES = {
    "raw": kernel.RAW,
    "log": kernel.LOG,
    "ppmi": kernel.PPMI,
    "llr": kernel.LLR,
    "log-llr": kernel.LOG_LLR,
}


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
    """

    scheme: Scheme = "raw"
    alpha: float = 0.75
    shift: float = 1.0

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ParameterError(f"weights {self.scheme!r}: choose one of {', '.join(SCHEMES)}")
        if not 0.0 < self.alpha <= 1.0:
            raise ParameterError(f"alpha {self.alpha}: choose more than 0, at most 1")
        if not abs(self.shift) <= LARGEST_SHIFT:
            raise ParameterError(
                f"shift {self.shift}: choose -{LARGEST_SHIFT:g} to {LARGEST_SHIFT:g}"
            )

    @property
    def uses_marginals(self) -> bool:
        """Whether a weight depends on the corpus beyond the phrase's own counts."""
        return self.scheme in ("ppmi", "llr", "log-llr")

    def manifest(self) -> dict[str, Any]:
        """Return what a manifest keeps: the scheme and the settings that matter to it."""
        if self.scheme != "ppmi":
            return {"scheme": self.scheme}
        return {"scheme": self.scheme, "alpha": self.alpha, "shift": self.shift}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Weighting":
        """Return the weighting that a manifest describes."""
        return cls(**{name: value for name, value in values.items() if name != "marginals"})


class Weigher:
    """Weighs the features of one feature space.

    Arguments:
        log_p: ln P(f) by feature, where the space is a part of a larger one, so
            that they cannot be made from its own marginals.
    """

    def __init__(
        self,
        space: FeatureSpace,
        weighting: Weighting,
        log_p: np.ndarray | None = None,
    ) -> None:
        self._code = scheme_code(weighting)
        self._shift = weighting.shift
        self._families = frozen(space.families)
        self._marginals = frozen(space.marginals)
        self._totals = frozen(space.totals)
        if log_p is None:
            uses = weighting.scheme == "ppmi"
            log_p = feature_log_probabilities(space, weighting.alpha) if uses else np.empty(0)
        self._log_p = frozen(log_p)

    def weigh(self, contexts: ContextCounts) -> np.ndarray:
        """Return the weight of every feature of every row, float64."""
        return kernel.weigh(
            frozen(contexts.starts), frozen(contexts.features), frozen(contexts.counts),
            self._families, self._marginals, self._log_p, self._totals, self._code, self._shift,
        )  # fmt: skip


def scheme_code(weighting: Weighting) -> int:
    """Return the number by which kernels know a scheme."""
    return _CODES[weighting.scheme]


def feature_log_probabilities(space: FeatureSpace, alpha: float) -> np.ndarray:
    """Return ln P(f) with P(f) = m(f)^alpha / sum of m^alpha over f's family."""
    log_p = np.full(space.marginals.size, np.inf)
    for family in range(len(space.family_names)):
        mine = np.flatnonzero((space.families == family) & (space.marginals > 0))
        # Equal marginals have equal powers: few distinct ones, summed exactly, so that the
        # sum does not depend on how the features are numbered.
        counts, inverse, repeats = np.unique(
            space.marginals[mine], return_inverse=True, return_counts=True
        )
        powers = [math.pow(count, alpha) for count in counts.tolist()]
        total = math.fsum(p * n for p, n in zip(powers, repeats.tolist(), strict=True))
        log_p[mine] = np.array([math.log(p / total) for p in powers])[inverse]
    return log_p
