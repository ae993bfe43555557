"""Substitutes of single words by what `sign` stored: of a word alone, or to rank in a sentence."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Words
from distsim.base.results import Results
from distsim.comparison.finder.inflections import Forms
from distsim.comparison.finder.lexicon import Lexicon
from distsim.comparison.finder.space import LearnedSpace, open_space
from distsim.comparison.finder.word_finder import (
    RANKS,
    SHIPPED,
    FinderWeights,
    LemmaPool,
    WordFinder,
)
from distsim.corpus.inflections import Inflections
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.arrays import each_once
from distsim.signatures.table import StoredTable, inflections_of, made_once

_RARER_FACTOR = 20  # a form is shown that occurs at least so many times less than the one most like
_EXTRA_LEMMAS = 5  # more than are wanted are looked at at once, since two lemmas may share a form
# A base word is shown that occurs at least an eighth as often as each of its forms.
_BASE_FACTOR = 8
_NOT_ASKED = -2
_MORE_LIKE = 0.09  # so much more like than the base word a form is that is shown for it


class WordParts(NamedTuple):
    """Parts of an open index that are needed to find substitutes.

    lexicon: ids and counts of words. forms: inflected forms. space: vectors, None where none are
    learned.
    """

    lexicon: Lexicon
    forms: Forms
    space: LearnedSpace | None

    @classmethod
    def open(
        cls, index: CorpusIndex, table: StoredTable, inflections: Inflections | None = None
    ) -> "WordParts":
        """Return the parts of an index and its table, the same object for its inflections.

        Arguments:
            inflections: the rules of the language; those of the table where None.
            index: a corpus index.
            table: a table signed from it.
        """

        def opened() -> "WordParts":
            space, lexicon = open_space(index, table), Lexicon(index)
            rules = inflections or inflections_of(index, table)
            return cls(lexicon, Forms(rules, lexicon, space), space)

        return opened() if inflections else made_once(index, table, "parts", opened)


class FoundWord(NamedTuple):
    """A word that may stand in another's place in some sentence.

    phrase: the word. score: the probability that people name it, or a share where the finder is not
    calibrated. strength: occurrences of all its forms.

    >>> FoundWord("rapid", 0.31, 240).phrase
    'rapid'
    """

    phrase: str
    score: float
    strength: int


class WordSubstitutes:
    """Finds substitutes of a word, with or without a sentence; may be shared by threads.

    Arguments:
        finder: the data on similar words that `sign` stored.
        lexicon: words of the index with their counts.
        space: vectors of the table.
        forms: inflected forms of the words.
        weights: weights of the features that rank substitutes.

    >>> WordSubstitutes.open(index, table) is None  # a table without stored profiles
    True
    """

    def __init__(
        self,
        finder: WordFinder,
        lexicon: Lexicon,
        forms: Forms,
        space: LearnedSpace,
        *,
        weights: FinderWeights,
    ) -> None:
        self.finder = finder
        self.weights = weights
        self._lexicon = lexicon
        self.forms = forms
        self._space = space
        self._of_kind: dict[str, np.ndarray] = {}
        self._row_of = np.full(lexicon.index.n_words, _NOT_ASKED, np.int64)

    @classmethod
    def open(
        cls, index: CorpusIndex, table: StoredTable, *, weights: str = SHIPPED
    ) -> "WordSubstitutes | None":
        """Return what finds substitutes by a table's stored profiles; None where it has none.

        Arguments:
            index: whose words are found.
            table: signed from it.
            weights: `substitutes`, which ship, or the path of a TOML file.

        Raises:
            InputError: there are no such weights.
        """
        if table.finder is None:
            return None

        def opened() -> "WordSubstitutes | None":
            parts = WordParts.open(index, table)
            learned = FinderWeights.open(weights)
            return cls.of(table, parts.lexicon, parts.forms, parts.space, weights=learned)

        return made_once(index, table, ("words", weights), opened)

    @classmethod
    def of(
        cls,
        table: StoredTable,
        lexicon: Lexicon,
        forms: Forms,
        space: LearnedSpace | None,
        *,
        weights: FinderWeights | None = None,
    ) -> "WordSubstitutes | None":
        """Return the same of parts that are open already, None where nothing was stored.

        Arguments:
            table: the signatures. lexicon: of their index. forms: inflected forms.
            space: the words' vectors, None where the table has none.
            weights: those that ship with the package where None.
        """
        finder = None if space is None else WordFinder.open(lexicon.index, table, forms)
        if finder is None or space is None:
            return None
        return cls(finder, lexicon, forms, space, weights=weights or FinderWeights.open())

    def answers(self, target: str, *, k: int | None = 10) -> Results[FoundWord] | None:
        """Return what may stand in a word's place in some sentence, best first, in its form.

        None where nothing was stored to find it by.

        Arguments:
            target: a word, as typed. k: so many at most; all 400 that are looked at where None.
        """
        words = self._lexicon.words(target)
        pool = self.pool(words)
        if pool is None:
            return None
        form, nearest = self.of_form(words, pool)
        features = np.column_stack([self._alone(pool), form])
        chances = self.weights.alone.chances(features, self.finder.is_calibrated)
        order = np.argsort(-chances, kind="stable")
        at_once = order.size if k is None else k + _EXTRA_LEMMAS
        related = self.forms.inflections.are_related
        row_of_word: dict[str, int] = {}
        for first in range(0, order.size, at_once):
            rows = order[first : first + at_once]
            shown = self.shown(words, pool.lemmas[rows], nearest[rows])
            for shown_word, i in zip(shown, rows.tolist(), strict=True):
                if not related(words[0], shown_word) and self.occurs(shown_word):
                    row_of_word.setdefault(shown_word, i)
            if k is not None and len(row_of_word) >= k:
                break
        listed = list(row_of_word.items())[:k]
        lemmas = pool.lemmas[[i for _, i in listed]]
        return Results(
            FoundWord(shown_word, float(chances[i]), n)
            for (shown_word, i), n in zip(listed, self._counts(lemmas).tolist(), strict=True)
        )

    def features(self, target: str) -> tuple[list[str], np.ndarray] | None:
        """Return the candidates of a word with their features; None where nothing was stored.

        Arguments:
            target: a word, as typed.

        Returns (the base words; float64[n, 7], the features that ALONE names).
        """
        words = self._lexicon.words(target)
        pool = self.pool(words)
        if pool is None:
            return None
        return self.finder.named(pool.lemmas), np.column_stack(
            [self._alone(pool), self.of_form(words, pool)[0]]
        )

    def of_form(self, target: Words, pool: LemmaPool) -> tuple[np.ndarray, np.ndarray]:
        """Return (of each lemma how its forms agree with the target; the form most like it).

        Arguments:
            target: a word. pool: what is found for it.

        float64[n, 2]: the cosine of the most similar form, and 1 where the lemma has a form of the
        target's kind, else 0; int64[n], the id of that form.
        """
        own = self._space.phrases([target])[0]
        ids, starts = self.finder.forms(pool.lemmas)
        rows = self._rows_of(ids)
        cosines = np.where(rows >= 0, self._space.vectors_at(rows) @ own.astype(np.float32), 0.0)
        best = np.maximum.reduceat(cosines, starts)
        owners = np.repeat(np.arange(starts.size), np.diff(np.append(starts, ids.size)))
        places = np.flatnonzero(cosines == best[owners])[::-1]
        nearest = np.empty(starts.size, np.int64)
        nearest[owners[places]] = ids[places]  # the first of equal ones
        agrees = self._have(pool.lemmas, self.forms.kind(target[0]))
        return np.column_stack([best.astype(np.float64), agrees]), nearest

    def _have(self, lemmas: np.ndarray, kind: str) -> np.ndarray:
        """Return 1 for lemmas that have a form of a kind, else 0; int8[n], looked up once each."""
        known = self._of_kind.setdefault(kind, np.full(len(self.finder.words), -1, np.int8))
        missing = lemmas[known[lemmas] < 0]
        known[missing] = self.forms.have(self.finder.named(missing), kind)
        have: np.ndarray = known[lemmas]
        return have

    def bases(self, target: Words) -> list[str]:
        """Return the base words of a target of one known word; none of other targets.

        Arguments:
            target: its words.
        """
        lemma = self._lemma(target)
        return self.finder.named(np.array([lemma])) if lemma >= 0 else []

    def pool(self, target: Words, *, more: Iterable[Words] = ()) -> LemmaPool | None:
        """Return what is stored of a target that is one word; None where nothing is.

        Arguments:
            target: its words. more: words that are looked at, too, beside the 400 found.
        """
        lemma = self._lemma(target)
        others = {self._lemma(words) for words in more} - {-1}
        if lemma < 0:
            return None
        pool = self.finder.pool(lemma, tuple(sorted(others)))
        if self._lexicon.index.kept_documents is None:
            return pool
        occurs = self._counts(pool.lemmas) > 0
        return LemmaPool(*(values[occurs] for values in pool))

    def occurs(self, word: str) -> bool:
        """Return whether a word that is found occurs in the documents that are asked.

        Arguments:
            word: in normal form.
        """
        return self._lexicon.index.kept_documents is None or self._lexicon.count(word) > 0

    def _counts(self, lemmas: np.ndarray) -> np.ndarray:
        """Return how often lemmas occur in the documents that are asked, int64."""
        if self._lexicon.index.kept_documents is None:
            stored: np.ndarray = self.finder.counts[lemmas]
            return stored
        ids, starts = self.finder.forms(lemmas)
        sums: np.ndarray = np.add.reduceat(np.append(self._lexicon.counts_of(ids), 0), starts)
        return sums

    def _lemma(self, words: Words) -> int:
        """Return the number of the lemma of a phrase that is one word, -1 where it has none."""
        return self.finder.lemma(int(self._lexicon.ids(words)[0])) if len(words) == 1 else -1

    def _rows_of(self, ids: np.ndarray) -> np.ndarray:
        """Return the row of every form's vector, -1 where it has none; int64[n]. Looked up once.

        Arguments:
            ids: int64[n], of words.
        """
        missing = each_once(ids[self._row_of[ids] == _NOT_ASKED])
        if missing.size:
            self._row_of[missing] = self._space.rows(self._lexicon.index.vocabulary.words(missing))
        rows: np.ndarray = self._row_of[ids]
        return rows

    def _alone(self, pool: LemmaPool) -> np.ndarray:
        """Return the features that need neither a sentence nor the form."""
        return pool.features[:, [*range(len(RANKS) + 1), -1]]

    def shown(self, target: Words, lemmas: np.ndarray, nearest: np.ndarray) -> list[str]:
        """Return each lemma as the form that stands in a target's place: *took* for *brought*.

        That is the form of the target's kind, the most similar one where there are several; or the
        nearest form where that kind is much rarer. For a target that is a base word it is the base
        word, unless a form is much more similar, of a kind that the target's lemma does not have:
        *located* for *situated*. Where endings name no inflections, a base word stands for a base
        word, unless another of its forms is much more frequent.

        Arguments:
            target: a word. lemmas: int64[n]. nearest: int64[n], the id of each one's form that is
                most similar to the target.
        """
        wanted = self.forms.kind(target[0])
        own = self.forms.base(target[0])
        is_base = own == target[0] and not self.forms.inflections.names_kinds
        named = self._lexicon.index.vocabulary.words(nearest)
        shown_words, unsure = [], list[tuple[int, str, list[str]]]()
        for base, near in zip(self.finder.named(lemmas), named, strict=True):
            if (near == base and not wanted) or (is_base and self._is_usual(base)):
                shown_words.append(base)
                continue
            forms = [
                form for form in self.forms.of_word(base) if self.forms.kind(form, base) == wanted
            ]
            unsure.append((len(shown_words), base, forms))
            shown_words.append(near)
        phrases = [target, *((shown_words[at],) for at, *_ in unsure)]
        phrases += [(form,) for *_, forms in unsure for form in forms]
        place_of = {phrase: place for place, phrase in enumerate(phrases)}
        vectors = self._space.phrases(phrases)
        for at, base, forms in unsure:
            near = shown_words[at]
            counts = self._lexicon.counts([near, *forms])
            places = [place_of[(form,)] for form in (near, *forms)]
            likeness = vectors[places] @ vectors[0]
            best = int(np.argmax(likeness[1:])) if forms else 0
            if not wanted:
                is_it = likeness[0] - likeness[1:].max(initial=-1.0) >= _MORE_LIKE
                keeps = not is_it or self.forms.has(own, self.forms.kind(near, base))
            else:
                keeps = bool(forms) and counts[1 + best] * _RARER_FACTOR >= counts[0]
            if keeps:
                shown_words[at] = forms[best]
        return shown_words

    def _is_usual(self, base: str) -> bool:
        """Return whether no form of a base word is much more frequent than itself."""
        counts = self._lexicon.counts(self.forms.of_word(base))
        return bool(counts[0] * _BASE_FACTOR >= counts.max())
