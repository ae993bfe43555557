"""All unknown phrases of a text: which they are, resuming, workers, the command line."""

import json
import os
import random

import pytest

from distsim import CorpusIndex, IndexOptions, InputError, Recipe, SignatureTable
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.paraphrase.paraphrasing_options import PRESETS, ParaphraseOptions
from distsim.paraphrase.records import paraphrase_phrases, read_paraphrases
from distsim.paraphrase.unknown_words.words import unknown_phrases
from tests.conftest import run_program


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> CorpusIndex:
    folder = tmp_path_factory.mktemp("batch")
    rng = random.Random(1)
    words = [f"w{number}" for number in range(15)]
    corpus = folder / "corpus.txt"
    corpus.write_text("".join(" ".join(rng.choices(words, k=7)) + "\n" for _ in range(150)))
    index = CorpusIndex.build([corpus], folder / "index", options=IndexOptions("lines"))
    SignatureTable.build(index, recipe=Recipe())
    return index


@pytest.fixture
def paraphraser(index) -> Paraphraser:
    return Paraphraser(index, options=ParaphraseOptions(k=3, mcc=20))


PHRASES = {"w1": 2, "W2 w3": 1, "never": 1, "w4": 5, "w5 w6": 1, "w7": 1}


def run(*arguments: object, capsys) -> tuple[int, str, str]:
    status = run_program(*arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_unknown_phrases_of_a_text(tmp_path):
    (tmp_path / "text").write_text("a b  c\na b d\n")
    (tmp_path / "table").write_text("a ||| x ||| 1\na b ||| x ||| 1\nd ||| y ||| 1\n")
    (tmp_path / "words").write_text("a\t7\nb\nc\n")
    text = tmp_path / "text"
    assert unknown_phrases(text, tmp_path / "table", 1).counts == {"b": 2, "c": 1}
    assert unknown_phrases(text, tmp_path / "table", 2).counts == {
        "b": 2,
        "b c": 1,
        "c": 1,
        "b d": 1,
    }
    assert unknown_phrases(text, tmp_path / "words", 1).counts == {"d": 1}
    for name, unknown in (("table", {"b": 2, "c": 1}), ("words", {"d": 1})):  # read twice
        read, write = os.pipe()
        os.write(write, (tmp_path / name).read_bytes())
        os.close(write)
        assert unknown_phrases(text, f"/dev/fd/{read}", 1).counts == unknown
        os.close(read)


def test_unknown_phrases_of_running_text(tmp_path):
    """Words are cut from marks; capitals are made small where what is known has none."""
    text, known = tmp_path / "text", tmp_path / "known"
    text.write_text("The king, he said: wait!\nSoft\u00ad er kings.\nThe KING.\n", "utf-8")
    known.write_text("the\nking\n,\n.\n")
    found = unknown_phrases(text, known, 1)
    assert (found.text_format, found.lowered) == ("text", True)
    expected = {"he": 1, "said": 1, ":": 1, "wait": 1, "!": 1, "soft": 1, "er": 1, "kings": 1}
    assert found.counts == expected
    known.write_text("the\nKing\n,\n.\n")
    found = unknown_phrases(text, known, 1)
    assert not found.lowered and found.counts["The"] == 2 and "king" in found.counts
    found = unknown_phrases(text, known, 1, text_format="lines")
    assert (found.text_format, found.lowered) == ("lines", False) and "king," in found.counts


def test_any_number_of_workers_writes_the_same(paraphraser, tmp_path):
    one = paraphrase_phrases(paraphraser, PHRASES, tmp_path / "one", jobs=1)
    paraphrase_phrases(paraphraser, PHRASES, tmp_path / "four", jobs=4)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "four").read_bytes()
    assert (one.phrases, one.resumed, one.answered) == (6, 0, 5)
    found = read_paraphrases(tmp_path / "one")
    assert [one.phrase for one in found.phrases] == list(PHRASES)
    assert found.phrases[0].paraphrases == [
        (one.phrase, one.score) for one in paraphraser.paraphrases("w1")
    ]
    lines = (tmp_path / "one").read_text().splitlines()
    never = json.loads(lines[3])
    assert never["paraphrases"] == [] and never["reason"] == "does not occur in the corpus"


