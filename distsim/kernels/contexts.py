"""Compiled loops that count context features of phrases and weigh them, as sparse rows.

Sparse rows: the features of phrase i are features[row_starts[i]:row_starts[i + 1]], with
their counts or weights beside them; no feature occurs twice in a row.
"""

import math
from typing import NamedTuple

import numpy as np

from distsim.kernels.arrays import grown, prefetch
from distsim.kernels.compiled import compiled, inlined
from distsim.kernels.suffixes import DAMAGED

RAW, LOG, PPMI, LLR, LOG_LLR = range(5)


class Scheme(NamedTuple):
    """A weighting scheme: its code and the statistics it needs.

    code: a number of its own. marginals: a weight depends on how often features occur in the
    corpus. probabilities: on ln P(f) too, and on the share of its counts with which a feature
    counts; 0 where ln(count / (row P(f))) is no larger than the shift. settings: the options of
    Weighting that matter to it, in the order of manifests.
    """

    code: int
    marginals: bool = False
    probabilities: bool = False
    settings: tuple[str, ...] = ()


SCHEMES = {
    "raw": Scheme(RAW),
    "log": Scheme(LOG),
    "ppmi": Scheme(
        PPMI,
        marginals=True,
        probabilities=True,
        settings=("alpha", "shift", "subsample", "discount", "min_weight"),
    ),
    "llr": Scheme(LLR, marginals=True),
    "log-llr": Scheme(LOG_LLR, marginals=True),
}


_AHEAD = 16  # features whose numbers are asked for while others are weighed


@compiled
def _take_counts(features, counts, seen, begin, stop, shift):
    """Move the counts of the words features[begin:stop] from `seen` to `counts`, and name features.

    Arguments:
        features: uint32, word ids; become features by adding `shift`.
        counts: uint32, filled.
        seen: uint32[n_words], counts by word; 0 again afterwards.
        begin, stop: half-open range.
        shift: 0 where features are named already.
    """
    for f in range(begin, stop):
        word = features[f]
        counts[f] = seen[word]
        seen[word] = 0
        features[f] = word + np.uint32(shift)


@compiled
def count_around(rows, lows, highs, first, length, wide, narrow, n_words, seen):
    """Return the counted words around phrases of one length: by sides, by positions, or both.

    By sides: within `wide` places, a word at distance d counting wide + 1 - d times; families left,
    right. By positions: at each of `narrow` places; families l1 r1 l2 r2 ..., numbered behind
    those by sides.

    Arguments:
        rows: uint32[n, columns], sorted rows of word ids.
        lows, highs: int64, the occurrences of phrase p are rows lows[p]:highs[p].
        first, length: the phrase of a row is rows[:, first:first + length].
        wide: words on either side that are counted by sides; 0: none.
        narrow: words on either side that are counted by positions; 0: none.
        n_words: of the vocabulary.
        seen: uint32[n_words] of zeros, and zeros again afterwards.

    Returns (row_starts int64, features uint32, counts uint32); a feature is
    family * n_words + word.
    """
    capacity = 1024
    n_sides = 2 if wide > 0 else 0
    row_starts = np.zeros(lows.size + 1, np.int64)
    features = np.empty(capacity, np.uint32)
    counts = np.empty(capacity, np.uint32)
    n = 0
    for p in range(lows.size):
        max_entries = n + (highs[p] - lows[p]) * 2 * (wide + narrow)
        if max_entries >= capacity:  # a place more is written to than is filled
            if max_entries > n + (n_sides + 2 * narrow) * n_words:
                max_entries = n + (n_sides + 2 * narrow) * n_words
            while capacity <= max_entries:
                capacity *= 2
            features = grown(features, n, capacity)
            counts = grown(counts, n, capacity)
        for side in range(n_sides):
            begin = n
            for distance in range(1, wide + 1):
                if side == 0:
                    column = first - distance
                else:
                    column = first + length - 1 + distance
                weight = np.uint32(wide + 1 - distance)
                for i in range(lows[p], highs[p]):
                    word = rows[i, column]
                    if word != 0:
                        # Written in any case and kept where new: no branch to be guessed.
                        features[n] = word
                        n += seen[word] == 0
                        seen[word] += weight
            _take_counts(features, counts, seen, begin, n, side * n_words)
        for position in range(2 * narrow):
            distance = position // 2 + 1
            if position % 2 == 0:
                column = first - distance
            else:
                column = first + length - 1 + distance
            begin = n
            for i in range(lows[p], highs[p]):
                word = rows[i, column]
                if word != 0:
                    features[n] = word
                    n += seen[word] == 0
                    seen[word] += np.uint32(1)
            _take_counts(features, counts, seen, begin, n, (n_sides + position) * n_words)
        row_starts[p + 1] = n
    return row_starts, features[:n].copy(), counts[:n].copy()


