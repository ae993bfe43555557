"""Candidate translations of a word, and the features by which they are ranked.

A candidate is a word of the target text near the mapped vector or of like spelling, a translation
of a known source word (a neighbour, a word of the same stem, a paraphrase by pivot), a target word
that shares a stem with one, or the word itself. Of a known word that is hidden, its own rules and
its pair in learning the maps are left out.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from distsim.base.linear_weights import ChoiceLists, Objective, Standardisation, lowest
from distsim.comparison.mapping import hubness
from distsim.corpus.normaliser import unescape
from distsim.paraphrase.unknown_words.shared_contexts import REACHES, SharedContexts
from distsim.paraphrase.unknown_words.similar_spelling import (
    Endings,
    common_prefix,
    edit_similarity,
    has_letters,
    plain,
    script_of,
    shared_trigrams,
)
from distsim.paraphrase.unknown_words.words import (
    FOLDS,
    SHORTEST_STEM,
    STEM_SHARE,
    KnownWords,
    SourceSide,
    TargetSide,
)
from distsim.signatures.table import StoredTable

_PENALTY = 10.0
_ITERATIONS = 500
_FOLDS = 5
_CALIBRATION_PENALTY = 1.0
_AS_IT_IS = np.array([1.0, 0.0, 0.0, 0.0])  # a calibration that changes nothing


@dataclass(frozen=True)
class Ranker:
    """A learned model.

    Attributes:
        means, scales, weights: float64[features]; features are standardised by the first two.
        calibration: float64[4], weights of a candidate's score, 1, whether it is the copy, and the
            copy's score: fitted on scores of words that taught nothing, by folds.
    """

    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    weights: NDArray[np.float64]
    calibration: NDArray[np.float64]

    @classmethod
    def learn(
        cls,
        features: Sequence[NDArray[np.float32]],
        right: Sequence[NDArray[np.bool_]],
        copies: Sequence[NDArray[np.bool_]],
    ) -> "Ranker":
        """Return the model learned from words whose translations are known.

        Arguments:
            features: float32[candidates, features] of each word, no word without candidates.
            right: bool[candidates] of each word, which are translations. copies: the word itself.
        """
        folds = np.random.default_rng(1).integers(0, _FOLDS, len(features))
        scored: list[NDArray[np.float64]] = [np.empty((0, _AS_IT_IS.size))] * len(features)
        for fold in range(_FOLDS):
            others = np.flatnonzero(folds != fold).tolist()
            held = np.flatnonzero(folds == fold).tolist()
            if held and others:
                part = cls._fitted([features[n] for n in others], [right[n] for n in others])
                for n in held:
                    scored[n] = part._of_calibration(features[n], copies[n])
        model = cls._fitted(features, right)
        if any(len(word_scores) == 0 for word_scores in scored):
            return model
        likelihood = _likelihood(np.vstack(scored), right)
        return replace(model, calibration=_lowest(likelihood, _AS_IT_IS, _CALIBRATION_PENALTY))

    @classmethod
    def _fitted(
        cls, features: Sequence[NDArray[np.float32]], right: Sequence[NDArray[np.bool_]]
    ) -> "Ranker":
        """Return the model without a calibration."""
        rows = np.vstack(features).astype(np.float64)
        means, scales = Standardisation.of(rows)
        begin = np.zeros(rows.shape[1])
        likelihood = _likelihood((rows - means) / scales, right)
        return cls(means, scales, _lowest(likelihood, begin, _PENALTY), _AS_IT_IS)

    def _of_calibration(
        self, features: NDArray[np.float32], copies: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return what a calibration is of, float64[n, 4]."""
        with threadpool_limits(limits=1, user_api="blas"):
            scores = (features.astype(np.float64) - self.means) / self.scales @ self.weights
        ones = np.ones(len(scores))
        return np.stack([scores, ones, copies * ones, copies * scores], axis=1)

    def probabilities(
        self, features: NDArray[np.float32], copies: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return p of each candidate of a word, float64[n]; their sum is below 1.

        features: float32[n, columns]. copies: bool[n], which is the word itself.
        """
        scores = self._of_calibration(features, copies) @ self.calibration
        highest = max(0.0, float(scores.max(initial=0.0)))
        powers = np.exp(scores - highest)
        return np.asarray(powers / (powers.sum() + np.exp(-highest)), np.float64)


def _lowest(objective: Objective, begin: NDArray[np.float64], penalty: float) -> np.ndarray:
    """Return the weights of the lowest value, drawn to the first ones, float64[n]."""
    return lowest(objective, begin, penalty / 2, around=begin, max_steps=_ITERATIONS)


def _likelihood(rows: NDArray[np.float64], right: Sequence[NDArray[np.bool_]]) -> Objective:
    """Return the negative log likelihood that one of the right candidates of each word is chosen.

    None of them, where none is right.
    """
    lists = ChoiceLists.of([len(of_word) for of_word in right])
    is_right = np.concatenate(right).astype(np.float64)
    has_right = lists.sums(is_right) > 0

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        choices = lists.choices(rows @ weights, may_be_none=True)
        of_right = lists.sums(choices.shares * is_right)
        wanted = np.where(has_right, of_right, choices.none)
        expected = is_right * choices.shares / np.maximum(of_right, 1e-300)[lists.owners]
        value = -float(np.log(np.maximum(wanted, 1e-300)).sum())
        return value, rows.T @ (choices.shares - expected)

    return objective


FEATURES = (
    "cosine", "domain_cosine", "log_rank", "csls", "below_best", "votes", "best_vote", "vote_share",
    "pivots", "relatives", "stem", "neighbour_prefix", "trigrams", "edits", "prefix", "last_letter",
    "length", "endings", "log_count", "rarer", "rarer_in_domain", "has_vector", "phrase", "copy",
    "copy_with_digits", "copy_of_known", "copy_log_count", "constant", "near", "in_sentence",
)  # fmt: skip
_BY_COSINE, _BY_CSLS, _BY_SPELLING, _BY_VOTES, _BY_RELATIVES, _BY_PIVOTS = 40, 15, 12, 25, 10, 8
_NEIGHBOURS, _PIVOTS, _TRANSLATIONS = 20, 15, 5
_STEMS, _SHORTEST_OF_STEM = 4, 5
_SURE_PAIR = 0.25  # share of a word's best translation, from which it is a pair of the maps
_MOST_WEIGHT = 5.0  # of a pair: ln(1 + occurrences), at most
_HUB_WORDS = 5000
_NO_RANK = 9.8
_LEAST_PIVOT = 1e-3


@dataclass
class TranslationFeatures:
    """The candidates of a word with their features.

    Attributes:
        features: float32[n, len(FEATURES)], of n candidates.
        behind: known words with a translation that is a candidate or has its stem.
    """

    word: str
    candidates: list[str]
    features: NDArray[np.float32]
    behind: Mapping[str, list[str]]


@dataclass
class _Votes:
    """Votes of the translations of known words, by candidate.

    total, best: sum of the votes of similar words, and the highest. pivots: sum of those over
    shared translations. relatives: the highest of related words. stems: (translation, weight, known
    word) of related words. nearest: translation of the most similar word. behind: known words that
    voted.
    """

    total: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    best: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    pivots: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    relatives: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    stems: list[tuple[str, float, str]] = field(default_factory=list)
    nearest: str = ""
    behind: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


class TranslationCandidates:
    """Gathers the candidates of words, a block of words at a time.

    Attributes:
        words: the known words with a letter, sorted.

    Arguments:
        known: what the translation table says.
        sources: tables of the source language: of a large text, perhaps of the domain's.
        target: of a text of the target language; None: candidates are the table's own words.
        pivots: paraphrases of source words by pivot, with their probabilities.
        sentences: of the text to translate, whose contexts count beside those of the last source.
        seed: of the folds of the map.
    """

    def __init__(
        self,
        known: KnownWords,
        sources: Sequence[StoredTable],
        target: StoredTable | None,
        pivots: Mapping[str, Mapping[str, float]],
        sentences: Iterable[Sequence[str]] = (),
        seed: int = 1,
    ) -> None:
        self.words = sorted(filter(has_letters, known.rules))
        self._rows = {word: row for row, word in enumerate(self.words)}
        self._sides = [SourceSide(table, self.words) for table in sources]
        self._target = TargetSide(known, target)
        self._pivots = pivots
        self._translations = [known.translations(word)[:_TRANSLATIONS] for word in self.words]
        self._starts: defaultdict[str, list[int]] = defaultdict(list)
        for row, word in enumerate(self.words):
            if len(word) >= SHORTEST_STEM:
                self._starts[word[:SHORTEST_STEM]].append(row)
        self._folds = np.random.default_rng(seed).integers(0, FOLDS, len(self.words))
        pairs = [
            (row, *translations[0])
            for row, translations in enumerate(self._translations)
            if translations[0][1] > _SURE_PAIR and translations[0][0] in self._target.rows
        ]
        self._endings = Endings((self.words[row], target) for row, target, _ in pairs)
        self._hubs = self._learn_maps(known, pairs)
        self._contexts = self._shared_contexts(sources[-1], target, sentences)

    def gather(self, words: Sequence[str], hidden: bool = False) -> list[TranslationFeatures]:
        """Return the evidence of a block of words, always the same for the same block.

        Arguments:
            words: as the translation system reads them.
            hidden: they are known words, whose own rules and pairs are left out.
        """
        vectors = [side.vectors(words) for side in self._sides]
        counts = [side.log_counts(words) for side in self._sides]
        with threadpool_limits(limits=1, user_api="blas"):
            near = vectors[0] @ self._sides[0].known.T
            if hidden:
                own = [self._rows[word] for word in words]
                near[np.arange(len(words)), own] = -1.0
            cosines: list[NDArray[np.float32]] = []
            if self._hubs is not None and self._target.vectors is not None:
                folds = self._folds[own] if hidden else np.full(len(words), FOLDS)
                cosines = [
                    side.mapped(rows, folds) @ self._target.vectors.T
                    for side, rows in zip(self._sides, vectors, strict=True)
                ]
        return [
            self._evidence(
                word, near[n], [rows[n] for rows in cosines], [rows[n] for rows in counts],
                bool(vectors[0][n].any()),
            )
            for n, word in enumerate(words)
        ]  # fmt: skip

    def _learn_maps(
        self, known: KnownWords, pairs: list[tuple[int, str, float]]
    ) -> NDArray[np.float32] | None:
        """Learn the maps of all sides; return the hubness of target words by the first."""
        if self._target.vectors is None or not pairs:
            return None
        at = np.array([row for row, _, _ in pairs])
        goals = self._target.vectors[[self._target.rows[target] for _, target, _ in pairs]]
        times = np.array([known.occurrences[self.words[row]] for row in at])
        shares = np.array([share for _, _, share in pairs])
        weights = np.minimum(_MOST_WEIGHT, np.log1p(times)) * shares
        for side in self._sides:
            side.learn_maps(goals, at, weights, self._folds[at])
        sample = self._sides[0].known[:: max(1, len(self.words) // _HUB_WORDS)]
        mapped = self._sides[0].mapped(sample, np.full(len(sample), FOLDS))
        return hubness(self._target.vectors, mapped)

    def _shared_contexts(
        self, source: StoredTable, target: StoredTable | None, sentences: Iterable[Sequence[str]]
    ) -> SharedContexts | None:
        """Return what compares contexts, None where a table has no text around it."""
        if target is None:
            return None
        text, other = source.around, target.around
        if text is None or other is None:
            return None
        self._form_in_source = lru_cache(1 << 18)(lambda word: source.normal_form(word) or word)
        self._form_in_target = lru_cache(1 << 18)(lambda word: target.normal_form(word) or word)
        translations = {
            self._form_in_source(word): [
                (self._form_in_target(translation), share)
                for translation, share in translations
                if " " not in translation
            ]
            for word, translations in zip(self.words, self._translations, strict=True)
        }
        read = (list(map(self._form_in_source, words)) for words in sentences)
        return SharedContexts(translations, text, other, read)

    def _of_contexts(self, word: str, candidates: list[str]) -> NDArray[np.float64]:
        if self._contexts is None:
            return np.zeros((len(candidates), len(REACHES)))
        return self._contexts.cosines(
            self._form_in_source(word), list(map(self._form_in_target, candidates))
        )

    def _votes(self, word: str, near: NDArray[np.float32]) -> _Votes:
        votes = _Votes()
        neighbours = _best(near, _NEIGHBOURS)
        for row in neighbours:
            cosine = max(0.0, float(near[row]))
            for target, share in self._translations[row]:
                votes.total[target] += cosine**4 * share
                votes.best[target] = max(votes.best[target], cosine * share)
                if cosine > 0:
                    votes.behind[target].append(self.words[row])
        if neighbours:
            votes.nearest = self._translations[neighbours[0]][0][0]
        pivots = self._pivots.get(word, {})
        for other in sorted(pivots, key=lambda pivot: (-pivots[pivot], pivot))[:_PIVOTS]:
            if other in self._rows and other != word:
                for target, share in self._translations[self._rows[other]]:
                    votes.pivots[target] += pivots[other] * share
                    votes.behind[target].append(other)
        starts = self._starts.get(word[:SHORTEST_STEM], ()) if len(word) >= SHORTEST_STEM else ()
        for row in starts:
            other = self.words[row]
            like = common_prefix(other, word) / max(len(other), len(word))
            if other == word or like < STEM_SHARE:
                continue
            for n, (target, share) in enumerate(self._translations[row]):
                votes.relatives[target] = max(votes.relatives[target], share * like)
                votes.behind[target].append(other)
                if n < 3 and " " not in target:
                    votes.stems.append((target, share * like, other))
        votes.stems.sort(key=lambda stem: (-stem[1], stem[0]))
        return votes

    def _evidence(
        self,
        word: str,
        near: NDArray[np.float32],
        cosines: list[NDArray[np.float32]],
        counts: list[float],
        has_vector: bool,
    ) -> TranslationFeatures:
        target, votes = self._target, self._votes(word, near)
        spelling = target.shared_trigrams(word)
        rows = _best(spelling, _BY_SPELLING)
        if cosines and self._hubs is not None:
            total = np.sum(cosines, axis=0)
            csls = 2 * cosines[0] - self._hubs
            rows = [*_best(total, _BY_COSINE), *_best(csls, _BY_CSLS), *rows]
        listed = [target.words[row] for row in rows]
        for scores, max_listed in (
            (votes.total, _BY_VOTES), (votes.relatives, _BY_RELATIVES), (votes.pivots, _BY_PIVOTS)
        ):  # fmt: skip
            listed += sorted(scores, key=lambda target_word: (-scores[target_word], target_word))[
                :max_listed
            ]
        for translation, _, known in votes.stems[:_STEMS]:
            if len(translation) >= _SHORTEST_OF_STEM:
                mates = target.of_stem(translation)
                listed += mates
                for mate in mates:
                    votes.behind[mate].append(known)
        if script_of(word) in target.scripts:
            listed.append(word)
        candidates = list(dict.fromkeys(listed))
        at = np.array([target.rows.get(candidate, -1) for candidate in candidates], np.int64)
        parts = [np.zeros((len(at), 5)), self._of_votes(candidates, votes)]
        parts[0][:, [2, 4]] = _NO_RANK, 1.0
        if cosines:
            parts[0] = _of_vectors(at, cosines, total, csls)
        parts += [self._of_spelling(word, candidates, at, spelling)]
        parts += [self._of_counts(word, candidates, at, counts, bool(cosines), has_vector)]
        parts += [self._of_contexts(word, candidates)]
        return TranslationFeatures(
            word, candidates, np.hstack(parts).astype(np.float32), votes.behind
        )

    def _of_votes(self, candidates: list[str], votes: _Votes) -> NDArray[np.float64]:
        total_votes = math.fsum(votes.total.values()) or 1.0
        return np.array(
            [
                (
                    votes.total[candidate],
                    votes.best[candidate],
                    votes.total[candidate] / total_votes,
                    math.log(votes.pivots[candidate] + _LEAST_PIVOT),
                    votes.relatives[candidate],
                    max(
                        (p * _likeness(candidate, other) for other, p, _ in votes.stems),
                        default=0.0,
                    ),
                    _likeness(candidate, votes.nearest),
                )
                for candidate in candidates
            ]
        ).reshape(-1, 7)

    def _of_spelling(
        self,
        word: str,
        candidates: list[str],
        at: NDArray[np.int64],
        spelling: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        return np.array(
            [
                (
                    spelling[row] if row >= 0 else shared_trigrams(word, candidate),
                    edit_similarity(plain(word), plain(candidate)),
                    _likeness(word, candidate),
                    float(word[-1] == candidate[-1]),
                    len(candidate) / len(word),
                    self._endings.score(word, candidate),
                )
                for candidate, row in zip(candidates, at.tolist(), strict=True)
            ]
        ).reshape(-1, 6)

    def _of_counts(
        self,
        word: str,
        candidates: list[str],
        at: NDArray[np.int64],
        counts: list[float],
        has_text: bool,
        has_vector: bool,
    ) -> NDArray[np.float64]:
        in_text = (at >= 0) & has_text
        log_counts = np.where(in_text, self._target.log_counts[at], 0.0)
        copies = np.array([candidate == word for candidate in candidates], float)
        return np.stack(
            [
                log_counts,
                np.where(in_text, log_counts - counts[0], 0.0),
                np.where(in_text, log_counts - counts[-1], 0.0),
                in_text.astype(float),
                np.array([" " in candidate for candidate in candidates], float),
                copies,
                copies * any(map(str.isdigit, unescape(word))),
                copies * has_vector,
                copies * counts[0],
                np.ones(len(candidates)),
            ],
            axis=1,
        )


def _of_vectors(
    at: NDArray[np.int64],
    cosines: list[NDArray[np.float32]],
    total: NDArray[np.float32],
    csls: NDArray[np.float32],
) -> NDArray[np.float64]:
    ordered = np.sort(total)
    above = len(ordered) - np.searchsorted(ordered, total[at], side="right")
    columns = [cosines[0][at], cosines[-1][at] if len(cosines) > 1 else np.zeros(len(at)),
               np.log1p(above), csls[at], ordered[-1] - total[at]]  # fmt: skip
    missing = np.array([0.0, 0.0, _NO_RANK, 0.0, 1.0])
    return np.where((at >= 0)[:, None], np.stack(columns, axis=1), missing)


def _likeness(first: str, other: str) -> float:
    return common_prefix(first, other) / max(1, len(first), len(other))


def _best(values: NDArray[np.floating], n_best: int) -> list[int]:
    """Return the places of the highest values, best first, of equal ones the first."""
    if len(values) > n_best:
        least = np.partition(values, -n_best)[-n_best]
        large = np.flatnonzero(values >= least)
    else:
        large = np.arange(len(values))
    rows: list[int] = large[np.lexsort((large, -values[large]))][:n_best].tolist()
    return rows
