"""Kernels of profiles: words around phrases gathered, counted, weighted and compared.

Positions and ids that come from a file are checked before they are used; DAMAGED is returned
instead of reading beyond an array.
"""

import math

import numpy as np

from distsim.kernels.arrays import prefetch
from distsim.kernels.compiled import compiled
from distsim.kernels.contexts import LLR, LOG_LLR, ln, log_likelihood_ratio, require_scheme, weight
from distsim.kernels.suffixes import DAMAGED

AHEAD = 16  # so many windows are on their way from memory while one is copied
SHARE, LOG_SHARE = 0, 1  # columns of what is kept of every word and of every place
STEPS = 1024.0  # a rough logarithm is that of a multiple of 1 / 1024
LN_STEPS = math.log(STEPS)


@compiled
def gather_windows(tokens, positions, lengths, window, n_words, rows):
    """Copy the words within `window` tokens of phrases, inside the sentence; return 0, or DAMAGED.

    Arguments:
        tokens: uint32, of the shard.
        positions, lengths: int64[n], where each phrase begins, and its tokens.
        window: words on either side.
        n_words: ids from it on are damage.
        rows: uint32[n, 2 * window], filled: first the words on the left, then those on the right,
            nearest first; 0 where there is none.
    """
    size = tokens.size
    largest_token = np.uint32(0)
    for i in range(positions.size):
        if i + AHEAD < positions.size:
            begin = positions[i + AHEAD]
            if window < begin and begin + lengths[i + AHEAD] + window < size:
                prefetch(tokens, begin - window)
                prefetch(tokens, begin + lengths[i + AHEAD] + window - 1)
        begin = positions[i]
        end = begin + lengths[i]
        if begin < 0 or end > size:
            return DAMAGED
        inside = np.uint32(1)
        for k in range(min(window, begin)):
            token = tokens[begin - 1 - k]
            inside &= np.uint32(token != 0)
            rows[i, k] = token * inside
            largest_token = max(largest_token, token)
        for k in range(min(window, begin), window):
            rows[i, k] = 0
        inside = np.uint32(1)
        for k in range(min(window, size - end)):
            token = tokens[end + k]
            inside &= np.uint32(token != 0)
            rows[i, window + k] = token * inside
            largest_token = max(largest_token, token)
        for k in range(min(window, size - end), window):
            rows[i, window + k] = 0
    return 0 if largest_token < n_words else DAMAGED


@compiled
def _ln_1_plus(x):
    """Return ln(1 + x), by its series where x is small: a third of the time of a logarithm."""
    if -1e-3 < x < 1e-3:
        square = x * x
        return x - square * (0.5 - x * (1 / 3) + square * (0.25 - x * 0.2))
    return math.log(1.0 + x)


@compiled
def _ln_1_plus_roughly(x, logs):
    """Return ln(1 + x) of x >= 0 to three digits, by the nearest logarithm of the table logs."""
    n = np.int64((1.0 + x) * STEPS + 0.5)
    return logs[n] - LN_STEPS if n < logs.size else math.log(1.0 + x)


@compiled
def _share(collocate, words, places):
    """Return the collocate's share p of all slots, and ln p (ppmi: smoothed).

    Arguments:
        collocate: place * words.shape[0] + word.
        words, places: float64[n, 2], the share of each word and of each place, and its logarithm.
    """
    place = np.int64(collocate) // words.shape[0]
    word = np.int64(collocate) - place * words.shape[0]
    share = words[word, SHARE] * places[place, SHARE]
    return share, words[word, LOG_SHARE] + places[place, LOG_SHARE]


