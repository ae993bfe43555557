"""Parses lines of rules into fields, then label, symbols, gaps, features and links."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.compiled import compiled, uncounted

_GAP = np.uint32(1 << 31)  # of a symbol: a gap, below it the number of its label


@compiled
def are_rules_sound(
    label, foreign, english, swaps, count, margins, lex, most_cost, n_labels, n_foreign, n_english
):
    """Return whether the columns of rules are in their ranges.

    Arguments:
        label, foreign, english: uint32[n], below n_labels, n_foreign and n_english; foreign is
            ascending.
        swaps: uint8[n], below 2. count: uint32[n], 1 or more, none above its margins.
        margins: uint32[n, 5], c(f, e), c(f), c(e), c(label, f), c(label, e).
        lex: float64[n, 2], none above most_cost or below its negative.
        most_cost, n_labels, n_foreign, n_english: the limits.
    """
    previous = np.uint32(0)
    for rule in range(label.size):
        c, c_fe = count[rule], margins[rule, 0]
        if not (
            previous <= foreign[rule] < n_foreign and english[rule] < n_english
            and label[rule] < n_labels and swaps[rule] < 2
            and 0 < c <= c_fe <= margins[rule, 1] and c_fe <= margins[rule, 2]
            and c <= margins[rule, 3] and c <= margins[rule, 4]
            and abs(lex[rule, 0]) <= most_cost and abs(lex[rule, 1]) <= most_cost
        ):  # fmt: skip
            return False
        previous = foreign[rule]
    return True


@compiled
def are_links_sound(links, n_links, foreign, english, foreign_lengths, english_lengths):
    """Return whether the links of rules are within their sides.

    Arguments:
        links: uint8[m, 2].
        n_links: number of links of each rule, together m.
        foreign, english: numbers of the two sides of each rule.
        foreign_lengths, english_lengths: number of symbols of each side.
    """
    k = 0
    for rule in range(n_links.size):
        n_f = foreign_lengths[foreign[rule]]
        n_e = english_lengths[english[rule]]
        for _ in range(n_links[rule]):
            if links[k, 0] >= n_f or links[k, 1] >= n_e:
                return False
            k += 1
    return True


@compiled
def are_symbols_sound(symbols, n_words, n_labels):
    """Return whether all words of sides are below n_words and all labels of gaps below n_labels.

    Arguments:
        symbols: uint32, words, or gaps with the highest bit set.
        n_words, n_labels: the limits.
    """
    for symbol in symbols:
        if symbol & _GAP:
            if (symbol ^ _GAP) >= n_labels:
                return False
        elif symbol >= n_words:
            return False
    return True


# What can be wrong with a line.
FINE, FEW_FIELDS, BAD_LABEL, EMPTY_SIDE, BAD_GAP, BAD_LINK, LINK_OUTSIDE, NOT_UTF8 = range(8)
NAMED, BARE = 1, 2  # kinds of features, as bits
TERMINAL = -1
# Where the parts of a rule are among the fields of a line: what a layout says, in this order.
LABEL, SOURCE, TARGET, FEATURES, LINKS, COUNTS, PARTNERS, GAPS = range(8)
_MOST_FIELDS = 8  # further ones are counted, not kept
_MAX_INDEX = 1 << 30  # no index is larger
_TAB, _NEWLINE, _RETURN, _SPACE, _BAR = 9, 10, 13, 32, 124


@uncounted
def _is_blank(byte):
    """Return whether a byte is a space or a tab."""
    return byte == _SPACE or byte == _TAB


@uncounted
def _parts_fields(text, begin, i):
    """Return whether the bar at i begins a separator: `|||` between blanks or the line's ends.

    Arguments:
        text: uint8.
        begin: where the line begins.
        i: where a bar is.
    """
    after = i + 3
    if after > text.size or text[i + 1] != _BAR or text[i + 2] != _BAR:
        return False
    if i > begin and not _is_blank(text[i - 1]):
        return False
    if after == text.size or _is_blank(text[after]) or text[after] == _NEWLINE:
        return True
    ends = after + 1 == text.size or text[after + 1] == _NEWLINE
    return text[after] == _RETURN and ends


@uncounted
def _split_line(text, begin, fields):
    """Return (how many fields a line has, where the next line begins).

    Arguments:
        text: uint8.
        begin: where the line begins.
        fields: int64[_MOST_FIELDS, 2], filled with where they start and stop.
    """
    n = 0
    start = begin
    i = begin
    while i < text.size and text[i] != _NEWLINE:
        if text[i] == _BAR and _parts_fields(text, begin, i):
            if n < _MOST_FIELDS:
                fields[n, 0] = start
                fields[n, 1] = i
            n += 1
            i += 3
            start = i
        else:
            i += 1
    if n < _MOST_FIELDS:
        end = i - 1 if i > start and text[i - 1] == _RETURN else i
        fields[n, 0] = start
        fields[n, 1] = end
    return n + 1, i + 1


@uncounted
def next_token(text, i, stop):
    """Return where the first token of text[i:stop] starts and stops; stop, stop without one.

    Arguments:
        text: uint8.
        i, stop: half-open range of positions.
    """
    while i < stop and _is_blank(text[i]):
        i += 1
    start = i
    while i < stop and not _is_blank(text[i]):
        i += 1
    return start, i


@uncounted
def _number(text, start, stop):
    """Return the decimal number text[start:stop], -1 if it is none."""
    if start >= stop:
        return -1
    value = 0
    for i in range(start, stop):
        digit = np.int64(text[i]) - 48
        if digit < 0 or digit > 9:
            return -1
        if value < _MAX_INDEX:
            value = value * 10 + digit
    return value


@uncounted
def gap_index(text, start, stop, on_target):
    """Return the index of a gap, TERMINAL for any other symbol: after the last comma.

    `[2]`, without a label, is a gap on the target side only (cdec): -2 - index.

    Arguments:
        text: uint8.
        start, stop: half-open range of the symbol.
        on_target: whether it is of a target side.
    """
    if stop - start < 3 or text[start] != 91 or text[stop - 1] != 93:
        return TERMINAL
    comma = stop - 2
    while comma > start and text[comma] != 44:
        comma -= 1
    if comma == start + 1:
        return TERMINAL  # no label
    index = _number(text, comma + 1, stop - 1)
    if index <= 0:
        return TERMINAL  # no index: `[1,000]` is a word
    if comma == start:
        return -2 - index if on_target else TERMINAL
    return index


@uncounted
def _read_label(text, fields, field, labels, line):
    """Return whether the only token of a field is in brackets; set labels[line] to it.

    Arguments:
        text: uint8.
        fields: int64[_MOST_FIELDS, 2], of the line.
        field: number of the field.
        labels: int64[lines, 2], written.
        line: number of the line.
    """
    stop = fields[field, 1]
    labels[line, 0], labels[line, 1] = next_token(text, fields[field, 0], stop)
    again, _ = next_token(text, labels[line, 1], stop)
    return (
        again == stop and labels[line, 1] - labels[line, 0] >= 3
        and text[labels[line, 0]] == 91 and text[labels[line, 1] - 1] == 93
    )  # fmt: skip


@uncounted
def _read_symbols(text, fields, field, has_gaps, on_target, lines, n):
    """Return the number of symbols after appending those of a side.

    Arguments:
        text: uint8.
        fields: int64[_MOST_FIELDS, 2], of the line.
        field: number of the side's field.
        has_gaps: the format has gaps.
        on_target: the side is the target side.
        lines: LineArrays; its starts, stops and gaps are written.
        n: symbols before.
    """
    last = fields[field, 1]
    i, stop = next_token(text, fields[field, 0], last)
    while i < stop:
        lines.starts[n] = i
        lines.stops[n] = stop
        lines.gaps[n] = gap_index(text, i, stop, on_target) if has_gaps else TERMINAL
        n += 1
        i, stop = next_token(text, stop, last)
    return n


@uncounted
def _read_features(text, start, end):
    """Return (the byte behind the last feature of text[start:end], which kinds there are)."""
    kinds = 0
    last = end
    while last > start and _is_blank(text[last - 1]):
        last -= 1
    kind = 0  # of the feature here: NAMED with an equals sign behind its first byte
    for i in range(start, last):
        byte = text[i]
        if byte == _SPACE or byte == _TAB:
            kinds |= kind
            kind = 0
        elif kind == 0:
            kind = BARE
        elif byte == 61:
            kind = NAMED
    return last, kinds | kind


@uncounted
def _read_links(text, start, end, links, n):
    """Return (the number of links after appending a field's, the first that is none or -1).

    A field without any link is a field of something else.

    Arguments:
        text: uint8.
        start, end: the field is text[start:end].
        links: int64[m, 2], written.
        n: links before.
    """
    first = n
    bad = -1
    i, stop = next_token(text, start, end)
    while i < stop:
        hyphen = i
        while hyphen < stop and text[hyphen] != 45:
            hyphen += 1
        source = _number(text, i, hyphen)
        target = _number(text, hyphen + 1, stop)
        if source >= 0 and target >= 0:
            links[n, 0] = source
            links[n, 1] = target
            n += 1
        elif bad < 0:
            bad = i
        i, stop = next_token(text, stop, end)
    return n, bad if n > first else -1


@uncounted
def _has_partners(text, start, end):
    """Return whether text[start:end] is bracketed partners and nothing else: `(0) (1,2) ( )`."""
    inside = False
    n = 0
    for i in range(start, end):
        byte = text[i]
        if byte == 40 and not inside:
            inside = True
            n += 1
        elif byte == 41 and inside:
            inside = False
        elif inside:
            if not (48 <= byte <= 57 or byte == 44 or byte == _SPACE):
                return False
        elif not _is_blank(byte):
            return False
    return n > 0 and not inside


@uncounted
def _read_partners(text, start, end, own_side, links, n):
    """Return the number of links after appending those of a field of partners, text[start:end].

    Arguments:
        text: uint8.
        start, end: the field.
        own_side: 0 where the field belongs to the source side, 1 to the target side.
        links: int64[m, 2], written.
        n: links before.
    """
    own = -1
    other = -1
    for i in range(start, end):
        byte = np.int64(text[i])
        if byte == 40:
            own += 1
        if 48 <= byte <= 57:
            if other < _MAX_INDEX:
                other = max(other, 0) * 10 + byte - 48
        elif other >= 0:
            links[n, own_side] = own
            links[n, 1 - own_side] = other
            n += 1
            other = -1
    return n


@uncounted
def _settle_gaps(gaps, first, source_stop, target_stop):
    """Return an index that is not once on each side, or TERMINAL; make bare target gaps plain.

    Arguments:
        gaps: int64 per symbol, changed.
        first, source_stop, target_stop: where the rule's sides start and stop.
    """
    for k in range(source_stop, target_stop):
        if gaps[k] < TERMINAL:
            index = -2 - gaps[k]
            known = False
            for j in range(first, source_stop):
                known = known or gaps[j] == index
            gaps[k] = index if known else TERMINAL
    for k in range(first, target_stop):
        index = gaps[k]
        if index == TERMINAL:
            continue
        on_source = 0
        on_target = 0
        for j in range(first, target_stop):
            if gaps[j] == index:
                if j < source_stop:
                    on_source += 1
                else:
                    on_target += 1
        if on_source != 1 or on_target != 1:
            return index
    return TERMINAL


@uncounted
def _link_outside(links, first, n, n_source, n_target):
    """Return the first of links[first:n] that points outside the rule, -1 if none does.

    Arguments:
        links: int64[m, 2].
        first, n: the rule's links.
        n_source, n_target: symbols of each side.
    """
    for k in range(first, n):
        if links[k, 0] >= n_source or links[k, 1] >= n_target:
            return k
    return -1


@uncounted
def _sizes(text):
    """Return (lines, at most so many tokens, at most so many links) of a block."""
    n_lines = 0
    n_tokens = 1
    n_links = 0
    for i in range(text.size):
        byte = text[i]
        if byte == _NEWLINE:
            n_lines += 1
        if byte == _NEWLINE or _is_blank(byte):
            n_tokens += 1
        if byte == 45 or byte == 44 or byte == 40:
            n_links += 1
    if text.size > 0 and text[text.size - 1] != _NEWLINE:
        n_lines += 1
    return n_lines, n_tokens, n_tokens + n_links


class LineArrays(NamedTuple):
    """Fields, symbols and links of a block's lines; n lines, s symbols, m links.

    line_starts: int64[n + 1], where each line begins and the last one ends.
    status: uint8[n], FINE or what is wrong; details: int64[n, 2], the numbers that say it.
    labels: int64[n, 2], start and stop of the left-hand side.
    features: int64[n, 2], where the field starts and where its last feature stops.
    feature_kinds: uint8[n], NAMED | BARE.
    counts: int64[n, 2], start and stop of the field of counts.
    token_stops: int64[n, 2], symbols up to the end of each source and each target side.
    starts, stops: int64[s], the bytes of each symbol. gaps: int64[s], its index or TERMINAL.
    link_stops: int64[n], links up to the end of each rule.
    links: int64[m, 2] of (source symbol, target symbol), each from 0.
    """

    line_starts: np.ndarray
    status: np.ndarray
    details: np.ndarray
    labels: np.ndarray
    features: np.ndarray
    feature_kinds: np.ndarray
    counts: np.ndarray
    token_stops: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    gaps: np.ndarray
    link_stops: np.ndarray
    links: np.ndarray


@uncounted
def _parse_sides(text, fields, n_fields, features_field, layout, line, lines, n):
    """Return (fault or FINE, end of source, end of target) after reading a line's label and sides.

    Arguments:
        text: uint8.
        fields: int64[_MOST_FIELDS, 2], where those of the line start and stop.
        n_fields: number of fields.
        features_field: number of the field of features.
        layout: int64, the number of each field, by the names LABEL, SOURCE and others.
        line: number of the line.
        lines: LineArrays, written.
        n: symbols read before.
    """
    if n_fields <= features_field:
        lines.details[line, 0] = n_fields
        return FEW_FIELDS, n, n
    if layout[LABEL] >= 0 and not _read_label(text, fields, layout[LABEL], lines.labels, line):
        return BAD_LABEL, n, n
    start, stop = fields[features_field, 0], fields[features_field, 1]
    lines.features[line, 0] = start
    lines.features[line, 1], lines.feature_kinds[line] = _read_features(text, start, stop)
    has_gaps = layout[GAPS] > 0
    middle = _read_symbols(text, fields, layout[SOURCE], has_gaps, False, lines, n)
    end = _read_symbols(text, fields, layout[TARGET], has_gaps, True, lines, middle)
    if not has_gaps and (middle == n or end == middle):
        return EMPTY_SIDE, middle, end
    gap = _settle_gaps(lines.gaps, n, middle, end)
    if gap != TERMINAL:
        lines.details[line, 0] = gap
        return BAD_GAP, middle, end
    return FINE, middle, end


@uncounted
def _parse_links(text, fields, n_fields, partners, layout, line, lines, n_source, n_target, n):
    """Read a line's counts and links; return (fault or FINE, the new number of links).

    Arguments:
        text: uint8, the text of all lines.
        fields: int64[_MOST_FIELDS, 2], where those of the line start and stop.
        n_fields: number of fields.
        partners: the first of two fields of bracketed partners, -1 where the line has none.
        layout: int64, the number of each field, by the names LABEL, SOURCE and others.
        line: number of the line.
        lines: a LineArrays, written.
        n_source, n_target: symbols of the two sides.
        n: links read before.
    """
    first = n
    bad = -1
    if partners >= 0:
        for side in range(2):
            n = _read_partners(text, fields[partners + side, 0], fields[partners + side, 1], side,
                               lines.links, n)  # fmt: skip
    else:
        if 0 <= layout[COUNTS] < n_fields:
            lines.counts[line, 0] = fields[layout[COUNTS], 0]
            lines.counts[line, 1] = fields[layout[COUNTS], 1]
        if 0 <= layout[LINKS] < n_fields:
            field = layout[LINKS]
            n, bad = _read_links(text, fields[field, 0], fields[field, 1], lines.links, n)
    if bad >= 0:
        lines.details[line, 0] = bad
        return BAD_LINK, n
    outside = _link_outside(lines.links, first, n, n_source, n_target)
    if outside >= 0:
        lines.details[line, 0] = lines.links[outside, 0]
        lines.details[line, 1] = lines.links[outside, 1]
        return LINK_OUTSIDE, n
    return FINE, n


@compiled
def parse_rules(text, layout):
    """Return the parsed lines of a block of rules, as a LineArrays.

    Arguments:
        text: uint8, whole lines.
        layout: int64[8], the field, from 0, of LABEL, SOURCE, TARGET, FEATURES, LINKS and COUNTS,
            -1 where there is none; PARTNERS: the first of two fields that, where both contain
            bracketed partners, replace LINKS and push the features behind them; GAPS: 1 where
            sides have gaps.
    """
    n_lines, most_tokens, most_links = _sizes(text)
    lines = LineArrays(
        np.empty(n_lines + 1, np.int64), np.zeros(n_lines, np.uint8),
        np.zeros((n_lines, 2), np.int64), np.zeros((n_lines, 2), np.int64),
        np.zeros((n_lines, 2), np.int64), np.zeros(n_lines, np.uint8),
        np.zeros((n_lines, 2), np.int64), np.empty((n_lines, 2), np.int64),
        np.empty(most_tokens, np.int64), np.empty(most_tokens, np.int64),
        np.empty(most_tokens, np.int64), np.empty(n_lines, np.int64),
        np.empty((most_links, 2), np.int64),
    )  # fmt: skip
    fields = np.zeros((_MOST_FIELDS, 2), np.int64)
    n = 0
    n_links = 0
    begin = 0
    for line in range(n_lines):
        lines.line_starts[line] = begin
        n_fields, begin = _split_line(text, begin, fields)
        partners = layout[PARTNERS]
        if (
            n_fields <= partners + 2 or partners < 0
            or not _has_partners(text, fields[partners, 0], fields[partners, 1])
            or not _has_partners(text, fields[partners + 1, 0], fields[partners + 1, 1])
        ):  # fmt: skip
            partners = -1
        features_field = layout[FEATURES] if partners < 0 else partners + 2
        fault, middle, end = _parse_sides(
            text, fields, n_fields, features_field, layout, line, lines, n
        )
        after = n_links
        if fault == FINE:
            fault, after = _parse_links(
                text, fields, n_fields, partners, layout, line, lines, middle - n, end - middle,
                n_links,
            )  # fmt: skip
        if fault != FINE:
            middle, end, after = n, n, n_links
        lines.status[line] = fault
        lines.token_stops[line, 0] = middle
        lines.token_stops[line, 1] = end
        lines.link_stops[line] = after
        n, n_links = end, after
    lines.line_starts[n_lines] = text.size
    return LineArrays(
        lines.line_starts, lines.status, lines.details, lines.labels, lines.features,
        lines.feature_kinds, lines.counts, lines.token_stops, lines.starts[:n].copy(),
        lines.stops[:n].copy(), lines.gaps[:n].copy(), lines.link_stops,
        lines.links[:n_links].copy(),
    )  # fmt: skip
