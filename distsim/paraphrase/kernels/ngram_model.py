"""Log probability of a word given the words before, from suffix intervals or from a table.

What was looked up stays in two caches whose slots are overwritten; they change the time, never
a value.
"""

import math

import numpy as np

from distsim.kernels.compiled import compiled, folded, uncounted

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


_MIX = np.uint64(0x9E3779B97F4A7C15)
_FINISH = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(29)
_THREE = np.uint64(3)
_ONE = np.uint64(1)
_EMPTY = np.uint64(0)


@folded
def mixed(state, word):
    """Return the key of a row of words continued by a word; never 0.

    Arguments:
        state: uint64, the key of the words before.
        word: word id.
    """
    own = (np.uint64(word) + _THREE) * _MIX  # -1 is no 0
    state = (state ^ own ^ (own >> _SHIFT)) * _FINISH
    return (state ^ (state >> _SHIFT)) | _ONE


@folded
def _interval(tokens, suffixes, word_starts, words, first, stop, keys, lows, highs, at):
    """Return the slot with the intervals of words[first:stop], one for each shard.

    A slot is filled from the slot of the sequence without its last word.

    Arguments:
        tokens, suffixes, word_starts: tuples of the shards' arrays.
        words: int64, word ids, below 0 where unknown.
        first, stop: half-open range of words.
        keys: uint64[slots], the hash of the words of each slot; written.
        lows, highs: int64[slots, shards], half-open intervals of the suffix array; written.
        at: uint64, working memory for the keys of all beginnings of the words.
    """
    n_shards = len(tokens)
    mask = np.uint64(keys.size - 1)
    state = _EMPTY
    for k in range(first, stop):
        state = mixed(state, words[k])
        at[k - first] = state
    known = stop
    while known > first:
        slot = at[known - 1 - first] & mask
        if keys[slot] == at[known - 1 - first]:
            break
        known -= 1
    for k in range(known, stop):
        word = words[k]
        slot = at[k - first] & mask
        for shard in range(n_shards):
            low = np.int64(0)
            high = np.int64(0)
            if word >= 0 and word < word_starts[shard].size - 1:
                if k == first:
                    low = np.int64(word_starts[shard][word])
                    high = np.int64(word_starts[shard][word + 1])
                else:
                    before = at[k - 1 - first] & mask
                    low = lows[before, shard]
                    high = highs[before, shard]
                    if low < high:
                        depth = k - first
                        low = _lower_bound(tokens[shard], suffixes[shard], low, high, depth, word)
                        high = _lower_bound(
                            tokens[shard], suffixes[shard], low, high, depth, word + 1
                        )
            lows[slot, shard] = low
            highs[slot, shard] = high
        keys[slot] = at[k - first]
    return at[stop - 1 - first] & mask


@folded
def _from_index(model, words, first, stop):
    """Return ln p(words[stop - 1] | words[first:stop - 1]), smoothed as in `fluency.score_windows`.

    Arguments:
        model: the parts that `log_probability` takes.
        words: int64 ids, 0 the sentence's boundary, -1 unknown.
        first, stop: half-open range.
    """
    tokens, suffixes, word_starts, _, numbers, caches = model
    keys, lows, highs, at = caches[0], caches[1], caches[2], caches[5]
    n_tokens, prior_count = numbers[0], numbers[1]
    joint = 1.0
    history = n_tokens
    p = 0.0
    for begin in range(stop - 1, first - 1, -1):
        for part in range(2):  # the history, then the words with the last one
            if (part == 0 and begin == stop - 1) or (part == 1 and joint <= 0.0):
                continue
            slot = _interval(
                tokens, suffixes, word_starts, words, begin, stop - 1 + part, keys, lows, highs, at
            )
            total = 0.0
            for s in range(len(tokens)):
                total += highs[slot, s] - lows[slot, s]
            if part == 0:
                history = total
                if total <= 0.0:
                    break
            else:
                joint = total
        if begin == stop - 1:
            p = (joint + 0.5) / (n_tokens + 0.5)
        elif history <= 0.0:
            break
        else:
            p = (joint + prior_count * p) / (history + prior_count)
    return math.log(p)


