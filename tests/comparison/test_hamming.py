"""Nearest bits: one pass, all ties, in order."""

import numpy as np
import pytest

from distsim.comparison.nearest import nearest_bits, nearest_bits_of_many
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


@pytest.mark.parametrize("n_words", [1, 3, 4])
@pytest.mark.parametrize("n", [0, 1, BLOCK, BLOCK + 1, 9 * BLOCK + 7])
@pytest.mark.parametrize("n_queries", [0, 1, 5])
def test_many_queries_have_the_rows_of_each_alone(n, n_words, n_queries):
    draw = np.random.default_rng(n + n_words)
    bits = draw.integers(0, 8, (n, n_words)).astype(np.uint64)
    queries = draw.integers(0, 8, (n_queries, n_words)).astype(np.uint64)
    chosen = np.flatnonzero(draw.random(n) < 0.4).astype(np.uint32)
    for among, rows in ((None, np.arange(n)), (chosen, chosen)):
        ranked = [naive.ranked_by_hamming(bits[rows].tolist(), one) for one in queries.tolist()]
        for k in (1, 7, 300, n + 5):
            for radius in (None, 0, 2):
                nearest = nearest_bits_of_many(frozen(bits), queries, k, radius, among)
                assert len(nearest) == n_queries
                for query, of_query, wanted in zip(queries, nearest, ranked, strict=True):
                    if of_query is None:  # too many ties: left to a search of this query
                        of_query = nearest_bits(bits, query, k, radius, among)
                    assert list(zip(*(part.tolist() for part in of_query[::-1]), strict=True)) == [
                        one for one in wanted
                        if one[0] <= wanted[min(k, rows.size) - 1][0]
                        and (radius is None or one[0] <= radius)
                    ]  # fmt: skip


def test_only_a_query_with_too_many_ties_is_left_out():
    bits = np.full((40 * BLOCK, 2), 7, np.uint64)
    bits[5 : 8 * BLOCK] = np.arange(8 * BLOCK - 5)[:, None] << 8
    near_all, near_one = nearest_bits_of_many(bits, bits[[0, 5 + 2**10]], 1)
    assert near_all is None
    assert [part.tolist() for part in near_one] == [[5 + 2**10], [0]]
