"""Extracts instances of rules from linked sentence pairs, and adds up equal ones.

A row is: the hash of the foreign side with its gaps; the hash of the English side, gaps
numbered along it, in whose lowest bit is whether the gaps swap; label and alignment; sentence
and spans; gaps and count. Its text is found again from its place.
"""

from typing import NamedTuple

import numpy as np

from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import FINISHER, HALF, MULTIPLIER, START

COLUMNS = 5
F_KEY, E_KEY, LABEL_LINKS, PLACE, GAPS_COUNT = range(COLUMNS)

# settings, int64
LONGEST, MOST_SYMBOLS, MOST_GAPS, IS_LOOSE, MIN_LINKED, MAY_TOUCH, LABELS, NEEDS_LABEL, WHOLE = (
    range(9)
)
# how spans are labelled: X; constituent, slashes, sums; constituent, slashes; constituent;
# every label of the span
X_ONLY, THESIS, NO_SUMS, CONSTITUENTS, EVERY = range(5)
# which rules need labels: none; those with gaps; all
NONE_NEEDED, IN_GAPPY, IN_ALL = range(3)

CHART = 256  # more than the tokens of a sentence
FORWARD, BACKWARD = np.uint32(1 << 30), np.uint32(2 << 30)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_GAP = np.uint64(0xA24BAED4963EE407)
_HASHED = np.uint64(1 << 31)
_MOST_EVERY = 4096  # labels of a span
FULL = -1
_INNER_FULL, _CHOSEN_FULL = -2, -3


class SideWords(NamedTuple):
    """The distinct words of a side by their ids.

    text: uint8, offsets: int64[n + 1], the words as they are written in rules; hashes: uint64[n],
    of their texts; lengths: int64[n], characters.
    """

    text: np.ndarray
    offsets: np.ndarray
    hashes: np.ndarray
    lengths: np.ndarray


class LinkedSide(NamedTuple):
    """One side of a text: tokens: uint32, ids; starts: int64[sentences + 1]; words: of the ids."""

    tokens: np.ndarray
    starts: np.ndarray
    words: SideWords


class LinkedTextArrays(NamedTuple):
    """Linked sentence pairs, n of them.

    foreign, english: the sides. links: uint8[m, 2] of (foreign, English) words, sorted and distinct
    within a sentence; link_starts: int64[n + 1]. nodes: uint16[k, 3] of (start, stop, label), one a
    span unless every label counts; node_starts: int64[n + 1].
    """

    foreign: LinkedSide
    english: LinkedSide
    links: np.ndarray
    link_starts: np.ndarray
    nodes: np.ndarray
    node_starts: np.ndarray


class RuleWorkspace(NamedTuple):
    """Arrays that the rules of a sentence are made in.

    f_link: int64, the first link of each foreign word. inner: int64[k, 6], pairs inside a pair;
    inner_starts: int64, the first that starts at or after each word. chosen: int64[k, 2], rows of
    inner that are gaps. labels: uint32, of a pair. hashes: uint64[2, CHART], of the words of either
    side. f_states: uint64, hash states after each number of words from a pair's first on;
    e_states[k]: from word k on, of which n_e_states[k] are known.
    """

    f_link: np.ndarray
    inner: np.ndarray
    inner_starts: np.ndarray
    chosen: np.ndarray
    labels: np.ndarray
    hashes: np.ndarray
    f_states: np.ndarray
    e_states: np.ndarray
    n_e_states: np.ndarray


@uncounted
def fill_chart(chart, nodes, first, stop):
    """Write the label of every node into chart[start, stop].

    Arguments:
        chart: uint16[CHART, CHART].
        nodes: uint16[k, 3], (start, stop, label) of each node.
        first, stop: half-open range of nodes.
    """
    for k in range(first, stop):
        chart[nodes[k, 0], nodes[k, 1]] = nodes[k, 2]


