"""A sentence's tokens and a trie of rules -> where rules match; matches -> a packed forest.

A cell is a span of the sentence by its start and its length. Rules' targets are symbols: words
from 0 on, -1 and -2 for what stands in the first and the second gap of the source.
"""

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import first_not_below
from distsim.kernels.ngram_model import log_probability

NO = -1
GLUE_LABEL = -1  # of what was put together of neighbours; -2: of a sentence's beginning
START_LABEL = -2
GLUE_RULE = 0
_STATE = 3  # where the words of an item's row begin


@compiled
def _child(children, symbols, node, symbol):
    """Return the child of a trie's node by a symbol, -1 where there is none."""
    low = first_not_below(symbols, symbol, np.int64(children[node]), np.int64(children[node + 1]))
    if low < children[node + 1] and symbols[low] == symbol:
        return low
    return np.int64(NO)


@compiled
def _doubled(rows):
    grown = np.empty((2 * rows.shape[0], rows.shape[1]), rows.dtype)
    grown[: rows.shape[0]] = rows
    return grown


@compiled
def _copied(rows, to, others, at, size):
    """Copy the first `size` numbers of a row into another table's row."""
    for k in range(size):
        rows[to, k] = others[at, k]


@compiled
def _extended(new, n, node, dotted, at, begin, size):
    """Append a dotted rule gone on to a node, over a gap unless `begin` is -1; at -2: the root."""
    if n == new.shape[0]:
        new = _doubled(new)
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
                            found = _doubled(found)
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
                            dotted = _doubled(dotted)
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


@compiled
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


@compiled
def _above(keys, a, b):
    """Tell whether candidate a goes before b: the higher estimate, then the older one."""
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)


@compiled
def _push(heap, n, keys, candidate):
    at = n
    heap[at] = candidate
    while at > 0:
        parent = (at - 1) >> 1
        if not _above(keys, heap[at], heap[parent]):
            break
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


@compiled
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


@compiled
def _state_key(rows, at):
    key = np.uint64(rows[at, 0] + 7)
    for k in range(_STATE, rows.shape[1]):
        key = (key ^ np.uint64(rows[at, k] + 5)) * np.uint64(0x9E3779B97F4A7C15)
        key = key ^ (key >> np.uint64(32))
    return key


@compiled
def fill(
    bundles, n_bundles, complete, label, pop_limit, model, order, weight, targets, target_starts,
    word_ids, rule_scores, rule_labels, views, items, item_scores, n_items, edges, edge_scores,
    n_edges,
):  # fmt: skip
    """Make the items of a cell of its bundles by cube pruning (Chiang 2007).

    bundles: int64 rows of first and last rule, and first and last of either gap's view; -1
    where there is no gap. The best `pop_limit` combinations are taken, one that is worse than
    another in no part after it. Those alike in label and words at the edges become one item
    with several edges. label: of all items; -3 for the rules' own.
    Returns (items, item_scores, n_items, edges, edge_scores, n_edges), perhaps grown.
    item_scores: float64[n, 2], score, and score with what the first words are thought to cost.
    """
    reach = order - 1
    width = _STATE + 2 * reach
    capacity = 256
    candidates = np.empty((capacity, 4), np.int64)  # bundle, rule, places in the two views
    states = np.empty((capacity, width), np.int64)
    scores = np.empty(capacity, np.float64)
    keys = np.empty(capacity, np.float64)
    heap = np.empty(capacity, np.int64)
    row = np.empty(4 * order, np.int64)
    n = np.int64(0)
    n_heap = 0
    table = np.full(64, NO, np.int64)
    first_item = n_items
    popped = 0
    bundle = 0
    step = 0
    b = np.int64(0)
    r = np.int64(0)
    one = np.int64(0)
    two = np.int64(0)
    taken = np.int64(0)
    while True:
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
            if n_heap == 0 or popped == pop_limit:
                break
            taken = _pop(heap, n_heap, keys)
            n_heap -= 1
            popped += 1
            step = 3
            slot = np.int64(_state_key(states, taken) & np.uint64(table.size - 1))
            item = np.int64(NO)
            while table[slot] >= 0:
                item = table[slot]
                same = items[item, 0] == states[taken, 0]
                for k in range(_STATE, width):
                    if items[item, k] != states[taken, k]:
                        same = False
                        break
                if same:
                    break
                item = NO
                slot = (slot + 1) & (table.size - 1)
            if item < 0:
                if n_items == items.shape[0]:
                    items = _doubled(items)
                    item_scores = _doubled(item_scores)
                item = n_items
                n_items += 1
                _copied(items, item, states, taken, width)
                items[item, 2] = NO
                item_scores[item, 0] = scores[taken]
                item_scores[item, 1] = keys[taken]
                table[slot] = item
                if 2 * (n_items - first_item) > table.size:
                    table = np.full(4 * table.size, NO, np.int64)
                    for k in range(first_item, n_items):
                        slot = np.int64(_state_key(items, k) & np.uint64(table.size - 1))
                        while table[slot] >= 0:
                            slot = (slot + 1) & (table.size - 1)
                        table[slot] = k
            elif scores[taken] > item_scores[item, 0]:
                item_scores[item, 1] += scores[taken] - item_scores[item, 0]
                item_scores[item, 0] = scores[taken]
            if n_edges == edges.shape[0]:
                edges = _doubled(edges)
                edge_scores = _longer(edge_scores)
            delta = scores[taken]
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
        if n == capacity:
            capacity *= 2
            candidates = _doubled(candidates)
            states = _doubled(states)
            scores = _longer(scores)
            keys = _longer(keys)
            heap = _longer(heap)
        candidates[n, 0] = b
        candidates[n, 1] = r
        candidates[n, 2] = one
        candidates[n, 3] = two
        first = views[one] if one >= 0 else np.int64(NO)
        second = views[two] if two >= 0 else np.int64(NO)
        score, estimate = compose(
            model, order, weight, targets, target_starts[r], target_starts[r + 1], word_ids,
            items, first, second, complete, row, states, n,
        )  # fmt: skip
        score += rule_scores[r]
        if first >= 0:
            score += item_scores[first, 0]
        if second >= 0:
            score += item_scores[second, 0]
        states[n, 0] = rule_labels[r] if label == -3 else label
        states[n, 2] = NO
        scores[n] = score
        keys[n] = score + estimate
        _push(heap, n_heap, keys, n)
        n_heap += 1
        n += 1
    return items, item_scores, n_items, edges, edge_scores, n_edges


