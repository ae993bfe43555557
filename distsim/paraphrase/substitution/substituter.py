"""Finds substitutes of a target in its sentence, best first, with their evidence."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath, Words, in_range, one_or_many_texts, whole_number
from distsim.base.errors import ParameterError, counted
from distsim.base.results import Results
from distsim.comparison.finder.inflections import LemmaVectors, as_bases, likeness_by_bits
from distsim.comparison.finder.word_finder import IN_SENTENCE, FinderWeights, LemmaPool, WordOptions
from distsim.comparison.finder.word_substitutes import WordParts, WordSubstitutes
from distsim.comparison.opposites.language import Language
from distsim.comparison.opposites.opposites import opposites_last, opposites_of
from distsim.corpus.inflections import Inflections
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.paraphrase.substitution.occurrence import (
    MOST_CANDIDATES,
    Filled,
    Fluency,
    FormPlace,
    Occurrence,
    Slot,
    coherence,
)
from distsim.paraphrase.substitution.substitute_candidates import (
    FINDING,
    MOST_FOUND,
    RANKING,
    Candidate,
    Mix,
    ParaphraseGrammar,
    SubstituteCandidates,
    SubstituteFeatures,
    scores_of_phrases,
)
from distsim.signatures.table import TableLike, opened_table

RulesByTarget = dict[Words, tuple[float, ...]]
HIGHEST_COST = 8.0  # of a rule, -ln p; more counts as if there were none
LIKELIER = 3.0  # by so much a word of another form than the target's fits better, ln
# Of *saw* and *seen*, ln: what the words around tell, and what speaks for the former where they do
# not. Of 361 such verbs in GUM 94.5% are right, 92.5% by ln p alone but behind be and have.
CERTAIN, FINITE = 12.0, 0.5
FLUENT = 150  # so many of the lemmas found are read in the sentence
REPLACEMENT = (
    "Substitute", "Company", "NotFound", "Unlisted", "Fit", "OtherForm", "Negation",
)  # fmt: skip


class ContextWord(NamedTuple):
    """A word around the slot that contributes to a substitute's fit.

    place: 1, 2 ... to the right of the slot, -1, -2 ... to the left. share: its part of `fit`.
    """

    word: str
    place: int
    share: float


class Substitute(NamedTuple):
    """A substitute of a target, with its evidence.

    substitute: as it was given, or the words found.
    score: combination of the evidence, None where the corpus has no evidence. For candidates of
        the finder it is the chance that people name the substitute; in a language or size of text
        for which it was not calibrated, its share among all that are found.
    likeness: cosine with the target.
    fit: cosine with the signature of the slot's context words.
    fluency: ln of the probability in the slot, all forms together, less that of the target.
    occurrences: in the corpus, of all forms.
    because: the context words that contribute most to the fit, highest first.
    origin: `given`, `finder`, `words`, `contexts` or `grammar`.
    opposite: whether it is an opposite of the target. contrasted: whether the text contrasts the
        two, as it does opposites; these come last.
    article: `a` or `an` where the word before the target has to become that, else "".
    rule: ln of the probabilities of the grammar's rule, of the substitute for the target and the
        other way round, -8 where lower; () without a rule.

    >>> best = Substituter(index, learned).substitutes("said the", "king", "to alice")[0]
    >>> best.occurrences > 0
    True
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
    article: str = ""
    contrasted: bool = False
    rule: tuple[float, ...] = ()


