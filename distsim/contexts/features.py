"""Feature families and sparse rows of counted features, the output of all context models."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, eq=False)
class MarginalCounts:
    """Histogram of the counts of all features of a corpus, by family.

    Attributes:
        families: int64[m], the family of each entry.
        counts: float64[m], occurrences in the corpus; distinct within a family.
        n_features: int64[m], the number of features that have this family and this count.
        totals: float64[n_families], occurrences of all features of each family.
    """

    families: np.ndarray
    counts: np.ndarray
    n_features: np.ndarray
    totals: np.ndarray


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """The features of a corpus, or of a part of it, numbered from 0.

    Attributes:
        family_names: one short name a family (`l1`: the first word on the left).
        families: uint8[n], the family of each feature.
        hashes: uint64[n], the hash of each feature's text (`l1:revise`).
        marginals: float64[n], occurrences of the feature in the corpus.
        totals: float64[n_families], occurrences of all features of each family.
        log_p: float64[n], ln P(f), where it was computed before; else None.
        kept: float64[n], the share of its count with which each feature counts; with `log_p`.
        whole: counts of all features of the corpus, where the space contains only some of them.
    """

    family_names: tuple[str, ...]
    families: np.ndarray
    hashes: np.ndarray
    marginals: np.ndarray
    totals: np.ndarray
    log_p: np.ndarray | None = None
    kept: np.ndarray | None = None
    whole: MarginalCounts | None = None


@dataclass(frozen=True)
class ContextCounts:
    """The features of some phrases with their counts, as sparse rows.

    Phrase i has features[starts[i]:starts[i + 1]], each once, in no particular order.

    Attributes:
        starts: int64[n + 1].
        features: uint32, numbers in a FeatureSpace.
        counts: uint32, or uint64 where they are larger.
    """

    starts: np.ndarray
    features: np.ndarray
    counts: np.ndarray


class FirstCached(Generic[K, V]):
    """make(key), cached for the first key that is asked for; may be shared by threads.

    Batches of most texts share one feature space, whose tables are expensive; batches of
    annotated text have a small space each.

    Arguments:
        make: computes the value of a key; keys are compared by identity.
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._first: tuple[K, V] | None = None

    def __call__(self, key: K) -> V:
        """Return the value of a key."""
        with self._lock:
            if self._first is None:
                self._first = key, self._make(key)
        first, value = self._first
        return value if key is first else self._make(key)
