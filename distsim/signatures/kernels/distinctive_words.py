"""Distinctive words of a table's phrases, as sparse rows; neighbours that are not repetitive.

Phrases are UTF-8, that of place i at text[begins[i]:ends[i]], tokens parted by one space.
"""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import START, extend, finish, step

SPACE = 32
SPELLING, LEFT_OUT = 1, 2  # roles of neighbours


@compiled
def count_tokens(text, begins, ends):
    """Return the number of tokens of every phrase, uint16.

    Arguments:
        text: uint8, UTF-8 of all phrases.
        begins, ends: int64[n], of each phrase in it.
    """
    counts = np.ones(begins.size, np.uint16)
    for r in range(counts.size):
        for i in range(begins[r], ends[r]):
            counts[r] += text[i] == SPACE
    return counts


@compiled
def hash_tokens(text, phrase_begins, phrase_ends, counts):
    """Return (starts int64[n + 1], hashes uint64, begins int64, ends int64) of phrases' tokens.

    The tokens of phrase i are starts[i]:starts[i + 1]; each is text[begins[t]:ends[t]].

    Arguments:
        text: uint8, with phrases whose words are separated by a space.
        phrase_begins, phrase_ends: int64[n], of each phrase in the text.
        counts: integers[n], tokens of each phrase.
    """
    starts = np.zeros(counts.size + 1, np.int64)
    for i in range(counts.size):
        starts[i + 1] = starts[i] + counts[i]
    hashes = np.empty(starts[-1], np.uint64)
    begins = np.empty(starts[-1], np.int64)
    ends = np.empty(starts[-1], np.int64)
    for i in range(counts.size):
        token = starts[i]
        begin = phrase_begins[i]
        stop = phrase_ends[i]
        for at in range(begin, stop + 1):
            if at == stop or text[at] == SPACE:
                hashes[token] = finish(extend(START, text, begin, at))
                begins[token] = begin
                ends[token] = at
                token += 1
                begin = at + 1
    return starts, hashes, begins, ends


@compiled
def gather_cores(starts, hashes, distinctive, is_word):
    """Return the cores of phrases, (starts int64[n + 1], words uint64, keys uint64, bare uint8).

    The core of a phrase are its distinctive tokens; where it has none, its words; else all of it.
    words: hashes, ascending and each once in a core. keys: equal for equal cores. bare: whether
    a phrase neither begins nor ends with punctuation.

    Arguments:
        starts: int64[n + 1], the first token of each phrase.
        hashes: uint64, of the tokens.
        distinctive, is_word: uint8 by token, 1 where it is.
    """
    n = starts.size - 1
    core_starts = np.zeros(n + 1, np.int64)
    words = np.empty(hashes.size, np.uint64)
    keys = np.empty(n, np.uint64)
    bare = np.zeros(n, np.uint8)
    size = 0
    for i in range(n):
        first = starts[i]
        stop = starts[i + 1]
        n_distinctive = 0
        n_words = 0
        for t in range(first, stop):
            n_distinctive += distinctive[t]
            n_words += is_word[t]
        begin = size
        for t in range(first, stop):
            if n_distinctive > 0:
                taken = distinctive[t]
            else:
                taken = is_word[t] if n_words > 0 else np.uint8(1)
            if taken:
                word = hashes[t]
                at = size
                while at > begin and words[at - 1] > word:
                    at -= 1
                if at > begin and words[at - 1] == word:
                    continue
                for j in range(size, at, -1):
                    words[j] = words[j - 1]
                words[at] = word
                size += 1
        core_starts[i + 1] = size
        state = START
        for j in range(begin, size):
            state = step(state, words[j])
        keys[i] = finish(state)
        bare[i] = stop > first and is_word[first] and is_word[stop - 1]
    return core_starts, words[:size].copy(), keys, bare


@compiled
def _has_earlier_text(a, b, text, begins, ends):
    """Return whether the phrase of neighbour a comes before that of b, byte by byte.

    Arguments:
        a, b: places in begins and ends.
        text: uint8.
        begins, ends: int64, of each neighbour's phrase in the text.
    """
    i = begins[a]
    j = begins[b]
    end_i = ends[a]
    end_j = ends[b]
    while i < end_i and j < end_j:
        if text[i] != text[j]:
            return text[i] < text[j]
        i += 1
        j += 1
    return end_i - i < end_j - j


@compiled
def order_neighbours(rows, distances, strengths, text, begins, ends):
    """Return the order of rows by distance, strength (strongest first) and text, int64.

    Text is compared byte by byte, which in UTF-8 is the order of code points.

    Arguments:
        rows: integers, rows of the table.
        distances: of each of rows.
        strengths: uint32, by row of the table.
        text: uint8.
        begins, ends: int64, of the phrase of each of rows in the text.
    """
    order = np.empty(rows.size, np.int64)
    strong = np.empty(rows.size, np.uint32)
    for i in range(rows.size):
        order[i] = i
        strong[i] = strengths[rows[i]]  # read once: they lie far apart
    other = np.empty(rows.size, np.int64)
    width = 1
    while width < rows.size:
        for begin in range(0, rows.size, 2 * width):
            middle = min(begin + width, rows.size)
            stop = min(begin + 2 * width, rows.size)
            i = begin
            j = middle
            for at in range(begin, stop):
                takes_first = i < middle
                if takes_first and j < stop:
                    a = order[i]
                    b = order[j]
                    if distances[a] != distances[b]:
                        takes_first = distances[a] < distances[b]
                    elif strong[a] != strong[b]:
                        takes_first = strong[a] > strong[b]
                    else:
                        takes_first = not _has_earlier_text(b, a, text, begins, ends)
                if takes_first:
                    other[at] = order[i]
                    i += 1
                else:
                    other[at] = order[j]
                    j += 1
        order, other = other, order
        width *= 2
    return order


