"""Rows of text end to end: put into another order."""

import numpy as np

from distsim.kernels.compiled import compiled


@compiled
def permute_texts(text, starts, order):
    """Return the texts text[starts[i]:starts[i + 1]] for i in order, end to end, and offsets."""
    offsets = np.empty(order.size + 1, np.int64)
    offsets[0] = 0
    for n in range(order.size):
        offsets[n + 1] = offsets[n] + starts[order[n] + 1] - starts[order[n]]
    out = np.empty(offsets[order.size], np.uint8)
    for n in range(order.size):
        begin = starts[order[n]]
        for i in range(offsets[n + 1] - offsets[n]):
            out[offsets[n] + i] = text[begin + i]
    return out, offsets
