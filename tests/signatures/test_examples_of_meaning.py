"""Examples that the default similarity must get right, on a signed index of a large text.

DISTSIM_LARGE_INDEX names one of ten million tokens of English or more, signed by default.
"""

import os

import pytest

from distsim import CorpusIndex, EstimatedCosine, SignatureTable
from distsim.paraphrase.profiles import KindCosine

INDEX = os.environ.get("DISTSIM_LARGE_INDEX")
pytestmark = pytest.mark.skipif(not INDEX, reason="DISTSIM_LARGE_INDEX names no signed index")


@pytest.fixture(scope="module")
def table():
    return SignatureTable.open(INDEX)


@pytest.mark.parametrize(
    ("phrase", "same", "of_its_topic"),
    [
        ("disease", "illness", "cystic"),
        ("big", "large", "daddy"),
        ("in order to", "so as to", "order of"),
        ("due to", "because of", "due date"),
    ],
)
def test_the_same_is_nearer_than_its_topic(table, phrase, same, of_its_topic):
    near, far = EstimatedCosine(table).similarities([(phrase, same), (phrase, of_its_topic)])
    assert near > far


def test_idioms_have_contexts_of_their_own(table):
    idiom, free = table.vector("in order to").evidence, table.vector("the old man").evidence
    assert idiom.own_share > 0.9 > free.own_share


@pytest.mark.parametrize(
    ("phrase", "same", "of_its_topic"),
    [
        ("disease", "illness", "cystic"),
        ("big", "large", "daddy"),
        ("killed", "murdered", "civilians"),
    ],
)
def test_places_near_a_word_tell_substitutes_from_the_topic_better(
    table, phrase, same, of_its_topic
):
    pairs = [(phrase, same), (phrase, of_its_topic)]
    by_kind = KindCosine(CorpusIndex.open(INDEX), table, "substitutes")
    near, far = by_kind.similarities(pairs)
    assert near > 1.2 * far
