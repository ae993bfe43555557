"""Collocates and their measures: tables worked by hand, scipy, and a plain count of windows."""

import random
import tracemalloc
from collections import Counter
from math import log, log2, sqrt
from typing import get_args

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.base.arguments import AssociationMeasure, KeywordMeasure
from distsim.indexes import collocation as association
from distsim.indexes.collocation import TABLE_MEASURES, PhraseWindows, collocate_spreads, collocates
from tests.conftest import index_of, random_sentences

# 8 of the word's 20 occurrences in windows of 100 of 1,000 tokens: 2 are expected.
TABLE = np.array([8.0]), 100.0, np.array([20.0]), 1000.0


def test_every_name_of_a_measure_has_its_formula():
    others = {"log-dice", "log-ratio"}  # of windows and of two corpora, not of a table
    names = {*get_args(AssociationMeasure), *get_args(KeywordMeasure)}
    assert names - others == set(TABLE_MEASURES)


def test_a_table_worked_by_hand():
    found = {name: float(measure(*TABLE)[0]) for name, measure in TABLE_MEASURES.items()}
    assert found["mi"] == pytest.approx(log2(8 / 2))
    assert found["mi3"] == pytest.approx(log2(8**3 / 2))
    assert found["t"] == pytest.approx(6 / sqrt(8))
    assert found["z"] == pytest.approx(6 / sqrt(2))
    two = 2 * (8 * log(8 / 2) + 12 * log(12 / 18))
    four = two + 2 * (92 * log(92 / 98) + 888 * log(888 / 882))
    assert found["llr-2"] == pytest.approx(two)
    assert found["llr"] == pytest.approx(four)
    table = [[8, 92], [12, 888]]
    g2 = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert found["llr"] == pytest.approx(g2)
    assert float(association.log_dice(TABLE[0], 12, TABLE[2])[0]) == pytest.approx(13.0)
    assert float(association.log_ratio(*TABLE)[0]) == pytest.approx(log2((8 / 100) / (12 / 900)))


def test_less_than_expected_is_negative_and_zero_counts_as_a_half():
    none = np.array([0.0]), 100.0, np.array([20.0]), 1000.0
    assert TABLE_MEASURES["llr"](*none)[0] < 0 > TABLE_MEASURES["llr-2"](*none)[0]
    assert association.log_ratio(*none)[0] == pytest.approx(log2((0.5 / 100) / (20 / 900)))


def test_p_is_adjusted_by_holm():
    scores = np.array([4.0, -9.0, 1.0])
    smallest, middle = chi2.sf(9, 1) * 4, chi2.sf(4, 1) * 3
    found = association.adjusted_p(np.append(scores, 0.5))[:3]
    assert found.tolist() == pytest.approx([middle, smallest, chi2.sf(1, 1) * 2])
    assert association.adjusted_p(np.array([0.1, 0.2])).max() <= 1


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("node", ["a0", "a0 bé1"])
def test_counts_are_those_of_a_plain_count(small_index, sentences, node, window):
    words = node.split()
    together, n_inside = Counter(), 0
    for sentence in sentences:
        inside = set()
        for i in range(len(sentence)):
            if sentence[i : i + len(words)] == words:
                stop = i + len(words)
                inside |= {*range(max(0, i - window), i)}
                inside |= {*range(stop, min(len(sentence), stop + window))}
        n_inside += len(inside)
        together.update(sentence[i] for i in inside)
    found = collocates(small_index, node, window=window, measure="mi", min_count=1, k=None)
    assert {one.word: one.together for one in found} == dict(together)
    for one in found:
        assert one.in_corpus == small_index.count(one.word)
        assert one.expected == pytest.approx(one.in_corpus * n_inside / small_index.n_tokens)
        assert one.score == pytest.approx(log2(one.together / one.expected))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[:2] == collocates(small_index, node, window=window, measure="mi", min_count=1, k=2)