@compiled
def _sorted_items(item_scores, first, last):
    order = np.argsort(-item_scores[first:last, 1], kind="mergesort")
    return order + first


@compiled
def _view(label_views, first, last, label):
    """Return the row of a label's view, -1 where the cell has none."""
    for k in range(first, last):
        if label_views[k, 0] == label:
            return np.int64(k)
    return np.int64(NO)


@compiled
def search(
    n, longest, matches, gap_labels, groups, group_starts, target_starts, targets, word_ids,
    rule_scores, rule_labels, licences, any_label, pop_limit, last_limit, model, order, weight, end,
    jumps,
):  # fmt: skip
    """Return the packed forest of a sentence: items, edges, the best score and the goal's edges.

    matches: rows of find_matches. gap_labels: int64[n, 2] labels of the gaps of each, -1 for
    none. groups: int64, the group of rules of each match. Rule 0 is the glue: it puts two
    neighbours side by side. licences: bool[n, longest + 1, labels]: whatever stands over such a
    span has that label too. any_label: the label that all have (X), -1 for none. last_limit:
    pop_limit where a span is joined to the sentence's beginning. end: the word that ends a
    sentence. jumps: int64[n, 3] of stop, start and rule, by stop: what became of the
    sentence up to the start, with the rule, is what became of it up to the stop. Returns (items,
    item_scores, edges, edge_scores, goal): goal float64 rows of a last item and what its end
    scores.
    """
    reach = order - 1
    width = _STATE + 2 * reach
    items = np.empty((4096, width), np.int64)
    item_scores = np.empty((4096, 2), np.float64)
    edges = np.empty((8192, 4), np.int64)
    edge_scores = np.empty(8192, np.float64)
    n_items = np.int64(0)  # a literal 0 would be a type, and `fill` compiled for it too
    n_edges = np.int64(0)
    views = np.empty(16384, np.int64)
    n_views = 0
    # Of each cell: all items, those that are no glue, and the rows of label_views.
    cells = np.zeros((n, longest + 1, 6), np.int64)
    label_views = np.empty((1024, 3), np.int64)
    n_labels = 0
    bundles = np.empty((256, 6), np.int64)
    # The sentence from its beginning: prefixes, to each of which a cell is joined.
    prefixes = np.zeros((n + 1, 2), np.int64)
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
                if n_bundles == bundles.shape[0]:
                    bundles = _doubled(bundles)
                bundles[n_bundles, 0] = group_starts[groups[m]]
                bundles[n_bundles, 1] = group_starts[groups[m] + 1]
                for gap in range(2):
                    begin = matches[m, 3 + 2 * gap]
                    low = np.int64(NO)
                    high = np.int64(NO)
                    if begin >= 0:
                        size = matches[m, 4 + 2 * gap]
                        label = gap_labels[m, gap]
                        low = 0
                        high = 0
                        if label == any_label or licences[begin, size, label]:
                            low, high = cells[begin, size, 0], cells[begin, size, 1]
                        else:
                            at = _view(
                                label_views, cells[begin, size, 4], cells[begin, size, 5], label
                            )
                            if at >= 0:
                                low, high = label_views[at, 1], label_views[at, 2]
                    bundles[n_bundles, 2 + 2 * gap] = low
                    bundles[n_bundles, 3 + 2 * gap] = high
                n_bundles += 1
            if mode == 2 and n_bundles == 0:
                continue
        else:
            first = 1 if mode == 1 else max(0, j - longest)
            stop = length if mode == 1 else j
            if stop - first >= bundles.shape[0]:
                bundles = _doubled(bundles)
            for middle in range(first, stop):
                bundles[n_bundles, 0] = GLUE_RULE
                bundles[n_bundles, 1] = GLUE_RULE + 1
                begin = i + middle if mode == 1 else middle
                size = length - middle if mode == 1 else j - middle
                for side in range(2):
                    if mode == 1:
                        bundles[n_bundles, 2 + side] = cells[i, middle, side]
                    else:
                        bundles[n_bundles, 2 + side] = prefixes[middle, side]
                    bundles[n_bundles, 4 + side] = cells[begin, size, 2 + side]
                n_bundles += 1
            if mode == 3:
                if j == 1:
                    if n_items == items.shape[0]:
                        items = _doubled(items)
                        item_scores = _doubled(item_scores)
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
                    views[n_views] = n_items
                    prefixes[0, 0] = n_views
                    prefixes[0, 1] = n_views + 1
                    n_views += 1
                    n_items += 1
                    bundles[0, 2] = prefixes[0, 0]
                    bundles[0, 3] = prefixes[0, 1]
                while jump < jumps.shape[0] and jumps[jump, 0] == j:
                    if n_bundles == bundles.shape[0]:
                        bundles = _doubled(bundles)
                    bundles[n_bundles, 0] = jumps[jump, 2]
                    bundles[n_bundles, 1] = jumps[jump, 2] + 1
                    for side in range(2):
                        bundles[n_bundles, 2 + side] = prefixes[jumps[jump, 1], side]
                        bundles[n_bundles, 4 + side] = NO
                    n_bundles += 1
                    jump += 1
                first_item = n_items
        own_label = np.int64(-3)
        if mode == 1:
            own_label = np.int64(GLUE_LABEL)
        elif mode == 3:
            own_label = np.int64(START_LABEL)
        items, item_scores, n_items, edges, edge_scores, n_edges = fill(
            bundles, n_bundles, mode == 3, own_label, last_limit if mode == 3 else pop_limit,
            model, order, weight, targets, target_starts, word_ids, rule_scores, rule_labels, views,
            items, item_scores, n_items, edges, edge_scores, n_edges,
        )  # fmt: skip
        if mode == 0:
            continue
        ordered = _sorted_items(item_scores, first_item, n_items)
        while n_views + 3 * ordered.size > views.size:
            views = _longer(views)
        if mode == 3:
            prefixes[j, 0] = n_views
            for item in ordered:
                views[n_views] = item
                n_views += 1
            prefixes[j, 1] = n_views
            continue
        for plain in range(2):
            cells[i, length, 2 * plain] = n_views
            for item in ordered:
                if plain == 0 or items[item, 0] != GLUE_LABEL:
                    views[n_views] = item
                    n_views += 1
            cells[i, length, 2 * plain + 1] = n_views
        cells[i, length, 4] = n_labels
        for item in ordered:
            label = items[item, 0]
            if label == GLUE_LABEL or label == any_label:
                continue
            if _view(label_views, cells[i, length, 4], n_labels, label) >= 0:
                continue
            if n_labels == label_views.shape[0]:
                label_views = _doubled(label_views)
            label_views[n_labels, 0] = label
            label_views[n_labels, 1] = n_views
            for other in ordered:
                if items[other, 0] == label:
                    views[n_views] = other
                    n_views += 1
            label_views[n_labels, 2] = n_views
            n_labels += 1
        cells[i, length, 5] = n_labels
    last = prefixes[n, 0]
    stop = prefixes[n, 1]
    goal = np.empty((stop - last, 2), np.float64)
    row = np.empty(order, np.int64)
    for k in range(last, stop):
        item = views[k]
        some = min(items[item, 1], reach)
        for back in range(some):
            row[back] = items[item, _STATE + reach + back]
        row[some] = end
        goal[k - last, 0] = item
        goal[k - last, 1] = weight * log_probability(model, row, np.int64(0), some + 1)
    return (
        items[:n_items].copy(), item_scores[:n_items].copy(), edges[:n_edges].copy(),
        edge_scores[:n_edges].copy(), goal,
    )  # fmt: skip
