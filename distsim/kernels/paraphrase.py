"""Compiled loops for paraphrases: occurrences of contexts, words in gaps, samples.

Positions and ids that come from a file are checked before they are used; DAMAGED is returned
instead of reading beyond an array.
"""

import numpy as np

from distsim.kernels.arrays import grown, prefetch
from distsim.kernels.compiled import compiled
from distsim.kernels.suffixes import DAMAGED, _compare

HASH_START = np.uint64(0x6C62272E07BB0142)
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
HASH_HALF = np.uint64(29)
PIECE, CONTAINED, CONTAINING = 1, 2, 4  # how two phrases are related by their words
AHEAD = 16  # so many places are on their way from memory while one is looked at


@compiled
def _stands_before(tokens, position, side, first, stop):
    """Return whether side[first:stop] ends before `position`; a boundary precedes the text.

    Arguments:
        tokens: uint32, of the shard.
        position: in tokens.
        side: int64, word ids.
        first, stop: half-open range.
    """
    for k in range(1, stop - first + 1):
        at = position - k
        if at < -1:
            return False
        token = np.int64(tokens[at]) if at >= 0 else 0
        if token != side[stop - k]:
            return False
    return True


@compiled
def _is_focal(tokens, begin, length, focal):
    """Return whether tokens[begin:begin + length] are the words of `focal`."""
    if length != focal.size:
        return False
    for k in range(length):
        if tokens[begin + k] != focal[k]:
            return False
    return True


@compiled
def _hash_of(tokens, begin, length):
    """Return a 64-bit hash of tokens[begin:begin + length], the same in every shard of an index."""
    state = HASH_START
    for k in range(length):
        state = (state ^ np.uint64(tokens[begin + k])) * HASH_MULTIPLIER
        state ^= state >> HASH_HALF
    state *= HASH_MULTIPLIER
    return state ^ (state >> HASH_HALF)


@compiled
def hash_phrases(words, stops):
    """Return the hash of each phrase, uint64[n].

    Arguments:
        words: int64, word ids of all phrases end to end.
        stops: int64[n], where each phrase ends.
    """
    hashes = np.empty(stops.size, np.uint64)
    begin = 0
    for p in range(stops.size):
        hashes[p] = _hash_of(words, begin, stops[p] - begin)
        begin = stops[p]
    return hashes


@compiled
def walk_contexts(
    tokens, suffixes, sides, side_starts, lows, highs, at_start, lefts, rights, walk_left,
    focal, shortest, longest, room,
):  # fmt: skip
    """Return every x of shortest..longest tokens, other than `focal`, with `L x R` in a shard.

    Arguments:
        tokens, suffixes: uint32, of the shard.
        sides: int64, the words of all sides (L or R) end to end.
        side_starts: int64[n + 1], side i is sides[side_starts[i]:side_starts[i + 1]].
        lows, highs: int64[n], the half-open interval of suffixes of each side.
        at_start: uint8[n], whether the shard's first sentence begins with a side whose first token
            is the boundary.
        lefts, rights: int64[m], the sides of each context, -1 for a side that may be anything.
        walk_left: uint8[m], whether the occurrences of the left side are read, else of the right.
        focal: word ids of the phrase that is left out.
        shortest, longest: minimum and maximum length of a candidate, in tokens.
        room: number of matches that are expected.

    Returns (0 or DAMAGED, hashes uint64, contexts int32, positions int64, lengths uint8), one
    for each match, contexts ascending.
    """
    n = 0
    hashes = np.empty(room, np.uint64)
    contexts = np.empty(room, np.int32)
    positions = np.empty(room, np.int64)
    lengths = np.empty(room, np.uint8)
    state = 0
    for c in range(lefts.size):
        left = lefts[c]
        right = rights[c]
        walked = left if walk_left[c] else right
        more = 1 if walk_left[c] and at_start[walked] else 0
        left_first = side_starts[left] if left >= 0 else 0
        left_stop = side_starts[left + 1] if left >= 0 else 0
        right_first = side_starts[right] if right >= 0 else 0
        right_size = side_starts[right + 1] - right_first if right >= 0 else 0
        max_hashes = n + (highs[walked] - lows[walked] + more) * longest
        if max_hashes > hashes.size:
            room = max(max_hashes, 2 * hashes.size)
            hashes = grown(hashes, n, room)
            contexts = grown(contexts, n, room)
            positions = grown(positions, n, room)
            lengths = grown(lengths, n, room)
        for i in range(lows[walked] - more, highs[walked]):
            if i < lows[walked]:
                at = np.int64(-1)
            else:
                if i + AHEAD < highs[walked]:
                    prefetch(tokens, np.int64(suffixes[i + AHEAD]))
                at = np.int64(suffixes[i])
                if at >= tokens.size:
                    state = DAMAGED
                    break
            for length in range(1, longest + 1):
                if walk_left[c]:
                    begin = at + left_stop - left_first
                    edge = begin + length - 1
                    if edge >= tokens.size or tokens[edge] == 0:
                        break
                    if length < shortest:
                        continue
                    if _compare(tokens, begin + length, sides, right_first, right_size) != 0:
                        continue
                else:
                    begin = at - length
                    if begin < 0 or tokens[begin] == 0:
                        break
                    if length < shortest:
                        continue
                    if not _stands_before(tokens, begin, sides, left_first, left_stop):
                        continue
                if _is_focal(tokens, begin, length, focal):
                    continue
                hashes[n] = _hash_of(tokens, begin, length)
                contexts[n] = c
                positions[n] = begin
                lengths[n] = length
                n += 1
    return state, hashes[:n], contexts[:n], positions[:n], lengths[:n]


