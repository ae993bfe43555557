"""Sparse matrices: their rows times a dense matrix, their making and turning.

Sparse rows: the cells of row i are columns[row_starts[i]:row_starts[i + 1]] with their values.
"""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.prefetch import prefetch
from distsim.signatures.kernels.projection import WEIGHT_STEPS

_TILE = 1 << 18  # float32 of `dense` at a time: a megabyte, which stays near the processor
_FEWEST = 8  # cells of a row in a tile, on average
_AHEAD = 4  # rows whose next cells are asked for while others are summed
_LINE = 16  # numbers of 32 bits in a line of the cache


@compiled
def multiply(row_starts, columns, values, dense, rows, out):
    """Fill out[i] with row rows[i] of the sparse matrix times `dense`.

    Columns ascend in each row, and each sum is taken in their order, as exactly as `out` is. All
    rows go through a tile of `dense` before the next tile is read, which would else be waited for
    again and again.

    Arguments:
        row_starts, columns, values: the sparse matrix.
        dense: float[m, width].
        rows: int64[n], rows of the matrix.
        out: float[n, width], filled.
    """
    width = dense.shape[1]
    tile = max(1, _TILE // max(1, width))
    reached = np.empty(rows.size, np.int64)
    n_cells = 0
    for i in range(rows.size):
        reached[i] = row_starts[rows[i]]
        n_cells += row_starts[rows[i] + 1] - reached[i]
    # Tiles that hold less than a few cells of each row would cost more than they save.
    tile = max(tile, dense.shape[0] * _FEWEST // max(1, n_cells // max(1, rows.size)))
    exact = out.dtype.type
    out[:] = 0.0
    for first in range(0, dense.shape[0], tile):
        end = first + tile
        for i in range(rows.size):
            if i + _AHEAD < rows.size:  # a row's cells in a tile are few, and stand by themselves
                later = reached[i + _AHEAD]
                prefetch(columns, later)
                prefetch(columns, later + _LINE)
                prefetch(values, later)
                prefetch(values, later + _LINE)
            row = out[i]
            f = reached[i]
            last = row_starts[rows[i] + 1]
            while f + 4 <= last and columns[f + 3] < end:
                a, b = dense[columns[f]], dense[columns[f + 1]]
                c, d = dense[columns[f + 2]], dense[columns[f + 3]]
                of_a, of_b = exact(values[f]), exact(values[f + 1])
                of_c, of_d = exact(values[f + 2]), exact(values[f + 3])
                if f + 8 <= last and columns[f + 7] < end:
                    e, g = dense[columns[f + 4]], dense[columns[f + 5]]
                    h, j = dense[columns[f + 6]], dense[columns[f + 7]]
                    of_e, of_g = exact(values[f + 4]), exact(values[f + 5])
                    of_h, of_j = exact(values[f + 6]), exact(values[f + 7])
                    for k in range(width):
                        four = (((row[k] + of_a * a[k]) + of_b * b[k]) + of_c * c[k]) + of_d * d[k]
                        row[k] = (((four + of_e * e[k]) + of_g * g[k]) + of_h * h[k]) + of_j * j[k]
                    f += 8
                    continue
                for k in range(width):
                    row[k] = (((row[k] + of_a * a[k]) + of_b * b[k]) + of_c * c[k]) + of_d * d[k]
                f += 4
            while f < last and columns[f] < end:
                other_row = dense[columns[f]]
                value = exact(values[f])
                for k in range(width):
                    row[k] += value * other_row[k]
                f += 1
            reached[i] = f


@compiled
def rounded_cells(row_starts, columns, weights):
    """Return the cells whose column is not below 0, their weights rounded as signing does it.

    As (row_starts int64, columns int32, values float32, bound, highest), without those that are
    rounded to 0. bound: the largest sum of a row's |weight|, each rounded up; highest: of values.

    Arguments:
        row_starts, columns, weights: sparse rows.
    """
    starts = np.zeros(row_starts.size, np.int64)
    kept_columns = np.empty(columns.size, np.int32)
    values = np.empty(columns.size, np.float32)
    n = 0
    bound = 0.0
    highest = 0.0
    for i in range(row_starts.size - 1):
        total = 0.0
        for f in range(row_starts[i], row_starts[i + 1]):
            steps = np.floor(weights[f] * WEIGHT_STEPS + 0.5)
            total += abs(steps) + 1.0
            highest = max(highest, steps)
            kept_columns[n] = columns[f]  # written in any case: no branch to be guessed
            values[n] = np.float32(steps / WEIGHT_STEPS)
            n += (columns[f] >= 0) & (steps > 0)
        bound = max(bound, total)
        starts[i + 1] = n
    return (
        starts, kept_columns[:n].copy(), values[:n].copy(), bound / WEIGHT_STEPS,
        highest / WEIGHT_STEPS,
    )  # fmt: skip


@compiled
def transposed_rows(row_starts, columns, values, rows, n_columns):
    """Return the columns of a sparse matrix as sparse rows; its row rows[i] is their column i.

    As (starts int64, int32, values), ascending in each row.

    Arguments:
        row_starts, columns, values: the sparse matrix.
        rows: int64[n], numbers of rows of the matrix, which become columns 0 to n - 1.
        n_columns: number of columns of the matrix.
    """
    starts = np.zeros(n_columns + 1, np.int64)
    for i in range(rows.size):
        for f in range(row_starts[rows[i]], row_starts[rows[i] + 1]):
            starts[columns[f] + 1] += 1
    for column in range(n_columns):
        starts[column + 1] += starts[column]
    at = starts[:-1].copy()
    others = np.empty(starts[-1], np.int32)
    other_values = np.empty(starts[-1], values.dtype)
    for i in range(rows.size):
        for f in range(row_starts[rows[i]], row_starts[rows[i] + 1]):
            place = at[columns[f]]
            others[place] = i
            other_values[place] = values[f]
            at[columns[f]] += 1
    return starts, others, other_values
