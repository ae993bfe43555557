"""Phrases as hashes of their words, and as numbers that can be sorted and read again.

A phrase's words travel as a *spelling*: as many 64-bit numbers as hold all its word ids, two
to a number of 28 bits each, with the number's place in the leading 8 bits.
"""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import SPACE, START, extend, finish, step

WORD_BITS = 28


@compiled
def hash_words(words, starts, lengths, text, offsets):
    """Return the hash of each phrase words[starts[i]:starts[i] + lengths[i]], uint64.

    Arguments:
        words: uint32, word ids end to end.
        starts, lengths: int64[n], where each phrase begins, and its number of words.
        text, offsets: uint8 and int64, the words' UTF-8 by id.
    """
    out = np.empty(starts.size, np.uint64)
    for p in range(starts.size):
        state = START
        for i in range(starts[p], starts[p] + lengths[p]):
            if i > starts[p]:
                state = step(state, SPACE)
            state = extend(state, text, offsets[words[i]], offsets[words[i] + 1])
        out[p] = finish(state)
    return out


@compiled
def spell_phrases(words, starts, lengths, hashes):
    """Return triples (hash, spelling, 1 per number) of phrases words[starts[i]:+lengths[i]].

    Arguments:
        words: uint32, word ids from 1 to 2^28 - 1.
        starts, lengths: int64[n], where each phrase begins, and its number of words.
        hashes: uint64[n], the hash of each phrase.

    Returns (hashes uint64, spellings uint64, number of the phrase of each int64).
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

    Arguments:
        starts: int64[n + 1], the first spelling of each phrase.
        spellings: uint64, sorted within a phrase.
        longest: maximum length of a phrase, in words.
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
