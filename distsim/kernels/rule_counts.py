"""Rows of rules -> sorted rows -> rules with their counts and margins."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.extraction import (
    COLUMNS,
    E_KEY,
    F_KEY,
    GAPS_COUNT,
    LABEL_LINKS,
    PLACE,
    e_symbol,
    unpack_place,
)  # fmt: skip
from distsim.kernels.hashing import FINISHER, HALF, MULTIPLIER
from distsim.kernels.prefetch import prefetch

_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_SMALL = 12


@compiled
def partition_rows(rows, n, bits, out):
    """Write rows[:n] into out by the leading bits of their foreign hash, else in order.

    Returns where each part begins, int64[2^bits + 1].
    """
    shift = np.uint64(64 - bits)
    starts = np.zeros((1 << bits) + 1, np.int64)
    for i in range(n):
        starts[np.int64(rows[i, F_KEY] >> shift) + 1] += 1
    for part in range(1 << bits):
        starts[part + 1] += starts[part]
    place = starts.copy()
    for i in range(n):
        part = np.int64(rows[i, F_KEY] >> shift)
        k = place[part]
        for column in range(COLUMNS):
            out[k, column] = rows[i, column]
        place[part] = k + 1
    return starts


@compiled
def _before(rows, a, b):
    """Tell whether row a comes before row b: foreign side, label, English side, links, place."""
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


@compiled
def _sort_span(rows, order, first, last):
    """Sort order[first:last] by the rows it names: heaps above a few, insertion below."""
    n = last - first
    if n <= _SMALL:
        for i in range(first + 1, last):
            one = order[i]
            k = i
            while k > first and _before(rows, one, order[k - 1]):
                order[k] = order[k - 1]
                k -= 1
            order[k] = one
        return
    start = n // 2
    end = n
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            order[first + end], order[first] = order[first], order[first + end]
        root = start
        one = order[first + root]
        while True:
            child = 2 * root + 1
            if child >= end:
                break
            if child + 1 < end and _before(rows, order[first + child], order[first + child + 1]):
                child += 1
            if not _before(rows, one, order[first + child]):
                break
            order[first + root] = order[first + child]
            root = child
        order[first + root] = one


@compiled
def sort_rows(rows, lowest, shift, out):
    """Write rows into out, sorted by foreign side, label, English side, links and place.

    lowest: no foreign hash is smaller; shift: (hash - lowest) >> shift numbers buckets of
    which there are about as many as rows.
    """
    n = rows.shape[0]
    if n == 0:
        return
    highest = np.uint64(0)
    for i in range(n):
        highest = max(highest, rows[i, F_KEY])
    n_buckets = np.int64((highest - lowest) >> shift) + 1
    starts = np.zeros(n_buckets + 1, np.int64)
    for i in range(n):
        starts[np.int64((rows[i, F_KEY] - lowest) >> shift) + 1] += 1
    for bucket in range(n_buckets):
        starts[bucket + 1] += starts[bucket]
    order = np.empty(n, np.uint32)
    for i in range(n):
        bucket = np.int64((rows[i, F_KEY] - lowest) >> shift)
        order[starts[bucket]] = i
        starts[bucket] += 1
    begin = 0
    for bucket in range(n_buckets):  # starts[bucket] is now its end
        stop = starts[bucket]
        for k in range(stop, min(stop + 8, n)):
            prefetch(rows.reshape(-1), np.int64(order[k]) * COLUMNS)
        if stop - begin > 1:
            _sort_span(rows, order, begin, stop)
        for k in range(begin, stop):
            for column in range(COLUMNS):
                out[k, column] = rows[order[k], column]
        begin = stop


@compiled
def _put_number(text, n, value):
    if value >= 100:
        text[n] = 48 + value // 100
        n += 1
    if value >= 10:
        text[n] = 48 + value // 10 % 10
        n += 1
    text[n] = 48 + value % 10
    return n + 1


@compiled
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


@compiled
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


@compiled
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


@compiled
def _text_before(one, n_one, two, n_two):
    for k in range(min(n_one, n_two)):
        if one[k] != two[k]:
            return one[k] < two[k]
    return n_one < n_two


@compiled
def count_rules(rows, bounds, links, link_offsets):
    """Add up sorted rows: one rule for each foreign side, label and English side.

    bounds: int64[b + 1], the first sentence of each bitext. Of the alignments of a rule the
    most frequent stays, of equally frequent ones the first in byte order; its first place is
    the rule's. Returns f uint64[r], e uint64[r], label uint32[r], count int64[r],
    place uint64[r], gaps uint64[r] (above the lowest 32 bits), by_bitext uint32[r, b].
    """
    n = rows.shape[0]
    n_rules = 0
    for i in range(n):
        if (
            i == 0 or rows[i, F_KEY] != rows[i - 1, F_KEY] or rows[i, E_KEY] != rows[i - 1, E_KEY]
            or rows[i, LABEL_LINKS] >> HALF != rows[i - 1, LABEL_LINKS] >> HALF
        ):  # fmt: skip
            n_rules += 1
    f = np.empty(n_rules, np.uint64)
    e = np.empty(n_rules, np.uint64)
    label = np.empty(n_rules, np.uint32)
    count = np.zeros(n_rules, np.int64)
    place = np.empty(n_rules, np.uint64)
    gaps = np.empty(n_rules, np.uint64)
    by_bitext = np.zeros((n_rules, bounds.size - 1), np.uint32)
    longest = most_links(link_offsets)
    pairs = np.empty((longest, 2), np.uint8)
    one = np.empty(8 * longest, np.uint8)
    two = np.empty(8 * longest, np.uint8)
    spans = np.zeros((3, 4), np.int64)
    rule = -1
    best = 0
    i = 0
    while i < n:
        fresh = (
            i == 0 or rows[i, F_KEY] != rows[i - 1, F_KEY] or rows[i, E_KEY] != rows[i - 1, E_KEY]
            or rows[i, LABEL_LINKS] >> HALF != rows[i - 1, LABEL_LINKS] >> HALF
        )  # fmt: skip
        if fresh:
            rule += 1
            f[rule] = rows[i, F_KEY]
            e[rule] = rows[i, E_KEY]
            label[rule] = np.uint32(rows[i, LABEL_LINKS] >> HALF)
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
            by_bitext[rule, bitext] += np.uint32(more)
            i += 1
            if (
                i == n or rows[i, LABEL_LINKS] != rows[first, LABEL_LINKS]
                or rows[i, F_KEY] != rows[first, F_KEY] or rows[i, E_KEY] != rows[first, E_KEY]
            ):  # fmt: skip
                break
        count[rule] += times
        better = times > best
        if times == best:
            sentence = unpack_place(rows[first, PLACE], rows[first, GAPS_COUNT], spans)
            n_one = write_links(links, link_offsets, sentence, spans, pairs, one, 0)
            sentence = unpack_place(place[rule], gaps[rule], spans)
            n_two = write_links(links, link_offsets, sentence, spans, pairs, two, 0)
            better = _text_before(one, n_one, two, n_two)
        if better:
            best = times
            place[rule] = rows[first, PLACE]
            gaps[rule] = rows[first, GAPS_COUNT] & ~_LOW
    return f, e, label, count, place, gaps, by_bitext


@compiled
def foreign_margins(f, e, label, count):
    """Return c(f), c(label, f) and c(f, e) of sorted rules, int64[n] each."""
    n = f.size
    c_f = np.empty(n, np.int64)
    c_lf = np.empty(n, np.int64)
    c_fe = np.empty(n, np.int64)
    slots = np.zeros(16, np.int64)  # 1 + the first rule of an English side
    begin = 0
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
                c_lf[k] = of_label
            one = last
        for k in range(begin, stop):
            c_f[k] = total
            c_fe[k] = count[k]
        if label[begin] != label[stop - 1]:
            size = 16
            while size < 2 * (stop - begin):
                size *= 2
            if size > slots.size:
                slots = np.zeros(size, np.int64)
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
                            slots[slot] = k + 1
                        else:
                            c_fe[slots[slot] - 1] += count[k]
                    elif slots[slot] - 1 < k:
                        c_fe[k] = c_fe[slots[slot] - 1]
        begin = stop
    return c_f, c_lf, c_fe


@compiled
def number_keys(keys, labels, with_labels, slots):
    """Number distinct keys (with their labels where with_labels) by first appearance.

    slots: int64, zeros, a power of two, at least twice the number of keys. Returns
    (numbers uint32[n], their count).
    """
    n = keys.size
    mask = np.uint64(slots.size - 1)
    numbers = np.empty(n, np.uint32)
    n_distinct = 0
    ahead = np.zeros(16, np.uint64)
    for turn in range(-16, n):
        i = turn + 16
        if i < n:
            key = keys[i]
            if with_labels:
                key ^= (np.uint64(labels[i]) + _ONE) * FINISHER
            key = key * MULTIPLIER
            later = (key ^ (key >> HALF)) & mask
            prefetch(slots, np.int64(later))
        if turn >= 0:
            slot = ahead[turn & 15]
            while True:
                found = slots[slot]
                if found == 0:
                    slots[slot] = turn + 1
                    numbers[turn] = n_distinct
                    n_distinct += 1
                    break
                if keys[found - 1] == keys[turn] and (
                    not with_labels or labels[found - 1] == labels[turn]
                ):
                    numbers[turn] = numbers[found - 1]
                    break
                slot = (slot + _ONE) & mask
        if i < n:
            ahead[i & 15] = later
    return numbers, n_distinct


@compiled
def sum_by_number(numbers, n_distinct, counts):
    """Return, for each row, the sum of the counts of all rows with its number; int64[n]."""
    sums = np.zeros(n_distinct, np.int64)
    for i in range(numbers.size):
        sums[numbers[i]] += counts[i]
    out = np.empty(numbers.size, np.int64)
    for i in range(numbers.size):
        out[i] = sums[numbers[i]]
    return out
