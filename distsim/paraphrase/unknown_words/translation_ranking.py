"""Ranks candidates by a conditional logit model, which is learned from known words at run time.

p(c | word) = exp(b x_c) / (1 + sum over candidates of exp(b x)): the 1 stands for a translation
that is not among the candidates. A hidden word's likelihood is the sum of p over its translations,
or the probability of none where none of them is a candidate. Penalty: b'b / 2 times `_PENALTY`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

_PENALTY = 10.0
_ITERATIONS = 500


@dataclass(frozen=True)
class Ranker:
    """A learned model.

    Attributes:
        means, scales, weights: float64[features]; features are standardised by the first two.
    """

    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def learn(
        cls, features: Sequence[NDArray[np.float32]], right: Sequence[NDArray[np.bool_]]
    ) -> "Ranker":
        """Return the model learned from words whose translations are known.

        Arguments:
            features: float32[candidates, features] of each word, no word without candidates.
            right: bool[candidates] of each word, which are translations.
        """
        from scipy.optimize import minimize  # a slow import

        with threadpool_limits(limits=1, user_api="blas"):  # sums in one order
            rows = np.vstack(features).astype(np.float64)
            means, scales = rows.mean(axis=0), rows.std(axis=0)
            constant = scales < 1e-9
            means[constant], scales[constant] = 0.0, 1.0
            objective = _NegativeLogLikelihood((rows - means) / scales, right)
            found = minimize(
                objective, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B",
                options={"maxiter": _ITERATIONS},
            )  # fmt: skip
        return cls(means, scales, np.asarray(found.x, np.float64))

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return p of each candidate of a word, float64[n]; their sum is below 1.

        features: float32[n, columns].
        """
        with threadpool_limits(limits=1, user_api="blas"):
            scores = (features.astype(np.float64) - self.means) / self.scales @ self.weights
        most = max(0.0, float(scores.max(initial=0.0)))
        powers = np.exp(scores - most)
        return np.asarray(powers / (powers.sum() + np.exp(-most)), np.float64)


class _NegativeLogLikelihood:
    """The negative log likelihood with its gradient."""

    def __init__(self, rows: NDArray[np.float64], right: Sequence[NDArray[np.bool_]]) -> None:
        self._rows = rows
        self._right = np.concatenate(right).astype(np.float64)
        sizes = np.array([len(one) for one in right])
        self._starts = np.cumsum(sizes) - sizes
        self._words = np.repeat(np.arange(len(sizes)), sizes)
        self._has_right = np.add.reduceat(self._right, self._starts) > 0

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = self._rows @ weights
        most = np.maximum(np.maximum.reduceat(scores, self._starts), 0.0)
        powers, none = np.exp(scores - most[self._words]), np.exp(-most)
        everything = np.add.reduceat(powers, self._starts) + none
        of_right = np.add.reduceat(powers * self._right, self._starts)
        wanted = np.where(self._has_right, of_right, none)
        expected = powers / everything[self._words]
        seen = self._right * powers / np.maximum(of_right, 1e-300)[self._words]
        value = np.log(everything).sum() - np.log(np.maximum(wanted, 1e-300)).sum()
        gradient = self._rows.T @ (expected - seen) + _PENALTY * weights
        return float(value + _PENALTY * (weights @ weights) / 2), gradient
