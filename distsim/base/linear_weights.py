"""Learns linear weights of features: standardised columns, an objective, an L2 penalty, a minimum.

All learners of weights stand on it, and each brings its objective: the finder of substitutes and
the translations of unknown words (likelihoods of choices in lists), rewritings (expected counts
of lists), the order of rules, and maps between tables (ridge regression).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

LEAST_SPREAD = 1e-9  # a standard deviation below which a feature is constant
Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]  # its value, and the derivative
Bounds = Sequence[tuple[float | None, float | None]]


class Standardisation(NamedTuple):
    """How features are brought to one scale: those that do not vary stay as they are.

    Attributes:
        means, scales: float64[features]; 0 and 1 where a feature is constant.
    """

    means: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> "Standardisation":
        """Return the means and standard deviations of float[n, features]."""
        means, scales = rows.mean(axis=0), rows.std(axis=0)
        constant = scales <= LEAST_SPREAD
        means[constant], scales[constant] = 0.0, 1.0
        return cls(means, scales)


class ChoiceShares(NamedTuple):
    """The distribution over each list: p of a row is proportional to e^score.

    Attributes:
        shares, logs: float64[n], p of each row and ln p.
        none: float64[lists], p of choosing no row; 0 where that is no choice.
    """

    shares: np.ndarray
    logs: np.ndarray
    none: np.ndarray


class ChoiceLists(NamedTuple):
    """Lists of rows, end to end; no list is empty.

    Attributes:
        starts: int64[lists], where each begins. owners: int64[n], the list of each row.
    """

    starts: np.ndarray
    owners: np.ndarray

    @classmethod
    def of(cls, sizes: Sequence[int] | np.ndarray) -> "ChoiceLists":
        """Return lists of some sizes, 1 or more."""
        n_rows = np.asarray(sizes, np.int64)
        return cls(np.cumsum(n_rows) - n_rows, np.repeat(np.arange(n_rows.size), n_rows))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of each list, float64[lists]."""
        totals: np.ndarray = np.add.reduceat(values, self.starts)
        return totals

    def choices(self, scores: np.ndarray, *, may_be_none: bool = False) -> ChoiceShares:
        """Return the softmax of each list.

        Arguments:
            scores: float64[n]. may_be_none: a list has another choice, of score 0.
        """
        highest = np.maximum.reduceat(scores, self.starts)
        if may_be_none:
            highest = np.maximum(highest, 0.0)
        below = scores - highest[self.owners]
        powers, none = np.exp(below), np.exp(-highest) if may_be_none else np.zeros(highest.size)
        totals = self.sums(powers) + none
        logs = below - np.log(totals)[self.owners]
        return ChoiceShares(powers / totals[self.owners], logs, none / totals)


def lowest(
    objective: Objective,
    begin: np.ndarray,
    penalty: float,
    *,
    around: np.ndarray | float = 0.0,
    bounds: Bounds | None = None,
    max_steps: int = 15000,
) -> np.ndarray:
    """Return the weights of the lowest objective + penalty |weights - around|^2, float64[features].

    L-BFGS-B, the same for any number of cores.

    Arguments:
        begin: float64[features]. around: to which the penalty draws them.
        bounds: (least, largest) of each weight, None for no limit.
    """
    from scipy.optimize import minimize  # a slow import

    def penalised(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = objective(weights)
        off = weights - around
        return value + penalty * float(off @ off), slope + 2 * penalty * off

    with threadpool_limits(limits=1, user_api="blas"):  # sums in one order
        minimum = minimize(
            penalised, begin, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": max_steps},
        )  # fmt: skip
    return np.asarray(minimum.x, np.float64)


def lowest_of_few(objective: Callable[[np.ndarray], float], begin: np.ndarray) -> np.ndarray:
    """Return the two or three parameters of the lowest value of a function without derivative."""
    from scipy.optimize import minimize  # a slow import

    minimum = minimize(objective, begin, method="Nelder-Mead", options={"maxiter": 2000})
    return np.asarray(minimum.x, np.float64)


def ridge(gram: np.ndarray, cross: np.ndarray, penalty: float) -> np.ndarray:
    """Return the weights of a ridge regression, float64[features] or [features, targets].

    Arguments:
        gram: float64[features, features], X'X. cross: X'Y. penalty: on the squared weights.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        solved: np.ndarray = np.linalg.solve(gram + penalty * np.eye(len(gram)), cross)
    return solved
