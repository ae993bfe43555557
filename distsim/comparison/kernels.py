"""Compiled loops over phrases with gaps: their positions and fillers, and joins of positions."""

import numpy as np

from distsim.kernels.arrays import prefetch
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.suffixes import DAMAGED


@compiled
def _stands_at(tokens, position, words, first, stop):
    """Return whether words[first:stop], int64, occur at a position of tokens, uint32."""
    if position < 0 or position + stop - first > tokens.size:
        return False
    for k in range(first, stop):
        if tokens[position + k - first] != words[k]:
            return False
    return True


@compiled
def match_parts(tokens, positions, words, starts, anchor, longest_gap, begins):
    """Return the number of matches of a pattern's parts around the places of one part, or DAMAGED.

    The shortest gaps are taken; a gap lies within one sentence.

    Arguments:
        tokens: uint32, of the shard.
        positions: int64, positions of part `anchor`.
        words: int64, word ids of the parts end to end.
        starts: int64[n_parts + 1], part k is words[starts[k]:starts[k + 1]].
        anchor: number of the part whose positions are given.
        longest_gap: maximum length of a gap, in tokens; a gap has at least 1.
        begins: int64[n, n_parts], position of each part of each match; filled.
    """
    n_parts = starts.size - 1
    n_matches = 0
    for i in range(positions.size):
        position = positions[i]
        if position < 0 or position >= tokens.size:
            return DAMAGED
        begins[n_matches, anchor] = position
        whole = True
        for k in range(anchor + 1, n_parts):
            inner = begins[n_matches, k - 1] + starts[k] - starts[k - 1]
            whole = False
            for gap in range(1, longest_gap + 1):
                if inner + gap > tokens.size or tokens[inner + gap - 1] == 0:
                    break
                if _stands_at(tokens, inner + gap, words, starts[k], starts[k + 1]):
                    begins[n_matches, k] = inner + gap
                    whole = True
                    break
            if not whole:
                break
        for back in range(anchor):
            if not whole:
                break
            k = anchor - 1 - back
            outer = begins[n_matches, k + 1]
            whole = False
            for gap in range(1, longest_gap + 1):
                if outer - gap < 0 or tokens[outer - gap] == 0:
                    break
                begin = outer - gap - (starts[k + 1] - starts[k])
                if _stands_at(tokens, begin, words, starts[k], starts[k + 1]):
                    begins[n_matches, k] = begin
                    whole = True
                    break
        n_matches += whole
    return n_matches


@compiled
def gather_fillers(tokens, firsts, stops, step, n_words, rows):
    """Return 0, or DAMAGED, after copying the tokens from each place to a stop.

    Arguments:
        tokens: uint32, of the shard.
        firsts, stops: int64[n], half-open; copying also ends at a sentence's end.
        step: 1 or -1, direction of reading.
        n_words: word ids are below it.
        rows: uint32[n, m], the first words from each place on, then 0; filled.
    """
    for i in range(firsts.size):
        for k in range(rows.shape[1]):
            rows[i, k] = 0
        at = firsts[i]
        for k in range(rows.shape[1]):
            if at == stops[i] or at < 0 or at >= tokens.size or tokens[at] == 0:
                break
            if tokens[at] >= n_words:
                return DAMAGED
            rows[i, k] = tokens[at]
            at += step
    return np.int64(0)


AHEAD = 16  # so many places are on their way from memory while one is read

BETWEEN = 4  # tokens between the two that are told
OFFSET, BEFORE, PARALLEL, FIRST_BETWEEN = 0, 1, 2, 3
COLUMNS = FIRST_BETWEEN + BETWEEN
NONE = -1
# What a word is between two others, to `count_joins`.
PASSED, BETWEEN_TWO = 1, 2


@uncounted
def _is_at(tokens, position, phrases):
    """Return whether one of the phrases occurs at a position.

    Arguments:
        tokens: uint32.
        position: any integer; beyond the text nothing occurs.
        phrases: int64[m, n_tokens].
    """
    if position < 0 or position + phrases.shape[1] > tokens.size:
        return False
    for m in range(phrases.shape[0]):
        same = True
        for k in range(phrases.shape[1]):
            same = same and tokens[position + k] == phrases[m, k]
        if same:
            return True
    return False


