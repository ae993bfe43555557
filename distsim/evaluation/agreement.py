"""Statistics of agreement: Spearman, Pearson, area under the curve, bootstrap intervals.

An interval is the range between two quantiles over bootstrap samples, drawn by whole groups
of pairs: judgements of one phrase's paraphrases are not independent of each other.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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
