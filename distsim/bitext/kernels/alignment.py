"""Compiled loops over sentence pairs: co-occurring words, Gibbs sweeps, symmetrised links.

A side is a named tuple, such as aligner.Sentences: its `tokens` end to end, uint32, and `starts`,
where each sentence begins in them, int64[n + 1]. The words of `source` generate those of `target`:
every target token is linked to one source position of its pair, or to none (NONE), uint8.

A cell is a pair (target position, source position) of one sentence pair; cells are pair by pair,
target position by target position. Two words that meet in a cell are a co-occurrence. These are
numbered target word by target word, so that the counts of a rare word lie side by side.
"""

from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import prefetch
from distsim.kernels.compiled import compiled, inlined, uncounted

U = np.uint64  # unsigned indices spare a check for negative ones at every read

NONE = 255
IBM1, HMM, FERTILITY = 0, 1, 2
FERTILITIES = 16  # a word has 0 to 13 links, or more, which count as 14; nothing has 15
JUMP_ZERO = 256  # where a jump by 0 is in a table of jumps
N_JUMPS = 513
AHEAD = 256  # cells past the last one: what is read ahead must exist


@compiled
def number_cells(source, source_starts, target, target_starts, n_source_words, n_target_words):
    """Return the number of the co-occurring word pair of every cell, with two counts.

    A cell is a pair of a source and a target token of one sentence pair.

    Arguments:
        source, target: uint32, the tokens of both sides.
        source_starts, target_starts: int64[n + 1], the first token of each sentence.
        n_source_words, n_target_words: words of either side have ids below these.

    Returns (number of the co-occurrence of every cell, uint32, with AHEAD zeros at the end; number
    of co-occurrences; for each source word the number of target words that it co-occurs with,
    uint32).
    """
    n = source_starts.size - 1
    cell_starts = np.empty(n + 1, np.int64)
    cell_starts[0] = 0
    for s in range(n):
        cell_starts[s + 1] = cell_starts[s] + (source_starts[s + 1] - source_starts[s]) * (
            target_starts[s + 1] - target_starts[s]
        )
    places = np.zeros(n_target_words + 1, np.int64)
    for t in range(target.size):
        places[target[t] + 1] += 1
    for w in range(n_target_words):
        places[w + 1] += places[w]
    tokens = np.empty(target.size, np.int64)  # word by word
    sentences = np.empty(target.size, np.int64)
    for s in range(n):
        for t in range(target_starts[s], target_starts[s + 1]):
            place = places[target[t]]
            tokens[place] = t
            sentences[place] = s
            places[target[t]] += 1
    cells = np.zeros(cell_starts[n] + AHEAD, np.uint32)
    partners = np.zeros(n_source_words, np.uint32)
    seen_with = np.full(n_source_words, -1, np.int64)
    number = np.empty(n_source_words, np.uint32)
    size = 0
    for k in range(tokens.size):
        word = np.int64(target[tokens[k]])
        s = sentences[k]
        first = source_starts[s]
        length = source_starts[s + 1] - first
        cell = cell_starts[s] + (tokens[k] - target_starts[s]) * length
        for i in range(length):
            other = source[first + i]
            if seen_with[other] != word:
                seen_with[other] = word
                number[other] = size
                size += 1
                partners[other] += 1
            cells[cell + i] = number[other]
    return cells, size, partners


@compiled
def same_words(source, source_starts):
    """Return uint8 a token: the next position of the same word in its sentence, in a ring.

    Arguments:
        source: uint32, tokens.
        source_starts: int64[n + 1], the first token of each sentence.
    """
    ring = np.empty(source.size, np.uint8)
    for s in range(source_starts.size - 1):
        first = source_starts[s]
        stop = source_starts[s + 1]
        for i in range(first, stop):
            ring[i] = i - first
            for k in range(1, stop - first):
                other = i + k
                if other >= stop:
                    other -= stop - first
                if source[other] == source[i]:
                    ring[i] = other - first
                    break
    return ring


