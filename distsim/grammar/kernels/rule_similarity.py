"""Compares the two sides of rules word by word: soft cosine, letters, words alone, words moved."""

from typing import NamedTuple

import numpy as np

from distsim.grammar.kernels.rules import TERMINAL
from distsim.kernels.compiled import compiled, uncounted

INVERTED = 1 / 3  # share of changes that gaps in another order count as, whatever the words
KEPT = 1 << 15  # pairs of words whose cosines are kept, a power of 2


class WordCosines(NamedTuple):
    """Cosines of words; those of the pairs met last are kept.

    form_hashes: uint64 per word, the hash of its normal form. vectors: float32[words,
    n_dimensions], of length 1, or zeros without one. lanes: float32[8], overwritten. pairs,
    cosines: int64[KEPT] and float64[KEPT], pairs of words and their cosines; overwritten.
    """

    form_hashes: np.ndarray
    vectors: np.ndarray
    lanes: np.ndarray
    pairs: np.ndarray
    cosines: np.ndarray


@uncounted
def _cosine(a, b, known):
    """Return the cosine of two words, 1 of a word and itself, 0 of a word without a vector.

    Arguments:
        a, b: numbers of words.
        known: WordCosines.
    """
    if known.form_hashes[a] == known.form_hashes[b]:
        return 1.0
    lower = min(a, b)
    other = max(a, b)
    pair = (lower << 32) | other
    slot = (lower * 40503 + other * 1009) & (KEPT - 1)
    if known.pairs[slot] == pair:
        return known.cosines[slot]
    x = known.vectors[a]
    y = known.vectors[b]
    lanes = known.lanes
    lanes[:] = np.float32(0.0)
    for k in range(0, x.size, 8):
        for lane in range(8):
            lanes[lane] += x[k + lane] * y[k + lane]
    total = 0.0
    for lane in range(8):
        total += np.float64(lanes[lane])
    known.pairs[slot] = pair
    known.cosines[slot] = total
    return total


@uncounted
def _length(side, a, n, words, weights, known, lengths, spans):
    """Return the soft length of a side, squared; that of equal words is computed once.

    Arguments:
        side: number of the side among the distinct ones, which may differ in words that are
            dropped.
        a, n: its first word, and its words.
        words: int64, the word at each place. weights: float64 per word.
        known: WordCosines.
        lengths, spans: float64 and int64[2] per distinct side, the length computed last, and first
            word and words of what it is of; written.
    """
    is_known = spans[side, 1] == n
    for i in range(n):
        is_known = is_known and words[a + i] == words[spans[side, 0] + i]
    if not is_known:
        lengths[side] = _likeness(a, n, a, n, words, weights, known)
        spans[side, 0], spans[side, 1] = a, n
    return lengths[side]


@uncounted
def _likeness(a, n_words, b, n_others, words, weights, known):
    """Return the sum over two words, one of either span, of weights times a positive cosine.

    Arguments:
        a, n_words: first word of a span, and its words.
        b, n_others: the same of another one, or of the same.
        words: int64, the word at each place.
        weights: by word, as compare_sides takes them.
        known: WordCosines.
    """
    total = 0.0
    for i in range(a, a + n_words):
        for j in range(b, b + n_others):
            cosine = _cosine(words[i], words[j], known)
            if cosine > 0.0:
                total += weights[words[i]] * weights[words[j]] * cosine
    return total


@uncounted
def _closest(word, figures, b, n_others, words, known):
    """Return the cosine of a word with the closest word of a span; of one with a digit, 1 or 0.

    Arguments:
        word: its number.
        figures: uint64 per word, as compare_sides takes them.
        b, n_others: first word of the span, and its words.
        words: as compare_sides takes them.
        known: WordCosines.
    """
    best = 0.0
    for j in range(b, b + n_others):
        if known.form_hashes[word] == known.form_hashes[words[j]]:
            return 1.0
        if figures[word] != 0:
            if figures[word] == figures[words[j]]:
                return 1.0
        else:
            best = max(best, _cosine(word, words[j], known))
    return best


@uncounted
def _pair_of_letters(text, start, stop, i):
    """Return the i-th pair of bytes of text[start:stop], a blank before it and behind it."""
    first = np.int64(text[start + i - 1]) if i > 0 else 32
    second = np.int64(text[start + i]) if start + i < stop else 32
    return first << 8 | second


