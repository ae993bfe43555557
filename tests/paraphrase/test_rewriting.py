"""Rewriting: the decoder against every derivation, its constraints, batches, what it refuses."""

import json
import math
import os
import random
import re
import threading
from functools import cache
from itertools import islice

import numpy as np
import pytest

from distsim import CorpusIndex
from distsim.base.errors import InputError, ParameterError
from distsim.evaluation.rewriting_scores import Bleu, corpus_bleu
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.paraphrase.rewriting import RewriteOptions, Rewriter, Weights, tuning
from distsim.paraphrase.rewriting import rewriter as rewriter_module
from distsim.paraphrase.rewriting.grammar import RuleScores
from distsim.paraphrase.rewriting.language_model import ArpaModel, IndexModel
from distsim.paraphrase.rewriting.operations import Operation
from distsim.paraphrase.rewriting.rewriting_features import Forest, best
from distsim.paraphrase.rewriting.sentence import LabelledSentence
from distsim.paraphrase.substitution.substituter import REPLACEMENT
from tests.conftest import write_lines
from tests.naive import rewriting as naive
from tests.naive.derivations import Derivations as NaiveDerivations

RULES = """
[X] ||| the old ||| ancient ||| p=1
[X] ||| old ||| elderly ||| p=0.5
[X] ||| [X,1] of [X,2] ||| [X,2] 's [X,1] ||| p=0.7
[X] ||| [X,2] and [X,1] ||| [X,1] and [X,2] ||| p=0.2
[NP] ||| king ||| ruler ||| p=0.3
[VP] ||| slept [NP,1] ||| [NP,1] slept well ||| p=0.1
[X] ||| [NP,1] slept ||| [NP,1] was asleep ||| p=0.4
[NP] ||| [X,1] ||| such [X,1] ||| p=2
[X] ||| [NP,1] ||| [NP,1] ||| p=0.6
[X] ||| city ||| town ||| p=0.2
[X] ||| city ||| place ||| p=0.4
"""
TEXT = [
    "the old king of the city slept", "the city 's ancient king slept well",
    "the king and the queen slept", "the town of the ruler", "an elderly king was asleep",
    "such a place", "old town", "the queen and the ruler was asleep",
]  # fmt: skip
WEIGHTS = {
    "LM": 0.8, "Words": 0.9, "Glue": 0.05, "Kept": 0.3, "Unknown": -0.2, "p": -0.5,
    "Deleted": -0.6, "Deletions": -0.4, "Deleted(commas)": 0.7,
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rewriting")
    (folder / "rules").write_text(RULES.strip() + "\n")
    pack_grammar(folder / "rules", folder / "pack", options=PackOptions(weights={"p": 1.0}))
    CorpusIndex.build([write_lines(folder / "text", [t.split() for t in TEXT])], folder / "index")
    Weights(WEIGHTS).write(folder / "weights")
    return folder


def rewriter_of(folder, **options):
    return Rewriter(
        GrammarIndex.open(folder / "pack"),
        IndexModel(CorpusIndex.open(folder / "index")),
        weights=Weights(options.pop("weights", WEIGHTS)),
        options=RewriteOptions(**options),
    )


def parsed_rules():
    def side(text):
        return tuple(
            (s[1:-1].split(",")[0], int(s[1:-1].split(",")[1])) if s.startswith("[") else s
            for s in text.split()
        )

    for line in RULES.strip().split("\n"):
        label, source, target, feature = (part.strip() for part in line.split("|||"))
        yield naive.Rule(label[1:-1], side(source), side(target), -0.5 * float(feature[2:]))


@cache
def all_sentences(text, tree=None, longest=6, longest_edit=None):
    rules = list(parsed_rules())
    tokens = text.split()
    known = {word for rule in rules for word in rule.source + rule.target if isinstance(word, str)}
    weights = WEIGHTS
    edits = [
        (i, i + 1, (token,), weights["Kept"] + (token not in known) * weights["Unknown"])
        for i, token in enumerate(tokens)
    ]
    sentence = LabelledSentence(text, tree)
    for one in sentence.operations(
        min(longest_edit or longest, len(tokens)), shortens=longest_edit is not None
    ):
        edits.append((
            one.start, one.stop, (),
            weights["Deleted"] * (one.stop - one.start) + weights["Deletions"]
            + weights.get(f"Deleted({one.kind})", 0.0),
        ))  # fmt: skip
    labels = dict(sentence.labels)
    if tree is None:
        for rule in rules:
            for i in range(len(tokens)):
                span = (i, i + len(rule.source))
                if tuple(tokens[i : i + len(rule.source)]) == rule.source:
                    labels.setdefault(span, set()).add(rule.label)
    found = {}
    text = [t.split() for t in TEXT]
    glue = weights["Glue"]
    for words, score in naive.derivations(tokens, rules, edits, labels, glue, longest):
        if words:
            found[words] = max(found.get(words, -1e9), score)
    scores = {
        " ".join(words): score + weights["Words"] * len(words)
        + weights["LM"] * naive.log_probability(text, 5, 16.0, words)
        for words, score in found.items()
    }  # fmt: skip
    return sorted(scores.items(), key=lambda one: -one[1])


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("the old king slept", None),
        ("king and city of zebra", None),
        ("old , city", None),
        ("king", None),
        ("the king slept", "(S (NP (DT the) (NN king)) (VP (VBD slept)))"),
    ],
)
def test_all_derivations_are_found_without_pruning(made, text, tree):
    rewriter = rewriter_of(made, span=6, pops=10**6, rules=100)
    wanted = all_sentences(text, tree)
    n = min(40, len(wanted))
    found = rewriter.rewrite(text, k=n, tree=tree)
    assert [one.score for one in found] == pytest.approx([score for _, score in wanted[:n]])
    scores = dict(wanted)
    for one in found:
        assert one.score == pytest.approx(scores[one.sentence])