@inlined
def _add_beside(tokens, position, length, wide, narrow, n_words, seen, features, n):
    """Return the number of features after counting the words beside one occurrence, or DAMAGED.

    Arguments:
        tokens: uint32, of a shard.
        position, length: of the occurrence, in tokens.
        wide, narrow: tokens on either side that are counted by sides and by positions.
        n_words: words of the index.
        seen: uint32[families * n_words], counts so far.
        features: uint32, the distinct features so far.
        n: number of features that are filled.
    """
    if position + length > tokens.size:
        return DAMAGED
    n_sides = 2 if wide > 0 else 0
    for side in range(2):
        step = np.int64(-1) if side == 0 else np.int64(1)
        at = position - 1 if side == 0 else position + length
        for distance in range(max(wide, narrow)):
            if at < 0 or at >= tokens.size:
                break
            word = np.int64(tokens[at])
            if word == 0:
                break
            if word >= n_words:
                return DAMAGED
            if distance < wide:
                feature = side * n_words + word
                features[n] = np.uint32(feature)  # kept where it is new: no branch to be guessed
                n += seen[feature] == 0
                seen[feature] += np.uint32(wide - distance)
            if distance < narrow:
                feature = (n_sides + 2 * distance + side) * n_words + word
                features[n] = np.uint32(feature)
                n += seen[feature] == 0
                seen[feature] += np.uint32(1)
            at += step
    return n


@compiled
def count_beside(tokens, suffixes, length, wide, narrow, n_words, seen, features):
    """Return the number of features beside one phrase, counted into `seen`; or DAMAGED.

    Arguments:
        tokens: uint32, of the shard.
        suffixes: uint32, where the phrase's occurrences begin.
        length: tokens of the phrase.
        window: words on either side.
        sides: two families, nearer words counting more, as `count_sides` counts; else a family for
            each position, as `count_neighbours` counts.
        n_words: of the vocabulary.
        seen: uint32[families * n_words], counts of features so far; added to.
        features: uint32, filled with those that were 0 in `seen`, in no particular order, with room
            for one more.
    """
    n = 0
    for i in range(suffixes.size):
        position = np.int64(suffixes[i])
        n = _add_beside(tokens, position, length, wide, narrow, n_words, seen, features, n)
        if n == DAMAGED:
            return DAMAGED
    return n


@compiled
def count_beside_words(tokens, suffixes, ends, wide, narrow, n_words, seen):
    """Return the counted words beside each of many words, from the text, as sparse rows.

    Arguments:
        tokens: uint32, of the shard.
        suffixes: uint32, where the occurrences of all words begin.
        ends: int64, word p is at suffixes[ends[p]:ends[p + 1]].
        window: words on either side.
        sides: two families, nearer words counting more; else a family for each position.
        n_words: of the vocabulary.
        seen: uint32[families * n_words] of zeros, and zeros again afterwards.

    Returns (row_starts int64, features uint32, counts uint32), or arrays without a number where the
    text is damaged.
    """
    window = max(wide, narrow)
    capacity = 1  # a place more is written to than is filled
    for p in range(ends.size - 1):
        capacity += min((ends[p + 1] - ends[p]) * 2 * (wide + narrow), seen.size)
    row_starts = np.zeros(ends.size, np.int64)
    features = np.empty(capacity, np.uint32)
    counts = np.empty(capacity, np.uint32)
    n = 0
    for p in range(ends.size - 1):
        begin = n
        for i in range(ends[p], ends[p + 1]):
            if i + _AHEAD < suffixes.size:
                ahead = np.int64(suffixes[i + _AHEAD])
                prefetch(tokens, ahead - window)
                prefetch(tokens, ahead + window)
            position = np.int64(suffixes[i])
            n = _add_beside(tokens, position, 1, wide, narrow, n_words, seen, features, n)
            if n == DAMAGED:
                return row_starts[:0], features[:0], counts[:0]
        _take_counts(features, counts, seen, begin, n, 0)
        row_starts[p + 1] = n
    return row_starts, features[:n].copy(), counts[:n].copy()


@compiled
def add_rows(starts, features, counts, seen):
    """Return the sums of sparse rows of several parts of a text: (row_starts, features, counts).

    Arguments:
        starts: int64[n_parts, n_rows + 1], where the rows of each part begin in features and
            counts.
        features, counts: uint32, of all parts end to end.
        seen: uint32 by feature, zeros, and zeros again afterwards.
    """
    row_starts = np.zeros(starts.shape[1], np.int64)
    summed = np.empty(features.size, np.uint32)
    sums = np.empty(features.size, np.uint32)
    n = 0
    for row in range(starts.shape[1] - 1):
        begin = n
        for part in range(starts.shape[0]):
            for f in range(starts[part, row], starts[part, row + 1]):
                if seen[features[f]] == 0:
                    summed[n] = features[f]
                    n += 1
                seen[features[f]] += counts[f]
        _take_counts(summed, sums, seen, begin, n, 0)
        row_starts[row + 1] = n
    return row_starts, summed[:n].copy(), sums[:n].copy()


