"""Sampled occurrences -> distributional profiles, and the cosines of many with one."""

import threading
from collections.abc import Sequence

import numpy as np

from distsim.contexts.features import FeatureSpace
from distsim.contexts.weights import Weighting, log_probabilities, scheme_code
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import profile_cosines, weigh_profile
from distsim.paraphrase.occurrences import Occurrences, words_around

_ROWS_AT_ONCE = 1 << 16


class Profiler:
    """Profiles phrases of one index (Marton 2013, 2.2 and 3.2.1); may be shared by threads.

    A profile counts the words within `window` tokens of a phrase, inside its sentence, and
    weighs them. A word's column is the slots it fills around all tokens: its count times the
    slots that a token has on average, about 2 * window.
    """

    def __init__(self, index: CorpusIndex, window: int, weighting: Weighting) -> None:
        self._index = index
        self._window = window
        counts = index.word_counts().astype(np.float64)
        counts[0] = 0.0
        self._total = float(_slots(index, window))
        self._columns = frozen(counts * (self._total / max(1, index.n_tokens)))
        self._log_p = frozen(np.empty(0))
        if weighting.scheme == "ppmi":
            space = FeatureSpace(
                ("w",), np.zeros(counts.size, np.uint8), np.empty(0, np.uint64),
                counts, np.array([counts.sum()]), "",
            )  # fmt: skip
            self._log_p = frozen(log_probabilities(space, weighting.alpha))
        self._scheme = scheme_code(weighting)
        self._shift = weighting.shift
        self._of_thread = threading.local()

    def profile(self, occurrences: Occurrences, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a phrase's collocates, (word ids uint32, weights float64)."""
        rows = self._rows([occurrences], [length])
        seen, touched = self._room(rows.size)
        return weigh_profile(
            frozen(rows), occurrences.scale, self._columns, self._log_p, self._total,
            self._scheme, self._shift, seen, touched,
        )  # fmt: skip

    def cosines(
        self,
        focal: tuple[np.ndarray, np.ndarray],
        phrases: Sequence[Occurrences],
        lengths: Sequence[int],
    ) -> np.ndarray:
        """Return the cosine of the focal profile with each phrase's, float64."""
        dense = np.zeros(self._index.n_words)
        dense[focal[0]] = focal[1]
        cosines = np.empty(len(phrases))
        first = 0
        while first < len(phrases):
            stop, size = first, 0
            while stop < len(phrases) and (stop == first or size < _ROWS_AT_ONCE):
                size += phrases[stop].positions.size
                stop += 1
            part = phrases[first:stop]
            rows = self._rows(part, lengths[first:stop])
            seen, touched = self._room(rows.size)
            starts = np.cumsum([0, *(one.positions.size for one in part)], dtype=np.int64)
            scales = np.array([one.scale for one in part])
            profile_cosines(
                frozen(rows), frozen(starts), frozen(scales), frozen(dense), self._columns,
                self._log_p, self._total, self._scheme, self._shift, seen, touched,
                cosines[first:stop],
            )  # fmt: skip
            first = stop
        return cosines

    def _rows(self, phrases: Sequence[Occurrences], lengths: Sequence[int]) -> np.ndarray:
        positions = np.concatenate([one.positions for one in phrases])
        sizes = [one.positions.size for one in phrases]
        repeated = np.repeat(np.array(lengths, np.int64), sizes)
        return words_around(self._index, positions, repeated, self._window)

    def _room(self, cells: int) -> tuple[np.ndarray, np.ndarray]:
        own = self._of_thread
        if not hasattr(own, "seen"):
            own.seen = np.zeros(self._index.n_words, np.uint32)
            own.touched = np.empty(self._index.n_words, np.uint32)
        return own.seen, own.touched


def _slots(index: CorpusIndex, window: int) -> int:
    """Return the pairs of a token and a word within `window` tokens of it in its sentence."""
    total = 0
    for shard in index.shards:
        lengths = shard.sentence_lengths()
        for distance in range(1, window + 1):
            total += 2 * int(np.maximum(0, lengths - distance).sum())
    return total
