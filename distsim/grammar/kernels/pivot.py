"""Pairs translation rules over a foreign side: sides in one form, sums over pairs, their text."""

from typing import NamedTuple

import numpy as np

from distsim.grammar.kernels.packs import put_bar, put_bytes, put_integer, put_number
from distsim.grammar.kernels.rule_text import (
    ABSTRACT,
    ADJACENT,
    CHAR_COUNT_DIFF,
    CHAR_LOG_CR,
    CONTAINS_X,
    GLUE_RULE,
    LEXICAL,
    MONOTONIC,
    N_FEATURES,
    PHRASE_PENALTY,
    SOURCE_TERMINALS_BUT_NO_TARGET,
    SOURCE_WORDS,
    TARGET_TERMINALS_BUT_NO_SOURCE,
    TARGET_WORDS,
    UNALIGNED_SOURCE,
    UNALIGNED_TARGET,
    WORD_COUNT_DIFF,
    WORD_LEN_DIFF,
    WORD_LOG_CR,
    put_sizes,
)
from distsim.grammar.kernels.rules import TERMINAL, gap_index, next_token
from distsim.kernels.arrays import grown, heap_sort, prefetch
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import HALF, MULTIPLIER, START, finish, step

MOST_GAPS = 8  # of a rule: four bits each in a packed order
FITS, TOO_MANY_GAPS, LOOKS_LIKE_GAP = range(3)
_AHEAD = 8  # rules whose places are asked for before they are read
_SORTED_BYTES = 8  # bytes that texts are first sorted by
_SPACE, _COMMA, _OPEN, _CLOSE, _ZERO, _HYPHEN, _X = 32, 44, 91, 93, 48, 45, 88
# The features that the sides of a rule tell, in the order of TYPES in distsim.grammar.pairing.
_TYPES = (
    ABSTRACT, ADJACENT, CHAR_COUNT_DIFF, CHAR_LOG_CR, CONTAINS_X, GLUE_RULE, LEXICAL, MONOTONIC,
    PHRASE_PENALTY, SOURCE_TERMINALS_BUT_NO_TARGET, SOURCE_WORDS, TARGET_TERMINALS_BUT_NO_SOURCE,
    TARGET_WORDS, UNALIGNED_SOURCE, UNALIGNED_TARGET, WORD_COUNT_DIFF, WORD_LEN_DIFF, WORD_LOG_CR,
)  # fmt: skip
N_TYPES = len(_TYPES)


class Groups(NamedTuple):
    """Columns of n rules that are sorted by group: label and foreign side.

    bounds: int64[n, 2], where the group of each begins and ends. targets: int64[n], its target
    side. orders: uint32[n], n_gaps: int64[n], of its gaps. columns: float64[n, 2c + 1], c times a
    probability of the target side and of the foreign one, the first those by which a link is the
    best of its line; and the rarity. ranks: int64[n], the order in which they were read.
    """

    bounds: np.ndarray
    targets: np.ndarray
    orders: np.ndarray
    n_gaps: np.ndarray
    columns: np.ndarray
    ranks: np.ndarray


class RulePairs(NamedTuple):
    """Pairs of rules over a foreign side, m of them, and the l paraphrase rules (lines) they make.

    A line is what has one run, one second target and one order of its gaps by the first's.

    keys: int64[l], run, second target and order in one number, ascending. sizes: int64[l], pairs
    of each line. lines, firsts, seconds: int64[m], the line of each pair and its two rules.
    """

    keys: np.ndarray
    sizes: np.ndarray
    lines: np.ndarray
    firsts: np.ndarray
    seconds: np.ndarray


class Sums(NamedTuple):
    """Features of l lines, from their links, and the links of each line together.

    sums: float64[l, 2c], of p(foreign|first) * p(second|foreign), and of the reverse. rare:
    float64[l], of each link the larger of its rules' rarities. agreeing: float64[l], the number of
    bitexts in which both rules of a link occur. stops: int64[l], where the links of each line end.
    by_line: int64[m, 2], their rules, in a line as they were met. best: int64[l], the link that is
    most probable, both ways; of several that of the rule read first.
    """

    sums: np.ndarray
    rare: np.ndarray
    agreeing: np.ndarray
    stops: np.ndarray
    by_line: np.ndarray
    best: np.ndarray


