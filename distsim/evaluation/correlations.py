"""Evaluates similarity measures against gold sets; the line of settings under the results."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Pair, in_range, shown, whole_number
from distsim.base.errors import ParameterError, program_version
from distsim.base.results import Results
from distsim.comparison.measures import Coverage, Estimate, Similarity
from distsim.comparison.table import SignatureTable
from distsim.evaluation.gold import GoldSet
from distsim.signatures.estimates import estimate_by

_CONFIDENCE = 0.95


class Interval(NamedTuple):
    """The ends of a 95% bootstrap interval."""

    low: float
    high: float


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Return Spearman's rank correlation, ties at their mean rank; NaN if either is constant.

    Arguments:
        a, b: float64[n].

    >>> round(spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0])), 6)
    0.5
    """
    return pearson(_ranks(a), _ranks(b))


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Return Pearson's correlation, NaN where either is constant or there are fewer than two.

    Arguments:
        a, b: float64[n].
    """
    if a.size < 2:
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a @ a) * (b @ b))
    return float(np.clip((a @ b) / norm, -1.0, 1.0)) if norm > 0 else float("nan")


def area_under_curve(positive: np.ndarray, negative: np.ndarray) -> float:
    """Return the area under the ROC curve: P(positive > negative), a tie counting one half.

    Arguments:
        positive, negative: float64, scores of both classes.

    >>> area_under_curve(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    if not positive.size or not negative.size:
        return float("nan")
    ranks = _ranks(np.concatenate([positive, negative]))
    n = positive.size
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * negative.size))


def spearman_interval(
    a: np.ndarray, b: np.ndarray, groups: Sequence[str], samples: int, seed: int
) -> Interval:
    """Return the bootstrap interval of Spearman's correlation, resampled by group.

    Arguments:
        a, b: float64[n].
        groups: name of the group of each pair of values; groups are drawn whole.
    """
    return _interval(_members(groups), lambda rows: spearman(a[rows], b[rows]), samples, seed)


def mean_interval(values: np.ndarray, groups: Sequence[str], samples: int, seed: int) -> Interval:
    """Return the bootstrap interval of the mean, resampled by group.

    Arguments:
        values: float64[n].
        groups: name of the group of each value; groups are drawn whole.
    """
    return _interval(_members(groups), lambda rows: float(values[rows].mean()), samples, seed)


def area_interval(positive: np.ndarray, negative: np.ndarray, samples: int, seed: int) -> Interval:
    """Return the bootstrap interval of the area under the curve, both sides resampled.

    Arguments:
        positive, negative: float64, scores of both classes.
    """
    generator = np.random.default_rng(seed)
    values = [
        area_under_curve(
            positive[generator.integers(0, positive.size, positive.size)],
            negative[generator.integers(0, negative.size, negative.size)],
        )
        for _ in range(samples if positive.size and negative.size else 0)
    ]
    return _quantiles(values)


