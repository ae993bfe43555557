"""Compiled loop that computes the range and the dispersion of words over documents."""

import numpy as np

from distsim.kernels.compiled import compiled


@compiled
def disperse(document_of, suffixes, word_starts, shares, words):
    """Return (documents of each word int64, Gries' DP of each word float64).

    document_of: int32, by position. shares: float64, of all tokens, by document. words: int64.
    A range of -1 means that the index is damaged.
    """
    ranges = np.zeros(words.size, np.int64)
    deviations = np.zeros(words.size, np.float64)
    seen = np.zeros(shares.size, np.int64)
    touched = np.empty(shares.size, np.int64)
    for i in range(words.size):
        low = np.int64(word_starts[words[i]])
        high = np.int64(word_starts[words[i] + 1])
        if low > high or high > suffixes.size:
            ranges[i] = -1
            continue
        n = 0
        for k in range(low, high):
            position = np.int64(suffixes[k])
            if position >= document_of.size:
                ranges[i] = -1
                break
            document = document_of[position]
            if seen[document] == 0:
                touched[n] = document
                n += 1
            seen[document] += 1
        difference = 1.0
        for k in range(n):
            document = touched[k]
            share = shares[document]
            difference += abs(seen[document] / (high - low) - share) - share
            seen[document] = 0
        if ranges[i] == 0:
            ranges[i] = n
        deviations[i] = difference / 2
    return ranges, deviations
