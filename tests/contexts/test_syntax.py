"""Syntactic features: hand-worked sentences, the naive twin, and the labels of spans."""

import random

import numpy as np
import pytest

from distsim import ParameterError
from distsim.contexts.syntax.counting import FeatureCounter, OccurrenceStore, named_contexts
from distsim.contexts.syntax.model import FAMILIES, SyntaxModel
from distsim.contexts.weights import Weighting
from distsim.corpus.annotated import read_annotated
from distsim.corpus.annotation import AnnotatedSentence, Arc, Constituent, TreeReader
from distsim.corpus.vocabulary import hash_texts
from tests.conftest import SHARED
from tests.naive import syntax as naive_syntax

GUM = SHARED / "data" / "gum-annotated"


def features(sentence, phrase, **switches):
    found = named_contexts([sentence], phrase, SyntaxModel(**switches))
    assert all(count == weight for _, count, weight in found)
    return {name: count for name, count, _ in found}


@pytest.fixture
def figure():
    """The sentence around `the long-term` in figure 5.2 of the thesis."""
    tree = TreeReader().parse(
        "(ROOT (S (VP (VBG holding) (PRT (RP on)) (PP (TO to) (NP (DT the) (JJ long-term) "
        "(NN investment))))))"
    )
    return AnnotatedSentence(
        words=["holding", "on", "to", "the", "long-term", "investment"],
        lemmas=["hold", "on", "to", "the", "long-term", "investment"],
        pos=tree.tags,
        ner=["o"] * 6,
        heads=[-1, 0, 5, 5, 5, 0],
        types=["root", "compound:prt", "case", "det", "amod", "obl"],
        enhanced=[Arc(4, 5, "amod"), Arc(5, 0, "obl:to")],
        nodes=tree.nodes,
    )


def test_figure_of_the_thesis(figure):
    found = features(figure, "the long-term")
    # Seen in the figure: position-aware n-grams, links to the governor, the label NP/NN.
    assert found["l_lex_on_to_2"] == 1
    assert found["r_lex_investment_1"] == 1
    assert found["r_pos_NN_1"] == 1
    assert found["r_dep_amod_lex_investment"] == 1
    assert found["r_syn_pref_NP"] == 1
    assert found["r_syn_miss_NN"] == 1
    # And all the rest, by hand.
    assert {name for name in found if name[:5] in ("l_lex", "r_lex")} == {
        "l_lex_to_1", "l_lex_on_2", "l_lex_holding_3", "l_lex_on_to_2", "l_lex_holding_on_3",
        "r_lex_investment_1",
    }  # fmt: skip
    assert {name for name in found if "_ner_" in name} == {
        "l_ner_o_1", "l_ner_o_2", "l_ner_o_3", "l_ner_o_o_2", "l_ner_o_o_3", "r_ner_o_1",
        "r_dep_det_ner_o", "r_dep_amod_ner_o", "r_edep_amod_ner_o",
    }  # fmt: skip
    assert {name for name in found if "dep" in name and "_lex_" in name} == {
        "r_dep_det_lex_investment", "r_dep_amod_lex_investment", "r_edep_amod_lex_investment",
    }  # fmt: skip
    assert not any(name.startswith(("c_", "l_syn", "l_gov", "r_gov")) for name in found)
    assert sum(found.values()) == 4 * 6 + 4 * 3 + 2


def test_a_constituent_with_its_head(figure):
    found = features(figure, "the long-term investment")
    assert found["c_syn_span_NP"] == 1
    # `to` hangs on `investment` and stands outside: no complete subtree, no head.
    assert not any(name.startswith("c_head") for name in found)
    assert found["l_gov_case_pos_TO"] == 1
    assert found["l_dep_obl_lem_hold"] == 1
    assert found["l_edep_obl:to_lex_holding"] == 1
    # PP\TO: with `to` on its left it is a PP.
    assert found["l_syn_suff_PP"] == found["l_syn_miss_TO"] == 1
    found = features(figure, "to the long-term investment")
    assert {name for name in found if name.startswith("c_")} == {
        "c_syn_span_PP", "c_head_lex_investment", "c_head_lem_investment", "c_head_pos_NN",
        "c_head_ner_o",
    }  # fmt: skip


