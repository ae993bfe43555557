"""A packed forest -> what is best of each of its items by words, and the edges that make it so.

A slot is an item with a number of words. Items come after what they are made of.
"""

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled

NO = -1


@compiled
def inside(first_edges, edges, edge_scores, words, most):
    """Return the best score of every item by words: (low, starts, best).

    first_edges: int64[items], -1 for what is made of nothing. edges: int64[m, 4] of rule, two
    items (-1 for none), the next edge of the same item. words: int64 by rule, those of its own.
    most: lengths that differ by more from that of an item's best are left out.
    low: int64[items], the fewest words; starts: int64[items + 1] into best, float64 by slot,
    -inf where no derivation has so many words.
    """
    n = first_edges.size
    low = np.zeros(n, np.int64)
    starts = np.zeros(n + 1, np.int64)
    top = np.zeros(n)
    own = np.zeros(n, np.int64)  # words of the best
    best = np.empty(4 * n + 64)
    for item in range(n):
        lowest = np.int64(0)
        highest = np.int64(0)
        edge = first_edges[item]
        if edge >= 0:
            lowest = np.int64(1 << 40)
            top[item] = -np.inf
        while edge >= 0:
            fewest = words[edges[edge, 0]]
            largest = fewest
            size = fewest
            score = edge_scores[edge]
            for side in range(1, 3):
                child = edges[edge, side]
                if child >= 0:
                    fewest += low[child]
                    largest += low[child] + starts[child + 1] - starts[child] - 1
                    size += own[child]
                    score += top[child]
            lowest = min(lowest, fewest)
            highest = max(highest, largest)
            if score > top[item] or edge == first_edges[item]:
                top[item] = score
                own[item] = size
            edge = edges[edge, 3]
        lowest = max(lowest, own[item] - most)
        highest = min(highest, own[item] + most)
        start = starts[item]
        stop = start + highest - lowest + 1
        while stop > best.size:
            best = grown(best, start, 2 * best.size)
        low[item] = lowest
        starts[item + 1] = stop
        best[start:stop] = -np.inf
        edge = first_edges[item]
        if edge < 0:
            best[start] = 0.0
        while edge >= 0:
            one, two = edges[edge, 1], edges[edge, 2]
            base = start + words[edges[edge, 0]] - lowest
            first_slots = starts[one + 1] - starts[one] if one >= 0 else np.int64(1)
            second_slots = starts[two + 1] - starts[two] if two >= 0 else np.int64(1)
            base += low[one] if one >= 0 else np.int64(0)
            base += low[two] if two >= 0 else np.int64(0)
            for a in range(first_slots):
                score = edge_scores[edge] + (best[starts[one] + a] if one >= 0 else 0.0)
                if score == -np.inf:
                    continue
                for b in range(max(0, start - base - a), min(second_slots, stop - base - a)):
                    value = score + (best[starts[two] + b] if two >= 0 else 0.0)
                    best[base + a + b] = max(best[base + a + b], value)
            edge = edges[edge, 3]
    return low, starts, best[: starts[n]].copy()


@compiled
def through(first_edges, edges, edge_scores, words, low, starts, best, goal, wanted):
    """Return the edges of whole sentences of so many words, and the best that each is part of.

    low, starts, best: of `inside`. goal: float64[k, 2] of a last item and what its end scores.
    Returns (rows, scores): rows int64[n, 4] of edge, its item's slot, its two parts' slots (-1
    for none); scores float64[n]. An item's rows stand together, later items first.
    """
    outside = np.full(best.size, -np.inf)
    for k in range(goal.shape[0]):
        item = np.int64(goal[k, 0])
        slot = starts[item] + wanted - low[item]
        if starts[item] <= slot < starts[item + 1]:
            outside[slot] = max(outside[slot], goal[k, 1])
    rows = np.empty((1024, 4), np.int64)
    scores = np.empty(1024)
    n = np.int64(0)
    for item in range(first_edges.size - 1, -1, -1):
        for slot in range(starts[item], starts[item + 1]):
            above = outside[slot]
            if above == -np.inf or best[slot] == -np.inf:
                continue
            edge = first_edges[item]
            while edge >= 0:
                one, two = edges[edge, 1], edges[edge, 2]
                rest = low[item] + slot - starts[item] - words[edges[edge, 0]]
                first_slots = starts[one + 1] - starts[one] if one >= 0 else np.int64(1)
                for a in range(first_slots):
                    left = rest - (low[one] + a if one >= 0 else np.int64(0))
                    first = starts[one] + a if one >= 0 else np.int64(NO)
                    second = np.int64(NO)
                    if two >= 0:
                        second = starts[two] + left - low[two]
                        if not starts[two] <= second < starts[two + 1]:
                            continue
                    elif left != 0:
                        continue
                    of_first = best[first] if first >= 0 else 0.0
                    of_second = best[second] if second >= 0 else 0.0
                    outer = above + edge_scores[edge]
                    score = outer + of_first + of_second
                    if score == -np.inf:
                        continue
                    if first >= 0:
                        outside[first] = max(outside[first], outer + of_second)
                    if second >= 0:
                        outside[second] = max(outside[second], outer + of_first)
                    if n == scores.size:
                        more_rows = np.empty((2 * n, 4), np.int64)
                        for row in range(n):
                            for column in range(4):
                                more_rows[row, column] = rows[row, column]
                        rows = more_rows
                        scores = grown(scores, n, 2 * n)
                    rows[n, 0] = edge
                    rows[n, 1] = slot
                    rows[n, 2] = first
                    rows[n, 3] = second
                    scores[n] = score
                    n += 1
                edge = edges[edge, 3]
    return rows[:n].copy(), scores[:n].copy()
