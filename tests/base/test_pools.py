"""Whatever answers travels by its path: process pools, forked and spawned, ask everything."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

from distsim import (
    ArtifactError,
    CorpusIndex,
    ExactCosine,
    IndexOptions,
    ParaphraseOptions,
    Paraphraser,
    Recipe,
    Selection,
    SignatureTable,
    Substituter,
    neighbours,
    similarity,
)
from distsim.comparison import LearntCosine, NeighbourSearch
from distsim.comparison.measures import EstimatedCosine
from distsim.contexts import Weighting, named_contexts
from distsim.grammar import RuleScorer
from distsim.grammar.packs import GrammarIndex, PackOptions, pack_grammar
from distsim.paraphrase.rewriting import Rewriter
from distsim.paraphrase.rewriting.language_model import IndexModel
from distsim.paraphrase.rewriting.weights import Weights
from tests.conftest import write_lines
from tests.signatures.test_people_learnt import RECIPE

PAIRS = [("the king", "the queen"), ("alice", "mock turtle"), ("alice", "zeppelin")]
RULES = [("the king", "the queen"), ("said alice", "said the king")]


class Everything:
    """All that can be asked of an index and its tables; every question gives plain values."""

    def __init__(self, index, plain, learnt, pack):
        self.index, self.plain, self.learnt = index, plain, learnt
        self.search = NeighbourSearch(plain, min_strength=5)
        self.distinct = NeighbourSearch(learnt, min_strength=2)
        self.bits = EstimatedCosine(learnt)
        self.exact = ExactCosine(index, plain)
        self.real = LearntCosine(index, learnt)
        self.paraphraser = Paraphraser(index, ParaphraseOptions(k=3), table=plain)
        self.scorer = RuleScorer([("sim", plain)])
        self.joined = CorpusIndex.open([index.path, index.path])
        self.substituter = Substituter(index, learnt, neighbours=5)
        self.pack = pack
        self.rewriter = Rewriter(pack, IndexModel(index), weights=Weights({"LM": 1.0, "p": 0.5}))

    def answer(self, question):
        return QUESTIONS[question](self)


QUESTIONS = {
    "count": lambda my: my.index.count(["alice", "the king", "zeppelin"]).tolist(),
    "positions": lambda my: my.index.positions("the king").tolist(),
    "kwic": lambda my: my.index.concordance("the queen", limit=3),
    "ngrams": lambda my: list(my.index.ngrams(2, min_count=30)),
    "contexts": lambda my: named_contexts(my.index, "mock turtle", 1, Weighting("ppmi")),
    "similarity": lambda my: similarity(my.plain, *PAIRS[0]),
    "estimated": lambda my: my.bits.estimates(PAIRS),
    "exact": lambda my: my.exact.estimates(PAIRS),
    "real": lambda my: my.real.estimates(PAIRS),
    "neighbours": lambda my: neighbours(my.plain, ["alice", "the king"], 3),
    "search": lambda my: my.search.nearest("the king", 3),
    "distinct": lambda my: my.distinct.found("the king", 3),
    "reranked": lambda my: my.search.reranked("the king", 3, my.exact),
    "paraphrases": lambda my: my.paraphraser.paraphrases("the king"),
    "scores": lambda my: [my.scorer.score(*rule) for rule in RULES],
    "joined": lambda my: my.joined.concordance("the queen", limit=3),
    "substitutes": lambda my: my.substituter.substitutes("said the", "king", "to alice"),
    "rules": lambda my: my.pack.rules("king"),
    "rewritings": lambda my: my.rewriter.rewrite("said the king to alice", 2),
}


def answer(everything, question):
    return everything.answer(question)


@pytest.fixture(scope="module")
def everything(alice, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pools")
    (folder / "alice.txt").write_text(alice, encoding="utf-8")
    index = CorpusIndex.build([folder / "alice.txt"], folder / "index", IndexOptions("text"))
    many = Selection(min_count=5, max_length=2)
    plain = SignatureTable.build(index, folder / "plain", Recipe(n_bits=64), many)
    learnt = SignatureTable.build(index, folder / "learnt", RECIPE, many)
    (folder / "rules").write_text("[X] ||| king ||| queen ||| p=1\n")
    pack_grammar(folder / "rules", folder / "pack", PackOptions(weights={"p": 1.0}))
    return Everything(index, plain, learnt, GrammarIndex.open(folder / "pack"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools_answer_every_question_after_the_parent_did(everything, method):
    questions = list(QUESTIONS)
    expected = [everything.answer(question) for question in questions]
    assert all(expected)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(answer, [everything] * len(questions), questions))
    assert dict(zip(questions, found, strict=True)) == dict(zip(questions, expected, strict=True))


def test_what_is_pickled_are_paths_not_arrays(everything):
    for one in (everything.index, everything.learnt, everything.real, everything.distinct,
                everything.exact, everything.paraphraser, everything.scorer, everything.joined,
                everything.substituter, everything.pack, everything.rewriter):  # fmt: skip
        assert len(pickle.dumps(one)) < 5000, one
    again = pickle.loads(pickle.dumps(everything.learnt))
    assert again.path == everything.learnt.path.absolute()
    assert again.bits.base is not None and not again.bits.flags.writeable


def test_a_table_that_was_replaced_is_not_taken_for_the_one_pickled(tmp_path, sentences):
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "i")
    table = SignatureTable.build(index, tmp_path / "t", Recipe(n_bits=64), Selection(min_count=1))
    sent = pickle.dumps(NeighbourSearch(table))
    recipe = Recipe(n_bits=64, seed=2)
    SignatureTable.build(index, tmp_path / "t", recipe, Selection(min_count=1), force=True)
    with pytest.raises(ArtifactError, match=r"t: was changed since it was opened: open it again"):
        pickle.loads(sent)