def test_the_root(figure):
    found = features(figure, "holding", families=("dep", "enhanced"))
    assert {name for name in found if "_dep_" in name} == {
        f"l_dep_root_{kind}_ROOT" for kind in ("lex", "lem", "pos", "ner")
    }
    assert found["r_gov_compound:prt_lex_on"] == 1
    assert found["r_egov_obl:to_pos_NN"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP (DT the) (NN end)) (. .))",
        "( (S (NP-SBJ-1 (DT the) (NN end)) (VP (-NONE- *-1)) (. .)) )",
        "((S (NP=2 (DT-NK the) (NN-SB end)) (NP (-NONE- *T*)) (. .)))",
        "(ROOT ((S (NP:ON (DT:- the) (NN##g=m|n=s## end)) (. .))))",
        "( (TOP (S (NP-TMP (DT the) (NN end)) (. .))) )",
        "(TOP\t(S\t(NP\t(DT\tthe) (NN end)) ( (. .)))\r)",
    ],
)
def test_functions_traces_and_brackets_of_other_treebanks_are_no_labels(text):
    tree = TreeReader().parse(text)
    assert [tuple(node) for node in tree.nodes] == [
        (0, 3, "S"), (0, 2, "NP"), (0, 1, "DT"), (1, 2, "NN"), (2, 3, "."),
    ]  # fmt: skip
    assert (tree.leaves, tree.tags) == (["the", "end", "."], ["DT", "NN", "."])


def test_marks_and_roots_inside_are_labels():
    tree = TreeReader().parse("(S (: :) (-LRB- -LRB-) (# #) (ROOT (NN x)))")
    assert tree.tags == [":", "-LRB-", "#", "NN"]
    assert [node.label for node in tree.nodes] == ["S", ":", "-LRB-", "#", "ROOT", "NN"]


def test_unary_chains_and_repeated_labels():
    nodes = TreeReader().parse("(ROOT (NP (NP (NP (NN a)) (NP (NN b))) (PP (IN c))))").nodes
    sentence = AnnotatedSentence(list("abc"), list("abc"), ["NN", "NN", "IN"], ["o"] * 3,
                                 [-1, 0, 1], ["root", "x", "y"], nodes=nodes)  # fmt: skip
    found = features(sentence, "a", families=("constituent", "ccg"))
    # Over `a`: NP and NN. NP/NP and NP/NN: with `b` it is an NP. Missing `b c`: no node.
    assert found == {
        "c_syn_span_NP": 1, "c_syn_span_NN": 1, "r_syn_pref_NP": 2, "r_syn_miss_NP": 1,
        "r_syn_miss_NN": 1,
    }  # fmt: skip
    found = features(sentence, "c", families=("constituent", "ccg"))
    assert found == {"c_syn_span_PP": 1, "c_syn_span_IN": 1, "l_syn_suff_NP": 1, "l_syn_miss_NP": 1}
    twice = AnnotatedSentence(["a"], ["a"], ["N"], ["o"], [-1], ["root"],
                              nodes=[Constituent(0, 1, "NP"), Constituent(0, 1, "NP")])  # fmt: skip
    assert features(twice, "a", families=("constituent",)) == {"c_syn_span_NP": 2}


def test_tokens_without_head_belong_to_no_subtree():
    sentence = AnnotatedSentence(["a", ",", "b"], ["a", ",", "b"], ["X"] * 3, ["o"] * 3,
                                 [-1, -2, 0], ["root", "_", "x"])  # fmt: skip
    assert "c_head_lex_b" in features(sentence, "b", families=("head",))
    assert features(sentence, ",", families=("head", "dep")) == {}
    assert features(sentence, ", b", families=("head",)) == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_switches(figure, family):
    for kinds in (("lex",), ("pos", "ner")):
        for window in (1, 2, 4):
            expected = naive_syntax.corpus_features(
                [figure], families=(family,), kinds=kinds, window=window
            )
            for phrase in ("to", "the long-term", "holding"):
                found = features(figure, phrase, families=(family,), kinds=kinds, window=window)
                assert found == dict(expected[phrase][1])


def drawn_tree(draw, low, high, nodes):
    label = draw.choice(["NP", "VP", "S"])
    nodes.append(Constituent(low, high, label))
    if draw.random() < 0.3:
        nodes.append(Constituent(low, high, draw.choice(["NP", "VP", label])))
    if high - low == 1:
        nodes.append(Constituent(low, high, draw.choice(["N", "V"])))
        return
    cuts = sorted({low, high, *(draw.randint(low, high) for _ in range(draw.randint(1, 3)))})
    if len(cuts) == 2:
        cuts.insert(1, draw.randint(low + 1, high - 1))
    for a, b in zip(cuts, cuts[1:], strict=False):
        drawn_tree(draw, a, b, nodes)


def drawn_sentence(draw, n):
    """A sentence with everything in it; underscores make different n-grams spell alike."""
    words = [draw.choice(["a", "b", "a_b", "b_a", "é"]) for _ in range(n)]
    order = draw.sample(range(n), n)
    heads = [0] * n
    for place, token in enumerate(order):
        heads[token] = order[draw.randrange(place)] if place else -1
    loose = [i for i in range(n) if heads[i] >= 0 and i not in heads and draw.random() < 0.1]
    for i in loose:
        heads[i] = -2

    def graph():
        arcs = [Arc(draw.randrange(n), draw.randrange(-1, n), draw.choice("xy")) for _ in range(n)]
        return [arc for arc in arcs if arc.dependent != arc.governor]

    nodes = []
    if draw.random() < 0.8:
        drawn_tree(draw, 0, n, nodes)
    return AnnotatedSentence(
        words, [w.upper() for w in words], [draw.choice("NV") for _ in range(n)],
        [draw.choice(["o", "per"]) for _ in range(n)], heads,
        [draw.choice(["subj", "obj"]) for _ in range(n)], graph(), graph(), graph(), nodes,
    )  # fmt: skip


