"""Compiled loops: hashed shingles (runs of words) of texts, their MinHashes, and overlaps."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, finish

_MIX_1, _MIX_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)  # of MurmurHash3, as in datasketch


@compiled
def hash_shingles(words, stops, word_hashes, width):
    """Return (starts int64[n + 1], shingles uint32): each text's shingles, ascending, each once.

    A shingle is `width` words that follow each other; a text of fewer words is one shingle, an
    empty one has none.

    Arguments:
        words: uint32, word ids of all texts end to end.
        stops: int64[n], where each text ends in `words`.
        word_hashes: uint64 by id.
        width: words of a shingle.
    """
    starts = np.zeros(stops.size + 1, np.int64)
    out = np.empty(words.size, np.uint32)
    n = 0
    begin = 0
    for text in range(stops.size):
        first = n
        size = min(width, stops[text] - begin)
        for i in range(begin, stops[text] - size + 1 if size > 0 else begin):
            state = START
            for k in range(i, i + size):
                state = finish(state ^ word_hashes[words[k]])
            out[n] = np.uint32(state >> np.uint64(32))
            n += 1
        begin = stops[text]
        out[first:n].sort()
        stop = n
        n = first
        for i in range(first, stop):
            if i == first or out[i] != out[i - 1]:
                value = out[i]
                out[n] = value
                n += 1
        starts[text + 1] = n
    return starts, out[:n].copy()


@compiled
def min_hashes(starts, shingles, factors, offsets):
    """Return the MinHash values of texts, uint32[n, n_permutations], as datasketch's affine32.

    Arguments:
        starts: int64[n + 1], text i has shingles[starts[i]:starts[i + 1]].
        shingles: uint32.
        factors, offsets: uint32[n_permutations], h -> factor * h + offset modulo 2^32.
    """
    values = np.full((starts.size - 1, factors.size), np.uint32(0xFFFFFFFF))
    for text in range(starts.size - 1):
        lowest = values[text]
        for i in range(starts[text], starts[text + 1]):
            h = shingles[i]
            h = np.uint32(h ^ (h >> np.uint32(16)))
            h = np.uint32(h * _MIX_1)
            h = np.uint32(h ^ (h >> np.uint32(13)))
            h = np.uint32(h * _MIX_2)
            h = np.uint32(h ^ (h >> np.uint32(16)))
            for k in range(factors.size):
                lowest[k] = min(lowest[k], np.uint32(h * factors[k] + offsets[k]))
    return values


@compiled
def count_common(a, b):
    """Return the number of values that two ascending arrays share.

    Arguments:
        a, b: uint32, ascending, each value once.
    """
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
