"""Annotating text: the real small pipeline where it is there, and what is said where it is not."""

import fcntl
import gzip
import importlib.util
import json
import os
from functools import partial

import pytest

from distsim import ParameterError, SignatureTable
from distsim.base.errors import InputError
from distsim.corpus import annotated as annotated_files
from distsim.corpus import annotating, annotators
from distsim.corpus.annotated import read_annotated, write_line_files
from distsim.corpus.annotating import annotate
from distsim.corpus.annotation import TreeReader
from distsim.corpus.annotators import StanzaAnnotator, conllu_text
from distsim.corpus.lines import read_blocks
from tests.conftest import SHARED

MODELS = SHARED / "models" / "tiny-en"
TEXT = "John Smith doesn't live in New York.\n\nHe moved (to be exact) to London.\n" * 3


def needs_stanza():
    if importlib.util.find_spec("stanza") is None:
        pytest.skip("needs stanza: pip install -e '.[stanza]'")
    if not MODELS.exists():
        pytest.skip("needs ../shared/models/tiny-en")


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path / "text.txt"


@pytest.fixture
def with_stanza(monkeypatch):
    """As if stanza were installed."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


def fake_models(folder, packages=("tokenize", "depparse"), languages=("en",)):
    folder.mkdir()
    resources = {
        language: {"packages": {"default": dict.fromkeys(packages, "tiny")}}
        for language in languages
    }
    (folder / "resources.json").write_text(json.dumps({**resources, "url": "x"}))
    for language in languages:
        (folder / language).mkdir()
    return str(folder)


def test_without_stanza(run, corpus, tmp_path, monkeypatch):
    """All that is missing is said at once, before anything is read or written."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    command = ("annotate", corpus, "-o", tmp_path / "o")
    _, err = run(*command, "--models", tmp_path, status=1)
    assert "stanza is not installed: install it with pip install '.[stanza]' in the clone" in err
    assert "no models of stanza there: fetch models with stanza.download" in err
    _, err = run(*command, "--with", "spacy", status=1)
    assert "spaCy is not installed: install it with pip install '.[spacy]' in the clone" in err
    assert "no models: fetch" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_plain_text_where_annotation_is_wanted(run, corpus, tmp_path, monkeypatch):
    command = ("sign", corpus, "--from", "annotated", "-o", tmp_path / "o")
    _, err = run(*command, status=1)
    assert f"{corpus}, line 1: plain text, wanted CoNLL-U" in err
    assert "stanza.download" in err and "spacy download" in err
    monkeypatch.setattr(annotated_files, "find_spec", lambda name: None)
    _, err = run(*command, status=1)
    assert "pip install '.[stanza]'" in err and "the extra spacy" in err


def test_without_models(run, corpus, tmp_path, with_stanza):
    _, err = run("annotate", corpus, "-o", tmp_path / "o", status=1)
    assert "no models: fetch models with stanza.download" in err
    with pytest.raises(ParameterError, match="no models of stanza there: fetch models with"):
        StanzaAnnotator(str(tmp_path))
    with pytest.raises(ParameterError, match="choose of tokenize"):
        StanzaAnnotator(fake_models(tmp_path / "a"), processors=("parse",))
    with pytest.raises(ParameterError, match="has no model for 'ner': fetch one, or choose"):
        StanzaAnnotator(fake_models(tmp_path / "b"), processors=("ner",))
    with pytest.raises(ParameterError, match="models of en, de, wanted those of one language"):
        StanzaAnnotator(fake_models(tmp_path / "c", languages=("en", "de")))
    (tmp_path / "c" / "resources.json").write_text("{")
    with pytest.raises(ParameterError, match="is damaged: fetch"):
        StanzaAnnotator(str(tmp_path / "c"))
    _, err = run("annotate", corpus, "-o", tmp_path / "o", "--models", tmp_path / "b",
                 "--trees", tmp_path / "t", status=1)  # fmt: skip
    assert "--trees needs a model of constituency" in err


RAW = """# text = John's in
# sent_id = 0
# constituency = (ROOT (X (NNP John) (POS 's) (IN in)))
1-2\tJohn's\t_\t_\t_\t_\t_\t_\t_\tstart_char=0|end_char=6|ner=S-PER
1\tJohn\tJohn\tPROPN\tNNP\t_\t0\troot\t_\tstart_char=0|end_char=4
2\t's\t's\tPART\tPOS\t_\t1\tcase\t_\tstart_char=4|end_char=6
3\tin\tin\tADP\tIN\t_\t1\tcase\t_\tner=O

# constituency = (ROOT (X (NNP a) (NNP b)))
1\ta b\tx\tX\tX\t_\t0\troot\t_\t_

"""


