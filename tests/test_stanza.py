"""Annotating text: the real small pipeline where it is there, and what is said where it is not."""

import gzip
import importlib.util
import json

import pytest

from distsim import ParameterError, SignatureTable
from distsim.corpus import annotating
from distsim.corpus.annotated import read_annotated
from distsim.corpus.annotating import annotate
from distsim.corpus.stanza_text import StanzaAnnotator, conllu_text
from distsim.errors import InputError
from tests.conftest import SHARED

MODELS = SHARED / "models" / "tiny-en"
TEXT = "John Smith doesn't live in New York.\n\nHe moved (to be exact) to London.\n" * 3


def needs_stanza():
    if importlib.util.find_spec("stanza") is None:
        pytest.skip("needs stanza: pip install torch==2.13.0 'distsim[stanza]'")
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
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for command in (["annotate", corpus], ["sign", corpus, "--model", "syntax"]):
        _, err = run(*command, "-o", tmp_path / "o", "--models", tmp_path, status=1)
        assert "stanza is not installed: pip install torch==2.13.0" in err
    assert not (tmp_path / "o").exists()


def test_without_models(run, corpus, tmp_path, with_stanza):
    _, err = run("annotate", corpus, "-o", tmp_path / "o", status=1)
    assert "no models: fetch some with stanza.download" in err
    with pytest.raises(ParameterError, match="no models of stanza there: fetch models with"):
        StanzaAnnotator(str(tmp_path))
    with pytest.raises(ParameterError, match="choose of tokenize"):
        StanzaAnnotator(fake_models(tmp_path / "a"), ("parse",))
    with pytest.raises(ParameterError, match="has no model for 'ner': fetch one, or choose"):
        StanzaAnnotator(fake_models(tmp_path / "b"), ("ner",))
    with pytest.raises(ParameterError, match="models of en, de, wanted those of one language"):
        StanzaAnnotator(fake_models(tmp_path / "c", languages=("en", "de")))
    (tmp_path / "c" / "resources.json").write_text("{")
    with pytest.raises(ParameterError, match="is damaged: fetch"):
        StanzaAnnotator(str(tmp_path / "c"))


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


@pytest.mark.parametrize("name", ["out.conllu", "out.conllu.gz"])
def test_a_stopped_run_goes_on(fake, corpus, tmp_path, name):
    whole, out = tmp_path / f"whole-{name}", tmp_path / name
    report = annotate([corpus], whole, fake["annotator"], 1)
    calls = fake["calls"]
    assert report.sentences == 6 and calls > 2
    fake.update(calls=0, fail_at=3)
    with pytest.raises(KeyboardInterrupt):
        annotate([corpus], out, fake["annotator"], 1)
    assert not out.exists()
    with open(f"{out}.part", "ab") as part:
        part.write(b"half a piece")
    fake.update(calls=0, fail_at=None)
    assert annotate([corpus], out, fake["annotator"], 1) == report
    assert fake["calls"] == calls - 2
    assert out.read_bytes() == whole.read_bytes()
    fake["calls"] = 0
    assert annotate([corpus], out, fake["annotator"], 1) == report  # finished: kept
    assert fake["calls"] == 0
    corpus.write_text(TEXT + "more\n")
    assert annotate([corpus], out, fake["annotator"], 1).sentences == 7  # another text: anew
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["models", "text.txt", name, f"whole-{name}"]
    )


def test_tokenised_lines(fake, corpus, tmp_path):
    lines = StanzaAnnotator(fake["annotator"].models, pretokenised=True)
    annotate([corpus], tmp_path / "out", lines, 1)
    assert next(read_annotated([tmp_path / "out"])).words[-1] == "york."


def test_no_text(fake, tmp_path):
    (tmp_path / "empty").write_text("\n\n")
    with pytest.raises(InputError, match="empty: no text: give some"):
        annotate([tmp_path / "empty"], tmp_path / "out", fake["annotator"], 1)
    with pytest.raises(InputError, match="name a file"):
        annotate(["-"], tmp_path / "out", fake["annotator"], 1)


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
    run("sign", corpus, "--model", "syntax", "-o", table, "--models", MODELS, "-j", 1,
        "--min-count", 3)  # fmt: skip
    assert len(SignatureTable.open(table)) > 10
    assert (tmp_path / "table.conllu.gz").exists()
    _, err = run("annotate", corpus, "-o", out, "--models", MODELS, "--processors",
                 "tokenize,pos", "-j", 1)  # fmt: skip
    first = next(read_annotated([out]))
    assert first.nodes == [] and set(first.heads) == {-2}
