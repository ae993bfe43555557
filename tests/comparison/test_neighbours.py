"""`distsim neighbours` and what the library refuses: many phrases, both limits, what is hidden."""

import json
import pickle

import numpy as np
import pytest

from distsim import (
    ExactCosine,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
    neighbours,
    sign,
    similarities,
    similarity,
)
from distsim.base import parallel
from distsim.comparison import NeighbourSearch
from distsim.comparison.nearest import NeighbourList, neighbours_of_both, rerank_neighbours
from distsim.contexts import NgramModel
from distsim.kernels.compiled import frozen
from distsim.signatures.distinctive_words import DistinctiveWords
from distsim.signatures.kernels.distinctive_words import (
    LEFT_OUT,
    SPELLING,
    choose_distinctive,
    order_neighbours,
)
from tests.signatures.test_people_learned import learned  # noqa: F401 (a fixture)


@pytest.fixture
def table(alice_index):
    return SignatureTable.open(alice_index.path)


def test_many_phrases_are_answered_in_turn_with_the_focal_one_first(alice_index, run):
    out, _ = run("neighbours", alice_index.path, "alice", "the king", "-k", 2)
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:2] for row in rows] == [
        ["alice", "1"], ["alice", "2"], ["the king", "1"], ["the king", "2"],
    ]  # fmt: skip
    one, _ = run("neighbours", alice_index.path, "alice", "-k", 2)
    assert one.splitlines() == ["\t".join(row[1:]) for row in rows[:2]]


def test_k_and_threshold_both_hold(alice_index, run, table):
    every = NeighbourSearch(table).above("alice", 0.6)
    assert len(every) > 5
    out, _ = run("neighbours", alice_index.path, "alice", "--threshold", 0.6)
    assert len(out.splitlines()) == len(every)
    out, _ = run("neighbours", alice_index.path, "alice", "--threshold", 0.6, "-k", 5)
    assert [line.split("\t")[1] for line in out.splitlines()] == [one.phrase for one in every[:5]]
    assert neighbours(table, "alice", k=5, threshold=0.6) == every[:5]
    assert neighbours(table, "alice", k=len(every) + 9, threshold=0.6) == every
    assert neighbours(table, "alice", k=3, threshold=1.0) == []


@pytest.mark.parametrize("distinct", [True, False])
def test_a_search_within_limits_finds_what_one_made_with_them_finds(learned, distinct):  # noqa: F811
    _, table = learned
    search = NeighbourSearch(table, min_strength=1, distinct=distinct)
    for limits in (
        {"min_strength": 8}, {"lengths": [2]}, {"min_strength": 3, "lengths": [1, 3]}, {},
    ):  # fmt: skip
        within = search.within(**limits)
        made = NeighbourSearch(table, distinct=distinct, **({"min_strength": 1} | limits))
        for phrase in ("alice", "the queen", "the white kid gloves"):
            for k in (1, 5, 40):
                assert within.neighbour_list(phrase, k=k) == made.neighbour_list(phrase, k=k)
        assert within.above("alice", 0.3) == made.above("alice", 0.3)
        again = pickle.loads(pickle.dumps(within))
        assert again.nearest("alice", k=5) == made.nearest("alice", k=5)


def test_little_memory_changes_no_neighbour(learned, run, monkeypatch):  # noqa: F811
    limits = {"lengths": [3], "min_strength": 4}
    table = SignatureTable.open(learned[1].path)
    copied = NeighbourSearch(table, **limits)
    assert 0 < len(copied._part.bits) == len(copied._part) < len(table)
    monkeypatch.setattr(parallel, "_limit", None)
    parallel.set_memory_limit(1000)
    table = SignatureTable.open(learned[1].path)
    mapped = NeighbourSearch(table, **limits)
    assert np.shares_memory(mapped._part.bits, table.bits)
    for phrase in ("alice", "the queen", "the white kid gloves"):
        assert copied.neighbour_list(phrase, k=20) == mapped.neighbour_list(phrase, k=20)
    asked = ("neighbours", learned[1].path, "alice", "--lengths", "3", "--min-strength", "4")
    given, _ = run(*asked, "--memory", "1K")
    assert parallel.memory_to_use() == 1024
    monkeypatch.setattr(parallel, "_limit", None)
    assert given == run(*asked)[0]


