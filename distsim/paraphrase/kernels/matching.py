"""Matches of a trie of source sides in a sentence, and the best rules of each group.

Source sides are matched as in CKY+ (Chappelier and Rajman 1998): dotted rules of a span are
extended by the next token, or by a gap over the rest of the span.
"""

from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import doubled
from distsim.kernels.compiled import compiled, folded
from distsim.kernels.hashing import first_not_below

NO = -1
_NODE, _GAPS, _NEXT = 0, 1, 5  # columns of a dotted rule; two gaps as start and length
_ROOT = -2


class Trie(NamedTuple):
    """Source sides by their symbols; node 0 is the root, the children of a node are consecutive.

    children: int64[nodes + 1], the first child of each node. symbols: int64[nodes], the symbol
    by which a node is reached: labels of gaps are below those of words. node_sources:
    int64[nodes + 1] into `sources`, int64, the source sides that end at each node.
    """

    children: np.ndarray
    symbols: np.ndarray
    node_sources: np.ndarray
    sources: np.ndarray


class SourceRules(NamedTuple):
    """Rules by source side.

    rule_starts: int64[sources + 1], the first rule of each source side. rule_labels: int64 by rule,
    its left-hand side.
    """

    rule_starts: np.ndarray
    rule_labels: np.ndarray


class _Dotted(NamedTuple):
    """Dotted rules by span.

    heads: int64[tokens, longest + 1], the last one of each span. rows: int64[n, 6] of node, two
    gaps, and the one before of the same span. tried: int64 by child of the root, the last span
    in which it was begun. n: int64[1], rows in use.
    """

    heads: np.ndarray
    rows: np.ndarray
    tried: np.ndarray
    n: np.ndarray


@folded
def _child(trie, node, symbol):
    """Return the child of a trie's node by a symbol, -1 for none.

    Arguments:
        trie: a Trie.
        node: its number.
        symbol: of a word or of a gap's label.
    """
    first, stop = np.int64(trie.children[node]), np.int64(trie.children[node + 1])
    low = first_not_below(trie.symbols, symbol, first, stop)
    if low < stop and trie.symbols[low] == symbol:
        return low
    return np.int64(NO)


@compiled
def _extended(new, n, node, dotted, at, begin, size):
    """Return (new, n) with a dotted rule moved to a node, over a gap unless `begin` is -1.

    Arguments:
        new, n: int64[room, 5] of node and two gaps, and rows in use.
        node: of the trie.
        dotted, at: the dotted rules, and the row of the one that is moved; -2 is the root.
        begin, size: start and length of the gap.
    """
    if n == new.shape[0]:
        new = doubled(new)
    for k in range(1, 5):
        new[n, k] = dotted.rows[at, k] if at >= 0 else NO
    new[n, _NODE] = node
    if begin >= 0:
        gap = _GAPS if new[n, _GAPS] < 0 else _GAPS + 2
        new[n, gap] = begin
        new[n, gap + 1] = size
    return new, n + 1


@compiled
def _extend_shorter(trie, codes, possible, dotted, i, length, new):
    """Return (new, n): shorter spans' dotted rules and the root, extended to tokens i..i + length.

    Arguments:
        trie: a Trie.
        codes: int64 by token, its symbol, -1 for none.
        possible: bool[tokens, longest + 1, labels], labels that spans have.
        dotted: the dotted rules by span.
        i, length: the span.
        new: int64[room, 5] of node and two gaps; replaced where it is full.
    """
    n = np.int64(0)
    word = codes[i + length - 1]
    for before in range(0, length):
        at = dotted.heads[i, before] if before > 0 else np.int64(_ROOT)
        while at >= 0 or at == _ROOT:
            parent = np.int64(0) if at == _ROOT else dotted.rows[at, _NODE]
            if before == length - 1 and word >= 0:
                node = _child(trie, parent, word)
                if node >= 0:
                    new, n = _extended(new, n, node, dotted, at, np.int64(NO), np.int64(0))
            if before > 0:
                for node in range(
                    np.int64(trie.children[parent]), np.int64(trie.children[parent + 1])
                ):
                    label = trie.symbols[node]
                    if label >= possible.shape[2]:
                        break
                    if possible[i + before, length - before, label]:
                        new, n = _extended(new, n, node, dotted, at, i + before, length - before)
            at = np.int64(NO) if at == _ROOT else dotted.rows[at, _NEXT]
    return new, n


