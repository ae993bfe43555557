"""Cube pruning (Chiang 2007, Hierarchical phrase-based translation): the best items of a cell."""

from typing import Any, NamedTuple

import numpy as np

from distsim.kernels.arrays import doubled, grown
from distsim.kernels.compiled import compiled, folded
from distsim.paraphrase.kernels.chart import (
    FIRST_EDGE,
    LABEL,
    N_EDGES,
    N_ITEMS,
    NO,
    NO_WORD,
    STATE,
    WORDS,
    enlarged,
    is_full,
)
from distsim.paraphrase.kernels.ngram_model import log_probability

OWN_LABEL = -3  # of Cell.label: each item has the label of its rule
FIRST_RULE, LAST_RULE, FIRST_ONE, LAST_ONE, FIRST_TWO, LAST_TWO, KIND = range(7)  # of a bundle
_BUNDLE, _RULE, _ONE, _TWO, _MADE = range(5)  # columns of a candidate
_N_CANDIDATES, _N_STATES, _N_HEAP, _N_TABLE, _FIRST_ITEM = range(5)  # entries of Cube.sizes
_LEAST_SHARE = 3
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class SentenceRules(NamedTuple):
    """The rules of a sentence by number: the glue (0), those of the grammar, then edits.

    targets: int64, symbols of all target sides, end to end, -1 and -2 for gaps; target_starts:
    int64[rules + 1]. word_ids: int64 by symbol, the language model's word. scores: float64,
    labels: int64, words: int64, the number of words of the target side without its gaps.
    """

    targets: np.ndarray
    target_starts: np.ndarray
    word_ids: np.ndarray
    scores: np.ndarray
    labels: np.ndarray
    words: np.ndarray


class Scoring(NamedTuple):
    """The language model and its weight.

    model: the parts that ngram_model.log_probability takes. order: words of its longest n-grams.
    weight: of its log probabilities. end: id of the word that ends a sentence.
    """

    model: tuple[Any, ...]
    order: int
    weight: float
    end: int


class Cell(NamedTuple):
    """How a cell is filled.

    complete: its items begin the sentence, so that all words have their whole history. label: of
    all its items, or OWN_LABEL. by_words: items of different numbers of words are different.
    pops: combinations that are taken.
    """

    complete: bool
    label: int
    by_words: bool
    pops: int


class Cube(NamedTuple):
    """Work space of cube pruning, used again for each cell.

    candidates: int64[room, 5], bundle, rule, places in the views of both gaps, row of its state
    (-1: not made yet). keys: float64, their estimates; heap: int64, candidates. states:
    int64[room, columns of an item]; state_scores: float64. row: int64, words before the next one.
    table: int64, items of the cell by the hash of their state. sizes: int64[5], candidates,
    states, entries of the heap, entries of the table, and the first item of the cell.
    """

    candidates: np.ndarray
    keys: np.ndarray
    heap: np.ndarray
    states: np.ndarray
    state_scores: np.ndarray
    row: np.ndarray
    table: np.ndarray
    sizes: np.ndarray


@compiled
def empty_cube(order):
    """Return work space for n-grams of `order` words.

    order: the longest n-gram.
    """
    width = STATE + 2 * (order - 1)
    return Cube(
        np.empty((1024, 5), np.int64), np.empty(1024, np.float64), np.empty(1024, np.int64),
        np.empty((1024, width), np.int64), np.empty(1024, np.float64),
        np.empty(4 * order, np.int64), np.empty(1024, np.int64), np.zeros(5, np.int64),
    )  # fmt: skip


@compiled
def _enlarged_cube(cube):
    """Return the work space with twice the room for candidates and states."""
    room = 2 * cube.keys.size
    return Cube(
        doubled(cube.candidates), grown(cube.keys, cube.keys.size, room),
        grown(cube.heap, cube.heap.size, room), doubled(cube.states),
        grown(cube.state_scores, cube.state_scores.size, room), cube.row, cube.table, cube.sizes,
    )  # fmt: skip


