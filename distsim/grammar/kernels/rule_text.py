"""Rules with counts and places -> their features; features and places -> lines of text."""

import numpy as np

from distsim.grammar.kernels.extraction import (
    CHART,
    X_ONLY,
    clear_chart,
    fill_chart,
    span_label,
    unpack_place,
)  # fmt: skip
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
    if target > 0 and source > 0:
        return np.log(target / source)
    return 0.0


@uncounted
def gap_labels(chart, nodes, node_offsets, n_english, sentence, spans, how, labels):
    """Write the labels of a rule's gaps into labels[0] and labels[1]."""
    labels[0] = 0
    labels[1] = 0
    if spans[1, 1] == 0 or how == X_ONLY:
        return
    fill_chart(chart, nodes, node_offsets[sentence], node_offsets[sentence + 1])
    for gap in range(2):
        if spans[1 + gap, 1] > 0:
            start = spans[1 + gap, 2]
            labels[gap] = span_label(chart, n_english, start, start + spans[1 + gap, 3], how)
    clear_chart(chart, nodes, node_offsets[sentence], node_offsets[sentence + 1])


@uncounted
def gap_at(spans, side, i):
    """Return the gap, 1 or 2, that begins at token i of a side (0 foreign, 2 English), 0: none."""
    if spans[1, 1] > 0 and i == spans[1, side]:
        return 1
    if spans[2, 1] > 0 and i == spans[2, side]:
        return 2
    return 0


@uncounted
def _sum_links(
    spans, links, first_link, last_link, link_pairs, pair_weights, f_sum, f_links, e_sum, e_links
):
    """Write to each word of a rule's spans the sum of its links' weights, and how many they are."""
    for i in range(spans[0, 0], spans[0, 0] + spans[0, 1]):
        f_sum[i] = 0.0
        f_links[i] = 0
    for j in range(spans[0, 2], spans[0, 2] + spans[0, 3]):
        e_sum[j] = 0.0
        e_links[j] = 0
    stop = spans[0, 0] + spans[0, 1]
    for k in range(first_link, last_link):
        i = links[k, 0]
        if i < spans[0, 0]:
            continue
        if i >= stop:
            break
        j = links[k, 1]
        pair = link_pairs[k]
        f_sum[i] += pair_weights[pair, 1]
        f_links[i] += 1
        e_sum[j] += pair_weights[pair, 0]
        e_links[j] += 1


@uncounted
def _weigh_side(spans, side, words, sums, n_links, null, lengths, hashes, labels, symbols):
    """Weigh a side of a rule (0 foreign, 2 English), whose words' links are summed.

    Writes its symbols: hashes of words, labels of gaps. Returns (words, symbols, characters, words
    without a link, the sum of -ln w(word|linked words)).
    """
    i = spans[0, side]
    stop = i + spans[0, side + 1]
    n_words = 0
    n_symbols = 0
    characters = 0
    unaligned = 0
    lexical = 0.0
    while i < stop:
        gap = gap_at(spans, side, i)
        if gap > 0:
            i += spans[gap, side + 1]
            symbols[n_symbols] = np.uint64(labels[gap - 1])
            n_symbols += 1
            continue
        word = words[i]
        if n_links[i] > 0:
            weight = sums[i] / n_links[i]
        else:
            weight = null[word]
            unaligned += 1
        lexical -= np.log(max(weight, _FLOOR))
        characters += lengths[word]
        symbols[n_symbols] = hashes[word]
        n_words += 1
        n_symbols += 1
        i += 1
    return n_words, n_symbols, characters, unaligned, lexical


@uncounted
def _same_sides(spans, f_symbols, e_symbols):
    """Whether the sides of a rule are alike, symbol by symbol, gaps in the same places."""
    if f_symbols.size != e_symbols.size:
        return False
    for symbol in range(f_symbols.size):
        if f_symbols[symbol] != e_symbols[symbol]:
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


