"""Sorts rows of rules and adds them up to rules with their counts and margins."""

from typing import NamedTuple

import numpy as np

from distsim.grammar.kernels.extraction import (
    COLUMNS,
    E_KEY,
    F_KEY,
    GAPS_COUNT,
    LABEL_LINKS,
    PLACE,
    e_symbol,
    unpack_place,
)  # fmt: skip
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import FINISHER, HALF, MULTIPLIER
from distsim.kernels.heaps import heap_sort
from distsim.kernels.prefetch import prefetch

_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_AHEAD = 16
_NEAR = 8
_CHAINED = 8  # labels of a side
_PIECE_ROWS = 1 << 16  # of English margins; so many stay near
_PIECE_BITS = 6  # more are written to at once more slowly


@compiled
def partition_rows(rows, n, bits, room):
    """Order rows[:n] by the leading bits of their foreign hash, the last part first; return sizes.

    In two steps, since what goes to many places at once goes slowly. room: for as many rows.
    Returns how many rows each part has, int64[2^bits].
    """
    counts = np.zeros(1 << bits, np.int64)
    shift = np.uint64(64 - bits)
    for i in range(n):
        counts[np.int64(rows[i, F_KEY] >> shift)] += 1
    more = bits // 2
    _move_rows(rows, n, counts, bits, more, room)
    _move_rows(room, n, counts, bits, 0, rows)
    return counts


@compiled
def _move_rows(rows, n, counts, bits, dropped, out):
    """Write rows[:n] into out by the parts that they belong to, 2^dropped parts being one."""
    place = np.zeros(1 << (bits - dropped), np.int64)
    n_before = 0
    for part in range(counts.size - 1, -1, -1):
        if dropped == 0 or (part + 1) % (1 << dropped) == 0:
            place[part >> dropped] = n_before
        n_before += counts[part]
    shift = np.uint64(64 - bits + dropped)
    for i in range(n):
        part = np.int64(rows[i, F_KEY] >> shift)
        k = place[part]
        place[part] = k + 1
        for column in range(COLUMNS):
            out[k, column] = rows[i, column]


@uncounted
def _before(rows, a, b):
    """Return whether row a comes before row b: foreign side, label, English side, links, place."""
    if rows[a, F_KEY] != rows[b, F_KEY]:
        return rows[a, F_KEY] < rows[b, F_KEY]
    if rows[a, LABEL_LINKS] >> HALF != rows[b, LABEL_LINKS] >> HALF:
        return rows[a, LABEL_LINKS] < rows[b, LABEL_LINKS]
    if rows[a, E_KEY] != rows[b, E_KEY]:
        return rows[a, E_KEY] < rows[b, E_KEY]
    if rows[a, LABEL_LINKS] != rows[b, LABEL_LINKS]:
        return rows[a, LABEL_LINKS] < rows[b, LABEL_LINKS]
    if rows[a, PLACE] != rows[b, PLACE]:
        return rows[a, PLACE] < rows[b, PLACE]
    return rows[a, GAPS_COUNT] < rows[b, GAPS_COUNT]


_sort_span = heap_sort(_before)


@uncounted
def _sort_part(rows, bounds, part, part_bits, starts, order, out):
    """Write the rows of a part into out, sorted; return how many they are.

    bounds: as in count_parts. starts: int64, room for at least as many buckets as rows, a power
    of two, and one; order: uint32, for the rows.
    """
    n = 0
    for run in range(bounds.shape[0]):
        n += bounds[run, part] - bounds[run, part + 1]
    bits = 1
    while 1 << bits < n:
        bits += 1
    n_buckets = 1 << bits
    shift = np.uint64(max(0, 64 - part_bits - bits))
    mask = np.uint64(n_buckets - 1)
    for bucket in range(n_buckets + 1):
        starts[bucket] = 0
    for run in range(bounds.shape[0]):
        for i in range(bounds[run, part + 1], bounds[run, part]):
            starts[np.int64((rows[i, F_KEY] >> shift) & mask) + 1] += 1
    for bucket in range(n_buckets):
        starts[bucket + 1] += starts[bucket]
    for run in range(bounds.shape[0]):
        for i in range(bounds[run, part + 1], bounds[run, part]):
            bucket = np.int64((rows[i, F_KEY] >> shift) & mask)
            order[starts[bucket]] = i
            starts[bucket] += 1
    begin = 0
    for bucket in range(n_buckets):  # starts[bucket] is now its end
        stop = starts[bucket]
        if stop - begin > 1:
            _sort_span(rows, order, begin, stop)
        begin = stop
    for k in range(n):
        for column in range(COLUMNS):
            out[k, column] = rows[order[k], column]
    return n