@compiled
def _rehashed(cube, items, n_items, by_words):
    """Return the work space with a table of four times the entries.

    Arguments:
        cube: a Cube.
        items, n_items: of the chart.
        by_words: whether items of different numbers of words are different.
    """
    size = 4 * cube.sizes[_N_TABLE]
    table = cube.table if size <= cube.table.size else np.empty(size, np.int64)
    table[:size] = NO
    cube.sizes[_N_TABLE] = size
    for item in range(cube.sizes[_FIRST_ITEM], n_items):
        slot = np.int64(_hash(items, item, by_words) & np.uint64(size - 1))
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = item
    return Cube(
        cube.candidates, cube.keys, cube.heap, cube.states, cube.state_scores, cube.row, table,
        cube.sizes,
    )  # fmt: skip


@folded
def _copied(rows, to, others, at, size):
    """Copy the first `size` numbers of others[at] into rows[to]."""
    for k in range(size):
        rows[to, k] = others[at, k]


@folded
def _begin_row(cube, order, items, item):
    """Return the number of words after putting the last words of an item into the cube's row.

    Arguments:
        cube: a Cube.
        order: words of the longest n-grams.
        items: of the chart.
        item: its row.
    """
    reach = order - 1
    used = min(items[item, WORDS], reach)
    for p in range(used):
        cube.row[p] = items[item, STATE + reach + p]
    return used


@folded
def _room_in_row(cube, used, reach):
    """Return the number of words of the cube's row that remain where it was full.

    Arguments:
        cube: a Cube; the last words of its row move to the front.
        used: words of the row.
        reach: words that remain.
    """
    if used < cube.row.size:
        return used
    for back in range(reach):
        cube.row[back] = cube.row[used - reach + back]
    return reach


@folded
def _compose(scoring, rules, items, rule, first, second, complete, cube):
    """Fill the next row of `states` with the state of a rule over two items.

    Arguments:
        scoring, rules: Scoring and SentenceRules.
        items: of the chart.
        rule: its number.
        first, second: the items that fill its gaps, -1 for none.
        complete: the items begin the sentence, so that all words have their whole history.
        cube: a Cube.

    Returns (weighted log probability of words with their whole history, that of the others with
    what history they have).
    """
    order, row, states, at = scoring.order, cube.row, cube.states, cube.sizes[_N_STATES]
    reach = order - 1
    for k in range(STATE, STATE + 2 * reach):
        states[at, k] = NO_WORD
    used = 0
    n = 0
    score = 0.0
    estimate = 0.0
    for k in range(rules.target_starts[rule], rules.target_starts[rule + 1]):
        symbol = rules.targets[k]
        child = first if symbol == -1 else second
        m = np.int64(1) if symbol >= 0 else items[child, WORDS]
        if complete and k == rules.target_starts[rule]:
            used = _begin_row(cube, order, items, child)
            n = m
            continue
        for p in range(min(m, reach)):
            used = _room_in_row(cube, used, reach)
            row[used] = rules.word_ids[symbol] if symbol >= 0 else items[child, STATE + p]
            used += 1
            value = scoring.weight * log_probability(scoring.model, row, max(0, used - order), used)
            if complete or n >= reach:
                score += value
            else:
                estimate += value
                states[at, STATE + n] = row[used - 1]
            n += 1
        if m > reach:
            used = _begin_row(cube, order, items, child)
            n += m - reach
    n_before = min(n, min(reach, used))  # noqa: PLW3301
    for p in range(n_before):
        states[at, STATE + reach + p] = row[used - n_before + p]
    states[at, WORDS] = n
    return score, estimate


@folded
def _above(keys, a, b):
    """Return whether candidate a precedes b: the higher estimate in keys, then the older one."""
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)


