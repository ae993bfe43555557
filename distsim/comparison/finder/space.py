"""Real-valued vectors of phrases and of context features of a learned table.

The only module of the finder that reads the vectors of words in tables.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from distsim.base.errors import IncompatibleError
from distsim.contexts.ngram import NgramModel, WordFeatures
from distsim.contexts.weights import kept_shares
from distsim.indexes.corpus_index import CorpusIndex
from distsim.signatures.composition import PartVectors
from distsim.signatures.kernels.projection import NOWHERE
from distsim.signatures.table import StoredTable

_CACHED_PHRASES = 1 << 12  # 8 MB


class PartSpace:
    """The space in which the vectors of words lie; may be shared by threads.

    n_dimensions: of the vectors.

    Arguments:
        parts: the words with their vectors.
    """

    def __init__(self, parts: PartVectors) -> None:
        self.n_dimensions = parts.n_dimensions
        self._parts = parts
        self._known: dict[tuple[str, ...], np.ndarray] = {}

    def phrase(self, words: tuple[str, ...]) -> np.ndarray | None:
        """Return a phrase's unit vector, made of its words', float64; None if none has one.

        Arguments:
            words: of the phrase.
        """
        (vector,) = self._unit_vectors([words])
        return None if np.isnan(vector[0]) else vector

    def phrases(self, phrases: Sequence[tuple[str, ...]]) -> np.ndarray:
        """Return the unit vectors of phrases, float64[n, n_dimensions], zeros where unknown.

        Arguments:
            phrases: the words of each.
        """
        rows = np.zeros((len(phrases), self.n_dimensions))
        for row, vector in zip(rows, self._unit_vectors(phrases), strict=True):
            if not np.isnan(vector[0]):
                row[:] = vector
        return rows

    def _unit_vectors(self, phrases: Sequence[tuple[str, ...]]) -> list[np.ndarray]:
        """Return the unit vector of each phrase, float64, NaN where none of its words has one."""
        vector_of_words: dict[tuple[str, ...], np.ndarray] = {}
        for words in phrases:
            vector = self._known.get(words)
            if vector is not None:
                vector_of_words[words] = vector
        missing = list(dict.fromkeys(words for words in phrases if words not in vector_of_words))
        if missing:
            new_vectors = dict(
                zip(missing, map(np.copy, self._parts.compose(missing)), strict=True)
            )
            if len(self._known) + len(new_vectors) > _CACHED_PHRASES:
                self._known.clear()
            self._known |= new_vectors
            vector_of_words |= new_vectors
        return [vector_of_words[words] for words in phrases]

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """Return the row of every word, for `vectors_at`, -1 where it has none; int64.

        Arguments:
            words: in normal form.
        """
        return self._parts.find(words)

    def vectors_at(self, rows: np.ndarray) -> np.ndarray:
        """Return the unit vectors of words by their rows, float32[n, n_dimensions].

        Arguments:
            rows: int64[n], rows of words in the table.
        """
        return self._parts.unit_vectors(rows)

    def cosines(self, first: Sequence[str], second: Sequence[str]) -> list[float]:
        """Return the cosine of the vectors of each pair of words, NaN where one has none.

        Arguments:
            first, second: n words each, in normal form.
        """
        numbers = {word: number for number, word in enumerate(dict.fromkeys([*first, *second]))}
        rows = self._parts.find(list(numbers))
        vectors = self._parts.vectors[rows].astype(np.float32)  # sums of products below 2^24
        squares = np.einsum("ij,ij->i", vectors, vectors)
        known = (rows >= 0) & (squares > 0)
        lengths = np.sqrt(np.where(known, squares, np.nan).astype(np.float64))
        a, b = (np.array([numbers[word] for word in side]) for side in (first, second))
        dots = np.einsum("ij,ij->i", vectors[a], vectors[b])
        cosines: list[float] = (dots / (lengths[a] * lengths[b])).tolist()
        return cosines


class LearnedSpace(PartSpace):
    """The space in which a learned table's vectors lie; may be shared by threads.

    n_dimensions: of the vectors. window: tokens on either side that are context.

    Arguments:
        index: the corpus.
        table: its signatures.

    Raises:
        IncompatibleError: the table has no learned projection, or keeps no words' vectors.
    """

    def __init__(self, index: CorpusIndex, table: StoredTable) -> None:
        projection = table.projection
        if table.parts is None:
            raise IncompatibleError(
                f"{table.path} keeps no vectors of words: sign it again with `keep_parts`"
            )
        super().__init__(table.parts)
        model = NgramModel.from_manifest(table.fingerprint.model)
        self.window = model.window
        self._by_side, self._narrow = model.by_side, model.narrow
        self._n_words = index.n_words
        self._centre = projection.centre.astype(np.float64)
        self._vectors = projection.vectors.reshape(-1, projection.n_dimensions)
        self._unit = projection.unit
        self._projection = projection
        self._index, self._shape = index, model.shape
        self._subsample = table.fingerprint.weighting().subsample

    @cached_property
    def _features(self) -> WordFeatures:
        return WordFeatures(self._index, *self._shape)

    def contexts(self, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted vectors of the words around a slot.

        Arguments:
            left, right: int64 word ids, nearest first; 0 or less is passed over.

        Returns:
            (vectors float64[m, n_dimensions], places int64[m]: 1, 2 ... to the right, -1, -2
            ... to the left), a row for each word within the window that has a vector.
        """
        vectors, places = [np.zeros((0, self.n_dimensions))], []
        for side, words in ((0, left), (1, right)):
            for distance, word in enumerate(words[: self.window].tolist(), 1):
                if not 0 < word < self._n_words:
                    continue
                hashes, marginals, totals = self._features.of(word, self._families(side, distance))
                offsets = self._projection.offsets(hashes)
                known = offsets != NOWHERE
                if known.any():
                    rows = self._vectors[offsets[known].astype(np.int64) // self.n_dimensions]
                    share = kept_shares(marginals, totals, self._subsample)[known] * self._unit
                    weight = self.window + 1 - distance if self._by_side else 1
                    vectors.append((weight * share @ rows.astype(np.float64))[None, :])
                    places.append(distance if side else -distance)
        return np.concatenate(vectors), np.array(places, np.int64)

    def _families(self, side: int, distance: int) -> list[int]:
        """Return the families of features in which a word at a distance counts."""
        if not self._by_side:
            return [2 * (distance - 1) + side]
        return [side, 2 * distance + side] if distance <= self._narrow else [side]

    def centred(self, total: np.ndarray) -> tuple[np.ndarray, float]:
        """Return (the unit vector of a sum of contexts as a phrase's is made, 1 / |its scale|).

        As `Composer`: unit(unit(sum) - centre); the second value is what a context's own vector
        is to be multiplied by to be its part of the first. Zeros and 0 for a zero sum.

        total: float64[n_dimensions], the sum.
        """
        length = float(np.sqrt(total @ total))
        if length == 0.0:
            return np.zeros(self.n_dimensions), 0.0
        moved = total / length - self._centre
        scale = float(np.sqrt(moved @ moved))
        return (moved / scale, 1.0 / (scale * length)) if scale > 0.0 else (total * 0.0, 0.0)


def open_space(index: CorpusIndex, table: StoredTable | None) -> LearnedSpace | None:
    """Return the vector space of a learned table that was signed from an index, or None.

    None is returned for a table that is not learned, or is of syntactic contexts or of word
    vectors, or does not store the vectors of words.

    Arguments:
        index: the corpus index.
        table: a table signed from it; None has no space.
    """
    if table is None or not table.fingerprint.is_learned:
        return None
    if table.fingerprint.is_syntactic or table.fingerprint.is_of_vectors or table.parts is None:
        return None
    return LearnedSpace(index, table)
