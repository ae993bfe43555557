"""Opposites: what joins two phrases, patterns of a language, scores, and what asks for them."""

import json
import math
import pickle
import re
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim import (
    CorpusIndex,
    IndexOptions,
    InputError,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
)
from distsim.comparison import Language, Opposites
from distsim.comparison import kernels as kernel
from distsim.comparison.opposites.exclusive import DOUBTFUL, EXCLUSIVE, ExclusiveWords
from distsim.comparison.opposites.joint_occurrences import PositionMarks, near_each
from distsim.comparison.opposites.opposites import opposites_last, without_shared
from distsim.grammar import PairFeatures, RuleScorer
from distsim.indexes.shard import Shard
from distsim.kernels.compiled import frozen
from tests.naive import opposites as naive

TEXT = """\
prices rise and fall
between rise and fall there is calm
they rise or they fall
from rise to fall
the rise , the growth
growth and rise of the town
a happy man and an unhappy man
a happy man or an unhappy man
happy and glad people
glad people , happy people
it rises and falls
she is tall and fair
"""


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """(index, table) of a text in which some words are joined as opposites are."""
    folder = tmp_path_factory.mktemp("opposites")
    (folder / "text").write_text(TEXT * 12)
    index = CorpusIndex.build([folder / "text"], folder / "index", options=IndexOptions("lines"))
    return index, SignatureTable.build(index, recipe=Recipe(), selection=Selection(min_count=2))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=40),
    st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.integers(0, 6),
)  # fmt: skip
def test_joins_are_those_of_the_definition(tokens, length, size, n_others, window):
    others = [[1 + m, 2][:size] for m in range(n_others)]
    phrase = [3, 4][:length]
    positions = [p for p in range(len(tokens)) if tokens[p : p + length] == phrase]
    shard = shard_of(tokens)
    in_patterns = np.arange(7) != 1
    wanted = naive.joins(tokens, positions, length, others, window)
    of_patterns = [
        join for join in wanted if abs(join[0]) <= kernel.BETWEEN + 1 and 1 not in join[3:]
    ]
    # The same phrase twice, and another one between, whose joins do not mix with its own.
    places = [positions, range(0, len(tokens), 2), positions]
    pairs = [(length, np.array(others, np.int64)), (1, np.array([[4]])),
             (length, np.array(others, np.int64))]  # fmt: skip
    for room in (100, 1):
        n, counts, rows = joins_at(shard, places, pairs, window, in_patterns, room)
        assert counts[0] == counts[2] == [len(wanted), sum(join[2] > 0 for join in wanted)]
        if n <= room:
            joins = [[(*row[:3], *(t for t in row[3:] if t != kernel.NONE)) for row in part]
                     for part in rows]  # fmt: skip
            assert joins[0] == joins[2] == of_patterns


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=200), st.integers(1, 2),
    st.lists(st.lists(st.lists(st.integers(1, 6), min_size=2, max_size=2), min_size=1, max_size=2),
             min_size=1, max_size=5),
    st.integers(1, 2), st.integers(0, 6),
)  # fmt: skip
def test_positions_without_others_near_tell_of_no_joins(tokens, length, others, size, window):
    others = [np.array(one)[:, :size] for one in others]
    shard = shard_of([*tokens, 0])  # a text ends behind a sentence
    (positions,) = (shard.sorted_positions([np.array([3, 4][:length])]).astype(np.int64),)
    near = near_each(shard, positions, length, others, window, 7)
    for some, one in zip(near, others, strict=True):
        few = positions[::2].astype(np.uint32)
        marks = PositionMarks(shard, one, 1)
        marked, marked_few = marks.near([positions.astype(np.uint32), few], length, window)
        joins = [
            joins_at(shard, [of], [(length, one)], window, np.ones(7, bool), 500)
            for of in (positions, some, marked)
        ]
        assert joins[0] == joins[1] == joins[2]
        assert set(some) <= set(positions) and set(marked) <= set(positions)
        assert set(marked_few) == set(marked) & set(few)


