"""Linked sentence pairs -> instances of rules, five 64-bit numbers each; equal ones are added up.

A row is: the hash of the foreign side with its gaps; the hash of the English side, gaps
numbered along it, in whose lowest bit is whether the gaps swap; label and alignment; sentence
and spans; gaps and count. Its text is found again from its place.
"""

import numpy as np

from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import FINISHER, HALF, MULTIPLIER, START
from distsim.kernels.prefetch import prefetch

COLUMNS = 5
F_KEY, E_KEY, LABEL_LINKS, PLACE, GAPS_COUNT = range(COLUMNS)

# settings, int64
LONGEST, MOST_SYMBOLS, MOST_GAPS, IS_LOOSE, MIN_LINKED, MAY_TOUCH, LABELS, NEEDS_LABEL, WHOLE = (
    range(9)
)
# how spans are labelled: X; constituent, slashes, sums; constituent, X+Y, slashes, X+Y+Z;
# constituent, slashes; every label of the span
X_ONLY, THESIS, THRAX, NO_SUMS, EVERY = range(5)
# which rules need labels: none; those with gaps; all
NONE_NEEDED, IN_GAPPY, IN_ALL = range(3)

CHART = 256  # more than the tokens of a sentence
FORWARD, BACKWARD = np.uint32(1 << 30), np.uint32(2 << 30)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_GAP = np.uint64(0xA24BAED4963EE407)
_HASHED = np.uint64(1 << 31)
_MOST_EVERY = 4096
FULL = -1
_INNER_FULL, _CHOSEN_FULL = -2, -3


@uncounted
def fill_chart(chart, nodes, first, last):
    """Write the label of every node into chart[start, stop]."""
    for k in range(first, last):
        chart[nodes[k, 0], nodes[k, 1]] = nodes[k, 2]


@uncounted
def clear_chart(chart, nodes, first, last):
    """Undo fill_chart."""
    for k in range(first, last):
        chart[nodes[k, 0], nodes[k, 1]] = 0


@uncounted
def _slashed(chart, n, start, stop):
    """Return X/Y, else X\\Y, of the smallest X that the span begins or ends; 0: neither."""
    for end in range(stop + 1, n + 1):
        if chart[start, end] != 0 and chart[stop, end] != 0:
            return FORWARD | np.uint32(chart[start, end]) | (np.uint32(chart[stop, end]) << 10)
    for begin in range(start - 1, -1, -1):
        if chart[begin, stop] != 0 and chart[begin, start] != 0:
            return BACKWARD | np.uint32(chart[begin, stop]) | (np.uint32(chart[begin, start]) << 10)
    return np.uint32(0)


@uncounted
def _two(chart, start, stop):
    """Return X+Y, the shortest X first; 0: none."""
    for middle in range(start + 1, stop):
        if chart[start, middle] != 0 and chart[middle, stop] != 0:
            return np.uint32(chart[start, middle]) | (np.uint32(chart[middle, stop]) << 10)
    return np.uint32(0)


@uncounted
def _three(chart, start, stop):
    """Return X+Y+Z, the shortest X, then Y, first; 0: none."""
    for one in range(start + 1, stop - 1):
        if chart[start, one] == 0:
            continue
        for two in range(one + 1, stop):
            if chart[one, two] != 0 and chart[two, stop] != 0:
                return (
                    np.uint32(chart[start, one])
                    | (np.uint32(chart[one, two]) << 10)
                    | (np.uint32(chart[two, stop]) << 20)
                )
    return np.uint32(0)


@uncounted
def span_label(chart, n, start, stop, how):
    """Return the label of a span of a sentence of n tokens, uint32; 0 is X.

    Ten bits for each part; above them FORWARD (X/Y) or BACKWARD (X\\Y, the whole first).
    """
    if how == X_ONLY:
        return np.uint32(0)
    found = np.uint32(chart[start, stop])
    if found != 0:
        return found
    if how == THRAX:
        found = _two(chart, start, stop)
        if found != 0:
            return found
    found = _slashed(chart, n, start, stop)
    if found != 0 or how == NO_SUMS:
        return found
    if how != THRAX:
        found = _two(chart, start, stop)
        if found != 0:
            return found
    return _three(chart, start, stop)


