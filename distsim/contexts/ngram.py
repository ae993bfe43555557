"""Index -> n-gram contexts: the words at each place beside a phrase (thesis 5.2.1)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.contexts.weights import Weigher, Weighting
from distsim.errors import ParameterError
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.phrase_walk import PhraseChunk
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import count_neighbours

WIDEST = 3


def family_names(window: int) -> tuple[str, ...]:
    """Return the names of the families: side and distance, nearest first.

    >>> family_names(2)
    ('l1', 'r1', 'l2', 'r2')

    Raises:
        ParameterError: the window is not 1 to 3.
    """
    if not 1 <= window <= WIDEST:
        raise ParameterError(f"window {window}: choose 1 to {WIDEST} tokens a side")
    return tuple(f"{side}{distance}" for distance in range(1, window + 1) for side in "lr")


def model_manifest(window: int) -> dict[str, Any]:
    """Return what a fingerprint keeps of the n-gram model."""
    return {"name": "ngram", "window": window, "families": list(family_names(window))}


def feature_space(index: CorpusIndex, window: int) -> FeatureSpace:
    """Return the features of an index: every word at every place; number = family * words + id.

    A feature's marginal is the word's count, its family's total the number of places of that
    kind: tokens that have another so far away in their sentence.
    """
    names = family_names(window)
    counts = index.word_counts().astype(np.float64)
    counts[0] = 0.0
    hashes = [index.vocabulary.word_hashes(f"{name}:".encode()) for name in names]
    lengths = np.concatenate([shard.sentence_lengths() for shard in index.shards])
    slots = [float(np.maximum(0, lengths - k).sum()) for k in range(1, window + 1)]
    return FeatureSpace(
        family_names=names,
        families=np.repeat(np.arange(len(names), dtype=np.uint8), index.n_words),
        hashes=np.concatenate(hashes),
        marginals=np.tile(counts, len(names)),
        totals=np.repeat(slots, 2),
        marginals_checksum=index.parameters["corpus"],
    )


class NgramCounter:
    """Counts the neighbours of phrases in an index; one for each thread."""

    def __init__(self, n_words: int, window: int) -> None:
        family_names(window)
        self._n_words = n_words
        self._window = window
        self._seen = np.zeros(n_words, np.uint32)

    def count_runs(
        self, chunk: PhraseChunk, lows: np.ndarray, highs: np.ndarray, length: int
    ) -> ContextCounts:
        """Count the contexts of the phrases of `length` tokens in runs of a chunk's rows."""
        return ContextCounts(
            *count_neighbours(
                frozen(chunk.rows), frozen(lows), frozen(highs), chunk.before, length,
                self._window, self._n_words, self._seen,
            )
        )  # fmt: skip


def phrase_contexts(index: CorpusIndex, phrase: str, window: int) -> ContextCounts:
    """Return the contexts of one phrase, features ascending; a single empty row if unseen.

    Raises:
        ParameterError: the phrase is empty or the window out of range.
    """
    family_names(window)
    rows = index.neighbourhoods(phrase, window, window)
    counter = NgramCounter(index.n_words, window)
    chunk = PhraseChunk(rows, np.empty(0, np.uint8), window)
    run = np.array([0, len(rows)])
    contexts = counter.count_runs(chunk, run[:1], run[1:], 0)
    order = np.argsort(contexts.features)
    return ContextCounts(contexts.starts, contexts.features[order], contexts.counts[order])


class NamedContext(NamedTuple):
    """A feature of a phrase: `l1:revise` is the word `revise` right before it."""

    feature: str
    occurrences: int
    weight: float


@overload
def named_contexts(
    index: CorpusIndex, phrase: str, window: int = ..., weighting: Weighting | None = ...
) -> list[NamedContext]: ...
@overload
def named_contexts(
    index: CorpusIndex, phrase: Sequence[str], window: int = ..., weighting: Weighting | None = ...
) -> list[list[NamedContext]]: ...
def named_contexts(
    index: CorpusIndex,
    phrase: str | Sequence[str],
    window: int = 1,
    weighting: Weighting | None = None,
) -> list[NamedContext] | list[list[NamedContext]]:
    """Return a phrase's contexts, or those of each of several, strongest first, then by count.

    Raises: as phrase_contexts.
    """
    space = feature_space(index, window)
    weigher = Weigher(space, weighting or Weighting())
    if isinstance(phrase, str):
        return _named(index, phrase_contexts(index, phrase, window), space, weigher)
    return [_named(index, phrase_contexts(index, one, window), space, weigher) for one in phrase]


def _named(
    index: CorpusIndex, contexts: ContextCounts, space: FeatureSpace, weigher: Weigher
) -> list[NamedContext]:
    weights = weigher.weigh(contexts)
    families, words = np.divmod(contexts.features.astype(np.int64), index.n_words)
    named = [
        NamedContext(
            f"{space.family_names[family]}:{index.vocabulary.word(word)}", count, weight
        )
        for family, word, count, weight in zip(
            families.tolist(), words.tolist(), contexts.counts.tolist(), weights.tolist(),
            strict=True,
        )
    ]  # fmt: skip
    return sorted(named, key=lambda row: (-row[2], -row[1], row[0]))