def shard_of(tokens):
    """A shard of tokens 1 to 6, with what PositionMarks and near_each ask for."""
    shard = Shard.__new__(Shard)
    order = sorted(range(len(tokens)), key=lambda place: tokens[place:])
    arrays = {
        "tokens": np.array(tokens, np.uint32), "suffixes": np.array(order, np.uint32),
        "word_starts": np.searchsorted(np.sort(tokens), np.arange(8)),
    }  # fmt: skip
    for name, array in arrays.items():
        object.__setattr__(shard, name, frozen(array))
    return shard


def joins_at(shard, positions, pairs, window, in_patterns, room):
    """(number of rows, counts, rows by pair) of find_joins for pairs (length, others)."""
    starts, ends = np.cumsum([0, *map(len, positions)]), np.empty(len(pairs), np.int64)
    lengths, sizes = [pair[0] for pair in pairs], [pair[1].shape[1] for pair in pairs]
    other_starts = np.cumsum([0, *(others.size for _, others in pairs)])
    arrays = [np.concatenate(positions).astype(np.uint32), starts, np.array(lengths),
              np.concatenate([others.ravel() for _, others in pairs]), other_starts,
              np.array(sizes)]  # fmt: skip
    counts, rows = np.empty((len(pairs), 2), np.int64), np.empty((room, kernel.COLUMNS), np.int64)
    n = kernel.find_joins(
        shard.tokens, *map(frozen, arrays), window, frozen(in_patterns), counts, rows, ends
    )
    return n, counts.tolist(), [part.tolist() for part in np.split(rows[:n], ends[:-1])]


def test_evidence_by_hand(signed):
    opposites = Opposites(*signed)
    told = dict(zip(("rise", "happy", "glad"), opposites.evidence(
        [("rise", "fall"), ("happy", "unhappy"), ("happy", "glad")]), strict=True))  # fmt: skip
    # 12 of each line: `rise and fall` twice and `rises and falls`; `between`; `or they` is no
    # pattern; `rise to fall` and `from rise to fall`.
    weights = {(one.before, " ".join(one.between)): one.weight for one in Language.open().patterns}
    wanted = (
        weights["", "and"] * math.log1p(36) + weights["between", "and"] * math.log1p(12)
        + weights["", "to"] * math.log1p(12) + weights["from", "to"] * math.log1p(12)
    )  # fmt: skip
    assert told["rise"].joined == pytest.approx(wanted)
    assert told["happy"].negation == 1.0 and told["glad"].negation == 0.0
    # `man` behind both, and `a`, `an` are not the same before: 24 times.
    assert told["happy"].parallel == pytest.approx(math.log1p(24))
    assert told["rise"].score > told["glad"].score and told["happy"].score > told["glad"].score
    assert (
        opposites.evidence([("rise", "zzz"), ("rise", "rise"), ("rise", "the rise")]) == [None] * 3
    )
    (phrases,) = opposites.evidence([("prices rise", "prices fall")])
    assert phrases == told["rise"]
    again = pickle.loads(pickle.dumps(opposites))
    assert again.scores([("fall", "rise")]) == opposites.scores([("rise", "fall")])


@pytest.mark.parametrize(("sample", "paired"), [(5, 0.7), (20_000, 0.15)])
def test_cuts_of_the_text_change_nothing(signed, tmp_path, monkeypatch, sample, paired):
    monkeypatch.setattr("distsim.comparison.opposites.joint_occurrences._SAMPLE", sample)
    monkeypatch.setattr("distsim.comparison.opposites.opposites._PAIRED", paired)
    index, table = signed
    (tmp_path / "text").write_text(TEXT * 12)
    cut = CorpusIndex.build(
        [tmp_path / "text"], tmp_path / "index", options=IndexOptions("lines", shard_tokens=64)
    )
    assert len(cut.shards) > 3
    pairs = [("rise", "fall"), ("happy", "unhappy"), ("happy", "glad"), ("of the", "the rise")]
    assert Opposites(cut, table).evidence(pairs) == Opposites(index, table).evidence(pairs)