@compiled
def log_likelihood_ratio(both, row, column, total):
    """Return Dunning's G2 of a 2x2 table, 0 where the pair is no more frequent than by chance.

    Arguments:
        both: count of phrase and feature together.
        row: count of the phrase.
        column: count of the feature.
        total: count of all.
    """
    if both * total <= row * column:
        return 0.0
    rest_of_row = max(0.0, row - both)
    rest_of_column = max(0.0, column - both)
    rest = max(0.0, total - row - column + both)
    n = both + rest_of_row + rest_of_column + rest
    row_sum = both + rest_of_row
    column_sum = both + rest_of_column
    score = both * math.log(both * n / (row_sum * column_sum))
    if rest_of_row > 0:
        score += rest_of_row * math.log(rest_of_row * n / (row_sum * (n - column_sum)))
    if rest_of_column > 0:
        score += rest_of_column * math.log(rest_of_column * n / ((n - row_sum) * column_sum))
    if rest > 0:
        score += rest * math.log(rest * n / ((n - row_sum) * (n - column_sum)))
    return max(0.0, 2.0 * score)


@inlined
def ln(n, logs):
    """Return the natural logarithm of an integer above 0.

    Arguments:
        n: the integer.
        logs: float64, logs[i] is ln i; larger n are computed.
    """
    whole = np.int64(n)
    return logs[whole] if whole == n and whole < logs.size else math.log(n)


@inlined
def weight(scheme, count, row, column, total, association, shift, discount):
    """Return the weight of a feature of a phrase, by the formulas of Weighting.

    What the scheme does not need is 0. NaN where no scheme has the code.

    Arguments:
        scheme: a code of SCHEMES.
        count: occurrences of phrase and feature together.
        row: of all features of the phrase in the feature's family.
        column: of the feature in the corpus.
        total: of all features of its family in the corpus.
        association: ln(count / (row P(f))).
        shift, discount: the fields of WeightSettings.
    """
    if scheme == RAW:
        return count
    if scheme == LOG:
        return math.log(1.0 + count)
    if scheme == PPMI:
        return max(0.0, association - shift) * (count / (count + discount))
    if scheme == LLR:
        return log_likelihood_ratio(count, row, column, total)
    if scheme == LOG_LLR:
        return math.log(1.0 + log_likelihood_ratio(count, row, column, total))
    return np.nan


@compiled
def require_scheme(scheme):
    """Raise ValueError where no weighting scheme has this code.

    Arguments:
        scheme: a code of SCHEMES.

    Raises:
        ValueError: no scheme has this code.
    """
    if math.isnan(weight(scheme, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)):
        raise ValueError("no weighting scheme has this code")


class WeightTables(NamedTuple):
    """Arrays from which `weigh` computes weights; those that a scheme does not need are empty.

    Attributes:
        families: uint8[n], the family of each feature.
        marginals: float64[n], occurrences of each feature in the corpus.
        chances: float64[n, 2], side by side since they are read at random: twice the family plus
            the share of its counts with which a feature counts (a multiple of 2^-12, at most 1);
            ln(share / P(f)).
        totals: float64[n_families].
        logs: float64, ln i of small whole numbers i.
    """

    families: np.ndarray
    marginals: np.ndarray
    chances: np.ndarray
    totals: np.ndarray
    logs: np.ndarray


class WeightSettings(NamedTuple):
    """The scheme and its settings, with the fields of Weighting.

    Attributes:
        scheme: a code of SCHEMES.
        shift, discount, min_weight: of PPMI.
    """

    scheme: int
    shift: float
    discount: float
    min_weight: float


@inlined
def _row_sums(begin, stop, features, counts, chances, row_totals, row_logs):
    """Fill the sums of the shares of a row's counts by family, and their logarithms.

    Arguments:
        begin, stop: of the row, in features and counts.
        features, counts: uint32, of all rows end to end.
        chances: float64[n, 2], the column `chances` of WeightTables.
        row_totals, row_logs: float64[n_families], filled.
    """
    flat = chances.reshape(-1)
    for f in range(begin, stop):
        if f + _AHEAD < features.size:
            prefetch(flat, np.int64(features[f + _AHEAD]) * 2)
        known = chances[features[f], 0]
        family = np.int64(known) // 2
        row_totals[family] += counts[f] * (known - 2 * family)
    for family in range(row_totals.size):
        row_logs[family] = math.log(row_totals[family]) if row_totals[family] > 0.0 else 0.0


