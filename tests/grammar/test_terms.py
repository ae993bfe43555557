"""Terms of a bitext against a plain count, worked on a text of ten sentences."""

import csv
import io
import random
from xml.etree import ElementTree

import numpy as np
import pytest

from distsim import CorpusIndex, ParameterError
from distsim.bitext.bitext_builder import Given, build_bitext
from distsim.grammar.terms import bitext_terms, tbx_lines
from distsim.indexes.collocation import log_likelihood_2

EN = ["the tool bar <opens>", "open the tool bar", "a tool bar & a menu", "the menu opens",
      "close the tool bar"]  # fmt: skip
DE = ["die Symbolleiste <öffnet>", "öffnen Sie die Symbolleiste", "eine Leiste & ein Menü",
      "das Menü öffnet", "schließen Sie die Symbolleiste"]  # fmt: skip
LINKS = ["0-0 1-1 2-1 3-2", "0-0 1-2 2-3 3-3", "0-0 1-1 2-1 3-2 4-3 5-4", "0-0 1-1 2-2",
         "0-0 1-2 2-3 3-3"]  # fmt: skip


@pytest.fixture
def made(tmp_path):
    for name, lines in (("en", EN), ("de", DE), ("links", LINKS)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines * 2), encoding="utf-8")
    draw = random.Random(1)
    plain = ["the", "a", "open", "close", *(f"w{n}" for n in range(200))]
    (tmp_path / "ref").write_text(
        "".join(" ".join(draw.choices(plain, [300, 300, 9, 9, *[2] * 200], k=9)) + "\n"
                for _ in range(300))
    )  # fmt: skip
    bitext = build_bitext(
        tmp_path / "en", tmp_path / "de", tmp_path / "x.bitext", given=Given(tmp_path / "links")
    )
    return bitext, CorpusIndex.build([tmp_path / "ref"], tmp_path / "ref.index")


def test_terms_have_counts_scores_and_translations_of_a_plain_count(made):
    bitext, reference = made
    terms = {one.source: one for one in bitext_terms(bitext, reference, min_count=2, k=None)}
    assert set(terms) >= {"tool bar", "menu"} and not {"tool", "bar", "the tool bar"} & set(terms)
    tool_bar = terms["tool bar"]
    assert (tool_bar.times, tool_bar.target, tool_bar.p) == (8, "symbolleiste", 0.75)
    assert tool_bar.alternatives == (("leiste", 0.25),)
    assert tool_bar.source_example == "the tool bar <opens>"
    assert tool_bar.target_example == "die symbolleiste <öffnet>"
    total = sum(len(line.split()) for line in EN * 2)
    wanted = log_likelihood_2(
        np.array([8.0]), total, np.array([8.0 + reference.count("tool bar")]),
        total + reference.n_tokens,
    )  # fmt: skip
    assert tool_bar.score == pytest.approx(wanted[0])


def test_what_is_asked_for_is_left_out(made):
    bitext, reference = made
    every = bitext_terms(bitext, reference, min_count=2, k=None)
    assert bitext_terms(bitext, reference, min_count=2, k=1) == every[:1]
    assert all(one.times >= 5 for one in bitext_terms(bitext, reference, min_count=5))
    assert "tool bar" not in {
        one.source for one in bitext_terms(bitext, reference, min_count=2, min_p=0.8)
    }
    assert all(
        " " not in one.source
        for one in bitext_terms(bitext, reference, min_count=2, lengths=(1, 1))
    )
    with pytest.raises(ParameterError, match="`lengths`"):
        bitext_terms(bitext, reference, lengths=(1, 9))


def test_the_command_writes_csv_and_tbx(made, run, tmp_path):
    bitext, reference = made
    out, _ = run("terms", bitext.artifact.path, "--against", reference.path, "--min-count", "2",
                 "--csv", "--tbx", tmp_path / "t.tbx", "--languages", "en,de")  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(out)))
    terms = bitext_terms(bitext, reference, min_count=2)
    assert [(row["source"], row["target"]) for row in rows] == [
        (one.source, one.target) for one in terms
    ]
    root = ElementTree.parse(tmp_path / "t.tbx").getroot()
    found = [[term.text for term in entry.iter("term")] for entry in root.iter("termEntry")]
    assert found == [
        [one.source, one.target, *(text for text, _ in one.alternatives)] for one in terms
    ]
    assert "<opens>" in "".join(one.text for one in root.iter("descrip"))
    assert next(iter(tbx_lines([]))).startswith("<?xml")
    _, err = run("terms", bitext.artifact.path, "--against", reference.path, "--languages", "en",
                 status=2)  # fmt: skip
    assert "give two codes" in err


def test_terms_are_noun_phrases_and_translations_begin_and_end_with_content(made, tmp_path):
    """Verbs stand before determiners, pieces before the rest; der, die, das are no translation."""
    _, reference = made
    english = ["draw the shape", "draw shapes", "print the sheet", "set the print range",
               "the table of contents", "the size you want", "automatic page breaks",
               "the program provides a menu", "tables and print"]  # fmt: skip
    german = ["die form der zeichnung", "die formen zeichnen", "das blatt und die seite drucken",
              "den druckbereich der tabelle", "das inhaltsverzeichnis das der text",
              "die größe die sie wollen", "automatische seiten umbrüche",
              "das programm bietet ein menü", "tabellen und drucken"]  # fmt: skip
    links = ["0-3 2-1", "0-2 1-1", "0-5 2-1", "2-0 3-1", "1-0 2-0 3-1", "1-1 2-3 3-4",
             "0-0 1-1 2-2", "0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2"]  # fmt: skip
    for name, lines in (("n.en", english), ("n.de", german), ("n.links", links)):
        (tmp_path / name).write_text("".join(f"{one}\n" for one in lines * 5), encoding="utf-8")
    bitext = build_bitext(
        tmp_path / "n.en", tmp_path / "n.de", tmp_path / "n.bitext",
        given=Given(tmp_path / "n.links"),
    )  # fmt: skip
    found = bitext_terms(bitext, reference, lengths=(2, 4), max_p=1.0)
    assert {one.source: one.target for one in found} == {
        "print range": "druckbereich",
        "table of contents": "inhaltsverzeichnis",
        "automatic page breaks": "automatische seiten umbrüche",
    }
    pieces = {one.source for one in bitext_terms(bitext, reference, lengths=(2, 2), max_p=1.0)}
    assert "page breaks" in pieces and "automatic page" not in pieces
