"""Bytes of rules -> symbols, gaps and links; links -> pairs of spans; spans -> hashes."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import SPACE, START, extend, finish, step

# What can be wrong with a line.
FINE, FEW_FIELDS, BAD_LHS, EMPTY_SIDE, BAD_GAP, BAD_LINK, LINK_OUTSIDE, NOT_UTF8 = range(8)
NAMED, BARE = 1, 2  # kinds of features, as bits
TERMINAL = -1
UNKNOWN = -1  # no row in the table
NO_FIELD = -1
_LARGEST = 1 << 30  # no index is larger


@compiled
def _is_blank(byte):
    return byte == 32 or byte == 9


@compiled
def _is_separator(text, start, stop):
    return (
        stop - start == 3 and text[start] == 124 and text[start + 1] == 124
        and text[start + 2] == 124
    )  # fmt: skip


@compiled
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


@compiled
def _gap_index(text, start, stop, on_target):
    """Return the index of a gap, TERMINAL for any other symbol: after the last comma.

    `[2]`, without a label, is a gap on the target side only (cdec).
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


@compiled
def parse_rules(text, is_phrase_table):
    """Parse the lines of a block of rules, or of a Moses phrase table.

    Returns
    line_starts: int64[n + 1];
    status: uint8[n], FINE or what is wrong; details: int64[n, 2], the numbers that say it;
    insert_at: int64[n], the byte behind the last feature;
    feature_kinds: uint8[n], NAMED | BARE;
    token_stops: int64[n, 2], symbols up to the end of each source and each target;
    starts, stops: int64 per symbol; gaps: int64 per symbol, its index or TERMINAL;
    link_stops: int64[n]; links: int64[m, 2] of (source symbol, target symbol).
    """
    n_lines = 0
    n_tokens = 1
    n_hyphens = 0
    for i in range(text.size):
        if text[i] == 10:
            n_lines += 1
        if text[i] == 10 or _is_blank(text[i]):
            n_tokens += 1
        if text[i] == 45 or text[i] == 44 or text[i] == 40:
            n_hyphens += 1
    if text.size > 0 and text[text.size - 1] != 10:
        n_lines += 1
    line_starts = np.empty(n_lines + 1, np.int64)
    status = np.zeros(n_lines, np.uint8)
    details = np.zeros((n_lines, 2), np.int64)
    insert_at = np.empty(n_lines, np.int64)
    feature_kinds = np.zeros(n_lines, np.uint8)
    token_stops = np.empty((n_lines, 2), np.int64)
    starts = np.empty(n_tokens, np.int64)
    stops = np.empty(n_tokens, np.int64)
    gaps = np.empty(n_tokens, np.int64)
    link_stops = np.empty(n_lines, np.int64)
    links = np.empty((n_tokens + n_hyphens, 2), np.int64)
    n = 0
    n_links = 0
    begin = 0
    shift = 0 if is_phrase_table else 1
    for line in range(n_lines):
        line_starts[line] = begin
        end = begin
        while end < text.size and text[end] != 10:
            end += 1
        after = end + 1
        if end > begin and text[end - 1] == 13:
            end -= 1
        # Which fields are what: an older phrase table has two alignment columns first.
        features_field = 2 + shift
        links_field = 3 + shift
        is_old = is_phrase_table and _is_old_layout(text, begin, end)
        if is_old:
            features_field = 4
            links_field = NO_FIELD
        first = n
        first_link = n_links
        field = 0
        n_in_field = 0
        lhs_start = begin
        lhs_stop = begin
        source_stop = n
        target_stop = n
        insert = end
        n_bad_links = 0
        bad_link = 0
        i = begin
        while i < end:
            if _is_blank(text[i]):
                i += 1
                continue
            stop = i
            while stop < end and not _is_blank(text[stop]):
                stop += 1
            if _is_separator(text, i, stop):
                if field == shift:
                    source_stop = n
                    target_stop = n
                elif field == 1 + shift:
                    target_stop = n
                field += 1
                n_in_field = 0
                if field == features_field:
                    insert = stop
            elif field < shift:
                lhs_start = i
                lhs_stop = stop
                n_in_field += 1
                if n_in_field > 1:
                    lhs_stop = lhs_start
            elif field <= 1 + shift:
                starts[n] = i
                stops[n] = stop
                gap = TERMINAL
                if not is_phrase_table:
                    gap = _gap_index(text, i, stop, field == 2)
                gaps[n] = gap
                n += 1
            elif field == features_field:
                insert = stop
                kind = BARE
                for k in range(i + 1, stop):
                    if text[k] == 61:
                        kind = NAMED
                feature_kinds[line] |= kind
            elif field == links_field:
                hyphen = i
                while hyphen < stop and text[hyphen] != 45:
                    hyphen += 1
                source = _number(text, i, hyphen)
                target = _number(text, hyphen + 1, stop)
                if source < 0 or target < 0:
                    if n_bad_links == 0:
                        bad_link = i
                    n_bad_links += 1
                else:
                    links[n_links, 0] = source
                    links[n_links, 1] = target
                    n_links += 1
            i = stop
        if field == shift:
            source_stop = n
            target_stop = n
        elif field == 1 + shift:
            target_stop = n
        if field < features_field:
            status[line] = FEW_FIELDS
            details[line, 0] = field + 1
        elif not is_phrase_table and (
            lhs_stop - lhs_start < 3 or text[lhs_start] != 91 or text[lhs_stop - 1] != 93
        ):
            status[line] = BAD_LHS
        elif is_phrase_table and (source_stop == first or target_stop == source_stop):
            status[line] = EMPTY_SIDE
        else:
            wrong = _settle_gaps(gaps, first, source_stop, target_stop)
            if wrong != TERMINAL:
                status[line] = BAD_GAP
                details[line, 0] = wrong
            elif is_old:
                n_links = _old_links(text, begin, end, links, n_links)
            elif n_bad_links > 0 and n_links > first_link:
                status[line] = BAD_LINK
                details[line, 0] = bad_link
            if status[line] == FINE:
                for k in range(first_link, n_links):
                    if (
                        links[k, 0] >= source_stop - first
                        or links[k, 1] >= target_stop - source_stop
                    ):
                        status[line] = LINK_OUTSIDE
                        details[line, 0] = links[k, 0]
                        details[line, 1] = links[k, 1]
        if status[line] != FINE:
            n = first
            source_stop = n
            target_stop = n
            n_links = first_link
        insert_at[line] = insert
        token_stops[line, 0] = source_stop
        token_stops[line, 1] = target_stop
        link_stops[line] = n_links
        begin = after
    line_starts[n_lines] = text.size
    return (
        line_starts, status, details, insert_at, feature_kinds, token_stops,
        starts[:n].copy(), stops[:n].copy(), gaps[:n].copy(),
        link_stops, links[:n_links].copy(),
    )  # fmt: skip


