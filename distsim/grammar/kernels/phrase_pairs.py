"""Links of rules -> pairs of spans that they hold together; spans -> hashes."""

import numpy as np

from distsim.grammar.kernels.rules import TERMINAL
from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import SPACE, START, extend, finish, step


@compiled
def decompose(token_stops, gaps, link_stops, links, longest):
    """Return the phrase pairs of every rule: spans that the links hold together.

    The arguments are as `parse_rules` returns them, of which only the spans count; longest:
    the most symbols of a span. Returns
    pair_stops: int64[n], pairs up to the end of each rule;
    spans: int64[p, 4] of (first symbol and length of the source span, the same of the
    target), symbols counted over the block.

    A span pair holds as in thesis 5.3.2: at least one link inside and none that crosses its
    edge, no gap inside, no symbol without a link at its edges. As the target's edges have
    links, a source span has at most one partner: from the first to the last symbol that its
    links reach.
    """
    n_rules = token_stops.shape[0]
    n_symbols = gaps.size
    pair_stops = np.empty(n_rules, np.int64)
    n_sources = 0
    begin = 0
    for rule in range(n_rules):
        n_sources += token_stops[rule, 0] - begin
        begin = token_stops[rule, 1]
    spans = np.empty((n_sources * longest + n_rules, 4), np.int64)
    lowest = np.full(n_symbols, n_symbols, np.int64)  # of the partners of each symbol
    highest = np.full(n_symbols, -1, np.int64)
    n = 0
    begin = 0
    first_link = 0
    for rule in range(n_rules):
        middle = token_stops[rule, 0]
        end = token_stops[rule, 1]
        for k in range(first_link, link_stops[rule]):
            source = begin + links[k, 0]
            target = middle + links[k, 1]
            lowest[source] = min(lowest[source], target)
            highest[source] = max(highest[source], target)
            lowest[target] = min(lowest[target], source)
            highest[target] = max(highest[target], source)
        has_gap = False
        for k in range(begin, end):
            has_gap = has_gap or gaps[k] != TERMINAL
        has_whole = False
        for i in range(begin, middle):
            if gaps[i] != TERMINAL or highest[i] < 0:
                continue
            low = n_symbols
            high = -1
            for j in range(i, min(i + longest, middle)):
                if gaps[j] != TERMINAL:
                    break
                low = min(low, lowest[j])
                high = max(high, highest[j])
                if high - low >= longest:
                    break
                if highest[j] < 0:
                    continue
                holds = True
                for t in range(low, high + 1):
                    if gaps[t] != TERMINAL or (
                        highest[t] >= 0 and (lowest[t] < i or highest[t] > j)
                    ):
                        holds = False
                        break
                if holds:
                    spans[n, 0] = i
                    spans[n, 1] = j + 1 - i
                    spans[n, 2] = low
                    spans[n, 3] = high + 1 - low
                    n += 1
                    if i == begin and j + 1 == middle and low == middle and high + 1 == end:
                        has_whole = True
        if (
            not has_gap and not has_whole
            and 0 < middle - begin <= longest and 0 < end - middle <= longest
        ):  # fmt: skip
            spans[n, 0] = begin
            spans[n, 1] = middle - begin
            spans[n, 2] = middle
            spans[n, 3] = end - middle
            n += 1
        pair_stops[rule] = n
        begin = end
        first_link = link_stops[rule]
    return pair_stops, spans[:n].copy()


@compiled
def hash_symbols(text, starts, stops):
    """Return the hash of text[starts[i]:stops[i]] for every i, uint64."""
    out = np.empty(starts.size, np.uint64)
    for i in range(starts.size):
        out[i] = finish(extend(START, text, starts[i], stops[i]))
    return out


@compiled
def hash_spans(firsts, lengths, words, text, offsets):
    """Return the hash of the text of each span of symbols, and whether it has one.

    words: the word of each symbol, -1 for a gap. text, offsets: the words' normal forms; an
    empty one has vanished, and a span with it has no text.
    Returns (uint64[n], bool[n]).
    """
    out = np.zeros(firsts.size, np.uint64)
    whole = np.ones(firsts.size, np.bool_)
    for i in range(firsts.size):
        state = START
        for k in range(lengths[i]):
            word = words[firsts[i] + k]
            if word < 0 or offsets[word] == offsets[word + 1]:
                whole[i] = False
                break
            if k > 0:
                state = step(state, SPACE)
            state = extend(state, text, offsets[word], offsets[word + 1])
        out[i] = finish(state)
    return out, whole
