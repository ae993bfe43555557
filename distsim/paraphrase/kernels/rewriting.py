"""A sentence's tokens and a trie of rules -> where rules match; matches -> a packed forest.

A cell is a span of the sentence by its start and its length. Rules' targets are symbols: words
from 0 on, -1 and -2 for what stands in the first and the second gap of the source.
"""

import numpy as np

from distsim.kernels.arrays import doubled, grown
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import first_not_below
from distsim.paraphrase.kernels.ngram_model import log_probability

NO = -1
GLUE_LABEL = -1  # of what was put together of neighbours; -2: of a sentence's beginning
START_LABEL = -2
GLUE_RULE = 0
_STATE = 3  # where the words of an item's row begin
_LEAST_SHARE = 3
_EVERY, _PLAIN = -5, -6  # rows of all items of a cell, of those that are no glue


@uncounted
def _child(children, symbols, node, symbol):
    """Return the child of a trie's node by a symbol, -1 where there is none."""
    low = first_not_below(symbols, symbol, np.int64(children[node]), np.int64(children[node + 1]))
    if low < children[node + 1] and symbols[low] == symbol:
        return low
    return np.int64(NO)


@uncounted
def _copied(rows, to, others, at, size):
    """Copy the first `size` numbers of a row into another table's row."""
    for k in range(size):
        rows[to, k] = others[at, k]


@compiled
def _extended(new, n, node, dotted, at, begin, size):
    """Append a dotted rule gone on to a node, over a gap unless `begin` is -1; at -2: the root."""
    if n == new.shape[0]:
        new = doubled(new)
    if at >= 0:
        _copied(new, n, dotted, at, 5)
    else:
        for k in range(1, 5):
            new[n, k] = NO
    new[n, 0] = node
    if begin >= 0:
        gap = 1 if new[n, 1] < 0 else 3
        new[n, gap] = begin
        new[n, gap + 1] = size
    return n + 1, new


@compiled
def find_matches(
    children, symbols, node_sources, sources, rule_starts, rule_labels, codes, possible, longest,
    most,
):  # fmt: skip
    """Return where source sides match, int64[n, 7], and tell which labels each span may have.

    A row: start, length, source, then start and length of the first and of the second gap, -1
    where there is none; in order of length and start. Every span is tried once with every node,
    so that rules of a gap alone cannot go round.

    children: uint32[nodes + 1]; symbols: int64 by node, its last symbol: labels below those of
    words. node_sources: uint32[nodes + 1] into sources, the source sides that end at a node.
    rule_starts, rule_labels: by source, by rule. codes: int64[n] of tokens, -1 for none.
    possible: bool[n, longest + 1, labels], the labels that spans have already; filled.
    most: labels of so many rules of a source are looked at.
    """
    n = codes.size
    n_labels = possible.shape[2]
    heads = np.full((n, longest + 1), NO, np.int64)
    dotted = np.empty((1024, 6), np.int64)  # node, two gaps, the next one
    n_dotted = 0
    found = np.empty((1024, 7), np.int64)
    n_found = 0
    new = np.empty((256, 5), np.int64)
    tried = np.zeros(np.int64(children[1]) + 1, np.int64)  # by the root's children: the last cell
    cell = 0
    for length in range(1, longest + 1):
        for i in range(n - length + 1):
            cell += 1
            n_new = np.int64(0)
            word = codes[i + length - 1]
            # Dotted rules that end before the last token or before a gap; then the root.
            for before in range(0, length):
                at = heads[i, before] if before > 0 else np.int64(-2)
                while at >= 0 or at == -2:
                    parent = np.int64(0) if at == -2 else dotted[at, 0]
                    if before == length - 1 and word >= 0:
                        node = _child(children, symbols, parent, word)
                        if node >= 0:
                            n_new, new = _extended(
                                new, n_new, node, dotted, at, np.int64(NO), np.int64(0)
                            )
                    if before > 0:
                        for node in range(
                            np.int64(children[parent]), np.int64(children[parent + 1])
                        ):
                            label = symbols[node]
                            if label >= n_labels:
                                break
                            if possible[i + before, length - before, label]:
                                n_new, new = _extended(
                                    new, n_new, node, dotted, at, i + before, length - before
                                )
                    at = NO if at == -2 else dotted[at, 5]
            done = 0
            while True:
                for k in range(done, n_new):
                    node = new[k, 0]
                    for s in range(np.int64(node_sources[node]), np.int64(node_sources[node + 1])):
                        source = np.int64(sources[s])
                        if n_found == found.shape[0]:
                            found = doubled(found)
                        found[n_found, 0] = i
                        found[n_found, 1] = length
                        found[n_found, 2] = source
                        for part in range(1, 5):
                            found[n_found, 2 + part] = new[k, part]
                        n_found += 1
                        first = np.int64(rule_starts[source])
                        last = min(np.int64(rule_starts[source + 1]), first + most)
                        for rule in range(first, last):
                            possible[i, length, rule_labels[rule]] = True
                    if children[node] < children[node + 1] and length < longest:
                        if n_dotted == dotted.shape[0]:
                            dotted = doubled(dotted)
                        _copied(dotted, n_dotted, new, k, 5)
                        dotted[n_dotted, 5] = heads[i, length]
                        heads[i, length] = n_dotted
                        n_dotted += 1
                done = n_new
                for node in range(np.int64(children[0]), np.int64(children[1])):
                    label = symbols[node]
                    if label >= n_labels:
                        break
                    if possible[i, length, label] and tried[node] != cell:
                        tried[node] = cell
                        n_new, new = _extended(new, n_new, node, dotted, np.int64(-2), i, length)
                if done == n_new:
                    break
    return found[:n_found].copy()