class Rules(NamedTuple):
    """Columns of counted rules, n of them.

    f, e: uint64[n], the hashes of the sides. label: uint32[n]. count: int64[n]. place, gaps:
    uint64[n], of the first instance, gaps above the lowest 32 bits. by_bitext: uint32[n, b].
    margins: int64[n, 3] of c(f), c(label, f), c(f, e).
    """

    f: np.ndarray
    e: np.ndarray
    label: np.ndarray
    count: np.ndarray
    place: np.ndarray
    gaps: np.ndarray
    by_bitext: np.ndarray
    margins: np.ndarray


@compiled
def count_parts(rows, bounds, part_bits, text_bounds, links, link_offsets, rules):
    """Fill rules from rows, one for each foreign side, label and English side; return their number.

    Part by part, so that what is sorted stays near: by foreign side, label, English side, links
    and place. Of the alignments of a rule the most frequent stays, of equally frequent ones the
    first in byte order; its first place is the rule's.

    Arguments:
        rows: uint64[n, 5], of some runs, in each the last part first. bounds: int64[runs, parts +
            1], where the rows of each part end, and those of the last one begin; part_bits: so
            many leading bits of the foreign hash number the parts.
        text_bounds: int64[b + 1], the first sentence of each bitext.
        links, link_offsets: as links and link_starts of a Text.
        rules: a Rules with room for n; filled. by_bitext: zeros.

    Returns how many rules there are.
    """
    most = 0
    for part in range(bounds.shape[1] - 1):
        size = 0
        for run in range(bounds.shape[0]):
            size += bounds[run, part] - bounds[run, part + 1]
        most = max(most, size)
    size = 2
    while size < most:
        size *= 2
    starts = np.empty(size + 1, np.int64)
    order = np.empty(most, np.uint32)
    out = np.empty((most, COLUMNS), np.uint64)
    longest = most_links(link_offsets)
    pairs = np.empty((longest, 2), np.uint8)
    texts = np.empty((2, 8 * longest), np.uint8)
    spans = np.zeros((3, 4), np.int64)
    slots = np.zeros(16, np.int64)
    n_rules = 0
    for part in range(bounds.shape[1] - 1):
        n_rows = _sort_part(rows, bounds, part, part_bits, starts, order, out)
        first = n_rules
        n_rules = _count_rules(
            out, n_rows, text_bounds, links, link_offsets, pairs, texts, spans, rules, n_rules
        )
        if 4 * (n_rules - first) > slots.size:
            slots = np.zeros(8 * (n_rules - first), np.int64)
        _foreign_margins(rules, first, n_rules, slots)
    return n_rules


@uncounted
def _put_number(text, n, value):
    if value >= 100:
        text[n] = 48 + value // 100
        n += 1
    if value >= 10:
        text[n] = 48 + value // 10 % 10
        n += 1
    text[n] = 48 + value % 10
    return n + 1


@uncounted
def links_of(links, link_offsets, sentence, spans, pairs, n):
    """Write the links of a rule between words, by symbols, into pairs from n on; return the end.

    links: uint8[m, 2] of (foreign, English) words, sorted within a sentence; links within
    gaps are not the rule's.
    """
    first = spans[0, 0]
    stop = first + spans[0, 1]
    for k in range(link_offsets[sentence], link_offsets[sentence + 1]):
        i = np.int64(links[k, 0])
        if i < first:
            continue
        if i >= stop:
            break
        symbol = i - first
        inside = False
        for gap in range(1, 3):
            if spans[gap, 1] > 0 and i >= spans[gap, 0]:
                if i < spans[gap, 0] + spans[gap, 1]:
                    inside = True
                symbol += 1 - spans[gap, 1]
        if not inside:
            pairs[n, 0] = symbol
            pairs[n, 1] = e_symbol(np.int64(links[k, 1]), spans)
            n += 1
    return n


