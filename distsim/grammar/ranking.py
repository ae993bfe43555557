"""Learns weights of features from judged pairs, with cross-validation.

A ridge regression on the ranks of the judgements, in two steps: what phrases themselves tell is
learned from all pairs, what rules add from those that a rule has, mostly few, on what the first
step leaves of their ranks. A phrase recurs on either side, so folds are made of connected
components of the pairs' graph: what is said of pairs that were not learned from is said of other
phrases. Where one component holds most pairs, folds are made of first phrases, and of the others
those are learned from that share no phrase with the fold. Each feature alone is reported, too,
on the same pairs.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Pair, in_range, whole_number
from distsim.base.errors import InputError, ParameterError, counted, program_version
from distsim.base.linear_weights import ridge
from distsim.corpus.lines import read_line_blocks
from distsim.evaluation.correlations import Interval, spearman, spearman_interval
from distsim.evaluation.gold import GoldSet
from distsim.grammar.block import feature_names, parse_block, read_features
from distsim.grammar.formats import find_format
from distsim.grammar.kernels.packs import NO_NUMBER
from distsim.grammar.pair_features import (
    LearnedWeight,
    LearnedWeights,
    PairFeatures,
    is_feature,
    without_gaps,
)

_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
_CUT = 0.005  # values beyond these quantiles are held to them
_MIN_UNITS = 20
_MAX_COMPONENT_SHARE = 0.4  # of the pairs, in one component: more, and first phrases part them


class Agreement(NamedTuple):
    """Spearman's correlation of a feature with the judgements.

    name: of the feature. value: the correlation. interval: its 95% interval. pairs: their number.
    """

    name: str
    value: float
    interval: Interval
    pairs: int


@dataclass(frozen=True)
class LearnedRanking:
    """Learned weights, and their agreement with the judgements.

    weights: of all pairs. alone: each feature, its sign as it agrees best on the pairs that have
    it, the others at its mean. mixed: the mix, of pairs that it was not learned from. units: what
    folds and intervals were drawn by. penalty: of the ridge, chosen by the folds.

    >>> mixed = Agreement("all", 0.5, Interval(0.4, 0.6), 9)
    >>> LearnedRanking(LearnedWeights({}), mixed, (), "9 connected components", 0.1).lines()
    ['all\\t0.500\\t0.400\\t0.600\\t9']
    """

    weights: LearnedWeights
    mixed: Agreement
    alone: tuple[Agreement, ...]
    units: str
    penalty: float

    def lines(self) -> list[str]:
        """Return the report: feature, Spearman, interval, pairs with it; the mix first."""
        every = sorted(self.alone, key=lambda feature: -feature.value)
        return [
            f"{feature.name}\t{feature.value:.3f}\t{feature.interval.low:.3f}\t{feature.interval.high:.3f}\t"
            f"{feature.pairs}"
            for feature in (self.mixed, *every)
        ]


def learn_ranking(
    gold: GoldSet,
    features: PairFeatures,
    *,
    grammar: str | Path | None = None,
    only_grammar: bool = False,
    names: Sequence[str] | None = None,
    folds: int = 5,
    samples: int = 1000,
    seed: int = 1,
) -> LearnedRanking:
    """Return weights of features that are fitted to judgements.

    Arguments:
        gold: pairs with scores, the higher the better.
        features: computes those of the pairs themselves.
        grammar: rules; those whose sides are a pair's give it their features too: pivot's, and
            what `score` wrote. The mean where several rules do.
        only_grammar: say agreement, and choose the penalty, on the pairs that a rule has; the
            others are learned from as well.
        names: only these features, or groups of PairFeatures; all but vectors where None.
        folds: so many parts, each ranked by weights of the others.
        samples: of the bootstrap, by the units of the folds; seed: of its draws, 0 or more.

    Raises:
        ParameterError: too few pairs or components, in all or with a rule, or a feature is not
            there.
        InputError: the grammar cannot be read.

    >>> from distsim import read_gold
    >>> from distsim.grammar import PairFeatures, learn_ranking
    >>> words = [f"{a}{b}{c}" for a in "bcd" for b in "ae" for c in "klmn"]
    >>> judged = [f"{word}\\t{word[: n % 4]}x{n}\\t{n % 4}\\n" for n, word in enumerate(words)]
    >>> _ = (folder / "judged.tsv").write_text("".join(judged))
    >>> learned = learn_ranking(read_gold(folder / "judged.tsv"), PairFeatures(), samples=0)
    >>> learned.mixed.pairs, "letters" in learned.weights.names
    (24, True)
    """
    if not gold.scores:
        raise ParameterError(f"{gold.name}: has no scores: name a file of phrase, phrase, score")
    in_range(folds, "`folds`", 2)
    whole_number(seed, "`seed`", 0)
    if only_grammar and grammar is None:
        raise ParameterError("`only_grammar`: name the grammar with `grammar`")
    learning = _learning(gold, features, grammar, names)
    judged = learning.has_rule if only_grammar else np.ones(len(learning.pairs), bool)
    pairs = [learning.pairs[n] for n in np.flatnonzero(judged).tolist()]
    scores = learning.scores[judged]
    units, fold, groups = _folds(pairs, folds)
    n_pairs = len(pairs)
    if n_pairs < _MIN_UNITS or np.unique(fold).size < folds or not learning.names:
        raise ParameterError(
            f"{gold.name}: {counted(n_pairs, 'pair')} of {groups} with "
            f"{counted(len(learning.names), 'feature')} that "
            f"differ: too few to learn from in {counted(folds, 'fold')}"
        )
    measure = _AgreementMeasure(scores, [str(unit) for unit in units.tolist()], samples, seed)
    penalty, held_out = _best_penalty(learning, judged, fold)
    mixed = measure.agreement("all, by weights", held_out, n_pairs)
    alone = [
        measure.alone(name, column)
        for name, column in zip(learning.names, learning.matrix[judged].T, strict=True)
        if _varies(column)
    ]
    notes = (
        f"distsim rank {program_version()}: {gold.name}, {counted(n_pairs, 'pair')} of {groups}, "
        f"{counted(folds, 'fold')}, penalty {penalty:g}, learned from "
        f"{counted(len(learning.pairs), 'pair')}",
        f"Spearman on pairs not learned from {mixed.value:.3f}, 95% interval "
        f"{mixed.interval.low:.3f} to {mixed.interval.high:.3f}",
        "score: the sum over features of weight * (value held to low .. high - mean) / scale, or "
        "missing where a pair has no value",
    )
    fitted = _fit_in_steps(learning, np.ones(len(learning.pairs), bool), penalty)
    return LearnedRanking(
        LearnedWeights(fitted.weights, notes=notes), mixed, tuple(alone), groups, penalty
    )


class _AgreementMeasure(NamedTuple):
    """Computes the agreement of values with scores.

    scores: float64[pairs]. groups: the unit of each pair that the bootstrap draws. samples, seed:
    of the bootstrap.
    """

    scores: np.ndarray
    groups: list[str]
    samples: int
    seed: int

    def agreement(self, name: str, values: np.ndarray, n_known: int) -> Agreement:
        """Return the agreement of values, float64[pairs], of which n_known are no fillers."""
        interval = spearman_interval(values, self.scores, self.groups, self.samples, self.seed)
        return Agreement(name, spearman(values, self.scores), interval, n_known)

    def alone(self, name: str, column: np.ndarray) -> Agreement:
        """Return that of one feature, float64[pairs], in the direction in which it agrees.

        Pairs without it, NaN, take the mean of the others.
        """
        has = ~np.isnan(column)
        filled = np.where(has, column, column[has].mean())
        n_known = int(np.count_nonzero(has))
        if spearman(column[has], self.scores[has]) >= 0:
            return self.agreement(name, filled, n_known)
        return self.agreement(f"-{name}", -filled, n_known)


class _JudgedPairs(NamedTuple):
    """Training rows: judged pairs with their features.

    Attributes:
        pairs: the judged pairs.
        scores: float64[pairs], the judgements.
        names: features of the pairs themselves, then `n_of_rules` that rules have.
        n_of_rules: number of features of rules.
        matrix: float64[pairs, names], NaN where a pair lacks a feature.
        has_rule: bool[pairs].
    """

    pairs: tuple[Pair, ...]
    scores: np.ndarray
    names: list[str]
    n_of_rules: int
    matrix: np.ndarray
    has_rule: np.ndarray


def _learning(
    gold: GoldSet,
    features: PairFeatures,
    grammar: str | Path | None,
    names: Sequence[str] | None,
) -> _JudgedPairs:
    """Return the training rows with the features asked for that differ between pairs."""
    pairs = gold.pairs
    wanted, asked = _wanted(features, names)
    others: dict[str, np.ndarray] = {}
    has_rule = np.zeros(len(pairs), bool)
    if grammar is not None:
        others, has_rule = grammar_features(grammar, pairs)
        others = {name: column for name, column in others.items() if not is_feature(name)}
        if np.count_nonzero(has_rule) < _MIN_UNITS:
            raise ParameterError(
                f"{grammar}: has {np.count_nonzero(has_rule)} of the "
                f"{counted(len(pairs), 'pair')}, "
                f"wanted {_MIN_UNITS} or more: name a grammar with such rules"
            )
    known = [*wanted, *others]
    for name in asked or ():
        if name not in known:
            raise ParameterError(
                f"`features`: there is no {name}: choose among {', '.join(features.groups)}, "
                f"{', '.join(known or features.names)}"
            )
    if asked is not None:
        others = {name: others[name] for name in asked if name in others}
    columns = dict(zip(wanted, features.matrix(pairs, names=wanted).T, strict=True)) | others
    varied = [name for name, column in columns.items() if _varies(column)]
    matrix = np.column_stack([columns[name] for name in varied] or [np.empty((len(pairs), 0))])
    n_of_rules = sum(name in others for name in varied)
    return _JudgedPairs(pairs, np.array(gold.scores), varied, n_of_rules, matrix, has_rule)


def _best_penalty(
    learning: _JudgedPairs, judged: np.ndarray, fold: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the penalty with the best agreement, and each judged pair's score by the other folds.

    Arguments:
        judged: bool[pairs]. fold: of each judged pair.
    """
    folds = np.full(len(judged), -1)
    folds[judged] = fold
    scores = learning.scores[judged]
    inside = [_learned_from(learning.pairs, folds, part) for part in np.unique(fold).tolist()]
    best: tuple[float, float, np.ndarray] = (-2.0, 0.0, np.empty(0))
    for penalty in _PENALTIES:
        held_out = np.empty(len(fold))
        for part, rows in enumerate(inside):
            fitted = _fit_in_steps(learning, rows, penalty)
            held_out[fold == part] = fitted.values(learning.names, learning.matrix[folds == part])
        value = spearman(held_out, scores)
        if value > best[0]:
            best = value, penalty, held_out
    return best[1:]