@uncounted
def _add_label(labels, n, label):
    for k in range(n):
        if labels[k] == label:
            return n
    if n < labels.size:
        labels[n] = label
        n += 1
    return n


@uncounted
def every_label(nodes, first, last, start, stop, labels):
    """Write all labels of a span into `labels`, distinct; return their number, 1 (X) at least."""
    n = 0
    for a in range(first, last):
        if nodes[a, 0] == start and nodes[a, 1] == stop:
            n = _add_label(labels, n, np.uint32(nodes[a, 2]))
    for a in range(first, last):
        if nodes[a, 0] == start and nodes[a, 1] > stop:
            for b in range(first, last):
                if nodes[b, 0] == stop and nodes[b, 1] == nodes[a, 1]:
                    n = _add_label(
                        labels, n,
                        FORWARD | np.uint32(nodes[a, 2]) | (np.uint32(nodes[b, 2]) << 10),
                    )  # fmt: skip
    for a in range(first, last):
        if nodes[a, 1] == stop and nodes[a, 0] < start:
            for b in range(first, last):
                if nodes[b, 1] == start and nodes[b, 0] == nodes[a, 0]:
                    n = _add_label(
                        labels, n,
                        BACKWARD | np.uint32(nodes[a, 2]) | (np.uint32(nodes[b, 2]) << 10),
                    )  # fmt: skip
    for a in range(first, last):
        if nodes[a, 0] != start or nodes[a, 1] >= stop:
            continue
        for b in range(first, last):
            if nodes[b, 0] != nodes[a, 1] or nodes[b, 1] > stop:
                continue
            two = np.uint32(nodes[a, 2]) | (np.uint32(nodes[b, 2]) << 10)
            if nodes[b, 1] == stop:
                n = _add_label(labels, n, two)
                continue
            for c in range(first, last):
                if nodes[c, 0] == nodes[b, 1] and nodes[c, 1] == stop:
                    n = _add_label(labels, n, two | (np.uint32(nodes[c, 2]) << 20))
    if n == 0:
        labels[0] = 0
        n = 1
    return n


@uncounted
def _symbol(state, value):
    """Return the hash state of a side after one more symbol."""
    state = (state ^ value) * MULTIPLIER
    return state ^ (state >> HALF)


@uncounted
def _closed(state):
    state = state * FINISHER
    state ^= state >> HALF
    state = state * MULTIPLIER
    return state ^ (state >> HALF)


@uncounted
def _gap_symbol(label, index):
    """Return what stands for a gap in the hash of a side."""
    value = (np.uint64(label) + _ONE) * FINISHER + np.uint64(index) * _GAP
    return (value ^ (value >> HALF)) * _GAP


@uncounted
def _side_key(state, hashes, start, stop, first, size, symbol, second, size_2, symbol_2):
    """Return the hash of a side: state is that of its words before `start`.

    first, size, symbol: where the first gap on this side begins, its words, what stands for it;
    second ...: of the other one. A gap that is not there begins at `stop`.
    """
    k = start
    while k < stop:
        value = hashes[k]
        size_k = np.int64(1)
        if k == first:
            value = symbol
            size_k = size
        elif k == second:
            value = symbol_2
            size_k = size_2
        state = _symbol(state, value)
        k += size_k
    return _closed(state)


@uncounted
def _links_key(
    links, f_link, start, stop, e_start, is_drawn, first, f_1, e_1, e_size_1, second, f_2, e_2,
    e_size_2,
):  # fmt: skip
    """Return the alignment of a rule in 32 bits: links between words, counted by symbols.

    A bitmap where is_drawn (both sides have at most five symbols), a hash with the highest bit
    set otherwise. f_link: first link of each foreign word. first, f_1, e_1, e_size_1: the gap
    that is first on the foreign side, its place and size on either; second ...: the other one. A
    gap that is not there begins at the sides' ends and has one word.
    """
    bits = np.uint64(0)
    state = START
    symbol = np.int64(0)
    i = start
    while i < stop:
        if i == first:
            i += f_1
        elif i == second:
            i += f_2
        else:
            for k in range(f_link[i], f_link[i + 1]):
                word = np.int64(links[k, 1])
                other = word - e_start
                if word > e_1:
                    other -= e_size_1 - 1
                if word > e_2:
                    other -= e_size_2 - 1
                if is_drawn:
                    bits |= _ONE << np.uint64(symbol * 5 + other)
                else:
                    state = _symbol(state, np.uint64(symbol * CHART + other + 1))
            i += 1
        symbol += 1
    if is_drawn:
        return bits
    return (_closed(state) & _LOW) | _HASHED


