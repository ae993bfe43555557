"""Finds substitutes of a target in its sentence, best first, with their evidence."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.comparison.opposites.opposites import Opposites
from distsim.corpus.inflections import Inflections
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.paraphrase.substitution.candidates import MOST_FOUND, Finder
from distsim.paraphrase.substitution.coherence import company
from distsim.paraphrase.substitution.fit import Slot
from distsim.paraphrase.substitution.fluency import Fluency
from distsim.paraphrase.substitution.grammar import ParaphraseGrammar
from distsim.paraphrase.substitution.inflections import Forms
from distsim.paraphrase.substitution.lexicon import Lexicon
from distsim.paraphrase.substitution.likeness import WordVectors, likeness_by_bits
from distsim.paraphrase.substitution.mix import FINDING, RANKING, Evidence, Mix
from distsim.paraphrase.substitution.occurrence import Occurrence
from distsim.paraphrase.substitution.space import LearntSpace, open_space
from distsim.paraphrase.substitution.word_finder import (
    RANKS,
    FinderWeights,
    Found,
    WordFinder,
    WordOptions,
)
from distsim.signatures.table import TableLike, opened_table

Words = tuple[str, ...]
MOST_CANDIDATES = 10_000
_RARE = 20  # a form is shown that occurs at least so many times less than the one most like
_SPARE = 5  # rows that may take the place of opposites; the first so many hold none
FLUENT = 150  # so many of the lemmas found are read in the sentence


class ContextWord(NamedTuple):
    """A word around the slot that speaks for a substitute.

    place: 1, 2 ... to the right of the slot, -1, -2 ... to the left. share: its part of `fit`.
    """

    word: str
    place: int
    share: float


class Substitute(NamedTuple):
    """What may stand in a target's place.

    substitute: as it was given, or the words found. score: the mix of the others, None where
    the corpus knows nothing of it. likeness: cosine with the target. fit: cosine with the
    slot's own signature. fluency: ln p in the slot, all forms together, less the target's.
    occurrences: in the corpus, of all forms. because: the context words that speak for
    it, strongest first. opposite: whether it is an opposite of the target, told of words found by
    what `sign` stored; these come last. origin: `given`, `finder`, `words`, `phrases`, `grammar`.
    Of the finder the score is the chance that people name the substitute; in a language or size of
    text that it was not calibrated on, its share among all that are found.

    >>> best = Substituter(index, learnt).substitutes("said the", "king", "to alice")[0]
    >>> best.origin, best.occurrences > 0
    ('words', True)
    """

    substitute: str
    score: float | None
    likeness: float
    fit: float
    fluency: float
    occurrences: int
    because: tuple[ContextWord, ...]
    origin: str
    opposite: bool = False


class FoundWord(NamedTuple):
    """A word that may stand in another's place in some sentence, as a Neighbour.

    similarity: the score, as of Substitute. strength: occurrences of all forms. opposite: whether
    it is an opposite of the other; these come last.
    """

    phrase: str
    similarity: float
    strength: int
    composed: bool
    opposite: bool


class Substituter:
    """Ranks what may stand in a word's or phrase's place; may be shared by threads.

    Arguments:
        index: counts n-grams. table: signatures made from it; a learnt one also tells how a
            candidate fits the words around.
        ranking, finding: how much each kind of evidence weighs where candidates are named, and
            where they are found.
        inflections: the rules of the language; English where None.
        neighbours: so many of the nearest words or phrases are candidates where none are given.
        grammar: paraphrase rules whose targets are candidates too.
        words: how words are found by what `sign` stored.

    Raises:
        IncompatibleError: the table was not signed from this corpus.

    >>> substituter = Substituter(index, learnt)
    >>> named = ["queen", "hatter"]
    >>> found = substituter.substitutes("said the", "king", "to alice", candidates=named)
    >>> sorted(one.substitute for one in found)
    ['hatter', 'queen']
    """

    def __init__(
        self,
        index: CorpusIndex | AnyPath,
        table: TableLike,
        *,
        ranking: Mix = RANKING,
        finding: Mix = FINDING,
        inflections: Inflections | None = None,
        neighbours: int = MOST_FOUND,
        grammar: ParaphraseGrammar | None = None,
        words: WordOptions = WordOptions(),
    ) -> None:
        index, table = opened_index(index), opened_table(table)
        table.require_text(index)
        if neighbours < 1:
            raise ParameterError(f"neighbours {neighbours}: choose 1 or more")
        self._table = table
        self._again = partial(
            Substituter, ranking=ranking, finding=finding, inflections=inflections,
            neighbours=neighbours, grammar=grammar, words=words,
        )  # fmt: skip
        self._ranking, self._finding = ranking, finding
        self._lexicon = Lexicon(index)
        self._space: LearntSpace | None = open_space(index, table)
        self._forms = Forms(inflections or Inflections.open(), self._lexicon, self._space)
        self._vectors = None
        if self._space is not None:
            self._vectors = WordVectors(self._space, self._forms, self._lexicon)
        self._fluency = Fluency(self._lexicon, self._forms)
        self._weights = words.weights or FinderWeights.open()
        self._words = None
        if self._space is not None and grammar is None and finding == FINDING:
            self._words = WordFinder.open(index, table)
        self._opposites = None
        if words.opposites and self._words is not None:
            self._opposites = Opposites(index, table, inflections=inflections)
        self._finder = Finder(table, self._lexicon, self._forms, self._vectors, neighbours, grammar)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again, (self._lexicon.index, self._table)

    def substitutes(
        self,
        left: str,
        target: str,
        right: str,
        *,
        k: int | None = 10,
        candidates: Sequence[str] | None = None,
    ) -> Results[Substitute]:
        """Return what may stand in the target's place, best first.

        Arguments:
            left, right: the text on either side of the target, possibly empty.
            target: the target as it stands there, or its base form.
            k: so many at most; all where None.
            candidates: rank these and no others, as they are given, repetitions too; those of
                which the corpus knows no word come last, in their order, with the score None.

        Raises:
            ParameterError: the target is empty, k is below 1 or there are too many candidates.
        """
        if k is not None and k < 1:
            raise ParameterError(f"k {k}: choose 1 or more")
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        slot = self._slot(occurrence)
        pool = None if candidates is not None else self._pool(occurrence.target)
        if pool is not None and slot is not None:
            return self._found(occurrence, slot, pool, k)
        if candidates is None:
            vector = np.empty(0) if slot is None else slot.vector
            found = self._finder.of(occurrence.target, vector)
            phrases, origins = list(found), list(found.values())
        else:
            if len(candidates) > MOST_CANDIDATES:
                raise ParameterError(
                    f"{len(candidates):,} candidates: give {MOST_CANDIDATES:,} at most"
                )
            phrases = [self._lexicon.words(one) for one in candidates]
            origins = ["given"] * len(phrases)
        evidence, counts, rows, shown = self._evidence(occurrence, phrases, slot)
        mix = self._finding if candidates is None else self._ranking
        scores = mix.scores(evidence)
        if candidates is None:
            names = self._in_form(occurrence.target, phrases, shown)
        else:
            names = list(candidates)
        order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
        result = Results[Substitute]()
        for i in order[:k].tolist():
            because: tuple[ContextWord, ...] = ()
            if slot is not None and rows is not None:
                because = _because(occurrence, slot, rows[i])
            result.append(
                Substitute(
                    names[i],
                    None if math.isnan(scores[i]) else float(scores[i]),
                    float(evidence.likeness[i]),
                    float(evidence.fit[i]),
                    float(evidence.fluency[i]),
                    int(counts[i]),
                    because,
                    origins[i],
                )
            )
        return result

    def features(self, left: str, target: str, right: str) -> tuple[list[str], np.ndarray] | None:
        """Return what is found for a word before it is weighed; None where nothing was stored.

        Arguments:
            left, target, right: as of `substitutes`.

        Returns (the words; float64[n, 7], what tells of each, as of IN_SENTENCE).
        """
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        slot, pool = self._slot(occurrence), self._pool(occurrence.target)
        if pool is None or slot is None:
            return None
        words, columns, _ = self._weighed(occurrence, slot, pool)
        return words, columns

    def alone(self, target: str, *, k: int | None = 10) -> Results[FoundWord] | None:
        """Return what may stand in a word's place in some sentence, best first, in its form.

        None where nothing was stored to find it by.

        Arguments:
            target: a word, as typed. k: so many at most; all 400 that are looked at where None.
        """
        words, pool = self._lexicon.words(target), self._pool(self._lexicon.words(target))
        if pool is None or self._words is None:
            return None
        features, nearest = self._of_form(words, pool)
        chances = self._weights.alone.chances(features, self._words.is_calibrated)
        order = np.argsort(-chances, kind="stable")
        lemmas = pool.lemmas[order].tolist()
        bases = [self._words.words[lemma] for lemma in lemmas]
        wanted = self._forms.kind(words[0])
        return Results(
            FoundWord(
                self._form_like(bases[i], nearest[order[i]], wanted),
                float(chances[order[i]]),
                int(self._words.counts[lemmas[i]]),
                False,
                opposite,
            )
            for i, opposite in self._opposites_last(words[0], bases, k)
        )

    def _of_form(self, target: Words, pool: Found) -> tuple[np.ndarray, list[str]]:
        """Return (features float64[m, 5], as of ALONE; the form of each most like the target)."""
        assert self._words is not None and self._space is not None
        own = self._space.phrases([target])[0]
        forms, starts = self._words.forms(pool.lemmas)
        rows = self._space.rows(forms)
        cosines = np.where(rows >= 0, self._space.vectors_at(rows).astype(np.float64) @ own, 0.0)
        bounds = [*starts.tolist(), len(forms)]
        best = [a + int(np.argmax(cosines[a:b])) for a, b in pairwise(bounds)]
        ranks, rest = pool.features[:, : len(RANKS)], pool.features[:, -1]
        return np.column_stack([ranks, rest, cosines[best]]), [forms[i] for i in best]

    def _form_like(self, base: str, nearest: str, kind: str) -> str:
        """Return the form of a base word of the target's kind, the nearest where it is rare."""
        if not kind:
            return base
        forms = [one for one in self._forms.of_word(base) if self._forms.kind(one, base) == kind]
        counts = self._lexicon.counts([nearest, *forms])
        best = int(np.argmax(counts[1:])) if forms else 0
        return forms[best] if forms and counts[1 + best] * _RARE >= counts[0] else nearest

    def _opposites_last(
        self, target: str, words: list[str], k: int | None
    ) -> list[tuple[int, bool]]:
        """Return (place, whether it is an opposite) of k words; opposites after the others.

        None is among the first five answers, where there are others. words: best first.
        """
        most = len(words) if k is None else min(k, len(words))
        if self._opposites is None:
            return [(place, False) for place in range(most)]
        looked_at = words[: most + _SPARE]
        told = self._opposites.evidence([(target, word) for word in looked_at])
        opposite = [one is not None and one.opposite for one in told]
        last = [place for place in range(most) if opposite[place]][: max(0, most - _SPARE)]
        others = [place for place, is_one in enumerate(opposite) if not is_one]
        first = others[: most - len(last)]
        return [*((place, False) for place in first), *((place, True) for place in last)]

    def features_alone(self, target: str) -> tuple[list[str], np.ndarray] | None:
        """Return the same of a word without a sentence: float64[n, 5], as of ALONE.

        Arguments:
            target: as typed.
        """
        pool = self._pool(self._lexicon.words(target))
        if pool is None or self._words is None:
            return None
        words = [self._words.words[lemma] for lemma in pool.lemmas.tolist()]
        return words, self._of_form(self._lexicon.words(target), pool)[0]

    def bases(self, phrase: str) -> list[str]:
        """Return the base word of a word that is known, none of others."""
        words = self._lexicon.words(phrase)
        lemma = self._lemma(words)
        return [self._words.words[lemma]] if self._words is not None and lemma >= 0 else []

    def _lemma(self, words: Words) -> int:
        """Return the number of the lemma of a phrase that is one word, -1 where it has none."""
        if self._words is None or len(words) != 1:
            return -1
        return self._words.lemma(int(self._lexicon.ids(words)[0]))

    def _pool(self, target: Words) -> Found | None:
        """Return what is stored of a target that is one word; None where nothing is."""
        lemma = self._lemma(target)
        return self._words.found(lemma) if self._words is not None and lemma >= 0 else None

    def _weighed(
        self, occurrence: Occurrence, slot: Slot, pool: Found
    ) -> tuple[list[str], np.ndarray, list[Words]]:
        """Return (words, features float64[n, 7], the form in which each is shown)."""
        assert self._words is not None
        columns = np.column_stack([pool.features, self._words.fit(pool.lemmas, slot.vector)])
        first = columns @ self._weights.in_sentence.weights[:-1]
        best = np.argsort(-first, kind="stable")[:FLUENT]
        words = [self._words.words[lemma] for lemma in pool.lemmas[best].tolist()]
        fluency, shown = self._fluency.scores(
            occurrence, [*((word,) for word in words), occurrence.target], occurrence.target[0]
        )
        relative = fluency[:-1] - fluency[-1]
        return words, np.column_stack([columns[best], relative]), shown[:-1]

    def _found(
        self, occurrence: Occurrence, slot: Slot, pool: Found, k: int | None
    ) -> Results[Substitute]:
        """Return the substitutes of a word by what `sign` stored, best first."""
        words, columns, shown = self._weighed(occurrence, slot, pool)
        assert self._vectors is not None and self._words is not None
        chances = self._weights.in_sentence.chances(columns, self._words.is_calibrated)
        own = self._vectors.rows([occurrence.target])[0]
        result = Results[Substitute]()
        order = np.argsort(-chances, kind="stable").tolist()
        ranked = self._opposites_last(occurrence.target[0], [words[i] for i in order], k)
        for place, opposite in ranked:
            i = order[place]
            (row,) = self._vectors.rows([(words[i],)])
            *_, fit, fluency = columns[i].tolist()
            count = self._count((words[i],))
            because = _because(occurrence, slot, row)
            result.append(
                Substitute(
                    " ".join(shown[i]),
                    float(chances[i]),
                    float(row @ own),
                    fit,
                    fluency,
                    count,
                    because,
                    "finder",
                    opposite,
                )
            )
        return result

    def scores(
        self, left: str, target: str, right: str, candidates: Sequence[str]
    ) -> list[float | None]:
        """Return the score of each given candidate, in their order, None where there is none.

        Arguments:
            left: text before the target.
            target: the word to replace.
            right: text behind the target.
        """
        scores = self._ranking.scores(self.evidence(left, target, right, candidates))
        return [None if math.isnan(score) else score for score in scores.tolist()]

    def evidence(self, left: str, target: str, right: str, candidates: Sequence[str]) -> Evidence:
        """Return what is known of given candidates, in their order, before it is mixed.

        Arguments:
            left: text before the target.
            target: the word to replace.
            right: text behind the target.
        """
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        phrases = [self._lexicon.words(one) for one in candidates]
        return self._evidence(occurrence, phrases, self._slot(occurrence))[0]

    def _evidence(
        self, occurrence: Occurrence, phrases: list[Words], slot: Slot | None
    ) -> tuple[Evidence, np.ndarray, np.ndarray | None, list[Words]]:
        """Return (evidence, counts int64[n], vectors or None, the likeliest form of each)."""
        target = occurrence.target
        everything = [*phrases, target]
        fluency, shown = self._fluency.scores(occurrence, everything)
        counts = np.array([self._count(words) for words in everything], np.int64)
        frequency = np.log(counts + 0.5)
        rows, fit = None, np.zeros(len(phrases))
        alike, shared_fit = fit, fit
        if self._vectors is None:
            likeness = likeness_by_bits(self._table, target, phrases)
        else:
            rows = self._vectors.rows(everything)
            likeness = rows[:-1] @ rows[-1]
            fit = slot.fit(rows[:-1]) if slot is not None else fit
            alike, shared_fit = company(rows[:-1], fit)
        scored = np.array([bool(np.any(self._lexicon.counts(words))) for words in phrases], bool)
        evidence = Evidence(
            likeness=likeness,
            fit=fit,
            fluency=fluency[:-1] - fluency[-1],
            frequency=frequency[:-1] - frequency[-1],
            company=alike,
            shared_fit=shared_fit,
            scored=scored,
        )
        return evidence, counts[:-1], rows, shown[:-1]

    def _slot(self, occurrence: Occurrence) -> Slot | None:
        return None if self._space is None else Slot.of(self._space, occurrence)

    def _in_form(self, target: Words, phrases: list[Words], likeliest: list[Words]) -> list[str]:
        """Return how found candidates are shown: as the likeliest form where the target is one."""
        is_base = len(target) > 1 or self._forms.base(target[0]) == target[0]
        return [" ".join(words) for words in (phrases if is_base else likeliest)]

    def _count(self, words: Words) -> int:
        """Return the occurrences of a word in all its forms, or of a phrase as it stands."""
        if not words:
            return 0
        if len(words) == 1:
            return int(self._lexicon.counts(self._forms.of_word(words[0])).sum())
        return int(self._lexicon.index.count(" ".join(words)))


def _because(occurrence: Occurrence, slot: Slot, row: np.ndarray) -> tuple[ContextWord, ...]:
    """Return the context words that speak for a candidate with this vector."""
    return tuple(
        ContextWord(occurrence.word_at(place), place, share) for place, share in slot.because(row)
    )