def test_what_is_kept_of_the_pipeline(tmp_path):
    annotated = conllu_text(RAW)
    assert annotated.report == (4, 2, 1)
    (tmp_path / "x").write_text(annotated.text)
    first, second = read_annotated([tmp_path / "x"])
    assert first.ner == ["per", "per", "o"]
    assert [node.label for node in first.nodes] == ["X", "NNP", "POS", "IN"]
    assert (second.words, second.nodes) == (["a b"], [])
    assert "start_char" not in annotated.text
    assert conllu_text("").text == ""
    (tmp_path / "x").write_text(conllu_text(RAW, parsed=False).text)
    assert next(read_annotated([tmp_path / "x"])).heads == [-2, -2, -2]


@pytest.fixture
def fake(monkeypatch, with_stanza, tmp_path):
    """A pipeline that makes a sentence of every line; counts its calls, fails when told to."""
    state = {"calls": 0, "fail_at": None}

    def pipeline(text):
        state["calls"] += 1
        if state["calls"] == state["fail_at"]:
            raise KeyboardInterrupt
        lines = text if isinstance(text, list) else [line.split() for line in text.split("\n\n")]

        class Document:
            def __format__(self, kind):
                rows = [
                    "\n".join(
                        f"{n}\t{w}\t{w}\tX\tX\t_\t{n - 1}\tx\t_\t_" for n, w in enumerate(line, 1)
                    )
                    for line in lines
                ]
                return "\n\n".join(rows)

        return Document()

    monkeypatch.setattr(StanzaAnnotator, "pipeline", lambda annotator: pipeline)
    monkeypatch.setattr(annotating, "PIECE_CHARACTERS", 40)
    state["annotator"] = StanzaAnnotator(fake_models(tmp_path / "models"))
    return state


def test_only_a_part_of_ours_is_gone_on_with(fake, corpus, tmp_path):
    out, part = tmp_path / "out", tmp_path / "out.part"
    part.write_text("mine")
    with pytest.raises(InputError, match=r"out\.part, line 1: was begun with other settings"):
        annotate([corpus], out, fake["annotator"], jobs=1)
    assert part.read_text() == "mine"
    part.unlink()
    outside = tmp_path / "outside"
    part.symlink_to(outside)
    with pytest.raises(InputError, match=r"out\.part: exists already: remove it"):
        annotate([corpus], out, fake["annotator"], jobs=1)
    part.unlink()
    fake["fail_at"] = 3
    with pytest.raises(KeyboardInterrupt):
        annotate([corpus], out, fake["annotator"], jobs=1)
    kept = part.read_bytes()
    assert kept.count(b"\n") == 3  # the run and two pieces
    with open(part, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is writing it"):
            annotate([corpus], out, fake["annotator"], jobs=1)
    text = corpus.read_text()
    corpus.write_text(text + "more\n")  # another text
    with pytest.raises(InputError, match=r"out\.part, line 1: was begun with other settings"):
        annotate([corpus], out, fake["annotator"], jobs=1)
    corpus.write_text(text)
    assert part.read_bytes() == kept
    fake["fail_at"] = None
    report = annotate([corpus], out, fake["annotator"], jobs=1)
    part.write_bytes(kept)  # killed before it went
    assert annotate([corpus], out, fake["annotator"], jobs=1) == report
    assert not part.exists() and not outside.exists()


@pytest.mark.parametrize("name", ["out.conllu", "out.conllu.gz"])
def test_a_stopped_run_goes_on(fake, corpus, tmp_path, name):
    whole, out = tmp_path / f"whole-{name}", tmp_path / name
    report = annotate([corpus], whole, fake["annotator"], jobs=1)
    calls = fake["calls"]
    assert report.sentences == 6 and calls > 2
    fake.update(calls=0, fail_at=3)
    with pytest.raises(KeyboardInterrupt):
        annotate([corpus], out, fake["annotator"], jobs=1)
    assert not out.exists()
    with open(f"{out}.part", "ab") as part:
        part.write(b"half a piece")
    fake.update(calls=0, fail_at=None)
    assert annotate([corpus], out, fake["annotator"], jobs=1) == report
    assert fake["calls"] == calls - 2
    assert out.read_bytes() == whole.read_bytes()
    fake["calls"] = 0
    assert annotate([corpus], out, fake["annotator"], jobs=1) == report  # finished: kept
    assert fake["calls"] == 0
    corpus.write_text(TEXT + "more\n")
    assert annotate([corpus], out, fake["annotator"], jobs=1).sentences == 7  # another text: anew
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["models", "text.txt", name, f"whole-{name}"]
    )


