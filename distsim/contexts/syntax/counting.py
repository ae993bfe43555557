"""Counts syntactic features of the phrases of an annotated corpus, as sparse rows.

Every occurrence of every phrase goes through a triple store, phrase hash by place, so that a
phrase's occurrences come out side by side, in bounded memory; features are made only then,
for phrases that occur often enough, and counted in a table that lives in the cache.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.parallel import Progress, no_progress
from distsim.contexts.kernels import syntax as kernel
from distsim.contexts.syntax.encoded import BLOCK_TOKENS, EncodedCorpus, Encoder
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.triples import TripleStore
from distsim.corpus.annotation import AnnotatedSentence
from distsim.corpus.kernels.text import render_phrases
from distsim.kernels.compiled import frozen

BATCH_PHRASES = 1 << 13
BATCH_OCCURRENCES = 1 << 16


class PhraseOccurrences(NamedTuple):
    """Some phrases, ascending by hash, with all their occurrences.

    Phrase p has occurrences[starts[p]:starts[p + 1]].

    Attributes:
        phrases: uint64[n], hashes.
        starts: int64[n + 1].
        occurrences: uint64, position and length in one number.
    """

    phrases: np.ndarray
    starts: np.ndarray
    occurrences: np.ndarray

    @property
    def strengths(self) -> np.ndarray:
        """Occurrences of each phrase, int64[n]."""
        return np.diff(self.starts)

    def up_to(self, length: int) -> "PhraseOccurrences":
        """Return the phrases of limited length.

        Arguments:
            length: the most tokens of a phrase.
        """
        kept = self.occurrences[self.starts[:-1]] & kernel.LENGTH_MASK < length
        if kept.all():
            return self
        sizes = np.diff(self.starts)
        return PhraseOccurrences(
            self.phrases[kept],
            np.concatenate([[0], np.cumsum(sizes[kept])]),
            self.occurrences[np.repeat(kept, sizes)],
        )


class FeatureRows(NamedTuple):
    """The features of some phrases, as sparse rows.

    Attributes:
        starts: int64[n + 1].
        hashes: uint64, of the features' names, each once a row.
        families: uint8, numbers of the model's templates.
        counts: uint32.
    """

    starts: np.ndarray
    hashes: np.ndarray
    families: np.ndarray
    counts: np.ndarray


class OccurrenceStore:
    """All phrases of an annotated corpus, with the features of their occurrences.

    Arguments:
        folder: for temporary files: the corpus as numbers (about 150 bytes a token) and what
            does not fit the memory.
        memory: bytes of the buffers.
        longest: tokens of a phrase, at most 8.
        block_tokens: tokens that are counted at a time.
    """

    def __init__(
        self, folder: str | Path, memory: int, longest: int, block_tokens: int = BLOCK_TOKENS
    ) -> None:
        self._encoder = Encoder(folder, block_tokens)
        self._store = TripleStore(folder, memory)
        self._longest = longest

    def read(
        self, sentences: Iterable[AnnotatedSentence], progress: Progress = no_progress
    ) -> EncodedCorpus:
        """Return all sentences as arrays; their phrases are stored.

        Arguments:
            progress: called with the stage and the tokens read.
        """
        for block in self._encoder.encode(sentences):
            text, offsets = self._encoder.texts.spelled()
            hashes, occurrences = kernel.hash_phrases(
                block.words, block.after, text, offsets, block.first, self._longest
            )
            self._store.add(hashes, occurrences, np.ones(hashes.size, np.uint8))
            progress("reading", self._encoder.n_tokens, None)
        return self._encoder.finish()

    def phrases(self, min_count: int) -> Iterator[PhraseOccurrences]:
        """Yield the phrases in batches, ascending by hash.

        Arguments:
            min_count: the lowest count of a phrase.
        """
        for part in self._store.partitions():
            sizes = np.diff(part.starts)
            kept = np.flatnonzero(sizes >= min_count)
            begin = 0
            while begin < kept.size:
                reach = np.cumsum(sizes[kept[begin : begin + BATCH_PHRASES]])
                stop = begin + max(1, int(np.searchsorted(reach, BATCH_OCCURRENCES, "right")))
                rows = kept[begin:stop]
                starts = np.concatenate([[0], reach[: rows.size]])
                places = np.repeat(part.starts[rows] - starts[:-1], sizes[rows])
                places += np.arange(starts[-1])
                yield PhraseOccurrences(part.phrases[rows], starts, part.features[places])
                begin = stop

    def lowest_count(self, min_count: int, max_phrases: int | None) -> int:
        """Return the lowest count that a selected phrase can have.

        Arguments:
            min_count: the lowest count that is wanted.
            max_phrases: the number of phrases wanted, the most frequent ones; all where None.
        """
        if max_phrases is None:
            return min_count
        counts: np.ndarray = np.empty(0, np.int64)
        for batch in self.phrases(min_count):
            counts = np.concatenate([counts, batch.strengths])
            if counts.size > 4 * max_phrases:
                counts = np.partition(counts, counts.size - max_phrases)[-max_phrases:]
        if counts.size < max_phrases:
            return min_count
        return int(np.partition(counts, counts.size - max_phrases)[-max_phrases:].min())

    def close(self) -> None:
        """Release memory and temporary files."""
        self._store.close()
        self._encoder.close()


class FeatureCounter:
    """Counts the features of phrases in one corpus; may be shared by threads.

    Arguments:
        corpus: the sentences as arrays.
        model: which features.
    """

    def __init__(self, corpus: EncodedCorpus, model: SyntaxModel) -> None:
        self._corpus = corpus
        self._model = model
        self._templates = model.kernel_templates(root_text=1)

    def count(self, batch: PhraseOccurrences) -> FeatureRows:
        """Return the features of the phrases of a batch."""
        return FeatureRows(
            *kernel.count_features(
                frozen(batch.occurrences), frozen(batch.starts), self._corpus.sentences,
                self._templates, self._corpus.text, self._corpus.offsets,
            )
        )  # fmt: skip

    def named(self, occurrences: np.ndarray) -> dict[str, int]:
        """Return the features of one phrase by name, with their counts.

        Arguments:
            occurrences: uint64, of the phrase.
        """
        packed, counts = kernel.count_packed(
            frozen(occurrences), self._corpus.sentences, self._templates
        )
        names = self._corpus.names
        found: dict[str, int] = {}
        for key, count in zip(packed.tolist(), counts.tolist(), strict=True):
            template = self._model.templates[key >> int(kernel.TEMPLATE_SHIFT)]
            mask = int(kernel.TEXT_MASK)
            name = template.name(names[(key >> int(kernel.TEXT_SHIFT)) & mask], names[key & mask])
            found[name] = found.get(name, 0) + count
        return found

    def render(self, batch: PhraseOccurrences) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts of a batch's phrases, uint8 end to end, and int64[n + 1] offsets."""
        first = batch.occurrences[batch.starts[:-1]]
        positions = (first >> kernel.LENGTH_SHIFT).astype(np.int64)
        lengths = (first & kernel.LENGTH_MASK).astype(np.int64) + 1
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(positions - starts, lengths) + np.arange(int(lengths.sum()))
        words = self._corpus.sentences.texts[places, kernel.LEX]
        rendered: tuple[np.ndarray, np.ndarray] = render_phrases(
            frozen(words), frozen(starts), frozen(lengths), self._corpus.text, self._corpus.offsets
        )
        return rendered
