"""Bytes of rules -> the fields of each line, then its label, symbols, gaps, features and links."""

import numpy as np

from distsim.kernels.compiled import compiled, uncounted

# What can be wrong with a line.
FINE, FEW_FIELDS, BAD_LABEL, EMPTY_SIDE, BAD_GAP, BAD_LINK, LINK_OUTSIDE, NOT_UTF8 = range(8)
NAMED, BARE = 1, 2  # kinds of features, as bits
TERMINAL = -1
# Where the parts of a rule stand among the fields of a line: what a layout says, in this order.
LABEL, SOURCE, TARGET, FEATURES, LINKS, COUNTS, PARTNERS, GAPS = range(8)
_MOST_FIELDS = 8  # further ones are counted, not kept
_LARGEST = 1 << 30  # no index is larger
_TAB, _NEWLINE, _RETURN, _SPACE, _BAR = 9, 10, 13, 32, 124


@uncounted
def _is_blank(byte):
    return byte == _SPACE or byte == _TAB


@uncounted
def _parts_fields(text, begin, i):
    """Tell whether the bar at i begins a separator: `|||` between blanks or the line's ends."""
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
    """Fill fields, int64[_MOST_FIELDS, 2], with where those of a line start and stop.

    Returns (how many there are, where the next line begins).
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
    """Return where the first token of text[i:stop] starts and stops; stop, stop without one."""
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
        if value < _LARGEST:
            value = value * 10 + digit
    return value


@uncounted
def gap_index(text, start, stop, on_target):
    """Return the index of a gap, TERMINAL for any other symbol: after the last comma.

    `[2]`, without a label, is a gap on the target side only (cdec): -2 - index.
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
def _read_label(text, field, label):
    """Set label to where the only token of a field stands; tell whether it is in brackets."""
    label[0], label[1] = next_token(text, field[0], field[1])
    again, _ = next_token(text, label[1], field[1])
    return (
        again == field[1] and label[1] - label[0] >= 3
        and text[label[0]] == 91 and text[label[1] - 1] == 93
    )  # fmt: skip


@uncounted
def _read_symbols(text, field, has_gaps, on_target, starts, stops, gaps, n):
    """Append the symbols of a side; return their new number."""
    i, stop = next_token(text, field[0], field[1])
    while i < stop:
        starts[n] = i
        stops[n] = stop
        gaps[n] = gap_index(text, i, stop, on_target) if has_gaps else TERMINAL
        n += 1
        i, stop = next_token(text, stop, field[1])
    return n


@uncounted
def _read_features(text, field):
    """Return (the byte behind the last feature, which kinds there are)."""
    kinds = 0
    last = field[0]
    i, stop = next_token(text, field[0], field[1])
    while i < stop:
        last = stop
        kind = BARE
        for k in range(i + 1, stop):
            if text[k] == 61:
                kind = NAMED
        kinds |= kind
        i, stop = next_token(text, stop, field[1])
    return last, kinds


@uncounted
def _read_links(text, field, links, n):
    """Append the links of a field; return (their new number, where the first bad one is or -1).

    A field without any link is a field of something else.
    """
    first = n
    bad = -1
    i, stop = next_token(text, field[0], field[1])
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
        i, stop = next_token(text, stop, field[1])
    return n, bad if n > first else -1


@uncounted
def _has_partners(text, field):
    """Tell whether a field holds bracketed partners and nothing else: `(0) (1,2) ( )`."""
    inside = False
    n = 0
    for i in range(field[0], field[1]):
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
def _read_partners(text, field, own_side, links, n):
    """Append the links of a field of partners; return their new number."""
    own = -1
    other = -1
    for i in range(field[0], field[1]):
        byte = np.int64(text[i])
        if byte == 40:
            own += 1
        if 48 <= byte <= 57:
            if other < _LARGEST:
                other = max(other, 0) * 10 + byte - 48
        elif other >= 0:
            links[n, own_side] = own
            links[n, 1 - own_side] = other
            n += 1
            other = -1
    return n


@uncounted
def _settle_gaps(gaps, first, source_stop, target_stop):
    """Make bare target gaps plain; return an index that is not once on each side, or TERMINAL."""
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
    """Return the first of links[first:n] that points outside the rule, -1 if none does."""
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


