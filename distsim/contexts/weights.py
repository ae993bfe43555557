"""Weights of counted features: raw, log, ppmi, llr or log-llr; given vectors as such features."""

import math
import threading
from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from distsim.base.arguments import check_types, one_of
from distsim.base.errors import ParameterError
from distsim.corpus.vocabulary import hash_texts
from distsim.kernels import contexts as kernel
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import SCHEMES, Scheme
from distsim.storage.manifest import from_stored, to_stored

_VECTOR_LENGTH = np.float32(1024.0)  # weights are rounded to 2^-12 where they are projected
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


__all__ = ["SCHEMES", "Weigher", "Weighting"]

_KEPT_STEPS = 4096.0
LARGEST_SHIFT = 100.0  # far beyond any logarithm of a ratio of counts
LARGEST_DISCOUNT = 1e6
# The least and the largest value of each setting, and what else a message says of them.
_RANGES = {
    "alpha": (math.ulp(0.0), 1.0, "choose more than 0, at most 1"),
    "shift": (
        -LARGEST_SHIFT, LARGEST_SHIFT, f"choose -{LARGEST_SHIFT:g} to {LARGEST_SHIFT:g}",
    ),
    "subsample": (
        math.ulp(0.0), 1.0, "choose a share of the neighbours, above 0 and at most 1",
    ),
    "discount": (0.0, LARGEST_DISCOUNT, f"choose 0 to {LARGEST_DISCOUNT:g} occurrences"),
    "min_weight": (0.0, LARGEST_SHIFT, f"choose 0 to {LARGEST_SHIFT:g}"),
}  # fmt: skip


@dataclass(frozen=True)
class Weighting:
    """Weighting scheme and settings, by which a feature's count c(p, f) becomes its weight.

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
        subsample: the share t of its family from which on a feature counts less: one with the
            share s > t counts sqrt(t / s) times as often, in c(p, f), c(p) and m(f) alike
            (ppmi). It is the expectation of word2vec's subsampling (Mikolov et al. 2013, 2.3).
            None: every feature counts in full.
        discount: d takes the weight times c / (c + d), c being c(p, f), since associations seen
            once or twice are mostly chance (Pantel and Lin 2002, 3; ppmi). 0: no discount.
        min_weight: smaller weights are 0, where a phrase has larger ones (ppmi).

    Raises:
        ParameterError: there is no such scheme, or a setting is no number or out of range.

    >>> Weighting("ppmi", shift=0.5).manifest()
    {'scheme': 'ppmi', 'alpha': 0.75, 'shift': 0.5}
    """

    scheme: str = "raw"
    _: KW_ONLY
    alpha: float = 0.75
    shift: float = 1.0
    subsample: float | None = None
    discount: float = 0.0
    min_weight: float = 0.0

    def __post_init__(self) -> None:
        check_types(self)
        one_of(self.scheme, SCHEMES, "weights")
        for name, (least, largest, wanted) in _RANGES.items():
            value = getattr(self, name)
            if name == "subsample" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                kind = type(value).__name__
                raise ParameterError(f"{name} {value!r}: is {kind}, wanted a number")
            if not least <= value <= largest:
                raise ParameterError(f"{name} {value}: {wanted}")

    @property
    def needs(self) -> Scheme:
        """The arrays and settings that the scheme needs, as SCHEMES lists them."""
        return SCHEMES[self.scheme]

    @property
    def uses_marginals(self) -> bool:
        """Whether a weight depends on the corpus beyond the phrase's own counts."""
        return self.needs.marginals

    def manifest(self, marginals: str | None = None) -> dict[str, Any]:
        """Return the settings for a manifest: the scheme and those that change its weights.

        Arguments:
            marginals: checksum of the corpus counts; kept where the weights depend on them.
        """
        settings = {name: getattr(self, name) for name in self.needs.settings}
        for name, unused in (("subsample", None), ("discount", 0.0), ("min_weight", 0.0)):
            if settings.get(name) == unused:
                settings.pop(name, None)
        if marginals is not None and self.uses_marginals:
            settings["marginals"] = marginals
        return {"scheme": self.scheme} | to_stored(settings)

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Weighting":
        """Return the weighting that a manifest describes.

        Arguments:
            values: as `manifest` returns them.
        """
        settings = from_stored(values)
        settings.pop("marginals", None)
        return cls(**settings)


def known_logarithms(n: int) -> np.ndarray:
    """Return ln i of i = 0 .. n - 1, 0 for 0, float64[n], as kernels look them up."""
    return frozen(np.log(np.maximum(1, np.arange(n))))


_LOGARITHMS = known_logarithms(4096)  # of most counts


