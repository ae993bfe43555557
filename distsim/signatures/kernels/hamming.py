"""Compiled loops that find the nearest signatures by Hamming distance, in one pass."""

from typing import Any

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled, intrinsic

BLOCK = 256  # rows whose distances are taken before they are looked at


@intrinsic
def count_ones(typing_context: Any, value: Any) -> Any:
    """Return the number of set bits of a uint64: one instruction where the processor has it.

    Arguments:
        typing_context: typing context of numba.
        value: type of the argument in a kernel.
    """
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@compiled
def _distance(bits, row, query):
    """Return the Hamming distance of a row of bits to the query, uint16.

    Arguments:
        bits: uint64[n, n_words].
        row: number of the row.
        query: uint64[n_words].
    """
    if query.size == 4:
        return np.uint16(
            count_ones(bits[row, 0] ^ query[0])
            + count_ones(bits[row, 1] ^ query[1])
            + count_ones(bits[row, 2] ^ query[2])
            + count_ones(bits[row, 3] ^ query[3])
        )
    total = np.uint64(0)
    for word in range(query.size):
        total += count_ones(bits[row, word] ^ query[word])
    return np.uint16(total)


@compiled
def _distances(bits, rows, query, first, stop, out):
    """Fill out[i] with the distance of row first + i, or rows[first + i], to the query.

    Arguments:
        bits: uint64[n, n_words].
        rows: uint32, the rows that are searched; all where empty.
        query: uint64[n_words].
        first, stop: half-open range of rows.
        out: uint16, filled.
    """
    if rows.size:
        for i in range(stop - first):
            out[i] = _distance(bits, np.int64(rows[first + i]), query)
        return
    for i in range(stop - first):
        out[i] = _distance(bits, first + i, query)


@compiled
def _nearest_of(distances, n):
    """Return the least of the first n distances, uint16."""
    least = np.uint16(0xFFFF)
    for i in range(n):
        least = min(least, distances[i])
    return least


@compiled
def _keep_within(rows, distances, size, limit):
    """Return the number of rows at most `limit` away, after moving them to the front.

    Arguments:
        rows, distances: int64 and uint16, changed.
        size: number of rows.
        limit: maximum distance.
    """
    kept = 0
    for j in range(size):
        if distances[j] <= limit:
            rows[kept] = rows[j]
            distances[kept] = distances[j]
            kept += 1
    return kept


@compiled
def _take(block, n, first, k, limit, below, at_distance, rows, distances, size):
    """Return (limit, below, size) after collecting the rows of a block at most `limit` away.

    Arguments:
        block: distances of n rows, of which row `first` is the first.
        n, first: rows of the block.
        k: the number of nearest rows.
        limit: the distance of the k-th nearest row so far.
        below: the number of collected rows that are nearer than `limit`.
        at_distance: int64, the number of collected rows by distance.
        rows, distances: int64, collected so far; changed.
        size: their number.
    """
    for i in range(n):
        distance = np.int64(block[i])
        if distance <= limit:
            rows[size] = first + i
            distances[size] = distance
            size += 1
            at_distance[distance] += 1
            if distance < limit:
                below += 1
                while below >= k:
                    limit -= 1
                    below -= at_distance[limit]
    return limit, below, size


@compiled
def nearest_rows(bits, among, query, k, radius):
    """Return the rows at most `radius` away that are among the k nearest or as near as the k-th.

    Arguments:
        bits: uint64[n, n_words], signatures.
        among: uint32, ascending, the rows that are searched; all where empty.
        query: uint64[n_words].
        k: 1 or more.
        radius: maximum Hamming distance.

    Returns (rows int64, distances int64), in order of distance, then row. Rows are places in
    `among` where it is not empty.
    """
    n = among.size if among.size else len(bits)
    n_bits = 64 * query.size
    at_distance = np.zeros(n_bits + 2, np.int64)
    limit = np.int64(min(radius, n_bits))
    below = np.int64(0)
    rows = np.empty(4 * BLOCK, np.int64)
    distances = np.empty(4 * BLOCK, np.uint16)
    size = np.int64(0)
    block = np.empty(BLOCK, np.uint16)
    for first in range(0, n, BLOCK):
        stop = min(n, first + BLOCK)
        _distances(bits, among, query, first, stop, block)
        if _nearest_of(block, stop - first) > limit:
            continue
        if size + BLOCK > rows.size:
            size = _keep_within(rows, distances, size, limit)
            if size > rows.size // 2:
                rows = grown(rows, size, 2 * rows.size)
                distances = grown(distances, size, 2 * distances.size)
        limit, below, size = _take(
            block, stop - first, first, k, limit, below, at_distance, rows, distances, size
        )
    starts = np.zeros(n_bits + 2, np.int64)
    for distance in range(limit + 1):
        starts[distance + 1] = starts[distance] + at_distance[distance]
    rows_in_order = np.empty(starts[limit + 1], np.int64)
    found_distances = np.empty(rows_in_order.size, np.int64)
    for j in range(size):
        distance = np.int64(distances[j])
        if distance <= limit:
            rows_in_order[starts[distance]] = rows[j]
            found_distances[starts[distance]] = distance
            starts[distance] += 1
    return rows_in_order, found_distances
