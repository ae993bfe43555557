"""Sparse profiles of lemmas by the words around them, their cosines and ranks.

Sparse rows: the features of row i are features[starts[i]:starts[i + 1]], ascending, their
counts or weights beside them. A feature is a lemma on the left, one on the right, or a frame: the
word before and the word behind together.
"""

import math

import numpy as np

from distsim.kernels.arrays import grown
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.suffixes import DAMAGED

WINDOW = 2
NOTHING = np.uint32(0xFFFFFFFF)
_MIXER = np.uint64(0x9E3779B97F4A7C15)


@uncounted
def _frame(keys, numbers, key):
    """Return the number of a frame, uint32; NOTHING where it is no feature.

    Arguments:
        keys, numbers: uint64 and uint32, an open-addressing table.
        key: uint64, left << 32 | right.
    """
    mask = np.uint64(keys.size - 1)
    slot = ((key * _MIXER) >> np.uint64(20)) & mask
    while numbers[slot] != NOTHING and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return numbers[slot]


@compiled
def frame_table(frames, n_slots):
    """Return (keys uint64, numbers uint32) of an open-addressing table of frames.

    Arguments:
        frames: uint64[n], left << 32 | right of each.
        n_slots: a power of 2, twice n at least.
    """
    keys = np.zeros(n_slots, np.uint64)
    numbers = np.full(n_slots, NOTHING, np.uint32)
    mask = np.uint64(n_slots - 1)
    for i in range(frames.size):
        slot = ((frames[i] * _MIXER) >> np.uint64(20)) & mask
        while numbers[slot] != NOTHING:
            slot = (slot + np.uint64(1)) & mask
        keys[slot] = frames[i]
        numbers[slot] = np.uint32(i)
    return keys, numbers