@uncounted
def _shared_pairs_of_letters(text, a, a_stop, b, b_stop, counts):
    """Return Dice's coefficient of the pairs of bytes of two texts, with a blank at each end.

    Arguments:
        text: uint8.
        a, a_stop, b, b_stop: half-open ranges in it.
        counts: int32 by pair of bytes, zeros; zeros again afterwards.
    """
    n = a_stop - a + 1
    m = b_stop - b + 1
    for j in range(m):
        counts[_pair_of_letters(text, b, b_stop, j)] += 1
    shared = 0
    for i in range(n):
        pair = _pair_of_letters(text, a, a_stop, i)
        if counts[pair] > 0:
            counts[pair] -= 1
            shared += 1
    for j in range(m):
        counts[_pair_of_letters(text, b, b_stop, j)] = 0
    return 2.0 * shared / (n + m)


@uncounted
def _moved(a, n_words, b, n_others, words, before, in_order, known):
    """Return (gaps with which words of a span changed places, words that have a partner).

    The partner of a word is itself in another span; where gaps keep their order, else the closest
    word: `is _` and `_ was` differ in place, `_ 's _` and `_ of _` need not.

    Arguments:
        a, n_words, b, n_others: first word and words of either span.
        words: as compare_sides takes them.
        before: uint64 per place, a bit for each gap of its side that stands before it.
        in_order: whether both sides have their gaps in one order.
        known: WordCosines.
    """
    total = 0
    partners = 0
    for i in range(a, a + n_words):
        least = 64
        best = 0.0  # of a word with itself 2: rounding may take another word to 1
        for j in range(b, b + n_others):
            is_same = known.form_hashes[words[i]] == known.form_hashes[words[j]]
            if not is_same and not in_order:
                continue
            cosine = 2.0 if is_same else _cosine(words[i], words[j], known)
            if cosine < best or cosine <= 0.0:
                continue
            changed = before[i] ^ before[j]
            bits = 0
            while changed:
                changed &= changed - np.uint64(1)
                bits += 1
            least = min(least, bits) if cosine == best else bits
            best = cosine
        if least < 64:
            total += least
            partners += 1
    return total, partners


@uncounted
def _has(word, b, n_others, words, form_of_word):
    """Return whether a span has a word, in any spelling of its normal form."""
    for j in range(b, b + n_others):
        if form_of_word[words[j]] == form_of_word[word]:
            return True
    return False


@compiled
def facing_words(firsts, lengths, words, form_numbers, is_plain, max_words):
    """Return the pairs of words that only one side of a rule has each, int64, ascending, once each.

    A pair is the lower form << 32, and the higher one.

    Arguments:
        firsts, lengths: int64[n, 2], first word and words of the source and the target side.
        words: int64, the word at each place, without gaps.
        form_numbers: int64 per word, the number of its normal form.
        is_plain: bool per word, whether it has letters or digits.
        max_words: maximum number of words of a side that is looked at.
    """
    size = 0
    for rule in range(firsts.shape[0]):
        if max(lengths[rule, 0], lengths[rule, 1]) <= max_words:
            size += lengths[rule, 0] * lengths[rule, 1]
    keys = np.empty(size, np.int64)
    n = 0
    for rule in range(firsts.shape[0]):
        a, b = firsts[rule]
        n_a, n_b = lengths[rule]
        if max(n_a, n_b) > max_words:
            continue
        for i in range(a, a + n_a):
            if not is_plain[words[i]] or _has(words[i], b, n_b, words, form_numbers):
                continue
            for j in range(b, b + n_b):
                if is_plain[words[j]] and not _has(words[j], a, n_a, words, form_numbers):
                    first, other = form_numbers[words[i]], form_numbers[words[j]]
                    keys[n] = (min(first, other) << 32) | max(first, other)
                    n += 1
    keys = np.sort(keys[:n])
    distinct = 0
    for k in range(n):
        if k == 0 or keys[k] != keys[k - 1]:
            keys[distinct] = keys[k]
            distinct += 1
    return keys[:distinct].copy()


@compiled
def _words_of_pairs(form_numbers, pairs):
    """Return which words are of a pair, in any spelling of their normal form; bool per word.

    Arguments:
        form_numbers: int64 per word, the number of its normal form.
        pairs: int64, as facing_words returns them.
    """
    n_forms = 0
    for word in range(form_numbers.size):
        n_forms = max(n_forms, form_numbers[word] + 1)
    in_pairs = np.zeros(n_forms, np.bool_)
    for pair in range(pairs.size):
        in_pairs[pairs[pair] >> 32] = True
        in_pairs[pairs[pair] & 0xFFFFFFFF] = True
    return in_pairs[form_numbers]


@uncounted
def _has_any(a, n_words, words, wanted):
    """Return whether a span has a word that is wanted, bool per word."""
    for i in range(a, a + n_words):
        if wanted[words[i]]:
            return True
    return False