@uncounted
def _next_random(x):
    """Return the state that follows x of the generator xorshift64* (Vigna 2016)."""
    x ^= x >> U(12)
    x ^= x << U(25)
    x ^= x >> U(27)
    return x


@uncounted
def _fraction(x):
    """Return a state of the generator as a float32 in [0, 1): its upper 24 bits."""
    return np.float32((x * U(2685821657736338717)) >> U(40)) * np.float32(2.0**-24)


@compiled
def draw_links(source_starts, target_starts, state):
    """Return first links, uint8: each target token's drawn evenly from the source positions.

    Arguments:
        source_starts, target_starts: int64[n + 1], where each sentence of a side begins.
        state: uint64[1], of the random numbers, not 0; changed.
    """
    links = np.empty(target_starts[-1], np.uint8)
    random = state[0]
    for s in range(source_starts.size - 1):
        length = np.float32(source_starts[s + 1] - source_starts[s])
        for t in range(target_starts[s], target_starts[s + 1]):
            random = _next_random(random)
            links[t] = np.uint8(_fraction(random) * length)
    state[0] = random
    return links


class LinkCounts(NamedTuple):
    """Counts of links, which `sweep` keeps up to date.

    Attributes:
        pairs: float32, of each co-occurrence.
        source: float32, of each source word.
        none: float32, of each target word without a link.
        fertility: float32[n_source_words, FERTILITIES], source words by number of links.
        jumps: int64[N_JUMPS], how often a link follows another at a distance, from the position
            before the first and to the one past the last.
    """

    pairs: np.ndarray
    source: np.ndarray
    none: np.ndarray
    fertility: np.ndarray
    jumps: np.ndarray


class SweepModel(NamedTuple):
    """Priors and probabilities that do not change during a sweep.

    Attributes:
        alpha: float32, the prior of one target word.
        source_prior: float32 a source word, the sum of alpha over its target words.
        none_prior: float32, the same of no link.
        none_odds: float32, the odds of no link against one.
        fertility_prior: float32[FERTILITIES].
        jumps, jumps_back: float32[N_JUMPS], the probability of a jump, and the same reversed.
    """

    alpha: np.float32
    source_prior: np.ndarray
    none_prior: np.float32
    none_odds: np.float32
    fertility_prior: np.ndarray
    jumps: np.ndarray
    jumps_back: np.ndarray


@compiled
def count_links(source, target, cells, links, counts):
    """Count links into arrays of zeros.

    Arguments:
        source, target: the sides.
        cells: uint32, of number_cells.
        links: uint8, of each target token.
        counts: LinkCounts, filled.
    """
    cell = 0
    for s in range(source.starts.size - 1):
        first = source.starts[s]
        length = source.starts[s + 1] - first
        fertility = np.zeros(length, np.int64)
        before = -1
        for t in range(target.starts[s], target.starts[s + 1]):
            link = np.int64(links[t])
            if link == NONE:
                counts.none[target.tokens[t]] += 1
            else:
                counts.pairs[cells[cell + link]] += 1
                counts.source[source.tokens[first + link]] += 1
                fertility[link] += 1
                counts.jumps[JUMP_ZERO + link - before] += 1
                before = link
            cell += length
        counts.jumps[JUMP_ZERO + length - before] += 1
        for i in range(length):
            counts.fertility[source.tokens[first + i], min(FERTILITIES - 2, fertility[i])] += 1


