"""Estimates of cosines: vectors restored of bits and of words' vectors, and what they are for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim import ParameterError, SignatureTable, neighbours, similarity
from distsim.comparison import LearnedCosine, NeighbourSearch
from distsim.comparison.measures import EstimatedCosine
from distsim.grammar.scoring import RuleScorer, ScoreOptions
from distsim.kernels.compiled import frozen
from distsim.signatures.composition import OwnVectors
from distsim.signatures.kernels.restored_vectors import (
    StoredVectors,
    restore_vectors,
    restored_cosines,
)
from tests.conftest import run_program
from tests.naive import people as naive

WORDS = [f"w{i}" for i in range(6)]


@pytest.fixture(scope="module")
def learned(example_names) -> SignatureTable:
    """A learned table of phrases of one and two words."""
    return example_names["learned"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.lists(st.sampled_from([*WORDS, "no"]), min_size=1, max_size=3),
                          st.integers(0, 255)), max_size=6), st.integers(0, 99),
       st.sampled_from([64, 128]))  # fmt: skip
def test_restored_rows_are_those_of_the_definition(drawn, seed, n_dimensions):
    draw = np.random.default_rng(seed)
    parts, whole = {}, {}
    for word in WORDS:
        vector = draw.integers(-127, 128, n_dimensions)
        parts[word] = (float(draw.uniform(0.1, 1)), (vector / np.linalg.norm(vector)).tolist())
        whole[word] = vector
    order = naive.by_hash(parts)
    vectors = np.array([whole[word] for word in order], np.int8)
    lengths = np.linalg.norm(vectors.astype(float), axis=1)
    hashes = np.array([naive.hash_text(word.encode()) for word in order], np.uint64)
    weights = np.array([parts[word][0] for word in order])
    phrases = [" ".join(words) for words, _ in drawn]
    shares = np.array([share for _, share in drawn], np.uint8)
    bits = draw.integers(0, 1 << 63, (len(phrases), 1)).astype(np.uint64)
    text = np.frombuffer("".join(phrases).encode(), np.uint8)
    bounds = np.cumsum([0, *(len(phrase.encode()) for phrase in phrases)])
    rows, fidelities = np.empty((len(phrases), n_dimensions), np.float32), np.empty(len(phrases))
    phrase_hashes = np.array([naive.hash_text(one.encode()) for one in phrases], np.uint64)
    with_own = np.unique(phrase_hashes[::2])
    own = OwnVectors.of(with_own, draw.normal(size=(with_own.size, n_dimensions)))
    stored = StoredVectors(*map(frozen, (*own, hashes, weights / lengths, vectors)))
    restore_vectors(
        frozen(text), frozen(bounds[:-1]), frozen(bounds[1:]), frozen(phrase_hashes),
        frozen(bits), frozen(shares), stored, rows, fidelities,
    )  # fmt: skip
    for n, phrase in enumerate(phrases):
        place = np.searchsorted(with_own, phrase_hashes[n])
        if shares[n] and place < with_own.size and with_own[place] == phrase_hashes[n]:
            assert np.array_equal(rows[n], own.vectors[place] * own.scales[place])
            assert fidelities[n] == 1.0
            continue
        signs = [1.0 if int(bits[n, 0]) >> i & 1 else -1.0 for i in range(64)]
        wanted, fidelity = naive.restored(phrase, int(shares[n]), signs, parts)
        assert rows[n] == pytest.approx(wanted, abs=2e-3)
        assert fidelities[n] == pytest.approx(fidelity, abs=2e-3)
    every = np.arange(len(phrases))
    for other in every:
        out = np.empty(every.size)
        restored_cosines(frozen(rows), frozen(fidelities), frozen(rows), frozen(fidelities),
                         frozen(np.full(every.size, other)), frozen(every), out)  # fmt: skip
        for n in every:
            if fidelities[n] == 0 or fidelities[other] == 0:
                assert math.isnan(out[n])
                continue
            cosine = float(rows[n].astype(float) @ rows[other].astype(float))
            q = math.sqrt(fidelities[n] * fidelities[other])
            wanted = cosine + cosine * (1 - abs(cosine)) * (1 / q - 1)
            assert out[n] == pytest.approx(wanted, abs=1e-5)


def test_a_pair_has_alone_what_it_has_among_others(learned):
    draw = np.random.default_rng(3)
    texts = [learned.text(row) for row in draw.integers(0, len(learned), 120).tolist()]
    texts += ["xyzzy", "xyzzy plugh", "The King", "an old king of spain", "the xyzzy", "café"]
    pairs = list(zip(texts, reversed(texts), strict=True)) + [(text, text) for text in texts]
    for estimate in ("bits", "restored"):
        measure = EstimatedCosine(learned, estimate=estimate)
        together = measure.similarities(pairs)
        assert [measure.similarity(*pair) for pair in pairs] == together
        assert [one.similarity for one in measure.estimates(pairs)] == together
        assert None in together
    assert learned.normal_forms(texts) == [learned.normal_form(text) for text in texts]


def test_a_word_with_itself_is_one_and_sides_do_not_matter(learned):
    texts = list(learned.texts())
    draw = np.random.default_rng(1)
    pairs = [(texts[a], texts[b]) for a, b in draw.integers(0, len(texts), (100, 2))]
    for way in ("bits", "restored"):
        measure = EstimatedCosine(learned, estimate=way)
        there = measure.similarities(pairs)
        assert there == pytest.approx(measure.similarities([pair[::-1] for pair in pairs]))
        assert all(-1.0 <= value <= 1.0 for value in there)
    same = EstimatedCosine(learned).similarities([(text, text) for text in texts[:200]])
    assert same == pytest.approx([1.0] * 200, abs=1e-5)


def test_restored_estimates_are_nearer_to_the_real_cosines_than_bits(learned, alice_index):
    real = LearnedCosine(alice_index, learned)
    texts = list(learned.texts())
    draw = np.random.default_rng(2)
    pairs = [(texts[a], texts[b]) for a, b in draw.integers(0, len(texts), (400, 2))]
    true = np.array(real.similarities(pairs))
    error = {}
    for way in ("bits", "restored"):
        found = np.array(EstimatedCosine(learned, estimate=way).similarities(pairs))
        error[way] = float(np.sqrt(np.mean((found - true) ** 2)))
    assert error["restored"] < error["bits"] / 2
    words = [(a, b) for a, b in pairs if " " not in a + b]
    assert words
    restored = EstimatedCosine(learned).similarities(words)
    assert restored == pytest.approx(real.similarities(words), abs=2e-3)  # float16 apart


def test_tables_without_vectors_stay_on_bits(alice_index, example_names):
    table = example_names["table"]
    assert EstimatedCosine(table).estimate == "bits"
    with pytest.raises(ParameterError, match="`estimate` restored: .* keeps no vectors of words"):
        EstimatedCosine(table, estimate="restored")
    with pytest.raises(ParameterError, match="`estimate` 'x': choose one of bits, restored"):
        ScoreOptions(estimate="x")
    with pytest.raises(ParameterError, match="`estimate` 'x': choose one of bits, restored"):
        NeighbourSearch(table, estimate="x")


def test_neighbours_are_ordered_by_the_estimate_that_is_told(learned):
    for way in ("bits", "restored"):
        measure = EstimatedCosine(learned, estimate=way)
        near = neighbours(learned, "the queen", k=8, estimate=way, distinct=False)
        told = [one.similarity for one in near]
        assert told == sorted(told, reverse=True)
        asked = measure.similarities([("the queen", one.phrase) for one in near])
        assert told == pytest.approx(asked, abs=1e-6)
    every = neighbours(learned, "the queen", k=len(learned), distinct=False, min_strength=0)
    above = NeighbourSearch(learned, distinct=False, min_strength=0).above("the queen", 0.5)
    assert above == [one for one in every if one.similarity >= 0.5]
    listed = NeighbourSearch(learned).nearest("the queen", k=len(learned))
    by_bits = NeighbourSearch(learned, estimate="bits").nearest("the queen", k=len(learned))
    assert len(listed) > 64 and {one.phrase for one in listed} == {one.phrase for one in by_bits}


def test_rules_are_scored_by_the_estimate_that_is_told(learned):
    links = [(0, 0)]
    for way in (None, "bits", "restored"):
        scorer = RuleScorer([("s", learned)], options=ScoreOptions(estimate=way))
        found = scorer.score("king", "queen", links)[0].similarity
        assert found == pytest.approx(similarity(learned, "king", "queen", estimate=way), abs=1e-6)
    assert learned.estimator().estimate == "restored"


def test_commands(learned, tmp_path, capsys):
    told = {}
    for way in ("bits", "restored"):
        assert run_program("similarity", learned.path, "king", "queen", "--estimate", way) == 0
        told[way] = capsys.readouterr().out
    assert run_program("similarity", learned.path, "king", "queen") == 0
    assert capsys.readouterr().out == told["restored"]
    assert len(set(told.values())) == 2
    (tmp_path / "gold").write_text("king\tqueen\t3\ncat\tdog\t2\nking\tcat\t1\n")
    assert run_program("evaluate", learned.path, tmp_path / "gold", "--estimate", "bits") == 0
    by_bits = capsys.readouterr().out
    assert run_program("evaluate", learned.path, tmp_path / "gold") == 0
    assert by_bits != capsys.readouterr().out
    (tmp_path / "g").write_text("[X] ||| king ||| queen ||| ||| 0-0\n")
    assert run_program("score", tmp_path / "g", "--ngram", learned.path) == 0
    assert "|estimate:restored|" in capsys.readouterr().err
    assert run_program("similarity", learned.path, "king", "queen", "--exact", "--estimate",
                       "bits") == 2  # fmt: skip


def test_whole_sides_are_scored_gaps_left_out(learned, tmp_path, capsys):
    (tmp_path / "g").write_text(
        "[X] ||| the [X,1] king ||| [X,1] the queen ||| ||| 0-1 1-0 2-2\n"
        "[X] ||| [X,1] [X,2] ||| [X,2] of [X,1] ||| ||| 0-2 1-0\n"
    )
    assert run_program("score", tmp_path / "g", "--ngram", learned.path, "--set", "whole=true",
                       "-o", tmp_path / "o") == 0  # fmt: skip
    first, second = (tmp_path / "o").read_text().splitlines()
    wanted = EstimatedCosine(learned).similarity("the king", "the queen")
    assert f" sim_whole={wanted:.5f} sim_whole_coverage=1.00000 " in first
    assert "sim_whole=" not in second
    assert "sim_whole: table:" in capsys.readouterr().err
    scorer = RuleScorer([("s", learned)], whole=True)
    assert scorer.names == ["s", "sim_whole"]
    assert scorer.score("king", "queen", [])[1].similarity == pytest.approx(
        similarity(learned, "king", "queen"), abs=1e-6
    )
    assert (
        run_program("score", tmp_path / "g", "--syntax", learned.path, "--set", "whole=true") == 2
    )
    with pytest.raises(ParameterError, match="`whole` wants a table: give one"):
        RuleScorer([], whole=True)


def test_one_look_up_tells_what_many_at_once_tell(learned):
    phrases = ["king", "the king", "of the", "Alice's", "zeppelin", "king zeppelin", "off with her"]
    phrases += [learned.text(row) for row in range(0, len(learned), 97)]
    normal = [learned.normal_form(phrase) for phrase in phrases]
    assert [learned.row(phrase) for phrase in normal] == learned.find_normal(normal).tolist()
    pairs = [(a, b) for a in phrases for b in phrases[:9]]
    many = EstimatedCosine(learned).similarities(pairs)
    assert [similarity(learned, *pair) for pair in pairs] == many
    assert [learned.similarity(*pair) for pair in pairs] == many  # of phrases that are kept
    by_bits = EstimatedCosine(learned, estimate="bits")
    assert [by_bits.similarity(*pair) for pair in pairs] == by_bits.similarities(pairs)
