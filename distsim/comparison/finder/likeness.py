"""Similarity of two phrases out of context, by real-valued vectors or by bits."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from distsim.base.arguments import Words
from distsim.comparison.finder.inflections import Forms
from distsim.comparison.finder.lexicon import CountedWords
from distsim.comparison.finder.space import PartSpace
from distsim.comparison.measures import cosine
from distsim.signatures.table import StoredTable

_CACHED_WORDS = 1 << 12  # 8 MB
_FORM_POWER = 0.25


class LemmaVectors:
    """Unit vectors of phrases, in which a word stands for all its forms.

    A base word's vector is the sum of its forms' vectors, each times the fourth root of its
    count; that of another form is the mean of its own and its base's.

    Arguments:
        space: of the table's vectors.
        forms: inflected forms.
        lexicon: the words that occur.
    """

    def __init__(self, space: PartSpace, forms: Forms, lexicon: CountedWords) -> None:
        self.space = space
        self._forms = forms
        self._lexicon = lexicon
        self.of = lru_cache(_CACHED_WORDS)(self._vector_of)

    def _vector_of(self, words: Words) -> np.ndarray | None:
        """Return a phrase's unit vector, float64; None where no word of it has one."""
        if len(words) != 1:
            return self.space.phrase(words)
        word = words[0]
        base = self._forms.base(word)
        total = self._all_forms(base)
        if base != word:
            own = self.space.phrase(words)
            total = total if own is None else unit(total) + own
        return unit(total) if total.any() else None

    def _all_forms(self, base: str) -> np.ndarray:
        forms = self._forms.of_word(base)
        weights = self._lexicon.counts(forms) ** _FORM_POWER
        vector: np.ndarray = weights @ self.space.phrases([(form,) for form in forms])
        return vector

    def rows(self, phrases: Sequence[Words]) -> np.ndarray:
        """Return the vectors of phrases, float64[n, n_dimensions], zeros where there is none.

        Arguments:
            phrases: the words of each.
        """
        rows = np.zeros((len(phrases), self.space.n_dimensions))
        for row, words in zip(rows, phrases, strict=True):
            vector = self.of(words)
            if vector is not None:
                row[:] = vector
        return rows


def likeness_by_bits(table: StoredTable, target: Words, candidates: Sequence[Words]) -> np.ndarray:
    """Return the estimated cosine of the target and each candidate, 0 where there is none.

    Arguments:
        table: the signatures.
        target: its words.
        candidates: the words of each.
    """
    cosines = np.zeros(len(candidates))
    with_words = [number for number, words in enumerate(candidates) if words]
    pairs = [(" ".join(target), " ".join(candidates[n])) for n in with_words]
    values = cosine(table, compose=False).similarities(pairs)
    cosines[with_words] = [value or 0.0 for value in values]
    return cosines


def unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector scaled to length 1, a zero one as it is.

    Arguments:
        vector: float[n].
    """
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > 0.0 else vector
