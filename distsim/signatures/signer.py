"""Counted contexts of phrases, in batches -> weights -> projected sums -> bits."""

import threading
from dataclasses import dataclass

import numpy as np

from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.contexts.weights import Weigher, Weighting
from distsim.kernels.compiled import frozen
from distsim.kernels.projection import cut_bits, project
from distsim.signatures.composition import Composer
from distsim.signatures.gaussian import GaussianProjection
from distsim.signatures.spectral import SpectralProjection

BATCH_PHRASES = 1 << 13  # a batch's sums are held in memory, for every thread


@dataclass(frozen=True)
class PhraseBatch:
    """Phrases with their counted contexts, from whatever source.

    hashes: uint64[n], of each phrase's text. text: uint8, the phrases end to end;
    text_lengths: int64[n], bytes of each. strengths: uint64[n], occurrences.
    """

    hashes: np.ndarray
    text: np.ndarray
    text_lengths: np.ndarray
    strengths: np.ndarray
    contexts: ContextCounts

    def where(self, kept: np.ndarray) -> "PhraseBatch":
        """Return the phrases for which kept, bool[n], is true."""
        starts, sizes = self.contexts.starts, np.diff(self.contexts.starts)
        entries = np.repeat(kept, sizes)
        return PhraseBatch(
            self.hashes[kept],
            self.text[np.repeat(kept, self.text_lengths)],
            self.text_lengths[kept],
            self.strengths[kept],
            ContextCounts(
                np.concatenate([starts[:1], np.cumsum(sizes[kept])]),
                self.contexts.features[entries],
                self.contexts.counts[entries],
            ),
        )


@dataclass(frozen=True)
class SignedBatch:
    """A batch with its bits.

    bits: uint64[n, n_bits / 64]. some: bool[n], False where the sum of a phrase is a zero
    vector, which has no signature.
    """

    phrases: PhraseBatch
    bits: np.ndarray
    some: np.ndarray


class Signer:
    """Signs batches of phrases over one feature space; may be shared by threads.

    Arguments:
        composer: turns sums into vectors of the learnt space before their bits are cut.
        weigher: weighs the features, where not by the weighting over the space itself.
    """

    def __init__(
        self,
        space: FeatureSpace,
        weighting: Weighting,
        projection: GaussianProjection | SpectralProjection,
        composer: Composer | None = None,
        weigher: Weigher | None = None,
    ) -> None:
        self._composer = composer
        self._weigher = weigher or Weigher(space, weighting)
        self._hashes = space.hashes
        self._offsets = frozen(projection.offsets(space.hashes))
        self._vectors = frozen(projection.vectors)
        self._largest = projection.largest
        self._n_bits = projection.n_bits
        self._of_thread = threading.local()

    def sign(self, batch: PhraseBatch) -> SignedBatch:
        """Return the batch's bits."""
        sums = self.vectors(batch)
        bits = np.empty((len(sums), self._n_bits // 64), np.uint64)
        return SignedBatch(batch, bits, cut_bits(frozen(sums), bits))

    def named_weights(self, contexts: ContextCounts) -> tuple[np.ndarray, np.ndarray]:
        """Return the hash and the weight of every feature of every row, uint64 and float64."""
        return self._hashes[contexts.features], self._weigher.weigh(contexts)

    def vectors(self, batch: PhraseBatch) -> np.ndarray:
        """Return what the bits are cut from: the sums, composed where there is a composer."""
        sums = self.sums(batch.contexts)
        if self._composer is not None:
            self._composer.compose(sums, batch.text, batch.text_lengths, batch.strengths)
        return sums

    def sums(self, contexts: ContextCounts) -> np.ndarray:
        """Return the projected sum of every row, float64[n, n_bits].

        The array is the thread's own and overwritten by its next batch.
        """
        n = contexts.starts.size - 1
        sums = getattr(self._of_thread, "sums", None)
        if sums is None or len(sums) < n:
            sums = self._of_thread.sums = np.empty((max(n, BATCH_PHRASES), self._n_bits))
        weights = self._weigher.weigh(contexts)
        project(
            frozen(contexts.starts), frozen(contexts.features), frozen(weights), self._offsets,
            self._vectors, self._largest, sums[:n],
        )  # fmt: skip
        return sums[:n]