class TargetSides(NamedTuple):
    """The target side of each rule: text[starts[i]:stops[i]], its symbols, gaps and word links.

    text: uint8. starts, stops, n_symbols, n_gaps: int64[n]. Its links are links[link_starts[i]:
    link_stops[i]], int32[, 2] of (source symbol, target symbol).
    """

    text: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    n_symbols: np.ndarray
    n_gaps: np.ndarray
    links: np.ndarray
    link_starts: np.ndarray
    link_stops: np.ndarray


class PivotLines(NamedTuple):
    """Columns of n paraphrase rules to write.

    firsts, seconds: int64[n], the rules whose target sides are written. labels: int64[n]. values:
    float64[features, n], NaN for none. stops: int64[n], where the pairs of each end; pairs:
    int64[m, 2]; best: int64[n], the best pair of each.
    """

    firsts: np.ndarray
    seconds: np.ndarray
    labels: np.ndarray
    values: np.ndarray
    stops: np.ndarray
    pairs: np.ndarray
    best: np.ndarray


@uncounted
def _put_gap(out, n, text, start, stop, number):
    """Return the end of `out` after appending `[LABEL,number]`, with the label of a gap.

    Arguments:
        out, n: uint8, and the number of its bytes that are filled.
        text, start, stop: the gap is text[start:stop].
        number: 1 or more.
    """
    comma = stop - 1
    while text[comma] != _COMMA:
        comma -= 1
    n = put_bytes(out, n, text, start, comma)
    out[n] = _COMMA
    out[n + 1] = _ZERO + number
    out[n + 2] = _CLOSE
    return n + 3


@compiled
def canonical_sides(text, token_stops, starts, stops, gaps, has_gaps):
    """Return both sides of rules with their gaps numbered from 1 along each side.

    A target gap without a label (cdec) takes that of the source.

    Arguments:
        text: uint8, lines of a grammar.
        token_stops: int64[n, 2], symbols up to the end of each source and target side.
        starts, stops, gaps: int64, of each symbol, by parse_rules.
        has_gaps: the format has gaps.

    Returns (status: uint8[n], FITS or why a rule cannot be pivoted; source_hashes, target_hashes:
    uint64[n], of the sides' texts, symbols separated by a space; orders: uint32[n], four bits for
    each target gap, lowest first: its number on the source side, from 0; target_text: uint8;
    target_offsets: int64[n + 1]: the target sides).
    """
    n_rules = token_stops.shape[0]
    status = np.zeros(n_rules, np.uint8)
    source_hashes = np.zeros(n_rules, np.uint64)
    target_hashes = np.zeros(n_rules, np.uint64)
    orders = np.zeros(n_rules, np.uint32)
    out = np.empty(2 * text.size + 8 * gaps.size + 8, np.uint8)
    offsets = np.zeros(n_rules + 1, np.int64)
    of_source = np.zeros(MOST_GAPS, np.int64)  # its symbol, per gap of the source side
    n = 0
    begin = 0
    for rule in range(n_rules):
        middle = token_stops[rule, 0]
        end = token_stops[rule, 1]
        n_gaps = 0
        for k in range(begin, end):
            if gaps[k] != TERMINAL:
                n_gaps += k < middle
            elif not has_gaps and gap_index(text, starts[k], stops[k], False) > 0:
                status[rule] = LOOKS_LIKE_GAP
        if n_gaps > MOST_GAPS:
            status[rule] = TOO_MANY_GAPS
        if status[rule] == FITS:
            base = n
            number = 0
            for k in range(begin, middle):
                if k > begin:
                    out[n] = _SPACE
                    n += 1
                if gaps[k] == TERMINAL:
                    n = put_bytes(out, n, text, starts[k], stops[k])
                else:
                    of_source[number] = k
                    number += 1
                    n = _put_gap(out, n, text, starts[k], stops[k], number)
            source_hashes[rule] = _hash(out, base, n)
            n = base
            number = 0
            order = 0
            for k in range(middle, end):
                if k > middle:
                    out[n] = _SPACE
                    n += 1
                if gaps[k] == TERMINAL:
                    n = put_bytes(out, n, text, starts[k], stops[k])
                    continue
                at = 0
                while gaps[of_source[at]] != gaps[k]:
                    at += 1
                order |= at << (4 * number)
                number += 1
                labelled = k
                if gap_index(text, starts[k], stops[k], False) == TERMINAL:
                    labelled = of_source[at]
                n = _put_gap(out, n, text, starts[labelled], stops[labelled], number)
            target_hashes[rule] = _hash(out, base, n)
            orders[rule] = order
        offsets[rule + 1] = n
        begin = end
    return status, source_hashes, target_hashes, orders, out[:n].copy(), offsets


