"""Features of rules, by their counts and places, and their lines of text."""

from typing import NamedTuple

import numpy as np

from distsim.grammar.kernels.extraction import (
    CHART,
    X_ONLY,
    clear_chart,
    fill_chart,
    span_label,
    unpack_place,
)  # fmt: skip
from distsim.grammar.kernels.packs import put_bar, put_bytes, put_integer, put_number
from distsim.grammar.kernels.rule_counts import most_links, write_links
from distsim.kernels.compiled import compiled, uncounted

# features, in byte order of their names
(
    ABSTRACT, ADJACENT, BITEXTS, CHAR_COUNT_DIFF, CHAR_LOG_CR, CONTAINS_X, GLUE_RULE, IDENTITY,
    LEX_EF, LEX_FE, LEXICAL, LOG_COUNT, MONOTONIC, PHRASE_PENALTY, RARITY_PENALTY,
    SOURCE_TERMINALS_BUT_NO_TARGET, SOURCE_WORDS, TARGET_TERMINALS_BUT_NO_SOURCE, TARGET_WORDS,
    UNALIGNED_SOURCE, UNALIGNED_TARGET, WORD_COUNT_DIFF, WORD_LEN_DIFF, WORD_LOG_CR,
    P_LHS_E, P_LHS_F, P_E_LHS, P_E_F, P_E_F_LHS, P_F_LHS, P_F_E, P_F_E_LHS,
) = range(32)  # fmt: skip
N_FEATURES = 32

# columns of counts, int64
C, C_FE, C_F, C_E, C_LF, C_LE, C_L = range(7)

_FLOOR = 1e-6
_FORWARD, _BACKWARD = 1, 2


@uncounted
def _log_ratio(target, source):
    """Return ln(target / source), 0 where one of them is 0."""
    if target > 0 and source > 0:
        return np.log(target / source)
    return 0.0


@uncounted
def gap_labels(chart, text, sentence, spans, how, labels):
    """Write the labels of a rule's gaps into labels[0] and labels[1].

    Arguments:
        chart: working memory for fill_chart.
        text: a Text.
        sentence: number of the sentence.
        spans: int64[3, 4], of the rule and its gaps, by unpack_place.
        how: which labels are made, X_ONLY to EVERY.
        labels: uint32[2], filled.
    """
    labels[0] = 0
    labels[1] = 0
    if spans[1, 1] == 0 or how == X_ONLY:
        return
    first, last = text.node_starts[sentence], text.node_starts[sentence + 1]
    n_english = text.english.starts[sentence + 1] - text.english.starts[sentence]
    fill_chart(chart, text.nodes, first, last)
    for gap in range(2):
        if spans[1 + gap, 1] > 0:
            start = spans[1 + gap, 2]
            labels[gap] = span_label(chart, n_english, start, start + spans[1 + gap, 3], how)
    clear_chart(chart, text.nodes, first, last)


@uncounted
def gap_at(spans, side, i):
    """Return the number of the gap that begins at a token of a side, 1 or 2; 0: none.

    Arguments:
        spans: int64[3, 4], of the rule and its gaps, by unpack_place.
        side: 0 foreign, 2 English.
        i: position of the token.
    """
    if spans[1, 1] > 0 and i == spans[1, side]:
        return 1
    if spans[2, 1] > 0 and i == spans[2, side]:
        return 2
    return 0


class WordCosts(NamedTuple):
    """-ln of the lexical weight of each token of a linked text (Koehn et al. 2003).

    foreign, english: float64[tokens], of the mean w(word|linked word), or of w(word|NULL).
    f_unlinked, e_unlinked: bool[tokens], tokens without a link.
    """

    foreign: np.ndarray
    english: np.ndarray
    f_unlinked: np.ndarray
    e_unlinked: np.ndarray


@compiled
def word_costs(tokens, sums, n_links, null):
    """Return -ln of the lexical weight of each token, float64[n].

    Arguments:
        tokens: uint32[n], words.
        sums: float64[n], of w(word|linked word) over the links of each token.
        n_links: int64[n], their number.
        null: float64, w(word|NULL) of each word.
    """
    costs = np.empty(tokens.size)
    for k in range(tokens.size):
        weight = sums[k] / n_links[k] if n_links[k] > 0 else null[tokens[k]]
        costs[k] = -np.log(max(weight, _FLOOR))
    return costs


