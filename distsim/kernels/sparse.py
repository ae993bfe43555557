"""A sparse matrix times a dense one."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.prefetch import prefetch

_LINE = 16  # float32 in a line of the cache


@compiled
def multiply(row_starts, columns, values, dense, begin, stop, out):
    """Fill out[begin:stop], float32, with those rows of the sparse matrix times `dense`.

    Each sum is taken in the order of the columns. Four rows of `dense` at once touch a row of
    `out` once, and the next four are asked for meanwhile: most of the time is waiting for them.
    """
    width = dense.shape[1]
    flat = dense.reshape(-1)
    for i in range(begin, stop):
        row = out[i]
        row[:] = 0.0
        f = row_starts[i]
        last = row_starts[i + 1]
        while f + 4 <= last:
            if f + 8 <= last:
                for other in range(f + 4, f + 8):
                    place = np.int64(columns[other]) * width
                    for k in range(0, width, _LINE):
                        prefetch(flat, place + k)
            a, b = dense[columns[f]], dense[columns[f + 1]]
            c, d = dense[columns[f + 2]], dense[columns[f + 3]]
            of_a, of_b, of_c, of_d = values[f], values[f + 1], values[f + 2], values[f + 3]
            for k in range(width):
                row[k] = (((row[k] + of_a * a[k]) + of_b * b[k]) + of_c * c[k]) + of_d * d[k]
            f += 4
        while f < last:
            other_row = dense[columns[f]]
            value = values[f]
            for k in range(width):
                row[k] += value * other_row[k]
            f += 1