@uncounted
def _opposed(
    a, n_words, b, n_others, words, form_numbers, negates, exclusive, in_pairs, near, known
):
    """Return whether a word of a span and a word of another exclude each other.

    Words that stand on both sides are no such words, nor negations, which are counted; of the
    others one must be nearly the closest of its side to the other.

    Arguments:
        a, n_words, b, n_others: first word and words of either span.
        words: as compare_sides takes them.
        form_numbers: int64 per word, the number of its normal form.
        negates: uint8 per word, 1 of negations.
        exclusive: int64, ascending, pairs as facing_words returns them.
        in_pairs: bool per word, whether it is of such a pair.
        near: how much lower than the closest word's a cosine may be.
        known: WordCosines.
    """
    if not _has_any(a, n_words, words, in_pairs) or not _has_any(b, n_others, words, in_pairs):
        return False
    for i in range(a, a + n_words):
        if not in_pairs[words[i]] or negates[words[i]] == 1:
            continue
        if _has(words[i], b, n_others, words, known.form_hashes):
            continue
        best = -1.0
        best_exclusive = -1.0
        for j in range(b, b + n_others):
            if negates[words[j]] == 1 or _has(words[j], a, n_words, words, known.form_hashes):
                continue
            cosine = _cosine(words[i], words[j], known)
            best = max(best, cosine)
            first, other = form_numbers[words[i]], form_numbers[words[j]]
            key = (min(first, other) << 32) | max(first, other)
            at = np.searchsorted(exclusive, key)
            if at < exclusive.size and exclusive[at] == key:
                best_exclusive = max(best_exclusive, cosine)
        if best_exclusive > -1.0 and best_exclusive >= best - near:
            return True
    return False


@compiled
def compare_sides(
    firsts, lengths, words, before, n_gaps, in_order, form_hashes, form_numbers, weights,
    content, figures, negates, vectors, text, ends, sides, has_own, wholes, exclusive, doubtful,
    like, near,
):  # fmt: skip
    """Return the parts of the similarity of rules' sides, float64[n, 5].

    Columns: the soft cosine of the sides as sets of words; Dice's coefficient of their pairs of
    letters; 1 where a content word, or one with digits, has no counterpart on the other side or
    one that it may exclude, or where a side has no words, else 0 (no word need have one where both
    sides as wholes are alike); the share of gaps with which words of both sides changed places,
    INVERTED at least where the gaps have another order; 1 where the sides are opposed: by words
    that exclude each other or by an odd number of negations, not by both, or by numbers that
    either side lacks.

    Arguments:
        firsts, lengths: int64[n, 2], first word and words of the source and the target side.
        words: int64, the word at each place, without gaps.
        before: uint64 per place, a bit for each gap of its side that stands before it.
        n_gaps, in_order: int64[n] and bool[n], gaps of each rule, and whether both sides have them
            in one order.
        form_hashes, weights, content: uint64, float64 and bool per word: the hash of its normal
            form, its weight, and whether it is a content word.
        figures: uint64 per word, equal for words of one number, 0 without a digit.
        negates: uint8 per word, 1 of negations, 2 of words that may stand for one (`fail to`).
        form_numbers: int64 per word, the number of its normal form.
        vectors: float32[words, n_dimensions], of length 1, or zeros without one.
        text, ends: uint8 and int64[s + 1], the distinct sides end to end.
        sides: int64[n, 2], the number of each side of a rule among the distinct ones.
        has_own: bool[s], sides that have contexts of their own.
        wholes: float64[n], the cosine of the whole sides, NaN without one.
        exclusive: int64, pairs of words that exclude each other, as facing_words returns them.
        doubtful: int64, pairs that may do so.
        like: the cosine from which a word is a counterpart, and one phrase that of another with
            which it shares no like word.
        near: how much less alike than the closest word one may be that excludes a word.
    """
    n_rules = firsts.shape[0]
    out = np.zeros((n_rules, 5))
    letters = np.zeros(1 << 16, np.int32)
    excluding = _words_of_pairs(form_numbers, exclusive)
    doubted = _words_of_pairs(form_numbers, doubtful)
    known = WordCosines(
        form_hashes, vectors, np.zeros(8, np.float32), np.full(KEPT, -1, np.int64), np.empty(KEPT)
    )
    soft = np.zeros(ends.size - 1), np.zeros((ends.size - 1, 2), np.int64)
    for rule in range(n_rules):
        a, b = firsts[rule]
        n, m = lengths[rule]
        if n == 0 or m == 0:
            out[rule, 2] = n != m
            continue
        first_side, second_side = sides[rule]
        own = _length(first_side, a, n, words, weights, known, *soft)
        other = _length(second_side, b, m, words, weights, known, *soft)
        if own > 0.0 and other > 0.0:
            both = _likeness(a, n, b, m, words, weights, known)
            out[rule, 0] = min(1.0, both / np.sqrt(own * other))
        out[rule, 1] = _shared_pairs_of_letters(
            text,
            ends[first_side],
            ends[first_side + 1],
            ends[second_side],
            ends[second_side + 1],
            letters,
        )
        negations = 0
        may_negate = False
        is_alone = False
        has_close = False
        differs_in_digits = 0  # sides with a number of their own
        for side in range(2):
            start, count = (a, n) if side == 0 else (b, m)
            facing, n_facing = (b, m) if side == 0 else (a, n)
            has_number = False
            for i in range(start, start + count):
                word = words[i]
                negations += negates[word] == 1
                may_negate = may_negate or negates[word] == 2
                if not content[word] and figures[word] == 0:
                    continue
                cosine = _closest(word, figures, facing, n_facing, words, known)
                is_alone = is_alone or cosine < like
                has_close = has_close or cosine >= like
                has_number = has_number or (figures[word] != 0 and cosine < like)
            differs_in_digits += has_number
        is_phrasal = (
            not has_close and has_own[first_side] and has_own[second_side] and wholes[rule] >= like
        )
        if (is_alone and not is_phrasal) or differs_in_digits > 0:
            out[rule, 2] = 1.0
        forward = _opposed(
            a, n, b, m, words, form_numbers, negates, exclusive, excluding, near, known
        )
        opposed = forward or _opposed(
            b, m, a, n, words, form_numbers, negates, exclusive, excluding, near, known
        )
        is_negated = negations % 2 == 1 and not may_negate
        if opposed != is_negated or differs_in_digits == 2:
            out[rule, 4] = 1.0
        maybe = out[rule, 2] == 0.0 and _opposed(
            a, n, b, m, words, form_numbers, negates, doubtful, doubted, near, known
        )
        if maybe or _opposed(
            b, m, a, n, words, form_numbers, negates, doubtful, doubted, near, known
        ):
            out[rule, 2] = 1.0
        if n_gaps[rule] > 0:
            first, n_first = _moved(a, n, b, m, words, before, in_order[rule], known)
            second, n_second = _moved(b, m, a, n, words, before, in_order[rule], known)
            if n_first + n_second > 0:
                out[rule, 3] = (first + second) / ((n_first + n_second) * n_gaps[rule])
            if not in_order[rule]:
                out[rule, 3] = max(out[rule, 3], INVERTED)
    return out


