"""A packed forest -> its best derivations, lazily: each is made only when another asks for it.

Huang and Chiang 2005, algorithm 3. Of derivations that say the same the best one stands for all,
at every item, so that the lists do not fill with them.
"""

import numpy as np

from distsim.kernels.arrays import doubled, grown
from distsim.kernels.compiled import compiled, uncounted

NO = -1
_EDGE, _ONE, _TWO, _BELOW, _BESIDE = range(5)  # of a candidate; then its place in a heap
_STOP = 4  # of a derivation: edge, two ranks, where its words begin and stop
_MIX = np.uint64(0x9E3779B97F4A7C15)


@uncounted
def _before(rows, scores, a, b):
    """Tell whether candidate a goes before b: the higher score, the older edge, lower ranks."""
    if scores[a] != scores[b]:
        return scores[a] > scores[b]
    if rows[a, _EDGE] != rows[b, _EDGE]:
        return rows[a, _EDGE] < rows[b, _EDGE]
    if rows[a, _ONE] != rows[b, _ONE]:
        return rows[a, _ONE] < rows[b, _ONE]
    return rows[a, _TWO] < rows[b, _TWO]


@uncounted
def _melded(rows, scores, a, b):
    """Put two pairing heaps together; return the first of both. -1 is an empty one."""
    if a < 0:
        return b
    if b < 0:
        return a
    if _before(rows, scores, b, a):
        a, b = b, a
    rows[b, _BESIDE] = rows[a, _BELOW]
    rows[a, _BELOW] = b
    return a


@uncounted
def _rest(rows, scores, root):
    """Return the heap without its first."""
    pairs = np.int64(NO)
    one = rows[root, _BELOW]
    while one >= 0:
        two = rows[one, _BESIDE]
        following = np.int64(NO)
        rows[one, _BESIDE] = NO
        if two >= 0:
            following = rows[two, _BESIDE]
            rows[two, _BESIDE] = NO
        one = _melded(rows, scores, one, two)
        rows[one, _BESIDE] = pairs
        pairs = one
        one = following
    rest = np.int64(NO)
    while pairs >= 0:
        following = rows[pairs, _BESIDE]
        rows[pairs, _BESIDE] = NO
        rest = _melded(rows, scores, rest, pairs)
        pairs = following
    return rest


@uncounted
def _hash(words, start, stop, same):
    """Return the hash of some words, by the number that stands for each in `same`."""
    state = np.uint64(stop - start)
    for k in range(start, stop):
        state = (state ^ np.uint64(same[words[k]])) * _MIX
        state ^= state >> np.uint64(32)
    return state


@uncounted
def _says(words, start, stop, others, first, last, same):
    """Tell whether two runs of words are the same."""
    if stop - start != last - first:
        return False
    for k in range(stop - start):
        if same[words[start + k]] != same[others[first + k]]:
            return False
    return True


