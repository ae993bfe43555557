"""The best derivations of a packed forest, made lazily: each only when another asks for it.

Algorithm 3 of Huang and Chiang (2005, Better k-best parsing, IWPT). Derivations with the same
words are merged at every item: the best one represents all.
"""

from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import doubled, grown
from distsim.kernels.compiled import compiled, folded

NO = -1
_EDGE, _ONE, _TWO, _BELOW, _BESIDE = range(5)  # columns of a candidate; two of its place in a heap
_START, _STOP = 3, 4  # columns of a derivation: edge, two ranks, where its words begin and stop
_CANDIDATES, _DERIVATIONS, _RANKED, _WORDS = range(4)  # entries of `sizes`
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Hypergraph(NamedTuple):
    """A packed forest and the target sides of its rules.

    first_edges: int64 by item, its first edge; -1 for the beginning of the sentence.
    edges: int64[edges, 4], rule, two items (-1 for none), next edge of the same item (-1).
    edge_scores: float64[edges], the score of an edge without that of its items.
    targets: int64, symbols of all target sides, end to end; -1 and -2 are an edge's two items.
    target_starts: int64[rules + 1], where each target side begins.
    same: int64 by symbol, a number that symbols of equal spelling share.
    """

    first_edges: np.ndarray
    edges: np.ndarray
    edge_scores: np.ndarray
    targets: np.ndarray
    target_starts: np.ndarray
    same: np.ndarray


class DerivationTable(NamedTuple):
    """Derivations found so far, and candidates for the next ones.

    heaps: int64 by item, its best candidate with a score (a pairing heap). waiting: int64 by item,
    its first candidate without a score (a linked list); -1 for none in both.
    n_found: int64 by item, derivations found, -1 where nothing has asked yet.
    slots, rooms: int64 by item, where its part of `ranked` begins, and its room.
    ranked: int64, derivations of items, best first. candidates: int64[room, 5]; scores: float64
    of candidates. derivations: int64[room, 5]; totals: float64, their scores; hashes: uint64,
    of their words. words: int64, words of derivations, end to end.
    sizes: int64[4], entries of candidates, derivations, ranked and words that are in use.
    """

    heaps: np.ndarray
    waiting: np.ndarray
    n_found: np.ndarray
    slots: np.ndarray
    rooms: np.ndarray
    ranked: np.ndarray
    candidates: np.ndarray
    scores: np.ndarray
    derivations: np.ndarray
    totals: np.ndarray
    hashes: np.ndarray
    words: np.ndarray
    sizes: np.ndarray


@compiled
def _nothing_made(n_items):
    """Return a DerivationTable without derivations of n_items items."""
    return DerivationTable(
        np.full(n_items, NO, np.int64), np.full(n_items, NO, np.int64),
        np.full(n_items, NO, np.int64), np.zeros(n_items, np.int64), np.zeros(n_items, np.int64),
        np.empty(1024, np.int64), np.empty((1024, 5), np.int64), np.empty(1024, np.float64),
        np.empty((1024, 5), np.int64), np.empty(1024, np.float64), np.empty(1024, np.uint64),
        np.empty(4096, np.int64), np.zeros(4, np.int64),
    )  # fmt: skip


@folded
def _has_room(table, item, n_words):
    """Return whether there is room for a derivation of n_words and two candidates of an item."""
    sizes = table.sizes
    return (
        sizes[_CANDIDATES] + 2 <= table.scores.size
        and sizes[_DERIVATIONS] < table.hashes.size
        and sizes[_RANKED] + 2 * table.rooms[item] + 2 <= table.ranked.size
        and sizes[_WORDS] + n_words <= table.words.size
    )


@compiled
def _enlarged(table, item, n_words):
    """Return a DerivationTable with longer arrays where `_has_room` found too little room."""
    candidates, scores = table.candidates, table.scores
    derivations, totals, hashes = table.derivations, table.totals, table.hashes
    ranked, words, sizes = table.ranked, table.words, table.sizes
    if sizes[_CANDIDATES] + 2 > scores.size:
        candidates, scores = doubled(candidates), grown(scores, scores.size, 2 * scores.size)
    if sizes[_DERIVATIONS] == hashes.size:
        derivations = doubled(derivations)
        totals = grown(totals, totals.size, 2 * totals.size)
        hashes = grown(hashes, hashes.size, 2 * hashes.size)
    while sizes[_RANKED] + 2 * table.rooms[item] + 2 > ranked.size:
        ranked = grown(ranked, ranked.size, 2 * ranked.size)
    while sizes[_WORDS] + n_words > words.size:
        words = grown(words, words.size, 2 * words.size)
    return DerivationTable(
        table.heaps, table.waiting, table.n_found, table.slots, table.rooms, ranked, candidates,
        scores, derivations, totals, hashes, words, sizes,
    )  # fmt: skip


