"""Triples in any order, any quantity and any memory: the sums are the dict's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim.base.errors import ParameterError
from distsim.contexts.kernels.triples import sort_triples
from distsim.contexts.triples import SortedRuns, TripleStore
from distsim.kernels.compiled import frozen
from tests.naive.triples import as_rows, summed

SMALLEST = 1 << 16


def drawn(seed, n, n_phrases, n_features):
    random = np.random.default_rng(seed)
    names = random.integers(0, 1 << 64, n_phrases + n_features, np.uint64)
    return (
        names[:n_phrases][random.integers(0, n_phrases, n)],
        names[n_phrases:][random.integers(0, n_features, n)],
        random.integers(1, 5, n).astype(np.uint32),
    )


def stored(folder, memory, triples, block=1 << 20, n_partitions=None):
    with TripleStore(folder, memory, n_partitions) as store:
        for begin in range(0, triples[0].size, block):
            store.add(*(column[begin : begin + block] for column in triples))
        return as_rows(store.partitions())


@pytest.mark.parametrize("n", [0, 1, 2, 23, 24, 25, 26, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("n_phrases", [1, 3, 4000])
def test_sums_are_those_of_a_dict(tmp_path, n, n_phrases):
    triples = drawn(n, n, n_phrases, 50)
    assert stored(tmp_path, SMALLEST, triples) == summed(*triples)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 1 << 32), st.integers(1, 9000), st.integers(1, 300), st.integers(1, 300),
    st.integers(1, 3000), st.integers(0, 3), st.integers(1, 40),
)  # fmt: skip
def test_nothing_depends_on_memory_order_or_blocks(
    tmp_path_factory, seed, n, n_phrases, n_features, block, more, n_partitions
):
    triples = drawn(seed, n, n_phrases, n_features)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = tuple(column[order] for column in triples)
    folder = tmp_path_factory.getbasetemp()
    wanted = stored(folder, 1 << 24, triples)
    assert stored(folder, SMALLEST << more, shuffled, block, n_partitions) == wanted


@pytest.mark.parametrize("shift", [0, 50, 60])
def test_rows_with_texts_come_back_by_ranges_of_hashes(tmp_path, shift):
    """Ranges cut a run within a prefix too, and each row has its own text and no other's."""
    random = np.random.default_rng(shift)
    runs, rows = SortedRuns(tmp_path), []
    for n in (300, 0, 1, 200):
        hashes = np.sort(random.integers(0, 1 << 63, n).astype(np.uint64) >> np.uint64(shift))
        lengths = random.integers(0, 4, n).astype(np.int32)
        text = random.integers(0, 255, int(lengths.sum())).astype(np.uint8)
        bits = random.integers(0, 9, (n, 2)).astype(np.uint64)
        runs.write((hashes, bits, lengths), text)
        texts = [piece.tobytes() for piece in np.split(text, np.cumsum(lengths)[:-1])] if n else []
        rows += zip(hashes.tolist(), bits.tolist(), texts, strict=True)
    read, sizes = [], []
    for low, high in runs.ranges(20):
        hashes, bits, lengths, text = runs.read(low, high)
        texts = np.split(text, np.cumsum(lengths)) if lengths.size else [text]
        assert all(low <= value <= high for value in hashes.tolist()) and not texts.pop().size
        read += zip(hashes.tolist(), bits.tolist(), map(bytes, texts), strict=True)
        sizes.append(hashes.size)
    assert sorted(read) == sorted(rows)
    distinct = len({value for value, _, _ in rows})
    assert max(sizes) <= 20 or distinct < len(rows) // 20
    runs.close()


@pytest.mark.parametrize("memory", [SMALLEST, 1 << 24])
def test_phrases_beside_each_other_are_cut_apart(tmp_path, memory):
    """Hashes that differ in their last bits only: no prefix tells them apart."""
    n = 20_000
    phrases = (np.uint64(7) << np.uint64(60)) + np.arange(n, dtype=np.uint64) % np.uint64(100)
    ends = np.array([0, (1 << 64) - 1], np.uint64)
    triples = (
        np.concatenate([phrases, ends]),
        np.arange(n + 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15),
        np.full(n + 2, 3, np.uint64),
    )
    with TripleStore(tmp_path, memory, 50) as store:
        store.add(*triples)
        parts = list(store.partitions())
        assert len(parts) >= 34
        assert as_rows(parts) == summed(*triples)
        assert as_rows(store.partitions()) == summed(*triples)  # once more
        store.add(*triples)
        assert as_rows(store.partitions()) == summed(*(np.tile(c, 2) for c in triples))


def test_one_phrase_larger_than_the_buffer(tmp_path):
    n = 5000
    triples = (np.full(n, 5, np.uint64), np.arange(n, dtype=np.uint64), np.ones(n, np.uint64))
    assert stored(tmp_path, SMALLEST, triples) == summed(*triples)


def test_counts_beyond_32_bits(tmp_path):
    ones = np.ones(3, np.uint64)
    triples = (ones, ones, np.array([1 << 33, (1 << 32) - 1, 1 << 50], np.uint64))
    assert stored(tmp_path, SMALLEST, triples) == [
        (1, [(1, (1 << 33) + (1 << 32) - 1 + (1 << 50))])
    ]


def test_no_file_is_left_however_it_ends(tmp_path):
    triples = drawn(1, 9000, 500, 500)
    store = TripleStore(tmp_path, SMALLEST)
    store.add(*triples)
    assert list(tmp_path.iterdir()) == []  # the file has no name even while it is there
    assert next(store.partitions()).phrases.size
    store.close()


def test_too_little_memory_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"memory 1,000 bytes: give at least 65,536"):
        TripleStore(tmp_path, 1000)


@pytest.mark.parametrize("spread", [1, 300, 1 << 18, 1 << 40, (1 << 63) - 1])
def test_many_triples_are_sorted_in_two_passes(spread):
    """Buckets sorted at once, by the next bits, and too large to be copied."""
    draw = np.random.default_rng(5)
    n = 400_000
    phrases = draw.integers(0, spread, n, dtype=np.uint64, endpoint=True)
    phrases[: n // 3] = phrases[0]
    features = draw.integers(0, 1 << 20, n, dtype=np.uint64)
    counts = np.arange(n, dtype=np.uint64)
    ordered = [np.empty_like(phrases) for _ in range(3)]
    sort_triples(*map(frozen, (phrases, features, counts)), *ordered)
    by = np.lexsort((features, phrases))
    np.testing.assert_array_equal(ordered[0], phrases[by])
    np.testing.assert_array_equal(ordered[1], features[by])
    np.testing.assert_array_equal(phrases[ordered[2]], ordered[0])
    np.testing.assert_array_equal(np.sort(ordered[2]), counts)
