"""Composes one unit vector of a phrase's own sums and the vectors of its words."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, extend, finish, first_not_below, step
from distsim.signatures.kernels.projection import cut_row

_SPACE = 32


@compiled
def normalise(row):
    """Scale a vector to length 1; return whether it had any length.

    row: float64, changed.
    """
    square = 0.0
    for i in range(row.size):
        square += row[i] * row[i]
    if square == 0.0:
        return False
    length = np.sqrt(square)
    for i in range(row.size):
        row[i] /= length
    return True


@compiled
def centre_rows(sums, centre):
    """Replace each row by unit(unit(row) - centre), a zero row by zeros; return which are not.

    Arguments:
        sums: float64[n, n_dimensions], changed.
        centre: float[n_dimensions].
    """
    some = np.zeros(sums.shape[0], np.bool_)
    for p in range(sums.shape[0]):
        row = sums[p]
        if normalise(row):
            for i in range(row.size):
                row[i] -= centre[i]
            some[p] = normalise(row)
    return some


@compiled
def compose_rows(sums, text, ends, strengths, hashes, weights, vectors, prior_count, spelt):
    """Replace each row by the mixture of a phrase's own vector with the vectors of its words.

    A phrase of several words becomes unit(share * own + (1 - share) * unit(sum of weight * vector
    over its words)), share = s / (s + prior_count) for its strength s; share is 0 where its own
    vector is zero. A phrase of one word stays as it is, or takes the word's vector if `spelt`. A
    phrase none of whose words has a vector stays.

    Arguments:
        sums: float64[n, n_dimensions], unit or zero vectors of the phrases; written.
        text: uint8, the text of all phrases.
        ends: int64[n + 1], phrase p is text[ends[p]:ends[p + 1]].
        strengths: uint64[n], occurrences of each phrase.
        hashes: uint64[m], sorted hashes of words.
        weights: float64[m], weight of each word.
        vectors: float32[m, n_dimensions], vector of each word.
        prior_count: strength at which the own vector has a share of one half.
        spelt: whether a phrase of one word takes the vector of that word.
    """
    n_dimensions = sums.shape[1]
    parts = np.empty(n_dimensions, np.float64)
    for p in range(sums.shape[0]):
        begin = ends[p]
        stop = ends[p + 1]
        several = False
        for i in range(begin, stop):
            if text[i] == _SPACE:
                several = True
        if not several:
            if spelt:
                wanted = finish(extend(START, text, begin, stop))
                low = first_not_below(hashes, wanted, 0, hashes.size)
                if low < hashes.size and hashes[low] == wanted:
                    for k in range(n_dimensions):
                        sums[p, k] = np.float64(vectors[low, k])
                    normalise(sums[p])
            continue
        parts[:] = 0.0
        state = START
        for i in range(begin, stop + 1):
            if i < stop and text[i] != _SPACE:
                state = step(state, np.uint64(text[i]))
                continue
            wanted = finish(state)
            state = START
            low = first_not_below(hashes, wanted, 0, hashes.size)
            if low < hashes.size and hashes[low] == wanted:
                weight = weights[low]
                for k in range(n_dimensions):
                    parts[k] += weight * np.float64(vectors[low, k])
        if not normalise(parts):
            continue
        row = sums[p]
        own = False
        for k in range(n_dimensions):
            if row[k] != 0.0:
                own = True
        share = 0.0
        if own:
            share = np.float64(strengths[p]) / (np.float64(strengths[p]) + prior_count)
        for k in range(n_dimensions):
            row[k] = share * row[k] + (1.0 - share) * parts[k]
        normalise(row)


@compiled
def cut_composed(text, ends, hashes, weights, vectors, bits):
    """Return which phrases have any nonzero dimension, bool[n]; fill the bits of their words' sums.

    A phrase's sum is that of weight * vector over its words, of the first n_bits dimensions: no
    length changes a sign. What a phrase begins with as the one before it is not summed again.

    Arguments:
        text: uint8, the text of all phrases.
        ends: int64[n + 1], phrase p is text[ends[p]:ends[p + 1]].
        hashes: uint64[m], sorted hashes of words.
        weights: float64[m], weight of each word.
        vectors: float32[m, n_dimensions], vector of each word.
        bits: uint64[n, n_bits / 64], filled.
    """
    n_words = 1
    for p in range(ends.size - 1):
        n = 1
        for i in range(ends[p], ends[p + 1]):
            n += text[i] == _SPACE
        n_words = max(n_words, n)
    n_bits = 64 * bits.shape[1]
    sums = np.zeros((n_words + 1, n_bits), np.float64)  # of the first 0, 1, .. words
    before = np.zeros(n_words, np.uint64)
    n_before = 0
    some = np.zeros(ends.size - 1, np.bool_)
    for p in range(ends.size - 1):
        begin = ends[p]
        stop = ends[p + 1]
        n = 0
        same = True
        state = START
        for i in range(begin, stop + 1):
            if i < stop and text[i] != _SPACE:
                state = step(state, np.uint64(text[i]))
                continue
            wanted = finish(state)
            state = START
            same = same and n < n_before and before[n] == wanted
            if not same:
                before[n] = wanted
                low = first_not_below(hashes, wanted, 0, hashes.size)
                found = low < hashes.size and hashes[low] == wanted
                weight = weights[low] if found else 0.0
                row = vectors[low if found else 0]
                total = sums[n]
                longer = sums[n + 1]
                for k in range(n_bits):
                    longer[k] = total[k] + weight * np.float64(row[k])
            n += 1
        n_before = n
        some[p] = cut_row(sums[n], bits[p])
    return some
