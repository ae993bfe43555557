"""What a source of phrases is, and what it gives: batches of phrases with counted contexts.

To add a source: a class with `counted`, whose result has what `CountedText` lists. Whatever
gives such batches is signed by `distsim.signatures.signing`, weighed, projected, composed, cut and
written like all others.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from distsim.base.choices import TextFormat
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.contexts.ngram import NgramModel
from distsim.contexts.phrase_store import DEFAULT_MEMORY, CountedPhrases
from distsim.contexts.selection import Selection
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.vectors import VectorModel
from distsim.contexts.weights import Weighting
from distsim.corpus.kernels.text import render_phrases
from distsim.corpus.normaliser import Normaliser
from distsim.kernels.compiled import frozen

BATCH_PHRASES = 1 << 13  # a batch's sums are held in memory, for every thread
_MOST_32 = 0xFFFFFFFF

Model = NgramModel | SyntaxModel | VectorModel
T = TypeVar("T")


@dataclass(frozen=True)
class PhraseBatch:
    """Phrases with their counted contexts, from whatever source.

    hashes: uint64[n], of each phrase's text. text: uint8, the phrases end to end;
    text_lengths: int64[n], bytes of each. strengths: uint64[n], occurrences. contexts: numbered
    in `space`. shares: float64[n], of the text's tokens, where strengths do not tell.
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
        """Return the phrases for which kept, bool[n], is true."""
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


class Part(NamedTuple):
    """A piece of work: what `CountedText.count` makes batches of; `size` in units of `total`."""

    content: Any
    size: int


class Lesson(NamedTuple):
    """What a source has to teach: so many rows and features, words that occur `min_count` times."""

    rows: int
    features: int
    min_count: int


class Work(NamedTuple):
    """Where and how a source works.

    folder: for temporary files. memory: for what is put in order there.
    """

    folder: Path
    memory: int = DEFAULT_MEMORY
    jobs: int | None = None
    progress: Progress = no_progress


class CountedText(Protocol):
    """A source that has been read.

    model: what a fingerprint keeps of the model. corpus: tells texts apart; may be None until all
    parts were asked for. marginals: tells apart
    what weights depend on beyond a phrase's own counts. n_tokens, n_sentences: of the text.
    space: the features of all batches, where they have one space together. is_sorted: parts come in
    ascending order of hashes, asked or not. parameters: what a table's manifest keeps beside all
    that others keep.
    """

    # Read-only here, so that attributes of any kind will do.
    @property
    def model(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def normaliser(self) -> Normaliser: ...  # noqa: D102
    @property
    def text_format(self) -> TextFormat: ...  # noqa: D102
    @property
    def corpus(self) -> str | None: ...  # noqa: D102
    @property
    def marginals(self) -> str: ...  # noqa: D102
    @property
    def n_tokens(self) -> int: ...  # noqa: D102
    @property
    def n_sentences(self) -> int: ...  # noqa: D102
    @property
    def space(self) -> FeatureSpace | None: ...  # noqa: D102
    @property
    def is_sorted(self) -> bool: ...  # noqa: D102
    @property
    def parameters(self) -> dict[str, Any]: ...  # noqa: D102

    def lowest_count(self, selection: Selection) -> int:
        """Return the least count that a selected phrase can have."""
        ...

    def gather_marginals(self, min_count: int) -> None:
        """Make ready what weights depend on beyond a phrase's own counts."""
        ...

    def parts(self, min_count: int, max_length: int, by_hash: bool = False) -> Iterator[Part]:
        """Yield the pieces of all phrases of 1 to max_length tokens; may be asked again.

        by_hash: phrases come in ascending order of their hashes, each once.
        """
        ...

    def total(self) -> int | None:
        """Return the sum of the parts' sizes, None where it is not known before."""
        ...

    def count(self, part: Part) -> list[PhraseBatch]:
        """Return the batches of a part; threads may ask side by side."""
        ...

    def lesson(self, rows: int, features: int) -> Lesson:
        """Return how much of what is asked for this text can teach a projection."""
        ...

    def frequent_features(self, most: int) -> np.ndarray:
        """Return the hashes of the `most` most frequent features, uint64, ascending."""
        ...


@runtime_checkable
class WordsApart(Protocol):
    """A CountedText that need not count its words again with its phrases."""

    def words(self, min_count: int, most: int) -> Iterator[Part]:
        """Yield the pieces of all words that occur min_count times.

        most: those that occur more often come without contexts.
        """
        ...

    def longer_parts(self, min_count: int, max_length: int, own_from: int) -> Iterator[Part]:
        """Yield the pieces of all phrases of 2 to max_length tokens.

        own_from: those that occur less often come without contexts.
        """
        ...


class PhraseSource(Protocol):
    """Phrases with counted contexts; restartable, cheap to make, read only by `counted`.

    usual_model: by which it is signed where nothing is said.
    """

    @property
    def usual_model(self) -> type[Model]: ...  # noqa: D102

    def counted(
        self, model: Model, weighting: Weighting, selection: Selection, work: Work
    ) -> AbstractContextManager[CountedText]:
        """Read the source, hold what was read, and let go of it at the end.

        Raises:
            ParameterError: the source cannot give what model or weights need.
            InputError: what is read is at fault.
        """
        ...


def batches_of(
    block: CountedPhrases, text: np.ndarray, offsets: np.ndarray, space: FeatureSpace
) -> Iterator[PhraseBatch]:
    """Yield counted phrases in batches; text, offsets: the words' UTF-8 by id."""
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


def batch_results(
    text: CountedText,
    parts: Iterator[Part],
    function: Callable[[PhraseBatch], T],
    work: Work,
    stage: str,
    total: int | None,
) -> Iterator[T]:
    """Yield function(batch) for the batches of all parts, in order, counted and made in threads."""

    def finish(part: Part) -> tuple[int, list[T]]:
        return part.size, [function(batch) for batch in text.count(part)]

    done = 0
    for size, results in ordered_map(finish, parts, work.jobs):
        yield from results
        done += size
        work.progress(stage, done, total)


def narrowed(starts: np.ndarray, features: np.ndarray, counts: np.ndarray) -> ContextCounts:
    """Return contexts with features of 32 bits and, where they fit, counts of 32 bits."""
    if counts.max(initial=0) <= _MOST_32:
        counts = counts.astype(np.uint32)
    return ContextCounts(starts, features.astype(np.uint32), counts)


def most_frequent(hashes: np.ndarray, counts: np.ndarray, most: int) -> np.ndarray:
    """Return the hashes of the `most` most frequent features, each once, ascending."""
    seen = np.flatnonzero(counts > 0)
    order = np.lexsort((hashes[seen], -counts[seen]))
    return np.unique(hashes[seen[order[:most]]])