def counted(sentences, folder, model, min_count=1, longest=4, memory=1 << 20, block_tokens=1 << 16):
    """Return {phrase: (count, {hash: count})} by the kernels, and what `named` says."""
    folder.mkdir(exist_ok=True)
    store = OccurrenceStore(folder, memory, longest, block_tokens)
    corpus = store.read(sentences)
    counter = FeatureCounter(corpus, model)
    found, named = {}, {}
    for batch in store.phrases(min_count):
        text, ends = counter.render(batch)
        rows = counter.count(batch)
        for p, strength in enumerate(batch.strengths.tolist()):
            phrase = text[ends[p] : ends[p + 1]].tobytes().decode()
            row = slice(rows.starts[p], rows.starts[p + 1])
            hashes = rows.hashes[row].tolist()
            assert len(set(hashes)) == len(hashes)
            found[phrase] = (strength, dict(zip(hashes, rows.counts[row].tolist(), strict=True)))
            assert batch.phrases[p] == hash_texts([phrase.encode()])[0]
            named[phrase] = counter.named(batch.occurrences[batch.starts[p] : batch.starts[p + 1]])
    store.close()
    return found, named


def hashed(counts):
    names = list(counts)
    hashes = hash_texts([name.encode() for name in names]).tolist()
    return dict(zip(hashes, (counts[name] for name in names), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_naive_twin(tmp_path, seed):
    draw = random.Random(seed)
    sentences = [drawn_sentence(draw, n) for n in [1, 2, 3, 5, 9, draw.randint(1, 30)]]
    window, min_count = draw.randint(1, 4), draw.randint(1, 3)
    expected = naive_syntax.corpus_features(sentences, min_count=min_count, window=window)
    found, named = counted(iter(sentences), tmp_path, SyntaxModel(window=window), min_count)
    assert set(found) == set(expected)
    for phrase, (count, counts) in expected.items():
        assert found[phrase] == (count, hashed(counts))
        assert named[phrase] == dict(counts)


def test_blocks_and_memory_do_not_matter(tmp_path):
    draw = random.Random(5)
    sentences = [drawn_sentence(draw, draw.randint(1, 12)) for _ in range(120)]
    model = SyntaxModel()
    whole, _ = counted(iter(sentences), tmp_path / "a", model)
    for memory, block in ((1 << 16, 1), (1 << 16, 50), (1 << 20, 7)):
        assert counted(iter(sentences), tmp_path / "b", model, 1, 4, memory, block)[0] == whole


def test_long_sentences(tmp_path):
    """Distances to the sentence's edges are kept in a byte each."""
    sentence = drawn_sentence(random.Random(3), 300)
    expected = naive_syntax.corpus_features([sentence], families=("ngram", "dep"))
    found, _ = counted([sentence], tmp_path, SyntaxModel(families=("ngram", "dep")))
    assert found == {p: (n, hashed(counts)) for p, (n, counts) in expected.items()}


def test_contexts_of_what_does_not_occur(figure):
    assert named_contexts([figure], "elephant") == []
    assert named_contexts([figure], "a b c d e f g h i") == []
    assert named_contexts([figure], "On To")[0][1] == 1
    with pytest.raises(ParameterError, match="empty"):
        named_contexts([figure], "  ")
    with pytest.raises(ParameterError, match="choose raw or log"):
        named_contexts([figure], "to", weighting=Weighting("ppmi"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"families": ("verbs",)}, "features 'verbs': choose one of ngram, constituent"),
        ({"kinds": ("upos",)}, "kinds 'upos': choose one of lex, lem"),
        ({"families": ()}, "features: none chosen"),
        ({"window": 5}, "window 5: choose 1 to 4"),
    ],
)
def test_wrong_switches(settings, said):
    with pytest.raises(ParameterError, match=said):
        SyntaxModel(**settings)


def test_gum_against_the_naive_twin(tmp_path):
    if not GUM.exists():
        pytest.skip("needs ../shared/data/gum-annotated")
    sentences = list(read_annotated([GUM / "gum-free.conllu.gz"], trees=[GUM / "gum-free.ptb.gz"]))
    some = sentences[2000:2060]
    expected = naive_syntax.corpus_features(some, min_count=2)
    found, _ = counted(iter(some), tmp_path, SyntaxModel(), 2)
    assert found == {p: (n, hashed(counts)) for p, (n, counts) in expected.items()}
    assert np.sum([sum(counts.values()) for _, counts in expected.values()]) > 10_000
