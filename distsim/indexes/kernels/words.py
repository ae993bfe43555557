"""Compiled loops over words: those in windows of occurrences, and those spelt like one."""

import numpy as np

from distsim.kernels.compiled import compiled


@compiled
def compare_spellings(letters, ends, near, word, max_distance, distances, prefixes):
    """Fill `distances` and `prefixes` for every word: edits from one word, shared first letters.

    An edit inserts, drops or replaces a letter, or exchanges two neighbours (Damerau-Levenshtein,
    no letter edited twice).

    Arguments:
        letters: uint32, the code points of all words, end to end.
        ends: int64[n], where each word ends in letters.
        near: bool[n], words that may be as few edits away; the others are not compared.
        word: uint32[m], code points of the one compared with.
        max_distance: edits that are told apart, below 255; more are max_distance + 1.
        distances: uint8[n], filled.
        prefixes: uint8[n], filled; 255 stands for more, too.
    """
    m = word.size
    before, above, row = (np.empty(m + 1, np.int64), np.empty(m + 1, np.int64),
                          np.empty(m + 1, np.int64))  # fmt: skip
    start = 0
    for number in range(ends.size):
        stop = ends[number]
        size = stop - start
        shared = 0
        while shared < size and shared < m and letters[start + shared] == word[shared]:
            shared += 1
        prefixes[number] = min(shared, 255)
        distances[number] = max_distance + 1
        if near[number] and abs(size - m) <= max_distance:
            for j in range(m + 1):
                above[j] = j
            least = 0
            for i in range(1, size + 1):
                row[0] = i
                least = i
                letter = letters[start + i - 1]
                for j in range(1, m + 1):
                    best = min(above[j], row[j - 1]) + 1
                    best = min(best, above[j - 1] + (letter != word[j - 1]))
                    if i > 1 and j > 1 and letter == word[j - 2]:
                        if letters[start + i - 2] == word[j - 1]:
                            best = min(best, before[j - 2] + 1)
                    row[j] = best
                    least = min(least, best)
                before, above, row = above, row, before
                if least > max_distance:
                    break
            if least <= max_distance and above[m] <= max_distance:
                distances[number] = above[m]
        start = stop


DAMAGED = -1


@compiled
def count_windows(tokens, spans, window, seen, counts):
    """Return 0; add the words in windows of spans to counts, each token once; or return DAMAGED.

    Arguments:
        tokens: uint32, of the shard; 0 is a sentence's edge, where a window ends.
        spans: int64[m, 2], half-open positions in the shard.
        window: tokens on either side.
        seen: uint8, a bit for each token, lowest first, all 0; written.
        counts: int64 by word.
    """
    for i in range(spans.shape[0]):
        for side in range(2):
            place = spans[i, 0] - 1 if side == 0 else spans[i, 1]
            step = -1 if side == 0 else 1
            for _ in range(window):
                if place < 0 or place >= tokens.size or tokens[place] == 0:
                    break
                if tokens[place] >= counts.size:
                    return DAMAGED
                bit = np.uint8(1 << (place & 7))
                if seen[place >> 3] & bit == 0:
                    seen[place >> 3] |= bit
                    counts[tokens[place]] += 1
                place += step
    return 0
