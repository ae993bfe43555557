"""Tables for other tools: read back by the tools themselves."""

import csv

import numpy as np
import pytest

from distsim import (
    IncompatibleError,
    ParameterError,
    SignatureTable,
    neighbours,
    to_frame,
)
from distsim.comparison.measures import ComposedCosine
from distsim.contexts import GivenVectors
from distsim.corpus.vectors import read_vectors
from distsim.output.exporting import export, word_vectors
from distsim.signatures import VECTORS


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> SignatureTable:
    folder = tmp_path_factory.mktemp("export")
    base = np.random.default_rng(1).standard_normal((20, 30)).astype(np.float32)
    vectors = np.concatenate([base, base + 0.3 * base[::-1]])
    (folder / "phrases").write_text("w1 w2\nw3 w4\n")
    words = [f"w{i}" for i in range(40)]
    source = GivenVectors(words, vectors, phrases=folder / "phrases")
    return SignatureTable.build(source, folder / "table", recipe=VECTORS)


def test_word_vectors_are_read_back(table, tmp_path, example_names):
    assert export(table, tmp_path / "v") == 40
    found = read_vectors(tmp_path / "v")
    wanted = word_vectors(table)
    assert found.words == wanted.words and set(found.words) == {f"w{i}" for i in range(40)}
    learned = example_names["learned"]
    counts = learned.strengths[learned.find(word_vectors(learned).words)].astype(int)
    assert np.all(np.diff(counts) <= 0)  # the most frequent first
    np.testing.assert_allclose(found.vectors, wanted.vectors, rtol=1e-5)
    again = SignatureTable.build(GivenVectors(*found), tmp_path / "again", recipe=VECTORS)
    pairs = [("w1", "w30"), ("w2", "w9")]
    assert ComposedCosine(again).similarities(pairs) != [None, None]


@pytest.mark.extra
@pytest.mark.parametrize("form", ["w2v", "w2v-bin"])
def test_gensim_reads_them(table, tmp_path, form):
    models = pytest.importorskip("gensim.models")
    export(table, tmp_path / "v", format=form)
    read = models.KeyedVectors.load_word2vec_format(tmp_path / "v", binary=form == "w2v-bin")
    assert len(read) == 40
    ours = ComposedCosine(table)
    for a, b in (("w1", "w30"), ("w2", "w9"), ("w5", "w6")):
        assert read.similarity(a, b) == pytest.approx(ours.similarity(a, b), abs=1e-4)
    assert export(table, tmp_path / "p", format=form, phrases=["w1 w2", "w9 x", "x y"]) == 2
    read = models.KeyedVectors.load_word2vec_format(tmp_path / "p", binary=form == "w2v-bin")
    assert read.index_to_key == ["w1_w2", "w9_x"]
    assert ours.similarity("w1 w2", "w9 x") is None  # x is unknown, and of one side alone
    one, other = table.vectors(["w1 w2", "w9 x"], of_words=True)
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert read.similarity("w1_w2", "w9_x") == pytest.approx(cosine, abs=1e-4)


def test_csv(table, tmp_path):
    assert export(table, tmp_path / "t.csv", format="csv") == 42
    with open(tmp_path / "t.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["phrase"] for row in rows] == list(table)
    assert [int(row["strength"]) for row in rows] == table.strengths.tolist()
    assert bytes.fromhex(rows[7]["signature"]) == table.bits[7].tobytes()


@pytest.mark.extra
def test_parquet(table, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export(table, tmp_path / "t.parquet", format="parquet")
    assert parquet.read_table(tmp_path / "t.parquet")["phrase"].to_pylist() == list(table)
    export(table, tmp_path / "n.parquet", format="parquet", phrases=["w1", "no"], neighbours=3)
    found = parquet.read_table(tmp_path / "n.parquet")
    wanted = neighbours(table, "w1", k=3)
    assert found["phrase"].to_pylist() == [one.phrase for one in wanted]
    assert found["similarity"].to_pylist() == [one.similarity for one in wanted]
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(tmp_path / "n.parquet")["rank"].to_list() == [1, 2, 3]


@pytest.mark.extra
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(table, library):
    pytest.importorskip(library)
    near = neighbours(table, "w1", k=3)
    frame = to_frame(near, library=library)
    assert list(frame.columns) == list(near[0]._fields)
    assert list(frame["phrase"]) == [one.phrase for one in near]
    # Batches take a frame's column.
    assert table.find(frame["phrase"]).tolist() == table.find([n.phrase for n in near]).tolist()
    assert neighbours(table, frame["phrase"], k=1) == neighbours(
        table, [one.phrase for one in near], k=1
    )


def test_what_cannot_be(table, tmp_path, alice_index, run):
    with pytest.raises(ParameterError, match="`format` 'xml': choose one of w2v"):
        export(table, tmp_path / "x", format="xml")
    with pytest.raises(ParameterError, match="`neighbours` 3 with w2v"):
        export(table, tmp_path / "x", neighbours=3)
    with pytest.raises(IncompatibleError, match="keeps no vectors of words"):
        export(SignatureTable.open(alice_index.path), tmp_path / "x")
    with pytest.raises(IncompatibleError, match="keeps no vectors of words"):
        export(SignatureTable.open(alice_index.path), tmp_path / "x", phrases=["alice"])
    with pytest.raises(ParameterError, match="needs numpy: install it"):
        to_frame([], library="numpy")
    assert not (tmp_path / "x").exists()
    run("export", alice_index.path, "-o", tmp_path / "x", status=1)
    (tmp_path / "p").write_text("w1\nw2 w3\n")
    _, err = run("export", table.path, "-o", tmp_path / "v.gz", "--phrases", tmp_path / "p")
    assert "2 rows" in err
    assert read_vectors(tmp_path / "v.gz").words == ["w1", "w2_w3"]
    run("export", table.path, "-o", tmp_path / "n.csv", "--format", "csv", "--neighbours", 2)


@pytest.mark.parametrize("form", ["w2v", "w2v-bin", "csv"])
def test_phrases_that_are_left_out_are_told(table, tmp_path, run, form):
    (tmp_path / "p").write_text("w1\nzebra\nw2\nyak\n")
    given = ("export", table.path, "-o", tmp_path / "v", "--format", form, "--phrases")
    _, err = run(*given, tmp_path / "p")
    assert "2 of 4 --phrases" in err and "('zebra', 'yak'): left out" in err and "2 rows" in err
    (tmp_path / "v").unlink()
    (tmp_path / "none").write_text("zebra\n")
    _, err = run(*given, tmp_path / "none", status=1)
    assert "1 of 1 --phrases" in err and "name others" in err and not (tmp_path / "v").exists()
    (tmp_path / "empty").write_text("\n")
    _, err = run(*given, tmp_path / "empty", status=1)
    assert "--phrases: is empty" in err and not (tmp_path / "v").exists()
    with pytest.warns(UserWarning, match="1 of 2 `phrases`"):
        export(table, tmp_path / "v", format=form, phrases=["w1", "zebra"])
