"""Links of rules that have none: by gaps, like words and linked neighbours."""

import numpy as np

from distsim.grammar.kernels.rules import TERMINAL
from distsim.kernels.compiled import compiled, uncounted


@compiled
def find_lacking(token_stops, gaps, link_stops, links):
    """Return which rules lack links, and which have words on both sides; bool[n] each.

    A rule lacks links where it has words on both sides and no link between two words. The
    arguments are as `parse_rules` returns them.

    Arguments:
        token_stops: int64[n, 2], where the symbols of each side end.
        gaps: int64, the gap of each token or TERMINAL.
        link_stops: int64[n], where the links of each rule end.
        links: int64[m, 2].
    """
    n_rules = token_stops.shape[0]
    lacking = np.zeros(n_rules, np.bool_)
    alignable = np.zeros(n_rules, np.bool_)
    begin = 0
    first_link = 0
    for rule in range(n_rules):
        middle = token_stops[rule, 0]
        end = token_stops[rule, 1]
        on_source = False
        for k in range(begin, middle):
            on_source = on_source or gaps[k] == TERMINAL
        on_target = False
        for k in range(middle, end):
            on_target = on_target or gaps[k] == TERMINAL
        linked = False
        for k in range(first_link, link_stops[rule]):
            if gaps[begin + links[k, 0]] == TERMINAL and gaps[middle + links[k, 1]] == TERMINAL:
                linked = True
                break
        alignable[rule] = on_source and on_target
        lacking[rule] = on_source and on_target and not linked
        begin = end
        first_link = link_stops[rule]
    return lacking, alignable


@uncounted
def _shared_prefix(text, offsets, first, second):
    """Return (characters at the start that two words share, characters of the longer word).

    Arguments:
        text: uint8, UTF-8 of all words.
        offsets: int64, where each word begins.
        first, second: the words' ids.
    """
    shared = 0
    is_same = True
    longest_word = 0
    for word in (first, second):
        n = 0
        for k in range(offsets[word], offsets[word + 1]):
            n += text[k] < 0x80 or text[k] >= 0xC0
        longest_word = max(longest_word, n)
    a, b = offsets[first], offsets[second]
    while is_same and a < offsets[first + 1] and b < offsets[second + 1]:
        is_same = text[a] == text[b]
        shared += is_same and (text[a] < 0x80 or text[a] >= 0xC0)
        a += 1
        b += 1
    return shared, longest_word


@uncounted
def _add_link(i, j, begin, middle, partner, links, n):
    """Return the number of links after appending that of symbols i and j.

    Arguments:
        i, j: a source and a target symbol, counted over all rules.
        begin, middle: where the rule's source and target symbols start.
        partner: int64 per symbol, -1 where it is free; changed.
        links: int64[m, 2], written.
        n: links before.
    """
    partner[i] = j
    partner[j] = i
    links[n, 0] = i - begin
    links[n, 1] = j - middle
    return n + 1


@uncounted
def _link_equal(begin, middle, end, gaps, words, partner, links, n):
    """Return the number of links after linking gaps of one index, and equal words in their order.

    Arguments:
        begin, middle, end: where the rule's source and target symbols start and stop.
        gaps, words: int64 per symbol, its gap or TERMINAL, and its word.
        partner: int64 per symbol, -1 where it is free; changed.
        links: int64[m, 2], written.
        n: links before.
    """
    for i in range(begin, middle):
        for j in range(middle, end):
            same = gaps[i] == gaps[j] and (gaps[i] != TERMINAL or words[i] == words[j])
            if same and partner[j] < 0:
                n = _add_link(i, j, begin, middle, partner, links, n)
                break
    return n


@uncounted
def _most_similar(begin, middle, end, gaps, words, text, offsets, shortest, partner):
    """Return the free words of a rule that share the longest prefix, -1, -1 where none does.

    The prefix has at least `shortest` characters and half of the longer word.

    Arguments:
        begin, middle, end: where the rule's source and target symbols start and stop.
        gaps, words: int64 per symbol, its gap or TERMINAL, and its word.
        text, offsets: uint8 and int64, the words' folded forms end to end.
        shortest: minimum length of the prefix, in characters.
        partner: int64 per symbol, -1 where it is free.
    """
    best, best_i, best_j = shortest - 1, -1, -1
    for i in range(begin, middle):
        if partner[i] >= 0 or gaps[i] != TERMINAL:
            continue
        for j in range(middle, end):
            if partner[j] >= 0 or gaps[j] != TERMINAL:
                continue
            shared, longer = _shared_prefix(text, offsets, words[i], words[j])
            if shared > best and 2 * shared >= longer:
                best, best_i, best_j = shared, i, j
    return best_i, best_j


