"""Index -> a learnt projection: the strongest singular directions of words by features.

The matrix has a row for each of the most frequent words, a column for each of the most
frequent features, and their weights. Its right singular vectors V and singular values s are
found; feature f's vector is its row of V sqrt(T) / s with T = sqrt(s^2 - n^2), so that the
phrase's weights times it are U sqrt(T), also for phrases that were not among the rows. n, the
first singular value that is left out (of much text one a tenth before, as the last are not found
exactly), is taken for the level of noise, and T is 0 below: with little text the spectrum is flat
from early on, and what lies in the flat part says nothing. Then the strongest directions, as many
as bits, are rotated, which keeps cosines, so that cutting bits loses little: by iterative
quantisation (ITQ), which turns the frequent words' vectors towards the corners of the
cube. The weaker ones behind them are never cut: words' vectors alone keep them.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.kernels.projection import EXACT_SUM, WEIGHT_STEPS
from distsim.signatures.kernels.sparse import rounded_cells, transposed_rows
from distsim.signatures.projections.projection import WHOLE_NUMBERS, Projection
from distsim.signatures.projections.singular import (
    find_rotation,
    one_thread_each,
    right_singular,
    times,
    times_rows,
)

if TYPE_CHECKING:  # else imported where it is needed: every command starts sooner
    from scipy import sparse

_EXPONENT = 0.5  # of the singular values above the noise
ITQ_ROWS = 8192
_HIGHEST_FLOOR = 0.9  # of the first singular value: something is always kept
_LARGEST = 255.0  # of an entry of a vector
_UNIT = 1 / 128  # entries are multiples of it, so that whole numbers of 16 bits hold them
_BLOCK_ROWS = 2048
_LANES = 32  # dimensions come in multiples of it
_EXACT_WEIGHT = 2.0**24 / WEIGHT_STEPS  # a multiple of 2^-12 below it is exact in float32


@dataclass(frozen=True)
class Learning:
    """How a projection is learnt; memory and time grow with each of the first three.

    Arguments:
        rows: so many of the most frequent words are rows.
        features: so many of the most frequent features are columns; the others have no vector.
        rank: singular directions kept; half as many again as bits where None. Bits are cut from
            the strongest, words' vectors keep all.
        iterations: passes over the matrix and back after two first ones; more find the directions
            more exactly.

    >>> Learning(rank=100).rows
    25000
    """

    rows: int = 25_000
    features: int = 80_000
    rank: int | None = None
    iterations: int = 3

    def __post_init__(self) -> None:
        if min(self.rows, self.features, self.iterations, self.rank or 1) < 1:
            raise ParameterError(
                f"rows {self.rows}, features {self.features}, rank {self.rank}, iterations "
                f"{self.iterations}: choose counts of 1 or more"
            )

    def directions(self, n_bits: int) -> int:
        """Return how many singular directions are kept."""
        return self.rank or n_bits + n_bits // 2

    def manifest(self, model: dict[str, Any]) -> dict[str, Any]:
        """Return what a manifest keeps; vectors that keep their mean are turned at random."""
        rotation = "itq" if model.get("centre", True) else "random"
        return asdict(self) | {"exponent": _EXPONENT, "rotation": rotation}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Learning":
        """Return how a projection was learnt that has this in its manifest."""
        return cls(values["rows"], values["features"], values["rank"], values["iterations"])


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


class _Rows(NamedTuple):
    """The strongest rows, by strength, then hash.

    weights, transposed: ascending in each row. are_exact: whether signing would round their
    weights alike. Others: see TaughtWords, WordRows.
    """

    hashes: np.ndarray
    strengths: np.ndarray
    weights: "sparse.csr_matrix"
    transposed: "sparse.csr_matrix"
    are_exact: bool


@dataclass(frozen=True)
class TaughtWords:
    """Words that a projection was learnt from, whose sums need not be counted and weighed again.

    hashes: uint64[n], ascending. rows: int64[n], each word's in weights, float32[n, features] of
    scipy, as signing rounds them; of every feature that has a vector. least: all words that occur
    more often are among them.
    """

    hashes: np.ndarray
    rows: np.ndarray
    weights: "sparse.csr_matrix"
    least: int

    @classmethod
    def of(cls, rows: _Rows) -> "TaughtWords | None":
        """Return the words of rows, None where signing would round their weights otherwise."""
        if not rows.are_exact:
            return None
        order = np.argsort(rows.hashes, kind="stable")
        return cls(rows.hashes[order], order, rows.weights, int(rows.strengths[-1]))

    def fill_sums(self, hashes: np.ndarray, projection: Projection, sums: np.ndarray) -> None:
        """Put the projected sums of those of the words that are here where they belong.

        They are exact, whatever the order in which they are summed: see kernels.projection.

        Arguments:
            hashes: uint64[n], of words. projection: the one that was learnt from them.
            sums: float64[n, n_dimensions]; the rows of other words stay.
        """
        places = find_sorted(frozen(self.hashes), frozen(hashes))
        here = np.flatnonzero(places >= 0)
        if not here.size:
            return
        found = np.empty((here.size, sums.shape[1]))
        vectors = projection.vectors.reshape(-1, sums.shape[1])
        times_rows(self.weights, vectors, self.rows[places[here]], found)
        sums[here] = found * projection.unit


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
) -> TaughtWords | None:
    """Learn a projection from rows of weighted features, write it, and return the rows.

    Arguments:
        features: uint64, the hashes of the columns, ascending.
        model, weights: what a fingerprint keeps of them; a table must match both.

    Raises:
        ParameterError: there is too little text to learn from.
    """
    taught = _strongest(rows, features.size, learning.rows)
    matrix = taught.weights
    rank = min(learning.directions(n_bits), matrix.shape[0] - 1, matrix.shape[1] - 1)
    if rank < 1 or matrix.nnz == 0:
        raise ParameterError(
            f"{matrix.shape[0]} frequent words and {matrix.shape[1]} features are too few to "
            "learn a projection: take more text, or sign with the preset thesis"
        )
    with one_thread_each():
        directions, values, floor = right_singular(
            matrix, taught.transposed, rank, learning.iterations, seed, jobs, progress
        )
        floor = min(floor, _HIGHEST_FLOOR * float(values[0]))
        some = int(np.count_nonzero(values > floor))  # the first: the others are noise
        scales = np.sqrt(values[:some] ** 2 - floor**2) ** _EXPONENT
        directions = directions[:, :some]
        directions *= (scales / values[:some]).astype(np.float32)
        words = unit_rows(times(matrix, directions, jobs))
        centre = words.mean(axis=0, dtype=np.float64)
        turned = unit_rows(words[:ITQ_ROWS] - centre.astype(np.float32))
        strongest = turned[:, :n_bits]
        rotation = find_rotation(strongest, n_bits, seed, True, jobs)
    write_projection(
        writer, features, rotated(directions, rotation), rotated(centre, rotation), values,
        {
            "model": model,
            "weights": weights,
            "bits": n_bits,
            "seed": seed,
            "learning": learning.manifest(model),
            "rank": values.size,
            "rows": matrix.shape[0],
            "features": matrix.shape[1],
            "cells": int(matrix.nnz),
        },
    )  # fmt: skip
    return TaughtWords.of(taught)


def rotated(vectors: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return vectors, float[..., rank], with the first of their entries rotated.

    float[..., n_dimensions], as exact as they are: the rotation, [at most rank, n_bits], widens few
    entries; behind the bits stand those that it leaves, and zeros up to a multiple of 32.
    """
    turned, n_bits = rotation.shape
    n_left = vectors.shape[-1] - turned
    size = n_bits + -(-n_left // _LANES) * _LANES
    out = np.empty((*vectors.shape[:-1], size), vectors.dtype)
    rotation = rotation.astype(vectors.dtype)
    rows, out_rows = np.atleast_2d(vectors), out.reshape(-1, size)
    for begin in range(0, len(rows), _BLOCK_ROWS):
        block, out_block = rows[begin : begin + _BLOCK_ROWS], out_rows[begin : begin + _BLOCK_ROWS]
        out_block[:, :n_bits] = block[:, :turned] @ rotation
        out_block[:, n_bits : n_bits + n_left] = block[:, turned:]
        out_block[:, n_bits + n_left :] = 0.0
    return out


def write_projection(
    writer: storage.ArtifactWriter,
    features: np.ndarray,
    vectors: np.ndarray,
    centre: np.ndarray,
    values: np.ndarray,
    parameters: dict[str, Any],
) -> None:
    """Write features' vectors, float[n, n_dimensions], scaled and rounded to whole numbers."""
    scale = _LARGEST / max(float(vectors.max()), -float(vectors.min())) / _UNIT
    rounded = np.empty(vectors.shape, np.int16)
    for begin in range(0, len(vectors), _BLOCK_ROWS):
        block = vectors[begin : begin + _BLOCK_ROWS].astype(np.float64)
        rounded[begin : begin + _BLOCK_ROWS] = np.round(block * scale)
    writer.add("hashes", features)
    writer.add("vectors", rounded)
    writer.add("centre", centre.astype(np.float32))
    writer.add("singular_values", values)
    writer.version = WHOLE_NUMBERS
    largest = max(int(rounded.max()), -int(rounded.min())) * _UNIT
    writer.parameters = {**parameters, "largest": largest, "unit": _UNIT}


def _strongest(rows: Iterable[WordRows], n_features: int, most: int) -> _Rows:
    """Return the `most` strongest rows; weights are rounded as kernels.projection does it."""
    from scipy import sparse

    hashes, strengths = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    sizes, columns = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    values = [np.empty(0, np.float32)]
    are_exact = True
    for batch in rows:
        starts, kept, rounded, bound, highest = rounded_cells(
            frozen(batch.starts), frozen(batch.columns), frozen(batch.weights)
        )
        are_exact &= bool(bound * _LARGEST < EXACT_SUM / 2 and highest < _EXACT_WEIGHT)
        hashes.append(batch.hashes)
        strengths.append(batch.strengths.astype(np.int64))
        sizes.append(np.diff(starts))
        columns.append(kept)
        values.append(rounded)
    all_hashes, all_strengths = np.concatenate(hashes), np.concatenate(strengths)
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    order = np.lexsort((all_hashes, -all_strengths))[:most]
    cells = starts, np.concatenate(columns), np.concatenate(values)
    del columns, values
    across = transposed_rows(*map(frozen, cells), frozen(order), n_features)
    del cells
    along = transposed_rows(*map(frozen, across), frozen(np.arange(n_features)), order.size)
    shape = (order.size, n_features)
    matrix = sparse.csr_matrix((along[2], along[1], along[0]), shape=shape)
    transposed = sparse.csr_matrix((across[2], across[1], across[0]), shape=shape[::-1])
    return _Rows(all_hashes[order], all_strengths[order], matrix, transposed, are_exact)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return the rows scaled to length 1, zero rows as they are."""
    unit: np.ndarray = rows / np.maximum(
        np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-30)
    )
    return unit
