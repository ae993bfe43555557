"""What does not fit the memory goes through files or in pieces; the table has the same bytes."""

import tempfile

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError, Selection, sign
from distsim.indexes import phrase_walk
from distsim.indexes.shard import FirstWords
from distsim.signatures import signing
from distsim.signatures.recipe import PRESETS
from tests.cluster.test_cluster import same_artifacts
from tests.conftest import RECIPE, index_of, random_sentences, write_lines


@pytest.fixture
def index(alice, tmp_path):
    return index_of(alice[:60_000], tmp_path)


@pytest.mark.parametrize("most", [None, 700])
def test_rows_that_do_not_fit_go_through_a_file(index, tmp_path, monkeypatch, most):
    selection = Selection(min_count=2, max_phrases=most)
    whole = sign(index, tmp_path / "whole", recipe=RECIPE, selection=selection)
    files = []

    def temporary_file(**options):
        files.append(options)
        return original(**options)

    original = tempfile.TemporaryFile
    with pytest.raises(ParameterError, match="`memory`: the vectors of .* words take"):
        sign(index, tmp_path / "small", recipe=RECIPE, selection=selection, memory=100_000)
    monkeypatch.setattr(signing, "_BYTES_A_WORD", 1)
    monkeypatch.setattr(tempfile, "TemporaryFile", temporary_file)
    small = sign(index, tmp_path / "small", recipe=RECIPE, selection=selection, memory=100_000)
    assert len(files) == 1 and len(small) == len(whole) == (most or len(whole)) > 600
    assert same_artifacts(whole.path, small.path)


def rows_of(index, words):
    return phrase_walk.gather_chunk(index.shards, words, index.n_words, 3, 1, 1).rows


@pytest.mark.parametrize("n_texts", [1, 2])
def test_a_frequent_word_is_cut_by_its_second_word(tmp_path, n_texts):
    texts = [
        write_lines(tmp_path / f"{number}.txt", random_sentences(number, 200))
        for number in range(n_texts)
    ]
    index = CorpusIndex.build(texts, tmp_path / "index", options=IndexOptions(shard_tokens=300))
    word = FirstWords(1, 2)
    whole = rows_of(index, word)
    pieces = phrase_walk.split(index.shards, word, 20)
    assert len(pieces) > 3
    parts = [rows_of(index, piece) for piece in pieces]
    np.testing.assert_array_equal(np.concatenate(parts)[:, 1:4], whole[:, 1:4])
    assert sorted(map(tuple, np.concatenate(parts))) == sorted(map(tuple, whole))
    seconds = [set(part[:, 2].tolist()) for part in parts]
    assert len(set.union(*seconds)) == sum(map(len, seconds))


@pytest.mark.parametrize("preset", ["learned", "thesis"])
def test_tables_do_not_depend_on_the_pieces(index, tmp_path, monkeypatch, preset):
    recipe = RECIPE if preset == "learned" else PRESETS["thesis"]
    options = {"recipe": recipe, "selection": Selection(min_count=2)}
    whole = sign(index, tmp_path / "whole", **options)
    monkeypatch.setattr(phrase_walk.chunk_words, "__defaults__", (100,))
    monkeypatch.setattr(phrase_walk.split, "__defaults__", (100,))
    pieces = sign(index, tmp_path / "pieces", **options)
    assert same_artifacts(whole.path, pieces.path)


def test_a_shard_is_closed_before_sorting_would_take_too_much(tmp_path):
    text = write_lines(tmp_path / "t.txt", random_sentences(3, 400))
    whole = CorpusIndex.build(text, tmp_path / "whole.index")
    small = CorpusIndex.build(text, tmp_path / "small.index", memory=24 * 500)
    assert len(whole.shards) == 1 and len(small.shards) > 3
    assert max(shard.tokens.size for shard in small.shards) <= 500
    assert list(small.ngrams(longest=3)) == list(whole.ngrams(longest=3))
    assert small.corpus == whole.corpus