@uncounted
def _link_neighbours(begin, middle, end, partner, links, n):
    """Return the number of links after linking free symbols whose neighbours are linked.

    The neighbours on either side are linked to each other, or are the rule's edges.

    Arguments:
        begin, middle, end: where the rule's source and target symbols start and stop.
        partner: int64 per symbol, -1 where it is free; changed.
        links: int64[m, 2], written.
        n: links before.
    """
    for i in range(begin, middle):
        if partner[i] >= 0 or (i > begin and partner[i - 1] < 0):
            continue
        j = partner[i - 1] + 1 if i > begin else middle
        if j >= end or partner[j] >= 0:
            continue
        at_end = i + 1 == middle
        if at_end == (j + 1 == end) and (at_end or partner[i + 1] == j + 1):
            n = _add_link(i, j, begin, middle, partner, links, n)
    return n


@uncounted
def _only_word(first, stop, gaps):
    """Return the only word among symbols first:stop, -1 where there is none or several.

    Arguments:
        first, stop: symbols of a side.
        gaps: int64 per symbol, its gap or TERMINAL.
    """
    place = -1
    for k in range(first, stop):
        if gaps[k] == TERMINAL:
            if place >= 0:
                return -1
            place = k
    return place


@uncounted
def _has_free(first, stop, partner):
    """Return whether one of the symbols first:stop has no link.

    Arguments:
        first, stop: symbols of a side.
        partner: int64 per symbol, -1 where it has none.
    """
    for k in range(first, stop):
        if partner[k] < 0:
            return True
    return False


@compiled
def link_by_evidence(token_stops, gaps, words, word_text, word_offsets, wanted, shortest_prefix):
    """Return the links of rules by the letters and places of their symbols.

    Gaps by their index; equal words in order of appearance; then, longest first, words still
    without a link that share a prefix; then words whose neighbours on either side are linked to
    each other (or are the rule's edges); then the two words of a rule with one on each side.

    Arguments:
        token_stops: int64[n, 2], symbols up to the end of each source and target side.
        gaps: int64 per symbol, its index or TERMINAL.
        words: int64 per symbol, its id, -1 for gaps.
        word_text, word_offsets: uint8 and int64, the words' folded forms end to end.
        wanted: bool[n], the rules to link.
        shortest_prefix: minimum length of a shared prefix, in characters.

    Returns (link_stops int64[n]; links int64[m, 2]; unfinished bool[n], words without a link remain
    on both sides; linked bool per symbol).
    """
    n_rules = token_stops.shape[0]
    links = np.empty((gaps.size, 2), np.int64)
    link_stops = np.empty(n_rules, np.int64)
    unfinished = np.zeros(n_rules, np.bool_)
    partner = np.full(gaps.size, -1, np.int64)
    n = 0
    begin = 0
    for rule in range(n_rules):
        middle = token_stops[rule, 0]
        end = token_stops[rule, 1]
        if wanted[rule]:
            n = _link_equal(begin, middle, end, gaps, words, partner, links, n)
            i = 0
            while i >= 0:
                i, j = _most_similar(
                    begin, middle, end, gaps, words, word_text, word_offsets, shortest_prefix,
                    partner,
                )  # fmt: skip
                if i >= 0:
                    n = _add_link(i, j, begin, middle, partner, links, n)
            n = _link_neighbours(begin, middle, end, partner, links, n)
            i, j = _only_word(begin, middle, gaps), _only_word(middle, end, gaps)
            if i >= 0 and j >= 0 and partner[i] < 0 and partner[j] < 0:
                n = _add_link(i, j, begin, middle, partner, links, n)
            unfinished[rule] = _has_free(begin, middle, partner) and _has_free(middle, end, partner)
        link_stops[rule] = n
        begin = end
    return link_stops, links[:n].copy(), unfinished, partner >= 0