@uncounted
def _is_word(token, words):
    """Return whether a token is one of some words.

    Arguments:
        token: int64.
        words: int64[m, 1], ids.
    """
    for m in range(words.shape[0]):
        if token == words[m, 0]:
            return True
    return False


@uncounted
def _token(tokens, position):
    """Return the token at a position, 0 beyond the text's ends."""
    if position < 0 or position >= tokens.size:
        return np.int64(0)
    return np.int64(tokens[position])


@compiled
def find_joins(tokens, positions, length, others, window, out):
    """Return the number of pairs of a phrase and the nearest of other phrases on either side.

    The tokens between the two are written to out, for as many pairs as fit into it.

    Arguments:
        tokens: uint32, of the shard.
        positions: int64, positions of a phrase.
        length: its number of tokens.
        others: int64[m, k], word ids of phrases of k tokens.
        window: maximum number of tokens between the two; no sentence ends there.
        out: int64[n, COLUMNS], filled. Column OFFSET: tokens between, + 1, negative where the other
            phrase is first. BEFORE: the token before the first. PARALLEL: 1 where the same token
            follows both, + 2 where it precedes both, 0 where they touch. From FIRST_BETWEEN on: the
            tokens between, then NONE, where there are at most BETWEEN.
    """
    n = 0
    size = others.shape[1]
    for i in range(positions.size):
        if i + AHEAD < positions.size:
            prefetch(tokens, positions[i + AHEAD])
            prefetch(tokens, positions[i + AHEAD] - window)
        p = positions[i]
        for side in (1, -1):
            for gap in range(window + 1):
                inner = p + length + gap if side > 0 else p - 1 - gap
                token = _token(tokens, inner)
                if size == 1 and token != 0 and not _is_word(token, others):
                    continue
                at = inner if side > 0 else inner - size + 1
                if _is_at(tokens, at, others):
                    if n < out.shape[0]:
                        first = p if side > 0 else at
                        first_stop = p + length if side > 0 else at + size
                        second = at if side > 0 else p
                        second_stop = at + size if side > 0 else p + length
                        before = _token(tokens, first - 1)
                        after = _token(tokens, second_stop)
                        out[n, 0] = side * (gap + 1)
                        out[n, 1] = before
                        out[n, 2] = 0
                        if gap > 0:
                            if after != 0 and after == _token(tokens, first_stop):
                                out[n, 2] += 1
                            if before != 0 and before == _token(tokens, second - 1):
                                out[n, 2] += 2
                        for k in range(BETWEEN):
                            out[n, FIRST_BETWEEN + k] = NONE
                            if gap <= BETWEEN and k < gap:
                                out[n, FIRST_BETWEEN + k] = _token(tokens, first_stop + k)
                    n += 1
                    break
                if token == 0:
                    break
    return n


@compiled
def count_joins(tokens, positions, numbers, roles, befores, betweens, counts):
    """Count in found how often each word is joined by a pattern with a word at positions.

    Arguments:
        tokens: uint32, of the shard.
        positions: int64, positions of the word.
        numbers: int32[n_words], place of a word in found, -1 for others.
        roles: uint8[n_words], PASSED of words that are skipped between the two, BETWEEN_TWO of
            those that patterns have there, 0 of others: no pattern goes beyond these.
        befores: int64[m], the word before the first of the two, 0 for any.
        betweens: int64[m, k], the words between the two, then -1.
        counts: int64[n], counts; added to.
    """
    max_between = betweens.shape[1]
    between = np.empty(max_between + 1, np.int64)
    for i in range(positions.size):
        if i + AHEAD < positions.size:
            prefetch(tokens, positions[i + AHEAD])
        position = positions[i]
        for side in (-1, 1):
            at = position + side
            while (
                0 <= at < tokens.size and tokens[at] != 0 and abs(at - position) <= max_between + 2
            ):
                number = numbers[tokens[at]] if tokens[at] < numbers.size else -1
                if number >= 0:
                    first, second = min(position, at), max(position, at)
                    n = 0
                    for k in range(first + 1, second):
                        if n <= max_between and roles[tokens[k]] != PASSED:
                            between[n] = tokens[k]
                            n += 1
                    before = tokens[first - 1] if first > 0 else 0
                    counts[number] += _is_pattern(between, n, before, befores, betweens)
                if tokens[at] >= roles.size or roles[tokens[at]] == 0:
                    break
                at += side


