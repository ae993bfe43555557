"""The interface of a source: a text that gives batches of phrases with counted contexts.

To add a source: a class with `usual_model` and `counted`, and a `CountedText` that it returns.
`distsim.signatures.signing` signs all of them in the same way.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from distsim.base.arguments import TextFormat
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.contexts.ngram import NgramModel
from distsim.contexts.phrase_store import DEFAULT_MEMORY, CountedPhrases, Selection
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.weights import ContextCounts, FeatureSpace, VectorModel
from distsim.corpus.inflections import DEFAULT
from distsim.corpus.kernels import render_phrases
from distsim.corpus.normaliser import Normaliser
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen

BATCH_PHRASES = 1 << 13  # a batch's sums are held in memory, for every thread
_MOST_32 = 0xFFFFFFFF

Model = NgramModel | SyntaxModel | VectorModel
T = TypeVar("T")


@dataclass(frozen=True)
class PhraseBatch:
    """Phrases with their counted contexts, from any source.

    Attributes:
        hashes: uint64[n], of each phrase's text.
        text: uint8, the phrases' UTF-8 end to end.
        text_lengths: int64[n], bytes of each phrase.
        strengths: uint64[n], occurrences.
        contexts: counted features, numbered in `space`.
        space: the feature space.
        shares: float64[n], of the text's tokens, where strengths do not tell; else None.
    """

    hashes: np.ndarray
    text: np.ndarray
    text_lengths: np.ndarray
    strengths: np.ndarray
    contexts: ContextCounts
    space: FeatureSpace
    shares: np.ndarray | None = None

    def token_counts(self) -> np.ndarray:
        """Return the number of tokens of every phrase, int64[n]."""
        spaces = np.concatenate([[0], np.cumsum(self.text == ord(" "))])
        ends = np.cumsum(self.text_lengths)
        lengths: np.ndarray = spaces[ends] - spaces[ends - self.text_lengths] + 1
        return lengths

    def where(self, kept: np.ndarray) -> "PhraseBatch":
        """Return the batch of those phrases that are marked.

        Arguments:
            kept: bool[n], which phrases are returned.
        """
        if kept.all():
            return self
        starts, sizes = self.contexts.starts, np.diff(self.contexts.starts)
        entries = np.repeat(kept, sizes)
        return PhraseBatch(
            self.hashes[kept],
            self.text[np.repeat(kept, self.text_lengths)],
            self.text_lengths[kept],
            self.strengths[kept],
            ContextCounts(
                np.concatenate([starts[:1], np.cumsum(sizes[kept])]),
                self.contexts.features[entries],
                self.contexts.counts[entries],
            ),
            self.space,
            None if self.shares is None else self.shares[kept],
        )


class ThreadTask(NamedTuple):
    """A task for one thread.

    Attributes:
        content: what `CountedText.count` makes batches of.
        size: in units of `CountedText.total`.
    """

    content: Any
    size: int


class TrainingLimits(NamedTuple):
    """Size of a text's training set for a projection.

    Attributes:
        rows: words, the most frequent ones.
        features: features, the most frequent ones.
        min_count: occurrences of the rarest of the words.
    """

    rows: int
    features: int
    min_count: int


class Work(NamedTuple):
    """Resources of a run.

    Attributes:
        folder: for temporary files.
        memory: for what is put in order there.
        jobs: threads; as many as the machine has cores where None.
        progress: called with the stage, the units done and their total.
    """

    folder: Path
    memory: int = DEFAULT_MEMORY
    jobs: int | None = None
    progress: Progress = no_progress


class CountedText:
    """Base class of a source whose text has been counted.

    Attributes:
        model: manifest of the context model.
        normaliser: how words are normalised.
        text_format: how phrases that are looked up are cut into words.
        corpus: checksum of the text; may be None until all parts were asked for.
        content: checksum of all that tables of it depend on, empty where it is not known; `corpus`
            is the same for texts that differ in the order of words only.
        marginals: checksum of what weights depend on beyond a phrase's own counts.
        n_tokens, n_sentences: of the text.
        is_sorted: whether parts come in ascending order of hashes, asked or not.
        parameters: what a table's manifest keeps beside all that others keep.
    """

    model: dict[str, Any]
    normaliser: Normaliser
    text_format: TextFormat
    corpus: str | None
    content: str = ""
    marginals: str
    n_tokens: int
    n_sentences: int
    is_sorted: bool = True
    parameters: Mapping[str, Any] = MappingProxyType({})

    @cached_property
    def space(self) -> FeatureSpace | None:
        """The features of all batches, where these share one space."""
        return None

    @property
    def language(self) -> str:
        """The name of the inflections of its words; English where the words are not known."""
        return DEFAULT

    def lowest_count(self, selection: Selection) -> int:
        """Return the lowest count that a selected phrase can have.

        Arguments:
            selection: which phrases are signed.
        """
        return selection.min_count

    def gather_marginals(self) -> None:
        """Count the marginals that weights need beyond a phrase's own counts."""

    def parts(self, min_count: int, max_length: int) -> Iterator[ThreadTask]:
        """Yield the parts of all phrases; may be asked again.

        Arguments:
            min_count: the lowest count of a phrase.
            max_length: of a phrase, in tokens.
        """
        raise NotImplementedError

    def sorted_parts(self, max_length: int, work: Work) -> Iterator[ThreadTask]:
        """Yield the batches of all phrases, however rare, in ascending order of their hashes.

        Arguments:
            max_length: of a phrase, in tokens.
            work: folder, memory and threads for putting them in order.
        """
        return self.parts(1, max_length)

    def longer_parts(
        self, min_count: int, max_length: int, min_own_count: int
    ) -> Iterator[ThreadTask] | None:
        """Yield the parts of the phrases of 2 tokens and more; None: only together with words.

        Arguments:
            min_count: occurrences of a phrase; rarer ones are left out.
            max_length: tokens of the longest phrases.
            min_own_count: phrases that occur less often come without contexts.
        """
        return None

    def words(self, min_count: int, max_count: int) -> Iterator[ThreadTask]:
        """Yield the parts of all words; only of texts that have `longer_parts`.

        Arguments:
            min_count: the lowest count of a word.
            max_count: words that occur more often come without contexts.
        """
        raise NotImplementedError

    def total(self) -> int | None:
        """Return the sum of the parts' sizes, None where it is not known before."""
        return None

    def count(self, part: ThreadTask) -> list[PhraseBatch]:
        """Return the batches of phrases of a part with their counts; threads may call it together.

        Arguments:
            part: one of the parts that `parts` yields.
        """
        return [part.content]

    def training_limits(self, rows: int, features: int) -> TrainingLimits:
        """Return the size of the training set that this text gives.

        Arguments:
            rows, features: the most that is wanted.
        """
        return TrainingLimits(rows, features, 1)

    def frequent_features(self, max_features: int) -> np.ndarray:
        """Return the hashes of the `max_features` most frequent features, uint64, ascending.

        Arguments:
            max_features: the number of features.
        """
        return self.frequent_features_of(None, max_features)

    def frequent_features_of(self, families: Sequence[int] | None, max_features: int) -> np.ndarray:
        """Return the hashes of the most frequent features of some families, uint64, ascending.

        Arguments:
            families: their numbers in the space; None: all.
            max_features: the number of features.
        """
        space = self.space
        assert space is not None
        seen = np.flatnonzero(space.marginals > 0)
        if families is not None:
            seen = seen[np.isin(space.families[seen], families)]
        order = np.lexsort((space.hashes[seen], -space.marginals[seen]))
        return each_once(space.hashes[seen[order[:max_features]]])