@uncounted
def _side_cost(costs, begin, spans, column):
    """Return -ln of the lexical weight of a side of a rule.

    The links of a rule's words are all links within the rule, so tokens have their costs.

    Arguments:
        costs: float64, of all tokens of the side.
        begin: the sentence's first token.
        spans: int64[3, 4], of the rule and its gaps.
        column: where the side is in spans, 0 foreign, 2 English.
    """
    cost = 0.0
    i = spans[0, column]
    stop = i + spans[0, column + 1]
    while i < stop:
        gap = gap_at(spans, column, i)
        if gap > 0:
            i += spans[gap, column + 1]
        else:
            cost += costs[begin + i]
            i += 1
    return cost


@compiled
def lexical_costs(place, gaps, text, costs):
    """Return Lex(e|f) and Lex(f|e) of rules, float64[n, 2].

    Arguments:
        place, gaps: uint64[n], the rules that count_parts fills.
        text: a Text.
        costs: a WordCosts.
    """
    out = np.empty((place.size, 2))
    spans = np.zeros((3, 4), np.int64)
    for r in range(place.size):
        sentence = unpack_place(place[r], gaps[r], spans)
        out[r, 0] = _side_cost(costs.english, text.english.starts[sentence], spans, 2)
        out[r, 1] = _side_cost(costs.foreign, text.foreign.starts[sentence], spans, 0)
    return out


@uncounted
def _size_side(side, sentence, spans, column, unlinked, labels, symbols):
    """Return the sizes of a side of a rule: words, symbols, characters, words without a link.

    Arguments:
        side: a LinkedSide.
        sentence: its number.
        spans: int64[3, 4], of the rule and its gaps.
        column: where the side is in spans, 0 foreign, 2 English.
        unlinked: bool, of all tokens of the side.
        labels: uint32, of the gaps.
        symbols: uint64[2, CHART]: hashes of words and labels of gaps; written.
    """
    row = column // 2
    begin = side.starts[sentence]
    i = spans[0, column]
    stop = i + spans[0, column + 1]
    n_words = 0
    n_symbols = 0
    characters = 0
    unaligned = 0
    while i < stop:
        gap = gap_at(spans, column, i)
        if gap > 0:
            i += spans[gap, column + 1]
            symbols[row, n_symbols] = np.uint64(labels[gap - 1])
            n_symbols += 1
            continue
        word = side.tokens[begin + i]
        unaligned += unlinked[begin + i]
        characters += side.words.lengths[word]
        symbols[row, n_symbols] = side.words.hashes[word]
        n_words += 1
        n_symbols += 1
        i += 1
    return n_words, n_symbols, characters, unaligned


@uncounted
def _same_sides(spans, symbols, n_foreign, n_english):
    """Return whether a rule's sides are equal, symbol by symbol, gaps in the same places.

    Arguments:
        spans: int64[3, 4], of the rule and its gaps.
        symbols: uint64[2, CHART], hashes of words and labels of gaps, by side.
        n_foreign, n_english: symbols of each side.
    """
    if n_foreign != n_english:
        return False
    for symbol in range(n_foreign):
        if symbols[0, symbol] != symbols[1, symbol]:
            return False
    if spans[1, 1] > 0 and spans[1, 0] - spans[0, 0] != spans[1, 2] - spans[0, 2]:
        return False
    between = spans[2, 0] - spans[1, 0] - spans[1, 1]
    return spans[2, 1] == 0 or between == spans[2, 2] - spans[1, 2] - spans[1, 3]


@uncounted
def _put_probabilities(features, counts):
    """Write the probabilities of one rule, as -ln, from its counts."""
    features[P_LHS_E] = np.log(counts[C_E] / counts[C_LE])
    features[P_LHS_F] = np.log(counts[C_F] / counts[C_LF])
    features[P_E_LHS] = np.log(counts[C_L] / counts[C_LE])
    features[P_E_F] = np.log(counts[C_F] / counts[C_FE])
    features[P_E_F_LHS] = np.log(counts[C_LF] / counts[C])
    features[P_F_LHS] = np.log(counts[C_L] / counts[C_LF])
    features[P_F_E] = np.log(counts[C_E] / counts[C_FE])
    features[P_F_E_LHS] = np.log(counts[C_LE] / counts[C])


