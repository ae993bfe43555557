"""Compiled loops of this folder: typed arrays in, typed arrays out; no errors, no objects."""

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import SPACE, START, extend, finish, first_not_below, step


@compiled
def count_phrases(rows, common, longest, words):
    """Return (key uint64, occurrences int64) of every phrase of 1..longest tokens in rows.

    The key of a phrase is made of that of the phrase without its last word and the hash of that
    word. It distinguishes less than the hash of the phrase's text, and is faster to compute.

    Arguments:
        rows: uint32[n, columns], sorted suffixes; phrases begin in column 0.
        common: number of tokens that each row shares with the row before, by common_prefixes.
        longest: maximum length of a phrase, in tokens.
        words: uint64, the hash of each word.
    """
    capacity = 1024
    keys = np.empty(capacity, np.uint64)
    counts = np.empty(capacity, np.int64)
    states = np.full(longest + 1, START, np.uint64)
    begins = np.zeros(longest, np.int64)
    slots = np.full(longest, -1, np.int64)
    n = 0
    for i in range(rows.shape[0] + 1):
        shared = 0
        if i < rows.shape[0]:
            shared = np.int64(common[i])
        for k in range(shared, longest):
            if slots[k] >= 0:
                counts[slots[k]] = i - begins[k]
                slots[k] = -1
        if i == rows.shape[0]:
            break
        if n + longest > capacity:
            capacity *= 2
            keys = grown(keys, n, capacity)
            counts = grown(counts, n, capacity)
        for k in range(shared, longest):
            word = rows[i, k]
            if word == 0:
                break
            states[k + 1] = step(states[k], words[word])
            keys[n] = finish(states[k + 1])
            begins[k] = i
            slots[k] = n
            n += 1
    return keys[:n].copy(), counts[:n].copy()


@compiled
def _find_key(keys, starts, bits, key):
    """Return the place of a key among sorted ones, -1 where it is not there.

    Arguments:
        keys: uint64, ascending.
        starts: int64, the first key of each bucket.
        bits: number of leading bits of a key that name its bucket.
        key: uint64.
    """
    bucket = np.int64(key >> np.uint64(64 - bits))
    low = first_not_below(keys, key, starts[bucket], starts[bucket + 1])
    if low < starts[bucket + 1] and keys[low] == key:
        return low
    return -1


@compiled
def mark_keys(keys, bits):
    """Return a bit for each value of the leading `bits` bits, uint8[2 ** bits / 8].

    Arguments:
        keys: uint64, hashes.
        bits: number of leading bits.
    """
    marks = np.zeros(1 << (bits - 3), np.uint8)
    for key in keys:
        at = key >> np.uint64(64 - bits)
        marks[at >> np.uint64(3)] |= np.uint8(1 << (at & np.uint64(7)))
    return marks


@compiled
def frequent_phrases(
    rows, first, common, longest, words, text, offsets, keys, starts, bits, marks, mark_bits, mask
):
    """Return the phrases of 1..longest tokens whose masked key (count_phrases) is in `keys`.

    A phrase is looked up only where the phrase without its last word was found, since that one is
    at least as frequent.

    Arguments:
        rows: uint32[n, columns], sorted rows of word ids.
        first: column where the phrases begin.
        common: number of tokens that each row shares with the row before, by common_prefixes.
        longest: maximum length of a phrase, in tokens.
        words: uint64, the hash of each word.
        text: uint8, UTF-8 of all words.
        offsets: int64[n_words + 1], where each word begins in it.
        keys: uint64, sorted keys of the frequent phrases.
        starts: int64, first key of each bucket of keys, by bucket_starts.
        bits: number of leading bits of a key that name its bucket.
        marks: uint8, filter by mark_keys, which excludes most keys that are not in `keys`.
        mark_bits: number of leading bits of a key that name its bit in marks.
        mask: uint64, the bits of a key that count.

    Returns (hash of its text uint64, length int64, low int64, high int64) of each phrase; low and
    high are its half-open run of rows.
    """
    capacity = 1024
    hashes = np.empty(capacity, np.uint64)
    lengths = np.empty(capacity, np.int64)
    lows = np.empty(capacity, np.int64)
    highs = np.empty(capacity, np.int64)
    states = np.full(longest + 1, START, np.uint64)
    spelt = np.full(longest + 1, START, np.uint64)
    slots = np.full(longest, -1, np.int64)
    n = 0
    for i in range(rows.shape[0] + 1):
        shared = 0
        if i < rows.shape[0]:
            shared = np.int64(common[i])
        for k in range(shared, longest):
            if slots[k] >= 0:
                highs[slots[k]] = i
                slots[k] = -1
        if i == rows.shape[0]:
            break
        if n + longest > capacity:
            capacity *= 2
            hashes = grown(hashes, n, capacity)
            lengths = grown(lengths, n, capacity)
            lows = grown(lows, n, capacity)
            highs = grown(highs, n, capacity)
        for k in range(shared, longest):
            if k > 0 and slots[k - 1] < 0:
                break
            word = rows[i, first + k]
            if word == 0:
                break
            states[k + 1] = step(states[k], words[word])
            key = finish(states[k + 1]) & mask
            at = key >> np.uint64(64 - mark_bits)
            if (marks[at >> np.uint64(3)] >> (at & np.uint64(7))) & np.uint8(1) == 0:
                break
            if _find_key(keys, starts, bits, key) < 0:
                break
            state = step(spelt[k], SPACE) if k > 0 else START
            state = extend(state, text, np.int64(offsets[word]), np.int64(offsets[word + 1]))
            spelt[k + 1] = state
            hashes[n] = finish(state)
            lengths[n] = k + 1
            lows[n] = i
            slots[k] = n
            n += 1
    return hashes[:n].copy(), lengths[:n].copy(), lows[:n].copy(), highs[:n].copy()


@compiled
def take_rows(starts, order, features, counts):
    """Return sparse rows in another order: (starts int64, features, counts).

    Arguments:
        starts: int64[n + 1], the first feature of each row.
        order: int64[m], rows in the order wanted.
        features, counts: the features of all rows end to end, and their counts.
    """
    out_starts = np.empty(order.size + 1, np.int64)
    out_starts[0] = 0
    for p in range(order.size):
        out_starts[p + 1] = out_starts[p] + starts[order[p] + 1] - starts[order[p]]
    out_features = np.empty(out_starts[order.size], np.uint32)
    out_counts = np.empty(out_starts[order.size], np.uint64)
    for p in range(order.size):
        begin = starts[order[p]]
        at = out_starts[p]
        for k in range(out_starts[p + 1] - at):
            out_features[at + k] = features[begin + k]
            out_counts[at + k] = counts[begin + k]
    return out_starts, out_features, out_counts
