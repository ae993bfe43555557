"""A sparse matrix times a dense one."""

from distsim.kernels.compiled import compiled
from distsim.kernels.prefetch import prefetch

_TILE = 1 << 18  # float32 of `dense` at a time: a megabyte, which stays near the processor
_FEWEST = 8  # cells of a row in a tile, on average
_AHEAD = 4  # rows whose next cells are asked for while others are summed
_LINE = 16  # numbers of 32 bits in a line of the cache


@compiled
def multiply(row_starts, columns, values, dense, begin, stop, out):
    """Fill out[begin:stop] with those rows of the sparse matrix times `dense`.

    Columns ascend in each row, and each sum is taken in their order. All rows go through a
    tile of `dense` before the next tile is read, which would else be waited for again and again.
    """
    width = dense.shape[1]
    tile = max(1, _TILE // max(1, width))
    # Tiles that hold less than a few cells of each row would cost more than they save.
    cells = (row_starts[stop] - row_starts[begin]) // max(1, stop - begin)
    tile = max(tile, dense.shape[0] * _FEWEST // max(1, cells))
    reached = row_starts[begin:stop].copy()
    out[begin:stop] = 0.0
    for first in range(0, dense.shape[0], tile):
        end = first + tile
        for i in range(begin, stop):
            if i + _AHEAD < stop:  # each row's cells in a tile are few, and stand by themselves
                later = reached[i + _AHEAD - begin]
                prefetch(columns, later)
                prefetch(columns, later + _LINE)
                prefetch(values, later)
                prefetch(values, later + _LINE)
            row = out[i]
            f = reached[i - begin]
            last = row_starts[i + 1]
            while f + 4 <= last and columns[f + 3] < end:
                a, b = dense[columns[f]], dense[columns[f + 1]]
                c, d = dense[columns[f + 2]], dense[columns[f + 3]]
                of_a, of_b, of_c, of_d = values[f], values[f + 1], values[f + 2], values[f + 3]
                for k in range(width):
                    row[k] = (((row[k] + of_a * a[k]) + of_b * b[k]) + of_c * c[k]) + of_d * d[k]
                f += 4
            while f < last and columns[f] < end:
                other_row = dense[columns[f]]
                value = values[f]
                for k in range(width):
                    row[k] += value * other_row[k]
                f += 1
            reached[i - begin] = f
