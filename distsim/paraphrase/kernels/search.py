"""The packed forest of a sentence, built bottom-up by cube pruning (Chiang 2007)."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import doubled
from distsim.kernels.compiled import compiled, folded
from distsim.paraphrase.kernels.chart import (
    EVERY,
    GLUE_LABEL,
    N_EDGES,
    N_ITEMS,
    NO,
    PLAIN,
    START_LABEL,
    STATE,
    WORDS,
    begin_sentence,
    close_cell,
    close_prefix,
    empty_chart,
    rows_of,
)
from distsim.paraphrase.kernels.cube_pruning import KIND, OWN_LABEL, Cell, empty_cube, fill
from distsim.paraphrase.kernels.ngram_model import log_probability

GLUE_RULE = 0


class SentenceMatches(NamedTuple):
    """Where rules and edits apply in a sentence, in order of length and start.

    rows: int64[n, 7], start, length, source side, start and length of both gaps (-1 for none).
    gap_labels: int64[n, 2], -1 for none. groups: int64[n], the group of rules of each.
    group_parts: int64[groups + 1] into part_starts, the first rule of each part of a group; rules
    of a part are best first and, where a number of words is wanted, of as many words each.
    jumps: int64[m, 3], stop, start and rule of edits longer than the longest span, by stop: a
    beginning of the sentence up to the start, with the rule, is one up to the stop.
    """

    rows: np.ndarray
    gap_labels: np.ndarray
    groups: np.ndarray
    group_parts: np.ndarray
    part_starts: np.ndarray
    jumps: np.ndarray


class Spans(NamedTuple):
    """The spans of a sentence, and the labels that their items have.

    n: tokens. longest: tokens of the longest span. licences: bool[n, longest + 1, labels], labels
    that every item of a span has besides its own. any_label: the label that all items have (X), -1
    for none.
    """

    n: int
    longest: int
    licences: np.ndarray
    any_label: int


class SearchLimits(NamedTuple):
    """Limits of the search for rewritings of a sentence.

    pops: maximum number of combinations taken for a span.
    last_pops: maximum number of combinations taken for a beginning of the sentence.
    wanted: number of words of the rewritings, -1 for any; where there is none of this length, the
        nearest lower length, else the lowest.
    window: beginnings are kept whose number of words differs by at most this from the middle one.
    """

    pops: int
    last_pops: int
    wanted: int
    window: int


@compiled
def _add_bundles(bundles, n, chart, first_views, second_views, first_rule, last_rule, words):
    """Return (bundles, n) with rules over every pair of rows of the views of their gaps.

    Arguments:
        bundles, n: int64[room, 7], and rows in use.
        chart: a Chart.
        first_views, second_views: first row and last of either view.
        first_rule, last_rule: half-open range of rules.
        words: the rules' own number of words.
    """
    rows = chart.rows
    for a in range(first_views[0], first_views[1]):
        for b in range(second_views[0], second_views[1]):
            if n == bundles.shape[0]:
                bundles = doubled(bundles)
            bundles[n, 0] = first_rule
            bundles[n, 1] = last_rule
            bundles[n, 2] = rows[a, 2]
            bundles[n, 3] = rows[a, 3]
            bundles[n, 4] = rows[b, 2]
            bundles[n, 5] = rows[b, 3]
            bundles[n, KIND] = words + rows[a, 1] + rows[b, 1]
            n += 1
    return bundles, n


@folded
def _view_of_gap(chart, spans, matches, match, gap):
    """Return the first row and the last of the view that fills a gap of a match.

    Arguments:
        chart, spans, matches: Chart, Spans and SentenceMatches.
        match: the match.
        gap: 0 or 1.
    """
    begin = matches.rows[match, 3 + 2 * gap]
    if begin < 0:
        return np.int64(0), np.int64(1)
    size = matches.rows[match, 4 + 2 * gap]
    label = matches.gap_labels[match, gap]
    if label == spans.any_label or spans.licences[begin, size, label]:
        label = np.int64(EVERY)
    cell = chart.cells[begin, size]
    return rows_of(chart, (cell[0], cell[1]), label)


@compiled
def _bundle_rules(bundles, chart, spans, matches, rules, first, last, over_itself, by_words):
    """Return (bundles, n) of the rules of matches[first:last], all of one span.

    Arguments:
        bundles: int64[room, 7], filled; replaced by a larger array where it is full.
        chart: a Chart with the shorter spans.
        spans, matches, rules: Spans, SentenceMatches and SentenceRules.
        first, last: half-open range of matches.
        over_itself: take only rules whose gap is the whole span, else only the other rules.
        by_words: whether rules are grouped by their number of words.
    """
    n = np.int64(0)
    for m in range(first, last):
        row = matches.rows[m]
        if (row[3] == row[0] and row[4] == row[1]) != over_itself:
            continue
        first_views = _view_of_gap(chart, spans, matches, m, 0)
        second_views = _view_of_gap(chart, spans, matches, m, 1)
        group = matches.groups[m]
        for part in range(matches.group_parts[group], matches.group_parts[group + 1]):
            start, stop = matches.part_starts[part], matches.part_starts[part + 1]
            words = rules.words[start] if by_words else np.int64(0)
            bundles, n = _add_bundles(
                bundles, n, chart, first_views, second_views, start, stop, words
            )
    return bundles, n


@compiled
def _bundle_glue(bundles, chart, i, length):
    """Return (bundles, n) of the glue rule over each pair of parts of a span.

    Arguments:
        bundles: int64[room, 7], filled; replaced where it is full.
        chart: a Chart with the shorter spans.
        i, length: the span's first token and its tokens.
    """
    n = np.int64(0)
    for middle in range(1, length):
        left, right = chart.cells[i, middle], chart.cells[i + middle, length - middle]
        bundles, n = _add_bundles(
            bundles, n, chart,
            rows_of(chart, (left[0], left[1]), np.int64(EVERY)),
            rows_of(chart, (right[0], right[1]), np.int64(PLAIN)),
            np.int64(GLUE_RULE), np.int64(GLUE_RULE + 1), np.int64(0),
        )  # fmt: skip
    return bundles, n


@compiled
def _bundle_prefix(bundles, chart, spans, jumps, j):
    """Return (bundles, n) for the prefix of j tokens, from shorter prefixes.

    Arguments:
        bundles: int64[room, 7], filled; replaced where it is full.
        chart, spans: Chart and Spans.
        jumps: int64[m, 3], stop, start and rule of edits longer than the longest span.
        j: tokens.
    """
    n = np.int64(0)
    for middle in range(max(0, j - spans.longest), j):
        prefix, cell = chart.prefixes[middle], chart.cells[middle, j - middle]
        bundles, n = _add_bundles(
            bundles, n, chart, (prefix[0], prefix[1]),
            rows_of(chart, (cell[0], cell[1]), np.int64(PLAIN)),
            np.int64(GLUE_RULE), np.int64(GLUE_RULE + 1), np.int64(0),
        )  # fmt: skip
    for k in range(jumps.shape[0]):
        if jumps[k, 0] == j:
            prefix = chart.prefixes[jumps[k, 1]]
            bundles, n = _add_bundles(
                bundles, n, chart, (prefix[0], prefix[1]), (np.int64(0), np.int64(1)),
                jumps[k, 2], jumps[k, 2] + 1, np.int64(0),
            )  # fmt: skip
    return bundles, n


@compiled
def _possible_lengths(chart, spans, jumps):
    """Return how many words can be made of the tokens from each one on, bool[n + 1, words].

    Arguments:
        chart, spans: Chart and Spans.
        jumps: int64[m, 3], stop, start and rule of edits longer than the longest span.
    """
    n = spans.n
    most_words = np.zeros(n + 1, np.int64)
    can = np.zeros((1, 1), np.bool_)
    for turn in range(2):
        if turn == 1:
            can = np.zeros((n + 1, most_words.max() + 1), np.bool_)
            can[n, 0] = True
        for j in range(n - 1, -1, -1):
            for size in range(1, min(spans.longest, n - j) + 1):
                cell = chart.cells[j, size]
                low, high = rows_of(chart, (cell[0], cell[1]), np.int64(PLAIN))
                for row in range(low, high):
                    words = chart.rows[row, 1]
                    most_words[j] = max(
                        most_words[j], _set_lengths(can, j, j + size, words, most_words)
                    )
            for k in range(jumps.shape[0]):
                if jumps[k, 1] == j:
                    most_words[j] = max(
                        most_words[j], _set_lengths(can, j, jumps[k, 0], np.int64(0), most_words)
                    )
    return can


@folded
def _set_lengths(can, j, following, words, most_words):
    """Return the largest number of words that is possible from token j on, and mark all in `can`.

    Arguments:
        can: bool[n + 1, words], or of one row: then nothing is marked.
        j, following: token, and where the rest begins.
        words: made before the rest.
        most_words: int64[n + 1], the largest number from each token on.
    """
    if can.shape[0] > 1:
        for rest in range(most_words[following] + 1):
            if can[following, rest]:
                can[j, words + rest] = True
    return words + most_words[following]


@compiled
def _drop_useless(bundles, n, can, words, window):
    """Return the number of bundles kept: those of beginnings that can end in the number of words.

    Arguments:
        bundles, n: int64[room, 7], and rows in use; changed.
        can: bool by number of words, whether the rest can have it.
        words: wanted for the sentence.
        window: beginnings are kept whose number of words differs by at most this from the middle.
    """
    lowest = np.int64(1 << 40)
    highest = np.int64(-1)
    for b in range(n):
        rest = words + 1 - bundles[b, KIND]  # the mark of the beginning counts as one
        if 0 <= rest < can.size and can[rest]:
            lowest = min(lowest, bundles[b, KIND])
            highest = max(highest, bundles[b, KIND])
    middle = (lowest + highest) // 2
    kept = np.int64(0)
    for b in range(n):
        rest = words + 1 - bundles[b, KIND]
        if 0 <= rest < can.size and can[rest] and abs(bundles[b, KIND] - middle) <= window:
            for k in range(KIND + 1):
                bundles[kept, k] = bundles[b, k]
            kept += 1
    return kept


@compiled
def _nearest(can, wanted):
    """Return the most words up to `wanted` that are possible, or else the fewest; -1 for none.

    can: bool by number of words.
    """
    for words in range(min(wanted, can.size - 1), 0, -1):
        if can[words]:
            return np.int64(words)
    for words in range(wanted + 1, can.size):
        if can[words]:
            return np.int64(words)
    return np.int64(NO)


@compiled
def _goal(scoring, chart, n):
    """Return the items of the whole sentence and the score of its end, float64[items, 2].

    Arguments:
        scoring, chart: Scoring and Chart.
        n: tokens.
    """
    reach = scoring.order - 1
    first, last = chart.prefixes[n, 0], chart.prefixes[n, 1]
    n_goal = 0
    for at in range(first, last):
        n_goal += chart.rows[at, 3] - chart.rows[at, 2]
    goal = np.empty((n_goal, 2), np.float64)
    row = np.empty(scoring.order, np.int64)
    n_goal = 0
    for at in range(first, last):
        for k in range(chart.rows[at, 2], chart.rows[at, 3]):
            item = chart.views[k]
            n_words = min(chart.items[item, WORDS], reach)
            for back in range(n_words):
                row[back] = chart.items[item, STATE + reach + back]
            row[n_words] = scoring.end
            goal[n_goal, 0] = item
            goal[n_goal, 1] = scoring.weight * log_probability(
                scoring.model, row, np.int64(0), n_words + 1
            )
            n_goal += 1
    return goal


@compiled
def _fill_spans(spans, matches, rules, scoring, limits, chart, cube, bundles):
    """Return (chart, cube, bundles) with the cells of all spans, shorter ones first.

    Of each span first its rules, then the glue, then rules whose gap is the whole span.

    Arguments:
        spans, matches: Spans and SentenceMatches.
        rules, scoring, limits: SentenceRules, Scoring and SearchLimits.
        chart, cube: Chart and Cube.
        bundles: int64[room, 7], work space.
    """
    by_words = limits.wanted >= 0
    of_rules = Cell(False, OWN_LABEL, by_words, limits.pops)
    of_glue = Cell(False, GLUE_LABEL, by_words, limits.pops)
    stop = 0
    for length in range(1, spans.longest + 1):
        for i in range(spans.n - length + 1):
            start = stop
            rows = matches.rows
            while stop < rows.shape[0] and rows[stop, 0] == i and rows[stop, 1] == length:
                stop += 1
            first_item = chart.sizes[N_ITEMS]
            bundles, n = _bundle_rules(
                bundles, chart, spans, matches, rules, start, stop, False, by_words
            )
            chart, cube = fill(scoring, rules, chart, of_rules, cube, bundles, n)
            bundles, n = _bundle_glue(bundles, chart, i, length)
            chart, cube = fill(scoring, rules, chart, of_glue, cube, bundles, n)
            chart = close_cell(chart, i, length, first_item, spans.any_label, by_words)
            bundles, n = _bundle_rules(
                bundles, chart, spans, matches, rules, start, stop, True, by_words
            )
            if n > 0:
                chart, cube = fill(scoring, rules, chart, of_rules, cube, bundles, n)
                chart = close_cell(chart, i, length, first_item, spans.any_label, by_words)
    return chart, cube, bundles


@compiled
def search(spans, matches, rules, scoring, limits):
    """Return the packed forest of a sentence: the fields of forest.Forest.

    Items of beginnings of the sentence join a beginning and a span. Where a number of words is
    wanted, items of different numbers of words are different, each number has its share of the
    combinations, and only beginnings that can end in that number are made.

    Arguments:
        spans, matches: Spans and SentenceMatches.
        rules: cube_pruning.SentenceRules; rule GLUE_RULE puts two neighbours side by side.
        scoring: cube_pruning.Scoring.
        limits: SearchLimits.
    """
    by_words = limits.wanted >= 0
    reach = scoring.order - 1
    chart, cube = empty_chart(spans.n, spans.longest, reach), empty_cube(scoring.order)
    bundles = np.empty((256, KIND + 1), np.int64)
    chart, cube, bundles = _fill_spans(spans, matches, rules, scoring, limits, chart, cube, bundles)
    can = np.zeros((1, 1), np.bool_)
    words = np.int64(NO)
    if by_words:
        can = _possible_lengths(chart, spans, matches.jumps)
        words = _nearest(can[0], limits.wanted)
    if not by_words or words >= 0:
        chart = begin_sentence(chart, reach, by_words)
        cell = Cell(True, START_LABEL, by_words, limits.last_pops)
        for j in range(1, spans.n + 1):
            bundles, n = _bundle_prefix(bundles, chart, spans, matches.jumps, j)
            if by_words:
                n = _drop_useless(bundles, n, can[j], words, limits.window)
            first_item = chart.sizes[N_ITEMS]
            chart, cube = fill(scoring, rules, chart, cell, cube, bundles, n)
            chart = close_prefix(chart, j, first_item, by_words)
    n_items, n_edges = chart.sizes[N_ITEMS], chart.sizes[N_EDGES]
    return (
        chart.items[:n_items].copy(), chart.scores[:n_items].copy(), chart.edges[:n_edges].copy(),
        chart.edge_scores[:n_edges].copy(), _goal(scoring, chart, spans.n), words,
    )  # fmt: skip
