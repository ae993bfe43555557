"""Compiled loops over lines of n-gram counts: counts, phrases and the words beside them.

A phrase's words travel as a *spelling*: as many 64-bit numbers as hold all its word ids, two
to a number of 28 bits each, with the number's place in the leading 8 bits.
"""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import SPACE, START, extend, finish, step

WORD_BITS = 28
FEW_TOKENS, NO_TAB, BAD_COUNT = 1, 2, 3
_LONGEST_NUMBER = 18


@compiled
def parse_counts(text, starts, stops, line_stops):
    """Return the counts of lines `w1 .. wn<TAB>count`, and the first invalid line.

    starts, stops: the bytes of each token, as cut at white space; line_stops: the number of
    tokens up to the end of each line. Returns (counts uint64 by line, the first line at
    fault or -1, what is wrong with it).
    """
    counts = np.zeros(line_stops.size, np.uint64)
    first = 0
    for line in range(line_stops.size):
        stop = line_stops[line]
        if stop - first < 2:
            return counts, line, FEW_TOKENS
        n_tabs = 0
        for i in range(starts[first], starts[stop - 1]):
            if text[i] == 9:
                n_tabs += 1
                if i < stops[stop - 2]:
                    return counts, line, NO_TAB
        if n_tabs != 1:
            return counts, line, NO_TAB
        if stops[stop - 1] - starts[stop - 1] > _LONGEST_NUMBER:
            return counts, line, BAD_COUNT
        value = np.uint64(0)
        for i in range(starts[stop - 1], stops[stop - 1]):
            if text[i] < 48 or text[i] > 57:
                return counts, line, BAD_COUNT
            value = value * np.uint64(10) + np.uint64(text[i] - 48)
        if value == 0:
            return counts, line, BAD_COUNT
        counts[line] = value
        first = stop
    return counts, -1, 0


@compiled
def _hash_words(words, begin, stop, text, offsets):
    state = START
    for i in range(begin, stop):
        if i > begin:
            state = step(state, SPACE)
        state = extend(state, text, offsets[words[i]], offsets[words[i] + 1])
    return finish(state)


@compiled
def hash_words(words, starts, lengths, text, offsets):
    """Return the hash of each phrase words[starts[i]:starts[i] + lengths[i]], uint64.

    text, offsets: the words' UTF-8 by id.
    """
    out = np.empty(starts.size, np.uint64)
    for p in range(starts.size):
        out[p] = _hash_words(words, starts[p], starts[p] + lengths[p], text, offsets)
    return out


@compiled
def spell_phrases(words, starts, lengths, hashes):
    """Return triples (hash, spelling, 1 per number) of phrases words[starts[i]:+lengths[i]].

    words: uint32 ids below 2^28, none 0. Returns (hashes uint64, spellings uint64, index of
    the phrase of each int64).
    """
    n = 0
    for p in range(starts.size):
        n += (lengths[p] + 1) // 2
    out_hashes = np.empty(n, np.uint64)
    spellings = np.empty(n, np.uint64)
    owners = np.empty(n, np.int64)
    n = 0
    for p in range(starts.size):
        for k in range(0, lengths[p], 2):
            spelling = np.uint64(k // 2) << np.uint64(2 * WORD_BITS)
            spelling |= np.uint64(words[starts[p] + k]) << np.uint64(WORD_BITS)
            if k + 1 < lengths[p]:
                spelling |= np.uint64(words[starts[p] + k + 1])
            out_hashes[n] = hashes[p]
            spellings[n] = spelling
            owners[n] = p
            n += 1
    return out_hashes, spellings, owners


@compiled
def read_spellings(starts, spellings, longest):
    """Return (words uint32[n, longest], lengths int64[n]) of phrases with sorted spellings.

    Phrase i has spellings[starts[i]:starts[i + 1]]. Its length is 0 where they are not one
    phrase's: two phrases have the same hash.
    """
    words = np.zeros((starts.size - 1, longest), np.uint32)
    lengths = np.zeros(starts.size - 1, np.int64)
    mask = (np.uint64(1) << np.uint64(WORD_BITS)) - np.uint64(1)
    for p in range(starts.size - 1):
        n = 0
        for i in range(starts[p], starts[p + 1]):
            place = 2 * np.int64(spellings[i] >> np.uint64(2 * WORD_BITS))
            if place != n or n >= longest:
                n = 0
                break
            words[p, n] = np.uint32((spellings[i] >> np.uint64(WORD_BITS)) & mask)
            n += 1
            second = np.uint32(spellings[i] & mask)
            if second != 0 and n < longest:
                words[p, n] = second
                n += 1
        lengths[p] = n
    return words, lengths


@compiled
def count_lines(words, starts, lengths, counts, longest, text, offsets, word_counts):
    """Return the phrases of lines of words, and the features that they give shorter phrases.

    words: uint32; line i is words[starts[i]:starts[i] + lengths[i]], 1 to longest + 1 of
    them. text, offsets: the words' UTF-8 by id.
    word_counts: uint64 by id, to which the lines of one word are added.
    Returns (phrase hashes of the lines themselves, 0 where longer than `longest`; phrases,
    features, counts of what they tell of shorter ones; the sum of the two-word lines). A
    feature is the word's id, plus 2^32 where it is on the right.
    """
    n = 0
    for line in range(starts.size):
        if lengths[line] > 1:
            n += 2
    own = np.zeros(starts.size, np.uint64)
    phrases = np.empty(n, np.uint64)
    features = np.empty(n, np.uint64)
    out_counts = np.empty(n, np.uint64)
    pairs = np.uint64(0)
    right = np.uint64(1) << np.uint64(32)
    n = 0
    for line in range(starts.size):
        begin = starts[line]
        stop = begin + lengths[line]
        if lengths[line] <= longest:
            own[line] = _hash_words(words, begin, stop, text, offsets)
        if lengths[line] == 1:
            word_counts[words[begin]] += counts[line]
            continue
        if lengths[line] == 2:
            pairs += counts[line]
        phrases[n] = _hash_words(words, begin + 1, stop, text, offsets)
        features[n] = np.uint64(words[begin])
        out_counts[n] = counts[line]
        phrases[n + 1] = _hash_words(words, begin, stop - 1, text, offsets)
        features[n + 1] = np.uint64(words[stop - 1]) | right
        out_counts[n + 1] = counts[line]
        n += 2
    return own, phrases, features, out_counts, pairs
