"""Spans of a sentence and their rules -> the best derivations: compiled beam search, n-best lists.

Stacks by number of covered words, hypotheses that agree in what the future can see recombined
(their arcs are kept), future costs where words may be jumped over; then the n best paths through
the arcs, by A* from the end, where the scores from the beginning are the exact estimate.
"""

import heapq

import numpy as np
from language_model import log_probability
from numba import int64, njit, types
from numba.typed import Dict

CACHE = 1 << 18
_KEY = types.UniTuple(int64, 2)


@njit(nogil=True, cache=True)
def _cached(model, cache_keys, cache_values, u, v, w):  # type: ignore[no-untyped-def]
    key = (np.int64(u) << 42) ^ (np.int64(v) << 21) ^ np.int64(w)
    slot = ((key * -7046029254386353131) >> 40) & (cache_keys.size - 1)
    if cache_keys[slot] != key:
        cache_keys[slot] = key
        cache_values[slot] = log_probability(model, u, v, w)
    return cache_values[slot]


@njit(nogil=True, cache=True)
def _grown(array):  # type: ignore[no-untyped-def]
    new = np.empty(2 * array.size, array.dtype)
    new[: array.size] = array
    return new


@njit(nogil=True, cache=True)
def _futures(n, spans, firsts, fixed, alone):  # type: ignore[no-untyped-def]
    """Return float64[n + 1, n + 1]: the best score of each span, by rules inside it alone."""
    best = np.full((n + 1, n + 1), -np.inf)
    for number in range(len(spans)):
        a, b, source = spans[number]
        for rule in range(firsts[source], firsts[source + 1]):
            best[a, b] = max(best[a, b], fixed[rule] + alone[rule])
    for size in range(2, n + 1):
        for a in range(n - size + 1):
            for cut in range(a + 1, a + size):
                best[a, a + size] = max(best[a, a + size], best[a, cut] + best[cut, a + size])
    return best


@njit(nogil=True, cache=True)
def _future(covered, n, best):  # type: ignore[no-untyped-def]
    total = 0.0
    a = 0
    while a < n:
        if covered >> a & 1:
            a += 1
            continue
        b = a
        while b < n and not covered >> b & 1:
            b += 1
        total += best[a, b]
        a = b
    return total