@pytest.mark.parametrize("window", [1, 3])
def test_spreads_are_those_of_a_plain_count(tmp_path, run, window):
    documents = [random_sentences(seed, n_sentences=8) for seed in range(4)]
    text = "\n\n".join("\n".join(map(" ".join, one)) for one in documents)
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    index = CorpusIndex.build([tmp_path / "t.txt"], tmp_path / "x.index",
                              options=IndexOptions(shard_tokens=60))  # fmt: skip
    pairs = {}
    for number, document in enumerate(documents):
        for sentence in document:
            near = {
                j for i, word in enumerate(sentence) if word == "a0"
                for j in range(i - window, i + window + 1) if j != i and 0 <= j < len(sentence)
            }  # fmt: skip
            for j in near:
                pairs.setdefault(sentence[j], Counter())[number] += 1
    found = collocates(index, "a0", window=window, min_count=1, k=None)
    spreads = collocate_spreads(index, "a0", [one.word for one in found], window=window)
    sizes = [sum(map(len, document)) for document in documents]
    for one, spread in zip(found, spreads, strict=True):
        counts = pairs[one.word]
        assert (one.together, spread.documents) == (counts.total(), len(counts))
        dp = sum(abs(counts[d] / counts.total() - n / sum(sizes)) for d, n in enumerate(sizes)) / 2
        assert spread.dp == pytest.approx(dp)
    out, _ = run("collocates", index.path, "a0", "--window", window, "--spread", "-k", "1")
    cells = out.split("\t")
    assert cells[5:7] == [f"{found[0].together / index.n_tokens * 1e6:.6f}",
                          str(spreads[0].documents)]  # fmt: skip


def test_other_occurrences_of_the_phrase_are_collocates(tmp_path):
    index = index_of("tea and tea , he said .", tmp_path)
    found = {one.word: one.together for one in collocates(index, "tea", window=2, min_count=1)}
    assert found == {"tea": 2, "and": 1, ",": 1, "he": 1}
    only = collocates(index, "tea", window=2, min_count=1, words_only=True)
    assert {one.word for one in only} == {"tea", "and", "he"}