@folded
def _push(cube, candidate):
    """Add a candidate, by its number, to the heap of a Cube."""
    heap, keys, at = cube.heap, cube.keys, cube.sizes[_N_HEAP]
    heap[at] = candidate
    cube.sizes[_N_HEAP] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if not _above(keys, heap[at], heap[parent]):
            break
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


@folded
def _pop(cube):
    """Take the best candidate from the heap and return it."""
    heap, keys = cube.heap, cube.keys
    cube.sizes[_N_HEAP] -= 1
    n = cube.sizes[_N_HEAP]
    best = heap[0]
    heap[0] = heap[n]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and _above(keys, heap[child + 1], heap[child]):
            child += 1
        if not _above(keys, heap[child], heap[at]):
            break
        heap[at], heap[child] = heap[child], heap[at]
        at = child
    return best


@folded
def _hash(rows, at, by_words):
    """Return the hash of the state in a row, uint64.

    Arguments:
        rows: int64, items or states.
        at: the row.
        by_words: whether the number of words belongs to the state.
    """
    key = np.uint64(rows[at, LABEL] + 7)
    if by_words:
        key = (key ^ np.uint64(rows[at, WORDS] << 20)) * _MULTIPLIER
    for k in range(STATE, rows.shape[1]):
        key = (key ^ np.uint64(rows[at, k] + 5)) * _MULTIPLIER
        key = key ^ (key >> np.uint64(32))
    return key


@folded
def _same_state(items, item, states, state, by_words):
    """Return whether items[item] has the state states[state].

    by_words: whether the number of words belongs to the state.
    """
    if items[item, LABEL] != states[state, LABEL]:
        return False
    if by_words and items[item, WORDS] != states[state, WORDS]:
        return False
    for k in range(STATE, states.shape[1]):
        if items[item, k] != states[state, k]:
            return False
    return True


@folded
def _item_of(chart, cube, taken, by_words):
    """Return the item with a candidate's state, a new one where the cell has none.

    Arguments:
        chart: a Chart, which has room.
        cube: a Cube.
        taken: number of the candidate.
        by_words: whether items of different numbers of words are different.
    """
    table, state = cube.table, cube.candidates[taken, _MADE]
    mask = cube.sizes[_N_TABLE] - 1
    score = cube.state_scores[state]
    slot = np.int64(_hash(cube.states, state, by_words) & np.uint64(mask))
    while table[slot] >= 0:
        item = table[slot]
        if _same_state(chart.items, item, cube.states, state, by_words):
            if score > chart.scores[item, 0]:
                chart.scores[item, 1] += score - chart.scores[item, 0]
                chart.scores[item, 0] = score
            return item
        slot = (slot + 1) & mask
    item = chart.sizes[N_ITEMS]
    chart.sizes[N_ITEMS] += 1
    _copied(chart.items, item, cube.states, state, cube.states.shape[1])
    chart.items[item, FIRST_EDGE] = NO
    chart.scores[item, 0] = score
    chart.scores[item, 1] = cube.keys[taken]
    table[slot] = item
    return item


@folded
def _add_edge(chart, cube, taken, item):
    """Add the edge of candidate `taken` to an item of a chart, which has room."""
    edge = chart.sizes[N_EDGES]
    chart.sizes[N_EDGES] += 1
    score = cube.state_scores[cube.candidates[taken, _MADE]]
    chart.edges[edge, 0] = cube.candidates[taken, _RULE]
    for gap in range(2):
        place = cube.candidates[taken, _ONE + gap]
        child = np.int64(NO)
        if place >= 0:
            child = chart.views[place]
            score -= chart.scores[child, 0]
        chart.edges[edge, 1 + gap] = child
    chart.edges[edge, 3] = chart.items[item, FIRST_EDGE]
    chart.edge_scores[edge] = score
    chart.items[item, FIRST_EDGE] = edge