@uncounted
def e_symbol(word, spans):
    """Return which symbol of a rule's English side a word of it (by its sentence) is."""
    symbol = word - spans[0, 2]
    for gap in range(1, 3):
        if spans[gap, 1] > 0 and word > spans[gap, 2]:
            symbol += 1 - spans[gap, 3]
    return symbol


@uncounted
def _index_links(links, first, last, n_foreign, f_link):
    """Write where the links of each foreign word begin; links are sorted."""
    k = first
    for i in range(n_foreign + 1):
        while k < last and links[k, 0] < i:
            k += 1
        f_link[i] = k


@uncounted
def initial_pairs(
    links, first, last, n_foreign, n_english, longest, is_loose, reach, pairs, starts
):
    """Find the initial pairs of a sentence; return their number, FULL if too many.

    reach: int64[4, CHART], room. pairs: int64[m, 6] of (f start, f length, e start, e length,
    linked f words inside, 0), ordered, one row left free; starts: int64[n_foreign + 1], the
    first pair of each f start.
    """
    for i in range(n_foreign):
        reach[0, i] = CHART
        reach[1, i] = -1
    for j in range(n_english):
        reach[2, j] = CHART
        reach[3, j] = -1
    for k in range(first, last):
        i = np.int64(links[k, 0])
        j = np.int64(links[k, 1])
        reach[0, i] = min(reach[0, i], j)
        reach[1, i] = max(reach[1, i], j)
        reach[2, j] = min(reach[2, j], i)
        reach[3, j] = max(reach[3, j], i)
    n = 0
    for i in range(n_foreign):
        starts[i] = n
        if not is_loose and reach[1, i] < 0:
            continue
        low = CHART
        high = -1
        back_low = CHART  # of the partners of what lies between low and high
        back_high = -1
        seen_low = 0  # back_low and back_high cover seen_low..seen_high
        seen_high = -1
        n_linked = 0
        for j in range(i, min(i + longest, n_foreign)):
            if reach[1, j] >= 0:
                n_linked += 1
                low = min(low, reach[0, j])
                high = max(high, reach[1, j])
            elif not is_loose:
                continue
            if high < 0:
                continue
            if high - low >= longest:
                break
            if seen_high < 0:
                seen_low = low
                seen_high = low - 1
            while seen_low > low:
                seen_low -= 1
                back_low = min(back_low, reach[2, seen_low])
                back_high = max(back_high, reach[3, seen_low])
            while seen_high < high:
                seen_high += 1
                back_low = min(back_low, reach[2, seen_high])
                back_high = max(back_high, reach[3, seen_high])
            if back_low < i:
                break
            if back_high > j:
                continue
            lowest = low
            highest = high
            if is_loose:
                while lowest > 0 and reach[3, lowest - 1] < 0:
                    lowest -= 1
                while highest + 1 < n_english and reach[3, highest + 1] < 0:
                    highest += 1
            for e_start in range(lowest, low + 1):
                for e_last in range(high, min(highest, e_start + longest - 1) + 1):
                    if n + 1 >= pairs.shape[0]:
                        return FULL
                    pairs[n, 0] = i
                    pairs[n, 1] = j + 1 - i
                    pairs[n, 2] = e_start
                    pairs[n, 3] = e_last + 1 - e_start
                    pairs[n, 4] = n_linked
                    pairs[n, 5] = 0
                    n += 1
    starts[n_foreign] = n
    return n


