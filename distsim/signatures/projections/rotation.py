"""Rotation of word vectors by which bits lose little (Gong and Lazebnik 2011)."""

from collections.abc import Iterable

import numpy as np

from distsim import storage
from distsim.contexts.sources.source import Work
from distsim.signatures.projections.learn import ITQ_ROWS, rotated, unit_rows, write_projection
from distsim.signatures.projections.projection import ROTATION
from distsim.signatures.projections.singular import find_rotation, one_thread_each
from distsim.signatures.projections.training import Training, WordRows


def learn_rotation(training: Training, writer: storage.ArtifactWriter, work: Work) -> None:
    """Write the projection that rotates vectors before their signs become the bits of a signature.

    Vectors with more dimensions than bits are reduced to the strongest directions of the words'
    vectors; else the rotation keeps cosines. The words' mean vector is subtracted where the
    model is centred, and the rotation is then fitted to the words (ITQ, Gong and Lazebnik 2011).
    Otherwise it is random, since a fitted rotation overstates cosines of vectors with a large
    mean.

    Arguments:
        training: the words' vectors, in their order, and the settings.
        writer: writer of the projection's artifact.
        work: number of threads and progress.
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


def _dense(rows: Iterable[WordRows], n_features: int, most: int) -> np.ndarray:
    """Return the first `most` rows, float32[n, n_features]."""
    from scipy import sparse  # a slow import, which only learning needs

    blocks, n = [np.empty((0, n_features), np.float32)], 0
    for batch in rows:
        values = (batch.weights.astype(np.float32), batch.columns, batch.starts)
        shape = (batch.starts.size - 1, n_features)
        blocks.append(sparse.csr_matrix(values, shape=shape).toarray())
        n += shape[0]
        if n >= most:
            break
    return np.concatenate(blocks)[:most]
