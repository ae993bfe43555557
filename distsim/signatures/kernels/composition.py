"""Composes one unit vector of a phrase's own sums and the vectors of its words."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled, inlined
from distsim.kernels.hashing import START, extend, finish, first_not_below, step
from distsim.signatures.kernels.projection import cut_row

_BEGIN, _END = np.uint64(60), np.uint64(62)  # < and >


@compiled
def word_grams(text, ends, chosen, shortest, longest):
    """Return the character n-grams of words, written `<word>`, with repetitions.

    Arguments:
        text: uint8, UTF-8 of the words end to end.
        ends: int64[n + 1], word i is text[ends[i]:ends[i + 1]].
        chosen: bool[n], which words are used.
        shortest, longest: range of n, in characters.

    Returns (hashes uint64[m], words int64[m]), by word, position and length.
    """
    hashes = np.empty(1024, np.uint64)
    words = np.empty(1024, np.int64)
    n = 0
    for i in range(chosen.size):
        if not chosen[i]:
            continue
        begin, end = ends[i], ends[i + 1]
        max_hashes = n + (end - begin + 2) * (longest - shortest + 1)
        if max_hashes > hashes.size:
            capacity = max(max_hashes, 2 * hashes.size)
            hashes = grown(hashes, n, capacity)
            words = grown(words, n, capacity)
        for first in range(begin - 1, end + 1):
            if begin <= first < end and text[first] & 0xC0 == 0x80:
                continue  # within a character
            state = START
            characters = 0
            at = first
            while at <= end and characters < longest:
                if at < begin:
                    state = step(state, _BEGIN)
                elif at == end:
                    state = step(state, _END)
                else:
                    state = step(state, np.uint64(text[at]))
                at += 1
                if begin < at < end and text[at] & 0xC0 == 0x80:
                    continue
                characters += 1
                if characters >= shortest:
                    hashes[n] = finish(state)
                    words[n] = i
                    n += 1
    return hashes[:n].copy(), words[:n].copy()


_SPACE = 32


class IdiomRule(NamedTuple):
    """How much the words of a phrase count beside its own contexts.

    The prior count is `prior_count` where the own vector is like that of the words, `idiom_count`
    where it is not: a logistic step at the cosine `cosine`, as wide as `width`. It is multiplied by
    `edge_factor` where first and last word weigh less than `edge_weight`. With an `idiom_count` of
    0 it is `prior_count` for all. The own vector of a phrase that occurs less than `full_count`
    times is unlike its words by chance, too: there the step is lower as the root of the
    occurrences, and only `idiom_count` is multiplied.
    """

    prior_count: float
    idiom_count: float
    cosine: float
    width: float
    edge_weight: float
    edge_factor: float
    full_count: float


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
    is_nonzero = np.zeros(sums.shape[0], np.bool_)
    for p in range(sums.shape[0]):
        row = sums[p]
        if normalise(row):
            for i in range(row.size):
                row[i] -= centre[i]
            is_nonzero[p] = normalise(row)
    return is_nonzero


@inlined
def _prior_count(own_cosine, edge, count, rule):
    """Return the count at which a phrase's own contexts weigh as much as its words.

    Arguments:
        own_cosine: cosine of the phrase's own vector and that of its words.
        edge: the larger of the weights of its first and its last word.
        count: float, its occurrences.
        rule: an IdiomRule.
    """
    if rule.idiom_count <= 0.0:
        return rule.prior_count
    highest = rule.cosine * np.sqrt(min(count / rule.full_count, 1.0))
    is_like = 1.0 / (1.0 + np.exp((highest - own_cosine) / rule.width))
    factor = rule.edge_factor if edge < rule.edge_weight else 1.0
    idiom = rule.idiom_count * factor
    like = rule.prior_count * factor if count >= rule.full_count else rule.prior_count
    return idiom + (like - idiom) * is_like


@compiled
def compose_rows(sums, text, ends, strengths, hashes, weights, factors, vectors, rule, spelt):
    """Replace each row by the mixture of a phrase's own vector with the vectors of its words.

    A phrase of several words becomes unit(share * own + (1 - share) * unit(sum of weight * vector
    over its words)), share = s / (s + prior count) for its strength s, by steps of 1 / 255; it is 0
    where its own vector is zero. A phrase of one word stays as it is, or takes the word's vector if
    `spelt`. A phrase none of whose words has a vector stays.

    Arguments:
        sums: float64[n, n_dimensions], unit or zero vectors of the phrases; written.
        text: uint8, the text of all phrases.
        ends: int64[n + 1], phrase p is text[ends[p]:ends[p + 1]].
        strengths: uint64[n], occurrences of each phrase.
        hashes: uint64[m], sorted hashes of words.
        weights: float64[m], weight of each word.
        factors: float64[m], weight times scale of each word's vector.
        vectors: int8[m, n_dimensions], vector of each word, over its scale.
        rule: an IdiomRule.
        spelt: whether a phrase of one word takes the vector of that word.

    Returns the share of its own contexts in each phrase's vector, uint8[n], in steps of 1 / 255.
    """
    n_dimensions = sums.shape[1]
    shares = np.full(sums.shape[0], np.uint8(255))
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
        first = -1.0
        last = 1.0
        for i in range(begin, stop + 1):
            if i < stop and text[i] != _SPACE:
                state = step(state, np.uint64(text[i]))
                continue
            wanted = finish(state)
            state = START
            low = first_not_below(hashes, wanted, 0, hashes.size)
            last = 1.0
            if low < hashes.size and hashes[low] == wanted:
                last = weights[low]
                factor = factors[low]
                for k in range(n_dimensions):
                    parts[k] += factor * np.float64(vectors[low, k])
            if first < 0.0:
                first = last
        if not normalise(parts):
            continue
        row = sums[p]
        own = False
        cosine = 0.0
        for k in range(n_dimensions):
            cosine += row[k] * parts[k]
            if row[k] != 0.0:
                own = True
        share = 0.0
        if own:
            count = np.float64(strengths[p])
            share = count / (count + _prior_count(cosine, max(first, last), count, rule))
        shares[p] = np.uint8(np.floor(share * 255.0 + 0.5))
        share = np.float64(shares[p]) / 255.0
        for k in range(n_dimensions):
            row[k] = share * row[k] + (1.0 - share) * parts[k]
        normalise(row)
    return shares


@compiled
def cut_composed(text, ends, hashes, factors, vectors, bits):
    """Return which phrases have any nonzero dimension, bool[n]; fill the bits of their words' sums.

    A phrase's sum is that of weight * vector over its words, of the first n_bits dimensions: no
    length changes a sign. What a phrase begins with as the one before it is not summed again.

    Arguments:
        text: uint8, the text of all phrases.
        ends: int64[n + 1], phrase p is text[ends[p]:ends[p + 1]].
        hashes: uint64[m], sorted hashes of words.
        factors: float64[m], weight times scale of each word's vector.
        vectors: int8[m, n_dimensions], vector of each word, over its scale.
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
    is_nonzero = np.zeros(ends.size - 1, np.bool_)
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
                is_known = low < hashes.size and hashes[low] == wanted
                factor = factors[low] if is_known else 0.0
                row = vectors[low if is_known else 0]
                total = sums[n]
                longer = sums[n + 1]
                for k in range(n_bits):
                    longer[k] = total[k] + factor * np.float64(row[k])
            n += 1
        n_before = n
        is_nonzero[p] = cut_row(sums[n], bits[p])
    return is_nonzero