@compiled
def extract_rows(
    f_words, f_offsets, e_words, e_offsets, links, link_offsets, nodes, node_offsets,
    f_hashes, e_hashes, settings, cursor, last_sentence, rows,
):  # fmt: skip
    """Write the instances of rules of sentences from cursor[0] up to last_sentence into rows.

    Stops early, at an initial pair, where rows are full; cursor says where to go on.

    Arguments:
        f_words, e_words: uint32, word ids; *_offsets: int64[n + 1], by sentence.
        links: uint8[m, 2] of (foreign, English), sorted and distinct within a sentence.
        nodes: uint16[k, 3] of (start, stop, label), one a span unless every label counts.
        f_hashes, e_hashes: uint64, of each word.
        settings: int64, by the names above.
        cursor: int64[2], sentence and initial pair to go on with; written.
        rows: uint64[capacity, 5]; one initial pair must fit.

    Returns the number of rows; -1 if not even one initial pair fitted.
    """
    how = settings[LABELS]
    chart = np.zeros((CHART, CHART), np.uint16)
    reach = np.empty((4, CHART), np.int64)
    pairs = np.zeros((1024, 6), np.int64)
    starts = np.empty(CHART + 1, np.int64)
    f_link = np.empty(CHART + 1, np.int64)
    inner = np.empty((256, 6), np.int64)
    inner_starts = np.empty(CHART + 1, np.int64)
    chosen = np.empty((1024, 2), np.int64)
    labels = np.zeros(_MOST_EVERY, np.uint32)
    hashes = np.empty((2, CHART), np.uint64)
    f_states = np.empty(CHART + 1, np.uint64)
    e_states = np.empty((CHART, settings[LONGEST] + 1), np.uint64)
    n_e_states = np.empty(CHART, np.int64)
    n = 0
    while cursor[0] < last_sentence:
        sentence = cursor[0]
        f_begin = f_offsets[sentence]
        e_begin = e_offsets[sentence]
        n_foreign = f_offsets[sentence + 1] - f_begin
        n_english = e_offsets[sentence + 1] - e_begin
        first_node = node_offsets[sentence]
        last_node = node_offsets[sentence + 1]
        n_inside = FULL
        while n_inside == FULL:
            n_inside = initial_pairs(
                links, link_offsets[sentence], link_offsets[sentence + 1], n_foreign, n_english,
                settings[LONGEST], settings[IS_LOOSE] != 0, reach, pairs, starts,
            )  # fmt: skip
            if n_inside == FULL:
                pairs = np.zeros((2 * pairs.shape[0], 6), np.int64)
        n_pairs = n_inside
        if settings[WHOLE]:
            n_pairs = _with_whole(pairs, n_pairs, starts, n_foreign, n_english)
        if how != X_ONLY and how != EVERY:
            _label_pairs(chart, nodes, first_node, last_node, n_english, how, pairs, n_pairs)
        _index_links(links, link_offsets[sentence], link_offsets[sentence + 1], n_foreign, f_link)
        _hash_words(f_words, f_begin, n_foreign, f_hashes, hashes[0])
        _hash_words(e_words, e_begin, n_english, e_hashes, hashes[1])
        e_states[:n_english, 0] = START
        n_e_states[:n_english] = 0
        while cursor[1] < n_pairs:
            status, n = _write_rules(
                pairs, n_inside, n_pairs, starts, links, f_link, nodes, first_node, last_node,
                settings, n_english, hashes, f_states, e_states, n_e_states, inner, inner_starts,
                chosen, labels, cursor, rows, n,
            )  # fmt: skip
            if status == FULL:
                return n if n > 0 else -1
            if status == _INNER_FULL:
                inner = np.empty((2 * inner.shape[0], 6), np.int64)
            elif status == _CHOSEN_FULL:
                chosen = np.empty((2 * chosen.shape[0], 2), np.int64)
        cursor[0] = sentence + 1
        cursor[1] = 0
    return n


@uncounted
def _label_pairs(chart, nodes, first, last, n_english, how, pairs, n_pairs):
    """Write the label of each initial pair into pairs[:, 5]."""
    fill_chart(chart, nodes, first, last)
    for p in range(n_pairs):
        start = pairs[p, 2]
        pairs[p, 5] = np.int64(span_label(chart, n_english, start, start + pairs[p, 3], how))
    clear_chart(chart, nodes, first, last)


@uncounted
def _hash_words(words, begin, n, hashes, out):
    """Write the hashes of the n words of a sentence."""
    for k in range(n):
        out[k] = hashes[words[begin + k]]


