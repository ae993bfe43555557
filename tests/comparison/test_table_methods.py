"""What users of gensim and faiss ask of a table: vectors, similarities, neighbours by methods."""

import pickle
import shutil

import numpy as np
import pytest

from distsim import (
    DistsimError,
    ParameterError,
    SignatureTable,
    neighbours,
    similarities,
    similarity,
    storage,
)
from distsim.comparison import NeighbourSearch
from distsim.output.verification import find_faults


@pytest.fixture(scope="module", params=["table", "learned"])
def any_table(request, example_names) -> SignatureTable:
    return example_names[request.param]


def test_a_vector_is_a_unit_vector_whose_products_order_as_similarities_do(any_table):
    words = ["king", "queen", "the king", "alice", "rabbit"]
    vectors = any_table.vectors(words)
    width = any_table.n_bits if any_table.parts is None else any_table.n_dimensions
    assert vectors.dtype == np.float32 and vectors.shape == (5, width)
    assert any_table.vectors([]).shape == (0, width)
    assert np.allclose((vectors**2).sum(axis=1), 1, atol=1e-3)
    assert np.array_equal(any_table["the king"], vectors[2])
    assert np.array_equal(any_table[["king", "rabbit"]], vectors[[0, 4]])
    for word, vector in zip(words[1:], vectors[1:], strict=True):
        product = float(vectors[0] @ vector)
        if any_table.parts is None:  # signs: 1 - 2 d / n, of which the estimate is a cosine
            product = np.cos(np.pi * (1 - product) / 2)
        assert any_table.similarity("king", word) == pytest.approx(product, abs=0.1)


def test_methods_are_the_functions(any_table):
    assert any_table.similarity("king", "queen") == similarity(any_table, "king", "queen")
    assert any_table.neighbours("king", k=3) == neighbours(any_table, "king", k=3)
    assert any_table.neighbours(["king", "alice"]) == neighbours(any_table, ["king", "alice"])
    again = pickle.loads(pickle.dumps(any_table))
    assert type(again) is SignatureTable and again.similarity("king", "queen") is not None


def test_phrases_of_which_nothing_is_known(any_table):
    assert "zeppelin" not in any_table and "king" in any_table and len(any_table) > 1000
    rows = any_table.vectors(["king", "zeppelin"])
    assert np.isnan(rows[1]).all() and not np.isnan(rows[0]).any()
    for ask in (
        lambda: any_table["zeppelin"],
        lambda: any_table[["king", "zeppelin"]],
        lambda: any_table.most_similar("zeppelin"),
        lambda: any_table.most_similar("king", negative="zeppelin"),
    ):
        with pytest.raises(KeyError, match=r"^'zeppelin' has no vector: .*: ask `") as caught:
            ask()
        assert isinstance(caught.value, DistsimError)
    with pytest.raises(ParameterError, match="phrase: is 3"):
        any_table[3]


def test_a_phrase_that_is_not_in_the_table_is_made_of_its_words(example_names):
    learned = example_names["learned"]
    assert "queen rabbit" not in learned
    queen, rabbit, both = learned[["queen", "rabbit", "queen rabbit"]]
    assert both @ queen > 0.5 and both @ rabbit > 0.3 and not np.array_equal(both, queen)


def test_most_similar_to_one_phrase_are_its_neighbours(any_table):
    wanted = [(one.phrase, one.similarity) for one in neighbours(any_table, "king", k=5)]
    assert any_table.most_similar("king", topn=5) == wanted
    assert any_table.most_similar(positive=["king"], topn=5) == wanted


@pytest.mark.parametrize(
    ("positive", "negative"),
    [(["king", "queen", "alice"], []), (["king", "alice"], ["queen"]), (["king", "queen"], [])],
)
def test_most_similar_to_a_sum(any_table, positive, negative):
    """Against every phrase of the table measured, where no phrase hides another."""
    estimator, phrases = any_table.estimator(), list(any_table)
    signs = np.array([1.0] * len(positive) + [-1.0] * len(negative))
    given = [*positive, *negative]
    total = signs @ any_table[given].astype(float)
    one = estimator.of_phrases(given).sum(signs)
    cosine = float(one.vectors[0] @ total) / np.linalg.norm(total)
    assert cosine == pytest.approx(1, abs=1e-5)
    bits = np.unpackbits(one.bits.view(np.uint8), bitorder="little") * 2.0 - 1
    of_bits = total[: bits.size]
    assert (bits == np.sign(of_bits))[of_bits != 0].all()
    assert abs(bits[of_bits == 0] @ any_table["king"][: bits.size][of_bits == 0]) < 0.1
    every = estimator.of_phrases(phrases)
    measured = estimator.cosines(one, every, np.zeros(len(phrases), int), np.arange(len(phrases)))
    wanted = sorted(
        (float(c) for p, c in zip(phrases, measured, strict=True) if p not in given), reverse=True
    )
    found = NeighbourSearch(any_table, distinct=False).of_sum(positive, negative, k=7)
    assert [near.similarity for near in found] == pytest.approx(wanted[:7], abs=1e-6)
    first = any_table.most_similar(positive, negative=negative, topn=3)
    assert len(first) == 3 and not {phrase for phrase, _ in first} & {*given}


