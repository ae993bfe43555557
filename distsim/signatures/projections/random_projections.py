"""Gaussian projection vectors, read from one pool (Van Durme and Lall 2010).

The pool's recipe is fixed: 64-bit words of PCG64(seed), taken in pairs to uniform numbers
((word >> 11) + 1) / 2^53, made normal by the Box-Muller transform in float64, centred to mean
0, rounded to multiples of 2^-12. A feature's vector is the n_bits consecutive entries that
begin at the low 20 bits of its hash.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from distsim import storage
from distsim.contexts.sources.source import Work
from distsim.signatures.projections.learn import ITQ_ROWS, rotated, unit_rows, write_projection
from distsim.signatures.projections.projection import GAUSSIAN, ROTATION
from distsim.signatures.projections.singular import find_rotation, one_thread_each
from distsim.signatures.projections.training import Training, WordRows
from distsim.storage import checksum_of_array

POOL_SIZE = 1 << 20
_STEPS = 4096.0


@lru_cache(maxsize=2)
def gaussian_pool(seed: int, n_bits: int) -> np.ndarray:
    """Return the pool of random numbers, float32[2^20 + n_bits], read-only."""
    size = POOL_SIZE + n_bits
    words = np.random.PCG64(seed).random_raw(size + size % 2)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 1.0) / 2.0**53
    radius = np.sqrt(-2.0 * np.log(uniform[0::2]))
    angle = 2.0 * math.pi * uniform[1::2]
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:size]
    centred = normal - math.fsum(normal) / size
    pool = (np.round(centred * _STEPS) / _STEPS).astype(np.float32)
    pool.flags.writeable = False
    return pool


class GaussianProjection:
    """Projects features on pool vectors: cos of the angle survives as the share of equal bits.

    Arguments:
        n_bits: bits of a signature; more bits, less error (about 1.6 / sqrt(n_bits) at most).
        seed: another seed gives another, equally good and incomparable projection.
    """

    centre = None
    unit = 1.0

    def __init__(self, n_bits: int, seed: int) -> None:
        self.n_bits = self.n_dimensions = n_bits
        self.seed = seed
        self.vectors = gaussian_pool(seed, n_bits)
        self.largest = float(np.abs(self.vectors).max())

    def offsets(self, feature_hashes: np.ndarray) -> np.ndarray:
        """Return where each feature's vector begins in `vectors`, uint32[n].

        Arguments:
            feature_hashes: uint64[n].
        """
        return (feature_hashes & np.uint64(POOL_SIZE - 1)).astype(np.uint32)

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint."""
        return {
            "kind": GAUSSIAN,
            "bits": self.n_bits,
            "seed": self.seed,
            "pool": checksum_of_array(self.vectors),
        }


def learn_rotation(training: Training, writer: storage.ArtifactWriter, work: Work) -> None:
    """Write the projection that rotates vectors before their signs become the bits of a signature.

    Vectors with more dimensions than bits are reduced to the strongest directions of the words'
    vectors; else the rotation keeps cosines. The words' mean vector is subtracted where the
    model is centred, and the rotation is then fitted to the words (ITQ, Gong and Lazebnik 2011).
    Otherwise it is random, since a fitted rotation overstates cosines of vectors with a large
    mean.

    Arguments:
        training: the words' vectors, in their order, and the settings.
    """
    learning, n_bits = training.learning, training.n_bits
    n_features = training.features.size
    words = unit_rows(_dense(training.rows(work), n_features, learning.rows))
    work.progress("decomposing", 0, 1)
    with one_thread_each():
        squares, axes = np.linalg.eigh(words.T.astype(np.float64) @ words.astype(np.float64))
        rank = min(n_features, learning.directions(n_bits))
        strongest = np.argsort(-squares, kind="stable")[:rank]
        directions = np.eye(rank) if n_features <= n_bits else axes[:, strongest]
        peaks = directions[np.abs(directions).argmax(axis=0), range(rank)]
        directions = directions * np.where(peaks < 0, -1.0, 1.0)
        kept = unit_rows((words @ directions).astype(np.float32))
        centre = kept.mean(axis=0, dtype=np.float64) * float(training.is_centred)
        cut = unit_rows(kept[:ITQ_ROWS] - centre.astype(np.float32))
        rotation = find_rotation(
            cut[:, :n_bits], n_bits, training.seed, training.is_centred, work.jobs
        )
    write_projection(
        writer, training.features, rotated(directions, rotation), rotated(centre, rotation),
        np.sqrt(np.maximum(squares[strongest], 0.0)),
        {
            "kind": ROTATION,
            **training.settings,
            "rank": rank,
            "rows": len(words),
            "features": n_features,
            "cells": words.size,
        },
    )  # fmt: skip


def _dense(rows: Iterable[WordRows], n_features: int, max_rows: int) -> np.ndarray:
    """Return the first `max_rows` rows, float32[n, n_features]."""
    from scipy import sparse  # a slow import, which only learning needs

    blocks, n = [np.empty((0, n_features), np.float32)], 0
    for batch in rows:
        values = (batch.weights.astype(np.float32), batch.columns, batch.starts)
        shape = (batch.starts.size - 1, n_features)
        blocks.append(sparse.csr_matrix(values, shape=shape).toarray())
        n += shape[0]
        if n >= max_rows:
            break
    return np.concatenate(blocks)[:max_rows]