def test_shared_edges_are_taken_off():
    assert without_shared(["a", "b", "a"], ["a", "c", "a"]) == (("b",), ("c",))
    assert without_shared(["a", "a"], ["a"]) == (("a",), ())
    assert without_shared([], ["a"]) == ((), ("a",))


@pytest.mark.parametrize(
    ("a", "b", "opposed"),
    [
        ("happy", "unhappy", True), ("careful", "careless", True), ("downstairs", "upstairs", True),
        ("login", "logout", True), ("employee", "employer", True), ("import", "export", True),
        ("upstairs", "upstairs", False), ("up", "down", False), ("upon", "downon", False),
        ("upstairs", "downtown", False), ("around", "round", False),
    ],
)  # fmt: skip
def test_affixes(a, b, opposed):
    assert Language.open().are_opposed(a, b) == opposed == Language.open().are_opposed(b, a)


@pytest.mark.parametrize(
    ("a", "b", "excluded"),
    [
        ("monday", "friday", True), ("may", "july", True), ("sept", "september", False),
        ("three", "six", True), ("three", "third", False), ("third", "3rd", False),
        ("1914", "1918", True), ("1,000", "1000", False), ("18th", "19th", True),
        ("5", "5th", False), ("b5", "b6", False), ("may", "might", False),
    ],
)  # fmt: skip
def test_numbers_months_and_days_exclude_each_other(a, b, excluded):
    english = Language.open()
    assert english.exclude_each_other(a, b) == excluded == english.exclude_each_other(b, a)


def test_other_numbers_come_after_answers_that_may_be_right(tmp_path):
    lines = [f"we saw {word} ships at noon" for word in ("six", "seven", "many", "few", "some")]
    (tmp_path / "text").write_text("\n".join(lines * 20) + "\n")
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    table = SignatureTable.build(index, recipe=Recipe(), selection=Selection(min_count=2))
    (others, same) = Opposites(index, table).evidence([("six ships", "seven ships"),
                                                       ("six ships", "many ships")])  # fmt: skip
    assert others.contrasted and not others.opposite and not same.contrasted
    ranked, _ = opposites_last(Opposites(index, table), "six", ["seven", "many", "few"], 3)
    assert [row.place for row in ranked] == [1, 2, 0]


def test_phrases_with_another_name_or_closed_word_are_contrasted(tmp_path):
    places = ("Paris", "Berlin", "Oslo", "town")
    lines = [f"we saw ships in {place} at noon" for place in places]
    lines += ["on monday they came", "of friday they came", "his hat", "their hats"]
    (tmp_path / "text").write_text("\n".join(lines * 20) + "\n")
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    table = SignatureTable.build(index, recipe=Recipe(), selection=Selection(min_count=2))
    pairs = {
        ("in paris", "in oslo"): True, ("in paris", "ships in oslo"): True,
        ("in paris", "in town"): False,
        ("on monday", "of friday"): True, ("on monday", "came"): False,
        ("his hat", "their hats"): True, ("his hat", "hats"): False,
    }  # fmt: skip
    found = Opposites(index, table).evidence(list(pairs))
    assert [one.contrasted for one in found] == list(pairs.values())
    assert not any(one.opposite for one in found)


@pytest.mark.parametrize(("others", "contrasted"), [(1, False), (2, True)])
def test_nouns_that_a_language_writes_with_capitals_are_no_names(tmp_path, others, contrasted):
    line = " ".join(["sie sah", "{}", *["und ging dann"] * others, "."])
    lines = [line.format(noun) for noun in ("Mutter", "Tante", "Frau")]
    (tmp_path / "text").write_text("\n".join(lines * 20) + "\n")
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    table = SignatureTable.build(index, recipe=Recipe(), selection=Selection(min_count=2))
    (evidence,) = Opposites(index, table).evidence([("mutter", "tante")])
    assert evidence.contrasted == contrasted  # 1 of 5 words, or of 8, has a capital


