"""Source: phrases of annotated sentences with counted syntactic features (thesis 5.2.2)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import numpy as np

from distsim.base.arguments import TextFormat, one_or_many_paths
from distsim.base.errors import ParameterError
from distsim.base.parallel import ordered_map
from distsim.contexts.phrase_store import Selection
from distsim.contexts.sources.source import (
    CountedText,
    Model,
    PhraseBatch,
    ThreadTask,
    TrainingLimits,
    Work,
)
from distsim.contexts.syntax.counting import (
    FeatureCounter,
    Marginals,
    OccurrenceStore,
    PhraseOccurrences,
    row_space,
)
from distsim.contexts.syntax.encoded import EncodedCorpus
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.weights import ContextCounts
from distsim.corpus.annotated import read_annotated
from distsim.corpus.annotation import NORMALISER, AnnotatedSentence
from distsim.storage import checksum_of_settings, scratch_folder


def require_syntax(model: Model) -> SyntaxModel:
    """Return the model after checking that it is a syntactic one.

    Raises:
        ParameterError: the model counts other contexts.
    """
    if not isinstance(model, SyntaxModel):
        raise ParameterError(
            "annotated text is signed with the syntactic model: give a recipe with a SyntaxModel, "
            "or sign an index of the text"
        )
    return model


class AnnotatedText:
    """The phrases of annotated text; temporary files take about 250 bytes a token.

    Arguments:
        paths: files or folders of CoNLL-U or of the toolkit's lines, plain or compressed.
        trees: files of bracketed trees, one a line, one a sentence.

    >>> from distsim import Recipe, Selection, sign
    >>> from distsim.contexts import SyntaxModel
    >>> rows = ["1 cats cat NOUN NNS _ 2 nsubj _ _", "2 sleep sleep VERB VBP _ 0 root _ _", "", ""]
    >>> text = "\\n".join(row.replace(" ", "\\t") for row in rows)
    >>> _ = (folder / "a.conllu").write_text(text)
    >>> recipe = Recipe(model=SyntaxModel())
    >>> source = AnnotatedText(folder / "a.conllu")
    >>> sorted(sign(source, folder / "a.table", recipe=recipe, selection=Selection(min_count=1)))
    ['cats', 'cats sleep', 'sleep']
    """

    usual_model: ClassVar[type[Model]] = SyntaxModel

    def __init__(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        trees: str | Path | Sequence[str | Path] = (),
    ) -> None:
        self.files = one_or_many_paths(paths, "paths")
        self.trees = one_or_many_paths(trees, "trees") if trees else []

    def sentences(self) -> Iterable[AnnotatedSentence]:
        """Return the sentences, to be read once."""
        return read_annotated(self.files, trees=self.trees)

    @contextmanager
    def counted(
        self, model: Model, selection: Selection, work: Work
    ) -> Iterator["CountedSentences"]:
        """Return the text, read, with counted contexts of phrases.

        Arguments:
            model: the features.
            selection: of phrases.
            work: threads, memory and progress.

        Raises:
            InputError: an annotated file is invalid.
            ParameterError: the model is not the syntactic one.
        """
        syntax = require_syntax(model)
        with scratch_folder(work.folder) as folder:
            half = work.memory // 2
            store = OccurrenceStore(folder, half, selection.max_length)
            try:
                corpus = store.read(self.sentences(), work.progress)
                place = Work(folder, half, work.jobs, work.progress)
                yield CountedSentences(corpus, store, syntax, selection, place)
            finally:
                store.close()


class AnnotatedSentences(AnnotatedText):
    """The phrases of annotated sentences in memory, such as a list of them.

    Arguments:
        sentences: read once.
    """

    def __init__(self, sentences: Iterable[AnnotatedSentence]) -> None:
        super().__init__("-")
        self._sentences = sentences

    def sentences(self) -> Iterable[AnnotatedSentence]:
        """Return the sentences."""
        return self._sentences


class CountedSentences(CountedText):
    """A CountedText; its parts are occurrences, their features are counted as they are asked for.

    Features have no numbering for the whole corpus: each batch has a space of its own.

    Arguments:
        corpus: the sentences as arrays.
        store: their phrases.
        model: which features are counted.
        selection: which phrases are signed.
        work: temporary folder, memory and threads.
    """

    text_format: TextFormat = "text"
    normaliser = NORMALISER

    def __init__(
        self,
        corpus: EncodedCorpus,
        store: OccurrenceStore,
        model: SyntaxModel,
        selection: Selection,
        work: Work,
    ) -> None:
        self.model = {**model.manifest(), "trees": bool(corpus.sentences.begin.size)}
        self.corpus = self.content = corpus.checksum
        self.n_tokens = corpus.n_tokens
        self.n_sentences = corpus.n_sentences
        self.parameters = {"tokens": corpus.n_tokens, "sentences": corpus.n_sentences}
        self._store = store
        self._syntax = model
        self._work = work
        self._counter = FeatureCounter(corpus, model)
        self._lowest_count = store.lowest_count(selection.min_count, selection.max_phrases)
        # Marginals count the phrases that are signed.
        self.marginals = checksum_of_settings({
            "corpus": corpus.checksum,
            "least": self._lowest_count,
            "max_length": selection.max_length,
        })  # fmt: skip
        self._marginals: Marginals | None = None

    def gather_marginals(self) -> None:
        """Count all features of all phrases that are to be signed."""
        if self._marginals is not None:
            return
        work, done = self._work, 0
        marginals = Marginals(work.folder, work.memory, self._syntax)
        batches = self._store.phrases(self._lowest_count)
        for batch, rows in ordered_map(
            lambda batch: (batch, self._counter.count(batch)), batches, work.jobs
        ):
            marginals.add(rows)
            done += batch.occurrences.size
            work.progress("counting", done, None)
        marginals.finish()
        self._marginals = marginals

    def lowest_count(self, selection: Selection) -> int:
        """Return the lowest count of the `selection` by which the text was read."""
        return self._lowest_count

    def training_limits(self, rows: int, features: int) -> TrainingLimits:
        """Return `rows` and `features`, of all words that are signed.

        Arguments:
            rows: maximum number of rows.
            features: maximum number of features.
        """
        return TrainingLimits(rows, features, self._lowest_count)

    def frequent_features(self, max_features: int) -> np.ndarray:
        """Return the hashes of the `max_features` most frequent features, uint64, ascending.

        Arguments:
            max_features: maximum number of features.
        """
        self.gather_marginals()
        assert self._marginals is not None
        return self._marginals.most_frequent(max_features)

    def parts(self, min_count: int, max_length: int) -> Iterator[ThreadTask]:
        """Yield occurrences of phrases, in ascending order of their hashes in any case.

        Arguments:
            min_count: occurrences of a phrase; rarer ones are left out.
            max_length: tokens of the longest phrases.
        """
        for batch in self._store.phrases(min_count):
            batch = batch.up_to(max_length)
            yield ThreadTask(batch, batch.occurrences.size)

    def count(self, part: ThreadTask) -> list[PhraseBatch]:
        """Return the one batch of a part; its features are numbered by their places in the rows.

        Arguments:
            part: one of the parts that `parts` yields.
        """
        batch: PhraseOccurrences = part.content
        rows = self._counter.count(batch)
        text, ends = self._counter.render(batch)
        numbers = np.arange(rows.hashes.size, dtype=np.uint32)
        return [
            PhraseBatch(
                hashes=batch.phrases,
                text=text,
                text_lengths=np.diff(ends),
                strengths=batch.strengths.astype(np.uint64),
                contexts=ContextCounts(rows.starts, numbers, rows.counts),
                space=row_space(self._syntax, rows, self._marginals),
            )
        ]
