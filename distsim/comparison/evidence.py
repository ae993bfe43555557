"""The evidence behind a similarity: what a table knows of each phrase, and the contexts shared."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from distsim.base.arguments import AnyPath
from distsim.comparison.measures import ngram_model
from distsim.contexts.contrasting import ContrastedContext, contrast
from distsim.contexts.ngram import PhraseWeigher
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.signatures.table import PhraseEvidence, TableLike, opened_table

_KEPT_PHRASES = 1 << 10


class CosineEvidence(NamedTuple):
    """What the similarity of two phrases rests on.

    a, b: the phrases, with occurrences and the share of their own contexts. shared: the contexts
    that both have, the highest weight first; empty where no index was given.

    >>> SimilarityEvidence(learned, index).of_pair("king", "queen").a.origin
    'stored'
    """

    a: PhraseEvidence
    b: PhraseEvidence
    shared: list[ContrastedContext]


class SimilarityEvidence:
    """Tells what similarities of a table rest on.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        index: whose contexts are shown; None: none are.

    Raises:
        IncompatibleError: the table was not signed from this index, or not from an index.

    >>> SimilarityEvidence(learned).of_phrase("king").origin
    'stored'
    """

    def __init__(self, table: TableLike, index: CorpusIndex | AnyPath | None = None) -> None:
        self._table = opened_table(table)
        self._index = None if index is None else opened_index(index)
        if self._index is not None:
            self._table.require_text(self._index)
            self._model = ngram_model(self._table)
            self._weigher = PhraseWeigher(
                self._index, self._model.window, self._table.fingerprint.weighting(),
                *self._model.shape[1:],
            )  # fmt: skip
        self.of_phrase = lru_cache(_KEPT_PHRASES)(self._of_phrase)

    def _of_phrase(self, phrase: str) -> PhraseEvidence:
        evidence = self._table.vector(phrase).evidence
        if evidence.occurrences or self._index is None:
            return evidence
        return evidence._replace(occurrences=int(self._index.count(phrase)))

    def of_pair(self, a: str, b: str, *, k: int = 10) -> CosineEvidence:
        """Return the evidence behind the similarity of two phrases.

        Arguments:
            a, b: words separated by spaces.
            k: the most shared contexts.

        Raises:
            ParameterError: a phrase is empty.
        """
        shared: Sequence[ContrastedContext] = ()
        if self._index is not None:
            shared = contrast(
                self._index, a, b, k=k, window=self._model, weigher=self._weigher
            ).both
        return CosineEvidence(self.of_phrase(a), self.of_phrase(b), list(shared))