@uncounted
def _hash(text, start, stop):
    """Return the hash of text[start:stop], uint64."""
    state = START
    for i in range(start, stop):
        state = step(state, np.uint64(text[i]))
    return finish(state)


@compiled
def eight_bytes(text, starts, stops):
    """Return the first bytes of each text[starts[i]:stops[i]] as uint64 in their order.

    Arguments:
        text: uint8.
        starts, stops: int64[n], half-open ranges of the texts.
    """
    out = np.zeros(starts.size, np.uint64)
    for i in range(starts.size):
        value = np.uint64(0)
        for k in range(starts[i], starts[i] + _SORTED_BYTES):
            byte = np.uint64(text[k]) if k < stops[i] else np.uint64(0)
            value = (value << np.uint64(8)) | byte
        out[i] = value
    return out


@uncounted
def _text_before(texts, first, second):
    """Return whether a text comes before another that begins alike; of equal ones the first.

    Arguments:
        texts: (text uint8, starts, stops int64 of each).
        first, second: numbers of texts whose first _SORTED_BYTES bytes are equal.
    """
    text, starts, stops = texts
    size_first = stops[first] - starts[first]
    size_second = stops[second] - starts[second]
    for k in range(_SORTED_BYTES, min(size_first, size_second)):
        a = text[starts[first] + k]
        b = text[starts[second] + k]
        if a != b:
            return a < b
    return size_first < size_second or (size_first == size_second and first < second)


_sort_texts = heap_sort(_text_before)


@uncounted
def _key_before(keys, first, second):
    """Return whether keys[first] is smaller than keys[second]."""
    return keys[first] < keys[second]


_sort_keys = heap_sort(_key_before)


@compiled
def order_texts(text, starts, stops, heads, order):
    """Sort texts by all bytes that are in the order of their first eight bytes, heads.

    Arguments:
        text: uint8.
        starts, stops: int64, half-open range of each text.
        heads: uint64, the first eight bytes of each text.
        order: int64, numbers of texts, sorted by heads; changed in place.
    """
    texts = (text, starts, stops)
    begin = 0
    while begin < order.size:
        stop = begin + 1
        while stop < order.size and heads[order[stop]] == heads[order[begin]]:
            stop += 1
        _sort_texts(texts, order, begin, stop)
        begin = stop


@compiled
def best_of_repeated(is_new, forward, backward):
    """Return, for rules in order, bool[n]: the most probable of each run of equal ones.

    is_new: where a run begins. Of equally probable ones the first.

    forward, backward: float64, by rule, -ln p in both directions.
    """
    keep = np.zeros(is_new.size, np.bool_)
    best = 0
    for rule in range(is_new.size):
        if is_new[rule]:
            if rule > 0:
                keep[best] = True
            best = rule
        elif forward[rule] > forward[best] or (
            forward[rule] == forward[best] and backward[rule] > backward[best]
        ):
            best = rule
    if is_new.size:
        keep[best] = True
    return keep


