"""Copies of arrays into larger ones, for kernels.

Where one array is assigned to a slice of another, numba compiles what puts their two shapes into
words, should they differ: four seconds of each first run.
"""

import numpy as np

from distsim.kernels.compiled import compiled


@compiled
def grown(array, n, room):
    """Return an array of `room` entries, the first n of them those of `array`, of one dimension.

    array: of any type; n: at most its size; room: at least n.
    """
    longer = np.empty(room, array.dtype)
    for i in range(n):
        longer[i] = array[i]
    return longer


@compiled
def doubled(rows):
    """Return an array of two dimensions with twice as many rows, the first of them those given."""
    larger = np.empty((2 * rows.shape[0], rows.shape[1]), rows.dtype)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger
