"""Learners of linear weights: shares of choices, minima that are known, ridge regression."""

import numpy as np
import pytest

from distsim.base.linear_weights import ChoiceLists, Standardisation, lowest, ridge


@pytest.mark.parametrize("may_be_none", [False, True])
def test_shares_of_lists_are_their_softmax(may_be_none):
    random = np.random.default_rng(1)
    sizes = [1, 3, 1, 700]
    scores = random.standard_normal(sum(sizes)) * 50
    choices = ChoiceLists.of(sizes).choices(scores, may_be_none=may_be_none)
    at = 0
    for number, size in enumerate(sizes):
        own = np.append(scores[at : at + size], [0.0] if may_be_none else [])
        expected = np.exp(own - np.logaddexp.reduce(own))
        np.testing.assert_allclose(choices.shares[at : at + size], expected[:size], atol=1e-15)
        np.testing.assert_allclose(
            choices.logs[at : at + size], (own - np.logaddexp.reduce(own))[:size], atol=1e-12
        )
        assert choices.none[number] == pytest.approx(expected[-1] if may_be_none else 0.0)
        at += size


def test_the_minimum_of_squares_is_that_of_the_ridge():
    random = np.random.default_rng(2)
    rows, targets = random.standard_normal((90, 4)), random.standard_normal(90)
    expected = ridge(rows.T @ rows, rows.T @ targets, 3.0)

    def squares(weights: np.ndarray) -> tuple[float, np.ndarray]:
        off = rows @ weights - targets
        return float(off @ off), 2 * rows.T @ off

    np.testing.assert_allclose(lowest(squares, np.zeros(4), 3.0), expected, atol=1e-5)
    drawn = lowest(squares, np.zeros(4), 1e9, around=np.arange(4.0))
    np.testing.assert_allclose(drawn, np.arange(4.0), atol=1e-3)
    held = lowest(squares, np.full(4, 5.0), 3.0, bounds=[(5.0, None)] * 4)
    np.testing.assert_allclose(held, np.full(4, 5.0))


def test_constant_features_are_not_scaled():
    rows = np.array([[1.0, 7.0], [3.0, 7.0]])
    means, scales = Standardisation.of(rows)
    assert (means.tolist(), scales.tolist()) == ([2.0, 0.0], [1.0, 1.0])
