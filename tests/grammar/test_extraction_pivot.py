"""Pivoting numbers: the same paraphrases as pivoting their text, and why they are there."""

import math
import random
from collections import defaultdict
from itertools import pairwise

import pytest

from distsim import InputError
from distsim.base.errors import ParameterError
from distsim.grammar.extraction.extract import write_rules
from distsim.grammar.extraction.features import FeatureChoice
from distsim.grammar.extraction.instances import PRESETS
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.extraction.pivoting import evidence_for, pivot_rules
from distsim.grammar.pivot import PivotOptions, pivot_grammar
from tests.grammar.extraction_texts import drawn_pair, linked_text, read_rules
from tests.naive.extraction import Pair
from tests.naive.pivot import Translation, naive_virtual


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


def as_lists(numbers, side="english"):
    """Return the rules of an artifact for the naive twins, with their counts."""
    rules = NumericRules(numbers)
    sides = {}
    for name in ("foreign", "english"):
        text, starts = rules.sides(name)
        sides[name] = [text[a:b].tobytes().decode().split() for a, b in pairwise(starts.tolist())]
    out = []
    for row in range(len(rules)):
        foreign = sides["foreign"][rules.foreign[row]]
        english = list(sides["english"][rules.english[row]])
        if rules.swaps[row]:
            at = [k for k, symbol in enumerate(english) if symbol[-3:] in (",1]", ",2]")]
            for k, number in zip(at, "21", strict=True):
                english[k] = f"{english[k][:-2]}{number}]"
        pair = (foreign, english) if side == "english" else (english, foreign)
        label = rules.labels[rules.label[row]].decode()
        out.append(Translation(f"[{label}]", *pair, {"c": int(rules.count[row])}))
    return out


@pytest.mark.parametrize("side", ["english", "other"])
@pytest.mark.parametrize("preset", ["phrases", "hiero", "ppdb"])
def test_virtual_counts_equal_the_naive_twin(preset, side, tmp_path):
    draw = random.Random(7)
    bitext = [drawn_pair(draw, longest=5) for _ in range(12)]
    _, numbers = made([bitext], preset, tmp_path)
    options = PivotOptions(estimate="counts", side=side, identities="mark")
    pivot_rules(numbers, tmp_path / "out", options)
    found = read_rules(tmp_path / "out")
    expected = naive_virtual(as_lists(numbers, side))
    assert found.keys() == expected.keys() and len(found) > 20
    sums = defaultdict(float)
    for key, p in expected.items():
        assert found[key][0]["p(e|f,LHS)"] == pytest.approx(-math.log(p), abs=1e-4), key
        sums[key[:2]] += math.exp(-found[key][0]["p(e|f,LHS)"])
    assert list(sums.values()) == pytest.approx([1.0] * len(sums), abs=1e-3)
    whatever_label = [rule._replace(label="[X]") for rule in as_lists(numbers, side)]
    if preset == "hiero":  # of one label, so that both are the same
        assert naive_virtual(whatever_label) == expected
        for features, _ in found.values():
            assert features["p(e|f)"] == features["p(e|f,LHS)"]


def test_the_other_side_is_paraphrased_as_if_the_bitext_were_turned(tmp_path):
    draw = random.Random(8)
    bitext = [drawn_pair(draw, with_tree=False) for _ in range(40)]
    turned = [Pair(p.english, p.foreign, {(e, f) for f, e in p.links}) for p in bitext]
    for preset in ("phrases", "hiero"):
        (tmp_path / preset).mkdir()
        _, numbers = made([bitext], preset, tmp_path / preset)
        (tmp_path / preset / "turned").mkdir()
        _, of_turned = made([turned], preset, tmp_path / preset / "turned")
        pivot_rules(numbers, tmp_path / "one", PivotOptions(side="other"))
        pivot_rules(of_turned, tmp_path / "two", PivotOptions())
        one, two = read_rules(tmp_path / "one"), read_rules(tmp_path / "two")
        shared = one.keys() & two.keys()
        assert len(shared) > 50
        for rule in shared if preset == "phrases" else ():
            assert one[rule][0] == pytest.approx(two[rule][0], abs=1e-5), rule


