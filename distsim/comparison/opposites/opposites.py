"""Evidence that two phrases are opposites, each kind a number, and their score."""

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from math import log, log1p, nan
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath, Pair
from distsim.comparison.kernels import joins as kernel
from distsim.comparison.measures import EstimatedCosine, checked_pairs
from distsim.comparison.opposites.language import EVIDENCE, Contrasts, Language
from distsim.corpus.inflections import Inflections
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.shard import Shard, damaged, every_nth
from distsim.kernels.compiled import frozen
from distsim.signatures.table import StoredTable, TableLike, opened_table

_WINDOW = 14  # tokens between two phrases that occur together
_SAMPLE = 20_000  # occurrences of the rarer phrase that are looked at, evenly spaced
_MOST_JOINS = 1 << 16
SPARE = 5  # rows that may take the place of opposites; the first so many have none
_FEWEST = 30  # occurrences of a word that another may negate
_SURE = 1.5  # times the score of a contrast that opposites have at least
_POLAR = 0.5  # polarity from which one phrase is the other's negation in other words
_PAIRED = 0.15
_DOUBT = 2.0  # contrasts with other words that every word is given beside those counted
_CACHED = 1 << 14
_CACHED_SAMPLES = 64  # of up to 2 * _SAMPLE places


class OppositeEvidence(NamedTuple):
    """Evidence that two phrases are opposites.

    joined: sum over patterns (`between X and Y`) of weight * ln(1 + count). together: ln of how
    much more often than chance they share a stretch of a sentence. parallel: ln(1 + how often with
    the same word beside both). negation: 1 where one is the other's negation by its affixes.
    polarity: how alike the one is to what the other negates, where one of them alone is negated.
    sim_whole: their estimated cosine. score: their weighted sum. contrasted: whether it is as high
    as opposites' are. opposite: whether they also are a pair: one is the other's negation, or the
    text contrasts each with the other rather than with many, as it does `dutch` and `french`.

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


NOTHING_TOLD = OppositeEvidence(nan, nan, nan, nan, nan, nan, nan, False, False)


class Opposites:
    """Detector of opposites (`rise`, `fall`) among similar phrases; may be shared by threads.

    What two phrases share at their edges is taken off first: `prices rise`, `prices fall` are
    judged by `rise` and `fall`.

    Arguments:
        index: where patterns are counted. table: signed from it.
        language: patterns, affixes and weights; English where None. inflections: the forms of
            words: `rising` and `falling` tell of `rise` and `fall`; English where None.

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
        self.language = language or Language.open()
        self._inflections = inflections or Inflections.open()
        self._cosine = EstimatedCosine(table)
        self._patterns: dict[tuple[str, tuple[str, ...]], float] = {}
        for pattern in self.language.patterns:
            self._patterns[pattern.before, pattern.between] = pattern.weight
        self._openers = {before for before, _ in self._patterns}
        self._of_pair = lru_cache(_CACHED)(self._found)
        self._sample = lru_cache(_CACHED_SAMPLES)(self._sampled)
        self._places = lru_cache(_CACHED_SAMPLES)(self._places_of)

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
        return [self._of_words(a, b) for a, b in checked_pairs(pairs)]

    def scores(self, pairs: Iterable[Pair]) -> list[float | None]:
        """Return the score of each pair, the higher the likelier opposites.

        None where the corpus lacks one of the two.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        return [None if found is None else found.score for found in self.evidence(pairs)]

    def _of_words(self, a: str, b: str) -> OppositeEvidence | None:
        first, second = without_shared(self.index.words(a), self.index.words(b))
        if not first or not second:  # the same, or one holds the other
            return None
        return self._of_pair(*sorted((first, second)))

    def _found(self, a: tuple[str, ...], b: tuple[str, ...]) -> OppositeEvidence | None:
        if not all(self._count(self._ids(words)) for words in (a, b)):
            return None
        forms = [self._forms(words) for words in (a, b)]
        counts = [sum(self._count(one) for one in of_one) for of_one in forms]
        rare, other = (0, 1) if counts[0] <= counts[1] else (1, 0)
        joins, factor = self._joins(forms[rare], forms[other], counts[rare])
        kinds = dict.fromkeys(EVIDENCE, 0.0)
        near = len(joins) * factor
        chance = counts[0] * counts[1] / self.index.n_tokens * 2 * (_WINDOW + 1)
        kinds["together"] = log((near + 0.5) / (chance + 0.5))
        parallel = joins[:, kernel.PARALLEL]
        kinds["parallel"] = log1p(factor * float(np.count_nonzero(parallel)))
        kinds["joined"] = self._joined(joins, factor)
        texts = " ".join(a), " ".join(b)
        found = self._cosine.similarity(*texts)
        kinds["sim_whole"] = 0.0 if found is None else found
        if len(a) == len(b) == 1:
            kinds["negation"] = float(self.language.are_opposed(*texts))
            negated = [self._negated(word) for word in texts]
            if bool(negated[0]) != bool(negated[1]):
                word, bases = (texts[1], negated[0]) if negated[0] else (texts[0], negated[1])
                alike = [self._cosine.similarity(word, base) or 0.0 for base in bases]
                kinds["polarity"] = max(0.0, *alike) if len(alike) > 1 else max(0.0, alike[0])
        weights = self.language.weights
        score = sum(weights[name] * value for name, value in kinds.items())
        contrasted = score >= self.language.opposite
        pair = score >= _SURE * self.language.opposite and (
            kinds["negation"] > 0 or kinds["polarity"] >= _POLAR or self._are_paired(a, b)
        )
        return OppositeEvidence(**kinds, score=score, contrasted=contrasted, opposite=pair)

    def _are_paired(self, a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        """Return whether the text contrasts each of two words with the other rather than others.

        By the geometric mean of their shares among all words that each is contrasted with. True of
        phrases, whose contrasts are not counted.
        """
        if len(a) > 1 or len(b) > 1:
            return True
        forms = [self._forms(words)[:, 0] for words in (a, b)]
        product = 1.0
        for own, other in (forms, forms[::-1]):
            numbers = self._spelt.copy()
            numbers[own], numbers[other] = -1, 1
            found = np.zeros(2, np.int64)
            for shard, places in self._places(tuple(own.tolist())):
                self._contrasts.count(shard, places, frozen(numbers), found)
            product *= float(found[1]) / (int(found.sum()) + _DOUBT)
        return product >= _PAIRED**2

    @cached_property
    def _spelt(self) -> np.ndarray:
        """0 for words with letters or digits, -1 for others; int32[n_words]."""
        numbers = np.zeros(self.index.n_words, np.int32)
        numbers[self.index.vocabulary.without_letters()] = -1
        return numbers

    @cached_property
    def _in_patterns(self) -> np.ndarray:
        """Whether each word can be between the two of a pattern; bool[n_words], True at 0."""
        words = {word for _, between in self._patterns for word in between}
        ids = self._ids(sorted(words | set(self.language.passed)))
        found = np.zeros(self.index.n_words, bool)
        found[np.maximum(ids, 0)] = found[0] = True
        return found

    @cached_property
    def _contrasts(self) -> Contrasts:
        return Contrasts(self.index, self.language)

    def _joined(self, joins: np.ndarray, factor: float) -> float:
        """Return the sum over patterns of weight * ln(1 + count).

        Arguments:
            joins: int64[n, COLUMNS], by find_joins.
        """
        told = joins[np.abs(joins[:, kernel.OFFSET]) <= kernel.BETWEEN + 1]
        between = told[:, kernel.FIRST_BETWEEN : kernel.COLUMNS]
        told = told[self._in_patterns[np.maximum(between, 0)].all(axis=1)]
        if not len(told):
            return 0.0
        distinct, counts = np.unique(
            told[:, [kernel.BEFORE, *range(kernel.FIRST_BETWEEN, kernel.COLUMNS)]],
            axis=0, return_counts=True,
        )  # fmt: skip
        word, passed = self.index.vocabulary.word, self.language.passed
        total: dict[tuple[str, tuple[str, ...]], float] = {}
        for (before, *between), count in zip(distinct.tolist(), counts.tolist(), strict=True):
            words = tuple(w for w in (word(i) for i in between if i > 0) if w not in passed)
            opener = word(before) if before > 0 else ""
            for key in (
                ((opener, words), ("", words)) if opener in self._openers else (("", words),)
            ):
                if key in self._patterns:
                    total[key] = total.get(key, 0.0) + count * factor
        return sum(self._patterns[key] * log1p(count) for key, count in sorted(total.items()))

    def _negated(self, word: str) -> tuple[str, ...]:
        """Return the words of the corpus that a word is the negation of."""
        found = []
        for base in self.language.negated(word):
            if self._count(self._ids((base,))) >= _FEWEST:
                alike = self._cosine.similarity(word, base)
                if alike is not None and alike > 0.1:
                    found.append(base)
        return tuple(found)

    def _forms(self, words: tuple[str, ...]) -> np.ndarray:
        """Return the ids of a phrase; of a single word, of all its forms; int64[m, n_tokens]."""
        if len(words) > 1:
            return self._ids(words)[None, :]
        bases = self._inflections.bases(words[0], self._occurs)
        found = dict.fromkeys([*words, *self._inflections.forms((bases or words)[0])])
        ids = self._ids(tuple(found))
        return ids[ids > 0][:, None]

    def _ids(self, words: Sequence[str]) -> np.ndarray:
        return self.index.vocabulary.find(hash_texts([word.encode() for word in words]))

    def _count(self, ids: np.ndarray) -> int:
        words: list[int] = ids.tolist()
        return (
            sum(shard.count(words) for shard in self.index.shards)
            if min(words, default=0) > 0
            else 0
        )

    def _occurs(self, word: str) -> bool:
        number = self.index.vocabulary.number(word)
        return number > 0 and any(shard.count([number]) > 0 for shard in self.index.shards)

    def _joins(self, forms: np.ndarray, others: np.ndarray, count: int) -> tuple[np.ndarray, float]:
        """Return (joint occurrences of the two, a row each by find_joins; the weight of each).

        Arguments:
            forms, others: int64[m, n_tokens], word ids of the forms of either phrase.
        """
        sample = self._sample(tuple(map(tuple, forms.tolist())))
        parts = [
            _joins_of(shard, places, forms.shape[1], others)
            for shard, places in zip(self.index.shards, sample, strict=True)
        ]
        return np.concatenate(parts), count / min(count, _SAMPLE)

    def _places_of(self, words: tuple[int, ...]) -> list[tuple[Shard, np.ndarray]]:
        """Return each shard with every n-th position of words, int64, _SAMPLE in all and more."""
        count = sum(self._count(np.array([word])) for word in words)
        return list(every_nth(self.index.shards, words, max(1, count // _SAMPLE)))

    def _sampled(self, phrases: tuple[tuple[int, ...], ...]) -> list[np.ndarray]:
        """Return _SAMPLE positions of phrases at most, evenly spaced, int64 by shard, ascending.

        Arguments:
            phrases: word ids of each.
        """
        ids = [np.array(phrase) for phrase in phrases]
        count = sum(map(self._count, ids))
        taken = min(count, _SAMPLE)
        wanted = np.arange(taken) * count // max(1, taken)
        before, parts = 0, []
        for shard in self.index.shards:
            positions = shard.sorted_positions(ids)
            first, stop = np.searchsorted(wanted, [before, before + positions.size])
            parts.append(positions[wanted[first:stop] - before].astype(np.int64))
            before += positions.size
        return parts


def _joins_of(shard: Shard, positions: np.ndarray, length: int, others: np.ndarray) -> np.ndarray:
    if positions.size and int(positions[-1]) + length > shard.tokens.size:
        raise damaged()
    out = np.empty((min(_MOST_JOINS, 2 * positions.size), kernel.COLUMNS), np.int64)
    n = kernel.find_joins(
        shard.tokens, frozen(positions), length, frozen(others.astype(np.int64)), _WINDOW, out
    )
    return out[:n]


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

    None is among the first five answers while there are enough others.

    Arguments:
        opposites: classifier of opposites; None keeps the order.
        target: the phrase that is asked for.
        k: maximum number of answers; None returns all.
    """
    most = len(phrases) if k is None else min(k, len(phrases))
    if opposites is None:
        return [Placed(place, False, False) for place in range(most)], 0
    looked_at = phrases[: most + SPARE]
    told = opposites.evidence([(target, one) for one in looked_at])
    placed = [
        Placed(place, one is not None and one.contrasted, one is not None and one.opposite)
        for place, one in enumerate(told)
    ]
    others = [one for one in placed if not one.contrasted]
    last = [] if out else [one for one in placed[:most] if one.contrasted]
    last = last[: max(most - SPARE, most - len(others), 0)]
    ranked = [*others[: most - len(last)], *last]
    if len(ranked) < most:
        return ranked, len(placed) - len(ranked)
    return ranked, max((one.place + 1 for one in ranked), default=0) - len(ranked)
