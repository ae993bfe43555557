"""The paraphraser against its naive twin, and what must hold whatever the shards."""

import itertools
import random
from dataclasses import replace
from weakref import ref

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError, Recipe, SignatureTable
from distsim.comparison.finder.inflections import crosses_edge
from distsim.comparison.nearest import NeighbourSearch
from distsim.contexts.weights import Weighting
from distsim.kernels.suffixes import DAMAGED
from distsim.paraphrase import occurrences
from distsim.paraphrase.context_candidates import SimilarPhrases, crossing
from distsim.paraphrase.kernels.profiles import gather_windows, weigh_by_likelihood, weigh_roughly
from distsim.paraphrase.occurrences import SampledOccurrences, Sampler, locate, word_ids
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.paraphrase.paraphrasing_options import PRESETS, ParaphraseOptions
from distsim.paraphrase.surroundings import LONGEST_SIDE, surroundings
from distsim.signatures.recipe import PRESETS as RECIPES
from tests.naive import paraphrase as naive

ONE_PLACE = np.array([[1.0, 0.0]])
EVERYTHING = replace(
    PRESETS["marton"], min_score=0.0, k=1_000_000, length_difference=None, mcc=4, sample=20
)


def drawn_sentences(seed: int, n: int = 60, words: int = 12) -> list[list[str]]:
    rng = random.Random(seed)
    names = [f"w{number}" for number in range(words)]
    weights = [1 / (number + 1) for number in range(words)]
    return [rng.choices(names, weights, k=rng.randint(1, 9)) for _ in range(n)]


def build(tmp_path, sentences, shard_tokens: int = 1 << 20, name: str = "index") -> CorpusIndex:
    corpus = tmp_path / f"{name}.txt"
    corpus.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
    options = IndexOptions("lines", shard_tokens=shard_tokens)
    return CorpusIndex.build([corpus], tmp_path / name, options=options)


def sample_of(index: CorpusIndex, sample: int, *words: str) -> SampledOccurrences:
    located = locate(index, word_ids(index, words), np.array([len(words)]))
    return Sampler(index, sample).sample(located, np.zeros(1, np.int64))


def found_by(index: CorpusIndex, options: ParaphraseOptions, phrase: str):
    answer = Paraphraser(index, options=options).answer(phrase)
    return {
        tuple(p.phrase.split()): (p.score, p.count, p.shared_contexts) for p in answer.paraphrases
    }


@pytest.mark.parametrize(("seed", "mcc"), [(0, 1), (1, 4), (2, 30)])
def test_every_candidate_is_that_of_the_paper(tmp_path, seed, mcc):
    sentences = drawn_sentences(seed)
    index = build(tmp_path, sentences, shard_tokens=97)
    options = replace(EVERYTHING, mcc=mcc)
    for phrase in [("w0",), ("w3",), ("w11",), ("w1", "w0"), ("w0", "w2", "w1")]:
        wanted = naive.paraphrases(sentences, phrase, 6, 20, mcc, 1, 6, LONGEST_SIDE)
        found = found_by(index, options, " ".join(phrase))
        positive = {x: values for x, values in wanted.items() if values[0] > 1e-12}
        assert found.keys() == positive.keys()
        for x, (score, count, evidence) in positive.items():
            assert found[x][0] == pytest.approx(score, abs=1e-9)
            assert found[x][1:] == (count, evidence)


def test_rare_phrases_of_one_shared_context_are_no_answers(tmp_path):
    lines = ["they met again and again in rome", "they met the kandyan kingdom in rome"]
    lines += ["we met now and then in rome"] * 3 + ["they met often in rome"] * 5
    lines += [f"x{n} saw now and then y{n}" for n in range(2)]
    (tmp_path / "text").write_text("\n".join(lines) + "\n")
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    options = ParaphraseOptions(min_score=0.0, min_count=1, one_sided=0)
    every = {one.phrase: one for one in Paraphraser(index, options=options).answer(
        "again and again").paraphrases}  # fmt: skip
    assert every["the kandyan kingdom"].shared_contexts == 1
    few = Paraphraser(index, options=replace(options, min_count=5)).answer("again and again")
    assert {one.phrase for one in few.paraphrases} == every.keys() - {
        phrase for phrase, one in every.items()
        if one.origin == ("contexts",) and one.shared_contexts == 1 and one.count < 5
    }  # fmt: skip
    assert "often" in {one.phrase for one in few.paraphrases} < every.keys()
    assert PRESETS["marton"].min_count == 1