@uncounted
def _is_pattern(between, n, before, befores, betweens):
    """Return 1 where a pattern has these words between two words and this one before, else 0.

    Arguments:
        between: int64, whose first n are the words between the two.
        before: the word before the first of the two, 0 at a sentence's start.
        befores: int64[m], the word before by pattern, 0 for any.
        betweens: int64[m, k], the words between by pattern, then -1.
    """
    for m in range(befores.size):
        same = n <= betweens.shape[1] and (befores[m] == 0 or befores[m] == before)
        for k in range(betweens.shape[1]):
            same = same and betweens[m, k] == (between[k] if k < n else -1)
        if same:
            return 1
    return 0


@compiled
def join_words(tokens, first, following, befores, betweens, kinds, passed, is_word, keys, of):
    """Return the number of pairs of words that a pattern joins; written while there is room.

    Arguments:
        tokens: uint32, of the shard.
        first: int32[n_words], the first pattern whose words between begin with a word, -1: none.
        following: int32[m], the next pattern that begins so, -1: none.
        befores: int64[m], the word before the first of the two, 0 for any.
        betweens: int64[m, k], the words between the two, then -1.
        kinds: uint8[m], the kind of each pattern; where several match, the lowest counts.
        passed: bool[n_words], words that are skipped before the second of the two.
        is_word: bool[n_words], words that can be one of the two.
        keys: int64, filled: the lower word's id << 32, and the higher one's.
        of: uint8, filled: the kind of the pattern.
    """
    n = 0
    for place in range(tokens.size - 2):
        word = np.int64(tokens[place])
        pattern = first[tokens[place + 1]]
        if pattern < 0 or not is_word[word]:
            continue
        kind = np.uint8(255)
        other = np.int64(0)
        while pattern >= 0:
            at = place + 1
            fits = True
            for k in range(betweens.shape[1]):
                between = betweens[pattern, k]
                if between < 0:
                    break
                while at < tokens.size and passed[tokens[at]] and tokens[at] != between:
                    at += 1
                if at >= tokens.size or tokens[at] != between:
                    fits = False
                    break
                at += 1
            while at < tokens.size and passed[tokens[at]]:
                at += 1
            fits = fits and at < tokens.size and is_word[tokens[at]] and tokens[at] != word
            if fits and befores[pattern] > 0:
                before = place - 1
                if before >= 0 and passed[tokens[before]]:
                    before -= 1
                fits = before >= 0 and tokens[before] == befores[pattern]
            if fits and kinds[pattern] < kind:
                kind = kinds[pattern]
                other = np.int64(tokens[at])
            pattern = following[pattern]
        if kind < 255:
            if n < keys.size:
                keys[n] = (min(word, other) << 32) | max(word, other)
                of[n] = kind
            n += 1
    return n


@uncounted
def _is_letter(byte):
    """Return whether a byte of UTF-8 is of a letter; all beyond ASCII are taken for letters."""
    return 97 <= (byte | 32) <= 122 or byte >= 128


@compiled
def words_within(text, words, ends, is_capital):
    """Return the number of words that begin no sentence: a word or a comma, and a blank are before.

    Arguments:
        text: uint8, UTF-8.
        words: uint8, filled: the words end to end, capitals of ASCII made small; as long as text.
        ends: int64, filled: where each ends; at most half as many as bytes of text.
        is_capital: bool, filled: whether it begins with a capital of ASCII.
    """
    n = 0
    end = 0
    place = 2
    while place < text.size:
        before = text[place - 2]
        begins = text[place - 1] == 32 and (_is_letter(before) or before == 44)
        if not begins or not _is_letter(text[place]):
            place += 1
            continue
        is_capital[n] = 65 <= text[place] <= 90
        while place < text.size and _is_letter(text[place]):
            byte = text[place]
            words[end] = byte | 32 if 65 <= byte <= 90 else byte
            end += 1
            place += 1
        ends[n] = end
        n += 1
    return n