@compiled
def weigh_by_likelihood(n, scale, words, places, total, logs, seen, collocates, weights):
    """Fill weights[t] with the log-likelihood ratio G2 of collocates[t] (Dunning 1993).

    A cell of the contingency table is its expectation times a ratio, and the logarithms of most
    ratios are sums of known ones.

    Arguments:
        n: slots around the sampled occurrences.
        scale: factor of n and of seen, occurrences per sampled occurrence.
        words, places: float64[n_words, 2] and float64[n_places, 2], shares and their logarithms.
        total: slots of the corpus.
        logs: float64, logs[i] is ln i.
        seen: uint32 by collocate, how many of the slots have it; set back to zeros.
        collocates: uint32[m], collocates seen.
        weights: float64[m], filled.
    """
    row = n * scale
    not_row = total - row
    ln_n = ln(n, logs)
    ln_not_row = math.log(not_row / total) if not_row > 0.0 else 0.0
    odd = 0
    for t in range(collocates.size):
        word = collocates[t]
        count = np.int64(seen[word])
        seen[word] = 0
        p, ln_p = _share(word, words, places)
        if count <= n * p:
            weights[t] = 0.0
            continue
        both = count * scale
        column = p * total
        rest = not_row - column + both
        if n == count or column <= both or rest <= 0.0:
            weights[t] = -both
            odd += 1
            continue
        score = both * (ln(count, logs) - ln_n - ln_p)
        score += (row - both) * (ln(n - count, logs) - ln_n - _ln_1_plus(-p))
        score += (column - both) * (_ln_1_plus(-both / column) - ln_not_row)
        score += rest * _ln_1_plus((both - row * p) / (not_row * (1.0 - p)))
        weights[t] = max(0.0, 2.0 * score)
    if odd:
        for t in range(collocates.size):
            if weights[t] < 0.0:
                column = _share(collocates[t], words, places)[0] * total
                weights[t] = log_likelihood_ratio(-weights[t], row, column, total)


@compiled
def weigh_roughly(n, words, places, logs, seen, collocates, weights):
    """Fill weights[t] with G2 of collocates[t], were the corpus endless; half its time.

    With a word's share p known for certain only the phrase's row of the table counts:
    2 (count ln(count / np) + (n - count) ln((n - count) / n(1 - p))).

    Arguments:
        n: slots around the sampled occurrences.
        words, places: float64[n_words, 2] and float64[n_places, 2], shares and their logarithms.
        logs: float64, logs[i] is ln i.
        seen: uint32 by collocate, how many of the slots have it; set back to zeros.
        collocates: uint32[m], collocates seen.
        weights: float64[m], filled.
    """
    ln_n = ln(n, logs)
    for t in range(collocates.size):
        word = collocates[t]
        count = np.int64(seen[word])
        seen[word] = 0
        p, ln_p = _share(word, words, places)
        excess = ln(count, logs) - ln_n - ln_p
        lack = ln(max(1, n - count), logs) - ln_n - _ln_1_plus(-p)
        score = 2.0 * (count * excess + (n - count) * lack)
        weights[t] = max(0.0, score) if excess > 0.0 else 0.0


@compiled
def _weigh(n, scale, words, places, total, scheme, shift, logs, seen, collocates, weights):
    """Fill weights[t] with the association of collocates[t], and set seen[] back to zeros.

    Arguments:
        n: slots around the sampled occurrences.
        scale: factor of n and of seen; 0 stands for 1, and asks for G2 by weigh_roughly.
        words, places: float64[n_words, 2] and float64[n_places, 2], shares and their logarithms.
        total: slots of the corpus.
        scheme, shift: code of the weighting scheme, and what is subtracted from a logarithm.
        logs: float64, logs[i] is ln i.
        seen: uint32 by collocate, how many of the slots have it.
        collocates: uint32[m], collocates seen.
        weights: float64[m], filled.
    """
    if scheme == LLR or scheme == LOG_LLR:
        if scale == 0.0:
            weigh_roughly(n, words, places, logs, seen, collocates, weights)
        else:
            weigh_by_likelihood(n, scale, words, places, total, logs, seen, collocates, weights)
        if scheme == LOG_LLR:
            for t in range(collocates.size):
                if scale == 0.0:
                    weights[t] = _ln_1_plus_roughly(weights[t], logs)
                else:
                    weights[t] = math.log(1.0 + weights[t])
        return
    require_scheme(scheme)
    times = scale if scale > 0.0 else 1.0
    ln_n = ln(n, logs)
    for t in range(collocates.size):
        word = collocates[t]
        count = np.int64(seen[word])
        seen[word] = 0
        p, ln_p = _share(word, words, places)
        association = ln(count, logs) - ln_n - ln_p
        weights[t] = weight(
            scheme, count * times, n * times, p * total, total, association, shift, 0.0
        )


@compiled
def _count_collocates(rows, first, stop, seen, touched):
    """Return (distinct words, slots filled) of some rows, counted in seen.

    Arguments:
        rows: uint32[m, k], collocates.
        first, stop: half-open range of rows.
        seen: uint32 by collocate, added to.
        touched: uint32, filled with the distinct collocates.
    """
    distinct = 0
    filled = 0
    for i in range(first, stop):
        for k in range(rows.shape[1]):
            word = rows[i, k]
            before = seen[word]
            touched[distinct] = word
            distinct += (before == 0) & (word != 0)
            filled += word != 0
            seen[word] = before + np.uint32(1)
    seen[0] = 0
    return distinct, filled