@uncounted
def _weigh_again(stage, step, i, words, ring, counts, model, fertility, weight):
    """Add a link to position i of a sentence (step 1) or remove one (-1), and update its weight.

    The word may occur at several positions.

    Arguments:
        stage: IBM1, HMM or FERTILITY.
        step, i: float32 and uint64.
        words, ring: of the sentence: its words, and from each position the next of the same word.
        counts, model: LinkCounts and SweepModel.
        fertility: uint64, the number of links of each position.
        weight: float32, of each position, whatever the target word.
    """
    unit = np.float32(1)
    longest = U(FERTILITIES - 2)
    word = words[i]
    counts.source[word] += step
    part = unit / (counts.source[word] + model.source_prior[word])
    if stage == FERTILITY:
        counts.fertility[word, min(longest, fertility[i])] -= unit
        fertility[i] += U(1) if step > 0 else ~U(0)
        counts.fertility[word, min(longest, fertility[i])] += unit
    k = i
    while True:
        weight[k] = part
        if stage == FERTILITY:
            now = min(longest, fertility[k])
            more = counts.fertility[word, now + U(1)] + model.fertility_prior[now + U(1)]
            here = counts.fertility[word, now] - unit + model.fertility_prior[now]
            weight[k] = part * more / here
        k = U(ring[k])
        if k == i:
            break


@inlined
def _weigh_sentence(stage, words, links, counts, model, fertility, weight):
    """Fill the number of links and the weight of each position of a sentence.

    Arguments:
        stage: IBM1, HMM or FERTILITY.
        words: uint32, source words of the sentence.
        links: uint8, the link of each of its target tokens.
        counts, model: LinkCounts and SweepModel.
        fertility: uint64, the number of links of each position; filled.
        weight: float32, of each position, whatever the target word; filled.
    """
    unit = np.float32(1)
    length = U(words.size)
    if stage == FERTILITY:
        longest = U(FERTILITIES - 2)
        for i in range(length):
            fertility[i] = U(0)
        for j in range(U(links.size)):
            if links[j] != NONE:
                fertility[U(links[j])] += U(1)
        for i in range(length):
            word = words[i]
            now = min(longest, fertility[i])
            more = counts.fertility[word, now + U(1)] + model.fertility_prior[now + U(1)]
            here = counts.fertility[word, now] - unit + model.fertility_prior[now]
            weight[i] = more / (here * (counts.source[word] + model.source_prior[word]))
    else:
        for i in range(length):
            word = words[i]
            weight[i] = unit / (counts.source[word] + model.source_prior[word])


@inlined
def _next_links(links, length, later):
    """Fill, for each target token of a sentence, the link of the next one that has any.

    Arguments:
        links: uint8, of the sentence's target tokens.
        length: source positions; stands behind the last link.
        later: int64, filled.
    """
    after = np.int64(length)
    for k in range(U(links.size)):
        j = U(links.size) - U(1) - k
        later[j] = after
        if links[j] != NONE:
            after = np.int64(links[j])


@inlined
def _running_shares(stage, cells, cell, length, before, later, counts, model, weight, share):
    """Return (the sum of the positions' shares of a target token, the factor of no link).

    Arguments:
        stage: IBM1, HMM or FERTILITY.
        cells, cell, length: cells[cell : cell + length], uint32, are the token's co-occurrences.
        before, later: int64, the links before and after it.
        counts, model: LinkCounts and SweepModel.
        weight: float32, of each position.
        share: float32, filled with the running sums of the shares.
    """
    running = np.float32(0)
    if stage == IBM1:
        for i in range(length):
            prefetch(counts.pairs, cells[cell + length + i])
            running += (counts.pairs[cells[cell + i]] + model.alpha) * weight[i]
            share[i] = running
        jump = np.float32(length)
    else:
        ahead = U(JUMP_ZERO - before)
        back = U(JUMP_ZERO - later)
        for i in range(length):
            prefetch(counts.pairs, cells[cell + length + i])
            running += (counts.pairs[cells[cell + i]] + model.alpha) * (
                weight[i] * (model.jumps[ahead + i] * model.jumps_back[back + i])
            )
            share[i] = running
        jump = model.jumps[U(JUMP_ZERO + later - before)]
    return running, jump


@inlined
def _add_marginals(marginals, cell, length, share, part):
    """Add a target token's shares to its cells' marginals.

    Arguments:
        marginals: float32, by cell; added to.
        cell, length: the token's cells are marginals[cell : cell + length].
        share: float32, running sums of the shares.
        part: float32, factor of the shares.
    """
    past = np.float32(0)
    for i in range(length):
        marginals[cell + i] += (share[i] - past) * part
        past = share[i]