@uncounted
def _write_rules(
    pairs, n_inside, n_pairs, starts, links, f_link, nodes, first_node, last_node, settings,
    n_english, hashes, f_states, e_states, n_e_states, inner, inner_starts, chosen, labels, cursor,
    rows, n,
):  # fmt: skip
    """Write the rules of initial pairs from cursor[1] on into rows; see extract_rows.

    n_inside: of the n_pairs those that are initial, the other one is the whole sentence.
    hashes: uint64[2, CHART], of the words of either side. f_states: hash states after so many
    words from a pair's first on; e_states[k]: of so many words from each on, of which
    n_e_states[k] are known. Returns (0, FULL, _INNER_FULL or _CHOSEN_FULL, how many rows there
    are); cursor[1] is then the pair to go on with.
    """
    f_hash = hashes[0]
    e_hash = hashes[1]
    how = settings[LABELS]
    needs_label = settings[NEEDS_LABEL]
    f_states[0] = START
    f_start = np.int64(-1)
    n_f_states = 0
    labels[0] = 0
    for p in range(cursor[1], n_pairs):
        cursor[1] = p
        n_labels = 1
        labels[0] = np.uint32(pairs[p, 5])
        if how == EVERY:
            n_labels = every_label(
                nodes, first_node, last_node, pairs[p, 2], pairs[p, 2] + pairs[p, 3], labels
            )
        if needs_label == IN_ALL and labels[0] == 0:
            continue
        n_chosen = 1
        chosen[0, 0] = -1
        chosen[0, 1] = -1
        if (
            p < n_inside and settings[MOST_GAPS] > 0
            and not (needs_label != NONE_NEEDED and labels[0] == 0)
        ):  # fmt: skip
            n_inner = _pairs_inside(
                pairs, p, starts, needs_label != NONE_NEEDED, inner, inner_starts
            )
            if n_inner == FULL:
                return _INNER_FULL, n
            n_chosen = _choose_gaps(pairs, p, inner, n_inner, inner_starts, settings, chosen)
            if n_chosen == FULL:
                return _CHOSEN_FULL, n
        if n + n_chosen * n_labels > rows.shape[0]:
            return FULL, n
        start = pairs[p, 0]
        length = pairs[p, 1]
        e_start = pairs[p, 2]
        e_length = pairs[p, 3]
        stop = start + length
        e_stop = e_start + e_length
        if start != f_start:
            f_start = start
            n_f_states = 0
        while n_f_states < length:
            f_states[n_f_states + 1] = _symbol(f_states[n_f_states], f_hash[start + n_f_states])
            n_f_states += 1
        n_known = min(e_length, settings[LONGEST])
        while n_e_states[e_start] < n_known:
            at = n_e_states[e_start]
            e_states[e_start, at + 1] = _symbol(e_states[e_start, at], e_hash[e_start + at])
            n_e_states[e_start] = at + 1
        place = np.uint64(cursor[0])
        for column in range(4):
            place = (place << np.uint64(8)) | np.uint64(pairs[p, column])
        for choice in range(n_chosen):
            one = chosen[choice, 0]
            two = chosen[choice, 1]
            first, f_1, e_1, e_size_1, gap_1 = stop, np.int64(1), e_stop, np.int64(1), np.uint64(0)
            second, f_2, e_2, e_size_2, gap_2 = first, f_1, e_1, e_size_1, gap_1
            gaps = _ONE
            if one >= 0:
                first, f_1, e_1, e_size_1 = (
                    inner[one, 0],
                    inner[one, 1],
                    inner[one, 2],
                    inner[one, 3],
                )
                gap_1 = _gap_symbol(inner[one, 5], 1)
                gaps |= _packed_gap(first - start, f_1, e_1 - e_start, e_size_1) << np.uint64(48)
            if two >= 0:
                second, f_2, e_2, e_size_2 = (
                    inner[two, 0],
                    inner[two, 1],
                    inner[two, 2],
                    inner[two, 3],
                )
                gap_2 = _gap_symbol(inner[two, 5], 2)
                gaps |= _packed_gap(second - start, f_2, e_2 - e_start, e_size_2) << np.uint64(32)
            f_key = _side_key(
                f_states[first - start], f_hash, first, stop, first, f_1, gap_1, second, f_2, gap_2
            )
            swaps = e_2 < e_1
            if swaps:
                gap_1 = _gap_symbol(inner[one, 5], 2)
                gap_2 = _gap_symbol(inner[two, 5], 1)
            known = min(min(e_1, e_2) - e_start, n_known)
            e_key = _side_key(
                e_states[e_start, known], e_hash, e_start + known, e_stop, e_1, e_size_1, gap_1,
                e_2, e_size_2, gap_2,
            )  # fmt: skip
            f_symbols = length + 2 - f_1 - f_2
            e_symbols = e_length + 2 - e_size_1 - e_size_2
            key = _links_key(
                links, f_link, start, stop, e_start, f_symbols <= 5 and e_symbols <= 5, first, f_1,
                e_1, e_size_1, second, f_2, e_2, e_size_2,
            )  # fmt: skip
            e_key = (e_key & ~_ONE) | np.uint64(swaps)
            for k in range(n_labels):
                rows[n, F_KEY] = f_key
                rows[n, E_KEY] = e_key
                rows[n, LABEL_LINKS] = (np.uint64(labels[k]) << HALF) | key
                rows[n, PLACE] = place
                rows[n, GAPS_COUNT] = gaps
                n += 1
    cursor[1] = n_pairs
    return 0, n


