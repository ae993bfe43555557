"""Unit vectors of phrases from those of their words or from bits, and cosines of such vectors."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import (
    START,
    extend,
    find_texts,
    finish,
    first_not_below,
    step,
)

_SPACE = 32
FIDELITY_OF_BITS = 2.0 / np.pi  # |E[x | its signs]|^2 for a unit vector of many dimensions


class TableColumns(NamedTuple):
    """The arrays of a table, read-only.

    hashes: uint64[n], ascending. text, blocks, ends: the rows' texts, as find_texts takes them.
    bits: uint64[n, n_words]. shares: uint8[n], of own contexts.
    """

    hashes: np.ndarray
    text: np.ndarray
    blocks: np.ndarray
    ends: np.ndarray
    bits: np.ndarray
    shares: np.ndarray


class StoredVectors(NamedTuple):
    """Vectors of phrases with contexts of their own, and of words, all sorted by hash, read-only.

    own_hashes, own_scales, own_vectors: uint64[m], float32[m] by which vectors are multiplied to
    have length 1, and these, int8[m, n_dimensions]. hashes, factors, vectors: uint64[n],
    float64[n], int8[n, n_dimensions]: the words, their weights times the scales of their vectors,
    and these.
    """

    own_hashes: np.ndarray
    own_scales: np.ndarray
    own_vectors: np.ndarray
    hashes: np.ndarray
    factors: np.ndarray
    vectors: np.ndarray


@compiled
def _add_word(wanted, hashes, factors, vectors, total):
    """Return whether a word has a vector; if so, add factor * vector to the total.

    Arguments:
        wanted: uint64, hash of the word.
        hashes, factors, vectors: uint64[m], sorted, float64[m] and int8[m, n_dimensions], of all
            words.
        total: float32[n_dimensions], added to.
    """
    low = first_not_below(hashes, wanted, 0, hashes.size)
    if low == hashes.size or hashes[low] != wanted:
        return False
    factor = np.float32(factors[low])
    vector = vectors[low]
    for k in range(total.size):
        total[k] += factor * np.float32(vector[k])
    return True


@compiled
def _take_own(wanted, stored, row):
    """Return whether a phrase has a stored vector; if so, overwrite the row with it.

    Arguments:
        wanted: uint64, hash of the phrase.
        stored: StoredVectors.
        row: float32[n_dimensions].
    """
    low = first_not_below(stored.own_hashes, wanted, 0, stored.own_hashes.size)
    if low == stored.own_hashes.size or stored.own_hashes[low] != wanted:
        return False
    scale = stored.own_scales[low]
    vector = stored.own_vectors[low]
    for k in range(row.size):
        row[k] = np.float32(vector[k]) * scale
    return True


@compiled
def restore_vectors(text, begins, ends, phrase_hashes, bits, shares, stored, rows, fidelities):
    """Fill rows[p] with the unit vector of each phrase: stored, or as its words and bits tell it.

    Arguments:
        text, begins, ends: uint8, int64[n], int64[n]; phrase p is text[begins[p]:ends[p]].
        phrase_hashes, bits: uint64[n], uint64[n, n_words], of the phrases whose share is above 0.
        shares: uint8[n], of a phrase's own contexts in its vector; 0: it is made of its words.
        stored: StoredVectors; the first dimensions have bits.
        rows: float32[n, n_dimensions], filled: the stored vector of a phrase with contexts of its
            own, or the sum of the words' vectors, or, where none has one, the signs of the bits.
        fidelities: float64[n], filled with the expected squared cosine of the row with the true
            vector of a phrase made of its words; 0 where nothing is known and the row is zeros.
    """
    n_bits = 64 * bits.shape[1]
    n_dimensions = rows.shape[1]
    total = np.empty(n_dimensions, np.float32)
    lanes = np.empty(8)
    for p in range(begins.size):
        if shares[p] > 0 and _take_own(phrase_hashes[p], stored, rows[p]):
            fidelities[p] = 1.0
            continue
        total[:] = np.float32(0.0)
        n_found = 0
        state = START
        for i in range(begins[p], ends[p] + 1):
            if i < ends[p] and text[i] != _SPACE:
                state = step(state, np.uint64(text[i]))
                continue
            n_found += _add_word(
                finish(state), stored.hashes, stored.factors, stored.vectors, total
            )
            state = START
        lanes[:] = 0.0
        for k in range(0, n_dimensions - 7, 8):
            for lane in range(8):
                lanes[lane] += np.float64(total[k + lane]) * np.float64(total[k + lane])
        square = 0.0
        for lane in range(8):
            square += lanes[lane]
        for k in range(n_dimensions - n_dimensions % 8, n_dimensions):
            square += np.float64(total[k]) * np.float64(total[k])
        row = rows[p]
        if n_found > 0 and square > 0.0:
            length = np.float32(np.sqrt(square))
            for k in range(n_dimensions):
                row[k] = total[k] / length
            fidelities[p] = 1.0
            continue
        row[:] = np.float32(0.0)
        fidelities[p] = 0.0
        if shares[p] > 0:
            positive = np.float32(1.0 / np.sqrt(n_bits))
            for k in range(n_bits):
                row[k] = (
                    positive
                    if (bits[p, k // 64] >> np.uint64(k % 64)) & np.uint64(1)
                    else -positive
                )
            fidelities[p] = FIDELITY_OF_BITS


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


@compiled
def cosine_of_texts(text, middle, block_rows, table, stored):
    """Return the cosine that restored_cosines tells of two phrases of a table; NaN without one.

    The second value is whether both are in the table.

    Arguments:
        text: uint8, the phrases in their normal form as UTF-8, end to end.
        middle: where the second one begins.
        block_rows: rows of a block of the table's texts.
        table: TableColumns. stored: StoredVectors.
    """
    offsets = np.array([0, middle, text.size])
    wanted = np.empty(2, np.uint64)
    for p in range(2):
        wanted[p] = finish(extend(START, text, offsets[p], offsets[p + 1]))
    rows = find_texts(
        table.hashes, table.text, table.blocks, table.ends, block_rows, wanted, text, offsets
    )
    cosine = np.full(1, np.nan)
    if rows[0] < 0 or rows[1] < 0:
        return cosine[0], False
    vectors = np.empty((2, stored.vectors.shape[1]), np.float32)
    fidelities = np.empty(2)
    places = np.arange(2)
    restore_vectors(
        text, offsets[:2], offsets[1:], wanted, table.bits[rows], table.shares[rows], stored,
        vectors, fidelities,
    )  # fmt: skip
    restored_cosines(vectors, fidelities, vectors, fidelities, places[:1], places[1:], cosine)
    return cosine[0], True