@uncounted
def clear_chart(chart, nodes, first, stop):
    """Undo fill_chart.

    Arguments:
        chart: uint16[CHART, CHART], filled with labels; set to zeros.
        nodes: uint16[k, 3], (start, stop, label) of each node.
        first, stop: half-open range of nodes.
    """
    for k in range(first, stop):
        chart[nodes[k, 0], nodes[k, 1]] = 0


@uncounted
def _slashed(chart, n, start, stop):
    """Return X/Y, else X\\Y, of the smallest X that the span begins or ends; 0: neither.

    Arguments:
        chart: uint16[CHART, CHART], the label of each span, 0 for none.
        n: tokens of the sentence.
        start, stop: the half-open span.
    """
    for end in range(stop + 1, n + 1):
        if chart[start, end] != 0 and chart[stop, end] != 0:
            return FORWARD | np.uint32(chart[start, end]) | (np.uint32(chart[stop, end]) << 10)
    for begin in range(start - 1, -1, -1):
        if chart[begin, stop] != 0 and chart[begin, start] != 0:
            return BACKWARD | np.uint32(chart[begin, stop]) | (np.uint32(chart[begin, start]) << 10)
    return np.uint32(0)


@uncounted
def _two(chart, start, stop):
    """Return the label X+Y of the span start:stop of a chart, the shortest X first; 0 for none."""
    for middle in range(start + 1, stop):
        if chart[start, middle] != 0 and chart[middle, stop] != 0:
            return np.uint32(chart[start, middle]) | (np.uint32(chart[middle, stop]) << 10)
    return np.uint32(0)


@uncounted
def _three(chart, start, stop):
    """Return the label X+Y+Z of the span start:stop of a chart; 0 for none.

    The shortest X comes first, then the shortest Y.
    """
    for first_cut in range(start + 1, stop - 1):
        if chart[start, first_cut] == 0:
            continue
        for second_cut in range(first_cut + 1, stop):
            if chart[first_cut, second_cut] != 0 and chart[second_cut, stop] != 0:
                return (
                    np.uint32(chart[start, first_cut])
                    | (np.uint32(chart[first_cut, second_cut]) << 10)
                    | (np.uint32(chart[second_cut, stop]) << 20)
                )
    return np.uint32(0)


@uncounted
def span_label(chart, n, start, stop, how):
    """Return the label of a span of a sentence, uint32; 0 is X.

    Ten bits for each part; above them FORWARD (X/Y) or BACKWARD (X\\Y, the whole first).

    Arguments:
        chart: uint16[CHART, CHART], the label of each span, by fill_chart.
        n: tokens of the sentence.
        start, stop: the half-open span.
        how: X_ONLY, or which labels are made.
    """
    if how == X_ONLY:
        return np.uint32(0)
    label = np.uint32(chart[start, stop])
    if label != 0 or how == CONSTITUENTS:
        return label
    label = _slashed(chart, n, start, stop)
    if label != 0 or how == NO_SUMS:
        return label
    label = _two(chart, start, stop)
    if label != 0:
        return label
    return _three(chart, start, stop)


@uncounted
def _add_label(labels, n, label):
    """Return the number of labels after one more, which is added if it is new and has room."""
    for k in range(n):
        if labels[k] == label:
            return n
    if n < labels.size:
        labels[n] = label
        n += 1
    return n