def test_tokenised_lines(fake, corpus, tmp_path):
    lines = StanzaAnnotator(fake["annotator"].models, pretokenised=True)
    annotate([corpus], tmp_path / "out", lines, jobs=1)
    assert next(read_annotated([tmp_path / "out"])).words[-1] == "york."


def test_no_text(fake, tmp_path):
    (tmp_path / "empty").write_text("\n\n")
    with pytest.raises(InputError, match="empty: no text: give some"):
        annotate([tmp_path / "empty"], tmp_path / "out", fake["annotator"], jobs=1)


def test_an_output_is_a_file_that_is_not_read_for_a_text(fake, corpus, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for output in (tmp_path / "pipe", "/dev/null", "-"):
        with pytest.raises(InputError, match=f"{output}: is no file, where a run .* name one"):
            annotate([corpus], output, fake["annotator"], jobs=1)
    for suffix in (".zst", ".xz"):
        with pytest.raises(InputError, match=rf"not be compressed as \{suffix}: .* ends in \.gz"):
            annotate([corpus], tmp_path / f"out{suffix}", fake["annotator"], jobs=1)
    assert sorted(one.name for one in tmp_path.glob("out*")) == []
    (tmp_path / "link").symlink_to(corpus)
    for output in (corpus, tmp_path / "link"):
        with pytest.raises(InputError, match=r"text\.txt: is read and written at once"):
            annotate([corpus], output, fake["annotator"], jobs=1)
    assert corpus.read_text() == TEXT
    (tmp_path / "texts").mkdir()
    corpus.rename(tmp_path / "texts" / "text.txt")
    for _ in range(2):
        report = annotate(
            [tmp_path / "texts"], tmp_path / "texts" / "out", fake["annotator"], jobs=1
        )
        assert report.sentences == 6
    with pytest.raises(InputError, match="out: looks like CoNLL-U"):
        annotate([tmp_path / "texts"], tmp_path / "texts" / "new", fake["annotator"], jobs=1)
    (tmp_path / "texts" / "out").unlink()
    fake.update(calls=0, fail_at=3)
    with pytest.raises(KeyboardInterrupt):
        annotate([tmp_path / "texts"], tmp_path / "texts" / "new", fake["annotator"], jobs=1)
    assert (tmp_path / "texts" / "new.part").exists()


def test_a_link_that_the_user_names_is_followed_and_no_other(fake, corpus, tmp_path):
    annotate([corpus], tmp_path / "plain.gz", fake["annotator"], jobs=1)
    (tmp_path / "out.gz").symlink_to("target")
    annotate([corpus], tmp_path / "out.gz", fake["annotator"], jobs=1)
    assert (tmp_path / "target").read_bytes() == (tmp_path / "plain.gz").read_bytes()
    assert (tmp_path / "out.gz").is_symlink()
    (tmp_path / "new.part").symlink_to("victim")
    with pytest.raises(InputError, match=r"new\.part: exists already: remove it"):
        annotate([corpus], tmp_path / "new", fake["annotator"], jobs=1)
    assert not (tmp_path / "victim").exists()


def test_models_are_told_apart_by_what_they_hold(fake, corpus, tmp_path):
    model = tmp_path / "models" / "en" / "x.pt"
    model.write_bytes(b"one")
    annotate([corpus], tmp_path / "out", fake["annotator"], jobs=1)
    fake["calls"] = 0
    annotate([corpus], tmp_path / "out", fake["annotator"], jobs=1)
    assert fake["calls"] == 0
    model.write_bytes(b"two")
    annotate([corpus], tmp_path / "out", fake["annotator"], jobs=1)
    assert fake["calls"] > 0


def test_a_pipe_is_annotated_as_the_file_is(tmp_path, corpus, fake):
    """The text is read for its checksum, annotated, and its lines are counted: three times."""
    whole = tmp_path / "whole"
    annotate([corpus], whole, fake["annotator"], jobs=1)
    read, write = os.pipe()
    os.write(write, corpus.read_bytes())
    os.close(write)
    annotate([f"/dev/fd/{read}"], tmp_path / "out", fake["annotator"], jobs=1)
    os.close(read)
    assert (tmp_path / "out").read_bytes() == whole.read_bytes()


TREES = """# constituency = (ROOT (S (NP a) (VP b)))
1\ta\ta\tX\tNN\t_\t0\troot\t_\t_
2\tb\tb\tVERB\t_\t_\t1\tx\t_\t_

1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tX\tIN\t_\t0\troot\t_\t_
2\tel\tel\tX\tDT\t_\t1\tx\t_\t_
2.1\te\te\tX\tDT\t_\t1\tx\t_\t_

"""


def test_a_sentence_that_spans_two_blocks(tmp_path, monkeypatch):
    small = partial(read_blocks, block_bytes=16)
    monkeypatch.setattr("distsim.corpus.annotation.read_blocks", small)
    (tmp_path / "a.conllu").write_text(TREES)
    tags = tmp_path / "tags"
    assert write_line_files(tmp_path / "a.conllu", None, tags) == (2, 1)
    assert tags.read_text() == "NN VERB\nIN DT\n"


def test_trees_and_tags_line_by_line(tmp_path):
    annotated, trees, tags = tmp_path / "a.conllu", tmp_path / "trees", tmp_path / "tags.gz"
    annotated.write_text(TREES)
    assert write_line_files(annotated, trees, tags) == (2, 1)
    assert trees.read_text() == "(ROOT (S (NP a) (VP b)))\n\n"
    assert gzip.decompress(tags.read_bytes()) == b"NN VERB\nIN DT\n"
    (tmp_path / "text").write_text("\na b\n \t\nde  el\n\n")
    assert write_line_files(annotated, trees, tags, [tmp_path / "text"]) == (5, 1)
    assert trees.read_text() == "\n(ROOT (S (NP a) (VP b)))\n\n\n\n"
    assert gzip.decompress(tags.read_bytes()) == b"\nNN VERB\n\nIN DT\n\n"
    for text, place in (("a b\nde el\nx\n", "line 3: 1 token, 0"), ("a b c\n", "line 1: 3")):
        (tmp_path / "text").write_text(text)
        with pytest.raises(InputError, match=f"text, {place}.* were annotated: annotate the text"):
            write_line_files(annotated, trees, tags, [tmp_path / "text"])
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.extra
def test_the_real_pipeline(run, corpus, tmp_path):
    needs_stanza()
    out = tmp_path / "out.conllu.gz"
    _, err = run("annotate", corpus, "-o", out, "--models", MODELS, "-j", 1)
    assert "6 sentences" in err
    sentences = list(read_annotated([out]))
    assert sentences[0].words[:4] == ["john", "smith", "does", "n't"]
    assert sentences[0].ner[:2] == ["per", "per"]
    assert sentences[0].nodes[0].label == "S"
    assert "-LRB-" in sentences[1].pos
    with gzip.open(out, "rt") as file:
        assert "# constituency = (ROOT" in file.read()
    table = tmp_path / "table"
    run("sign", out, "--from", "annotated", "-o", table, "-j", 1, "--min-count", 3)
    assert len(SignatureTable.open(table)) > 10
    _, err = run("annotate", corpus, "-o", out, "--models", MODELS, "--processors",
                 "tokenize,pos", "-j", 1)  # fmt: skip
    first = next(read_annotated([out]))
    assert first.nodes == [] and set(first.heads) == {-2}


@pytest.mark.extra
def test_trees_of_the_real_pipeline(run, tmp_path):
    """Exactly a line for every line: align takes them beside the text."""
    needs_stanza()
    text = ["The cat ( a dog ) sat .", "", "|||", "He said 'so' [x] {y} (z .", "   ", "ok"]
    (tmp_path / "text").write_text("\n".join(text) + "\n")
    run("annotate", tmp_path / "text", "-o", tmp_path / "out", "--models", MODELS, "-j", 1,
        "--format", "lines", "--trees", tmp_path / "trees", "--tags", tmp_path / "tags",
        "--processors", "tokenize,pos,constituency")  # fmt: skip
    trees = (tmp_path / "trees").read_text().split("\n")[:-1]
    tags = (tmp_path / "tags").read_text().split("\n")[:-1]
    assert len(trees) == len(tags) == len(text)
    for tree, line_tags, line in zip(trees, tags, text, strict=True):
        n = len(line.split())
        assert len(line_tags.split()) == n
        assert (not tree and not n) or len(TreeReader().parse(tree).leaves) == n


def tiny_spacy(folder):
    """A real pipeline of rules, saved to disk."""
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install -e '.[spacy]'")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "lives"}]], {"TAG": "VBZ", "POS": "VERB", "LEMMA": "live", "DEP": "ROOT"})
    ruler.add([[{"IS_PUNCT": True}]], {"TAG": ".", "POS": "PUNCT", "DEP": "punct"})
    ruler.add([[{"IS_TITLE": True}]], {"TAG": "NNP", "POS": "PROPN"})
    names = pipeline.add_pipe("entity_ruler")
    names.add_patterns([{"label": "PERSON", "pattern": "John Smith"}])
    pipeline.to_disk(folder)
    return folder


@pytest.mark.extra
def test_spacy(run, tmp_path):
    models = tiny_spacy(tmp_path / "models")
    (tmp_path / "text").write_text("John Smith  lives here. He lives\tthere.\n\nJohn lives.\n" * 2)
    out = tmp_path / "out.conllu.gz"
    _, err = run("annotate", tmp_path / "text", "-o", out, "--with", "spacy", "--models", models,
                 "-j", 1, "--tags", tmp_path / "tags")  # fmt: skip
    assert "24 words, 6 sentences" in err
    first, second, *_ = read_annotated([out])
    assert first.words == ["john", "smith", "lives", "here", "."]
    assert first.lemmas[2] == "live" and first.pos == ["NNP", "NNP", "VBZ", "_", "."]
    assert first.ner == ["person", "person", "o", "o", "o"]
    assert second.words == ["he", "lives", "there", "."]
    assert set(first.heads) == {-2}  # five roots are no tree
    assert (tmp_path / "tags").read_text().startswith("NNP NNP VBZ _ .\nNNP VBZ _ .\n")
    table = tmp_path / "table"
    run("sign", out, "--from", "annotated", "-o", table, "-j", 1, "--min-count", 2)
    assert SignatureTable.open(table).find(["john"])[0] >= 0
    for more, what in (("--trees", "--trees needs"), ("--processors", "chooses what stanza does")):
        command = ("annotate", tmp_path / "text", "-o", out, "--with", "spacy")
        _, err = run(*command, "--models", models, more, "x", status=1)
        assert what in err


@pytest.mark.extra
def test_spacy_on_tokenised_lines(run, tmp_path):
    models = tiny_spacy(tmp_path / "models")
    text = "John lives. here\n\na.b ( c\n"
    (tmp_path / "text").write_text(text)
    run("annotate", tmp_path / "text", "-o", tmp_path / "out", "--with", "spacy", "--models",
        models, "--format", "lines", "--tags", tmp_path / "tags", "-j", 1)  # fmt: skip
    found = [sentence.words for sentence in read_annotated([tmp_path / "out"])]
    assert found == [["john", "lives.", "here"], ["a.b", "(", "c"]]
    assert [len(li.split()) for li in (tmp_path / "tags").read_text().split("\n")] == [3, 0, 3, 0]


@pytest.mark.extra
def test_dependencies_of_spacy():
    """Heads past tokens of white space; what is no tree is left out."""
    pytest.importorskip("spacy", reason="needs spaCy: pip install -e '.[spacy]'")
    import spacy
    from spacy.tokens import Doc

    vocab = spacy.blank("en").vocab
    words = ["a", "\n", "b", "c"]

    def rows(heads):
        made = Doc(vocab, words=words, heads=heads, deps=["x", "dep", "ROOT", "y"],
                   sent_starts=[True, False, False, False])  # fmt: skip
        return [row.split("\t") for row in annotators._rows(made[:])]

    assert [(row[0], row[1], row[6], row[7]) for row in rows([1, 2, 2, 2])] == [
        ("1", "a", "2", "x"), ("2", "b", "0", "ROOT"), ("3", "c", "2", "y"),
    ]  # fmt: skip
    assert {row[6] for row in rows([0, 2, 2, 2])} == {"_"}
    glued = Doc(vocab, words=["do", "n't", "\n", "go"], spaces=[False, False, False, False])
    misc = [row.split("\t")[9] for row in annotators._rows(glued[:])]
    assert misc == ["SpaceAfter=No", "_", "_"]
