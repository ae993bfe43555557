"""Phrase pairs of rules, by their word links; hashes of symbols and of spans."""

import numpy as np

from distsim.grammar.kernels.rules import TERMINAL
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import SPACE, START, extend, finish, step


@uncounted
def _set_reach(begin, middle, first_link, last_link, links, lowest, highest):
    """Set the lowest and the highest partner of each linked symbol of a rule.

    Arguments:
        begin, middle: where the rule's source and target symbols start.
        first_link, last_link: the rule has links[first_link:last_link].
        links: int64[m, 2].
        lowest, highest: int64 per symbol, changed.
    """
    for k in range(first_link, last_link):
        source = begin + links[k, 0]
        target = middle + links[k, 1]
        lowest[source] = min(lowest[source], target)
        highest[source] = max(highest[source], target)
        lowest[target] = min(lowest[target], source)
        highest[target] = max(highest[target], source)


@uncounted
def _is_consistent(i, j, low, high, gaps, lowest, highest):
    """Return whether no symbol of the target span low..high is a gap or linked outside i..j.

    Arguments:
        i, j: first and last symbol of the source span.
        low, high: first and last symbol of the target span.
        gaps: int64 per symbol, its gap or TERMINAL.
        lowest, highest: int64 per symbol, its lowest and highest partner, -1 for none.
    """
    for t in range(low, high + 1):
        if gaps[t] != TERMINAL or (highest[t] >= 0 and (lowest[t] < i or highest[t] > j)):
            return False
    return True


@uncounted
def _put_span(spans, n, source, source_stop, target, target_stop):
    """Return the number of pairs of spans after writing one.

    Arguments:
        spans: int64[m, 4] of (source start, length, target start, length), written.
        n: pairs before.
        source, source_stop, target, target_stop: half-open spans.
    """
    spans[n, 0] = source
    spans[n, 1] = source_stop - source
    spans[n, 2] = target
    spans[n, 3] = target_stop - target
    return n + 1


@uncounted
def _put_pairs(begin, middle, gaps, lowest, highest, longest, loose_end, spans, n):
    """Return the number of pairs of spans after writing the phrase pairs of a rule.

    Arguments:
        begin, middle: the rule's source symbols.
        gaps: int64 per symbol, its gap or TERMINAL.
        lowest, highest: int64 per symbol, its lowest and highest partner, -1 for none.
        longest: maximum length of a phrase, in symbols.
        loose_end: the last symbol of a source span may have no link.
        spans: int64[m, 4], written.
        n: pairs before.
    """
    for i in range(begin, middle):
        if gaps[i] != TERMINAL or highest[i] < 0:
            continue
        low = gaps.size
        high = -1
        for j in range(i, min(i + longest, middle)):
            if gaps[j] != TERMINAL:
                break
            low = min(low, lowest[j])
            high = max(high, highest[j])
            if high - low >= longest:
                break
            ends = loose_end or highest[j] >= 0
            if ends and _is_consistent(i, j, low, high, gaps, lowest, highest):
                n = _put_span(spans, n, i, j + 1, low, high + 1)
    return n


@compiled
def decompose(token_stops, gaps, link_stops, links, longest, as_reference):
    """Return the phrase pairs of every rule: spans that the links hold together.

    A span pair is one as in thesis 5.3.2: at least one link inside and none that crosses its edge,
    no gap inside, no symbol without a link at its edges. As the target's edges have links, a
    source span has at most one partner: from the first to the last symbol that its links reach.
    The whole sides of a rule without gaps are a pair too, if they are short enough.

    Arguments:
        token_stops, gaps, link_stops, links: as `parse_rules` returns them.
        longest: the most symbols of a span.
        as_reference: the pairs of the reference implementation: a source span begins with a linked
            symbol and may end with others, and whole sides are no pair of their own.

    Returns
    pair_stops: int64[n], pairs up to the end of each rule;
    spans: int64[p, 4] of (first symbol and length of the source span, the same of the target),
    symbols counted over the block.
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
        _set_reach(begin, middle, first_link, link_stops[rule], links, lowest, highest)
        of_rule = n
        n = _put_pairs(begin, middle, gaps, lowest, highest, longest, as_reference, spans, n)
        adds_whole = (
            not as_reference and 0 < middle - begin <= longest and 0 < end - middle <= longest
        )
        for k in range(begin, end):
            adds_whole = adds_whole and gaps[k] == TERMINAL
        for k in range(of_rule, n):
            is_whole = spans[k, 1] == middle - begin and spans[k, 3] == end - middle
            adds_whole = adds_whole and not is_whole
        if adds_whole:
            n = _put_span(spans, n, begin, middle, middle, end)
        pair_stops[rule] = n
        begin = end
        first_link = link_stops[rule]
    return pair_stops, spans[:n].copy()


@compiled
def hash_symbols(text, starts, stops):
    """Return the hash of text[starts[i]:stops[i]] for each i, uint64[n].

    Arguments:
        text: uint8.
        starts, stops: int64[n].
    """
    out = np.empty(starts.size, np.uint64)
    for i in range(starts.size):
        out[i] = finish(extend(START, text, starts[i], stops[i]))
    return out


@compiled
def hash_spans(firsts, lengths, words, text, offsets):
    """Return the hash of the text of each span, uint64[n], and whether it has one, bool[n].

    Arguments:
        firsts, lengths: int64[n], first symbol and symbols of each span.
        words: int64, the word of each symbol, -1 for a gap.
        text, offsets: uint8, int64, the words' normal forms; a span with an empty one has no text.
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


@uncounted
def _has_alone(first, n, other, n_other, words, unknown, forms):
    """Return whether a span has an unknown word that another span lacks.

    Arguments:
        first, n: first symbol of the span, and its symbols.
        other, n_other: the same of the other span.
        words, unknown, forms: as `has_unknown_alone` takes them.
    """
    for i in range(first, first + n):
        if not unknown[words[i]]:
            continue
        is_alone = True
        for j in range(other, other + n_other):
            is_alone = is_alone and forms[words[j]] != forms[words[i]]
        if is_alone:
            return True
    return False


@compiled
def has_unknown_alone(spans, words, unknown, forms):
    """Return whether one phrase of each pair has an unknown word that the other lacks, bool[p].

    Arguments:
        spans: int64[p, 4], first symbol and symbols of either phrase.
        words: int64 per symbol, its word; spans have no gaps.
        unknown: bool per word.
        forms: uint64 per word, the hash of its normal form.
    """
    out = np.zeros(spans.shape[0], np.bool_)
    for p in range(spans.shape[0]):
        i, m, j, n = spans[p]
        out[p] = _has_alone(i, m, j, n, words, unknown, forms) or _has_alone(
            j, n, i, m, words, unknown, forms
        )
    return out