@uncounted
def every_label(nodes, first, last, start, stop, labels):
    """Return the number of labels of a span, 1 (X) at least, after writing them, all different.

    Callison-Burch 2008, 3.2.

    Arguments:
        nodes: uint16[k, 3], (start, stop, label) of each node.
        first, last: half-open range of nodes.
        start, stop: the half-open span.
        labels: uint32, written.
    """
    n = 0
    for a in range(first, last):
        if nodes[a, 0] == start and nodes[a, 1] == stop:
            n = _add_label(labels, n, np.uint32(nodes[a, 2]))
    for a in range(first, last):
        if nodes[a, 0] == start and nodes[a, 1] > stop:
            for b in range(first, last):
                if nodes[b, 0] == stop and nodes[b, 1] == nodes[a, 1]:
                    parts = np.uint32(nodes[a, 2]) | (np.uint32(nodes[b, 2]) << 10)
                    n = _add_label(labels, n, FORWARD | parts)
        elif nodes[a, 1] == stop and nodes[a, 0] < start:
            for b in range(first, last):
                if nodes[b, 1] == start and nodes[b, 0] == nodes[a, 0]:
                    parts = np.uint32(nodes[a, 2]) | (np.uint32(nodes[b, 2]) << 10)
                    n = _add_label(labels, n, BACKWARD | parts)
        elif nodes[a, 0] == start and nodes[a, 1] < stop:
            for b in range(first, last):
                if nodes[b, 0] != nodes[a, 1] or nodes[b, 1] > stop:
                    continue
                pair_label = np.uint32(nodes[a, 2]) | (np.uint32(nodes[b, 2]) << 10)
                if nodes[b, 1] == stop:
                    n = _add_label(labels, n, pair_label)
                    continue
                for c in range(first, last):
                    if nodes[c, 0] == nodes[b, 1] and nodes[c, 1] == stop:
                        n = _add_label(labels, n, pair_label | (np.uint32(nodes[c, 2]) << 20))
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
    """Return the hash of a side, uint64, of its state after the last symbol."""
    state = state * FINISHER
    state ^= state >> HALF
    state = state * MULTIPLIER
    return state ^ (state >> HALF)


@uncounted
def _gap_symbol(label, index):
    """Return the symbol of a gap in the hash of a side, uint64.

    Arguments:
        label: uint32, of the gap.
        index: 1 or 2, its number on this side.
    """
    value = (np.uint64(label) + _ONE) * FINISHER + np.uint64(index) * _GAP
    return (value ^ (value >> HALF)) * _GAP


@uncounted
def _side_key(state, hashes, start, stop, first_gap, second_gap):
    """Return the hash of a side.

    Arguments:
        state: uint64, the state after the words before `start`.
        hashes: uint64, of the sentence's words.
        start, stop: the side's words from `start` on.
        first_gap, second_gap: of each gap (where it begins on this side, its words, its symbol in
            the hash). A gap that is not there begins at `stop`.
    """
    k = start
    while k < stop:
        value = hashes[k]
        size = np.int64(1)
        if k == first_gap[0]:
            size = first_gap[1]
            value = first_gap[2]
        elif k == second_gap[0]:
            size = second_gap[1]
            value = second_gap[2]
        state = _symbol(state, value)
        k += size
    return _closed(state)


@uncounted
def _links_key(links, f_link, start, stop, e_start, is_drawn, first_gap, second_gap):
    """Return the alignment of a rule in 32 bits: links between words, counted by symbols.

    A bitmap where is_drawn (both sides have at most five symbols), else a hash with the highest
    bit set.

    Arguments:
        links: int[m, 2], of the sentence, sorted.
        f_link: int64, first link of each foreign word.
        start, stop: the rule's foreign words.
        e_start: its first English word.
        is_drawn: return a bitmap.
        first_gap, second_gap: of each gap (its first word and its words on the foreign side, the
            same on the English side), that which is first on the foreign side first. A gap that is
            not there begins at the sides' ends and has one word.
    """
    bits = np.uint64(0)
    state = START
    symbol = np.int64(0)
    i = start
    while i < stop:
        if i == first_gap[0]:
            i += first_gap[1]
        elif i == second_gap[0]:
            i += second_gap[1]
        else:
            for k in range(f_link[i], f_link[i + 1]):
                word = np.int64(links[k, 1])
                other = word - e_start
                if word > first_gap[2]:
                    other -= first_gap[3] - 1
                if word > second_gap[2]:
                    other -= second_gap[3] - 1
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
    """Return which symbol of a rule's English side a word of it (by its sentence) is.

    Arguments:
        word: position of the word in the sentence.
        spans: int64[3, 4], of the rule and its gaps, by unpack_place.
    """
    symbol = word - spans[0, 2]
    for gap in range(1, 3):
        if spans[gap, 1] > 0 and word > spans[gap, 2]:
            symbol += 1 - spans[gap, 3]
    return symbol


