"""Each setting by itself does what it says; phrases and corpora at the edge."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from distsim import CorpusIndex
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.paraphrase.paraphrasing_options import PRESETS
from tests.conftest import run_program
from tests.naive import paraphrase as naive
from tests.paraphrase.test_paraphrase import build, drawn_sentences

FOCAL = ("w1", "w0")
BASE = ("--preset", "marton", "--set", "mcc=8", "--set", "min_score=0", "-k", 100_000)
SENTENCES = drawn_sentences(31, 150, 12)
Answers = dict[tuple[str, ...], dict[str, Any]]


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> CorpusIndex:
    return build(tmp_path_factory.mktemp("settings"), SENTENCES)


def asked(index: CorpusIndex, capsys, *settings: object) -> Answers:
    assert run_program("paraphrase", index.path, " ".join(FOCAL), "--json", *settings) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {tuple(one["answer"].split()): one for one in lines}


def of_twin(**changes: Any) -> dict[tuple[str, ...], tuple[float, int, int]]:
    values = {
        "window": 6, "sample": 10_000, "mcc": 8, "shortest": 1, "longest": 4, "longest_side": 8,
        "scheme": "llr",
    }  # fmt: skip
    wanted = naive.paraphrases(SENTENCES, FOCAL, **{**values, **changes})
    return {x: found for x, found in wanted.items() if found[0] > 1e-12}


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        (("--set", "window=2"), {"window": 2}),
        (("--set", "sample=3"), {"sample": 3}),
        (("--set", "mcc=5"), {"mcc": 5}),
        (("--set", "max_length=2"), {"longest": 2}),
        (("--set", "length_difference=1"), {"longest": 3}),
        (("--set", "length_difference=0"), {"longest": 2, "shortest": 2}),
        (("--set", "length_difference=none"), {"longest": 6}),
        (("--set", "weighting.scheme=raw"), {"scheme": "raw"}),
        (("--set", "weighting.scheme=log"), {"scheme": "log"}),
        (("--set", "weighting.scheme=log-llr"), {"scheme": "log-llr"}),
    ],
)
def test_the_papers_parameters_one_at_a_time(index, capsys, settings, changes):
    found = asked(index, capsys, *BASE, *settings)
    wanted = of_twin(**changes)
    assert wanted != of_twin()
    assert found.keys() == wanted.keys()
    for x, (score, count, evidence) in wanted.items():
        assert found[x]["score"] == pytest.approx(score, abs=1e-9)
        assert (found[x]["count"], found[x]["shared_contexts"]) == (count, evidence)


@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        (("--set", "min_score=0.3"), lambda x, one: one["score"] >= 0.3),
        (("-k", 3), lambda x, one: one["rank"] <= 3),
        (("--set", "entailment=contained"), lambda x, _: not naive.entails("contained", FOCAL, x)),
        (
            ("--set", "entailment=containing"),
            lambda x, _: not naive.entails("containing", FOCAL, x),
        ),
        (("--set", "entailment=both"), lambda x, _: not naive.entails("both", FOCAL, x)),
        (("--set", "substrings=true"), lambda x, _: not naive.is_piece(FOCAL, x)),
    ],
)
def test_filters_one_at_a_time(
    index, capsys, settings, passes: Callable[[tuple[str, ...], dict[str, Any]], bool]
):
    every = asked(index, capsys, *BASE, "--set", "mcc=20")
    found = asked(index, capsys, *BASE, "--set", "mcc=20", *settings)
    assert found.keys() == {x for x, one in every.items() if passes(x, one)}
    assert 0 < len(found) < len(every)


def test_collapsed_edges_are_dropped_when_asked(index, capsys):
    every = asked(index, capsys, *BASE)
    found = asked(index, capsys, *BASE, "--set", "collapsed=true")
    dropped = every.keys() - found.keys()
    assert dropped and all(len(x) > len(FOCAL) for x in dropped)
    ranked = sorted(every, key=lambda x: every[x]["rank"])
    for x in dropped:
        better = {FOCAL, *ranked[: ranked.index(x)]}
        assert any(
            x[:n] in better and x[m:] in better for n in range(1, len(x)) for m in range(n, len(x))
        )


def test_more_results_than_a_screen_keeps(index):
    options = replace(PRESETS["default"], k=60, depth=60, min_score=0.0, screens=((8, 10, 0.0),))
    assert len(Paraphraser(index, options=options).paraphrases("w0")) > 40


@pytest.mark.parametrize("preset", ["default", "thorough", "marton"])
@pytest.mark.parametrize(
    "sentences", [[["one"]], [["one"], ["two"]], [["a", "b", "c"]], [["a"] * 9], [["a", "a"]] * 50]
)
def test_corpora_of_next_to_nothing(tmp_path, sentences, preset):
    index = build(tmp_path, sentences)
    paraphraser = Paraphraser(index, options=PRESETS[preset])
    for phrase in {" ".join(sentence[:n]) for sentence in sentences for n in (1, 2, 6)}:
        answer = paraphraser.answer(phrase)
        assert answer.count > 0
        assert answer.reason or answer.paraphrases


def test_phrases_of_six_and_seven_tokens_and_one_with_an_unknown_word(tmp_path):
    lines = ["x a b c d e f y", "x g h c d e f y"]
    index = build(tmp_path, [line.split() for line in lines])
    paraphraser = Paraphraser(index, options=PRESETS["default"])
    six = paraphraser.answer("a b c d e f")
    assert [one.phrase for one in six.paraphrases] == ["g h c d e f"]
    assert "longer than 6 tokens" in paraphraser.answer("a b c d e f y").reason
    assert "does not occur" in paraphraser.answer("a b unheard").reason


def test_work_on_a_very_frequent_word_is_bounded(tmp_path):
    sentences = [[f"w{n % 97}", "the", f"v{n % 89}", "the", f"u{n % 83}"] for n in range(6000)]
    index = build(tmp_path, sentences)
    answer = Paraphraser(index, options=PRESETS["default"]).answer("the")
    assert answer.count == 12_000
    assert answer.n_contexts <= PRESETS["default"].sample
    assert answer.n_profiled <= 60