@runtime_checkable
class PhraseSource(Protocol):
    """Phrases with counted contexts; may be read again, and is read only by `counted`."""

    @property
    def usual_model(self) -> type[Model]:
        """The type of model by which it is signed where no recipe is given."""
        ...

    def counted(
        self, model: Model, selection: Selection, work: Work
    ) -> AbstractContextManager[CountedText]:
        """Return the text, read; it is held until the context ends.

        Arguments:
            model: which contexts are counted.
            selection: which phrases are signed.
            work: temporary folder, memory and threads.

        Raises:
            ParameterError: the source cannot give what the model needs.
            InputError: what is read is invalid.
        """
        ...


def batches_of(
    block: CountedPhrases, text: np.ndarray, offsets: np.ndarray, space: FeatureSpace
) -> Iterator[PhraseBatch]:
    """Yield counted phrases in batches.

    Arguments:
        block: the phrases, as word ids.
        text: uint8, the words' UTF-8 end to end, by id.
        offsets: int64[n_words + 1], where each word begins in `text`.
        space: the features' space.
    """
    for part in block.parts(BATCH_PHRASES):
        n, longest = part.words.shape
        rendered, ends = render_phrases(
            frozen(part.words.reshape(-1)), frozen(np.arange(n) * longest), frozen(part.lengths),
            frozen(text), frozen(offsets),
        )  # fmt: skip
        yield PhraseBatch(
            part.hashes, rendered, np.diff(ends), part.strengths,
            narrowed(part.starts, part.features, part.counts), space,
        )  # fmt: skip


def parts_of(
    block: CountedPhrases,
    text: np.ndarray,
    offsets: np.ndarray,
    space: FeatureSpace,
    max_length: int,
) -> Iterator[ThreadTask]:
    """Yield the counted phrases of at most max_length tokens as parts, a batch each.

    Arguments:
        block: phrases with occurrences and counted contexts.
        text, offsets: uint8 and int64, the vocabulary's words end to end.
        space: the features.
        max_length: in tokens.
    """
    for batch in batches_of(block, text, offsets, space):
        if max_length < block.words.shape[1]:
            batch = batch.where(batch.token_counts() <= max_length)
        yield ThreadTask(batch, batch.hashes.size)


def batch_results(
    text: CountedText,
    parts: Iterator[ThreadTask],
    function: Callable[[PhraseBatch], T],
    work: Work,
    stage: str,
    total: int | None,
) -> Iterator[T]:
    """Yield function(batch) for the batches of all parts, in order, computed in threads.

    Arguments:
        text: the text whose parts they are.
        parts: some of its parts.
        function: of a batch; may be called by several threads.
        work: threads and progress.
        stage: the name of the stage, for progress.
        total: the sum of the parts' sizes, None where it is not known.
    """

    def finish(part: ThreadTask) -> tuple[int, list[T]]:
        return part.size, [function(batch) for batch in text.count(part)]

    done = 0
    for size, results in ordered_map(finish, parts, work.jobs):
        yield from results
        done += size
        work.progress(stage, done, total)


def narrowed(starts: np.ndarray, features: np.ndarray, counts: np.ndarray) -> ContextCounts:
    """Return contexts with features of 32 bits and, where they fit, counts of 32 bits.

    Arguments:
        starts: int64[n + 1], where each row begins.
        features, counts: uint64, of all rows end to end.
    """
    if counts.max(initial=0) <= _MOST_32:
        counts = counts.astype(np.uint32)
    return ContextCounts(starts, features.astype(np.uint32), counts)