def test_opposites_are_told_by_the_language_of_the_text(tmp_path):
    lines = ["das wasser war entweder kalt oder warm und nicht anders", "es war weder gut noch da",
             "wir haben von der frau und dem mann gehört , die dort waren"]  # fmt: skip
    (tmp_path / "text").write_text("\n".join(lines * 40) + "\n", encoding="utf-8")
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    assert index.language == "german"
    table = SignatureTable.build(index, recipe=Recipe(), selection=Selection(min_count=2))
    (own,) = Opposites(index, table).evidence([("kalt", "warm")])
    (english,) = Opposites(index, table, language=Language.open()).evidence([("kalt", "warm")])
    assert own.joined > english.joined == 0


def test_a_language_of_ones_own(tmp_path, signed):
    (tmp_path / "mine").write_text(
        "# mine\npattern\t2\tX , Y\npassed\tthe\nweight\tjoined\t1\nopposite\t1\n"
    )
    mine = Language.open(tmp_path / "mine")
    opposites = Opposites(*signed, language=mine)
    (found, other) = opposites.evidence([("rise", "growth"), ("rise", "fall")])
    assert found.score == pytest.approx(2 * math.log1p(12)) and found.opposite
    assert other.score == 0 and not other.opposite
    for line in ("pattern\t1\tX and", "weight\tx\t1", "pattern\t1\ta b X or Y", "nothing",
                 "weight\tjoined\tx", "opposite\tnan", "suffix", "paired\tup-\t-down",
                 "paired\tup\tdown", "paired\t-\t-on"):  # fmt: skip
        (tmp_path / "mine").write_text(f"passed\ta\n{line}\n")
        with pytest.raises(InputError, match="mine, line 2: .* is none of pattern, passed"):
            Language.open(tmp_path / "mine")
    with pytest.raises(ParameterError, match="language 'klingon': give english, or a file"):
        Language.open("klingon")


def test_rules_pairs_and_commands(signed, tmp_path, run):
    index, table = signed
    opposites = Opposites(index, table)
    scorer = RuleScorer([("sim_ngram", table)], opposites=opposites)
    assert scorer.names == ["sim_ngram", "opposite"]
    _, found = scorer.score("they rise", "they fall", [(0, 0), (1, 1)])
    (wanted,) = opposites.scores([("rise", "fall")])
    assert found.similarity == pytest.approx(wanted) and found.scored == 2
    features = PairFeatures(opposites=opposites)
    assert features.matrix([("rise", "fall"), ("a", "a")], names=["opposite"])[
        :, 0
    ] == pytest.approx([wanted, math.nan], nan_ok=True)
    (tmp_path / "g").write_text("[X] ||| rise ||| fall ||| ||| 0-0\n[X] ||| a ||| a ||| ||| 0-0\n")
    _, err = run("score", tmp_path / "g", "--opposites", index.path, "-o", tmp_path / "o")
    lines = (tmp_path / "o").read_text().splitlines()
    assert (
        lines[0]
        == f"[X] ||| rise ||| fall ||| opposite={wanted:.5f} opposite_coverage=1.00000 ||| 0-0"
    )
    assert "opposite=" not in lines[1] and "opposite: corpus:" in err
    out, _ = run("similarity", index.path, "rise", "fall", "--opposite")
    assert out.split("\t")[1] == f"{wanted:.6f}" + (
        "" if wanted >= opposites.language.opposite else "\n"
    )
    out, _ = run("similarity", index.path, "rise", "fall", "--opposite", "--json")
    assert json.loads(out)["opposite"]["joined"] > 0
    _, err = run("similarity", table.path, "rise", "fall", "--opposite", status=1)
    assert "opposites are found in an index: name the table's index" in err
    _, err = run("rank", "--learn", tmp_path / "g", "--opposites", table.path, "-o",
                 tmp_path / "w", status=1)  # fmt: skip


