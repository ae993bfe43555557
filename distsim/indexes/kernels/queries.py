"""Compiled loops that match queries in the sentences around occurrences of their rarest words."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.compiled import compiled


@compiled
def _common(tokens, position, text, first):
    """Return the number of tokens that a suffix shares with text[first:], within its sentence.

    Arguments:
        tokens: uint32, of the shard.
        position: where the suffix begins.
        text: int64 ids, 0 behind each sentence, -1 for an unknown word.
        first: where the text is compared from.
    """
    n = 0
    while (
        first + n < text.size
        and position + n < tokens.size
        and text[first + n] > 0
        and tokens[position + n] == text[first + n]
    ):
        n += 1
    return n


@compiled
def match_lengths(tokens, suffixes, word_starts, text, lengths):
    """Raise lengths[i] to the longest match of text[i:] with a suffix; return 0, or DAMAGED.

    Arguments:
        tokens, suffixes, word_starts: uint32, of the shard.
        text: int64 ids, 0 behind each sentence, -1 for an unknown word.
        lengths: int64[text.size], in tokens; 0 where nothing has matched; changed.
    """
    for i in range(text.size):
        word = text[i]
        if word <= 0 or word >= word_starts.size - 1:
            continue
        first = np.int64(word_starts[word])
        stop = np.int64(word_starts[word + 1])
        if first > stop or stop > suffixes.size:
            return DAMAGED
        low = first
        high = stop
        while low < high:
            middle = (low + high) >> 1
            position = np.int64(suffixes[middle])
            n = _common(tokens, position, text, i)
            lengths[i] = max(lengths[i], n)
            # The end of the text's sentence, and an unknown word, come before all words.
            ours = max(text[i + n], 0) if i + n < text.size else np.int64(0)
            theirs = np.int64(tokens[position + n]) if position + n < tokens.size else np.int64(0)
            if theirs < ours:
                low = middle + 1
            else:
                high = middle
        # The neighbours of the place have the longest match, and the search may not have met them.
        for place in (low - 1, low):
            if first <= place < stop:
                n = _common(tokens, np.int64(suffixes[place]), text, i)
                lengths[i] = max(lengths[i], n)
    return 0


DAMAGED = -1
TOO_LONG = -2
SHORTEST, LONGEST, ALL = 0, 1, 2
SAME, HOLDS, BOTH, EITHER, NOT = 0, 1, 2, 3, 4


class Automaton(NamedTuple):
    """A query as an automaton without empty steps (Glushkov 1961): its tokens are the states.

    A set of states is a uint64. Edges of sentences are states whose token is the boundary.

    Attributes:
        bits: uint64 by word or analysis, the states whose token it may be; 0 for the boundary.
        follow, before: uint64[8, 256]: the states that may come right after, or before, those of a
            byte of a set.
        each_follow: uint64[64], the states that may come right after each.
        first, last: uint64[1], the states that may be the first one, and the last one.
        edges: uint64[2], states that are the beginning, or the end, of any sentence.
        starts, start_bits, stops, stop_bits: int64 and uint64: boundaries before the first and
            behind the last sentence of some documents, ascending, and the states that they are.
        labels: int64[64], the number of the label of each state, or -1.
        condition: int64[m, 5], of the labelled tokens, in postfix order: SAME, label, column,
            label, column; HOLDS, label, column; BOTH; EITHER; NOT.
        columns: uint32[k, n] by word or analysis, what conditions compare.
    """

    bits: np.ndarray
    follow: np.ndarray
    before: np.ndarray
    each_follow: np.ndarray
    first: np.ndarray
    last: np.ndarray
    edges: np.ndarray
    starts: np.ndarray
    start_bits: np.ndarray
    stops: np.ndarray
    stop_bits: np.ndarray
    labels: np.ndarray
    condition: np.ndarray
    columns: np.ndarray


@compiled
def is_ascending(spans, distinct_begins):
    """Return whether spans are ascending, each once.

    Arguments:
        spans: int64[m, 2].
        distinct_begins: no two begin at the same place.
    """
    for i in range(1, len(spans)):
        if spans[i, 0] < spans[i - 1, 0] or (
            spans[i, 0] == spans[i - 1, 0] and (distinct_begins or spans[i, 1] <= spans[i - 1, 1])
        ):
            return False
    return True


@compiled
def is_boundary(tokens, place):
    """Return whether a place is a sentence's edge; those before and behind the text are edges.

    Arguments:
        tokens: uint32, of the shard.
        place: -1 to tokens.size.
    """
    return place < 0 or place >= tokens.size or tokens[place] == 0


@compiled
def step(table, states):
    """Return the union of a table's sets for the states of a set.

    Arguments:
        table: uint64[8, 256].
        states: uint64.
    """
    reached = table[0, np.int64(states & np.uint64(255))]  # most queries have eight states at most
    states >>= np.uint64(8)
    byte = 1
    while states != np.uint64(0):
        reached |= table[byte, np.int64(states & np.uint64(255))]
        states >>= np.uint64(8)
        byte += 1
    return reached


@compiled
def document_edge(places, bits, place):
    """Return the states of an edge of documents at a place, 0 where none is there.

    Arguments:
        places: int64, ascending.
        bits: uint64, of each.
        place: of a boundary.
    """
    at = np.searchsorted(places, place)
    if at < places.size and places[at] == place:
        return bits[at]
    return np.uint64(0)


@compiled
def condition_holds(automaton, tokens, states, depth, first, places):
    """Return whether the condition of labelled tokens holds on a path of states.

    Arguments:
        automaton: of the query.
        tokens: uint32.
        states: int64, of each place from `first` on.
        depth: states[0..depth] are the path.
        first: place of the first state.
        places: int64[64], written.
    """
    places[:] = -1
    for d in range(depth + 1):
        label = automaton.labels[states[d]]
        if label >= 0:
            places[label] = first + d
    one_bit = np.uint64(1)
    stack = np.uint64(0)  # truth values, the last one lowest
    for i in range(automaton.condition.shape[0]):
        kind = automaton.condition[i, 0]
        if kind == SAME or kind == HOLDS:
            place = places[automaton.condition[i, 1]]
            value = False
            if place >= 0:
                a = automaton.columns[automaton.condition[i, 2], tokens[place]]
                if kind == HOLDS:
                    value = a != 0
                else:
                    other = places[automaton.condition[i, 3]]
                    if other >= 0:
                        value = a == automaton.columns[automaton.condition[i, 4], tokens[other]]
            stack = (stack << one_bit) | np.uint64(value)
        elif kind == BOTH:
            stack = (stack >> one_bit) & (stack | ~one_bit)
        elif kind == EITHER:
            stack = (stack >> one_bit) | (stack & one_bit)
        else:
            stack ^= one_bit
    return stack & one_bit != np.uint64(0)


@compiled
def new_path(size):
    """Return the arrays in which `labelled_ends` keeps a path: states to try, states, places, ends.

    Arguments:
        size: places.
    """
    return (
        np.zeros(size, np.uint64), np.zeros(size, np.int64), np.empty(64, np.int64),
        np.zeros(size, np.bool_),
    )  # fmt: skip


@compiled
def labelled_ends(automaton, tokens, alive, left, right, first, begin, longest, ends, path, budget):
    """Return (number of ends of matches whose labels fulfil the condition, steps taken).

    All paths are tried, so that steps are limited. Ends may be repeated.

    Arguments:
        automaton: of the query.
        tokens: uint32, of the shard.
        alive: uint64, states that lead to an end, by place - left.
        left, right: first and last place of the piece of the sentence.
        first: the place where the match begins, an edge perhaps.
        begin: the place of its first token.
        longest: tokens.
        ends: int64[right - left + 2], written.
        path: (uint64, int64, int64[64], bool of False), as long as `ends`, for the function's use.
        budget: steps.
    """
    unit = np.uint64(1)
    none = np.uint64(0)
    to_try, states, places, is_end = path
    to_try[0] = alive[first - left] & automaton.first[0]
    depth = 0
    steps = 24  # as long as so many of a match without labels
    n = 0
    while depth >= 0 and steps <= budget:
        if to_try[depth] == none:
            depth -= 1
            continue
        steps += 6
        lowest = to_try[depth] & (~to_try[depth] + unit)
        to_try[depth] ^= lowest
        state = 0
        while lowest > unit:
            lowest >>= unit
            state += 1
        states[depth] = state
        place = first + depth
        if (automaton.last[0] >> np.uint64(state)) & unit != none:
            end = place if is_boundary(tokens, place) else place + 1
            fits = begin < end <= begin + longest and not is_end[end - left]
            steps += depth
            if fits and condition_holds(automaton, tokens, states, depth, first, places):
                is_end[end - left] = True
                ends[n] = end
                n += 1
        if place < right and place + 1 - begin <= longest:
            following = automaton.each_follow[state] & alive[place + 1 - left]
            if following != none:
                depth += 1
                to_try[depth] = following
    for i in range(n):
        is_end[ends[i] - left] = False
    return n, steps


@compiled
def match_query(tokens, anchors, reach, automaton, which, longest, max_matches, budget):
    """Return (number of matches, spans int64[m, 2]); the number is negative where it cannot be.

    In each sentence with an anchor the states that lead to an end are found from right to left,
    then matches from left to right: both take a time linear in the sentence, the second for each
    match. A match may be found twice. After `max_matches` matches it stops.

    Arguments:
        tokens: uint32, of the shard, words or analyses.
        anchors: int64, ascending: each match has one of these tokens.
        reach: the farthest token of a match from its anchor.
        automaton: of the query.
        which: SHORTEST, LONGEST or ALL matches of each first token.
        longest: tokens of a match at most.
        max_matches: matches.
        budget: steps; TOO_LONG where they do not suffice.
    """
    none = np.uint64(0)
    spans = np.empty((1024, 2), np.int64)
    alive = np.empty(256, np.uint64)
    ends = np.empty(258, np.int64)
    path = new_path(258)
    # Fields of the tuple, read inside of the loops, would take a quarter of the time.
    bits, follow, before = automaton.bits, automaton.follow, automaton.before
    first, last = automaton.first[0], automaton.last[0]
    has_condition = automaton.condition.shape[0] > 0
    n = 0
    steps = 0
    at = 0
    while at < anchors.size:
        anchor = anchors[at]
        low = anchor
        while low >= 0 and anchor - low < reach and (low == anchor or tokens[low] != 0):
            low -= 1
        high = anchor
        while True:
            while (
                high < tokens.size
                and high - anchor < reach
                and (high == anchor or tokens[high] != 0)
            ):
                high += 1
            if at + 1 < anchors.size and anchors[at + 1] <= high:
                at += 1
                anchor = anchors[at]
            else:
                break
        at += 1
        left = low
        while True:  # a piece of a sentence, with its edges
            right = left
            while right < high and (right == left or not is_boundary(tokens, right)):
                right += 1
            if right - left + 2 > alive.size:
                alive = np.empty(2 * (right - left + 2), np.uint64)
                ends = np.empty(alive.size + 2, np.int64)
                path = new_path(ends.size)
            steps += right - left
            if steps > budget:
                return TOO_LONG, spans
            # No other place of the piece is a boundary.
            left_edge = left if is_boundary(tokens, left) else left - 1
            right_edge = right if is_boundary(tokens, right) else right + 1
            later = none
            for place in range(right, left - 1, -1):
                if place == left_edge or place == right_edge:
                    now = none
                    if place == left and place < right:
                        now = automaton.edges[0]
                        if automaton.starts.size > 0:
                            now |= document_edge(automaton.starts, automaton.start_bits, place)
                    elif place == right:
                        now = automaton.edges[1]
                        if automaton.stops.size > 0:
                            now |= document_edge(automaton.stops, automaton.stop_bits, place)
                else:
                    if tokens[place] >= bits.size:
                        return DAMAGED, spans
                    now = bits[tokens[place]]
                if now != none:
                    now &= last | step(before, later)
                alive[place - left] = now
                later = now
            for begin_place in range(left, right + 1):
                states = alive[begin_place - left] & first
                if states == none:
                    continue
                is_edge = begin_place == left_edge or begin_place == right_edge
                begin = begin_place + 1 if is_edge else begin_place
                n_ends = 0
                if has_condition:
                    n_ends, taken = labelled_ends(
                        automaton, tokens, alive, left, right, begin_place, begin, longest, ends,
                        path, budget - steps,
                    )  # fmt: skip
                    steps += taken
                    if n_ends > 0 and which != ALL:
                        chosen = ends[0]
                        for i in range(1, n_ends):
                            if which == SHORTEST:
                                chosen = min(chosen, ends[i])
                            else:
                                chosen = max(chosen, ends[i])
                        ends[0] = chosen
                        n_ends = 1
                else:
                    place = begin_place
                    while True:
                        if states & last != none:
                            is_edge = place == left_edge or place == right_edge
                            end = place if is_edge else place + 1
                            if begin < end <= begin + longest:
                                if which != ALL:
                                    n_ends = 0
                                ends[n_ends] = end
                                n_ends += 1
                                if which == SHORTEST:
                                    break
                        steps += 1
                        place += 1
                        if place > right or place - begin > longest:
                            break
                        states = step(follow, states) & alive[place - left]
                        if states == none:
                            break
                if steps > budget:
                    return TOO_LONG, spans
                if n + n_ends > len(spans):
                    larger = np.empty((2 * (n + n_ends), 2), np.int64)
                    larger[:n] = spans[:n]
                    spans = larger
                for i in range(n_ends):
                    spans[n, 0] = begin
                    spans[n, 1] = ends[i]
                    n += 1
                if n > max_matches:
                    return n, spans[:n]
            if right >= high:
                break
            left = right
    return n, spans[:n]


@compiled
def match_tokens(tokens, places, is_match, max_matches):
    """Return what `match_query` does of a query whose matches are single tokens.

    It reads no sentences: of each token it asks only whether it is a match.

    Arguments:
        tokens: uint32, of the shard, words or analyses.
        places: int64, ascending: each match is one of these; empty: it may be any token.
        is_match: bool by word or analysis.
        max_matches: matches; one more is counted at most.
    """
    reads_all = places.size == 0
    size = tokens.size if reads_all else places.size
    n = 0
    for i in range(size):
        token = tokens[i] if reads_all else tokens[places[i]]
        if token >= is_match.size:
            return DAMAGED, np.empty((0, 2), np.int64)
        n += is_match[token]
    n = min(n, max_matches + 1)
    spans = np.empty((n, 2), np.int64)
    i = 0
    m = 0
    while m < n:  # a place that is no match is overwritten: faster than a branch
        place = i if reads_all else places[i]
        spans[m, 0] = place
        spans[m, 1] = place + 1
        m += is_match[tokens[place]]
        i += 1
    return n, spans
