"""Compiled loops over suffix arrays of token ids: search, runs of equal prefixes, contexts.

Every index that comes from `suffixes` or `tokens` may come from a damaged file: it is
checked before it is used, and DAMAGED is returned instead of reading beyond an array.
"""

import numpy as np

from distsim.kernels.arrays import prefetch
from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, finish, step

DAMAGED = -1
_AHEAD = 16  # suffixes whose tokens are on their way at once


@compiled
def pack_tokens(tokens, width):
    """Return the tokens as big-endian numbers of `width` bytes, end to end; uint8.

    Arguments:
        tokens: uint32, below 256 ^ width.
        width: bytes of a token.
    """
    out = np.empty(tokens.size * width, np.uint8)
    for i in range(tokens.size):
        token = np.uint32(tokens[i])
        for k in range(width):
            out[i * width + k] = np.uint8((token >> np.uint32(8 * (width - 1 - k))) & 0xFF)
    return out


@compiled
def unpack_suffixes(byte_suffixes, width, out):
    """Write the suffixes that start at a token into `out`, as token positions.

    Arguments:
        byte_suffixes: integers, positions of bytes.
        width: bytes of a token.
        out: uint32, filled.
    """
    n = 0
    for i in range(byte_suffixes.size):
        position = byte_suffixes[i]
        if position % width == 0:
            out[n] = np.uint32(position // width)
            n += 1
    return n


@compiled
def _compare(tokens, position, phrase, first, length):
    """Return -1, 0 or 1: the tokens at `position` against phrase[first:first + length].

    Arguments:
        tokens: uint32, of the shard.
        position: in tokens.
        phrase: int64, word ids.
        first, length: the words that are compared.
    """
    for k in range(length):
        if position + k >= tokens.size:
            return -1
        a = tokens[position + k]
        b = phrase[first + k]
        if a < b:
            return -1
        if a > b:
            return 1
    return 0


@compiled
def find_intervals(tokens, suffixes, word_starts, patterns, stops, lows, highs):
    """Find the half-open interval of suffixes of each pattern; return 0, or DAMAGED.

    All searches take a step together, so that their random reads wait together.

    Arguments:
        tokens, suffixes, word_starts: uint32, of the shard.
        patterns: int64, word ids end to end, 0 the boundary, which a pattern may contain.
        stops: int64, where each pattern ends.
        lows, highs: int64, filled.
    """
    begin = 0
    for p in range(stops.size):
        first = patterns[begin] if begin < stops[p] else -1
        lows[p] = 0
        highs[p] = 0
        if 0 <= first < word_starts.size - 1:
            lows[p] = np.int64(word_starts[first])
            highs[p] = np.int64(word_starts[first + 1])
            if lows[p] > highs[p] or highs[p] > suffixes.size:
                return DAMAGED
        begin = stops[p]
    _narrow(tokens, suffixes, patterns, stops, lows, highs.copy(), 0)
    _narrow(tokens, suffixes, patterns, stops, lows.copy(), highs, 1)
    return 0


@compiled
def _narrow(tokens, suffixes, patterns, stops, lows, highs, above):
    """Move lows and highs to the first suffix not less than each pattern, or above it.

    Arguments:
        tokens, suffixes: uint32, of the shard.
        patterns: int64, word ids end to end.
        stops: int64, where each pattern ends.
        lows, highs: int64, the interval in which each is searched; changed.
        above: 1 for the first suffix above the pattern, else 0.
    """
    active = np.empty(stops.size, np.int64)
    n = 0
    for p in range(stops.size):
        size = stops[p] - (stops[p - 1] if p else 0)
        if size == 1:
            if above:
                lows[p] = highs[p]
            else:
                highs[p] = lows[p]
        elif lows[p] < highs[p]:
            active[n] = p
            n += 1
    while n:
        for a in range(n):
            p = active[a]
            prefetch(suffixes, (lows[p] + highs[p]) >> 1)
        for a in range(n):
            p = active[a]
            prefetch(tokens, np.int64(suffixes[(lows[p] + highs[p]) >> 1]) + 1)
        still = 0
        for a in range(n):
            p = active[a]
            begin = stops[p - 1] + 1 if p else 1
            middle = (lows[p] + highs[p]) >> 1
            order = _compare(
                tokens, np.int64(suffixes[middle]) + 1, patterns, begin, stops[p] - begin
            )
            if order < above:
                lows[p] = middle + 1
            else:
                highs[p] = middle
            active[still] = p
            still += lows[p] < highs[p]
        n = still


@compiled
def count_words(tokens, n_words):
    """Return where the suffixes of each word begin, uint32[n_words + 1]; empty if damaged.

    Arguments:
        tokens: uint32, of the shard.
        n_words: number of words of the vocabulary.
    """
    out = np.zeros(n_words + 1, np.uint32)
    for i in range(tokens.size):
        if tokens[i] >= n_words:
            return np.empty(0, np.uint32)
        out[tokens[i] + 1] += np.uint32(1)
    for w in range(n_words):
        out[w + 1] += out[w]
    return out


@compiled
def hash_sentences(tokens, word_hashes):
    """Return the sum of a hash of each sentence, uint64: of the same ones in any order the same.

    word_hashes: uint64, by id. 0 if damaged.

    tokens: uint32, 0 behind each sentence.
    """
    total, state = np.uint64(0), START
    for i in range(tokens.size):
        if tokens[i] >= word_hashes.size:
            return np.uint64(0)
        if tokens[i] == 0:
            total += finish(state)
            state = START
        else:
            state = step(finish(state), word_hashes[tokens[i]])
    return total


@compiled
def gather_neighbourhoods(tokens, suffixes, before, after, n_words, rows):
    """Copy the tokens around each suffix, within its sentence, into rows; return 0, or DAMAGED.

    Columns [0, before) are the tokens before the position, the last one the nearest, columns from
    `before` on the tokens from it on; 0 from the sentence's edge outwards.

    Arguments:
        tokens, suffixes: uint32, of the shard.
        before, after: tokens on either side.
        n_words: ids from it on are damage.
        rows: uint32[len(suffixes), before + after], filled.
    """
    highest = np.uint32(0)
    for i in range(suffixes.size):
        if i + _AHEAD < suffixes.size:
            ahead = np.int64(suffixes[i + _AHEAD])
            prefetch(tokens, ahead - before)
            prefetch(tokens, ahead + after)
        position = np.int64(suffixes[i])
        if position >= tokens.size:
            return DAMAGED
        # First all is copied, then cleared from the first boundary outwards: in short plain loops.
        first = position - before
        row = rows[i]
        if first >= 0 and first + row.size <= tokens.size:
            for k in range(row.size):
                token = tokens[first + k]
                highest = max(highest, token)
                row[k] = token
        else:
            for k in range(row.size):
                within = 0 <= first + k < tokens.size
                token = tokens[first + k] if within else np.uint32(0)
                highest = max(highest, token)
                row[k] = token
        k = before - 1
        while k >= 0 and row[k] != 0:
            k -= 1
        while k >= 0:
            row[k] = np.uint32(0)
            k -= 1
        k = before
        while k < row.size and row[k] != 0:
            k += 1
        while k < row.size:
            row[k] = np.uint32(0)
            k += 1
    return DAMAGED if highest >= n_words else 0


@compiled
def merge_rows(a, b, first, length, out):
    """Merge two row sets sorted by columns [first, first + length) into out.

    Arguments:
        a, b: uint32[n, columns], sorted.
        first, length: rows are sorted by columns first to first + length - 1.
        out: uint32, filled.
    """
    i = 0
    j = 0
    for n in range(out.shape[0]):
        from_a = j >= b.shape[0]
        if not from_a and i < a.shape[0]:
            from_a = True
            for k in range(first, first + length):
                if a[i, k] != b[j, k]:
                    from_a = a[i, k] < b[j, k]
                    break
        if from_a:
            for k in range(out.shape[1]):
                out[n, k] = a[i, k]
            i += 1
        else:
            for k in range(out.shape[1]):
                out[n, k] = b[j, k]
            j += 1


@compiled
def common_prefixes(rows, first, longest):
    """Return the number of tokens that each row shares with the row before, from column `first` on.

    uint8[len(rows)], at most `longest`, 0 for the first row; the 0 beyond a sentence's end
    is shared with nothing.

    Arguments:
        rows: uint32[n, columns], sorted.
        first: first column that is compared.
        longest: maximum number of columns that are compared.
    """
    out = np.zeros(rows.shape[0], np.uint8)
    for i in range(1, rows.shape[0]):
        n = 0
        while n < longest:
            token = rows[i, first + n]
            if token == 0 or token != rows[i - 1, first + n]:
                break
            n += 1
        out[i] = n
    return out


@compiled
def find_runs(rows, first, common, length, min_count):
    """Return (lows, highs), int64: half-open runs of rows of phrases that are frequent enough.

    Arguments:
        rows: uint32[n, columns], sorted by the columns from `first` on.
        first: column where the phrases begin.
        common: uint8, tokens that each row shares with the row before, by common_prefixes.
        length: tokens of a phrase.
        min_count: minimum number of rows.
    """
    lows = np.empty(rows.shape[0] // max(1, min_count) + 1, np.int64)
    highs = np.empty(lows.size, np.int64)
    n = 0
    low = 0
    for i in range(1, rows.shape[0] + 1):
        if i < rows.shape[0] and common[i] >= length:
            continue
        if i - low >= min_count and rows.shape[0] > 0 and rows[low, first + length - 1] != 0:
            lows[n] = low
            highs[n] = i
            n += 1
        low = i
    return lows[:n], highs[:n]


@compiled
def count_disorder(tokens, suffixes, depth):
    """Return the number of suffixes that follow a greater one, compared up to `depth` tokens.

    Arguments:
        tokens, suffixes: uint32, of the shard.
        depth: maximum number of tokens that are compared.
    """
    n = 0
    for i in range(1, suffixes.size):
        a = np.int64(suffixes[i - 1])
        b = np.int64(suffixes[i])
        for k in range(depth):
            if a + k >= tokens.size:
                break
            if b + k >= tokens.size or tokens[a + k] > tokens[b + k]:
                n += 1
                break
            if tokens[a + k] < tokens[b + k]:
                break
    return n