@compiled
def _begin_with_gap(trie, possible, dotted, span, i, length, new, n):
    """Return (new, n) with the root moved over a gap of the whole span, once for each label.

    Arguments:
        trie: a Trie.
        possible: bool[tokens, longest + 1, labels], labels that spans have.
        dotted: the dotted rules by span.
        span: its number.
        i, length: the span.
        new, n: int64[room, 5] of node and two gaps, and rows in use.
    """
    for node in range(np.int64(trie.children[0]), np.int64(trie.children[1])):
        label = trie.symbols[node]
        if label >= possible.shape[2]:
            break
        if possible[i, length, label] and dotted.tried[node] != span:
            dotted.tried[node] = span
            new, n = _extended(new, n, node, dotted, np.int64(_ROOT), i, length)
    return new, n


@compiled
def _keep_dotted(trie, dotted, i, length, row):
    """Return the dotted rules with one more of a span.

    Arguments:
        trie: a Trie.
        dotted: the dotted rules by span.
        i, length: the span.
        row: int64[5], node and two gaps.
    """
    rows = dotted.rows
    n = dotted.n[0]
    if n == rows.shape[0]:
        rows = doubled(rows)
    for k in range(5):
        rows[n, k] = row[k]
    rows[n, _NEXT] = dotted.heads[i, length]
    dotted.heads[i, length] = n
    dotted.n[0] = n + 1
    return _Dotted(dotted.heads, rows, dotted.tried, dotted.n)


@compiled
def _record(trie, rules, possible, i, length, row, matches, n, max_rules):
    """Return (found, number of filled rows) after adding the source sides that end at a node.

    Arguments:
        trie: a Trie of source sides.
        rules: SourceRules.
        possible: bool[tokens, longest + 1, labels], the labels that rules can give a span; marked.
        i, length: start and length of the span, in tokens.
        row: int64[5], a dotted rule: its node, and the starts and lengths of its gaps.
        matches: int64[capacity, 7]; replaced by an array of twice the size where it is full.
        n: number of rows of `matches` that are filled.
        max_rules: maximum number of rules of a source side whose labels are marked.
    """
    node = row[_NODE]
    for s in range(np.int64(trie.node_sources[node]), np.int64(trie.node_sources[node + 1])):
        source = np.int64(trie.sources[s])
        if n == matches.shape[0]:
            matches = doubled(matches)
        matches[n, 0] = i
        matches[n, 1] = length
        matches[n, 2] = source
        for part in range(1, 5):
            matches[n, 2 + part] = row[part]
        n += 1
        first = np.int64(rules.rule_starts[source])
        for rule in range(first, min(np.int64(rules.rule_starts[source + 1]), first + max_rules)):
            possible[i, length, rules.rule_labels[rule]] = True
    return matches, n


@compiled
def find_matches(trie, rules, codes, possible, longest, max_rules):
    """Return where source sides match, int64[n, 7], and fill `possible` with labels of spans.

    A row: start, length, source side, then start and length of the first and of the second gap,
    -1 for none; in order of length and start. Each node is tried once for a span, so rules whose
    source side is a gap alone cannot repeat endlessly.

    Arguments:
        trie: a Trie.
        rules: SourceRules.
        codes: int64 by token, its symbol, -1 for none.
        possible: bool[tokens, longest + 1, labels], labels that spans have already; changed.
        longest: maximum length of a span, in tokens.
        max_rules: maximum number of rules of a source side whose labels are used.
    """
    n_tokens = codes.size
    dotted = _Dotted(
        np.full((n_tokens, longest + 1), NO, np.int64), np.empty((1024, 6), np.int64),
        np.zeros(np.int64(trie.children[1]) + 1, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    matches = np.empty((1024, 7), np.int64)
    n_found = np.int64(0)
    new = np.empty((256, 5), np.int64)
    span = 0
    for length in range(1, longest + 1):
        for i in range(n_tokens - length + 1):
            span += 1
            new, n_new = _extend_shorter(trie, codes, possible, dotted, i, length, new)
            done = np.int64(-1)
            while done < n_new:
                for k in range(max(done, 0), n_new):
                    matches, n_found = _record(
                        trie, rules, possible, i, length, new[k], matches, n_found, max_rules
                    )
                    node = new[k, _NODE]
                    if trie.children[node] < trie.children[node + 1] and length < longest:
                        dotted = _keep_dotted(trie, dotted, i, length, new[k])
                done = n_new
                new, n_new = _begin_with_gap(trie, possible, dotted, span, i, length, new, n_new)
    return matches[:n_found].copy()


@compiled
def best_rules(starts, scores, best):
    """Return the rules of the highest scores of each group: (rules int64, starts int64).

    Best first, equal ones in their order, none of -inf.

    Arguments:
        starts: int64[groups + 1], the first rule of each group in scores.
        scores: float64, of each rule.
        best: maximum number of rules of a group.
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
