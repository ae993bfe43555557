"""Patterns with gaps: what they are, where they stand, how alike they are."""

import json

import numpy as np
import pytest

from distsim import CorpusIndex, IncompatibleError, IndexOptions, ParameterError, sign
from distsim.comparison import GappedCosine, gapped_neighbours
from distsim.comparison.gapped.patterns import GappedPattern, Matcher
from distsim.comparison.kernels import gather_fillers, match_parts
from distsim.grammar import RuleAligner, RuleScorer
from distsim.signatures.recipe import PRESETS
from tests.naive import gapped as naive_gapped

LINES = [
    "{0} takes the {1} into account today",
    "{0} considers the {1} today",
    "{0} eats the {2} slowly",
    "then {0} and {3} swim in the {4}",
]
WHO = ["alice", "bert", "carla", "doris"]
IDEAS = ["idea", "plan", "thought", "fact", "rule"]
FOOD = ["bread", "cake", "soup", "apple", "cheese"]
WATER = ["lake", "sea", "river"]


def lines() -> list[str]:
    drawn = np.random.default_rng(3)
    return [
        LINES[number % 4].format(*(str(drawn.choice(c)) for c in (WHO, IDEAS, FOOD, WHO, WATER)))
        for number in range(2400)
    ]


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A small index and its learned table."""
    folder = tmp_path_factory.mktemp("gapped")
    (folder / "text").write_text("\n".join(lines()) + "\n")
    index = CorpusIndex.build(folder / "text", folder / "index", options=IndexOptions("lines"))
    return index, sign(index, folder / "table", recipe=PRESETS["learned"])


@pytest.mark.parametrize(
    ("text", "parts", "gaps"),
    [
        ("take _ into account", (("take",), ("into", "account")), ((), (0,), ())),
        ("_ of _", (("of",),), ((0,), (1,))),
        ("a _ _ b _", (("a",), ("b",)), ((), (0, 1), (2,))),
    ],
)
def test_patterns_are_parts_and_gaps(text, parts, gaps):
    assert GappedPattern.of_text(text) == GappedPattern(parts, gaps)
    assert GappedPattern.of_text(text).text == text


def test_less_and_less_stands_around_a_gap():
    pattern = GappedPattern.of_text("he takes _ into account _")
    assert pattern.around(1) == [
        (("he", "takes"), ("into", "account")), (("takes",), ("into",)),
        (("he", "takes"), ()), ((), ("into", "account")), (("takes",), ()), ((), ("into",)),
    ]  # fmt: skip
    assert pattern.around(2) == [(("into", "account"), ()), (("account",), ())]


@pytest.mark.parametrize("text", ["take", "_ _", "", " "])
def test_a_pattern_without_word_or_gap_is_refused(text):
    with pytest.raises(ParameterError, match="a pattern has words, and a _"):
        GappedPattern.of_text(text)


@pytest.mark.parametrize("seed", range(6))
def test_kernels_find_what_the_slow_twins_do(seed):
    drawn = np.random.default_rng(seed)
    tokens = drawn.integers(0, 4, 300).astype(np.uint32)
    tokens[-1] = 0
    sizes = drawn.integers(1, 3, drawn.integers(1, 4))
    parts = [drawn.integers(1, 4, size).tolist() for size in sizes]
    anchor, longest = int(drawn.integers(len(parts))), int(drawn.integers(1, 4))
    text, part = tokens.tolist(), parts[anchor]
    positions = [p for p in range(300) if text[p : p + len(part)] == part]
    begins = np.zeros((len(positions) + 1, len(parts)), np.int64)
    n = match_parts(
        tokens, np.array(positions, np.int64), np.concatenate(parts).astype(np.int64),
        np.cumsum([0, *map(len, parts)]), anchor, longest, begins,
    )  # fmt: skip
    wanted = naive_gapped.match(text, positions, parts, anchor, longest)
    assert begins[:n].tolist() == wanted
    assert seed > 1 or wanted  # not all draws are empty
    for step in (1, -1):
        firsts = drawn.integers(-2, 302, 50)
        stops = firsts + step * drawn.integers(0, 5, 50)
        rows = np.empty((50, 3), np.uint32)
        assert gather_fillers(tokens, firsts, stops, step, 4, rows) == 0
        assert rows.tolist() == [
            naive_gapped.fillers(text, *pair, step, 3)
            for pair in zip(firsts.tolist(), stops.tolist(), strict=True)
        ]


def test_damage_is_told_and_not_followed():
    tokens, room = np.array([1, 2, 0], np.uint32), np.zeros((2, 1), np.int64)
    ids, starts = np.array([1]), np.array([0, 1])
    assert match_parts(tokens, np.array([7]), ids, starts, 0, 2, room) < 0
    rows = np.empty((1, 2), np.uint32)
    assert gather_fillers(tokens, np.array([0]), np.array([9]), 1, 2, rows) < 0


def test_matches_do_not_depend_on_shards(tmp_path):
    (tmp_path / "text").write_text("\n".join(lines()) + "\n")
    texts = []
    for tokens in (10_000_000, 2_000):
        options = IndexOptions("lines", shard_tokens=tokens)
        index = CorpusIndex.build(tmp_path / "text", tmp_path / f"index-{tokens}", options=options)
        for places, matches in ((100, 1000), (100_000, 50)):
            matcher = Matcher(index, places, matches)
            found = matcher.matches((("takes",), ("into", "account")))
            fillers = matcher.fillers(found, 1, 4)
            words = index.vocabulary.words(np.unique(fillers[fillers > 0]))
            assert set(words) <= {"the", *IDEAS}
            beside = matcher.fillers(found, 0, 2)
            texts.append((found.begins.tolist(), fillers.tolist(), beside.tolist()))
        assert matcher.matches((("takes",), ("zebra",))) is None
        assert matcher.matches((("account",), ("takes",))) is None
    assert len(index.shards) > 1
    assert texts[:2] == texts[2:]
    assert 0 < len(texts[0][0]) < 200 and len(texts[1][0]) == 50


def test_gaps_filled_alike_are_alike(signed):
    cosine = GappedCosine(*signed)
    near, far = cosine.similarities(
        [("takes _ into account", "considers _"), ("takes _ into account", "eats _")]
    )
    assert near > far + 0.1
    assert cosine.similarity("takes _ into account", "takes _ into account") == pytest.approx(1)
    assert cosine.similarity("zebras _", "considers _") is None
    # Found nowhere as a whole, it is shortened to what stands at its gap.
    assert cosine.similarity("zebras consider and eats _", "eats _") == pytest.approx(1)


def test_gaps_of_one_name_are_compared(signed):
    cosine = GappedCosine(*signed)
    crossed = GappedPattern.of_symbols([("", 2), ("considers", None), ("", 1)])
    straight = GappedPattern.of_symbols([("", 1), ("considers", None), ("", 2)])
    assert cosine.compare(straight, straight) == pytest.approx(1)
    assert cosine.compare(straight, crossed) < 0.9


def test_rules_get_sim_gap(signed):
    scorer = RuleScorer([], gapped=GappedCosine(*signed), aligner=RuleAligner("none"))
    assert scorer.names == ["sim_gap"]
    near = scorer.score("takes [NP,1] into account", "considers [NP,1]")[0]
    far = scorer.score("takes [NP,1] into account", "eats [NP,1]")[0]
    assert near.similarity > far.similarity + 0.1
    assert scorer.score("alice", "bert")[0].similarity is None  # no gap


def test_score_writes_sim_gap(signed, tmp_path, run):
    index, table = signed
    (tmp_path / "rules").write_text(
        "[X] ||| takes [NP,1] into account ||| considers [NP,1] ||| p=1\n"
        "[X] ||| alice ||| bert ||| p=1\n"
    )
    out, _ = run(
        "score",
        tmp_path / "rules",
        "--ngram",
        table.path,
        "--gaps",
        index.path,
        "--set",
        "align=none",
    )
    first, second = out.splitlines()
    assert " sim_gap=0." in first and "sim_gap=" not in second
    _, refused = run("score", tmp_path / "rules", "--gaps", table.path, status=1)
    assert "gaps are looked up in an index" in refused


def test_a_table_without_words_vectors_is_refused(signed, tmp_path):
    raw = sign(signed[0], tmp_path / "raw", recipe=PRESETS["thesis"])
    with pytest.raises(IncompatibleError, match="no vectors of words"):
        GappedCosine(signed[0], raw)


def test_what_takes_the_same_is_found(signed):
    cosine = GappedCosine(*signed)
    near = gapped_neighbours(cosine, "takes _ into account", k=5)
    assert any(one.pattern.startswith("considers") for one in near[:2])
    assert [one.similarity for one in near] == sorted((n.similarity for n in near), reverse=True)
    assert not any("takes _" in n.pattern or "_ into account" in n.pattern for n in near)
    assert any("considers" in one.pattern for one in gapped_neighbours(cosine, "_ eats the", k=20))
    # A gap more at an edge stands at that edge of what is found.
    edged = gapped_neighbours(cosine, "_ takes the _ into account", k=5)
    assert edged and all(one.pattern.startswith("_ ") for one in edged)
    assert gapped_neighbours(cosine, "zebra _") is None
    for pattern in ("a _ b _ c", "a _ _", "_"):
        with pytest.raises(ParameterError):
            gapped_neighbours(cosine, pattern)


def test_neighbours_finds_patterns(signed, run):
    index, table = signed
    out, _ = run("neighbours", table.path, "--index", index.path, "--gapped",
                 "takes _ into account", "zebra _", "-k", 2)  # fmt: skip
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:2] for row in rows[:2]] == [
        ["takes _ into account", "1"],
        ["takes _ into account", "2"],
    ]
    assert any("considers" in row[2] for row in rows[:2]) and len(rows[0]) == 5
    assert rows[2] == ["zebra _", "NA", "NA", "NA", "NA"]
    out, _ = run("neighbours", table.path, "--index", index.path, "--gapped", "eats _", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert all({"answer", "count", "similarity"} <= row.keys() for row in rows)
    _, refused = run("neighbours", table.path, "--gapped", "takes _", status=1)
    assert "gaps are looked up in an index" in refused
    run("neighbours", table.path, "--gapped", "takes _", "--by", "exact", status=2)
