"""Copies of arrays into larger ones, for kernels.

Where one array is assigned or added to a slice of another, numba compiles what puts their two
shapes into words, should they differ: four seconds of each first run. Loops over entries do not.
"""

import numpy as np

from distsim.kernels.compiled import compiled


@compiled
def grown(array, n, room):
    """Return an array of one dimension with `room` entries that begins with those of `array`.

    Arguments:
        array: of any dtype.
        n: number of entries that are kept.
        room: size of the array returned, at least n.
    """
    longer = np.empty(room, array.dtype)
    for i in range(n):
        longer[i] = array[i]
    return longer


@compiled
def doubled(rows):
    """Return an array of two dimensions with twice as many rows, the first of them those given.

    Arguments:
        rows: array of two dimensions.
    """
    larger = np.empty((2 * rows.shape[0], rows.shape[1]), rows.dtype)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger
