"""Compiled loops over sentence pairs and a learned model: posterior probabilities of links.

Sides, cells and NONE are those of kernels/alignment.
"""

import numpy as np

from distsim.bitext.kernels.alignment import JUMP_ZERO
from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import first_not_below

U = np.uint64


@compiled
def name_co_occurrences(source, source_starts, target, target_starts, cells, n):
    """Return (source word, target word) of each of n co-occurrences as one key, uint64."""
    keys = np.empty(n, np.uint64)
    cell = 0
    for s in range(source_starts.size - 1):
        for t in range(target_starts[s], target_starts[s + 1]):
            for k in range(source_starts[s], source_starts[s + 1]):
                keys[cells[cell]] = U(source[k]) << U(32) | U(target[t])
                cell += 1
    return keys


@compiled
def link_posteriors(
    source, source_starts, target, target_starts, keys, chances, unseen, none_chances, jumps,
    none_chance,
):  # fmt: skip
    """Return the posterior probability of every cell's link, float32, by forward-backward.

    The model is that of the sampler's second stage: each target token is linked to position i
    with chance (1 - none_chance) * p(jump from the link before to i) * p(word | word of i), or to
    none with none_chance * p(word | none), and a last jump leads past the end. Forward-backward.

    keys, chances: of co-occurrences, keys ascending, p(target word | source word) float64.
    unseen: float64 a source word, of a target word it never met. none_chances: float64 a target
    word. jumps: float64[N_JUMPS].
    """
    n_cells = 0
    longest_source = 0
    longest_target = 0
    for s in range(source_starts.size - 1):
        length = source_starts[s + 1] - source_starts[s]
        n_target = target_starts[s + 1] - target_starts[s]
        longest_source = max(longest_source, length)
        longest_target = max(longest_target, n_target)
        n_cells += length * n_target
    out = np.empty(n_cells, np.float32)
    # State p of a row j: the last link before target token j leads to position p - 1.
    before = np.empty((longest_target + 1, longest_source + 1), np.float64)
    after = np.empty((longest_target + 1, longest_source + 1), np.float64)
    word = np.empty((longest_target, longest_source), np.float64)
    some = 1.0 - none_chance
    cell = 0
    for s in range(source_starts.size - 1):
        first = source_starts[s]
        length = source_starts[s + 1] - first
        begin = target_starts[s]
        n_target = target_starts[s + 1] - begin
        for j in range(n_target):
            for i in range(length):
                e = source[first + i]
                key = U(e) << U(32) | U(target[begin + j])
                k = first_not_below(keys, key, 0, keys.size)
                if k < keys.size and keys[k] == key:
                    word[j, i] = some * chances[k]
                else:
                    word[j, i] = some * unseen[e]
        before[0, :] = 0.0
        before[0, 0] = 1.0
        for j in range(n_target):
            none = none_chance * none_chances[target[begin + j]]
            total = 0.0
            for p in range(length + 1):
                before[j + 1, p] = before[j, p] * none
            for i in range(length):
                reached = 0.0
                for p in range(length + 1):
                    reached += before[j, p] * jumps[JUMP_ZERO + i + 1 - p]
                before[j + 1, i + 1] += reached * word[j, i]
            for p in range(length + 1):
                total += before[j + 1, p]
            for p in range(length + 1):  # scaled, or long sentences leave float64's range
                before[j + 1, p] /= total
        for p in range(length + 1):
            after[n_target, p] = jumps[JUMP_ZERO + length + 1 - p]
        for step in range(n_target):
            j = n_target - 1 - step
            none = none_chance * none_chances[target[begin + j]]
            total = 0.0
            for p in range(length + 1):
                reached = none * after[j + 1, p]
                for i in range(length):
                    reached += jumps[JUMP_ZERO + i + 1 - p] * word[j, i] * after[j + 1, i + 1]
                after[j, p] = reached
                total += reached
            for p in range(length + 1):
                after[j, p] /= total
        for j in range(n_target):
            none = none_chance * none_chances[target[begin + j]]
            total = 0.0
            for p in range(length + 1):
                total += before[j, p] * none * after[j + 1, p]
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
def links_both_find(
    english, english_starts, other, other_starts, other_posteriors, english_posteriors,
    keys, chances, keys_back, chances_back, least_posterior, least_chance,
):  # fmt: skip
    """Return the links with a high posterior in both directions and between words that fit.

    Both are geometric means over the two directions: of the posteriors (other_posteriors: a cell,
    other token by other token; english_posteriors: English token by English token), and of the
    chances of the two words, p(other | English) and p(English | other).
    Returns (pairs uint8[m, 2], starts uint64[n + 1]), as kernels/alignment.symmetrise.
    """
    n = english_starts.size - 1
    pairs = np.empty((other_posteriors.size, 2), np.uint8)
    starts = np.zeros(n + 1, np.uint64)
    size = 0
    cell = 0
    for s in range(n):
        first = english_starts[s]
        begin = other_starts[s]
        height = english_starts[s + 1] - first
        width = other_starts[s + 1] - begin
        for i in range(height):
            for j in range(width):
                product = np.float64(other_posteriors[cell + j * height + i]) * np.float64(
                    english_posteriors[cell + i * width + j]
                )
                if product < least_posterior * least_posterior:
                    continue
                e = U(english[first + i])
                f = U(other[begin + j])
                k = first_not_below(keys, e << U(32) | f, 0, keys.size)
                if k == keys.size or keys[k] != e << U(32) | f:
                    continue
                back = first_not_below(keys_back, f << U(32) | e, 0, keys_back.size)
                if chances[k] * chances_back[back] >= least_chance * least_chance:
                    pairs[size, 0] = i
                    pairs[size, 1] = j
                    size += 1
        cell += height * width
        starts[s + 1] = size
    return pairs[:size].copy(), starts
