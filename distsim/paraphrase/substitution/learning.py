"""Learns the weights of the finder of substitutes from what people named, with cross-validation.

The weights are those under which the shares of people's choices among the words that are found are
likeliest (softmax regression). A logistic regression on ln of a word's share, with a highest
value, then tells the chance that people name it. Folds and intervals are drawn by target.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import in_range, plain_number
from distsim.base.errors import InputError, ParameterError
from distsim.base.linear_weights import ChoiceLists, Standardisation, lowest, lowest_of_few
from distsim.comparison.finder.word_finder import ChanceScale, FinderWeights, WordOptions
from distsim.comparison.finder.word_substitutes import WordSubstitutes
from distsim.evaluation.correlations import Interval, mean_interval
from distsim.indexes.corpus_index import CorpusIndex
from distsim.paraphrase.substitution.occurrence import read_tasks
from distsim.paraphrase.substitution.substitute_candidates import ParaphraseGrammar
from distsim.paraphrase.substitution.substituter import Substituter
from distsim.signatures.table import StoredTable

MEASURES = ("best", "oot", "P@1", "P@5")
_PENALTY = 1e-3
_LEAST_CHOICES = 8  # of a target in all its sentences, to learn from it without them
_MIN_TARGETS = 20  # targets


class Judged(NamedTuple):
    """What people put in the place of a target.

    left, target, right: the sentence; left and right are empty for a word without one. chosen: how
    many people chose each word. group: the unit of folds and intervals, a base form.
    """

    left: str
    target: str
    right: str
    chosen: dict[str, float]
    group: str


class Case(NamedTuple):
    """The words found for one target, with features and people's choices.

    group: the target; cases of one target stay in one part of a cross-validation.
    features: float64[n, m], of n words found.
    rules: float64[n, 2], the evidence of a grammar.
    shares: float64[n], the share of people's choices on each word.
    """

    group: str
    features: np.ndarray
    rules: np.ndarray
    shares: np.ndarray


class Cases(NamedTuple):
    """The words found for targets in their sentences, and for the same targets alone.

    in_sentence, alone: one case for each target.
    """

    in_sentence: list[Case]
    alone: list[Case]


class HeldOut(NamedTuple):
    """Quality of answers to targets other than those that the weights were learned from.

    kind: `alone` or `in_sentence`. measure: its name. value, interval: by the learned
    weights, with its 95% interval. shipped: by the weights that ship. cases: targets.
    """

    kind: str
    measure: str
    value: float
    interval: Interval
    shipped: float
    cases: int


def read_judged(path: str | Path) -> list[Judged]:
    """Return the judged targets of a file.

    Arguments:
        path: lines of left<TAB>target<TAB>right<TAB>substitute count;substitute count;...; left
            and right are empty for a word without a sentence.

    Raises:
        InputError: a line has other columns, or a substitute no count above 0.
    """
    judged = []
    for task in read_tasks(path):
        chosen: dict[str, float] = {}
        for candidate in task.candidates or ():
            substitute, _, count = candidate.rpartition(" ")
            value = plain_number(count)
            if not substitute.strip() or value is None or not 0 < value < np.inf:
                raise InputError(
                    f"{path}, line {task.line}: {candidate!r}: write each substitute with the "
                    "number of people who chose it, such as `buy 3;acquire 1`"
                )
            chosen[substitute.strip()] = chosen.get(substitute.strip(), 0.0) + float(value)
        if chosen:
            judged.append(Judged(task.left, task.target, task.right, chosen, ""))
    return judged


def find_cases(
    index: CorpusIndex,
    table: StoredTable,
    judged: Iterable[Judged],
    *,
    grammar: ParaphraseGrammar | None = None,
) -> Cases:
    """Return what is found for judged targets.

    In a sentence these are the words that are best by the weights that ship, fluency left out.

    Arguments:
        index, table: a signed index. judged: a target without a group is its own, as base form.

    Raises:
        ParameterError: nothing is stored to find words by.
    """
    words = WordSubstitutes.open(index, table)
    if words is None:
        raise ParameterError(f"{table.path}: nothing is stored to find words by: sign it again")
    looked_up = FinderWeights.open()._replace(grammar=np.ones(2))  # rules count where they weigh
    substituter = Substituter(index, table, grammar=grammar, words=WordOptions(looked_up))
    in_sentence: list[Case] = []
    together: dict[tuple[str, str], dict[str, float]] = {}  # by group and form
    without_sentence: set[tuple[str, str]] = set()
    for judged_target in judged:
        chosen: dict[str, float] = {}
        for substitute, count in judged_target.chosen.items():
            for base in words.bases(tuple(index.words(substitute))):
                chosen[base] = chosen.get(base, 0.0) + count
        own = words.bases(tuple(index.words(judged_target.target)))
        key = (
            judged_target.group or (own[0] if own else judged_target.target.lower()),
            judged_target.target.lower(),
        )
        all_forms = together.setdefault(key, {})
        for base, count in chosen.items():
            all_forms[base] = all_forms.get(base, 0.0) + count
        if judged_target.left or judged_target.right:
            candidates = substituter.features(
                judged_target.left, judged_target.target, judged_target.right
            )
            in_sentence.append(
                _case(key[0], candidates, chosen, sum(judged_target.chosen.values()))
            )
        else:
            without_sentence.add(key)
    alone = []
    for key, chosen in together.items():
        n_choices = sum(chosen.values())
        if n_choices >= _LEAST_CHOICES or (n_choices and key in without_sentence):
            alone.append(_case(key[0], words.features(key[1]), chosen, n_choices))
    return Cases(in_sentence, alone)


def _case(
    group: str,
    candidates: tuple[list[str], np.ndarray] | tuple[list[str], np.ndarray, np.ndarray] | None,
    chosen: dict[str, float],
    total: float,
) -> Case:
    names, features, *rules = candidates or ([], np.empty((0, 0)))
    shares = np.array([chosen.get(name, 0.0) for name in names]) / total
    return Case(group, features, rules[0] if rules else np.zeros((len(names), 2)), shares)


def learn_weights(cases: Cases, further_cases: Cases = Cases([], [])) -> FinderWeights:
    """Return the weights learned from all cases; of a kind with too few, those that ship.

    Arguments:
        cases: targets in their sentences, and alone, with people's choices.
        further_cases: not used to calibrate the scores.

    Raises:
        ParameterError: fewer than 20 targets have a word found that people chose.
    """
    n_targets = max(map(_n_targets, cases))
    if n_targets < _MIN_TARGETS:
        raise ParameterError(
            f"{n_targets} judged targets have a word found that people chose: give "
            f"{_MIN_TARGETS} or more"
        )
    shipped = FinderWeights.open()
    in_sentence, alone = (
        learn_scale(of_kind, others)
        if _n_targets(of_kind) >= _MIN_TARGETS
        else getattr(shipped, kind)
        for kind, of_kind, others in zip(Cases._fields, cases, further_cases, strict=True)
    )
    return FinderWeights(alone, in_sentence, learn_rules(cases.in_sentence, in_sentence))


def _n_targets(cases: Sequence[Case]) -> int:
    return len({case.group for case in cases if case.shares.any()})


def learn_scale(cases: Sequence[Case], further_cases: Sequence[Case] = ()) -> ChanceScale:
    """Return the feature weights of maximum likelihood for people's choices, calibrated.

    The likelihood is that of a softmax over the words found, with an L2 penalty. The calibration
    fits the chance that a word is named to its logarithmic share.

    Arguments:
        further_cases: not used to calibrate.
    """
    from scipy.special import expit

    cases = [case for case in cases if case.shares.size]
    n_calibrated = sum(case.shares.size for case in cases)
    cases += [case for case in further_cases if case.shares.size]
    every = np.concatenate([case.features for case in cases])
    spread = Standardisation.of(every).scales
    weights, logs = _likeliest(cases, every / spread)
    named = np.concatenate([case.shares for case in cases])[:n_calibrated] > 0
    logs = logs[:n_calibrated]
    edges = np.quantile(logs, np.append(np.linspace(0, 0.99, 200), np.linspace(0.9901, 1, 200)))
    bins = np.searchsorted(edges[1:-1], logs)
    counts, hits = np.bincount(bins), np.bincount(bins, named)
    means = np.bincount(bins, logs) / np.maximum(counts, 1)

    def misfit(line: np.ndarray) -> float:
        chances = expit(line[2]) * expit(line[0] + line[1] * means)
        return float(-(hits * np.log(chances) + (counts - hits) * np.log1p(-chances)).sum())

    intercept, slope, limit = lowest_of_few(misfit, np.ones(3)).tolist()
    return ChanceScale(weights / spread, intercept, slope, float(expit(limit)))


def learn_rules(cases: Sequence[Case], scale: ChanceScale) -> np.ndarray:
    """Return the weights of a grammar's evidence, float64[2]; 0 where no case has a rule.

    Arguments:
        scale: the weights of the other features, which stay.
    """
    if not any(case.rules.any() for case in cases):
        return np.zeros(2)
    cases = [case for case in cases if case.shares.size]
    by_others = np.concatenate([case.features @ scale.weights for case in cases])
    return _likeliest(cases, np.concatenate([case.rules for case in cases]), by_others)[0]


def _likeliest(
    cases: Sequence[Case], rows: np.ndarray, offsets: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return (the weights of maximum likelihood for the shares of cases, ln p of each row).

    Arguments:
        cases: none is empty. rows: float64[n, m], features of all words. offsets: float64[n], what
            the score of each has besides.
    """
    lists = ChoiceLists.of([case.shares.size for case in cases])
    shares = np.concatenate([case.shares for case in cases])
    chosen = lists.sums(shares)[lists.owners]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        choices = lists.choices(rows @ weights + offsets)
        slope = rows.T @ (shares - chosen * choices.shares)
        return -float(shares @ choices.logs) / len(cases), -slope / len(cases)

    weights = lowest(loss, np.zeros(rows.shape[1]), _PENALTY)
    return weights, lists.choices(rows @ weights + offsets).logs


