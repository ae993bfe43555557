"""The decoder of bench/translation against all derivations of small sentences."""

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "bench" / "translation"
WEIGHTS = np.array([0.7, 0.2, -0.3, 0.4, 0.25, -0.35, 0.5])
TABLE = """\
a ||| x ||| 0.5 ||| |||
a ||| y ||| 0.4 ||| |||
a b ||| z x ||| 0.3 ||| |||
b ||| z ||| 0.6 ||| |||
b c ||| w ||| 0.1 ||| |||
c ||| x w ||| 0.2 ||| |||
"""
MODULES = ("decoder", "language_model", "search", "tuning", "measures")
SENTENCES = ["x z w", "z x w", "y z x w", "w z y"]


@pytest.fixture
def parts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import decoder
    import language_model

    model = language_model.LanguageModel(line.split() for line in SENTENCES)

    def table(text=TABLE, copied=()):
        path = tmp_path / "table"
        path.write_text(text)
        return decoder.Table(path, model, [["a", "b", "c", "q"]], copied)

    yield decoder, table, model
    for name in MODULES:
        sys.modules.pop(name, None)


def rules_of(table, phrase):
    number = table.sources.get(phrase)
    return [] if number is None else range(table.firsts[number], table.firsts[number + 1])


def derivations(table, words, monotone):
    """Yield sequences of (begin, stop, rule) that cover all words."""
    n = len(words)
    for cuts in itertools.product([0, 1], repeat=n - 1):
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), n]
        spans = list(itertools.pairwise(edges))
        rules = [rules_of(table, " ".join(words[a:b])) for a, b in spans]
        for order in (
            [tuple(range(len(spans)))] if monotone else itertools.permutations(range(len(spans)))
        ):
            for chosen in itertools.product(*(rules[i] for i in order)):
                yield [(*spans[i], rule) for i, rule in zip(order, chosen, strict=True)]


def value(table, model, derivation):
    words = [word for _, _, rule in derivation for word in table.targets[rule]]
    history, language = ["<s>", "<s>"], 0.0
    for word in [*words, "</s>"]:
        language += model.score(history, word)
        history.append(word)
    ends = [0, *(stop for _, stop, _ in derivation)]
    jumps = -sum(abs(a - last) for (a, _, _), last in zip(derivation, ends, strict=False))
    copied = sum(rule in copies(table) for _, _, rule in derivation)
    unknown = sum(not model.knows(word) for word in words)
    own = [language, len(words), len(derivation), jumps, copied, unknown]
    scores = [table.features[rule][6:] for _, _, rule in derivation]
    features = np.array([*own, *np.sum(scores, axis=0)])
    return float(WEIGHTS @ features), tuple(words)


def copies(table):
    return {table.firsts[table.sources[word] + 1] - 1 for word in table.copies}


@pytest.mark.parametrize("reordering", [0, 9])
def test_a_wide_beam_finds_all_derivations_in_order(parts, reordering):
    decoder, made, model = parts
    table = made(copied=["a"])
    words = ["a", "b", "c"]
    best: dict[tuple[str, ...], float] = {}
    for one in derivations(table, words, reordering == 0):
        score, said = value(table, model, one)
        best[said] = max(score, best.get(said, score))
    found = decoder.Decoder(table, model, WEIGHTS, reordering, beam=500, options=50)
    n_best = found.translate(words, n_best=1000)
    scores = [float(WEIGHTS @ one.features) for one in n_best]
    assert {one.words: pytest.approx(s) for one, s in zip(n_best, scores, strict=True)} == best
    assert scores == sorted(scores, reverse=True)


def test_copies_compete_with_rules_only_where_asked(parts):
    decoder, made, model = parts
    weights = WEIGHTS.copy()
    weights[decoder.COPIED] = 50.0
    assert decoder.Decoder(made(), model, weights).translate(["a", "q"])[0].words[-1] == "q"
    for copied, said in (((), "y"), (("a",), "a")):
        found = decoder.Decoder(made(copied=copied), model, weights).translate(["a"])[0]
        assert found.words == (said,)
        assert found.features[decoder.COPIED] == len(copied)
    with pytest.raises(ValueError, match="61 words: 1 to 60"):
        decoder.Decoder(made(), model, weights).translate(["a"] * 61)


def test_every_score_of_an_augmented_table_counts(parts):
    decoder, made, model = parts
    lines = [line.replace(" ||| |||", " 0.9 0.25 ||| |||") for line in TABLE.splitlines()]
    table = made("\n".join(lines) + "\n")
    assert table.n_features == 9
    weights = np.append(WEIGHTS, [0.0, 2.0])
    one = decoder.Decoder(table, model, weights).translate(["a"])[0]
    assert one.features[-2:] == pytest.approx([math.log(0.9), math.log(0.25)])


def test_the_language_model_sums_to_one(parts):
    model = parts[2]
    words = [word for word in model.numbers if word != "<s>"]
    for history in (["<s>", "<s>"], ["<s>", "x"], ["x", "w"], ["y", "y"], ["never", "z"]):
        total = sum(math.exp(model.score(history, word)) for word in [*words, "unseen"])
        assert total == pytest.approx(1.0)


def test_tuning_raises_the_score_that_agrees_with_the_references(parts):
    decoder, made, model = parts
    import tuning

    lines = ["a ||| x ||| 0.1 0.9 ||| |||", "a ||| y ||| 0.9 0.1 ||| |||"]
    lines += ["b ||| z ||| 0.9 0.1 ||| |||", "b ||| w ||| 0.1 0.9 ||| |||"]
    table = made("\n".join(lines) + "\n")
    sentences = [["a"] * 4, ["b"] * 4, ["a", "a", "b", "b"]]
    wanted = [[{"a": "x", "b": "w"}[word] for word in words] for words in sentences]
    start = np.array([0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.9])

    def decode(weights):
        one = decoder.Decoder(table, model, weights)
        return [one.translate(words, 50) for words in sentences]

    assert [found[0].words for found in decode(start)] != [tuple(words) for words in wanted]
    weights = tuning.tune(decode, wanted, [start], 3, fixed=(3,))
    assert [found[0].words for found in decode(weights)] == [tuple(words) for words in wanted]
    assert weights[3] == start[3]


def test_statistics_are_those_of_sacrebleu(parts):
    import tuning

    counted = tuning.bleu_statistics(np.array([1, 2, 2, 3, 1]), np.array([2, 2, 1, 3, 1, 4]))
    # unigrams 1 2 2 3 1: all five; bigrams 22, 31; trigrams and 4-grams none
    assert counted.tolist() == [5, 5, 2, 4, 0, 3, 0, 2, 5, 6]


def test_rates_have_intervals_over_types_of_words(parts):
    from measures import Wanted, mean_by_type, recall

    wanted = [Wanted(0, "a", ("z",)), Wanted(1, "a", ("zeta", "1")), Wanted(1, "q", ())]
    assert recall(wanted, [["z"], ["zeta", "2"]]) == pytest.approx(2 / 3)
    assert mean_by_type([1, 1, 0, 0], ["a", "a", "b", "b"]) == "50.0 [0.0, 100.0]"
    assert mean_by_type([1, 0, 1, 0], ["a", "a", "b", "b"]) == "50.0 [50.0, 50.0]"
