"""The words of both languages: source vectors with their maps, target words with vectors."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from distsim.base.errors import InputError
from distsim.comparison.mapping import MapOptions, WordSpace, fit_map
from distsim.paraphrase.unknown_words.known_words import KnownWords
from distsim.paraphrase.unknown_words.similar_spelling import (
    common_prefix,
    has_letters,
    scripts_of,
    trigrams,
)
from distsim.signatures.projections.learn import unit_rows
from distsim.signatures.table import StoredTable

FOLDS = 5
STEM_SHARE = 0.6  # of the longer word's characters, that words of one stem begin with
SHORTEST_STEM = 4
_MOST_TARGETS = 100_000
_OF_STEM = 12


class SourceSide:
    """A table of the source language: vectors of the known words, their maps, and counts.

    Attributes:
        known: float32[n, dimensions], unit vectors of the known words.

    Arguments:
        table: of the source language.
        words: the known words.
    """

    def __init__(self, table: StoredTable, words: Sequence[str]) -> None:
        self._table = table
        self.known = self.vectors(words)
        self._maps: list[NDArray[np.float32]] = []

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32[n, dimensions], zeros where a word has none.

        Arguments:
            words: n of them, as written.
        """
        out = np.empty((len(words), self._table.n_dimensions), np.float32)
        for n, form in enumerate(self._forms(words)):
            out[n] = np.nan_to_num(self._table.vectors(form, of_words=True)[0])
        return out

    def log_counts(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return ln(1 + occurrences) of words, float64[n].

        Arguments:
            words: n words.
        """
        rows = self._table.find_normal(self._forms(words))
        counts = np.where(rows >= 0, self._table.strengths[np.maximum(rows, 0)], 0)
        return np.log1p(counts.astype(np.float64))

    def learn_maps(
        self,
        target: NDArray[np.float32],
        at: NDArray[np.int64],
        weights: NDArray[np.float64],
        folds: NDArray[np.int64],
    ) -> None:
        """Learn a map without each fold of the pairs, and one of all.

        Arguments:
            target: float32[n, d], vectors of n pairs. at: int64[n], their known words.
            weights: float64[n]. folds: int64[n], 0 to FOLDS - 1.

        Raises:
            InputError: the table has next to none of the words.
        """
        parts = [*(folds != fold for fold in range(FOLDS)), np.ones(len(at), bool)]
        if not all(self.known[at[some]].any() for some in parts):
            found = int(self.known[at].any(axis=1).sum())
            raise InputError(
                f"{self._table.path}: has {found} of the {len(at)} source words that teach the map "
                "between the languages: give an index of text in the source language"
            )
        self._maps = [
            fit_map(self.known[at[some]], target[some], weights[some], MapOptions())
            for some in parts
        ]

    def mapped(self, vectors: NDArray[np.float32], folds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return vectors mapped without the pairs of their folds, float32[n, dimensions], of length
        1.

        Arguments:
            vectors: float32[n, dimensions].
            folds: int64[n]; FOLDS: mapped by all pairs.
        """
        rows = [vector @ self._maps[fold] for vector, fold in zip(vectors, folds, strict=True)]
        return unit_rows(np.array(rows, np.float32))

    def _forms(self, words: Iterable[str]) -> list[str]:
        return [self._table.normal_form(word) or word for word in words]


class TargetSide:
    """Words of the target language as the translation table writes them.

    Attributes:
        words: n words with a letter, the most frequent first; those of the table without a text.
        rows: the place of each. log_counts: float64[n], ln(1 + occurrences in the text).
        vectors: float32[n, dimensions], of length 1; None without a text.
        scripts: in which they are written.

    Arguments:
        known: of the translation table. table: of the target text, None where there is none.
    """

    def __init__(self, known: KnownWords, table: StoredTable | None) -> None:
        ranked = sorted(known.target_words, key=lambda word: (-known.target_words[word], word))
        self.vectors: NDArray[np.float32] | None = None
        if table is None:
            self.words = list(filter(has_letters, ranked))
            self.log_counts = np.zeros(len(self.words))
        else:
            written: dict[str, str] = {}  # a form -> how the translation table writes it
            for word in ranked:
                written.setdefault(table.normal_form(word), word)
            space = WordSpace(table)
            rows = [
                row
                for row, word in enumerate(space.words)
                if (row < _MOST_TARGETS or word in written)
                and has_letters(word)
                and "|||" not in word
            ]
            self.words = [
                written.get(space.words[row]) or known.escape(space.words[row]) for row in rows
            ]
            self.vectors = np.ascontiguousarray(space.vectors[rows])
            self.log_counts = np.log1p(space.strengths[rows].astype(np.float64))
        self.rows = {word: row for row, word in enumerate(self.words)}
        self.scripts = scripts_of(self.words)
        self._sorted = sorted(self.words)
        self._sizes = np.array([len(trigrams(word)) for word in self.words], np.int64)
        places: defaultdict[str, list[int]] = defaultdict(list)
        for row, word in enumerate(self.words):
            for gram in trigrams(word):
                places[gram].append(row)
        self._places = {gram: np.array(rows, np.int64) for gram, rows in places.items()}

    def shared_trigrams(self, word: str) -> NDArray[np.float64]:
        """Return the Dice coefficient of a word's trigrams and every target word's, float64[n].

        Arguments:
            word: a source word.
        """
        grams = trigrams(word)
        found = [self._places[gram] for gram in sorted(grams) if gram in self._places]
        if not found:
            return np.zeros(len(self.words))
        shared = np.bincount(np.concatenate(found), minlength=len(self.words))
        return np.asarray(2 * shared / (len(grams) + self._sizes), np.float64)

    def of_stem(self, word: str) -> list[str]:
        """Return target words that begin like a word, the longest common prefix first.

        Arguments:
            word: a source word.
        """
        start = word[: max(SHORTEST_STEM, math.ceil(STEM_SHARE * len(word)))]
        at, found = bisect_left(self._sorted, start), list[str]()
        while at < len(self._sorted) and self._sorted[at].startswith(start):
            found.append(self._sorted[at])
            at += 1
        found.sort(key=lambda other: (-common_prefix(other, word), self.rows[other]))
        return found[:_OF_STEM]
