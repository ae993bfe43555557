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
from distsim.grammar.kernels.packs import put_integer
from distsim.kernels.arrays import heap_sort
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import HALF

_LOW = np.uint64(0xFFFFFFFF)


@compiled
def partition_rows(rows, n, bits, room):
    """Order rows[:n] by the leading bits of their foreign hash, the last part first; return sizes.

    In two steps, since what goes to many places at once goes slowly.

    Arguments:
        rows: uint64[m, columns], ordered in place.
        n: number of rows.
        bits: number of leading bits, up to 63.
        room: uint64[m, columns], overwritten.

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
    """Write rows[:n] into out by the parts that they belong to, 2^dropped parts being one.

    Arguments:
        rows, out: uint64[m, COLUMNS].
        n: number of rows.
        counts: int64[2^bits], rows of each part.
        bits: number of leading bits of the foreign hash that name a part.
        dropped: of these, the bits that are not looked at.
    """
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
    """Return whether row a comes before row b: foreign side, label, English side, links, place.

    Arguments:
        rows: uint64[m, COLUMNS].
        a, b: numbers of rows.
    """
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
    """Return the number of rows of a part after writing them into out, sorted.

    Arguments:
        rows: uint64[m, COLUMNS].
        bounds: int64[runs, parts + 1], where the rows of each part end, and those of the last part
            begin.
        part: number of the part.
        part_bits: number of leading bits of the foreign hash that name a part.
        starts: int64, room for at least as many buckets as rows, a power of two, and one.
        order: uint32, room for the rows.
        out: uint64[n, COLUMNS], written.
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


class RuleColumns(NamedTuple):
    """Columns of counted rules, n of them.

    f, e: uint64[n], the hashes of the sides. label: uint32[n]. count: int64[n]. place, gaps:
    uint64[n], of the first instance, gaps above the lowest 32 bits. by_bitext: uint32[n, b].
    """

    f: np.ndarray
    e: np.ndarray
    label: np.ndarray
    count: np.ndarray
    place: np.ndarray
    gaps: np.ndarray
    by_bitext: np.ndarray


@compiled
def count_parts(rows, bounds, part_bits, text_bounds, links, link_offsets, rules):
    """Fill rules from rows, one for each foreign side, label and English side; return their number.

    Rows are sorted part by part, so that the data sorted at a time fit into the cache: by foreign
    side, label, English side, links and place. A rule keeps its most frequent alignment, of equally
    frequent ones the first in byte order, and the place of its first occurrence.

    Arguments:
        rows: uint64[n, 5], the rows of several sorted runs; in each run the last part is first.
        bounds: int64[runs, parts + 1], where the rows of each part end, and those of the last part
            begin.
        part_bits: number of leading bits of the foreign hash that are the number of the part.
        text_bounds: int64[b + 1], the first sentence of each bitext.
        links, link_offsets: as links and link_starts of a Text.
        rules: a RuleColumns with room for n; filled; its by_bitext are zeros before.
    """
    largest = 0
    for part in range(bounds.shape[1] - 1):
        size = 0
        for run in range(bounds.shape[0]):
            size += bounds[run, part] - bounds[run, part + 1]
        largest = max(largest, size)
    size = 2
    while size < largest:
        size *= 2
    starts = np.empty(size + 1, np.int64)
    order = np.empty(largest, np.uint32)
    out = np.empty((largest, COLUMNS), np.uint64)
    longest = most_links(link_offsets)
    pairs = np.empty((longest, 2), np.uint8)
    texts = np.empty((2, 8 * longest), np.uint8)
    spans = np.zeros((3, 4), np.int64)
    n_rules = 0
    for part in range(bounds.shape[1] - 1):
        n_rows = _sort_part(rows, bounds, part, part_bits, starts, order, out)
        n_rules = _count_rules(
            out, n_rows, text_bounds, links, link_offsets, pairs, texts, spans, rules, n_rules
        )
    return n_rules


