"""The training set of a learned projection: frequent words with their weighted contexts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.arguments import check_types
from distsim.base.errors import ParameterError
from distsim.contexts.sources.source import (
    CountedText,
    PhraseBatch,
    TrainingLimits,
    Work,
    batch_results,
)
from distsim.contexts.weights import FeatureSpace, FirstCached, Weigher
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.kernels.projection import (
    EXACT_SUM,
    WEIGHT_STEPS,
    rounded_cells,
    transposed_rows,
)
from distsim.signatures.projections.projection import LARGEST_ENTRY, Projection
from distsim.signatures.projections.singular import times_rows

if TYPE_CHECKING:  # else imported where it is needed: every command starts sooner
    from scipy import sparse

_EXACT_WEIGHT = 2.0**24 / WEIGHT_STEPS  # a multiple of 2^-12 below it is exact in float32


@dataclass(frozen=True, kw_only=True)
class Learning:
    """How a projection is learned; memory and time grow with each setting.

    Arguments:
        rows: the most frequent words, at most so many, are rows of the training matrix.
        features: the most frequent features, at most so many, are its columns; the others have no
            vector.
        rank: singular directions kept; 1.5 times the bits where None. Bits are cut from the
            strongest, words' vectors keep all.
        iterations: passes over the matrix and back after two first ones; more find the directions
            more exactly.
        exponent: of the singular values in the words' vectors; less makes rarer distinctions
            count more.
        narrow_share: the length of the part of the nearest words, which are counted by positions,
            beside that of the words by sides, where a model has both.

    Raises:
        ParameterError: a number is below 1.

    >>> Learning(rank=100).rows
    25000
    """

    rows: int = 25_000
    features: int = 80_000
    rank: int | None = None
    iterations: int = 3
    exponent: float = 0.5
    narrow_share: float = 0.7

    def __post_init__(self) -> None:
        check_types(self)
        if min(self.rows, self.features, self.iterations, self.rank or 1) < 1:
            raise ParameterError(
                f"rows {self.rows}, features {self.features}, rank {self.rank}, iterations "
                f"{self.iterations}: choose counts of 1 or more"
            )
        if not (0 <= self.exponent <= 1 and 0 < self.narrow_share <= 10):
            raise ParameterError(
                f"exponent {self.exponent}, narrow share {self.narrow_share}: choose 0 to 1, and "
                "above 0 to 10"
            )

    def directions(self, n_bits: int) -> int:
        """Return the number of singular directions kept.

        Arguments:
            n_bits: bits of a signature.
        """
        return self.rank or n_bits + n_bits // 2

    def dimensions(self, n_bits: int) -> int:
        """Return the number of dimensions kept of two spaces side by side.

        Arguments:
            n_bits: bits of a signature.
        """
        return max(2 * n_bits, self.directions(n_bits))

    def manifest(self, is_centred: bool) -> dict[str, Any]:
        """Return the settings for a projection's manifest.

        Arguments:
            is_centred: whether the words' mean vector is subtracted; then bits are cut behind a
                rotation that fits the words, else behind a random one.
        """
        rotation = "itq" if is_centred else "random"
        return asdict(self) | {"rotation": rotation}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Learning":
        """Return how a projection was learned.

        Arguments:
            values: as `manifest` returns them.
        """
        return cls(
            rows=values["rows"],
            features=values["features"],
            rank=values["rank"],
            iterations=values["iterations"],
            exponent=values["exponent"],
            narrow_share=values.get("narrow_share", 0.7),
        )


class WordRows(NamedTuple):
    """Some words of the training set, with their weighted features as sparse rows.

    Attributes:
        hashes: uint64[n], of the words.
        strengths: int[n], occurrences.
        starts: int64[n + 1], where each row begins.
        columns: int32, each feature's place in the training set, below 0 where it has none.
        weights: float, beside `columns`.
    """

    hashes: np.ndarray
    strengths: np.ndarray
    starts: np.ndarray
    columns: np.ndarray
    weights: np.ndarray


class Training:
    """The training set of a learned projection, and the settings.

    Attributes:
        n_bits: bits of a signature.
        seed: of all random numbers.

    Arguments:
        learn: (training, writer, work) -> TrainingRows or None; writes the projection.
        text: its most frequent words are the rows.
        weigher: of their contexts.
        learning: settings, limited by what the text gives.
    """

    def __init__(
        self,
        learn: "Learn",
        text: CountedText,
        weigher: Weigher,
        learning: Learning,
        n_bits: int,
        seed: int,
    ) -> None:
        self.n_bits, self.seed = n_bits, seed
        self._learn = learn
        self._text = text
        self._weigher = weigher
        self._wanted = learning

    @cached_property
    def _limits(self) -> TrainingLimits:
        return self._text.training_limits(self._wanted.rows, self._wanted.features)

    @cached_property
    def learning(self) -> Learning:
        """The settings, with the size that the text gives."""
        rows, features, _ = self._limits
        rank = self._wanted.directions(self.n_bits)
        return replace(self._wanted, rows=rows, features=features, rank=rank)

    @property
    def is_centred(self) -> bool:
        """Whether the words' mean vector is taken off before bits are cut."""
        return bool(self._text.model.get("centre", True))

    @property
    def content(self) -> str:
        """The checksum of the text; with equal settings it gives an equal projection."""
        return self._text.content

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings that the projection's manifest keeps."""
        return {
            "model": self._text.model,
            "weights": self._weigher.manifest,
            "bits": self.n_bits,
            "seed": self.seed,
            "learning": self.learning.manifest(self.is_centred),
        }

    @cached_property
    def features(self) -> np.ndarray:
        """Hashes of the features that are columns, uint64, ascending."""
        return np.sort(np.concatenate(self._grouped_features))

    @cached_property
    def groups(self) -> np.ndarray:
        """The group of each feature, uint8: groups are decomposed apart.

        With words by sides and by positions these are two groups, else all features are one.
        """
        groups = np.empty(self.features.size, np.uint8)
        for number, features in enumerate(self._grouped_features):
            groups[find_sorted(frozen(self.features), frozen(features))] = number
        return groups

    @cached_property
    def _grouped_features(self) -> list[np.ndarray]:
        max_features, model = self.learning.features, self._text.model
        side_families = [n for n, name in enumerate(model.get("families", ())) if "-" in name]
        if model["name"] != "ngram" or len(side_families) in (0, len(model["families"])):
            return [self._text.frequent_features(max_features)]
        others = [n for n in range(len(model["families"])) if n not in side_families]
        return [
            self._text.frequent_features_of(group, max_features)
            for group in (side_families, others)
        ]

    def rows(self, work: Work) -> Iterator[WordRows]:
        """Yield the words that are rows, in batches, more frequent than others or not.

        Arguments:
            work: threads and progress.
        """
        if self._weigher.uses_marginals:
            self._text.gather_marginals()
        features = frozen(self.features)

        def columns_of(space: FeatureSpace) -> np.ndarray:
            columns: np.ndarray = find_sorted(features, frozen(space.hashes)).astype(np.int32)
            return columns

        columns = FirstCached(columns_of)

        def weighted(batch: PhraseBatch) -> WordRows:
            contexts, space = batch.contexts, batch.space
            return WordRows(
                batch.hashes, batch.strengths, contexts.starts,
                columns(space)[contexts.features], self._weigher.weigh(contexts, space),
            )  # fmt: skip

        text = self._text
        words = text.parts(self._limits.min_count, 1)
        yield from batch_results(text, words, weighted, work, "learning", text.total())

    def learn(self, writer: storage.ArtifactWriter, work: Work) -> "TrainingRows | None":
        """Learn the projection, write it, and return the rows where signing can use them again.

        Arguments:
            writer: of the projection's artifact.
            work: threads and progress.

        Raises:
            ParameterError: there is too little text to learn from.
        """
        return self._learn(self, writer, work)


