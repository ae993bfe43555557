"""Candidates of all sources in one list without repetition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import hash_phrases


@dataclass(frozen=True)
class Pool:
    """Phrases to be compared, ordered by the hash of their words.

    words: int64, word ids of all, end to end; stops: int64, where each ends. hashes: uint64.
    numbers: int64[sources, n], the number of each phrase in each source, -1 where it is not
    among its candidates.
    """

    words: np.ndarray
    stops: np.ndarray
    hashes: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, sources: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> "Pool":
        """Return the union of the phrases of several sources, each phrase once.

        Arguments:
            sources: (words, stops, numbers) of each source: words int64, word ids of its phrases
                end to end; stops int64[n], where each phrase ends; numbers int64[n], the number of
                each phrase in the source.
        """
        words = np.concatenate([source[0] for source in sources])
        lengths = np.concatenate([np.diff(source[1], prepend=0) for source in sources])
        stops = np.cumsum(lengths)
        every = hash_phrases(frozen(words), frozen(stops))
        hashes, first, which = np.unique(every, return_index=True, return_inverse=True)
        numbers = np.full((len(sources), hashes.size), -1, np.int64)
        begin = 0
        for row, (_, ends, own) in zip(numbers, sources, strict=True):
            row[which[begin : begin + ends.size]] = own
            begin += ends.size
        chosen = lengths[first]
        new_stops = np.cumsum(chosen)
        offsets = np.arange(int(chosen.sum())) - np.repeat(new_stops - chosen, chosen)
        places = np.repeat(stops[first] - chosen, chosen) + offsets
        return cls(words[places], new_stops, hashes, numbers)

    @property
    def size(self) -> int:
        """The number of phrases."""
        return int(self.stops.size)