def held_out_chances(
    cases: Sequence[Case], further_cases: Sequence[Case] = (), *, folds: int = 5, seed: int = 1
) -> list[np.ndarray]:
    """Return the chances of all words found, float64[n] for each case, by cross-validation.

    The weights for a case are learned from other targets than its own.

    Arguments:
        folds: number of parts of the cross-validation.
        seed: of the random division into parts.
    """
    groups = sorted({case.group for case in cases})
    order = np.random.default_rng(seed).permutation(len(groups)) % folds
    fold = dict(zip(groups, order.tolist(), strict=True))
    chances_of_cases = [np.zeros(0)] * len(cases)
    for number in range(folds):
        others = [case for case in cases if fold[case.group] != number]
        scale = learn_scale(
            others, [case for case in further_cases if fold.get(case.group) != number]
        )
        rules = learn_rules(others, scale)
        for at, case in enumerate(cases):
            if fold[case.group] == number and case.shares.size:
                chances_of_cases[at] = scale.chances(case.features, more=case.rules @ rules)
    return chances_of_cases


def chances_by(weights: FinderWeights, kind: str, cases: Sequence[Case]) -> list[np.ndarray]:
    """Return the chances of all words found, float64[n] for each case.

    Arguments:
        weights: the weights of the features and their calibration.
        kind: `in_sentence` or `alone`, a field of Cases.
    """
    scale: ChanceScale = getattr(weights, kind)
    return [
        scale.chances(case.features, more=case.rules @ weights.grammar)
        if case.shares.size
        else np.zeros(0)
        for case in cases
    ]


