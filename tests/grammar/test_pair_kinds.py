"""The kind of a pair: function words, inflection, content."""

import pickle

import pytest

from distsim.corpus.inflections import Inflections
from distsim.grammar.pair_features import pair_kind

ENGLISH = Inflections.open("english")
CASES = [
    ("a man and a woman", "a man and woman", "function"),
    ("the cities", "the city", "inflection"),
    ("were in the cities", "be in the city", "inflection"),
    ("went home", "going home", "inflection"),
    ("the city", "the town", "content"),
    ("city", "the city hall", "content"),  # a content word is added
    ("king of france", "france 's king", "function"),  # order does not count
    ("cities cities", "city towns", "content"),  # each word is paired once
    ("take [NP,1] from [NP,2]", "take [NP,2] of [NP,1]", "function"),
    ("The man", "a man", "function"),
    ("2001", "2002", "content"),
    ("one two three four five", "ones twos threes fours fives", "content"),
    ("the the man", "the man", "function"),  # one of the two is left over
    ("city city man", "man city towns", "content"),
    ("man city city", "cities man city", "inflection"),
]


@pytest.mark.parametrize(("source", "target", "kind"), CASES)
def test_kind(source: str, target: str, kind: str) -> None:
    assert pair_kind(source.split(), target.split(), ENGLISH) == kind
    assert pair_kind(target.split(), source.split(), ENGLISH) == kind


def test_without_a_language_only_equal_words_are_no_content() -> None:
    none = Inflections.open("none")
    assert pair_kind(["cities"], ["city"], none) == "content"
    assert pair_kind(["a", "b"], ["b", "a"], none) == "function"


def test_function_words_survive_pickling() -> None:
    assert pickle.loads(pickle.dumps(ENGLISH)).function_words == ENGLISH.function_words
    assert {"the", "of", "is"} <= ENGLISH.function_words
