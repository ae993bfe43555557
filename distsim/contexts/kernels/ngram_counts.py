"""Compiled loops over lines of n-gram counts: counts, phrases, and the words beside them."""

import numpy as np

from distsim.kernels.compiled import compiled, inlined
from distsim.kernels.hashing import SPACE, START, extend, finish, step

WORD_BITS = 28


@compiled
def hash_words(words, starts, lengths, text, offsets):
    """Return the hash of each phrase words[starts[i]:starts[i] + lengths[i]], uint64.

    Arguments:
        words: uint32, word ids end to end.
        starts, lengths: int64[n], where each phrase begins, and its number of words.
        text, offsets: uint8 and int64, the words' UTF-8 by id.
    """
    out = np.empty(starts.size, np.uint64)
    for p in range(starts.size):
        state = START
        for i in range(starts[p], starts[p] + lengths[p]):
            if i > starts[p]:
                state = step(state, SPACE)
            state = extend(state, text, offsets[words[i]], offsets[words[i] + 1])
        out[p] = finish(state)
    return out


@compiled
def spell_phrases(words, starts, lengths, hashes):
    """Return triples (hash, spelling, 1 per number) of phrases words[starts[i]:+lengths[i]].

    Arguments:
        words: uint32, word ids from 1 to 2^28 - 1.
        starts, lengths: int64[n], where each phrase begins, and its number of words.
        hashes: uint64[n], the hash of each phrase.

    Returns (hashes uint64, spellings uint64, number of the phrase of each int64).
    """
    n = 0
    for p in range(starts.size):
        n += (lengths[p] + 1) // 2
    out_hashes = np.empty(n, np.uint64)
    spellings = np.empty(n, np.uint64)
    owners = np.empty(n, np.int64)
    n = 0
    for p in range(starts.size):
        for k in range(0, lengths[p], 2):
            spelling = np.uint64(k // 2) << np.uint64(2 * WORD_BITS)
            spelling |= np.uint64(words[starts[p] + k]) << np.uint64(WORD_BITS)
            if k + 1 < lengths[p]:
                spelling |= np.uint64(words[starts[p] + k + 1])
            out_hashes[n] = hashes[p]
            spellings[n] = spelling
            owners[n] = p
            n += 1
    return out_hashes, spellings, owners


@compiled
def read_spellings(starts, spellings, longest):
    """Return (words uint32[n, longest], lengths int64[n]) of phrases with sorted spellings.

    Phrase i has spellings[starts[i]:starts[i + 1]]. Its length is 0 where they are not one
    phrase's: two phrases have the same hash.

    Arguments:
        starts: int64[n + 1], the first spelling of each phrase.
        spellings: uint64, sorted within a phrase.
        longest: maximum length of a phrase, in words.
    """
    words = np.zeros((starts.size - 1, longest), np.uint32)
    lengths = np.zeros(starts.size - 1, np.int64)
    mask = (np.uint64(1) << np.uint64(WORD_BITS)) - np.uint64(1)
    for p in range(starts.size - 1):
        n = 0
        for i in range(starts[p], starts[p + 1]):
            place = 2 * np.int64(spellings[i] >> np.uint64(2 * WORD_BITS))
            if place != n or n >= longest:
                n = 0
                break
            words[p, n] = np.uint32((spellings[i] >> np.uint64(WORD_BITS)) & mask)
            n += 1
            second = np.uint32(spellings[i] & mask)
            if second != 0 and n < longest:
                words[p, n] = second
                n += 1
        lengths[p] = n
    return words, lengths


FEW_TOKENS, BAD_COLUMNS, BAD_COUNT, NO_YEARS = 1, 2, 3, 4
_LONGEST_NUMBER = 18
_TAB, _COMMA = 9, 44
_BOOKS_COLUMNS = (3, 4)  # year, count, perhaps pages, volumes


@inlined
def _number(text, start, stop):
    """Return the whole number in text[start:stop], or -1."""
    if stop <= start or stop - start > _LONGEST_NUMBER:
        return -1
    value = np.int64(0)
    for i in range(start, stop):
        if text[i] < 48 or text[i] > 57:
            return -1
        value = value * 10 + np.int64(text[i] - 48)
    return value


@inlined
def _comma(text, start, stop):
    """Return the place of the first comma of text[start:stop], stop where there is none."""
    for i in range(start, stop):
        if text[i] == _COMMA:
            return i
    return stop


@inlined
def _in_years(year, first_years, last_years):
    for i in range(first_years.size):
        if first_years[i] <= year <= last_years[i]:
            return True
    return first_years.size == 0


@compiled
def parse_counts(text, starts, stops, line_stops, first_years, last_years):
    """Return the words and counts of lines, and the first invalid line.

    A line is `w1 .. wn<TAB>count`, or of Google Books: the words, year, count and volumes (and
    pages) in columns, or the words and columns `year,count,volumes`, whose counts are summed.

    Arguments:
        text: uint8, whole lines.
        starts, stops: int64, the bytes of each token, as cut at white space.
        line_stops: int64, the number of tokens up to the end of each line.
        first_years, last_years: int64, ranges of years whose counts are taken, both ends included;
            none: all years, and lines without.

    Returns (counts uint64 by line, 0 where no year is taken; number of words int64 by line; bool by
    line, whether it has years; the first line at fault or -1; what is wrong with it).
    """
    counts = np.zeros(line_stops.size, np.uint64)
    n_words = np.zeros(line_stops.size, np.int64)
    has_years = np.zeros(line_stops.size, np.bool_)
    first = 0
    for line in range(line_stops.size):
        stop = line_stops[line]
        if stop - first < 2:
            return counts, n_words, has_years, line, FEW_TOKENS
        column = first + 1  # the token behind the first tab
        while column < stop:
            is_behind_tab = False
            for i in range(stops[column - 1], starts[column]):
                is_behind_tab |= text[i] == _TAB
            if is_behind_tab:
                break
            column += 1
        n_tabs = 0
        for i in range(stops[column - 1], starts[stop - 1] if column < stop else 0):
            n_tabs += text[i] == _TAB
        n_columns = stop - column
        if n_columns == 0 or n_tabs != n_columns:
            return counts, n_words, has_years, line, BAD_COLUMNS
        n_words[line] = column - first
        is_joined = _comma(text, starts[column], stops[column]) < stops[column]
        has_years[line] = is_joined or n_columns in _BOOKS_COLUMNS
        total = np.int64(0)
        if is_joined:
            for c in range(column, stop):
                comma = _comma(text, starts[c], stops[c])
                year = _number(text, starts[c], comma)
                count = _number(text, comma + 1, _comma(text, comma + 1, stops[c]))
                if year < 0 or count < 1:
                    return counts, n_words, has_years, line, BAD_COUNT
                if _in_years(year, first_years, last_years):
                    total += count
        elif has_years[line]:
            year = _number(text, starts[column], stops[column])
            count = _number(text, starts[column + 1], stops[column + 1])
            if year < 0 or count < 1:
                return counts, n_words, has_years, line, BAD_COUNT
            if _in_years(year, first_years, last_years):
                total = count
        elif n_columns == 1:
            if first_years.size:
                return counts, n_words, has_years, line, NO_YEARS
            total = _number(text, starts[column], stops[column])
            if total < 1:
                return counts, n_words, has_years, line, BAD_COUNT
        else:
            return counts, n_words, has_years, line, BAD_COLUMNS
        counts[line] = np.uint64(total)
        first = stop
    return counts, n_words, has_years, -1, 0


@compiled
def sum_repeats(words, starts, lengths, counts):
    """Return (starts, lengths, counts) of lines, those of the same words one after another summed.

    Arguments:
        words: uint32, word ids.
        starts, lengths: int64[n], line i is words[starts[i]:starts[i] + lengths[i]].
        counts: uint64[n].
    """
    out_starts, out_lengths, sums = starts.copy(), lengths.copy(), counts.copy()
    n = 0
    for line in range(starts.size):
        is_repeat = n > 0 and out_lengths[n - 1] == lengths[line]
        if is_repeat:
            for i in range(lengths[line]):
                if words[out_starts[n - 1] + i] != words[starts[line] + i]:
                    is_repeat = False
                    break
        if is_repeat:
            sums[n - 1] += counts[line]
        else:
            out_starts[n], out_lengths[n], sums[n] = starts[line], lengths[line], counts[line]
            n += 1
    return out_starts[:n], out_lengths[:n], sums[:n]


@inlined
def _hash(words, begin, stop, text, offsets):
    state = START
    for i in range(begin, stop):
        if i > begin:
            state = step(state, SPACE)
        state = extend(state, text, offsets[words[i]], offsets[words[i] + 1])
    return finish(state)


@compiled
def count_lines(
    words, starts, lengths, counts, longest, wide, narrow, text, offsets, word_counts, slots
):
    """Return the phrases of lines of words, and the features that they give shorter phrases.

    A line of n words tells of its last and its first m words, n - window <= m < n, which word is
    n - m places away.

    Arguments:
        words: uint32; line i is words[starts[i]:starts[i] + lengths[i]].
        starts, lengths: int64[n]; lengths 1 to longest + window.
        counts: uint64[n].
        longest: of a phrase, in words.
        wide: words on either side that are counted by sides, nearer ones more; 0: none.
        narrow: words on either side that are counted by places; 0: none. The window is the larger.
        text, offsets: the words' UTF-8 by id.
        word_counts: uint64 by id, to which the lines of one word are added.
        slots: uint64[window], to which the lines of k + 1 words are added at k - 1.

    Returns (hash of each line's phrase, 0 where longer than `longest`; phrases, features, counts of
    what they tell of shorter ones). A feature is the word's id plus 2^32 times its family.
    """
    window = max(wide, narrow)
    n_sides = np.uint64(2 if wide > 0 else 0)
    n = 0
    for line in range(starts.size):
        n += 2 * max(0, min(wide, lengths[line] - 1)) + 2 * max(0, min(narrow, lengths[line] - 1))
    own = np.zeros(starts.size, np.uint64)
    phrases = np.empty(n, np.uint64)
    features = np.empty(n, np.uint64)
    out_counts = np.empty(n, np.uint64)
    n = 0
    for line in range(starts.size):
        begin, length = starts[line], lengths[line]
        stop = begin + length
        if length <= longest:
            own[line] = _hash(words, begin, stop, text, offsets)
        if length == 1:
            word_counts[words[begin]] += counts[line]
            continue
        if length - 1 <= window:
            slots[length - 2] += counts[line]
        for distance in range(max(1, length - longest), min(window, length - 1) + 1):
            last = _hash(words, begin + distance, stop, text, offsets)
            first = _hash(words, begin, stop - distance, text, offsets)
            for by_places in range(2):
                times, family = np.uint64(wide + 1 - distance), np.uint64(0)
                if by_places:
                    times, family = np.uint64(1), n_sides + np.uint64(2 * (distance - 1))
                if distance > (narrow if by_places else wide):
                    continue
                phrases[n] = last
                features[n] = np.uint64(words[begin]) | (family << np.uint64(32))
                phrases[n + 1] = first
                features[n + 1] = np.uint64(words[stop - 1]) | (
                    (family + np.uint64(1)) << np.uint64(32)
                )
                out_counts[n] = out_counts[n + 1] = counts[line] * times
                n += 2
    return own, phrases[:n], features[:n], out_counts[:n]