@compiled
def weigh_profile(rows, scale, words, places, total, scheme, shift, logs, seen):
    """Return the collocates of one phrase: words uint32, weights float64, sum of squared weights.

    Arguments:
        rows: uint32[n, k], the collocates at each occurrence, place * n_words + word, 0 for none.
        scale: factor of all counts.
        words: float64[n_words, 2], a word's share of the tokens (ppmi: smoothed) and its logarithm.
        places: float64[n_places, 2], a place's share of all slots and its logarithm.
        total: slots of the corpus.
        scheme, shift: code of the weighting scheme, and what is subtracted from a logarithm.
        logs: float64, logs[i] is ln i.
        seen: uint32 by collocate, zeros; zeros again afterwards.
    """
    touched = np.empty(rows.size + 1, np.uint32)
    distinct, n = _count_collocates(rows, 0, rows.shape[0], seen, touched)
    weights = np.empty(distinct, np.float64)
    collocates = touched[:distinct].copy()
    _weigh(n, scale, words, places, total, scheme, shift, logs, seen, collocates, weights)
    square = 0.0
    for t in range(distinct):
        square += weights[t] * weights[t]
    return collocates, weights, square


@compiled
def profile_cosines(
    rows, starts, scales, focal_places, focal, focal_square, words, places, total, scheme, shift,
    logs, seen, cosines,
):  # fmt: skip
    """Fill `cosines` with those of the profiles of n phrases and one focal profile.

    Arguments:
        rows: uint32[m, k], the collocates at the occurrences of all phrases.
        starts: int64[n + 1], the first row of each phrase.
        scales: float64[n], factor of each phrase's counts; 0 asks for approximate weights.
        focal_places: uint32 by collocate, its place in focal, 0 where it has none.
        focal: float64, the focal profile's weights, 0 at place 0.
        focal_square: the sum of its squared weights.
        words: float64[n_words, 2], a word's share of the tokens (ppmi: smoothed) and its logarithm.
        places: float64[n_places, 2], a place's share of all slots and its logarithm.
        total: slots of the corpus.
        scheme, shift: code of the weighting scheme, and what is subtracted from a logarithm.
        logs: float64, logs[i] is ln i.
        seen: uint32 by collocate, zeros; zeros again afterwards.
        cosines: float64[n], filled; 0 for a profile without weights.
    """
    flat = words.reshape(-1)
    longest = 0
    for p in range(starts.size - 1):
        longest = max(longest, starts[p + 1] - starts[p])
    touched = np.empty(longest * rows.shape[1] + 1, np.uint32)
    weights = np.empty(touched.size, np.float64)
    for p in range(starts.size - 1):
        distinct, n = _count_collocates(rows, starts[p], starts[p + 1], seen, touched)
        for t in range(distinct):
            prefetch(flat, np.int64(touched[t]) % words.shape[0] * words.shape[1])
            prefetch(focal_places, np.int64(touched[t]))
        _weigh(
            n, scales[p], words, places, total, scheme, shift, logs, seen, touched[:distinct],
            weights,
        )  # fmt: skip
        dot = 0.0
        square = 0.0
        for t in range(distinct):
            dot += weights[t] * focal[focal_places[touched[t]]]
            square += weights[t] * weights[t]
        if dot > 0.0:
            cosines[p] = min(1.0, dot / math.sqrt(square * focal_square))
        else:
            cosines[p] = 0.0


@compiled
def profile_cosine(collocates, weights, square, focal_places, focal, focal_square):
    """Return the cosine of a profile with a focal one; 0 for a zero one.

    Arguments:
        collocates: uint32.
        weights: float64, the weight of each.
        square, focal_square: sum of the squared weights of either profile.
        focal_places: uint32 by collocate, its place in focal, 0 where it has none.
        focal: float64, the focal profile's weights, 0 at place 0.
    """
    dot = 0.0
    for t in range(collocates.size):
        dot += weights[t] * focal[focal_places[collocates[t]]]
    return min(1.0, dot / math.sqrt(square * focal_square)) if dot > 0.0 else 0.0
