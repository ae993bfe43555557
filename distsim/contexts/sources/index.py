"""Index -> phrases with the words beside them, counted."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from distsim.base.errors import ParameterError
from distsim.base.parallel import ordered_map
from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.contexts.ngram import NgramCounter, NgramModel, feature_space
from distsim.contexts.phrase_store import PhraseStore, Spelling
from distsim.contexts.selection import Selection
from distsim.contexts.sources.source import (
    BATCH_PHRASES,
    Lesson,
    Model,
    Part,
    PhraseBatch,
    Work,
    batches_of,
    most_frequent,
)
from distsim.contexts.vectors import no_counts
from distsim.contexts.weights import Weighting
from distsim.corpus.vocabulary import hash_blob, hash_texts
from distsim.indexes import phrase_walk
from distsim.indexes.corpus_index import CorpusIndex

_TEACHING_COUNT = 5
_ALWAYS_TEACHING = 1000


def lesson_of_words(counts: np.ndarray, n_families: int, rows: int, features: int) -> Lesson:
    """Return how much of what is asked for words of these counts, the highest first, can teach.

    Words seen fewer than five times teach nothing but cost as much as the others: unless
    there are too few others, they are neither rows nor features.
    """
    frequent = max(int((counts >= _TEACHING_COUNT).sum()), _ALWAYS_TEACHING)
    rows = min(rows, frequent)
    features = min(features, frequent * n_families)
    enough = int(counts[min(rows, counts.size) - 1]) if counts.size else 1
    return Lesson(rows, features, max(1, enough))


def word_pieces(ids: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    """Cut ids of words into pieces with few enough words and occurrences; counts: by id."""
    ends = np.cumsum(counts[ids].astype(np.int64))
    pieces = np.arange(ids.size) // BATCH_PHRASES + ends // phrase_walk.CHUNK_ROWS
    return np.split(ids, np.flatnonzero(np.diff(pieces)) + 1) if ids.size else []


class IndexSource:
    """The phrases of an index."""

    usual_model: ClassVar[type[Model]] = NgramModel

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index

    @contextmanager
    def counted(
        self, model: Model, weighting: Weighting, selection: Selection, work: Work
    ) -> Iterator["IndexText"]:
        """See PhraseSource.

        Raises:
            ParameterError: the model is no n-gram model.
        """
        if not isinstance(model, NgramModel):
            raise ParameterError(
                "an index holds words and no annotation: sign annotated text with the syntactic "
                "model, or the index with an n-gram model"
            )
        yield IndexText(self.index, model, work)


class IndexText:
    """A CountedText; its parts are ranges of first words, counted as they are asked for."""

    is_sorted = False
    parameters: ClassVar[dict[str, Any]] = {}

    def __init__(self, index: CorpusIndex, model: NgramModel, work: Work) -> None:
        self.model = model.manifest()
        self.normaliser = index.options.normaliser
        self.text_format = index.options.text_format
        self.corpus = self.marginals = index.corpus
        self.n_tokens = int(index.parameters["counts"]["tokens"])
        self.n_sentences = int(index.parameters["counts"]["sentences"])
        self._index = index
        self._model = model
        self._work = work
        self._of_thread = threading.local()

    @cached_property
    def space(self) -> FeatureSpace:
        """All words of the index in every family."""
        return feature_space(self._index, self._model.window, self._model.sides)

    @cached_property
    def _counts(self) -> np.ndarray:
        """How often each word occurs, uint64, by id; the sentence boundary never."""
        counts = self._index.word_counts()
        counts[:1] = 0
        return counts

    def gather_marginals(self, min_count: int) -> None:
        """Nothing is to be done: an index knows how often its words occur."""

    def lowest_count(self, selection: Selection) -> int:
        """Return the least count that a selected phrase can have."""
        if selection.max_phrases is None:
            return selection.min_count
        index = self._index
        most = int(index.word_counts()[1:].max(initial=0))
        histogram = np.zeros(most + 1, np.int64)
        for chunk in phrase_walk.walk(index.shards, index.n_words, selection.max_length):
            for length in range(1, selection.max_length + 1):
                lows, highs = chunk.runs(length, selection.min_count)
                counts = np.minimum(highs - lows, most)  # more only where the index is damaged
                histogram += np.bincount(counts, minlength=most + 1)
        at_least = np.cumsum(histogram[::-1])[::-1]
        enough = np.flatnonzero(at_least >= selection.max_phrases)
        return max(selection.min_count, int(enough[-1]) if enough.size else 0)

    def lesson(self, rows: int, features: int) -> Lesson:
        """Return how much of what is asked for the index can teach."""
        counts = np.sort(self._counts[1:])[::-1]
        return lesson_of_words(counts, len(self.model["families"]), rows, features)

    def frequent_features(self, most: int) -> np.ndarray:
        """Return the hashes of the `most` most frequent features, uint64, ascending."""
        return most_frequent(self.space.hashes, self.space.marginals, most)

    def total(self) -> int:
        """Return the tokens of the index."""
        return int(self._counts.sum())

    def parts(self, min_count: int, max_length: int, by_hash: bool = False) -> Iterator[Part]:
        """Yield the pieces of all phrases of 1 to max_length tokens."""
        if by_hash:
            yield from self._sorted_parts(max_length)
        elif max_length == 1:
            yield from self._word_parts(self._frequent(min_count), self._counted_words)
        else:
            yield from self._parts(min_count, range(1, max_length + 1))

    def words(self, min_count: int, most: int) -> Iterator[Part]:
        """Yield the pieces of all words that occur min_count times; see WordsApart."""
        ids = self._frequent(min_count)
        more = self._counts[ids] > most
        yield from self._word_parts(ids[more], self._words)
        yield from self._word_parts(ids[~more], self._counted_words)

    def _frequent(self, min_count: int) -> np.ndarray:
        """Return the ids of the words that occur min_count times."""
        return np.flatnonzero(self._counts >= max(1, min_count))

    def _word_parts(
        self, ids: np.ndarray, count: Callable[[np.ndarray], PhraseBatch]
    ) -> Iterator[Part]:
        for some in word_pieces(ids, self._counts):
            yield Part(partial(count, some), int(self._counts[some].sum()))

    def _words(self, ids: np.ndarray) -> PhraseBatch:
        """Return words without contexts."""
        return self._batch_of_words(ids, no_counts(ids.size, np.uint32))  # as all of an index

    def _counted_words(self, ids: np.ndarray) -> PhraseBatch:
        """Return words with their contexts."""
        return self._batch_of_words(ids, self._counter().count_words(self._index.shards, ids))

    def _batch_of_words(self, ids: np.ndarray, contexts: ContextCounts) -> PhraseBatch:
        one_each = np.ones(ids.size, np.int64)
        text, ends = self._index.render(
            ids.astype(np.uint32)[:, None], np.arange(ids.size), one_each, 0
        )
        return PhraseBatch(
            hashes=hash_blob(text, ends),
            text=text,
            text_lengths=np.diff(ends),
            strengths=self._counts[ids],
            contexts=contexts,
            space=self.space,
        )

    def _counter(self) -> NgramCounter:
        """Return the thread's own counter."""
        if not hasattr(self._of_thread, "counter"):
            self._of_thread.counter = NgramCounter(
                self._index.n_words, self._model.window, self._model.sides
            )
        counter: NgramCounter = self._of_thread.counter
        return counter

    def longer_parts(self, min_count: int, max_length: int, own_from: int) -> Iterator[Part]:
        """Yield the pieces of all phrases of 2 to max_length tokens; see WordsApart."""
        yield from self._parts(min_count, range(2, max_length + 1), own_from)

    def _parts(self, min_count: int, lengths: range, own_from: int = 0) -> Iterator[Part]:
        counts = self._counts
        for words in phrase_walk.chunk_words(counts) if lengths else ():
            content = (words, min_count, lengths, own_from)
            yield Part(content, int(counts[words[0] : words[1]].sum()))

    def count(self, part: Part) -> list[PhraseBatch]:
        """Return the batches of a part."""
        if isinstance(part.content, PhraseBatch):
            return [part.content]
        if isinstance(part.content, partial):
            return [part.content()]
        return [batch for batch, _ in self._count(*part.content)]

    def _count(
        self,
        first_words: tuple[int, int],
        min_count: int,
        lengths: range,
        own_from: int = 0,
    ) -> Iterator[tuple[PhraseBatch, np.ndarray]]:
        """Yield batches and the ids of their phrases' words, uint32[n, length].

        Arguments:
            own_from: what occurs less often is not looked at, as if it stood nowhere.
        """
        index, window, counter = self._index, self._model.window, self._counter()
        chunk = phrase_walk.gather_chunk(
            index.shards, first_words, index.n_words, lengths[-1], window, window
        )
        for length in lengths:
            all_lows, all_highs = chunk.runs(length, min_count)
            for begin in range(0, all_lows.size, BATCH_PHRASES):
                lows = all_lows[begin : begin + BATCH_PHRASES]
                highs = all_highs[begin : begin + BATCH_PHRASES]
                text, ends = index.render(
                    chunk.rows, lows, np.full(lows.size, length), chunk.before
                )
                looked_at = np.where(highs - lows < own_from, lows, highs)
                batch = PhraseBatch(
                    hashes=hash_blob(text, ends),
                    text=text,
                    text_lengths=np.diff(ends),
                    strengths=(highs - lows).astype(np.uint64),
                    contexts=counter.count_runs(chunk, lows, looked_at, length),
                    space=self.space,
                )
                yield batch, chunk.rows[lows, chunk.before : chunk.before + length]

    def _spelling(self) -> Spelling:
        vocabulary = self._index.vocabulary
        hashes = vocabulary.word_hashes()

        def phrase_hash(words: Sequence[int]) -> int:
            text = " ".join(map(vocabulary.word, words))
            return int(hash_texts([text.encode()])[0])

        return Spelling(lambda: hashes, phrase_hash)

    def _sorted_parts(self, max_length: int) -> Iterator[Part]:
        """Yield all phrases, however rare, in ascending order of their hashes."""
        work, done, total = self._work, 0, self.total()
        store = PhraseStore(max_length, work.folder, work.memory, self._spelling())
        parts = list(self.parts(1, max_length))

        def count(part: Part) -> list[tuple[PhraseBatch, np.ndarray]]:
            return list(self._count(*part.content))

        try:
            for part, counted in zip(parts, ordered_map(count, parts, work.jobs), strict=True):
                for batch, words in counted:
                    n, length = words.shape
                    spelt = words.reshape(-1), np.arange(n) * length, np.full(n, length)
                    store.add_phrases(batch.hashes, *spelt, batch.strengths)
                    sizes = np.diff(batch.contexts.starts)
                    store.add_contexts(
                        np.repeat(batch.hashes, sizes),
                        store.tagged(*spelt, sizes, batch.contexts.features),
                        batch.contexts.counts,
                    )
                done += part.size
                work.progress("counting", done, total)
            vocabulary = self._index.vocabulary
            for block in store.blocks():
                for batch in batches_of(block, vocabulary.text, vocabulary.offsets, self.space):
                    yield Part(batch, 0)
        finally:
            store.close()