@uncounted
def _reordered(first, second, n_gaps):
    """Return the order of the gaps of a side by those of another, uint32.

    Arguments:
        first, second: uint32, the orders of both sides by those of a third.
        n_gaps: gaps of a side.
    """
    order = np.uint32(0)
    for k in range(n_gaps):
        foreign = (second >> np.uint32(4 * k)) & np.uint32(15)
        at = 0
        while ((first >> np.uint32(4 * at)) & np.uint32(15)) != foreign:
            at += 1
        order |= np.uint32(at) << np.uint32(4 * k)
    return order


@uncounted
def _rank_of_order(order, n_gaps):
    """Return the number of an order among all of its length; 0 where nothing is reordered."""
    rank = 0
    for k in range(n_gaps):
        value = (order >> np.uint32(4 * k)) & np.uint32(15)
        smaller = 0
        for j in range(k + 1, n_gaps):
            smaller += ((order >> np.uint32(4 * j)) & np.uint32(15)) < value
        rank = rank * (n_gaps - k) + smaller
    return rank


@uncounted
def _is_weak(columns, first, second, least):
    """Return whether a pair's first product is below `least` in one direction.

    Arguments:
        columns: float64[n, 2 * c], of each rule.
        first, second: the rules.
        least: float.
    """
    return (
        columns[second, 0] * columns[first, 1] < least
        or columns[first, 0] * columns[second, 1] < least
    )


@uncounted
def _key_of_line(targets, orders, n_gaps, first, second, n_orders):
    """Return the number of the second target and the order of its gaps by the first's.

    Arguments:
        targets, orders, n_gaps: int64, uint32 and int64 of each rule.
        first, second: the rules.
        n_orders: orders of the gaps of a side.
    """
    key = targets[second] * n_orders
    if n_orders > 1:
        order = _reordered(orders[first], orders[second], n_gaps[first])
        key += _rank_of_order(order, n_gaps[first])
    return key


@uncounted
def _slot_of_key(key, keys_of_run, slots, size):
    """Return the slot of a key in a table, or the free slot for it.

    Arguments:
        key: int64.
        keys_of_run: int64, the keys met so far.
        slots: int64, for each slot 1 + the number of its key, 0 where free.
        size: slots in use, a power of two.
    """
    mask = np.uint64(size - 1)
    slot = ((np.uint64(key) * MULTIPLIER) >> HALF) & mask
    while slots[slot] != 0 and keys_of_run[slots[slot] - 1] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@uncounted
def _end_of_run(sources, runs, bounds, begin):
    """Return (the end of a run of rules, the most pairs that they can make).

    Arguments:
        sources: int64, rules.
        runs: int64, number of the run of each.
        bounds: int64[rules, 2], where the rules of its group start and stop.
        begin: first rule of the run.
    """
    end = begin
    n_links = 0
    while end < sources.size and runs[end] == runs[begin]:
        n_links += bounds[sources[end], 1] - bounds[sources[end], 0]
        end += 1
    return end, n_links


