"""Translation rules as arrays -> sides in one form; pairs over a foreign side; their text."""

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import START, finish, step
from distsim.kernels.heaps import heap_sort
from distsim.kernels.rules import TERMINAL, gap_index, next_token

MOST_GAPS = 8  # of a rule: four bits each in a packed order
FITS, TOO_MANY_GAPS, LOOKS_LIKE_GAP = range(3)
_SPACE, _COMMA, _OPEN, _CLOSE, _ZERO, _BAR, _HYPHEN = 32, 44, 91, 93, 48, 124, 45


@uncounted
def _put(out, n, text, start, stop):
    for i in range(start, stop):
        out[n] = text[i]
        n += 1
    return n


@uncounted
def _put_gap(out, n, text, start, stop, number):
    """Append `[LABEL,number]`, with the label of the gap text[start:stop]."""
    comma = stop - 1
    while text[comma] != _COMMA:
        comma -= 1
    n = _put(out, n, text, start, comma)
    out[n] = _COMMA
    out[n + 1] = _ZERO + number
    out[n + 2] = _CLOSE
    return n + 3


@compiled
def canonical_sides(text, token_stops, starts, stops, gaps, has_gaps):
    """Return both sides of rules with their gaps numbered from 1 along each side.

    A target gap without a label (cdec) takes that of the source. Returns
    status: uint8[n], FITS or why a rule cannot be pivoted;
    source_hashes, target_hashes: uint64[n], of the sides' texts, symbols parted by a space;
    orders: uint32[n], four bits for each target gap, lowest first: its number on the source
    side, from 0; target_text: uint8; target_offsets: int64[n + 1]: the target sides.
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
                    n = _put(out, n, text, starts[k], stops[k])
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
                    n = _put(out, n, text, starts[k], stops[k])
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
    state = START
    for i in range(start, stop):
        state = step(state, np.uint64(text[i]))
    return finish(state)


@compiled
def eight_bytes(text, starts, stops, at):
    """Return bytes at..at + 8 of each text[starts[i]:stops[i]] as uint64 in their order."""
    out = np.zeros(starts.size, np.uint64)
    for i in range(starts.size):
        value = np.uint64(0)
        for k in range(starts[i] + at, starts[i] + at + 8):
            byte = np.uint64(text[k]) if k < stops[i] else np.uint64(0)
            value = (value << np.uint64(8)) | byte
        out[i] = value
    return out


@compiled
def best_of_repeated(is_new, forward, backward):
    """Return, for rules in order, bool[n]: the most probable of each run of equal ones.

    is_new: where a run begins. Of equally probable ones the first.
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
def _reordered(one, two, n_gaps):
    """Return the order of the gaps of a side by those of another; both by a third."""
    order = np.uint32(0)
    for k in range(n_gaps):
        foreign = (two >> np.uint32(4 * k)) & np.uint32(15)
        at = 0
        while ((one >> np.uint32(4 * at)) & np.uint32(15)) != foreign:
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


@compiled
def relative_orders(firsts, seconds, orders, n_gaps):
    """Return for pairs of rules the order of the second's gaps by the first's; uint32."""
    out = np.empty(firsts.size, np.uint32)
    for k in range(firsts.size):
        out[k] = _reordered(orders[firsts[k]], orders[seconds[k]], n_gaps[firsts[k]])
    return out