@compiled
def sweep(stage, source, target, ring, cells, links, counts, model, marginals, state):
    """Run one Gibbs sweep: draw every target token's link, in order, given all other links.

    The chance of position i is p(target word | source word) * p(jump to i) * p(jump from i) *
    p(one more link) / p(as many as now), the later factors from the stage on that has them; of
    no link none_odds * p(target word | none) * p(jump past it), or of an even jump for IBM1.
    Words and numbers of links are collapsed: counts without this token, and their priors. The
    probabilities of jumps do not change while all links are drawn.

    Arguments:
        stage: IBM1, HMM or FERTILITY.
        source, target: the sides.
        ring: uint8, of same_words(source.tokens, source.starts).
        cells: uint32, of number_cells.
        links: uint8, of each target token; changed.
        counts: LinkCounts; changed. Jumps are added up from here, from zeros.
        model: SweepModel.
        marginals: float32 a cell or empty; to each its link's probability is added.
        state: uint64[1], of the random numbers; changed.
    """
    unit = np.float32(1)
    weight = np.empty(256, np.float32)  # of a source position, whatever the target word
    share = np.empty(256, np.float32)  # running sums of what each position weighs
    fertility = np.empty(256, np.uint64)
    later = np.empty(256, np.int64)
    n_none = np.float32(0)
    for w in range(counts.none.size):
        n_none += counts.none[w]
    keep = marginals.size > 0
    cell = U(0)
    random = state[0]
    for s in range(U(source.starts.size - 1)):
        first = U(source.starts[s])
        length = U(source.starts[s + U(1)]) - first
        begin = U(target.starts[s])
        n_target = U(target.starts[s + U(1)]) - begin
        words = source.tokens[first : first + length]
        own_ring = ring[first : first + length]
        own_links = links[begin : begin + n_target]
        _weigh_sentence(stage, words, own_links, counts, model, fertility, weight)
        if stage != IBM1:
            _next_links(own_links, length, later)
        before = np.int64(-1)
        for j in range(n_target):
            old = U(own_links[j])
            word_here = target.tokens[begin + j]
            if old == NONE:
                counts.none[word_here] -= unit
                n_none -= unit
            else:
                counts.pairs[cells[cell + old]] -= unit
                _weigh_again(stage, -unit, old, words, own_ring, counts, model, fertility, weight)
            none = model.none_odds * (counts.none[word_here] + model.alpha)
            none /= n_none + model.none_prior
            running, jump = _running_shares(
                stage, cells, cell, length, before, later[j], counts, model, weight, share
            )
            none *= jump
            random = _next_random(random)
            drawn = _fraction(random) * (running + none)
            new = U(0)
            for i in range(length):
                new += U(share[i] <= drawn)
            if keep:
                _add_marginals(marginals, cell, length, share, unit / (running + none))
            if new == length:
                own_links[j] = NONE
                counts.none[word_here] += unit
                n_none += unit
            else:
                own_links[j] = new
                counts.pairs[cells[cell + new]] += unit
                _weigh_again(stage, unit, new, words, own_ring, counts, model, fertility, weight)
                counts.jumps[U(JUMP_ZERO + np.int64(new) - before)] += 1
                before = np.int64(new)
            cell += length
        counts.jumps[U(JUMP_ZERO + np.int64(length) - before)] += 1
    state[0] = random


@compiled
def best_links(source_starts, target_starts, marginals, n_sweeps):
    """Return the most probable link of each target token, uint8; of equal ones the first.

    Arguments:
        source_starts, target_starts: int64[n + 1], where each sentence of a side begins.
        marginals: float32 for each cell, link probabilities summed over the sweeps; the rest to
            n_sweeps is the probability of no link.
        n_sweeps: number of sweeps.
    """
    links = np.empty(target_starts[-1], np.uint8)
    cell = 0
    for s in range(source_starts.size - 1):
        length = source_starts[s + 1] - source_starts[s]
        for t in range(target_starts[s], target_starts[s + 1]):
            best = 0
            rest = np.float32(n_sweeps)
            for i in range(length):
                rest -= marginals[cell + i]
                if marginals[cell + i] > marginals[cell + best]:
                    best = i
            links[t] = best if marginals[cell + best] >= rest else NONE
            cell += length
    return links


