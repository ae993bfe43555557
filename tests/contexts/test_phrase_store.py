"""Phrases and contexts in any order, quantity and memory: the sums are the dict's."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from distsim.base.errors import InputError, ParameterError
from distsim.contexts.phrase_store import FEWEST_BYTES, MOST_WORDS, PhraseStore
from distsim.corpus.vocabulary import hash_texts

LONGEST = 5


def added(store, seed, n, n_words):
    """Add random phrases and contexts; return their sums as dicts."""
    draw = np.random.default_rng(seed)
    strengths, contexts = Counter(), defaultdict(Counter)
    for begin in range(0, n, 100):
        size = min(100, n - begin)
        lengths = draw.integers(1, LONGEST + 1, size)
        phrases = [tuple(draw.integers(1, n_words, length).tolist()) for length in lengths]
        hashes = hash_texts([repr(phrase).encode() for phrase in phrases])
        counts = draw.integers(1, 9, size).astype(np.uint64)
        features = draw.integers(0, 50, size).astype(np.uint64)
        words = np.array([word for phrase in phrases for word in phrase], np.uint32)
        store.add_phrases(hashes, words, np.cumsum(lengths) - lengths, lengths, counts)
        store.add_contexts(hashes, features, counts)
        for phrase, feature, count in zip(phrases, features.tolist(), counts.tolist(), strict=True):
            strengths[phrase] += count
            contexts[phrase][feature] += count
    return strengths, contexts


@pytest.mark.parametrize("memory", [FEWEST_BYTES, 1 << 26])
@pytest.mark.parametrize(("n", "n_words", "min_count"), [(0, 5, 1), (1, 5, 1), (30_000, 9, 3)])
def test_sums_are_those_of_a_dict(tmp_path, memory, n, n_words, min_count):
    store = PhraseStore(LONGEST, tmp_path, memory)
    strengths, contexts = added(store, 1, n, n_words)
    found, last = {}, -1
    for block in store.blocks(min_count):
        assert all(block.hashes[:-1] < block.hashes[1:]) and int(block.hashes[0]) > last
        last = int(block.hashes[-1])
        for row, length in enumerate(block.lengths.tolist()):
            phrase = tuple(block.words[row, :length].tolist())
            own = slice(block.starts[row], block.starts[row + 1])
            pairs = dict(zip(block.features[own].tolist(), block.counts[own].tolist(), strict=True))
            found[phrase] = int(block.strengths[row]), pairs
    assert found == {
        phrase: (count, dict(contexts[phrase]))
        for phrase, count in strengths.items()
        if count >= min_count
    }
    store.close()


def test_two_phrases_of_one_hash_are_refused(tmp_path):
    store = PhraseStore(LONGEST, tmp_path, FEWEST_BYTES)
    one = np.ones(1, np.int64)
    for words in ([1, 2, 3], [4, 5]):
        store.add_phrases(
            np.array([7], np.uint64), np.array(words, np.uint32), 0 * one, len(words) * one,
            np.ones(1, np.uint64),
        )  # fmt: skip
    with pytest.raises(InputError, match="two phrases have the hash 0000000000000007: leave one"):
        list(store.blocks())


def test_too_little_memory_and_too_many_words(tmp_path):
    with pytest.raises(ParameterError, match="`memory` 1,000 bytes: give at least 262,144"):
        PhraseStore(LONGEST, tmp_path, 1000)
    store = PhraseStore(LONGEST, tmp_path, FEWEST_BYTES)
    one = np.ones(1, np.uint64)
    with pytest.raises(ParameterError, match="more than 268,435,456 distinct words: fold"):
        store.add_phrases(
            one, np.array([MOST_WORDS], np.uint32), np.zeros(1, np.int64), np.ones(1, np.int64), one
        )
