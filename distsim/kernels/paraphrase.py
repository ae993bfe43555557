"""Contexts and profiles of phrases: sides found, gaps walked, collocates counted and compared.

Positions and ids that come from a file are checked before they are used; DAMAGED is returned
instead of reading beyond an array.
"""

import math

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.contexts import LOG, PPMI, RAW, log_likelihood_ratio
from distsim.kernels.suffixes import DAMAGED, _compare

HASH_START = np.uint64(0x6C62272E07BB0142)
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
HASH_HALF = np.uint64(29)


@compiled
def find_sides(tokens, suffixes, word_starts, patterns, stops, lows, highs):
    """Find the half-open interval of suffixes of each pattern; a pattern may hold boundaries.

    patterns: int64, word ids end to end, 0 the boundary; stops: int64, where each ends.
    Fills lows and highs, int64. Returns 0, or DAMAGED.
    """
    begin = 0
    for p in range(stops.size):
        stop = stops[p]
        rest = stop - begin - 1
        first = patterns[begin]
        lows[p] = 0
        highs[p] = 0
        if 0 <= first < word_starts.size - 1:
            low = np.int64(word_starts[first])
            top = np.int64(word_starts[first + 1])
            if low > top or top > suffixes.size:
                return DAMAGED
            high = top
            while low < high and rest > 0:
                middle = (low + high) >> 1
                if _compare(tokens, np.int64(suffixes[middle]) + 1, patterns, begin + 1, rest) < 0:
                    low = middle + 1
                else:
                    high = middle
            first_above = low
            while first_above < top and rest > 0:
                middle = (first_above + top) >> 1
                if _compare(tokens, np.int64(suffixes[middle]) + 1, patterns, begin + 1, rest) <= 0:
                    first_above = middle + 1
                else:
                    top = middle
            lows[p] = low
            highs[p] = top
        begin = stop
    return 0


@compiled
def _stands_before(tokens, position, side, first, stop):
    """Tell whether side[first:stop] ends right before `position`; a boundary precedes the text."""
    for k in range(1, stop - first + 1):
        at = position - k
        if at < -1:
            return False
        token = np.int64(tokens[at]) if at >= 0 else 0
        if token != side[stop - k]:
            return False
    return True


@compiled
def _is_focal(tokens, begin, length, focal):
    if length != focal.size:
        return False
    for k in range(length):
        if tokens[begin + k] != focal[k]:
            return False
    return True


@compiled
def _hash_of(tokens, begin, length):
    """Return a 64-bit hash of word ids, the same in every shard of an index."""
    state = HASH_START
    for k in range(length):
        state = (state ^ np.uint64(tokens[begin + k])) * HASH_MULTIPLIER
        state ^= state >> HASH_HALF
    state *= HASH_MULTIPLIER
    return state ^ (state >> HASH_HALF)


@compiled
def walk_contexts(
    tokens, suffixes, sides, side_starts, lows, highs, at_start, lefts, rights, walk_left,
    focal, shortest, longest, out_hashes, out_contexts, out_positions, out_lengths,
):  # fmt: skip
    """Find every x of shortest..longest tokens, not `focal`, with `L x R` in this shard.

    sides: int64, the words of all sides end to end, side i at side_starts[i]:side_starts[i+1];
    lows, highs: int64, the interval of suffixes of each side; at_start: uint8, whether the
    shard's first sentence begins with a side whose first token is the boundary.
    lefts, rights: int64, the sides of each context, -1 for a side that may be anything;
    walk_left: uint8, which of the two is walked.
    Returns how many were found; writes as many as the out_* arrays hold. DAMAGED if an array
    points outside another.
    """
    n = 0
    for c in range(lefts.size):
        left = lefts[c]
        right = rights[c]
        walked = left if walk_left[c] else right
        more = 1 if walk_left[c] and at_start[walked] else 0
        left_first = side_starts[left] if left >= 0 else 0
        left_stop = side_starts[left + 1] if left >= 0 else 0
        right_first = side_starts[right] if right >= 0 else 0
        right_size = side_starts[right + 1] - right_first if right >= 0 else 0
        for i in range(lows[walked] - more, highs[walked]):
            if i < lows[walked]:
                at = np.int64(-1)
            else:
                at = np.int64(suffixes[i])
                if at >= tokens.size:
                    return DAMAGED
            for length in range(1, longest + 1):
                if walk_left[c]:
                    begin = at + left_stop - left_first
                    edge = begin + length - 1
                    if edge >= tokens.size or tokens[edge] == 0:
                        break
                    if length < shortest:
                        continue
                    if _compare(tokens, begin + length, sides, right_first, right_size) != 0:
                        continue
                else:
                    begin = at - length
                    if begin < 0 or tokens[begin] == 0:
                        break
                    if length < shortest:
                        continue
                    if not _stands_before(tokens, begin, sides, left_first, left_stop):
                        continue
                if _is_focal(tokens, begin, length, focal):
                    continue
                if n < out_hashes.size:
                    out_hashes[n] = _hash_of(tokens, begin, length)
                    out_contexts[n] = c
                    out_positions[n] = begin
                    out_lengths[n] = length
                n += 1
    return n


