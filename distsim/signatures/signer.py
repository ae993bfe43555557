"""Counted contexts of phrases, in batches -> weights -> projected sums -> bits."""

import threading
from dataclasses import dataclass

import numpy as np

from distsim.contexts.features import FeatureSpace
from distsim.contexts.sources.source import BATCH_PHRASES, PhraseBatch
from distsim.contexts.weights import Weigher, Weighting
from distsim.kernels.compiled import frozen
from distsim.signatures.composition import Composer
from distsim.signatures.kernels.projection import cut_bits, project
from distsim.signatures.projections.projection import Projection


@dataclass(frozen=True)
class SignedBatch:
    """A batch with its bits.

    bits: uint64[n, n_bits / 64]. some: bool[n], False where the sum of a phrase is a zero
    vector, which has no signature.
    """

    phrases: PhraseBatch
    bits: np.ndarray
    some: np.ndarray

    def where(self, kept: np.ndarray) -> "SignedBatch":
        """Return the phrases for which kept, bool[n], is true."""
        return SignedBatch(self.phrases.where(kept), self.bits[kept], self.some[kept])


class _Ready:
    """What is made once of a feature space."""

    def __init__(self, space: FeatureSpace, weighting: Weighting, projection: Projection) -> None:
        self.weigher = Weigher(space, weighting)
        self.offsets = frozen(projection.offsets(space.hashes))


class Signer:
    """Signs batches of phrases; may be shared by threads.

    Arguments:
        composer: turns sums into vectors of the learnt space before their bits are cut.
        space: the feature space of all batches, where they have one together.
    """

    def __init__(
        self,
        weighting: Weighting,
        projection: Projection,
        composer: Composer | None = None,
        space: FeatureSpace | None = None,
    ) -> None:
        self._weighting = weighting
        self._projection = projection
        self._composer = composer
        self._space = space
        self._ready = None if space is None else _Ready(space, weighting, projection)
        self._vectors = frozen(projection.vectors)
        self._of_thread = threading.local()

    def sign(self, batch: PhraseBatch) -> SignedBatch:
        """Return the batch's bits."""
        if self._composer is None:
            return self.cut(batch, self.vectors(batch))
        text, lengths = batch.text, batch.text_lengths
        own = self._composer.has_own(text, lengths, batch.strengths)
        if own.all():
            return self.cut(batch, self.vectors(batch))
        bits = np.empty((own.size, self._projection.n_bits // 64), np.uint64)
        some = self._composer.cut_made_of_words(text, lengths, bits)
        if own.any():
            others = batch.where(own)
            signed = self.cut(others, self.vectors(others))
            bits[own], some[own] = signed.bits, signed.some
        return SignedBatch(batch, bits, some)

    def cut(self, batch: PhraseBatch, vectors: np.ndarray) -> SignedBatch:
        """Return a batch with the bits of its vectors."""
        bits = np.empty((len(vectors), self._projection.n_bits // 64), np.uint64)
        return SignedBatch(batch, bits, cut_bits(frozen(vectors), bits))

    def named_weights(self, batch: PhraseBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return the hash and the weight of every feature of every row, uint64 and float64."""
        weights = self._of(batch.space).weigher.weigh(batch.contexts)
        return batch.space.hashes[batch.contexts.features], weights

    def offsets(self, batch: PhraseBatch) -> np.ndarray:
        """Return where the vector of every feature of the batch's space begins, uint32."""
        return self._of(batch.space).offsets

    def vectors(self, batch: PhraseBatch) -> np.ndarray:
        """Return what the bits are cut from: the sums, composed where there is a composer.

        float64[n, n_dimensions]. The array is the thread's own and overwritten by its next batch.
        """
        return self.composed(batch, self.sums(batch))

    def composed(self, batch: PhraseBatch, sums: np.ndarray) -> np.ndarray:
        """Return the vectors that a batch's sums become, in their place."""
        if self._composer is not None:
            self._composer.compose(sums, batch.text, batch.text_lengths, batch.strengths)
        return sums

    def sums(self, batch: PhraseBatch) -> np.ndarray:
        """Return every row's projected sum, float64[n, n_dimensions], the thread's own array."""
        contexts, ready = batch.contexts, self._of(batch.space)
        n = contexts.starts.size - 1
        sums = getattr(self._of_thread, "sums", None)
        if sums is None or len(sums) < n:
            shape = (max(n, BATCH_PHRASES), self._projection.n_dimensions)
            sums = self._of_thread.sums = np.empty(shape)
        project(
            frozen(contexts.starts), frozen(contexts.features),
            frozen(ready.weigher.weigh(contexts)), ready.offsets, self._vectors,
            self._projection.unit, self._projection.largest, sums[:n],
        )  # fmt: skip
        return sums[:n]

    def _of(self, space: FeatureSpace) -> _Ready:
        if self._ready is not None and space is self._space:
            return self._ready
        return _Ready(space, self._weighting, self._projection)
