"""Compiled loops that sort triples (phrase, feature, count) and sum equal ones."""

import numpy as np

from distsim.kernels.compiled import compiled

_BUCKETS = 512  # as many as can be written to side by side without leaving the cache
_INNER_BITS = 9  # of the second pass
_INNER = 1 << _INNER_BITS
_MOST_INNER = 1 << 16  # a larger bucket has few phrases, and is not copied for a second pass
_FEW = 24  # so few are sorted by insertion


@compiled
def sort_triples(phrases, features, counts, out_phrases, out_features, out_counts):
    """Fill the out arrays with the triples in order of phrase, then feature (all uint64).

    Two passes by the phrases' leading bits, then a quicksort of each bucket: hashes spread
    evenly, so buckets are small; where one phrase fills one, its features are sorted.

    Arguments:
        phrases, features, counts: uint64[n].
        out_phrases, out_features, out_counts: uint64[n], filled.
    """
    if phrases.size == 0:
        return
    lowest = phrases[0]
    highest = phrases[0]
    for i in range(phrases.size):
        lowest = min(lowest, phrases[i])
        highest = max(highest, phrases[i])
    shift = np.uint64(0)
    while (highest - lowest) >> shift >= np.uint64(_BUCKETS):
        shift += np.uint64(1)
    stops = np.zeros(_BUCKETS + 1, np.int64)
    for i in range(phrases.size):
        stops[np.int64((phrases[i] - lowest) >> shift) + 1] += 1
    for bucket in range(_BUCKETS):
        stops[bucket + 1] += stops[bucket]
    at = stops[:_BUCKETS].copy()
    for i in range(phrases.size):
        bucket = np.int64((phrases[i] - lowest) >> shift)
        place = at[bucket]
        at[bucket] += 1
        out_phrases[place] = phrases[i]
        out_features[place] = features[i]
        out_counts[place] = counts[i]
    largest = 0
    for bucket in range(_BUCKETS):
        if stops[bucket + 1] - stops[bucket] <= _MOST_INNER:
            largest = max(largest, stops[bucket + 1] - stops[bucket])
    room_phrases = np.empty(largest, np.uint64)
    room_features = np.empty(largest, np.uint64)
    room_counts = np.empty(largest, np.uint64)
    inner = np.empty(_INNER + 1, np.int64)
    down = shift - np.uint64(min(np.int64(shift), _INNER_BITS))
    for bucket in range(_BUCKETS):
        begin, stop = stops[bucket], stops[bucket + 1]
        if stop - begin <= _INNER or stop - begin > _MOST_INNER or shift == 0:
            _quicksort(out_phrases, out_features, out_counts, begin, stop)
            continue
        # The same again by the next bits, inside the cache.
        inner[:] = 0
        for i in range(begin, stop):
            inner[(np.int64((out_phrases[i] - lowest) >> down) & (_INNER - 1)) + 1] += 1
        for k in range(_INNER):
            inner[k + 1] += inner[k]
        for i in range(begin, stop):
            k = np.int64((out_phrases[i] - lowest) >> down) & (_INNER - 1)
            place = inner[k]
            inner[k] += 1
            room_phrases[place] = out_phrases[i]
            room_features[place] = out_features[i]
            room_counts[place] = out_counts[i]
        for i in range(begin, stop):
            out_phrases[i] = room_phrases[i - begin]
            out_features[i] = room_features[i - begin]
            out_counts[i] = room_counts[i - begin]
        first = begin
        for k in range(_INNER):  # inner[k] is where the part k ends now
            last = begin + inner[k]
            if last - first > 1:
                _quicksort(out_phrases, out_features, out_counts, first, last)
            first = last


@compiled
def _before(phrase_a, feature_a, phrase_b, feature_b):
    """Return whether triple a comes before b: by phrase, then feature, each uint64."""
    return phrase_a < phrase_b or (phrase_a == phrase_b and feature_a < feature_b)


@compiled
def _swap(phrases, features, counts, i, j):
    """Exchange triples i and j of phrases, features and counts, uint64[n] each."""
    phrases[i], phrases[j] = phrases[j], phrases[i]
    features[i], features[j] = features[j], features[i]
    counts[i], counts[j] = counts[j], counts[i]


@compiled
def _quicksort(phrases, features, counts, begin, stop):
    """Sort triples begin:stop in place; equal triples are halved evenly between the sides.

    Arguments:
        phrases, features, counts: uint64[n].
        begin, stop: the half-open range.
    """
    low = begin
    high = stop - 1
    stack = np.empty(128 if high - low >= _FEW else 0, np.int64)
    depth = 0
    while True:
        while high - low >= _FEW:
            middle = (low + high) >> 1
            if _before(phrases[middle], features[middle], phrases[low], features[low]):
                _swap(phrases, features, counts, low, middle)
            if _before(phrases[high], features[high], phrases[low], features[low]):
                _swap(phrases, features, counts, low, high)
            if _before(phrases[high], features[high], phrases[middle], features[middle]):
                _swap(phrases, features, counts, middle, high)
            phrase = phrases[middle]
            feature = features[middle]
            i = low
            j = high
            while i <= j:
                while _before(phrases[i], features[i], phrase, feature):
                    i += 1
                while _before(phrase, feature, phrases[j], features[j]):
                    j -= 1
                if i <= j:
                    _swap(phrases, features, counts, i, j)
                    i += 1
                    j -= 1
            # The larger side waits, so that the stack stays as deep as a logarithm.
            if j - low < high - i:
                stack[depth] = i
                stack[depth + 1] = high
                high = j
            else:
                stack[depth] = low
                stack[depth + 1] = j
                low = i
            depth += 2
        for i in range(low + 1, high + 1):
            phrase = phrases[i]
            feature = features[i]
            count = counts[i]
            j = i - 1
            while j >= low and _before(phrase, feature, phrases[j], features[j]):
                phrases[j + 1] = phrases[j]
                features[j + 1] = features[j]
                counts[j + 1] = counts[j]
                j -= 1
            phrases[j + 1] = phrase
            features[j + 1] = feature
            counts[j + 1] = count
        if depth == 0:
            return
        depth -= 2
        low = stack[depth]
        high = stack[depth + 1]


@compiled
def sum_equal(phrases, features, counts):
    """Return the number of distinct triples after summing equal neighbours in place.

    Arguments:
        phrases, features, counts: uint64[n], sorted.
    """
    n = 0
    for i in range(phrases.size):
        if n > 0 and phrases[i] == phrases[n - 1] and features[i] == features[n - 1]:
            counts[n - 1] += counts[i]
        else:
            phrases[n] = phrases[i]
            features[n] = features[i]
            counts[n] = counts[i]
            n += 1
    return n


@compiled
def find_phrases(phrases):
    """Return (distinct phrases uint64[m], where each begins int64[m + 1]) of phrases in order.

    Arguments:
        phrases: uint64, ascending.
    """
    n = 0
    for i in range(phrases.size):
        if i == 0 or phrases[i] != phrases[i - 1]:
            n += 1
    distinct = np.empty(n, np.uint64)
    starts = np.empty(n + 1, np.int64)
    n = 0
    for i in range(phrases.size):
        if i == 0 or phrases[i] != phrases[i - 1]:
            distinct[n] = phrases[i]
            starts[n] = i
            n += 1
    starts[n] = phrases.size
    return distinct, starts