@folded
def _before(rows, scores, a, b):
    """Return whether candidate a precedes b: by score, then the older edge, then lower ranks.

    Arguments:
        rows, scores: int64[n, 5] and float64, of all candidates.
        a, b: rows.
    """
    if scores[a] != scores[b]:
        return scores[a] > scores[b]
    if rows[a, _EDGE] != rows[b, _EDGE]:
        return rows[a, _EDGE] < rows[b, _EDGE]
    if rows[a, _ONE] != rows[b, _ONE]:
        return rows[a, _ONE] < rows[b, _ONE]
    return rows[a, _TWO] < rows[b, _TWO]


@folded
def _melded(rows, scores, a, b):
    """Return the root of two pairing heaps (Fredman et al. 1986) put together; -1 is empty.

    Arguments:
        rows, scores: int64[n, 5] and float64, of all candidates.
        a, b: the roots.
    """
    if a < 0:
        return b
    if b < 0:
        return a
    if _before(rows, scores, b, a):
        a, b = b, a
    rows[b, _BESIDE] = rows[a, _BELOW]
    rows[a, _BELOW] = b
    return a


@folded
def _without_root(rows, scores, root):
    """Return the root of a pairing heap from which the root was taken; -1 is empty.

    Arguments:
        rows, scores: int64[n, 5] and float64, of all candidates.
        root: of the heap.
    """
    pairs = np.int64(NO)
    child = rows[root, _BELOW]
    while child >= 0:
        second = rows[child, _BESIDE]
        following = np.int64(NO)
        rows[child, _BESIDE] = NO
        if second >= 0:
            following = rows[second, _BESIDE]
            rows[second, _BESIDE] = NO
        child = _melded(rows, scores, child, second)
        rows[child, _BESIDE] = pairs
        pairs = child
        child = following
    rest = np.int64(NO)
    while pairs >= 0:
        following = rows[pairs, _BESIDE]
        rows[pairs, _BESIDE] = NO
        rest = _melded(rows, scores, rest, pairs)
        pairs = following
    return rest


@folded
def _hash(words, start, stop, same):
    """Return the hash of the spelling of words[start:stop], uint64.

    same: int64 by symbol, a number that symbols of equal spelling share.
    """
    state = np.uint64(stop - start)
    for k in range(start, stop):
        state = (state ^ np.uint64(same[words[k]])) * _MULTIPLIER
        state ^= state >> np.uint64(32)
    return state


@folded
def _same_words(table, same, a, b):
    """Return whether derivations a and b of a DerivationTable have the same words.

    same: int64 by symbol, a number that symbols of equal spelling share.
    """
    start, first = table.derivations[a, _START], table.derivations[b, _START]
    size = table.derivations[a, _STOP] - start
    if table.hashes[a] != table.hashes[b] or size != table.derivations[b, _STOP] - first:
        return False
    for k in range(size):
        if same[table.words[start + k]] != same[table.words[first + k]]:
            return False
    return True


@folded
def _child(table, edges, edge, first_rank, second_rank, symbol):
    """Return the derivation that fills a gap of an edge.

    Arguments:
        table: a DerivationTable.
        edges, edge: int64[edges, 4], and the number of the edge.
        first_rank, second_rank: ranks of the derivations of its items.
        symbol: -1 or -2, which gap.
    """
    return table.ranked[
        table.slots[edges[edge, -symbol]] + (first_rank if symbol == -1 else second_rank)
    ]