@compiled
def rule_features(
    label, place, gaps, counts, by_bitext, f_words, f_offsets, e_words, e_offsets, links,
    link_offsets, link_pairs, pair_weights, f_null, e_null, f_lengths, e_lengths, f_hashes,
    e_hashes, nodes, node_offsets, how, x_in_gaps,
):  # fmt: skip
    """Return the features of rules, float64[n, N_FEATURES]; probabilities as -ln.

    Arguments:
        label, place, gaps, by_bitext: of each rule, as count_parts returns them.
        counts: int64[n, 7], columns C to C_L.
        link_pairs: uint32, for each link the row of its words in pair_weights: float64[p, 2],
            w(English|foreign), w(foreign|English). f_null, e_null: w(word|NULL) of each word.
        f_lengths, e_lengths: characters of each word; f_hashes, e_hashes: of their texts.
        x_in_gaps: an X as a gap counts for ContainsX, not only one as label.
    """
    n = label.size
    out = np.zeros((n, N_FEATURES))
    spans = np.zeros((3, 4), np.int64)
    chart = np.zeros((CHART, CHART), np.uint16)
    labels = np.zeros(2, np.uint32)
    f_sum = np.zeros(CHART)
    f_links = np.zeros(CHART, np.int64)
    e_sum = np.zeros(CHART)
    e_links = np.zeros(CHART, np.int64)
    f_symbols = np.empty(CHART, np.uint64)
    e_symbols = np.empty(CHART, np.uint64)
    for r in range(n):
        sentence = unpack_place(place[r], gaps[r], spans)
        f_begin = f_offsets[sentence]
        e_begin = e_offsets[sentence]
        n_english = e_offsets[sentence + 1] - e_begin
        gap_labels(chart, nodes, node_offsets, n_english, sentence, spans, how, labels)
        n_gaps = (spans[1, 1] > 0) + (spans[2, 1] > 0)
        swaps = n_gaps == 2 and spans[2, 2] < spans[1, 2]
        _sum_links(
            spans, links, link_offsets[sentence], link_offsets[sentence + 1], link_pairs,
            pair_weights, f_sum, f_links, e_sum, e_links,
        )  # fmt: skip
        n_f, f_size, f_characters, f_unaligned, lex_fe = _weigh_side(
            spans, 0, f_words[f_begin:], f_sum, f_links, f_null, f_lengths, f_hashes, labels,
            f_symbols,
        )  # fmt: skip
        n_e, e_size, e_characters, e_unaligned, lex_ef = _weigh_side(
            spans, 2, e_words[e_begin:], e_sum, e_links, e_null, e_lengths, e_hashes, labels,
            e_symbols,
        )  # fmt: skip
        same = (
            not swaps and n_f == n_e and _same_sides(spans, f_symbols[:f_size], e_symbols[:e_size])
        )
        for bitext in range(by_bitext.shape[1]):
            if by_bitext[r, bitext] > 0:
                out[r, BITEXTS] += 1.0
        out[r, ABSTRACT] = n_f == 0 and n_e == 0
        out[r, ADJACENT] = n_gaps == 2 and spans[1, 0] + spans[1, 1] == spans[2, 0]
        letters = e_characters / n_e if n_e > 0 else 0.0
        letters -= f_characters / n_f if n_f > 0 else 0.0
        f_characters += f_size - 1  # and the spaces
        e_characters += e_size - 1
        out[r, CHAR_COUNT_DIFF] = e_characters - f_characters
        out[r, CHAR_LOG_CR] = _log_ratio(e_characters, f_characters)
        out[r, CONTAINS_X] = label[r] == 0 or (
            x_in_gaps and ((n_gaps > 0 and labels[0] == 0) or (n_gaps > 1 and labels[1] == 0))
        )
        out[r, IDENTITY] = same
        out[r, LEX_EF] = lex_ef
        out[r, LEX_FE] = lex_fe
        out[r, LEXICAL] = n_gaps == 0
        out[r, LOG_COUNT] = np.log(counts[r, C])
        out[r, MONOTONIC] = not swaps
        out[r, PHRASE_PENALTY] = 1.0
        out[r, RARITY_PENALTY] = np.exp(1.0 - counts[r, C])
        out[r, SOURCE_TERMINALS_BUT_NO_TARGET] = n_f > 0 and n_e == 0
        out[r, SOURCE_WORDS] = n_f
        out[r, TARGET_TERMINALS_BUT_NO_SOURCE] = n_e > 0 and n_f == 0
        out[r, TARGET_WORDS] = n_e
        out[r, UNALIGNED_SOURCE] = f_unaligned
        out[r, UNALIGNED_TARGET] = e_unaligned
        out[r, WORD_COUNT_DIFF] = n_e - n_f
        out[r, WORD_LEN_DIFF] = letters
        out[r, WORD_LOG_CR] = _log_ratio(n_e, n_f)
        _put_probabilities(out[r], counts[r])
    return out