def _fit_in_steps(learning: _JudgedPairs, rows: np.ndarray, penalty: float) -> LearnedWeights:
    """Return weights of all features; those of rules are fitted to the residuals of the others.

    Rule features are missing together, mostly: the effect of having no rule is carried by one
    feature that every pair with a rule has.

    Arguments:
        rows: bool[pairs], those to learn from.
    """
    first = len(learning.names) - learning.n_of_rules
    names, of_rules = learning.names[:first], learning.names[first:]
    numeric = learning.matrix[:, :first]
    ranks = _ranked(learning.scores[rows])
    fitted = fit_weights(names, numeric[rows], ranks, penalty)
    ruled = rows & learning.has_rule
    if not of_rules or not ruled.any():
        return fitted
    left = _ranked(learning.scores[ruled]) - fitted.values(names, numeric[ruled])
    matrix = learning.matrix[ruled][:, first:]
    added = dict(fit_weights(of_rules, matrix, left, penalty).weights)
    everywhere = np.flatnonzero(~np.isnan(matrix).any(axis=0))
    has = learning.has_rule[rows]
    if everywhere.size and not has.all():
        unexplained = ranks - fitted.values(names, numeric[rows])
        lost = unexplained[~has].mean() - unexplained[has].mean()
        lost -= sum(weight.missing for weight in added.values())
        name = of_rules[int(everywhere[0])]
        added[name] = added[name]._replace(missing=float(lost))
    return LearnedWeights({**fitted.weights, **added})