@compiled
def pair_up(sources, runs, groups, n_targets, n_orders, least, identities, n_pairs):
    """Return (a RulePairs of the pairs of rules and their lines, the number of pairs left out).

    Lines are distinguished by a small table for each run, as the rows of a product of sparse
    matrices are (Gustavson 1978): only the lines of a run are sorted, not its pairs.

    Arguments:
        sources: int64, rules that begin pairs.
        runs: int64, a number for each, ascending.
        groups: a Groups, with whose rules they are paired.
        n_targets: targets are below it.
        n_orders: orders of the gaps of a side.
        least: pairs whose first product is below it either way are left out.
        identities: pair rules with themselves, too.
        n_pairs: upper bound of the pairs.
    """
    keys = np.empty(n_pairs, np.int64)
    sizes = np.empty(n_pairs, np.int64)
    lines = np.empty(n_pairs, np.int64)
    firsts = np.empty(n_pairs, np.int64)
    seconds = np.empty(n_pairs, np.int64)
    bounds = groups.bounds.reshape(-1)
    targets, orders, n_gaps, columns = groups.targets, groups.orders, groups.n_gaps, groups.columns
    keys_of_run = np.empty(64, np.int64)  # the keys of a run's lines as they are met
    of_found = np.empty(64, np.int64)  # the pairs of each; then its number in order
    order = np.empty(64, np.int64)
    slots = np.zeros(128, np.int64)
    n = n_lines = pruned = begin = 0
    while begin < sources.size:
        end, n_links = _end_of_run(sources, runs, groups.bounds, begin)
        if n_links > keys_of_run.size:
            keys_of_run, of_found = np.empty(2 * n_links, np.int64), np.empty(2 * n_links, np.int64)
            order = np.empty(2 * n_links, np.int64)
            slots = np.zeros(8 * n_links, np.int64)
        size = 4
        while size < 2 * n_links:
            size *= 2
        for k in range(size):
            slots[k] = 0
        of_run = n
        n_found = 0
        for k in range(begin, end):
            if k + 2 * _AHEAD < sources.size:
                prefetch(bounds, 2 * sources[k + 2 * _AHEAD])
                prefetch(targets, bounds[2 * sources[k + _AHEAD]])
            first = sources[k]
            for second in range(bounds[2 * first], bounds[2 * first + 1]):
                if first == second and not identities:
                    continue
                if least > 0.0 and _is_weak(columns, first, second, least):
                    pruned += 1
                    continue
                key = _key_of_line(targets, orders, n_gaps, first, second, n_orders)
                slot = _slot_of_key(key, keys_of_run, slots, size)
                if slots[slot] == 0:
                    keys_of_run[n_found] = key
                    of_found[n_found] = 0
                    n_found += 1
                    slots[slot] = n_found
                line = slots[slot] - 1
                of_found[line] += 1
                lines[n] = line
                firsts[n] = first
                seconds[n] = second
                n += 1
        for k in range(n_found):
            order[k] = k
        _sort_keys(keys_of_run, order, 0, n_found)
        for k in range(n_found):
            line = order[k]
            keys[n_lines] = runs[begin] * n_targets * n_orders + keys_of_run[line]
            sizes[n_lines] = of_found[line]
            of_found[line] = n_lines
            n_lines += 1
        for k in range(of_run, n):
            lines[k] = of_found[lines[k]]
        begin = end
    links = RulePairs(keys[:n_lines].copy(), sizes[:n_lines].copy(), lines[:n].copy(),
                  firsts[:n].copy(), seconds[:n].copy())  # fmt: skip
    return links, pruned


@uncounted
def _is_better(value, known, ranks, first, second, by_line, best):
    """Return whether a link is better than the best of its line so far, by_line[best].

    Arguments:
        value, known: of the link and of the best.
        ranks: int64, of each rule.
        first, second: the link's rules.
        by_line: int64[n, 2], the rules of each link.
        best: row of by_line.
    """
    if value != known:
        return value > known
    of_best = min(ranks[by_line[best, 0]], ranks[by_line[best, 1]])
    return min(ranks[first], ranks[second]) < of_best


@compiled
def sum_links(links, groups, bitexts):
    """Return the Sums of paraphrase rules over their links.

    Arguments:
        links: a RulePairs.
        groups: the Groups that it was made of.
        bitexts: uint64[rules], a bit for each bitext in which a rule occurs, or empty.
    """
    n = links.sizes.size
    columns, ranks = groups.columns, groups.ranks
    lines, firsts, seconds = links.lines, links.firsts, links.seconds
    c = columns.shape[1] // 2
    sums = np.zeros((n, 2 * c))
    rare = np.zeros(n)
    agreeing = np.zeros(n)
    met = np.zeros(n if bitexts.size else 0, np.uint64)
    stops = np.empty(n, np.int64)
    by_line = np.empty((lines.size, 2), np.int64)
    best = np.zeros(n, np.int64)
    best_values = np.full(n, -1.0)
    total = 0
    for line in range(n):
        stops[line] = total  # where the next link of a line goes
        total += links.sizes[line]
    for k in range(lines.size):
        line = lines[k]
        first = firsts[k]
        second = seconds[k]
        at = stops[line]
        stops[line] = at + 1
        by_line[at, 0] = first
        by_line[at, 1] = second
        for way in range(0, 2 * c, 2):
            sums[line, way] += columns[first, way + 1] * columns[second, way]
            sums[line, way + 1] += columns[first, way] * columns[second, way + 1]
        value = (columns[second, 0] * columns[first, 1]) * (columns[first, 0] * columns[second, 1])
        is_first = best_values[line] < 0.0
        if _is_better(value, best_values[line], ranks, first, second, by_line, best[line]):
            best[line] = at
            best_values[line] = value
        rarity = max(columns[first, 2 * c], columns[second, 2 * c])
        if is_first:
            rare[line] = rarity
        else:
            rare[line] = min(rare[line], rarity)
        if bitexts.size:
            met[line] |= bitexts[first] & bitexts[second]
    for line in range(met.size):
        bits = met[line]
        while bits != 0:
            bits &= bits - np.uint64(1)
            agreeing[line] += 1.0
    return Sums(sums, rare, agreeing, stops, by_line, best)