@pytest.mark.parametrize(("seed", "shards"), [(3, 1 << 20), (4, 61)])
def test_every_candidate_of_the_default_is_that_of_the_twin(tmp_path, seed, shards):
    sentences = drawn_sentences(seed, 70, 12)
    index = build(tmp_path, sentences, shards)
    options = replace(
        PRESETS["default"], min_score=0.0, k=1_000_000, one_sided=1_000_000, one_sided_mcc=2,
        mcc=4, sample=20, candidate_sample=15, substrings=False, collapsed=False, min_count=2,
    )  # fmt: skip
    for phrase in [("w0",), ("w1",), ("w1", "w0"), ("w0", "w0")]:
        n = len(phrase)
        answer = Paraphraser(index, options=options).answer(" ".join(phrase))
        found = {tuple(one.phrase.split()): one for one in answer.paraphrases}
        focal = naive.profile(sentences, phrase, 6, 20, "log-llr", 2)
        two = naive.paraphrases(sentences, phrase, 6, 20, 4, max(1, n - 2), n + 2, LONGEST_SIDE)
        places = naive.sampled(naive.occurrences(sentences, phrase), 20)
        sides = naive.sides_alone(sentences, places, n, 2, LONGEST_SIDE)
        one = naive.candidates_of_sides(sentences, sides, phrase, max(1, n - 1), n + 1)
        scores = {}
        for x in one | two.keys():
            count = len(naive.occurrences(sentences, x))
            if x not in one and two[x][2] == 1 and count < options.min_count:
                continue
            if not naive.overlaps(phrase, x):
                cosine = naive.cosine(focal, naive.profile(sentences, x, 6, 15, "log-llr", 2))
                scores[x] = cosine * count / (count + options.doubt)
                if n > 1:
                    others = naive.occurrences(sentences, x)
                    scores[x] *= naive.alike_beside(sentences, places, n, others, len(x))
        assert found.keys() == {x for x, score in scores.items() if score > 1e-12}
        assert n > 1 or (one & found.keys() and two.keys() & found.keys())
        for x, paraphrase in found.items():
            assert paraphrase.score == pytest.approx(scores[x], abs=1e-9)
            assert paraphrase.shared_contexts == (two[x][2] if x in two else 0)
            assert paraphrase.origin == ("contexts",) * (x in two) + ("one-sided",) * (x in one)


def test_phrases_between_other_words_score_less(tmp_path):
    purposes = [["he", "came", "so", "as", "to", "see"], ["he", "came", "in", "order", "to", "see"]]
    able = [["he", "is", "able", "to", "see"], ["they", "are", "able", "to", "see"]]
    once = [["he", "came", "able", "to", "see"]]
    index = build(tmp_path, [*purposes, *able, *able, *once] * 5)
    options = ParaphraseOptions(min_score=0.0, length_difference=None)
    with_kinds, without = (
        {
            x: row[0]
            for x, row in found_by(index, replace(options, kinds=kinds), "in order to").items()
        }
        for kinds in (True, False)
    )
    same, other = ("so", "as", "to"), ("able", "to")
    assert with_kinds[same] == pytest.approx(without[same])  # the same words on both sides
    assert with_kinds.get(other, 0.0) < without[other]


def test_screens_keep_the_best(tmp_path):
    sentences = drawn_sentences(6, 3000, 300)
    index = build(tmp_path, sentences)
    options = replace(PRESETS["default"], one_sided=0, min_score=0.0)
    every = replace(options, screens=(), screened=None, walk=None, candidate_sample=None)
    kept = total = 0
    for phrase in [f"w{number}" for number in range(0, 300, 15)]:
        wanted = {one.phrase for one in Paraphraser(index, options=every).paraphrases(phrase)}
        answer = Paraphraser(index, options=options).answer(phrase)
        assert answer.n_profiled <= 60
        kept += len(wanted & {one.phrase for one in answer.paraphrases})
        total += len(wanted)
    assert kept / total > 0.9


