"""Learns a projection: the strongest singular directions of words by features.

The matrix has a row for each of the most frequent words, a column for each of the most
frequent features, and their weights. Its right singular vectors V and singular values s are
found; feature f's vector is its row of V T^e / s with T = sqrt(s^2 - n^2), so that the phrase's
weights times it are U T^e, also for phrases that were not among the rows. n, the
first singular value that is left out (of much text one a tenth before, as the last are not found
exactly), is the level of noise, and T is 0 below: with little text the spectrum is flat from
early on, and the flat part carries no information.

Words by sides and words by positions are decomposed apart and put side by side, those by positions
times a factor by which the median word's vector is `narrow_share` times as long in them, and turned
to the principal axes of the frequent words. One sum of features' vectors stays all that a phrase's
vector needs.

The strongest directions, as many as bits, are rotated by iterative quantisation (ITQ; Gong and
Lazebnik 2011), which keeps cosines and turns the frequent words' vectors towards the corners of the
cube, so that cutting bits loses little. The weaker ones behind them are never cut: words' vectors
alone keep them.
"""

from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import ParameterError, counted
from distsim.base.parallel import trim
from distsim.contexts.sources.source import Work
from distsim.signatures.projections.projection import LARGEST_ENTRY, WHOLE_NUMBERS
from distsim.signatures.projections.singular import (
    dense_times,
    find_rotation,
    gram,
    one_thread_each,
    right_singular,
    times,
)
from distsim.signatures.projections.training import Training, TrainingMatrix, TrainingRows

_ROWS_AT_ONCE = 4096
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
            f"{matrix.shape[0]} frequent words and {counted(matrix.shape[1], 'feature')} "
            "are too few to "
            "learn a projection: take more text, or sign with the preset thesis"
        )
    with one_thread_each():
        spaces = [
            _decomposed(gathered, np.flatnonzero(training.groups == group), rank, training, work)
            for group in range(int(training.groups.max()) + 1)
        ]
        values = np.concatenate([space.values for space in spaces])
        words, axes = _side_by_side(spaces, training, jobs)
        centre = words.mean(axis=0, dtype=np.float64)
        centred = unit_rows(words[:ITQ_ROWS] - centre.astype(np.float32))
        del words
        rotation = find_rotation(centred[:, :n_bits], n_bits, training.seed, True, jobs)
        del centred
        if axes is None:
            directions = rotated(spaces.pop().directions, rotation, overwrite=True)
        else:
            directions = _on_axes(spaces, rotated(axes, rotation), jobs)
    write_projection(
        writer, training.features, directions, rotated(centre, rotation), values,
        {
            **training.settings,
            "rank": rank,
            "rows": matrix.shape[0],
            "features": matrix.shape[1],
            "cells": int(matrix.nnz),
        },
    )  # fmt: skip
    del directions
    trim()
    return TrainingRows.of(gathered)


class _Space(NamedTuple):
    """The space of some features: their columns; their vectors, the words', the singular values."""

    columns: np.ndarray
    directions: np.ndarray
    words: np.ndarray
    values: np.ndarray


def _decomposed(
    gathered: TrainingMatrix, columns: np.ndarray, rank: int, training: Training, work: Work
) -> _Space:
    """Return the space that some features of the training set span."""
    learning, jobs = training.learning, work.jobs
    matrix, transposed = gathered.of_features(columns)
    rank = min(rank, *(size - 1 for size in matrix.shape))
    directions, values, floor = right_singular(
        matrix, transposed, rank, learning.iterations, training.seed, jobs, work.progress
    )
    floor = min(floor, _HIGHEST_FLOOR * float(values[0]))
    n_kept = int(np.count_nonzero(values > floor))  # the first: the others are noise
    scales = np.sqrt(values[:n_kept] ** 2 - floor**2) ** learning.exponent
    directions = directions[:, :n_kept]
    directions *= (scales / values[:n_kept]).astype(np.float32)
    trim()  # what comes next does not fit in between what was freed
    return _Space(columns, directions, times(matrix, directions, jobs), values)


def _side_by_side(
    spaces: list[_Space], training: Training, jobs: int | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (unit vectors of the words, axes) in the sum of some spaces.

    axes: float32[dimensions of all spaces, n], what turns vectors of features, None where there is
    one space.
    """
    if len(spaces) == 1:
        return unit_rows(spaces[0].words), None
    wide, narrow = (np.linalg.norm(space.words, axis=1) for space in spaces)
    both = (wide > 0) & (narrow > 0)
    factor = training.learning.narrow_share * float(np.median(wide[both] / narrow[both]))
    factors = np.array([1.0, factor], np.float32)
    words = np.hstack([space.words * own for space, own in zip(spaces, factors, strict=True)])
    centred = unit_rows(words)
    centred -= centred.mean(axis=0)
    make_unit(centred)
    axes = _principal_axes(centred, training.learning.dimensions(training.n_bits), jobs)
    del centred
    sizes = [space.words.shape[1] for space in spaces]
    words = make_unit(dense_times(words, axes, jobs))
    return words, axes * np.repeat(factors, sizes)[:, None]


def _on_axes(spaces: list[_Space], axes: np.ndarray, jobs: int | None) -> np.ndarray:
    """Return the vectors of the features of all spaces on some axes; the list is emptied."""
    n_features = sum(space.columns.size for space in spaces)
    trim()  # the directions would not fit in between what was freed
    directions = np.empty((n_features, axes.shape[1]), np.float32)
    end = len(axes)
    while spaces:  # each takes a third of the memory of the directions of both
        space = spaces.pop()
        begin = end - space.directions.shape[1]
        own = np.ascontiguousarray(axes[begin:end])
        dense_times(space.directions, own, jobs, out=directions, places=space.columns)
        end = begin
    return directions


def _principal_axes(rows: np.ndarray, n_axes: int, jobs: int | None) -> np.ndarray:
    """Return the strongest principal axes of float32[n, k] about 0, float32[k, up to `n_axes`]."""
    squares, axes = np.linalg.eigh(gram(rows, jobs))
    strongest = np.argsort(-squares, kind="stable")[:n_axes]
    directions = axes[:, strongest]
    peaks = directions[np.abs(directions).argmax(axis=0), range(strongest.size)]
    turned: np.ndarray = (directions * np.where(peaks < 0, -1.0, 1.0)).astype(np.float32)
    return turned


def rotated(vectors: np.ndarray, rotation: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
    """Return vectors with the first of their entries rotated, float[..., n_dimensions].

    Behind the n_bits rotated entries are those that are not rotated, and zeros up to a multiple
    of 32.

    Arguments:
        vectors: float[..., rank].
        rotation: float64[k, n_bits], k at most rank; applied to the first k entries.
        overwrite: put them where the vectors are, if they are as long, rather than hold both.
    """
    turned, n_bits = rotation.shape
    n_left = vectors.shape[-1] - turned
    size = n_bits + -(-n_left // _LANES) * _LANES
    has_room = overwrite and size == vectors.shape[-1]  # then no entry changes its place
    out = vectors if has_room else np.empty((*vectors.shape[:-1], size), vectors.dtype)
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
    return make_unit(rows.copy(order="K"))


def make_unit(rows: np.ndarray) -> np.ndarray:
    """Scale the rows to length 1 in place, a block of them at a time, and return them.

    Arguments:
        rows: float[n, dimensions].
    """
    for begin in range(0, len(rows), _ROWS_AT_ONCE):
        block = rows[begin : begin + _ROWS_AT_ONCE]
        block /= np.maximum(np.linalg.norm(block, axis=1, keepdims=True), np.float32(1e-30))
    return rows
