"""Ranks candidates by a conditional logit model, which is learned from known words at run time.

p(c | word) = exp(b x_c) / (1 + sum over candidates of exp(b x)): the 1 stands for a translation
that is not among the candidates. A hidden word's likelihood is the sum of p over its translations,
or the probability of none where none of them is a candidate. Penalty: b'b / 2 times `_PENALTY`.
The scores are then calibrated on words that taught nothing, by folds; the copy has a slope of its
own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

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
        if any(len(one) == 0 for one in scored):
            return model
        objective = _NegativeLogLikelihood(
            np.vstack(scored), right, _CALIBRATION_PENALTY, _AS_IT_IS
        )
        return replace(model, calibration=_lowest(objective, _AS_IT_IS))

    @classmethod
    def _fitted(
        cls, features: Sequence[NDArray[np.float32]], right: Sequence[NDArray[np.bool_]]
    ) -> "Ranker":
        """Return the model without a calibration."""
        rows = np.vstack(features).astype(np.float64)
        means, scales = rows.mean(axis=0), rows.std(axis=0)
        constant = scales < 1e-9
        means[constant], scales[constant] = 0.0, 1.0
        begin = np.zeros(rows.shape[1])
        objective = _NegativeLogLikelihood((rows - means) / scales, right, _PENALTY, begin)
        return cls(means, scales, _lowest(objective, begin), _AS_IT_IS)

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
        most = max(0.0, float(scores.max(initial=0.0)))
        powers = np.exp(scores - most)
        return np.asarray(powers / (powers.sum() + np.exp(-most)), np.float64)


def _lowest(objective: "_NegativeLogLikelihood", begin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the lowest value, float64[n]."""
    from scipy.optimize import minimize  # a slow import

    with threadpool_limits(limits=1, user_api="blas"):  # sums in one order
        found = minimize(
            objective, begin, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}
        )
    return np.asarray(found.x, np.float64)


class _NegativeLogLikelihood:
    """The negative log likelihood with its gradient."""

    def __init__(
        self,
        rows: NDArray[np.float64],
        right: Sequence[NDArray[np.bool_]],
        penalty: float,
        usual: NDArray[np.float64],
    ) -> None:
        self._rows = rows
        self._penalty, self._usual = penalty, usual
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
        off = weights - self._usual
        gradient = self._rows.T @ (expected - seen) + self._penalty * off
        return float(value + self._penalty * (off @ off) / 2), gradient