def test_a_search_within_limits_is_no_wider(learned):  # noqa: F811
    search = NeighbourSearch(learned[1], min_strength=5, lengths=[1, 2])
    for limits in ({"min_strength": 4}, {"lengths": [3]}, {"min_strength": 10**9}):
        with pytest.raises(ParameterError, match="choose"):
            search.within(**limits)


def test_hidden_rows_are_told(learned, run):  # noqa: F811
    _, table = learned
    found = NeighbourSearch(table).neighbour_list("the queen", k=5)
    assert isinstance(found, NeighbourList) and found.hidden > 0
    _, err = run("neighbours", table.path, "the queen", "-k", 5)
    assert f"{found.hidden:,} near-duplicates hidden: --all shows" in err
    _, err = run("neighbours", table.path, "the queen", "-k", 5, "--all")
    assert "hidden" not in err
    near = NeighbourSearch(table, distinct=False).above("the queen", 0.5)
    distinct = NeighbourSearch(table).neighbour_list("the queen", k=None, threshold=0.5)
    assert distinct.hidden == len(near) - len(distinct.neighbours)


def test_what_holds_all_distinctive_words_of_one_listed_before_is_left_out():
    """Cores, in order of distance: {5}, {1}, {2}, {2 3}, {1 4}, {2}; the focal phrase's is {1}."""
    cores = [[5], [1], [2], [2, 3], [1, 4], [2]]
    keys = np.array([5, 1, 2, 23, 14, 2], np.uint64)
    strengths, tokens = np.array([9, 9, 5, 9, 9, 9]), np.array([1, 1, 1, 2, 2, 1])
    focal, bare = np.array([1], np.uint64), np.ones(6, np.uint8)

    def choose(spelt, k, before=(), n=6, common=()):
        places = np.array([place for place in range(n) if place not in before])
        order = [*places, *before]
        starts = np.cumsum([0, *(len(cores[place]) for place in order)])
        words = np.array([word for place in order for word in cores[place]], np.uint64)
        by_place = (part[order] for part in (strengths, tokens, keys, bare))
        own = np.array([1, *common], np.uint64)
        by_core = np.argsort(keys[places])
        given = (places, spelt[: places.size], *by_place, starts, words, by_core, focal, own)
        return places[choose_distinctive(*map(frozen, given), k)].tolist()

    assert choose(np.zeros(6, np.uint8), 9) == [0, 2]
    # What was listed before counts as if it stood in front.
    assert choose(np.zeros(6, np.uint8), 9, (2,)) == [0]
    assert choose(np.zeros(6, np.uint8), 9, (0,)) == [2]
    # The focal phrase has the word 5, too, though it is no distinctive one.
    assert choose(np.zeros(6, np.uint8), 9, common=[5]) == [2]
    # The second is another spelling of the focal phrase.
    assert choose(np.array([0, SPELLING, 0, 0, 0, 0], np.uint8), 2) == [0, 1]
    # What is left out is not listed, hides nothing and stands for no others of its core.
    left_out = np.array([0, 0, LEFT_OUT, 0, 0, 0], np.uint8)
    assert choose(left_out, 9) == [0, 3]
    # The last stands half of the time in the fourth.
    strengths[5] = 19
    assert choose(left_out, 9) == [0, 3, 5]
    assert choose(np.array([LEFT_OUT, 0, LEFT_OUT, 0, 0, LEFT_OUT], np.uint8), 9) == [3]


