"""Signs batches of phrases: weights their contexts, projects them, takes the signs."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from distsim.contexts.sources.source import (
    BATCH_PHRASES,
    CountedText,
    PhraseBatch,
    Work,
    batch_results,
)
from distsim.contexts.weights import FeatureSpace, FirstCached, Weigher, no_counts
from distsim.kernels.compiled import frozen
from distsim.signatures.composition import Composer, OwnVectors, PartWords
from distsim.signatures.kernels.projection import cut_bits, project
from distsim.signatures.projections.projection import Projection
from distsim.signatures.projections.training import TrainingRows


@dataclass(frozen=True)
class SignedBatch:
    """A batch with its bits.

    Attributes:
        phrases: the batch.
        bits: uint64[n, n_bits / 64].
        has_signature: bool[n], False where the sum of a phrase is a zero vector.
        shares: uint8[n], of a phrase's own contexts in its vector, in steps of 1 / 255.
        own: vectors of the composed phrases that have a share of their own contexts.
    """

    phrases: PhraseBatch
    bits: np.ndarray
    has_signature: np.ndarray
    shares: np.ndarray
    own: OwnVectors | None = None

    def where(self, kept: np.ndarray) -> "SignedBatch":
        """Return some of the phrases.

        Arguments:
            kept: bool[n].
        """
        return SignedBatch(
            self.phrases.where(kept), self.bits[kept], self.has_signature[kept], self.shares[kept]
        )


class Signer:
    """Signs batches of phrases; may be shared by threads.

    Arguments:
        weigher: computes the features' weights.
        projection: the features' vectors.
        composer: turns sums into vectors of the learned space before their bits are cut; None with
            random vectors.
    """

    def __init__(
        self, weigher: Weigher, projection: Projection, composer: Composer | None = None
    ) -> None:
        self._weigher = weigher
        self._projection = projection
        self._composer = composer
        self._vectors = frozen(projection.vectors)
        self._of_thread = threading.local()
        self._offsets: FirstCached[FeatureSpace, np.ndarray] = FirstCached(
            lambda space: frozen(projection.offsets(space.hashes))
        )

    def sign(self, batch: PhraseBatch) -> SignedBatch:
        """Return the batch with its bits.

        Arguments:
            batch: phrases with their contexts.
        """
        own = None if self._composer is None else self._composer.has_own(batch)
        if own is None or own.all():
            return self.cut(batch, *self.composed(batch, self.sums(batch)))
        assert self._composer is not None
        bits = np.empty((own.size, self._projection.n_bits // 64), np.uint64)
        shares = np.zeros(own.size, np.uint8)
        has_signature = self._composer.cut_made_of_words(batch, bits)
        if own.any():
            others = batch.where(own)
            signed = self.cut(others, *self.composed(others, self.sums(others)))
            bits[own], has_signature[own], shares[own] = (
                signed.bits,
                signed.has_signature,
                signed.shares,
            )
            return SignedBatch(batch, bits, has_signature, shares, signed.own)
        return SignedBatch(batch, bits, has_signature, shares)

    def cut(self, batch: PhraseBatch, vectors: np.ndarray, shares: np.ndarray) -> SignedBatch:
        """Return a batch with the bits of its vectors.

        Arguments:
            batch: n phrases.
            vectors: float64[n, n_dimensions].
            shares: uint8[n], of the phrases' own contexts.
        """
        bits = np.empty((len(vectors), self._projection.n_bits // 64), np.uint64)
        own = None
        if self._composer is not None and self._composer.composes:
            longer = (shares > 0) & (batch.token_counts() > 1)
            own = OwnVectors.of(batch.hashes[longer], vectors[longer])
        return SignedBatch(batch, bits, cut_bits(frozen(vectors), bits), shares, own)

    def named_weights(self, batch: PhraseBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return the hash and the weight of every feature of every row, uint64 and float64.

        Arguments:
            batch: phrases with their contexts.
        """
        weights = self._weigher.weigh(batch.contexts, batch.space)
        return batch.space.hashes[batch.contexts.features], weights

    def offsets(self, space: FeatureSpace) -> np.ndarray:
        """Return where the vector of every feature of a space begins in the projection, uint32.

        Arguments:
            space: of a batch.
        """
        return self._offsets(space)

    def vectors(self, batch: PhraseBatch) -> np.ndarray:
        """Return the vectors that bits are cut from, float64[n, n_dimensions].

        The array is the thread's own and overwritten by its next batch.

        Arguments:
            batch: n phrases with their contexts.
        """
        return self.composed(batch, self.sums(batch))[0]

    def composed(self, batch: PhraseBatch, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the composed unit vectors of a batch, written over its sums.

        Arguments:
            batch: n phrases.
            sums: float64[n, n_dimensions], overwritten.

        Returns:
            (the vectors, the share of own contexts in each: uint8[n] in steps of 1 / 255).
        """
        if self._composer is None:
            return sums, np.full(len(sums), 255, np.uint8)
        return sums, self._composer.compose(sums, batch)

    def sums(self, batch: PhraseBatch) -> np.ndarray:
        """Return every row's projected sum, float64[n, n_dimensions], the thread's own array.

        Arguments:
            batch: n phrases with their contexts.
        """
        contexts, space = batch.contexts, batch.space
        n = contexts.starts.size - 1
        sums = getattr(self._of_thread, "sums", None)
        if sums is None or len(sums) < n:
            shape = (max(n, BATCH_PHRASES), self._projection.n_dimensions)
            sums = self._of_thread.sums = np.empty(shape)
        project(
            frozen(contexts.starts), frozen(contexts.features),
            frozen(self._weigher.weigh(contexts, space)), self._offsets(space), self._vectors,
            self._projection.unit, self._projection.largest, sums[:n],
        )  # fmt: skip
        return sums[:n]

    def word_vectors(
        self,
        text: CountedText,
        min_count: int,
        work: Work,
        training_rows: TrainingRows | None = None,
        keep: Callable[[SignedBatch], None] | None = None,
    ) -> PartWords:
        """Return the words of a text with their vectors, of which phrases can be composed.

        Arguments:
            text: the words' contexts.
            min_count: the lowest count of a word.
            work: threads and progress.
            training_rows: words that the projection was learned from; they are not counted again.
            keep: is handed the words with their bits and without their contexts.
        """
        words = text.parts(min_count, 1)
        if training_rows is not None:
            words = text.words(min_count, training_rows.min_count)

        def signed(batch: PhraseBatch) -> tuple[SignedBatch, np.ndarray]:
            sums = self.sums(batch)
            if training_rows is not None:
                training_rows.fill_sums(batch.hashes, self._projection, sums)
            vectors, shares = self.composed(batch, sums)
            return self.cut(batch, vectors, shares), vectors.astype(np.float16)

        vectors_of_batches = []
        for batch, vectors in batch_results(text, words, signed, work, "words", text.total()):
            phrases, shares = batch.phrases, batch.phrases.shares
            if shares is None:
                shares = phrases.strengths.astype(np.float64) / max(1, text.n_tokens)
            vectors_of_batches.append(PartWords(
                phrases.hashes, shares, phrases.strengths, vectors, phrases.text,
                phrases.text_lengths,
            ))  # fmt: skip
            if keep is not None:
                contexts = no_counts(phrases.hashes.size)
                keep(replace(batch, phrases=replace(phrases, contexts=contexts)))
        return PartWords.joined(vectors_of_batches, self._projection.n_dimensions)