@pytest.mark.parametrize("shards", [1 << 20, 3000])
def test_a_few_occurrences_are_drawn_by_place_alone(tmp_path, shards):
    index = build(tmp_path, drawn_sentences(8, 2000, 6), shards)
    ids = word_ids(index, [f"w{number}" for number in range(6)])
    located = locate(index, ids, np.arange(1, 7))
    numbers = np.array([0, 3, 5])
    few = Sampler(index, 500).few(located, numbers, 100)
    whole = Sampler(index, 10_000).sample(located, numbers)
    for p in range(3):
        places = few.positions[few.starts[p] : few.starts[p + 1]].tolist()
        assert 60 < len(places) < 140
        assert places == sorted(set(places))
        assert set(places) <= set(whole.positions[whole.starts[p] : whole.starts[p + 1]].tolist())
    every = Sampler(index, 500).few(located, numbers, 1_000_000)
    assert np.array_equal(every.positions, whole.positions)


def test_a_sample_of_a_very_common_phrase_is_drawn_by_place_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(occurrences, "_VERY_COMMON", 1000)
    sentences = drawn_sentences(8, 4000, 6)
    index = build(tmp_path, sentences)
    sample = sample_of(index, 50, "w0")
    places = sample.positions.tolist()
    every = sample_of(index, 100_000, "w0").positions.tolist()
    assert len(every) > 5000 and len(places) == 50
    assert places == sorted(set(places)) and set(places) <= set(every)
    assert every.index(places[25]) / len(every) == pytest.approx(0.5, abs=0.1)
    in_shards = sample_of(build(tmp_path, sentences, 3000, "shards"), 50, "w0")
    assert in_shards.positions.tolist() == places


def test_rough_weights_are_those_of_the_twin():
    rng = random.Random(5)
    for _ in range(500):
        n = rng.randint(1, 3000)
        count = rng.randint(1, max(1, int(n * rng.random() ** 2)))
        share = rng.random() ** rng.randint(1, 12)
        words = np.array([[share, np.log(share)]])
        weights = np.empty(1)
        weigh_roughly(
            n, words, ONE_PLACE, np.log(np.maximum(1, np.arange(1000))),
            np.array([count], np.uint32), np.zeros(1, np.uint32), weights,
        )  # fmt: skip
        wanted = naive.rough_g2(count, n, share)
        assert weights[0] == pytest.approx(wanted, rel=1e-7, abs=1e-7)


def test_windows_end_at_the_sentence_and_at_the_corpus():
    tokens = np.array([1, 2, 0, 3, 4, 5, 0, 6, 0], np.uint32)
    rows = np.empty((4, 6), np.uint32)
    positions = np.array([0, 4, 3, 7])
    lengths = np.array([1, 1, 3, 1])
    assert gather_windows(tokens, positions, lengths, 3, 7, rows) == 0
    assert rows.tolist() == [
        [0, 0, 0, 2, 0, 0], [3, 0, 0, 5, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0],
    ]  # fmt: skip
    assert gather_windows(tokens, positions, lengths, 3, 5, rows) == DAMAGED
    assert gather_windows(tokens, np.array([8]), np.array([2]), 3, 7, rows) == DAMAGED


@pytest.mark.parametrize("scheme", ["raw", "log", "log-llr"])
def test_other_weights_are_those_of_the_twin(tmp_path, scheme):
    sentences = drawn_sentences(9)
    index = build(tmp_path, sentences)
    options = replace(EVERYTHING, weighting=Weighting(scheme), window=2, sample=7)
    wanted = naive.paraphrases(sentences, ("w2",), 2, 7, 4, 1, 6, LONGEST_SIDE, scheme)
    found = found_by(index, options, "w2")
    assert found.keys() == wanted.keys()
    for x, values in wanted.items():
        assert found[x][0] == pytest.approx(values[0], abs=1e-9)


def test_ppmi_is_the_formula_of_the_design(tmp_path):
    sentences = [["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"], ["e", "b"]]
    index = build(tmp_path, sentences)
    options = replace(EVERYTHING, weighting=Weighting("ppmi", alpha=1.0, shift=0.0), mcc=9)
    found = found_by(index, options, "a")
    # a: b once, c once of 2; P(b) = 3/10, P(c) = 2/10. d has the same profile; e only b.
    b, c = np.log(0.5 / 0.3), np.log(0.5 / 0.2)
    assert found[("d",)][0] == pytest.approx(1.0)
    assert found[("e",)][0] == pytest.approx(b / np.hypot(b, c))


