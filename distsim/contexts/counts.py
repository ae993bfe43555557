"""Reads n-gram count files: phrases, their contexts (window 1) and corpus counts.

The web n-gram format: `w1 .. wn<TAB>count`, a line an n-gram, in any order and any number of
files. For the line `w p` phrase p has the feature `left w`, for `p v` the feature `right v`;
p's own line tells how often it occurs.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from distsim.base.errors import InputError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.contexts.features import FeatureSpace
from distsim.contexts.kernels import counts as kernel
from distsim.contexts.ngram import family_names
from distsim.contexts.phrase_store import CountedPhrases, PhraseStore
from distsim.corpus.blocks import Block, read_blocks
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import Source
from distsim.corpus.tokeniser import Cut, cut
from distsim.corpus.vocabulary import (
    DROPPED,
    GrowingArray,
    VocabularyBuilder,
    WordNumbering,
    hash_blob,
)
from distsim.indexes.build import corpus_fingerprint
from distsim.kernels.compiled import frozen

# What stands in count files for a rare word and for a sentence's edges, in any case.
NO_WORDS = frozenset({"<unk>", "<s>", "</s>"})
_RIGHT = np.uint64(1 << 32)
_FAULTS = {
    kernel.FEW_TOKENS: "needs words, a tab and a count",
    kernel.NO_TAB: "needs one tab, between the words and the count",
    kernel.BAD_COUNT: "needs a whole number from 1 to 999,999,999,999,999,999 as its count",
}
_SHOWN = 60


@dataclass
class CountReport:
    """Numbers of the lines that were read, and of those that were left out.

    Attributes:
        lines: all lines.
        special: those with <unk>, <s> or </s>.
        vanished: those with a word that the normaliser drops.
        too_long: those with more words than any phrase and its context.
        without_line: phrases inside longer lines that have no line of their own.
    """

    lines: int = 0
    special: int = 0
    vanished: int = 0
    too_long: int = 0
    without_line: int = 0


class NgramCounts:
    """N-gram counts, read from files and summed.

    Arguments:
        longest: the most tokens of a phrase; lines of one more give its contexts.
        normaliser: every word passes it.
        folder: where temporary files go.
        memory: for the phrases and contexts; the words themselves come on top.
    """

    def __init__(self, longest: int, normaliser: Normaliser, folder: Path, memory: int) -> None:
        self.report = CountReport()
        self.digest = hashlib.blake2b(digest_size=16)  # of all lines read
        self.longest = longest
        self._vocabulary = VocabularyBuilder()
        self._store = PhraseStore(longest, folder, memory)
        self._numbering = WordNumbering(normaliser, self._vocabulary)
        self._text = GrowingArray(np.uint8)
        self._ends = GrowingArray(np.int64)
        self._ends.append(np.zeros(2, np.int64))  # word 0 is empty
        self._special = GrowingArray(np.bool_)
        self._special.append(np.zeros(1, np.bool_))
        self._word_counts = GrowingArray(np.uint64)
        self._word_counts.append(np.zeros(1, np.uint64))
        self.n_pairs = 0

    def read(
        self, sources: Sequence[Source], jobs: int | None = None, progress: Progress = no_progress
    ) -> None:
        """Read all lines of the sources.

        Arguments:
            sources: files of counts.
            jobs: threads; as many as the machine has cores where None.
            progress: called with the stage and the lines read.

        Raises:
            InputError: a line is malformed, a file unreadable, or no line contains an n-gram.
        """

        def parsed(block: Block) -> tuple[Block, Cut, np.ndarray]:
            tokens = cut(block.text, "lines")
            return block, tokens, _counts(block, tokens, sources[block.source])

        for block, tokens, counts in ordered_map(parsed, read_blocks(sources), jobs):
            self.digest.update(block.text)
            self._add(block.text, tokens, counts)
            progress("reading", self.report.lines, None)
        if len(self._vocabulary) == 1:
            names = ", ".join(source.path for source in sources[:3])
            raise InputError(
                f"{names}{', …' if len(sources) > 3 else ''}: no n-gram in the counts: "
                "name files with lines such as `red house<TAB>12`"
            )

    @property
    def word_counts(self) -> np.ndarray:
        """The sums of the lines of one word, by id: uint64."""
        return self._word_counts.view()

    @property
    def text(self) -> np.ndarray:
        """The words' UTF-8, by id, end to end: uint8."""
        return self._text.view()

    @property
    def offsets(self) -> np.ndarray:
        """Where each word begins in `text`, and the end: int64."""
        return self._ends.view()

    def strengths(self) -> Iterator[np.ndarray]:
        """Yield the strengths of all phrases, block by block, uint64."""
        return self._store.strengths()

    def blocks(self, min_count: int) -> Iterator[CountedPhrases]:
        """Yield all phrases in ascending order of their hashes, features numbered as in `space`.

        Arguments:
            min_count: the lowest count of a phrase.
        """
        for block in self._store.blocks(min_count):
            words = block.features % _RIGHT
            right = words + np.uint64(len(self._vocabulary))
            yield replace(block, features=np.where(block.features >= _RIGHT, right, words))
        self.report.without_line = self._store.n_unknown

    def space(self) -> FeatureSpace:
        """Return the features: every word on either side, number = side * words + id.

        A feature's marginal is the word's own line; a family's total the sum of all lines of
        two words. So they are those of the index, where the counts are an index's.
        """
        names = family_names(1)
        marginals = self._word_counts.view().astype(np.float64)
        return FeatureSpace(
            family_names=names,
            families=np.repeat(np.arange(2, dtype=np.uint8), marginals.size),
            hashes=np.concatenate(
                [hash_blob(self.text, self.offsets, f"{name}:".encode()) for name in names]
            ),
            marginals=np.tile(marginals, 2),
            totals=np.full(2, float(self.n_pairs)),
        )

    @property
    def n_tokens(self) -> int:
        """The sum of all lines of one word."""
        return int(self._word_counts.view().sum(dtype=np.uint64))

    @property
    def n_sentences(self) -> int:
        """Number of sentences of the corpus: a sentence has one word more than pairs of words."""
        return self.n_tokens - self.n_pairs

    def corpus_fingerprint(self) -> str:
        """Return the fingerprint of the index whose counts these are."""
        hashes, counts = self._vocabulary.hashes()[1:], self._word_counts.view()[1:]
        return corpus_fingerprint(hashes, counts, self.n_tokens, self.n_sentences)

    def require_margins(self, block: CountedPhrases) -> None:
        """Raise where the word of a feature has no line of its own.

        Arguments:
            block: phrases with their features.

        Raises:
            InputError: names the first such word and the phrase beside which it is.
        """
        counts = self._word_counts.view()
        words = block.features % np.uint64(counts.size)
        missing = counts[words] == 0
        if not missing.any():
            return
        at = int(np.argmax(missing))
        row = int(np.searchsorted(block.starts, at, "right")) - 1
        phrase = " ".join(map(self._word, block.words[row, : block.lengths[row]].tolist()))
        raise InputError(
            f"the word {self._word(int(words[at]))!r} stands beside {phrase!r} and has no line of "
            "its own: name the file with the counts of single words too, or use "
            "weighting.scheme=raw"
        )

    def close(self) -> None:
        """Release memory and temporary files."""
        self._store.close()

    def _word(self, number: int) -> str:
        return self.text[self.offsets[number] : self.offsets[number + 1]].tobytes().decode()

    def _add(self, text: bytes, tokens: Cut, counts: np.ndarray) -> None:
        stops = tokens.line_stops - 1 - np.arange(counts.size)  # without the counts
        is_word = np.ones(tokens.starts.size, bool)
        is_word[tokens.line_stops - 1] = False
        words = self._number(text, _some(tokens, is_word))
        lengths = np.diff(stops, prepend=0)
        starts = stops - lengths
        vanished = np.add.reduceat(words == DROPPED, starts) > 0
        special = self._special.view()[np.where(words == DROPPED, 0, words)]
        special = np.add.reduceat(special, starts) > 0
        too_long = lengths > self.longest + 1
        kept = ~(vanished | special | too_long)
        self.report.lines += counts.size
        self.report.special += int(np.count_nonzero(special))
        self.report.vanished += int(np.count_nonzero(vanished & ~special))
        self.report.too_long += int(np.count_nonzero(too_long & ~vanished & ~special))
        starts, lengths, counts = starts[kept], lengths[kept], counts[kept]
        own, phrases, features, feature_counts, n_pairs = kernel.count_lines(
            frozen(words), frozen(starts), frozen(lengths), frozen(counts), self.longest,
            frozen(self.text), frozen(self.offsets), self._word_counts.view(),
        )  # fmt: skip
        self.n_pairs += int(n_pairs)
        self._store.add_contexts(phrases, features, feature_counts)
        short = lengths <= self.longest
        words = np.where(words == DROPPED, np.uint32(0), words)
        self._store.add_phrases(own[short], words, starts[short], lengths[short], counts[short])

    def _number(self, text: bytes, tokens: Cut) -> np.ndarray:
        """Return the id of every word, uint32; new words are added."""
        known = len(self._vocabulary)
        words = self._numbering.number(text, tokens)
        new = self._vocabulary.texts(known)
        if new:
            self._text.append(np.frombuffer(b"".join(new), np.uint8))
            lengths = np.array([len(word) for word in new], np.int64)
            self._ends.append(self._ends.view()[-1] + np.cumsum(lengths))
            special = [word.decode().casefold() in NO_WORDS for word in new]
            self._special.append(np.array(special, np.bool_))
            self._word_counts.append(np.zeros(len(new), np.uint64))
        return words


def _some(tokens: Cut, kept: np.ndarray) -> Cut:
    return tokens._replace(
        starts=tokens.starts[kept], stops=tokens.stops[kept], hashes=tokens.hashes[kept]
    )


def _counts(block: Block, tokens: Cut, source: Source) -> np.ndarray:
    counts: np.ndarray
    counts, line, fault = kernel.parse_counts(
        frozen(np.frombuffer(block.text, np.uint8)), frozen(tokens.starts), frozen(tokens.stops),
        frozen(tokens.line_stops),
    )  # fmt: skip
    if line >= 0:
        shown = block.text.split(b"\n", line + 1)[line].decode().rstrip("\r")
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
        raise InputError(
            f"{source.path}, line {block.first_line + line}: {shown!r} {_FAULTS[fault]}: "
            "mend or remove the line"
        )
    return counts
