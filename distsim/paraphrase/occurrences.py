"""Occurrences of phrases in an index: found, sampled, and with the words around them."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np

from distsim.base.arguments import WordIds
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import copy_taken, count_taken
from distsim.kernels.suffixes import find_intervals
from distsim.paraphrase.kernels.profiles import gather_windows

COMMON_COUNT = 1 << 12  # phrases with more occurrences are common: they are sampled, and kept
_VERY_COMMON = 1 << 17  # a sample is taken of a sample that needs no sorting of all
_SAMPLE_FACTOR = 4  # times the sample wanted
_PLACE_BYTES = 8
_EVERY_HASH = 1 << 32


@dataclass(frozen=True)
class Located:
    """Intervals of suffixes and counts of phrases in an index.

    words: int64, the word ids of all, end to end; stops: int64, where each ends.
    lows, highs: int64[shards, n], suffixes. counts: int64, how often each occurs.
    """

    words: np.ndarray
    stops: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    counts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each phrase, int64."""
        return np.diff(self.stops, prepend=0)

    def phrase(self, number: int) -> WordIds:
        """Return the word ids of one phrase."""
        stop = int(self.stops[number])
        start = int(self.stops[number - 1]) if number else 0
        return tuple(self.words[start:stop].tolist())


@dataclass(frozen=True)
class SampledOccurrences:
    """Sampled positions of some phrases.

    positions: int64, of the corpus, ascending for each phrase; those of phrase p are
    positions[starts[p]:starts[p + 1]]. counts: int64, how often each occurs in all.
    lengths: int64, tokens of each.
    """

    positions: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray

    @property
    def scales(self) -> np.ndarray:
        """Occurrences per sampled one of each phrase, float64: scales sampled counts to all."""
        return self.counts / np.maximum(1, np.diff(self.starts))

    def thinned(self, sample: int | None) -> "SampledOccurrences":
        """Return at most `sample` positions of the only phrase, evenly spaced.

        Arguments:
            sample: maximum number of positions.
        """
        if sample is None or self.positions.size <= sample:
            return self
        positions = _evenly(self.positions, sample)
        return SampledOccurrences(positions, np.array([0, sample]), self.counts, self.lengths)


def word_ids(index: CorpusIndex, words: Sequence[str]) -> np.ndarray:
    """Return the id of every word, -1 where the index does not know it; int64.

    Arguments:
        words: in normal form.
    """
    return index.vocabulary.find(
        hash_texts([word.encode(errors="surrogatepass") for word in words])
    )


def locate(index: CorpusIndex, words: np.ndarray, stops: np.ndarray) -> Located:
    """Return where phrases occur.

    Arguments:
        index: where they are looked up.
        words: int64, word ids of all phrases, end to end; 0 is the boundary of a sentence.
        stops: int64, where each phrase ends in `words`.
    """
    shape = (len(index.shards), stops.size)
    lows, highs = np.empty(shape, np.int64), np.empty(shape, np.int64)
    for number, shard in enumerate(index.shards):
        state = find_intervals(
            shard.tokens, shard.suffixes, shard.word_starts, frozen(words), frozen(stops),
            lows[number], highs[number],
        )  # fmt: skip
        if state < 0:
            raise damaged()
    return Located(words, stops, lows, highs, (highs - lows).sum(axis=0))