@pytest.mark.parametrize("seed", range(3))
def test_contexts_are_those_of_the_twin(tmp_path, seed):
    sentences = drawn_sentences(seed + 20)
    index = build(tmp_path, sentences, shard_tokens=50)
    found = surroundings(index, sample_of(index, 15, "w1"), 3)
    names = [naive.EDGE, *index.vocabulary.words(np.arange(1, index.n_words))]
    texts = {
        (
            tuple(names[w] for w in found.sides.side(left)),
            tuple(names[w] for w in found.sides.side(right)),
        ): times
        for left, right, times in zip(
            found.lefts.tolist(), found.rights.tolist(), found.multiplicities.tolist(), strict=True
        )
    }
    places = naive.sampled(naive.occurrences(sentences, ("w1",)), 15)
    assert texts == naive.contexts(sentences, places, 1, 3, LONGEST_SIDE)


def test_shards_change_nothing(tmp_path):
    sentences = drawn_sentences(5, 300, 40)
    options = replace(
        ParaphraseOptions(), mcc=20, sample=50, candidate_sample=30,
        walk=200, screened=40, screens=((2, 25, 0.1), (5, 15, 0.5)), k=5, one_sided=10,
        one_sided_mcc=8, substrings=False,
    )  # fmt: skip
    one = build(tmp_path, sentences, name="one")
    many = build(tmp_path, sentences, 100, "many")
    assert len(many.shards) > 5
    for phrase in ["w0", "w5", "w30", "w1 w0", "w0 w0"]:
        tables = [SignatureTable.build(index, recipe=Recipe()) for index in (one, many)]
        assert Paraphraser(one, options=options, table=tables[0]).answer(phrase) == Paraphraser(
            many, options=options, table=tables[1]
        ).answer(phrase)


def test_weights_by_likelihood_are_those_of_the_definition():
    rng = random.Random(4)
    for _ in range(3000):
        total = rng.choice([10.0, 1e3, 1e6, 4e8])
        n = rng.randint(1, int(min(total, 50_000) * rng.random() ** 3) + 1)
        count = rng.randint(1, max(1, int(n * rng.random() ** 3)))
        scale = rng.choice([1.0, 1.0, rng.uniform(1.0, total / n)])
        column = total * rng.random() ** rng.randint(1, 6)
        wanted = naive.g2(count * scale, n * scale, column, total)
        found = ratio_of(count, n, scale, column, total)
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6 * max(1.0, count * scale))
    assert ratio_of(5, 5, 1.0, 5.0, 10.0) == pytest.approx(20 * np.log(2))
    assert ratio_of(2, 4, 1.0, 5.0, 10.0) == 0.0


def ratio_of(count: int, n: int, scale: float, column: float, total: float) -> float:
    p = column / total
    words = np.array([[p, np.log(p)]])
    logs = np.log(np.maximum(1, np.arange(1000)))
    weights = np.empty(1)
    seen = np.array([count], np.uint32)
    weigh_by_likelihood(
        n, scale, words, ONE_PLACE, total, logs, seen, np.zeros(1, np.uint32), weights
    )
    assert not seen.any()
    return weights[0]


def test_sample_is_evenly_spaced_in_corpus_order(tmp_path):
    index = build(tmp_path, [["x", "y"]] * 10, shard_tokens=7)
    found = sample_of(index, 4, "x")
    assert found.positions.tolist() == [0, 6, 15, 21]  # occurrences 0, 2, 5, 7 of 10, 3 apart
    assert found.counts.tolist() == [10] and found.scales.tolist() == [2.5]


PAPER = [
    "she declined to provide any other details today",
    "police refused to provide any other information yet",
    "she declined to give further details today",
    "police refused to provide any information yet",
]


def test_the_papers_table_two(tmp_path):
    index = build(tmp_path, [line.split() for line in PAPER])
    options = replace(EVERYTHING, mcc=2)
    answer = Paraphraser(index, options=options).answer("to provide any other")
    found = {one.phrase: one for one in answer.paraphrases}
    assert set(found) == {"to give further", "to provide any"}
    assert found["to give further"].contexts == ("declined _ details",)
    assert found["to give further"].origin == ("contexts",)


