"""Rewriting by rules with gaps and labels: on sentences that have a construction, and on others."""

import pytest

from distsim import CorpusIndex
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.paraphrase.rewriting import Rewriter
from distsim.paraphrase.rewriting.language_model import IndexModel
from distsim.paraphrase.rewriting.rewriting_features import restructures
from tests.conftest import write_lines

RULES = r"""
[NP] ||| the [NN,1] under [NNP,2] ||| [NNP,2] 's [NN,1] ||| p(e|f)=0.3 p(f|e)=0.4
[VP] ||| lent [NP,1] [NP,2] ||| lent [NP,2] to [NP,1] ||| p(e|f)=0.3 p(f|e)=0.4
[VP] ||| showed [NP,1] [NP,2] ||| revealed [NP,2] to [NP,1] ||| p(e|f)=0.3 p(f|e)=0.4
[VP] ||| passed [NP,1] [NP,2] ||| passed [NP,2] to [NP,1] ||| p(e|f)=5 p(f|e)=4
[X] ||| [X,1] with [X,2] ||| [X,2] 's [X,1] ||| p(e|f)=0.3 p(f|e)=0.4
[NP] ||| [NP,1] above [NP,2] ||| [NP,2] 's [NP,1] ||| p(e|f)=0.3 p(f|e)=0.4
[NP] ||| zebra ||| zebra zebra ||| p(e|f)=0.3 p(f|e)=0.4
"""
TEXT = [
    "the king of france gave the book to him", "france 's king lent the book to her",
    "all the men wrote it", "she wrote the book", "the king was seen by the men",
]  # fmt: skip
HIM, BOOK = "(NP (PRP him))", "(NP (DT the) (NN book))"
FRANCE = "(PP (IN of) (NP (NNP France)))"
BY_HER = "(PP (IN by) (NP (PRP her)))"


def written(subject, verb, agent, was="was"):
    passive = f"(VP (VBN {verb}) {agent})"
    return f"(S {subject} (VP (VBD {was}) {passive}) (. .))"


def gave(verb, recipient, thing):
    return f"(S (NP (PRP she)) (VP (VBD {verb}) {recipient} {thing}) (. .))"


def slept(phrase):
    return f"(S {phrase} (VP (VBD slept)) (. .))"


HAVE = [
    (gave("gave", HIM, BOOK), "she gave the book to him ."),
    (gave("bought", HIM, BOOK), "she bought the book for him ."),
    (gave("told", "(NP (DT the) (NNS men))", BOOK), "she told the book to the men ."),
    (slept(f"(NP (NP (DT the) (NN king)) {FRANCE})"), "France 's king slept ."),
    (slept("(NP (NP (DT The) (NN daughter)) (PP (IN of) (NP (NNP Anne) (NNP Hall))))"),
     "Anne Hall 's daughter slept ."),
    (slept("(NP (NP (DT all)) (PP (IN of) (NP (DT the) (NNS men))))"), "all the men slept ."),
    (slept("(NP (NP (CD three)) (PP (IN of) (NP (DT the) (NNS men))))"), "three men slept ."),
    (written("(NP (DT The) (NN book))", "written", BY_HER), "She wrote the book ."),
    (written("(NP (PRP They))", "watched", BY_HER, "were"), "She watched them ."),
    (slept(f"(NP {BOOK} (SBAR (WHNP (WDT which)) (S (VP (VBD was) (VP (VBN seen) {BY_HER})))))"),
     "the book which she saw slept ."),
]  # fmt: skip
HAVE_NOT = [
    gave("gave", HIM, "(NP (JJ last) (NN year))"),
    gave("called", HIM, "(NP (DT a) (NN king))"),
    gave("found", HIM, "(NP (DT a) (NN king))"),
    gave("gave", HIM, "(NP (DT a) (JJ whole) (JJ new) (NN book) (RB here))"),  # long ones stay last
    gave("taught", "(NP (PRP herself))", BOOK),
    gave("gave", BOOK, f"(PP (TO to) {HIM})"),
    slept("(NP (NP (DT the) (NN city)) (PP (IN of) (NP (NNP London))))"),
    slept("(NP (NP (DT the) (NN king)) (PP (IN of) (NP (DT the) (NN hill))))"),
    slept("(NP (NP (CD one)) (PP (IN of) (NP (DT the) (NNS men))))"),
    slept("(NP (NP (DT all)) (PP (IN of) (NP (PRP them))))"),
    written("(NP (DT the) (NN book))", "written", "(PP (IN by) (NP (CD 1990)))"),
    written("(NP (DT the) (NN book))", "carried", "(PP (IN by) (NP (NN train)))"),
]