@uncounted
def put_bytes(text, n, source, start, stop):
    """Copy source[start:stop] into text from n on; return the end."""
    for k in range(start, stop):
        text[n] = source[k]
        n += 1
    return n


@uncounted
def put_integer(text, n, value):
    """Write a number of at least 0; return the end."""
    size = 1
    rest = value // 10
    while rest > 0:
        size += 1
        rest //= 10
    for k in range(n + size - 1, n - 1, -1):
        text[k] = 48 + value % 10
        value //= 10
    return n + size


@uncounted
def put_value(text, n, value):
    """Write a feature: whole numbers as such, others with five decimals; return the end."""
    if value < 0:
        text[n] = 45
        n += 1
        value = -value
    whole = np.int64(value)
    if whole == value:
        return put_integer(text, n, whole)
    scaled = np.int64(np.rint(value * 100000.0))
    n = put_integer(text, n, scaled // 100000)
    text[n] = 46
    rest = scaled % 100000
    for k in range(n + 5, n, -1):
        text[k] = 48 + rest % 10
        rest //= 10
    return n + 6


@uncounted
def put_label(text, n, label, names, name_offsets):
    """Write a label, its parts joined by / \\ or +; return the end."""
    kind = np.int64(label) >> 30
    for part in range(3):
        number = (np.int64(label) >> (10 * part)) & 1023
        if part > 0:
            if number == 0:
                break
            text[n] = 47 if kind == _FORWARD else 92 if kind == _BACKWARD else 43
            n += 1
        n = put_bytes(text, n, names, name_offsets[number], name_offsets[number + 1])
    return n


@uncounted
def _put_bar(text, n):
    text[n] = 32
    text[n + 1] = 124
    text[n + 2] = 124
    text[n + 3] = 124
    text[n + 4] = 32
    return n + 5


@uncounted
def _put_side(
    text, n, words, begin, spans, side, labels, word_text, word_offsets, names, name_offsets
):
    """Write a side of a rule; return the end."""
    i = spans[0, side]
    stop = i + spans[0, side + 1]
    begun = n
    while i < stop:
        if n > begun:
            text[n] = 32
            n += 1
        gap = gap_at(spans, side, i)
        if gap == 0:
            word = words[begin + i]
            n = put_bytes(text, n, word_text, word_offsets[word], word_offsets[word + 1])
            i += 1
            continue
        text[n] = 91
        n = put_label(text, n + 1, labels[gap - 1], names, name_offsets)
        text[n] = 44
        text[n + 1] = 48 + gap
        text[n + 2] = 93
        n += 3
        i += spans[gap, side + 1]
    return n


@compiled
def rule_lines(
    label, place, gaps, features, chosen, feature_names, feature_offsets,
    f_words, f_offsets, e_words, e_offsets, links, link_offsets, f_text, f_text_offsets,
    e_text, e_text_offsets, nodes, node_offsets, how, names, name_offsets, longest_name,
):  # fmt: skip
    """Return the lines of rules, uint8: label, sides, features and links between ` ||| `.

    chosen: the columns of features to write; feature_names: `name=` of each column. names:
    base labels, 0 is X. *_text, *_text_offsets: the words as they are to be written.
    """
    n_rules = label.size
    spans = np.zeros((3, 4), np.int64)
    room = 0
    features_room = 0
    for column in chosen:
        features_room += feature_offsets[column + 1] - feature_offsets[column] + 28
    for r in range(n_rules):
        sentence = unpack_place(place[r], gaps[r], spans)
        f_first = f_offsets[sentence] + spans[0, 0]
        for k in range(f_first, f_first + spans[0, 1]):
            room += f_text_offsets[f_words[k] + 1] - f_text_offsets[f_words[k]] + 1
        e_first = e_offsets[sentence] + spans[0, 2]
        for k in range(e_first, e_first + spans[0, 3]):
            room += e_text_offsets[e_words[k] + 1] - e_text_offsets[e_words[k]] + 1
        room += 5 * (3 * longest_name + 8) + 24 + features_room
        room += 8 * (link_offsets[sentence + 1] - link_offsets[sentence])
    text = np.empty(room, np.uint8)
    pairs = np.empty((most_links(link_offsets), 2), np.uint8)
    chart = np.zeros((CHART, CHART), np.uint16)
    labels = np.zeros(2, np.uint32)
    n = 0
    for r in range(n_rules):
        sentence = unpack_place(place[r], gaps[r], spans)
        n_english = e_offsets[sentence + 1] - e_offsets[sentence]
        gap_labels(chart, nodes, node_offsets, n_english, sentence, spans, how, labels)
        text[n] = 91
        n = put_label(text, n + 1, label[r], names, name_offsets)
        text[n] = 93
        n = _put_bar(text, n + 1)
        for side in (0, 2):
            n = _put_side(
                text, n, f_words if side == 0 else e_words,
                f_offsets[sentence] if side == 0 else e_offsets[sentence], spans, side, labels,
                f_text if side == 0 else e_text,
                f_text_offsets if side == 0 else e_text_offsets, names, name_offsets,
            )  # fmt: skip
            n = _put_bar(text, n)
        for number in range(chosen.size):
            column = chosen[number]
            if number > 0:
                text[n] = 32
                n += 1
            n = put_bytes(
                text, n, feature_names, feature_offsets[column], feature_offsets[column + 1]
            )
            n = put_value(text, n, features[r, column])
        n = _put_bar(text, n)
        n = write_links(links, link_offsets, sentence, spans, pairs, text, n)
        text[n] = 10
        n += 1
    return text[:n].copy()


@compiled
def place_symbols(place, gaps, side, words, offsets, e_offsets, nodes, node_offsets, how, codes):
    """Return the symbols of one side of rules: (uint32 symbols end to end, int64 lengths).

    A word is its id; a gap 2^31 + the row of its label in codes (uint32, sorted). side: 0 the
    foreign one, 2 the English one.
    """
    spans = np.zeros((3, 4), np.int64)
    chart = np.zeros((CHART, CHART), np.uint16)
    labels = np.zeros(2, np.uint32)
    n = 0
    for r in range(place.size):
        unpack_place(place[r], gaps[r], spans)
        n += spans[0, side + 1]
    symbols = np.empty(n, np.uint32)
    lengths = np.empty(place.size, np.int64)
    n = 0
    for r in range(place.size):
        sentence = unpack_place(place[r], gaps[r], spans)
        n_english = e_offsets[sentence + 1] - e_offsets[sentence]
        gap_labels(chart, nodes, node_offsets, n_english, sentence, spans, how, labels)
        begun = n
        i = spans[0, side]
        stop = i + spans[0, side + 1]
        while i < stop:
            gap = gap_at(spans, side, i)
            if gap == 0:
                symbols[n] = words[offsets[sentence] + i]
                i += 1
            else:
                number = np.searchsorted(codes, labels[gap - 1])
                symbols[n] = np.uint32(1 << 31) | np.uint32(number)
                i += spans[gap, side + 1]
            n += 1
        lengths[r] = n - begun
    return symbols[:n].copy(), lengths


@compiled
def side_texts(symbols, starts, words, word_offsets, labels, label_offsets):
    """Return the texts of sides (uint8 end to end, int64 where each begins, and where one ends).

    symbols: as place_symbols has them; gaps are numbered along the side. labels: the texts of
    labels end to end.
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