def test_paraphrases_without_opposites(signed, run):
    index, _ = signed
    everything, _ = run("paraphrase", index.path, "happy", "--set", "min_score=0")
    kept, err = run("paraphrase", index.path, "happy", "--set", "min_score=0",
                    "--set", "opposites=out")  # fmt: skip
    dropped = set(everything.splitlines()) - set(kept.splitlines())
    assert any("\tunhappy\t" in line for line in dropped)
    assert re.search(r"\d+ answers? left out: opposites", err)


PATTERNS = [(0, (1,), 0), (2, (3,), 0), (0, (3,), 1), (2, (1, 3), 0), (0, (4, 1), 1)]
WORDS = frozenset({5, 6, 7, 8})


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=3, max_size=30))
def test_joined_words_are_those_of_the_definition(tokens):
    first, following = np.full(9, -1, np.int32), []
    for number, (_, between, _) in reversed(list(enumerate(PATTERNS))):
        following.insert(0, first[between[0]])
        first[between[0]] = number
    betweens = [[*between, *[-1] * (4 - len(between))] for _, between, _ in PATTERNS]
    passed, is_word = np.zeros(9, bool), np.zeros(9, bool)
    passed[4] = is_word[list(WORDS)] = True
    keys, of = np.empty(40, np.int64), np.empty(40, np.uint8)
    arrays = (
        np.array(tokens, np.uint32), first, np.array(following, np.int32),
        np.array([one[0] for one in PATTERNS]), np.array(betweens),
        np.array([one[2] for one in PATTERNS], np.uint8), passed, is_word,
    )  # fmt: skip
    n = kernel.join_words(*map(frozen, arrays), keys, of)
    found = [
        (key >> 32, key & 0xFFFFFFFF, kind) for key, kind in zip(keys[:n], of[:n], strict=True)
    ]
    assert found == naive.joined_words(tokens, PATTERNS, {4}, WORDS)


def test_words_within_sentences_and_their_capitals():
    text = "Peter saw Anna. Then anna, Émile and PAUL-marie; ok".encode()
    words, ends = np.empty(len(text), np.uint8), np.zeros(len(text), np.int64)
    is_capital = np.empty(len(text), bool)
    n = kernel.words_within(frozen(np.frombuffer(text, np.uint8)), words, ends, is_capital)
    blob = words.tobytes()
    found = [blob[a:b].decode() for a, b in zip([0, *ends[: n - 1]], ends[:n], strict=True)]
    assert found == ["saw", "anna", "anna", "Émile", "and", "paul"]
    assert is_capital[:n].tolist() == [False, True, False, False, False, True]


NAMES = "she met Anna in Rome . he saw Peter in Paris . we know Anna and her town .\n"
JOINED = (
    "either wet or dry\nfrom wet to the dry\nwet rather than dry\nwet , soaked\nmoist or wet\n"
    "roads rather than a road\n"
)


def test_words_exclude_each_other(tmp_path):
    (tmp_path / "text").write_text(
        NAMES * 12 + JOINED * 9 + "soaked and wet\n" * 3 + "they went home\n" * 60
    )
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    SignatureTable.build(
        index, tmp_path / "i" / "signatures", recipe=Recipe(), selection=Selection(min_count=2)
    )
    table = SignatureTable.open(tmp_path / "i")
    around = table.around
    assert around is not None and around.checksum == index.checksum
    exclusive = ExclusiveWords(table)
    asked = [("wet", "dry"), ("dry", "wet"), ("wet", "soaked"), ("two", "three"), ("two", "2"),
             ("his", "her"), ("his", "him"), ("nowhere", "all"), ("wet", "wettest")]  # fmt: skip
    told = [True, True, False, True, False, True, False, True, False]
    assert exclusive.of_words(asked).tolist() == told
    same = np.ones((4, 1), np.float32)
    words = ["anna", "peter", "annabel", "town"]
    pairs = np.array([[0, 1], [0, 2], [0, 3]])
    assert exclusive.among(words, same, *pairs.T).tolist() == [EXCLUSIVE, 0, 0]
    words = ["wetter", "drier", "wettest", "soaks"]  # by their bases, wherever they stand
    pairs = np.array([[0, 1], [2, 1], [0, 2], [0, 3]])
    assert exclusive.among(words, same, *pairs.T).tolist() == [EXCLUSIVE, EXCLUSIVE, 0, 0]
    assert not exclusive.among(words, 0 * same, *pairs.T).any()
    words = ["wet", "moist", "roads", "road"]  # `or` alone is no contrast, nor are forms of a word
    pairs = np.array([[0, 1], [2, 3]])
    assert exclusive.among(words, same, *pairs.T).tolist() == [DOUBTFUL, 0]
    assert exclusive.among(words, 0 * same, *pairs.T).tolist() == [0, 0]
    assert not exclusive.among(words, 0 * same, *pairs.T).any()
    words = ["wet", "soaked", "spite"]  # joined by `and`: doubtful where they are alike
    pairs = np.array([[0, 1], [0, 2]])
    assert exclusive.among(words, same, *pairs.T).tolist() == [DOUBTFUL, 0]
    assert not exclusive.among(words, 0 * same, *pairs.T).any()


