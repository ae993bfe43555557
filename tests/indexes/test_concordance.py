"""Concordances across sentences, random samples and thinning, against plain slices of the text."""

import dataclasses
import json
import random

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.indexes.concordance import Sample
from tests.conftest import random_sentences

DOCUMENTS = [random_sentences(seed, n_sentences=6, n_words=8) for seed in range(5)]
NODE = "a0"


@pytest.fixture(params=[None, 12])
def index(request, tmp_path):
    (tmp_path / "text.txt").write_text(
        "\n\n".join("\n".join(map(" ".join, one)) for one in DOCUMENTS), encoding="utf-8"
    )
    options = IndexOptions(**({"shard_tokens": request.param} if request.param else {}))
    return CorpusIndex.build([tmp_path / "text.txt"], tmp_path / "index", options=options)


def _plain(context):
    """(Left, node, right) of each occurrence, by slices of the words of its document."""
    rows = []
    for document in DOCUMENTS:
        words = [word for sentence in document for word in sentence]
        edges = np.cumsum([0, *map(len, document)])
        for at, word in enumerate(words):
            if word != NODE:
                continue
            begin, end = 0, len(words)
            if context == "s":
                number = int(np.searchsorted(edges, at, "right")) - 1
                begin, end = edges[number], edges[number + 1]
            elif context != "p":
                before, _, after = context.partition(":")
                begin, end = max(0, at - int(before)), at + 1 + int(after or before)
            rows.append((" ".join(words[begin:at]), word, " ".join(words[at + 1 : end])))
    return rows


@pytest.mark.parametrize("context", ["s", "p", "0", "1", "7", "3:0", "2:30", "500"])
def test_context_is_a_slice_of_the_document(index, context):
    lines = index.concordance(NODE, width=context)
    assert [(one.left, one.node, one.right) for one in lines] == _plain(context)
    by_word = index.concordance(NODE, width=context, order="1R")
    assert sorted(by_word) == sorted(lines)


def test_paragraphs_are_lines_of_running_text(tmp_path):
    text = "He ran. The king sat. It rained.\nThe end, said the king.\n"
    (tmp_path / "t.txt").write_text(text)
    index = CorpusIndex.build([tmp_path / "t.txt"], tmp_path / "i", options=IndexOptions("text"))
    found = [(one.left, one.right) for one in index.concordance("king", width="p")]
    assert found == [("He ran. The", "sat. It rained."), ("The end, said the", ".")]
    (tmp_path / "wrapped.txt").write_text("He ran. The\nking sat. It\nrained.\n\nThe end.\n")
    wrapped = CorpusIndex.build(
        [tmp_path / "wrapped.txt"], tmp_path / "w", options=IndexOptions("text")
    )
    (line,) = wrapped.concordance("king", width="p")
    assert (line.left, line.right) == ("He ran. The", "sat. It rained.")


RECORD = "He ran. The king sat.\nThe end, said the king. So\nit rained."


@pytest.mark.parametrize("shard_tokens", [4, 1000])
@pytest.mark.parametrize("kind", ["jsonl", "tei"])
def test_lines_of_a_record_are_paragraphs_though_they_have_its_number(tmp_path, kind, shard_tokens):
    path = tmp_path / f"a.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps({"text": RECORD}) + "\n" for _ in range(2)))
    else:
        lines = RECORD.replace("\n", "</p><p>")
        path.write_text(f"<TEI><text><p>{lines}</p></text></TEI>")
    options = IndexOptions("text", file_format=kind, shard_tokens=shard_tokens)
    index = CorpusIndex.build([path], tmp_path / "i", options=options)
    n = len(index.metadata)
    paragraphs = [(line.left, line.right) for line in index.concordance("king", width="p")]
    assert paragraphs == [("He ran. The", "sat."), ("The end, said the", ". So")] * n
    edges = [line.node for line in index.concordance("<p> [] []", query=True)]
    assert edges == ["He ran", "The end", "it rained"] * n
    assert len(index.query('[] [] "[.]" </p>')) == 2 * n
    bare = CorpusIndex.build(
        [path], tmp_path / "j", options=dataclasses.replace(options, text=False)
    )
    assert bare.concordance("rained", width="p")[0].left.startswith("he ran")