class TrainingMatrix(NamedTuple):
    """The most frequent words by the features, as a sparse matrix.

    Attributes:
        hashes: uint64[n], of the words, by strength, then hash.
        strengths: int64[n], occurrences.
        weights: float32[n, features] of scipy, columns ascending in each row, rounded as
            kernels.projection rounds them.
        transposed: the same, transposed, its columns ascending too.
        are_exact: whether signing would round the weights alike.
    """

    hashes: np.ndarray
    strengths: np.ndarray
    weights: "sparse.csr_matrix"
    transposed: "sparse.csr_matrix"
    are_exact: bool

    def of_features(self, columns: np.ndarray) -> "tuple[sparse.csr_matrix, sparse.csr_matrix]":
        """Return the weights of some features, and the same transposed.

        Arguments:
            columns: int64, their columns, ascending.
        """
        from scipy import sparse

        if columns.size == self.weights.shape[1]:
            return self.weights, self.transposed
        across = self.transposed[columns]
        cells = (across.indptr.astype(np.int64), across.indices, across.data)
        n = self.weights.shape[0]
        along = transposed_rows(*map(frozen, cells), frozen(np.arange(columns.size)), n)
        shape = (n, columns.size)
        return sparse.csr_matrix((along[2], along[1], along[0]), shape=shape), across

    @classmethod
    def gather(
        cls, rows: Iterable[WordRows], n_features: int, max_features: int
    ) -> "TrainingMatrix":
        """Return the matrix of the `max_features` most frequent words.

        Arguments:
            rows: words with their weighted features.
            n_features: columns of the matrix.
            max_features: rows of the matrix, at most.
        """
        from scipy import sparse

        hashes, strengths = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        sizes, columns = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        values = [np.empty(0, np.float32)]
        are_exact = True
        for batch in rows:
            starts, kept, rounded, bound, highest = rounded_cells(
                frozen(batch.starts), frozen(batch.columns), frozen(batch.weights)
            )
            are_exact &= bool(bound * LARGEST_ENTRY < EXACT_SUM / 2 and highest < _EXACT_WEIGHT)
            hashes.append(batch.hashes)
            strengths.append(batch.strengths.astype(np.int64))
            sizes.append(np.diff(starts))
            columns.append(kept)
            values.append(rounded)
        all_hashes, all_strengths = np.concatenate(hashes), np.concatenate(strengths)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        order = np.lexsort((all_hashes, -all_strengths))[:max_features]
        cells = starts, np.concatenate(columns), np.concatenate(values)
        del columns, values
        across = transposed_rows(*map(frozen, cells), frozen(order), n_features)
        del cells
        along = transposed_rows(*map(frozen, across), frozen(np.arange(n_features)), order.size)
        shape = (order.size, n_features)
        matrix = sparse.csr_matrix((along[2], along[1], along[0]), shape=shape)
        transposed = sparse.csr_matrix((across[2], across[1], across[0]), shape=shape[::-1])
        return cls(all_hashes[order], all_strengths[order], matrix, transposed, are_exact)


