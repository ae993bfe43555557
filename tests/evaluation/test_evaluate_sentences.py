"""evaluate-sentences: SARI and its kin by hand, controls, bootstrap."""

import math
import random

import numpy as np
import pytest

from distsim.evaluation.rewriting_scores import (
    Bleu,
    Precis,
    SariCounts,
    SentenceSari,
    corpus_sari,
    sari_slope,
    sari_tokens,
)
from tests.naive.sari import corpus_sari as naive_sari

pytest.importorskip("sacrebleu")
SOURCE = "About 95 species are currently accepted ."
REFERENCES = [
    "About 95 species are currently known .",
    "About 95 species are now accepted .",
    "95 species are now accepted .",
]


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("About 95 you now get in .", 0.2683),
        ("About 95 species are now agreed .", 0.5890),
        ("About 95 species are currently agreed .", 0.5072),
    ],
)
def test_sari_s_own_examples(sentence, wanted):
    sari = SentenceSari(SOURCE.split(), [one.split() for one in REFERENCES])
    assert round(sari.score(sentence.split()), 4) == wanted


def test_copying_has_nothing_of_adding_and_of_deleting():
    sari = SentenceSari(["a", "b", "c", "d"], [["a", "b", "c", "d"]])
    assert sari.parts(["a", "b", "c", "d"]) == (0.0, 1.0, 0.0)  # 0/0 is 0
    # deleted: d, c d, b c d, a b c d: the reference has them all
    assert sari.parts(["a", "b", "c"])[2] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_corpus_sari_is_that_of_the_definition(seed):
    draw = random.Random(seed)

    def sentence():
        return draw.choices("abcd", k=draw.randrange(8))

    n = draw.choice((1, 7))
    source, system = ([sentence() for _ in range(n)] for _ in range(2))
    people = [[sentence() for _ in range(n)] for _ in range(draw.choice((1, 3)))]
    each = [
        SariCounts(one, [some[k] for some in people]).counts_of(system[k])
        for k, one in enumerate(source)
    ]
    counts = np.sum(each, axis=0)
    assert corpus_sari(counts) == pytest.approx(naive_sari(source, system, people))
    slope = sari_slope(counts)
    for k in range(24):
        if counts[k - k % 2 + 1] > 0:
            step = np.eye(24)[k] * 1e-6
            gap = sum(corpus_sari(counts + step)) - sum(corpus_sari(counts - step))
            assert slope[k] == pytest.approx(gap / 6e-6, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "It 's 3,000.5 -- or 1990-95 (e.g. \u201cA&amp;B\u201d) , u.s.-led .",
        "",
        ". , -lrb-",
        "a\\b/c",
    ],
)
def test_tokens_of_sari_are_those_of_sacrebleu(text):
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert sari_tokens(text) == Tokenizer13a()(text.lower()).split()


def test_bleu_and_precis_by_hand():
    # 1-grams 2/2, 2-grams (0+1)/(1+1), longer (0+1)/(0+1); brevity e^(1 - 4/2)
    wanted = math.exp(1 - 2) * (1 * 0.5 * 1 * 1) ** 0.25
    assert Bleu([["a", "b", "c", "d"]]).score(["b", "a"]) == pytest.approx(wanted)
    assert Bleu([["a"]]).score([]) == 0.0
    precis = Precis(["w"] * 4, [["a", "b", "c", "d"]], 0.75, 10.0)
    assert precis.score(["a", "b", "c", "d"]) == pytest.approx(math.exp(-2.5))
    assert precis.score(["a", "b", "c"]) == pytest.approx(math.exp(1 - 4 / 3))


def written(folder, name, lines):
    (folder / name).write_text("".join(line + "\n" for line in lines))
    return folder / name


@pytest.fixture
def files(tmp_path):
    source = [f"the old king {i} slept in the town ." for i in range(30)]
    good = [f"the king {i} slept in town ." for i in range(30)]
    one = [f"the king {i} slept in town ." for i in range(30)]
    two = [f"a king {i} slept in the town ." for i in range(30)]
    return {
        name: written(tmp_path, name, lines)
        for name, lines in (("source", source), ("good", good), ("one", one), ("two", two))
    }


def evaluate(run, files, *more, status=0):
    return run(
        "evaluate-sentences", files["source"], files["good"], "--references", files["one"],
        "--references", files["two"], *more, status=status,
    )  # fmt: skip


def test_measures_beside_controls(files, run):
    out, _ = evaluate(run, files, "--samples", "50")
    rows = {line.split("\t")[0]: line.split("\t") for line in out.splitlines()}
    head = rows["system"]
    assert list(rows) == [
        "system", "copy", "nonsense", "truncation like good", "deletion like good", "good",
        "one person",
        "# sari:corpus|delete:f1|0/0:0|tokens:13a|case:lower|"
        "sentences:30|references:2|precis:0.75|baseline:copy|samples:50|seed:1",
    ]  # fmt: skip
    sari = {name: float(row[1]) for name, row in rows.items() if name[0] not in "s#"}
    assert sari["good"] == max(sari.values()) and sari["good"] > 60
    assert rows["good"][head.index("ratio")] == "0.778"
    assert float(rows["good"][-2]) == pytest.approx(sari["good"] - sari["copy"], abs=0.011)
    assert float(rows["good"][-1]) == 0.0
    again, _ = evaluate(run, files, "--samples", "50")
    assert again == out
    as_json, _ = evaluate(run, files, "--samples", "5", "--format", "json", "--ter")
    assert '"TER"' in as_json and '"differences"' in as_json


def test_what_is_refused(files, run, tmp_path):
    short = written(tmp_path, "short", ["a"])
    _, told = run(
        "evaluate-sentences", files["source"], short, "--references", files["one"], status=1
    )
    assert "short: 1 line for 30 sentences" in told
    _, told = run("evaluate-sentences", files["source"], files["good"], status=2)
    assert "--references FILE" in told
    _, told = evaluate(run, files, "--baseline", "nobody", status=1)
    assert "baseline 'nobody': choose one of copy" in told
    out, told = evaluate(run, files, "--set", "seed=-1", status=1)
    assert "--set seed: is -1, choose 0 or more" in told and not out