def test_sums_of_nothing_are_refused(any_table):
    with pytest.raises(ParameterError, match="no phrase is given"):
        any_table.most_similar()
    with pytest.raises(ParameterError, match="cancel each other out"):
        any_table.most_similar(["king"], negative=["king"])
    with pytest.raises(ParameterError, match="topn: is 0"):
        any_table.most_similar("king", topn=0)


def test_verify_tells_a_table_whose_texts_are_not_those_of_its_hashes(alice_index, tmp_path):
    path = tmp_path / "table"
    shutil.copytree(SignatureTable.open(alice_index.path).path, path)
    assert find_faults(path) == []
    with storage.change(path, storage.SIGNATURES) as writer:
        text = writer.read("text").copy()
        text[0] = ord("~")
        writer.add("text", text)
    assert find_faults(path) == ["the table does not find its own phrases"]


def test_similar_by_vector_finds_the_phrase_of_the_vector_first(any_table):
    for phrase in ("king", "the queen"):
        found = any_table.similar_by_vector(any_table[phrase] * 4, topn=4)  # 4: no rounding
        assert found[0] == (phrase, pytest.approx(1, abs=1e-3)) and len(found) == 4
        assert any_table.most_similar(any_table[phrase], topn=4) == found
        assert any_table.most_similar([any_table[phrase]], topn=4) == found
    total = any_table["king"] + any_table["queen"] - any_table["alice"]
    given = [any_table["king"], any_table["queen"]]
    assert (
        any_table.most_similar(given, negative="alice", topn=9)
        == [one for one in any_table.similar_by_vector(total, topn=10) if one[0] != "alice"][:9]
    )


@pytest.mark.parametrize("wrong", [np.zeros, lambda n: np.ones(n + 1), lambda n: "a"])
def test_vectors_that_are_none(any_table, wrong):
    with pytest.raises(ParameterError, match="^vector: "):
        any_table.similar_by_vector(wrong(any_table["king"].size))


def test_sets_of_phrases(any_table):
    one = any_table.n_similarity("king", ["queen"])
    assert one == pytest.approx(any_table.similarity("king", "queen"), abs=1e-5)
    both = any_table.n_similarity(["king", "queen"], ["queen", "king"])
    assert both == pytest.approx(1, abs=0.03)  # ties of signs go to each side in turn
    assert any_table.doesnt_match(["king"]) == "king"
    assert any_table.doesnt_match(["king", "king", "said"]) == "said"
    for ask in (lambda: any_table.n_similarity([], "king"), lambda: any_table.doesnt_match([])):
        with pytest.raises(ParameterError, match="no phrase is given"):
            ask()
    with pytest.raises(KeyError, match="zeppelin"):
        any_table.n_similarity(["king", "zeppelin"], "king")


def test_rows_and_phrases_lead_to_each_other(any_table):
    phrases, rows = any_table.index_to_key, any_table.key_to_index
    assert phrases == list(any_table) and len(phrases) == len(any_table) == len(rows)
    assert all(
        phrases[row] == phrase and any_table.find(phrase) == row for phrase, row in rows.items()
    )
    assert all(phrase in any_table for phrase in phrases)


def test_one_number_of_tokens(any_table):
    one, same = (any_table.neighbours("king", k=5, lengths=which) for which in (2, [2]))
    assert one == same and {near.phrase.count(" ") for near in one} == {1}


@pytest.mark.extra
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_pairs_are_taken_from_a_frame(any_table, library):
    frames = pytest.importorskip(library)
    pairs = [("king", "queen"), ("alice", "zeppelin")]
    frame = frames.DataFrame({"a": ["king", "alice"], "b": ["queen", "zeppelin"]})
    assert similarities(any_table, frame) == similarities(any_table, pairs)
    with pytest.raises(ParameterError, match=r"pairs\[0\]: is .*wanted two texts"):
        similarities(any_table, frame[["a"]])