@dataclass(frozen=True)
class TrainingRows:
    """Words that a projection was learned from; their sums need not be counted and weighed again.

    Attributes:
        hashes: uint64[n], ascending.
        rows: int64[n], each word's row in `weights`.
        weights: float32[n, features] of scipy, as signing rounds them.
        min_count: all words that occur more often are among them.
    """

    hashes: np.ndarray
    rows: np.ndarray
    weights: "sparse.csr_matrix"
    min_count: int

    @classmethod
    def of(cls, matrix: TrainingMatrix) -> "TrainingRows | None":
        """Return the words of a matrix, None where signing would round their weights otherwise.

        Arguments:
            matrix: of the training set.
        """
        if not matrix.are_exact:
            return None
        order = np.argsort(matrix.hashes, kind="stable")
        return cls(matrix.hashes[order], order, matrix.weights, int(matrix.strengths[-1]))

    def fill_sums(self, hashes: np.ndarray, projection: Projection, sums: np.ndarray) -> None:
        """Overwrite the projected sums of those of the words that are in the training set.

        They are exact, whatever the order in which they are summed: vectors are multiples of 2^-12.

        Arguments:
            hashes: uint64[n], of words.
            projection: the one that was learned from them.
            sums: float64[n, n_dimensions]; the rows of other words stay.
        """
        places = find_sorted(frozen(self.hashes), frozen(hashes))
        here = np.flatnonzero(places >= 0)
        if not here.size:
            return
        row_sums = np.empty((here.size, sums.shape[1]))
        vectors = projection.vectors.reshape(-1, sums.shape[1])
        times_rows(self.weights, vectors, self.rows[places[here]], row_sums)
        sums[here] = row_sums * projection.unit


Learn = Callable[[Training, storage.ArtifactWriter, Work], TrainingRows | None]
