"""Compiled loops of word links: their posteriors, and their texts (Pharaoh lines)."""

import numpy as np

from distsim.bitext.kernels.alignment import JUMP_ZERO
from distsim.kernels.compiled import compiled, inlined, uncounted
from distsim.kernels.hashing import first_not_below

# What parse_links says about a line that is none of links.
SOUND, MALFORMED = 0, 1
_NEWLINE, _HYPHEN, _ZERO, _NINE, _P = 10, 45, 48, 57, 80
MOST_POSITION = 1 << 30  # beyond any text; larger numbers stay there


@compiled
def parse_links(text):
    """Return the links in lines of `i-j` or `i-j-P` (possible links), separated by white space.

    Arguments:
        text: uint8, whole lines.

    Returns (pairs int32[m, 2], possible bool[m], line_stops int64[n_lines], fault int64):
    `fault` is where in the text the first piece that is no link begins, -1 if there is none.
    """
    n_hyphens = 0
    n_lines = 0
    for i in range(text.size):
        n_hyphens += text[i] == _HYPHEN
        n_lines += text[i] == _NEWLINE
    if text.size > 0 and text[text.size - 1] != _NEWLINE:
        n_lines += 1
    pairs = np.empty((n_hyphens, 2), np.int32)
    possible = np.zeros(n_hyphens, np.bool_)
    stops = np.empty(n_lines, np.int64)
    m = 0
    line = 0
    i = 0
    while i < text.size:
        c = text[i]
        if c == _NEWLINE:
            stops[line] = m
            line += 1
            i += 1
            continue
        if c == 32 or c == 9 or c == 13:
            i += 1
            continue
        begin = i
        for side in range(2):
            value = 0
            first = i
            while i < text.size and _ZERO <= text[i] and text[i] <= _NINE:
                value = min(MOST_POSITION, value * 10 + np.int64(text[i]) - _ZERO)
                i += 1
            if i == first or (side == 0 and (i == text.size or text[i] != _HYPHEN)):
                return pairs[:m], possible[:m], stops[:line], begin
            pairs[m, side] = value
            i += side == 0
        if i + 1 < text.size and text[i] == _HYPHEN and text[i + 1] == _P:
            possible[m] = True
            i += 2
        if i < text.size and not (text[i] == 32 or 9 <= text[i] <= 13):
            return pairs[:m], possible[:m], stops[:line], begin
        m += 1
    if line < n_lines:
        stops[line] = m
    return pairs[:m], possible[:m], stops, -1


@uncounted
def _write_number(value, text, size):
    """Return the end of the text after writing a number in decimals at its end.

    Arguments:
        value: int64, 0 or more.
        text: uint8, written.
        size: number of bytes of text that are filled.
    """
    digits = 1
    rest = value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for k in range(digits):
        text[size + digits - 1 - k] = _ZERO + value % 10
        value //= 10
    return size + digits


@compiled
def format_links(pairs, starts, rows):
    """Return uint8: for each of `rows` a line of its links, an empty line where it is -1.

    Arguments:
        pairs: int[m, 2], links.
        starts: uint64[n + 1], the first link of each sentence pair.
        rows: int64, numbers of sentence pairs, -1 for an empty line.
    """
    largest = 0
    for k in range(pairs.shape[0]):
        largest = max(largest, np.int64(pairs[k, 0]), np.int64(pairs[k, 1]))
    digits = 1
    while largest > 9:
        largest //= 10
        digits += 1
    n_bytes = rows.size
    for row in rows:
        if row >= 0:
            n_bytes += (2 * digits + 2) * (np.int64(starts[row + 1]) - np.int64(starts[row]))
    text = np.empty(n_bytes, np.uint8)
    size = 0
    for row in rows:
        if row >= 0:
            first = np.int64(starts[row])
            for k in range(first, np.int64(starts[row + 1])):
                if k > first:
                    text[size] = 32
                    size += 1
                size = _write_number(np.int64(pairs[k, 0]), text, size)
                text[size] = _HYPHEN
                size = _write_number(np.int64(pairs[k, 1]), text, size + 1)
        text[size] = _NEWLINE
        size += 1
    return text[:size]


