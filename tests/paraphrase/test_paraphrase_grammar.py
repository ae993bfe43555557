"""Rules of a grammar as candidates of the paraphraser, all or under the labels of a tree."""

import pickle
from dataclasses import replace

import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.paraphrase.paraphrasing_options import ParaphraseOptions

TREE = "(S (NP (PRP they)) (VP (VBP create) (NP (JJ equal) (NNS rights))))"
TEXT = (
    "they create equal rights for us\n" * 6 + "now they make like rights for all\n" * 6
    + "they saw fair laws near rights for us\n" * 6 + "they want rights for us\n" * 3
)  # fmt: skip
OPTIONS = ParaphraseOptions(min_score=0.0, neighbours=0, overlapping=False)


@pytest.fixture
def opened(tmp_path):
    (tmp_path / "text").write_text(TEXT)
    rules = [
        ("VP/NNS", "make like"), ("NP", "fair laws"), ("VP/NNS", "create equal"),
        ("VP/NNS", "not in the text"),
    ]  # fmt: skip
    (tmp_path / "rules").write_text(
        "".join(f"[{a}] ||| create equal ||| {b} ||| p(e|f,LHS)=1 p(e|f)=1\n" for a, b in rules)
    )
    pack_grammar(tmp_path / "rules", tmp_path / "packs", options=PackOptions({"p(e|f)": 1.0}))
    options = IndexOptions("lines")
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "index", options=options)
    return index, GrammarIndex.open(tmp_path / "packs")


def answers(paraphraser, **more):
    return {one.phrase: one for one in paraphraser.paraphrases("Create equal", **more)}


def test_rules_are_candidates_beside_those_of_contexts(opened):
    index, grammar = opened
    few = replace(OPTIONS, mcc=1, one_sided=0)  # no context is rare enough to find anything
    assert not answers(Paraphraser(index, options=few))
    only = answers(Paraphraser(index, options=few, grammar=grammar))
    assert {phrase: one.origin for phrase, one in only.items()} == {"make like": ("grammar",)}
    plain = answers(Paraphraser(index, options=OPTIONS))
    both = answers(Paraphraser(index, options=OPTIONS, grammar=grammar))
    assert set(plain) == set(both)
    for phrase, one in plain.items():  # a rule changes nothing about a phrase but its origin
        assert (both[phrase].score, both[phrase].count) == (one.score, one.count)
    again = pickle.loads(pickle.dumps(Paraphraser(index, options=OPTIONS, grammar=grammar)))
    assert answers(again) == both


def test_with_a_tree_only_rules_with_a_label_of_the_phrase(opened):
    index, grammar = opened
    paraphraser = Paraphraser(index, options=OPTIONS, grammar=grammar)
    assert set(answers(paraphraser, tree=TREE)) == {"make like"}
    other = TREE.replace("(NNS", "(NN")
    answer = paraphraser.answer("create equal", tree=other)
    assert not answer.paraphrases
    assert "no rule of the grammar has a label" in answer.reason
    with pytest.raises(ParameterError, match="is not in the tree"):
        paraphraser.answer("make like", tree=TREE)
    with pytest.raises(ParameterError, match="give `grammar` too"):
        Paraphraser(index).answer("create equal", tree=TREE)


def test_on_the_command_line(opened, run, tmp_path):
    asked = ("paraphrase", tmp_path / "index", "create equal", "--set", "min_score=0")
    out, _ = run(*asked, "--grammar", tmp_path / "packs", "--tree", TREE, "--why")
    assert [line.split("\t")[2] for line in out.splitlines()] == ["make like"]
    out, _ = run(*asked, "--grammar", tmp_path / "packs")
    assert {"make like"} <= {line.split("\t")[2] for line in out.splitlines()}
    _, err = run(*asked, "--tree", TREE, status=2)
    assert "give --grammar PACKS too" in err
    _, err = run(*asked, "--grammar", tmp_path / "packs", "--tree", "(S (NP", status=1)
    assert "the tree is broken" in err


def test_rules_whose_targets_the_corpus_lacks(opened, tmp_path):
    index, _ = opened
    (tmp_path / "lacking").write_text(
        "[VP/NNS] ||| create equal ||| not in the text ||| p(e|f,LHS)=1 p(e|f)=1\n"
    )
    pack_grammar(tmp_path / "lacking", tmp_path / "p", options=PackOptions({"p(e|f)": 1.0}))
    paraphraser = Paraphraser(index, options=OPTIONS, grammar=GrammarIndex.open(tmp_path / "p"))
    answer = paraphraser.answer("create equal", tree=TREE)
    assert answer.reason == "no target of its rules occurs in the corpus"