@njit(nogil=True, cache=True)
def search(  # type: ignore[no-untyped-def]
    n, spans, firsts, fixed, alone, sizes, targets, words, model, cache_keys, cache_values,
    lm_weight, jump_weight, limit, beam, n_best,
):  # fmt: skip
    """Return (rules[k, n], lengths[k], model[k], jumps[k]) of the k best derivations.

    Those that say the same are returned once. model: the language model's score; jumps: the
    distance, 0 or less.

    Arguments:
        n: words of the sentence, at most 60. spans: int64[s, 3], begin, end, source, by begin.
        firsts: the rules of source i are firsts[i] to firsts[i + 1]; fixed: what each adds
            wherever it applies; alone: its language model score without history; sizes: words
            of its source; its target is words[targets[rule] : targets[rule + 1]].
        limit: how far to jump between phrases; 0: monotone. beam: hypotheses of a stack.
    """
    everything = (np.int64(1) << n) - 1
    futures = _futures(n, spans, firsts, fixed, alone) if limit else np.zeros((1, 1))
    size = 1 << 12
    score = np.empty(size)
    outlook = np.empty(size)
    covered = np.empty(size, np.int64)
    last = np.empty(size, np.int64)
    us = np.empty(size, np.int64)
    vs = np.empty(size, np.int64)
    below = np.empty(size, np.int64)  # next hypothesis of the same stack
    arcs = np.empty(size, np.int64)  # the latest arc into it
    n_hyps = 1
    score[0], outlook[0], covered[0], last[0] = 0.0, 0.0, 0, 0
    us[0], vs[0], below[0], arcs[0] = 0, 0, -1, -1
    arc_from = np.empty(size, np.int64)
    arc_rule = np.empty(size, np.int64)
    arc_begin = np.empty(size, np.int64)
    arc_score = np.empty(size)
    arc_next = np.empty(size, np.int64)
    n_arcs = 0
    heads = np.full(n + 1, -1, np.int64)
    heads[0] = 0
    known = Dict.empty(_KEY, int64)

    for done in range(n):
        count = 0
        at = heads[done]
        while at >= 0:
            count += 1
            at = below[at]
        members = np.empty(count, np.int64)
        ranks = np.empty(count)
        at = heads[done]
        for i in range(count):
            members[i] = at
            ranks[i] = -outlook[at]
            at = below[at]
        best = np.argsort(ranks, kind="mergesort")[:beam]
        for i in best:
            hyp = members[i]
            first = 0
            while covered[hyp] >> first & 1:
                first += 1
            for number in range(len(spans)):
                a, b, source = spans[number]
                if limit == 0:
                    if a != first:
                        continue
                else:
                    if covered[hyp] & (((np.int64(1) << (b - a)) - 1) << a):
                        continue
                    if abs(a - last[hyp]) > limit or (a > first and b - first > limit):
                        continue
                cover = covered[hyp] | (((np.int64(1) << (b - a)) - 1) << a)
                ahead = _future(cover, n, futures) if limit else 0.0
                jump = jump_weight * -abs(a - last[hyp])
                for rule in range(firsts[source], firsts[source + 1]):
                    u, v = us[hyp], vs[hyp]
                    value = 0.0
                    for k in range(targets[rule], targets[rule + 1]):
                        value += _cached(model, cache_keys, cache_values, u, v, words[k])
                        u, v = v, words[k]
                    if cover == everything:
                        value += _cached(model, cache_keys, cache_values, u, v, 1)
                        u, v = 1, 1
                    total = score[hyp] + fixed[rule] + jump + lm_weight * value
                    key = (cover, (b << 42) | (u << 21) | v)
                    if key in known:
                        new = known[key]
                    else:
                        if n_hyps == score.size:
                            score, outlook = _grown(score), _grown(outlook)
                            covered, last = _grown(covered), _grown(last)
                            us, vs = _grown(us), _grown(vs)
                            below, arcs = _grown(below), _grown(arcs)
                        new = n_hyps
                        n_hyps += 1
                        known[key] = new
                        score[new], outlook[new], covered[new], last[new] = -np.inf, 0.0, cover, b
                        us[new], vs[new], arcs[new] = u, v, -1
                        below[new] = heads[done + b - a]
                        heads[done + b - a] = new
                    if total > score[new]:
                        score[new] = total
                        outlook[new] = total + ahead
                    if n_arcs == arc_from.size:
                        arc_from, arc_rule = _grown(arc_from), _grown(arc_rule)
                        arc_begin, arc_next = _grown(arc_begin), _grown(arc_next)
                        arc_score = _grown(arc_score)
                    arc_from[n_arcs], arc_rule[n_arcs], arc_begin[n_arcs] = hyp, rule, a
                    arc_score[n_arcs], arc_next[n_arcs] = total, arcs[new]
                    arcs[new] = n_arcs
                    n_arcs += 1

    rules = np.empty((n_best, n), np.int64)
    lengths = np.zeros(n_best, np.int64)
    language = np.zeros(n_best)
    jumps = np.zeros(n_best)
    found = 0
    seen = Dict.empty(int64, int64)
    path_hyp, path_arc, path_next, path_hash, path_rest = [0], [-1], [-1], [np.int64(0)], [0.0]
    heap = [(0.0, 0)]
    heap.pop()
    at = heads[n]
    while at >= 0:
        path_hyp.append(at)
        path_arc.append(-1)
        path_next.append(-1)
        path_hash.append(np.int64(17))
        path_rest.append(0.0)
        heapq.heappush(heap, (-score[at], len(path_hyp) - 1))
        at = below[at]
    pops = 0
    while heap and found < n_best and pops < 200 * n_best:
        pops += 1
        path = heapq.heappop(heap)[1]
        hyp = path_hyp[path]
        if hyp == 0:
            if path_hash[path] in seen:
                continue
            seen[path_hash[path]] = 1
            at, end, u, v = path, 0, 0, 0
            while path_arc[at] >= 0:
                rule = arc_rule[path_arc[at]]
                begin = arc_begin[path_arc[at]]
                rules[found, lengths[found]] = rule
                lengths[found] += 1
                jumps[found] -= abs(begin - end)
                end = begin + sizes[rule]
                for k in range(targets[rule], targets[rule + 1]):
                    language[found] += _cached(model, cache_keys, cache_values, u, v, words[k])
                    u, v = v, words[k]
                at = path_next[at]
            language[found] += _cached(model, cache_keys, cache_values, u, v, 1)
            found += 1
            continue
        arc = arcs[hyp]
        while arc >= 0:
            source = arc_from[arc]
            hashed = path_hash[path]
            rule = arc_rule[arc]
            for k in range(targets[rule + 1] - 1, targets[rule] - 1, -1):
                hashed = hashed * np.int64(6364136223846793005) + np.int64(words[k]) + 1
            path_hyp.append(source)
            path_arc.append(arc)
            path_next.append(path)
            path_hash.append(hashed)
            path_rest.append(path_rest[path] + arc_score[arc] - score[source])
            heapq.heappush(heap, (-(arc_score[arc] + path_rest[path]), len(path_hyp) - 1))
            arc = arc_next[arc]
    return rules[:found], lengths[:found], language[:found], jumps[:found]
