"""Hashes of the source sides of rules; lines and runs of arrays, gathered."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import SPACE, START, extend, finish, step


@compiled
def source_hashes(text, starts, stops, token_stops):
    """Return the hash of each rule's source side, symbols separated by a space; uint64[n].

    Arguments:
        text, starts, stops, token_stops: as `LineArrays` in kernels/rules.py has them.
    """
    out = np.empty(token_stops.shape[0], np.uint64)
    begin = 0
    for rule in range(token_stops.shape[0]):
        state = START
        for k in range(begin, token_stops[rule, 0]):
            if k > begin:
                state = step(state, SPACE)
            state = extend(state, text, starts[k], stops[k])
        out[rule] = finish(state)
        begin = token_stops[rule, 1]
    return out


@compiled
def gather_lines(text, starts, stops, wanted):
    """Return text[starts[i]:stops[i]] for each i in wanted, end to end, uint8.

    Arguments:
        text: uint8.
        starts, stops: int64, of each line.
        wanted: int64, numbers of lines.
    """
    size = 0
    for i in wanted:
        size += stops[i] - starts[i]
    out = np.empty(size, np.uint8)
    n = 0
    for i in wanted:
        for k in range(starts[i], stops[i]):
            out[n] = text[k]
            n += 1
    return out


@compiled
def gather_runs(values, starts, wanted):
    """Return values[starts[i]:starts[i + 1]] for each i in wanted, end to end.

    Arguments:
        values: of any dtype.
        starts: int64[n + 1].
        wanted: int64, numbers of runs.
    """
    size = 0
    for i in wanted:
        size += starts[i + 1] - starts[i]
    out = np.empty(size, values.dtype)
    n = 0
    for i in wanted:
        for k in range(starts[i], starts[i + 1]):
            out[n] = values[k]
            n += 1
    return out
