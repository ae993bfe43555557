"""N-gram counts: what is read of them, and that they make the table of the text."""

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim import (
    PRESETS,
    CorpusIndex,
    IndexOptions,
    InputError,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
    sign,
)
from distsim.contexts import NgramCounts, NgramModel, SyntaxModel, Weighting
from distsim.contexts.kernels import ngram_counts as kernel
from distsim.contexts.sources.source import Work
from distsim.contexts.weights import SCHEMES
from distsim.corpus import Normaliser
from distsim.corpus.vocabulary import hash_texts
from distsim.signatures.composition import Composition
from distsim.signatures.projections.training import Learning
from tests.conftest import same_folders, write_lines
from tests.naive.counts import ngrams_of, phrases_of

SMALLEST = 1 << 18
EXACT = Normaliser(lower=False)
THESIS = PRESETS["thesis"]


def written(path: Path, lines) -> Path:
    path.write_text("".join(f"{' '.join(w)}\t{n}\n" for w, n in lines), encoding="utf-8")
    return path


def random_lines(seed, n=400, n_words=9, most=6):
    draw = random.Random(seed)
    names = [f"w{'é' * (i % 3)}{i}" for i in range(n_words)] + ["<unk>", "<S>", "</s>"]
    weights = [8] * n_words + [1, 1, 1]
    return [
        (tuple(draw.choices(names, weights, k=draw.randint(1, most))), draw.randint(1, 9))
        for _ in range(n)
    ]


def read(path, folder, model=None, longest=4, memory=SMALLEST, min_count=1, **settings):
    """Return {words: (strength, {feature: count})} of what is read, and the report."""
    source = NgramCounts(path, **({"normaliser": EXACT} | settings))
    selection = Selection(min_count=min_count, max_length=longest)
    phrases, last = {}, -1
    with source.counted(model or NgramModel(), selection, Work(folder, memory)) as text:
        space, words = text.space, text._vocabulary.texts(1)
        names = {
            int(hash_texts([name])[0]): name.decode()
            for family in space.family_names
            for name in (f"{family}:".encode() + word for word in words)
        }
        for batch in (part.content for part in text.parts(min_count, longest)):
            ends = np.cumsum(batch.text_lengths)
            for i, key in enumerate(batch.hashes.tolist()):
                assert key > last
                last = key
                spelt = batch.text[ends[i] - batch.text_lengths[i] : ends[i]].tobytes()
                assert int(hash_texts([spelt])[0]) == key
                mine = slice(batch.contexts.starts[i], batch.contexts.starts[i + 1])
                features = [names[int(space.hashes[f])] for f in batch.contexts.features[mine]]
                assert len(set(features)) == len(features)
                counted = dict(zip(features, batch.contexts.counts[mine].tolist(), strict=True))
                phrases[tuple(spelt.decode().split())] = (int(batch.strengths[i]), counted)
    return phrases, source.report


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 1 << 30), st.integers(1, 700), st.integers(2, 12), st.integers(1, 6),
    st.integers(0, 4), st.integers(1, 9), st.integers(1, 3), st.booleans(),
)  # fmt: skip
def test_phrases_and_contexts_are_the_naive_ones(
    tmp_path_factory, seed, n, n_words, longest, more, min_count, window, sides
):
    folder = tmp_path_factory.mktemp("counts")
    lines = [*random_lines(seed, n, n_words), (("end",), 1)]
    model = NgramModel(window, by_side=sides)
    phrases, _ = read(
        written(folder / "counts", lines), folder, model, longest, SMALLEST << more, min_count
    )
    wanted = phrases_of(lines, longest, window, sides)
    assert phrases == {phrase: row for phrase, row in wanted.items() if row[0] >= min_count}


def test_larger_than_memory(tmp_path):
    """Twenty thousand lines through the smallest buffers, and through large ones."""
    lines = random_lines(5, 20_000, 60)
    path = written(tmp_path / "counts", lines)
    for memory in (SMALLEST, 1 << 26):
        assert read(path, tmp_path, memory=memory)[0] == phrases_of(lines, 4)


def test_margins_by_hand(tmp_path):
    """a b . | a b c .: tokens 7, pairs 5, so 2 sentences; m(a) = 2, also where lines repeat."""
    lines = "a\t1\na\t1\nb\t2\nc\t1\n.\t2\na b\t2\nb .\t1\nb c\t1\nc .\t1\n<s> a\t2\n. </S>\t2\n"
    (tmp_path / "counts").write_text(lines)
    source = NgramCounts(tmp_path / "counts")
    with source.counted(NgramModel(), Selection(), Work(tmp_path, SMALLEST)) as text:
        assert (text.n_tokens, text.n_sentences) == (7, 2)
        assert text.space.totals.tolist() == [5, 5]
        assert text.space.marginals.tolist() == [0, 2, 2, 1, 2, 0, 0] * 2  # and <s>, </S>
    assert (source.report.lines, source.report.special) == (11, 2)
    (tmp_path / "corpus").write_text("a b .\na b c .\n")
    index = CorpusIndex.build([tmp_path / "corpus"], tmp_path / "index")
    assert index.parameters["corpus"] == text.corpus


