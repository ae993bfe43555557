"""Several indexes answer as one index of their text, in the order given."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from distsim import CorpusIndex, IncompatibleError, IndexOptions, ParameterError, sign
from distsim.contexts import named_contexts
from distsim.contexts.weights import Weighting
from distsim.signatures import Learning
from distsim.signatures.recipe import PRESETS
from tests.cluster.test_cluster import SELECTION, same_artifacts
from tests.conftest import random_sentences, write_lines


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    """One index of three files, and three indexes, the second of two shards."""
    folder = tmp_path_factory.mktemp("joined")
    files = [
        write_lines(folder / f"{n}.txt", random_sentences(n, 40, 7 + 4 * n)) for n in (2, 0, 1)
    ]
    one = CorpusIndex.build(files, folder / "one.index")
    parts = folder / "parts"
    parts.mkdir()
    for number, file in enumerate(files):
        options = IndexOptions(shard_tokens=120 if number == 1 else 10_000)
        CorpusIndex.build(file, parts / f"{number}.index", options=options)
    return one, CorpusIndex.open(sorted(parts.iterdir())), parts


def phrases_of(index):
    return [phrase for phrase, _ in index.ngrams(shortest=1, longest=3)] + [
        "zeppelin",
        "b1 zeppelin",
    ]


def test_counts_positions_and_ngrams_are_those_of_one(indexes):
    one, many, _ = indexes
    phrases = phrases_of(one)
    assert list(many.ngrams(shortest=1, longest=4)) == list(one.ngrams(shortest=1, longest=4))
    np.testing.assert_array_equal(many.count(phrases), one.count(phrases))
    for a, b in zip(many.positions(phrases), one.positions(phrases), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (many.n_tokens, len(many), list(many)) == (one.n_tokens, len(one), list(one))
    assert many.corpus == one.corpus
    np.testing.assert_array_equal(many.word_counts(), one.word_counts())


@pytest.mark.parametrize("order", ["corpus", "left", "right"])
@pytest.mark.parametrize("sample", [None, 7])
def test_concordances_are_those_of_one(indexes, order, sample):
    one, many, _ = indexes
    for phrase in phrases_of(one)[::9]:
        wanted = one.concordance(phrase, order=order, sample=sample, width=3)
        assert many.concordance(phrase, order=order, sample=sample, width=3) == wanted


def test_gaps_contexts_and_neighbourhoods_are_those_of_one(indexes):
    one, many, _ = indexes
    np.testing.assert_array_equal(many.gapped("a0 _ b1"), one.gapped("a0 _ b1"))
    assert many.concordance("a0 _ b1", gapped=True) == one.concordance("a0 _ b1", gapped=True)
    for phrase in phrases_of(one)[::7]:
        assert named_contexts(
            many, phrase, window=2, weighting=Weighting("ppmi")
        ) == named_contexts(one, phrase, window=2, weighting=Weighting("ppmi"))
        a, b = (np.sort(index.neighbourhoods(phrase, 2, 2), axis=0) for index in (many, one))
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("learning", [Learning(), Learning(rows=20, features=40)])
def test_a_table_of_several_is_that_of_one(indexes, tmp_path, learning):
    one, many, _ = indexes
    recipe = replace(PRESETS["learnt"], learning=learning)
    a = sign(one, tmp_path / "a", recipe=recipe, selection=SELECTION).path
    b = sign(many, tmp_path / "b", recipe=recipe, selection=SELECTION).path
    assert same_artifacts(a, b)
    with pytest.raises(ParameterError, match="give the folder of the table"):
        sign(many)


def test_the_checksum_of_a_text_is_that_of_its_sentences(tmp_path):
    """Whatever their order, the shards and folders; not of the same words in another order."""
    lines = ["a b", "b a c", "a b", "c", "a b c d"]
    found = []
    for number, some in enumerate((lines, lines[::-1], lines[:2], lines[2:], ["b a", *lines[1:]])):
        text = write_lines(tmp_path / f"{number}.txt", some)
        options = IndexOptions("lines", shard_tokens=4 if number == 1 else 1 << 20)
        index = CorpusIndex.build([text], tmp_path / f"{number}.index", options=options)
        found.append(index.text_checksum)
    joined = CorpusIndex.open([tmp_path / "2.index", tmp_path / "3.index"])
    assert found[0] == found[1] == joined.text_checksum
    assert len(set(found)) == 4


def test_running_text_is_cut_as_the_whole_knows_it(tmp_path):
    (tmp_path / "a").write_text("I can't. Rock'n'roll is here.")
    (tmp_path / "b").write_text("We don't. No rock here.")
    options = IndexOptions("text")
    one = CorpusIndex.build([tmp_path / "a", tmp_path / "b"], tmp_path / "one", options=options)
    for name in "ab":
        CorpusIndex.build(tmp_path / name, tmp_path / f"{name}.index", options=options)
    many = CorpusIndex.open([tmp_path / "a.index", tmp_path / "b.index"])
    asked = ["can't", "rock'n'roll", "don't", "rock", "We don't."]
    np.testing.assert_array_equal(many.count(asked), one.count(asked))
    assert many.words(asked) == one.words(asked)


def test_a_folder_of_indexes_pickles_and_the_command_line(indexes, run):
    one, many, parts = indexes
    assert pickle.loads(pickle.dumps(many)).count("a0") == one.count("a0")
    assert CorpusIndex.open(parts).count("a0") == one.count("a0")
    paths = sorted(parts.iterdir())
    for arguments in (["a0", "b1"], ["a0 b1"]):
        assert run("count", *paths, *arguments) == run("count", one.path, *arguments)
        assert run("kwic", *paths, *arguments) == run("kwic", one.path, *arguments)
    assert run("ngrams", *paths) == run("ngrams", one.path)
    assert run("contexts", *paths, "a0") == run("contexts", one.path, "a0")


def test_what_several_cannot_do_is_said(indexes, tmp_path, sentences):
    _, many, parts = indexes
    with pytest.raises(ParameterError, match="build one index"):
        many.shards[0].suffixes  # noqa: B018 (what it raises)
    with pytest.raises(ParameterError, match="add it to one of them"):
        many.add("more")
    other = CorpusIndex.build(
        write_lines(tmp_path / "t", sentences), tmp_path / "other", options=IndexOptions("text")
    )
    with pytest.raises(IncompatibleError, match="format is lines and text"):
        CorpusIndex.open([parts / "0.index", other.path])


def test_an_index_that_is_given_twice_is_refused(small_index, tmp_path, run):
    (tmp_path / "link").symlink_to(small_index.path)
    for again in (small_index.path, tmp_path / "link"):
        _, err = run("count", small_index.path, again, "a0", status=1)
        assert f"{again}: the index is given twice: give it once" in err
        with pytest.raises(ParameterError, match="given twice"):
            CorpusIndex.open([small_index.path, again])