@uncounted
def write_links(links, link_offsets, sentence, spans, pairs, text, n):
    """Write the links of a rule as `0-0 1-2` into text from n on; return the end.

    pairs: uint8[m, 2], room for the links of any sentence.
    """
    n_links = links_of(links, link_offsets, sentence, spans, pairs, 0)
    for k in range(n_links):
        if k > 0:
            text[n] = 32
            n += 1
        n = _put_number(text, n, np.int64(pairs[k, 0]))
        text[n] = 45
        n = _put_number(text, n + 1, np.int64(pairs[k, 1]))
    return n


@uncounted
def most_links(link_offsets):
    """Return the most links of a sentence, 1 at least."""
    longest = 1
    for sentence in range(link_offsets.size - 1):
        longest = max(longest, link_offsets[sentence + 1] - link_offsets[sentence])
    return longest


@compiled
def rule_links(place, gaps, links, link_offsets):
    """Return the links of rules between words: (uint8[m, 2] of symbols, int64 numbers of them)."""
    spans = np.zeros((3, 4), np.int64)
    room = 0
    for r in range(place.size):
        sentence = unpack_place(place[r], gaps[r], spans)
        room += link_offsets[sentence + 1] - link_offsets[sentence]
    pairs = np.empty((room, 2), np.uint8)
    lengths = np.empty(place.size, np.int64)
    n = 0
    for r in range(place.size):
        sentence = unpack_place(place[r], gaps[r], spans)
        end = links_of(links, link_offsets, sentence, spans, pairs, n)
        lengths[r] = end - n
        n = end
    return pairs[:n].copy(), lengths


@uncounted
def _text_before(one, n_one, two, n_two):
    for k in range(min(n_one, n_two)):
        if one[k] != two[k]:
            return one[k] < two[k]
    return n_one < n_two


@uncounted
def _same_rule(rows, a, b):
    return (
        rows[a, F_KEY] == rows[b, F_KEY] and rows[a, E_KEY] == rows[b, E_KEY]
        and rows[a, LABEL_LINKS] >> HALF == rows[b, LABEL_LINKS] >> HALF
    )  # fmt: skip


@uncounted
def _count_rules(rows, n, bounds, links, link_offsets, pairs, texts, spans, rules, rule):
    """Add up n sorted rows into rules from `rule` on; return their end.

    Arguments:
        rows: uint64[n, 5]. bounds: the text_bounds of count_parts; links, link_offsets: as there.
        pairs, texts, spans: room for the links of a rule, for two texts of them, for its spans.
        rules: a Rules, written. rule: the number of the first one.
    """
    rule -= 1
    best = 0
    i = 0
    while i < n:
        if i == 0 or not _same_rule(rows, i, i - 1):
            rule += 1
            rules.f[rule] = rows[i, F_KEY]
            rules.e[rule] = rows[i, E_KEY]
            rules.label[rule] = np.uint32(rows[i, LABEL_LINKS] >> HALF)
            rules.count[rule] = 0
            best = 0
        first = i
        times = 0
        while True:
            more = np.int64(rows[i, GAPS_COUNT] & _LOW)
            times += more
            bitext = 0
            sentence = np.int64(rows[i, PLACE] >> HALF)
            while sentence >= bounds[bitext + 1]:
                bitext += 1
            rules.by_bitext[rule, bitext] += np.uint32(more)
            i += 1
            if (
                i == n or rows[i, LABEL_LINKS] != rows[first, LABEL_LINKS]
                or not _same_rule(rows, i, first)
            ):  # fmt: skip
                break
        rules.count[rule] += times
        better = times > best
        if times == best:
            sentence = unpack_place(rows[first, PLACE], rows[first, GAPS_COUNT], spans)
            n_one = write_links(links, link_offsets, sentence, spans, pairs, texts[0], 0)
            sentence = unpack_place(rules.place[rule], rules.gaps[rule], spans)
            n_two = write_links(links, link_offsets, sentence, spans, pairs, texts[1], 0)
            better = _text_before(texts[0], n_one, texts[1], n_two)
        if better:
            best = times
            rules.place[rule] = rows[first, PLACE]
            rules.gaps[rule] = rows[first, GAPS_COUNT] & ~_LOW
    return rule + 1