U = np.uint64


@compiled
def name_co_occurrences(source, source_starts, target, target_starts, cells, n):
    """Return (source word, target word) of each of n co-occurrences as one key, uint64.

    Arguments:
        source, target: uint32, tokens.
        source_starts, target_starts: int64[k + 1], the first token of each sentence.
        cells: uint32, number of the co-occurrence of each cell.
        n: number of co-occurrences.
    """
    keys = np.empty(n, np.uint64)
    cell = 0
    for s in range(source_starts.size - 1):
        for t in range(target_starts[s], target_starts[s + 1]):
            for k in range(source_starts[s], source_starts[s + 1]):
                keys[cells[cell]] = U(source[k]) << U(32) | U(target[t])
                cell += 1
    return keys


@uncounted
def _chance_of(chances, english_word, foreign_word):
    """Return p(f | e) of one direction.

    Arguments:
        chances: named tuple of keys, uint64, e << 32 | f, ascending; chances, float64, of each; and
            unseen, float64 a source word, of a target word that it never met.
        english_word, foreign_word: uint32, a source and a target word.
    """
    key = U(english_word) << U(32) | U(foreign_word)
    k = first_not_below(chances.keys, key, 0, chances.keys.size)
    known = k < chances.keys.size and chances.keys[k] == key
    return chances.chances[k] if known else chances.unseen[english_word]


@inlined
def _forward(word, none, length, n_target, jumps, before):
    """Fill `before`: the chances of all links before each target token, scaled.

    Arguments:
        word: float64[target, source], the chance of each word in each cell.
        none: float64[target], the chance of no link.
        length, n_target: tokens of both sides.
        jumps: float64[N_JUMPS].
        before: float64[target + 1, source + 1], by the position after the last link.
    """
    for p in range(length + 1):
        before[0, p] = 0.0
    before[0, 0] = 1.0
    for j in range(n_target):
        total = 0.0
        for p in range(length + 1):
            before[j + 1, p] = before[j, p] * none[j]
        for i in range(length):
            reached = 0.0
            for p in range(length + 1):
                reached += before[j, p] * jumps[JUMP_ZERO + i + 1 - p]
            before[j + 1, i + 1] += reached * word[j, i]
        for p in range(length + 1):
            total += before[j + 1, p]
        for p in range(length + 1):  # scaled, or long sentences leave float64's range
            before[j + 1, p] /= total


@inlined
def _backward(word, none, length, n_target, jumps, after):
    """Fill `after`: the chances of all links from each target token on, scaled.

    Arguments:
        word: float64[target, source], the chance of each word in each cell.
        none: float64[target], the chance of no link.
        length, n_target: tokens of both sides.
        jumps: float64[N_JUMPS].
        after: float64[target + 1, source + 1], by the position after the last link; filled.
    """
    for p in range(length + 1):
        after[n_target, p] = jumps[JUMP_ZERO + length + 1 - p]
    for step in range(n_target):
        j = n_target - 1 - step
        total = 0.0
        for p in range(length + 1):
            reached = none[j] * after[j + 1, p]
            for i in range(length):
                reached += jumps[JUMP_ZERO + i + 1 - p] * word[j, i] * after[j + 1, i + 1]
            after[j, p] = reached
            total += reached
        for p in range(length + 1):
            after[j, p] /= total