LEARNED = Recipe(
    model=NgramModel(3, by_side=True), weighting=Weighting("ppmi", subsample=0.01, discount=1.5),
    projection="spectral", n_bits=64, learning=Learning(rows=300, features=600),
    composition=Composition(min_own_count=8),
)  # fmt: skip
RECIPES = [Recipe(weighting=Weighting(scheme)) for scheme in SCHEMES] + [
    Recipe(model=NgramModel(2), n_bits=64),
    Recipe(model=NgramModel(3, by_side=True, narrow=2), weighting=Weighting("ppmi"), n_bits=64),
    Recipe(model=NgramModel(2, by_side=True), weighting=Weighting("llr"), n_bits=64),
    LEARNED,
]


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_table_is_the_one_of_the_index(alice_index, tmp_path, recipe):
    """Byte for byte, manifest included; packed, shuffled, in a folder, over small memory."""
    longest = 3 + recipe.model.window
    lines = [f"{phrase}\t{n}\n" for phrase, n in alice_index.ngrams(shortest=1, longest=longest)]
    random.Random(1).shuffle(lines)
    folder = tmp_path / "counts"
    folder.mkdir()
    (folder / "a.gz").write_bytes(gzip.compress("".join(lines[::2]).encode()))
    (folder / "b").write_text("".join(lines[1::2]))
    selection = Selection(min_count=2, max_length=3)
    sign(alice_index, tmp_path / "a", recipe=recipe, selection=selection)
    source = NgramCounts(folder, text_format="text")
    sign(source, tmp_path / "b", recipe=recipe, selection=selection, memory=1 << 20)
    if recipe is LEARNED:  # its own projection
        same = same_folders(*(next((tmp_path / one).glob("projection*")) for one in "ab"))
        assert same
    assert same_folders(tmp_path / "a", tmp_path / "b")
    report = source.report
    assert (report.lines, report.too_long, report.without_line) == (len(lines), 0, 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_phrases", [None, 1, 7, 10_000])
def test_sentences_of_one_word_and_the_most_frequent(tmp_path, seed, max_phrases):
    draw = random.Random(seed)
    words = [f"W{i}" for i in range(8)]
    sentences = [draw.choices(words, k=draw.choice([1, 1, 2, 5])) for _ in range(60)]
    index = CorpusIndex.build([write_lines(tmp_path / "corpus", sentences)], tmp_path / "index")
    counts = written(tmp_path / "counts", ngrams_of(sentences, 5).items())
    recipe = Recipe(weighting=Weighting("llr"), n_bits=64)
    selection = Selection(min_count=2, max_length=4, max_phrases=max_phrases)
    sign(index, tmp_path / "a", recipe=recipe, selection=selection)
    sign(NgramCounts(counts), tmp_path / "b", recipe=recipe, selection=selection)
    assert same_folders(tmp_path / "a", tmp_path / "b")


BOOKS = [
    "the cat\t1940\t2\t1", "the cat\t1950\t3\t1", "the cat\t1960\t4\t1",
    "the\t1940\t3\t3\t2", "the\t1955\t5\t5\t2", "cat\t1950,9,1\t1961,4,2",
    "the=>cat\t1950\t9\t9", "cat_NOUN\t1950\t9\t9", "_START_ the\t1950\t4\t4",
    "the _NOUN_\t1950,7,1", "dog\t1930,8,2",
]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "the", "cat", "both"),
    [
        ((), 8, 13, 9), ("year=1950..", 5, 13, 7), ("year=..1950", 3, 9, 5),
        ("year=1940|1955", 8, 0, 2),
    ],
)  # fmt: skip
def test_layouts_of_google_books_sum_the_years_that_are_asked_for(tmp_path, where, the, cat, both):
    """The first, the second and the third release mixed; lines with tags repeat others."""
    (tmp_path / "books").write_text("".join(f"{line}\n" for line in BOOKS))
    phrases, report = read(tmp_path / "books", tmp_path, where=where)
    assert phrases.get(("the",), (0,))[0] == the
    assert phrases.get(("cat",), (0,))[0] == cat
    assert phrases["the", "cat"][0] == both
    assert phrases["the",][1] == {"r1:cat": both}
    assert (report.lines, report.special) == (11, 4)