@uncounted
def _foreign_margins(rules, first, n, slots):
    """Write c(f), c(label, f) and c(f, e) of the sorted rules first..n into margins.

    slots: int64, at least four times as many as rules.
    """
    f, label, count, margins = rules.f, rules.label, rules.count, rules.margins
    begin = first
    while begin < n:
        stop = begin
        total = 0
        while stop < n and f[stop] == f[begin]:
            total += count[stop]
            stop += 1
        one = begin
        while one < stop:
            last = one
            of_label = 0
            while last < stop and label[last] == label[one]:
                of_label += count[last]
                last += 1
            for k in range(one, last):
                margins[k, 0] = total
                margins[k, 1] = of_label
                margins[k, 2] = count[k]
            one = last
        if label[begin] != label[stop - 1]:
            _add_over_labels(rules.e, count, begin, stop, slots, margins)
        begin = stop


@uncounted
def _add_over_labels(e, count, begin, stop, slots, margins):
    """Write c(f, e) of the rules begin..stop of one foreign side, whatever their labels."""
    size = 16
    while size < 2 * (stop - begin):
        size *= 2
    mask = np.uint64(size - 1)
    for k in range(size):
        slots[k] = 0
    for turn in range(2):
        for k in range(begin, stop):
            slot = ((e[k] * MULTIPLIER) >> HALF) & mask
            while slots[slot] != 0 and e[slots[slot] - 1] != e[k]:
                slot = (slot + _ONE) & mask
            if turn == 0:
                if slots[slot] == 0:
                    slots[slot] = k + 1  # the first rule of an English side
                else:
                    margins[slots[slot] - 1, 2] += count[k]
            elif slots[slot] - 1 < k:
                margins[k, 2] = margins[slots[slot] - 1, 2]


@compiled
def english_margins(rows, has_labels, grouped, found, out):
    """Write (the number of each rule's English side, c(e), c(label, e)) into out, uint32[n, 3].

    Returns how many sides there are. Rows are first taken apart by their sides, so that all of a
    piece stays near; sides are numbered piece by piece.

    rows: uint64[n, 2] of (hash of the English side, label and count, 32 bits each). Room:
    grouped, as rows; found, as out.
    """
    bits = 0
    while rows.shape[0] >> bits > _PIECE_ROWS and bits < _PIECE_BITS:
        bits += 1
    ends = np.zeros((1 << bits) + 2, np.int64)
    _group_by_side(rows, bits, ends, grouped)
    most = 0
    for piece in range(1 << bits):
        most = max(most, ends[piece + 1] - ends[piece])
    size = 16
    while size < 2 * most:
        size *= 2
    slots = np.zeros(size, np.uint32)
    sums = np.zeros(most, np.int64)
    chains = np.zeros((2 * most if has_labels else 0, 2), np.uint32)
    n_sides = 0
    for piece in range(1 << bits):
        some = grouped[ends[piece] : ends[piece + 1]]
        of_some = found[ends[piece] : ends[piece + 1]]
        m = some.shape[0]
        _clear(slots, sums, chains, m)
        of_piece = _number_sides(some, slots, of_some[:, 0])
        _sum_by_number(some, of_some[:, 0], sums, of_some[:, 1])
        if has_labels:
            _clear(slots, sums, chains, m)
            _number_labels(some, of_some[:, 0], of_piece, slots, chains, of_some[:, 2])
            _sum_by_number(some, of_some[:, 2], sums, of_some[:, 2])
        _complete(of_some, n_sides, has_labels)
        n_sides += of_piece
    _put_in_order(rows, bits, ends, found, out)
    return n_sides


@uncounted
def _clear(slots, sums, chains, m):
    """Empty the room for m rows; loops, which compile in a third of the time of slices."""
    for k in range(slots.size):
        slots[k] = 0
    for k in range(m):
        sums[k] = 0
    for k in range(min(2 * m, chains.shape[0])):
        chains[k, 0] = 0
        chains[k, 1] = 0


@uncounted
def _complete(found, n_sides, has_labels):
    """Count sides on from n_sides; without labels c(label, e) is c(e)."""
    for k in range(found.shape[0]):
        found[k, 0] += np.uint32(n_sides)
        if not has_labels:
            found[k, 2] = found[k, 1]


@uncounted
def _piece(rows, i, shift):
    """Return the number of the piece that a row belongs to."""
    return np.int64(((rows[i, 0] * MULTIPLIER) >> _ONE) >> shift)


