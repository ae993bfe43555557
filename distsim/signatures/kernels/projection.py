"""Sums projection vectors by sparse rows of weights, and takes the signs."""

import numpy as np

from distsim.kernels.arrays import prefetch
from distsim.kernels.compiled import compiled

# Weights and projection vectors are multiples of 2^-12, so a product is one of 2^-24 and a
# float64 sum of them is exact below 2^29.
WEIGHT_STEPS = 4096.0
EXACT_SUM = 2.0**29
_LINE_BYTES = 64  # of the cache
NOWHERE = np.uint32(0xFFFFFFFF)  # in place of an offset: the feature has no vector


@compiled
def rounding_steps(weights, begin, stop, largest):
    """Return how many steps to the unit the weights of a row are rounded to.

    4096, and half as many again and again where the sum of |weight| * largest could leave
    the range in which float64 sums are exact; the result depends on no order.

    Arguments:
        weights: float64.
        begin, stop: half-open range of the row.
        largest: maximum absolute value of a vector's entries.
    """
    total = 0.0
    for f in range(begin, stop):
        total += np.floor(abs(weights[f]) * WEIGHT_STEPS + 1.0)
    bound = total / WEIGHT_STEPS * largest
    steps = WEIGHT_STEPS
    exact = EXACT_SUM
    while bound >= exact:
        steps /= 2.0
        exact *= 2.0
    return steps


@compiled
def _add_eight(weights, offsets, vectors, row):
    """Add eight vectors to a row, each times its weight: eight at once touch the row once.

    Arguments:
        weights: float64[8].
        offsets: uint32[8], where each vector begins.
        vectors: float32 or int16, end to end.
        row: float64[n_dimensions], added to.
    """
    size = row.size
    a = vectors[offsets[0] : offsets[0] + size]
    b = vectors[offsets[1] : offsets[1] + size]
    c = vectors[offsets[2] : offsets[2] + size]
    d = vectors[offsets[3] : offsets[3] + size]
    e = vectors[offsets[4] : offsets[4] + size]
    f = vectors[offsets[5] : offsets[5] + size]
    g = vectors[offsets[6] : offsets[6] + size]
    h = vectors[offsets[7] : offsets[7] + size]
    of_a, of_b, of_c, of_d = weights[0], weights[1], weights[2], weights[3]
    of_e, of_f, of_g, of_h = weights[4], weights[5], weights[6], weights[7]
    for i in range(size):
        row[i] += (
            (of_a * np.float64(a[i]) + of_b * np.float64(b[i]))
            + (of_c * np.float64(c[i]) + of_d * np.float64(d[i]))
        ) + (
            (of_e * np.float64(e[i]) + of_f * np.float64(f[i]))
            + (of_g * np.float64(g[i]) + of_h * np.float64(h[i]))
        )


@compiled
def project(row_starts, features, weights, offsets, vectors, unit, largest, sums):
    """Fill sums[p] with the sum of weight * vector over the features of each row p.

    Arguments:
        row_starts: int64[n_rows + 1], where each row begins in features and weights.
        features, weights: integers and float64, of all rows end to end.
        offsets: uint32 by feature, where its vector begins in `vectors`; NOWHERE where it has none
            and adds nothing.
        vectors: float32 or int16, end to end; multiples of 2^-12 when multiplied by `unit`.
        unit: float, a power of 2.
        largest: upper bound of the absolute values of vectors.
        sums: float64[n_rows, n_dimensions], filled.
    """
    n_dimensions = sums.shape[1]
    in_a_line = _LINE_BYTES // vectors.itemsize
    max_features = 0
    for p in range(row_starts.size - 1):
        max_features = max(max_features, row_starts[p + 1] - row_starts[p])
    kept_weights = np.empty(max_features + 8, np.float64)
    kept_offsets = np.empty(max_features + 8, np.uint32)
    for p in range(row_starts.size - 1):
        begin = row_starts[p]
        stop = row_starts[p + 1]
        steps = rounding_steps(weights, begin, stop, largest)
        row = sums[p]
        row[:] = 0.0
        n = 0
        for f in range(begin, stop):
            weight = np.floor(weights[f] * steps + 0.5)
            offset = offsets[features[f]]
            kept_weights[n] = weight * (unit / steps)  # kept where it counts: no branch to guess
            kept_offsets[n] = offset
            n += (weight != 0.0) & (offset != NOWHERE)
        while n % 8 > 0:
            kept_weights[n] = 0.0
            kept_offsets[n] = kept_offsets[0]
            n += 1
        for first in range(0, n, 8):
            for other in range(first + 8, min(first + 16, n)):  # most of the time is waiting
                place = np.int64(kept_offsets[other])
                for i in range(0, n_dimensions, in_a_line):
                    prefetch(vectors, place + i)
            _add_eight(kept_weights[first : first + 8], kept_offsets[first:], vectors, row)


@compiled
def cut_row(row, bits):
    """Fill bits, uint64[n_bits / 64], with row > 0; return whether any of it is nonzero.

    Arguments:
        row: float64[n_bits], projected sums.
        bits: uint64[n_bits / 64], filled.
    """
    is_nonzero = False
    for w in range(bits.size):
        word = np.uint64(0)
        nonzero = np.uint64(0)
        for i in range(64):
            value = row[64 * w + i]
            word |= np.uint64(value > 0.0) << np.uint64(i)
            nonzero |= np.uint64(value != 0.0)
        bits[w] = word
        is_nonzero = is_nonzero or nonzero != 0
    return is_nonzero


@compiled
def cut_bits(sums, bits):
    """Fill bits[p], uint64[n_bits / 64], with sum > 0; return whether each row has any nonzero.

    Bit i is bit i % 64 of word i // 64.

    Arguments:
        sums: float64[n, n_dimensions].
        bits: uint64[n, n_bits / 64], filled.
    """
    is_nonzero = np.zeros(sums.shape[0], np.bool_)
    for p in range(sums.shape[0]):
        is_nonzero[p] = cut_row(sums[p], bits[p])
    return is_nonzero


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
