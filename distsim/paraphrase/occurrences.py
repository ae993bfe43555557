"""Phrases' word ids -> where they stand, evenly sampled in corpus order, and the words around."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import copy_sorted, gather_windows, thin_evenly

Words = tuple[int, ...]

_COMMON = 1 << 12
_CACHED_PHRASES = 1 << 12


@dataclass(frozen=True)
class Occurrences:
    """Sampled places of some phrases.

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
        """By what counts at the sampled places are multiplied to stand for all: r / s."""
        return self.counts / np.maximum(1, np.diff(self.starts))

    def thinned(self, sample: int | None) -> "Occurrences":
        """Return at most `sample` of each phrase's places, evenly spaced."""
        if sample is None or np.diff(self.starts).max(initial=0) <= sample:
            return self
        sizes = np.minimum(np.diff(self.starts), sample)
        starts = np.append(0, np.cumsum(sizes))
        positions = np.empty(starts[-1], np.int64)
        thin_evenly(frozen(self.positions), frozen(self.starts), sample, starts, positions)
        return Occurrences(positions, starts, self.counts, self.lengths)

    def chosen(self, numbers: np.ndarray) -> "Occurrences":
        """Return those of some of the phrases."""
        parts = [self.positions[self.starts[n] : self.starts[n + 1]] for n in numbers.tolist()]
        starts = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
        positions = np.concatenate([np.empty(0, np.int64), *parts])
        return Occurrences(positions, starts, self.counts[numbers], self.lengths[numbers])


def word_ids(index: CorpusIndex, words: Sequence[str]) -> np.ndarray:
    """Return the id of every word, -1 where the index does not know it; int64."""
    return index.vocabulary.find(hash_texts([word.encode(errors="replace") for word in words]))


class Sampler:
    """Takes at most `sample` occurrences of phrases, evenly spaced in corpus order.

    Corpus order does not change with the shards, suffix order does. The samples of common
    phrases are kept, for they are asked for again and again; may be shared by threads.
    """

    def __init__(self, index: CorpusIndex, sample: int) -> None:
        self._index = index
        self._sample = sample
        self._common: OrderedDict[Words, np.ndarray] = OrderedDict()
        self._lock = Lock()

    def sample(self, phrases: Sequence[Words]) -> Occurrences:
        """Return the sampled occurrences of phrases given by their word ids."""
        lengths = np.array([len(phrase) for phrase in phrases], np.int64)
        ids = np.array([word for phrase in phrases for word in phrase], np.int64)
        stops = np.cumsum(lengths)
        shards = self._index.shards
        intervals = [shard.intervals(ids, stops) for shard in shards]
        counts = np.zeros(lengths.size, np.int64)
        for lows, highs in intervals:
            counts += highs - lows
        rare = counts <= _COMMON
        sizes = np.where(rare, counts, np.minimum(counts, self._sample))
        starts = np.append(0, np.cumsum(sizes))
        positions = np.empty(starts[-1], np.int64)
        at = starts[:-1].copy()
        for shard, (lows, highs) in zip(shards, intervals, strict=True):
            copy_sorted(
                shard.suffixes, np.flatnonzero(rare), lows, highs, shard.first_position, at,
                positions,
            )  # fmt: skip
        for number in np.flatnonzero(~rare).tolist():
            where = [(lows[number], highs[number]) for lows, highs in intervals]
            found = self._of_common(phrases[number], where)
            positions[starts[number] : starts[number + 1]] = found
        return Occurrences(positions, starts, counts, lengths).thinned(self._sample)

    def _of_common(self, phrase: Words, intervals: list[tuple[int, int]]) -> np.ndarray:
        with self._lock:
            kept = self._common.get(phrase)
            if kept is not None:
                self._common.move_to_end(phrase)
                return kept
        parts = [
            np.sort(shard.suffixes[low:high]).astype(np.int64) + shard.first_position
            for shard, (low, high) in zip(self._index.shards, intervals, strict=True)
        ]
        positions = np.concatenate(parts)
        size = min(self._sample, positions.size)
        positions = positions[np.arange(size) * positions.size // size]
        with self._lock:
            self._common[phrase] = positions
            if len(self._common) > _CACHED_PHRASES:
                self._common.popitem(last=False)
        return positions


def words_around(
    index: CorpusIndex, positions: np.ndarray, lengths: np.ndarray, window: int
) -> np.ndarray:
    """Return the words within `window` tokens of phrases, uint32[n, 2 * window].

    First those on the left, nearest first, then those on the right, nearest first; 0 from
    the sentence's edge outwards. positions: int64, of the corpus; lengths: int64, tokens.
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