@uncounted
def _group_by_side(rows, bits, ends, grouped):
    """Write rows into separated by their sides, else in order.

    ends: int64[2^bits + 2], zeros: where each piece ends, from its second element on.
    """
    shift = np.uint64(63 - bits)
    for i in range(rows.shape[0]):
        ends[_piece(rows, i, shift) + 2] += 1
    for piece in range(1 << bits):
        ends[piece + 2] += ends[piece + 1]
    for i in range(rows.shape[0]):
        piece = _piece(rows, i, shift)
        k = ends[piece + 1]
        ends[piece + 1] = k + 1
        grouped[k, 0] = rows[i, 0]
        grouped[k, 1] = rows[i, 1]


@uncounted
def _put_in_order(rows, bits, ends, found, out):
    """Write the results of grouped rows in the order of the rows; `ends` is overwritten."""
    shift = np.uint64(63 - bits)
    for i in range(rows.shape[0]):  # a piece begins where the one before it ends
        piece = _piece(rows, i, shift)
        k = ends[piece]
        ends[piece] = k + 1
        for column in range(3):
            out[i, column] = found[k, column]


@uncounted
def _side_slot(key, mask):
    key = key * MULTIPLIER
    return (key ^ (key >> HALF)) & mask


@uncounted
def _number_sides(rows, slots, numbers):
    """Number distinct sides; return how many there are.

    slots: uint32, zeros, a power of two, at least twice the number of rows: 0 or 1 + the first
    row of a side.
    """
    n = rows.shape[0]
    flat = rows.reshape(-1)
    mask = np.uint64(slots.size - 1)
    n_sides = 0
    for i in range(min(_AHEAD, n)):
        prefetch(slots, np.int64(_side_slot(rows[i, 0], mask)))
    for i in range(n):
        if i + _AHEAD < n:
            prefetch(slots, np.int64(_side_slot(rows[i + _AHEAD, 0], mask)))
        if i + _NEAR < n:
            near = np.int64(slots[_side_slot(rows[i + _NEAR, 0], mask)])
            if near > 0:
                prefetch(flat, 2 * near - 2)
        slot = _side_slot(rows[i, 0], mask)
        while True:
            found = np.int64(slots[slot])
            if found == 0:
                slots[slot] = np.uint32(i + 1)
                numbers[i] = n_sides
                n_sides += 1
                break
            if rows[found - 1, 0] == rows[i, 0]:
                numbers[i] = numbers[found - 1]
                break
            slot = (slot + _ONE) & mask
    return n_sides


@uncounted
def _number_labels(rows, sides, n_sides, slots, chains, numbers):
    """Number distinct pairs of side and label, 0 to the number of rows at most.

    The first labels of a side are chained, for most have one or two; those beyond go to slots,
    as in _number_sides. chains: uint32, zeros, two each: for a side (1 + its first pair,
    how many are chained), then for a pair (its label, 1 + the next pair of its side).
    """
    mask = np.uint64(slots.size - 1)
    n_pairs = 0
    for i in range(rows.shape[0]):
        side = sides[i]
        label = np.uint32(rows[i, 1] >> HALF)
        pair = np.int64(chains[side, 0]) - 1
        last = np.int64(-1)
        while pair >= 0 and chains[n_sides + pair, 0] != label:
            last = pair
            pair = np.int64(chains[n_sides + pair, 1]) - 1
        if pair < 0 and chains[side, 1] < _CHAINED:
            pair = n_pairs
            n_pairs += 1
            chains[n_sides + pair, 0] = label
            chains[side, 1] += np.uint32(1)
            if last < 0:
                chains[side, 0] = np.uint32(pair + 1)
            else:
                chains[n_sides + last, 1] = np.uint32(pair + 1)
        elif pair < 0:
            slot = _side_slot(rows[i, 0] ^ ((np.uint64(label) + _ONE) * FINISHER), mask)
            while True:
                found = np.int64(slots[slot])
                if found == 0:
                    slots[slot] = np.uint32(i + 1)
                    pair = n_pairs
                    n_pairs += 1
                    break
                if rows[found - 1, 0] == rows[i, 0] and rows[found - 1, 1] >> HALF == label:
                    pair = np.int64(numbers[found - 1])
                    break
                slot = (slot + _ONE) & mask
        numbers[i] = pair


@uncounted
def _sum_by_number(rows, numbers, sums, out):
    """Write, for each row, the sum of the counts of all rows with its number; sums: zeros."""
    for i in range(numbers.size):
        sums[numbers[i]] += np.int64(rows[i, 1] & _LOW)
    for i in range(numbers.size):
        out[i] = sums[numbers[i]]
