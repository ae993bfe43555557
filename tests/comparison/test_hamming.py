"""Nearest bits: one pass, all ties, in order."""

import numpy as np
import pytest

from distsim.comparison.nearest import nearest_bits
from distsim.kernels.compiled import frozen
from distsim.signatures.kernels.hamming import BLOCK
from tests.naive import core as naive


@pytest.mark.parametrize("n_words", [1, 3, 4, 16])
@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 9 * BLOCK + 7])
def test_nearest_rows_are_those_of_a_full_sort(n, n_words):
    draw = np.random.default_rng(n + n_words)
    # Few bits differ, so that ties abound.
    bits = draw.integers(0, 8, (n, n_words)).astype(np.uint64)
    query = draw.integers(0, 8, n_words).astype(np.uint64)
    ranked = naive.ranked_by_hamming(bits.tolist(), query.tolist())
    for k in {1, 2, 7, 300, n, n + 5} - {0}:
        for radius in (None, 0, 2, 64 * n_words):
            rows, distances = nearest_bits(frozen(bits), query, k, radius)
            assert list(zip(distances.tolist(), rows.tolist(), strict=True)) == [
                one for one in ranked
                if one[0] <= ranked[min(k, n) - 1][0] and (radius is None or one[0] <= radius)
            ]  # fmt: skip
    rows, distances = nearest_bits(frozen(bits), query, len(bits), 2)
    assert list(zip(distances.tolist(), rows.tolist(), strict=True)) == [
        one for one in ranked if one[0] <= 2
    ]


@pytest.mark.parametrize("n_words", [1, 4])
def test_chosen_rows_are_searched_where_they_lie(n_words):
    draw = np.random.default_rng(n_words)
    bits = draw.integers(0, 8, (9 * BLOCK, n_words)).astype(np.uint64)
    query = draw.integers(0, 8, n_words).astype(np.uint64)
    chosen = np.flatnonzero(draw.random(len(bits)) < 0.4).astype(np.uint32)
    for k in (1, 7, 300, len(bits)):
        alone = nearest_bits(bits[chosen], query, k)
        for one, other in zip(alone, nearest_bits(bits, query, k, among=chosen), strict=True):
            assert one.tolist() == other.tolist()
    assert nearest_bits(bits, query, 5, among=chosen[:0])[0].size == 0


def test_rows_that_come_ever_nearer_are_all_seen():
    """Every row beats those before: the kept ones are thinned out again and again."""
    n = 3000
    bits = np.array([[(1 << (64 - 64 * row // n)) - 1] for row in range(n)], np.uint64)
    rows, distances = nearest_bits(bits, np.zeros(1, np.uint64), 5)
    assert distances.tolist() == sorted(distances.tolist())
    assert set(rows.tolist()) == {row for row in range(n) if 64 - 64 * row // n == 1}
    assert nearest_bits(bits, np.zeros(1, np.uint64), 5, -1)[0].size == 0
