"""Sums projection vectors by sparse rows of weights, and takes the signs."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.prefetch import prefetch

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
    most = 0
    for p in range(row_starts.size - 1):
        most = max(most, row_starts[p + 1] - row_starts[p])
    kept_weights = np.empty(most + 8, np.float64)
    kept_offsets = np.empty(most + 8, np.uint32)
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
    some = False
    for w in range(bits.size):
        word = np.uint64(0)
        nonzero = np.uint64(0)
        for i in range(64):
            value = row[64 * w + i]
            word |= np.uint64(value > 0.0) << np.uint64(i)
            nonzero |= np.uint64(value != 0.0)
        bits[w] = word
        some = some or nonzero != 0
    return some


@compiled
def cut_bits(sums, bits):
    """Fill bits[p], uint64[n_bits / 64], with sum > 0; return whether each row has any nonzero.

    Bit i is bit i % 64 of word i // 64.

    Arguments:
        sums: float64[n, n_dimensions].
        bits: uint64[n, n_bits / 64], filled.
    """
    some = np.zeros(sums.shape[0], np.bool_)
    for p in range(sums.shape[0]):
        some[p] = cut_row(sums[p], bits[p])
    return some
