"""Evaluates similarity measures against gold sets; the line of settings under the results."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Pair, in_range, whole_number
from distsim.base.errors import ParameterError, program_version
from distsim.base.results import Results
from distsim.comparison.measures import Coverage, Estimate, Similarity
from distsim.comparison.table import SignatureTable
from distsim.evaluation.agreement import (
    area_interval,
    area_under_curve,
    pearson,
    spearman,
    spearman_interval,
)
from distsim.evaluation.gold import GoldSet
from distsim.signatures.estimates import estimate_of


def signature_line(
    table: SignatureTable, samples: int, seed: int, estimate: str | None = None
) -> str:
    """Return the settings of an evaluation in one line: fingerprint, corpus, bootstrap, version.

    The estimate is a part of the line unless it is `bits`.

    Arguments:
        samples: number of bootstrap samples. seed: seed of the bootstrap.
        estimate: how the table's cosines are estimated; None: the table's default.
    """
    way = estimate_of(table, estimate)
    fields = {
        **table.fingerprint.fields(),
        "min-count": table.parameters.get("min_count"),
        "corpus": str(table.parameters.get("corpus"))[:12],
        **({} if way == "bits" else {"estimate": way}),
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
        known = [all(one.similarity is not None for one in of_pair)
                 for of_pair in zip(*every, strict=True)]  # fmt: skip
        return [
            [one if all_know else Estimate(None) for one, all_know in zip(ones, known, strict=True)]
            for ones in every
        ]

    return [_InCommon(measure.name, number, said) for number, measure in enumerate(measures)]


class _InCommon(Similarity):
    def __init__(
        self, name: str, number: int, said: Callable[[tuple[Pair, ...]], list[list[Estimate]]]
    ) -> None:
        self.name = name
        self._number = number
        self._said = said

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        return self._said(tuple(pairs))[self._number]


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
    in_range(samples, "bootstrap samples", 0)
    whole_number(seed, "`seed`", 0)
    if antonyms is not None and antonyms.layout != "pairs":
        raise ParameterError(
            f"{antonyms.name}: antonyms have scores beside them: name a list of two columns"
        )
    results = Results[Result]()
    for one in gold:
        for measure in measures:
            if one.layout == "pairs":
                results += _areas(one, measure, antonyms, samples, seed)
            else:
                results += _correlations(one, measure, samples, seed)
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
