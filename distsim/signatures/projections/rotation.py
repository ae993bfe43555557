"""Word vectors -> a rotation by which cutting bits loses little (Gong and Lazebnik 2011)."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.parallel import Progress, no_progress
from distsim.signatures.projections.learn import (
    ITQ_ROWS,
    Learning,
    WordRows,
    rotated,
    unit_rows,
    write_projection,
)
from distsim.signatures.projections.projection import ROTATION
from distsim.signatures.projections.singular import find_rotation, one_thread_each


def learn_rotation(
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
    """Learn how vectors are turned before their bits are cut, and write it as a projection.

    Cosines stay what they are, less what vectors of more dimensions than bits have outside of
    their words' strongest directions, as many as `learning` keeps, and less the words' mean vector
    where the model takes it off.

    Arguments: as of learn_projection; rows are taken in the order in which they come.
    """
    words = unit_rows(_dense(rows, features.size, learning.rows))
    progress("decomposing", 0, 1)
    with one_thread_each():
        squares, turned = np.linalg.eigh(words.T.astype(np.float64) @ words.astype(np.float64))
        rank = min(features.size, learning.directions(n_bits))
        strongest = np.argsort(-squares, kind="stable")[:rank]
        as_they_are = features.size <= n_bits
        directions = np.eye(rank) if as_they_are else turned[:, strongest]
        peaks = directions[np.abs(directions).argmax(axis=0), range(rank)]
        directions = directions * np.where(peaks < 0, -1.0, 1.0)
        kept = unit_rows((words @ directions).astype(np.float32))
        centre = kept.mean(axis=0, dtype=np.float64) * float(model["centre"])
        cut = unit_rows(kept[:ITQ_ROWS] - centre.astype(np.float32))
        rotation = find_rotation(cut[:, :n_bits], n_bits, seed, bool(model["centre"]), jobs)
    write_projection(
        writer, features, rotated(directions, rotation), rotated(centre, rotation),
        np.sqrt(np.maximum(squares[strongest], 0.0)),
        {
            "kind": ROTATION,
            "model": model,
            "weights": weights,
            "bits": n_bits,
            "seed": seed,
            "learning": learning.manifest(model),
            "rank": rank,
            "rows": len(words),
            "features": features.size,
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
