"""Compiled loops over phrases with gaps: their positions and fillers, and joins of positions."""

import numpy as np

from distsim.kernels.arrays import prefetch
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import first_not_below
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


LOW_BITS = 4095  # of an id: a table of so many words stays in the processor's nearest cache
AHEAD = 16  # so many places are on their way from memory while one is read

BETWEEN = 4  # tokens between the two that are told
OFFSET, BEFORE, PARALLEL, FIRST_BETWEEN = 0, 1, 2, 3
COLUMNS = FIRST_BETWEEN + BETWEEN
NONE = -1
# What a word is between two others, to `count_joins`.
PASSED, BETWEEN_TWO = 1, 2


@uncounted
def _is_at(tokens, position, phrases, first, stop, size):
    """Return whether one of some phrases occurs at a position.

    Arguments:
        tokens: uint32.
        position: any integer; beyond the text nothing occurs.
        phrases: int64, word ids; those from first to stop are phrases of `size` tokens.
    """
    if position < 0 or position + size > tokens.size:
        return False
    for begin in range(first, stop, size):
        same = True
        for k in range(size):
            same = same and tokens[position + k] == phrases[begin + k]
        if same:
            return True
    return False


@uncounted
def _token(tokens, position):
    """Return the token at a position, 0 beyond the text's ends."""
    if position < 0 or position >= tokens.size:
        return np.int64(0)
    return np.int64(tokens[position])


@uncounted
def _are_in_patterns(tokens, first, stop, in_patterns):
    """Return whether the tokens between two phrases are all such as patterns have there.

    Arguments:
        tokens: uint32. first, stop: the places between.
        in_patterns: bool[n_words].
    """
    for place in range(first, stop):
        if tokens[place] >= in_patterns.size or not in_patterns[tokens[place]]:
            return False
    return True


@compiled
def find_joins(
    tokens, positions, starts, lengths, others, other_starts, sizes, window, in_patterns, counts,
    rows, row_stops,
):  # fmt: skip
    """Count pairs of a phrase and the nearest of other phrases on either side, for many phrases.

    Arguments:
        tokens: uint32, of the shard.
        positions: uint32, positions of all phrases end to end.
        starts: int64[n + 1], where those of each phrase begin.
        lengths: int64[n], tokens of each phrase.
        others: int64, word ids of what each phrase is paired with, end to end.
        other_starts: int64[n + 1], where those of each phrase begin.
        sizes: int64[n], tokens of the others: those of phrase i are phrases of sizes[i] tokens.
        window: maximum number of tokens between the two; no sentence ends there.
        in_patterns: bool[n_words], the words that a pattern may have between the two.
        counts: int64[n, 2], filled: how many pairs, and how many of them are PARALLEL.

        rows: int64[m, COLUMNS], filled while there is room: the pairs with at most BETWEEN tokens
            between, all of them in patterns. Column OFFSET: tokens between, + 1, negative where the
            other phrase is first. BEFORE: the token before the first. PARALLEL: 1 where the same
            token follows both, + 2 where it precedes both, 0 where they touch. From FIRST_BETWEEN
            on: the tokens between, then NONE.
        row_stops: int64[n], filled: where the rows of each phrase end.

    Returns DAMAGED, or the number of rows that there are. The array is not made larger here: in a
    loop that hands out another array every step takes twice the time.
    """
    may_be_other = np.zeros(LOW_BITS + 1, np.bool_)
    n = np.int64(0)
    for phrase in range(lengths.size):
        length = lengths[phrase]
        size = sizes[phrase]
        first_other = other_starts[phrase]
        stop_other = other_starts[phrase + 1]
        # The words at which one of the others can begin, or end, by their ids' lowest bits: few
        # tokens are compared with each.
        for other in range(first_other, stop_other, size):
            may_be_other[others[other] & LOW_BITS] = True
            may_be_other[others[other + size - 1] & LOW_BITS] = True
        n_pairs = 0
        n_parallel = 0
        for i in range(starts[phrase], starts[phrase + 1]):
            if i + AHEAD < positions.size:
                prefetch(tokens, np.int64(positions[i + AHEAD]))
                prefetch(tokens, np.int64(positions[i + AHEAD]) - window)
            p = np.int64(positions[i])
            if p + length > tokens.size:
                return DAMAGED
            for side in (1, -1):
                inner = p + length if side > 0 else p - 1
                beyond = (
                    min(inner + window + 1, tokens.size)
                    if side > 0
                    else max(inner - window - 1, -1)
                )
                while inner != beyond:
                    token = np.int64(tokens[inner])
                    inner += side
                    if token == 0:
                        break
                    if not may_be_other[token & LOW_BITS]:
                        continue
                    at = inner - 1 if side > 0 else inner - size + 2
                    if not _is_at(tokens, at, others, first_other, stop_other, size):
                        continue
                    gap = at - p - length if side > 0 else p - at - size
                    first = p if side > 0 else at
                    first_stop = p + length if side > 0 else at + size
                    second = at if side > 0 else p
                    second_stop = at + size if side > 0 else p + length
                    before = _token(tokens, first - 1)
                    after = _token(tokens, second_stop)
                    parallel = 0
                    if gap > 0:
                        if after != 0 and after == _token(tokens, first_stop):
                            parallel += 1
                        if before != 0 and before == _token(tokens, second - 1):
                            parallel += 2
                    n_pairs += 1
                    n_parallel += parallel > 0
                    if gap <= BETWEEN and _are_in_patterns(
                        tokens, first_stop, first_stop + gap, in_patterns
                    ):
                        if n < rows.shape[0]:
                            rows[n, OFFSET] = side * (gap + 1)
                            rows[n, BEFORE] = before
                            rows[n, PARALLEL] = parallel
                            for k in range(BETWEEN):
                                rows[n, FIRST_BETWEEN + k] = (
                                    _token(tokens, first_stop + k) if k < gap else NONE
                                )
                        n += 1
                    break
        for other in range(first_other, stop_other):
            may_be_other[others[other] & LOW_BITS] = False
        counts[phrase, 0] = n_pairs
        counts[phrase, 1] = n_parallel
        row_stops[phrase] = n
    return n


