"""A sparse matrix times a dense one."""

from distsim.kernels.compiled import compiled


@compiled
def multiply(row_starts, columns, values, dense, begin, stop, out):
    """Fill out[begin:stop], float32, with those rows of the sparse matrix times `dense`."""
    for i in range(begin, stop):
        row = out[i]
        row[:] = 0.0
        for f in range(row_starts[i], row_starts[i + 1]):
            value = values[f]
            other = dense[columns[f]]
            for k in range(row.size):
                row[k] += value * other[k]