@compiled
def _is_within(part, all_):
    """Return whether all of `part` are in `all_`, uint64, ascending both."""
    j = 0
    for i in range(part.size):
        while j < all_.size and all_[j] < part[i]:
            j += 1
        if j == all_.size or all_[j] != part[i]:
            return False
    return True


@compiled
def _share_a_word(a, b):
    """Return whether two cores, uint64, ascending both, have a word in common."""
    i = 0
    j = 0
    while i < a.size and j < b.size:
        if a[i] == b[j]:
            return True
        if a[i] < b[j]:
            i += 1
        else:
            j += 1
    return False


@compiled
def _usual_of_each(distances, roles, strengths, tokens, keys, bare, order):
    """Return uint8 by neighbour: 1 for the one that stands for those of the same core.

    The longest with half of the strongest one's occurrences or more, then the nearest, the
    strongest, the first; of those that are bare, where there are any.

    Arguments:
        distances, strengths, tokens: of each neighbour; int64, tokens its number of tokens.
        roles: uint8; those that are left out stand for nothing.
        keys: uint64, equal for equal cores.
        bare: uint8, whether it neither begins nor ends with punctuation.
        order: int64, of the neighbours by their keys.
    """
    usual = np.zeros(distances.size, np.uint8)
    first = 0
    while first < order.size:
        stop = first
        some_bare = False
        while stop < order.size and keys[order[stop]] == keys[order[first]]:
            some_bare |= bare[order[stop]] != 0 and roles[order[stop]] != LEFT_OUT
            stop += 1
        strongest = np.int64(0)
        for j in range(first, stop):
            i = order[j]
            if (bare[i] or not some_bare) and roles[i] != LEFT_OUT:
                strongest = max(strongest, strengths[i])
        best = np.int64(-1)
        for j in range(first, stop):
            i = order[j]
            if (some_bare and not bare[i]) or 2 * strengths[i] < strongest:
                continue
            if roles[i] == LEFT_OUT:
                continue
            if best < 0:
                best = i
            elif tokens[i] != tokens[best]:
                if tokens[i] > tokens[best]:
                    best = i
            elif distances[i] != distances[best]:
                if distances[i] < distances[best]:
                    best = i
            elif strengths[i] != strengths[best]:
                if strengths[i] > strengths[best]:
                    best = i
            elif i < best:
                best = i
        if best >= 0:
            usual[best] = 1
        first = stop
    return usual


@compiled
def _bits_of_cores(core_starts, core_words):
    """Return a uint64 for each core, with a bit set for each word, by its hash.

    A core whose bits are not all among another's has a word that the other lacks.
    """
    sets = np.zeros(core_starts.size - 1, np.uint64)
    for i in range(sets.size):
        for j in range(core_starts[i], core_starts[i + 1]):
            sets[i] |= np.uint64(1) << (core_words[j] >> np.uint64(58))
    return sets


@compiled
def choose_distinctive(
    distances, roles, strengths, tokens, keys, bare, core_starts, core_words, order, focal,
    words, max_words,
):  # fmt: skip
    """Return which neighbours are listed, `max_words` at most: int64, their places, ascending.

    Arguments:
        distances: int64[n], of n neighbours in their order.
        roles: uint8[n], SPELLING of the focal phrase, which is listed anyway; LEFT_OUT; else 0.
        strengths, tokens: int64[n + m], of the neighbours, then of those listed already.
        keys, bare, core_starts, core_words: uint64, uint8, int64 and uint64, the cores of the same
            phrases, by gather_cores.
        order: int64[n], of the neighbours by their keys; sorted outside, since numba compiles a
            sort in three seconds.
        focal, words: uint64 ascending, the focal phrase's core, and all its words.
        max_words: how many are listed.
    """
    usual = _usual_of_each(distances, roles, strengths, tokens, keys, bare, order)
    sets = _bits_of_cores(core_starts, core_words)
    none = np.uint64(0)
    n_before = strengths.size - distances.size
    listed = np.empty(strengths.size, np.int64)
    for i in range(n_before):
        listed[i] = distances.size + i
    chosen = np.empty(min(max_words, distances.size), np.int64)
    n = 0
    for i in range(distances.size):
        if n == chosen.size:
            break
        if not (usual[i] or roles[i] == SPELLING):
            continue
        core = core_words[core_starts[i] : core_starts[i + 1]]
        says_again = False
        if roles[i] != SPELLING:
            if _is_within(core, words) or _is_within(focal, core):
                continue
            shares = _share_a_word(core, focal)
            for at in range(n_before + n):
                place = listed[at]
                may_hold = sets[place] & ~sets[i] == none
                is_part = shares or 2 * strengths[place] >= strengths[i]
                may_be_held = is_part and sets[i] & ~sets[place] == none
                if not (may_hold or may_be_held):
                    continue
                other = core_words[core_starts[place] : core_starts[place + 1]]
                if (may_hold and _is_within(other, core)) or (
                    may_be_held and _is_within(core, other)
                ):
                    says_again = True
                    break
        if not says_again:
            listed[n_before + n] = i
            chosen[n] = i
            n += 1
    return chosen[:n].copy()