@uncounted
def put_sizes(out, f_sizes, e_sizes):
    """Write the features of one rule that are made of the sizes of its sides.

    Arguments:
        out: float64[N_FEATURES], written.
        f_sizes, e_sizes: (words, symbols, characters, words without a link) of each.
    """
    n_f, f_size, f_characters, f_unaligned = f_sizes
    n_e, e_size, e_characters, e_unaligned = e_sizes
    letters = e_characters / n_e if n_e > 0 else 0.0
    letters -= f_characters / n_f if n_f > 0 else 0.0
    f_characters += f_size - 1  # and the spaces
    e_characters += e_size - 1
    out[ABSTRACT] = n_f == 0 and n_e == 0
    out[CHAR_COUNT_DIFF] = e_characters - f_characters
    out[CHAR_LOG_CR] = _log_ratio(e_characters, f_characters)
    out[SOURCE_TERMINALS_BUT_NO_TARGET] = n_f > 0 and n_e == 0
    out[SOURCE_WORDS] = n_f
    out[TARGET_TERMINALS_BUT_NO_SOURCE] = n_e > 0 and n_f == 0
    out[TARGET_WORDS] = n_e
    out[UNALIGNED_SOURCE] = f_unaligned
    out[UNALIGNED_TARGET] = e_unaligned
    out[WORD_COUNT_DIFF] = n_e - n_f
    out[WORD_LEN_DIFF] = letters
    out[WORD_LOG_CR] = _log_ratio(n_e, n_f)


@compiled
def rule_features(label, place, gaps, counts, by_bitext, text, costs, how):
    """Return the features of rules, float64[n, N_FEATURES]; probabilities as -ln.

    Arguments:
        label, place, gaps, by_bitext: uint32[n], uint64[n], uint64[n] and uint32[n, bitexts], the
            rules that count_parts fills.
        counts: int64[n, 7], columns C to C_L.
        text: a Text.
        costs: a WordCosts.
        how: how spans are labelled, X_ONLY to EVERY.
    """
    n = label.size
    features = np.zeros((n, N_FEATURES))
    spans = np.zeros((3, 4), np.int64)
    chart = np.zeros((CHART, CHART), np.uint16)
    labels = np.zeros(2, np.uint32)
    symbols = np.empty((2, CHART), np.uint64)
    lexical = lexical_costs(place, gaps, text, costs)
    for r in range(n):
        out = features[r]
        sentence = unpack_place(place[r], gaps[r], spans)
        gap_labels(chart, text, sentence, spans, how, labels)
        n_gaps = (spans[1, 1] > 0) + (spans[2, 1] > 0)
        swaps = n_gaps == 2 and spans[2, 2] < spans[1, 2]
        f_sizes = _size_side(text.foreign, sentence, spans, 0, costs.f_unlinked, labels, symbols)
        e_sizes = _size_side(text.english, sentence, spans, 2, costs.e_unlinked, labels, symbols)
        put_sizes(out, f_sizes, e_sizes)
        for bitext in range(by_bitext.shape[1]):
            if by_bitext[r, bitext] > 0:
                out[BITEXTS] += 1.0
        out[ADJACENT] = n_gaps == 2 and spans[1, 0] + spans[1, 1] == spans[2, 0]
        out[CONTAINS_X] = label[r] == 0 or (
            (n_gaps > 0 and labels[0] == 0) or (n_gaps > 1 and labels[1] == 0)
        )
        same_words = not swaps and f_sizes[0] == e_sizes[0]
        out[IDENTITY] = same_words and _same_sides(spans, symbols, f_sizes[1], e_sizes[1])
        out[LEX_EF], out[LEX_FE] = lexical[r]
        out[LEXICAL] = n_gaps == 0
        out[LOG_COUNT] = np.log(counts[r, C])
        out[MONOTONIC] = not swaps
        out[PHRASE_PENALTY] = 1.0
        out[RARITY_PENALTY] = np.exp(1.0 - counts[r, C])
        _put_probabilities(out, counts[r])
    return features


@uncounted
def put_value(text, n, value):
    """Append a feature's value; return the new number of bytes.

    Arguments:
        text: uint8, written.
        n: number of bytes that are filled.
        value: float64; whole numbers are written as such, others with five decimals.
    """
    whole = np.int64(value)
    if whole != value:
        return put_number(text, n, value)
    if whole < 0:
        text[n] = 45
        n += 1
    return put_integer(text, n, abs(whole))


