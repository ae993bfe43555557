"""Neighbours of a word: the command, Python and the server list the same rows."""

import json
from math import isnan

import pytest

from distsim import (
    CorpusIndex,
    ParameterError,
    Paraphraser,
    Selection,
    SignatureTable,
    neighbours,
)
from distsim.comparison import EstimatedCosine, NeighbourSearch
from distsim.paraphrase import WordNeighbour, WordNeighbours, build_finder
from distsim.paraphrase.profiles import Profiler
from distsim.server.questions import neighbours as served
from distsim.server.session import MAIN, Opened, Places
from tests.conftest import RECIPE, index_of


@pytest.fixture(scope="module")
def signed(alice, tmp_path_factory):
    """(index of Alice, its learned table with a finder)."""
    index = index_of(alice, tmp_path_factory.mktemp("neighbours"))
    table = SignatureTable.build(index, recipe=RECIPE, selection=Selection(min_count=3))
    build_finder(index, table, jobs=1)
    return index, SignatureTable.open(table.path)


@pytest.mark.parametrize("word", ["little", "said", "king"])
def test_command_python_and_server_list_the_same_rows(signed, run, word):
    index, table = signed
    rows = neighbours(table, word, k=7)
    assert rows and all(isinstance(one, WordNeighbour) for one in rows)
    told = [(one.phrase, one.score, one.strength, one.opposite, one.contrasted) for one in rows]
    for given in (index, index.path, str(table.path)):
        assert neighbours(given, word, k=7) == rows
    assert table.neighbours(word, k=7) == rows
    out, _ = run("neighbours", index.path, word, "-k", 7, "--json")
    printed = [json.loads(line) for line in out.splitlines()]
    keys = ("answer", "score", "count", "opposite", "contrasted")
    assert [tuple(one[key] for key in keys) for one in printed] == told
    answer = served(Opened(Places(index.path)), word, 7, "", 0, MAIN)
    assert [
        (one.phrase, one.score, one.count, one.opposite, one.contrasted) for one in answer.rows
    ] == told
    assert answer.opposites == rows.opposites


def test_a_word_of_the_finder_needs_neither_search_nor_profiles(signed, run, monkeypatch):
    index, table = signed

    def refuse(*arguments, **options):
        raise AssertionError("is made")

    monkeypatch.setattr(NeighbourSearch, "__init__", refuse)
    monkeypatch.setattr(Profiler, "__init__", refuse)
    assert len(run("neighbours", index.path, "little")[0].splitlines()) == 10
    assert len(Paraphraser(CorpusIndex.open(index.path), table=table).answer("little").paraphrases)
    for command in ("neighbours", "paraphrase"):
        with pytest.raises(AssertionError, match="is made"):
            run(command, index.path, "the little")


def test_rows_of_words_have_both_numbers_and_opposites_last(signed):
    index, table = signed
    rows = neighbours(table, "said", k=10)
    cosine = EstimatedCosine(table)
    for one in rows:
        wanted = cosine.similarity("said", one.phrase)
        assert isnan(one.similarity) if wanted is None else one.similarity == wanted
    scores = [one.score for one in rows if not one.contrasted]
    assert scores == sorted(scores, reverse=True)
    words = WordNeighbours.open(index)
    assert words.nearest("said", k=10) == rows
    least = scores[3]
    assert {one.score >= least for one in words.nearest("said", threshold=least)} == {True}
    assert all(one.strength >= 20 for one in words.nearest("said", k=None, min_strength=20))
    assert words.nearest("the queen") is None and words.nearest("zeppelin") is None


def test_phrases_and_what_needs_the_table_are_listed_by_cosine(signed):
    _, table = signed
    search = NeighbourSearch(table)
    for phrase in ("the queen", "of the"):
        assert neighbours(table, phrase, k=4) == search.nearest(phrase, k=4)
    assert neighbours(table, "said", k=4, by="table") == search.nearest("said", k=4)
    assert neighbours(table, "said", k=4, threshold=0.1) == search.above("said", 0.1)[:4]
    pairs = NeighbourSearch(table, lengths=2).nearest("said", k=4)
    assert neighbours(table, "said", k=4, lengths=2) == pairs
    mixed = neighbours(table, ["said", "the queen"], k=4)
    assert mixed == [neighbours(table, "said", k=4), neighbours(table, "the queen", k=4)]


def test_the_finder_is_refused_where_there_is_none(signed, tmp_path):
    index, table = signed
    with pytest.raises(ParameterError, match="k: is 0, choose 1 or more"):
        neighbours(table, "said", k=0)
    with pytest.raises(ParameterError, match="by 'vectors': choose table, finder or a measure"):
        neighbours(table, "said", by="vectors")
    bare = SignatureTable.build(index, tmp_path / "bare", recipe=RECIPE)
    with pytest.raises(ParameterError, match="has no finder, or is in no index: distsim sign"):
        neighbours(bare, "said", by="finder")
    assert WordNeighbours.open(bare) is None
    assert neighbours(bare, "said", k=3) == NeighbourSearch(bare).nearest("said", k=3)