@uncounted
def _with_whole(pairs, n_pairs, starts, n_foreign, n_english):
    """Add the pair of the two whole sides, if it is not there; return how many there are."""
    if n_foreign == 0 or n_english == 0:
        return n_pairs
    for p in range(starts[0], starts[1]):
        if pairs[p, 1] == n_foreign and pairs[p, 3] == n_english:
            return n_pairs
    for column in range(6):
        pairs[n_pairs, column] = 0
    pairs[n_pairs, 1] = n_foreign
    pairs[n_pairs, 3] = n_english
    return n_pairs + 1


@uncounted
def _pairs_inside(pairs, p, starts, labelled, inner, inner_starts):
    """Gather the initial pairs inside pair p, in order; return their number, FULL if too many.

    inner_starts: where those begin that start at or after each foreign word of the pair.
    """
    begin = pairs[p, 0]
    stop = begin + pairs[p, 1]
    e_begin = pairs[p, 2]
    e_stop = e_begin + pairs[p, 3]
    n = 0
    for s in range(begin, stop):
        inner_starts[s - begin] = n
        for q in range(starts[s], starts[s + 1]):
            if s + pairs[q, 1] > stop:
                break
            if (
                q == p or pairs[q, 2] < e_begin or pairs[q, 2] + pairs[q, 3] > e_stop
                or (labelled and pairs[q, 5] == 0)
            ):  # fmt: skip
                continue
            if n == inner.shape[0]:
                return FULL
            for column in range(6):
                inner[n, column] = pairs[q, column]
            n += 1
    inner_starts[stop - begin] = n
    return n


@uncounted
def _choose_gaps(pairs, p, inner, n_inner, inner_starts, settings, chosen):
    """Gather which inner pairs may be gaps of pair p together; return their number or FULL.

    chosen: int64[m, 2] of rows of inner, -1 where there is no gap; the first has none.
    """
    begin = pairs[p, 0]
    stop = begin + pairs[p, 1]
    may_be_linked = pairs[p, 4] - settings[MIN_LINKED]  # linked words within gaps
    f_spare = pairs[p, 1] - settings[MOST_SYMBOLS]
    e_spare = pairs[p, 3] - settings[MOST_SYMBOLS]
    apart = 0 if settings[MAY_TOUCH] else 1
    n = 1
    for x in range(n_inner):
        f_length = inner[x, 1]
        e_length = inner[x, 3]
        left = may_be_linked - inner[x, 4]
        if left < 0:
            continue
        if f_length > f_spare and e_length > e_spare:
            if n == chosen.shape[0]:
                return FULL
            chosen[n, 0] = x
            chosen[n, 1] = -1
            n += 1
        if settings[MOST_GAPS] < 2:
            continue
        f_more = f_spare + 2 - f_length  # the second gap must be so long
        e_more = e_spare + 2 - e_length
        after = inner[x, 0] + f_length + apart - begin
        if after >= stop - begin:
            continue
        e_start = inner[x, 2]
        last = inner_starts[max(after, min(stop - begin, stop - begin - f_more + 1))]
        for y in range(inner_starts[after], last):
            if inner[y, 1] < f_more or inner[y, 3] < e_more or inner[y, 4] > left:
                continue
            if inner[y, 2] < e_start + e_length and inner[y, 2] + inner[y, 3] > e_start:
                continue
            if f_length + inner[y, 1] == stop - begin and e_length + inner[y, 3] == pairs[p, 3]:
                continue  # no words
            if n == chosen.shape[0]:
                return FULL
            chosen[n, 0] = x
            chosen[n, 1] = y
            n += 1
    return n


