"""Evidence that two phrases are opposites, each kind a number, and their score."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from math import log, log1p, nan
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath, Pair
from distsim.comparison import kernels as kernel
from distsim.comparison.measures import checked_pairs, cosine
from distsim.comparison.opposites.exclusive import LIKE, NameWords, are_other_names
from distsim.comparison.opposites.joint_occurrences import WINDOW, JointOccurrences
from distsim.comparison.opposites.language import EVIDENCE, Contrasts, Language
from distsim.corpus.inflections import Inflections
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.kernels.compiled import frozen
from distsim.signatures.table import (
    StoredTable,
    TableLike,
    inflections_of,
    made_once,
    opened_table,
)

SPARE = 5  # rows that may take the place of opposites; the first so many have none
_MIN_COUNT_NEGATED = 30  # occurrences of a word that another may negate
_SURE_FACTOR = 1.5  # times the score of a contrast that opposites have at least
_POLAR = 0.5  # polarity from which one phrase is the other's negation in other words
_PAIRED = 0.15
_DOUBT = 2.0  # contrasts with other words that every word is given beside those counted
_CACHED = 1 << 14
_CACHED_CONTRASTS = 64
_NAMES_SAMPLE = 4_000_000  # bytes of text whose capitals are counted
_LEAST_ALIKE = 0.1  # cosine of a word and what it negates
_PAIRS_A_BLOCK = 64  # pairs whose joint occurrences are held


class OppositeEvidence(NamedTuple):
    """Evidence that two phrases are opposites.

    joined: sum over patterns (`between X and Y`) of weight * ln(1 + count). together: ln of how
    much more often than chance they share a stretch of a sentence. parallel: ln(1 + how often with
    the same word beside both). negation: 1 where one is the other's negation by its affixes.
    polarity: how alike the one is to what the other negates, where one of them alone is negated.
    sim_whole: their estimated cosine. score: their weighted sum. contrasted: whether it is as high
    as opposites' are, or each has a word that excludes one of the other: another number, month,
    day, pronoun or name. opposite: whether they also are a pair: one is the other's negation, or
    the text contrasts each with the other rather than with many, as it does `dutch` and `french`.

    >>> (told,) = Opposites(index, table).evidence([("up", "down")])
    >>> told.negation, told.contrasted == (told.score >= 1.0)
    (0.0, True)
    """

    joined: float
    together: float
    parallel: float
    negation: float
    polarity: float
    sim_whole: float
    score: float
    contrasted: bool
    opposite: bool


WordsPair = tuple[tuple[str, ...], tuple[str, ...]]


class ContrastedWords(NamedTuple):
    """Words that are contrasted with one: ids, counts int64; whether it is one that is counted."""

    words: np.ndarray
    counts: np.ndarray
    counted: np.ndarray


NOTHING_TOLD = OppositeEvidence(nan, nan, nan, nan, nan, nan, nan, False, False)


class Opposites:
    """Detector of opposites (`rise`, `fall`) among similar phrases; may be shared by threads.

    What two phrases share at their edges is taken off first: `prices rise`, `prices fall` are
    judged by `rise` and `fall`.

    Arguments:
        index: where patterns are counted. table: signed from it.
        language: patterns, affixes and weights; where None those of the index's language, English
            where it has none. inflections: the forms of words: `rising` and `falling` tell of
            `rise` and `fall`; of the index's language where None.

    Raises:
        IncompatibleError: the table normalises text in another way than the index.

    >>> from distsim.comparison import Opposites
    >>> found = Opposites(index, table).evidence([("up", "down"), ("up", "zeppelin")])
    >>> found[0].joined > 0, found[1] is None
    (True, True)
    """

    def __init__(
        self,
        index: CorpusIndex | AnyPath,
        table: TableLike,
        *,
        language: Language | None = None,
        inflections: Inflections | None = None,
    ) -> None:
        index, table = opened_index(index), opened_table(table)
        table.require_normaliser_of(index)
        self.index = index
        self.table = table
        self.language = language or Language.of_text(index.language)
        self._inflections = inflections or Inflections.open(index.language)
        self._cosine = cosine(table)
        self._patterns: dict[tuple[str, tuple[str, ...]], float] = {}
        for pattern in self.language.patterns:
            self._patterns[pattern.before, pattern.between] = pattern.weight
        self._openers = {before for before, _ in self._patterns}
        self._evidence: dict[WordsPair, OppositeEvidence | None] = {}
        self._negated = lru_cache(_CACHED)(self._found_negated)
        self._contrasted_with = lru_cache(_CACHED_CONTRASTS)(self._contrasts_of)
        self._occurrences = JointOccurrences(index, self._inflections)
        self._name_words = NameWords(index, _NAMES_SAMPLE)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self.index, self.table, self.language, self._inflections)

    def __repr__(self) -> str:
        return f"Opposites({self.index!r}, {self.table!r})"

    def evidence(self, pairs: Iterable[Pair]) -> list[OppositeEvidence | None]:
        """Return the evidence that each pair are opposites; None where the corpus lacks one.

        Arguments:
            pairs: two phrases each, words separated by spaces.

        Raises:
            ParameterError: a phrase is empty, or no text.
        """
        checked = checked_pairs(pairs)
        phrases = list(dict.fromkeys(phrase for pair in checked for phrase in pair))
        words = dict(zip(phrases, self.index.words(phrases), strict=True)) if phrases else {}
        asked = [_key(*without_shared(words[a], words[b])) for a, b in checked]
        known = self._evidence
        by_key = {key: known[key] for key in asked if key and key in known}
        missing = list(dict.fromkeys(key for key in asked if key and key not in by_key))
        for first in range(0, len(missing), _PAIRS_A_BLOCK):
            keys = missing[first : first + _PAIRS_A_BLOCK]
            by_key |= zip(keys, self._evidence_of(keys), strict=True)
        if len(known) + len(missing) > _CACHED:
            known.clear()
        known.update((key, by_key[key]) for key in missing)
        return [by_key[key] if key else None for key in asked]

    def scores(self, pairs: Iterable[Pair]) -> list[float | None]:
        """Return the score of each pair, the higher the likelier opposites.

        None where the corpus lacks one of the two.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        return [None if evidence is None else evidence.score for evidence in self.evidence(pairs)]

    def _evidence_of(self, pairs: list[WordsPair]) -> list[OppositeEvidence | None]:
        """Return the evidence of pairs of different words; None where the corpus lacks one."""
        self._occurrences.learn(words for pair in pairs for words in pair)
        counts = [[self._occurrences.of(words) for words in pair] for pair in pairs]
        known = [
            i for i, both in enumerate(counts) if all(counted_forms.own for counted_forms in both)
        ]
        texts = [(" ".join(pairs[i][0]), " ".join(pairs[i][1])) for i in known]
        cosines = self._cosine.estimates(texts) if texts else []
        joins = self._occurrences.joint([counts[i] for i in known], self._in_patterns)
        evidence_of_pairs: list[OppositeEvidence | None] = [None] * len(pairs)
        for at, i in enumerate(known):
            n_near, n_parallel, rows, factor = joins[at]
            kinds = dict.fromkeys(EVIDENCE, 0.0)
            total = counts[i][0].total, counts[i][1].total
            chance = total[0] * total[1] / self.index.n_tokens * 2 * (WINDOW + 1)
            kinds["together"] = log((n_near * factor + 0.5) / (chance + 0.5))
            kinds["parallel"] = log1p(factor * n_parallel)
            kinds["joined"] = self._joined(rows, factor)
            kinds["sim_whole"] = cosines[at].similarity or 0.0
            evidence_of_pairs[i] = self._weighed(*pairs[i], kinds)
        return evidence_of_pairs

    def _weighed(
        self, a: tuple[str, ...], b: tuple[str, ...], kinds: dict[str, float]
    ) -> OppositeEvidence:
        """Return evidence with that of the two words themselves, and its score.

        Arguments:
            kinds: the evidence by name, but for that of words.
        """
        if len(a) == len(b) == 1:
            first, second = a[0], b[0]
            kinds["negation"] = float(self.language.are_opposed(first, second))
            negated = self._negated(first), self._negated(second)
            if bool(negated[0]) != bool(negated[1]):
                word, bases = (second, negated[0]) if negated[0] else (first, negated[1])
                alike = self._similarities([(word, base) for base in bases])
                kinds["polarity"] = max(0.0, *alike) if len(alike) > 1 else max(0.0, alike[0])
        weights = self.language.weights
        score = sum(weights[name] * value for name, value in kinds.items())
        contrasted = score >= self.language.opposite or self._exclude_each_other(
            a, b, kinds["sim_whole"]
        )
        pair = score >= _SURE_FACTOR * self.language.opposite and (
            kinds["negation"] > 0 or kinds["polarity"] >= _POLAR or self._are_paired(a, b)
        )
        return OppositeEvidence(**kinds, score=score, contrasted=contrasted, opposite=pair)

    def _exclude_each_other(self, a: tuple[str, ...], b: tuple[str, ...], cosine: float) -> bool:
        """Return whether each phrase has a word of a closed class or a name that the other lacks.

        Of names those count that are alike, or stand for phrases of names that are.

        Arguments:
            cosine: of the two phrases.
        """
        first, second = [w for w in a if w not in b], [w for w in b if w not in a]
        if any(self.language.exclude_each_other(x, y) for x in first for y in second):
            return True
        ids = self._occurrences.ids([*first, *second])
        is_name = dict(zip((*first, *second), self._name_words.among(ids).tolist(), strict=True))
        names, others = (
            [w for w in words if is_name[w] and w not in self.language.classes]
            for words in (first, second)
        )
        all_are = cosine >= LIKE and all(is_name.values())
        pairs = [(x, y) for x in names for y in others if are_other_names(x, y)]
        return bool(pairs) and (all_are or max(self._similarities(pairs)) >= LIKE)

    def _similarities(self, pairs: list[tuple[str, str]]) -> list[float]:
        """Return the cosine of each pair, 0 where one is unknown.

        By the kernels for many pairs, which commands compile anyway.
        """
        return [estimate.similarity or 0.0 for estimate in self._cosine.estimates(pairs)]

    def _are_paired(self, a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        """Return whether the text contrasts each of two words with the other rather than others.

        By the geometric mean of their shares among all words that each is contrasted with. True of
        phrases, whose contrasts are not counted.
        """
        if len(a) > 1 or len(b) > 1:
            return True
        forms = [self._occurrences.of(words).forms[:, 0] for words in (a, b)]
        product = 1.0
        for own, other in (forms, forms[::-1]):
            contrasts = self._contrasted_with(tuple(own.tolist()))
            others = np.isin(contrasts.words, other)
            counted = others | contrasts.counted
            here, all_of_them = contrasts.counts[others].sum(), contrasts.counts[counted].sum()
            product *= float(here) / (int(all_of_them) + _DOUBT)
        return product >= _PAIRED**2

    def _contrasts_of(self, words: tuple[int, ...]) -> ContrastedWords:
        """Return the words that the text contrasts with forms of a word, and how often.

        Arguments:
            words: ids of the forms.
        """
        counts = np.zeros(self.index.n_words, np.int64)
        for shard, places in self._occurrences.every_nth(words):
            self._contrasts.count(shard, places, self._own_places, counts)
        ids = np.flatnonzero(counts)
        return ContrastedWords(ids, counts[ids], self._spelt[ids] & ~np.isin(ids, words))

    @cached_property
    def _own_places(self) -> np.ndarray:
        """The id of every word, int32[n_words]."""
        return frozen(np.arange(self.index.n_words, dtype=np.int32))

    @cached_property
    def _spelt(self) -> np.ndarray:
        """Which words have letters or digits, bool[n_words]."""
        spelt = np.ones(self.index.n_words, bool)
        spelt[self.index.vocabulary.without_letters()] = False
        return spelt

    @cached_property
    def _in_patterns(self) -> np.ndarray:
        """Whether each word can be between the two of a pattern; bool[n_words], True at 0."""
        words = {word for _, between in self._patterns for word in between}
        ids = self._occurrences.ids(sorted(words | set(self.language.passed)))
        may_stand_between = np.zeros(self.index.n_words, bool)
        may_stand_between[np.maximum(ids, 0)] = may_stand_between[0] = True
        return may_stand_between

    @cached_property
    def _names(self) -> tuple[dict[int, str], dict[int, str]]:
        """The words by id that may be between the two of a pattern, and those before; 0: none."""
        words = sorted({word for _, between in self._patterns for word in between})
        words = [word for word in words if word not in self.language.passed]
        words_by_id = []
        for listed_words in (words, sorted(self._openers)):
            ids = self._occurrences.ids(listed_words).tolist() if listed_words else []
            words_by_id.append(
                {i: word for i, word in zip(ids, listed_words, strict=True) if i > 0}
            )
        if "" in self._openers:
            words_by_id[1][0] = ""
        return words_by_id[0], words_by_id[1]

    @cached_property
    def _contrasts(self) -> Contrasts:
        return Contrasts(self.index, self.language)

    def _joined(self, joins: np.ndarray, factor: float) -> float:
        """Return the sum over patterns of weight * ln(1 + count).

        Arguments:
            joins: int64[n, COLUMNS], by find_joins.
        """
        if not len(joins):
            return 0.0
        columns = [kernel.BEFORE, *range(kernel.FIRST_BETWEEN, kernel.COLUMNS)]
        distinct = sorted(Counter(map(tuple, joins[:, columns].tolist())).items())
        names, openers = self._names
        total: dict[tuple[str, tuple[str, ...]], float] = {}
        for (before, *between), count in distinct:
            words = tuple(names[i] for i in between if i in names)
            opener = openers.get(max(0, before))
            for key in (("", words),) if opener is None else ((opener, words), ("", words)):
                if key in self._patterns:
                    total[key] = total.get(key, 0.0) + count * factor
        return sum(self._patterns[key] * log1p(count) for key, count in sorted(total.items()))

    def _found_negated(self, word: str) -> tuple[str, ...]:
        """Return the words of the corpus that a word is the negation of."""
        bases = []
        for base in self.language.negated(word):
            is_common = self._occurrences.of((base,)).own >= _MIN_COUNT_NEGATED
            if is_common and self._similarities([(word, base)])[0] > _LEAST_ALIKE:
                bases.append(base)
        return tuple(bases)


def _key(a: tuple[str, ...], b: tuple[str, ...]) -> WordsPair | None:
    """Return the key of a pair in either order, None where one is the other or holds it."""
    if not a or not b:
        return None
    return (a, b) if a <= b else (b, a)


def _opened(
    index: CorpusIndex, table: StoredTable, language: Language, inflections: Inflections
) -> Opposites:
    return Opposites(index, table, language=language, inflections=inflections)


def without_shared(a: Sequence[str], b: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two phrases without the words that they share at either edge.

    >>> without_shared(["prices", "rise"], ["prices", "fall"])
    (('rise',), ('fall',))
    """
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    stop = 0
    while stop < min(len(a), len(b)) - start and a[-1 - stop] == b[-1 - stop]:
        stop += 1
    return tuple(a[start : len(a) - stop]), tuple(b[start : len(b) - stop])


def opposites_of(
    index: CorpusIndex, table: StoredTable, inflections: Inflections | None = None
) -> Opposites:
    """Return the detector of opposites, the same object each time for the table's inflections.

    Arguments:
        inflections: the rules of the language; those of the table where None.
    """
    if inflections is not None:
        return Opposites(index, table, inflections=inflections)
    rules = inflections_of(index, table)
    return made_once(index, table, "opposites", lambda: Opposites(index, table, inflections=rules))


class Placed(NamedTuple):
    """An answer in the order of `opposites_last`.

    place: where it was. contrasted: whether the text contrasts it with the target, as it does
    opposites; these come last. opposite: whether it is an opposite, too.
    """

    place: int
    contrasted: bool
    opposite: bool


def opposites_last(
    opposites: Opposites | None,
    target: str,
    phrases: Sequence[str],
    k: int | None,
    *,
    out: bool = False,
) -> tuple[list[Placed], int]:
    """Return (k answers, contrasted phrases last; how many of these are below the k, or left out).

    No contrasted phrase is among the first five answers while there are enough others.

    Arguments:
        opposites: classifier of opposites; None keeps the order.
        target: the phrase that is asked for.
        k: maximum number of answers; None returns all.
    """
    n_wanted = len(phrases) if k is None else min(k, len(phrases))
    if opposites is None:
        return [Placed(place, False, False) for place in range(n_wanted)], 0
    placed: list[Placed] = []
    for candidates in (phrases[:n_wanted], phrases[n_wanted : n_wanted + SPARE]):
        evidence_of_candidates = opposites.evidence(
            [(target, candidate) for candidate in candidates]
        )
        placed += [
            Placed(
                place,
                evidence is not None and evidence.contrasted,
                evidence is not None and evidence.opposite,
            )
            for place, evidence in enumerate(evidence_of_candidates, len(placed))
        ]
        if not any(answer.contrasted for answer in placed):  # nothing takes another's place
            break
    others = [answer for answer in placed if not answer.contrasted]
    last = [] if out else [answer for answer in placed[:n_wanted] if answer.contrasted]
    last = last[: max(n_wanted - SPARE, n_wanted - len(others), 0)]
    ranked = [*others[: n_wanted - len(last)], *last]
    if len(ranked) < n_wanted:
        return ranked, len(placed) - len(ranked)
    return ranked, max((answer.place + 1 for answer in ranked), default=0) - len(ranked)
