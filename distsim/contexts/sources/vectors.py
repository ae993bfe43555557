"""Source: words with given vectors, and phrases composed of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from distsim.base.arguments import TextFormat
from distsim.base.errors import ParameterError, counted
from distsim.contexts.phrase_store import Selection
from distsim.contexts.sources.index import phrase_runs
from distsim.contexts.sources.source import (
    BATCH_PHRASES,
    CountedText,
    Model,
    PhraseBatch,
    ThreadTask,
    TrainingLimits,
    Work,
)
from distsim.contexts.weights import (
    ContextCounts,
    FeatureSpace,
    VectorModel,
    dimension_counts,
    dimension_space,
    no_counts,
)
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.query import Lookup
from distsim.corpus.vectors import VectorFileContents, read_phrases, read_vectors
from distsim.corpus.vocabulary import hash_blob
from distsim.indexes import phrase_walk
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import FirstWords
from distsim.storage import checksum_of_array, checksum_of_settings


@dataclass
class VectorReport:
    """Numbers of the words of a file that were read and left out.

    Attributes:
        words: have a vector.
        alike: left out, since an earlier one has the same normal form.
        spaces: left out, since they hold white space or nothing of them is left.
    """

    words: int = 0
    alike: int = 0
    spaces: int = 0


class VectorFile:
    """The words of a file of vectors, and phrases composed of them.

    Strengths are counts in the index where one is given, else 0. A word weighs in a phrase by its
    share of all counts; without an index by its rank in the file (Zipf's law), which should have
    the most frequent words first, as such files do.

    Arguments:
        path: a text file of word2vec, GloVe, or fastText's .vec; plain or compressed.
        phrases: a file of phrases, one a line, that are signed beside the words.
        index: instead, its phrases are; it also gives counts, normaliser and format.
        normaliser: what happens to every word and phrase.
        text_format: how phrases are cut into words: `lines` or `text`.

    report: what was read; filled by `counted`.

    >>> from distsim import sign, similarity
    >>> _ = (folder / "vectors.txt").write_text("king 1 0 .5\\nqueen .9 .1 .4\\nhat -.9 1 -.5\\n")
    >>> made = sign(VectorFile(folder / "vectors.txt"), folder / "given.table")
    >>> len(made), similarity(made, "king", "queen") > similarity(made, "king", "hat")
    (3, True)
    """

    usual_model: ClassVar[type[Model]] = VectorModel

    def __init__(
        self,
        path: str | Path,
        *,
        phrases: str | Path | None = None,
        index: CorpusIndex | None = None,
        normaliser: Normaliser | None = None,
        text_format: TextFormat = "lines",
    ) -> None:
        if index is not None and phrases is not None:
            raise ParameterError("`index` gives phrases: leave it out, or `phrases`")
        if index is not None and normaliser is not None:
            raise ParameterError("`index` gives the `normaliser`: leave it out")
        self.file, self.phrases, self.index = path, phrases, index
        self.normaliser = index.options.normaliser if index else normaliser or Normaliser()
        self.text_format: TextFormat = index.options.text_format if index else text_format
        self.report = VectorReport()

    def read(self) -> VectorFileContents:
        """Return the words of the file and their vectors."""
        return read_vectors(self.file)

    @contextmanager
    def counted(self, model: Model, selection: Selection, work: Work) -> Iterator["ReadVectors"]:
        """Return the words and phrases of the file, read.

        Arguments:
            model: the vectors' model.
            selection: of phrases.
            work: threads, memory and progress.

        Raises:
            InputError: a file cannot be read, or a line of it is malformed.
            ParameterError: the model is not that of vectors.
        """
        if not isinstance(model, VectorModel):
            raise ParameterError(
                "word vectors hold no counted contexts: give a recipe with a VectorModel, such as "
                "VECTORS"
            )
        self.report = VectorReport()
        yield ReadVectors(self, self.read(), model)


class GivenVectors(VectorFile):
    """A VectorFile of words and vectors in memory, such as gensim's KeyedVectors.

    Arguments:
        words: the words.
        vectors: float[n, dimensions], a row for each.
        others: the keyword arguments of VectorFile.

    Raises:
        ParameterError: the words and vectors are not as many, or not of these types.

    >>> import numpy as np
    >>> from distsim import sign
    >>> draw = np.random.default_rng(1).standard_normal((50, 8))
    >>> given = GivenVectors([f"w{n}" for n in range(50)], draw)
    >>> len(sign(given, folder / "given.table"))
    50
    """

    def __init__(self, words: Sequence[str], vectors: np.ndarray, **others: Any) -> None:
        super().__init__("", **others)
        listed, rows = list(words), np.asarray(vectors)
        if rows.ndim != 2 or rows.dtype.kind != "f" or len(rows) != len(listed) or not rows.size:
            raise ParameterError(
                f"`vectors` {rows.dtype}{list(rows.shape)} for "
                f"{counted(len(listed), 'word')}: give floats, "
                "a row for each word"
            )
        if not np.isfinite(rows).all():
            raise ParameterError("`vectors`: a number is not finite (nan or inf)")
        self._contents = VectorFileContents(listed, rows.astype(np.float32))

    def read(self) -> VectorFileContents:
        """Return the words and their vectors."""
        return self._contents


class ReadVectors(CountedText):
    """A CountedText: words with their dimensions as features, phrases without features.

    Words come in the order of their counts, or of the file; then phrases.

    Arguments:
        source: the files' settings.
        read: the words and their vectors.
        model: of vectors.
    """

    is_sorted = False
    n_sentences = 0

    def __init__(self, source: VectorFile, read: VectorFileContents, model: VectorModel) -> None:
        self.normaliser = source.normaliser
        self.text_format = source.text_format
        self._index = source.index
        texts, kept = _normal_forms(read.words, source.normaliser, source.report)
        self._vectors = read.vectors[kept]
        counts = None if source.index is None else source.index.count
        self._strengths = np.zeros(len(texts), np.uint64)
        if counts is None:
            ranks = np.arange(1, len(texts) + 1)
            self._shares = 1.0 / ranks / np.sum(1.0 / ranks)
            self.n_tokens = 0
        else:
            self._strengths[:] = counts(texts)
            self.n_tokens = source.index.n_tokens if source.index else 0
            order = np.argsort(-self._strengths.astype(np.int64), kind="stable")
            texts = [texts[row] for row in order.tolist()]
            self._vectors, self._strengths = self._vectors[order], self._strengths[order]
            self._shares = self._strengths / max(1, self.n_tokens)
        self._texts = texts
        self._phrases = _read_phrases(source, set(texts))
        self._phrase_strengths = np.zeros(len(self._phrases), np.uint64)
        content = checksum_of_settings([texts, checksum_of_array(self._vectors)])
        self.model = {**model.manifest(), "vectors": content}
        self.marginals = content
        known = [self._strengths.tolist(), self._phrases, self._phrase_strengths.tolist()]
        index = source.index.corpus if source.index else None
        self.corpus = self.content = checksum_of_settings([content, known, index])
        longest = max((phrase.count(" ") + 1 for phrase in self._phrases), default=1)
        self.parameters = {"dimensions": self._vectors.shape[1], "words": len(texts)}
        if source.index is None:
            self.parameters["max_length"] = longest

    @cached_property
    def space(self) -> FeatureSpace:
        """The dimensions."""
        return dimension_space(self._vectors.shape[1])

    def training_limits(self, rows: int, features: int) -> TrainingLimits:
        """Return the words, at most `rows`, and all dimensions, whatever `features` is.

        Arguments:
            rows: maximum number of words.
            features: ignored.
        """
        return TrainingLimits(min(rows, len(self._texts)), self.space.hashes.size, 1)

    def frequent_features(self, max_features: int) -> np.ndarray:
        """Return the hashes of all dimensions, uint64, ascending, whatever `max_features` is.

        Arguments:
            max_features: ignored.
        """
        return np.sort(self.space.hashes)

    def parts(self, min_count: int, max_length: int) -> Iterator[ThreadTask]:
        """Yield the parts of words, then of phrases: the listed ones, or the index's.

        Arguments:
            min_count: occurrences of the index's phrases; rarer ones are left out.
            max_length: tokens of the longest phrases; 1: words alone.
        """
        yield from _pieces(self._words, len(self._texts))
        if max_length == 1:
            return
        yield from _pieces(self._named, len(self._phrases))
        if self._index is not None:
            for words in phrase_walk.chunk_words(self._index.word_counts()):
                for piece in phrase_walk.split(self._index.shards, words):
                    yield ThreadTask(partial(self._indexed, piece, min_count, max_length), 1)

    def count(self, part: ThreadTask) -> list[PhraseBatch]:
        """Return the batches of a part.

        Arguments:
            part: one of the parts that `parts` yields.
        """
        return list(part.content())

    def _words(self, begin: int, stop: int) -> Iterator[PhraseBatch]:
        text, ends = _blob(self._texts[begin:stop])
        contexts, shares = dimension_counts(self._vectors[begin:stop]), self._shares[begin:stop]
        yield self._batch(text, ends, self._strengths[begin:stop], contexts, shares)

    def _named(self, begin: int, stop: int) -> Iterator[PhraseBatch]:
        text, ends = _blob(self._phrases[begin:stop])
        yield self._batch(text, ends, self._phrase_strengths[begin:stop], no_counts(stop - begin))

    def _indexed(
        self, first_words: FirstWords, min_count: int, max_length: int
    ) -> Iterator[PhraseBatch]:
        """Yield the phrases of two words and more of an index."""
        assert self._index is not None
        for runs in phrase_runs(self._index, first_words, range(2, max_length + 1), min_count):
            yield self._batch(runs.text, runs.ends, runs.counts, no_counts(runs.lows.size))

    def _batch(
        self,
        text: np.ndarray,
        ends: np.ndarray,
        strengths: np.ndarray,
        contexts: ContextCounts,
        shares: np.ndarray | None = None,
    ) -> PhraseBatch:
        return PhraseBatch(
            hash_blob(text, ends), text, np.diff(ends), strengths, contexts, self.space, shares
        )


def _pieces(count: Callable[[int, int], Iterator[PhraseBatch]], n: int) -> Iterator[ThreadTask]:
    """Yield parts of at most BATCH_PHRASES of n phrases."""
    for begin in range(0, n, BATCH_PHRASES):
        stop = min(begin + BATCH_PHRASES, n)
        yield ThreadTask(partial(count, begin, stop), stop - begin)


def _normal_forms(
    words: list[str], normaliser: Normaliser, report: VectorReport
) -> tuple[list[str], list[int]]:
    """Return the normal forms of words, each once, and the row of the first that has it."""
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        text = normaliser.token(word)
        if not text or len(text.split()) != 1 or text != text.strip():
            report.spaces += 1
        elif rows.setdefault(text, row) != row:
            report.alike += 1
    if not rows:
        raise ParameterError("no word with a vector is left: look at what the normaliser drops")
    report.words = len(rows)
    return list(rows), list(rows.values())


def _read_phrases(source: VectorFile, words: set[str]) -> list[str]:
    """Return the listed phrases that are not words, normalised, without repeats."""
    if source.phrases is None:
        return []
    lookup = Lookup(source.normaliser, source.text_format, words.__contains__)
    phrases: dict[str, None] = {}
    for phrase in read_phrases(source.phrases):
        text = " ".join(lookup.readings(phrase)[0])
        if text and text not in words:
            phrases[text] = None
    return list(phrases)


def _blob(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return (UTF-8 of texts end to end, uint8; starts, int64[n + 1])."""
    data = [text.encode() for text in texts]
    ends = np.zeros(len(data) + 1, np.int64)
    np.cumsum([len(text) for text in data], out=ends[1:])
    return np.frombuffer(b"".join(data), np.uint8), ends