def test_pruning_loses_little_and_scores_stay_true(made):
    text = "the old king of the city and the queen slept"
    exact = rewriter_of(made, span=6, pops=10**5).rewrite(text, k=5)
    quick = rewriter_of(made, span=6, pops=20).rewrite(text, k=5)
    assert quick[0].score <= exact[0].score + 1e-9
    assert quick[0].score > exact[0].score - 1.0
    for one in quick:
        total = sum(WEIGHTS.get(name, 0.0) * value for name, value in one.features.items())
        assert one.score == pytest.approx(total)


def test_the_model_is_an_index_or_an_arpa_file(made, tmp_path):
    model = IndexModel(CorpusIndex.open(made / "index"))
    text = [t.split() for t in TEXT]
    draw = random.Random(5)
    words = [*sorted({word for line in text for word in line}), "zebra"]
    for _ in range(100):
        sentence = [draw.choice(words) for _ in range(draw.randint(1, 8))]
        wanted = naive.log_probability(text, 5, 16.0, sentence)
        assert model.log_probability(sentence) == pytest.approx(wanted)
    (tmp_path / "lm.arpa").write_text(
        "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1.0\t<s>\t-0.5\n-0.7\t</s>\n"
        "-0.4\ta\t-0.2\n-2.0\t<unk>\n\n\\2-grams:\n-0.1\t<s> a\n-0.3\ta </s>\n\n\\end\\\n"
    )
    arpa = ArpaModel(tmp_path / "lm.arpa")
    ten = np.log(10)
    # <s> a </s>; <s> a a </s>: back off from a; <s> zebra </s>: nothing is known
    assert arpa.log_probability(["a"]) == pytest.approx(-0.4 * ten)
    assert arpa.log_probability(["a", "a"]) == pytest.approx((-0.1 - 0.2 - 0.4 - 0.3) * ten)
    assert arpa.log_probability(["zebra"]) == pytest.approx((-0.5 - 2.0 - 0.7) * ten)
    rewriter = Rewriter(GrammarIndex.open(made / "pack"), arpa, weights=Weights({"LM": 1.0}))
    assert rewriter.rewrite("a", k=1)[0].sentence == "a"
    (tmp_path / "broken.arpa").write_text("\\data\\\n\\1-grams:\n-1 a b c\n")
    with pytest.raises(InputError, match=r"broken.arpa, line 3: .* is no 1-gram: .*repair"):
        ArpaModel(tmp_path / "broken.arpa")


def test_length_keep_and_avoid(made):
    text = "the old king of the city , and the queen slept"
    short = rewriter_of(made, length=0.6).rewrite(text, k=3)
    assert all(len(one.sentence.split()) <= 0.6 * 11 for one in short)
    assert len(short[0].sentence.split()) >= 5
    kept = rewriter_of(made, length=0.5, keep=("queen", "city")).rewrite(text, k=3)
    assert all({"queen", "city"} <= set(one.sentence.split()) for one in kept)
    heavy = WEIGHTS | {"Kept": -3.0}
    free = rewriter_of(made, weights=heavy, deletes=False).rewrite("old city", k=1)[0].sentence
    assert "elderly" in free
    bound = rewriter_of(made, weights=heavy, deletes=False, avoid=("Elderly",))
    assert "elderly" not in bound.rewrite("old city", k=1)[0].sentence
    plain = rewriter_of(made, deletes=False).rewrite(text, k=5)
    assert not any(step.label == "deleted" for one in plain for step in one.steps)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 1.0, 1.3])
@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("king of city", None),
        ("c ( b )", None),
        ("the king slept", "(S (NP (DT the) (NN king)) (VP (VBD slept)))"),
    ],
)
def test_a_length_is_met_by_the_best_of_that_length(made, text, tree, share):
    tokens = text.split()
    rewriter = rewriter_of(made, span=2, pops=10**6, rules=100, length=share)
    every = all_sentences(text, tree, longest=2, longest_edit=len(tokens))
    wanted = max(1, math.floor(share * len(tokens) + 1e-9))
    sizes = {len(words.split()) for words, _ in every}
    fits = [size for size in sizes if size <= wanted]
    size = max(fits) if fits else min(sizes)
    best = [one for one in every if len(one[0].split()) == size][:20]
    found = rewriter.rewrite(text, k=20, tree=tree)[: len(best)]
    assert [one.score for one in found] == pytest.approx([score for _, score in best])
    assert {len(one.sentence.split()) for one in found} == {size}
    for one in found:
        total = sum(WEIGHTS.get(name, 0.0) * value for name, value in one.features.items())
        assert one.score == pytest.approx(total)


@pytest.mark.parametrize("weight", [-4.0, 0.0, 4.0])
def test_every_length_is_met_whatever_words_are_worth(made, weight):
    text = "the old king and the queen of the city slept of zebra"
    for words in (1, 2, 5, 8, 10, 12):
        rewriter = rewriter_of(made, weights=WEIGHTS | {"Words": weight}, pops=2, length=words / 12)
        found = rewriter.rewrite(text, k=1)
        assert len(found[0].sentence.split()) == words


def test_beginnings_of_all_lengths_are_tried_where_too_few_were(made, monkeypatch):
    text = "the old king of the city slept of zebra"
    wanted = rewriter_of(made, length=0.5, pops=10**5, span=3).rewrite(text, k=5)
    monkeypatch.setattr(rewriter_module, "_WINDOW", -1)
    assert rewriter_of(made, length=0.5, pops=10**5, span=3).rewrite(text, k=5) == wanted