@uncounted
def _gap_places(text, start, stop, places):
    """Set places[0, k], int64, to the place in text[start:stop] of the symbol that is gap k + 1."""
    n = 0
    i, end = next_token(text, start, stop)
    while i < end:
        gap = gap_index(text, i, end, False)
        if gap > 0:
            places[0, gap - 1] = n
        n += 1
        i, end = next_token(text, end, stop)


@uncounted
def _compose(first, second, links, link_starts, link_stops, met, stamp, width, pair):
    """Add 1 to met[i * width + j] for every i, j that two rules link to one foreign symbol.

    Arguments:
        first, second: the rules.
        links: int[m, 2], of all rules.
        link_starts, link_stops: int64, where those of each rule start and stop.
        met: int32, written.
        stamp: int64, the last pair that has added to each; written.
        width: symbols of the second side.
        pair: number of the pair.
    """
    for a in range(link_starts[first], link_stops[first]):
        for b in range(link_starts[second], link_stops[second]):
            if links[a, 0] == links[b, 0]:
                at = links[a, 1] * width + links[b, 1]
                if stamp[at] != pair:
                    stamp[at] = pair
                    met[at] += 1


@uncounted
def _renumber(out, start, stop, order, places):
    """Number the gaps of a side by their order; set places[1, k] to the symbol of gap k + 1.

    Arguments:
        out, start, stop: the side is out[start:stop], uint8; changed.
        order: uint32, four bits a gap.
        places: int64[2, MOST_GAPS], written.
    """
    n = 0
    i, end = next_token(out, start, stop)
    while i < end:
        gap = gap_index(out, i, end, False)
        if gap > 0:
            number = np.int64((order >> np.uint32(4 * (gap - 1))) & np.uint32(15))
            out[end - 2] = _ZERO + 1 + number
            places[1, number] = n
        n += 1
        i, end = next_token(out, end, stop)


@uncounted
def _put_features(out, n, values, line, names, name_offsets, whole):
    """Return the end of `out` after appending ` name=value` for each feature that is there.

    Arguments:
        out, n: uint8, and the number of its bytes that are filled.
        values: float64[features, lines], NaN where missing.
        line: number of the line.
        names, name_offsets: uint8 and int64, the texts ` name=` end to end.
        whole: bool, per feature, written as integers.
    """
    for feature in range(whole.size):
        value = values[feature, line]
        if np.isnan(value):
            continue
        n = put_bytes(out, n, names, name_offsets[feature], name_offsets[feature + 1])
        if whole[feature]:
            if value < 0:
                out[n] = _HYPHEN
                n += 1
            n = put_integer(out, n, np.int64(abs(value)))
        else:
            n = put_number(out, n, value)
    return n


