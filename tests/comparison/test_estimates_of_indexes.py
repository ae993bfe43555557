"""Where a table is meant, an index that was signed and a path do as well; phrases are composed."""

import shutil

import pytest

from distsim import (
    ArtifactError,
    CorpusIndex,
    EstimatedCosine,
    ExactCosine,
    ParameterError,
    Paraphraser,
    SignatureTable,
    Substituter,
    export,
    neighbours,
    sign,
    similarities,
    similarity,
)
from distsim.comparison import (
    GappedCosine,
    LearnedCosine,
    NeighbourSearch,
    Opposites,
)
from distsim.comparison.measures import ComposedCosine
from distsim.output import word_vectors
from distsim.paraphrase import KindCosine


def test_an_index_or_a_path_stands_for_its_table(alice_index, tmp_path):
    table = SignatureTable.open(alice_index.path)
    pair = ("alice", "the queen")
    for given in (alice_index, alice_index.path, str(alice_index.path), str(table.path)):
        assert similarity(given, *pair) == similarity(table, *pair)
        assert similarity(table, *pair, other=given) == similarity(table, *pair)
        assert similarities(given, [pair]) == similarities(table, [pair])
        assert EstimatedCosine(given).similarity(*pair) == similarity(table, *pair)
        assert neighbours(given, "alice", k=3) == neighbours(table, "alice", k=3)
        assert NeighbourSearch(given).nearest("alice", k=3) == neighbours(table, "alice", k=3)
        assert export(given, tmp_path / "x.csv", format="csv", phrases=["alice"]) == 1


PAIR = ("alice", "the queen")
OF_AN_INDEX = {
    "exact": lambda i, t: ExactCosine(i, t).similarity(*PAIR),
    "vectors": lambda i, t: LearnedCosine(i, t).similarity(*PAIR),
    "composed": lambda i, t: ComposedCosine(t).similarity(*PAIR),
    "opposites": lambda i, t: Opposites(i, t).evidence([PAIR]),
    "gaps": lambda i, t: GappedCosine(i, t).similarity("the _ of", "a _ of"),
    "kind": lambda i, t: KindCosine(i, t, "related").similarity(*PAIR),
    "substitutes": lambda i, t: Substituter(i, t).substitutes("the", "king", "said", k=2),
    "paraphrases": lambda i, t: Paraphraser(i, table=t).paraphrases("the queen")[:2],
}


@pytest.fixture(scope="module")
def learned_inside(alice_index, tmp_path_factory):
    index = CorpusIndex.open(shutil.copytree(alice_index.path, tmp_path_factory.mktemp("x") / "x"))
    return index, sign(index)


@pytest.mark.parametrize("name", OF_AN_INDEX)
def test_classes_of_an_index_and_a_table_take_paths(learned_inside, name):
    index, table = learned_inside
    ask = OF_AN_INDEX[name]
    wanted = ask(index, table)
    for given in (index, index.path, str(index.path), str(table.path)):
        assert ask(index, given) == wanted
    assert ask(str(index.path), table) == wanted
    with pytest.raises(ParameterError, match=r"table: is 5 \(int\), wanted a table, an index"):
        ask(index, 5)
    if name not in ("composed", "map"):
        with pytest.raises(ParameterError, match=r"index: is 5 \(int\), wanted an index or the"):
            ask(5, table)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: similarity(t, "a", "b"), lambda t: similarities(t, [("a", "b")]),
        lambda t: neighbours(t, "a"), word_vectors,
        lambda t: export(t, "x"), EstimatedCosine, NeighbourSearch,
    ],
)  # fmt: skip
def test_what_is_no_table_is_told(call, small_index, tmp_path):
    given_and_said = [
        (5, r"table: is 5 \(int\), wanted a table, an index"),
        (None, "table: is None"),
        ("", "table: is ''"),
    ]
    for given, said in given_and_said:
        with pytest.raises(ParameterError, match=said):
            call(given)
    with pytest.raises(ArtifactError, match="no such folder"):
        call(str(tmp_path / "nowhere"))
    with pytest.raises(ArtifactError, match="the index was not signed yet"):
        call(small_index)
    with pytest.raises(ParameterError, match="a selection of documents"):
        call(small_index.select(documents=[True] * (small_index.document_edges.size - 1)))


def test_sentences_of_any_length_are_composed(example_names, run):
    learned = example_names["learned"]
    a, b = "the queen said to the king", "alice said to the white rabbit"
    assert len(a.split()) > learned.longest
    for first, second in ((a, b), ("alice", a), ("king queen", b)):
        found = similarity(learned, first, second)
        assert found == similarities(learned, [(first, second)])[0]
        assert found == learned.similarity(first, second)
        out, _ = run("similarity", learned.path, first, second)
        assert out.split("\t")[0].strip() == f"{found:.6f}"
    assert similarity(learned, "zeppelin zebra", b) is None
