"""Positions of the parts of phrases with gaps, and the fillers of the gaps.

Positions that come from a file are checked before they are used; DAMAGED is returned instead of
reading beyond an array.
"""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.suffixes import DAMAGED


@compiled
def _stands_at(tokens, position, words, first, stop):
    """Return whether words[first:stop], int64, occur at a position of tokens, uint32."""
    if position < 0 or position + stop - first > tokens.size:
        return False
    for k in range(first, stop):
        if tokens[position + k - first] != words[k]:
            return False
    return True


@compiled
def match_parts(tokens, positions, words, starts, anchor, longest_gap, begins):
    """Return the number of matches of a pattern's parts around the places of one part, or DAMAGED.

    The shortest gaps are taken; a gap lies within one sentence.

    Arguments:
        tokens: uint32, of the shard.
        positions: int64, positions of part `anchor`.
        words: int64, word ids of the parts end to end.
        starts: int64[n_parts + 1], part k is words[starts[k]:starts[k + 1]].
        anchor: number of the part whose positions are given.
        longest_gap: maximum length of a gap, in tokens; a gap has at least 1.
        begins: int64[n, n_parts], position of each part of each match; filled.
    """
    n_parts = starts.size - 1
    found = 0
    for i in range(positions.size):
        position = positions[i]
        if position < 0 or position >= tokens.size:
            return DAMAGED
        begins[found, anchor] = position
        whole = True
        for k in range(anchor + 1, n_parts):
            inner = begins[found, k - 1] + starts[k] - starts[k - 1]
            whole = False
            for gap in range(1, longest_gap + 1):
                if inner + gap > tokens.size or tokens[inner + gap - 1] == 0:
                    break
                if _stands_at(tokens, inner + gap, words, starts[k], starts[k + 1]):
                    begins[found, k] = inner + gap
                    whole = True
                    break
            if not whole:
                break
        for back in range(anchor):
            if not whole:
                break
            k = anchor - 1 - back
            outer = begins[found, k + 1]
            whole = False
            for gap in range(1, longest_gap + 1):
                if outer - gap < 0 or tokens[outer - gap] == 0:
                    break
                begin = outer - gap - (starts[k + 1] - starts[k])
                if _stands_at(tokens, begin, words, starts[k], starts[k + 1]):
                    begins[found, k] = begin
                    whole = True
                    break
        found += whole
    return found


@compiled
def gather_fillers(tokens, firsts, stops, step, n_words, rows):
    """Return 0, or DAMAGED, after copying the tokens from each place to a stop.

    Arguments:
        tokens: uint32, of the shard.
        firsts, stops: int64[n], half-open; copying also ends at a sentence's end.
        step: 1 or -1, direction of reading.
        n_words: word ids are below it.
        rows: uint32[n, most], the first words from each place on, then 0; filled.
    """
    for i in range(firsts.size):
        for k in range(rows.shape[1]):
            rows[i, k] = 0
        at = firsts[i]
        for k in range(rows.shape[1]):
            if at == stops[i] or at < 0 or at >= tokens.size or tokens[at] == 0:
                break
            if tokens[at] >= n_words:
                return DAMAGED
            rows[i, k] = tokens[at]
            at += step
    return np.int64(0)
