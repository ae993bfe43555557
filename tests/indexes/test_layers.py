"""Lists, collocates and keywords by lemma and tag, against plain counts: one shard, and several."""

import pickle
import random
from collections import Counter
from dataclasses import replace

import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError, find_faults
from distsim.corpus.readers.annotated import CONLLU
from distsim.indexes import build
from distsim.indexes.collocation import collocates
from distsim.indexes.layers import LAYERS
from distsim.indexes.phrase_lists import keywords, list_phrases
from distsim.indexes.sketches import sketch
from tests.conftest import index_of

FORMS = [("kings", "king", "NNS"), ("king", "king", "NN"), ("ran", "run", "VBD"),
         ("run", "run", "NN"), ("The", "the", "DT"), (".", ".", ".")]  # fmt: skip
COLUMN = {"word": 0, "lemma": 1, "tag": 2}


def _documents(seed=1):
    draw = random.Random(seed)
    return [
        [[draw.choice(FORMS) for _ in range(draw.randint(1, 7))] for _ in range(draw.randint(1, 6))]
        for _ in range(12)
    ]


def _write(documents, path):
    lines = []
    for number, document in enumerate(documents):
        lines.append(f"# newdoc id = d{number}\n# meta::half = {number * 2 // len(documents)}\n")
        for sentence in document:
            lines += [
                f"{n}\t{form}\t{lemma}\tX\t{tag}\t_\t0\troot\t_\t_\n"
                for n, (form, lemma, tag) in enumerate(sentence, 1)
            ]
            lines.append("\n")
    path.write_text("".join(lines))
    return path


@pytest.fixture(params=["one", "shards"])
def annotated(request, tmp_path):
    options = IndexOptions(
        file_format="conllu", shard_tokens=40 if request.param == "shards" else 10_000
    )
    text = _write(_documents(), tmp_path / "a.conllu")
    return CorpusIndex.build([text], tmp_path / "annotated.index", options=options)


def _tokens(sentence, by):
    return [one[COLUMN[by]].lower() if by != "tag" else one[COLUMN[by]] for one in sentence]


@pytest.mark.parametrize("by", ["word", "lemma", "tag"])
def test_ngrams_are_those_of_a_plain_count(annotated, by):
    documents = _documents()
    counts, ranges = Counter(), {}
    for number, document in enumerate(documents):
        for sentence in document:
            row = _tokens(sentence, by)
            for n in (1, 2, 3):
                for i in range(len(row) - n + 1):
                    phrase = " ".join(row[i : i + n])
                    counts[phrase] += 1
                    ranges.setdefault(phrase, set()).add(number)
    listed = list_phrases(annotated.of_layer(by), lengths=(1, 3), k=None)
    assert {one.phrase: one.times for one in listed} == dict(counts)
    assert {one.phrase: one.documents for one in listed} == {k: len(v) for k, v in ranges.items()}
    assert dict(annotated.of_layer(by).ngrams(longest=3)) == dict(counts)
    some = annotated.select(where="half=1")
    half = Counter(
        one for document in documents[6:] for sentence in document for one in _tokens(sentence, by)
    )
    assert {one.phrase: one.times for one in list_phrases(some.of_layer(by), k=None)} == dict(half)
    copy = pickle.loads(pickle.dumps(some.of_layer(by)))
    assert dict(copy.ngrams(longest=1)) == dict(half)
    with_king = list_phrases(annotated.of_layer("lemma"), lengths=(2, 2), containing="king", k=None)
    assert all("king" in one.phrase.split() for one in with_king)


@pytest.mark.parametrize("by", ["lemma", "tag"])
def test_collocates_are_those_of_a_plain_count(annotated, by):
    together, total = Counter(), Counter()
    for document in _documents():
        for sentence in document:
            words, row = _tokens(sentence, "word"), _tokens(sentence, by)
            total.update(row)
            near = {
                j for i, word in enumerate(words) if word == "ran"
                for j in (i - 2, i - 1, i + 1, i + 2) if 0 <= j < len(words)
            }  # fmt: skip
            together.update(row[j] for j in near)
    listed = collocates(annotated.of_layer(by), "ran", window=2, min_count=1, k=None)
    assert {one.word: (one.together, one.in_corpus) for one in listed} == {
        word: (n, total[word]) for word, n in together.items()
    }
    queried = collocates(
        annotated.of_layer(by), '[tag="VBD"]', window=2, min_count=1, query=True, k=None
    )
    assert queried == listed