@compiled
def words_of_sides(token_stops, gaps):
    """Return the words of rules' sides without gaps, and what gaps stand before each.

    Arguments:
        token_stops: int64[n, 2], symbols up to the end of each source and each target side.
        gaps: int64 per symbol, its gap or TERMINAL.

    Returns (firsts int64[n, 2], the first word of each side; lengths int64[n, 2]; symbols int64[w],
    the symbol of each word; before uint64[w], a bit for each gap of its side that stands before it;
    n_gaps int64[n], of the source side; in_order bool[n], whether both sides have their gaps in one
    order).
    """
    n_rules = token_stops.shape[0]
    firsts = np.zeros((n_rules, 2), np.int64)
    lengths = np.zeros((n_rules, 2), np.int64)
    symbols = np.empty(gaps.size, np.int64)
    before = np.zeros(gaps.size, np.uint64)
    n_gaps = np.zeros(n_rules, np.int64)
    in_order = np.ones(n_rules, np.bool_)
    n = 0
    start = 0
    for rule in range(n_rules):
        begin = start
        for side in range(2):
            firsts[rule, side] = n
            seen = np.uint64(0)
            at = begin
            for k in range(start, token_stops[rule, side]):
                if gaps[k] == TERMINAL:
                    symbols[n] = k
                    before[n] = seen
                    n += 1
                    continue
                seen |= np.uint64(1) << np.uint64((gaps[k] - 1) % 64)
                if side == 0:
                    n_gaps[rule] += 1
                    continue
                while at < token_stops[rule, 0] and gaps[at] == TERMINAL:
                    at += 1
                in_order[rule] = in_order[rule] and gaps[at] == gaps[k]
                at += 1
            lengths[rule, side] = n - firsts[rule, side]
            start = token_stops[rule, side]
    return firsts, lengths, symbols[:n].copy(), before[:n].copy(), n_gaps, in_order
