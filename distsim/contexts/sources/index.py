"""Source: phrases of an index with the words beside them, counted."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.base.parallel import ordered_map
from distsim.contexts.ngram import NgramCounter, NgramModel, feature_space
from distsim.contexts.phrase_store import PhraseStore, Selection
from distsim.contexts.sources.source import (
    BATCH_PHRASES,
    CountedText,
    Model,
    PhraseBatch,
    ThreadTask,
    TrainingLimits,
    Work,
    parts_of,
)
from distsim.contexts.weights import ContextCounts, FeatureSpace, no_counts
from distsim.corpus.vocabulary import hash_blob
from distsim.indexes import phrase_walk
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import FirstWords

_MIN_TRAINING_COUNT = 5
_MIN_TRAINING_WORDS = 1000


def limits_of_words(
    counts: np.ndarray, n_families: int, rows: int, features: int
) -> TrainingLimits:
    """Return the size of the training set that words give.

    Words that occur less than five times are neither rows nor features, unless there are fewer
    than 1,000 others: they cost as much and add nothing.

    Arguments:
        counts: occurrences of each word, descending.
        n_families: families of features.
        rows, features: the most that is wanted.
    """
    frequent = max(int((counts >= _MIN_TRAINING_COUNT).sum()), _MIN_TRAINING_WORDS)
    rows = min(rows, frequent)
    features = min(features, frequent * n_families)
    enough = int(counts[min(rows, counts.size) - 1]) if counts.size else 1
    return TrainingLimits(rows, features, max(1, enough))


def word_pieces(ids: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    """Return ids of words in pieces with few enough words and occurrences.

    Arguments:
        ids: int64, of words.
        counts: occurrences by id.
    """
    ends = np.cumsum(counts[ids].astype(np.int64))
    pieces = np.arange(ids.size) // BATCH_PHRASES + ends // phrase_walk.CHUNK_ROWS
    return np.split(ids, np.flatnonzero(np.diff(pieces)) + 1) if ids.size else []


class PhraseRuns(NamedTuple):
    """Some phrases of one length in a chunk of a phrase walk.

    Attributes:
        chunk: the chunk.
        length: tokens of each phrase.
        lows, highs: int64[n], phrase i has the chunk's rows lows[i]:highs[i].
        text: uint8, the phrases' UTF-8 end to end.
        ends: int64[n + 1], where each begins in `text`.
    """

    chunk: phrase_walk.PhraseChunk
    length: int
    lows: np.ndarray
    highs: np.ndarray
    text: np.ndarray
    ends: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Occurrences of each phrase, uint64[n]."""
        counts: np.ndarray = (self.highs - self.lows).astype(np.uint64)
        return counts


def phrase_runs(
    index: CorpusIndex,
    first_words: FirstWords,
    lengths: range,
    min_count: int,
    window: int = 0,
) -> Iterator[PhraseRuns]:
    """Yield the phrases that begin with some words, in batches, by length.

    Arguments:
        index: of the text.
        first_words: whole where phrases of one token are among the `lengths`.
        lengths: of phrases, in tokens.
        min_count: the lowest count of a phrase.
        window: tokens on either side that the chunk's rows hold too.
    """
    chunk = phrase_walk.gather_chunk(
        index.shards, first_words, index.n_words, lengths[-1], window, window
    )
    for length in lengths:
        all_lows, all_highs = chunk.runs(length, min_count)
        for begin in range(0, all_lows.size, BATCH_PHRASES):
            lows = all_lows[begin : begin + BATCH_PHRASES]
            highs = all_highs[begin : begin + BATCH_PHRASES]
            text, ends = index.render(chunk.rows, lows, np.full(lows.size, length), chunk.before)
            yield PhraseRuns(chunk, length, lows, highs, text, ends)


class IndexSource:
    """The phrases of an index.

    Arguments:
        index: of the text.
    """

    usual_model: ClassVar[type[Model]] = NgramModel

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index

    @contextmanager
    def counted(self, model: Model, selection: Selection, work: Work) -> Iterator["IndexText"]:
        """Return the phrases of the index with their counts.

        Arguments:
            model: an n-gram model of contexts.
            selection: which phrases are counted.
            work: threads, memory and progress.

        Raises:
            ParameterError: the model is no n-gram model.
        """
        if not isinstance(model, NgramModel):
            raise ParameterError(
                "an index holds words and no annotation: sign annotated text with the syntactic "
                "model, or the index with an n-gram model"
            )
        yield IndexText(self.index, model)