@folded
def _count_words(forest, table, candidate):
    """Return how many words a candidate, a row of made.candidates, has in a Hypergraph."""
    rows = table.candidates
    edge = rows[candidate, _EDGE]
    rule = forest.edges[edge, 0]
    n = 0
    for k in range(forest.target_starts[rule], forest.target_starts[rule + 1]):
        symbol = forest.targets[k]
        if symbol >= 0:
            n += 1
        else:
            below = _child(
                table, forest.edges, edge, rows[candidate, _ONE], rows[candidate, _TWO], symbol
            )
            n += table.derivations[below, _STOP] - table.derivations[below, _START]
    return n


@folded
def _append_words(forest, table, edge, first_rank, second_rank):
    """Return where the words of an edge over two derivations stop, appended to made.words.

    Arguments:
        forest, table: Hypergraph and DerivationTable, which has room.
        edge: its number.
        first_rank, second_rank: ranks of the derivations of its items.
    """
    words = table.words
    n = table.sizes[_WORDS]
    rule = forest.edges[edge, 0]
    for k in range(forest.target_starts[rule], forest.target_starts[rule + 1]):
        symbol = forest.targets[k]
        if symbol >= 0:
            words[n] = symbol
            n += 1
            continue
        below = _child(table, forest.edges, edge, first_rank, second_rank, symbol)
        for j in range(table.derivations[below, _START], table.derivations[below, _STOP]):
            words[n] = words[j]
            n += 1
    return n


@folded
def _wait(table, item, edge, first_rank, second_rank):
    """Add a candidate without a score to an item.

    Arguments:
        table: a DerivationTable, which has room.
        item, edge: their numbers.
        first_rank, second_rank: ranks of the derivations of the edge's items.
    """
    row = table.sizes[_CANDIDATES]
    table.candidates[row, _EDGE] = edge
    table.candidates[row, _ONE] = first_rank
    table.candidates[row, _TWO] = second_rank
    table.candidates[row, _BELOW] = NO
    table.candidates[row, _BESIDE] = table.waiting[item]
    table.waiting[item] = row
    table.sizes[_CANDIDATES] += 1


@folded
def _rank(table, item, derivation):
    """Append a derivation to those of an item of a DerivationTable, which has room."""
    n = table.n_found[item]
    if n == table.rooms[item]:
        start = table.sizes[_RANKED]
        for k in range(n):
            table.ranked[start + k] = table.ranked[table.slots[item] + k]
        table.slots[item] = start
        table.rooms[item] = max(2, 2 * n)
        table.sizes[_RANKED] += table.rooms[item]
    table.ranked[table.slots[item] + n] = derivation
    table.n_found[item] = n + 1


@folded
def _add_derivation(forest, table, item, edge, first_rank, second_rank, stop, score):
    """Add a derivation to an item, unless one with the same words is there already.

    Arguments:
        forest, table: Hypergraph and DerivationTable, which has room.
        item: its number.
        edge: its number, -1 for the empty derivation of a sentence's beginning.
        first_rank, second_rank: ranks of the derivations of the edge's items.
        stop: where its words stop in made.words; they begin where those in use end.
        score: float.
    """
    new = table.sizes[_DERIVATIONS]
    row = table.derivations[new]
    row[0], row[1], row[2] = edge, first_rank, second_rank
    row[_START], row[_STOP] = table.sizes[_WORDS], stop
    table.totals[new] = score
    table.hashes[new] = _hash(table.words, row[_START], stop, forest.same)
    for k in range(table.n_found[item]):
        if _same_words(table, forest.same, new, table.ranked[table.slots[item] + k]):
            return
    table.sizes[_WORDS] = stop
    table.sizes[_DERIVATIONS] += 1
    _rank(table, item, new)


@folded
def _missing_child(forest, table, candidate):
    """Return which gap of a candidate, 0 or 1, has no derivation of its rank yet; -1 for none."""
    for gap in range(2):
        child = forest.edges[table.candidates[candidate, _EDGE], 1 + gap]
        if child >= 0 and table.n_found[child] <= table.candidates[candidate, _ONE + gap]:
            is_exhausted = table.waiting[child] < 0 and table.heaps[child] < 0
            if table.n_found[child] < 0 or not is_exhausted:
                return gap
    return NO