@compiled
def frames_around(tokens, lemmas, part, n_parts):
    """Return left << 32 | right, uint64, of the words beside every token that has a lemma.

    Arguments:
        tokens: uint32, 0 behind each sentence.
        lemmas: int32[n_words], -1 for a word that has none.
        part, n_parts: only frames whose left word is `part` modulo n_parts are returned.
    """
    out = np.empty(tokens.size // n_parts + 1024, np.uint64)
    n = 0
    for i in range(tokens.size - 1):
        left = np.uint64(tokens[i - 1]) if i > 0 else np.uint64(0)
        if tokens[i] >= lemmas.size or lemmas[tokens[i]] < 0 or left % np.uint64(n_parts) != part:
            continue
        if n == out.size:
            out = grown(out, n, 2 * n)
        out[n] = (left << np.uint64(32)) | np.uint64(tokens[i + 1])
        n += 1
    return out[:n]


@compiled
def count_profiles(
    tokens, suffixes, word_starts, forms, form_starts, contexts, n_contexts, keys, numbers, seen
):
    """Return the counts of the words around lemmas in one shard, as sparse rows.

    Arguments:
        tokens, suffixes: uint32, of the shard.
        word_starts: uint32, where the suffixes of each word begin.
        forms: int64, word ids of the forms of all lemmas end to end.
        form_starts: int64[n + 1], lemma i has forms[form_starts[i]:form_starts[i + 1]].
        contexts: int32[n_words], the context number of a word, -1 where it is not counted.
        n_contexts: number of contexts of one side.
        keys, numbers: hash table of frames.
        seen: uint32[2 * n_contexts + frames] of zeros; zeros again afterwards.

    Returns (state, starts int64, features uint32, counts uint32); the features of a row are in no
    order.
    """
    starts = np.zeros(form_starts.size, np.int64)
    features = np.empty(1 << 16, np.uint32)
    counts = np.empty(1 << 16, np.uint32)
    n = 0
    for lemma in range(form_starts.size - 1):
        begin = n
        for f in range(form_starts[lemma], form_starts[lemma + 1]):
            if forms[f] + 1 >= word_starts.size:
                continue
            for s in range(word_starts[forms[f]], word_starts[forms[f] + 1]):
                at = np.int64(suffixes[s])
                if at >= tokens.size:
                    return DAMAGED, starts, features, counts
                if n + 2 * WINDOW + 1 > features.size:
                    features = grown(features, n, 2 * features.size)
                    counts = grown(counts, n, features.size)
                for side in range(2):
                    place = at
                    for _ in range(WINDOW):
                        place += 2 * side - 1
                        if place < 0 or place >= tokens.size or tokens[place] == 0:
                            break
                        if tokens[place] >= contexts.size:
                            return DAMAGED, starts, features, counts
                        context = contexts[tokens[place]]
                        if context >= 0:
                            feature = side * n_contexts + context
                            if seen[feature] == 0:
                                features[n] = feature
                                n += 1
                            seen[feature] += 1
                if at + 1 < tokens.size:
                    left = np.uint64(tokens[at - 1]) if at > 0 else np.uint64(0)
                    frame = _frame(keys, numbers, left << np.uint64(32) | np.uint64(tokens[at + 1]))
                    if frame != NOTHING:
                        feature = 2 * n_contexts + np.int64(frame)
                        if seen[feature] == 0:
                            features[n] = feature
                            n += 1
                        seen[feature] += 1
        for f in range(begin, n):
            counts[f] = seen[features[f]]
            seen[features[f]] = 0
        starts[lemma + 1] = n
    return 0, starts, features[:n].copy(), counts[:n].copy()


@compiled
def weigh_profiles(starts, features, counts, shares, log_p, shift, out_starts, out, weights):
    """Return how many positive weights are left of counts weighed by pointwise mutual information.

    weight = (ln(c / (row * p)) - shift) * c / (c + 1), where c is the count times its feature's
    share and row is the sum of c over the row. Weights are stored as bytes; 255 stands for a
    row's largest weight.

    Arguments:
        starts: int64[n + 1], where each row begins in features and counts.
        features, counts: uint32, feature numbers and their counts.
        shares: float64[n_features], factor of the counts of each feature.
        log_p: float64[n_features], logarithm of the probability of each feature.
        shift: subtracted from the logarithm.
        out_starts: int64[n + 1], where each row begins in out and weights; filled.
        out: uint16, feature numbers; filled.
        weights: uint8, the weight of each; filled.
    """
    n = 0
    for row in range(starts.size - 1):
        total = 0.0
        for i in range(starts[row], starts[row + 1]):
            total += counts[i] * shares[features[i]]
        largest = 0.0
        for again in range(2):
            for i in range(starts[row], starts[row + 1]):
                count = counts[i] * shares[features[i]]
                weight = math.log(count / total) - log_p[features[i]] - shift
                weight *= count / (count + 1.0)
                if again == 0:
                    largest = max(largest, weight)
                elif weight > 0.0:
                    stored = math.floor(255.0 * weight / largest + 0.5)
                    if stored > 0:
                        out[n] = features[i]
                        weights[n] = np.uint8(stored)
                        n += 1
        out_starts[row + 1] = n
    return n


@compiled
def similar_rows(starts, features, weights, squares, row, dense, out):
    """Fill out, float64[n], with the cosine of one row and each; 0 where one has nothing.

    Arguments:
        starts: int64[n + 1], where each row begins.
        features: uint16.
        weights: uint8, the weight of each feature.
        squares: float64[n], the sum of the squared weights of each row.
        row: number of the row compared with.
        dense: int32[n_features] of zeros; zeros again afterwards.
        out: float64[n], filled.
    """
    for i in range(starts[row], starts[row + 1]):
        dense[features[i]] = weights[i]
    for other in range(starts.size - 1):
        total = 0
        for i in range(starts[other], starts[other + 1]):
            total += np.int32(weights[i]) * dense[features[i]]
        scale = squares[other] * squares[row]
        out[other] = total / math.sqrt(scale) if scale > 0.0 else 0.0
    for i in range(starts[row], starts[row + 1]):
        dense[features[i]] = 0


@compiled
def rows_by_feature(starts, features, weights, n_features):
    """Return sparse rows by feature: (starts int64[n_features + 1], rows uint16, weights uint8).

    The rows of a feature ascend.

    Arguments:
        starts, features, weights: as `similar_rows` takes them; 2^16 rows at most.
        n_features: features are below it.
    """
    feature_starts = np.zeros(n_features + 1, np.int64)
    for i in range(features.size):
        feature_starts[np.int64(features[i]) + 1] += 1
    for feature in range(n_features):
        feature_starts[feature + 1] += feature_starts[feature]
    filled = feature_starts.copy()
    rows = np.empty(features.size, np.uint16)
    shares = np.empty(features.size, np.uint8)
    for row in range(starts.size - 1):
        for i in range(starts[row], starts[row + 1]):
            place = filled[features[i]]
            rows[place] = row
            shares[place] = weights[i]
            filled[features[i]] = place + 1
    return feature_starts, rows, shares


@compiled
def similar_columns(starts, rows, shares, features, weights, squares, row, totals, out):
    """Fill out as `similar_rows`, by the rows of each feature: a tenth of the time.

    Arguments:
        starts: int64[n_features + 1], where each feature begins in rows.
        rows: uint16, numbers of rows, by feature.
        shares: uint8, the weight of the feature in each of rows.
        features, weights: uint16 and uint8, those of the row compared with.
        squares: float64[n], the sum of the squared weights of each row.
        row: number of the row compared with.
        totals: int32[n] of zeros; zeros again afterwards.
        out: float64[n], filled.
    """
    for i in range(features.size):
        weight = np.int32(weights[i])
        for j in range(starts[features[i]], starts[features[i] + 1]):
            totals[rows[j]] += weight * np.int32(shares[j])
    for other in range(out.size):
        scale = squares[other] * squares[row]
        out[other] = totals[other] / math.sqrt(scale) if scale > 0.0 else 0.0
        totals[other] = 0


@compiled
def similar_vectors(vectors, squares, row, out):
    """Fill out, float64[n], with the cosine of one row of vectors, int8, and each.

    Arguments:
        vectors: int8[n, n_dimensions].
        squares: float64[n], squared length of each vector.
        row: number of the row compared with.
        out: float64[n], filled.
    """
    for other in range(vectors.shape[0]):
        total = np.int32(0)
        for i in range(vectors.shape[1]):
            # Sums of 32 bits: of 64 bits, as the product is to numba, they take twice the time.
            product = np.int32(vectors[other, i]) * np.int32(vectors[row, i])
            total = np.int32(total + product)
        scale = squares[other] * squares[row]
        out[other] = total / math.sqrt(scale) if scale > 0.0 else 0.0


@compiled
def reference_cosines(
    starts, features, weights, squares, first, references, by_feature, owners, shares, out
):
    """Fill `out` with the cosines of rows and references, negative.

    Arguments:
        starts: int64[n + 1], where each row begins in features and weights.
        features, weights: uint16 and uint8, the numbers of features and their weights.
        squares: float64[n], the sums of the rows' squared weights.
        first: the row of out[0].
        references: int64[m], numbers of rows; a row is not its own reference.
        by_feature: int64[n_features + 1], where the references of each feature begin in owners.
        owners: uint16, numbers of references, by feature.
        shares: uint8, the weight of the feature in each of owners.
        out: float64[m, references.size], of rows first to first + m - 1; written.
    """
    totals = np.empty(references.size, np.int64)
    for row in range(first, first + out.shape[0]):
        totals[:] = 0
        for i in range(starts[row], starts[row + 1]):
            weight = np.int64(weights[i])
            for j in range(by_feature[features[i]], by_feature[features[i] + 1]):
                totals[owners[j]] += weight * shares[j]
        for j in range(references.size):
            scale = squares[references[j]] * squares[row]
            out[row - first, j] = -totals[j] / math.sqrt(scale) if scale > 0.0 else 0.0
            if references[j] == row:
                out[row - first, j] = 1.0


@compiled
def ranks_among(thresholds, log_ranks, rows, cosines):
    """Return ln of the rank that a cosine has in the list of each row, float64[n].

    Arguments:
        thresholds: float32[rows, levels], the row's cosines at the ranks of log_ranks, descending;
            between two the logarithm is linear.
        log_ranks: float64[levels], ln of ranks, ascending.
        rows: int64[n], rows of thresholds.
        cosines: float64[n].
    """
    out = np.empty(rows.size)
    last = log_ranks.size - 1
    for i in range(rows.size):
        level = 0
        while level <= last and thresholds[rows[i], level] > cosines[i]:
            level += 1
        if level == 0 or level > last:
            out[i] = log_ranks[min(level, last)]
            continue
        above = thresholds[rows[i], level - 1]
        below = thresholds[rows[i], level]
        share = (above - cosines[i]) / (above - below)
        out[i] = log_ranks[level - 1] + share * (log_ranks[level] - log_ranks[level - 1])
    return out


@compiled
def sentences_of_lemmas(tokens, lemmas, n_lemmas):
    """Return (the number of sentences that each lemma is in, uint32; sentences).

    Arguments:
        tokens: uint32, word ids, 0 after each sentence.
        lemmas: int32[n_words], -1 for a word that has none.
        n_lemmas: number of lemmas.
    """
    counts = np.zeros(n_lemmas, np.uint32)
    last = np.full(n_lemmas, -1, np.int64)
    sentence = np.int64(0)
    for i in range(tokens.size):
        if tokens[i] == 0:
            sentence += 1
        elif tokens[i] < lemmas.size:
            lemma = lemmas[tokens[i]]
            if lemma >= 0 and last[lemma] != sentence:
                last[lemma] = sentence
                counts[lemma] += 1
    return counts, sentence


@compiled
def count_cooccurrences(tokens, positions, lemmas, last, counts):
    """Return the number of distinct sentences around positions; count each lemma's sentences.

    Arguments:
        tokens: uint32, word ids of a shard, 0 after each sentence.
        positions: int64, ascending; several in one sentence count once.
        lemmas: int32[n_words], -1 for a word that has none.
        last: int64[n_lemmas], -1; overwritten.
        counts: int64[n_lemmas], number of the sentences that contain each lemma; added to.
    """
    end = np.int64(-1)
    n = 0
    for p in range(positions.size):
        at = positions[p]
        if at <= end:
            continue
        n += 1
        while at > 0 and tokens[at - 1] != 0:
            at -= 1
        while at < tokens.size and tokens[at] != 0:
            lemma = lemmas[tokens[at]] if tokens[at] < lemmas.size else -1
            if lemma >= 0 and last[lemma] != p:
                last[lemma] = p
                counts[lemma] += 1
            at += 1
        end = at
    return n
