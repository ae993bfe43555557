"""Paraphrases under the labels of the phrase in its sentence, worked by hand."""

import math

import pytest

from distsim.base.errors import ParameterError
from distsim.grammar.labelled import labelled_rules, phrase_labels
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar

TREE = "(S (NP (PRP they)) (VP (VBP create) (NP (JJ equal) (NNS rights))))"
P = {
    ("VP/NNS", "make equal"): 0.5, ("VP/NNS", "establish equal"): 0.125,
    ("VBP+JJ", "make equal"): 0.1, ("VBP+JJ", "establish equal"): 0.75,
    ("NP", "equal"): 0.9, ("NP", "create equal"): 1.0,
}  # fmt: skip


@pytest.fixture
def packs(tmp_path):
    lines = "".join(
        f"[{label}] ||| create equal ||| {target} ||| p(e|f,LHS)={-math.log(p):.5f} p(e|f)=1\n"
        for (label, target), p in P.items()
    )
    (tmp_path / "rules").write_text(lines)
    pack_grammar(tmp_path / "rules", tmp_path / "packs", options=PackOptions({"p(e|f)": 1.0}))
    return tmp_path / "packs"


def test_labels_of_a_phrase_in_its_tree():
    assert phrase_labels(TREE, "Create equal") == ["VBP+JJ", "VP/NNS"]
    assert phrase_labels(TREE, "equal rights") == ["JJ+NNS", "NP", "VP\\VBP"]
    for phrase in ("equals", ""):
        with pytest.raises(ParameterError, match="is not in the tree"):
            phrase_labels(TREE, phrase)
    with pytest.raises(ParameterError, match="the tree is broken"):
        phrase_labels("(S (NP", "a")


def test_best_average_and_any_label(packs, run):
    index = GrammarIndex.open(packs)
    for choice, expected in (
        ("best", {"establish equal": 0.75, "make equal": 0.5}),
        ("average", {"establish equal": (0.125 + 0.75) / 2, "make equal": (0.5 + 0.1) / 2}),
        ("any", {"equal": 0.9, "establish equal": 0.75, "make equal": 0.5}),
    ):
        found = labelled_rules(index, "create equal", TREE, choice)
        assert [rule.target for rule in found] == list(expected)
        assert [math.exp(-rule.cost) for rule in found] == pytest.approx(
            list(expected.values()), abs=1e-4
        )
        assert [
            rule.target for rule in labelled_rules(index, "create equal", TREE, choice)[:1]
        ] == [next(iter(expected))]
        out, _ = run("rules", packs, "create equal", "--tree", TREE, "--by", choice)
        assert [line.split("\t")[1] for line in out.splitlines()] == list(expected)
    out, _ = run("rules", packs, "create equal", "--by", "any", "-k", 1)
    assert out.startswith("create equal\tequal\tNP\t")
    for more, message in (
        (["--by", "best"], "are those of a tree"),
        (["--tree", "(S a)"], "is not in the tree"),
        (["--tree", TREE, "--label", "NP"], "--label is one label"),
    ):
        _, err = run("rules", packs, "create equal", *more, status=2 if "--label" in more else 1)
        assert message in err
    other = TREE.replace("VBP", "VBD").replace("NNS", "NN")
    out, err = run("rules", packs, "create equal", "--tree", other)
    assert not out and "none of its 6 rules is asked for" in err


def test_a_phrase_may_begin_its_sentence(packs, run):
    tree = TREE.replace("(S (NP (PRP they)) ", "(S ").replace("create", "Create")
    lower, _ = run("rules", packs, "create equal", "--tree", tree)
    out, _ = run("rules", packs, "Create equal", "--tree", tree)
    assert out == lower and out.count("\n") == 2
    out, err = run("rules", packs, "Create equal")
    assert not out and "no rule has this source side; 'create equal' has 6" in err