@compiled
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


@compiled
def _field_start(text, begin, end, wanted):
    """Return where a field's first symbol stands, `end` if there is none."""
    field = 0
    i = begin
    while i < end:
        if _is_blank(text[i]):
            i += 1
            continue
        stop = i
        while stop < end and not _is_blank(text[stop]):
            stop += 1
        if _is_separator(text, i, stop):
            if field == wanted:
                return end
            field += 1
        elif field == wanted:
            return i
        i = stop
    return end


@compiled
def _brackets_end(text, start, end):
    """Return where a column of bracketed partners ends, -1 if something else stands in it."""
    i = start
    inside = False
    n = 0
    while i < end:
        byte = text[i]
        if not inside and byte == 124:
            return i if n > 0 else -1
        if byte == 40 and not inside:
            inside = True
            n += 1
        elif byte == 41 and inside:
            inside = False
        elif inside:
            if not (48 <= byte <= 57 or byte == 44 or byte == 32):
                return -1
        elif not _is_blank(byte):
            return -1
        i += 1
    return -1


@compiled
def _is_old_layout(text, begin, end):
    """Tell whether two columns of bracketed partners come before the scores."""
    third = _field_start(text, begin, end, 2)
    if third == end or text[third] != 40 or _brackets_end(text, third, end) < 0:
        return False
    fourth = _field_start(text, begin, end, 3)
    if fourth == end or text[fourth] != 40:
        return False
    return _brackets_end(text, fourth, end) >= 0


@compiled
def _old_links(text, begin, end, links, n_links):
    """Append the links of both columns of the older layout; return their new number."""
    for column in range(2):
        i = _field_start(text, begin, end, 2 + column)
        stop = _brackets_end(text, i, end)
        own = -1
        other = -1
        while i < stop:
            byte = np.int64(text[i])
            if byte == 40:
                own += 1
            if 48 <= byte <= 57:
                if other < _LARGEST:
                    other = max(other, 0) * 10 + byte - 48
            elif other >= 0:
                links[n_links, column] = own
                links[n_links, 1 - column] = other
                n_links += 1
                other = -1
            i += 1
    return n_links


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
