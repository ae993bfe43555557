"""Translated contexts of words of two languages, beside a twin that reads the sentences itself."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from distsim import CorpusIndex
from distsim.paraphrase.unknown_words.shared_contexts import REACHES, SharedContexts

TRANSLATIONS = {f"s{n}": [(f"t{n}", 0.7), (f"t{(n + 1) % 6}", 0.3)] for n in range(6)}


def drawn(side: str, seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    words = [f"{side}{n}" for n in range(9)]  # some have no translation
    return [rng.choices(words, k=rng.randint(1, 40)) for _ in range(30)]


def around(sentences, word, reach) -> Counter:
    """Return how often each word stands near a word."""
    counts: Counter = Counter()
    for words in sentences:
        for n, one in enumerate(words):
            if one == word:
                counts.update(words[max(0, n - reach) : n] + words[n + 1 : n + 1 + reach])
    return counts


def weighed(counts, target) -> dict[str, float]:
    known = {word for found in TRANSLATIONS.values() for word, _ in found}
    every = Counter(word for words in target for word in words)
    chances = {word: 1 + every[word] for word in known}
    counts = {word: n for word, n in counts.items() if word in known and n}
    total, everything = sum(counts.values()), sum(chances.values())
    weights = {
        word: max(0, math.log(n / total / (chances[word] / everything))) * math.sqrt(n)
        for word, n in counts.items()
    }
    length = math.sqrt(sum(value**2 for value in weights.values())) or 1
    return {word: value / length for word, value in weights.items()}


@pytest.mark.parametrize("seed", range(4))
def test_cosines_are_those_of_the_sentences(tmp_path, seed):
    source, target, text = drawn("s", seed), drawn("t", seed + 50), drawn("s", seed + 99)
    indexes = [
        CorpusIndex.from_texts(["\n".join(map(" ".join, side))], tmp_path / name)
        for name, side in (("source", source), ("target", target))
    ]
    contexts = SharedContexts(TRANSLATIONS, *indexes, text)
    candidates = [f"t{n}" for n in range(9)] + ["elsewhere"]
    for word in ("s7", "s2", "nowhere"):
        found = contexts.cosines(word, candidates)
        for k, reach in enumerate(REACHES):
            shared: Counter = Counter()
            for other, n in around(source + text, word, reach).items():
                for translation, share in TRANSLATIONS.get(other, ()):
                    shared[translation] += n * share
            mine = weighed(shared, target)
            for n, candidate in enumerate(candidates):
                other = weighed(around(target, candidate, reach), target)
                wanted = sum(value * other.get(one, 0.0) for one, value in mine.items())
                assert found[n, k] == pytest.approx(wanted, abs=1e-9)


def test_a_word_stands_near_the_words_that_translate_its_neighbours(tmp_path):
    english = CorpusIndex.from_texts(["close the window\nopen the door\n" * 3], tmp_path / "en")
    spanish = CorpusIndex.from_texts(["cierra la ventana\nabre la puerta\n" * 3], tmp_path / "es")
    known = {"the": [("la", 1.0)], "window": [("ventana", 1.0)], "door": [("puerta", 1.0)]}
    contexts = SharedContexts(known, english, spanish)
    near, in_sentence = contexts.cosines("close", ["cierra", "abre"]).T
    assert near[0] > near[1] and in_sentence[0] > in_sentence[1]
    assert not np.any(contexts.cosines("shut", ["cierra"]))