@uncounted
def _index_links(links, first, last, n_foreign, f_link):
    """Write where the links of each foreign word begin.

    Arguments:
        links: int[m, 2], of all sentences; those of a sentence are sorted.
        first, last: the sentence has links[first:last].
        n_foreign: foreign words of the sentence.
        f_link: int64[n_foreign + 1], filled.
    """
    k = first
    for i in range(n_foreign + 1):
        while k < last and links[k, 0] < i:
            k += 1
        f_link[i] = k


@uncounted
def _set_reach(links, first, last, n_foreign, n_english, reach):
    """Set the lowest and highest partner of each foreign and English word; none: CHART and -1.

    Arguments:
        links: int[m, 2], of all sentences.
        first, last: the sentence has links[first:last].
        n_foreign, n_english: words of each side.
        reach: int64[4, CHART], filled: lowest and highest of foreign words, then of English ones.
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


@uncounted
def _put_pairs(initial_pairs, n, i, j, low, high, reach, n_english, longest, is_loose, n_linked):
    """Append the initial pairs of the foreign words i..j; return the new n, FULL if too many.

    Arguments:
        initial_pairs: int64[m, 6], written: the initial pairs.
        n: number of pairs that are filled.
        i, j: first and last foreign word.
        low, high: the lowest and highest partner of the words.
        reach: int64[4, CHART], the lowest and highest partner of each word.
        n_english: words of the English sentence.
        longest: maximum number of words of an English side.
        is_loose: whether edges may be extended over unlinked words.
        n_linked: linked words of i..j.
    """
    lowest = low
    highest = high
    if is_loose:
        while lowest > 0 and reach[3, lowest - 1] < 0:
            lowest -= 1
        while highest + 1 < n_english and reach[3, highest + 1] < 0:
            highest += 1
    for e_start in range(lowest, low + 1):
        for e_last in range(high, min(highest, e_start + longest - 1) + 1):
            if n + 1 >= initial_pairs.shape[0]:
                return FULL
            initial_pairs[n, 0] = i
            initial_pairs[n, 1] = j + 1 - i
            initial_pairs[n, 2] = e_start
            initial_pairs[n, 3] = e_last + 1 - e_start
            initial_pairs[n, 4] = n_linked
            initial_pairs[n, 5] = 0
            n += 1
    return n


@uncounted
def initial_pairs(n_foreign, n_english, longest, is_loose, reach, pairs, starts):
    """Return the number of initial pairs of a sentence, written to pairs; FULL if too many.

    Arguments:
        n_foreign, n_english: words of each side.
        longest: maximum length of a side, in words.
        is_loose: edges may run on over unlinked words.
        reach: int64[4, CHART], the lowest and highest partner of each foreign and English word.
        pairs: int64[m, 6] of (f start, f length, e start, e length, linked f words inside, 0),
            ordered, one row left free; written.
        starts: int64[n_foreign + 1], the first pair of each f start; written.
    """
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
            n = _put_pairs(pairs, n, i, j, low, high, reach, n_english, longest, is_loose, n_linked)
            if n == FULL:
                return FULL
    starts[n_foreign] = n
    return n


@compiled
def extract_rows(text, settings, cursor, last_sentence, rows):
    """Return the number of instances of rules that were written, -1 if not one initial pair fitted.

    Stops early, at an initial pair, where rows are full; cursor says where to go on.

    Arguments:
        text: a LinkedTextArrays.
        settings: int64, by the names LABELS, LONGEST and others.
        cursor: int64[2], sentence and initial pair to go on with; written.
        last_sentence: number of the first sentence that is not read.
        rows: uint64[capacity, 5], written; one initial pair must fit.
    """
    how = settings[LABELS]
    chart = np.zeros((CHART, CHART), np.uint16)
    reach = np.empty((4, CHART), np.int64)
    pairs = np.zeros((1024, 6), np.int64)
    starts = np.empty(CHART + 1, np.int64)
    room = RuleWorkspace(
        np.empty(CHART + 1, np.int64), np.empty((256, 6), np.int64), np.empty(CHART + 1, np.int64),
        np.empty((1024, 2), np.int64), np.zeros(_MOST_EVERY, np.uint32),
        np.empty((2, CHART), np.uint64), np.empty(CHART + 1, np.uint64),
        np.empty((CHART, settings[LONGEST] + 1), np.uint64), np.empty(CHART, np.int64),
    )  # fmt: skip
    n = 0
    while cursor[0] < last_sentence:
        sentence = cursor[0]
        first_link, last_link = text.link_starts[sentence], text.link_starts[sentence + 1]
        n_foreign = text.foreign.starts[sentence + 1] - text.foreign.starts[sentence]
        n_english = text.english.starts[sentence + 1] - text.english.starts[sentence]
        _set_reach(text.links, first_link, last_link, n_foreign, n_english, reach)
        n_inside = FULL
        while n_inside == FULL:
            n_inside = initial_pairs(
                n_foreign, n_english, settings[LONGEST], settings[IS_LOOSE] != 0, reach, pairs,
                starts,
            )  # fmt: skip
            if n_inside == FULL:
                pairs = np.zeros((2 * pairs.shape[0], 6), np.int64)
        n_pairs = n_inside
        if settings[WHOLE]:
            n_pairs = _with_whole(pairs, n_pairs, starts, n_foreign, n_english)
        if how != X_ONLY and how != EVERY:
            _label_pairs(chart, text, sentence, n_english, how, pairs, n_pairs)
        _index_links(text.links, first_link, last_link, n_foreign, room.f_link)
        _hash_words(text.foreign, sentence, n_foreign, room.hashes, 0)
        _hash_words(text.english, sentence, n_english, room.hashes, 1)
        room.e_states[:n_english, 0] = START
        room.n_e_states[:n_english] = 0
        while cursor[1] < n_pairs:
            status, n = _write_rules(pairs, n_inside, n_pairs, starts, text, settings, room, cursor,
                                     rows, n)  # fmt: skip
            if status == FULL:
                return n if n > 0 else -1
            room = _with_more_room(room, status)
        cursor[0] = sentence + 1
        cursor[1] = 0
    return n


@compiled
def _with_more_room(room, status):
    """Return the room with twice as many inner pairs or chosen gaps, where these were too many."""
    inner, chosen = room.inner, room.chosen
    if status == _INNER_FULL:
        inner = np.empty((2 * inner.shape[0], 6), np.int64)
    elif status == _CHOSEN_FULL:
        chosen = np.empty((2 * chosen.shape[0], 2), np.int64)
    return RuleWorkspace(
        room.f_link, inner, room.inner_starts, chosen, room.labels, room.hashes, room.f_states,
        room.e_states, room.n_e_states,
    )  # fmt: skip


@uncounted
def _label_pairs(chart, text, sentence, n_english, how, pairs, n_pairs):
    """Write the label of each initial pair into pairs[:, 5].

    Arguments:
        chart: uint16[CHART, CHART], zeros; zeros again afterwards.
        text: a LinkedTextArrays.
        sentence: its number.
        n_english: English words of the sentence.
        how: X_ONLY, or which labels are made.
        pairs, n_pairs: int64[m, 6], and pairs in use.
    """
    first, last = text.node_starts[sentence], text.node_starts[sentence + 1]
    fill_chart(chart, text.nodes, first, last)
    for pair in range(n_pairs):
        start = pairs[pair, 2]
        pairs[pair, 5] = np.int64(span_label(chart, n_english, start, start + pairs[pair, 3], how))
    clear_chart(chart, text.nodes, first, last)


@uncounted
def _hash_words(side, sentence, n, out, row):
    """Write the hashes of the n words of a sentence into out[row]."""
    begin = side.starts[sentence]
    for k in range(n):
        out[row, k] = side.words.hashes[side.tokens[begin + k]]


@uncounted
def _labels_of_pair(pairs, pair, text, sentence, how, labels):
    """Return the number of labels of an initial pair after writing them.

    Arguments:
        pairs: int64[m, 6], the sentence's initial pairs.
        pair: the pair.
        text: a LinkedTextArrays.
        sentence: its number.
        how: X_ONLY, or which labels are made.
        labels: uint32, written.
    """
    labels[0] = np.uint32(pairs[pair, 5])
    if how != EVERY:
        return 1
    first, last = text.node_starts[sentence], text.node_starts[sentence + 1]
    return every_label(
        text.nodes, first, last, pairs[pair, 2], pairs[pair, 2] + pairs[pair, 3], labels
    )


@uncounted
def _gaps_of_pair(pairs, pair, n_inside, starts, settings, room):
    """Return the number of choices of gaps of an initial pair, 1 (no gap) at least.

    _INNER_FULL or _CHOSEN_FULL where there is no room for them.

    Arguments:
        pairs: int64[m, 6], the sentence's initial pairs.
        pair: the pair.
        n_inside: pairs from here on have no gaps.
        starts: int64, the first pair of each f start.
        settings: int64, by the names MOST_GAPS and others.
        room: a RuleWorkspace, written.
    """
    room.chosen[0, 0] = -1
    room.chosen[0, 1] = -1
    labelled = settings[NEEDS_LABEL] != NONE_NEEDED
    if pair >= n_inside or settings[MOST_GAPS] == 0 or (labelled and room.labels[0] == 0):
        return 1
    n_inner = _pairs_inside(pairs, pair, starts, labelled, room.inner, room.inner_starts)
    if n_inner == FULL:
        return _INNER_FULL
    n = _choose_gaps(pairs, pair, room.inner, n_inner, room.inner_starts, settings, room.chosen)
    return n if n != FULL else _CHOSEN_FULL


@uncounted
def _gap(inner, row, stop, e_stop):
    """Return (first word, words, first English word, English words) of a gap; row -1: of none.

    Arguments:
        inner: int64[m, 6], initial pairs.
        row: the gap's row of inner.
        stop, e_stop: ends of the rule's sides.
    """
    if row < 0:
        return stop, np.int64(1), e_stop, np.int64(1)
    return inner[row, 0], inner[row, 1], inner[row, 2], inner[row, 3]


@uncounted
def _rule_keys(pairs, pair, choice, n_known, links, room):
    """Return (hash of the foreign side, of the English side, alignment, gaps) of a rule.

    Arguments:
        pairs: int64[m, 6], the sentence's initial pairs.
        pair: the rule's pair.
        choice: row of room.chosen, the rule's gaps.
        n_known: words of the English side whose states are known.
        links: int[m, 2], of the sentence, sorted.
        room: a RuleWorkspace.
    """
    start, e_start = pairs[pair, 0], pairs[pair, 2]
    stop, e_stop = start + pairs[pair, 1], e_start + pairs[pair, 3]
    row_1, row_2 = room.chosen[choice, 0], room.chosen[choice, 1]
    first_gap = _gap(room.inner, row_1, stop, e_stop)
    second_gap = _gap(room.inner, row_2, stop, e_stop)
    swaps = second_gap[2] < first_gap[2]
    gaps = _ONE
    f_1 = f_2 = e_1 = e_2 = np.uint64(0)
    if row_1 >= 0:
        f_1 = _gap_symbol(room.inner[row_1, 5], 1)
        e_1 = _gap_symbol(room.inner[row_1, 5], 2) if swaps else f_1
        gaps |= _packed_gap(
            first_gap[0] - start, first_gap[1], first_gap[2] - e_start, first_gap[3]
        ) << np.uint64(48)
    if row_2 >= 0:
        f_2 = _gap_symbol(room.inner[row_2, 5], 2)
        e_2 = _gap_symbol(room.inner[row_2, 5], 1) if swaps else f_2
        gaps |= _packed_gap(
            second_gap[0] - start, second_gap[1], second_gap[2] - e_start, second_gap[3]
        ) << np.uint64(32)
    f_key = _side_key(
        room.f_states[first_gap[0] - start],
        room.hashes[0],
        first_gap[0],
        stop,
        (first_gap[0], first_gap[1], f_1),
        (second_gap[0], second_gap[1], f_2),
    )
    known = min(min(first_gap[2], second_gap[2]) - e_start, n_known)
    e_key = _side_key(
        room.e_states[e_start, known], room.hashes[1], e_start + known, e_stop,
        (first_gap[2], first_gap[3], e_1), (second_gap[2], second_gap[3], e_2),
    )  # fmt: skip
    f_symbols = pairs[pair, 1] + 2 - first_gap[1] - second_gap[1]
    e_symbols = pairs[pair, 3] + 2 - first_gap[3] - second_gap[3]
    is_drawn = f_symbols <= 5 and e_symbols <= 5
    key = _links_key(links, room.f_link, start, stop, e_start, is_drawn, first_gap, second_gap)
    return f_key, (e_key & ~_ONE) | np.uint64(swaps), key, gaps


@uncounted
def _write_rules(pairs, n_inside, n_pairs, starts, text, settings, room, cursor, rows, n):
    """Return (0, FULL, _INNER_FULL or _CHOSEN_FULL, number of filled rows) after writing rules.

    The rules are those of initial pairs from cursor[1] on. cursor[1] is then the pair to go on
    with.

    Arguments:
        pairs: int64[m, 6] of (f start, f length, e start, e length, linked f words inside, label).
        n_inside: number of initial pairs; a pair after these is the whole sentence.
        n_pairs: number of all pairs.
        starts: int64[n_foreign + 1], the first pair of each f start.
        text: a LinkedTextArrays.
        settings: int64, by the names LABELS, LONGEST and others.
        room: a RuleWorkspace, working memory.
        cursor: int64[2], sentence and initial pair to go on with; written.
        rows: uint64[capacity, 5], written.
        n: number of rows that are filled.
    """
    f_states, e_states, n_e_states = room.f_states, room.e_states, room.n_e_states
    f_states[0] = START
    f_start = np.int64(-1)
    n_f_states = 0
    for pair in range(cursor[1], n_pairs):
        cursor[1] = pair
        n_labels = _labels_of_pair(pairs, pair, text, cursor[0], settings[LABELS], room.labels)
        if settings[NEEDS_LABEL] == IN_ALL and room.labels[0] == 0:
            continue
        n_chosen = _gaps_of_pair(pairs, pair, n_inside, starts, settings, room)
        if n_chosen < 0:
            return n_chosen, n
        if n + n_chosen * n_labels > rows.shape[0]:
            return FULL, n
        start, e_start = pairs[pair, 0], pairs[pair, 2]
        if start != f_start:
            f_start = start
            n_f_states = 0
        while n_f_states < pairs[pair, 1]:
            word = room.hashes[0, start + n_f_states]
            f_states[n_f_states + 1] = _symbol(f_states[n_f_states], word)
            n_f_states += 1
        n_known = min(pairs[pair, 3], settings[LONGEST])
        while n_e_states[e_start] < n_known:
            at = n_e_states[e_start]
            e_states[e_start, at + 1] = _symbol(e_states[e_start, at], room.hashes[1, e_start + at])
            n_e_states[e_start] = at + 1
        place = np.uint64(cursor[0])
        for column in range(4):
            place = (place << np.uint64(8)) | np.uint64(pairs[pair, column])
        for choice in range(n_chosen):
            f_key, e_key, key, gaps = _rule_keys(pairs, pair, choice, n_known, text.links, room)
            for k in range(n_labels):
                rows[n, F_KEY] = f_key
                rows[n, E_KEY] = e_key
                rows[n, LABEL_LINKS] = (np.uint64(room.labels[k]) << HALF) | key
                rows[n, PLACE] = place
                rows[n, GAPS_COUNT] = gaps
                n += 1
    cursor[1] = n_pairs
    return 0, n


@uncounted
def _with_whole(pairs, n_pairs, starts, n_foreign, n_english):
    """Return the number of initial pairs with that of the two whole sides, added if not there.

    Arguments:
        pairs, n_pairs: int64[m, 6], which has room, and pairs in use.
        starts: int64, the first pair of each f start.
        n_foreign, n_english: words of each side.
    """
    if n_foreign == 0 or n_english == 0:
        return n_pairs
    for pair in range(starts[0], starts[1]):
        if pairs[pair, 1] == n_foreign and pairs[pair, 3] == n_english:
            return n_pairs
    for column in range(6):
        pairs[n_pairs, column] = 0
    pairs[n_pairs, 1] = n_foreign
    pairs[n_pairs, 3] = n_english
    return n_pairs + 1


@uncounted
def _pairs_inside(pairs, outer, starts, labelled, inner, inner_starts):
    """Return the number of initial pairs inside pair p; FULL if too many.

    Arguments:
        pairs: int64[m, 6], the sentence's initial pairs.
        outer: the pair.
        starts: int64, the first pair of each f start.
        labelled: leave out pairs without a label.
        inner: int64[n, 6], filled with the pairs inside, in order.
        inner_starts: int64, the first of those that start at or after each foreign word; filled.
    """
    begin = pairs[outer, 0]
    stop = begin + pairs[outer, 1]
    e_begin = pairs[outer, 2]
    e_stop = e_begin + pairs[outer, 3]
    n = 0
    for start in range(begin, stop):
        inner_starts[start - begin] = n
        for other in range(starts[start], starts[start + 1]):
            if start + pairs[other, 1] > stop:
                break
            if (
                other == outer or pairs[other, 2] < e_begin
                or pairs[other, 2] + pairs[other, 3] > e_stop or (labelled and pairs[other, 5] == 0)
            ):  # fmt: skip
                continue
            if n == inner.shape[0]:
                return FULL
            for column in range(6):
                inner[n, column] = pairs[other, column]
            n += 1
    inner_starts[stop - begin] = n
    return n


@uncounted
def _choose_gaps(pairs, pair, inner, n_inner, inner_starts, settings, chosen):
    """Return the number of choices of inner pairs that may be gaps of pair p together, or FULL.

    Arguments:
        pairs: int64[m, 6], the sentence's initial pairs.
        pair: the pair.
        inner, n_inner: the pairs inside it, and their number.
        inner_starts: int64, the first of those that start at or after each foreign word.
        settings: int64, by the names MOST_GAPS and others.
        chosen: int64[m, 2], rows of inner, -1 where there is no gap; filled; the first has none.
    """
    begin = pairs[pair, 0]
    stop = begin + pairs[pair, 1]
    may_be_linked = pairs[pair, 4] - settings[MIN_LINKED]  # linked words within gaps
    f_spare = pairs[pair, 1] - settings[MOST_SYMBOLS]
    e_spare = pairs[pair, 3] - settings[MOST_SYMBOLS]
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
            if f_length + inner[y, 1] == stop - begin and e_length + inner[y, 3] == pairs[pair, 3]:
                continue  # no words
            if n == chosen.shape[0]:
                return FULL
            chosen[n, 0] = x
            chosen[n, 1] = y
            n += 1
    return n


@uncounted
def _packed_gap(f_start, f_length, e_start, e_length):
    """Return a gap in 16 bits: starts relative to the pair's, and lengths, four bits each.

    Arguments:
        f_start, f_length, e_start, e_length: of both sides, in words.
    """
    return np.uint64((f_start << 12) | (f_length << 8) | (e_start << 4) | e_length)


@uncounted
def unpack_place(place, gaps, spans):
    """Write the spans of a rule: spans[0] the pair, [1] and [2] its gaps; return the sentence.

    Arguments:
        place, gaps: uint64, as rules are stored.
        spans: int64[3, 4], (foreign start, length, English start, length) of each; filled.
    """
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