@uncounted
def put_label(text, n, label, names):
    """Return the end of the text after writing a label, its parts joined by / \\ or +.

    Arguments:
        text: uint8, written.
        n: number of bytes of text that are filled.
        label: uint32, ten bits for each part, and how they are joined.
        names: the texts of the base labels, as Words.
    """
    kind = np.int64(label) >> 30
    for part in range(3):
        number = (np.int64(label) >> (10 * part)) & 1023
        if part > 0:
            if number == 0:
                break
            text[n] = 47 if kind == _FORWARD else 92 if kind == _BACKWARD else 43
            n += 1
        n = put_bytes(text, n, names.text, names.offsets[number], names.offsets[number + 1])
    return n


@uncounted
def _put_side(out, n, side, sentence, spans, column, labels, names):
    """Return the end of `out` after writing a side of a rule.

    Arguments:
        out, n: uint8, and the number of its bytes that are filled.
        side: a LinkedSide.
        sentence: the rule's sentence.
        spans: int64[3, 4], of the rule and its gaps.
        column: where the side is in spans, 0 foreign, 2 English.
        labels: uint32, of the gaps.
        names: the texts of the base labels.
    """
    i = spans[0, column]
    stop = i + spans[0, column + 1]
    begin = side.starts[sentence]
    begun = n
    while i < stop:
        if n > begun:
            out[n] = 32
            n += 1
        gap = gap_at(spans, column, i)
        if gap == 0:
            word = side.tokens[begin + i]
            offsets = side.words.offsets
            n = put_bytes(out, n, side.words.text, offsets[word], offsets[word + 1])
            i += 1
            continue
        out[n] = 91
        n = put_label(out, n + 1, labels[gap - 1], names)
        out[n] = 44
        out[n + 1] = 48 + gap
        out[n + 2] = 93
        n += 3
        i += spans[gap, column + 1]
    return n


@uncounted
def _room_of_side(side, sentence, spans, column):
    """Return the bytes of the words of a rule's span on a side, a space behind each.

    Arguments:
        side: a LinkedSide.
        sentence: the rule's sentence.
        spans: int64[3, 4], of the rule and its gaps.
        column: where the side is in spans, 0 foreign, 2 English.
    """
    room = 0
    first = side.starts[sentence] + spans[0, column]
    for k in range(first, first + spans[0, column + 1]):
        word = side.tokens[k]
        room += side.words.offsets[word + 1] - side.words.offsets[word] + 1
    return room


@compiled
def rule_lines(label, place, gaps, features, chosen, feature_names, text, how, names):
    """Return the lines of rules, uint8: label, sides, features and links between ` ||| `.

    Arguments:
        label, place, gaps: uint32[n], uint64[n] and uint64[n], the rules that count_parts fills.
        features: float64[n, N_FEATURES].
        chosen: int64, the columns to write.
        feature_names: Texts, `name=` of each column.
        text: a Text.
        how: how spans are labelled, X_ONLY to EVERY.
        names: Texts, the base labels, 0 is X.
    """
    n_rules = label.size
    spans = np.zeros((3, 4), np.int64)
    longest_name = 0
    for k in range(names.offsets.size - 1):
        longest_name = max(longest_name, names.offsets[k + 1] - names.offsets[k])
    of_rule = 5 * (3 * longest_name + 8) + 24
    for column in chosen:
        of_rule += feature_names.offsets[column + 1] - feature_names.offsets[column] + 28
    room = n_rules * of_rule
    for r in range(n_rules):
        sentence = unpack_place(place[r], gaps[r], spans)
        room += _room_of_side(text.foreign, sentence, spans, 0)
        room += _room_of_side(text.english, sentence, spans, 2)
        room += 8 * (text.link_starts[sentence + 1] - text.link_starts[sentence])
    out = np.empty(room, np.uint8)
    pairs = np.empty((most_links(text.link_starts), 2), np.uint8)
    chart = np.zeros((CHART, CHART), np.uint16)
    labels = np.zeros(2, np.uint32)
    n_bytes = 0
    for r in range(n_rules):
        sentence = unpack_place(place[r], gaps[r], spans)
        gap_labels(chart, text, sentence, spans, how, labels)
        out[n_bytes] = 91
        n_bytes = put_label(out, n_bytes + 1, label[r], names)
        out[n_bytes] = 93
        n_bytes = put_bar(out, n_bytes + 1)
        n_bytes = put_bar(
            out, _put_side(out, n_bytes, text.foreign, sentence, spans, 0, labels, names)
        )
        n_bytes = put_bar(
            out, _put_side(out, n_bytes, text.english, sentence, spans, 2, labels, names)
        )
        for number in range(chosen.size):
            column = chosen[number]
            if number > 0:
                out[n_bytes] = 32
                n_bytes += 1
            offsets = feature_names.offsets
            n_bytes = put_bytes(
                out, n_bytes, feature_names.text, offsets[column], offsets[column + 1]
            )
            n_bytes = put_value(out, n_bytes, features[r, column])
        n_bytes = put_bar(out, n_bytes)
        n_bytes = write_links(text.links, text.link_starts, sentence, spans, pairs, out, n_bytes)
        out[n_bytes] = 10
        n_bytes += 1
    return out[:n_bytes].copy()


