"""Rules without links -> links by gaps, like words and neighbours."""

import numpy as np

from distsim.grammar.kernels.rules import TERMINAL
from distsim.kernels.compiled import compiled


@compiled
def find_lacking(token_stops, gaps, link_stops, links):
    """Return (which rules have words on both sides but no link between words,
    which have words on both sides), bool[n] each."""
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


@compiled
def _shared_prefix(text, a_start, a_stop, b_start, b_stop):
    """Return the number of characters (UTF-8) that two words begin with alike."""
    n = 0
    for k in range(min(a_stop - a_start, b_stop - b_start)):
        byte = text[a_start + k]
        if byte != text[b_start + k]:
            break
        if byte < 0x80 or byte >= 0xC0:
            n += 1
    return n


@compiled
def _characters(text, start, stop):
    n = 0
    for k in range(start, stop):
        if text[k] < 0x80 or text[k] >= 0xC0:
            n += 1
    return n


@compiled
def link_by_evidence(token_stops, gaps, words, word_text, word_offsets, wanted, shortest_prefix):
    """Link the symbols of rules by what they look like.

    Gaps by their index; equal words in order of their appearance; then, longest first, words
    still without a link that share a prefix of at least `shortest_prefix` characters and of
    half of the longer word; then words without a link whose neighbours on either side are
    linked to each other (or are the rule's edges); then the two words of a rule that has one
    on each side. words: int64 per symbol, -1 for gaps; word_text, word_offsets: the words'
    folded forms; wanted: bool per rule. Returns
    link_stops int64[n]; links int64[m, 2]; unfinished bool[n]: words without a link remain on
    both sides; linked bool per symbol.
    """
    n_rules = token_stops.shape[0]
    links = np.empty((gaps.size, 2), np.int64)
    link_stops = np.empty(n_rules, np.int64)
    unfinished = np.zeros(n_rules, np.bool_)
    linked = np.zeros(gaps.size, np.bool_)
    partner = np.full(gaps.size, -1, np.int64)  # of source symbols
    n = 0
    begin = 0
    for rule in range(n_rules):
        middle = token_stops[rule, 0]
        end = token_stops[rule, 1]
        if wanted[rule]:
            for i in range(begin, middle):
                for j in range(middle, end):
                    alike = gaps[i] == gaps[j] and (gaps[i] != TERMINAL or words[i] == words[j])
                    if alike and not linked[j]:
                        linked[i] = True
                        linked[j] = True
                        partner[i] = j
                        links[n, 0] = i - begin
                        links[n, 1] = j - middle
                        n += 1
                        break
            while True:
                best = shortest_prefix - 1
                best_i = -1
                best_j = -1
                for i in range(begin, middle):
                    if linked[i] or gaps[i] != TERMINAL:
                        continue
                    a_start = word_offsets[words[i]]
                    a_stop = word_offsets[words[i] + 1]
                    for j in range(middle, end):
                        if linked[j] or gaps[j] != TERMINAL:
                            continue
                        b_start = word_offsets[words[j]]
                        b_stop = word_offsets[words[j] + 1]
                        shared = _shared_prefix(word_text, a_start, a_stop, b_start, b_stop)
                        if shared > best and 2 * shared >= max(
                            _characters(word_text, a_start, a_stop),
                            _characters(word_text, b_start, b_stop),
                        ):
                            best = shared
                            best_i = i
                            best_j = j
                if best_i < 0:
                    break
                linked[best_i] = True
                linked[best_j] = True
                partner[best_i] = best_j
                links[n, 0] = best_i - begin
                links[n, 1] = best_j - middle
                n += 1
            for i in range(begin, middle):
                if linked[i]:
                    continue
                j = partner[i - 1] + 1 if i > begin else middle
                if i > begin and partner[i - 1] < 0:
                    continue
                if j >= end or linked[j]:
                    continue
                at_end = i + 1 == middle
                if at_end == (j + 1 == end) and (at_end or partner[i + 1] == j + 1):
                    linked[i] = True
                    linked[j] = True
                    partner[i] = j
                    links[n, 0] = i - begin
                    links[n, 1] = j - middle
                    n += 1
            n_source = 0
            only_source = 0
            for i in range(begin, middle):
                if gaps[i] == TERMINAL:
                    n_source += 1
                    only_source = i
            n_target = 0
            only_target = 0
            for j in range(middle, end):
                if gaps[j] == TERMINAL:
                    n_target += 1
                    only_target = j
            if (
                n_source == 1
                and n_target == 1
                and not linked[only_source]
                and not linked[only_target]
            ):
                linked[only_source] = True
                linked[only_target] = True
                links[n, 0] = only_source - begin
                links[n, 1] = only_target - middle
                n += 1
            free_source = False
            for i in range(begin, middle):
                free_source = free_source or not linked[i]
            free_target = False
            for j in range(middle, end):
                free_target = free_target or not linked[j]
            unfinished[rule] = free_source and free_target
        link_stops[rule] = n
        begin = end
    return link_stops, links[:n].copy(), unfinished, linked