def test_labels_of_english_trees_are_those_of_the_other_side(tmp_path):
    pair = Pair(["rede", "gut"], ["speech", "good"], {(0, 0), (1, 1)}, [(0, 1, "NN"), (1, 2, "JJ")])
    other = Pair(["ansprache"], ["speech"], {(0, 0)}, [(0, 1, "NN")])
    _, numbers = made([[pair, other]], "samt", tmp_path)
    pivot_rules(numbers, tmp_path / "out", PivotOptions(side="other"))
    assert {("[NN]", "rede", "ansprache"), ("[NN]", "ansprache", "rede")} == {
        (label, a, b) for label, a, b in read_rules(tmp_path / "out") if "[" not in a
    }


@pytest.mark.parametrize("preset", ["phrases", "hiero", "ppdb"])
def test_the_mean_over_bitexts_is_that_of_each_by_itself(preset, tmp_path):
    draw = random.Random(9)
    bitexts = [[drawn_pair(draw, longest=6) for _ in range(n)] for n in (20, 5, 12)]
    _, numbers = made(bitexts, preset, tmp_path)
    pivot_rules(numbers, tmp_path / "out", PivotOptions(estimate="mean"))
    found = read_rules(tmp_path / "out")
    free, within = ("p(e|f)", "p(f|e)"), ("p(e|f,LHS)", "p(f|e,LHS)")
    means = defaultdict(float)
    for number, bitext in enumerate(bitexts):
        (tmp_path / str(number)).mkdir()
        _, alone = made([bitext], preset, tmp_path / str(number))
        pivot_rules(alone, tmp_path / "alone", PivotOptions())
        of_one = {}
        for rule, (features, _) in read_rules(tmp_path / "alone").items():
            of_one |= {(rule, name): math.exp(-features[name]) for name in within}
            of_one |= {(rule[1:], name): math.exp(-features[name]) for name in free}
        for key, value in of_one.items():
            means[key] += value / len(bitexts)
    assert len(means) > 20 and {rule for rule, _ in means if len(rule) == 3} <= found.keys()
    for rule, (features, _) in found.items():
        for name in within:
            assert math.exp(-features[name]) == pytest.approx(means[rule, name], abs=2e-5), rule
        has_free = (rule[1:], free[0]) in means
        for name in free * has_free:
            # two labels may meet over f where those of one bitext do not
            assert math.exp(-features[name]) > means[rule[1:], name] - 2e-5, rule
            if preset != "ppdb":
                assert math.exp(-features[name]) == pytest.approx(means[rule[1:], name], abs=2e-5)


def test_counts_are_asked_of_numeric_rules_alone(tmp_path):
    (tmp_path / "rules").write_text("[NN] ||| rede ||| address |||\n")
    for options in (
        PivotOptions(estimate="counts"),
        PivotOptions(estimate="mean"),
        PivotOptions(side="other"),
    ):
        with pytest.raises(ParameterError, match="the folder that extract --numeric writes"):
            pivot_grammar(tmp_path / "rules", tmp_path / "out", options=options)


def test_a_side_is_found_however_it_is_cut_and_escaped(tmp_path):
    one = [Pair(["pas"], ["don", "&apos;t"], {(0, 1)}), Pair(["pas"], ["not"], {(0, 0)})]
    _, numbers = made([one], "phrases", tmp_path)
    for side in ("don &apos;t", "don 't", "don’t", "do n't", "do n&apos;t"):
        assert evidence_for(NumericRules(numbers), side, "not") != [], side
    with pytest.raises(InputError, match="no rule has the English side .*can't"):
        evidence_for(NumericRules(numbers), "can't", "not")