@uncounted
def _grow(both, either, rows, columns, n, m):
    """Add links of `either` beside links of `both`, as long as one of the two words has none.

    Arguments:
        both, either: bool[n, m], links of both directions, and of at least one; `both` grows.
        rows, columns: int64, number of links of each word of either side; kept up to date.
        n, m: words of each side.
    """
    again = True
    while again:
        again = False
        for i in range(n):
            for j in range(m):
                if not both[i, j]:
                    continue
                for step in range(8):
                    # In the order of Moses: the four sides, then the four corners.
                    if step < 4:
                        a = i + (-1, 0, 1, 0)[step]
                        b = j + (0, -1, 0, 1)[step]
                    else:
                        a = i + (-1, -1, 1, 1)[step - 4]
                        b = j + (-1, 1, -1, 1)[step - 4]
                    if a < 0 or b < 0 or a >= n or b >= m or both[a, b] or not either[a, b]:
                        continue
                    if rows[a] == 0 or columns[b] == 0:
                        both[a, b] = True
                        rows[a] += 1
                        columns[b] += 1
                        again = True


@compiled
def symmetrise(english_starts, other_starts, other_links, english_links, grow):
    """Return links of both directions made one: (pairs uint8[m, 2], starts uint64[n + 1]).

    Pairs are (English position, other position), in ascending order (Koehn et al. 2003; 2005).

    Arguments:
        english_starts, other_starts: int64[n + 1], where each sentence of a side begins.
        other_links: uint8, the English position of each other token, NONE without one.
        english_links: uint8, the other position of each English token, NONE without one.
        grow: grow-diag-final-and; else the intersection.
    """
    n = english_starts.size - 1
    pairs = np.empty((english_links.size + other_links.size, 2), np.uint8)
    starts = np.zeros(n + 1, np.uint64)
    size = 0
    both_space = np.zeros((256, 256), np.bool_)
    either_space = np.zeros((256, 256), np.bool_)
    rows = np.empty(256, np.int64)
    columns = np.empty(256, np.int64)
    for s in range(n):
        first = english_starts[s]
        begin = other_starts[s]
        height = english_starts[s + 1] - first
        width = other_starts[s + 1] - begin
        both = both_space[:height, :width]
        either = either_space[:height, :width]
        for i in range(height):
            rows[i] = 0
            for j in range(width):
                both[i, j] = False
                either[i, j] = False
        for j in range(width):
            columns[j] = 0
            if other_links[begin + j] != NONE:
                either[other_links[begin + j], j] = True
        for i in range(height):
            j = np.int64(english_links[first + i])
            if j == NONE:
                continue
            if either[i, j]:
                both[i, j] = True
                rows[i] += 1
                columns[j] += 1
            either[i, j] = True
        if grow:
            _grow(both, either, rows, columns, height, width)
            for i in range(height):  # final-and: first what English says, then the other side
                j = np.int64(english_links[first + i])
                if j != NONE and rows[i] == 0 and columns[j] == 0:
                    both[i, j] = True
                    rows[i] += 1
                    columns[j] += 1
            for j in range(width):
                i = np.int64(other_links[begin + j])
                if i != NONE and rows[i] == 0 and columns[j] == 0:
                    both[i, j] = True
                    rows[i] += 1
                    columns[j] += 1
        for i in range(height):
            for j in range(width):
                if both[i, j]:
                    pairs[size, 0] = i
                    pairs[size, 1] = j
                    size += 1
        starts[s + 1] = size
    return pairs[:size].copy(), starts
