"""Posterior means of phrases' vectors, given their bits and the vectors of their words.

An entry of a vector is taken for a normal variable of which the sign is known, so its posterior
mean is that of a truncated normal: mean + spread * r(mean / spread) for a positive sign, with the
inverse Mills ratio r(z) = density(z) / distribution(z) (Johnson, Kotz and Balakrishnan 1994,
Continuous Univariate Distributions 1, 13.10.1).
"""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, finish, first_not_below, step

_SPACE = 32
FIDELITY_OF_BITS = 2.0 / np.pi  # |E[x | its signs]|^2 for a unit vector of many dimensions


@compiled
def _add_word(wanted, hashes, weights, vectors, halves, total):
    """Return whether a word has a vector; if so, add weight * vector to the total.

    Arguments:
        wanted: uint64, hash of the word.
        hashes, weights, vectors: uint64[m], sorted, float64[m] and uint16[m, n_dimensions], of all
            words; vectors as bits of float16.
        halves: float32[65536], the value of each float16.
        total: float32[n_dimensions], added to.
    """
    low = first_not_below(hashes, wanted, 0, hashes.size)
    if low == hashes.size or hashes[low] != wanted:
        return False
    weight = np.float32(weights[low])
    vector = vectors[low]
    for k in range(total.size):
        total[k] += weight * halves[vector[k]]
    return True


@compiled
def _inverse_mills_ratio(z, ratios, reach, steps):
    """Return the inverse Mills ratio at z, float32.

    Arguments:
        z: float32.
        ratios: float32, its values at even steps from -reach to reach.
        reach, steps: float32, half the table's range, and steps in a range of 1.
    """
    if z <= -reach:
        return -z - np.float32(1.0) / z  # its asymptote
    at = (z + reach) * steps
    place = np.int64(at)
    if place >= ratios.size - 1:
        return np.float32(0.0)
    part = at - np.float32(place)
    return ratios[place] * (np.float32(1.0) - part) + ratios[place + 1] * part


@compiled
def posterior_means(
    text, begins, ends, bits, strengths, hashes, weights, vectors, halves, ratios, reach,
    prior_count, min_own_count, correlation, rows, fidelities,
):  # fmt: skip
    """Fill rows[p] with the posterior mean of each phrase's unit vector, scaled to length 1.

    Arguments:
        text, begins, ends: uint8, int64[n], int64[n]; phrase p is text[begins[p]:ends[p]].
        bits: uint64[n, n_words], of the phrases whose strength is above 0; the others have none and
            are made of their words.
        strengths: int64[n], occurrences.
        hashes, weights, vectors: uint64[m], sorted, float64[m], uint16[m, n_dimensions]: the words'
            vectors, as bits of float16; the first dimensions have bits.
        halves: float32[65536], the value of each float16.
        ratios: float32, the inverse Mills ratio at even steps from -reach to reach.
        reach: half the range of ratios.
        prior_count: strength at which a phrase's own vector weighs as much as its words.
        min_own_count: phrases of a lower strength are made of their words alone.
        correlation: of a phrase's own vector with its words'.
        rows: float32[n, n_dimensions], filled.
        fidelities: float64[n], filled with the expected squared cosine of the row with the true
            vector; 0 where nothing is known of a phrase and the row is zeros.
    """
    n_bits = 64 * bits.shape[1]
    n_dimensions = rows.shape[1]
    total = np.empty(n_dimensions, np.float32)
    steps = np.float32((ratios.size - 1) / (2.0 * reach))
    reach32 = np.float32(reach)
    one = np.float32(1.0)
    for p in range(begins.size):
        total[:] = np.float32(0.0)
        n_tokens = 1
        n_found = 0
        state = START
        for i in range(begins[p], ends[p] + 1):
            if i < ends[p] and text[i] != _SPACE:
                state = step(state, np.uint64(text[i]))
                continue
            n_tokens += i < ends[p]
            n_found += _add_word(finish(state), hashes, weights, vectors, halves, total)
            state = START
        square = 0.0
        for k in range(n_bits):
            square += np.float64(total[k]) * np.float64(total[k])
        with_bits = square
        for k in range(n_bits, n_dimensions):
            square += np.float64(total[k]) * np.float64(total[k])
        has_words = n_found > 0 and square > 0.0
        row = rows[p]
        fidelities[p] = 1.0 if has_words else 0.0
        length = np.float32(np.sqrt(square))
        if strengths[p] == 0 or (has_words and (n_tokens == 1 or strengths[p] < min_own_count)):
            for k in range(n_dimensions):
                row[k] = total[k] / length if has_words else np.float32(0.0)
            continue
        if has_words:
            share = np.float64(strengths[p]) / (np.float64(strengths[p]) + prior_count)
            words = share * correlation + (1.0 - share)
            rest = share * np.sqrt(1.0 - correlation * correlation)
            spread = rest * np.sqrt(with_bits / square / n_bits)
            full = words * words + rest * rest
            mean = np.float32(words) / length
        else:
            spread = np.sqrt(1.0 / n_bits)
            full = 1.0
            mean = np.float32(0.0)
        spread32 = np.float32(spread)
        inverse = np.float32(1.0 / spread)
        for w in range(bits.shape[1]):
            word = bits[p, w]
            for i in range(64):
                k = 64 * w + i
                sign = one if (word >> np.uint64(i)) & np.uint64(1) else -one
                at = mean * total[k]
                row[k] = at + spread32 * sign * _inverse_mills_ratio(
                    sign * at * inverse, ratios, reach32, steps
                )
        for k in range(n_bits, n_dimensions):
            row[k] = mean * total[k]
        square = 0.0
        for k in range(n_dimensions):
            square += np.float64(row[k]) * np.float64(row[k])
        length = np.float32(np.sqrt(square))
        for k in range(n_dimensions):
            row[k] /= length
        fidelities[p] = min(1.0, square / full) if has_words else FIDELITY_OF_BITS


@compiled
def _corrected(cosine, a, b):
    """Return the cosine of the true vectors that the cosine of two restored ones stands for.

    Near 0 the errors of the two are independent, and it is larger by 1 / sqrt(a * b); vectors that
    are the same have the same errors. Between, in proportion.

    Arguments:
        cosine: of the restored vectors.
        a, b: their fidelities, expected squared cosines with the true vectors.
    """
    cosine = min(1.0, max(-1.0, cosine))
    return cosine * (1.0 + (1.0 / np.sqrt(a * b) - 1.0) * (1.0 - abs(cosine)))


@compiled
def restored_cosines(a_rows, a_fidelities, b_rows, b_fidelities, a, b, out):
    """Fill out with the estimated cosine of a_rows[a[i]] and b_rows[b[i]]; NaN of a zero row.

    Arguments:
        a_rows, b_rows: float32[n, dimensions].
        a_fidelities, b_fidelities: float64[n], the rows' squared cosines with the true vectors.
        a, b: integers, rows of either.
        out: float64, filled.
    """
    n_dimensions = a_rows.shape[1]
    for i in range(a.size):
        p = a[i]
        q = b[i]
        if a_fidelities[p] == 0.0 or b_fidelities[q] == 0.0:
            out[i] = np.nan
            continue
        x = a_rows[p]
        y = b_rows[q]
        lanes = np.zeros(8, np.float32)
        for k in range(0, n_dimensions, 8):
            for lane in range(8):
                lanes[lane] += x[k + lane] * y[k + lane]
        cosine = 0.0
        for lane in range(8):
            cosine += np.float64(lanes[lane])
        out[i] = _corrected(cosine, a_fidelities[p], b_fidelities[q])
