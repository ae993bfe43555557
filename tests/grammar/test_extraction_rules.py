"""Rules from bitext: against the slow twin, against rules counted by hand, in every order."""

import math
import random
from dataclasses import replace
from itertools import product

import pytest

from distsim.base.parallel import Run
from distsim.grammar.extraction.extract import write_rules
from distsim.grammar.extraction.features import FEATURES, FeatureChoice
from distsim.grammar.extraction.instances import PRESETS, ExtractOptions
from tests.grammar.extraction_texts import drawn_pair, linked_text, read_rules
from tests.naive import extraction as naive_extraction
from tests.naive.extraction import Pair

OPTIONS = {
    **PRESETS,
    "phrases labelled, loose": replace(PRESETS["phrases"], loose=True, labels="thesis"),
    "phrases, every label": replace(PRESETS["phrases"], labels="every"),
    "hiero loose": ExtractOptions(longest=5, loose=True),
    "one gap": ExtractOptions(most_gaps=1, longest=4, most_symbols=3, whole=False),
    "unlabelled kept": replace(PRESETS["samt"], unlabelled="keep", chains="top"),
    "twice or more": ExtractOptions(min_count=2),
}


def extract(bitexts, options, folder, **how):
    choice = FeatureChoice(FEATURES)
    write_rules(linked_text(bitexts, options), folder / "rules", options, choice, **how)
    return read_rules(folder / "rules")


def assert_alike(found, expected):
    assert found.keys() == expected.keys()
    for rule, (features, links) in expected.items():
        assert found[rule][1] == links, rule
        for name in FEATURES:
            assert math.isclose(found[rule][0][name], features[name], abs_tol=6e-6), (rule, name)


@pytest.mark.parametrize("name", OPTIONS)
def test_rules_are_those_of_the_slow_twin(name, tmp_path):
    options = OPTIONS[name]
    draw = random.Random(name)
    bitexts = [[drawn_pair(draw) for _ in range(25)], [drawn_pair(draw) for _ in range(10)]]
    found = extract(bitexts, options, tmp_path)
    assert_alike(found, naive_extraction.rules(bitexts, options))
    assert len(found) > 50


def test_rules_are_the_same_for_any_jobs_memory_and_blocks(tmp_path, monkeypatch):
    from distsim.grammar.extraction import extract as extracting
    from distsim.grammar.extraction import instances

    draw = random.Random(3)
    bitexts = [[drawn_pair(draw) for _ in range(40)], [drawn_pair(draw) for _ in range(17)]]
    options = PRESETS["samt"]
    text = linked_text(bitexts, options)
    write_rules(text, tmp_path / "whole", options, FeatureChoice(), Run(1))
    expected = (tmp_path / "whole").read_bytes()
    assert expected.count(b"\n") > 400
    monkeypatch.setattr(instances, "_FEWEST_ROWS", 4)
    monkeypatch.setattr(instances, "_MOST_ROWS", 200)
    monkeypatch.setattr(instances, "_BLOCK_SENTENCES", 3)
    monkeypatch.setattr(extracting, "_CHUNK_RULES", 100)
    for memory, jobs in product((1 << 12, 1 << 16, 1 << 20), (1, 3)):
        path = tmp_path / f"{memory}-{jobs}"
        write_rules(text, path, options, FeatureChoice(), Run(jobs, memory))
        assert path.read_bytes() == expected
    assert not list(tmp_path.glob(".*"))


def test_rules_counted_by_hand(tmp_path):
    pairs = [
        Pair(["das", "haus"], ["the", "house"], {(0, 0), (1, 1)}),
        Pair(["das", "haus"], ["the", "building"], {(0, 0), (1, 1)}),
        Pair(["ein", "haus"], ["a", "house"], {(0, 0), (1, 1)}),
    ]
    found = extract([pairs], PRESETS["hiero"], tmp_path)
    # Words: das-the 2, haus-house 2, haus-building 1, ein-a 1. Pairs: one each. Gaps: in each
    # pair the first or the second word may be one, both may not (no linked word would be left).
    assert {rule[1:]: round(math.exp(v["LogCount"])) for rule, (v, _) in found.items()} == {
        ("das", "the"): 2,
        ("haus", "house"): 2,
        ("haus", "building"): 1,
        ("ein", "a"): 1,
        ("das haus", "the house"): 1,
        ("das haus", "the building"): 1,
        ("ein haus", "a house"): 1,
        ("[X,1] haus", "[X,1] house"): 2,
        ("[X,1] haus", "[X,1] building"): 1,
        ("das [X,1]", "the [X,1]"): 2,
        ("ein [X,1]", "a [X,1]"): 1,
    }
    values, links = found["[X]", "haus", "house"]
    assert links == "0-0"
    assert values["p(e|f)"] == pytest.approx(-math.log(2 / 3), abs=6e-6)
    assert values["p(f|e)"] == 0
    assert values["p(e|LHS)"] == pytest.approx(-math.log(2 / 15), abs=6e-6)
    assert values["RarityPenalty"] == pytest.approx(math.exp(-1), abs=6e-6)
    assert values["Lex(e|f)"] == pytest.approx(-math.log(2 / 3), abs=6e-6)
    # w(the|das) = 2/2, w(building|haus) = 1/3
    values, _ = found["[X]", "das haus", "the building"]
    assert values["Lex(e|f)"] == pytest.approx(math.log(3), abs=6e-6)
    assert values["p(e|f)"] == pytest.approx(math.log(2), abs=6e-6)


