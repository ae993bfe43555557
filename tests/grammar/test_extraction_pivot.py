"""Pivoting numbers: the same paraphrases as pivoting their text, and why they are there."""

import math
import random

import pytest

from distsim.grammar.extraction.extract import write_rules
from distsim.grammar.extraction.features import FeatureChoice
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.extraction.options import PRESETS
from distsim.grammar.extraction.pivoting import evidence_for, pivot_rules
from distsim.grammar.pivot import PivotOptions, pivot_grammar
from tests.grammar.extraction_texts import drawn_pair, linked_text, read_rules
from tests.naive.extraction import Pair


def made(bitexts, preset, folder):
    options = PRESETS[preset]
    text = linked_text(bitexts, options)
    write_rules(text, folder / "text", options, FeatureChoice(), numeric=folder / "numbers")
    return folder / "text", folder / "numbers"


@pytest.mark.parametrize("preset", ["phrases", "hiero", "samt", "ppdb"])
def test_pivoting_numbers_equals_pivoting_their_text(preset, tmp_path):
    draw = random.Random(4)
    bitexts = [[drawn_pair(draw) for _ in range(40)], [drawn_pair(draw) for _ in range(20)]]
    text, numbers = made(bitexts, preset, tmp_path)
    for name, options in (
        ("all", PivotOptions(columns="conditional")),
        ("marked", PivotOptions(columns="conditional", identities="mark", min_link=0.0123)),
    ):
        pivot_grammar(text, tmp_path / f"{name}.text", options=options)
        pivot_rules(numbers, tmp_path / f"{name}.numbers", options, jobs=2)
        one = read_rules(tmp_path / f"{name}.text")
        two = read_rules(tmp_path / f"{name}.numbers")
        assert list(one) == list(two) and len(one) > 20
        for rule, (features, links) in one.items():
            found, found_links = two[rule]
            agree = found.pop("Bitexts")
            assert 0 <= agree <= 2
            # the text has five decimals, so its sums differ a little
            assert found == pytest.approx(features, abs=2e-4), rule
            assert found_links == links


def test_bitexts_count_where_both_translations_were_met(tmp_path):
    one = [
        Pair(["rede"], ["address"], {(0, 0)}),
        Pair(["rede"], ["speech"], {(0, 0)}),
        Pair(["wagen"], ["car"], {(0, 0)}),
    ]
    two = [
        Pair(["rede"], ["address"], {(0, 0)}),
        Pair(["rede"], ["speech"], {(0, 0)}),
        Pair(["wagen"], ["carriage"], {(0, 0)}),
    ]
    _, numbers = made([one, two], "phrases", tmp_path)
    pivot_rules(numbers, tmp_path / "out")
    rules = read_rules(tmp_path / "out")
    found = {rule[1:]: values["Bitexts"] for rule, (values, _) in rules.items()}
    assert found == {
        ("address", "speech"): 2,
        ("speech", "address"): 2,
        ("car", "carriage"): 0,  # met over the joined languages alone
        ("carriage", "car"): 0,
    }
    (why,) = evidence_for(NumericRules(numbers), "address", "speech")
    assert why == ("X", "rede", pytest.approx(0.5), 2, 2, 2)
    assert evidence_for(NumericRules(numbers), "address", "car") == []


def test_evidence_adds_up_to_the_paraphrase(tmp_path, run):
    draw = random.Random(6)
    _, numbers = made([[drawn_pair(draw) for _ in range(60)]], "hiero", tmp_path)
    pivot_rules(numbers, tmp_path / "out", PivotOptions())
    rules = NumericRules(numbers)
    found = read_rules(tmp_path / "out")
    gappy = [rule for rule in found if "[X,2]" in rule[1]][:10]
    for rule in gappy + list(found)[:20]:
        total = sum(one.p for one in evidence_for(rules, *rule[1:]))
        assert -math.log(total) == pytest.approx(found[rule][0]["p(e|f,LHS)"], abs=1e-4)
    assert gappy
    rule = next(iter(found))
    out, err = run("pivot", numbers, "--why", "\udcff ||| a", status=1)
    assert not out and "a phrase is not valid Unicode" in err
    out, _ = run("pivot", numbers, "--why", f"{rule[1]} ||| {rule[2]}")
    assert len(out.splitlines()) == found[rule][0]["PivotCount"]
    _, err = run("pivot", numbers, "--why", "nothing ||| here", status=1)
    assert "no rule has the English side" in err
    run("pivot", numbers, "-o", tmp_path / "again", "--set", "max_translations=0")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "out").read_bytes()
