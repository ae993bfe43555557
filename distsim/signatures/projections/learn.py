"""Learns a projection: the strongest singular directions of words by features.

The matrix has a row for each of the most frequent words, a column for each of the most
frequent features, and their weights. Its right singular vectors V and singular values s are
found; feature f's vector is its row of V T^.5 / s with T = sqrt(s^2 - n^2), so that the
phrase's weights times it are U T^.5, also for phrases that were not among the rows. n, the
first singular value that is left out (of much text one a tenth before, as the last are not found
exactly), is the level of noise, and T is 0 below: with little text the spectrum is flat from
early on, and the flat part carries no information. Then the strongest directions, as many
as bits, are rotated by iterative quantisation (ITQ; Gong and Lazebnik 2011), which keeps cosines
and turns the frequent words' vectors towards the corners of the cube, so that cutting bits loses
little. The weaker ones behind them are never cut: words' vectors alone keep them.
"""

from typing import Any

import numpy as np

from distsim import storage
from distsim.base.errors import ParameterError
from distsim.contexts.sources.source import Work
from distsim.signatures.projections.projection import LARGEST_ENTRY, WHOLE_NUMBERS
from distsim.signatures.projections.singular import (
    find_rotation,
    one_thread_each,
    right_singular,
    times,
)
from distsim.signatures.projections.training import Training, TrainingMatrix, TrainingRows

ITQ_ROWS = 8192
_HIGHEST_FLOOR = 0.9  # of the first singular value: something is always kept
_UNIT = 1 / 128  # entries are multiples of it, so that whole numbers of 16 bits hold them
_BLOCK_ROWS = 2048
_LANES = 32  # dimensions come in multiples of it


def learn_projection(
    training: Training, writer: storage.ArtifactWriter, work: Work
) -> TrainingRows | None:
    """Learn a projection, write it, and return the rows of the training set.

    Arguments:
        training: the training set and the settings.
        writer: of the projection's artifact.
        work: threads and progress.

    Raises:
        ParameterError: there is too little text to learn from.
    """
    learning, n_bits, jobs = training.learning, training.n_bits, work.jobs
    gathered = TrainingMatrix.gather(training.rows(work), training.features.size, learning.rows)
    matrix = gathered.weights
    rank = min(learning.directions(n_bits), matrix.shape[0] - 1, matrix.shape[1] - 1)
    if rank < 1 or matrix.nnz == 0:
        raise ParameterError(
            f"{matrix.shape[0]} frequent words and {matrix.shape[1]} features are too few to "
            "learn a projection: take more text, or sign with the preset thesis"
        )
    with one_thread_each():
        directions, values, floor = right_singular(
            matrix, gathered.transposed, rank, learning.iterations, training.seed, jobs,
            work.progress,
        )  # fmt: skip
        floor = min(floor, _HIGHEST_FLOOR * float(values[0]))
        some = int(np.count_nonzero(values > floor))  # the first: the others are noise
        scales = np.sqrt(values[:some] ** 2 - floor**2) ** 0.5
        directions = directions[:, :some]
        directions *= (scales / values[:some]).astype(np.float32)
        words = unit_rows(times(matrix, directions, jobs))
        centre = words.mean(axis=0, dtype=np.float64)
        centred = unit_rows(words[:ITQ_ROWS] - centre.astype(np.float32))
        rotation = find_rotation(centred[:, :n_bits], n_bits, training.seed, True, jobs)
    write_projection(
        writer, training.features, rotated(directions, rotation), rotated(centre, rotation), values,
        {
            **training.settings,
            "rank": values.size,
            "rows": matrix.shape[0],
            "features": matrix.shape[1],
            "cells": int(matrix.nnz),
        },
    )  # fmt: skip
    return TrainingRows.of(gathered)


def rotated(vectors: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return vectors with the first of their entries rotated, float[..., n_dimensions].

    Behind the n_bits rotated entries are those that are not rotated, and zeros up to a multiple
    of 32.

    Arguments:
        vectors: float[..., rank].
        rotation: float64[k, n_bits], k at most rank; applied to the first k entries.
    """
    turned, n_bits = rotation.shape
    n_left = vectors.shape[-1] - turned
    size = n_bits + -(-n_left // _LANES) * _LANES
    out = np.empty((*vectors.shape[:-1], size), vectors.dtype)
    rotation = rotation.astype(vectors.dtype)
    rows, out_rows = np.atleast_2d(vectors), out.reshape(-1, size)
    for begin in range(0, len(rows), _BLOCK_ROWS):
        block, out_block = rows[begin : begin + _BLOCK_ROWS], out_rows[begin : begin + _BLOCK_ROWS]
        with one_thread_each():
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
    """Write features' vectors, scaled and rounded to whole numbers of 16 bits.

    Arguments:
        writer: of the projection's artifact.
        features: uint64[n], hashes, ascending.
        vectors: float[n, n_dimensions].
        centre: float[n_dimensions], subtracted from unit vectors before bits are cut.
        values: float64, the singular values.
        parameters: what the manifest keeps.
    """
    scale = LARGEST_ENTRY / max(float(vectors.max()), -float(vectors.min())) / _UNIT
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


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return the rows scaled to length 1, zero rows as they are.

    Arguments:
        rows: float[n, dimensions].
    """
    unit: np.ndarray = rows / np.maximum(
        np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-30)
    )
    return unit
