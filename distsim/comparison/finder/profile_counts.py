"""Counts the words and frames around lemmas: in an index, or in one part of a text.

What is counted in parts can be added: features have the same numbers in all parts.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim.base.parallel import Progress
from distsim.comparison.finder import kernels as kernel
from distsim.comparison.finder.inflections import Lemmas
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard, damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import add_rows

MOST_CONTEXTS = 20_000  # lemmas that are context
MOST_FRAMES = 1 << 16
LEAST_FRAME = 30  # occurrences
BLOCK_LEMMAS = 256
_BLOCKS = 64
_TOKENS_A_PART = 1 << 26  # whose frames are counted at once

InThreads = Callable[..., Iterator[Any]]


class CountedProfiles(NamedTuple):
    """What is counted around every lemma, as sparse rows with ascending features.

    Attributes:
        starts: int64[n + 1], where the row of each lemma begins.
        features, counts: uint32. Features are the contexts on the left, those on the right, and
            the frames, in this order.
        n_contexts, n_frames: how many there are of each.
        sentences: uint32[n], how many each lemma is in.
        n_sentences: in all.
    """

    starts: np.ndarray
    features: np.ndarray
    counts: np.ndarray
    n_contexts: int
    n_frames: int
    sentences: np.ndarray
    n_sentences: int


class ProfileFeatures(NamedTuple):
    """What is counted around lemmas, in the word ids of a text.

    Attributes:
        contexts: int32[n_words], the number of the context that a word is, -1 for none.
        n_contexts: of one side.
        keys, numbers: hash table of frames.
        n_frames: how many there are.
    """

    contexts: np.ndarray
    n_contexts: int
    keys: np.ndarray
    numbers: np.ndarray
    n_frames: int

    @classmethod
    def of(cls, lemma_of: np.ndarray, n_lemmas: int, frames: np.ndarray) -> "ProfileFeatures":
        """Return the features of a text.

        Arguments:
            lemma_of: int32[n_words], -1 for a word that has none.
            n_lemmas: number of lemmas.
            frames: uint64, left << 32 | right of each.
        """
        n_contexts = min(MOST_CONTEXTS, n_lemmas)
        slots = 1 << max(4, int(frames.size).bit_length() + 1)
        keys, numbers = map(frozen, kernel.frame_table(frozen(frames), slots))
        contexts = frozen(np.where(lemma_of < n_contexts, lemma_of, -1).astype(np.int32))
        return cls(contexts, n_contexts, keys, numbers, frames.size)

    def rows(
        self, shards: Sequence[Shard], forms: np.ndarray, starts: np.ndarray, path: Path
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the counted rows of some lemmas: (starts, features, counts), features ascending.

        Arguments:
            shards: of the text.
            forms: int64, ids of words; lemma i has forms[starts[i]:starts[i + 1]].
            starts: int64[n + 1].
            path: of the text, for messages.

        Raises:
            ArtifactError: the text is damaged.
        """
        seen = np.zeros(2 * self.n_contexts + self.n_frames, np.uint32)
        parts = []
        for shard in shards:
            state, *part = kernel.count_profiles(
                shard.tokens, shard.suffixes, shard.word_starts, frozen(forms), frozen(starts),
                self.contexts, self.n_contexts, self.keys, self.numbers, seen,
            )  # fmt: skip
            if state < 0:
                raise damaged(path)
            parts.append(part)
        if len(parts) > 1:
            ends = np.cumsum([0, *(part[1].size for part in parts)])
            begins = np.stack([part[0] + end for part, end in zip(parts, ends, strict=False)])
            columns = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
            parts = [add_rows(*map(frozen, (begins, *columns)), seen)]
        row_starts, features, counts = parts[0]
        _order_rows(row_starts, features, counts)
        return row_starts, features, counts


def _order_rows(starts: np.ndarray, features: np.ndarray, counts: np.ndarray) -> None:
    """Put the features of each row in ascending order, in place, with their counts.

    Arguments:
        starts: int64[n + 1], where each row begins.
        features, counts: uint32, changed.
    """
    for first in range(0, starts.size - 1, BLOCK_LEMMAS):
        ends = starts[first : first + BLOCK_LEMMAS + 1]
        block = slice(ends[0], ends[-1])
        packed = features[block].astype(np.uint64) << np.uint64(32) | counts[block]
        for begin, stop in pairwise((ends - ends[0]).tolist()):
            packed[begin:stop].sort()
        features[block] = packed >> np.uint64(32)
        counts[block] = packed.astype(np.uint32)


