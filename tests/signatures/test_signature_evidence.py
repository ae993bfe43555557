"""SimilarityEvidence beside similarities, and words smoothed with their other forms."""

import json

import numpy as np
import pytest

from distsim.comparison.measures import EstimatedCosine
from distsim.comparison.table import SimilarityEvidence
from distsim.corpus.inflections import Inflections
from distsim.signatures.forms import other_forms, with_other_forms

WORDS = [
    "walk",
    "walks",
    "walked",
    "walking",
    "talk",
    "talks",
    "see",
    "sees",
    "saw",
    "seen",
    "x-ray",
]


def encoded(words):
    text = np.frombuffer("".join(words).encode(), np.uint8)
    return text, np.cumsum([0, *(len(word.encode()) for word in words)])


def test_forms_of_one_base_word_are_paired():
    counts = np.full(len(WORDS), 30)
    rows, others = other_forms(*encoded(WORDS), counts, Inflections.open("english"))
    pairs = {(WORDS[a], WORDS[b]) for a, b in zip(rows, others, strict=True)}
    assert ("walks", "walked") in pairs and ("seen", "see") in pairs
    assert not any("talk" in a and "walk" in b for a, b in pairs)
    assert not any("x-ray" in pair or pair[0] == pair[1] for pair in pairs)
    counts[0] = 19  # too rare a base word
    rows, others = other_forms(*encoded(WORDS), counts, Inflections.open("english"))
    assert not any("walk" in WORDS[a] for a in rows)


def test_a_word_takes_in_the_root_of_its_forms_counts():
    words, draw = ["walk", "walks", "walked", "house"], np.random.default_rng(3)
    vectors = draw.standard_normal((4, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    counts = np.array([100, 36, 25, 9])
    made = with_other_forms(
        vectors, *encoded(words), counts, 0.6, Inflections.open("english"), None
    )
    forms = 6 * vectors[1] + 5 * vectors[2]
    wanted = vectors[0] + 0.6 * forms / np.linalg.norm(forms)
    assert made[0] == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)
    assert made[3] == pytest.approx(vectors[3], abs=1e-6)


@pytest.fixture(scope="module")
def signed(example_names):
    return example_names["index"], example_names["learned"]


def test_evidence_tells_own_contexts_from_words(signed):
    index, table = signed
    evidence = SimilarityEvidence(table, index)
    longer = [text for text in table.texts() if " " in text][:40]
    for phrase in [*longer, "king"]:
        behind = evidence.of_phrase(phrase)
        row = int(table.find([phrase])[0])
        assert behind.occurrences == table.strengths[row] == index.count(phrase)
        assert behind.own_share == pytest.approx(table.own_shares[row] / 255, abs=1e-3)
        assert behind.origin == "stored"  # in the table, if its vector is made of its words
    assert evidence.of_phrase("king").own_share == 1.0
    made = evidence.of_phrase("king queen king queen king")
    assert (made.origin, made.own_share) == ("composed", 0.0)
    assert evidence.of_phrase("zeppelin").origin == "unknown"


def test_shared_contexts_are_beside_both(signed):
    index, table = signed
    shared = SimilarityEvidence(table, index).of_pair("king", "queen", k=5).shared
    weights = [min(one.weight_a, one.weight_b) for one in shared]
    assert 0 < len(shared) <= 5 and weights == sorted(weights, reverse=True) and weights[-1] > 0
    assert all(min(one.count_a, one.count_b) > 0 for one in shared)
    assert SimilarityEvidence(table).of_pair("king", "queen").shared == []


def test_evidence_on_the_command_line(signed, run):
    index, table = signed
    path = ("--index", index.path)
    out, _ = run("similarity", table.path, "king", "queen", "--why", *path)
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == [f"{EstimatedCosine(table).similarity('king', 'queen'):.6f}"]
    assert lines[1][:2] == ["king", str(index.count("king"))] and lines[1][3] == "stored"
    assert all(len(line) == 3 and ":" in line[0] for line in lines[3:]) and len(lines) > 3
    out, _ = run("similarity", table.path, "king", "queen", "--why", "--json", *path)
    assert json.loads(out)["why"]["b"]["origin"] == "stored"
    out, _ = run("neighbours", table.path, "king", "--by", "table", "--why", "-k", 3, *path)
    assert all(line.split("\t")[5] in ("stored", "composed") for line in out.splitlines())