@compiled
def place_symbols(place, gaps, column, text, how, codes):
    """Return the symbols of one side of rules: (uint32 symbols end to end, int64 lengths).

    A word is its id; a gap 2^31 + the row of its label in codes.

    Arguments:
        place, gaps: uint64[n], the rules that count_parts fills.
        column: 0 the foreign side, 2 the English one.
        text: a Text.
        how: how spans are labelled, X_ONLY to EVERY.
        codes: uint32, the labels, ascending.
    """
    side = text.foreign if column == 0 else text.english
    spans = np.zeros((3, 4), np.int64)
    chart = np.zeros((CHART, CHART), np.uint16)
    labels = np.zeros(2, np.uint32)
    n = 0
    for r in range(place.size):
        unpack_place(place[r], gaps[r], spans)
        n += spans[0, column + 1]
    symbols = np.empty(n, np.uint32)
    lengths = np.empty(place.size, np.int64)
    n = 0
    for r in range(place.size):
        sentence = unpack_place(place[r], gaps[r], spans)
        gap_labels(chart, text, sentence, spans, how, labels)
        begun = n
        i = spans[0, column]
        stop = i + spans[0, column + 1]
        while i < stop:
            gap = gap_at(spans, column, i)
            if gap == 0:
                symbols[n] = side.tokens[side.starts[sentence] + i]
                i += 1
            else:
                number = np.searchsorted(codes, labels[gap - 1])
                symbols[n] = np.uint32(1 << 31) | np.uint32(number)
                i += spans[gap, column + 1]
            n += 1
        lengths[r] = n - begun
    return symbols[:n].copy(), lengths


@compiled
def side_texts(symbols, starts, words, word_offsets, labels, label_offsets):
    """Return the texts of sides (uint8 end to end, int64 where each begins, and where one ends).

    Arguments:
        symbols: uint32, by place_symbols; gaps are numbered along the side.
        starts: int64, where each side begins in symbols.
        words, word_offsets: uint8 and int64, the texts of words end to end.
        labels, label_offsets: uint8 and int64, the texts of labels end to end.
    """
    gap_bit = np.uint32(1 << 31)
    room = 0
    for k in range(symbols.size):
        if symbols[k] & gap_bit:
            label = np.int64(symbols[k] ^ gap_bit)
            room += label_offsets[label + 1] - label_offsets[label] + 8
        else:
            room += word_offsets[symbols[k] + 1] - word_offsets[symbols[k]] + 1
    text = np.empty(room, np.uint8)
    out = np.empty(starts.size, np.int64)
    out[0] = 0
    n = 0
    for side in range(starts.size - 1):
        gap = 0
        for k in range(starts[side], starts[side + 1]):
            if k > starts[side]:
                text[n] = 32
                n += 1
            if symbols[k] & gap_bit:
                label = np.int64(symbols[k] ^ gap_bit)
                gap += 1
                text[n] = 91
                n = put_bytes(text, n + 1, labels, label_offsets[label], label_offsets[label + 1])
                text[n] = 44
                n = put_integer(text, n + 1, gap)
                text[n] = 93
                n += 1
            else:
                word = symbols[k]
                n = put_bytes(text, n, words, word_offsets[word], word_offsets[word + 1])
        out[side + 1] = n
    return text[:n].copy(), out
