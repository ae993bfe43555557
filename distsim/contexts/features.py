"""Feature families and sparse rows of counted features: what all context models produce."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FeatureSpace:
    """All features that a model can see in one corpus, numbered from 0.

    family_names: one short name a family (`l1`: the first word on the left).
    families: uint8, the family of each feature.
    hashes: uint64, the stable name of each feature, a hash of its text (`l1:revise`).
    marginals: float64, how often the feature occurs in the corpus.
    totals: float64, the occurrences of all features of each family.
    log_p: float64, ln P(f) by feature, where the space is a part of a larger one, so that it cannot
        be made from its own marginals, or was made before; else None.
    kept: float64, the share of its count with which each feature counts, where it was made before.
    """

    family_names: tuple[str, ...]
    families: np.ndarray
    hashes: np.ndarray
    marginals: np.ndarray
    totals: np.ndarray
    log_p: np.ndarray | None = None
    kept: np.ndarray | None = None


@dataclass(frozen=True)
class ContextCounts:
    """The features of some phrases with their counts, as sparse rows.

    starts: int64[n + 1]; features: uint32, numbers in a FeatureSpace; counts: uint32, or uint64
    where they are larger.
    Phrase i has features[starts[i]:starts[i + 1]], each once, in no particular order.
    """

    starts: np.ndarray
    features: np.ndarray
    counts: np.ndarray