@pytest.mark.parametrize("kind", ["conllu", "vertical"])
def test_paragraphs_of_annotated_text_are_those_of_its_marks(tmp_path, kind):
    documents = [[["a b", "king c"], ["d king", "e"], ["f"]], [["g", "king h", "i"]], ["j", "king"]]
    sentence, begins, ends = {
        "conllu": ("1\t{0}\t_\tX\tY\t_\t0\troot\t_\t_\n", "# new{0}\n", ""),
        "vertical": ("{0}\tY\n", "<{0}>\n", "</{0}>\n"),
    }[kind]
    text = ""
    for document in documents:
        text += begins.format("doc" if kind == "conllu" else "text")
        for paragraph in document:
            marked = isinstance(paragraph, list)
            text += begins.format("par" if kind == "conllu" else "p") * marked
            for words in paragraph if marked else [paragraph]:
                tokens = "".join(
                    sentence.format(word).replace("1", str(n), 1)
                    for n, word in enumerate(words.split(), 1)
                )
                text += tokens + "\n" if kind == "conllu" else f"<s>\n{tokens}</s>\n"
            text += ends.format("p") * marked
        text += ends.format("text")
    path = tmp_path / "a.txt"
    path.write_text(text)
    index = CorpusIndex.build([path], tmp_path / "i", options=IndexOptions(file_format=kind))
    sides = [(line.left, line.right) for line in index.concordance("king", width="p")]
    assert sides == [("a b", "c"), ("d", "e"), ("g", "h i"), ("j", "")]
    edges = [line.node for line in index.concordance("<p> []", query=True)]
    assert edges == ["a", "d", "f", "g", "j"]


def test_without_the_text_words_are_joined(tmp_path):
    (tmp_path / "t.txt").write_text("He ran. The king sat.\n")
    options = IndexOptions("text", text=False)
    index = CorpusIndex.build([tmp_path / "t.txt"], tmp_path / "i", options=options)
    (line,) = index.concordance("king", width="2")
    assert (line.left, line.node, line.right) == (". the", "king", "sat .")


def test_samples_are_random_by_seed_and_thinned(index):
    lines = index.concordance(NODE)
    spans = index.spans(NODE)
    drawn = index.concordance(NODE, sample=Sample(5, seed=3))
    assert len(drawn) == 5 and [one for one in lines if one in drawn] == drawn
    wanted = sorted(random.Random(3).sample(range(len(spans)), 5))
    assert drawn == [lines[n] for n in wanted]
    assert drawn != index.concordance(NODE, sample=Sample(5, seed=4))
    assert index.concordance(NODE, sample=Sample(every=3)) == lines[::3]
    assert index.concordance(NODE, sample=Sample(2, every=3), k=1) == lines[::3][:1]
    assert index.concordance(NODE, sample=Sample(10**6, seed=1)) == lines
    with pytest.raises(ParameterError, match="`every`: is 0"):
        index.concordance(NODE, sample=Sample(every=0))
    with pytest.raises(ParameterError, match=r"`context` 'x': give s \(the sentence\), p"):
        index.concordance(NODE, width="x")


def test_the_command_takes_them(index, run):
    out, _ = run("kwic", index.path, NODE, "--context", "3:2", "-k", "0")
    assert [tuple(line.split("\t")[1:]) for line in out.splitlines()] == _plain("3:2")
    out, _ = run("kwic", index.path, NODE, "--sample", "4", "--seed", "9", "--json", "-k", "0")
    drawn = index.concordance(NODE, sample=Sample(4, seed=9))
    assert [json.loads(line)["left"] for line in out.splitlines()] == [one.left for one in drawn]
    out, _ = run("kwic", index.path, NODE, "--thin", "5", "-k", "0")
    assert len(out.splitlines()) == len(index.spans(NODE)[::5])
    _, err = run("kwic", index.path, NODE, "--seed", "1", status=2)
    assert "give the size of the sample with --sample" in err
    _, err = run("kwic", index.path, NODE, "--context", "5:x", status=1)
    assert "--context '5:x': give s (the sentence)" in err