class Weigher:
    """Computation of the weights of counted features; may be shared by threads.

    Attributes:
        manifest: what a fingerprint keeps of the weights.

    Arguments:
        weighting: the scheme and its settings.
        marginals: checksum of the corpus counts, for the manifest.
    """

    def __init__(self, weighting: Weighting, marginals: str | None = None) -> None:
        self.manifest = weighting.manifest(marginals)
        self._weighting = weighting
        self._settings = kernel.WeightSettings(
            weighting.needs.code, float(weighting.shift), float(weighting.discount),
            float(weighting.min_weight),
        )  # fmt: skip
        self._tables: FirstCached[FeatureSpace, kernel.WeightTables] = FirstCached(
            self._make_tables
        )
        self._log_totals: FirstCached[MarginalCounts, np.ndarray] = FirstCached(
            lambda whole: family_log_totals(whole, weighting)
        )

    def weigh(self, contexts: ContextCounts, space: FeatureSpace) -> np.ndarray:
        """Return the weight of every feature of every row, float64, beside contexts.features.

        Arguments:
            space: the space in which they are numbered.
        """
        weights: np.ndarray = kernel.weigh(
            frozen(contexts.starts), frozen(contexts.features), frozen(contexts.counts),
            self._tables(space), self._settings,
        )  # fmt: skip
        return weights

    @property
    def uses_marginals(self) -> bool:
        """Whether a weight depends on the corpus beyond the phrase's own counts."""
        return self._weighting.uses_marginals

    def prepared(self, space: FeatureSpace) -> FeatureSpace:
        """Return the space with ln P and kept share of features, where the scheme needs them."""
        weighting = self._weighting
        if not weighting.needs.probabilities or space.log_p is not None:
            return space
        shares_kept = kept_shares(
            space.marginals, space.totals[space.families], weighting.subsample
        )
        if space.whole is None:
            log_p = feature_log_probabilities(space, weighting.alpha, shares_kept)
        else:
            log_p = kernel.log_probabilities(
                frozen(space.families), frozen(space.marginals * shares_kept),
                self._log_totals(space.whole), weighting.alpha,
            )  # fmt: skip
        return replace(space, log_p=log_p, kept=shares_kept)

    def _make_tables(self, space: FeatureSpace) -> kernel.WeightTables:
        needs, nothing = self._weighting.needs, np.empty(0)
        space = self.prepared(space)
        chances = np.empty((0, 2))
        if space.kept is not None and space.log_p is not None:
            chances = np.column_stack(
                [2.0 * space.families + space.kept, np.log(space.kept) - space.log_p]
            )
        wants_marginals = needs.marginals and not needs.probabilities
        return kernel.WeightTables(
            frozen(space.families),
            frozen(space.marginals if wants_marginals else nothing),
            frozen(chances),
            frozen(space.totals if needs.marginals else nothing),
            _LOGARITHMS,
        )


def kept_shares(marginals: np.ndarray, totals: np.ndarray, subsample: float | None) -> np.ndarray:
    """Return the share of its occurrences with which each feature counts, float64.

    Multiples of 2^-12, so that sums of shares times counts are exact in any order.

    Arguments:
        marginals: float64[n], each feature's count.
        totals: float64[n], the count of its family.
        subsample: share of its family above which a feature counts less; None: none does.
    """
    if subsample is None:
        return np.ones(marginals.size)
    shares = marginals / np.maximum(totals, 1.0)
    shares_kept = np.sqrt(subsample / np.maximum(shares, subsample))
    rounded: np.ndarray = np.maximum(np.round(shares_kept * _KEPT_STEPS), 1.0) / _KEPT_STEPS
    return rounded


def feature_log_probabilities(
    space: FeatureSpace, alpha: float, kept: np.ndarray | None = None
) -> np.ndarray:
    """Return ln P(f) of each feature, float64[n]: P(f) = m(f)^alpha / sum of m^alpha in its family.

    Arguments:
        space: the features, with their counts m.
        alpha: exponent of the features' counts in P(f).
        kept: float64[n], the share of m(f) that counts; all of it where None.
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


def family_log_totals(whole: MarginalCounts, weighting: Weighting) -> np.ndarray:
    """Return ln of the sum of m^alpha over all features of each family, float64[n_families].

    Summed exactly, so that it does not depend on the order of the features.
    """
    log_totals = np.zeros(whole.totals.size)
    for family in range(whole.totals.size):
        mine = whole.families == family
        counts = whole.counts[mine]
        shares_kept = kept_shares(counts, whole.totals[family], weighting.subsample)
        powers = [
            math.pow(count, weighting.alpha) * n
            for count, n in zip(
                (counts * shares_kept).tolist(), whole.n_features[mine].tolist(), strict=True
            )
        ]
        log_totals[family] = math.log(math.fsum(powers)) if powers else 0.0
    return frozen(log_totals)


@dataclass(frozen=True, kw_only=True)
class VectorModel:
    """Phrases are made of the vectors of their words.

    Arguments:
        centre: take the words' mean vector off each (of length 1) before bits are cut, so that
            about half of them are set.

    >>> VectorModel().manifest()
    {'name': 'vectors', 'centre': True}
    """

    name: ClassVar[str] = "vectors"
    centre: bool = True

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a manifest."""
        return {"name": self.name, **asdict(self)}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "VectorModel":
        """Return the model that a manifest describes.

        Arguments:
            values: as `manifest` returns them.
        """
        return cls(centre=bool(values["centre"]))


def dimension_space(n: int) -> FeatureSpace:
    """Return the feature space of a vector's dimensions."""
    names = [b"dimension:%d" % number for number in range(n)]
    return FeatureSpace(
        family_names=("dimension",),
        families=np.zeros(n, np.uint8),
        hashes=hash_texts(names),
        marginals=np.ones(n),
        totals=np.array([float(n)]),
    )


def dimension_counts(vectors: np.ndarray) -> ContextCounts:
    """Return vectors as counted features, every row scaled to one length.

    Arguments:
        vectors: float32[n, dimensions].
    """
    n, dimensions = vectors.shape
    squares = np.square(vectors, dtype=np.float64)
    lengths = np.sqrt(squares.sum(axis=1))[:, None].astype(np.float64)
    scaled = vectors / np.where(lengths > 0, lengths, 1.0) * _VECTOR_LENGTH
    return ContextCounts(
        np.arange(n + 1, dtype=np.int64) * dimensions,
        np.tile(np.arange(dimensions, dtype=np.uint32), n),
        scaled.astype(np.float32).reshape(-1),
    )


def no_counts(n: int, dtype: type[np.number[Any]] = np.float32) -> ContextCounts:
    """Return empty rows, for phrases whose contexts are not counted."""
    return ContextCounts(np.zeros(n + 1, np.int64), np.empty(0, np.uint32), np.empty(0, dtype))