@compiled
def best_rules(starts, scores, best):
    """Return the places of the best of each group, best first: (places int64, starts int64).

    starts: int64[groups + 1] into scores. `best` of each are kept, none of -inf; ties stay in
    their order.
    """
    n_groups = starts.size - 1
    new_starts = np.zeros(n_groups + 1, np.int64)
    places = np.empty(min(scores.size, n_groups * best), np.int64)
    n = 0
    for group in range(n_groups):
        begin = n
        for k in range(starts[group], starts[group + 1]):
            if scores[k] == -np.inf:
                continue
            place = n
            while place > begin and scores[k] > scores[places[place - 1]]:
                place -= 1
            if place - begin >= best:
                continue
            if n - begin < best:
                n += 1
            for at in range(n - 1, place, -1):
                places[at] = places[at - 1]
            places[place] = k
        new_starts[group + 1] = n
    return places[:n].copy(), new_starts


@uncounted
def compose(
    model, order, weight, targets, start, stop, word_ids, items, first, second, complete, row,
    states, n_state,
):  # fmt: skip
    """Fill states[n_state] with the state of a target over two items; return what it scores.

    Returns (log probabilities of words with their whole history, those of others with what
    they have). items: int64 rows of label, words, first edge, the first `order` - 1 words and
    the last ones; states: such rows. complete: the first item begins the sentence. row: room.
    """
    reach = order - 1
    for k in range(_STATE, _STATE + 2 * reach):
        states[n_state, k] = -3
    used = 0
    n = 0
    score = 0.0
    estimate = 0.0
    for k in range(start, stop):
        symbol = targets[k]
        child = first if symbol == -1 else second
        m = np.int64(1) if symbol >= 0 else items[child, 1]
        if complete and k == start:
            used = min(m, reach)
            for p in range(used):
                row[p] = items[child, _STATE + reach + p]
            n = m
            continue
        for p in range(min(m, reach)):
            if used == row.size:
                for back in range(reach):
                    row[back] = row[used - reach + back]
                used = reach
            row[used] = word_ids[symbol] if symbol >= 0 else items[child, _STATE + p]
            used += 1
            value = weight * log_probability(model, row, max(0, used - order), used)
            if complete or n >= reach:
                score += value
            else:
                estimate += value
                states[n_state, _STATE + n] = row[used - 1]
            n += 1
        if m > reach:
            for p in range(reach):
                row[p] = items[child, _STATE + reach + p]
            used = reach
            n += m - reach
    some = min(n, min(reach, used))  # noqa: PLW3301
    for p in range(some):
        states[n_state, _STATE + reach + p] = row[used - some + p]
    states[n_state, 1] = n
    return score, estimate


