"""The nearest spellings and stems of words that a corpus lacks, beside the naive distance."""

import random

import numpy as np
import pytest

from distsim import CorpusIndex
from distsim.indexes.kernels.words import compare_spellings
from distsim.indexes.nearest_spellings import NearestSpellings


def naive_edits(one: str, other: str) -> int:
    table = {(i, j): max(i, j) for i in range(len(one) + 1) for j in range(len(other) + 1)
             if not i or not j}  # fmt: skip
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            a, b = one[i - 1], other[j - 1]
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b)
            )
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


@pytest.mark.parametrize("seed", range(4))
def test_edits_and_prefixes_are_those_of_the_definition(seed):
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcß", k=rng.randint(0, 7))) for _ in range(120)]
    letters = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32)
    ends = np.cumsum([len(word) for word in words])
    for given in words[:8]:
        distances, prefixes = np.zeros(len(words), np.uint8), np.zeros(len(words), np.uint8)
        coded = np.frombuffer(given.encode("utf-32-le"), np.uint32)
        compare_spellings(letters, ends, np.ones(len(words), bool), coded, 2, distances, prefixes)
        assert distances.tolist() == [min(3, naive_edits(given, word)) for word in words]
        shared = [next((n for n, (a, b) in enumerate(zip(given, word, strict=False)) if a != b),
                       min(len(given), len(word))) for word in words]  # fmt: skip
        assert prefixes.tolist() == shared


def test_the_most_frequent_of_the_nearest_come_first_and_stems_after_them(tmp_path):
    text = "queen queens queen quern national nations nation été x-ray 1850 the the\n"
    index = CorpusIndex.from_texts([text], tmp_path / "index")
    near = NearestSpellings(index)
    assert [(one.word, one.count) for one in near.nearest("quen", 5)][:2] == [
        ("queen", 2), ("quern", 1),
    ]  # fmt: skip
    assert [one.word for one in near.nearest("qween", 5)] == ["queen"]
    assert [one.word for one in near.nearest("eté", 5)] == ["été"]
    assert near.nearest("teh", 1)[0].word == "the"  # neighbours exchanged: one edit
    assert near.nearest("zzzz", 5) == near.nearest("", 5) == near.nearest("q" * 99, 5) == []
    assert [one.word for one in near.nearest("185", 5)] == ["1850"]
    assert near.nearest("185a", 5) == []  # a word is no number
    stems = [(one.word, one.by) for one in near.like("nationals", 5)]
    assert stems == [("national", "spelling"), ("nations", "stem"), ("nation", "stem")]