@folded
def _score_candidate(scoring, rules, chart, cell, cube, at):
    """Make the state of a candidate and put it into the heap by its score.

    Arguments:
        scoring, rules, chart, cell, cube: Scoring, SentenceRules, Chart, Cell and Cube.
        at: number of the candidate.
    """
    rule = cube.candidates[at, _RULE]
    first_rank, second_rank = cube.candidates[at, _ONE], cube.candidates[at, _TWO]
    first = chart.views[first_rank] if first_rank >= 0 else np.int64(NO)
    second = chart.views[second_rank] if second_rank >= 0 else np.int64(NO)
    score, estimate = _compose(
        scoring, rules, chart.items, rule, first, second, cell.complete, cube
    )
    score += rules.scores[rule]
    for child in (first, second):
        if child >= 0:
            score += chart.scores[child, 0]
    state = cube.sizes[_N_STATES]
    cube.states[state, LABEL] = rules.labels[rule] if cell.label == OWN_LABEL else cell.label
    cube.states[state, FIRST_EDGE] = NO
    cube.state_scores[state] = score
    cube.candidates[at, _MADE] = state
    cube.sizes[_N_STATES] += 1
    cube.keys[at] = score + estimate
    _push(cube, at)


@folded
def _guess_candidate(rule_scores, chart, cube, at):
    """Put a candidate into the heap by the scores of its parts, without its state.

    Arguments:
        rule_scores: float64, by rule.
        chart, cube: Chart and Cube.
        at: number of the candidate.
    """
    score = 0.0
    estimate = 0.0
    score += rule_scores[cube.candidates[at, _RULE]]
    for gap in range(2):
        place = cube.candidates[at, _ONE + gap]
        if place >= 0:
            child = chart.views[place]
            score += chart.scores[child, 0]
            estimate += chart.scores[child, 1] - chart.scores[child, 0]
    cube.keys[at] = score + estimate
    _push(cube, at)


@folded
def _add_candidate(cube, bundle, rule, first, second):
    """Add a candidate that is not in the heap yet.

    Arguments:
        cube: a Cube, which has room.
        bundle, rule: their numbers.
        first, second: places in the views of both gaps, -1 for none.
    """
    row = cube.candidates[cube.sizes[_N_CANDIDATES]]
    cube.sizes[_N_CANDIDATES] += 1
    row[_BUNDLE], row[_RULE], row[_ONE], row[_TWO], row[_MADE] = bundle, rule, first, second, NO


@folded
def _add_corners(cube, bundles, n_bundles):
    """Add the first combination of each of n_bundles bundles to a Cube, which has room."""
    for b in range(n_bundles):
        bundle = bundles[b]
        if (
            bundle[FIRST_RULE] < bundle[LAST_RULE]
            and (bundle[FIRST_ONE] < 0 or bundle[FIRST_ONE] < bundle[LAST_ONE])
            and (bundle[FIRST_TWO] < 0 or bundle[FIRST_TWO] < bundle[LAST_TWO])
        ):
            _add_candidate(cube, b, bundle[FIRST_RULE], bundle[FIRST_ONE], bundle[FIRST_TWO])


@folded
def _add_successors(cube, bundles, taken):
    """Add the combinations that are worse than candidate `taken` in one part alone.

    Arguments:
        cube: a Cube, which has room.
        bundles: int64[n, 7], rules and the views of both gaps.
        taken: number of a candidate.
    """
    row = cube.candidates[taken]
    bundle, rule, first, second = row[_BUNDLE], row[_RULE], row[_ONE], row[_TWO]
    limits = bundles[bundle]
    two_is_first = second < 0 or second == limits[FIRST_TWO]
    is_first_one = first < 0 or first == limits[FIRST_ONE]
    if is_first_one and two_is_first and rule + 1 < limits[LAST_RULE]:
        _add_candidate(cube, bundle, rule + 1, first, second)
    if first >= 0 and two_is_first and first + 1 < limits[LAST_ONE]:
        _add_candidate(cube, bundle, rule, first + 1, second)
    if second >= 0 and second + 1 < limits[LAST_TWO]:
        _add_candidate(cube, bundle, rule, first, second + 1)