# Sentence pairs with their links, and all their rules with counts as found with pencil and paper.
BY_HAND = {
    "two links of one word": (
        "phrases", "er schläft nicht", "he does not sleep", {(0, 0), (1, 3), (2, 1), (2, 2)},
        {
            "er ||| he": 1, "schläft ||| sleep": 1, "nicht ||| does not": 1,
            "schläft nicht ||| does not sleep": 1, "er schläft nicht ||| he does not sleep": 1,
        },
    ),
    "an unlinked word at the edge": (  # only the whole sentence has it
        "phrases", "gehen wir", "let us go", {(0, 2), (1, 1)},
        {
            "gehen ||| go": 1, "wir ||| us": 1, "gehen wir ||| us go": 1,
            "gehen wir ||| let us go": 1,
        },
    ),
    "words that cross": (  # `la voiture` would take `red` in
        "phrases", "la voiture rouge", "the red car", {(0, 0), (1, 2), (2, 1)},
        {
            "la ||| the": 1, "voiture ||| car": 1, "rouge ||| red": 1,
            "voiture rouge ||| red car": 1, "la voiture rouge ||| the red car": 1,
        },
    ),
    "two words far apart for one": (  # neither `ne` nor `pas` alone is `not`
        "phrases", "je ne sais pas", "i do not know", {(0, 0), (1, 2), (2, 3), (3, 2)},
        {
            "je ||| i": 1, "sais ||| know": 1, "ne sais pas ||| not know": 1,
            "je ne sais pas ||| i do not know": 1,
        },
    ),
    "an unlinked word within": (
        "phrases", "er hat wohl recht", "he is right", {(0, 0), (1, 1), (3, 2)},
        {
            "er ||| he": 1, "hat ||| is": 1, "recht ||| right": 1, "er hat ||| he is": 1,
            "hat wohl recht ||| is right": 1, "er hat wohl recht ||| he is right": 1,
        },
    ),
    "one word for three": (
        "phrases", "dampfschiff", "ship with steam", {(0, 0), (0, 1), (0, 2)},
        {"dampfschiff ||| ship with steam": 1},
    ),
    "all gaps of three words": (  # `a [X]` holds b, or b c; gaps are no neighbours
        "hiero", "a b c", "x y z", {(0, 0), (1, 1), (2, 2)},
        {
            "a ||| x": 1, "b ||| y": 1, "c ||| z": 1, "a b ||| x y": 1, "b c ||| y z": 1,
            "a b c ||| x y z": 1, "[X,1] b ||| [X,1] y": 1, "a [X,1] ||| x [X,1]": 2,
            "[X,1] c ||| [X,1] z": 2, "b [X,1] ||| y [X,1]": 1, "[X,1] b c ||| [X,1] y z": 1,
            "a [X,1] c ||| x [X,1] z": 1, "a b [X,1] ||| x y [X,1]": 1,
            "[X,1] b [X,2] ||| [X,1] y [X,2]": 1,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_rules_of_a_pair_are_those_found_by_hand(name, tmp_path):
    preset, foreign, english, links, expected = BY_HAND[name]
    pair = Pair(foreign.split(), english.split(), links)
    found = extract([[pair]], PRESETS[preset], tmp_path)
    assert {
        f"{source} ||| {target}": round(math.exp(values["LogCount"]))
        for (_, source, target), (values, _) in found.items()
    } == expected


def test_reordering_and_gap_numbers_of_the_english_side(tmp_path):
    """The thesis's `NP1 NP2 geben | give NP2 to NP1` and its twin share the English margin."""
    nodes = [(0, 4, "VP"), (0, 1, "VB"), (1, 2, "NP"), (2, 4, "PP"), (2, 3, "TO"), (3, 4, "NP")]
    pairs = [
        Pair(
            ["peter", "brot", "geben"], ["give", "bread", "to", "peter"],
            {(0, 3), (1, 1), (2, 0)}, nodes,
        ),
        Pair(
            ["brot", "peter", "geben"], ["give", "bread", "to", "peter"],
            {(0, 1), (1, 3), (2, 0)}, nodes,
        ),
    ]  # fmt: skip
    found = extract([pairs], PRESETS["ppdb"], tmp_path)
    swapped = found["[VP]", "[NP,1] [NP,2] geben", "give [NP,2] to [NP,1]"]
    straight = found["[VP]", "[NP,1] [NP,2] geben", "give [NP,1] to [NP,2]"]
    assert (swapped[0]["Monotonic"], straight[0]["Monotonic"]) == (0, 1)
    assert swapped[0]["Adjacent"] == straight[0]["Adjacent"] == 1
    assert swapped[1] == straight[1] == "2-0"
    for values, _ in (swapped, straight):  # one English side, seen twice
        assert values["p(f|e)"] == pytest.approx(math.log(2), abs=6e-6)
        assert values["p(e|f)"] == pytest.approx(math.log(2), abs=6e-6)


def test_character_features_of_table_6_6(tmp_path):
    pairs = [Pair(["hard"], ["pretty", "difficult"], {(0, 0), (0, 1)})]
    values, links = extract([pairs], PRESETS["phrases"], tmp_path)[
        "[X]", "hard", "pretty difficult"
    ]
    assert links == "0-0 0-1"
    expected = {
        "CharCountDiff": 12, "CharLogCR": 1.38629, "WordCountDiff": 1, "WordLenDiff": 3.5,
        "WordLogCR": 0.69315, "SourceWords": 1, "TargetWords": 2, "Lexical": 1, "Monotonic": 1,
        "UnalignedSource": 0, "UnalignedTarget": 0, "Identity": 0, "PhrasePenalty": 1,
    }  # fmt: skip
    assert {name: values[name] for name in expected} == expected


FIGURE_3_4 = [
    "one", "of", "the", "few", "countries", "that",
    "have", "diplomatic", "relations", "with", "north", "korea",
]  # fmt: skip
FIGURE_3_4_NODES = [
    (0, 12, "NP"), (0, 5, "NP"), (0, 1, "NP"), (1, 5, "PP"), (1, 2, "IN"), (2, 5, "NP"),
    (2, 3, "DT"), (3, 4, "JJ"), (4, 5, "NNS"), (5, 12, "SBAR"), (5, 6, "WHNP"), (6, 12, "VP"),
    (6, 7, "VBP"), (7, 9, "NP"), (7, 8, "JJ"), (8, 9, "NNS"), (9, 12, "PP"), (9, 10, "IN"),
    (10, 12, "NP"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("start", "stop", "how", "label"),
    [
        (2, 6, "thesis", "NP+WHNP"),  # the figure: "the few countries that"
        (6, 9, "thesis", "VP/PP"),  # the figure: "have diplomatic relations"
        (7, 12, "thesis", "VP\\VBP"),
        (2, 6, "slashes", "X"),
        (2, 6, "constituents", "X"),
        (7, 9, "thesis", "NP"),
        (2, 4, "thesis", "NP/NNS"),
        (3, 6, "thesis", "JJ+NNS+WHNP"),
        (1, 4, "thesis", "PP/NNS"),
        (0, 3, "slashes", "X"),
        (4, 6, "thesis", "NNS+WHNP"),
    ],
)
def test_labels_of_figure_3_4(start, stop, how, label, tmp_path):
    options = ExtractOptions(most_gaps=0, labels=how, whole=False)
    n = len(FIGURE_3_4)
    foreign = [f"w{i}" for i in range(n)]
    pair = Pair(foreign, FIGURE_3_4, {(i, i) for i in range(n)}, FIGURE_3_4_NODES)
    found = extract([[pair]], options, tmp_path)
    sides = " ".join(foreign[start:stop]), " ".join(FIGURE_3_4[start:stop])
    assert [rule[0] for rule in found if rule[1:] == sides] == [f"[{label}]"]


def test_every_label_of_a_span(tmp_path):
    options = ExtractOptions(most_gaps=0, labels="every", whole=False)
    foreign = [f"w{i}" for i in range(len(FIGURE_3_4))]
    links = {(i, i) for i in range(len(FIGURE_3_4))}
    rules = extract([[Pair(foreign, FIGURE_3_4, links, FIGURE_3_4_NODES)]], options, tmp_path)
    labels = {rule[0] for rule in rules if rule[2] == "diplomatic relations"}
    assert labels == {"[NP]", "[JJ+NNS]"}
    labels = {rule[0] for rule in rules if rule[2] == "have diplomatic relations"}
    assert labels == {"[VP/PP]", "[VBP+NP]", "[VBP+JJ+NNS]"}  # one slash at most: no SBAR\\WHNP/PP


def test_margins_sum_to_one_and_the_identity_of_table_6_6_holds(tmp_path):
    draw = random.Random(11)
    bitext = [drawn_pair(draw) for _ in range(60)]
    found = extract([bitext], PRESETS["samt"], tmp_path)
    sums = {name: {} for name in ("p(e|f)", "p(e|f,LHS)", "p(f|e)", "p(f|e,LHS)")}
    for (label, f, e), (values, _) in found.items():
        left = values["p(e|f,LHS)"] + values["p(f|LHS)"]
        assert left == pytest.approx(values["p(f|e,LHS)"] + values["p(e|LHS)"], abs=3e-5)
        own = naive_extraction.canonical(e.split())
        for name, key in (
            ("p(e|f,LHS)", (label, f)), ("p(f|e,LHS)", (label, own)),
            ("p(e|f)", f), ("p(f|e)", own),
        ):  # fmt: skip
            sums[name].setdefault(key, {})[f, e] = math.exp(-values[name])
    for name, by_key in sums.items():
        assert by_key
        for key, parts in by_key.items():
            assert sum(parts.values()) == pytest.approx(1, abs=1e-3), (name, key)


def test_ppdb_names_swap_lex_alone(tmp_path):
    bitext = [drawn_pair(random.Random(5)) for _ in range(5)]
    options = PRESETS["phrases"]
    text = linked_text([bitext], options)
    for names in ("plain", "ppdb"):
        write_rules(text, tmp_path / names, options, FeatureChoice(names=names))
    plain, ppdb = read_rules(tmp_path / "plain"), read_rules(tmp_path / "ppdb")
    first = (tmp_path / "ppdb").read_text().split("\n")[0].split(" ||| ")[3].split()
    named = [name.rsplit("=", 1)[0] for name in first]
    assert named == sorted(named)
    swapped = {"Lex(e|f)": "Lex(f|e)", "Lex(f|e)": "Lex(e|f)"}
    for rule, (values, _) in plain.items():
        assert {swapped.get(k, k): v for k, v in values.items()} == ppdb[rule][0]
    assert any(values["Lex(e|f)"] != values["Lex(f|e)"] for values, _ in plain.values())


def test_odd_words_and_labels_survive_our_readers(tmp_path):
    from distsim.corpus.lines import read_line_blocks
    from distsim.grammar.block import parse_block
    from distsim.grammar.formats.rules import RULES

    nodes = [(0, 3, "S"), (0, 2, "a]b"), (2, 3, ",")]
    words = ["[X,1]", "|||", ","]
    pair = Pair(words, words, {(0, 0), (1, 1), (2, 2)}, nodes)
    options = replace(PRESETS["samt"], min_linked=0)
    found = extract([[pair]], options, tmp_path)
    assert ("[S]", "[aRSBb,1] [COMMA,2]", "[aRSBb,1] [COMMA,2]") not in found
    assert ("[S]", "[aRSBb,1] ,", "[aRSBb,1] ,") in found
    assert ("[COMMA]", ",", ",") in found
    assert ("[aRSBb]", "&#91;X,1&#93; &#124;&#124;&#124;") in {rule[:2] for rule in found}
    for block in read_line_blocks(tmp_path / "rules"):
        parsed = parse_block(block, RULES)
        assert not any(parsed.fault(number) for number in range(len(parsed)))


def test_the_longest_sentences_and_those_without_links(tmp_path):
    draw = random.Random(2)
    many = [draw.choice("abc") for _ in range(255)], [draw.choice("xyz") for _ in range(255)]
    pairs = [
        Pair(*many, {(0, 0), (7, 7), (254, 254)}),
        Pair(["a"], ["x"] * 255, set()),
        Pair(["a"], ["x"], set()),
        Pair(["a", "b"], ["x", "y"], {(0, 1), (1, 0), (0, 0), (1, 1)}),
    ]
    found = extract([pairs], PRESETS["hiero"], tmp_path)
    whole = {rule for rule in found if max(len(side.split()) for side in rule[1:]) > 10}
    assert whole == {
        ("[X]", " ".join(many[0]), " ".join(many[1])),
        ("[X]", "a", " ".join(["x"] * 255)),
    }
    assert found["[X]", " ".join(many[0]), " ".join(many[1])][1] == "0-0 7-7 254-254"
    assert ("[X]", "a", "x") in found and ("[X]", "a b", "x y") in found


def test_settings_outside_their_range():
    for wrong in (
        {"longest": 0}, {"longest": 16}, {"most_gaps": 3}, {"labels": "every"}, {"labels": "all"},
        {"min_count": 0}, {"most_symbols": 0}, {"min_linked": -1},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="choose|set most_gaps to 0"):
            ExtractOptions(**wrong)
