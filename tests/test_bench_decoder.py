"""The decoder of bench/translation against all derivations of small sentences."""

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "bench" / "translation"
WEIGHTS = np.array([0.7, 0.2, -0.3, 0.4, 0.5])
TABLE = """\
a ||| x ||| 0.5 ||| |||
a ||| y ||| 0.4 ||| |||
a b ||| z x ||| 0.3 ||| |||
b ||| z ||| 0.6 ||| |||
b c ||| w ||| 0.1 ||| |||
c ||| x w ||| 0.2 ||| |||
"""
SENTENCES = ["x z w", "z x w", "y z x w", "w z y"]


@pytest.fixture
def parts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import decoder
    import language_model

    path = tmp_path / "table"
    path.write_text(TABLE)
    table = decoder.Table(path, [["a", "b", "c", "q"]])
    model = language_model.LanguageModel((line.split() for line in SENTENCES), 2)
    yield decoder, table, model
    for name in ("decoder", "language_model"):
        sys.modules.pop(name, None)


def derivations(table, words, monotone):
    """Yield sequences of (begin, stop, rule) that cover all words."""
    n = len(words)
    for cuts in itertools.product([0, 1], repeat=n - 1):
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), n]
        spans = list(itertools.pairwise(edges))
        rules = [table.rules.get(" ".join(words[a:b]), []) for a, b in spans]
        for order in (
            [tuple(range(len(spans)))] if monotone else itertools.permutations(range(len(spans)))
        ):
            for chosen in itertools.product(*(rules[i] for i in order)):
                yield [(*spans[i], rule) for i, rule in zip(order, chosen, strict=True)]


def value(model, derivation):
    words = [word for _, _, rule in derivation for word in rule.target]
    history, language = ("<s>",), 0.0
    for word in [*words, "</s>"]:
        language += model.score(history, word)
        history = (word,)
    ends = [0, *(stop for _, stop, _ in derivation)]
    jumps = -sum(abs(a - last) for (a, _, _), last in zip(derivation, ends, strict=False))
    scores = sum(rule.scores[0] for _, _, rule in derivation)
    features = np.array([language, len(words), len(derivation), jumps, scores])
    return float(WEIGHTS @ features), tuple(words)


@pytest.mark.parametrize("reordering", [0, 9])
def test_a_wide_beam_finds_the_best_derivation(parts, reordering):
    decoder, table, model = parts
    words = ["a", "b", "c"]
    best = max(value(model, one) for one in derivations(table, words, reordering == 0))
    found = decoder.Decoder(table, model, WEIGHTS, reordering, beam=500, options=50)
    one = found.translate(words)[0]
    assert float(WEIGHTS @ np.array(one.features)) == pytest.approx(best[0])
    assert one.words == best[1]


def test_an_unknown_word_is_copied_and_n_best_are_distinct(parts):
    decoder, table, model = parts
    found = decoder.Decoder(table, model, WEIGHTS).translate(["a", "q"], n_best=5)
    assert all(one.words[-1] == "q" for one in found)
    assert len({one.words for one in found}) == len(found) > 1
    assert found[0].features[4] in (math.log(0.5), math.log(0.4))
