"""Sampled occurrences -> distributional profiles, and the cosines of many with one."""

import threading

import numpy as np

from distsim.contexts.features import FeatureSpace
from distsim.contexts.weights import Weighting, feature_log_probabilities, scheme_code
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import profile_cosines, squared_length, weigh_profile
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
            self._log_p = frozen(feature_log_probabilities(space, weighting.alpha))
        self._scheme = scheme_code(weighting)
        self._shift = weighting.shift
        self._of_thread = threading.local()

    def profile(self, occurrences: Occurrences) -> np.ndarray:
        """Return the profile of one phrase, float64 by word."""
        rows = self._rows(occurrences, 0, 1)
        seen, touched = self._room()
        words, weights = weigh_profile(
            frozen(rows), occurrences.scales[0], self._columns, self._log_p, self._total,
            self._scheme, self._shift, seen, touched,
        )  # fmt: skip
        dense = np.zeros(self._index.n_words)
        dense[words] = weights
        return dense

    def cosines(self, focal: np.ndarray, phrases: Occurrences) -> np.ndarray:
        """Return the cosine of the focal profile with each phrase's, float64; 0 without one."""
        n = phrases.counts.size
        cosines = np.zeros(n)
        square = squared_length(frozen(focal))
        scales = phrases.scales
        first = 0
        while first < n:
            limit = phrases.starts[first] + _ROWS_AT_ONCE
            stop = max(first + 1, int(np.searchsorted(phrases.starts, limit, "right")) - 1)
            rows = self._rows(phrases, first, stop)
            starts = phrases.starts[first : stop + 1] - phrases.starts[first]
            seen, touched = self._room()
            profile_cosines(
                frozen(rows), frozen(starts), frozen(scales[first:stop]), frozen(focal), square,
                self._columns, self._log_p, self._total, self._scheme, self._shift, seen,
                touched, cosines[first:stop],
            )  # fmt: skip
            first = stop
        return cosines

    def _rows(self, phrases: Occurrences, first: int, stop: int) -> np.ndarray:
        sizes = np.diff(phrases.starts[first : stop + 1])
        positions = phrases.positions[phrases.starts[first] : phrases.starts[stop]]
        lengths = np.repeat(phrases.lengths[first:stop], sizes)
        return words_around(self._index, positions, lengths, self._window)

    def _room(self) -> tuple[np.ndarray, np.ndarray]:
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
