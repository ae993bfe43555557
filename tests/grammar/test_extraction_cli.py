"""`distsim extract`, on bitexts from files; what it refuses."""

import gzip

import pytest

from distsim.bitext.bitext_builder import Given, build_bitext
from tests.grammar.extraction_texts import read_rules

ENGLISH = ["the house", "the building", "a house", "give bread to peter"]
GERMAN = ["das haus", "das haus", "ein haus", "peter brot geben"]
LINKS = ["0-0 1-1", "0-0 1-1", "0-0 1-1", "0-2 1-1 3-0"]
TREES = [
    "(NP (DT the) (NN house))",
    "(NP (DT the) (NN building))",
    "",
    "(VP (VB give) (NP bread) (PP (TO to) (NP peter)))",
]


@pytest.fixture
def bitext(tmp_path):
    files = {}
    for name, lines in {"en": ENGLISH, "de": GERMAN, "links": LINKS, "trees": TREES}.items():
        files[name] = tmp_path / name
        files[name].write_text("".join(f"{line}\n" for line in lines))
    build_bitext(
        files["en"], files["de"], tmp_path / "bitext", given=Given(files["links"], files["trees"])
    )
    return tmp_path / "bitext"


def test_rules_of_a_bitext(bitext, tmp_path, run):
    _, told = run("extract", bitext, "--preset", "ppdb", "-o", tmp_path / "rules")
    rules = read_rules(tmp_path / "rules")
    assert ("[VP]", "[NP,1] [NP,2] geben", "give [NP,2] to [NP,1]") in rules
    assert ("[NP]", "[DT,1] haus", "[DT,1] building") in rules
    assert not any("ein" in rule[1].split() for rule in rules)  # its sentence has no tree
    assert "4 sentence pairs, 1 bitext," in told and f"{len(rules)} rules" in told


def test_several_bitexts_agree(bitext, tmp_path, run):
    run("extract", bitext, bitext, "--preset", "phrases", "-o", tmp_path / "rules.gz")
    (tmp_path / "rules").write_bytes(gzip.decompress((tmp_path / "rules.gz").read_bytes()))
    rules = read_rules(tmp_path / "rules")
    assert rules["[X]", "haus", "house"][0]["Bitexts"] == 2
    assert rules["[X]", "haus", "house"][0]["LogCount"] == pytest.approx(1.38629)


def test_output_to_a_pipe_and_chosen_features(bitext, run):
    out, _ = run("extract", bitext, "--preset", "phrases", "--features", "p(e|f);Lexical")
    first = out.split("\n")[0].split(" ||| ")
    assert [one.split("=")[0] for one in first[3].split()] == ["Lexical", "p(e|f)"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--set", "longest=16"], "longest 16: choose 1 to 15"),
        (["--set", "longest=0"], "longest 0: choose 1 to 15"),
        (["--features", "p(x)"], "choose one of Abstract"),
    ],
)
def test_wrong_settings(bitext, tmp_path, run, given, told):
    _, err = run("extract", bitext, *given, "-o", tmp_path / "rules", status=1)
    assert told in err and not (tmp_path / "rules").exists()


def test_what_is_no_bitext_and_a_missing_folder(bitext, tmp_path, run):
    _, err = run("extract", tmp_path / "none", status=1)
    assert "no such folder" in err
    _, err = run("extract", bitext, "-o", tmp_path / "none" / "rules", status=1)
    assert "no such folder: create it first" in err