@uncounted
def _meet(pairs, begin, stop, best, links, link_starts, link_stops, met, stamp, cells, width):
    """Count in met[:cells] how many of the pairs begin..stop link each two words.

    Arguments:
        pairs: int64[m, 2], numbers of rules.
        begin, stop: half-open range of pairs.
        best: number of the best pair.
        links, link_starts, link_stops: int[m, 2] and int64, the links of each rule.
        met: int32, counts; written.
        stamp: int64, the last pair that has added to each count; written.
        cells: product of the numbers of symbols of the two sides.
        width: symbols of the second side.

    Returns the minimum count of a link: the number of pairs where all pairs share a link, else 1,
    and the counts are then those of the best pair alone.
    """
    for at in range(cells):
        met[at] = 0
    for k in range(begin, stop):
        _compose(pairs[k, 0], pairs[k, 1], links, link_starts, link_stops, met, stamp, width, k)
    for at in range(cells):
        if met[at] == stop - begin:
            return stop - begin
    for at in range(cells):
        met[at] = 0
        stamp[at] = -1
    first, second = pairs[best, 0], pairs[best, 1]
    _compose(first, second, links, link_starts, link_stops, met, stamp, width, best)
    return 1


@uncounted
def _put_links(out, n, met, height, width, wanted):
    """Return the end of `out` after appending ` 0-0 1-2` and the end of the line.

    Without links a space is appended.

    Arguments:
        out, n: uint8, and the number of its bytes that are filled.
        met: int32[height * width], how many pairs link two symbols.
        height, width: symbols of each side.
        wanted: the number of pairs that makes a link.
    """
    begun = n
    at = 0
    for symbol in range(height):
        for facing_symbol in range(width):
            if met[at] == wanted:
                out[n] = _SPACE
                n = put_integer(out, n + 1, symbol)
                out[n] = _HYPHEN
                n = put_integer(out, n + 1, facing_symbol)
            at += 1
    if n == begun:
        out[n] = _SPACE
        n += 1
    out[n] = 10
    return n + 1


@uncounted
def _size_side(text, start, stop, met, places, n_met, step, wanted, sizes):
    """Write sizes of a side: words, symbols, characters, unlinked words, adjacent gaps, gaps X.

    Arguments:
        text, start, stop: the side is text[start:stop], uint8.
        met: int32, how many pairs link two symbols; symbol i has met[i * places + k * step].
        places, n_met, step: the symbols of this side, of the other one, and how they lie in `met`.
        wanted: the number of pairs that makes a link.
        sizes: float64[6], written.
    """
    sizes[:] = 0.0
    was_gap = False
    i, end = next_token(text, start, stop)
    while i < end:
        symbol = np.int64(sizes[1])
        is_gap = gap_index(text, i, end, False) > 0
        if is_gap:
            sizes[4] += was_gap
            sizes[5] += text[i + 1] == _X and text[i + 2] == _COMMA
        else:
            sizes[0] += 1
            for k in range(i, end):
                sizes[2] += (text[k] & 0xC0) != 0x80
            is_linked = False
            for other in range(n_met):
                is_linked |= met[symbol * places + other * step] == wanted
            sizes[3] += not is_linked
        was_gap = is_gap
        sizes[1] += 1
        i, end = next_token(text, end, stop)


