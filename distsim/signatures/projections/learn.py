"""Index -> a learnt projection: the strongest singular directions of words by features.

The matrix has a row for each of the most frequent words, a column for each of the most
frequent features, and their weights. Its right singular vectors V and singular values s are
found; feature f's vector is its row of V T^exponent / s with T = sqrt(s^2 - n^2), so that the
phrase's weights times it are U T^exponent, also for phrases that were not among the rows. n, the
first singular value that is left out, is taken for the level of noise: with little text the
spectrum is flat from early on, and what lies in the flat part says nothing. Then all is
rotated, which keeps cosines, so that cutting bits loses little: at random, or by iterative
quantisation (ITQ), which turns the frequent words' vectors towards the corners of the cube.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from distsim import storage
from distsim.choices import Rotation
from distsim.errors import ParameterError
from distsim.parallel import Progress, no_progress
from distsim.signatures.projections.singular import (
    find_rotation,
    one_thread_each,
    right_singular,
    times,
)

if TYPE_CHECKING:  # else imported where it is needed: every command starts sooner
    from scipy import sparse

ROTATIONS: tuple[str, ...] = get_args(Rotation)
ITQ_ROWS = 8192
_HIGHEST_FLOOR = 0.9  # of the first singular value: something is always kept
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
        exponent: of the singular values above the noise: 1 keeps the matrix's own geometry,
            0 makes all directions weigh the same.
        rotation: `itq` or `random`.

    >>> Learning(rank=100).rows
    25000
    """

    rows: int = 25_000
    features: int = 80_000
    rank: int | None = None
    iterations: int = 3
    exponent: float = 0.5
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
    """Some frequent words to learn from, with their weighted features as sparse rows.

    hashes: uint64[n]. strengths: int[n]. starts: int64[n + 1]. columns: int32, each feature's
    place among those to learn, below 0 where it is none. weights: float beside them.
    """

    hashes: np.ndarray
    strengths: np.ndarray
    starts: np.ndarray
    columns: np.ndarray
    weights: np.ndarray


def learn_projection(
    writer: storage.ArtifactWriter,
    rows: Iterable[WordRows],
    features: np.ndarray,
    model: dict[str, Any],
    weights: dict[str, Any],
    n_bits: int,
    seed: int,
    learning: Learning,
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> None:
    """Learn a projection from rows of weighted features and write it.

    Arguments:
        features: uint64, the hashes of the columns, ascending.
        model, weights: what a fingerprint keeps of them; a table must match both.

    Raises:
        ParameterError: there is too little text to learn from.
    """
    matrix = _matrix(rows, features.size, learning.rows)
    rank = min(learning.rank or n_bits, n_bits, matrix.shape[0] - 1, matrix.shape[1] - 1)
    if rank < 1 or matrix.nnz == 0:
        raise ParameterError(
            f"{matrix.shape[0]} frequent words and {matrix.shape[1]} features are too few to "
            "learn a projection: take more text, or sign with the preset thesis"
        )
    with one_thread_each():
        directions, values, floor = right_singular(
            matrix, rank, learning.iterations, seed, jobs, progress
        )
        rank = values.size
        floor = min(floor, _HIGHEST_FLOOR * float(values[0]))
        above_noise = np.sqrt(np.maximum(values**2 - floor**2, 0.0))
        directions *= (above_noise**learning.exponent / values).astype(np.float32)
        words = unit_rows(times(matrix, directions, jobs))
        centre = words.mean(axis=0, dtype=np.float64)
        turned = unit_rows(words[:ITQ_ROWS] - centre.astype(np.float32))
        rotation = find_rotation(turned, n_bits, seed, learning.rotation == "itq", jobs)
        vectors = directions.astype(np.float64) @ rotation
    write_projection(
        writer, features, vectors, centre @ rotation, values,
        {
            "model": model,
            "weights": weights,
            "bits": n_bits,
            "seed": seed,
            "learning": learning.manifest(),
            "rank": rank,
            "rows": matrix.shape[0],
            "features": matrix.shape[1],
            "cells": int(matrix.nnz),
        },
    )  # fmt: skip


def write_projection(
    writer: storage.ArtifactWriter,
    features: np.ndarray,
    vectors: np.ndarray,
    centre: np.ndarray,
    values: np.ndarray,
    parameters: dict[str, Any],
) -> None:
    """Write features' vectors, float64[n, n_bits], scaled and rounded as kernels want them."""
    vectors = vectors * (_LARGEST / np.abs(vectors).max())
    rounded = (np.round(vectors * _STEPS) / _STEPS).astype(np.float32)
    writer.add("hashes", features)
    writer.add("vectors", rounded)
    writer.add("centre", centre.astype(np.float32))
    writer.add("singular_values", values)
    writer.parameters = {**parameters, "largest": float(np.abs(rounded).max())}


def _matrix(rows: Iterable[WordRows], n_features: int, most: int) -> "sparse.csr_matrix":
    """Return the weights of the `most` strongest rows, float32, rows by strength, then hash."""
    from scipy import sparse

    parts = [sparse.csr_matrix((0, n_features), dtype=np.float32)]
    hashes, strengths = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for batch in rows:
        kept = (batch.columns >= 0) & (batch.weights > 0)
        starts = np.concatenate([[0], np.cumsum(kept)])[batch.starts]
        values = batch.weights[kept].astype(np.float32)
        shape = (starts.size - 1, n_features)
        parts.append(sparse.csr_matrix((values, batch.columns[kept], starts), shape=shape))
        hashes.append(batch.hashes)
        strengths.append(batch.strengths.astype(np.int64))
    matrix = sparse.vstack(parts, format="csr")
    order = np.lexsort((np.concatenate(hashes), -np.concatenate(strengths)))
    matrix = matrix[order[:most]]
    matrix.sort_indices()
    return matrix


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return the rows scaled to length 1, zero rows as they are."""
    unit: np.ndarray = rows / np.maximum(
        np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-30)
    )
    return unit
