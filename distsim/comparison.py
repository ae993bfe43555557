"""Signatures -> similarities: estimated from bits, exact from contexts."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from distsim.contexts.ngram import NgramModel, feature_space, phrase_contexts
from distsim.contexts.sources.source import PhraseBatch
from distsim.contexts.weights import Weigher
from distsim.corpus.query import split_phrase
from distsim.corpus.vocabulary import hash_texts
from distsim.errors import IncompatibleError
from distsim.indexes import hamming
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import cosine
from distsim.signatures.composition import Composer
from distsim.signatures.feature_store import FeatureStore
from distsim.signatures.projections.spectral import SpectralProjection
from distsim.signatures.recipe import Recipe
from distsim.signatures.signer import Signer
from distsim.signatures.table import SignatureTable

_CACHED_VECTORS = 1 << 12


class Estimate(NamedTuple):
    """An estimated similarity, None where there is none; whether a side was composed."""

    similarity: float | None
    composed: bool


def estimated_cosine(distance: int, n_bits: int) -> float:
    """Return cos(pi * distance / n_bits), the cosine that a Hamming distance stands for.

    Thesis 5.2.3. At 256 bits the standard error is .098 near 0 and .03 at .9.

    >>> estimated_cosine(0, 256)
    1.0
    """
    return math.cos(math.pi * distance / n_bits)


def similarity(
    table: SignatureTable, a: str, b: str, other: SignatureTable | None = None
) -> float | None:
    """Return the estimated cosine of two phrases, None where one has no signature.

    Arguments:
        other: the table in which `b` is looked up, where not in the same one.

    Raises:
        ParameterError: a phrase is empty.
        IncompatibleError: the tables were not made with the same settings.
    """
    return similarities(table, [(a, b)], other)[0]


def similarities(
    table: SignatureTable,
    pairs: Sequence[tuple[str, str]],
    other: SignatureTable | None = None,
) -> list[float | None]:
    """Return the estimated cosine of every pair; see `similarity`."""
    return [one.similarity for one in estimates(table, pairs, other, compose=False)]


def estimates(
    table: SignatureTable,
    pairs: Sequence[tuple[str, str]],
    other: SignatureTable | None = None,
    compose: bool = True,
) -> list[Estimate]:
    """Return the estimated cosine of every pair, and whether it was composed.

    Arguments:
        compose: make the bits of a phrase that is not in the table of its words, where the
            table keeps their vectors; such a similarity is marked `composed`.

    Raises: as `similarity`.
    """
    second = table if other is None else other
    if other is not None:
        table.fingerprint.require_same(other.fingerprint, str(table.path), str(other.path))
    bits_a, known_a, composed_a = _bits_of(table, [a for a, _ in pairs], compose)
    bits_b, known_b, composed_b = _bits_of(second, [b for _, b in pairs], compose)
    known = known_a & known_b
    distances = hamming.distances_to(bits_a[known], bits_b[known])
    composed = composed_a | composed_b
    result = [Estimate(None, False)] * len(pairs)
    for number, distance in zip(np.flatnonzero(known).tolist(), distances.tolist(), strict=True):
        cosine = estimated_cosine(distance, table.n_bits)
        result[number] = Estimate(cosine, bool(composed[number]))
    return result


def _bits_of(
    table: SignatureTable, phrases: list[str], compose: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (bits, whether there are any, whether they were composed) of every phrase."""
    rows = table.find(phrases)
    bits = np.zeros((len(phrases), table.n_bits // 64), np.uint64)
    known = rows >= 0
    bits[known] = table.bits[rows[known]]
    composed = np.zeros(len(phrases), bool)
    for number in np.flatnonzero(~known).tolist() if compose and table.parts else ():
        made = table.composed_bits(phrases[number])
        if made is not None:
            bits[number], known[number], composed[number] = made, True, True
    return bits, known, composed


class ExactCosine:
    """Exact cosines of weighted context vectors, counted from the index on request.

    Arguments:
        index: where contexts are counted.
        table: the table whose window and weights are used.

    Raises:
        IncompatibleError: the table was not signed from this corpus.
    """

    def __init__(self, index: CorpusIndex, table: SignatureTable) -> None:
        _require_corpus(index, table)
        self.index = index
        self._model = _ngram_model(table)
        space = feature_space(index, self._model.window, self._model.sides)
        self._weigher = Weigher(space, table.fingerprint.weighting())
        self._vector = lru_cache(_CACHED_VECTORS)(self._counted_vector)

    def similarity(self, a: str, b: str) -> float | None:
        """Return the exact cosine of two phrases, None where one has no context.

        Raises:
            ParameterError: a phrase is empty.
        """
        features_a, weights_a = self._vector(" ".join(self.index.words(a)))
        features_b, weights_b = self._vector(" ".join(self.index.words(b)))
        value = cosine(features_a, weights_a, features_b, weights_b)
        return None if value < -1.5 else min(1.0, float(value))

    def counts(self, phrases: Sequence[str]) -> np.ndarray:
        """Return how often each phrase occurs in the index, int64."""
        return self.index.count(phrases)

    def similarities(self, pairs: Iterable[tuple[str, str]]) -> list[float | None]:
        """Return the exact cosine of every pair."""
        return [self.similarity(a, b) for a, b in pairs]

    def _counted_vector(self, phrase: str) -> tuple[np.ndarray, np.ndarray]:
        if not phrase:  # every word of it vanished
            return frozen(np.empty(0, np.uint32)), frozen(np.empty(0))
        contexts = phrase_contexts(self.index, phrase, self._model.window, self._model.sides)
        return frozen(contexts.features), frozen(self._weigher.weigh(contexts))


class StoredCosine:
    """Exact cosines of the weighted features that a table keeps (`sign --keep-features`).

    Raises:
        ParameterError: the table was signed without them.
    """

    def __init__(self, table: SignatureTable) -> None:
        self._table = table
        self._store = FeatureStore(table.artifact)
        self._vector = lru_cache(_CACHED_VECTORS)(self._stored_vector)

    def similarity(self, a: str, b: str) -> float | None:
        """Return the exact cosine of two phrases, None where one is not in the table.

        Raises:
            ParameterError: a phrase is empty.
        """
        value = cosine(
            *self._vector(self._table.normal_form(a)), *self._vector(self._table.normal_form(b))
        )
        return None if value < -1.5 else min(1.0, float(value))

    def counts(self, phrases: Sequence[str]) -> np.ndarray:
        """Return the occurrences behind each phrase, 0 where it is not in the table; int64."""
        rows = self._table.find(phrases)
        counts = np.zeros(rows.size, np.int64)
        counts[rows >= 0] = self._table.strengths[rows[rows >= 0]]
        return counts

    def similarities(self, pairs: Iterable[tuple[str, str]]) -> list[float | None]:
        """Return the exact cosine of every pair."""
        return [self.similarity(a, b) for a, b in pairs]

    def _stored_vector(self, phrase: str) -> tuple[np.ndarray, np.ndarray]:
        row = int(self._table.find_normal([phrase])[0])
        if row < 0:
            return frozen(np.empty(0, np.uint64)), frozen(np.empty(0))
        return self._store.features(int(self._table.hashes[row]))


class LearntCosine:
    """Cosines of real-valued vectors in a table's learnt space, made from the index on request.

    What the bits of a learnt table estimate, without the loss of cutting; also for phrases too
    rare for the table, which are then composed of their words and what contexts they have.

    Arguments:
        index: where contexts are counted. table: a table signed from it.
        projection: by which it was signed; the one that belongs to it where None.

    Raises:
        IncompatibleError: the table was not signed from this corpus or by this projection.
    """

    def __init__(
        self,
        index: CorpusIndex,
        table: SignatureTable,
        projection: SpectralProjection | None = None,
    ) -> None:
        _require_corpus(index, table)
        projection = projection or table.projection
        if table.fingerprint.projection != projection.manifest():
            raise IncompatibleError(
                f"{table.path} was not signed by the projection {projection.path}: name the "
                "projection that it was signed by"
            )
        self._index = index
        self._model = _ngram_model(table)
        recipe = Recipe.from_fingerprint(table.fingerprint)
        if recipe.composition is not None and table.parts is None:
            raise IncompatibleError(
                f"{table.path} keeps no vectors of words to compose phrases of: sign it again "
                "without --no-parts"
            )
        composer = Composer(projection.centre, recipe.composition, table.parts)
        self._space = feature_space(index, self._model.window, self._model.sides)
        self._signer = Signer(recipe.weighting, projection, composer, self._space)
        self._table = table
        self._vector = lru_cache(_CACHED_VECTORS)(self._made_vector)

    def estimates(self, pairs: Sequence[tuple[str, str]]) -> list[Estimate]:
        """Return the cosine of every pair; `composed` where a phrase is not in the table."""
        rows = [self._table.find([phrase for phrase, _ in pairs]),
                self._table.find([phrase for _, phrase in pairs])]  # fmt: skip
        composed = ((rows[0] < 0) | (rows[1] < 0)).tolist()
        result = []
        for (a, b), made in zip(pairs, composed, strict=True):
            first, second = (self._vector(" ".join(self._index.words(x))) for x in (a, b))
            if first is None or second is None:
                result.append(Estimate(None, False))
            else:
                result.append(Estimate(float(np.clip(first @ second, -1.0, 1.0)), made))
        return result

    def similarities(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Return the cosine of every pair."""
        return [one.similarity for one in self.estimates(pairs)]

    def _made_vector(self, phrase: str) -> np.ndarray | None:
        if not phrase:
            return None
        contexts = phrase_contexts(self._index, phrase, self._model.window, self._model.sides)
        text = np.frombuffer(phrase.encode(), np.uint8)
        batch = PhraseBatch(
            hashes=hash_texts([phrase.encode()]),
            text=text,
            text_lengths=np.array([text.size]),
            strengths=np.array([self._index.count(phrase)], np.uint64),
            contexts=contexts,
            space=self._space,
        )
        vector = self._signer.vectors(batch)[0].copy()
        return vector if vector.any() else None


def _ngram_model(table: SignatureTable) -> NgramModel:
    if table.fingerprint.is_syntactic:
        raise IncompatibleError(
            f"{table.path}: no index holds the contexts of a syntactic table: sign it again and "
            "keep its features"
        )
    return NgramModel.from_manifest(table.fingerprint.model)


def _require_corpus(index: CorpusIndex, table: SignatureTable) -> None:
    if table.parameters["corpus"] != index.parameters["corpus"]:
        raise IncompatibleError(
            f"{table.path} was not signed from the present text of {index.path}: sign the "
            f"index again (distsim sign {index.path}) or name the one it was signed from"
        )


def reason_without_signature(table: SignatureTable, phrase: str) -> str:
    """Return why a phrase has no signature, in a few words."""
    words = split_phrase(phrase, table.normaliser, table.is_whole)
    if len(words) > table.longest:
        return f"longer than {table.longest} tokens"
    return "not in the table"