def test_phrases_of_frequent_words_need_contexts_of_their_own(learned):  # noqa: F811
    _, table = learned
    search = NeighbourSearch(table, min_strength=2)
    phrases = [table.text(row) for row in range(0, len(table), 40)]
    listed = {one.phrase for phrase in phrases for one in search.nearest(phrase, k=30)}
    rows = table.find(sorted(listed))
    own = np.asarray(table.own_shares)[rows]
    plain = DistinctiveWords(table).cores(rows).plain
    assert not (plain & (own < 64)).any() and (plain & (own >= 64)).any()
    everything = NeighbourSearch(table, min_strength=2, distinct=False)
    others = {one.phrase for phrase in phrases for one in everything.nearest(phrase, k=30)}
    rows = table.find(sorted(others))
    plain = DistinctiveWords(table).cores(rows).plain
    assert (plain & (np.asarray(table.own_shares)[rows] < 64)).any()


def test_fragments_are_no_neighbours_of_phrases_that_are_none(learned):  # noqa: F811
    _, table = learned
    words = DistinctiveWords(table)

    def fragments(phrases):
        return words.cores(table.find(phrases)).fragments.tolist()

    assert fragments(["and to", "and", "the queen", "of the"]) == [True, False, False, False]
    # Nearly always in a longer one, which is among them or not.
    assert fragments(["mock turtle", "the mock"]) == [False, False]
    assert fragments(["the mock", "the mock turtle", "mock turtle"]) == [True, False, True]
    search = NeighbourSearch(table, min_strength=2)
    near = [one.phrase for one in search.nearest("the mock turtle", k=200)]
    assert not any(fragments(near))
    every = [one.phrase for one in search.nearest("it ,", k=200)]
    assert any(fragments(every))


