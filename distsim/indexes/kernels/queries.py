"""Compiled loop that matches queries around the occurrences of one of their words."""

import numpy as np

from distsim.kernels.compiled import compiled

DAMAGED = -1


@compiled
def match_query(tokens, positions, anchor, bits, optional, last, first, spans):
    """Return the number of matches of a query; as many as fit are written to spans.

    The elements of a query are bits of a state: those whose word may be the present token (the
    bit-parallel automaton of Baeza-Yates and Gonnet 1992, with elements that may be left out).
    Each match has one token at the anchor, so its two sides are matched separately.

    Arguments:
        tokens: uint32, of the shard.
        positions: int64, tokens that match element `anchor`.
        anchor: number of an element that may not be left out.
        bits: uint64 by word, the elements that match it; 0 for the sentence boundary.
        optional: uint64, the elements that may be left out.
        last, first: uint64, the elements that may be the last one, and the first one.
        spans: int64[m, 2], written: where a match starts and stops.
    """
    one = np.uint64(1)
    none = np.uint64(0)
    ends = np.empty(64, np.int64)
    begins = np.empty(64, np.int64)
    n = 0
    for position in positions:
        n_ends = 0
        state = one << np.uint64(anchor)
        place = position
        while True:
            if state & last != none:
                ends[n_ends] = place + 1
                n_ends += 1
            reached = state << one
            grown = reached | ((reached & optional) << one)
            while grown != reached:
                reached = grown
                grown = reached | ((reached & optional) << one)
            place += 1
            if place >= tokens.size:
                break
            if tokens[place] >= bits.size:
                return DAMAGED
            state = reached & bits[tokens[place]]
            if state == none:
                break
        if n_ends == 0:
            continue
        n_begins = 0
        state = one << np.uint64(anchor)
        place = position
        while True:
            if state & first != none:
                begins[n_begins] = place
                n_begins += 1
            reached = state >> one
            grown = reached | ((reached & optional) >> one)
            while grown != reached:
                reached = grown
                grown = reached | ((reached & optional) >> one)
            place -= 1
            if place < 0:
                break
            if tokens[place] >= bits.size:
                return DAMAGED
            state = reached & bits[tokens[place]]
            if state == none:
                break
        for i in range(n_begins):
            for j in range(n_ends):
                if n < len(spans):
                    spans[n, 0] = begins[i]
                    spans[n, 1] = ends[j]
                n += 1
    return n