@compiled
def sum_shared_contexts(numbers, contexts, context_weights, n_candidates):
    """Return (weight float64, contexts int64, matches int64) of each candidate.

    Arguments:
        numbers: uint32, the candidate of each match.
        contexts: int32, its context, ascending.
        context_weights: float64, the weight of each context.
        n_candidates: number of candidates.
    """
    weights = np.zeros(n_candidates, np.float64)
    n_shared = np.zeros(n_candidates, np.int64)
    matches = np.zeros(n_candidates, np.int64)
    last = np.full(n_candidates, -1, np.int64)
    for m in range(numbers.size):
        candidate = numbers[m]
        matches[candidate] += 1
        if last[candidate] != contexts[m]:
            last[candidate] = contexts[m]
            n_shared[candidate] += 1
            weights[candidate] += context_weights[contexts[m]]
    return weights, n_shared, matches


@compiled
def _is_taken(position, threshold):
    """Return whether a hash of the position is below a threshold of 2^32; 2^32 takes all."""
    mixed = np.uint64(position) * HASH_MULTIPLIER
    mixed ^= mixed >> np.uint64(32)
    mixed *= HASH_START | np.uint64(1)
    return (mixed >> np.uint64(32)) < threshold


@compiled
def count_taken(suffixes, numbers, lows, highs, first_position, thresholds, sizes):
    """Add to sizes[i] how many places of phrase numbers[i] in a shard are taken by their hash.

    Arguments:
        suffixes: uint32, of the shard.
        numbers: int64, of phrases.
        lows, highs: int64 by phrase, its interval of suffixes.
        first_position: of the shard, in the corpus.
        thresholds: uint64[i], 2^32 takes every place.
        sizes: int64, added to.
    """
    for i in range(numbers.size):
        p = numbers[i]
        for at in range(lows[p], highs[p]):
            sizes[i] += _is_taken(np.int64(suffixes[at]) + first_position, thresholds[i])


@compiled
def copy_taken(suffixes, numbers, lows, highs, first_position, thresholds, at, positions):
    """Copy the places that count_taken counts to positions[at[i]:]; move at[i].

    Arguments:
        suffixes: uint32, of the shard.
        numbers: int64, of phrases.
        lows, highs: int64 by phrase, its interval of suffixes.
        first_position: of the shard, in the corpus.
        thresholds: uint64[i], 2^32 takes every place.
        at: int64, where the places of each phrase go; changed.
        positions: int64, written.
    """
    for i in range(numbers.size):
        p = numbers[i]
        n = at[i]
        for row in range(lows[p], highs[p]):
            position = np.int64(suffixes[row]) + first_position
            if _is_taken(position, thresholds[i]):
                positions[n] = position
                n += 1
        at[i] = n


@compiled
def copy_words(tokens, positions, lengths, stops, words):
    """Copy the words of phrases to words[:stops[-1]]; return 0, or DAMAGED.

    Arguments:
        tokens: uint32, of the shard.
        positions, lengths: int64[n], where each phrase is, and its number of tokens.
        stops: int64[n], where each phrase ends in words.
        words: int64, filled.
    """
    for p in range(positions.size):
        begin = positions[p]
        if begin < 0 or begin + lengths[p] > tokens.size:
            return DAMAGED
        for k in range(lengths[p]):
            words[stops[p] - lengths[p] + k] = tokens[begin + k]
    return 0


@compiled
def _stands_in(short, long, without_gap):
    """Return whether the words of `short` are in `long` in the same order, int64 both.

    without_gap: and next to each other.
    """
    k = 0
    for i in range(long.size):
        if without_gap:
            k = 0
            while k < short.size and i + k < long.size and long[i + k] == short[k]:
                k += 1
        elif k < short.size and long[i] == short[k]:
            k += 1
        if k == short.size:
            return True
    return False


@compiled
def relations(words, stops, focal):
    """Return the relations of each phrase to the focal one, uint8: a sum of the flags above.

    PIECE: one of the two is in the other without a gap; CONTAINED: the phrase's words are in the
    focal one in the same order; CONTAINING: the other way round.

    Arguments:
        words: int64, the word ids of all phrases, end to end.
        stops: int64, where each phrase ends.
        focal: int64, word ids of the focal phrase.
    """
    relations_of_phrases = np.zeros(stops.size, np.uint8)
    begin = 0
    for p in range(stops.size):
        phrase = words[begin : stops[p]]
        if _stands_in(phrase, focal, False):
            relations_of_phrases[p] |= CONTAINED
            if _stands_in(phrase, focal, True):
                relations_of_phrases[p] |= PIECE
        if _stands_in(focal, phrase, False):
            relations_of_phrases[p] |= CONTAINING
            if _stands_in(focal, phrase, True):
                relations_of_phrases[p] |= PIECE
        begin = stops[p]
    return relations_of_phrases
