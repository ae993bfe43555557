"""Answers as frames and as tables in a notebook."""

import pickle

import numpy as np
import pytest

from distsim import (
    CorpusIndex,
    IndexOptions,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
    neighbours,
    similarities,
    to_frame,
)
from distsim.base import Results
from distsim.base.results import _SHOWN_ROWS
from distsim.contexts import named_contexts
from tests.conftest import write_lines


@pytest.fixture
def table(small_index) -> SignatureTable:
    return SignatureTable.build(
        small_index, recipe=Recipe(), selection=Selection(min_count=1, max_length=2)
    )


def test_answers_are_lists_that_know_their_columns(small_index, table):
    found = neighbours(table, "a0", k=3)
    assert isinstance(found, list) and found == list(found)
    assert found.columns() == ["phrase", "similarity", "strength", "composed"]
    assert isinstance(found[:2], Results) and found[:2] == list(found)[:2]
    assert pickle.loads(pickle.dumps(found)) == found
    for one in (
        small_index.concordance("a0"),
        named_contexts(small_index, "a0"),
        neighbours(table, ["a0", "c2"], k=2)[0],
    ):
        assert isinstance(one, Results) and one


def test_a_notebook_sees_a_table_and_never_markup_of_the_corpus(tmp_path):
    index = CorpusIndex.build(
        write_lines(tmp_path / "t", [["<script>alert(1)</script>", "x", "&amp;"]] * 3),
        tmp_path / "index",
        options=IndexOptions(as_is=True),
    )
    shown = index.concordance("x")._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "&amp;amp;" in shown
    assert shown.startswith("<table>") and shown.count("<tr>") == 4
    assert Results()._repr_html_().count("<td>") == 0
    many = Results(index.concordance("x") * _SHOWN_ROWS)
    assert many._repr_html_().count("<tr>") == _SHOWN_ROWS + 1
    assert f"{len(many)} in all" in many._repr_html_()


@pytest.mark.extra
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library, table):
    pytest.importorskip(library)
    found = neighbours(table, "a0", k=3)
    frame = found.to_frame(library=library)
    assert list(frame.columns) == found.columns() and len(frame) == len(found)
    assert list(frame["phrase"]) == [one.phrase for one in found]
    assert len(to_frame([], library=library)) == 0
    with pytest.raises(ParameterError, match="has no fields"):
        to_frame(["a"], library=library)


@pytest.mark.extra
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_batches_take_series(library, small_index, table):
    module = pytest.importorskip(library)
    words = ["a0", "c2", "zebra"]
    series = module.Series(words)
    assert small_index.count(series).tolist() == small_index.count(words).tolist()
    assert neighbours(table, series, k=2) == neighbours(table, words, k=2)


def test_batches_take_arrays(small_index, table):
    words = ["a0", "c2", "zebra"]
    assert small_index.count(np.array(words)).tolist() == small_index.count(words).tolist()
    assert neighbours(table, np.array(words), k=2) == neighbours(table, words, k=2)
    pairs = np.array([["a0", "c2"], ["a0", "zebra"]])
    assert similarities(table, pairs) == similarities(table, [tuple(p) for p in pairs.tolist()])


def test_neither_library(monkeypatch, table):
    monkeypatch.setattr("distsim.base.results.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match="a frame needs pandas or polars: install it"):
        neighbours(table, "a0", k=2).to_frame()
