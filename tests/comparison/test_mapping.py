"""Maps between the vectors of two tables: a rotation is found again, and translations follow it."""

import json

import numpy as np
import pytest

from distsim import IncompatibleError, InputError, ParameterError, sign
from distsim.comparison import MapOptions, VectorMap, WordPair
from distsim.comparison.mapping import WordSpace, fit_map, hubness
from distsim.contexts import GivenVectors

N, WIDTH = 60, 64


def _table(names, vectors, path):
    return sign(GivenVectors(list(names), vectors), path)


def _pairs(n):
    return [(f"s{i}", f"t{i}") for i in range(n)]


@pytest.fixture
def rotated(tmp_path):
    """Tables of s0..s59 and of the same vectors rotated, t0..t59; word i is translated by i."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(N, WIDTH)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0].astype(np.float32)
    source = _table([f"s{i}" for i in range(N)], vectors, tmp_path / "source")
    target = _table([f"t{i}" for i in range(N)], vectors @ turn, tmp_path / "target")
    (tmp_path / "pairs").write_text("".join(f"s{i}\tt{i}\n" for i in range(N)))
    return source, target, tmp_path


def test_ridge_is_the_solution_of_its_equation():
    rng = np.random.default_rng(2)
    x, y = (rng.normal(size=(30, d)).astype(np.float32) for d in (5, 4))
    weights = rng.uniform(1, 3, 30)
    found = fit_map(x, y, weights, MapOptions(penalty=0.5))
    gram = sum(w * np.outer(a, a) for w, a in zip(weights, x, strict=True))
    cross = sum(w * np.outer(a, b) for w, a, b in zip(weights, x, y, strict=True))
    assert np.allclose((gram + 0.5 * np.trace(gram) / 5 * np.eye(5)) @ found, cross, atol=1e-3)
    turn = fit_map(x, y, weights, MapOptions(method="orthogonal"))
    assert np.allclose(turn.T @ turn, np.eye(4), atol=1e-5)


def test_hubness_is_the_mean_of_the_nearest():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(7, 4)).astype(np.float32), rng.normal(size=(15, 4)).astype(np.float32)
    naive = [np.mean(sorted((float(v @ w) for w in b), reverse=True)[:10]) for v in a]
    assert np.allclose(hubness(a, b), naive, atol=1e-5)
    assert np.allclose(hubness(a, b[:3]), (a @ b[:3].T).mean(axis=1), atol=1e-5)


@pytest.mark.parametrize("method", ["ridge", "orthogonal"])
def test_a_rotation_is_found_and_its_map_reopened(rotated, method):
    source, target, folder = rotated
    options = MapOptions(method=method, penalty=0.01)
    made = VectorMap.learn(source, target, folder / "pairs", folder / "map", options=options)
    opened = VectorMap.open(folder / "map")
    for i in range(0, N, 7):
        best = made.translations(f"s{i}", k=3)
        assert best[0].phrase == f"t{i}" and best[0].similarity > 0.9
        assert best == made.translations(f"s{i}", k=10)[:3] == opened.translations(f"s{i}", k=3)
    assert made.translations("unheard") is None
    again = VectorMap.learn(source.path, target.path, folder / "pairs", folder / "again",
                            options=options)  # fmt: skip
    assert again.source.path != folder and np.array_equal(again.matrix, made.matrix)
    with pytest.raises(ParameterError, match="`k`: is 0"):
        made.translations("s1", k=0)


def test_words_without_vectors_are_told_and_a_folder_may_move(rotated):
    source, target, folder = rotated
    told = []
    pairs = [*_pairs(10), WordPair("s2", "t2", 2.0), ("none", "t3")]
    made = VectorMap.learn(source, target, pairs, folder / "map", notice=told.append)
    assert made.parameters["pairs"] == 11 and told[0] == "1 of 12 pairs left out: no vector"
    assert made.parameters["target"]["path"] == "../target"
    with pytest.raises(ParameterError, match="none of 1 has vectors on both sides"):
        VectorMap.learn(source, target, [("none", "t3")], folder / "other")
    assert not (folder / "other").exists()


@pytest.mark.parametrize(
    ("pairs", "n"),
    [
        ([("s1", "t1")], 1),
        ([("s1", "t1")] * 50, 1),
        ([(f"s{i}", "t1") for i in range(N)], 1),
        ([("s1", f"t{i}") for i in range(N)], 1),
        ([(f"s{i}", f"t{i}") for i in range(9)], 9),
    ],
)
def test_too_few_different_words_are_refused_with_the_least(rotated, pairs, n):
    source, target, folder = rotated
    counted = "1 different word" if n == 1 else f"{n} different words"
    message = f"{counted} with vectors on both sides: give pairs of 10 at least"
    with pytest.raises(ParameterError, match=message):
        VectorMap.learn(source, target, pairs, folder / "map")
    assert not (folder / "map").exists()


def test_few_words_for_many_dimensions_are_told(rotated):
    source, target, folder = rotated
    told = []
    VectorMap.learn(source, target, _pairs(10), folder / "map", notice=told.append)
    few = "10 different words are few for 256 dimensions: with some hundreds more translations"
    assert told == [f"{few} are right"]


def test_a_table_that_changed_is_refused(rotated):
    source, target, folder = rotated
    VectorMap.learn(source, target, folder / "pairs", folder / "map")
    with pytest.raises(IncompatibleError, match="not the source table"):
        VectorMap.open(folder / "map", source=target)
    vectors = np.random.default_rng(4).normal(size=(N, WIDTH)).astype(np.float32)
    sign(GivenVectors(WordSpace(target).words, vectors), target.path, force=True)
    with pytest.raises(IncompatibleError, match="not the target table .* learn the map again"):
        VectorMap.open(folder / "map")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"s1\tt1\ns2 t2\n", "line 2: 's2 t2', wanted word<TAB>translation"),
        (b"s1\t\n", "line 1: 's1"),
        (b"s1\tt1\theavy\n", "line 1: weight 'heavy', wanted a number above 0"),
        (b"s1\tt1\t-1\n", "line 1: weight '-1'"),
        (b"s1\tt1\n\xff\tt2\n", "line 2, byte 1: not UTF-8 (found 0xff"),
        (b"\n\n", "has no pair of words"),
    ],
)
def test_a_bad_dictionary_is_told_with_file_and_line(rotated, run, text, told):
    source, target, folder = rotated
    (folder / "bad").write_bytes(text)
    with pytest.raises(InputError, match="bad"):
        VectorMap.learn(source, target, folder / "bad", folder / "map")
    _, err = run("map", source.path, target.path, "--pairs", folder / "bad", "-o",
                 folder / "map", status=1)  # fmt: skip
    assert told in err and not (folder / "map").exists()


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([("s1",)], r"pairs\[0\]: is .*wanted \(word, translation\)"),
        ([("s1", "t1"), ("s2", "t2", float("nan"))], r"pairs\[1\]: weight nan"),
        ([("s1", "t1", -1)], "weight -1.0: choose a number above 0"),
        ([("s1", "t1", "heavy")], "wanted"),
        ([(1, 2)], "wanted a text"),
        (5, "wanted a file or pairs of words"),
    ],
)
def test_pairs_in_python_are_checked_as_those_of_a_file(rotated, pairs, told):
    source, target, folder = rotated
    with pytest.raises(ParameterError, match=told):
        VectorMap.learn(source, target, pairs, folder / "m")
    assert not (folder / "m").exists()


def test_pairs_in_python_are_normalised_as_those_of_a_file(rotated):
    source, target, folder = rotated
    made = VectorMap.learn(source, target, [(" S1", "T1 "), *_pairs(10)], folder / "m")
    assert made.parameters["pairs"] == 11
    for k in (1.5, "3", 0):
        with pytest.raises(ParameterError, match="`k`"):
            made.translations("s1", k=k)
    with pytest.raises(ParameterError, match="phrase: is None"):
        made.translations(None)


def test_only_ratios_of_weights_count():
    rng = np.random.default_rng(9)
    x, y = (rng.normal(size=(20, 6)).astype(np.float32) for _ in range(2))
    weights = rng.uniform(0.5, 1, 20)
    small, large = (fit_map(x, y, weights * scale, MapOptions()) for scale in (1, 1e300))
    np.testing.assert_allclose(small, large, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("penalty", [1e308, 1e-320, 0, -1])
def test_penalties_that_leave_no_map_are_refused(rotated, run, penalty):
    source, target, folder = rotated
    _, err = run("map", source.path, target.path, "--pairs", folder / "pairs", "-o", folder / "m",
                 "--set", f"penalty={penalty}", status=1)  # fmt: skip
    assert "choose a number from 1e-6 to 1e6" in err and not (folder / "m").exists()


def test_the_commands(rotated, run):
    source, target, folder = rotated
    arguments = ("map", source.path, target.path, "--pairs", folder / "pairs", "-o", folder / "map")
    _, err = run(*arguments, "--set", "penalty=.01")
    assert "60 pairs, 256 by 256 dimensions, 60 target words" in err
    _, err = run(*arguments, status=1)
    assert "map" in err
    out, _ = run("neighbours", source.path, "s5", "--map", folder / "map", "-k", "2")
    rank, word, similarity, _ = out.splitlines()[0].split("\t")
    assert (rank, word) == ("1", "t5") and float(similarity) > 0.9
    out, err = run("neighbours", source.path, "s5", "unheard", "--map", folder / "map", "--json")
    first = json.loads(out.splitlines()[0])
    assert (first["phrase"], first["answer"]) == ("s5", "t5") and "'unheard' is not in" in err
    run("neighbours", source.path, "s5", "--map", folder / "map", "--by", "table", status=2)
    _, err = run("neighbours", target.path, "t5", "--map", folder / "map", status=1)
    assert "is not the source table" in err
    with pytest.raises(ParameterError, match="`method` 'other'"):
        MapOptions(method="other")
    with pytest.raises(ParameterError, match="`penalty` 0"):
        MapOptions(penalty=0)