@pytest.mark.parametrize(
    ("name", "opposed", "others"),
    [
        (
            "german",
            [
                ("ersten", "letzte"),
                ("oben", "unterer"),
                ("möglich", "unmöglich"),
                ("nass", "trocken"),
            ],
            [("ersten", "erster"), ("nur", "auch"), ("nass", "feucht"), ("haus", "hause")],
        ),
        (
            "french",
            [
                ("première", "dernier"),
                ("plus", "moins"),
                ("activé", "désactivé"),
                ("riche", "pauvre"),
            ],
            [("premier", "premières"), ("il", "vous"), ("riche", "aisé"), ("cheval", "chevaux")],
        ),
    ],
)
def test_german_and_french_have_patterns_affixes_and_classes(tmp_path, name, opposed, others):
    """`text_language` of a name that has no file, or none, is read as English."""
    german = (
        "ob nass oder trocken\nentweder nass oder trocken\nes war nass und feucht\n"
        "nicht nur die ersten , sondern auch die letzte\nes ist möglich oder unmöglich\n"
        "oben steht ein erster unterer haus hause\n"
    )
    french = (
        "soit riche soit pauvre\nni riche ni pauvre\nil est riche et aisé\n"
        "il est activé ou désactivé\n"
        "vous avez plus ou moins de chevaux que le cheval\nla première premier premières dernier\n"
    )
    (tmp_path / "text").write_text({"german": german, "french": french}[name] * 9)
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    SignatureTable.build(
        index, tmp_path / "i" / "signatures", recipe=Recipe(), selection=Selection(min_count=2)
    )
    pairs = opposed + others
    words, same = (
        [word for pair in pairs for word in pair],
        np.ones((2 * len(pairs), 1), np.float32),
    )
    exclusive = ExclusiveWords(SignatureTable.open(tmp_path / "i"), text_language=name)
    grades = exclusive.among(words, same, np.arange(0, len(words), 2), np.arange(1, len(words), 2))
    assert (grades == EXCLUSIVE).tolist() == [True] * len(opposed) + [False] * len(others)
    assert Language.of_text("spanish").prefixes == Language.open().prefixes


def test_a_table_outside_of_an_index_tells_classes_and_affixes(signed, tmp_path):
    index, table = signed
    shutil.copytree(table.path, tmp_path / "table")
    table = SignatureTable.open(tmp_path / "table")
    exclusive = ExclusiveWords(table)
    assert table.around is None
    pairs = [("rise", "fall"), ("her", "his"), ("happy", "unhappy"), ("spite", "despite")]
    same = np.ones((8, 1), np.float32)
    words = [word for pair in pairs for word in pair]
    told = exclusive.among(words, same, np.arange(0, 8, 2), np.arange(1, 8, 2))
    assert told.tolist() == [0, EXCLUSIVE, EXCLUSIVE, 0]
    inside = ExclusiveWords(table, index)
    assert inside.of_words([("rise", "fall"), ("rise", "growth")]).tolist() == [True, False]
