"""Compiled loops over sentence pairs and a learned model: posterior probabilities of links.

Sides, cells and NONE are those of kernels/alignment.
"""

import numpy as np

from distsim.bitext.kernels.alignment import JUMP_ZERO
from distsim.kernels.compiled import compiled, inlined, uncounted
from distsim.kernels.hashing import first_not_below

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
def _chance_of(chances, e, f):
    """Return p(f | e) of one direction.

    Arguments:
        chances: named tuple of keys, uint64, e << 32 | f, ascending; chances, float64, of each; and
            unseen, float64 a source word, of a target word that it never met.
        e, f: uint32, a source and a target word.
    """
    key = U(e) << U(32) | U(f)
    k = first_not_below(chances.keys, key, 0, chances.keys.size)
    known = k < chances.keys.size and chances.keys[k] == key
    return chances.chances[k] if known else chances.unseen[e]


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
    there, back = chances
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
                k = first_not_below(there.keys, e << U(32) | f, 0, there.keys.size)
                if k == there.keys.size or there.keys[k] != e << U(32) | f:
                    continue
                b = first_not_below(back.keys, f << U(32) | e, 0, back.keys.size)
                if there.chances[k] * back.chances[b] >= least_chance * least_chance:
                    pairs[size, 0] = i
                    pairs[size, 1] = j
                    size += 1
        cell += height * width
        starts[s + 1] = size
    return pairs[:size].copy(), starts
