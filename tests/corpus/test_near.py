"""Near-duplicate lines: found as all pairs find them, the same in one go and in pieces."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim import ArtifactError, CorpusIndex, IndexOptions, ParameterError, Recipe, SignatureTable
from distsim.corpus import near_duplicates
from distsim.corpus.kernels.shingles import count_common, hash_shingles
from distsim.corpus.near_duplicates import NearDuplicates, _alike
from distsim.corpus.vocabulary import DROPPED, hash_texts
from distsim.indexes.build import build_index
from distsim.kernels.compiled import frozen
from distsim.output.verification import find_faults
from distsim.storage import Artifact
from tests.conftest import same_folders
from tests.naive.near import jaccard, near_repeats, shingles

PLENTY = 1 << 30
WORDS = [f"word{i}" for i in range(400)]
HASHES = hash_texts([b"", *(word.encode() for word in WORDS)])
NEAR = IndexOptions(dedup="near")


def some_lines(seed, n=120):
    """Lines of 0 to 120 words; every third is an earlier one with a few words changed."""
    draw = random.Random(seed)
    lines = []
    for _ in range(n):
        if lines and draw.random() < 0.35:
            line = list(draw.choice(lines))
            for _ in range(draw.choice([0, 1, 1, 2, 4])):
                if line:
                    line[draw.randrange(len(line))] = draw.choice(WORDS)
        else:
            line = draw.choices(WORDS, k=draw.choice([0, 1, 4, 5, 6, 20, 60, 90, 120]))
        lines.append(line)
    return lines


def as_arrays(lines):
    words = np.array([WORDS.index(w) + 1 for line in lines for w in line], np.uint32)
    return words, np.cumsum([len(line) for line in lines])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 7), st.sampled_from([0.0, 0.1, 0.6]))
def test_shingles_are_the_naive_sets(seed, width, share_dropped):
    lines = some_lines(seed, 20)
    words, stops = as_arrays(lines)
    dropped = np.random.default_rng(seed).random(words.size) < share_dropped
    starts, hashed = hash_shingles(
        frozen(np.where(dropped, np.uint32(DROPPED), words)), frozen(stops), frozen(HASHES),
        np.uint32(DROPPED), width,
    )  # fmt: skip
    begin = 0
    names = {}
    for i, (line, stop) in enumerate(zip(lines, stops.tolist(), strict=True)):
        left = [w for w, out in zip(line, dropped[begin:stop], strict=True) if not out]
        begin = stop
        mine = hashed[starts[i] : starts[i + 1]]
        assert np.all(mine[1:] > mine[:-1])
        sets = shingles(left, width)
        assert mine.size == len(sets)
        for shingle in sets:  # one by one, so that each hash is known by name
            one = np.array([WORDS.index(w) + 1 for w in shingle], np.uint32)
            _, alone = hash_shingles(
                frozen(one), frozen(np.array([width])), frozen(HASHES), np.uint32(DROPPED), width
            )
            assert names.setdefault(shingle, int(alone[0])) in mine


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_alike_is_a_jaccard_index_of_eight_tenths(a, b):
    one, two = (frozen(np.array(sorted(s), np.uint32)) for s in (a, b))
    assert count_common(one, two) == len(a & b)
    if a and b:
        assert _alike(one, two) == (10 * len(a & b) >= 8 * len(a | b))


def test_eight_of_ten_shingles_is_near(tmp_path):
    """13 words, 9 shingles: the last word changed leaves 8 common of 10; two changed, 7 of 11."""
    words = WORDS[:13]
    assert jaccard(shingles(words), shingles([*words[:12], "x"])) == 0.8
    text = [words, [*words[:12], "other"], [*words[:11], "quite", "other"]]
    (tmp_path / "c").write_text("".join(" ".join(line) + "\n" for line in text))
    index = CorpusIndex.build([tmp_path / "c"], tmp_path / "i", options=NEAR)
    assert index.parameters["counts"]["near_lines"] == 1
    assert index.parameters["counts"]["near_tokens"] == 13
    assert (index.count("word11 other"), index.count("quite other")) == (0, 1)


@pytest.mark.parametrize("seed", range(4))
def test_found_as_by_all_pairs(seed):
    """LSH misses one pair in twenty at the threshold, hardly any above; it never finds too many."""
    lines = some_lines(seed, 300)
    wanted = np.array(near_repeats(lines))
    found = NearDuplicates(PLENTY).find(*as_arrays(lines), HASHES)
    assert wanted.sum() > 20
    assert np.count_nonzero(found & ~wanted) == 0
    assert np.count_nonzero(wanted & ~found) <= 0.05 * wanted.sum()


@pytest.mark.parametrize("most_shingles", [1, 3, 1 << 14])
def test_blocks_and_pieces_change_nothing(monkeypatch, most_shingles):
    lines = some_lines(9, 200)
    whole = NearDuplicates(PLENTY)
    wanted = whole.find(*as_arrays(lines), HASHES)
    monkeypatch.setattr(near_duplicates, "_MOST_SHINGLES", most_shingles)
    pieces = NearDuplicates(PLENTY)
    found = []
    for begin, stop in ((0, 1), (1, 90), (90, 90), (90, 150)):
        found += pieces.find(*as_arrays(lines[begin:stop]), HASHES).tolist()
    again = NearDuplicates(PLENTY, pieces.arrays())
    found += again.find(*as_arrays(lines[150:]), HASHES).tolist()
    assert found == wanted.tolist()
    for name, values in whole.arrays().items():
        assert np.array_equal(values, again.arrays()[name])


def written(path, lines):
    path.write_text("".join(" ".join(line) + "\n" for line in lines))
    return path


def test_the_index_is_that_of_the_lines_that_stay(tmp_path):
    """Table and fingerprint, though the vocabulary knows the words of dropped lines."""
    lines = [line for line in some_lines(3, 200) if line]
    seen, exact = set(), []
    for line in lines:
        if tuple(line) not in seen:
            exact.append(line)
            seen.add(tuple(line))
    found = NearDuplicates(PLENTY).find(*as_arrays(exact), HASHES)
    kept = [line for line, near in zip(exact, found, strict=True) if not near]
    near = CorpusIndex.build([written(tmp_path / "all", lines)], tmp_path / "near", options=NEAR)
    plain = CorpusIndex.build([written(tmp_path / "kept", kept)], tmp_path / "plain")
    counts = near.parameters["counts"]
    assert counts["lines"] == len(lines)
    assert counts["near_lines"] == found.sum() > 10
    assert counts["dropped_lines"] == len(lines) - len(kept)
    assert counts["dropped_tokens"] == sum(map(len, lines)) - sum(map(len, kept))
    assert near.parameters["corpus"] == plain.parameters["corpus"]
    assert near.parameters["words"] == plain.parameters["words"]
    assert dict(near.ngrams()) == dict(plain.ngrams())
    SignatureTable.build(near, tmp_path / "a", recipe=Recipe())
    SignatureTable.build(plain, tmp_path / "b", recipe=Recipe())
    assert same_folders(tmp_path / "a", tmp_path / "b")
    assert find_faults(tmp_path / "near") == []


def test_adding_goes_on_where_the_build_ended(tmp_path):
    lines = some_lines(5, 200)
    CorpusIndex.build([written(tmp_path / "all", lines)], tmp_path / "whole", options=NEAR)
    index = CorpusIndex.build(
        [written(tmp_path / "1", lines[:80])], tmp_path / "parts", options=NEAR
    )
    index = index.add([written(tmp_path / "2", lines[80:])])
    whole = CorpusIndex.open(tmp_path / "whole")
    for name, count in whole.parameters["counts"].items():
        if name != "documents":  # a file begins one
            assert index.parameters["counts"][name] == count
    assert index.parameters["corpus"] == whole.parameters["corpus"]
    for part in NearDuplicates.PARTS:
        one, two = (Artifact(tmp_path / name).array(f"near/{part}") for name in ("whole", "parts"))
        assert np.array_equal(one, two)


def test_too_little_memory_is_refused(tmp_path):
    path = written(tmp_path / "c", some_lines(1, 50))
    with pytest.raises(
        ParameterError,
        match=r"`dedup` near holds \d+ different lines, about .* GB, .* `memory` "
        ".*: give more, or use `dedup` exact",
    ):
        build_index([path], tmp_path / "i", NEAR, memory=1000)
    assert not (tmp_path / "i").exists()


def test_damaged_state_is_told():
    state = NearDuplicates(PLENTY)
    state.find(*as_arrays(some_lines(2, 20)), HASHES)
    for name in NearDuplicates.PARTS:
        arrays = state.arrays()
        arrays[name] = arrays[name][:-1]
        with pytest.raises(ArtifactError, match="near-duplicates are damaged: restore"):
            NearDuplicates(PLENTY, arrays)
    arrays = state.arrays()
    arrays["starts"][1] = 1 << 40
    with pytest.raises(ArtifactError, match="near-duplicates are damaged: restore"):
        NearDuplicates(PLENTY, arrays)


def test_no_line_is_long_enough(tmp_path):
    index = CorpusIndex.build(
        [written(tmp_path / "c", [["a", "b"], ["c"]])], tmp_path / "i", options=NEAR
    )
    index = index.add([written(tmp_path / "d", [["a", "b"], WORDS[:9]])])
    assert index.parameters["counts"]["dropped_lines"] == 1
    assert (index.report.near_cost.lines, index.report.near_cost.seconds > 0) == (1, True)