def test_ties_are_ordered_by_strength_then_by_text():
    texts = ["b", "a b", "a", "é", "a"]
    text = "".join(texts).encode()
    bounds = np.cumsum([0, *(len(one.encode()) for one in texts)])
    draw = np.random.default_rng(3)
    for n in (0, 1, 2, 5, 40):
        rows = draw.integers(0, 5, n)
        distances = draw.integers(0, 2, n)
        strengths = np.array([1, 1, 1, 1, 2], np.uint32)
        edges = bounds[rows], bounds[rows + 1]
        given = (rows, distances, strengths, np.frombuffer(text, np.uint8), *edges)
        order = order_neighbours(*map(frozen, given)).tolist()
        keyed = [(d, -int(strengths[r]), texts[r]) for r, d in zip(rows, distances, strict=True)]
        assert [keyed[i] for i in order] == sorted(keyed)
        assert sorted(order) == list(range(n))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda t: neighbours(t, ["alice", None]), r"phrase\[1\]: is None, wanted a text"),
        (lambda t: neighbours(t, ["alice", float("nan")]), r"phrase\[1\]: is nan \(float\)"),
        (lambda t: neighbours(t, [b"alice"]), r"phrase\[0\]: is b'alice' \(bytes\), wanted a text"),
        (lambda t: neighbours(t, 7), r"phrase: is 7 \(int\), wanted"),
        (lambda t: neighbours(t, "alice", k=2.5), r"k: is 2.5 \(float\), wanted a whole number"),
        (lambda t: neighbours(t, "alice", k=0), "k: is 0, choose 1 or more"),
        (lambda t: neighbours(t, "alice", threshold="x"), "threshold: is 'x'"),
        (lambda t: neighbours(t, "alice", min_strength=1.5), "min_strength: is 1.5"),
        (lambda t: neighbours(t, "alice", lengths=0.5), r"lengths: is 0.5 \(float\), wanted"),
        (lambda t: neighbours(t, "alice", lengths=[0]), r"lengths\[0\]: is 0, choose 1 or more"),
        (lambda t: neighbours(t, "alice", candidates=["a", 1]), r"candidates\[1\]: is 1 \(int\)"),
        (lambda t: similarity(t, "alice", None), "b: is None, wanted a text"),
        (lambda t: similarities(t, [("a", "b"), "ab"]), r"pairs\[1\]: is 'ab' \(str\), wanted two"),
        (lambda t: similarities(t, [("a", b"b")]), r"pairs\[0\]\[1\]: is b'b' \(bytes\)"),
        (lambda t: similarities(t, [("a", "b", "c")]), r"pairs\[0\]: is \('a', 'b', 'c'\)"),
        (lambda t: similarities(t, 3), r"pairs: is 3 \(int\), wanted pairs of texts"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named(table, ask, said):
    with pytest.raises(ParameterError, match=said):
        ask(table)


def test_reranking_by_any_measure(alice_index, table):
    exact = ExactCosine(alice_index, table)
    near = neighbours(table, "the king", k=20)
    again = rerank_neighbours("the king", near, exact)
    assert neighbours(table, "the king", k=20, by=exact, among=20) == again
    assert [one.similarity for one in again] == sorted(
        (exact.similarity("the king", one.phrase) for one in near), reverse=True
    )
    with pytest.raises(ParameterError, match="leave it out beside `by`"):
        neighbours(table, "the king", by=exact, threshold=0.5)


def test_tokens_that_were_looked_up_tell_the_same(learned, monkeypatch):  # noqa: F811
    _, table = learned
    found, rows = DistinctiveWords(table), np.arange(len(table))
    wanted = DistinctiveWords(table).cores(rows)
    found.cores(rows[::7])
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr(found, "_base_hashes", lambda tokens: 1 / 0)
        found.cores(rows[:50])
    found.cores(rows[::5])
    for values, expected in zip(
        vars(found.cores(rows)).values(), vars(wanted).values(), strict=True
    ):
        assert np.array_equal(values, expected)


def test_rows_that_were_described_tell_the_same(learned, monkeypatch):  # noqa: F811
    _, table = learned
    order = np.random.default_rng(1).permutation(len(table))
    wanted = DistinctiveWords(table).cores(order)
    for most in (1 << 19, 100):  # beyond which all is forgotten
        monkeypatch.setattr("distsim.signatures.distinctive_words._MAX_DESCRIBED", most)
        words = DistinctiveWords(table)
        words.describe(order[::3])
        for rows in (order[:0], order[::7], order[5:40], order):
            fresh = vars(DistinctiveWords(table).cores(rows))
            for name, values in vars(words.cores(rows)).items():
                assert np.array_equal(values, fresh[name]), name
        assert np.array_equal(words.cores(order).fragments, wanted.fragments)
    assert wanted.fragments.any()


@pytest.mark.parametrize("estimate", ["bits", "restored"])
@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize(
    "limits",
    [{}, {"k": 3}, {"k": None, "threshold": 0.2}, {"threshold": 0.95}, {"k": 4, "among": 30}],
)
def test_neighbours_of_many_phrases_are_those_of_each(
    learned, monkeypatch, limits, distinct, estimate  # noqa: F811
):  # fmt: skip
    _, table = learned
    monkeypatch.setattr("distsim.comparison.nearest.AT_ONCE", 7)
    monkeypatch.setattr("distsim.comparison.nearest._FIRST_RING", 40)
    monkeypatch.setattr("distsim.comparison.finder.word_neighbours.AT_ONCE", 5)
    phrases = [table.text(row) for row in range(0, len(table), len(table) // 20)]
    phrases[3:3] = ["the old king of spain", "xyzzy", "xyzzy plugh", "Alice"]
    search = NeighbourSearch(table, min_strength=2, distinct=distinct, estimate=estimate)
    for searched in (search, search.within(lengths=(1, 2))):
        together = list(searched.neighbour_lists(phrases, **limits))
        assert together == [searched.neighbour_list(phrase, **limits) for phrase in phrases]
        assert together[4] is None
        assert sum(one is not None for one in together) >= len(phrases) - 2
    if "among" not in limits and limits.get("k", 10) is not None:
        options = {"min_strength": 2, "distinct": distinct, "estimate": estimate, **limits}
        each = [neighbours(table, phrase, **options) for phrase in phrases]
        assert neighbours(table, phrases, **options) == each


def test_a_search_is_made_once_a_table(table):
    first = NeighbourSearch(table, min_strength=5)
    neighbours(table, "alice", k=3, min_strength=5)
    assert NeighbourSearch(table, min_strength=5)._part is first._part
    for strength in range(1, 9):  # few are kept
        NeighbourSearch(table, min_strength=strength)
    assert len(table.kept["parts"]) <= 4


def test_lengths_may_be_any_range(table):
    assert neighbours(table, "alice", k=3, lengths=range(2, 10**12)) == neighbours(
        table, "alice", k=3, lengths=[2, 3, 4]
    )
    with pytest.raises(ParameterError, match="no phrase left has 9 tokens: choose other `lengths`"):
        neighbours(table, "alice", k=3, lengths=range(9, 10**12))


@pytest.mark.parametrize(
    "asked",
    [
        ("neighbours", "alice"),
        ("neighbours", "the queen"),
        ("paraphrase", "the door"),
        ("paraphrase", "alice"),
        ("substitute", "opened the [door] in a moment"),
        ("compare", "the queen", "the king"),
    ],
)
def test_a_limit_of_0_lists_all_beginning_with_those_of_a_limit(learned, run, asked):  # noqa: F811
    command, *phrases = asked
    index = learned[0].path
    few, _ = run(command, index, *phrases, "-k", 3, "--json")
    every, _ = run(command, index, *phrases, "-k", 0, "--json")
    if command == "compare":
        few, every = json.loads(few)["contexts"], json.loads(every)["contexts"]
        assert all(every[name][: len(few[name])] == few[name] for name in few)
        assert max(map(len, few.values())) == 3 < max(map(len, every.values()))
        return
    answers = [
        [json.loads(line)["answer"] for line in lines.splitlines()] for lines in (few, every)
    ]
    assert answers[1][:3] == answers[0] and len(answers[1]) > 3


def test_neighbours_in_two_tables_stand_beside_each_other(alice_index, run, tmp_path):
    """The lists of both tables, each phrase with the similarity that the other table's list has."""
    tables = []
    for number in range(2):
        recipe = Recipe(model=NgramModel(window=1 + number))
        tables.append(sign(
            alice_index, tmp_path / f"{number}.table", recipe=recipe,
            selection=Selection(min_count=2, max_length=2),
        ))  # fmt: skip
    searches = [NeighbourSearch(one, min_strength=5) for one in tables]
    own = [dict(row[:2] for row in one.nearest("alice", k=9)) for one in searches]
    both = neighbours_of_both(*searches, "alice", k=9)
    assert {row.phrase for row in both} == {*own[0], *own[1]}
    assert [row.of for row in both] == sorted(
        ("both" if one in own[0] and one in own[1] else "a" if one in own[0] else "b"
         for one in {**own[0], **own[1]}), key=("both", "a", "b").index,
    )  # fmt: skip
    for row in both:
        for listed, value in zip(own, row[2:], strict=True):
            assert row.phrase not in listed or listed[row.phrase] == value
    assert len({row.of for row in both}) == 3
    assert neighbours_of_both(*searches, "nothing of it") == []
    options = ("--beside", tables[1].path, "--min-strength", 5)
    out, _ = run("neighbours", tables[0].path, "alice", *options, "-k", 9, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["of"], row["answer"], row["similarity_a"], row["similarity_b"])
            for row in rows] == [tuple(row) for row in both]  # fmt: skip
    out, _ = run("neighbours", tables[0].path, "zzzz", *options)
    assert out == "NA\tNA\tNA\tNA\n"
    _, err = run("neighbours", tables[0].path, "alice", *options, "--why", status=2)
    assert "--beside goes with" in err