def test_tags_are_words_in_counts_without_years(tmp_path):
    path = written(tmp_path / "counts", [(("cat_NOUN",), 3), (("x_y",), 2)])
    assert set(read(path, tmp_path)[0]) == {("cat_NOUN",), ("x_y",)}


def test_years_that_are_no_years_are_refused(tmp_path):
    path = written(tmp_path / "counts", [(("a",), 3)])
    for where in ("year=", "year=x", "genre=novel", "1950"):
        with pytest.raises(
            ParameterError, match=r"`where` .*: counts have years alone: give year="
        ):
            NgramCounts(path, where=where)
    with pytest.raises(ParameterError, match="`where`: give one condition"):
        NgramCounts(path, where=["year=1950", "year=1960"])
    with pytest.raises(InputError, match=r"line 1: 'a\\t3' has no years, which `where` asks for"):
        read(path, tmp_path, where="year=1950..")


def test_words_pass_the_normaliser(tmp_path):
    lines = [(("The", "Cat"), 2), (("the", "cat"), 3), (("The",), 4), (("CAT",), 5), (("the",), 1),
             (("the", ","), 7), ((",",), 9), (("year", "1984"), 6), (("2015",), 1)]  # fmt: skip
    path = written(tmp_path / "counts", lines)
    folded = Normaliser(fold_numbers=True, drop_punctuation=True)
    phrases, report = read(path, tmp_path, longest=2, normaliser=folded)
    assert phrases["the", "cat"] == (5, {})
    assert phrases["the",] == (5, {"r1:cat": 5})
    assert phrases["0000",] == (1, {"l1:year": 6})
    assert report.vanished == 2
    assert read(path, tmp_path)[1].vanished == 0


def test_counts_beyond_32_bits_are_summed_and_saturate_in_the_table(tmp_path):
    n = (1 << 32) - 1
    (tmp_path / "counts").write_text(f"a\t{n}\na\t{n}\nb\t7\na b\t{3 * n}\nb a\t{n}\n")
    table = sign(
        NgramCounts(tmp_path / "counts"), tmp_path / "t", recipe=THESIS,
        selection=Selection(min_count=1),
    )  # fmt: skip
    assert {table.text(i): int(table.strengths[i]) for i in range(len(table))} == {"a": n, "b": 7}
    phrases, _ = read(tmp_path / "counts", tmp_path, longest=1)
    assert phrases["a",] == (2 * n, {"r1:b": 3 * n, "l1:b": n})