class IndexText(CountedText):
    """A CountedText; its parts are ranges of first words, counted as they are asked for.

    Arguments:
        index: of the text.
        model: which contexts are counted.
    """

    is_sorted = False

    def __init__(self, index: CorpusIndex, model: NgramModel) -> None:
        self.model = model.manifest()
        self.normaliser = index.options.normaliser
        self.text_format = index.options.text_format
        self.corpus = self.marginals = index.corpus
        self.content = index.text_checksum
        self.n_tokens = int(index.parameters["counts"]["tokens"])
        self.n_sentences = int(index.parameters["counts"]["sentences"])
        self._index = index
        self._model = model
        self._of_thread = threading.local()

    @cached_property
    def space(self) -> FeatureSpace:
        """All words of the index in every family."""
        return feature_space(self._index, *self._model.shape)

    @cached_property
    def _counts(self) -> np.ndarray:
        """Occurrences of each word, uint64 by id; 0 for the sentence boundary."""
        counts = self._index.word_counts()
        counts[:1] = 0
        return counts

    @property
    def language(self) -> str:
        """The name of the inflections of the index's language."""
        return self._index.language

    def lowest_count(self, selection: Selection) -> int:
        """Return the lowest count that a phrase of the `selection` can have.

        Arguments:
            selection: selection of phrases.
        """
        if selection.max_phrases is None:
            return selection.min_count
        index = self._index
        highest = int(index.word_counts()[1:].max(initial=0))
        histogram = np.zeros(highest + 1, np.int64)
        for chunk in phrase_walk.walk(index.shards, index.n_words, selection.max_length):
            for length in range(1, selection.max_length + 1):
                lows, highs = chunk.runs(length, selection.min_count)
                counts = np.minimum(highs - lows, highest)  # more only where the index is damaged
                histogram += np.bincount(counts, minlength=highest + 1)
        at_least = np.cumsum(histogram[::-1])[::-1]
        enough = np.flatnonzero(at_least >= selection.max_phrases)
        return max(selection.min_count, int(enough[-1]) if enough.size else 0)

    def training_limits(self, rows: int, features: int) -> TrainingLimits:
        """Return the size of the training set, at most `rows` and `features`.

        Arguments:
            rows: maximum number of rows.
            features: maximum number of features.
        """
        counts = np.sort(self._counts[1:])[::-1]
        return limits_of_words(counts, len(self.model["families"]), rows, features)

    def total(self) -> int:
        """Return the tokens of the index."""
        return int(self._counts.sum())

    def parts(self, min_count: int, max_length: int) -> Iterator[ThreadTask]:
        """Yield the parts of all phrases of 1 to max_length tokens.

        Arguments:
            min_count: occurrences of a phrase; rarer ones are left out.
            max_length: tokens of the longest phrases.
        """
        if max_length == 1:
            yield from self._word_parts(self._frequent(min_count), self._counted_words)
        else:
            yield from self._parts(min_count, range(1, max_length + 1))

    def sorted_parts(self, max_length: int, work: Work) -> Iterator[ThreadTask]:
        """Yield the batches of all phrases, however rare, in ascending order of their hashes.

        Arguments:
            max_length: tokens of the longest phrases.
            work: folder, memory and threads for putting them in order.
        """
        done, total = 0, self.total()
        vocabulary = self._index.vocabulary
        store = PhraseStore(max_length, work.folder, work.memory)

        def counted(task: ThreadTask) -> tuple[int, list[tuple[PhraseBatch, np.ndarray]]]:
            return task.size, [(batch, self._word_ids(batch)) for batch in self.count(task)]

        try:
            for size, batches in ordered_map(counted, self.parts(1, max_length), work.jobs):
                for batch, words in batches:
                    lengths = batch.token_counts()
                    starts = np.cumsum(lengths) - lengths
                    store.add_phrases(batch.hashes, words, starts, lengths, batch.strengths)
                    contexts = batch.contexts
                    phrases = np.repeat(batch.hashes, np.diff(contexts.starts))
                    store.add_contexts(phrases, contexts.features, contexts.counts)
                done += size
                work.progress("counting", done, total)
            for block in store.blocks():
                yield from parts_of(
                    block, vocabulary.text, vocabulary.offsets, self.space, max_length
                )
        finally:
            store.close()

    def _word_ids(self, batch: PhraseBatch) -> np.ndarray:
        """Return the ids of the words of all phrases of a batch, uint32, end to end."""
        is_space = batch.text == ord(" ")
        letters = np.append(0, np.cumsum(~is_space))
        stops = np.union1d(np.flatnonzero(is_space), np.cumsum(batch.text_lengths))
        hashes = hash_blob(batch.text[~is_space], np.append(0, letters[stops]))
        return self._index.vocabulary.find(hashes).astype(np.uint32)

    def words(self, min_count: int, max_count: int) -> Iterator[ThreadTask]:
        """Yield the parts of all words whose count is in a range.

        Arguments:
            min_count, max_count: the range, both included.
        """
        ids = self._frequent(min_count)
        more = self._counts[ids] > max_count
        yield from self._word_parts(ids[more], self._bare_words)
        yield from self._word_parts(ids[~more], self._counted_words)

    def longer_parts(
        self, min_count: int, max_length: int, min_own_count: int
    ) -> Iterator[ThreadTask]:
        """Yield the parts of the phrases of 2 to max_length tokens.

        Arguments:
            min_count: occurrences of a phrase; rarer ones are left out.
            max_length: tokens of the longest phrases.
            min_own_count: phrases that occur less often come without contexts.
        """
        return self._parts(min_count, range(2, max_length + 1), min_own_count)

    def _parts(
        self, min_count: int, lengths: range, min_own_count: int = 0
    ) -> Iterator[ThreadTask]:
        for size, count in self._tasks(min_count, lengths, min_own_count):
            yield ThreadTask(count, size)

    def _tasks(
        self, min_count: int, lengths: range, min_own_count: int = 0
    ) -> Iterator[tuple[int, "CountTask"]]:
        """Yield (rows, task): all phrases of these lengths in tasks of bounded size.

        A frequent word has several, for its longer phrases by their second word.
        """
        for words in phrase_walk.chunk_words(self._counts):
            pieces, longer = phrase_walk.split(self._index.shards, words), lengths
            if len(pieces) > 1 and 1 in lengths:
                yield 0, partial(self._one_word, words.first, min_count)
                longer = lengths[1:]
            ends = int(self._counts[words.first : words.stop].sum()) * np.arange(len(pieces) + 1)
            sizes = np.diff(ends // len(pieces)).tolist()
            for size, piece in zip(sizes, pieces if longer else (), strict=False):
                yield size, partial(self._runs, piece, min_count, longer, min_own_count)

    def _frequent(self, min_count: int) -> np.ndarray:
        """Return the ids of the words that occur min_count times."""
        return np.flatnonzero(self._counts >= max(1, min_count))

    def _word_parts(
        self, ids: np.ndarray, count: Callable[[np.ndarray], list[PhraseBatch]]
    ) -> Iterator[ThreadTask]:
        for word_ids in word_pieces(ids, self._counts):
            yield ThreadTask(partial(count, word_ids), int(self._counts[word_ids].sum()))

    def count(self, part: ThreadTask) -> list[PhraseBatch]:
        """Return the batches of a part.

        Arguments:
            part: one of the parts that `parts` yields.
        """
        return list(part.content()) if callable(part.content) else [part.content]

    def _bare_words(self, ids: np.ndarray) -> list[PhraseBatch]:
        """Return words without contexts.

        Arguments:
            ids: int64, of the words.
        """
        return self._batch_of_words(ids, no_counts(ids.size, np.uint32))  # as all of an index

    def _counted_words(self, ids: np.ndarray) -> list[PhraseBatch]:
        """Return words with their contexts.

        Arguments:
            ids: int64, of the words.
        """
        return self._batch_of_words(ids, self._counter().count_words(self._index.shards, ids))

    def _batch_of_words(self, ids: np.ndarray, contexts: ContextCounts) -> list[PhraseBatch]:
        one_each = np.ones(ids.size, np.int64)
        text, ends = self._index.render(
            ids.astype(np.uint32)[:, None], np.arange(ids.size), one_each, 0
        )
        return [self._batch(text, ends, self._counts[ids], contexts)]

    def _batch(
        self, text: np.ndarray, ends: np.ndarray, counts: np.ndarray, contexts: ContextCounts
    ) -> PhraseBatch:
        return PhraseBatch(hash_blob(text, ends), text, np.diff(ends), counts, contexts, self.space)

    def _counter(self) -> NgramCounter:
        """Return the thread's own counter."""
        if not hasattr(self._of_thread, "counter"):
            self._of_thread.counter = NgramCounter(self._index.n_words, *self._model.shape)
        counter: NgramCounter = self._of_thread.counter
        return counter

    def _one_word(self, word: int, min_count: int) -> Iterator[PhraseBatch]:
        """Yield a frequent word with its contexts, counted in the order of the text."""
        ids = np.full(int(self._counts[word] >= min_count), word)
        if ids.size:
            yield from self._counted_words(ids)

    def _runs(
        self, first_words: FirstWords, min_count: int, lengths: range, min_own_count: int
    ) -> Iterator[PhraseBatch]:
        """Yield phrases with their contexts."""
        counter = self._counter()
        for runs in phrase_runs(self._index, first_words, lengths, min_count, self._model.window):
            # What occurs less often is ignored.
            looked_at = np.where(runs.highs - runs.lows < min_own_count, runs.lows, runs.highs)
            contexts = counter.count_runs(runs.chunk, runs.lows, looked_at, runs.length)
            yield self._batch(runs.text, runs.ends, runs.counts, contexts)


CountTask = Callable[[], Iterator[PhraseBatch]]