@compiled
def parse_rules(text, layout):
    """Parse the lines of a block of rules.

    layout: int64[8], the field, from 0, of LABEL, SOURCE, TARGET, FEATURES, LINKS and COUNTS, -1
    where there is none; PARTNERS: the first of two fields that, where both hold bracketed partners,
    stand for LINKS and push the features behind them; GAPS: 1 where sides have gaps.

    Returns
    line_starts: int64[n + 1];
    status: uint8[n], FINE or what is wrong; details: int64[n, 2], the numbers that say it;
    labels: int64[n, 2], start and stop of the label;
    features: int64[n, 2], where the field starts and where its last feature stops;
    feature_kinds: uint8[n], NAMED | BARE;
    counts: int64[n, 2], start and stop of the field of counts;
    token_stops: int64[n, 2], symbols up to the end of each source and each target;
    starts, stops: int64 per symbol; gaps: int64 per symbol, its index or TERMINAL;
    link_stops: int64[n]; links: int64[m, 2] of (source symbol, target symbol).
    """
    n_lines, most_tokens, most_links = _sizes(text)
    line_starts = np.empty(n_lines + 1, np.int64)
    status = np.zeros(n_lines, np.uint8)
    details = np.zeros((n_lines, 2), np.int64)
    labels = np.zeros((n_lines, 2), np.int64)
    features = np.zeros((n_lines, 2), np.int64)
    feature_kinds = np.zeros(n_lines, np.uint8)
    counts = np.zeros((n_lines, 2), np.int64)
    token_stops = np.empty((n_lines, 2), np.int64)
    starts = np.empty(most_tokens, np.int64)
    stops = np.empty(most_tokens, np.int64)
    gaps = np.empty(most_tokens, np.int64)
    link_stops = np.empty(n_lines, np.int64)
    links = np.empty((most_links, 2), np.int64)
    fields = np.zeros((_MOST_FIELDS, 2), np.int64)
    has_gaps = layout[GAPS] > 0
    partners = layout[PARTNERS]
    n = 0
    n_links = 0
    begin = 0
    for line in range(n_lines):
        line_starts[line] = begin
        first = n
        middle = n
        first_link = n_links
        n_fields, begin = _split_line(text, begin, fields)
        is_old = (
            partners >= 0 and n_fields > partners + 2
            and _has_partners(text, fields[partners]) and _has_partners(text, fields[partners + 1])
        )  # fmt: skip
        features_field = partners + 2 if is_old else layout[FEATURES]
        wrong = FINE
        if n_fields <= features_field:
            wrong = FEW_FIELDS
            details[line, 0] = n_fields
        elif layout[LABEL] >= 0 and not _read_label(text, fields[layout[LABEL]], labels[line]):
            wrong = BAD_LABEL
        else:
            features[line, 0] = fields[features_field, 0]
            features[line, 1], feature_kinds[line] = _read_features(text, fields[features_field])
            middle = _read_symbols(
                text, fields[layout[SOURCE]], has_gaps, False, starts, stops, gaps, n
            )
            n = _read_symbols(
                text, fields[layout[TARGET]], has_gaps, True, starts, stops, gaps, middle
            )
            if not has_gaps and (middle == first or n == middle):
                wrong = EMPTY_SIDE
            else:
                gap = _settle_gaps(gaps, first, middle, n)
                if gap != TERMINAL:
                    wrong = BAD_GAP
                    details[line, 0] = gap
        if wrong == FINE:
            if 0 <= layout[COUNTS] < n_fields and not is_old:
                counts[line, 0] = fields[layout[COUNTS], 0]
                counts[line, 1] = fields[layout[COUNTS], 1]
            bad = -1
            if is_old:
                for side in range(2):
                    n_links = _read_partners(text, fields[partners + side], side, links, n_links)
            elif 0 <= layout[LINKS] < n_fields:
                n_links, bad = _read_links(text, fields[layout[LINKS]], links, n_links)
            outside = _link_outside(links, first_link, n_links, middle - first, n - middle)
            if bad >= 0:
                wrong = BAD_LINK
                details[line, 0] = bad
            elif outside >= 0:
                wrong = LINK_OUTSIDE
                details[line, 0] = links[outside, 0]
                details[line, 1] = links[outside, 1]
        if wrong != FINE:
            status[line] = wrong
            n = first
            middle = first
            n_links = first_link
        token_stops[line, 0] = middle
        token_stops[line, 1] = n
        link_stops[line] = n_links
    line_starts[n_lines] = text.size
    return (
        line_starts, status, details, labels, features, feature_kinds, counts, token_stops,
        starts[:n].copy(), stops[:n].copy(), gaps[:n].copy(),
        link_stops, links[:n_links].copy(),
    )  # fmt: skip