@compiled
def gather_evidence(numbers, contexts, context_weights, n_candidates):
    """Return (weight float64, evidence int64, matches int64) of each candidate.

    numbers: the candidate of each match; contexts: its context, ascending. A context counts
    once for a candidate, however often they meet; matches counts all meetings.
    """
    weights = np.zeros(n_candidates, np.float64)
    evidence = np.zeros(n_candidates, np.int64)
    matches = np.zeros(n_candidates, np.int64)
    last = np.full(n_candidates, -1, np.int64)
    for m in range(numbers.size):
        candidate = numbers[m]
        matches[candidate] += 1
        if last[candidate] != contexts[m]:
            last[candidate] = contexts[m]
            evidence[candidate] += 1
            weights[candidate] += context_weights[contexts[m]]
    return weights, evidence, matches


@compiled
def gather_windows(tokens, positions, lengths, window, n_words, rows):
    """Copy the words within `window` tokens of phrases, inside the sentence, into rows[i].

    rows: uint32[n, 2 * window], 0 where there is none. Returns 0, or DAMAGED.
    """
    for i in range(positions.size):
        begin = positions[i]
        if begin < 0 or begin + lengths[i] > tokens.size:
            return DAMAGED
        inside = True
        for k in range(window):
            at = begin - 1 - k
            token = np.uint32(0)
            if inside and at >= 0:
                token = tokens[at]
            inside = inside and token != 0
            if token >= n_words:
                return DAMAGED
            rows[i, k] = token
        inside = True
        for k in range(window):
            at = begin + lengths[i] + k
            token = np.uint32(0)
            if inside and at < tokens.size:
                token = tokens[at]
            inside = inside and token != 0
            if token >= n_words:
                return DAMAGED
            rows[i, window + k] = token
    return 0


@compiled
def _ln_1_plus(x):
    """Return ln(1 + x), by its series where x is small: a third of the time of a logarithm."""
    if -0.02 < x < 0.02:
        sum_ = 1.0 / 9.0
        for k in range(8, 0, -1):
            sum_ = 1.0 / k - x * sum_
        return x * sum_
    return math.log(1.0 + x)


@compiled
def ratio_of_likelihoods(both, row, column, total):
    """Return Dunning's G2 as log_likelihood_ratio does, with fewer logarithms.

    Three of the four cells are nearly as large as expected: with d = both * total - row *
    column, a cell is its expectation times 1 +- d / (product of its two margins).
    """
    d = both * total - row * column
    if d <= 0.0:
        return 0.0
    rest_of_row = row - both
    rest_of_column = column - both
    rest = total - row - column + both
    if rest_of_row <= 0.0 or rest_of_column <= 0.0 or rest <= 0.0:
        return log_likelihood_ratio(both, row, column, total)
    not_row = total - row
    not_column = total - column
    score = both * math.log(both * total / (row * column))
    score += rest_of_row * _ln_1_plus(-d / (row * not_column))
    score += rest_of_column * _ln_1_plus(-d / (not_row * column))
    score += rest * _ln_1_plus(d / (not_row * not_column))
    return max(0.0, 2.0 * score)