@folded
def _score_waiting(forest, table, item):
    """Move the first waiting candidate of an item to its heap; drop one that cannot exist.

    Arguments:
        forest, table: Hypergraph and DerivationTable.
        item: its number.
    """
    row = table.waiting[item]
    table.waiting[item] = table.candidates[row, _BESIDE]
    table.candidates[row, _BESIDE] = NO
    edge = table.candidates[row, _EDGE]
    score = forest.edge_scores[edge]
    for gap in range(2):
        child = forest.edges[edge, 1 + gap]
        if child < 0:
            continue
        rank = table.candidates[row, _ONE + gap]
        if table.n_found[child] <= rank:
            return
        score += table.totals[table.ranked[table.slots[child] + rank]]
    table.scores[row] = score
    table.heaps[item] = _melded(table.candidates, table.scores, table.heaps[item], row)


@folded
def _take_best(forest, table, item):
    """Make a derivation of the best candidate of an item; its successors wait.

    Arguments:
        forest, table: Hypergraph and DerivationTable, which has room.
        item: its number.
    """
    row = table.heaps[item]
    table.heaps[item] = _without_root(table.candidates, table.scores, row)
    edge, first_rank, second_rank = (
        table.candidates[row, 0],
        table.candidates[row, 1],
        table.candidates[row, 2],
    )
    stop = _append_words(forest, table, edge, first_rank, second_rank)
    _add_derivation(forest, table, item, edge, first_rank, second_rank, stop, table.scores[row])
    if forest.edges[edge, 2] >= 0:
        _wait(table, item, edge, first_rank, second_rank + 1)
    if forest.edges[edge, 1] >= 0 and second_rank == 0:  # else a successor of the second's
        _wait(table, item, edge, first_rank + 1, second_rank)


@compiled
def _begin(forest, table, item):
    """Return `table` with the first candidate of every edge of an item, or the empty derivation.

    Arguments:
        forest, table: Hypergraph and DerivationTable.
        item: its number.
    """
    table.n_found[item] = 0
    edge = forest.first_edges[item]
    if not _has_room(table, item, 0):
        table = _enlarged(table, item, 0)
    if edge < 0:
        _add_derivation(forest, table, item, NO, 0, 0, table.sizes[_WORDS], 0.0)
    while edge >= 0:
        if not _has_room(table, item, 0):
            table = _enlarged(table, item, 0)
        _wait(table, item, edge, 0, 0)
        edge = forest.edges[edge, 3]
    return table


@compiled
def _find(forest, table, item, rank):
    """Return `table` with the derivation of a rank of an item, if it has so many.

    The stack is an array of its own: sentences may be long.

    Arguments:
        forest, table: Hypergraph and DerivationTable.
        item, rank: number of the item, and rank from 0.
    """
    stack = np.empty((64, 2), np.int64)
    stack[0, 0] = item
    stack[0, 1] = rank
    depth = 1
    while depth > 0:
        at = stack[depth - 1, 0]
        if table.n_found[at] < 0:
            table = _begin(forest, table, at)
        elif table.n_found[at] > stack[depth - 1, 1]:
            depth -= 1
        elif table.waiting[at] >= 0:
            row = table.waiting[at]
            gap = _missing_child(forest, table, row)
            if gap < 0:
                _score_waiting(forest, table, at)
                continue
            if depth == stack.shape[0]:
                stack = doubled(stack)
            stack[depth, 0] = forest.edges[table.candidates[row, _EDGE], 1 + gap]
            stack[depth, 1] = table.candidates[row, _ONE + gap]
            depth += 1
        elif table.heaps[at] < 0:
            depth -= 1
        else:
            n_words = _count_words(forest, table, table.heaps[at])
            if not _has_room(table, at, n_words):
                table = _enlarged(table, at, n_words)
            _take_best(forest, table, at)
    return table


@folded
def _best_goal(goal, ends):
    """Return the goal of the highest score; of equal ones that of the lowest item.

    Arguments:
        goal: float64[k, 2], items and the score of the sentence's end.
        ends: float64[k], the score of each goal's next derivation.
    """
    best = 0
    for k in range(1, ends.size):
        if ends[k] > ends[best] or (ends[k] == ends[best] and goal[k, 0] < goal[best, 0]):
            best = k
    return best


@folded
def _is_new(table, same, derivation, chosen, n):
    """Return whether a derivation has words, and no other of chosen[:n] has the same.

    Arguments:
        table: a DerivationTable.
        same: int64 by symbol, a number that symbols of equal spelling share.
        derivation, chosen: numbers of derivations.
        n: derivations chosen.
    """
    if table.derivations[derivation, _START] == table.derivations[derivation, _STOP]:
        return False
    for k in range(n):
        if _same_words(table, same, derivation, chosen[k]):
            return False
    return True