def test_phrases_without_a_line_of_their_own_are_reported(tmp_path):
    (tmp_path / "counts").write_text("a\t3\na b\t2\na b c\t1\n")
    source = NgramCounts(tmp_path / "counts")
    table = sign(source, tmp_path / "t", recipe=THESIS, selection=Selection(min_count=1))
    assert source.report.without_line == 2  # b; b c
    assert sorted(table.texts()) == ["a", "a b"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("foo 3", "'foo 3' needs one tab, between the words and the count"),
        ("", "'' needs words, a tab and a count"),
        ("foo", "'foo' needs words, a tab and a count"),
        ("\t3", "needs words, a tab and a count"),
        ("foo\t1\t3", "needs one tab"),
        ("foo\t\t3", "needs one tab"),
        ("foo\t1950\t3\t1\t1\t1", "needs one tab"),
        ("foo\tbar 3", "needs one tab"),
        ("foo\t-1", "needs whole numbers from 1"),
        ("foo\t0", "needs whole numbers from 1"),
        ("foo\t1.5", "needs whole numbers from 1"),
        ("foo\t1950,x,1", "needs whole numbers from 1"),
        ("foo\t1950\tx\t1", "needs whole numbers from 1"),
        ("foo\t" + "9" * 19, "needs whole numbers from 1"),
        ("x" * 200, "'" + "x" * 60 + "…' needs words"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_malformed_line_is_named(tmp_path, line, wanted, end):
    path = tmp_path / "counts"
    path.write_bytes(f"a b\t3\n{line}{end}".encode() if line or end else b"a\t1\n\n")
    with pytest.raises(InputError) as error:
        sign(NgramCounts(path), tmp_path / "t", recipe=THESIS)
    message = str(error.value)
    assert message.startswith(f"{path}, line 2: ")
    assert wanted in message
    assert message.endswith(": mend or remove the line")
    assert not (tmp_path / "t").exists()


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "counts").write_text("a b\t3\na\t8\n")
    source = NgramCounts(tmp_path / "counts")
    for scheme in ("ppmi", "llr", "log-llr"):
        recipe = Recipe(weighting=Weighting(scheme))
        with pytest.raises(InputError, match=r"'b' stands beside 'a' and has no line of its own"):
            sign(source, tmp_path / "t", recipe=recipe)
    sign(source, tmp_path / "t", recipe=THESIS)
    (tmp_path / "empty").write_text("")
    with pytest.raises(InputError, match=r"empty: no n-gram in the counts: name files"):
        sign(NgramCounts(tmp_path / "empty"), tmp_path / "t", recipe=THESIS, force=True)
    with pytest.raises(ParameterError, match=r"counts hold words and no annotation"):
        sign(source, tmp_path / "t", recipe=Recipe(model=SyntaxModel()), force=True)


def test_short_ngrams_tell_of_near_words_alone(tmp_path, run, alice_index):
    """The Web 1T layout: up to 5 words. Counts of 3 places away are as those of 2."""
    lines = [f"{phrase}\t{n}\n" for phrase, n in alice_index.ngrams(shortest=1, longest=3)]
    (tmp_path / "counts").write_text("".join(lines))
    said = run(
        "sign", tmp_path / "counts", "--from", "counts", "-o", tmp_path / "t", "--max-length", "1",
        "--set", "text_format=text", "--set", "n_bits=64", "--set", "learning.rows=300",
    )[1]  # fmt: skip
    assert "the longest n-grams have 3 words: contexts of a phrase of n words reach 3 - n" in said
    table = SignatureTable.open(tmp_path / "t")
    assert "mother" not in table or table.n_bits == 64
    phrases, _ = read(tmp_path / "counts", tmp_path, NgramModel(3), longest=1, text_format="text")
    assert all(not name.startswith(("l3", "r3")) for _, row in phrases.values() for name in row)


def test_two_phrases_of_one_hash_are_refused(tmp_path, monkeypatch):
    """With hashes of 13 bits many phrases share one; their contexts are not mixed."""
    count_lines, mask = kernel.count_lines, np.uint64((1 << 64) - (1 << 51))

    def short_lines(*arguments):
        own, phrases, *rest = count_lines(*arguments)
        return own & mask, phrases & mask, *rest

    monkeypatch.setattr(kernel, "count_lines", short_lines)
    path = written(tmp_path / "counts", random_lines(4, 1500, 40, most=3))
    with pytest.raises(InputError, match="two phrases have the hash [0-9a-f]{16}: leave one"):
        sign(NgramCounts(path), tmp_path / "a", recipe=THESIS, selection=Selection(min_count=1))
    assert not (tmp_path / "a").exists()


def test_counts_of_the_same_words_in_other_pairs_are_others(tmp_path):
    text = "a b\t{}\nb a\t{}\na\t9\nb\t9\n"
    tables = [tmp_path / "t", tmp_path / "fresh"]
    for counts, path in (((4, 2), tables[0]), ((2, 4), tables[1]), ((2, 4), tables[0])):
        (tmp_path / "counts").write_text(text.format(*counts))
        table = sign(NgramCounts(tmp_path / "counts"), path, recipe=Recipe(n_bits=64), force=True,
                     selection=Selection(min_count=1, max_length=2))  # fmt: skip
        assert not table.unchanged
    assert same_folders(*tables)


def test_an_index_option_does_not_matter(tmp_path, sentences):
    """The table of an index that kept case, from its own list, as the command prints it."""
    cased = [[word.upper() if i % 2 else word for i, word in enumerate(s)] for s in sentences]
    index = CorpusIndex.build(
        [write_lines(tmp_path / "corpus", cased)], tmp_path / "index",
        options=IndexOptions(normaliser=EXACT),
    )  # fmt: skip
    counts = index.ngrams(shortest=1, longest=5)
    written(tmp_path / "counts", ((tuple(p.split()), n) for p, n in counts))
    sign(index, tmp_path / "a", recipe=THESIS)
    sign(NgramCounts(tmp_path / "counts", normaliser=EXACT), tmp_path / "b", recipe=THESIS)
    assert same_folders(tmp_path / "a", tmp_path / "b")


def test_the_command_reads_what_ngrams_writes(tmp_path, run, alice_index):
    listed = run("ngrams", alice_index.path, "-n", "1-5")[0]
    (tmp_path / "counts").write_text(listed)
    thesis = ["--preset", "thesis", "--min-count", "2"]
    counted = [tmp_path / "counts", "--from", "counts", "--set", "text_format=text"]
    said = run("sign", *counted, *thesis, "-o", tmp_path / "a")[1]
    assert f"{len(listed.splitlines()):,} lines; nothing taken from 0 with <unk>" in said
    run("sign", alice_index.path, *thesis, "-o", tmp_path / "b")
    assert same_folders(tmp_path / "a", tmp_path / "b")
    run("sign", *counted, *thesis, "--where", "year=1950..", "-o", tmp_path / "c", status=1)
    run("sign", *counted, *thesis, status=2)  # no -o