@uncounted
def _is_among(words, word):
    """Return whether a word is one of some, int64, ascending."""
    low = first_not_below(words, word, 0, words.size)
    return low < words.size and words[low] == word


@compiled
def find_words_near(tokens, positions, before, after, wanted, n_words, words, owners):
    """Return how often any of some words stands around positions, inside the sentence; or DAMAGED.

    Arguments:
        tokens: uint32, of the shard.
        positions: int64.
        before, after: tokens looked at before a position, and from it on.
        wanted: int64, ids of the words, ascending.
        n_words: of the vocabulary.
        words, owners: int64, filled while there is room: which word, and the place in positions.
    """
    may_be_wanted = np.zeros(LOW_BITS + 1, np.bool_)
    for i in range(wanted.size):
        may_be_wanted[wanted[i] & LOW_BITS] = True
    n = np.int64(0)
    for i in range(positions.size):
        if i + AHEAD < positions.size:
            prefetch(tokens, positions[i + AHEAD])
            prefetch(tokens, positions[i + AHEAD] - before)
        position = positions[i]
        if position < 0 or position >= tokens.size:
            return DAMAGED
        for side in (-1, 1):
            at = position - 1 if side < 0 else position
            beyond = max(at - before, -1) if side < 0 else min(at + after, tokens.size)
            while at != beyond:
                word = np.int64(tokens[at])
                at += side
                if word == 0:
                    break
                if word >= n_words:
                    return DAMAGED
                if may_be_wanted[word & LOW_BITS] and _is_among(wanted, word):
                    if n < words.size:
                        words[n] = word
                        owners[n] = i
                    n += 1
    return n


@compiled
def mark_blocks(positions, bits, mask, marks):
    """Mark the blocks of positions and those beside each.

    Arguments:
        positions: uint32. bits: a block has 2 ** bits positions.
        mask: size of marks - 1, a power of 2 less 1.
        marks: bool, filled.
    """
    for i in range(positions.size):
        block = np.int64(positions[i]) >> bits
        marks[(block - 1) & mask] = True
        marks[block & mask] = True
        marks[(block + 1) & mask] = True


@compiled
def marked_positions(positions, starts, bits, mask, marks, out_starts):
    """Return the positions in marked blocks, uint32; where those of each phrase begin is filled in.

    Arguments:
        positions: uint32, of all phrases end to end. starts: int64[n + 1], where those of each
            begin. bits, mask, marks: as `mark_blocks` takes them.
        out_starts: int64[n + 1], filled.
    """
    out = np.empty(positions.size, np.uint32)
    n = 0
    for phrase in range(starts.size - 1):
        out_starts[phrase] = n
        for i in range(starts[phrase], starts[phrase + 1]):
            out[n] = positions[i]
            n += marks[(np.int64(positions[i]) >> bits) & mask]
    out_starts[starts.size - 1] = n
    return out[:n].copy()


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