@pytest.mark.parametrize("cut", [0, 5, -1, -30, "half"])
def test_a_killed_run_is_finished_to_the_same_bytes(paraphraser, tmp_path, cut):
    whole = tmp_path / "whole"
    paraphrase_phrases(paraphraser, PHRASES, whole, jobs=1)
    data = whole.read_bytes()
    part = data[: len(data) // 2] if cut == "half" else data[:cut]
    (tmp_path / "out.part").write_bytes(part)
    paraphrase_phrases(paraphraser, PHRASES, tmp_path / "out", jobs=2)
    assert (tmp_path / "out").read_bytes() == data
    assert not (tmp_path / "out.part").exists()
    again = paraphrase_phrases(paraphraser, PHRASES, tmp_path / "out", jobs=2)
    assert again.resumed == again.phrases == 6


def test_an_interrupted_run_keeps_what_is_finished(paraphraser, tmp_path):
    def interrupt(stage: str, done: int, total: int | None) -> None:
        if done == 3:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        paraphrase_phrases(paraphraser, PHRASES, out, jobs=1, progress=interrupt)
    assert not out.exists()
    assert (tmp_path / "out.part").read_bytes().count(b"\n") == 4
    assert paraphrase_phrases(paraphraser, PHRASES, out).resumed == 3


def test_other_settings_are_not_mixed(paraphraser, index, tmp_path):
    out = tmp_path / "out"
    paraphrase_phrases(paraphraser, PHRASES, out, jobs=1)
    other = Paraphraser(index, options=ParaphraseOptions(k=4))
    with pytest.raises(InputError, match=r"out, line 1: was begun with other settings.*remove it"):
        paraphrase_phrases(other, PHRASES, out)
    out.rename(tmp_path / "out.part")
    with pytest.raises(InputError, match=r"out\.part, line 1: was begun with other"):
        paraphrase_phrases(other, PHRASES, out)
    with pytest.raises(InputError, match="name a file in a folder that exists"):
        paraphrase_phrases(paraphraser, PHRASES, tmp_path / "none" / "out")


def test_command_line_columns(index, capsys):
    code, out, _ = run("paraphrase", index.path, "w1", "-k", 2, "--why", capsys=capsys)
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 0 and [row[:2] for row in rows] == [["w1", "1"], ["w1", "2"]]
    assert all(len(row) == 9 for row in rows)
    code, out, _ = run("paraphrase", index.path, "w1", "-k", 1, "--json", capsys=capsys)
    values = json.loads(out)
    assert values["phrase"] == "w1" and values["rank"] == 1
    assert {"phrase", "score", "count", "shared_contexts", "origin", "contexts"} <= values.keys()


@pytest.mark.parametrize("preset", ["default", "thorough", "marton"])
def test_command_line_presets(index, capsys, preset):
    code, out, err = run("paraphrase", index.path, "w1", "--preset", preset, capsys=capsys)
    assert code == 0 and ("this table has no finder" in err) == (preset != "marton")
    table = SignatureTable.open(index.path)
    found = Paraphraser(index, options=PRESETS[preset], table=table).answer("w1").paraphrases
    rows = [line.split("\t")[:4] for line in out.splitlines()]
    assert rows == [
        ["w1", str(rank), one.phrase, f"{one.score:.6f}"] for rank, one in enumerate(found, 1)
    ]
    assert len(rows) > 2


def test_command_line_on_phrases_without_an_answer(index, capsys, tmp_path):
    code, out, err = run("paraphrase", index.path, "never seen", capsys=capsys)
    assert (code, out) == (0, "never seen\tNA\tNA\tNA\t0\t0\n")
    assert "does not occur in the corpus" in err
    code, out, err = run("paraphrase", index.path, "w1 " * 7, capsys=capsys)
    assert code == 0 and "longer than 6 tokens" in err
    code, _, err = run("paraphrase", index.path, " ", capsys=capsys)
    assert code == 1 and "the phrase is empty: give at least one word" in err
    (tmp_path / "phrases").write_text("w1\n\nw2\n")
    code, out, err = run(
        "paraphrase", index.path, "-i", tmp_path / "phrases", "-k", 1, capsys=capsys
    )
    assert code == 0 and "line 2: the phrase is empty" in err and len(out.splitlines()) == 3


def test_command_line_batch_and_augment(index, capsys, tmp_path):
    text, table, out, new = (tmp_path / name for name in ("text", "table", "out", "new"))
    text.write_text("W1 w2 w9\n")
    table.write_text(
        "".join(f"w{n} ||| x{n} ||| 0.5 0.1 ||| 0-0 ||| 1 1 1 |||\n" for n in range(3, 9))
    )
    code, _, err = run(
        "paraphrase", index.path, "--input", text, "--known", table, "-o", out, "-k", 100,
        "--set", "min_score=0", capsys=capsys,
    )  # fmt: skip
    assert code == 0 and "3 unknown phrases" in err
    code, _, err = run("augment", table, "--paraphrases", out, "-o", new, capsys=capsys)
    assert code == 0 and "num-features=3 instead of 2" in err
    sources = [line.split(" ||| ")[0] for line in new.read_text().splitlines()]
    assert "W1" in sources and sources == sorted(sources)


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (("--input", "nowhere", "--known", "nowhere", "-o", "o"), 1, "nowhere: no such file"),
        (("--input", "nowhere", "--known", "nowhere"), 2, "goes with a text"),
        (("w1", "--input", "t", "--known", "k", "-o", "o"), 2, "goes with a text"),
        (("w1", "--set", "mcc=0"), 1, "mcc 0: choose 1 or more"),
        (("w1", "-k", "3", "--set", "k=4"), 2, "k is 4 here and 3 by an option of its own: give"),
        (("w1", "--table", "nowhere"), 1, "nowhere: no such folder: check the path"),
        ((), 2, "give phrases as arguments"),
    ],
)
def test_command_line_refuses(index, capsys, extra, code, message):
    found, _, err = run("paraphrase", index.path, *extra, capsys=capsys)
    assert found == code
    assert message in " ".join(err.replace("│", " ").split())


def test_known_files_at_fault_are_named(tmp_path):
    (tmp_path / "text").write_text("a b\n")
    bad = tmp_path / "bad"
    bad.write_text("a ||| b ||| 1\nx ||| y\n")
    with pytest.raises(InputError, match="bad, line 2: 2 fields separated by"):
        unknown_phrases(tmp_path / "text", bad, 1)
    bad.write_text("")
    with pytest.raises(InputError, match=r"bad, line 1: the file is empty.*check what should"):
        unknown_phrases(tmp_path / "text", bad, 1)
    bad.write_bytes(b"a\n\xff\n")
    with pytest.raises(InputError, match="bad, line 2, byte 1: not UTF-8 .*: convert the file"):
        unknown_phrases(tmp_path / "text", bad, 1)