def _members(groups: Sequence[str]) -> list[np.ndarray]:
    names, inverse = np.unique(np.array(groups, object).astype(str), return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    return np.split(order, np.cumsum(np.bincount(inverse, minlength=names.size))[:-1])


def _interval(members: list[np.ndarray], statistic, samples: int, seed: int) -> Interval:  # type: ignore[no-untyped-def]
    generator = np.random.default_rng(seed)
    values = []
    for _ in range(samples if len(members) > 1 else 0):
        drawn = generator.integers(0, len(members), len(members))
        values.append(statistic(np.concatenate([members[n] for n in drawn])))
    return _quantiles(values)


def _quantiles(values: list[float]) -> Interval:
    finite = np.array([value for value in values if np.isfinite(value)])
    if not finite.size:
        return Interval(float("nan"), float("nan"))
    tail = (1.0 - _CONFIDENCE) / 2
    low, high = np.quantile(finite, [tail, 1.0 - tail])
    return Interval(float(low), float(high))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of values, float64[n]: from 1, ties at their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    stops = np.cumsum(counts)
    return (stops - (counts - 1) / 2.0)[inverse]


def weighted_kappa(a: np.ndarray, b: np.ndarray) -> float:
    """Return Cohen's kappa of two judges with quadratic weights (Cohen 1968).

    1 less the mean squared difference of their marks, divided by that of marks drawn from either
    judge by chance. NaN where all marks are equal.

    Arguments:
        a, b: float64[n], marks of the same items.

    >>> weighted_kappa(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]))
    1.0
    """
    if not a.size:
        return float("nan")
    by_chance = np.mean((a[:, None] - b) ** 2)
    return float(1 - np.mean((a - b) ** 2) / by_chance) if by_chance > 0 else float("nan")


def alpha(marks: np.ndarray) -> float:
    """Return Krippendorff's alpha for ordinal marks (Krippendorff 2011), NaN if all are equal.

    Arguments:
        marks: float64[judges, items], NaN for a missing one; items with one mark do not count.
    """
    values = np.unique(marks[~np.isnan(marks)])
    of_item = (marks[:, :, None] == values).sum(axis=0).astype(float)  # items by values
    n_marks = of_item.sum(axis=1)
    of_item, n_marks = of_item[n_marks >= 2], n_marks[n_marks >= 2]
    share = of_item / (n_marks[:, None] - 1)
    together = share.T @ of_item - np.diag(share.sum(axis=0))  # coincidences of two values
    each = together.sum(axis=1)
    below = np.cumsum(each) - each / 2
    distance = (below[:, None] - below) ** 2
    expected = (np.outer(each, each) * distance).sum()
    if not expected > 0:
        return float("nan")
    return float(1 - (each.sum() - 1) * (together * distance).sum() / expected)


def signature_line(
    table: SignatureTable, samples: int, seed: int, estimate: str | None = None
) -> str:
    """Return the settings of an evaluation in one line: fingerprint, corpus, bootstrap, version.

    The estimate is a part of the line unless it is `bits`.

    Arguments:
        samples: number of bootstrap samples. seed: seed of the bootstrap.
        estimate: how the table's cosines are estimated; None: the table's default.
    """
    estimate = estimate_by(table, estimate)
    fields = {
        **table.fingerprint.fields(),
        "min-count": table.parameters.get("min_count"),
        "corpus": str(table.parameters.get("corpus"))[:12],
        **({} if estimate == "bits" else {"estimate": estimate}),
        "bootstrap": f"{samples},seed={seed}",
        "version": program_version(),
    }
    return "|".join(f"{name}:{value}" for name, value in fields.items())


SAMPLES = 1000
_ROUNDS = 20
_PAIR_LISTS = 4  # of one gold set: its pairs, random ones, antonyms


class Result(NamedTuple):
    """Agreement of one measure with one gold set.

    statistic: `spearman`, `auc random` or `auc antonyms`; value, low, high: it and its 95%
    interval. pearson: NaN beside an area. pairs: in the set; covered: of those, measured;
    composed: of those, from the parts of a phrase that the table lacks. Values are computed
    over the covered pairs.

    >>> from distsim import EstimatedCosine, read_gold
    >>> _ = (folder / "gold").write_text("king queen 8\\nking hatter 2\\n")
    >>> result = evaluate([read_gold(folder / "gold")], [EstimatedCosine(table)], samples=0)[0]
    >>> result.gold, result.measure, result.covered
    ('gold', 'table', 2)
    """

    gold: str
    measure: str
    statistic: str
    value: float
    low: float
    high: float
    pearson: float
    pairs: int
    covered: int
    composed: int


class Named(Similarity):
    """A similarity measure under another name, for comparisons of several tables.

    Arguments:
        name: the other name.
        measure: the measure.
    """

    def __init__(self, name: str, measure: Similarity) -> None:
        self.name = name
        self._measure = measure

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the similarity of every pair."""
        return self._measure.estimates(pairs)


def in_common(measures: Sequence[Similarity]) -> list[Similarity]:
    """Return the measures restricted to the pairs for which all of them have a similarity.

    So their results rest on the same pairs and can be compared.

    Arguments:
        measures: measures evaluated on the same pairs.
    """

    @lru_cache(maxsize=_PAIR_LISTS)
    def said(pairs: tuple[Pair, ...]) -> list[list[Estimate]]:
        every = [measure.estimates(pairs) for measure in measures]
        known = [all(estimate.similarity is not None for estimate in of_pair)
                 for of_pair in zip(*every, strict=True)]  # fmt: skip
        return [
            [
                estimate if all_know else Estimate(None)
                for estimate, all_know in zip(ones, known, strict=True)
            ]
            for ones in every
        ]

    return [_InCommon(measure.name, number, said) for number, measure in enumerate(measures)]


class _InCommon(Similarity):
    def __init__(
        self, name: str, number: int, said: Callable[[tuple[Pair, ...]], list[list[Estimate]]]
    ) -> None:
        self.name = name
        self._number = number
        self._estimate_all = said

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        return self._estimate_all(tuple(pairs))[self._number]


def evaluate(
    gold: Sequence[GoldSet],
    measures: Sequence[Similarity],
    *,
    antonyms: GoldSet | None = None,
    samples: int = SAMPLES,
    seed: int = 1,
) -> Results[Result]:
    """Return the agreement of every measure with every gold set.

    Scored and judged sets give Spearman and Pearson; judged paraphrases also apart for pairs
    of words and of phrases. Lists of synonyms give the area under the curve against as many
    random pairs of the list's own phrases, and against `antonyms` where given.

    Arguments:
        gold: the sets.
        antonyms: a list of pairs.
        seed: of the random pairs and samples.
        measures: such as EstimatedCosine, ExactCosine or LearnedCosine; anything that has a name
            and estimates.
        samples: bootstrap samples for the intervals; 0: none.

    Raises:
        ParameterError: `antonyms` is no list of pairs, or samples or seed is negative.

    >>> from distsim import EstimatedCosine, read_gold
    >>> _ = (folder / "gold").write_text("king queen 8\\nking hat 2\\nhatter hare 6\\n")
    >>> result = evaluate([read_gold(folder / "gold")], [EstimatedCosine(table)], samples=0)[0]
    >>> result.statistic, result.pairs, result.covered
    ('spearman', 3, 2)
    """
    for argument, values in (("gold", gold), ("measures", measures)):
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise ParameterError(f"{argument}: is {shown(values)}, wanted a list")
    in_range(samples, "bootstrap samples", 0)
    whole_number(seed, "`seed`", 0)
    if antonyms is not None and antonyms.layout != "pairs":
        raise ParameterError(
            f"{antonyms.name}: antonyms have scores beside them: name a list of two columns"
        )
    results = Results[Result]()
    for gold_set in gold:
        for measure in measures:
            if gold_set.layout == "pairs":
                results += _areas(gold_set, measure, antonyms, samples, seed)
            else:
                results += _correlations(gold_set, measure, samples, seed)
    return results


def _correlations(gold: GoldSet, measure: Similarity, samples: int, seed: int) -> list[Result]:
    measured = measure.estimates(gold.pairs)
    parts = [(gold, list(range(len(gold.pairs))))]
    if gold.layout == "judged":
        for name, wanted in (("words", True), ("phrases", False)):
            numbers = [
                n
                for n, pair in enumerate(gold.pairs)
                if all((len(phrase.split()) == 1) is wanted for phrase in pair)
            ]
            if numbers:
                parts.append((gold.subset(name, numbers), numbers))
    return [
        _correlation(part, measure.name, [measured[n] for n in numbers], samples, seed)
        for part, numbers in parts
    ]


def _correlation(
    gold: GoldSet, name: str, measured: list[Estimate], samples: int, seed: int
) -> Result:
    known = [n for n, said in enumerate(measured) if said.similarity is not None]
    similarities = _known(measured)
    scores = np.array([gold.scores[n] for n in known])
    groups = [gold.groups[n] for n in known]
    return Result(
        gold.name, name, "spearman",
        spearman(similarities, scores),
        *spearman_interval(similarities, scores, groups, samples, seed),
        pearson(similarities, scores),
        *Coverage.of(measured),
    )  # fmt: skip


def _areas(
    gold: GoldSet, measure: Similarity, antonyms: GoldSet | None, samples: int, seed: int
) -> list[Result]:
    synonyms = measure.estimates(gold.pairs)
    against = [("auc random", random_pairs(gold.pairs, seed))]
    if antonyms is not None:
        against.append(("auc antonyms", list(antonyms.pairs)))
    results = []
    for statistic, pairs in against:
        others = measure.estimates(pairs)
        positive, negative = _known(synonyms), _known(others)
        results.append(
            Result(
                gold.name,
                measure.name,
                statistic,
                area_under_curve(positive, negative),
                *area_interval(positive, negative, samples, seed),
                float("nan"),
                *Coverage.of([*synonyms, *others]),
            )
        )
    return results


def random_pairs(pairs: Sequence[Pair], seed: int) -> list[Pair]:
    """Return random pairs of the same phrases, as many as there are pairs, none of them given.

    Fewer where the list contains nearly all pairs that its phrases could make.
    """
    taken = {frozenset(pair) for pair in pairs}
    generator = np.random.default_rng(seed)
    drawn: list[Pair] = []
    for _ in range(_ROUNDS):
        for a, b in generator.integers(0, len(pairs), (len(pairs), 2)).tolist():
            pair = (pairs[a][0], pairs[b][1])
            if pair[0] != pair[1] and frozenset(pair) not in taken:
                drawn.append(pair)
        if len(drawn) >= len(pairs):
            break
    return drawn[: len(pairs)]


def _known(measured: list[Estimate]) -> np.ndarray:
    return np.array([said.similarity for said in measured if said.similarity is not None])