def test_keywords_are_those_of_the_text_of_lemmas(annotated, tmp_path):
    there = CorpusIndex.build(
        [_write(_documents(2), tmp_path / "b.conllu")], tmp_path / "b.index",
        options=IndexOptions(file_format="conllu"),
    )  # fmt: skip
    of_lemmas = [
        CorpusIndex.build(
            [_lines(documents, tmp_path / f"{number}.txt")], tmp_path / f"{number}.index"
        )
        for number, documents in enumerate((_documents(), _documents(2)))
    ]
    found = keywords(*(one.of_layer("lemma") for one in (annotated, there)), min_count=1, k=None)
    wanted = keywords(*of_lemmas, min_count=1, k=None)
    assert {one.word: one[1:6] for one in found} == {one.word: one[1:6] for one in wanted}
    assert found[0].word in {"king", "run", "the", "."}


def _lines(documents, path):
    path.write_text(
        "\n\n".join(
            "\n".join(" ".join(_tokens(sentence, "lemma")) for sentence in document)
            for document in documents
        )
    )
    return path


def test_commands_list_by_lemma_and_tag(annotated, tmp_path, run):
    index = annotated.path
    out, _ = run("ngrams", index, "-n", "1", "--by", "lemma", "-k", "1", "--spread")
    first = list_phrases(annotated.of_layer("lemma"), k=1)[0]
    assert out.split("\t")[:2] == [first.phrase, str(first.times)]
    out, _ = run("ngrams", index, "-n", "2", "--by", "tag", "--containing", "NN", "-k", "0")
    assert out and all("NN" in line.split("\t")[0].split() for line in out.splitlines())
    out, _ = run("collocates", index, "ran", "--by", "tag", "--min-count", "1")
    assert {line.split("\t")[0] for line in out.splitlines()} <= {one[2] for one in FORMS}
    out, _ = run("keywords", index, "--where", "half=1", "--by", "lemma", "--min-count", "1")
    counts, per_million = out.split("\t")[1:3], out.splitlines()[0].split("\t")[-2:]
    sizes = (annotated.select(where=f"half={half}").n_tokens for half in (1, 0))
    for count, rate, size in zip(counts, per_million, sizes, strict=True):
        assert float(rate) == pytest.approx(int(count) / size * 1e6, rel=1e-4)


def test_text_without_annotation_is_told_so(tmp_path, annotated):
    index = index_of("The king ran.", tmp_path)
    with pytest.raises(ParameterError, match="has no lemmas: index annotated text"):
        index.of_layer("lemma")
    with pytest.raises(ParameterError, match="lemmas are compared with words: take one of them"):
        keywords(annotated.of_layer("lemma"), annotated)


def test_an_index_without_dependencies_grows_as_it_is(tmp_path, monkeypatch):
    """As an earlier version built it: lemmas and tags alone."""
    one, two = (_write(_documents(seed), tmp_path / f"{seed}.conllu") for seed in (1, 2))
    two.write_text(two.read_text().replace("newdoc id = d", "newdoc id = e"))
    options = IndexOptions(file_format="conllu")

    def read_earlier(source, read_options):
        for document in CONLLU.read(source, read_options):
            yield document._replace(annotations=[row[:2] for row in document.annotations])

    with monkeypatch.context() as patched:
        reader = replace(CONLLU, read=read_earlier, has_dependencies=False)
        patched.setitem(build.READERS, "conllu", reader)
        old = CorpusIndex.build([one], tmp_path / "old.index", options=options)
    assert old.layers.names == ("lemma", "tag") and old.shards[0].heads is None
    grown = old.add([two])
    assert grown.layers.names == ("lemma", "tag") and find_faults(grown.path) == []
    whole = CorpusIndex.build([one, two], tmp_path / "whole.index", options=options)
    for layer in ("lemma", "tag"):
        lists = (list_phrases(i.of_layer(layer), lengths=(1, 2), k=None) for i in (grown, whole))
        assert {one.phrase: one.times for one in next(lists)} == {
            one.phrase: one.times for one in next(lists)
        }
    more = CorpusIndex.build([one], tmp_path / "new.index", options=options).add([two])
    assert more.layers.names == LAYERS and find_faults(more.path) == []
    with pytest.raises(ParameterError, match="has no dependencies"):
        sketch(grown, "king")