def test_length_difference_and_k_and_least_score(tmp_path):
    sentences = drawn_sentences(2)
    index = build(tmp_path, sentences)
    every = found_by(index, EVERYTHING, "w1 w0")
    near = found_by(index, replace(EVERYTHING, length_difference=1), "w1 w0")
    assert near == {x: values for x, values in every.items() if 1 <= len(x) <= 3}
    best = Paraphraser(index, options=replace(EVERYTHING, k=3)).paraphrases("w1 w0")
    ordered = sorted(every.items(), key=lambda item: (-item[1][0], -item[1][1], " ".join(item[0])))
    assert [p.phrase for p in best] == [" ".join(x) for x, _ in ordered[:3]]
    least = found_by(index, replace(EVERYTHING, min_score=0.3), "w1 w0")
    assert least == {x: values for x, values in every.items() if values[0] >= 0.3}
    short = found_by(index, replace(EVERYTHING, max_length=2), "w1 w0")
    assert short == {x: values for x, values in every.items() if len(x) <= 2}


@pytest.mark.parametrize("focal", [(1,), (1, 2), (2, 2), (1, 2, 1), (1, 2, 3)])
def test_crossing_tells_of_many_candidates_what_crosses_edge_tells_of_each(focal):
    phrases = [x for n in (1, 2, 3, 4) for x in itertools.product((1, 2, 3), repeat=n)]
    words, stops = np.array(sum(phrases, ())), np.cumsum([len(x) for x in phrases])
    pieces = {focal[a:b] for a in range(len(focal)) for b in range(a + 1, len(focal) + 1)}
    found = crossing(np.array(focal), words, stops).tolist()
    for phrase, crosses in zip(phrases, found, strict=True):
        is_piece = len(focal) > 1 and phrase in pieces
        assert (crosses or is_piece) == crosses_edge(focal, phrase), phrase


def test_what_stands_across_the_edge_is_no_paraphrase(tmp_path):
    sentences = [f"x{i} in las vegas , y{i}".split() for i in range(6)]
    sentences += [f"x{i} in new york , y{i}".split() for i in range(6)]
    index = build(tmp_path, [*sentences, ["in", "in", "las", ","], ["in", "vegas", ",", ","]])
    options = replace(PRESETS["default"], min_score=0.0)
    found = {one.phrase for one in Paraphraser(index, options=options).paraphrases("las vegas")}
    kept = Paraphraser(index, options=replace(options, overlapping=False)).paraphrases("las vegas")
    assert "new york" in found and not {"in las", "vegas ,"} & found
    assert {"in las", "vegas ,"} <= {one.phrase for one in kept}


def test_a_phrase_that_stands_once_scores_less(tmp_path):
    sentences = [["a", x, "b"] for x in ("p", "p", "q", "r", "r", "r")]
    index = build(tmp_path, sentences)
    plain = replace(PRESETS["default"], min_score=0.0, doubt=0.0)
    scores = [
        {one.phrase: one.score for one in Paraphraser(index, options=options).paraphrases("p")}
        for options in (plain, replace(plain, doubt=1.0))
    ]
    assert scores[0]["q"] > 0 and scores[1]["q"] == pytest.approx(scores[0]["q"] / 2)
    assert scores[1]["r"] == pytest.approx(scores[0]["r"] * 3 / 4)


def test_phrases_as_long_are_found_beside_their_distinctive_words(tmp_path):
    """`owned by` says what `owned` says in a list of neighbours, but stands in for `led by`."""
    rng = random.Random(3)
    sentences = [
        f"a{rng.randint(0, 9)} {verb} {'by' if rng.random() < 0.2 else 'them'} b{rng.randint(0, 9)}"
        for verb in ("led", "owned", "built")
        for _ in range(60)
    ]
    index = build(tmp_path, [line.split() for line in sentences])
    table = SignatureTable.build(index, tmp_path / "table", recipe=RECIPES["learned"])
    near = SimilarPhrases(table, 20).nearest("led by", 8, 8)
    assert len(near) == len(set(near)) and {"owned by", "built by"} <= set(near)
    options = replace(PRESETS["default"], min_score=0.0, neighbours=1, mcc=1, one_sided=0)
    found = [
        {
            one.phrase
            for one in Paraphraser(index, options=options, table=table).paraphrases("led by")
        }
        for options in (replace(options, filled=0), replace(options, filled=90))
    ]
    assert {"owned by", "built by"} <= found[1] and len(found[0]) < len(found[1])
    told = {one.phrase for one in NeighbourSearch(table, min_strength=20).nearest("led by", k=8)}
    assert not {"owned by", "built by"} <= told


