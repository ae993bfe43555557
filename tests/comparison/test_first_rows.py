"""Every list that is cut at k: the first rows of a longer list are those of a shorter one."""

import random

import pytest

from distsim import CorpusIndex, IndexOptions, ParaphraseOptions, Paraphraser, SignatureTable, sign
from distsim.comparison import NeighbourSearch
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.paraphrase.rewriting.language_model import IndexModel
from distsim.paraphrase.rewriting.rewriter import Rewriter
from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions, Weights
from tests.conftest import write_lines

ROWS = (1, 2, 3, 5, 9, 20, 41, 130, 1000)
PHRASES = ("the queen", "said", "alice", "in a", "little", "into the")
SENTENCE = "said the [king] to alice"


@pytest.fixture(scope="module")
def novel(alice, tmp_path_factory):
    """The path of an index of Alice, its learned signatures inside."""
    folder = tmp_path_factory.mktemp("novel")
    (folder / "alice.txt").write_text(alice, encoding="utf-8")
    index = CorpusIndex.build(folder / "alice.txt", folder / "index", options=IndexOptions("text"))
    sign(index)
    return index.path


@pytest.fixture(autouse=True)
def many_rings(monkeypatch):
    """Limits of large tables, so small that they are met in a novel."""
    monkeypatch.setattr("distsim.comparison.nearest._FIRST_RING", 24)
    monkeypatch.setattr("distsim.comparison.nearest._WIDER", 3)
    monkeypatch.setattr("distsim.comparison.nearest.RERANKED", 30)