@compiled
def type_features(sides, orders, lines, is_x):
    """Return the features of paraphrase rules that their two sides tell, float64[N_TYPES, n].

    They are those of TYPES in distsim.grammar.pairing, in its order (thesis 3.2.3.1.2 and 4.2.1).

    Arguments:
        sides, orders, lines: as of render_rules.
        is_x: bool, which labels are X.
    """
    text, starts, stops, n_symbols, n_gaps, links, link_starts, link_stops = sides
    firsts, seconds, label_of, _, ends, pairs, best = lines
    out = np.zeros((N_TYPES, firsts.size))
    max_cells = 0
    for line in range(firsts.size):
        max_cells = max(max_cells, n_symbols[firsts[line]] * n_symbols[seconds[line]])
    met = np.zeros(max_cells, np.int32)
    stamp = np.full(max_cells, -1, np.int64)
    source, target, features = np.zeros(6), np.zeros(6), np.zeros(N_FEATURES)
    begin = 0
    for line in range(firsts.size):
        first, second = firsts[line], seconds[line]
        width = n_symbols[second]
        cells = n_symbols[first] * width
        wanted = _meet(pairs, begin, ends[line], best[line], links, link_starts, link_stops, met,
                       stamp, cells, width)  # fmt: skip
        begin = ends[line]
        _size_side(text, starts[first], stops[first], met, width, width, 1, wanted, source)
        _size_side(
            text, starts[second], stops[second], met, 1, n_symbols[first], width, wanted, target
        )
        order = _reordered(orders[first], orders[second], n_gaps[first])
        is_monotone = True
        for gap in range(n_gaps[first]):
            is_monotone &= (order >> np.uint32(4 * gap)) & np.uint32(15) == gap
        put_sizes(
            features,
            (source[0], source[1], source[2], source[3]),
            (target[0], target[1], target[2], target[3]),
        )
        features[ADJACENT] = source[4] > 0
        features[CONTAINS_X] = is_x[label_of[line]] or source[5] > 0
        features[LEXICAL] = n_gaps[first] == 0
        features[MONOTONIC] = is_monotone
        features[PHRASE_PENALTY] = 1.0
        for row in range(N_TYPES):
            out[row, line] = features[_TYPES[row]]
    return out


@compiled
def render_rules(sides, orders, lines, labels, names, whole):
    """Return the text of paraphrase rules, uint8.

    Words are linked where all pairs link them; where none is, as the best pair links them.

    Arguments:
        sides: a TargetSides of all rules.
        orders: uint32, of the gaps of all rules.
        lines: a PivotLines.
        labels: Texts of all labels.
        names: Texts of the features, ` name=` each.
        whole: bool, per feature, written as integers.
    """
    # Taken out of their tuples here: functions that are not inlined would be handed all arrays.
    text, starts, stops, n_symbols, n_gaps, links, link_starts, link_stops = sides
    firsts, seconds, label_of, values, ends, pairs, best = lines
    label_text, label_offsets = labels
    fixed = 64 + names.text.size + 30 * whole.size
    max_cells = 0
    for line in range(firsts.size):
        max_cells = max(max_cells, n_symbols[firsts[line]] * n_symbols[seconds[line]])
    out = np.empty(firsts.size * (64 + names.text.size + 8 * whole.size) + fixed, np.uint8)
    met = np.zeros(max_cells, np.int32)
    stamp = np.full(max_cells, -1, np.int64)
    places = np.zeros((2, MOST_GAPS), np.int64)
    n = begin = 0
    for line in range(firsts.size):
        first, second, label = firsts[line], seconds[line], label_of[line]
        room = stops[first] - starts[first] + stops[second] - starts[second] + fixed
        room += label_offsets[label + 1] - label_offsets[label]
        if n + room > out.size:
            out = grown(out, n, 2 * (n + room))
        n = put_bytes(out, n, label_text, label_offsets[label], label_offsets[label + 1])
        n = put_bar(out, n)
        n = put_bytes(out, n, text, starts[first], stops[first])
        n = put_bar(out, n)
        side = n
        n = put_bytes(out, n, text, starts[second], stops[second])
        if n_gaps[first] > 0:
            order = _reordered(orders[first], orders[second], n_gaps[first])
            _gap_places(text, starts[first], stops[first], places)
            _renumber(out, side, n, order, places)
        n = put_bar(out, n) - 1
        n = _put_features(out, n, values, line, names.text, names.offsets, whole)
        n = put_bar(out, n) - 1
        width = n_symbols[second]
        cells = n_symbols[first] * width
        wanted = _meet(pairs, begin, ends[line], best[line], links, link_starts, link_stops, met,
                       stamp, cells, width)  # fmt: skip
        for gap in range(n_gaps[first]):
            met[places[0, gap] * width + places[1, gap]] = wanted
        if n + 24 * cells + 8 > out.size:
            out = grown(out, n, 2 * (n + 24 * cells + 8))
        n = _put_links(out, n, met, n_symbols[first], width, wanted)
        begin = ends[line]
    return out[:n]