def test_words_are_told_from_signs_without_the_texts_of_all(tmp_path):
    """A server that made 100,000 texts for each question kept their room."""
    n = 20_000
    index = index_of(" ".join(f"w{i} -{'.' * (i % 50 + 2)}" for i in range(n)), tmp_path)
    words = np.arange(1, index.n_words)
    expected = [any(map(str.isalnum, word)) for word in index.vocabulary.words(words)]
    assert sum(expected) == n < words.size
    tracemalloc.start()
    with_letters = association._with_letters(index, words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert with_letters.tolist() == expected and peak < 40 * n


def test_an_unseen_phrase_has_none_and_wrong_settings_are_refused(small_index):
    assert collocates(small_index, "neverseen") == []
    with pytest.raises(ParameterError, match="`measure` is 'dice', choose one of log-dice"):
        collocates(small_index, "a0", measure="dice")
    with pytest.raises(ParameterError, match="`window`"):
        collocates(small_index, "a0", window=0)


def test_log_dice_of_a_phrase_that_overlaps_itself(tmp_path):
    (tmp_path / "text.txt").write_text("ha ha ha ha\nno a b\n")
    index = CorpusIndex.build([tmp_path / "text.txt"], tmp_path / "index")
    (found,) = collocates(index, "ha ha", min_count=1)
    assert (found.word, found.together, found.in_corpus) == ("ha", 4, 4)
    assert found.score == pytest.approx(14 + log2(2 * 3 / (3 + 4)))  # of 3 nodes, not of 4


@pytest.mark.parametrize("window", [1, 2, 100])
def test_windows_are_those_of_a_naive_count(tmp_path, window):
    rng = random.Random(window)
    rows = [rng.choices("abcd", k=rng.randint(1, 9)) for _ in range(60)]
    (tmp_path / "text.txt").write_text("\n".join(map(" ".join, rows)) + "\n")
    options = IndexOptions("lines", shard_tokens=100)
    index = CorpusIndex.build([tmp_path / "text.txt"], tmp_path / "index", options=options)
    assert len(index.shards) > 2
    wanted = Counter(
        word
        for row in rows
        for place, word in enumerate(row)
        if any(
            row[at : at + 2] == ["a", "b"]
            and (at - window <= place < at or at + 2 <= place < at + 2 + window)
            for at in range(len(row))
        )
    )  # fmt: skip
    found = collocates(index, "a b", window=window, min_count=1, k=None)
    assert {one.word: one.together for one in found} == dict(wanted)


@pytest.mark.parametrize("phrase", ["a", "a a", "a b", "a b a"])
def test_parts_of_any_size_give_the_same_windows_and_spreads(tmp_path, monkeypatch, phrase):
    rng = random.Random(5)
    blocks = [[" ".join(rng.choices("abc", k=9)) for _ in range(6)] for _ in range(9)]
    text = "\n\n".join("\n".join(block) for block in blocks) + "\n"
    (tmp_path / "text.txt").write_text(text)
    options = IndexOptions("lines", shard_tokens=100)
    index = CorpusIndex.build([tmp_path / "text.txt"], tmp_path / "index", options=options)
    part = index.select(documents=index.documents_at(index.document_edges[:-1][2:7]))
    cql = " ".join(f'[word="{word}"]' for word in phrase.split())
    for text_asked in (index, part):
        words = collocates(text_asked, phrase, window=2, min_count=1, k=None)
        spreads = collocate_spreads(text_asked, phrase, list("abc"), window=2)
        assert words == collocates(text_asked, cql, window=2, min_count=1, k=None, query=True)
        with monkeypatch.context() as patch:
            patch.setattr("distsim.indexes.shard._POSITIONS_AT_ONCE", 3)
            for name in ("SPANS", "BYTES", "OCCURRENCES", "PAIRS"):
                patch.setattr(f"distsim.indexes.collocation._{name}_AT_ONCE", 2)
            assert collocates(text_asked, phrase, window=2, min_count=1, k=None) == words
            by_query = collocates(text_asked, cql, window=2, min_count=1, k=None, query=True)
            assert by_query == words
            assert collocate_spreads(text_asked, phrase, list("abc"), window=2) == spreads


def test_spreads_within_wide_windows_hold_no_row_of_words_for_each_occurrence(tmp_path):
    (tmp_path / "text.txt").write_text(("a b c d " * 50 + "\n") * 400)
    index = CorpusIndex.build(
        [tmp_path / "text.txt"], tmp_path / "index", options=IndexOptions("lines")
    )
    collocate_spreads(index, "a", ["b"], window=100)  # loads what it needs
    tracemalloc.start()
    (spread,) = collocate_spreads(index, "a", ["b"], window=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert spread.documents == 1
    assert (
        peak < 20_000 * 200 * 4
    )  # 20,000 occurrences, 200 words beside each; it took 4 times this


def test_windows_of_collocates_with_spread_are_counted_once(run, small_index, monkeypatch):
    of, calls = PhraseWindows.of, []
    monkeypatch.setattr(
        PhraseWindows, "of", lambda *arguments: calls.append(arguments) or of(*arguments)
    )
    rows = run("collocates", small_index.path, "a0", "-k", "3", "--spread")[0].splitlines()
    assert len(calls) == 1 and len(rows) == 3
    words = [row.split("\t")[0] for row in rows]
    spreads = collocate_spreads(small_index, "a0", words)
    assert [row.split("\t")[6] for row in rows] == [str(spread.documents) for spread in spreads]


def test_memory_that_does_not_do_is_refused(run, small_index, monkeypatch):
    monkeypatch.setattr("distsim.base.parallel._limit", None)
    out, _ = run("collocates", small_index.path, "a0", "-k", "1", "--memory", "200M")
    assert out == run("collocates", small_index.path, "a0", "-k", "1")[0]
    _, err = run("collocates", small_index.path, "a0", "--memory", "100M", status=2)
    assert "the program alone takes 117M: give more" in err
    needed = 64 * small_index.n_words + small_index.n_tokens // 8
    monkeypatch.setattr("distsim.base.parallel._limit", needed - 1)
    with pytest.raises(ParameterError, match=r"`memory`: .* words and a bit .*: give as much more"):
        collocates(small_index, "a0")
    monkeypatch.setattr("distsim.base.parallel._limit", needed + 1000)
    assert len(collocates(small_index, "a0", k=1)) == 1
    with pytest.raises(ParameterError, match="collocates and a bit"):
        collocates(small_index, "a0", k=None, min_count=1)
    with pytest.raises(ParameterError, match="matches and a bit"):
        collocates(small_index, "a*", query=True, k=1)