def _wanted(
    features: PairFeatures, names: Sequence[str] | None
) -> tuple[list[str], list[str] | None]:
    """Return the features to compute, and those asked for, groups replaced by their features."""
    if names is None:
        return list(features.names), None
    asked: dict[str, None] = {}
    for name in names:
        asked |= dict.fromkeys(features.groups.get(name, (name,)))
    known = {name for group in features.groups.values() for name in group}
    return [name for name in asked if name in known], list(asked)


def grammar_features(
    grammar: str | Path, pairs: Sequence[Pair]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return (float64[n] by feature, NaN where missing; bool[n], whether a rule has the pair).

    Sides are compared as lower-case text. The mean of several rules' values.

    Raises:
        InputError: the grammar cannot be read or a line is invalid.
    """
    wanted: dict[tuple[str, str], list[int]] = {}
    for number, (a, b) in enumerate(pairs):
        wanted.setdefault((_key(a), _key(b)), []).append(number)
    sums: dict[str, np.ndarray] = {}
    counts: dict[str, np.ndarray] = {}
    has_rule = np.zeros(len(pairs), bool)
    for sides, features in _rules_of(grammar, set(wanted)):
        for number in wanted[sides]:
            has_rule[number] = True
            for name, value in features:
                if name not in sums:
                    sums[name], counts[name] = np.zeros(len(pairs)), np.zeros(len(pairs))
                sums[name][number] += value
                counts[name][number] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return {name: sums[name] / counts[name] for name in sorted(sums)}, has_rule


def _rules_of(
    grammar: str | Path, wanted: set[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], list[tuple[str, float]]]]:
    known = None
    for lines in read_line_blocks(grammar):
        known = known or find_format(None, lines.text)
        block = parse_block(lines, known)
        for line, fault in block.faults():
            raise InputError(f"{grammar}, line {line}: {fault}: mend the line")
        rows = {}
        for number in range(len(block)):
            source, target = map(_key, block.side_texts(number))
            if (source, target) in wanted:
                rows[number] = (source, target)
        present = feature_names(block, np.array(list(rows), np.int64))
        features = read_features(block, [*present.named, *map(str, range(present.most_bare))])
        for number, sides in rows.items():
            faults = np.flatnonzero(features.states[number] == NO_NUMBER)
            if faults.size:
                fault = features.fault(block, number, int(faults[0]))
                raise InputError(
                    f"{grammar}, line {block.first_line + number}: {fault}: mend the line"
                )
            values = zip(features.names, features.values[number].tolist(), strict=True)
            yield sides, [(name, value) for name, value in values if not math.isnan(value)]


def _key(side: str) -> str:
    return without_gaps(side).lower()


def connected(pairs: Sequence[Pair]) -> np.ndarray:
    """Return the number of each pair's connected component, int64, from 0 in order.

    >>> connected([("a", "b"), ("c", "d"), ("b", "e")]).tolist()
    [0, 1, 0]
    """
    above: dict[str, str] = {}

    def root(name: str) -> str:
        above.setdefault(name, name)
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for a, b in pairs:
        above[root(a)] = root(b)
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(root(a), len(numbers)) for a, _ in pairs], np.int64)


def _folds(pairs: Sequence[Pair], folds: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Return (the unit of each pair, its fold, the name of the units)."""
    units = connected(pairs)
    groups = counted(np.unique(units).size, "connected component")
    if units.size and np.bincount(units).max() > _MAX_COMPONENT_SHARE * units.size:
        numbers: dict[str, int] = {}
        firsts = [numbers.setdefault(a, len(numbers)) for a, _ in pairs]
        units, groups = np.array(firsts, np.int64), counted(len(numbers), "first phrase")
    return units, _spread(units, folds), groups


def _spread(units: np.ndarray, folds: int) -> np.ndarray:
    """Return each pair's fold: the largest units first, each into the smallest fold."""
    sizes = np.bincount(units)
    fold_of = np.empty(sizes.size, np.int64)
    filled = np.zeros(folds, np.int64)
    for unit in np.argsort(-sizes, kind="stable").tolist():
        fold_of[unit] = int(np.argmin(filled))
        filled[fold_of[unit]] += sizes[unit]
    fold_of_case: np.ndarray = fold_of[units]
    return fold_of_case


def _learned_from(pairs: Sequence[Pair], fold: np.ndarray, part: int) -> np.ndarray:
    """Return the pairs outside of a fold that share no phrase with it, bool[n]."""
    held = {phrase for n in np.flatnonzero(fold == part).tolist() for phrase in pairs[n]}
    return np.array([a not in held and b not in held for a, b in pairs], bool)


def _ranked(scores: np.ndarray) -> np.ndarray:
    """Return the ranks of scores, from -1/2 to 1/2, ties at their mean."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts + 1) / 2.0
    return np.asarray(middles[inverse] / max(1, scores.size - 1) - 0.5, np.float64)


def _varies(column: np.ndarray) -> bool:
    values = column[~np.isnan(column)]
    return values.size > 1 and bool(values.max() > values.min())


def fit_weights(
    names: Sequence[str], matrix: np.ndarray, targets: np.ndarray, penalty: float
) -> LearnedWeights:
    """Return the weights of a ridge regression.

    Arguments:
        matrix: float64[n, len(names)], NaN where a pair has no such value.
        targets: float64[n], what is to be told but for a constant. penalty: a share of n.
    """
    n, columns, shapes = len(matrix), [], []
    for column in matrix.T:
        has = ~np.isnan(column)
        values = column[has] if has.any() else np.zeros(1)
        low, high = np.quantile(values, [_CUT, 1 - _CUT])
        held = np.clip(values, low, high)
        mean, scale = float(held.mean()), float(held.std()) or 1.0
        columns.append(np.where(has, (np.clip(column, low, high) - mean) / scale, 0.0))
        shapes.append((mean, scale, float(low), float(high)))
    is_missing = np.isnan(matrix)
    marked = np.flatnonzero(is_missing.any(axis=0) & ~is_missing.all(axis=0))
    design = np.column_stack([*columns, is_missing[:, marked] - is_missing[:, marked].mean(axis=0)])
    solved = ridge(design.T @ design, design.T @ (targets - targets.mean()), penalty * n)
    missing = np.zeros(len(names))
    missing[marked] = solved[len(names) :]
    # What a mark adds where a value is there is the same for all pairs that have it.
    return LearnedWeights(
        {
            name: LearnedWeight(float(weight), *shape, float(none))
            for name, weight, shape, none in zip(
                names, solved[: len(names)], shapes, missing, strict=True
            )
        }
    )