@uncounted
def _packed_gap(f_start, f_length, e_start, e_length):
    """Return a gap in 16 bits: starts relative to the pair's, and lengths, four bits each."""
    return np.uint64((f_start << 12) | (f_length << 8) | (e_start << 4) | e_length)


@uncounted
def unpack_place(place, gaps, spans):
    """Write the spans of a rule: spans[0] the pair, [1] and [2] its gaps; return the sentence."""
    spans[0, 0] = np.int64((place >> np.uint64(24)) & np.uint64(255))
    spans[0, 1] = np.int64((place >> np.uint64(16)) & np.uint64(255))
    spans[0, 2] = np.int64((place >> np.uint64(8)) & np.uint64(255))
    spans[0, 3] = np.int64(place & np.uint64(255))
    for k in range(2):
        gap = np.int64((gaps >> np.uint64(48 - 16 * k)) & np.uint64(0xFFFF))
        spans[1 + k, 0] = spans[0, 0] + (gap >> 12)
        spans[1 + k, 1] = (gap >> 8) & 15
        spans[1 + k, 2] = spans[0, 2] + ((gap >> 4) & 15)
        spans[1 + k, 3] = gap & 15
    return np.int64(place >> HALF)


@uncounted
def _slot_of(rows, i, mask):
    key = rows[i, F_KEY] ^ (rows[i, E_KEY] * MULTIPLIER) ^ (rows[i, LABEL_LINKS] * FINISHER)
    key = key * MULTIPLIER
    key ^= key >> HALF
    return key & mask


@compiled
def add_rows(rows, first, last, kept, n_kept, slots):
    """Add rows[first:last] to a table of distinct ones; counts add up, the first place stays.

    kept: uint64[capacity, 5], n_kept of them taken; slots: uint32, a power of two of them,
    at least twice the capacity: 0 or 1 + a row of kept. Rows come in the order of their
    places. Returns (rows taken in, their new number); it stops where kept is full.
    """
    mask = np.uint64(slots.size - 1)
    capacity = kept.shape[0]
    flat = kept.reshape(-1)
    ahead = np.zeros(16, np.uint64)
    for i in range(first, min(first + 16, last)):
        ahead[i & 15] = _slot_of(rows, i, mask)
        prefetch(slots, np.int64(ahead[i & 15]))
    for i in range(first, last):
        slot = ahead[i & 15]
        if i + 16 < last:
            later = _slot_of(rows, i + 16, mask)
            ahead[i & 15] = later
            prefetch(slots, np.int64(later))
        if i + 8 < last:
            near = np.int64(slots[ahead[(i + 8) & 15]])
            if near > 0:
                prefetch(flat, (near - 1) * COLUMNS)
        while True:
            found = np.int64(slots[slot])
            if found == 0:
                if n_kept == capacity:
                    return i, n_kept
                for column in range(COLUMNS):
                    kept[n_kept, column] = rows[i, column]
                n_kept += 1
                slots[slot] = np.uint32(n_kept)
                break
            k = found - 1
            if (
                kept[k, F_KEY] == rows[i, F_KEY] and kept[k, E_KEY] == rows[i, E_KEY]
                and kept[k, LABEL_LINKS] == rows[i, LABEL_LINKS]
            ):  # fmt: skip
                kept[k, GAPS_COUNT] += rows[i, GAPS_COUNT] & _LOW
                break
            slot = (slot + _ONE) & mask
    return last, n_kept
