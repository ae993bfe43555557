"""Log probability of a word given the words before, from suffix intervals or from a table.

What was looked up stays in two caches whose slots are overwritten; they change the time, never
a value.
"""

import math

import numpy as np

from distsim.kernels.compiled import compiled, folded
from distsim.paraphrase.kernels.fluency import _lower_bound

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
        for s in range(n_shards):
            low = np.int64(0)
            high = np.int64(0)
            if word >= 0 and word < word_starts[s].size - 1:
                if k == first:
                    low = np.int64(word_starts[s][word])
                    high = np.int64(word_starts[s][word + 1])
                else:
                    before = at[k - 1 - first] & mask
                    low = lows[before, s]
                    high = highs[before, s]
                    if low < high:
                        depth = k - first
                        low = _lower_bound(tokens[s], suffixes[s], low, high, depth, word)
                        high = _lower_bound(tokens[s], suffixes[s], low, high, depth, word + 1)
            lows[slot, s] = low
            highs[slot, s] = high
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