def test_a_length_has_weights_of_its_own(made, tmp_path, run):
    (tmp_path / "in").write_text("the old king of the city slept\n\nzebra\n")
    pack, model = GrammarIndex.open(made / "pack"), IndexModel(CorpusIndex.open(made / "index"))
    for length, name in ((None, "simplify"), (0.5, "shorten"), (1.0, "simplify")):
        rewriter = Rewriter(pack, model, options=RewriteOptions(length=length))
        assert rewriter.weights == Weights.default(name)
    options = ["--index", made / "index", "--length", ".5", "-n", "5"]
    one, _ = run("rewrite", made / "pack", tmp_path / "in", *options, "-j", "1")
    two, _ = run("rewrite", made / "pack", tmp_path / "in", *options, "-j", "2")
    assert one == two
    rows = [line.split("\t") for line in one.splitlines()]
    assert {len(row[3].split()) for row in rows if row[0] == "1"} == {3}
    assert [row[3] for row in rows if row[0] == "3"] == ["zebra"]


def test_what_is_left_out_may_be_longer_than_the_search_s_spans(made):
    text = "the king ( old and of the city and of the queen ) slept"
    weights = WEIGHTS | {"Deleted(brackets)": 9.0}
    short = rewriter_of(made, weights=weights, span=3, length=0.22).rewrite(text, k=20)
    whole = [one for one in short if one.sentence == "the king slept"]
    assert [(step.start, step.stop, step.label) for step in whole[0].steps] == [(2, 13, "deleted")]
    assert whole[0].features["Deletions"] == 1.0 and whole[0].features["Glue"] == 4.0


def test_short_long_unknown_and_empty_sentences(made):
    rewriter = rewriter_of(made, pops=10)
    assert rewriter.rewrite("zebra", k=3)[0].sentence == "zebra"
    assert rewriter.rewrite("  ") == []
    long = " ".join(["the old king of zebra slept ,"] * 72)[: 7 * 500]
    found = rewriter.rewrite(long, k=2)
    assert found[0].score >= found[1].score
    with pytest.raises(ParameterError, match="2,001 tokens, wanted 2,000 at most: cut it"):
        rewriter.rewrite("a " * 2001)
    with pytest.raises(ParameterError, match="the tree has 1 word, the sentence 2"):
        rewriter.rewrite("a b", tree="(NP a)")
    with pytest.raises(ParameterError, match="the tree is broken"):
        rewriter.rewrite("a b", tree="(NP (D a) (N b)")


def test_many_words_alike_are_no_work(made):
    """Any of them may be left out: what is written alike is one answer, whichever stay."""
    found = rewriter_of(made).rewrite(", " * 60, k=10)
    assert len(found[0].sentence.split()) < 60
    assert len({one.sentence for one in found}) == len(found)


def test_escaped_brackets_are_read_and_written_as_they_are(made):
    sentence = LabelledSentence("a -lrb- b -rrb- .")
    assert sentence.plain == ["a", "(", "b", ")", "."]
    assert sentence.escapes == {"(": "-lrb-", ")": "-rrb-"}
    assert (1, 4, "brackets", ()) in list(sentence.operations(5))
    assert (1, 4, "brackets", ()) in list(sentence.operations(2))  # longer than the search's span