@compiled
def pair_up(
    sources, runs, group_starts, group_stops, targets, n_targets, orders, n_gaps, n_orders,
    forward, backward, least, identities, n_pairs,
):  # fmt: skip
    """Return the pairs that some rules begin with the rules of their groups.

    sources: rules; runs: a number for each, ascending. group_starts, group_stops: per rule, the
    rules of its group. targets: per rule its target side, below n_targets; orders, n_gaps: its
    gaps, of fewer than n_orders orders. forward, backward: p(e|f), p(f|e); pairs with a product
    below `least` either way are passed over. identities: pair rules with themselves, too.
    n_pairs: more than these there cannot be. Returns
    keys: int64[m], (run, second target, order of its gaps by the first's) in one number;
    firsts, seconds: int64[m], rules; pruned: how many pairs were passed over.
    """
    keys = np.empty(n_pairs, np.int64)
    firsts = np.empty(n_pairs, np.int64)
    seconds = np.empty(n_pairs, np.int64)
    n = 0
    pruned = 0
    for k in range(sources.size):
        one = sources[k]
        for two in range(group_starts[one], group_stops[one]):
            if one == two and not identities:
                continue
            if forward[two] * backward[one] < least or forward[one] * backward[two] < least:
                pruned += 1
                continue
            order = _reordered(orders[one], orders[two], n_gaps[one])
            key = runs[k] * n_targets + targets[two]
            keys[n] = key * n_orders + _rank_of_order(order, n_gaps[one])
            firsts[n] = one
            seconds[n] = two
            n += 1
    return keys[:n].copy(), firsts[:n].copy(), seconds[:n].copy(), pruned


@uncounted
def _key_before(keys, one, two):
    return keys[one] < keys[two] or (keys[one] == keys[two] and one < two)


_sort_run = heap_sort(_key_before)


