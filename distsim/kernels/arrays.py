"""A longer array with what another holds: an entry at a time, without a slice assigned.

Where one array is assigned to a slice of another, numba compiles what puts their two shapes into
words, should they differ: four seconds of each first run.
"""

import numpy as np

from distsim.kernels.compiled import compiled


@compiled
def grown(array, n, room):
    """Return an array of `room` entries, the first n of them those of `array`, of one dimension."""
    longer = np.empty(room, array.dtype)
    for i in range(n):
        longer[i] = array[i]
    return longer