TREE = (
    "(S (S (NP (NP (DT the) (NN king)) (, ,) (NP (DT an) (JJ old) (NN man)) (, ,)) (VP slept)) "
    "(CC and) (S (NP (DT the) (NN queen)) (VP left)) (. .))"
)
OPERATIONS = [
    ("however , he actually slept .", None,
     {("linker", "however ,", ""), ("adverb", "actually", "")}),
    ("he , of course , also slept very well .", None, {("linker", ", of course ,", "")}),
    ("it rained there , making the town wet .", None, {("split", ", making", ". this made")}),
    ("it is hot , making the town dry .", None, {("split", ", making", ". this makes")}),
    ("it rained there , making the town , and all .", None, set()),
    ("he slept well , and the old king of the town was out .", None, {("split", ", and", ".")}),
    ("he saw her , and the king , who was out , left .", None, set()),
    ("not very old , as widely and highly as the very king , in fact .", None, set()),
    ("not only old but also wise", None, set()),
    ("he slept well , but he was out , while the king was old .", None,
     {("split", ", but", ". but"), ("split", ", while", ".")}),
    ("he slept ( in bed , and he left ) .", None, set()),
    ("when he slept , and he left , it rained .", None, set()),
    ("he slept well ; she was old .", None, {("split", ";", ".")}),
    ("towns : london ; he was old .", None, set()),
    ("paris , also known as the city , or town , is old .", None,
     {("apposition", ", also known as the city ,", ""), ("apposition", ", or town ,", "")}),
    ("a , b , or c , too .", None, set()),
    ("the king , an old man , slept and the queen left .", TREE,
     {("apposition", ", an old man ,", ""), ("split", "and", ".")}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tree", "wanted"), OPERATIONS)
def test_operations(text, tree, wanted):
    words = text.split()
    found = {
        (one.kind, " ".join(words[one.start : one.stop]), " ".join(one.instead))
        for one in LabelledSentence(text, tree).operations(3)
        if one.kind in ("linker", "adverb", "apposition", "split")
    }
    assert found == wanted


def test_a_split_begins_with_a_capital_letter(made):
    weights = {"LM": 0.1, "Kept": 1.0, "Split": 9.0}
    text = "He slept well , but it was the king ."
    best = rewriter_of(made, weights=weights).rewrite(text)[0]
    assert best.sentence == "He slept well . But it was the king ."
    assert best.features["Split"] == 1.0 and best.features["Kept"] == len(text.split())
    ((start, stop, before, after, label, *_),) = best.steps
    assert (start, stop, before, after, label) == (3, 5, ", but", ". but", "split")
    low = rewriter_of(made, weights=weights).rewrite(text.lower())[0]
    assert low.sentence == best.sentence.lower()
    for options in ({"deletes": False}, {"keep": ("but",)}, {"length": 0.9}):
        for one in rewriter_of(made, weights=weights, **options).rewrite(text):
            assert "Split" not in one.features


def test_what_is_short_or_no_simpler_is_told(made, tmp_path):
    pairs = {("ancient", "old"): 0.0, ("ancient", "elderly"): 1.0, ("city", "town"): 1.0}
    rules = "".join(f"[X] ||| {one} ||| {other} ||| p=1\n" for one, other in pairs)
    (tmp_path / "rules").write_text(rules)
    options = PackOptions(weights={"p": 1.0})
    pack_grammar(tmp_path / "rules", tmp_path / "pack", options=options)
    model = IndexModel(CorpusIndex.open(made / "index"))
    rewriter = Rewriter(GrammarIndex.open(tmp_path / "pack"), model, weights=Weights(WEIGHTS))
    for (one, other), told in pairs.items():
        (found,) = [x for x in rewriter.rewrite(one, k=9) if x.sentence == other]
        assert found.features.get("NotSimpler", 0.0) == told


def test_plain_words_and_phrases(made, tmp_path):
    (tmp_path / "rules").write_text(
        "[X] ||| commenced ||| began ||| p=1\n[X] ||| commenced ||| slept ||| p=1\n"
    )
    pack_grammar(tmp_path / "rules", tmp_path / "pack", options=PackOptions(weights={"p": 1.0}))
    model = IndexModel(CorpusIndex.open(made / "index"))
    weights = Weights({"LM": 0.1, "Kept": 1.0, "Rules": 1.0, "Deleted": -20.0})
    rewriter = Rewriter(GrammarIndex.open(tmp_path / "pack"), model, weights=weights)
    told = {
        one.sentence: [one.features.get(name, 0.0) for name in ("PlainWord", "Plainer")]
        for one in rewriter.rewrite("it commenced prior to the town", k=20)
    }
    assert told["it began prior to the town"] == [1, 0]
    assert told["it slept before the town"] == [0, 1]
    assert told["it began before the town"] == [1, 1]


def test_that_an_unknown_word_goes_is_no_feature(made, tmp_path):
    (tmp_path / "rules").write_text(
        "[X] ||| monarch ||| king ||| p=1\n[X] ||| king ||| roi ||| p=1\n"
    )
    pack_grammar(tmp_path / "rules", tmp_path / "pack", options=PackOptions(weights={"p": 1.0}))
    model = IndexModel(CorpusIndex.open(made / "index"))
    rewriter = Rewriter(GrammarIndex.open(tmp_path / "pack"), model, weights=Weights(WEIGHTS))
    for source, target, told in (("monarch", "king", 0.0), ("king", "roi", 1.0)):
        (found,) = [x for x in rewriter.rewrite(source, k=9) if x.sentence == target]
        assert found.features.get("UnknownDiff", 0.0) == told


def test_the_number_of_an_item_stays():
    kinds = {one.kind for one in LabelledSentence("a ( 12 ) b").operations(3)}
    assert kinds == {"word"}
    assert (1, 4, "brackets", ()) in list(LabelledSentence("a ( 1912 ) b").operations(3))
    assert (1, 4, "brackets", ()) in list(LabelledSentence("a — c — b").operations(3))


def test_the_command_line(made, tmp_path, run):
    lines = ["the old king slept", "", "zebra", "king and city"]
    (tmp_path / "in").write_text("\n".join(lines) + "\n")
    options = ["--index", made / "index", "--weights", made / "weights", "-n", "3"]
    out, told = run("rewrite", made / "pack", tmp_path / "in", *options, "-j", "1")
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert ["2", "1", "NA", ""] in rows and "in, line 2: the line is empty" in told
    two, _ = run("rewrite", made / "pack", tmp_path / "in", *options, "-j", "2")
    assert two == out
    why, _ = run("rewrite", made / "pack", tmp_path / "in", *options, "--why")
    assert "\twhy\tcity\ttown\tX\t" in why and "\tsum\t" in why
    plain, _ = run("rewrite", made / "pack", tmp_path / "in", *options, "--plain")
    assert len(plain.splitlines()) == 4 and plain.splitlines()[1] == ""
    run("rewrite", made / "pack", tmp_path / "in", *options, "-o", tmp_path / "out")
    whole = (tmp_path / "out").read_bytes()
    assert whole.decode().splitlines()[1:] == out.splitlines()
    for cut in (len(whole) // 3, len(whole) - 3, 30):
        (tmp_path / "out").unlink()
        (tmp_path / "out.part").write_bytes(whole[:cut])
        if cut == 30:  # not even its head is whole
            (tmp_path / "out.part").unlink()
        run("rewrite", made / "pack", tmp_path / "in", *options, "-o", tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == whole
    _, told = run(
        "rewrite", made / "pack", tmp_path / "in", *options[:-1], "2", "-o", tmp_path / "out",
        status=1,
    )  # fmt: skip
    assert "out, line 1: was begun with other settings" in told
    (tmp_path / "out").unlink()
    for foreign in (b"a file of somebody's\n1\tone\n1\ttwo\n", b"x\nno number\n"):
        (tmp_path / "out.part").write_bytes(foreign)
        where = ["-o", tmp_path / "out"]
        _, told = run("rewrite", made / "pack", tmp_path / "in", *options, *where, status=1)
        assert "out.part, line 1: was begun with other settings" in told
        assert (tmp_path / "out.part").read_bytes() == foreign
    as_json, _ = run("rewrite", made / "pack", tmp_path / "in", *options, "--json", "--why")
    records = [json.loads(line) for line in as_json.splitlines()]
    assert "the line is empty" in records[1]["fault"] and records[1]["rewritings"] == []
    assert [record["line"] for record in records] == [1, 2, 3, 4]
    for record in (records[0], records[2], records[3]):
        found = rewriter_of(made).rewrite(lines[record["line"] - 1], k=3)
        assert [one["sentence"] for one in record["rewritings"]] == [one.sentence for one in found]
        for one in record["rewritings"]:
            total = sum(WEIGHTS.get(name, 0.0) * x for name, x in one["features"].items())
            assert one["score"] == pytest.approx(total, abs=1e-5)


def test_what_the_command_line_refuses(made, tmp_path, run):
    (tmp_path / "in").write_text("a b\n")
    pack, index = made / "pack", made / "index"
    (tmp_path / "w").write_text("LM\t1\nnowhere\t2\n")
    _, told = run(
        "rewrite", pack, tmp_path / "in", "--index", index, "--weights", tmp_path / "w", status=1
    )
    assert "w, line 2: nowhere is no feature of" in told and "remove the line" in told
    (tmp_path / "w").write_text("LM\tx\n")
    _, told = run(
        "rewrite", pack, tmp_path / "in", "--index", index, "--weights", tmp_path / "w", status=1
    )
    assert "w, line 1: 'LM\\tx' is no weight: write feature<TAB>number" in told
    (tmp_path / "w").write_text("LM\t-1\n")
    _, told = run(
        "rewrite", pack, tmp_path / "in", "--index", index, "--weights", tmp_path / "w", status=1
    )
    assert "the weight of LM is -1.0: give it one above 0" in told
    _, told = run("rewrite", pack, tmp_path / "in", status=1)
    assert "name the language model, an index or an ARPA file, with --index" in told
    (tmp_path / "trees").write_text("(X a)\n\n")
    _, told = run(
        "rewrite", pack, tmp_path / "in", "--index", index, "--trees", tmp_path / "trees", status=1
    )
    assert "2 lines for 1 sentence:" in told
    (tmp_path / "bad").write_bytes(b"\xff\n")
    _, told = run("rewrite", pack, tmp_path / "bad", "--index", index, status=1)
    assert "bad, line 1, byte 1: not UTF-8 (found 0xff" in told
    _, told = run("rewrite", pack, tmp_path / "in", "--index", index, "--length", "0", status=1)
    assert "--length 0.0: choose a share above 0" in told
    _, told = run("rewrite", pack, tmp_path / "in", "--index", index, "--length", 1e300, status=1)
    assert "--length 1e+300: choose a share above 0, such as .7, 10 at most" in told
    with pytest.raises(ParameterError, match="`penalty` -1: choose 0 or more"):
        tuning.TuneOptions(penalty=-1)


def test_a_pack_of_another_normaliser_is_read_through_the_model_s(tmp_path, made, run):
    (tmp_path / "rules").write_text(
        "[X] ||| Old ||| ELDERLY ||| p=0.1\n[X] ||| Zz ||| Yy ||| p=1\n"
    )
    pack_grammar(tmp_path / "rules", tmp_path / "pack", options=PackOptions(weights={"p": 1.0}))
    rewriter = Rewriter(
        GrammarIndex.open(tmp_path / "pack"), IndexModel(CorpusIndex.open(made / "index")),
        weights=Weights({"LM": 1.0, "Kept": -9.0, "Deleted": -99.0}),
    )  # fmt: skip
    assert rewriter.rewrite("Old town", k=1)[0].sentence == "ELDERLY town"
    assert rewriter.grammar.share_known == 0.5
    (tmp_path / "rules").write_text("[NP] ||| Zz [PP,1] ||| Yy [PP,1] ||| p=1\n")
    pack_grammar(tmp_path / "rules", tmp_path / "other", options=PackOptions(weights={"p": 1.0}))
    (tmp_path / "in").write_text("Zz town\n")
    out, told = run(
        "rewrite", tmp_path / "other", tmp_path / "in", "--index", made / "index", "-n", "1"
    )
    assert "the language model knows 0% of its words" in told
    assert out.rstrip().split("\t")[3] in ("Zz town", "town")


def test_a_rule_has_one_score_whatever_rules_are_scored_with_it():
    draw = np.random.default_rng(3)
    features = draw.random((200, 37))

    class Grammar:
        feature_names = tuple(f"f{n}" for n in range(37))
        index = range(200)

        def all_features(self, rules, sources, names):
            return features[rules]

    weights = Weights({name: float(draw.normal()) for name in Grammar.feature_names})
    rules = np.arange(200)
    together = RuleScores(Grammar(), weights).fill(rules, rules)
    alone = RuleScores(Grammar(), weights)
    for some in (rules[:1], rules[1:4], rules[4:21], rules):
        alone.fill(some, some)
    assert alone.values.tobytes() == together.tobytes()


def test_tuning_finds_what_people_do(made, tmp_path, run):
    sources = ["the old king of the city slept", "the city and the king", "old city", "the city"]
    (tmp_path / "source").write_text("".join(f"{one}\n" for one in sources))
    (tmp_path / "people").write_text("".join(f"{one.replace('city', 'town')}\n" for one in sources))
    files = ["tune", made / "pack", tmp_path / "source", "--references", tmp_path / "people",
             "--index", made / "index", "--weights", made / "weights",
             "--set", "pops=10"]  # fmt: skip
    more = ["--set", "n=20", "--set", "iterations=4"]
    _, told = run(*files, *more, "-o", tmp_path / "one", "-j", "1")
    assert "iteration 1: sari" in told
    run(*files, *more, "-o", tmp_path / "two", "-j", "2")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    text = (tmp_path / "one").read_text()
    assert text.startswith("# tuned for sari on 4 sentences of source with 1 reference each: ")
    weights = Weights.read(tmp_path / "one")
    assert weights.get("LM") > 0
    assert (
        rewriter_of(made, weights=dict(weights.values))
        .rewrite("old city", k=1)[0]
        .sentence.endswith("town")
    )
    for objective in ("bleu", "precis"):
        settings = ("n=5", "iterations=2", f"objective={objective}", "without=p,D*")
        run(*files, *(word for one in settings for word in ("--set", one)), "-o",
            tmp_path / objective)  # fmt: skip
        assert "\np\t" not in (tmp_path / objective).read_text()
    _, told = run(*files, "--set", "n=0", "-o", tmp_path / "three", status=1)
    assert "n 0: choose 1 or more" in told and not (tmp_path / "three").exists()


@pytest.mark.parametrize(("objective", "floor"), [("sari", 0), ("sari", 90), ("bleu", 0)])
def test_the_loss_of_expected_counts_and_its_derivative(objective, floor):
    draw = np.random.default_rng(1)
    count = {"sari": lambda: draw.integers(1, 9, 34).astype(float), "bleu": lambda: draw.random(2)}
    known = [
        {str(k): (draw.normal(size=3), count[objective]()) for k in range(size)}
        for size in (1, 0, 2, 5)
    ]
    lists = tuning._RewritingLists.of(known)
    goal = tuning.measure(tuning.TuneOptions(objective, floor))
    weights = np.array([0.3, -0.7, 0.2])

    def loss(weights):
        return tuning._loss(lists, lists.rows, goal, weights)

    expected = 0.0  # by hand: p of a list's rewriting is as e to its weights times its features
    for one in filter(None, known):
        chances = [math.exp(float(row @ weights)) for row, _ in one.values()]
        for p, (_, counts) in zip(chances, one.values(), strict=True):
            expected = expected + p * counts / sum(chances)
    value, slope = loss(weights)
    assert value == pytest.approx(-goal.value(expected))  # the penalty is the minimiser's
    for k in range(3):
        step = np.eye(3)[k] * 1e-6
        around = (loss(weights + step)[0] - loss(weights - step)[0]) / 2e-6
        assert slope[k] == pytest.approx(around, abs=1e-7)


@pytest.mark.extra
def test_bleu_of_a_corpus_is_sacrebleu_s():
    sacrebleu = pytest.importorskip("sacrebleu")
    draw = random.Random(3)

    def drawn():
        return [" ".join(draw.choices("abc", k=draw.randint(5, 12))) for _ in range(20)]

    said, people = drawn(), [drawn(), drawn()]
    counts = sum(
        Bleu([one.split() for one in some]).counts(text.split())
        for text, *some in zip(said, *people, strict=True)
    )
    wanted = sacrebleu.corpus_bleu(said, people, tokenize="none", force=True).score
    assert 100 * corpus_bleu(counts)[0] == pytest.approx(wanted)


def test_a_floor_of_bleu_keeps_a_tuned_rewriter_near_the_references(made, tmp_path, run):
    (tmp_path / "source").write_text("the old king of the city slept\n" * 2)
    (tmp_path / "people").write_text("the old king of the city slept\n" * 2)
    files = ["tune", made / "pack", tmp_path / "source", "--references", tmp_path / "people",
             "--index", made / "index", "--set", "iterations=2", "--set", "n=20",
             "--weights", made / "weights"]  # fmt: skip
    run(*files, "--set", "bleu_floor=95", "-o", tmp_path / "out")
    assert ", BLEU floor 95" in (tmp_path / "out").read_text()
    weights = dict(Weights.read(tmp_path / "out").values)
    best = rewriter_of(made, weights=weights).rewrite("the old king of the city slept", k=1)[0]
    assert best.sentence == "the old king of the city slept"
    _, told = run(*files, "--set", "bleu_floor=100", "-o", tmp_path / "no", status=1)
    assert "bleu_floor 100.0: choose 0 or more, and less than 100" in told


def test_articles_and_capitals_follow_what_is_put_in(made):
    rewriter = rewriter_of(made)
    assert rewriter.grammar.codes(["City"])[0] == rewriter.grammar.codes(["city"])[0]
    assert rewriter.grammar.codes(["a", "City"])[1] == -1  # a name
    found = {one.sentence: one for one in rewriter.rewrite("City of the king", k=400)}
    assert "Town of the king" in found and "town of the king" not in found
    assert "an elderly king" in {one.sentence for one in rewriter.rewrite("a old king", k=400)}


def test_a_word_is_put_in_the_form_that_its_place_asks_for(made):
    class Plurals:
        def agreeing(self, left, target, right, candidates):
            return [f"{one}s" if target == "city" else one for one in candidates]

        def replacements(self, left, target, right, candidates):
            told = np.zeros((len(candidates), len(REPLACEMENT)))
            told[:, 0] = [one.endswith("s") for one in candidates]
            return told

    plain = rewriter_of(made)
    rewriter = Rewriter(plain.grammar.index, plain.model, weights=plain.weights, words=Plurals())
    found = {one.sentence: one for one in rewriter.rewrite("the old city", k=400)}
    assert "the old town" not in found
    one = found["the elderly towns"]
    steps = {step.after: step for step in one.steps}
    assert set(steps) == {"elderly", "towns"}
    assert [step.features.get("Substitute") for step in steps.values()] == [None, 1.0]
    assert one.features["LM"] == pytest.approx(plain.model.log_probability(one.sentence.split()))


def test_features_of_the_whole_rank_a_list_again(made):
    text = "the old king of the city slept"
    plain = rewriter_of(made).rewrite(text, k=400)
    whole = {"Unchanged": -3.0, "TwoChanges": -1.0, "MoreChanges": -1.5}
    found = rewriter_of(made, weights=WEIGHTS | whole, ranked_again=400).rewrite(text, k=400)
    assert {one.sentence for one in found} == {one.sentence for one in plain}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    before = {one.sentence: one for one in plain}
    for one in found:
        counted = [one.features.get(name, 0.0) for name in whole]
        changes = sum(step.before != step.after for step in one.steps)
        assert counted == [one.sentence == text, changes > 1, changes > 2]
        own = sum(value * weight for value, weight in zip(counted, whole.values(), strict=True))
        assert one.score == pytest.approx(before[one.sentence].score + own)
    assert len(rewriter_of(made, weights=WEIGHTS | whole).rewrite(text, k=2)) == 2


@pytest.mark.parametrize("text", ["the old king of the city slept", "king and city of zebra"])
def test_steps_tell_which_tokens_they_cover(made, text):
    tokens = text.split()
    several = 0
    for one in rewriter_of(made, pops=500).rewrite(text, k=300):
        gaps_at = {}
        for step in one.steps:
            covered = tokens[step.start : step.stop]
            sides = re.split(r"\[\w+,\d\]", step.before)
            pattern = "(.+)".join(re.escape(side) for side in sides)
            assert re.fullmatch(pattern, " ".join(covered)), (step, covered)
            several += len(sides) > 2
            gaps_at[step.start, step.stop] = step
        # Places of steps nest or stand apart, as the parts of a tree.
        for a, b in gaps_at:
            assert not any(a < c < b < d for c, d in gaps_at)
    assert several


def test_what_is_counted_of_a_rule(made):
    steps = {
        (step.before, step.after): step.features
        for text in ("old king", "city")
        for one in rewriter_of(made).rewrite(text, k=100)
        for step in one.steps
    }
    model = rewriter_of(made).model
    city = steps["city", "town"]
    assert city["SourceRarity"] == city["SourceRarest"] == pytest.approx(model.rarity(["city"])[0])
    assert city["SourceChars"] == 4.0 and "SameStem" not in city and "Numbers" not in city
    assert steps["old", "elderly"]["SourceChars"] == 3.0


@pytest.mark.parametrize("tree", [None, "(S (NP (DT the) (NN king)) (VP (VBD slept)) (. .))"])
def test_what_is_counted_of_what_is_left_out(made, tree):
    text = "the king slept ."
    found = rewriter_of(made, length=0.5).rewrite(text, k=40, tree=tree)
    assert any(one.features.get("Deleted") for one in found)
    for one in found:
        dropped = {name: n for name, n in one.features.items() if name.startswith("Dropped(")}
        assert sum(dropped.values()) == one.features.get("Deleted", 0.0)
        assert (set(dropped) <= {"Dropped(word)", "Dropped(.)"}) == (tree is None or not dropped)
        spans = [(step.start, step.stop) for step in one.steps if step.label == "deleted"]
        at_start = sum(start == 0 for start, _ in spans)
        at_end = sum(start < 3 <= stop for start, stop in spans)
        assert one.features.get("AtStart", 0.0) == at_start
        assert one.features.get("AtEnd", 0.0) == at_end
        # of its constituents only NP, 0 to 2, can lose one end, S is whole
        torn = sum(0 < start < 2 < stop for start, stop in spans)
        assert one.features.get("Torn", 0.0) == (torn if tree else 0.0)
    # without a length only what there was before is counted
    plain = rewriter_of(made).rewrite(text, k=40, tree=tree)
    told = {name for one in plain for name in one.features}
    assert not any(name.startswith("Dropped(") or name == "AtEnd" for name in told)


def test_words_to_be_avoided_come_last_in_lists_ranked_again(made):
    text, tree = "the city slept", "(S (NP (DT the) (NN city)) (VP (VBD slept)))"
    weights = WEIGHTS | {"Unchanged": 90.0}
    own = rewriter_of(
        made, weights=weights, avoid=("city",), deletes=False, pops=10**6, ranked_again=10**4
    )
    found = own.rewrite(text, k=10**4, tree=tree)
    has = ["city" in one.sentence.split() for one in found]
    assert any(has) and not has[0] and has == sorted(has)


def _drawn_forest(seed):
    """Return a forest with scores that are whole numbers, so that many are alike, and its rules."""
    draw = np.random.default_rng(seed)
    n_items, n_rules = 12, 8
    targets = [[-1, -2]]
    for _ in range(n_rules - 1):
        some = draw.integers(0, 3, draw.integers(0, 3)).tolist()
        targets.append([*some, *[-1, -2][: draw.integers(0, 3)]])
    starts = np.cumsum([0, *map(len, targets)])
    edges, scores, first = [], [], [-1]
    for item in range(1, n_items):
        first.append(-1)
        for _ in range(draw.integers(1, 5)):
            rule = int(draw.integers(0, n_rules))
            n_gaps = sum(symbol < 0 for symbol in targets[rule])
            children = [int(draw.integers(0, item)) if k < n_gaps else -1 for k in range(2)]
            edges.append([rule, *children, first[item]])
            first[item] = len(edges) - 1
            scores.append(float(-draw.integers(0, 3)))
    items = np.full((n_items, 5), -1)
    items[:, 2] = first
    goal = np.array([[item, float(-draw.integers(0, 3))] for item in (n_items - 1, n_items - 3)])
    forest = Forest(
        items, np.zeros((n_items, 2)), np.array(edges), np.array(scores), goal, -1
    )  # fmt: skip
    return forest, np.array([s for some in targets for s in some], np.int64), starts


@pytest.mark.parametrize("seed", range(20))
def test_the_best_derivations_are_those_of_the_twin(seed):
    forest, targets, starts = _drawn_forest(seed)
    same = np.array([0, 1, 1])  # two words are written alike
    twin = NaiveDerivations(forest, targets, starts, same)
    wanted, seen = [], set()
    for _, item, rank in islice(twin.best(), 3000):
        words = twin.symbols(item, rank)
        text = tuple(same[list(words)].tolist())
        if words and text not in seen:
            seen.add(text)
            wanted.append((words, list(twin.nodes(item, rank))))
    for most in (0, 1, 2, 65, len(wanted)):
        found = best(forest, targets, starts, same, most)
        assert [(one.words, [tuple(node) for node in one.nodes]) for one in found] == wanted[:most]


ARPA = (
    "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1.0\t<s>\t-0.5\n-0.7\t</s>\n"
    "-0.4\told\t-0.2\n{}\tcity\n\n\\2-grams:\n-0.1\t<s> old\n-0.3\told </s>\n\n\\end\\\n"
)


def test_a_file_is_gone_on_with_by_the_same_language_model_alone(made, tmp_path, run):
    """Models are told apart by what they hold: not by their names, nor by the counts of words."""
    (tmp_path / "in").write_text("old city\n")
    for folder, value in (("one", "-2.0"), ("two", "-0.1"), ("three", "-2.0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lm.arpa").write_text(ARPA.format(value))
    turned = [line.split()[::-1] for line in TEXT]
    CorpusIndex.build([write_lines(tmp_path / "text", turned)], tmp_path / "index")
    command = ("rewrite", made / "pack", tmp_path / "in", "--weights", made / "weights", "--index")
    models = (made / "index", tmp_path / "index")
    for first, second in ([tmp_path / name / "lm.arpa" for name in ("one", "two")], models):
        out = tmp_path / f"out-{first.name}"
        run(*command, first, "-o", out)
        written = out.read_bytes()
        run(*command, first, "-o", out)
        _, told = run(*command, second, "-o", out, status=1)
        assert f"{out.name}, line 1: was begun with other settings" in told
        assert out.read_bytes() == written
    run(*command, tmp_path / "three" / "lm.arpa", "-o", tmp_path / "out-lm.arpa")


def test_rewriting_into_a_pipe(made, tmp_path, run):
    (tmp_path / "in").write_text("old city\nthe old king slept\n")
    command = ["rewrite", made / "pack", tmp_path / "in", "--index", made / "index"]
    command += ["--weights", made / "weights"]
    run(*command, "-o", tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.daemon = True
    reader.start()
    run(*command, "-o", tmp_path / "pipe")
    reader.join(60)
    assert found == [(tmp_path / "file").read_bytes()]
    run(*command, "-o", "/dev/null")
    run(*command, "-o", "/dev/null")


@pytest.mark.parametrize("name", ["a\nb", "a\rb\tc", "a\x85b", os.fsdecode(b"caf\xe9"), "# a"])
def test_weights_are_written_and_read_whatever_files_are_called(made, tmp_path, run, name):
    (tmp_path / name).write_text("old city\n")
    (tmp_path / f"lm {name}").write_text(ARPA.format("-0.1"))
    run(
        "tune", made / "pack", tmp_path / name, "--references", tmp_path / name, "--index",
        tmp_path / f"lm {name}", "--weights", made / "weights", "--set", "iterations=1", "--set",
        "n=2", "-o", tmp_path / "w",
    )  # fmt: skip
    weights = Weights.read(tmp_path / "w")
    assert weights.get("LM") > 0 and len(weights.notes) == 3
    assert all(note.isprintable() for note in weights.notes)
    assert name.isprintable() == (f"of {name} with" in weights.notes[0])


def test_features_left_out_that_are_no_text(made, tmp_path, run):
    (tmp_path / "in").write_text("old city\n")
    _, told = run(
        "tune", made / "pack", tmp_path / "in", "--references", tmp_path / "in", "--index",
        made / "index", "--weights", made / "weights", "--set",
        os.fsdecode(b"without=p\xff"), "-o", tmp_path / "w", status=None,
    )  # fmt: skip
    assert "is not UTF-8" in told and not (tmp_path / "w").exists()


def test_more_sentences_than_memory_holds_are_refused_at_their_line(tmp_path, monkeypatch):
    from distsim.paraphrase.rewriting import sentence_batch

    monkeypatch.setattr(sentence_batch, "_MOST_SENTENCES", 3)
    text = tmp_path / "text"
    text.write_text("a\n" * 3)
    assert len(sentence_batch.read_tasks([text], None)) == 3
    text.write_text("a\n" * 4)
    with pytest.raises(InputError, match="line 4: is sentence 4: rewrite at most 3 at a time"):
        sentence_batch.read_tasks([text], None)


def test_running_text_is_cut_into_tokens(tmp_path):
    from distsim.paraphrase.rewriting.sentence_batch import read_tasks

    text, formats = tmp_path / "text", []
    text.write_text("The king, he  said.\nNo!\n")
    tasks = read_tasks([text], None, report=formats.append)
    assert [task.text for task in tasks] == ["The king , he said .", "No !"]
    tasks = read_tasks([text], None, text_format="lines")
    assert [task.text for task in tasks] == ["The king, he  said.", "No!"]
    (tmp_path / "trees").write_text("(S a)\n\n")
    assert read_tasks([text], tmp_path / "trees")[0].text == "The king, he  said."
    text.write_text("the king  , he said .\n")
    assert read_tasks([text], None, report=formats.append)[0].text == "the king  , he said ."
    assert formats == ["text", "lines"]


@pytest.mark.parametrize("cut", ["do n't", "don 't"], ids=["Penn", "at the apostrophe"])
@pytest.mark.parametrize("written", ["do n't", "don 't", "don &apos;t", "do n’t", "don ’t"])
def test_negations_are_looked_up_as_text_and_rules_have_them(tmp_path, cut, written):
    (tmp_path / "rules").write_text(
        f"[X] ||| {cut} want ||| refuse ||| p=1\n[X] ||| a large number of ||| many ||| p=1\n"
    )
    pack_grammar(tmp_path / "rules", tmp_path / "pack", options=PackOptions(weights={"p": 1.0}))
    text = [f"they {cut} see many kings .".split(), ["they", "refuse", "it", "."]] * 9
    CorpusIndex.build([write_lines(tmp_path / "text", text)], tmp_path / "index")
    rewriter = rewriter_of(tmp_path, length=None)
    best = {
        one: rewriter.rewrite(f"they {one} see a large number of kings .", k=1)[0]
        for one in (cut, written)
    }
    assert best[written].sentence == f"they {written} see many kings ."
    assert best[written].score == pytest.approx(best[cut].score)
    assert rewriter.rewrite(f"they {written} want it .", k=1)[0].sentence == "they refuse it ."
    lost = LabelledSentence(f"they {written} sleep").told_of(Operation(2, 3, "word"))
    assert "LostNegation" in lost