@compiled
def _rules_of(forest, table, derivation, nodes, n_nodes):
    """Return (nodes, n_nodes) with the rules of a derivation, from the whole to its parts.

    Arguments:
        forest, table: Hypergraph and DerivationTable.
        derivation: its number.
        nodes: int64[room, 2] of rule and number of its parts; replaced where it is full.
        n_nodes: nodes before.
    """
    stack = np.empty(64, np.int64)
    stack[0] = derivation
    depth = 1
    while depth > 0:
        depth -= 1
        derivation = stack[depth]
        edge = table.derivations[derivation, 0]
        if depth + 2 > stack.size:
            stack = grown(stack, depth, 2 * stack.size)
        parts = 0
        for gap in range(2, 0, -1):  # the right one below the left one
            child = forest.edges[edge, gap]
            if child >= 0:
                below = table.ranked[table.slots[child] + table.derivations[derivation, gap]]
                if table.derivations[below, 0] >= 0:
                    stack[depth] = below
                    depth += 1
                    parts += 1
        if n_nodes == nodes.shape[0]:
            nodes = doubled(nodes)
        nodes[n_nodes, 0] = forest.edges[edge, 0]
        nodes[n_nodes, 1] = parts
        n_nodes += 1
    return nodes, n_nodes


@compiled
def _written(forest, table, chosen):
    """Return (words, starts, nodes, node_starts) of the chosen derivations, end to end.

    Arguments:
        forest, table: Hypergraph and DerivationTable.
        chosen: int64, numbers of derivations.
    """
    rows = table.derivations
    starts = np.zeros(chosen.size + 1, np.int64)
    node_starts = np.zeros(chosen.size + 1, np.int64)
    nodes = np.empty((256, 2), np.int64)
    n_nodes = 0
    for k in range(chosen.size):
        starts[k + 1] = starts[k] + rows[chosen[k], _STOP] - rows[chosen[k], _START]
        nodes, n_nodes = _rules_of(forest, table, chosen[k], nodes, n_nodes)
        node_starts[k + 1] = n_nodes
    words = np.empty(starts[-1], np.int64)
    for k in range(chosen.size):
        for j in range(starts[k + 1] - starts[k]):
            words[starts[k] + j] = table.words[rows[chosen[k], _START] + j]
    return words, starts, nodes[:n_nodes].copy(), node_starts


@compiled
def best_derivations(forest, goal, max_derivations):
    """Return the best derivations of whole sentences, no two with the same words, none empty.

    Arguments:
        forest: a Hypergraph.
        goal: float64[k, 2], last items and what the sentence's end adds to their score.
        max_derivations: maximum number of derivations.

    Returns (words, starts, nodes, node_starts): symbols of all, end to end, and where each
    begins; int64 rows of rule and number of its parts, from the whole to its parts, left to
    right, and where those of each begin.
    """
    table = _nothing_made(forest.first_edges.size)
    ranks = np.zeros(goal.shape[0], np.int64)
    ends = np.empty(goal.shape[0], np.float64)
    chosen = np.empty(64, np.int64)
    n = 0
    begun = 0
    while n < max_derivations and goal.shape[0] > 0:
        taken = begun if begun < ends.size else _best_goal(goal, ends)
        item = np.int64(goal[taken, 0])
        if begun < ends.size:
            begun += 1
        elif ends[taken] == -np.inf:
            break
        else:
            derivation = table.ranked[table.slots[item] + ranks[taken]]
            if _is_new(table, forest.same, derivation, chosen, n):
                if n == chosen.size:
                    chosen = grown(chosen, n, 2 * n)
                chosen[n] = derivation
                n += 1
                if n == max_derivations:
                    break
            ranks[taken] += 1
        table = _find(forest, table, item, ranks[taken])
        ends[taken] = -np.inf
        if table.n_found[item] > ranks[taken]:
            derivation = table.ranked[table.slots[item] + ranks[taken]]
            ends[taken] = table.totals[derivation] + goal[taken, 1]
    return _written(forest, table, chosen[:n].copy())