@compiled
def _association(count, row, column, log_p, total, scheme, shift):
    """Return the strength of association of one cell; see distsim.contexts.weights."""
    if scheme == RAW:
        return count
    if scheme == LOG:
        return math.log(1.0 + count)
    if scheme == PPMI:
        return max(0.0, math.log(count / row) - log_p - shift)
    return ratio_of_likelihoods(count, row, column, total)


@compiled
def _count_collocates(rows, first, stop, seen, touched):
    n = 0
    for i in range(first, stop):
        for k in range(rows.shape[1]):
            word = rows[i, k]
            if word != 0:
                if seen[word] == 0:
                    touched[n] = word
                    n += 1
                seen[word] += np.uint32(1)
    return n


@compiled
def weigh_profile(rows, scale, columns, log_p, total, scheme, shift, seen, touched):
    """Return the collocates of one phrase, (words uint32, weights float64), in order of meeting.

    rows: uint32[n, k], the words around each occurrence, 0 for none; scale: counts are
    multiplied by it. columns: float64, slots filled by each word of the corpus; total: all
    slots; log_p: float64 by word (ppmi). seen: uint32 zeros by word, and zeros again
    afterwards; touched: uint32, room for every cell of `rows`.
    """
    n = _count_collocates(rows, 0, rows.shape[0], seen, touched)
    row = 0.0
    for t in range(n):
        row += seen[touched[t]] * scale
    words = touched[:n].copy()
    weights = np.empty(n, np.float64)
    for t in range(n):
        word = words[t]
        p = log_p[word] if log_p.size else 0.0
        weights[t] = _association(seen[word] * scale, row, columns[word], p, total, scheme, shift)
        seen[word] = 0
    return words, weights


@compiled
def squared_length(weights):
    """Return the sum of squares."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * weights[i]
    return total


@compiled
def profile_cosines(
    rows, starts, scales, focal, focal_square, columns, log_p, total, scheme, shift, seen,
    touched, cosines,
):  # fmt: skip
    """Compare the profiles of many phrases with one.

    starts: int64[n + 1], the rows of each phrase; scales: float64[n]; focal: float64 by word,
    the profile compared with, and the square of its length. Fills cosines,
    float64[n], 0 for a zero profile. The other arguments are those of weigh_profile.
    """
    for p in range(starts.size - 1):
        n = _count_collocates(rows, starts[p], starts[p + 1], seen, touched)
        row = 0.0
        for t in range(n):
            row += seen[touched[t]] * scales[p]
        dot = 0.0
        square = 0.0
        for t in range(n):
            word = touched[t]
            log_p_word = log_p[word] if log_p.size else 0.0
            weight = _association(
                seen[word] * scales[p], row, columns[word], log_p_word, total, scheme, shift
            )
            dot += weight * focal[word]
            square += weight * weight
            seen[word] = 0
        if dot > 0.0:
            cosines[p] = min(1.0, dot / math.sqrt(square * focal_square))
        else:
            cosines[p] = 0.0


@compiled
def copy_sorted(suffixes, numbers, lows, highs, first_position, at, positions):
    """Copy each phrase's positions in a shard, ascending, to positions[at[p]:], and move at[p].

    numbers: the phrases to copy; lows, highs, at: by phrase. Positions become those of the
    corpus by adding first_position.
    """
    for n in range(numbers.size):
        p = numbers[n]
        part = np.sort(suffixes[lows[p] : highs[p]])
        for i in range(part.size):
            positions[at[p] + i] = np.int64(part[i]) + first_position
        at[p] += part.size


@compiled
def thin_evenly(positions, starts, sample, new_starts, thinned):
    """Copy at most `sample` evenly spaced positions of each phrase to thinned[new_starts[p]:]."""
    for p in range(starts.size - 1):
        size = starts[p + 1] - starts[p]
        kept = new_starts[p + 1] - new_starts[p]
        for i in range(kept):
            thinned[new_starts[p] + i] = positions[starts[p] + i * size // kept]


@compiled
def copy_words(tokens, positions, lengths, stops, words):
    """Copy the words of the phrases at `positions` to words[:stops[p]]; 0, or DAMAGED."""
    for p in range(positions.size):
        begin = positions[p]
        if begin < 0 or begin + lengths[p] > tokens.size:
            return DAMAGED
        for k in range(lengths[p]):
            words[stops[p] - lengths[p] + k] = tokens[begin + k]
    return 0
