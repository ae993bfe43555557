"""The chart of a sentence: items of spans, edges that make them, and sorted views of the items.

A cell is a span of the sentence by its start and length, or a beginning of the sentence. A view
lists the items of a cell that a gap may take, best first.
"""

from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import doubled, grown
from distsim.kernels.compiled import compiled, folded

NO = -1
GLUE_LABEL = -1  # label of items made by the glue rule
START_LABEL = -2  # label of items that begin the sentence
LABEL, WORDS, FIRST_EDGE, STATE = range(4)  # columns of an item; from STATE on its edge words
N_ITEMS, N_EDGES, N_VIEWS, N_ROWS = range(4)  # entries of Chart.sizes
EVERY, PLAIN = -5, -6  # views of all items of a cell, and of those not made by glue
NO_WORD = -3


class Chart(NamedTuple):
    """A packed forest that grows, and the views of its cells.

    items: int64[room, 3 + 2 * (order - 1)], label, number of words, first edge, the first
    `order` - 1 words and the last ones (NO_WORD for none). scores: float64[room, 2], score, and
    score with the estimated cost of the first words. edges: int64[room, 4], rule, two items, next
    edge of the item. edge_scores: float64[room]. views: int64[room], items. rows: int64[room, 5],
    which view, number of words (0 where it does not matter), first and stop in `views`, and the
    last row of the view; row 0 is that of a gap that a rule does not have. cells: int64[tokens,
    longest + 1, 2], the rows of a span. prefixes: int64[tokens + 1, 2], those of a beginning.
    sizes: int64[4], entries in use of items, edges, views and rows.
    """

    items: np.ndarray
    scores: np.ndarray
    edges: np.ndarray
    edge_scores: np.ndarray
    views: np.ndarray
    rows: np.ndarray
    cells: np.ndarray
    prefixes: np.ndarray
    sizes: np.ndarray


@compiled
def empty_chart(n_tokens, longest, reach):
    """Return a chart without items.

    Arguments:
        n_tokens: tokens of the sentence.
        longest: maximum length of a span, in tokens.
        reach: words at either edge that an item keeps.
    """
    rows = np.full((1024, 5), NO, np.int64)
    rows[0, 1] = 0
    sizes = np.zeros(4, np.int64)
    sizes[N_ROWS] = 1
    return Chart(
        np.empty((4096, STATE + 2 * reach), np.int64), np.empty((4096, 2), np.float64),
        np.empty((8192, 4), np.int64), np.empty(8192, np.float64), np.empty(16384, np.int64),
        rows, np.zeros((n_tokens, longest + 1, 2), np.int64),
        np.zeros((n_tokens + 1, 2), np.int64), sizes,
    )  # fmt: skip


@folded
def is_full(chart):
    """Return whether no item, or no edge, can be added.

    chart: a Chart.
    """
    sizes = chart.sizes
    return sizes[N_ITEMS] == chart.items.shape[0] or sizes[N_EDGES] == chart.edges.shape[0]


@compiled
def enlarged(chart, n_views):
    """Return a chart with room for an item, an edge, and n_views entries and rows of views.

    Arguments:
        chart: a Chart, returned unchanged where it has room.
        n_views: number of entries and rows of views.
    """
    items, scores, edges, edge_scores = chart.items, chart.scores, chart.edges, chart.edge_scores
    views, rows, sizes = chart.views, chart.rows, chart.sizes
    if sizes[N_ITEMS] == items.shape[0]:
        items, scores = doubled(items), doubled(scores)
    if sizes[N_EDGES] == edges.shape[0]:
        edges = doubled(edges)
        edge_scores = grown(edge_scores, edge_scores.size, 2 * edge_scores.size)
    while sizes[N_VIEWS] + n_views > views.size:
        views = grown(views, views.size, 2 * views.size)
    while sizes[N_ROWS] + n_views > rows.shape[0]:
        rows = doubled(rows)
    return Chart(items, scores, edges, edge_scores, views, rows, chart.cells, chart.prefixes, sizes)


@folded
def rows_of(chart, span, which):
    """Return the first row and the last of a view of a cell; both 0 for none.

    Arguments:
        chart: a Chart.
        span: (first row, last row) of the cell.
        which: a label, EVERY or PLAIN.
    """
    row = span[0]
    while row < span[1]:
        if chart.rows[row, 0] == which:
            return row, chart.rows[row, 4]
        row = chart.rows[row, 4]
    return np.int64(0), np.int64(0)


