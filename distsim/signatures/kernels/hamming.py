"""Compiled loops that find the nearest signatures by Hamming distance, in one pass.

A query waits for memory; many in one pass read each row once, and take a third of the time each.
"""

from typing import Any

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled, intrinsic, uncounted

BLOCK = 256  # rows whose distances are taken before they are looked at
_PIECE = 16  # rows of a block of which either none or all are looked at


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


@uncounted
def _nearest_of(distances):
    """Return the least of some distances, uint16."""
    least = np.uint16(0xFFFF)
    for i in range(distances.size):
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
    for piece in range(0, n, _PIECE):
        stop = min(n, piece + _PIECE)
        if _nearest_of(block[piece:stop]) > limit:
            continue
        for i in range(piece, stop):
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
        if _nearest_of(block[: stop - first]) > limit:
            continue
        if size + BLOCK > rows.size:
            size = _keep_within(rows, distances, size, limit)
            if size > rows.size // 2:
                rows = grown(rows, size, 2 * rows.size)
                distances = grown(distances, size, 2 * distances.size)
        limit, below, size = _take(
            block, stop - first, first, k, limit, below, at_distance, rows, distances, size
        )
    return _in_order(rows, distances, size, limit, at_distance)


@compiled
def _in_order(rows, distances, size, limit, at_distance):
    """Return (rows int64, distances int64) at most `limit` away, in order of distance, then row.

    Arguments:
        rows, distances: int64 and uint16, of collected rows, which ascend.
        size: their number.
        limit: maximum distance.
        at_distance: int64, the number of collected rows by distance.
    """
    starts = np.zeros(at_distance.size, np.int64)
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


@uncounted
def _distances_by_words(words, query, n, out):
    """Fill out with the distances of n rows, word by word, to the query.

    Arguments:
        words: uint64[n_words, BLOCK], the first, second... words of the rows.
        query: uint64[n_words].
        n: number of rows.
        out: uint16[BLOCK], filled.
    """
    if query.size == 4:
        a, b, c, d = words[0], words[1], words[2], words[3]
        of_a, of_b, of_c, of_d = query[0], query[1], query[2], query[3]
        for i in range(n):
            out[i] = np.uint16(
                count_ones(a[i] ^ of_a)
                + count_ones(b[i] ^ of_b)
                + count_ones(c[i] ^ of_c)
                + count_ones(d[i] ^ of_d)
            )
        return
    out[:n] = np.uint16(0)
    for w in range(query.size):
        column = words[w]
        word = query[w]
        for i in range(n):
            out[i] += np.uint16(count_ones(column[i] ^ word))


@compiled
def nearest_rows_of_many(bits, among, queries, k, radius, rows, distances):
    """Fill rows[q] and distances[q] with what `nearest_rows` returns of each query.

    Arguments:
        bits, among, k, radius: as `nearest_rows` takes them.
        queries: uint64[n_queries, n_words].
        rows, distances: int64 and uint16[n_queries, room], filled from the left; `room` is two
            blocks or more.

    Returns the number of rows of each query, int64; -1 where those as near as the k-th take more
    than half of the room.
    """
    n = among.size if among.size else len(bits)
    n_queries = len(queries)
    n_words = queries.shape[1]
    room = rows.shape[1]
    at_distance = np.zeros((n_queries, 64 * n_words + 2), np.int64)
    limits = np.full(n_queries, min(radius, 64 * n_words), np.int64)
    below = np.zeros(n_queries, np.int64)
    sizes = np.zeros(n_queries, np.int64)
    block = np.empty(BLOCK, np.uint16)
    words = np.empty((n_words, BLOCK), np.uint64)
    for first in range(0, n, BLOCK):
        n_rows = min(BLOCK, n - first)
        for i in range(n_rows):
            row = np.int64(among[first + i]) if among.size else first + i
            for w in range(n_words):
                words[w, i] = bits[row, w]
        for q in range(n_queries):
            if sizes[q] < 0:
                continue
            _distances_by_words(words, queries[q], n_rows, block)
            if _nearest_of(block[:n_rows]) > limits[q]:
                continue
            if sizes[q] + BLOCK > room:
                sizes[q] = _keep_within(rows[q], distances[q], sizes[q], limits[q])
                if sizes[q] > room // 2:
                    sizes[q] = -1
                    continue
            limits[q], below[q], sizes[q] = _take(
                block, n_rows, first, k, limits[q], below[q], at_distance[q], rows[q],
                distances[q], sizes[q],
            )  # fmt: skip
    for q in range(n_queries):
        if sizes[q] < 0:
            continue
        of_query, away = _in_order(rows[q], distances[q], sizes[q], limits[q], at_distance[q])
        sizes[q] = of_query.size
        for j in range(of_query.size):
            rows[q, j] = of_query[j]
            distances[q, j] = away[j]
    return sizes