def parts(lines: list[str], is_named: bool) -> dict[str, list[str]]:
    """Return printed rows by the part that their first column names, where it does."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.partition("\t")[0] if is_named else "", []).append(line)
    return found


COMMANDS = [
    *(("neighbours", "INDEX", phrase, "-k") for phrase in PHRASES),
    ("neighbours", "INDEX", "the queen", "--all", "-k"),
    ("neighbours", "INDEX", "queen", "--by", "table", "-k"),
    ("neighbours", "INDEX", "queen", "--why", "-k"),
    ("neighbours", "INDEX", "the queen", "--lengths", "1-2", "--min-strength", "3", "-k"),
    ("neighbours", "INDEX", "the queen", "--threshold", ".1", "-k"),
    ("neighbours", "INDEX", "the queen", "--by", "exact", "-k"),
    ("neighbours", "INDEX", "said _ to", "--gapped", "-k"),
    *(("paraphrase", "INDEX", phrase, "-k") for phrase in PHRASES),
    ("paraphrase", "INDEX", "the queen", "--set", "substrings=false", "--why", "-k"),
    ("paraphrase", "INDEX", "the queen", "--preset", "thorough", "-k"),
    ("paraphrase", "INDEX", "into the", "--set", "entailment=both", "-k"),
    ("paraphrase", "INDEX", "the queen", "--set", "opposites=out", "-k"),
    ("substitute", "INDEX", SENTENCE, "-k"),
    ("substitute", "INDEX", SENTENCE, "--candidates", "queen;x y;hatter;zzz;cat", "-k"),
    ("contexts", "INDEX", "the queen", "--limit"),
    ("kwic", "INDEX", "the queen", "--limit"),
    ("kwic", "INDEX", "the queen", "--sort", "left", "--limit"),
    ("compare", "INDEX", "the queen", "alice", "-k"),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_longer_list_begins_with_the_shorter_one(novel, run, command):
    given = [novel if one == "INDEX" else one for one in command]
    lists = {k: run(*given, k)[0].splitlines() for k in ROWS}
    longest = parts(lists[ROWS[-1]], command[0] == "compare")
    if command[0] != "compare":
        assert len(longest[""]) > 3 and "NA" not in longest[""][0].split("\t")[:3]
    for k, lines in lists.items():
        wanted = []
        for name, rows in longest.items():
            wanted += rows[:k] if command[0] != "compare" or name in ("both", "a", "b") else rows
        assert lines == wanted, k


@pytest.mark.parametrize("seed", range(3))
def test_paraphrases_of_any_settings_begin_alike(tmp_path, seed):
    """The share that a screen asks for is of one place, not of the k-th, and pieces take none."""
    rng = random.Random(seed)
    names = [f"w{number}" for number in range(40)]
    weights = [1 / (number + 1) for number in range(40)]
    lines = [rng.choices(names, weights, k=rng.randint(3, 9)) for _ in range(1200)]
    index = CorpusIndex.build(write_lines(tmp_path / "text", lines), tmp_path / "index")
    for settings in (
        {"screens": ((4, 40, 0.6), (16, 20, 0.9)), "depth": 3},
        {"screens": ((8, 10, 0.95),), "depth": 10},
        {"screens": ((8, 10, 0.9),), "depth": 2, "substrings": False},
        {"screens": ((8, 10, 0.9),), "depth": 2, "entailment": "both", "substrings": False},
    ):
        for phrase in ("w0 w1", "w3", "w1 w0 w0"):
            lists = [
                Paraphraser(index, options=ParaphraseOptions(k=k, min_score=0.0, **settings))
                .paraphrases(phrase)
                for k in ROWS
            ]  # fmt: skip
            assert len(lists[-1]) > 1
            for k, found in zip(ROWS, lists, strict=True):
                assert found == lists[-1][:k]


def test_a_phrase_whose_nearest_are_its_pieces_has_paraphrases(tmp_path):
    """Three that hold `prime minister` stand in all its contexts, `chancellor` in half of them."""
    forms = ["prime minister", "the prime minister", "prime minister ,", "prime minister blair"]
    lines = [
        f"a{n} {form} b{n} of".split()
        for n in range(40)
        for form in [*forms, *["chancellor"] * (n % 2)]
    ]
    index = CorpusIndex.build(write_lines(tmp_path / "text", lines), tmp_path / "index")
    options = ParaphraseOptions(k=1, min_score=0.0, screens=((400, 1, 0.95),), depth=1)
    found = Paraphraser(index, options=options).paraphrases("prime minister")
    assert [one.phrase for one in found] == ["chancellor"]


def test_rings_hold_every_row_once(novel):
    table = SignatureTable.open(novel)
    for distinct in (True, False):
        search = NeighbourSearch(table, min_strength=2, distinct=distinct)
        whole = NeighbourSearch(table, min_strength=2, distinct=distinct, estimate="bits")
        listed = search.nearest("the queen", k=len(table))
        assert len(listed) == len({one.phrase for one in listed}) > 200
        by_bits = whole.nearest("the queen", k=len(table))
        assert {one.phrase for one in listed} == {one.phrase for one in by_bits}
    above = NeighbourSearch(table, distinct=False).above("the queen", 0.2)
    told = [one.similarity for one in above]
    assert told == sorted(told, reverse=True) and len(told) > 10


TREE = "(S (NP (DT the) (JJ old) (NN king)) (VP (VBD slept) (ADVP (RB well))))"
SAID = ("the", "old", "king", "slept", "well")


@pytest.mark.parametrize("more", [{}, {"length": 0.8}])
@pytest.mark.parametrize("whole", [{}, {"TwoChanges": -3.0, "Unchanged": 5.0}])
def test_rewritings_of_any_settings_begin_alike(tmp_path, more, whole):
    rules = [
        f"[X] ||| {word} ||| {word}{n} ||| p=0.{n}" for word in SAID for n in range(1, 6)
    ]  # fmt: skip
    (tmp_path / "rules").write_text("\n".join([*rules, "[NP] ||| the [X,1] king ||| [X,1] ||| p=1"])
                                    + "\n")  # fmt: skip
    pack_grammar(tmp_path / "rules", tmp_path / "pack", options=PackOptions(weights={"p": 1.0}))
    drawn = random.Random(2)
    lines = [[f"{word}{drawn.randint(1, 4)}" for word in SAID] for _ in range(50)]
    index = CorpusIndex.build(write_lines(tmp_path / "text", [*lines, list(SAID)]),
                              tmp_path / "index")  # fmt: skip
    weights = {"LM": 0.3, "p": -0.5, "Deleted": -0.8, "Kept": 1.0, "Glue": 0.01} | whole
    rewriter = Rewriter(
        GrammarIndex.open(tmp_path / "pack"), IndexModel(index), weights=Weights(weights),
        options=RewriteOptions(ranked_again=6, **more),
    )  # fmt: skip
    lists = {n: rewriter.rewrite(" ".join(SAID), k=n, tree=TREE) for n in (*ROWS, 300)}
    assert len(lists[1000]) > 20
    for n, found in lists.items():
        assert found == lists[1000][:n], n
