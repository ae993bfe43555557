"""Bit signatures -> the nearest rows by Hamming distance, through faiss; arrays in, arrays out."""

import numpy as np

_RANGE_FIRST = 1 << 10


def nearest(bits: np.ndarray, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest rows and every further row as near as the k-th.

    Arguments:
        bits: uint64[n, n_words], may be a read-only map; it is not copied.
        query: uint64[n_words].

    Returns (rows int64, distances int64), in order of distance, then row.
    """
    wanted = min(k, len(bits))
    asked = wanted
    while True:
        asked = min(len(bits), max(asked + 16, asked * 2))
        rows, distances = _knn(bits, query, asked)
        if asked == len(bits) or distances[-1] > distances[wanted - 1]:
            break
    if wanted == 0:
        return rows[:0], distances[:0]
    near = distances <= distances[wanted - 1]
    return rows[near], distances[near]


def within(bits: np.ndarray, query: np.ndarray, radius: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows at a distance of at most `radius`; arguments and results as `nearest`."""
    asked = min(len(bits), _RANGE_FIRST)
    while True:
        rows, distances = _knn(bits, query, asked)
        if asked == len(bits) or distances[-1] > radius:
            break
        asked = min(len(bits), asked * 8)
    near = distances <= radius
    return rows[near], distances[near]


def distances_to(bits: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the Hamming distance of every row to the query, int64."""
    return np.bitwise_count(bits ^ query).sum(axis=1, dtype=np.int64)


def _knn(bits: np.ndarray, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    if k == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    import faiss

    width = bits.shape[1] * 8
    # The heap is quick for few neighbours; counting by distance is for many.
    variant = "hc" if k <= 1000 else "mc"
    distances, rows = faiss.knn_hamming(
        np.ascontiguousarray(query).view(np.uint8).reshape(1, width),
        bits.view(np.uint8).reshape(len(bits), width),
        k,
        variant=variant,
    )
    order = np.lexsort((rows[0], distances[0]))
    return rows[0][order], distances[0][order].astype(np.int64)