@folded
def _slot_of(keys, key):
    """Return the slot of a key, uint64, in an open-addressing table, or the free slot for it."""
    mask = np.uint64(keys.size - 1)
    slot = key & mask
    while keys[slot] != _EMPTY and keys[slot] != key:
        slot = (slot + _ONE) & mask
    return slot


@folded
def _from_table(model, words, first, stop):
    """Return ln p(words[stop - 1] | words[first:stop - 1]) by the n-grams of an ARPA file.

    Where the n-gram is not there: the history's back-off and ln p of the shorter one.

    Arguments:
        model: the parts that `log_probability` takes.
        words: int64 ids, 0 the sentence's boundary, -1 unknown.
        first, stop: half-open range.
    """
    _, _, _, table, numbers, _ = model
    keys, values = table
    backed_off = 0.0
    for begin in range(first, stop):
        state = _EMPTY
        history = _EMPTY
        for k in range(begin, stop):
            history = state
            state = mixed(state, words[k])
        slot = _slot_of(keys, state)
        if keys[slot] == state and values[slot, 0] <= 0.0:
            return backed_off + values[slot, 0]
        if begin < stop - 1:
            slot = _slot_of(keys, history)
            if keys[slot] == history:
                backed_off += values[slot, 1]
    return backed_off + numbers[2]


@folded
def log_probability(model, words, first, stop):
    """Return ln p(words[stop - 1] | words[first:stop - 1]).

    Arguments:
        model: (tokens, suffixes, word_starts: tuples of arrays, one a shard; (keys, values) of an
            ARPA file, one empty slot where there is none; float64[3]: tokens, prior_count, ln p of
            a word that a table has not; caches (keys, lows, highs, keys, values), powers of two
            long, and room for as many keys as words are looked at).
        words: int64 ids, 0 the sentence's boundary, -1 unknown.
        first, stop: half-open range.
    """
    cache_keys, cache_values = model[5][3], model[5][4]
    state = _EMPTY
    for k in range(first, stop):
        state = mixed(state, words[k])
    slot = state & np.uint64(cache_keys.size - 1)
    if cache_keys[slot] == state:
        return cache_values[slot]
    if model[3][0].size > 1:
        value = _from_table(model, words, first, stop)
    else:
        value = _from_index(model, words, first, stop)
    cache_keys[slot] = state
    cache_values[slot] = value
    return value


@compiled
def add_to_table(keys, values, new_keys, new_values):
    """Put rows into a table that is kept at least half empty; the later of two alike stays.

    Arguments:
        keys, values: uint64[size] and float64[size, 2], the table; changed.
        new_keys, new_values: uint64[n] and float64[n, 2], the rows that are added.
    """
    for i in range(new_keys.size):
        slot = _slot_of(keys, new_keys[i])
        keys[slot] = new_keys[i]
        values[slot, 0] = new_values[i, 0]
        values[slot, 1] = new_values[i, 1]


@compiled
def keys_of_rows(words, length):
    """Return the key of every `length` words of an array, end to end; uint64.

    Arguments:
        words: int64, word ids of all rows end to end.
        length: number of words of a row.
    """
    out = np.empty(words.size // length, np.uint64)
    for i in range(out.size):
        state = _EMPTY
        for k in range(length):
            state = mixed(state, words[i * length + k])
        out[i] = state
    return out


@compiled
def sentence_log(model, words, order, end):
    """Return ln p of a sentence's words and of its end, given its beginning, summed.

    Arguments:
        model: the parts that `log_probability` takes.
        words: int64, word ids.
        order: maximum length of an n-gram.
        end: id of the sentence's end.
    """
    row = np.empty(words.size + 2, np.int64)
    row[0] = 0
    for k in range(words.size):
        row[1 + k] = words[k]
    row[-1] = end
    total = 0.0
    for k in range(1, row.size):
        total += log_probability(model, row, max(0, k + 1 - order), k + 1)
    return total