def test_other_ways_to_candidates_say_where_they_are_from(tmp_path):
    sentences = [f"l{i} m{i} old r{i} q{i}".split() for i in range(8)]
    sentences += [f"l{i} m{i} new s{i} t{i}".split() for i in range(4)]
    sentences += [f"u{i} v{i} new r{i} q{i}".split() for i in range(4, 8)]
    index = build(tmp_path, sentences)
    options = replace(PRESETS["default"], neighbours=0, mcc=3, min_score=0.0)
    assert not Paraphraser(index, options=replace(options, one_sided=0)).paraphrases("old")
    found = Paraphraser(index, options=options).paraphrases("old")
    assert found[0].phrase == "new" and found[0].origin == ("one-sided",)
    assert found[0].shared_contexts == 0 and found[0].contexts[0] == "_ r4 q4"
    table = SignatureTable.build(index, recipe=Recipe(), selection=None)
    near = Paraphraser(
        index, options=replace(options, neighbours=5, neighbour_strength=1), table=table
    ).paraphrases("old")
    assert "neighbours" in near[0].origin


def test_phrases_without_an_answer_say_why(tmp_path):
    index = build(tmp_path, drawn_sentences(1))
    paraphraser = Paraphraser(index)
    assert "does not occur" in paraphraser.answer("never seen").reason
    seven = paraphraser.answer("w0 w0 w0 w0 w0 w0 w0")
    assert "longer than 6 tokens" in seven.reason and not seven.paraphrases
    with pytest.raises(ParameterError, match="the phrase is empty: give at least one word"):
        paraphraser.answer("  ")


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("window", 0, "choose 1 to 20"), ("sample", 0, "choose 1 or more"), ("k", 0, "choose"),
        ("depth", 0, "choose 1 or more"),
        ("mcc", 0, "choose 1 or more"), ("max_length", 7, "choose 1 to 6"),
        ("min_score", 1.5, "choose 0 to 1"), ("entailment", "no", "choose one of off"),
        ("length_difference", -1, "choose 0 or more"), ("screened", 0, "choose 1 or more"),
        ("doubt", -1.0, "choose 0 or more"), ("filled", -1, "choose 0 or more"),
        ("screens", ((8, 9, 1.5),), "choose 0 to 1"),
        ("weighting", Weighting("ppmi", discount=1.0), "leave them out"),
    ],
)  # fmt: skip
def test_settings_out_of_range_are_refused(name, value, remedy):
    with pytest.raises(ParameterError, match=remedy):
        ParaphraseOptions(**{name: value})


def test_kept_profiles_give_the_same_answers(tmp_path, monkeypatch):
    monkeypatch.setattr("distsim.paraphrase.context_candidates.COMMON_COUNT", 10)
    sentences = drawn_sentences(12, 400, 30)
    one, many = build(tmp_path, sentences, name="one"), build(tmp_path, sentences, 150, "many")
    options = replace(
        PRESETS["default"], k=5, screens=((4, 12, 0.1), (12, 8, 0.5)), min_score=0.0, mcc=30
    )
    for bound in (1 << 24, 1_200):
        shared = Paraphraser(one, options=options, memory=bound)
        for phrase in ["w0", "w3", "w0", "w9", "w1 w0"]:
            fresh = Paraphraser(many, options=options).answer(phrase)
            assert shared.answer(phrase) == fresh and fresh.paraphrases
        assert len(shared._comparer._kept) > 1 or bound == 1_200


def test_paraphrasers_of_a_table_share_their_caches_while_they_live(tmp_path):
    index = build(tmp_path, drawn_sentences(1))
    table = SignatureTable.build(index, recipe=Recipe(), selection=None)
    one, other = (Paraphraser(index, table=table, memory=1 << 20) for _ in range(2))
    assert one._comparer is other._comparer
    assert one._comparer is not Paraphraser(index, table=table, memory=1 << 21)._comparer
    assert one._comparer is not Paraphraser(index, memory=1 << 20)._comparer
    alive = ref(one._comparer)
    del one, other
    assert alive() is None
