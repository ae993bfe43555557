"""Compiled loops over text: cutting, normal forms, and hashed shingles."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, extend, finish, first_not_below

_MIX_1, _MIX_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)  # of MurmurHash3, as in datasketch


@compiled
def hash_shingles(words, stops, word_hashes, width):
    """Return (starts int64[n + 1], shingles uint32): each text's shingles, ascending, each once.

    A shingle is `width` words that follow each other; a text of fewer words is one shingle, an
    empty one has none.

    Arguments:
        words: uint32, word ids of all texts end to end.
        stops: int64[n], where each text ends in `words`.
        word_hashes: uint64 by id.
        width: words of a shingle.
    """
    starts = np.zeros(stops.size + 1, np.int64)
    out = np.empty(words.size, np.uint32)
    n = 0
    begin = 0
    for text in range(stops.size):
        first = n
        size = min(width, stops[text] - begin)
        for i in range(begin, stops[text] - size + 1 if size > 0 else begin):
            state = START
            for k in range(i, i + size):
                state = finish(state ^ word_hashes[words[k]])
            out[n] = np.uint32(state >> np.uint64(32))
            n += 1
        begin = stops[text]
        out[first:n].sort()
        stop = n
        n = first
        for i in range(first, stop):
            if i == first or out[i] != out[i - 1]:
                value = out[i]
                out[n] = value
                n += 1
        starts[text + 1] = n
    return starts, out[:n].copy()


@compiled
def min_hashes(starts, shingles, factors, offsets):
    """Return the MinHash values of texts, uint32[n, n_permutations], as datasketch's affine32.

    Arguments:
        starts: int64[n + 1], text i has shingles[starts[i]:starts[i + 1]].
        shingles: uint32.
        factors, offsets: uint32[n_permutations], h -> factor * h + offset modulo 2^32.
    """
    values = np.full((starts.size - 1, factors.size), np.uint32(0xFFFFFFFF))
    for text in range(starts.size - 1):
        lowest = values[text]
        for i in range(starts[text], starts[text + 1]):
            h = shingles[i]
            h = np.uint32(h ^ (h >> np.uint32(16)))
            h = np.uint32(h * _MIX_1)
            h = np.uint32(h ^ (h >> np.uint32(13)))
            h = np.uint32(h * _MIX_2)
            h = np.uint32(h ^ (h >> np.uint32(16)))
            for k in range(factors.size):
                lowest[k] = min(lowest[k], np.uint32(h * factors[k] + offsets[k]))
    return values


@compiled
def count_common(a, b):
    """Return the number of values that two ascending arrays share.

    Arguments:
        a, b: uint32, ascending, each value once.
    """
    i = 0
    j = 0
    n = 0
    while i < a.size and j < b.size:
        if a[i] == b[j]:
            n += 1
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return n


# Classes of characters, in the table that corpus/tokeniser.py makes.
OTHER, SPACE, NEWLINE = 0, 1, 2
LOWER, UPPER, LETTER, DIGIT, MARK = 3, 4, 5, 6, 7
IDEOGRAPH, APOSTROPHE, HYPHEN, PERIOD, COMMA = 8, 9, 10, 11, 12
STOP, WIDE_STOP, CLOSE, OPEN, QUOTE = 13, 14, 15, 16, 17
ZERO_WIDTH_SPACE, BYTE_ORDER_MARK = 0x200B, 0xFEFF


@compiled
def _decode(text, i):
    """Return (code point, its width in bytes) at byte i of text, which is valid UTF-8, uint8."""
    byte = np.int64(text[i])
    if byte < 0x80:
        return byte, 1
    if byte < 0xE0:
        return (byte & 0x1F) << 6 | (np.int64(text[i + 1]) & 0x3F), 2
    if byte < 0xF0:
        high = (byte & 0x0F) << 12 | (np.int64(text[i + 1]) & 0x3F) << 6
        return high | (np.int64(text[i + 2]) & 0x3F), 3
    high = (byte & 0x07) << 18 | (np.int64(text[i + 1]) & 0x3F) << 12
    return high | (np.int64(text[i + 2]) & 0x3F) << 6 | (np.int64(text[i + 3]) & 0x3F), 4


@compiled
def _class_at(text, i, classes):
    """Return the class of the character at byte i; the end of the text counts as a newline.

    Arguments:
        text: uint8, UTF-8.
        i: first byte of the character.
        classes: uint8, by code point.
    """
    if i >= text.size:
        return NEWLINE
    code, _ = _decode(text, i)
    return np.int64(classes[code])


@compiled
def _is_letter(kind):
    """Return whether a class of characters is one of letters."""
    return LOWER <= kind <= LETTER


@compiled
def _is_word(kind):
    """Return whether a class of characters is one that words are made of."""
    return LOWER <= kind <= MARK


@compiled
def _most_lines(text):
    """Return the number of newlines plus one."""
    n = 1
    for i in range(text.size):
        n += text[i] == 10
    return n


@compiled
def cut_white_space(text, classes):
    """Return a text cut at Unicode white space; every line with a token is a sentence.

    Arguments:
        text: uint8, UTF-8.
        classes: uint8, by code point, of corpus/tokeniser.py.
    """
    capacity = text.size // 2 + 1
    starts = np.empty(capacity, np.int64)
    stops = np.empty(capacity, np.int64)
    hashes = np.empty(capacity, np.uint64)
    n_lines = _most_lines(text)
    line_stops = np.empty(n_lines, np.int64)
    sentence_stops = np.empty(n_lines, np.int64)
    sentence_lines = np.empty(n_lines, np.int64)
    n_tokens = 0
    n_sentences = 0
    line = 0
    line_begin = 0
    i = 0
    start = -1
    while i <= text.size:
        if i < text.size:
            code, width = _decode(text, i)
            kind = np.int64(classes[code])
        else:
            kind = NEWLINE
            width = 1
        if kind == SPACE or kind == NEWLINE:
            if start >= 0:
                starts[n_tokens] = start
                stops[n_tokens] = i
                hashes[n_tokens] = finish(extend(START, text, start, i))
                n_tokens += 1
                start = -1
            if kind == NEWLINE:
                if n_tokens > line_begin:
                    sentence_stops[n_sentences] = n_tokens
                    sentence_lines[n_sentences] = line
                    n_sentences += 1
                line_stops[line] = n_tokens
                line_begin = n_tokens
                line += 1
        elif start < 0:
            start = i
        i += width
    if text.size == 0 or text[text.size - 1] == 10:
        line -= 1  # what follows the last newline is no line
    return (
        starts[:n_tokens],
        stops[:n_tokens],
        hashes[:n_tokens],
        sentence_stops[:n_sentences],
        sentence_lines[:n_sentences],
        line_stops[:line],
    )


@compiled
def _in_sorted(values, value):
    """Return whether a value is among others in ascending order, uint64."""
    low = first_not_below(values, value, 0, values.size)
    return low < values.size and values[low] == value


@compiled
def _is_joiner(text, i, code, classes):
    """Return whether a character is a space without width and the next one is of a word.

    Arguments:
        text: uint8, UTF-8.
        i: first byte of the character behind it.
        code: its code point.
        classes: uint8, by code point.
    """
    if (code != ZERO_WIDTH_SPACE and code != BYTE_ORDER_MARK) or i >= text.size:
        return False
    following, _ = _decode(text, i)
    return _is_word(np.int64(classes[following]))


@compiled
def _word_end(text, start, classes, abbreviations):
    """Return (the end of the word at `start`, with its periods; number of apostrophes in it).

    Arguments:
        text: uint8, UTF-8.
        start: first byte of the word.
        classes: uint8, by code point.
        abbreviations: uint64, sorted hashes of the words that keep the period after them.
    """
    i = start
    previous = OTHER
    letters = 0  # characters since the last joint
    longest_part = 0
    n_periods = 0
    n_apostrophes = 0
    while i < text.size:
        code, width = _decode(text, i)
        kind = np.int64(classes[code])
        if _is_word(kind):
            previous = kind if kind != MARK or previous == OTHER else previous
            letters += 1
            i += width
            continue
        if kind == SPACE:
            if previous != OTHER and _is_joiner(text, i + width, code, classes):
                i += width
                continue
            break
        following = _class_at(text, i + width, classes)
        joins = False
        if kind == APOSTROPHE:
            joins = _is_letter(previous) and _is_letter(following)
            n_apostrophes += joins
        elif kind == HYPHEN:
            joins = _is_word(following)
        elif kind == PERIOD:
            if previous == DIGIT:
                joins = following == DIGIT
            else:
                joins = _is_letter(following) and (following != UPPER or letters == 1)
            if joins:
                n_periods += 1
        elif kind == COMMA:
            joins = previous == DIGIT and following == DIGIT
        if not joins:
            break
        if letters > longest_part:
            longest_part = letters
        letters = 0
        previous = OTHER
        i += width
    if letters > longest_part:
        longest_part = letters
    if i < text.size and text[i] == 46 and _class_at(text, i + 1, classes) != PERIOD:
        if longest_part == 1 and _is_letter(previous) and n_apostrophes == 0:
            # An initial or letters between periods: `j.`, `u.s.`, but not the end of `km/h.`
            i += not _is_behind_sign(text, start, classes)
        elif n_periods == 0:
            i += _in_sorted(abbreviations, finish(extend(START, text, start, i)))
    return i, n_apostrophes


@compiled
def _is_behind_sign(text, start, classes):
    """Return whether a word and one of `/`, `&`, `|` stand right before byte `start`: `R&D`.

    Arguments:
        text: uint8, UTF-8.
        start: first byte of a word.
        classes: uint8, by code point.
    """
    if start < 2 or text[start - 1] not in (47, 38, 124):
        return False
    before = text[start - 2]
    return before >= 128 or _is_word(np.int64(classes[before]))


@compiled
def _sentence_follows(text, i, classes):
    """Return whether the text after the white space at byte i looks like a sentence's start.

    Arguments:
        text: uint8, UTF-8.
        i: first byte of the white space.
        classes: uint8, by code point.
    """
    while i < text.size:
        code, width = _decode(text, i)
        kind = np.int64(classes[code])
        if kind in (UPPER, LETTER, DIGIT, IDEOGRAPH):
            return True
        if kind not in (SPACE, OPEN, QUOTE, APOSTROPHE):
            return False
        i += width
    return False


@compiled
def _sign_end(text, i, kind, classes):
    """Return the end of the token at byte i that is no word: a run of one sign, with its marks.

    Arguments:
        text: uint8, UTF-8.
        i: first byte of the token.
        kind: class of the first character.
        classes: uint8, by code point.
    """
    code, width = _decode(text, i)
    stop = i + width
    if kind != IDEOGRAPH and kind != CLOSE and kind != OPEN:
        while stop < text.size:
            next_code, next_width = _decode(text, stop)
            if next_code != code:
                break
            stop += next_width
    while stop < text.size and text[stop] >= 0x80:  # marks are no ASCII
        next_code, next_width = _decode(text, stop)
        if classes[next_code] != MARK:
            break
        stop += next_width
    return stop


@compiled
def _cut_at_apostrophes(text, start, stop, classes, starts, stops, n):
    """Write the tokens of a word with apostrophes; return their number and that of earlier ones.

    By one rule for each apostrophe, from left to right: where at most two letters are behind it,
    up to the next one, a token begins with it (king 's); else where at most two letters are before
    it, back to the last one, a token ends with it (l' homme); else it is inside a token.

    Arguments:
        text: uint8, UTF-8.
        start, stop: the word's bytes.
        classes: uint8, by code point.
        starts, stops: int64, of tokens. n: the number of those that are there.
    """
    before = 0
    begin = start
    apostrophe = -1  # the last one that was seen; what is behind it is being counted
    apostrophe_width = 0
    letters = 0  # without marks, so that composed and decomposed text is cut alike
    i = start
    while i <= stop:
        width = 1
        kind = APOSTROPHE  # the end, too
        if i < stop:
            code, width = _decode(text, i)
            kind = np.int64(classes[code])
        if kind == APOSTROPHE:
            if apostrophe >= 0:
                edge = -1
                if letters <= 2:
                    edge = apostrophe
                elif before <= 2:
                    edge = apostrophe + apostrophe_width
                if edge > begin:
                    starts[n] = begin
                    stops[n] = edge
                    n += 1
                    begin = edge
            before = letters
            letters = 0
            apostrophe = i
            apostrophe_width = width
        elif _is_word(kind) and kind != MARK:
            letters += 1
        i += width
    starts[n] = begin
    stops[n] = stop
    return n + 1


@compiled
def _is_over(text, i, kind, classes, ends, ends_here):
    """Return whether the sentence is over before the character at byte i.

    Arguments:
        text: uint8, UTF-8.
        i: first byte of the character.
        kind: class of the character.
        classes: uint8, by code point.
        ends: the sentence is over if white space and a likely start follow.
        ends_here: it is over unless closing punctuation follows.
    """
    if kind == SPACE:
        return ends and _sentence_follows(text, i, classes)
    closing = kind == CLOSE or kind == QUOTE or kind == APOSTROPHE
    stopping = kind == STOP or kind == WIDE_STOP or kind == PERIOD
    return kind == NEWLINE or (ends_here and not closing and not stopping)


@compiled
def _ends_after(kind, ends, ends_here):
    """Return (ends, ends_here) after a token that begins with a character of class `kind`.

    Arguments:
        kind: class of the character.
        ends: the sentence is over if white space and a likely start follow.
        ends_here: it is over unless closing punctuation follows (ideographic stops).
    """
    if kind == STOP or kind == WIDE_STOP or kind == PERIOD:
        return True, kind == WIDE_STOP
    if _is_word(kind) or kind == IDEOGRAPH:
        return False, ends_here
    if kind == CLOSE or kind == QUOTE or kind == APOSTROPHE:
        return ends, ends_here
    return False, False


@compiled
def cut_running_text(text, classes, abbreviations):
    """Return running text cut into words, numbers and punctuation, and lines into sentences.

    Arguments:
        text: uint8, UTF-8.
        classes: uint8, by code point, of corpus/tokeniser.py.
        abbreviations: uint64, sorted hashes of the words that keep the period after them.
    """
    capacity = text.size + 1
    starts = np.empty(capacity, np.int64)
    stops = np.empty(capacity, np.int64)
    hashes = np.empty(capacity, np.uint64)
    n_lines = _most_lines(text)
    line_stops = np.empty(n_lines, np.int64)
    sentence_stops = np.empty(capacity, np.int64)
    line_of_sentence = np.empty(capacity, np.int64)
    n_tokens = 0
    n_sentences = 0
    line = 0
    sentence_begin = 0
    ends = False  # see _ends_after
    ends_here = False
    i = 0
    while i <= text.size:
        if i < text.size:
            code, width = _decode(text, i)
            kind = np.int64(classes[code])
        else:
            kind = NEWLINE
            width = 1
        over = _is_over(text, i, kind, classes, ends, ends_here)
        if over:
            if n_tokens > sentence_begin:
                sentence_stops[n_sentences] = n_tokens
                line_of_sentence[n_sentences] = line
                n_sentences += 1
                sentence_begin = n_tokens
            ends = False
            ends_here = False
        if kind == SPACE or kind == NEWLINE:
            if kind == NEWLINE:
                line_stops[line] = n_tokens
                line += 1
            i += width
            continue
        ends, ends_here = _ends_after(kind, ends, ends_here)
        n_apostrophes = 0
        if _is_word(kind):
            stop, n_apostrophes = _word_end(text, i, classes, abbreviations)
        else:
            stop = _sign_end(text, i, kind, classes)
        if n_apostrophes == 0:
            starts[n_tokens] = i
            stops[n_tokens] = stop
            hashes[n_tokens] = finish(extend(START, text, i, stop))
            n_tokens += 1
        else:
            first = n_tokens
            n_tokens = _cut_at_apostrophes(text, i, stop, classes, starts, stops, n_tokens)
            for token in range(first, n_tokens):
                hashes[token] = finish(extend(START, text, starts[token], stops[token]))
        i = stop
    if text.size == 0 or text[text.size - 1] == 10:
        line -= 1
    return (
        starts[:n_tokens].copy(),
        stops[:n_tokens].copy(),
        hashes[:n_tokens].copy(),
        sentence_stops[:n_sentences].copy(),
        line_of_sentence[:n_sentences].copy(),
        line_stops[:line].copy(),
    )


@compiled
def lay_sentences(words, sentence_stops, dropped):
    """Return the words sentence by sentence, each sentence closed by a 0.

    Arguments:
        words: uint32, ids.
        sentence_stops: int64, the number of words up to the end of each sentence.
        dropped: the id of words that are left out.

    Returns (tokens uint32; kept int64, the index of every sentence that has a token; starts int64,
    where each of them begins in tokens).
    """
    tokens = np.empty(words.size + sentence_stops.size, np.uint32)
    kept = np.empty(sentence_stops.size, np.int64)
    starts = np.empty(sentence_stops.size, np.int64)
    n = 0
    n_kept = 0
    begin = 0
    for s in range(sentence_stops.size):
        first = n
        for i in range(begin, sentence_stops[s]):
            if words[i] != dropped:
                tokens[n] = words[i]
                n += 1
        begin = sentence_stops[s]
        if n > first:
            tokens[n] = 0
            n += 1
            kept[n_kept] = s
            starts[n_kept] = first
            n_kept += 1
    return tokens[:n], kept[:n_kept], starts[:n_kept]


@compiled
def hash_lines(words, line_stops, word_hashes, dropped):
    """Return one hash per line of its words' hashes, uint64; 0 for a line without words.

    Arguments:
        words: uint32, ids.
        line_stops: int64, the number of words up to the end of each line.
        word_hashes: uint64, by id.
        dropped: the id of words that are left out.
    """
    out = np.zeros(line_stops.size, np.uint64)
    begin = 0
    for line in range(line_stops.size):
        state = START
        n = 0
        for i in range(begin, line_stops[line]):
            if words[i] != dropped:
                state = finish(state ^ word_hashes[words[i]])
                n += 1
        begin = line_stops[line]
        if n > 0:
            out[line] = state | np.uint64(1)
    return out


@compiled
def render_phrases(words, starts, lengths, text, offsets):
    """Return the UTF-8 of the phrases words[starts[i]:starts[i] + lengths[i]], end to end.

    Arguments:
        words: ids, of any integer type.
        starts, lengths: int64, in words.
        text, offsets: uint8 and int64 or uint64, the vocabulary's words end to end, and where each
            begins.

    Returns (bytes uint8, offsets int64[len(starts) + 1]); words are separated by one space.
    A word id outside the vocabulary gives (empty, empty): the data is damaged.
    """
    ends = np.empty(starts.size + 1, np.int64)
    ends[0] = 0
    total = 0
    for p in range(starts.size):
        for k in range(lengths[p]):
            word = np.int64(words[starts[p] + k])
            if word >= offsets.size - 1:
                return np.empty(0, np.uint8), np.empty(0, np.int64)
            total += np.int64(offsets[word + 1]) - np.int64(offsets[word]) + 1
        total -= 1
        ends[p + 1] = total
    out = np.empty(total, np.uint8)
    n = 0
    for p in range(starts.size):
        for k in range(lengths[p]):
            if k > 0:
                out[n] = 32
                n += 1
            word = np.int64(words[starts[p] + k])
            for i in range(np.int64(offsets[word]), np.int64(offsets[word + 1])):
                out[n] = text[i]
                n += 1
    return out, ends