class Sampler:
    """Samples of occurrences of phrases, which do not depend on the shards.

    Corpus order does not change with the shards, suffix order does. Samples of common
    phrases are cached, since they are needed often; may be shared by threads.

    Arguments:
        index: the corpus.
        sample: at most so many occurrences of a phrase make its profile.
        memory: of the places that are kept.
        common: of phrases that occur more often `few` takes places in order of the corpus, which
            have to be sorted once and are kept; with a number beyond all counts it never does.
    """

    def __init__(
        self, index: CorpusIndex, sample: int, memory: int = 64 << 20, common: int = COMMON_COUNT
    ) -> None:
        self._index = index
        self._sample = sample
        self._common_above = common
        self._max_places = memory // _PLACE_BYTES
        self._places_kept: OrderedDict[WordIds, np.ndarray] = OrderedDict()
        self._kept = 0
        self._lock = Lock()

    def sample(self, located: Located, numbers: np.ndarray) -> SampledOccurrences:
        """Return at most `sample` occurrences of some phrases, evenly spaced in corpus order.

        Arguments:
            located: phrases that occur.
            numbers: int64[n], which of them.
        """
        parts = [self._places(located, number) for number in numbers.tolist()]
        return _joined(parts, located, numbers)

    def few(self, located: Located, numbers: np.ndarray, few: int) -> SampledOccurrences:
        """Return about `few` occurrences of some phrases, all where there are no more.

        Those are taken whose hash is low enough: nothing need be sorted.

        Arguments:
            located: phrases that occur.
            numbers: int64[n], which of them.
            few: occurrences wanted of each.
        """
        counts = located.counts[numbers]
        common = counts > max(self._common_above, few)
        positions, starts = self._taken(located, numbers[~common], few)
        if not common.any():
            return SampledOccurrences(positions, starts, counts, located.lengths[numbers])
        taken = iter(np.split(positions, starts[1:-1]))
        parts = [
            _evenly(self._places(located, number), few) if sorts else next(taken)
            for number, sorts in zip(numbers.tolist(), common.tolist(), strict=True)
        ]
        return _joined(parts, located, numbers)

    def _taken(
        self, located: Located, numbers: np.ndarray, few: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return positions of about `few` occurrences of each phrase, and where each begins.

        Arguments:
            numbers: int64, which of them.
        """
        counts = located.counts[numbers]
        thresholds = np.maximum(1, few * _EVERY_HASH // np.maximum(few, counts))
        thresholds = frozen(thresholds.astype(np.uint64))
        sizes = np.zeros(numbers.size, np.int64)
        chosen = frozen(numbers)
        for shard, lows, highs in zip(self._index.shards, located.lows, located.highs, strict=True):
            count_taken(
                shard.suffixes, chosen, frozen(lows), frozen(highs), shard.first_position,
                thresholds, sizes,
            )  # fmt: skip
        starts = np.append(0, np.cumsum(sizes))
        positions = np.empty(starts[-1], np.int64)
        at = starts[:-1].copy()
        for shard, lows, highs in zip(self._index.shards, located.lows, located.highs, strict=True):
            copy_taken(
                shard.suffixes, chosen, frozen(lows), frozen(highs), shard.first_position,
                thresholds, at, positions,
            )  # fmt: skip
        for start, stop in pairwise(starts.tolist()):
            positions[start:stop].sort()
        return positions, starts

    def _places(self, located: Located, number: int) -> np.ndarray:
        if located.counts[number] <= COMMON_COUNT:
            return _evenly(self._sorted(located, number), self._sample)
        phrase = located.phrase(number)
        with self._lock:
            kept = self._places_kept.get(phrase)
            if kept is not None:
                self._places_kept.move_to_end(phrase)
                return kept
        places = _evenly(self._sorted(located, number), self._sample)
        with self._lock:
            if phrase not in self._places_kept:
                self._places_kept[phrase] = places
                self._kept += places.size
            while self._kept > self._max_places and len(self._places_kept) > 1:
                self._kept -= self._places_kept.popitem(last=False)[1].size
        return places

    def _sorted(self, located: Located, number: int) -> np.ndarray:
        if located.counts[number] > max(_VERY_COMMON, _SAMPLE_FACTOR * self._sample):
            return np.sort(
                self._taken(located, np.array([number]), _SAMPLE_FACTOR * self._sample)[0]
            )
        parts = [
            np.sort(shard.suffixes[low:high]).astype(np.int64) + shard.first_position
            for shard, low, high in zip(
                self._index.shards, located.lows[:, number], located.highs[:, number], strict=True
            )
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def words_around(
    index: CorpusIndex, positions: np.ndarray, lengths: np.ndarray, window: int
) -> np.ndarray:
    """Return the words within `window` tokens of phrases, uint32[n, 2 * window].

    First those on the left, nearest first, then those on the right, nearest first; 0 from
    the sentence's edge outwards.

    Arguments:
        positions: int64[n], positions in the corpus.
        lengths: int64[n], length of each phrase in tokens.
    """
    rows = np.empty((positions.size, 2 * window), np.uint32)
    starts = [shard.first_position for shard in index.shards]
    owners = np.searchsorted(starts, positions, "right") - 1
    for number, shard in enumerate(index.shards):
        mine = slice(None) if len(starts) == 1 else owners == number
        inside = positions[mine] - shard.first_position
        part = rows[mine]
        state = gather_windows(
            shard.tokens, frozen(inside), frozen(lengths[mine]), window, index.n_words, part
        )
        if state < 0:
            raise damaged()
        if len(starts) > 1:
            rows[mine] = part
    return rows


def _evenly(places: np.ndarray, max_places: int) -> np.ndarray:
    if places.size <= max_places:
        return places
    return places[np.arange(max_places) * places.size // max_places]


def _joined(parts: list[np.ndarray], located: Located, numbers: np.ndarray) -> SampledOccurrences:
    starts = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
    positions = np.concatenate([np.empty(0, np.int64), *parts])
    return SampledOccurrences(positions, starts, located.counts[numbers], located.lengths[numbers])