def rated(cases: Sequence[Case], chances: Sequence[np.ndarray]) -> np.ndarray:
    """Return the quality of each case by each of MEASURES, float64[n, 4]; 0 where nothing is found.

    Arguments:
        chances: float64[n] for each case, the chance of each word found.
    """
    values = np.zeros((len(cases), len(MEASURES)))
    for row, case, own in zip(values, cases, chances, strict=True):
        if case.shares.size:
            shares = case.shares[np.argsort(-own, kind="stable")]
            row[:] = shares[0], shares[:10].sum(), shares[0] > 0, (shares[:5] > 0).mean()
    return values


def measure(cases: Cases, *, folds: int = 5, samples: int = 1000, seed: int = 1) -> list[HeldOut]:
    """Return the quality of answers with weights learned from other targets, and with shipped ones.

    Arguments:
        cases: targets in their sentences, and alone, with people's choices.
        folds: number of parts of the cross-validation, at least 2.
        samples: number of samples of the bootstrap.
        seed: of the random division into parts and of the bootstrap.

    Raises:
        ParameterError: fewer than 2 folds.
    """
    in_range(folds, "folds", 2)
    shipped = FinderWeights.open()
    rows = []
    for kind, of_kind in zip(Cases._fields, cases, strict=True):
        if _n_targets(of_kind) < _MIN_TARGETS:
            continue
        theirs = rated(of_kind, chances_by(shipped, kind, of_kind)).mean(axis=0)
        ours = rated(of_kind, held_out_chances(of_kind, folds=folds, seed=seed))
        groups = [case.group for case in of_kind]
        for name, values, other in zip(MEASURES, ours.T, theirs.tolist(), strict=True):
            interval = mean_interval(values, groups, samples, seed)
            rows.append(HeldOut(kind, name, float(values.mean()), interval, other, len(of_kind)))
    return rows
