"""Hashes the pieces of the spelling of words."""

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, finish, step

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
        most = n + (end - begin + 2) * (longest - shortest + 1)
        if most > hashes.size:
            capacity = max(most, 2 * hashes.size)
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