def count_profiles(
    index: CorpusIndex, lemmas: Lemmas, in_threads: InThreads, progress: Progress
) -> CountedProfiles:
    """Return what is counted around every lemma of an index.

    Arguments:
        index: whose text is read.
        lemmas: in the word ids of the index.
        in_threads: map, of several threads.
        progress: is told the stage, what is done and its total.

    Raises:
        ArtifactError: the index is damaged.
    """
    lemma_of = lemmas.of_words(index.n_words)
    frames = _frequent_frames(index, lemma_of, progress)
    features = ProfileFeatures.of(lemma_of, lemmas.counts.size, frames)

    def counted(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        bounds = lemmas.starts[block[0] : block[1] + 1]
        forms = lemmas.forms[bounds[0] : bounds[-1]]
        return features.rows(index.shards, forms, bounds - bounds[0], index.path)

    ends, blocks = np.cumsum(lemmas.counts.astype(np.int64)), []
    parts = lemma_blocks(lemmas.counts)
    for (_, stop), block in zip(parts, in_threads(counted, parts), strict=True):
        blocks.append(block)
        progress("finder", int(ends[stop - 1]), int(ends[-1]))
    sentences, n_sentences = count_sentences(index.shards, lemma_of, lemmas.counts.size)
    return CountedProfiles(
        *rows_end_to_end(blocks), features.n_contexts, frames.size, sentences, n_sentences
    )


def lemma_blocks(counts: np.ndarray) -> list[tuple[int, int]]:
    """Return half-open ranges of lemmas, each as much as a thread counts at once.

    Arguments:
        counts: int64, occurrences of every lemma.
    """
    ends = np.cumsum(counts.astype(np.int64))
    begins = np.diff(ends // (ends[-1] // _BLOCKS + 1), prepend=-1) > 0
    begins[::BLOCK_LEMMAS] = True
    return list(pairwise([*np.flatnonzero(begins).tolist(), counts.size]))


def rows_end_to_end(
    blocks: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sparse rows that follow each other as one: (starts, features, counts).

    Arguments:
        blocks: (starts, features, counts) of each.
    """
    starts = np.concatenate([[0], *(block[0][1:] for block in blocks)]).astype(np.int64)
    base = np.cumsum([0, *(block[1].size for block in blocks)])
    owner = np.repeat(np.arange(len(blocks)), [block[0].size - 1 for block in blocks])
    starts[1:] += base[owner]
    features, counts = (np.concatenate([block[k] for block in blocks]) for k in (1, 2))
    return starts, features, counts


def count_sentences(
    shards: Sequence[Shard], lemma_of: np.ndarray, n_lemmas: int
) -> tuple[np.ndarray, int]:
    """Return (sentences that each lemma is in, uint32[n_lemmas]; sentences in all).

    Arguments:
        shards: of the text.
        lemma_of: int32[n_words], -1 for a word that has none.
        n_lemmas: number of lemmas.
    """
    sentence_counts, n_sentences = np.zeros(n_lemmas, np.uint32), 0
    for shard in shards:
        own, n = kernel.sentences_of_lemmas(shard.tokens, frozen(lemma_of), n_lemmas)
        sentence_counts, n_sentences = sentence_counts + own, n_sentences + n
    return sentence_counts, n_sentences


def count_frames(
    shards: Sequence[Shard],
    lemma_of: np.ndarray,
    progress: Progress,
    most_tokens: int = _TOKENS_A_PART,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the frames around lemmas, uint64 ascending, with their counts, in disjoint pieces.

    Arguments:
        shards: of the text.
        lemma_of: int32[n_words], -1 for a word that has none.
        progress: is told the stage, pieces done and their total.
        most_tokens: whose frames are counted at once.
    """
    n_parts = 1 + sum(shard.tokens.size for shard in shards) // most_tokens
    for part in range(n_parts):
        progress("frames", part, n_parts)
        around = [
            kernel.frames_around(shard.tokens, frozen(lemma_of), part, n_parts) for shard in shards
        ]
        yield np.unique(np.concatenate(around), return_counts=True)


def commonest_frames(frames: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the MOST_FRAMES commonest frames, uint64, ascending; the lower of equally common ones.

    Arguments:
        frames: uint64, left << 32 | right, words by their first appearance in the text.
        counts: int64, occurrences of each.
    """
    return np.sort(frames[np.lexsort((frames, -counts))[:MOST_FRAMES]])


def _frequent_frames(index: CorpusIndex, lemma_of: np.ndarray, progress: Progress) -> np.ndarray:
    """Return the frames seen LEAST_FRAME times around lemmas, uint64, the MOST_FRAMES commonest.

    Arguments:
        lemma_of: int32[n_words], -1 for a word that has none.
    """
    frames_of_shards, counts = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for frames, times in count_frames(index.shards, lemma_of, progress):
        frames_of_shards.append(frames[times >= LEAST_FRAME])
        counts.append(times[times >= LEAST_FRAME])
    return commonest_frames(np.concatenate(frames_of_shards), np.concatenate(counts))
