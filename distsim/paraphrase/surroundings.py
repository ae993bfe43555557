"""Distinct contexts L _ R of the occurrences of a phrase (Marton 2013, 3.2.2)."""

from dataclasses import dataclass

import numpy as np

from distsim.indexes.corpus_index import CorpusIndex
from distsim.paraphrase.occurrences import SampledOccurrences, locate, words_around

COMMON = 150  # words: function words and punctuation, whatever the language
_LAST_BYTES = 256


def commonest(index: CorpusIndex) -> np.ndarray:
    """Return the ids of the commonest words of an index, int64, the commonest first.

    Arguments:
        index: of the text.
    """
    ids: np.ndarray = np.argsort(-index.word_counts().astype(np.int64), kind="stable")[:COMMON]
    return ids


class WordsBeside:
    """Kinds of the words right beside phrases; may be shared by threads.

    Each of the commonest words and the sentence's edge is a kind of its own. Other words are of one
    kind that end in the same letter, as inflected words do.

    Arguments:
        index: of the phrases.
    """

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index
        vocabulary = index.vocabulary
        ends = vocabulary.offsets[2:].astype(np.int64)
        kinds = np.zeros(index.n_words, np.int64)
        kinds[1:] = vocabulary.text[np.maximum(ends - 1, 0)]
        own = np.append(commonest(index), 0)
        kinds[own] = _LAST_BYTES + np.arange(own.size)
        self._kinds, self._n_kinds = kinds, _LAST_BYTES + own.size

    def likeness(self, focal: SampledOccurrences, others: SampledOccurrences) -> np.ndarray:
        """Return how alike the words beside a phrase and each of n others are, float64[n], 0 to 1.

        The Bhattacharyya coefficient of the shares of the kinds on the left, times that on the
        right (Bhattacharyya 1943), each divided by what so many occurrences of the one phrase
        itself would have, so that rare phrases do not lose by their few occurrences.

        Arguments:
            focal: occurrences of the one phrase. others: of the others.
        """
        alike = np.ones(others.counts.size)
        taken = np.maximum(1, np.diff(others.starts))
        for share, many in zip(self._shares(focal), self._shares(others), strict=True):
            alike *= np.minimum(1.0, np.sqrt(share * many).sum(axis=1) / _expected(share[0], taken))
        return alike

    def _shares(self, phrases: SampledOccurrences) -> list[np.ndarray]:
        """Return the shares of kinds on the left and on the right, float64[n, kinds] each."""
        n, sizes = phrases.counts.size, np.diff(phrases.starts)
        lengths = np.repeat(phrases.lengths, sizes)
        rows = words_around(self._index, phrases.positions, lengths, 1)
        places = np.repeat(np.arange(n), sizes) * self._n_kinds
        shares = []
        for side in range(2):
            counted = np.bincount(places + self._kinds[rows[:, side]], minlength=n * self._n_kinds)
            shares.append(counted.reshape(n, self._n_kinds) / np.maximum(1, sizes)[:, None])
        return shares


