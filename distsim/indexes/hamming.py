"""Exact search of bit signatures by Hamming distance.

Every query is one pass over all bits, on the thread that asks: nothing is started that a fork
could lose, and threads that ask at once do not wait for each other.
"""

import numpy as np

from distsim.indexes.kernels.hamming import nearest_rows
from distsim.kernels.compiled import frozen

_ALL = frozen(np.empty(0, np.uint32))


def nearest(
    bits: np.ndarray,
    query: np.ndarray,
    k: int,
    radius: int | None = None,
    among: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest rows, and all rows tied with the k-th.

    Arguments:
        bits: uint64[n, n_words], may be a read-only map; it is not copied.
        query: uint64[n_words].
        radius: only rows at most so far away; None: however far.
        among: uint32, ascending: only these rows, which are numbered by their place in it.
        k: number of rows, 1 or more.

    Returns (rows int64, distances int64), in order of distance, then row.
    """
    if k < 1 or not len(bits if among is None else among):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    most = 64 * query.size if radius is None else radius
    nearest: tuple[np.ndarray, np.ndarray] = nearest_rows(
        frozen(bits), _ALL if among is None else frozen(among), frozen(query), k, most
    )
    return nearest


def distances(bits: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the Hamming distance of each row of one array to that of another, int64[n].

    Arguments:
        bits, others: uint64[n, n_words], signatures.
    """
    distances: np.ndarray = np.bitwise_count(bits ^ others).sum(axis=1, dtype=np.int64)
    return distances
