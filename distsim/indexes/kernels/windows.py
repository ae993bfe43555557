"""Compiled loop that counts the words in windows of occurrences."""

import numpy as np

from distsim.kernels.compiled import compiled

DAMAGED = -1


@compiled
def count_windows(tokens, spans, window, seen, counts):
    """Return 0; add the words in windows of spans to counts, each token once; or return DAMAGED.

    Arguments:
        tokens: uint32, of the shard; 0 is a sentence's edge, where a window ends.
        spans: int64[m, 2], half-open positions in the shard.
        window: tokens on either side.
        seen: uint8, a bit for each token, lowest first, all 0; written.
        counts: int64 by word.
    """
    for i in range(spans.shape[0]):
        for side in range(2):
            place = spans[i, 0] - 1 if side == 0 else spans[i, 1]
            step = -1 if side == 0 else 1
            for _ in range(window):
                if place < 0 or place >= tokens.size or tokens[place] == 0:
                    break
                if tokens[place] >= counts.size:
                    return DAMAGED
                bit = np.uint8(1 << (place & 7))
                if seen[place >> 3] & bit == 0:
                    seen[place >> 3] |= bit
                    counts[tokens[place]] += 1
                place += step
    return 0