@compiled
def link_posteriors(source, target, chances, none_chance):
    """Return the posterior probability of every cell's link, float32, by forward-backward.

    The model is that of the sampler's second stage: each target token is linked to position i
    with chance (1 - none_chance) * p(jump from the link before to i) * p(word | word of i), or to
    none with none_chance * p(word | none), and a last jump leads past the end.

    Arguments:
        source, target: the sides.
        chances: named tuple of keys, uint64, of co-occurrences, ascending; chances, float64,
            p(target word | source word) of each; unseen, float64 a source word, of a target word
            it never met; none_chances, float64 a target word; jumps, float64[N_JUMPS].
        none_chance: of no link.
    """
    n_cells = 0
    longest_source = 0
    longest_target = 0
    for s in range(source.starts.size - 1):
        length = source.starts[s + 1] - source.starts[s]
        n_target = target.starts[s + 1] - target.starts[s]
        longest_source = max(longest_source, length)
        longest_target = max(longest_target, n_target)
        n_cells += length * n_target
    out = np.empty(n_cells, np.float32)
    # State p of a row j: the last link before target token j leads to position p - 1.
    before = np.empty((longest_target + 1, longest_source + 1), np.float64)
    after = np.empty((longest_target + 1, longest_source + 1), np.float64)
    word = np.empty((longest_target, longest_source), np.float64)
    none = np.empty(longest_target, np.float64)
    jumps = chances.jumps
    cell = 0
    for s in range(source.starts.size - 1):
        first = source.starts[s]
        length = source.starts[s + 1] - first
        begin = target.starts[s]
        n_target = target.starts[s + 1] - begin
        for j in range(n_target):
            f = target.tokens[begin + j]
            none[j] = none_chance * chances.none_chances[f]
            for i in range(length):
                chance = _chance_of(chances, source.tokens[first + i], f)
                word[j, i] = (1.0 - none_chance) * chance
        _forward(word, none, length, n_target, jumps, before)
        _backward(word, none, length, n_target, jumps, after)
        for j in range(n_target):
            total = 0.0
            for p in range(length + 1):
                total += before[j, p] * none[j] * after[j + 1, p]
            for i in range(length):
                reached = 0.0
                for p in range(length + 1):
                    reached += before[j, p] * jumps[JUMP_ZERO + i + 1 - p]
                share = reached * word[j, i] * after[j + 1, i + 1]
                word[j, i] = share  # no longer needed for this token
                total += share
            for i in range(length):
                out[cell + i] = word[j, i] / total
            cell += length
    return out


@compiled
def links_both_find(sides, posteriors, chances, least_posterior, least_chance):
    """Return the links with a high posterior in both directions and between words that fit.

    Both are geometric means over the two directions: of the posteriors, and of the chances of the
    two words, p(other | English) and p(English | other).

    Arguments:
        sides: English and the other side.
        posteriors: float32 a cell: other token by other token, and English token by token.
        chances: of both directions, each a named tuple with keys, uint64, of co-occurrences,
            ascending, and chances, float64.
        least_posterior, least_chance: lower geometric means give no link.

    Returns (pairs uint8[m, 2] of English and other positions, starts uint64[n + 1], the first pair
    of each sentence pair).
    """
    english, other = sides
    forward, back = chances
    n = english.starts.size - 1
    pairs = np.empty((posteriors[0].size, 2), np.uint8)
    starts = np.zeros(n + 1, np.uint64)
    size = 0
    cell = 0
    for s in range(n):
        first = english.starts[s]
        begin = other.starts[s]
        height = english.starts[s + 1] - first
        width = other.starts[s + 1] - begin
        for i in range(height):
            for j in range(width):
                product = np.float64(posteriors[0][cell + j * height + i]) * np.float64(
                    posteriors[1][cell + i * width + j]
                )
                if product < least_posterior * least_posterior:
                    continue
                e = U(english.tokens[first + i])
                f = U(other.tokens[begin + j])
                k = first_not_below(forward.keys, e << U(32) | f, 0, forward.keys.size)
                if k == forward.keys.size or forward.keys[k] != e << U(32) | f:
                    continue
                b = first_not_below(back.keys, f << U(32) | e, 0, back.keys.size)
                if forward.chances[k] * back.chances[b] >= least_chance * least_chance:
                    pairs[size, 0] = i
                    pairs[size, 1] = j
                    size += 1
        cell += height * width
        starts[s + 1] = size
    return pairs[:size].copy(), starts