@inlined
def _weigh_associations(begin, stop, features, counts, tables, settings, lowest, sums, weights):
    """Fill the weights of a row by association; return whether any is at least `lowest`.

    Arguments:
        begin, stop: half-open range of the row in features and counts.
        features: uint32, feature numbers. counts: of each feature in its row.
        tables, settings: WeightTables and WeightSettings.
        lowest: smaller weights are 0.
        sums: the row's sums by family, and their logarithms.
        weights: float64, beside features; filled.
    """
    chances = tables.chances
    flat = chances.reshape(-1)
    any_kept = False
    for f in range(begin, stop):
        if f + _AHEAD < features.size:
            prefetch(flat, np.int64(features[f + _AHEAD]) * 2)
        known = chances[features[f], 0]
        family = np.int64(known) // 2
        association = -np.inf
        if counts[f] > 0:
            association = ln(counts[f], tables.logs) + chances[features[f], 1] - sums[1][family]
        feature_weight = 0.0
        if association > settings.shift:
            feature_weight = weight(
                settings.scheme, counts[f] * (known - 2 * family), sums[0][family], 0.0, 0.0,
                association, settings.shift, settings.discount,
            )  # fmt: skip
        any_kept = any_kept or (feature_weight > 0.0 and feature_weight >= lowest)
        weights[f] = feature_weight if feature_weight >= lowest else 0.0
    return any_kept


@compiled
def weigh(row_starts, features, counts, tables, settings):
    """Return the weight of every feature of every row, float64.

    Arguments:
        row_starts: int64[n + 1], where each row begins in features and counts.
        features: uint32, numbers of features.
        counts: of the features, of any integer type.
        tables: WeightTables.
        settings: WeightSettings. Weights below min_weight are 0, in rows that have others.
    """
    scheme, shift, discount = settings.scheme, settings.shift, settings.discount
    families, marginals, totals = tables.families, tables.marginals, tables.totals
    require_scheme(scheme)
    weights = np.empty(features.size, np.float64)
    if totals.size == 0:
        for f in range(features.size):
            count = np.float64(counts[f])
            weights[f] = weight(scheme, count, 0.0, 0.0, 0.0, 0.0, shift, discount)
        return weights
    row_totals = np.zeros(totals.size, np.float64)
    row_logs = np.zeros(totals.size, np.float64)
    for p in range(row_starts.size - 1):
        begin = row_starts[p]
        stop = row_starts[p + 1]
        row_totals[:] = 0.0
        if tables.chances.size == 0:
            for f in range(begin, stop):
                row_totals[families[features[f]]] += counts[f]
            for f in range(begin, stop):
                feature = features[f]
                family = families[feature]
                weights[f] = weight(
                    scheme, np.float64(counts[f]), row_totals[family], marginals[feature],
                    totals[family], 0.0, shift, discount,
                )  # fmt: skip
            continue
        _row_sums(begin, stop, features, counts, tables.chances, row_totals, row_logs)
        lowest = settings.min_weight
        while True:
            any_kept = _weigh_associations(
                begin, stop, features, counts, tables, settings, lowest, (row_totals, row_logs),
                weights,
            )  # fmt: skip
            if any_kept or lowest == 0.0:
                break
            lowest = 0.0
    return weights


@compiled
def cosine(features_a, weights_a, features_b, weights_b):
    """Return the cosine of two sparse vectors with ascending features; -2 for a zero one.

    Arguments:
        features_a, features_b: uint32 or uint64, ascending.
        weights_a, weights_b: float64, the weight of each feature.
    """
    dot = 0.0
    square_a = 0.0
    square_b = 0.0
    for i in range(features_a.size):
        square_a += weights_a[i] * weights_a[i]
    for j in range(features_b.size):
        square_b += weights_b[j] * weights_b[j]
    if square_a == 0.0 or square_b == 0.0:
        return -2.0
    i = 0
    j = 0
    while i < features_a.size and j < features_b.size:
        if features_a[i] == features_b[j]:
            dot += weights_a[i] * weights_b[j]
            i += 1
            j += 1
        elif features_a[i] < features_b[j]:
            i += 1
        else:
            j += 1
    return dot / (math.sqrt(square_a) * math.sqrt(square_b))  # their product may underflow


@compiled
def log_probabilities(families, marginals, log_totals, alpha):
    """Return alpha * ln m(f) - ln (sum of m^alpha over f's family) for every feature, float64.

    Arguments:
        families: integer, the family of each feature.
        marginals: m(f), the count of each feature.
        log_totals: float64, ln of the sum of m^alpha of each family.
        alpha: exponent that smooths the distribution.
    """
    out = np.empty(marginals.size, np.float64)
    for f in range(marginals.size):
        out[f] = alpha * math.log(marginals[f]) - log_totals[families[f]]
    return out