def _expected(shares: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Return the coefficient to be expected of samples of the same shares, float64[n].

    The mean of the square root of a count of mean m is about m / sqrt(m + 1/4 + 3/4 exp(-m)): as a
    Poisson count's where m is small and where it is large.

    Arguments:
        shares: float64[kinds], the true ones. taken: int64[n], the size of each sample.
    """
    shares = shares[shares > 0.0]
    means = taken[:, None] * shares
    roots = means / np.sqrt(means + 0.25 + 0.75 * np.exp(-means))
    expected: np.ndarray = (roots * np.sqrt(shares)).sum(axis=1) / np.sqrt(taken)
    return expected


LONGEST_SIDE = 8


@dataclass(frozen=True)
class ContextSides:
    """Left and right contexts: strings of words directly before, or directly after, a phrase.

    words: int64, in text order, end to end; 0 is the boundary of a sentence.
    starts: int64[n + 1]. counts: int64, how often each occurs in the corpus.
    lows, highs: int64[shards, n], suffixes. at_start: uint8[shards, n], whether a shard's
    first sentence begins with it.
    """

    words: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    at_start: np.ndarray

    def side(self, number: int) -> np.ndarray:
        """Return the words of one side, int64."""
        return self.words[self.starts[number] : self.starts[number + 1]]


@dataclass(frozen=True)
class Surroundings:
    """Distinct contexts L _ R of a phrase, those seen most often first.

    Of those seen as often the first is the one whose rarer side has the lower count.

    sides: of both hands. lefts, rights: int64, the sides of each context, -1 for none.
    multiplicities: int64, at how many occurrences the context was seen.
    """

    sides: ContextSides
    lefts: np.ndarray
    rights: np.ndarray
    multiplicities: np.ndarray

    @property
    def costs(self) -> np.ndarray:
        """Occurrences of the side that is walked, int64."""
        counts = np.append(self.sides.counts, np.iinfo(np.int64).max)
        counted: np.ndarray = np.minimum(counts[self.lefts], counts[self.rights])
        return counted

    def chosen(self, numbers: np.ndarray) -> "Surroundings":
        """Return some of the contexts.

        numbers: integers, of the contexts.
        """
        return Surroundings(
            self.sides, self.lefts[numbers], self.rights[numbers], self.multiplicities[numbers]
        )


def surroundings(
    index: CorpusIndex, occurrences: SampledOccurrences, most_common: int
) -> Surroundings:
    """Return the distinct contexts L _ R of a phrase's occurrences (Marton 2013, 3.2.2).

    L grows leftwards from one token until it occurs at most `most_common` (mcc) times, R
    rightwards. A side that reaches the sentence's edge ends there, with the boundary as its
    last token; so does one that is still too common at LONGEST_SIDE tokens. A context with
    both sides too common is left out.
    """
    around = _around(index, occurrences)
    before = _Growth(index, around[:, :LONGEST_SIDE], True)
    after = _Growth(index, around[:, LONGEST_SIDE:], False)
    sides, left_of, right_of = _both_sides(before.grow(most_common), after.grow(most_common))
    n = max(1, sides.counts.size)
    pairs, multiplicities = np.unique(left_of * n + right_of, return_counts=True)
    all_pairs = Surroundings(sides, pairs // n, pairs % n, multiplicities)
    return _in_order(all_pairs.chosen(np.flatnonzero(all_pairs.costs <= most_common)))


def one_sided(
    index: CorpusIndex, occurrences: SampledOccurrences, most_common: int, shortest: int
) -> Surroundings:
    """Return the contexts L _ and _ R, each side alone, of at least `shortest` tokens.

    A side alone says less than two, so it grows until it occurs at most `most_common` times.

    Arguments:
        most_common: occurrences of a side at most.
        shortest: tokens of a side.
    """
    around = _around(index, occurrences)
    before = _Growth(index, around[:, :LONGEST_SIDE], True)
    after = _Growth(index, around[:, LONGEST_SIDE:], False)
    sides, left_of, right_of = _both_sides(
        before.grow(most_common, shortest), after.grow(most_common, shortest)
    )
    left, left_times = np.unique(left_of, return_counts=True)
    right, right_times = np.unique(right_of, return_counts=True)
    pairs_of_sides = Surroundings(
        sides,
        np.concatenate([left, np.full(right.size, -1)]),
        np.concatenate([np.full(left.size, -1), right]),
        np.concatenate([left_times, right_times]),
    )
    long_enough = np.append(np.diff(sides.starts) >= shortest, True)
    fit = (
        (pairs_of_sides.costs <= most_common)
        & long_enough[pairs_of_sides.lefts]
        & long_enough[pairs_of_sides.rights]
    )
    return _in_order(pairs_of_sides.chosen(np.flatnonzero(fit)))


def _around(index: CorpusIndex, occurrences: SampledOccurrences) -> np.ndarray:
    lengths = np.repeat(occurrences.lengths, np.diff(occurrences.starts))
    return words_around(index, occurrences.positions, lengths, LONGEST_SIDE)


def _in_order(pairs_of_sides: Surroundings) -> Surroundings:
    """Order contexts by the times seen, most first, then by rarity, then by their words.

    Sides are numbered by the ids of their words, which do not depend on shards.
    """
    order = np.lexsort(
        (
            pairs_of_sides.rights,
            pairs_of_sides.lefts,
            pairs_of_sides.costs,
            -pairs_of_sides.multiplicities,
        )
    )
    return pairs_of_sides.chosen(order)


class _Growth:
    """Grows the sides on one hand of all occurrences together, a token at a time.

    beside: uint32[n, LONGEST_SIDE], the tokens beside each occurrence, nearest first.
    """

    def __init__(self, index: CorpusIndex, beside: np.ndarray, left: bool) -> None:
        self._index = index
        self._beside = beside.astype(np.int64)
        self._left = left

    def grow(self, most_common: int, shortest: int = 1) -> tuple[ContextSides, np.ndarray]:
        """Return the distinct sides and the side of each occurrence, int64[n]."""
        beside = self._beside
        side_of = np.empty(len(beside), np.int64)
        group = np.zeros(len(beside), np.int64)
        active = np.arange(len(beside))
        parts: list[ContextSides] = []
        n_sides = 0
        for size in range(1, beside.shape[1] + 1):
            if not active.size:
                break
            keys = group * self._index.n_words + beside[active, size - 1]
            _, example, group = np.unique(keys, return_index=True, return_inverse=True)
            patterns = beside[active[example], :size]
            occurrences = self._occurrences_of(patterns[:, ::-1] if self._left else patterns)
            done = (
                ((occurrences.counts <= most_common) & (size >= shortest))
                | (patterns[:, -1] == 0)
                | (size == beside.shape[1])
            )
            kept = np.flatnonzero(done)
            number = np.full(done.size, -1, np.int64)
            number[kept] = n_sides + np.arange(kept.size)
            n_sides += kept.size
            parts.append(_chosen(occurrences, kept, size))
            ended = done[group]
            side_of[active[ended]] = number[group[ended]]
            active, group = active[~ended], group[~ended]
        return _concatenated(parts, len(self._index.shards)), side_of

    def _occurrences_of(self, patterns: np.ndarray) -> ContextSides:
        n, size = patterns.shape
        stops = (np.arange(n, dtype=np.int64) + 1) * size
        occurrences = locate(self._index, np.ascontiguousarray(patterns).reshape(-1), stops)
        at_start = np.zeros(occurrences.lows.shape, np.uint8)
        counts = occurrences.counts
        if self._left:
            for number, shard in enumerate(self._index.shards):
                if shard.tokens.size >= size:
                    rest = patterns[:, 1:] == shard.tokens[: size - 1].astype(np.int64)
                    at_start[number] = (patterns[:, 0] == 0) & rest.all(axis=1)
        if size > 1:  # the boundary alone: the shard's last one stands for its first sentence
            counts = counts + at_start.sum(axis=0, dtype=np.int64)
        return ContextSides(
            occurrences.words,
            np.append(0, stops),
            counts,
            occurrences.lows,
            occurrences.highs,
            at_start,
        )


def _chosen(sides: ContextSides, numbers: np.ndarray, size: int) -> ContextSides:
    words = sides.words.reshape(-1, size)[numbers].reshape(-1)
    return ContextSides(
        words,
        np.arange(numbers.size + 1, dtype=np.int64) * size,
        sides.counts[numbers],
        sides.lows[:, numbers],
        sides.highs[:, numbers],
        sides.at_start[:, numbers],
    )


def _concatenated(parts: list[ContextSides], n_shards: int) -> ContextSides:
    nothing = np.empty((n_shards, 0), np.int64)
    lengths = [np.diff(part.starts) for part in parts]
    return ContextSides(
        np.concatenate([np.empty(0, np.int64), *(part.words for part in parts)]),
        np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64),
        np.concatenate([np.empty(0, np.int64), *(part.counts for part in parts)]),
        np.concatenate([nothing, *(part.lows for part in parts)], axis=1),
        np.concatenate([nothing, *(part.highs for part in parts)], axis=1),
        np.concatenate([nothing.astype(np.uint8), *(part.at_start for part in parts)], axis=1),
    )


def _both_sides(
    before: tuple[ContextSides, np.ndarray], after: tuple[ContextSides, np.ndarray]
) -> tuple[ContextSides, np.ndarray, np.ndarray]:
    sides = _concatenated([before[0], after[0]], len(before[0].lows))
    return sides, before[1], after[1] + before[0].counts.size