@uncounted
def _above(keys, a, b):
    """Tell whether candidate a goes before b: the higher estimate, then the older one."""
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)


@uncounted
def _push(heap, n, keys, candidate):
    at = n
    heap[at] = candidate
    while at > 0:
        parent = (at - 1) >> 1
        if not _above(keys, heap[at], heap[parent]):
            break
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


@uncounted
def _pop(heap, n, keys):
    """Move the best to the end of the heap and return it."""
    best = heap[0]
    heap[0] = heap[n - 1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n - 1:
            break
        if child + 1 < n - 1 and _above(keys, heap[child + 1], heap[child]):
            child += 1
        if not _above(keys, heap[child], heap[at]):
            break
        heap[at], heap[child] = heap[child], heap[at]
        at = child
    return best


@compiled
def _longer(values):
    return grown(values, values.size, 2 * values.size)


@uncounted
def _state_key(rows, at, by_words):
    key = np.uint64(rows[at, 0] + 7)
    if by_words:
        key = (key ^ np.uint64(rows[at, 1] << 20)) * np.uint64(0x9E3779B97F4A7C15)
    for k in range(_STATE, rows.shape[1]):
        key = (key ^ np.uint64(rows[at, k] + 5)) * np.uint64(0x9E3779B97F4A7C15)
        key = key ^ (key >> np.uint64(32))
    return key


@compiled
def _shares(bundles, n_bundles, pop_limit):
    """Return how many combinations of each kind may be taken, int64, and how many kinds are there.

    All have the same share, `_LEAST_SHARE` or more.
    """
    most = np.int64(0)
    for b in range(n_bundles):
        most = max(most, bundles[b, 6])
    left = np.zeros(most + 1, np.int64)
    n_kinds = 0
    for b in range(n_bundles):
        if left[bundles[b, 6]] == 0:
            left[bundles[b, 6]] = 1
            n_kinds += 1
    share = pop_limit
    if n_kinds > 1:
        share = max(min(pop_limit, _LEAST_SHARE), pop_limit // n_kinds)
    for kind in range(most + 1):
        left[kind] *= share
    return left, n_kinds


@compiled
def fill(
    bundles, n_bundles, complete, label, by_words, pop_limit, model, order, weight, targets,
    target_starts, word_ids, rule_scores, rule_labels, views, items, item_scores, n_items, edges,
    edge_scores, n_edges,
):  # fmt: skip
    """Make the items of a cell of its bundles by cube pruning (Chiang 2007).

    bundles: int64 rows of first and last rule, first and last of either gap's view, -1 where
    there is no gap, and their kind, from 0 on. The best `pop_limit` combinations are taken, one
    that is worse than another in no part after it; of each kind its share, so that none crowds
    out another. Those alike in label and words at the edges, and in the number of words where
    `by_words`, become one item with several edges. label: of all items; -3 for the rules' own.
    Returns (items, item_scores, n_items, edges, edge_scores, n_edges), perhaps grown.
    item_scores: float64[n, 2], score, and score with what the first words are thought to cost.
    """
    reach = order - 1
    width = _STATE + 2 * reach
    capacity = max(np.int64(256), 2 * n_bundles)
    # Of each its bundle, its rule, places in the two views, its row in `states`, -1: not yet made.
    candidates = np.empty((capacity, 5), np.int64)
    states = np.empty((256, width), np.int64)
    scores = np.empty(256, np.float64)
    n_states = np.int64(0)
    keys = np.empty(capacity, np.float64)
    heap = np.empty(capacity, np.int64)
    row = np.empty(4 * order, np.int64)
    n = np.int64(0)
    n_heap = 0
    table = np.full(64, NO, np.int64)
    first_item = n_items
    left, n_open = _shares(bundles, n_bundles, pop_limit)
    bundle = 0
    step = 0
    b = np.int64(0)
    r = np.int64(0)
    one = np.int64(0)
    two = np.int64(0)
    taken = np.int64(0)
    while True:
        at = np.int64(NO)
        # Push: first the corner of every bundle, then what follows the one that was popped.
        if bundle < n_bundles:
            b = bundle
            r, one, two = bundles[b, 0], bundles[b, 2], bundles[b, 4]
            bundle += 1
            if (one >= 0 and one == bundles[b, 3]) or (two >= 0 and two == bundles[b, 5]):
                continue
            if r == bundles[b, 1]:
                continue
        elif step > 0:
            b, r = candidates[taken, 0], candidates[taken, 1]
            one, two = candidates[taken, 2], candidates[taken, 3]
            is_first_one = one < 0 or one == bundles[b, 2]
            is_first_two = two < 0 or two == bundles[b, 4]
            step -= 1
            if step == 2:
                if not (is_first_one and is_first_two) or r + 1 >= bundles[b, 1]:
                    continue
                r += 1
            elif step == 1:
                if one < 0 or not is_first_two or one + 1 >= bundles[b, 3]:
                    continue
                one += 1
            else:
                if two < 0 or two + 1 >= bundles[b, 5]:
                    continue
                two += 1
        else:
            if n_heap == 0 or n_open == 0:
                break
            taken = _pop(heap, n_heap, keys)
            n_heap -= 1
            kind = bundles[candidates[taken, 0], 6]
            if left[kind] == 0:
                continue
            made = candidates[taken, 4]
            if made < 0:  # its score is a guess
                at = taken
            else:
                left[kind] -= 1
                if left[kind] == 0:
                    n_open -= 1
                else:
                    step = 3
                slot = np.int64(_state_key(states, made, by_words) & np.uint64(table.size - 1))
                item = np.int64(NO)
                while table[slot] >= 0:
                    item = table[slot]
                    same = items[item, 0] == states[made, 0] and (
                        not by_words or items[item, 1] == states[made, 1]
                    )
                    for k in range(_STATE, width):
                        if items[item, k] != states[made, k]:
                            same = False
                            break
                    if same:
                        break
                    item = NO
                    slot = (slot + 1) & (table.size - 1)
                if item < 0:
                    if n_items == items.shape[0]:
                        items = doubled(items)
                        item_scores = doubled(item_scores)
                    item = n_items
                    n_items += 1
                    _copied(items, item, states, made, width)
                    items[item, 2] = NO
                    item_scores[item, 0] = scores[made]
                    item_scores[item, 1] = keys[taken]
                    table[slot] = item
                    if 2 * (n_items - first_item) > table.size:
                        table = np.full(4 * table.size, NO, np.int64)
                        for k in range(first_item, n_items):
                            key = _state_key(items, k, by_words)
                            slot = np.int64(key & np.uint64(table.size - 1))
                            while table[slot] >= 0:
                                slot = (slot + 1) & (table.size - 1)
                            table[slot] = k
                elif scores[made] > item_scores[item, 0]:
                    item_scores[item, 1] += scores[made] - item_scores[item, 0]
                    item_scores[item, 0] = scores[made]
                if n_edges == edges.shape[0]:
                    edges = doubled(edges)
                    edge_scores = _longer(edge_scores)
                delta = scores[made]
                edges[n_edges, 0] = candidates[taken, 1]
                for gap in range(2):
                    place = candidates[taken, 2 + gap]
                    child = np.int64(NO)
                    if place >= 0:
                        child = views[place]
                        delta -= item_scores[child, 0]
                    edges[n_edges, 1 + gap] = child
                edges[n_edges, 3] = items[item, 2]
                edge_scores[n_edges] = delta
                items[item, 2] = n_edges
                n_edges += 1
                continue
        guess = by_words and at < 0
        if at < 0:
            if n == capacity:
                capacity *= 2
                candidates = doubled(candidates)
                keys = _longer(keys)
                heap = _longer(heap)
            candidates[n, 0] = b
            candidates[n, 1] = r
            candidates[n, 2] = one
            candidates[n, 3] = two
            candidates[n, 4] = NO
            at = n
            n += 1
        rule = candidates[at, 1]
        first = views[candidates[at, 2]] if candidates[at, 2] >= 0 else np.int64(NO)
        second = views[candidates[at, 3]] if candidates[at, 3] >= 0 else np.int64(NO)
        score = 0.0
        estimate = 0.0
        if not guess:
            if n_states == scores.size:
                states = doubled(states)
                scores = _longer(scores)
            score, estimate = compose(
                model, order, weight, targets, target_starts[rule], target_starts[rule + 1],
                word_ids, items, first, second, complete, row, states, n_states,
            )  # fmt: skip
            states[n_states, 0] = rule_labels[rule] if label == -3 else label
            states[n_states, 2] = NO
        score += rule_scores[rule]
        for child in (first, second):
            if child >= 0:
                score += item_scores[child, 0]
                if guess:
                    estimate += item_scores[child, 1] - item_scores[child, 0]
        if not guess:
            scores[n_states] = score
            candidates[at, 4] = n_states
            n_states += 1
        keys[at] = score + estimate
        _push(heap, n_heap, keys, at)
        n_heap += 1
    return items, item_scores, n_items, edges, edge_scores, n_edges


@compiled
def _sorted_items(item_scores, first, last):
    order = np.argsort(-item_scores[first:last, 1], kind="mergesort")
    return order + first


@compiled
def _by_words(ordered, items):
    """Return items in order of their words, those of as many in the order they had."""
    words = np.empty(ordered.size, np.int64)
    for k in range(ordered.size):
        words[k] = items[ordered[k], 1]
    return ordered[np.argsort(words, kind="mergesort")]


@compiled
def _add_rows(rows, n_rows, views, n_views, items, ordered, which, by_words):
    """Append the view of some items of a cell, a row for each number of words that they have.

    which: a label, _EVERY or _PLAIN. rows: int64 of which, words (0 where none are told apart),
    first and stop in `views`, and the last of its rows, to skip them. Returns (rows, n_rows,
    n_views).
    """
    begin = n_rows
    for item in ordered:
        label = items[item, 0]
        if (which == _PLAIN and label == GLUE_LABEL) or (which >= 0 and label != which):
            continue
        words = items[item, 1] if by_words else np.int64(0)
        if n_rows == begin or rows[n_rows - 1, 1] != words:
            if n_rows == rows.shape[0]:
                rows = doubled(rows)
            rows[n_rows, 0] = which
            rows[n_rows, 1] = words
            rows[n_rows, 2] = n_views
            n_rows += 1
        views[n_views] = item
        n_views += 1
        rows[n_rows - 1, 3] = n_views
    for row in range(begin, n_rows):
        rows[row, 4] = n_rows
    return rows, n_rows, n_views


@compiled
def _rows_of(rows, first, stop, which):
    """Return the first and the last of a view's rows among those of a cell; both 0 for none."""
    row = first
    while row < stop:
        if rows[row, 0] == which:
            return row, rows[row, 4]
        row = rows[row, 4]
    return np.int64(0), np.int64(0)


@compiled
def _bundled(bundles, n, rows, one, two, first_rule, last_rule, words):
    """Append rules with every pair of rows of their two gaps; `words` are their own.

    one, two: the first and the last row of either gap. Returns (bundles, n).
    """
    for a in range(one[0], one[1]):
        for b in range(two[0], two[1]):
            if n == bundles.shape[0]:
                bundles = doubled(bundles)
            bundles[n, 0] = first_rule
            bundles[n, 1] = last_rule
            bundles[n, 2] = rows[a, 2]
            bundles[n, 3] = rows[a, 3]
            bundles[n, 4] = rows[b, 2]
            bundles[n, 5] = rows[b, 3]
            bundles[n, 6] = words + rows[a, 1] + rows[b, 1]
            n += 1
    return bundles, n


@compiled
def _lengths_from(n, longest, cells, rows, jumps):
    """Return how many words can be said from each token on, bool[n + 1, words]."""
    most = np.zeros(n + 1, np.int64)
    can = np.zeros((1, 1), np.bool_)
    for turn in range(2):
        if turn == 1:
            can = np.zeros((n + 1, most.max() + 1), np.bool_)
            can[n, 0] = True
        for j in range(n - 1, -1, -1):
            for size in range(1, min(longest, n - j) + 1):
                at = cells[j, size]
                low, high = _rows_of(rows, at[0], at[1], np.int64(_PLAIN))
                for row in range(low, high):
                    most[j] = max(most[j], _set_lengths(can, j, j + size, rows[row, 1], most))
            for k in range(jumps.shape[0]):
                if jumps[k, 1] == j:
                    most[j] = max(most[j], _set_lengths(can, j, jumps[k, 0], np.int64(0), most))
    return can


@compiled
def _set_lengths(can, j, following, words, most):
    """Tell that so many words may stand before what can follow; return the most of both."""
    if can.shape[0] > 1:
        for rest in range(most[following] + 1):
            if can[following, rest]:
                can[j, words + rest] = True
    return words + most[following]


@compiled
def _of_use(bundles, n, can, words, window):
    """Keep the bundles of beginnings that can end in so many words; return how many they are.

    can: bool, the numbers of words that the rest can have. window: as in `search`.
    """
    lowest = np.int64(1 << 40)
    highest = np.int64(-1)
    kept = np.int64(0)
    for b in range(n):
        rest = words + 1 - bundles[b, 6]  # the mark of the beginning counts as one
        if 0 <= rest < can.size and can[rest]:
            lowest = min(lowest, bundles[b, 6])
            highest = max(highest, bundles[b, 6])
            if kept < b:
                _copied(bundles, kept, bundles, b, 7)
            kept += 1
    n = kept
    kept = np.int64(0)
    middle = (lowest + highest) // 2
    for b in range(n):
        if abs(bundles[b, 6] - middle) <= window:
            if kept < b:
                _copied(bundles, kept, bundles, b, 7)
            kept += 1
    return kept


@compiled
def _nearest(can, wanted):
    """Return the most words up to `wanted` that can be had, or else the fewest; not 0; -1: none."""
    for words in range(min(wanted, can.size - 1), 0, -1):
        if can[words]:
            return np.int64(words)
    for words in range(wanted + 1, can.size):
        if can[words]:
            return np.int64(words)
    return np.int64(NO)


@compiled
def search(
    n, longest, matches, gap_labels, groups, group_parts, part_starts, target_starts, targets,
    word_ids, rule_scores, rule_labels, rule_words, licences, any_label, pop_limit, last_limit,
    wanted, window, model, order, weight, end, jumps,
):  # fmt: skip
    """Return the packed forest of a sentence: items, edges, the best score and the goal's edges.

    matches: rows of find_matches. gap_labels: int64[n, 2] labels of the gaps of each, -1 for
    none. groups: int64, the group of rules of each match; group_parts: int64[groups + 1] into
    part_starts, which begin the rules of each part of a group; they are best first, and where
    words are wanted all have as many words of their own (rule_words). Rule 0 is the glue: it puts
    two neighbours side by side. licences: bool[n, longest + 1, labels]: whatever stands over such
    a span has that label too. any_label: the label that all have (X), -1 for none. last_limit:
    pop_limit where a span is joined to the sentence's beginning. end: the word that ends a
    sentence. jumps: int64[n, 3] of stop, start and rule, by stop: what became of the
    sentence up to the start, with the rule, is what became of it up to the stop.

    wanted: the words of the sentences looked for, -1 for any. Then items differ in their words,
    every number of them has its share of the combinations, and of beginnings only those are
    made that can end in so many, or the nearest fewer, or the fewest; of their numbers of words
    those up to `window` from the middle.

    Returns (items, item_scores, edges, edge_scores, goal, words): goal float64 rows of a last
    item and what its end scores; words: what all sentences have, -1 where none were wanted.
    """
    reach = order - 1
    width = _STATE + 2 * reach
    by_words = wanted >= 0
    items = np.empty((4096, width), np.int64)
    item_scores = np.empty((4096, 2), np.float64)
    edges = np.empty((8192, 4), np.int64)
    edge_scores = np.empty(8192, np.float64)
    n_items = np.int64(0)  # a literal 0 would be a type, and `fill` compiled for it too
    n_edges = np.int64(0)
    views = np.empty(16384, np.int64)
    n_views = np.int64(0)
    # Of each cell: its rows, which tell where the views of its items begin.
    cells = np.zeros((n, longest + 1, 2), np.int64)
    rows = np.full((1024, 5), NO, np.int64)
    rows[0, 1] = 0  # of a gap that is not there
    n_rows = np.int64(1)
    bundles = np.empty((256, 7), np.int64)
    # The sentence from its beginning: prefixes, to each of which a cell is joined.
    prefixes = np.zeros((n + 1, 2), np.int64)
    can = np.zeros((1, 1), np.bool_)
    words = np.int64(NO)
    match = 0
    jump = 0
    first_match = 0
    first_item = 0
    length = 1
    i = -1
    n_cells = 0
    for size in range(1, longest + 1):
        n_cells += n - size + 1
    for turn in range(3 * n_cells + n):
        # Of a cell: its rules; its glue; rules of a gap alone, that take what the others made.
        mode = turn % 3 if turn < 3 * n_cells else 3
        j = turn - 3 * n_cells + 1
        n_bundles = np.int64(0)
        if mode == 0:
            i += 1
            if i + length > n:
                i = 0
                length += 1
            first_match = match
            while (
                match < matches.shape[0] and matches[match, 0] == i and matches[match, 1] == length
            ):
                match += 1
            first_item = n_items
        if mode == 0 or mode == 2:
            for m in range(first_match, match):
                over_itself = matches[m, 3] == i and matches[m, 4] == length
                if over_itself != (mode == 2):
                    continue
                one = (np.int64(0), np.int64(1))
                two = (np.int64(0), np.int64(1))
                for gap in range(2):
                    begin = matches[m, 3 + 2 * gap]
                    if begin < 0:
                        continue
                    size = matches[m, 4 + 2 * gap]
                    label = gap_labels[m, gap]
                    if label == any_label or licences[begin, size, label]:
                        label = np.int64(_EVERY)
                    at = cells[begin, size]
                    if gap == 0:
                        one = _rows_of(rows, at[0], at[1], label)
                    else:
                        two = _rows_of(rows, at[0], at[1], label)
                for part in range(group_parts[groups[m]], group_parts[groups[m] + 1]):
                    bundles, n_bundles = _bundled(
                        bundles, n_bundles, rows, one, two, part_starts[part],
                        part_starts[part + 1],
                        rule_words[part_starts[part]] if by_words else np.int64(0),
                    )  # fmt: skip
            if mode == 2 and n_bundles == 0:
                continue
        elif mode == 1:
            for middle in range(1, length):
                at = cells[i, middle]
                one = _rows_of(rows, at[0], at[1], np.int64(_EVERY))
                at = cells[i + middle, length - middle]
                two = _rows_of(rows, at[0], at[1], np.int64(_PLAIN))
                bundles, n_bundles = _bundled(
                    bundles, n_bundles, rows, one, two, np.int64(GLUE_RULE),
                    np.int64(GLUE_RULE + 1), np.int64(0),
                )  # fmt: skip
        else:
            if j == 1:
                if by_words:
                    can = _lengths_from(n, longest, cells, rows, jumps)
                    words = _nearest(can[0], wanted)
                    if words < 0:
                        break
                if n_items == items.shape[0]:
                    items = doubled(items)
                    item_scores = doubled(item_scores)
                for k in range(width):
                    items[n_items, k] = -3
                items[n_items, 0] = START_LABEL
                items[n_items, 1] = 1
                items[n_items, 2] = NO
                items[n_items, _STATE + reach] = 0
                item_scores[n_items, 0] = 0.0
                item_scores[n_items, 1] = 0.0
                if n_views == views.size:
                    views = _longer(views)
                prefixes[0, 0] = n_rows
                rows, n_rows, n_views = _add_rows(
                    rows,
                    n_rows,
                    views,
                    n_views,
                    items,
                    np.array([n_items]),
                    np.int64(_EVERY),
                    by_words,
                )
                prefixes[0, 1] = n_rows
                n_items += 1
            for middle in range(max(0, j - longest), j):
                at = cells[middle, j - middle]
                two = _rows_of(rows, at[0], at[1], np.int64(_PLAIN))
                bundles, n_bundles = _bundled(
                    bundles, n_bundles, rows, (prefixes[middle, 0], prefixes[middle, 1]), two,
                    np.int64(GLUE_RULE), np.int64(GLUE_RULE + 1), np.int64(0),
                )  # fmt: skip
            while jump < jumps.shape[0] and jumps[jump, 0] == j:
                middle = jumps[jump, 1]
                bundles, n_bundles = _bundled(
                    bundles, n_bundles, rows, (prefixes[middle, 0], prefixes[middle, 1]),
                    (np.int64(0), np.int64(1)), jumps[jump, 2], jumps[jump, 2] + 1, np.int64(0),
                )  # fmt: skip
                jump += 1
            if by_words:
                n_bundles = _of_use(bundles, n_bundles, can[j], words, window)
            first_item = n_items
        own_label = np.int64(-3)
        if mode == 1:
            own_label = np.int64(GLUE_LABEL)
        elif mode == 3:
            own_label = np.int64(START_LABEL)
        items, item_scores, n_items, edges, edge_scores, n_edges = fill(
            bundles, n_bundles, mode == 3, own_label, by_words,
            last_limit if mode == 3 else pop_limit, model, order, weight, targets, target_starts,
            word_ids, rule_scores, rule_labels, views, items, item_scores, n_items, edges,
            edge_scores, n_edges,
        )  # fmt: skip
        if mode == 0:
            continue
        ordered = _sorted_items(item_scores, first_item, n_items)
        if by_words:
            ordered = _by_words(ordered, items)
        while n_views + 3 * ordered.size > views.size:
            views = _longer(views)
        begin = n_rows
        rows, n_rows, n_views = _add_rows(
            rows, n_rows, views, n_views, items, ordered, np.int64(_EVERY), by_words
        )
        if mode == 3:
            prefixes[j, 0] = begin
            prefixes[j, 1] = n_rows
            continue
        rows, n_rows, n_views = _add_rows(
            rows, n_rows, views, n_views, items, ordered, np.int64(_PLAIN), by_words
        )
        for item in ordered:
            label = items[item, 0]
            if label == GLUE_LABEL or label == any_label:
                continue
            if _rows_of(rows, begin, n_rows, label)[1] == 0:
                rows, n_rows, n_views = _add_rows(
                    rows, n_rows, views, n_views, items, ordered, label, by_words
                )
        cells[i, length, 0] = begin
        cells[i, length, 1] = n_rows
    goal = np.empty((n_items - first_item, 2), np.float64)
    row = np.empty(order, np.int64)
    n_goal = 0
    for at in range(prefixes[n, 0], prefixes[n, 1]):
        for k in range(rows[at, 2], rows[at, 3]):
            item = views[k]
            some = min(items[item, 1], reach)
            for back in range(some):
                row[back] = items[item, _STATE + reach + back]
            row[some] = end
            goal[n_goal, 0] = item
            goal[n_goal, 1] = weight * log_probability(model, row, np.int64(0), some + 1)
            n_goal += 1
    return (
        items[:n_items].copy(), item_scores[:n_items].copy(), edges[:n_edges].copy(),
        edge_scores[:n_edges].copy(), goal[:n_goal].copy(), words,
    )  # fmt: skip