@compiled
def order_of_runs(keys, per_run):
    """Return the order of keys, int64[n], that ascend by key // per_run; equal ones keep theirs."""
    n = keys.size
    order = np.empty(n, np.int64)
    begin = 0
    while begin < n:
        stop = begin
        end = (keys[begin] // per_run + 1) * per_run
        while stop < n and keys[stop] < end:
            order[stop] = stop
            stop += 1
        if stop - begin > 12:
            _sort_run(keys, order, begin, stop)
        else:
            for i in range(begin + 1, stop):
                k = i
                while k > begin and keys[order[k - 1]] > keys[i]:
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = i
        begin = stop
    return order


@compiled
def sum_products(stops, firsts, seconds, one, two):
    """Return per run of pairs the sums of one[first] * two[second], and the reverse; float64."""
    towards = np.zeros(stops.size)
    back = np.zeros(stops.size)
    begin = 0
    for run in range(stops.size):
        total = 0.0
        reverse = 0.0
        for k in range(begin, stops[run]):
            total += one[firsts[k]] * two[seconds[k]]
            reverse += two[firsts[k]] * one[seconds[k]]
        towards[run] = total
        back[run] = reverse
        begin = stops[run]
    return towards, back


@compiled
def rarities(stops, firsts, seconds, rarity, multiplies):
    """Return per run of pairs the rarity penalty: of each pair the larger of its rules'.

    multiplies: the product of all, with a factor 1/e for each but the first (Thrax: counts are
    added); else the smallest (thesis 6.4.1.1.2).
    """
    out = np.zeros(stops.size)
    begin = 0
    for run in range(stops.size):
        for k in range(begin, stops[run]):
            value = max(rarity[firsts[k]], rarity[seconds[k]])
            if k == begin:
                out[run] = value
            elif multiplies:
                out[run] *= value * np.exp(-1.0)
            else:
                out[run] = min(out[run], value)
        begin = stops[run]
    return out


@compiled
def agreeing_bitexts(stops, firsts, seconds, bitexts):
    """Return per run of pairs in how many bitexts both rules of one of them stand; float64."""
    out = np.zeros(stops.size)
    begin = 0
    for run in range(stops.size):
        met = np.uint64(0)
        for k in range(begin, stops[run]):
            met |= bitexts[firsts[k]] & bitexts[seconds[k]]
        while met != 0:
            met &= met - np.uint64(1)
            out[run] += 1.0
        begin = stops[run]
    return out


@compiled
def best_pairs(stops, firsts, seconds, forward, backward, ranks):
    """Return per run the pair whose link is most probable, both ways; then the rule read first."""
    out = np.empty(stops.size, np.int64)
    begin = 0
    for run in range(stops.size):
        best = begin
        best_value = -1.0
        best_rank = 0
        for k in range(begin, stops[run]):
            one = firsts[k]
            two = seconds[k]
            value = (forward[two] * backward[one]) * (forward[one] * backward[two])
            rank = min(ranks[one], ranks[two])
            if value > best_value or (value == best_value and rank < best_rank):
                best = k
                best_value = value
                best_rank = rank
        out[run] = best
        begin = stops[run]
    return out


@uncounted
def _count_symbols(text, start, stop):
    n = 0
    i, end = next_token(text, start, stop)
    while i < end:
        n += 1
        i, end = next_token(text, end, stop)
    return n


@uncounted
def _gap_places(text, start, stop, places):
    """Set places[k] to the symbol that is gap k + 1; return how many symbols there are."""
    n = 0
    i, end = next_token(text, start, stop)
    while i < end:
        gap = gap_index(text, i, end, False)
        if gap > 0:
            places[gap - 1] = n
        n += 1
        i, end = next_token(text, end, stop)
    return n


@uncounted
def _compose(one, two, link_starts, link_stops, links, met, stamp, width, pair):
    """Add 1 to met[i, j] for every i, j that two rules link to one foreign symbol."""
    for a in range(link_starts[one], link_stops[one]):
        for b in range(link_starts[two], link_stops[two]):
            if links[a, 0] == links[b, 0]:
                at = links[a, 1] * width + links[b, 1]
                if stamp[at] != pair:
                    stamp[at] = pair
                    met[at] += 1


@uncounted
def _put_number(out, n, value):
    """Append a number, rounded to five decimals."""
    scaled = np.int64(np.floor(np.abs(value) * 100000.0 + 0.5))
    if value < 0.0 and scaled > 0:
        out[n] = _HYPHEN
        n += 1
    n = _put_integer(out, n, scaled // 100000)
    out[n] = 46
    rest = scaled % 100000
    for k in range(5, 0, -1):
        out[n + k] = _ZERO + rest % 10
        rest //= 10
    return n + 6


@uncounted
def _put_integer(out, n, value):
    size = 1
    power = value // 10
    while power > 0:
        size += 1
        power //= 10
    for k in range(size - 1, -1, -1):
        out[n + k] = _ZERO + value % 10
        value //= 10
    return n + size


@uncounted
def _put_bar(out, n):
    out[n] = _SPACE
    out[n + 1] = _BAR
    out[n + 2] = _BAR
    out[n + 3] = _BAR
    out[n + 4] = _SPACE
    return n + 5


@uncounted
def _renumber(out, start, stop, order):
    """Number the gaps of a side by their order; return how many there are."""
    n_gaps = 0
    i, end = next_token(out, start, stop)
    while i < end:
        gap = gap_index(out, i, end, False)
        if gap > 0:
            number = (order >> np.uint32(4 * (gap - 1))) & np.uint32(15)
            out[end - 2] = _ZERO + 1 + np.int64(number)
            n_gaps += 1
        i, end = next_token(out, end, stop)
    return n_gaps


@uncounted
def _put_features(out, n, values, line, names, name_offsets, whole):
    """Append ` name=value` for each feature that is there."""
    for feature in range(whole.size):
        value = values[feature, line]
        if np.isnan(value):
            continue
        n = _put(out, n, names, name_offsets[feature], name_offsets[feature + 1])
        if whole[feature]:
            n = _put_integer(out, n, np.int64(value))
        else:
            n = _put_number(out, n, value)
    return n


@uncounted
def _meet(
    firsts, seconds, begin, stop, best, link_starts, link_stops, links, met, stamp, cells, width
):
    """Count in met[:cells] how many pairs begin..stop link each two words.

    Returns how many of them a link must have: all; of the best pair alone where none has all.
    """
    for at in range(cells):
        met[at] = 0
    for k in range(begin, stop):
        _compose(firsts[k], seconds[k], link_starts, link_stops, links, met, stamp, width, k)
    for at in range(cells):
        if met[at] == stop - begin:
            return stop - begin
    for at in range(cells):
        met[at] = 0
        stamp[at] = -1
    _compose(firsts[best], seconds[best], link_starts, link_stops, links, met, stamp, width, best)
    return 1


@uncounted
def _put_links(out, n, met, cells, width, wanted):
    """Append ` 0-0 1-2`, a space where there is no link, and the end of the line."""
    begun = n
    for at in range(cells):
        if met[at] == wanted:
            out[n] = _SPACE
            n = _put_integer(out, n + 1, at // width)
            out[n] = _HYPHEN
            n = _put_integer(out, n + 1, at % width)
    if n == begun:
        out[n] = _SPACE
        n += 1
    out[n] = 10
    return n + 1


@compiled
def render_rules(
    text, starts, ends, firsts, seconds, orders, label_text, label_offsets, labels, names,
    name_offsets, values, whole, stops, pair_firsts, pair_seconds, best, link_starts, link_stops,
    links, has_gaps,
):  # fmt: skip
    """Return the lines of paraphrase rules, uint8.

    text, starts, ends: the target sides of all rules. firsts, seconds: per line the rules whose
    sides are written. orders: uint32, of the second's gaps by the first's. label_text,
    label_offsets: of all labels; labels: int64 per line. names, name_offsets: of the features,
    ` name=` each. values: float64[features, lines], NaN for none; whole: bool per feature,
    written as integers. stops, pair_firsts, pair_seconds: the pairs behind each line; best: the
    best of them. link_starts, link_stops, links: per rule its links between words.
    Words are linked where all pairs link them; where none is, as the best pair links them.
    """
    n_lines = firsts.size
    fixed = 64 + names.size + 30 * whole.size
    most = 0
    for line in range(n_lines):
        one = firsts[line]
        two = seconds[line]
        n_one = _count_symbols(text, starts[one], ends[one])
        most = max(most, n_one * _count_symbols(text, starts[two], ends[two]))
    out = np.empty(n_lines * (64 + names.size + 8 * whole.size) + fixed, np.uint8)
    met = np.zeros(most, np.int32)
    stamp = np.full(most, -1, np.int64)
    places = np.zeros((2, MOST_GAPS), np.int64)
    n = 0
    begin = 0
    for line in range(n_lines):
        one = firsts[line]
        two = seconds[line]
        label = labels[line]
        room = ends[one] - starts[one] + ends[two] - starts[two] + fixed
        room += label_offsets[label + 1] - label_offsets[label]
        if n + room > out.size:
            out = grown(out, n, 2 * (n + room))
        n = _put(out, n, label_text, label_offsets[label], label_offsets[label + 1])
        n = _put_bar(out, n)
        n = _put(out, n, text, starts[one], ends[one])
        n = _put_bar(out, n)
        side = n
        n = _put(out, n, text, starts[two], ends[two])
        n_gaps = 0
        if has_gaps:
            n_gaps = _renumber(out, side, n, orders[line])
            height = _gap_places(text, starts[one], ends[one], places[0])
            width = _gap_places(out, side, n, places[1])
        else:
            height = _count_symbols(text, starts[one], ends[one])
            width = _count_symbols(out, side, n)
        n = _put_bar(out, n) - 1
        n = _put_features(out, n, values, line, names, name_offsets, whole)
        n = _put_bar(out, n) - 1
        cells = height * width
        wanted = _meet(
            pair_firsts, pair_seconds, begin, stops[line], best[line], link_starts, link_stops,
            links, met, stamp, cells, width,
        )  # fmt: skip
        for gap in range(n_gaps):
            met[places[0, gap] * width + places[1, gap]] = wanted
        if n + 24 * cells + 8 > out.size:
            out = grown(out, n, 2 * (n + 24 * cells + 8))
        n = _put_links(out, n, met, cells, width, wanted)
        begin = stops[line]
    return out[:n].copy()
