"""Source: phrases of n-gram counts, with the words beside them, without the text (thesis 5.2.1).

A line `w p` with its count gives phrase p the feature `left w`, `p v` the feature `right v`; of a
longer line the words between are summed over, which gives the words that are two and more places
away. p's own line tells how often it occurs.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from distsim.base.arguments import TextFormat, one_or_many_paths
from distsim.base.errors import InputError, ParameterError
from distsim.base.parallel import ordered_map
from distsim.contexts.kernels import ngram_counts as kernel
from distsim.contexts.ngram import NgramModel, space_of_words
from distsim.contexts.phrase_store import CountedPhrases, PhraseStore, Selection
from distsim.contexts.sources.index import limits_of_words
from distsim.contexts.sources.source import (
    CountedText,
    Model,
    ThreadTask,
    TrainingLimits,
    Work,
    parts_of,
)
from distsim.contexts.weights import FeatureSpace
from distsim.corpus.inflections import language_of
from distsim.corpus.lines import Block, read_blocks
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import Source, find_sources
from distsim.corpus.tokeniser import Cut, cut
from distsim.corpus.vocabulary import DROPPED, GrowingArray, VocabularyBuilder, WordNumbering
from distsim.indexes.build import corpus_fingerprint
from distsim.kernels.compiled import frozen

# What stands in counts for a rare word and for a sentence's edges, in any case.
_NO_WORDS = frozenset({"<unk>", "<s>", "</s>"})
# Google Books: tags, alone or behind a word, edges, and dependencies (head=>modifier); their lines
# repeat those without tags.
_TAGGED = re.compile(
    r".*_(NOUN|VERB|ADJ|ADV|PRON|DET|ADP|NUM|CONJ|PRT|X|\.)_?|_(START|END|ROOT)_|.+=>.+", re.I
)
_SPECIAL, _TAG = 1, 2  # of a word: never a word; none in a line with years
_FAMILY = np.uint64(32)
_WORD = np.uint64((1 << 32) - 1)
_YEARS = re.compile(r"(\d+)?(\.\.)?(\d+)?")
_FAULTS = {
    kernel.FEW_TOKENS: "needs words, a tab and a count",
    kernel.BAD_COLUMNS: "needs one tab, between the words and the count, or the columns of Google "
    "Books: year, count, volumes",
    kernel.BAD_COUNT: "needs whole numbers from 1 to 999,999,999,999,999,999 as its counts",
    kernel.NO_YEARS: "has no years, which `where` asks for",
}
_SHOWN = 60


@dataclass
class CountReport:
    """Numbers of the lines that were read, and of those that were left out.

    Attributes:
        lines: all lines.
        special: those with <unk>, <s> or </s>, or with tags of Google Books.
        vanished: those with a word that the normaliser drops.
        too_long: those with more words than any phrase and its context.
        other_years: those without a year that was asked for.
        longest_line: words of the longest line that was used.
        without_line: phrases inside longer lines that have no line of their own.
    """

    lines: int = 0
    special: int = 0
    vanished: int = 0
    too_long: int = 0
    other_years: int = 0
    longest_line: int = 0
    without_line: int = 0


class NgramCounts:
    """The phrases of n-gram counts.

    Arguments:
        paths: files of lines `w1 .. wn<TAB>count`, or as Google Books publishes them, in any order;
            folders, compressed files and `-` too.
        normaliser: every word passes it, and so will the phrases that are looked up.
        text_format: how the counted text was cut into words, and so how phrases that are looked
            up are cut.
        where: `year=1950..`, `year=1900..1950|1960`: the years whose counts are summed.

    report: what was read, and what of it gives nothing; filled by `counted`.

    Raises:
        ParameterError: `where` asks for no years.

    >>> from distsim import PRESETS, Selection, sign
    >>> _ = (folder / "counts.txt").write_text("a b\\t3\\na\\t5\\nb\\t3\\n")
    >>> source = NgramCounts(folder / "counts.txt")
    >>> recipe, selection = PRESETS["thesis"], Selection(min_count=3)
    >>> sorted(sign(source, folder / "c.table", recipe=recipe, selection=selection))
    ['a', 'b']
    >>> source.report.lines
    3
    """

    usual_model: ClassVar[type[Model]] = NgramModel

    def __init__(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        normaliser: Normaliser | None = None,
        text_format: TextFormat = "lines",
        where: str | Sequence[str] = (),
    ) -> None:
        self.files = one_or_many_paths(paths, "paths")
        self.normaliser = normaliser or Normaliser()
        self.text_format: TextFormat = text_format
        self.years = _years([where] if isinstance(where, str) else where)
        self.report = CountReport()

    @contextmanager
    def counted(self, model: Model, selection: Selection, work: Work) -> Iterator["CountedNgrams"]:
        """Return the counts, read and summed.

        Arguments:
            model: an n-gram model; lines of n words tell of contexts up to n - 1 places away.
            selection: which phrases are signed.
            work: temporary folder, memory and threads.

        Raises:
            InputError: a line is malformed (file and line are named), a file cannot be read, or,
                later, a word whose corpus count the weights need has no line of its own.
            ParameterError: the model is no n-gram model.
        """
        if not isinstance(model, NgramModel):
            raise ParameterError(
                "counts hold words and no annotation: sign annotated text with the syntactic "
                "model, or the counts with an n-gram model"
            )
        counts = CountedNgrams(self, model, selection, work)
        try:
            counts.read(find_sources(self.files))
            yield counts
            self.report = counts.report
        finally:
            counts.close()


def _years(filters: Sequence[str]) -> np.ndarray:
    """Return the ranges of years that filters name, int64[n, 2]; none: all."""
    if len(filters) > 1:
        raise ParameterError("`where`: give one condition on the year of counts")
    ranges = []
    for condition in filters:
        field, _, values = condition.partition("=")
        for text in values.split("|"):
            match = _YEARS.fullmatch(text.strip())
            if field.strip() != "year" or not match or not any(match.groups()):
                raise ParameterError(
                    f"`where` {condition!r}: counts have years alone: give year=1950.., "
                    "year=1900..1950 or year=1999"
                )
            low, dots, high = match.groups()
            first = int(low or 0)
            ranges.append((first, int(high or 1 << 60) if dots else first))
    return np.array(ranges, np.int64).reshape(-1, 2)


class CountedNgrams(CountedText):
    """A CountedText of summed counts; its parts are batches already.

    Words are in memory, some 100 bytes each; phrases and contexts go through files where they are
    larger than the memory of `work`.

    Arguments:
        source: the files' settings.
        model: which contexts.
        selection: which phrases.
        work: folder, memory, threads and progress.
    """

    def __init__(
        self, source: NgramCounts, model: NgramModel, selection: Selection, work: Work
    ) -> None:
        self.model = model.manifest()
        self.normaliser = source.normaliser
        self.text_format = source.text_format
        self.report = CountReport()
        self._years = source.years
        self._work = work
        self._ngram = model
        self._longest = selection.max_length
        self._vocabulary = VocabularyBuilder()
        self._numbering = WordNumbering(source.normaliser, self._vocabulary)
        self._store = PhraseStore(self._longest, work.folder, work.memory)
        self._digest = hashlib.blake2b(self._years.tobytes(), digest_size=16)
        self._text, self._ends = GrowingArray(np.uint8), GrowingArray(np.int64)
        self._kinds, self._word_counts = GrowingArray(np.uint8), GrowingArray(np.uint64)
        self._ends.append(np.zeros(2, np.int64))  # word 0 is empty
        self._kinds.append(np.zeros(1, np.uint8))
        self._word_counts.append(np.zeros(1, np.uint64))
        self._slots = np.zeros(model.window, np.uint64)
        self._needs_margins = False

    def read(self, sources: Sequence[Source]) -> None:
        """Read all lines.

        Arguments:
            sources: files of counts.

        Raises:
            InputError: a line is malformed, a file unreadable, or no line contains an n-gram.
        """
        work = self._work

        def parsed(block: Block) -> "tuple[Block, Cut, _Lines]":
            tokens = cut(block.text, "lines")
            return block, tokens, _parsed(block, tokens, sources[block.source], self._years)

        for block, tokens, lines in ordered_map(parsed, read_blocks(sources), work.jobs):
            self._digest.update(block.text)
            self._add(block.text, tokens, lines)
            work.progress("reading", self.report.lines, None)
        if len(self._vocabulary) == 1:
            names = ", ".join(source.label for source in sources[:3])
            raise InputError(
                f"{names}{', …' if len(sources) > 3 else ''}: no n-gram in the counts: "
                "name files with lines such as `red house<TAB>12`"
            )
        counts = self._word_counts.view()
        self.n_tokens = int(counts.sum(dtype=np.uint64))
        # A sentence has one word more than pairs of words.
        self.n_sentences = self.n_tokens - int(self._slots[0])
        self.corpus = self.marginals = corpus_fingerprint(
            self._vocabulary.hashes()[1:], counts[1:], self.n_tokens, self.n_sentences
        )
        self.content = f"counts:{self._digest.hexdigest()}"

    @property
    def language(self) -> str:
        """The name of the inflections of its words."""
        return language_of(self._vocabulary.hashes()[1:], self._word_counts.view()[1:])

    def close(self) -> None:
        """Release memory and temporary files."""
        self._store.close()

    @cached_property
    def space(self) -> FeatureSpace:
        """All words in every family; what lines are too short to tell is as the last that is."""
        slots = self._slots.astype(np.int64).tolist()
        last = max((k for k, n in enumerate(slots) if n), default=0)
        slots[last:] = [slots[last]] * (len(slots) - last)
        return space_of_words(
            self._text.view(), self._ends.view(), self._word_counts.view(), slots,
            *self._ngram.shape,
        )  # fmt: skip

    def gather_marginals(self) -> None:
        """From now on, raise where a word has no line of its own."""
        self._needs_margins = True

    def training_limits(self, rows: int, features: int) -> TrainingLimits:
        """Return the size of the training set, as of an index.

        Arguments:
            rows: maximum number of rows.
            features: maximum number of features.
        """
        counts = np.sort(self._word_counts.view()[1:])[::-1]
        return limits_of_words(counts, len(self.model["families"]), rows, features)

    def lowest_count(self, selection: Selection) -> int:
        """Return the lowest count that a phrase of the `selection` can have.

        Arguments:
            selection: selection of phrases.
        """
        if selection.max_phrases is None:
            return selection.min_count
        counts = np.concatenate(
            [np.empty(0, np.uint64)]
            + [block.strengths for block in self._store.blocks(selection.min_count)]
        )
        place = counts.size - selection.max_phrases
        return int(np.partition(counts, place)[place]) if place > 0 else selection.min_count

    def parts(self, min_count: int, max_length: int) -> Iterator[ThreadTask]:
        """Yield the batches of all phrases, in ascending order of their hashes in any case.

        Arguments:
            min_count: the lowest count of a phrase.
            max_length: of a phrase, in tokens.
        """
        n_words = np.uint64(len(self._vocabulary))
        for block in self._store.blocks(min_count):
            if self._needs_margins:
                self._require_margins(block)
            families, words = block.features >> _FAMILY, block.features & _WORD
            numbered = replace(block, features=families * n_words + words)
            yield from parts_of(
                numbered, self._text.view(), self._ends.view(), self.space, max_length
            )
        self.report.without_line = self._store.n_unknown

    def _require_margins(self, block: CountedPhrases) -> None:
        """Raise where the word of a feature has no line of its own."""
        missing = self._word_counts.view()[block.features & _WORD] == 0
        if not missing.any():
            return
        at = int(np.argmax(missing))
        row = int(np.searchsorted(block.starts, at, "right")) - 1
        phrase = " ".join(map(self._word, block.words[row, : block.lengths[row]].tolist()))
        raise InputError(
            f"the word {self._word(int(block.features[at] & _WORD))!r} stands beside {phrase!r} "
            "and has no line of its own: name the file with the counts of single words too, or "
            "use weighting.scheme=raw"
        )

    def _word(self, number: int) -> str:
        ends = self._ends.view()
        return self._text.view()[ends[number] : ends[number + 1]].tobytes().decode()

    def _add(self, text: bytes, tokens: Cut, lines: "_Lines") -> None:
        first_tokens = np.concatenate([[0], tokens.line_stops[:-1]])
        place_in_line = np.arange(tokens.starts.size) - np.repeat(
            first_tokens, np.diff(tokens.line_stops, prepend=0)
        )
        is_word = place_in_line < np.repeat(lines.n_words, np.diff(tokens.line_stops, prepend=0))
        words = self._number(text, _where(tokens, is_word))
        lengths = lines.n_words
        starts = np.cumsum(lengths) - lengths
        is_dropped = words == DROPPED
        kinds = self._kinds.view()[np.where(is_dropped, 0, words)]
        kinds = np.maximum.reduceat(kinds, starts)
        special = (kinds == _SPECIAL) | ((kinds == _TAG) & lines.has_years)
        vanished = np.add.reduceat(is_dropped, starts, dtype=np.int64) > 0
        too_long = lengths > self._longest + self._ngram.window
        other_years = lines.counts == 0
        report, left_out = self.report, np.zeros(lengths.size, bool)
        report.lines += lengths.size
        for name, mask in (
            ("special", special), ("vanished", vanished), ("too_long", too_long),
            ("other_years", other_years),
        ):  # fmt: skip
            setattr(report, name, getattr(report, name) + int((mask & ~left_out).sum()))
            left_out |= mask
        words = np.where(is_dropped, np.uint32(0), words)
        starts, lengths, counts = kernel.sum_repeats(
            frozen(words), frozen(starts[~left_out]), frozen(lengths[~left_out]),
            frozen(lines.counts[~left_out]),
        )  # fmt: skip
        report.longest_line = max(report.longest_line, int(lengths.max(initial=0)))
        own, phrases, features, feature_counts = kernel.count_lines(
            frozen(words), frozen(starts), frozen(lengths), frozen(counts), self._longest,
            *self._ngram.spans, frozen(self._text.view()),
            frozen(self._ends.view()), self._word_counts.view(), self._slots,
        )  # fmt: skip
        self._store.add_contexts(phrases, features, feature_counts)
        short = lengths <= self._longest
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
            self._kinds.append(np.array([_kind(word.decode()) for word in new], np.uint8))
            self._word_counts.append(np.zeros(len(new), np.uint64))
        return words


def _kind(word: str) -> int:
    if word.casefold() in _NO_WORDS:
        return _SPECIAL
    return _TAG if ("_" in word or "=>" in word) and _TAGGED.fullmatch(word) else 0


def _where(tokens: Cut, kept: np.ndarray) -> Cut:
    return tokens._replace(
        starts=tokens.starts[kept], stops=tokens.stops[kept], hashes=tokens.hashes[kept]
    )


@dataclass(frozen=True)
class _Lines:
    """Lines of counts, parsed.

    counts: uint64[n], 0 where no year is taken. n_words: int64[n]. has_years: bool[n].
    """

    counts: np.ndarray
    n_words: np.ndarray
    has_years: np.ndarray


def _parsed(block: Block, tokens: Cut, source: Source, years: np.ndarray) -> _Lines:
    """Return the lines of a block; an InputError names the first invalid one."""
    counts, n_words, has_years, line, fault = kernel.parse_counts(
        frozen(np.frombuffer(block.text, np.uint8)), frozen(tokens.starts), frozen(tokens.stops),
        frozen(tokens.line_stops), frozen(years[:, 0].copy()), frozen(years[:, 1].copy()),
    )  # fmt: skip
    if line >= 0:
        shown = block.text.split(b"\n", line + 1)[line].decode().rstrip("\r")
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
        remedy = "leave it out" if fault == kernel.NO_YEARS else "mend or remove the line"
        raise InputError(
            f"{source.label}, line {block.first_line + line}: {shown!r} {_FAULTS[fault]}: {remedy}"
        )
    return _Lines(counts, n_words, has_years)
