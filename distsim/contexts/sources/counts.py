"""Source: phrases of n-gram count files, with the words right beside them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from distsim.base.arguments import one_or_many_paths
from distsim.base.choices import TextFormat
from distsim.base.errors import ParameterError
from distsim.contexts.counts import CountReport, NgramCounts
from distsim.contexts.features import FeatureSpace
from distsim.contexts.ngram import NgramModel
from distsim.contexts.selection import Selection
from distsim.contexts.sources.source import CountedText, Model, Part, Work, parts_of
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import find_sources


class CountFiles:
    """The phrases of n-gram count files.

    Arguments:
        paths: files of lines `w1 .. wn<TAB>count`, in any order; folders, compressed files and
            `-` too.
        normaliser: every word passes it, and so will the phrases that are looked up.
        text_format: how the counted text was cut into words, and so how phrases that are looked
            up are cut.

    report: what was read, and what of it gives nothing; filled by `counted`.

    >>> from distsim import PRESETS, Selection, sign
    >>> _ = (folder / "counts.txt").write_text("a b\\t3\\na\\t5\\nb\\t3\\n")
    >>> source = CountFiles(folder / "counts.txt")
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
    ) -> None:
        self.files = one_or_many_paths(paths, "paths")
        self.normaliser = normaliser or Normaliser()
        self.text_format: TextFormat = text_format
        self.report = CountReport()

    @contextmanager
    def counted(self, model: Model, selection: Selection, work: Work) -> Iterator["CountedFiles"]:
        """Return the text, read; model, selection and work as of PhraseSource.

        Raises:
            InputError: a line is malformed (file and line are named), a file cannot be read, or,
                later, a word whose corpus count the weights need has no line of its own.
            ParameterError: the model is no n-gram model of window 1 by positions.
        """
        if not isinstance(model, NgramModel) or model.sides:
            raise ParameterError(
                "count files tell of the words right beside a phrase only: no annotation, no "
                "features by sides: use the preset thesis, or sign an index"
            )
        if model.window != 1:
            raise ParameterError(
                f"`window` {model.window} with count files: they tell of the words right beside a "
                "phrase only: use 1, or sign an index"
            )
        sources = find_sources(self.files)
        counts = NgramCounts(selection.max_length, self.normaliser, work.folder, work.memory)
        try:
            counts.read(sources, work.jobs, work.progress)
            yield CountedFiles(self, counts, model)
            self.report = counts.report
        finally:
            counts.close()


class CountedFiles(CountedText):
    """A CountedText; its parts are batches already.

    Arguments:
        source: the files' settings.
        counts: the files, read.
        model: of window 1.
    """

    def __init__(self, source: CountFiles, counts: NgramCounts, model: NgramModel) -> None:
        self.model = model.manifest()
        self.normaliser = source.normaliser
        self.text_format = source.text_format
        self.n_tokens = counts.n_tokens
        self.n_sentences = counts.n_sentences
        self.corpus = self.marginals = counts.corpus_fingerprint()
        self.content = f"lines:{counts.digest.hexdigest()}"
        self._counts = counts
        self._needs_margins = False

    @cached_property
    def space(self) -> FeatureSpace:
        """Every word on either side."""
        return self._counts.space()

    def gather_marginals(self) -> None:
        """From now on, raise where a word has no line of its own."""
        self._needs_margins = True

    def lowest_count(self, selection: Selection) -> int:
        """Return the lowest count that a phrase of the `selection` can have."""
        if selection.max_phrases is None:
            return selection.min_count
        strengths = np.concatenate(
            [np.empty(0, np.uint64)]
            + [block[block >= selection.min_count] for block in self._counts.strengths()]
        )
        place = strengths.size - selection.max_phrases
        if place <= 0:
            return selection.min_count
        return int(np.partition(strengths, place)[place])

    def parts(self, min_count: int, max_length: int) -> Iterator[Part]:
        """Yield the batches of all phrases, in ascending order of their hashes in any case.

        Arguments:
            min_count, max_length: as of CountedText.
        """
        counts = self._counts
        for block in counts.blocks(min_count):
            if self._needs_margins:
                counts.require_margins(block)
            yield from parts_of(block, counts.text, counts.offsets, self.space, max_length)
