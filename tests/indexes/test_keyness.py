"""Keywords and dispersion: Gries' example worked by hand, and plain counts."""

from math import log, log2

import pytest
from scipy.stats import chi2

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.corpus import Normaliser
from distsim.indexes.phrase_lists import keywords


def build(tmp_path, name, documents, **options) -> CorpusIndex:
    (tmp_path / f"{name}.txt").write_text("\n\n".join(documents) + "\n")
    return CorpusIndex.build(
        tmp_path / f"{name}.txt", tmp_path / name, options=IndexOptions(**options)
    )


def test_scores_and_dispersion_worked_by_hand(tmp_path):
    # Documents of 4, 4 and 2 tokens; `a` occurs 3, 1 and 0 times.
    here = build(tmp_path, "here", ["a a a x", "a x\nx x", "x x"])
    there = build(tmp_path, "there", ["x x x x", "b b b b b b"])
    positive, negative = (keywords(here, there, min_count=1, negative=sign) for sign in (0, 1))
    assert ([one.word for one in positive], [one.word for one in negative]) == (["a", "x"], ["b"])
    found = {one.word: one for one in positive + negative}
    assert {word: (one.here, one.there) for word, one in found.items()} == {
        "a": (4, 0), "x": (6, 4), "b": (0, 6),
    }  # fmt: skip
    a, x, b = found["a"], found["x"], found["b"]
    assert a.log_likelihood == pytest.approx(2 * 4 * log(4 / 2))
    assert b.log_likelihood == pytest.approx(-2 * 6 * log(6 / 3))
    assert x.log_likelihood == pytest.approx(2 * (6 * log(6 / 5) + 4 * log(4 / 5)))
    assert (a.log_ratio, b.log_ratio) == (
        pytest.approx(log2(4 / 0.5)),
        pytest.approx(log2(0.5 / 6)),
    )
    assert b.p == pytest.approx(3 * chi2.sf(-b.log_likelihood, 1))
    dp = (abs(3 / 4 - 0.4) + abs(1 / 4 - 0.4) + 0.2) / 2
    assert (a.documents, a.dp, a.dp_norm) == (2, pytest.approx(dp), pytest.approx(dp / 0.8))
    assert x.documents == 3 and (b.documents, b.dp) == (0, None)
    assert [one.word for one in keywords(here, there, min_count=1, k=1)] == ["a"]
    by_ratio = keywords(here, there, min_count=1, measure="log-ratio", max_p=a.p)
    assert [one.word for one in by_ratio] == ["a"] and a.p < x.p
    four = 2 * (4 * log(4 / 2) + 6 * log(6 / 8) + 10 * log(10 / 8))
    (other,) = keywords(here, there, min_count=1, measure="llr", k=1)
    assert other.log_likelihood == pytest.approx(four)
    assert "a" not in {one.word for one in keywords(here, there, min_count=5)}


def test_several_shards_have_the_keywords_of_one(tmp_path):
    texts = ["a a a x", "a x\nx x", "x x"]
    there = build(tmp_path, "there", ["x x x x", "b b b , b b"])
    one, many = (build(tmp_path, f"i{n}", texts, shard_tokens=n) for n in (100, 6))
    assert len(many.shards) > 1
    assert keywords(many, there, min_count=1) == keywords(one, there, min_count=1)
    less = keywords(one, there, min_count=1, negative=True, words_only=True)
    assert [word.word for word in less] == ["b"]


def test_indexes_of_other_normalisers_are_refused(tmp_path):
    other = build(tmp_path, "cased", ["a"], normaliser=Normaliser(lower=False))
    with pytest.raises(ParameterError, match="built with different normalisers"):
        keywords(build(tmp_path, "here", ["a"]), other)
    with pytest.raises(ParameterError, match="`measure` is 'chi2', choose one of llr-2"):
        keywords(other, other, measure="chi2")


def test_the_command_prints_them(run, tmp_path):
    here, there = build(tmp_path, "here", ["a a x"]), build(tmp_path, "there", ["x x"])
    out, _ = run("keywords", here.path, "--against", there.path, "--min-count", 2)
    assert out.splitlines()[0].split("\t")[:3] == ["a", "2", "0"]
