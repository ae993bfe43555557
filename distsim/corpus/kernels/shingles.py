"""Compiled loops: hashed shingles (runs of words) of lines, and the overlap of two sets."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, finish


@compiled
def hash_shingles(words, line_stops, word_hashes, dropped, width):
    """Return (starts int64, shingles uint32): each line's shingles, ascending, each once.

    words: word ids, `dropped` where a word vanished; word_hashes: uint64 by id. A shingle is
    `width` words that follow each other; a line of fewer words has none.
    """
    starts = np.zeros(line_stops.size + 1, np.int64)
    out = np.empty(words.size, np.uint32)
    window = np.empty(width, np.uint64)
    n = 0
    begin = 0
    for line in range(line_stops.size):
        first = n
        seen = 0
        for i in range(begin, line_stops[line]):
            if words[i] == dropped:
                continue
            window[seen % width] = word_hashes[words[i]]
            seen += 1
            if seen >= width:
                state = START
                for k in range(width):
                    state = finish(state ^ window[(seen + k) % width])
                out[n] = np.uint32(state >> np.uint64(32))
                n += 1
        begin = line_stops[line]
        out[first:n].sort()
        stop = n
        n = first
        for i in range(first, stop):
            if i == first or out[i] != out[i - 1]:
                value = out[i]
                out[n] = value
                n += 1
        starts[line + 1] = n
    return starts, out[:n].copy()


@compiled
def count_common(a, b):
    """Return the number of values that two ascending arrays share."""
    i = 0
    j = 0
    n = 0
    while i < a.size and j < b.size:
        if a[i] == b[j]:
            n += 1
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return n
