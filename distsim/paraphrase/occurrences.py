"""A phrase's word ids -> where it stands, evenly sampled, and the words around it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import gather_windows


class Occurrences(NamedTuple):
    """Sampled places of a phrase: corpus positions int64, ascending, of `count` in all."""

    positions: np.ndarray
    count: int

    @property
    def scale(self) -> float:
        """By what counts at the sampled places are multiplied to stand for all (r / s)."""
        return self.count / self.positions.size if self.positions.size else 1.0


def word_ids(index: CorpusIndex, words: Sequence[str]) -> np.ndarray:
    """Return the id of every word, -1 where the index does not know it; int64."""
    return index.vocabulary.find(hash_texts([word.encode(errors="replace") for word in words]))


def sample_occurrences(
    index: CorpusIndex, phrases: Sequence[np.ndarray], sample: int
) -> list[Occurrences]:
    """Return at most `sample` occurrences of each phrase, evenly spaced in corpus order.

    Corpus order does not change with the shards, suffix order does.
    """
    ids = np.concatenate([np.asarray(phrase, np.int64) for phrase in phrases])
    stops = np.cumsum([len(phrase) for phrase in phrases], dtype=np.int64)
    intervals = [shard.intervals(ids, stops) for shard in index.shards]
    found = []
    for number in range(len(phrases)):
        parts = [
            np.sort(shard.suffixes[lows[number] : highs[number]]).astype(np.int64)
            + shard.first_position
            for shard, (lows, highs) in zip(index.shards, intervals, strict=True)
        ]
        positions = parts[0] if len(parts) == 1 else np.concatenate(parts)
        count = positions.size
        if count > sample:
            positions = positions[np.arange(sample) * count // sample]
        found.append(Occurrences(positions, count))
    return found


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