@uncounted
def links_of(links, link_offsets, sentence, spans, pairs, n):
    """Write the links of a rule between words, by symbols, into pairs; return the end of the links.

    Arguments:
        links: uint8[m, 2] of (foreign, English) words, sorted within a sentence; links within
            gaps are not links of the rule.
        link_offsets: int64[sentences + 1], the first link of each sentence.
        sentence: number of the sentence.
        spans: int64[3, 4], of the rule and its gaps, by unpack_place.
        pairs: uint8[k, 2], written.
        n: number of pairs that are filled.
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
    """Write the links of a rule as `0-0 1-2` into text; return the end of the text.

    Arguments:
        links: uint8[m, 2], of all sentences.
        link_offsets: int64[sentences + 1], the first link of each.
        sentence: the rule's sentence.
        spans: int64[3, 4], of the rule and its gaps, by unpack_place.
        pairs: uint8[m, 2], working memory for the links of a sentence.
        text: uint8, written.
        n: number of bytes of text that are filled.
    """
    n_links = links_of(links, link_offsets, sentence, spans, pairs, 0)
    for k in range(n_links):
        if k > 0:
            text[n] = 32
            n += 1
        n = put_integer(text, n, np.int64(pairs[k, 0]))
        text[n] = 45
        n = put_integer(text, n + 1, np.int64(pairs[k, 1]))
    return n


@uncounted
def most_links(link_offsets):
    """Return the most links of a sentence, 1 at least.

    link_offsets: int64[sentences + 1], the first link of each.
    """
    longest = 1
    for sentence in range(link_offsets.size - 1):
        longest = max(longest, link_offsets[sentence + 1] - link_offsets[sentence])
    return longest


@compiled
def rule_links(place, gaps, links, link_offsets):
    """Return the links of rules between words: (uint8[m, 2] of symbols, int64 numbers of them).

    Arguments:
        place, gaps: uint64[n], as rules are stored.
        links: uint8[m, 2], of all sentences.
        link_offsets: int64[sentences + 1], the first link of each.
    """
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
def number_new(sides, numbers, n):
    """Number the sides that have no number yet, in order; return where each one is first, int64.

    Arguments:
        sides: int64, rows of numbers.
        numbers: int64, -1 where a side has none; written.
        n: how many have one.
    """
    first = np.empty(sides.size, np.int64)
    begun = n
    for k in range(sides.size):
        if numbers[sides[k]] < 0:
            numbers[sides[k]] = n
            first[n - begun] = k
            n += 1
    return first[: n - begun].copy()


@uncounted
def _text_before(first, n_first, second, n_second):
    """Return whether first[:n_first] comes before second[:n_second], uint8 both, byte by byte."""
    for k in range(min(n_first, n_second)):
        if first[k] != second[k]:
            return first[k] < second[k]
    return n_first < n_second


@uncounted
def _same_rule(rows, a, b):
    """Return whether rows a and b of rows, uint64[m, COLUMNS], are of one rule."""
    return (
        rows[a, F_KEY] == rows[b, F_KEY] and rows[a, E_KEY] == rows[b, E_KEY]
        and rows[a, LABEL_LINKS] >> HALF == rows[b, LABEL_LINKS] >> HALF
    )  # fmt: skip


@uncounted
def _count_rules(rows, n, bounds, links, link_offsets, pairs, texts, spans, rules, rule):
    """Add up n sorted rows into rules from `rule` on; return the number after the last rule.

    Arguments:
        rows: uint64[m, 5], one for each occurrence.
        n: number of rows that are filled.
        bounds: int64[b + 1], the first sentence of each bitext.
        links, link_offsets: uint8[m, 2] and int64[sentences + 1], the links of all sentences.
        pairs, texts, spans: working memory for a rule's links, two texts of links, and its spans.
        rules: a RuleColumns, written.
        rule: number of the first rule.
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
            n_first = write_links(links, link_offsets, sentence, spans, pairs, texts[0], 0)
            sentence = unpack_place(rules.place[rule], rules.gaps[rule], spans)
            n_second = write_links(links, link_offsets, sentence, spans, pairs, texts[1], 0)
            better = _text_before(texts[0], n_first, texts[1], n_second)
        if better:
            best = times
            rules.place[rule] = rows[first, PLACE]
            rules.gaps[rule] = rows[first, GAPS_COUNT] & ~_LOW
    return rule + 1
