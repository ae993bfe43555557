"""Compiled loops that find the longest matches of a text in a suffix array."""

import numpy as np

from distsim.kernels.compiled import compiled

DAMAGED = -1


@compiled
def _common(tokens, position, text, first):
    """Return the number of tokens that a suffix shares with text[first:], within its sentence.

    Arguments:
        tokens: uint32, of the shard.
        position: where the suffix begins.
        text: int64 ids, 0 behind each sentence, -1 for an unknown word.
        first: where the text is compared from.
    """
    n = 0
    while (
        first + n < text.size
        and position + n < tokens.size
        and text[first + n] > 0
        and tokens[position + n] == text[first + n]
    ):
        n += 1
    return n


@compiled
def match_lengths(tokens, suffixes, word_starts, text, lengths):
    """Raise lengths[i] to the longest match of text[i:] with a suffix; return 0, or DAMAGED.

    Arguments:
        tokens, suffixes, word_starts: uint32, of the shard.
        text: int64 ids, 0 behind each sentence, -1 for an unknown word.
        lengths: int64[text.size], in tokens; 0 where nothing has matched; changed.
    """
    for i in range(text.size):
        word = text[i]
        if word <= 0 or word >= word_starts.size - 1:
            continue
        first = np.int64(word_starts[word])
        stop = np.int64(word_starts[word + 1])
        if first > stop or stop > suffixes.size:
            return DAMAGED
        low = first
        high = stop
        while low < high:
            middle = (low + high) >> 1
            position = np.int64(suffixes[middle])
            n = _common(tokens, position, text, i)
            lengths[i] = max(lengths[i], n)
            # The end of the text's sentence, and an unknown word, come before all words.
            ours = max(text[i + n], 0) if i + n < text.size else np.int64(0)
            theirs = np.int64(tokens[position + n]) if position + n < tokens.size else np.int64(0)
            if theirs < ours:
                low = middle + 1
            else:
                high = middle
        # The neighbours of the place have the longest match, and the search may not have met them.
        for place in (low - 1, low):
            if first <= place < stop:
                n = _common(tokens, np.int64(suffixes[place]), text, i)
                lengths[i] = max(lengths[i], n)
    return 0
