"""Traces and continuations against plain scans of the sentences, on one shard and on several."""

import random
from collections import Counter

import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.indexes.collocation import collocates
from distsim.indexes.tracing import continuations, trace
from tests.conftest import index_of, write_lines


def occurrences(sentences, words) -> int:
    n = len(words)
    return sum(s[i : i + n] == words for s in sentences for i in range(len(s) - n + 1))


def longest(sentences, sentence, first) -> int:
    """The length of the longest match of sentence[first:]."""
    n = 0
    while first + n < len(sentence) and occurrences(sentences, sentence[first : first + n + 1]):
        n += 1
    return n


@pytest.fixture(params=[9, 1000])
def index(request, sentences, tmp_path) -> CorpusIndex:
    corpus = write_lines(tmp_path / "corpus.txt", sentences)
    options = IndexOptions(shard_tokens=request.param)
    return CorpusIndex.build(corpus, tmp_path / "index", options=options)


def test_spans_are_those_of_a_plain_scan(index, sentences):
    draw = random.Random(4)
    words = sorted({word for sentence in sentences for word in sentence})
    text = [draw.choices([*words[:7], "neverseen"], k=draw.randint(1, 30)) for _ in range(40)]
    text += [sentences[5] + sentences[6], sentences[7]]
    expected, before, reached = [], 0, 0
    for sentence in text:
        reached = 0
        for first in range(len(sentence)):
            n = longest(sentences, sentence, first)
            if n >= 2 and first + n > reached:
                span = sentence[first : first + n]
                expected.append((before + first, n, occurrences(sentences, span), " ".join(span)))
            reached = max(reached, first + n)
        before += len(sentence)
    found = trace(index, "\n".join(map(" ".join, text)), min_tokens=2)
    assert [one[:4] for one in found.spans] == expected
    assert found.n_tokens == before
    assert all(0 < len(one.places) <= 3 for one in found.spans)


def test_shares_are_of_the_n_grams_within_sentences(tmp_path):
    words = [f"w{i}" for i in range(20)]
    corpus = write_lines(tmp_path / "c.txt", [words[:10], words[10:]])
    index = CorpusIndex.build(corpus, tmp_path / "index")
    found = trace(index, " ".join(words))
    assert (found.share_8, found.share_13) == (6 / 13, 0.0)
    assert [(one.first, one.n_tokens) for one in found.spans] == [(0, 10), (10, 10)]
    assert trace(index, " ".join(words[:7])).share_8 is None
    assert trace(index, "").n_tokens == 0


def test_text_is_cut_and_normalised_as_the_corpus(tmp_path):
    index = index_of("The King's men ran away. They came back.", tmp_path)
    (span,) = trace(index, "Once THE KING'S MEN RAN!", min_tokens=2).spans
    assert span == (1, 5, 1, "the king 's men ran", ("text.txt:1",), ("1",), False)


@pytest.mark.parametrize("phrase", ["a0", "a0 bé1", "neverseen a0", "neverseen"])
def test_continuations_are_those_of_a_plain_scan(index, sentences, phrase):
    words = [word for word in phrase.split() if word != "neverseen"]
    n = len(words)
    after = Counter(
        [*s, ""][i + n] for s in sentences for i in range(len(s)) if n and s[i : i + n] == words
    )
    found = continuations(index, phrase, k=None)
    assert (found.suffix_tokens, found.total) == (n, after.total())
    assert {one.word: one.times for one in found.words} == dict(after)
    assert [one.times for one in found.words] == sorted(after.values(), reverse=True)
    assert sum(one.share for one in found.words) == pytest.approx(1.0 if n else 0.0)


def test_commands_print_both(run, small_index, sentences, tmp_path):
    text = " ".join(next(one for one in sentences if len(one) >= 6))
    (tmp_path / "t.jsonl").write_text(f'{{"body": "{text}"}}\n')
    out, _ = run("trace", small_index.path, tmp_path / "t.jsonl", "--jsonl", "body")
    assert out.startswith("text\t1\t") and f"\t{text}\t" in out
    _, err = run("trace", small_index.path, tmp_path / "t.jsonl", "--jsonl", "x", status=1)
    assert "line 1: is no JSON object with a text in the field 'x'" in err
    out, err = run("continuations", small_index.path, "neverseen a0", "--limit", 1)
    assert len(out.splitlines()) == 1 and "occurrences of the last 1 token" in err


def test_a_page_is_not_traced_as_text(run, small_index, tmp_path):
    (tmp_path / "page.html").write_text("<!DOCTYPE html>\n<html><body><p>a0</p></body></html>\n")
    _, err = run("trace", small_index.path, tmp_path / "page.html", status=1)
    assert "page.html: looks like HTML, wanted plain text" in err
    out, _ = run("trace", small_index.path, tmp_path / "page.html", "--as-is")
    assert out.startswith("text\t1\t")


@pytest.mark.parametrize("given", [None, 3, b"x", ["a"]])
def test_what_is_no_text_is_told(small_index, given):
    for ask in (trace, continuations, collocates):
        with pytest.raises(ParameterError, match="wanted a text"):
            ask(small_index, given)


def test_half_a_character_is_no_question_mark(tmp_path):
    index = index_of("Who ? Who ? Who ?", tmp_path)
    assert trace(index, "who ? who ?", min_tokens=2).spans
    assert not trace(index, "who \ud800 who \ud800", min_tokens=2).spans


def test_a_long_unknown_phrase_is_looked_up_in_few_steps(small_index, monkeypatch):
    asked = []
    count = CorpusIndex.count
    monkeypatch.setattr(CorpusIndex, "count", lambda *given: asked.append(1) or count(*given))
    found = continuations(small_index, "neverseen " * 3000 + "a0")
    assert found.suffix_tokens == 1
    assert len(asked) <= 15


def test_spans_are_marked_verbatim_where_the_stored_text_has_them_so(tmp_path):
    (tmp_path / "c.txt").write_text("The King,  he said, came at once. A queen came, too.\n")
    spans = {}
    for text_kept in (True, False):
        options = IndexOptions("text", text=text_kept)
        index = CorpusIndex.build(tmp_path / "c.txt", tmp_path / f"{text_kept}", options=options)
        asked = "The King, he said, came. The king, he said, left. A queen\ncame, too"
        spans[text_kept] = trace(index, asked, min_tokens=3).spans
    assert [(one.text, one.verbatim) for one in spans[True]] == [
        ("the king , he said , came", True),
        ("the king , he said ,", False),
        ("came , too", True),
    ]
    assert all(one.verbatim is None for one in spans[False])
    assert spans[True][0].documents == ("1",)