@compiled
def best_derivations(first_edges, edges, edge_scores, goal, targets, target_starts, same, most):
    """Return the best derivations of whole sentences, all saying something else, none nothing.

    first_edges: int64 by item, -1 where the sentence begins. edges: int64[m, 4] of rule, two
    items, the next edge of the item. edge_scores: float64[m]. goal: float64[k, 2] of an item and
    what the end scores. targets, target_starts: of rules; -1 and -2 are an edge's two items.
    same: int64 by word, a number that words written alike share. most: so many are wanted.

    Returns (words, starts, nodes, node_starts): what is said, end to end; int64 rows of rule and
    how many of its items have nodes, from the whole to its parts, left to right.
    """
    n_items = first_edges.size
    # Of an item: its heap and its waiting candidates, its derivations and the room for them.
    heaps = np.full(n_items, NO, np.int64)
    waiting = np.full(n_items, NO, np.int64)
    n_found = np.full(n_items, NO, np.int64)  # -1: not begun
    slots = np.zeros(n_items, np.int64)
    rooms = np.zeros(n_items, np.int64)
    found = np.empty(1024, np.int64)
    n_slots = 0
    candidates = np.empty((1024, 5), np.int64)
    scores = np.empty(1024, np.float64)
    n_candidates = 0
    derivations = np.empty((1024, 5), np.int64)
    derivation_scores = np.empty(1024, np.float64)
    hashes = np.empty(1024, np.uint64)
    n_derivations = 0
    said = np.empty(4096, np.int64)
    n_said = 0
    asked = np.empty((64, 2), np.int64)  # a stack of our own: sentences may be long
    out = np.empty(1024, np.int64)
    out_starts = np.zeros(64, np.int64)
    out_hashes = np.empty(64, np.uint64)
    n_out = 0
    nodes = np.empty((256, 2), np.int64)
    node_starts = np.zeros(64, np.int64)
    n_nodes = 0
    ends = np.empty(goal.shape[0], np.float64)
    ranks = np.zeros(goal.shape[0], np.int64)
    n_goal = 0
    taken = np.int64(0)
    while goal.shape[0] > 0 and n_out < most:
        if n_goal < goal.shape[0]:
            taken = np.int64(n_goal)
            n_goal += 1
        else:
            ranks[taken] += 1
        wanted_item = np.int64(goal[taken, 0])
        asked[0, 0] = wanted_item
        asked[0, 1] = ranks[taken]
        depth = 1
        while depth > 0:
            at = asked[depth - 1, 0]
            edge = np.int64(NO)
            one, two = np.int64(0), np.int64(0)
            start, row = np.int64(0), np.int64(NO)
            key = np.uint64(0)
            successors = 0
            if n_found[at] < 0:
                n_found[at] = 0
                edge = first_edges[at]
            new = edge < 0 and n_found[at] == 0 and first_edges[at] < 0
            if edge < 0 and not new:
                if n_found[at] > asked[depth - 1, 1]:
                    depth -= 1
                    continue
                if waiting[at] >= 0:
                    row = waiting[at]
                    lacking = False
                    there = True
                    score = edge_scores[candidates[row, _EDGE]]
                    for k in range(2):
                        child = edges[candidates[row, _EDGE], 1 + k]
                        rank = candidates[row, _ONE + k]
                        if child < 0:
                            continue
                        if n_found[child] > rank:
                            score += derivation_scores[found[slots[child] + rank]]
                        elif n_found[child] >= 0 and waiting[child] < 0 and heaps[child] < 0:
                            there = False
                        else:
                            lacking = True
                            if depth == asked.shape[0]:
                                asked = doubled(asked)
                            asked[depth, 0] = child
                            asked[depth, 1] = rank
                            depth += 1
                            break
                    if not lacking:
                        waiting[at] = candidates[row, _BESIDE]
                        candidates[row, _BESIDE] = NO
                        if there:
                            scores[row] = score
                            heaps[at] = _melded(candidates, scores, heaps[at], row)
                    continue
                if heaps[at] < 0:
                    depth -= 1
                    continue
                row = heaps[at]
                heaps[at] = _rest(candidates, scores, row)
                edge, one, two = candidates[row, 0], candidates[row, 1], candidates[row, 2]
                start = np.int64(n_said)
                rule = edges[edge, 0]
                for k in range(target_starts[rule], target_starts[rule + 1]):
                    symbol = targets[k]
                    low = np.int64(k)
                    high = np.int64(k + 1)
                    if symbol < 0:
                        child = edges[edge, -symbol]
                        below = found[slots[child] + (one if symbol == -1 else two)]
                        low, high = derivations[below, 3], derivations[below, _STOP]
                    for j in range(low, high):
                        if n_said == said.size:
                            said = grown(said, n_said, 2 * n_said)
                        said[n_said] = targets[j] if symbol >= 0 else said[j]
                        n_said += 1
                successors = 1
                key = _hash(said, start, n_said, same)
                new = True
                for k in range(slots[at], slots[at] + n_found[at]):
                    other = found[k]
                    if hashes[other] == key and _says(
                        said, start, n_said, said, derivations[other, 3],
                        derivations[other, _STOP], same,
                    ):  # fmt: skip
                        new = False  # said better by another derivation
                        n_said = start
                        break
            if new:
                if n_derivations == hashes.size:
                    derivations = doubled(derivations)
                    derivation_scores = grown(derivation_scores, n_derivations, 2 * n_derivations)
                    hashes = grown(hashes, n_derivations, 2 * n_derivations)
                derivations[n_derivations, 0] = edge
                derivations[n_derivations, 1] = one
                derivations[n_derivations, 2] = two
                derivations[n_derivations, 3] = start
                derivations[n_derivations, _STOP] = n_said if edge >= 0 else start
                derivation_scores[n_derivations] = scores[row] if edge >= 0 else 0.0
                hashes[n_derivations] = key
                if n_found[at] == rooms[at]:
                    room = max(np.int64(2), 2 * rooms[at])
                    while n_slots + room > found.size:
                        found = grown(found, n_slots, 2 * found.size)
                    for k in range(n_found[at]):
                        found[n_slots + k] = found[slots[at] + k]
                    slots[at], rooms[at] = n_slots, room
                    n_slots += room
                found[slots[at] + n_found[at]] = n_derivations
                n_found[at] += 1
                n_derivations += 1
            # What comes next waits: every edge of an item just begun, or those after (one, two).
            begun = successors == 0
            while edge >= 0:
                if begun:
                    ranked = (np.int64(0), np.int64(0))
                elif successors == 1:
                    successors = 2
                    if edges[edge, 2] < 0:
                        continue
                    ranked = (one, two + 1)
                elif successors == 2:
                    successors = 3
                    if edges[edge, 1] < 0 or two > 0:  # else there by (one, two - 1) already
                        continue
                    ranked = (one + 1, two)
                else:
                    break
                if n_candidates == scores.size:
                    candidates = doubled(candidates)
                    scores = grown(scores, n_candidates, 2 * n_candidates)
                candidates[n_candidates, _EDGE] = edge
                candidates[n_candidates, _ONE] = ranked[0]
                candidates[n_candidates, _TWO] = ranked[1]
                candidates[n_candidates, _BELOW] = NO
                candidates[n_candidates, _BESIDE] = waiting[at]
                waiting[at] = n_candidates
                n_candidates += 1
                if begun:
                    edge = edges[edge, 3]
        ends[taken] = -np.inf
        if n_found[wanted_item] > ranks[taken]:
            derivation = found[slots[wanted_item] + ranks[taken]]
            ends[taken] = derivation_scores[derivation] + goal[taken, 1]
        if n_goal < goal.shape[0]:
            continue
        taken = np.int64(0)
        for k in range(1, goal.shape[0]):
            if ends[k] > ends[taken] or (ends[k] == ends[taken] and goal[k, 0] < goal[taken, 0]):
                taken = np.int64(k)
        if ends[taken] == -np.inf:
            break
        derivation = found[slots[np.int64(goal[taken, 0])] + ranks[taken]]
        start, stop = derivations[derivation, 3], derivations[derivation, _STOP]
        key = _hash(said, start, stop, same)
        known = start == stop
        for k in range(n_out):
            if out_hashes[k] == key and _says(
                said, start, stop, out, out_starts[k], out_starts[k + 1], same
            ):
                known = True
                break
        if known:
            continue
        if n_out + 1 == out_starts.size:
            out_starts = grown(out_starts, n_out + 1, 2 * out_starts.size)
            node_starts = grown(node_starts, n_out + 1, 2 * node_starts.size)
            out_hashes = grown(out_hashes, n_out, 2 * out_hashes.size)
        out_hashes[n_out] = key
        at_word = out_starts[n_out]
        while at_word + stop - start > out.size:
            out = grown(out, at_word, 2 * out.size)
        for k in range(start, stop):
            out[at_word + k - start] = said[k]
        depth = 1
        asked[0, 0] = derivation
        while depth > 0:
            depth -= 1
            derivation = asked[depth, 0]
            edge = derivations[derivation, 0]
            parts = 0
            for back in range(2):  # the right one first, which then comes last
                child = edges[edge, 2 - back]
                if child < 0:
                    continue
                below = found[slots[child] + derivations[derivation, 2 - back]]
                if derivations[below, 0] < 0:
                    continue
                if depth == asked.shape[0]:
                    asked = doubled(asked)
                asked[depth, 0] = below
                depth += 1
                parts += 1
            if n_nodes == nodes.shape[0]:
                nodes = doubled(nodes)
            nodes[n_nodes, 0] = edges[edge, 0]
            nodes[n_nodes, 1] = parts
            n_nodes += 1
        n_out += 1
        out_starts[n_out] = at_word + stop - start
        node_starts[n_out] = n_nodes
    return (
        out[: out_starts[n_out]].copy(), out_starts[: n_out + 1].copy(), nodes[:n_nodes].copy(),
        node_starts[: n_out + 1].copy(),
    )  # fmt: skip
