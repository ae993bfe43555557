"""Counts and log probabilities of the n-grams around words that could fill a slot.

A suffix interval is carried along for every length of history, so that a further word is one
binary search a length, at one depth, in what is left of the interval.
"""

import math

import numpy as np

from distsim.kernels.compiled import compiled, uncounted

DAMAGED = -1


@uncounted
def _lower_bound(tokens, suffixes, low, high, depth, word):
    """Return the first suffix of [low, high) whose token at `depth` is not below `word`.

    Arguments:
        tokens, suffixes: uint32, of the shard.
        low, high: suffixes that begin with the same `depth` tokens.
        depth: in tokens.
        word: its id.
    """
    while low < high:
        middle = (low + high) >> 1
        at = np.int64(suffixes[middle]) + depth
        token = np.int64(tokens[at]) if at < tokens.size else np.int64(-1)
        if token < word:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _step(tokens, suffixes, word_starts, word, lows, highs, counts):
    """Return 0, or DAMAGED, after extending the intervals of histories of 0, 1 ... words by a word.

    Arguments:
        tokens, suffixes, word_starts: uint32, of the shard.
        word: its id.
        lows, highs: int64[order]; entry d is the interval of the last d words, entry 0 unused;
            changed.
        counts: float64[order]; entry d grows by the occurrences of the last d + 1 words.
    """
    order = counts.size
    if word < 0 or word >= word_starts.size - 1:
        for d in range(1, order):
            lows[d] = 0
            highs[d] = 0
        return 0
    first = np.int64(word_starts[word])
    last = np.int64(word_starts[word + 1])
    if first > last or last > suffixes.size:
        return DAMAGED
    before_low = first
    before_high = last
    counts[0] += last - first
    for d in range(1, order):
        low = lows[d]
        high = highs[d]
        if low < high:
            low = _lower_bound(tokens, suffixes, low, high, d, word)
            high = _lower_bound(tokens, suffixes, low, high, d, word + 1)
        lows[d] = before_low
        highs[d] = before_high
        before_low = low
        before_high = high
        counts[d] += high - low
    return 0


@compiled
def _step_from_edge(tokens, word, after_edge, counts):
    """Return the words since the boundary with one more word, -1 where they do not begin the shard.

    The first sentence of a shard has no boundary before it.

    Arguments:
        tokens: uint32, of the shard.
        word: its id.
        after_edge: words since the boundary, all of them those at the shard's start; -1 for none.
        counts: float64[order]; entry d grows by 1 where the last d + 1 words begin the shard.
    """
    if after_edge < 0 or after_edge >= tokens.size or np.int64(tokens[after_edge]) != word:
        return np.int64(-1)
    if after_edge + 1 < counts.size:
        counts[after_edge + 1] += 1.0
    return after_edge + 1


@compiled
def count_windows(tokens, suffixes, word_starts, left, fillers, filler_stops, right, counts):
    """Count the n-grams that end in a slot or behind it, for every filler; return 0, or DAMAGED.

    Arguments:
        tokens, suffixes, word_starts: uint32, of the shard.
        left, right: int64 word ids around the slot in the order of the text, 0 the sentence's
            boundary, -1 unknown.
        fillers: int64, word ids of all fillers end to end.
        filler_stops: int64, where each filler ends.
        counts: float64[rows, order], added to: for each filler a row for the last word of `left`,
            one for every word of its own and one for every word of `right`; column d counts the
            d + 1 words that end there, words before `left` taken for none.
    """
    order = counts.shape[1]
    start_lows = np.zeros(order, np.int64)
    start_highs = np.zeros(order, np.int64)
    at_start = np.zeros(order, np.float64)
    edge_at_start = np.int64(-1)
    for i in range(left.size):
        at_start[:] = 0.0
        if _step(tokens, suffixes, word_starts, left[i], start_lows, start_highs, at_start) != 0:
            return DAMAGED
        if left[i] == 0:
            edge_at_start = np.int64(0)
        else:
            edge_at_start = _step_from_edge(tokens, left[i], edge_at_start, at_start)
    lows = np.empty(order, np.int64)
    highs = np.empty(order, np.int64)
    row = 0
    begin = 0
    for f in range(filler_stops.size):
        stop = filler_stops[f]
        for length in range(order):
            lows[length] = start_lows[length]
            highs[length] = start_highs[length]
            counts[row, length] += at_start[length]
        edge = edge_at_start
        row += 1
        for i in range(stop - begin + right.size):
            word = fillers[begin + i] if i < stop - begin else right[i - (stop - begin)]
            if _step(tokens, suffixes, word_starts, word, lows, highs, counts[row]) != 0:
                return DAMAGED
            edge = _step_from_edge(tokens, word, edge, counts[row])
            row += 1
        begin = stop
    return 0


@compiled
def score_windows(counts, n_left, filler_stops, n_right, n_tokens, prior_count, scores):
    """Fill scores with the log probability of every filler and of the words after it.

    p(w | h of d words) = (c(h w) + prior_count p(w | shorter h)) / (c(h) + prior_count), down to
    (c(w) + 1/2) / (n_tokens + 1/2): Dirichlet smoothing at every length.

    Arguments:
        counts: float64[rows, order], from `count_windows`.
        n_left, n_right: words of the arguments `left` and `right` of `count_windows`.
        filler_stops: int64[n], where the words of each filler end.
        n_tokens: float, tokens of the index.
        prior_count: float, occurrences that the shorter history is worth.
        scores: float64[n, 2], filled: ln p of the filler's own words, and of `right`.
    """
    order = counts.shape[1]
    row = 0
    begin = 0
    for f in range(filler_stops.size):
        length = filler_stops[f] - begin
        begin = filler_stops[f]
        scores[f, 0] = 0.0
        scores[f, 1] = 0.0
        for i in range(length + n_right):
            row += 1
            p = (counts[row, 0] + 0.5) / (n_tokens + 0.5)
            for d in range(1, min(order, n_left + i + 1)):
                history = counts[row - 1, d - 1]
                if history <= 0.0:
                    break
                p = (counts[row, d] + prior_count * p) / (history + prior_count)
            scores[f, 0 if i < length else 1] += math.log(p)
        row += 1