class Substituter:
    """Ranks substitutes of a word or phrase; may be shared by threads.

    Arguments:
        index: counts n-grams. table: signatures made from it; a learned one also tells how a
            candidate fits the words around.
        ranking, finding: how much each kind of evidence weighs where candidates are named, and
            where they are found; words only with other weights than FINDING, or without a finder.
        inflections: the rules of the language; those of the table where None.
        neighbours: so many of the nearest words or phrases are candidates where none are given.
        grammar: paraphrase rules whose targets are candidates too.
        words: how words are found by what `sign` stored.

    Raises:
        IncompatibleError: the table was not signed from this corpus.

    >>> substituter = Substituter(index, learned)
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
        if not table.is_of_all(index):
            table.require_text(index)
        in_range(neighbours, "neighbours", 1)
        self._table = table
        self._again = partial(
            Substituter, ranking=ranking, finding=finding, inflections=inflections,
            neighbours=neighbours, grammar=grammar, words=words,
        )  # fmt: skip
        self._ranking, self._finding = ranking, finding
        parts = WordParts.open(index, table, inflections)
        self._lexicon, self._forms, self._space = parts
        self._vectors = None
        if self._space is not None:
            self._vectors = LemmaVectors(self._space, self._forms, self._lexicon)
        self._fluency = Fluency(self._lexicon, self._forms)
        self._words = None
        self._grammar = grammar
        weights = words.weights or FinderWeights.open()
        if finding == FINDING and (grammar is None or weights.grammar.any()):
            if inflections is None and words.weights is None:
                self._words = WordSubstitutes.open(index, table)
            else:
                self._words = WordSubstitutes.of(table, *parts, weights=words.weights)
        self._language, self._opposites = Language.open(), None
        if words.opposites and self._space is not None:
            self._opposites = opposites_of(index, table, inflections)
        self._candidates = SubstituteCandidates(
            table, self._lexicon, self._forms, self._vectors, neighbours, grammar
        )

    @property
    def is_calibrated(self) -> bool | None:
        """Whether scores of words found are chances; None where no finder finds them."""
        if self._words is None:
            return None
        return self._words.finder.is_calibrated and self._grammar is None

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
        """Return the target's substitutes, best first.

        Arguments:
            left, right: the text on either side of the target, possibly empty.
            target: the target as it stands there, or its base form.
            k: so many at most; all where None.
            candidates: rank these and no others, as they are given, repetitions too; those of
                which the corpus knows no word come last, in their order, with the score None.

        Raises:
            ParameterError: the target is empty, k is below 1 or there are too many candidates.
        """
        if k is not None:
            whole_number(k, "k", 1)
        if candidates is not None:
            candidates = one_or_many_texts(candidates, "candidates")
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        slot = self._slot(occurrence)
        by_words: dict[Words, Candidate] = {}
        if candidates is None:
            if slot is not None and self._words is not None:
                rules = self._rules(occurrence.target)
                pool = self._words.pool(occurrence.target, more=rules)
                if pool is not None:
                    return self._by_finder(occurrence, slot, pool, rules, k)
            vector = np.empty(0) if slot is None else slot.vector
            by_words = self._candidates.of(occurrence.target, vector)
            phrases = list(by_words)
        else:
            if len(candidates) > MOST_CANDIDATES:
                raise ParameterError(
                    f"{counted(len(candidates), 'candidate')}: give {MOST_CANDIDATES:,} at most"
                )
            phrases = [self._lexicon.words(candidate) for candidate in candidates]
        kind = self._kind(occurrence.target) if candidates is None else None
        forms = [entry.form_in_text for entry in by_words.values()] if candidates is None else None
        evidence, counts, rows, filled = self._evidence(occurrence, phrases, slot, kind, forms)
        names = [" ".join(words) for words in filled.forms]
        if candidates is not None:
            names = list(candidates)
        evidence, scores = self._scores(evidence, by_words, candidates is None)
        order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
        if candidates is None:  # of those that are written alike here the best is shown
            written = {names[i]: i for i in order[::-1].tolist()}
            order = np.array([i for i in order.tolist() if written[names[i]] == i], np.int64)
        likeness, fit, fluency = evidence.likeness, evidence.fit, evidence.fluency
        rules = self._rules_of_phrase(occurrence.target) if candidates is None else {}
        result = Results[Substitute]()
        ordered = [names[i] for i in order.tolist()]
        opposites = self._opposites if candidates is None else None
        target = " ".join(occurrence.target)
        ranked, result.opposites = opposites_last(opposites, target, ordered, k)
        for place, contrasted, opposite in ranked:
            i = int(order[place])
            because: tuple[ContextWord, ...] = ()
            if slot is not None and rows is not None:
                because = _because(occurrence, slot, rows[i])
            score = None if math.isnan(scores[i]) else float(scores[i])
            figures = float(likeness[i]), float(fit[i]), float(fluency[i]), int(counts[i])
            last = opposite, filled.articles[i], contrasted, rules.get(phrases[i], ())
            origin = by_words[phrases[i]].origin if by_words else "given"
            result.append(Substitute(names[i], score, *figures, because, origin, *last))
        return result

    def _scores(
        self, evidence: SubstituteFeatures, by_words: dict[Words, Candidate], are_found: bool
    ) -> tuple[SubstituteFeatures, np.ndarray]:
        """Return (evidence, likeness by contexts where these found a candidate; scores float64[n]).

        Arguments:
            by_words: the candidates, none where they are named.
            are_found: whether they were found, not named.
        """
        mix = self._finding if are_found else self._ranking
        alone = [candidate.score for candidate in by_words.values()]
        if all(score is None for score in alone):
            return evidence, mix.scores(evidence)
        filled_in = replace(evidence, likeness=np.array([score or 0.0 for score in alone]))
        if mix != FINDING:
            return filled_in, mix.scores(filled_in)
        return filled_in, scores_of_phrases(alone, evidence, by_vectors=self._vectors is not None)

    def features(
        self, left: str, target: str, right: str
    ) -> tuple[list[str], np.ndarray, np.ndarray] | None:
        """Return the candidates of a word with their features; None where nothing was stored.

        Arguments:
            left, target, right: the sentence.

        Returns (the words; float64[n, 10], their features IN_SENTENCE; float64[n, 2],
        how far the costs of the grammar's rule for it are below the highest, 0 where it has none).
        """
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        slot = self._slot(occurrence)
        rules = self._rules(occurrence.target)
        pool = None if self._words is None else self._words.pool(occurrence.target, more=rules)
        if pool is None or slot is None:
            return None
        words, columns, _, gains = self._weighed(occurrence, slot, pool, rules)
        return words, columns, gains

    def _rules(self, target: Words) -> RulesByTarget:
        """Return the words that the grammar puts for a word, with their costs."""
        if self._grammar is None or len(target) != 1:
            return {}
        forms = [target, *((form,) for form in self._forms.of_word(self._forms.base(target[0])))]
        costs_of_forms = self._grammar.of_all(dict.fromkeys(forms))
        return {words: costs for words, costs in costs_of_forms.items() if len(words) == 1}

    def _rules_of_phrase(self, target: Words) -> RulesByTarget:
        """Return ln of the probabilities of the grammar's rules, single words as base words."""
        rules = {} if self._grammar is None else self._grammar.of(target)
        lowest = -HIGHEST_COST
        return {
            words: tuple(max(lowest, -cost) for cost in rules[own])
            for words, own in as_bases(target, rules, self._forms).items()
        }

    def replacements(
        self, left: str, target: str, right: str, candidates: Sequence[str]
    ) -> np.ndarray:
        """Return the features REPLACEMENT of words in a word's place, float64[n, 7].

        Of words that are looked at for the target, Substitute: ln of their shares, fluency left
        out, and Company: ln of how much more often than chance they stand in a sentence with it (of
        *evening* and *afternoon* more than of *start* and *begin*). NotFound: 1 for words that are
        not looked at. Unlisted: 1 where nothing is stored of the target. Fit: the cosine with the
        slot, less the target's; 0 where a vector is missing. OtherForm: 1 for a word of another
        form than the target's, such as plural or past. Negation: 1 where affixes make the two
        opposites (*unfamiliar* and *familiar*).

        Arguments:
            left, target, right: the sentence; the target is one word.
            candidates: words in the index's normal form.
        """
        features = np.zeros((len(candidates), len(REPLACEMENT)))
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        words, slot = occurrence.target, self._slot(occurrence)
        if slot is None or self._words is None or self._vectors is None or len(words) != 1:
            return features
        pool = self._words.pool(words)
        features[:, 3] = pool is None
        if pool is not None:
            columns, _ = self._in_slot(words, slot, pool)
            sums = columns @ self._words.weights.in_sentence.weights[:-1]
            place_of = {lemma: place for place, lemma in enumerate(pool.lemmas.tolist())}
            lemmas = map(self._words.finder.lemma, self._lexicon.ids(candidates).tolist())
            places = np.array([place_of.get(lemma, -1) for lemma in lemmas])
            has_place = places >= 0
            features[has_place, 0] = (sums - np.logaddexp.reduce(sums))[places[has_place]]
            features[has_place, 1] = pool.features[
                places[has_place], IN_SENTENCE.index("cooccurrence")
            ]
            features[:, 2] = ~has_place
        rows = self._vectors.rows([words, *((candidate,) for candidate in candidates)])
        fit = slot.fit(rows)
        features[:, 4] = np.where(rows[1:].any(axis=1) & rows[0].any(), fit[1:] - fit[0], 0.0)
        form = self._forms.kind(words[0])
        features[:, 5] = [self._forms.kind(candidate) != form for candidate in candidates]
        features[:, 6] = [
            self._language.are_opposed(words[0], candidate) for candidate in candidates
        ]
        return features

    def agreeing(self, left: str, target: str, right: str, candidates: Sequence[str]) -> list[str]:
        """Return words in the form that a word's place asks for: *expanding* for *extending*.

        That is the likeliest of its forms of the target's inflection. The word as given stays where
        the target may be a noun and the word is much likelier. Where the target is a base word
        that has a plural, a plural (or *gives*) becomes its base word unless it is far likelier.

        Arguments:
            left, target, right: the sentence; the target is one word.
            candidates: words in the index's normal form.
        """
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        words, agreeing, forms = occurrence.target, list(candidates), self._forms
        kind = forms.kind(words[0])
        if self._words is None or len(words) != 1 or not (kind or forms.has(words[0], "s")):
            return agreeing
        finder, options, place = self._words.finder, [], FormPlace.of(occurrence)
        for i, number in enumerate(self._lexicon.ids(candidates).tolist()):
            lemma = finder.lemma(number)
            base = finder.words[lemma] if lemma >= 0 else ""
            if lemma >= 0 and forms.has(base, kind):
                gains = self._gains_of_forms(place, kind, base, agreeing[i])
                options += [(i, form, gain) for form, gain in gains if form != words[0]]
        logs = self._fluency.log_probabilities(occurrence, [(form,) for _, form, _ in options])
        logs += [gain for *_, gain in options]
        for number in np.argsort(logs, kind="stable").tolist():  # the likeliest comes last
            i, form, _ = options[number]
            agreeing[i] = form
        return agreeing

    def _gains_of_forms(
        self, place: FormPlace, kind: str, base: str, rule_form: str
    ) -> list[tuple[str, float]]:
        """Return the forms of a word that a place may have, and what is added to ln p of each.

        Arguments:
            place: of the target. kind: of the target.
            base, rule_form: the word; the form that a rule has.
        """
        forms = self._forms
        if not kind:
            return [(rule_form, 0.0), (base, CERTAIN)] if forms.kind(rule_form, base) == "s" else []
        alike = [form for form in forms.of_word(base) if forms.kind(form, base) == kind]
        if kind == "ed" and not alike[0].endswith(kind):
            if len(alike) > 1:  # saw, seen
                return [
                    (alike[0], FINITE + CERTAIN * place.has_subject),
                    (alike[-1], CERTAIN * place.is_participle),
                ]
            if forms.inflections.is_unchanged(base, place.is_participle):
                return [(base, 0.0)]  # has come; they beat
        gains = [(form, LIKELIER) for form in alike]
        if rule_form not in alike and place.may_be_noun(kind):
            gains.append((rule_form, 0.0))
        return gains

    def _in_slot(self, target: Words, slot: Slot, pool: LemmaPool) -> tuple[np.ndarray, np.ndarray]:
        """Return (features of the lemmas found in a slot, fluency left out; nearest forms).

        float64[n, 9]; int64[n], the id of each one's form that is most similar to the target.
        """
        assert self._words is not None
        form, nearest = self._words.of_form(target, pool)
        fit = self._words.finder.fit(pool.lemmas, slot.vector)
        return np.column_stack([pool.features, form, fit]), nearest

    def _weighed(
        self, occurrence: Occurrence, slot: Slot, pool: LemmaPool, rules: RulesByTarget
    ) -> tuple[list[str], np.ndarray, Filled, np.ndarray]:
        """Return (words, features float64[n, 10], how each is written, gains of rules)."""
        assert self._words is not None
        finder, weights = self._words.finder, self._words.weights.in_sentence.weights
        target = occurrence.target
        columns, nearest = self._in_slot(target, slot, pool)
        gains = self._by_rules(pool, rules)
        added = gains @ self._words.weights.grammar
        best = np.argsort(-(columns @ weights[:-1] + added), kind="stable")[:FLUENT]
        words = finder.named(pool.lemmas[best])
        shown = self._words.shown(target, pool.lemmas[best], nearest[best])
        own = self._forms.kind(target[0])
        kinds = [{own, self._forms.kind(*pair)} for pair in zip(shown, words, strict=True)]
        filled = self._fluency.scores(
            occurrence,
            [*((word,) for word in words), target],
            [*kinds, {own}],
        )
        relative = filled.logs[:-1] - filled.logs[-1]
        return words, np.column_stack([columns[best], relative]), filled, gains[best]

    def _by_rules(self, pool: LemmaPool, rules: RulesByTarget) -> np.ndarray:
        """Return how far the costs of each lemma's rule are below the highest, float64[n, 2]."""
        assert self._words is not None
        if not rules:
            return np.zeros((pool.lemmas.size, 2))
        costs: dict[str, tuple[float, ...]] = {}
        for words, own in rules.items():
            for base in self._words.bases(words):
                costs[base] = tuple(map(min, costs.get(base, own), own))
        none = (HIGHEST_COST,) * 2
        names_of_lemmas = self._words.finder.named(pool.lemmas)
        below = HIGHEST_COST - np.array(
            [costs.get(name, none) for name in names_of_lemmas]
        ).reshape(-1, 2)
        return np.maximum(0.0, below)

    def _by_finder(
        self,
        occurrence: Occurrence,
        slot: Slot,
        pool: LemmaPool,
        rules: RulesByTarget,
        k: int | None,
    ) -> Results[Substitute]:
        """Return the substitutes of a word by what `sign` stored, best first."""
        words, columns, filled, gains = self._weighed(occurrence, slot, pool, rules)
        assert self._vectors is not None and self._words is not None
        weights, calibrated = self._words.weights, bool(self.is_calibrated)
        chances = weights.in_sentence.chances(columns, calibrated, gains @ weights.grammar)
        own = self._vectors.rows([occurrence.target])[0]
        result = Results[Substitute]()
        target, by_form = occurrence.target[0], dict[Words, int]()
        related = self._forms.inflections.are_related
        for i in np.argsort(-chances, kind="stable").tolist():
            form = filled.forms[i]
            if not related(target, words[i]) and not related(target, form[0]) and all(
                map(self._words.occurs, form)
            ):  # fmt: skip
                by_form.setdefault(form, i)
        order = list(by_form.values())
        ordered = [words[i] for i in order]
        ranked, result.opposites = opposites_last(self._opposites, target, ordered, k)
        for place, contrasted, opposite in ranked:
            i = order[place]
            (row,) = self._vectors.rows([(words[i],)])
            *_, fit, fluency = columns[i].tolist()
            count = self._count((words[i],))
            because = _because(occurrence, slot, row)
            result.append(
                Substitute(
                    " ".join(filled.forms[i]),
                    float(chances[i]),
                    float(row @ own),
                    fit,
                    fluency,
                    count,
                    because,
                    "finder",
                    opposite,
                    filled.articles[i],
                    contrasted,
                    tuple((gains[i] - HIGHEST_COST).tolist()) if gains[i].any() else (),
                )
            )
        return result

    def evidence(
        self, left: str, target: str, right: str, candidates: Sequence[str]
    ) -> SubstituteFeatures:
        """Return the features of given candidates, in their order, before they are summed.

        Arguments:
            candidates: n phrases.
            left: text before the target.
            target: the word to replace.
            right: text behind the target.
        """
        occurrence = Occurrence.of(self._lexicon, left, target, right)
        candidates = one_or_many_texts(candidates, "candidates")
        phrases = [self._lexicon.words(candidate) for candidate in candidates]
        return self._evidence(occurrence, phrases, self._slot(occurrence))[0]

    def _evidence(
        self,
        occurrence: Occurrence,
        phrases: list[Words],
        slot: Slot | None,
        kind: str | None = None,
        forms_in_text: list[Words] | None = None,
    ) -> tuple[SubstituteFeatures, np.ndarray, np.ndarray | None, Filled]:
        """Return (evidence, counts int64[n], vectors or None, how each is written).

        kind: the inflection in which single words are written; the likeliest one where None.
        forms_in_text: the form in which each phrase was found, () for none.
        """
        target = occurrence.target
        everything = [*phrases, target]
        kinds = None
        if kind is not None and (kind or not any(forms_in_text or ())):
            kinds = [{kind}] * len(everything)
        forms = None if forms_in_text is None else [*forms_in_text, ()]
        filled = self._fluency.scores(occurrence, everything, kinds, forms)
        counts = np.array([self._count(words) for words in everything], np.int64)
        frequency = np.log(counts + 0.5)
        rows, fit = None, np.zeros(len(phrases))
        central, shared_fit = fit, fit
        if self._vectors is None:
            likeness = likeness_by_bits(self._table, target, phrases)
        else:
            rows = self._vectors.rows(everything)
            likeness = rows[:-1] @ rows[-1]
            fit = slot.fit(rows[:-1]) if slot is not None else fit
            central, shared_fit = coherence(rows[:-1], fit)
        scored = np.array([bool(np.any(self._lexicon.counts(words))) for words in phrases], bool)
        evidence = SubstituteFeatures(
            likeness=likeness,
            fit=fit,
            fluency=filled.logs[:-1] - filled.logs[-1],
            frequency=frequency[:-1] - frequency[-1],
            centrality=central,
            shared_fit=shared_fit,
            scored=scored,
        )
        return evidence, counts[:-1], rows, filled

    def _slot(self, occurrence: Occurrence) -> Slot | None:
        return None if self._space is None else Slot.of(self._space, occurrence)

    def _kind(self, target: Words) -> str:
        """Return the inflection of a target: of a phrase that of the first word that has one.

        Function words, as *was*, tell none, nor do phrases between two of them, as *by means of*.
        """
        function_words = self._forms.inflections.function_words
        if len(target) > 2 and target[0] in function_words and target[-1] in function_words:
            return ""
        kinds = (self._forms.kind(word) for word in target if word not in function_words)
        return next(filter(None, kinds), "")

    def _count(self, words: Words) -> int:
        """Return the occurrences of a word in all its forms, or of a phrase as it stands."""
        if not words:
            return 0
        if len(words) == 1:
            return int(self._lexicon.counts(self._forms.of_word(words[0])).sum())
        return int(self._lexicon.index.count(" ".join(words)))


def _because(occurrence: Occurrence, slot: Slot, row: np.ndarray) -> tuple[ContextWord, ...]:
    """Return the context words that contribute to the fit of a candidate with this vector.

    Arguments:
        row: float64[n_dimensions], the candidate's vector.
    """
    return tuple(
        ContextWord(occurrence.word_at(place), place, share) for place, share in slot.because(row)
    )