@compiled
def _shares(bundles, n_bundles, pops):
    """Return (how many combinations of each kind may be taken int64, the number of kinds).

    All have the same share, _LEAST_SHARE or more.

    Arguments:
        bundles, n_bundles: int64[n, 7], and their number.
        pops: combinations of all kinds.
    """
    largest_kind = np.int64(0)
    for b in range(n_bundles):
        largest_kind = max(largest_kind, bundles[b, KIND])
    left = np.zeros(largest_kind + 1, np.int64)
    n_kinds = 0
    for b in range(n_bundles):
        if left[bundles[b, KIND]] == 0:
            left[bundles[b, KIND]] = 1
            n_kinds += 1
    share = pops
    if n_kinds > 1:
        share = max(min(pops, _LEAST_SHARE), pops // n_kinds)
    for kind in range(largest_kind + 1):
        left[kind] *= share
    return left, n_kinds


@compiled
def _emptied(cube, n_items, n_bundles):
    """Return the work space, empty, with room for a candidate of every bundle.

    Arguments:
        cube: a Cube.
        n_items: items of the chart so far.
        n_bundles: number of bundles.
    """
    cube.sizes[:] = 0
    cube.sizes[_N_TABLE] = 64
    cube.sizes[_FIRST_ITEM] = n_items
    for slot in range(64):
        cube.table[slot] = NO
    while n_bundles > cube.keys.size:
        cube = _enlarged_cube(cube)
    return cube


@compiled
def fill(scoring, rules, chart, cell, cube, bundles, n_bundles):
    """Return (chart, cube) after adding the items of a cell to the chart by cube pruning.

    The best `cell.pops` combinations are taken. Each kind of bundles has a fixed share of them.
    Combinations of equal state become one item with several edges. Where numbers of words matter,
    a state is computed when its combination is first taken; the combination then returns to the
    heap.

    Arguments:
        scoring, rules, chart, cell, cube: the named tuples of these names.
        bundles: int64[room, 7], first and last rule, first and last place in the views of both gaps
            (-1 for no gap), and their kind, from 0.
        n_bundles: number of bundles that are filled.
    """
    left, n_open = _shares(bundles, n_bundles, cell.pops)
    cube = _emptied(cube, chart.sizes[N_ITEMS], n_bundles)
    _add_corners(cube, bundles, n_bundles)
    at = 0
    while True:
        while at < cube.sizes[_N_CANDIDATES]:
            if cell.by_words:
                _guess_candidate(rules.scores, chart, cube, at)
            else:
                _score_candidate(scoring, rules, chart, cell, cube, at)
            at += 1
        if cube.sizes[_N_HEAP] == 0 or n_open == 0:
            break
        taken = _pop(cube)
        kind = bundles[cube.candidates[taken, _BUNDLE], KIND]
        if left[kind] == 0:
            continue
        if cube.candidates[taken, _MADE] < 0:
            _score_candidate(scoring, rules, chart, cell, cube, taken)
            continue
        if is_full(chart):
            chart = enlarged(chart, 0)
        _add_edge(chart, cube, taken, _item_of(chart, cube, taken, cell.by_words))
        n_items = chart.sizes[N_ITEMS]
        if 2 * (n_items - cube.sizes[_FIRST_ITEM]) > cube.sizes[_N_TABLE]:
            cube = _rehashed(cube, chart.items, n_items, cell.by_words)
        left[kind] -= 1
        if left[kind] == 0:
            n_open -= 1
            continue
        if at + 3 > cube.keys.size:
            cube = _enlarged_cube(cube)
        _add_successors(cube, bundles, taken)
    return chart, cube
