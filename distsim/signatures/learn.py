"""Index -> a learnt projection: the strongest singular directions of words by features.

The matrix has a row for each of the most frequent words, a column for each of the most
frequent features, and their weights. A randomised range finder with power iterations (Halko,
Martinsson and Tropp 2011, algorithm 4.4) finds its right singular vectors V and singular values
S. Feature f's vector is its row of V S^(exponent - 1): the phrase's weights times it is U
S^exponent, also for phrases that were not among the rows. Then all is rotated, which keeps
cosines, so that cutting bits loses little: at random, or by iterative quantisation (ITQ; Gong
and Lazebnik 2011), which turns the frequent words' vectors towards the corners of the cube.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from distsim import storage
from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.contexts.weights import Weigher, Weighting
from distsim.errors import ParameterError
from distsim.kernels.compiled import frozen
from distsim.kernels.sparse import multiply
from distsim.parallel import ordered_map

Rotation = Literal["random", "itq"]
ROTATIONS: tuple[str, ...] = ("random", "itq")
_OVERSAMPLED = 30
_ITQ_ROUNDS = 30
_ITQ_ROWS = 10_000
_BLOCK_ROWS = 1024
_STEPS = 4096.0  # vectors are multiples of 2^-12: see kernels.projection
_LARGEST = 256.0


@dataclass(frozen=True)
class Learning:
    """How a projection is learnt; memory and time grow with each of the first three.

    Arguments:
        rows: so many of the most frequent words are rows.
        features: so many of the most frequent features are columns; the others have no vector.
        rank: singular directions kept; as many as bits where None.
        iterations: passes over the matrix and back; more find the directions more exactly.
        exponent: of the singular values: 1 keeps the matrix's own geometry, 0 makes all
            directions weigh the same.
        rotation: `itq` or `random`.
    """

    rows: int = 25_000
    features: int = 80_000
    rank: int | None = None
    iterations: int = 3
    exponent: float = 0.75
    rotation: Rotation = "itq"

    def __post_init__(self) -> None:
        numbers = (self.rows, self.features, self.iterations, self.rank or 1)
        if min(numbers) < 1 or not 0.0 <= self.exponent <= 1.0:
            raise ParameterError(
                f"rows {self.rows}, features {self.features}, rank {self.rank}, iterations "
                f"{self.iterations}, exponent {self.exponent}: choose counts of 1 or more and an "
                "exponent from 0 to 1"
            )
        if self.rotation not in ROTATIONS:
            raise ParameterError(
                f"rotation {self.rotation!r}: choose one of {', '.join(ROTATIONS)}"
            )

    def manifest(self) -> dict[str, Any]:
        """Return what a manifest keeps."""
        return asdict(self)


@dataclass(frozen=True)
class WordRows:
    """Some frequent phrases to learn from: their hashes uint64, strengths, and contexts."""

    hashes: np.ndarray
    strengths: np.ndarray
    contexts: ContextCounts


def learn_projection(
    path: str | Path,
    rows: Iterable[WordRows],
    space: FeatureSpace,
    weighting: Weighting,
    model: dict[str, Any],
    weights: dict[str, Any],
    n_bits: int,
    seed: int,
    learning: Learning,
    jobs: int | None = None,
) -> Path:
    """Learn a projection from rows of any feature space into the folder `path`.

    Arguments:
        model, weights: what a fingerprint keeps of them; a table must match both.

    Raises:
        ParameterError: there is too little text to learn from.
    """
    features = _frequent_features(space, learning.features)
    matrix = _weighted_matrix(rows, space, weighting, features, learning.rows)
    rank = min(learning.rank or n_bits, n_bits, matrix.shape[0] - 1, matrix.shape[1] - 1)
    if rank < 1 or matrix.nnz == 0:
        raise ParameterError(
            f"{matrix.shape[0]} frequent words and {matrix.shape[1]} features are too few to "
            "learn a projection: take more text, or sign with --preset thesis"
        )
    directions, values = _right_singular(matrix, rank, learning.iterations, seed, jobs)
    rank = values.size
    directions *= (values ** (learning.exponent - 1.0)).astype(np.float32)
    words = _times(matrix, directions, jobs).astype(np.float64)
    words /= np.maximum(np.sqrt((words * words).sum(axis=1, keepdims=True)), 1e-30)
    centre = words.mean(axis=0)
    turned = words[:_ITQ_ROWS] - centre
    turned /= np.maximum(np.sqrt((turned * turned).sum(axis=1, keepdims=True)), 1e-30)
    rotation = _rotation(turned, n_bits, seed, learning.rotation)
    vectors = directions.astype(np.float64) @ rotation
    vectors *= _LARGEST / np.abs(vectors).max()
    rounded = (np.round(vectors * _STEPS) / _STEPS).astype(np.float32)
    with storage.create(path, storage.PROJECTION) as writer:
        writer.add("hashes", space.hashes[features])
        writer.add("vectors", rounded)
        writer.add("centre", (centre @ rotation).astype(np.float32))
        writer.add("singular_values", values)
        writer.parameters = {
            "model": model,
            "weights": weights,
            "bits": n_bits,
            "seed": seed,
            "learning": learning.manifest(),
            "rank": rank,
            "rows": matrix.shape[0],
            "features": matrix.shape[1],
            "cells": int(matrix.nnz),
            "largest": float(np.abs(rounded).max()),
        }
    return Path(path)


def _frequent_features(space: FeatureSpace, most: int) -> np.ndarray:
    """Return the numbers of the most frequent features, in order of their hashes."""
    seen = np.flatnonzero(space.marginals > 0)
    order = np.lexsort((space.hashes[seen], -space.marginals[seen]))
    kept = seen[order[:most]]
    kept = kept[np.argsort(space.hashes[kept], kind="stable")]
    return kept[np.concatenate([[True], np.diff(space.hashes[kept]) > 0])] if kept.size else kept


def _weighted_matrix(
    rows: Iterable[WordRows],
    space: FeatureSpace,
    weighting: Weighting,
    features: np.ndarray,
    most: int,
) -> sparse.csr_matrix:
    """Return the weights of the `most` strongest rows, float32, rows by strength, then hash."""
    weigher = Weigher(space, weighting)
    column = np.full(space.hashes.size, -1, np.int32)
    column[features] = np.arange(features.size, dtype=np.int32)
    parts = [sparse.csr_matrix((0, features.size), dtype=np.float32)]
    hashes, strengths = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for batch in rows:
        weights = weigher.weigh(batch.contexts).astype(np.float32)
        columns = column[batch.contexts.features]
        kept = (columns >= 0) & (weights > 0)
        starts = np.concatenate([[0], np.cumsum(kept)])[batch.contexts.starts]
        parts.append(
            sparse.csr_matrix(
                (weights[kept], columns[kept], starts), shape=(starts.size - 1, features.size)
            )
        )
        hashes.append(batch.hashes)
        strengths.append(batch.strengths.astype(np.int64))
    matrix = sparse.vstack(parts, format="csr")
    order = np.lexsort((np.concatenate(hashes), -np.concatenate(strengths)))
    matrix = matrix[order[:most]]
    matrix.sort_indices()
    return matrix


def _times(matrix: sparse.csr_matrix, dense: np.ndarray, jobs: int | None) -> np.ndarray:
    """Return matrix @ dense, float32; each row is summed in the order of its columns."""
    out = np.empty((matrix.shape[0], dense.shape[1]), np.float32)
    arrays = (frozen(matrix.indptr.astype(np.int64)), frozen(matrix.indices), frozen(matrix.data))
    dense = frozen(dense.astype(np.float32, copy=False))

    def block(begin: int) -> None:
        multiply(*arrays, dense, begin, min(begin + _BLOCK_ROWS, len(out)), out)

    for _ in ordered_map(block, range(0, len(out), _BLOCK_ROWS), jobs):
        pass
    return out


def _right_singular(
    matrix: sparse.csr_matrix, rank: int, iterations: int, seed: int, jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the `rank` first right singular vectors, float32[columns, rank], and the values."""
    transposed = matrix.T.tocsr()
    transposed.sort_indices()
    width = min(rank + _OVERSAMPLED, *matrix.shape)
    generator = np.random.Generator(np.random.PCG64(seed))
    basis = generator.standard_normal((matrix.shape[1], width)).astype(np.float32)
    for turn in range(iterations):
        ranged = np.linalg.qr(_times(matrix, basis, jobs))[0]
        basis = _times(transposed, ranged, jobs)
        if turn < iterations - 1:
            basis = np.linalg.qr(basis)[0]
    # The matrix is about ranged @ basis.T; the small Gram matrix gives basis's own directions.
    wide = basis.astype(np.float64)
    squares, turned = np.linalg.eigh(wide.T @ wide)
    order = np.argsort(-squares, kind="stable")[:rank]
    values = np.sqrt(np.maximum(squares[order], 0.0))
    kept = values > values[0] * 1e-6
    values, order = values[kept], order[kept]
    directions = wide @ turned[:, order] / values
    signs = np.where(directions[np.abs(directions).argmax(axis=0), range(values.size)] < 0, -1, 1)
    return (directions * signs).astype(np.float32), values


def _rotation(rows: np.ndarray, n_bits: int, seed: int, how: str) -> np.ndarray:
    """Return float64[rank, n_bits] with orthonormal rows: cosines stay what they are."""
    rank = rows.shape[1]
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    rotation = np.linalg.qr(generator.standard_normal((n_bits, n_bits)))[0][:rank]
    for _ in range(_ITQ_ROUNDS if how == "itq" else 0):
        corners = np.where(rows @ rotation > 0, 1.0, -1.0)
        left, _, right = np.linalg.svd(rows.T @ corners, full_matrices=False)
        rotation = left @ right
    return rotation