@pytest.fixture(scope="module")
def rewriter(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constructions")
    (folder / "rules").write_text(RULES.strip() + "\n")
    pack_grammar(folder / "rules", folder / "pack", options=PackOptions(weights={"p(e|f)": 1.0}))
    CorpusIndex.build([write_lines(folder / "text", [t.split() for t in TEXT])], folder / "index")
    return Rewriter(
        GrammarIndex.open(folder / "pack"), IndexModel(CorpusIndex.open(folder / "index"))
    )


def words_of(tree):
    return " ".join(part.rstrip(")") for part in tree.split() if not part.startswith("("))


@pytest.mark.parametrize(("tree", "wanted"), HAVE)
def test_constructions_are_put_in_another_way(rewriter, tree, wanted):
    text = words_of(tree)
    (best,) = rewriter.rewrite(text, k=1, tree=tree)
    assert best.sentence == wanted
    assert [name for name in best.features if name.startswith("Construction(")]
    assert rewriter.rewrite(text, k=1)[0].sentence == text


@pytest.mark.parametrize("tree", HAVE_NOT)
def test_sentences_without_them_stay(rewriter, tree):
    assert rewriter.rewrite(words_of(tree), k=1, tree=tree)[0].sentence == words_of(tree)


def test_a_coordinated_predicate_is_no_clause_of_its_subject(rewriter):
    one = f"(VP (VBD was) (VP (VBN seen) {BY_HER}))"
    tree = f"(S (NP (DT the) (NN king)) (VP {one} (CC and) (VP (VBD left))) (. .))"
    assert rewriter.rewrite(words_of(tree), k=1, tree=tree)[0].sentence == words_of(tree)


@pytest.mark.parametrize(
    ("tree", "wanted"),
    [
        (slept("(NP (DT the) (NN king) (IN under) (NNP Paris))"), "Paris 's king slept ."),
        # the span is another constituent, or has a label of its parts alone
        (slept("(ADJP (DT the) (NN king) (IN under) (NNP Paris))"), None),
        (slept("(NP (DT the) (JJ king) (IN under) (NNP Paris))"), None),
        (gave("lent", HIM, BOOK), "she lent the book to him ."),
        (gave("showed", HIM, "(NP (NN today))"), None),  # other content words
        (gave("passed", HIM, BOOK), None),  # not probable
        (slept("(NP (NN king) (IN with) (NN man))"), None),  # X is no label of a tree
        (slept("(NP (NP (NN king)) (IN above) (NP (NNP Paris)))"), "Paris 's king slept ."),
        (slept("(NP (NP (PRP he)) (IN above) (NP (NNP Paris)))"), None),
    ],
)  # fmt: skip
def test_rules_of_a_pack_need_their_labels(rewriter, tree, wanted):
    text = words_of(tree)
    assert rewriter.rewrite(text, k=1, tree=tree)[0].sentence == (wanted or text)
    assert rewriter.rewrite(text, k=1)[0].sentence == text


def test_what_changes_the_order_alone():
    grammatical = frozenset(("of", "the", "'s", "not"))
    for source, target, wanted in (
        (["a", -1, "of", -2], [-2, "'s", "a", -1], True),
        (["a", -1, "of", -2], [-2, "'s", "b", -1], False),
        ([-1, -2], [-2, -1], False),
        ([-1, "of", -2], [-1, -2], False),
        ([-1, "not", -2], [-2, "of", -1], False),
    ):
        assert restructures(source, target, grammatical) is wanted