@folded
def _add_view(chart, ordered, which, by_words):
    """Append a view of items to the chart, which has room, a row for each number of words.

    Arguments:
        chart: a Chart.
        ordered: int64, items, best first.
        which: a label, EVERY or PLAIN: the items of the view.
        by_words: whether numbers of words matter; else there is one row.
    """
    rows, views, sizes = chart.rows, chart.views, chart.sizes
    begin = sizes[N_ROWS]
    n_rows = begin
    for k in range(ordered.size):
        item = ordered[k]
        label = chart.items[item, LABEL]
        if (which == PLAIN and label == GLUE_LABEL) or (which >= 0 and label != which):
            continue
        words = chart.items[item, WORDS] if by_words else np.int64(0)
        if n_rows == begin or rows[n_rows - 1, 1] != words:
            rows[n_rows, 0] = which
            rows[n_rows, 1] = words
            rows[n_rows, 2] = sizes[N_VIEWS]
            n_rows += 1
        views[sizes[N_VIEWS]] = item
        sizes[N_VIEWS] += 1
        rows[n_rows - 1, 3] = sizes[N_VIEWS]
    for row in range(begin, n_rows):
        rows[row, 4] = n_rows
    sizes[N_ROWS] = n_rows


@compiled
def _ordered(chart, first_item, by_words):
    """Return the items from first_item on, int64, best first.

    Arguments:
        chart: a Chart.
        first_item: the first item of the cell.
        by_words: return them in groups by number of words.
    """
    stop = chart.sizes[N_ITEMS]
    order = np.argsort(-chart.scores[first_item:stop, 1], kind="mergesort") + first_item
    if by_words:
        words = np.empty(order.size, np.int64)
        for k in range(order.size):
            words[k] = chart.items[order[k], WORDS]
        order = order[np.argsort(words, kind="mergesort")]
    return order


@compiled
def close_cell(chart, i, length, first_item, any_label, by_words):
    """Return the chart with the views of a span's items: all, those not glued, each label's.

    Arguments:
        chart: a Chart.
        i, length: the span's first token and its tokens.
        first_item: the first item of the span.
        any_label: a label that all items have, -1 for none.
        by_words: whether numbers of words matter.
    """
    order = _ordered(chart, first_item, by_words)
    chart = enlarged(chart, 3 * order.size)
    begin = chart.sizes[N_ROWS]
    _add_view(chart, order, np.int64(EVERY), by_words)
    _add_view(chart, order, np.int64(PLAIN), by_words)
    for k in range(order.size):
        label = chart.items[order[k], LABEL]
        if label != GLUE_LABEL and label != any_label:
            if rows_of(chart, (begin, chart.sizes[N_ROWS]), label)[1] == 0:
                _add_view(chart, order, label, by_words)
    chart.cells[i, length, 0] = begin
    chart.cells[i, length, 1] = chart.sizes[N_ROWS]
    return chart


@compiled
def close_prefix(chart, j, first_item, by_words):
    """Return the chart after adding the view of the items of the first j tokens.

    Arguments:
        chart: a Chart.
        j: number of tokens.
        first_item: the first of these items.
        by_words: whether items are grouped by their number of words.
    """
    order = _ordered(chart, first_item, by_words)
    chart = enlarged(chart, order.size)
    chart.prefixes[j, 0] = chart.sizes[N_ROWS]
    _add_view(chart, order, np.int64(EVERY), by_words)
    chart.prefixes[j, 1] = chart.sizes[N_ROWS]
    return chart


@compiled
def begin_sentence(chart, reach, by_words):
    """Return the chart with the item of the sentence's beginning.

    The last word of the item is the boundary, 0.

    Arguments:
        chart: a Chart.
        reach: words at either edge that an item keeps.
        by_words: whether numbers of words matter.
    """
    chart = enlarged(chart, 1)
    item = chart.sizes[N_ITEMS]
    chart.items[item] = NO_WORD
    chart.items[item, LABEL] = START_LABEL
    chart.items[item, WORDS] = 1
    chart.items[item, FIRST_EDGE] = NO
    chart.items[item, STATE + reach] = 0
    chart.scores[item] = 0.0
    chart.sizes[N_ITEMS] += 1
    return close_prefix(chart, 0, item, by_words)
