"""N-gram count files: what is read of them, and that they make the table of their index."""

import filecmp
import gzip
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim import (
    CorpusIndex,
    IndexOptions,
    InputError,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
)
from distsim.contexts import CountFiles, NgramModel, Weighting
from distsim.contexts.counts import NgramCounts
from distsim.contexts.kernels import counts as kernel
from distsim.contexts.weights import SCHEMES
from distsim.corpus import Normaliser
from distsim.corpus.sources import find_sources
from distsim.corpus.vocabulary import hash_texts
from distsim.storage.manifest import MADE_FROM
from tests.naive.counts import ngrams_of, phrases_of

SMALLEST = 1 << 18
EXACT = Normaliser(lower=False)


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


def read(path, longest, folder, memory=SMALLEST, normaliser=EXACT):
    counts = NgramCounts(longest, normaliser, folder, memory)
    counts.read(find_sources([path]))
    return counts


def sign_counts(files, path, recipe=None, selection=None, **options):
    """Sign count files; return what was read."""
    named = ("normaliser", "text_format")
    source = CountFiles(files, **{n: options.pop(n) for n in named if n in options})
    SignatureTable.build(source, path, recipe=recipe or Recipe(), selection=selection, **options)
    return source.report


def as_dict(counts, min_count=1):
    """The blocks in the shape of naive_counts.phrases_of."""
    space = counts.space()
    names = {}
    for family in space.family_names:
        for word in range(1, counts.offsets.size - 1):
            text = f"{family}:{counts._word(word)}"
            names[int(hash_texts([text.encode()])[0])] = text
    found = {}
    last = -1
    for block in counts.blocks(min_count):
        for i, key in enumerate(block.hashes.tolist()):
            assert key > last
            last = key
            words = tuple(counts._word(w) for w in block.words[i, : block.lengths[i]].tolist())
            assert int(hash_texts([" ".join(words).encode()])[0]) == key
            mine = slice(block.starts[i], block.starts[i + 1])
            features = [names[int(space.hashes[f])] for f in block.features[mine].tolist()]
            assert len(set(features)) == len(features)
            pairs = dict(zip(features, block.counts[mine].tolist(), strict=True))
            found[words] = (int(block.strengths[i]), pairs)
    return found


def same_folders(a: Path, b: Path) -> bool:
    names, others = (
        sorted(one.name for one in folder.iterdir() if one.is_file() and one.name != MADE_FROM)
        for folder in (a, b)
    )
    assert names == others
    return filecmp.cmpfiles(a, b, names, shallow=False)[0] == names


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 1 << 30), st.integers(1, 700), st.integers(2, 12), st.integers(1, 6),
    st.integers(0, 4), st.integers(1, 9),
)  # fmt: skip
def test_phrases_and_contexts_are_the_naive_ones(
    tmp_path_factory, seed, n, n_words, longest, more, min_count
):
    folder = tmp_path_factory.mktemp("counts")
    lines = random_lines(seed, n, n_words)
    counts = read(written(folder / "counts", [*lines, (("end",), 1)]), longest, folder,
                  SMALLEST << more)  # fmt: skip
    wanted = phrases_of([*lines, (("end",), 1)], longest)
    kept = {phrase: row for phrase, row in wanted.items() if row[0] >= min_count}
    assert as_dict(counts, min_count) == kept
    counts.close()


def test_larger_than_memory(tmp_path):
    """Twenty thousand lines through the smallest buffers, and through large ones."""
    lines = random_lines(5, 20_000, 60)
    path = written(tmp_path / "counts", lines)
    wanted = phrases_of(lines, 4)
    for memory in (SMALLEST, 1 << 26):
        counts = read(path, 4, tmp_path, memory)
        assert as_dict(counts) == wanted
        counts.close()


def test_margins_by_hand(tmp_path):
    """a b . | a b c .: tokens 7, pairs 5, so 2 sentences; m(a) = 2, also where lines repeat."""
    lines = "a\t1\na\t1\nb\t2\nc\t1\n.\t2\na b\t2\nb .\t1\nb c\t1\nc .\t1\n<s> a\t2\n. </S>\t2\n"
    (tmp_path / "counts").write_text(lines)
    counts = read(tmp_path / "counts", 2, tmp_path)
    assert (counts.n_tokens, counts.n_sentences) == (7, 2)
    space = counts.space()
    assert space.totals.tolist() == [5, 5]
    assert space.marginals.tolist() == [0, 2, 2, 1, 2, 0, 0] * 2  # and <s>, </S>
    assert (counts.report.lines, counts.report.special) == (11, 2)
    (tmp_path / "corpus").write_text("a b .\na b c .\n")
    index = CorpusIndex.build([tmp_path / "corpus"], tmp_path / "index")
    assert index.parameters["corpus"] == counts.corpus_fingerprint()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_table_is_the_one_of_the_index(alice_index, tmp_path, scheme):
    """Byte for byte, manifest included; packed, shuffled, in a folder, over small memory."""
    lines = [f"{phrase}\t{n}\n" for phrase, n in alice_index.ngrams(shortest=1, longest=5)]
    random.Random(1).shuffle(lines)
    folder = tmp_path / "counts"
    folder.mkdir()
    (folder / "a.gz").write_bytes(gzip.compress("".join(lines[::2]).encode()))
    (folder / "b").write_text("".join(lines[1::2]))
    recipe, selection = Recipe(weighting=Weighting(scheme)), Selection(min_count=2)
    SignatureTable.build(alice_index, tmp_path / "a", recipe=recipe, selection=selection)
    report = sign_counts(
        [folder], tmp_path / "b", recipe, selection, text_format="text", memory=1 << 20
    )
    assert same_folders(tmp_path / "a", tmp_path / "b")
    assert (report.lines, report.too_long, report.without_line) == (len(lines), 0, 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_phrases", [None, 1, 7, 10_000])
def test_sentences_of_one_word_and_the_most_frequent(tmp_path, seed, max_phrases):
    draw = random.Random(seed)
    words = [f"W{i}" for i in range(8)]
    sentences = [draw.choices(words, k=draw.choice([1, 1, 2, 5])) for _ in range(60)]
    (tmp_path / "corpus").write_text("".join(" ".join(s) + "\n" for s in sentences))
    counts = ngrams_of(sentences, 5)
    written(tmp_path / "counts", counts.items())
    index = CorpusIndex.build([tmp_path / "corpus"], tmp_path / "index")
    recipe = Recipe(weighting=Weighting("llr"), n_bits=64)
    selection = Selection(min_count=2, max_length=4, max_phrases=max_phrases)
    SignatureTable.build(index, tmp_path / "a", recipe=recipe, selection=selection)
    sign_counts([tmp_path / "counts"], tmp_path / "b", recipe, selection)
    assert same_folders(tmp_path / "a", tmp_path / "b")


def test_words_pass_the_normaliser(tmp_path):
    lines = [(("The", "Cat"), 2), (("the", "cat"), 3), (("The",), 4), (("CAT",), 5), (("the",), 1),
             (("the", ","), 7), ((",",), 9), (("year", "1984"), 6), (("2015",), 1)]  # fmt: skip
    path = written(tmp_path / "counts", lines)
    folded = Normaliser(fold_numbers=True, drop_punctuation=True)
    counts = read(path, 2, tmp_path, normaliser=folded)
    found = as_dict(counts)
    assert found["the", "cat"] == (5, {})
    assert found["the",] == (5, {"r1:cat": 5})
    assert found["0000",] == (1, {"l1:year": 6})
    assert counts.report.vanished == 2
    assert read(path, 2, tmp_path).report.vanished == 0


def test_counts_beyond_32_bits_are_summed_and_saturate_in_the_table(tmp_path):
    n = (1 << 32) - 1
    (tmp_path / "counts").write_text(f"a\t{n}\na\t{n}\nb\t7\na b\t{3 * n}\nb a\t{n}\n")
    sign_counts([tmp_path / "counts"], tmp_path / "t", selection=Selection(min_count=1))
    table = SignatureTable.open(tmp_path / "t")
    assert {table.text(i): int(table.strengths[i]) for i in range(len(table))} == {"a": n, "b": 7}
    counts = read(tmp_path / "counts", 1, tmp_path)
    assert as_dict(counts)["a",] == (2 * n, {"r1:b": 3 * n, "l1:b": n})


def test_phrases_without_a_line_of_their_own_are_reported(tmp_path):
    (tmp_path / "counts").write_text("a\t3\na b\t2\na b c\t1\n")
    report = sign_counts([tmp_path / "counts"], tmp_path / "t", selection=Selection(min_count=1))
    assert report.without_line == 2  # b; b c
    assert sorted(SignatureTable.open(tmp_path / "t").texts()) == ["a", "a b"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("foo 3", "'foo 3' needs one tab, between the words and the count"),
        ("", "'' needs words, a tab and a count"),
        ("foo", "'foo' needs words, a tab and a count"),
        ("\t3", "needs words, a tab and a count"),
        ("foo\t1\t3", "needs one tab"),
        ("foo\tbar 3", "needs one tab"),
        ("foo\t-1", "needs a whole number from 1"),
        ("foo\t0", "needs a whole number from 1"),
        ("foo\t1.5", "needs a whole number from 1"),
        ("foo\t" + "9" * 19, "needs a whole number from 1"),
        ("x" * 200, "'" + "x" * 60 + "…' needs words"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_malformed_line_is_named(tmp_path, line, wanted, end):
    path = tmp_path / "counts"
    path.write_bytes(f"a b\t3\n{line}{end}".encode() if line or end else b"a\t1\n\n")
    with pytest.raises(InputError) as error:
        sign_counts([path], tmp_path / "t")
    message = str(error.value)
    assert message.startswith(f"{path}, line 2: ")
    assert wanted in message
    assert message.endswith(": mend or remove the line")
    assert not (tmp_path / "t").exists()


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "counts").write_text("a b\t3\na\t8\n")
    for scheme in ("ppmi", "llr", "log-llr"):
        recipe = Recipe(weighting=Weighting(scheme))
        with pytest.raises(InputError, match=r"'b' stands beside 'a' and has no line of its own"):
            sign_counts([tmp_path / "counts"], tmp_path / "t", recipe)
    sign_counts([tmp_path / "counts"], tmp_path / "t")
    (tmp_path / "empty").write_text("")
    with pytest.raises(InputError, match=r"empty: no n-gram in the counts: name files"):
        sign_counts([tmp_path / "empty"], tmp_path / "t")
    with pytest.raises(ParameterError, match=r"`window` 2 with count files.*: use 1"):
        sign_counts([tmp_path / "counts"], tmp_path / "t", Recipe(model=NgramModel(2)))


def test_two_phrases_of_one_hash_are_refused(tmp_path, monkeypatch):
    """With hashes of 13 bits many phrases share one; their contexts are not mixed."""
    count_lines, mask = kernel.count_lines, np.uint64((1 << 64) - (1 << 51))

    def short_lines(*arguments):
        own, phrases, *rest = count_lines(*arguments)
        return own & mask, phrases & mask, *rest

    monkeypatch.setattr(kernel, "count_lines", short_lines)
    path = written(tmp_path / "counts", random_lines(4, 1500, 40, most=3))
    with pytest.raises(InputError, match="two phrases have the hash [0-9a-f]{16}: leave one"):
        sign_counts([path], tmp_path / "a", Recipe(n_bits=64), Selection(min_count=1))
    assert not (tmp_path / "a").exists()


def test_an_index_whose_dropped_lines_held_new_words_has_the_same_fingerprint(tmp_path):
    """Words that occur nowhere count for nothing."""
    from distsim.indexes.build import corpus_fingerprint

    hashes = np.array([5, 3, 9], np.uint64)
    some = corpus_fingerprint(hashes, np.array([1, 0, 2], np.uint64), 3, 1)
    assert some == corpus_fingerprint(hashes[[2, 0]], np.array([2, 1], np.uint64), 3, 1)


def test_formats_of_queries(alice_index, tmp_path):
    lines = [f"{phrase}\t{n}\n" for phrase, n in alice_index.ngrams(shortest=1, longest=3)]
    (tmp_path / "counts").write_text("".join(lines))
    for text_format, rows in (("lines", [-1]), ("text", None)):
        table = tmp_path / text_format
        sign_counts([tmp_path / "counts"], table, selection=Selection(min_count=2, max_length=2),
                    text_format=text_format)  # fmt: skip
        found = SignatureTable.open(table).find(["alice’s"])
        assert found.tolist() == rows if rows else found[0] >= 0


def test_an_index_option_does_not_matter(tmp_path, sentences):
    """The table of an index that kept case, from its own list."""
    cased = [[word.upper() if i % 2 else word for i, word in enumerate(s)] for s in sentences]
    (tmp_path / "corpus").write_text("".join(" ".join(s) + "\n" for s in cased))
    index = CorpusIndex.build(
        [tmp_path / "corpus"], tmp_path / "index", options=IndexOptions(normaliser=EXACT)
    )
    written(
        tmp_path / "counts", ((tuple(p.split()), n) for p, n in index.ngrams(shortest=1, longest=5))
    )
    SignatureTable.build(index, tmp_path / "a", recipe=Recipe())
    sign_counts([tmp_path / "counts"], tmp_path / "b", normaliser=EXACT)
    assert same_folders(tmp_path / "a", tmp_path / "b")
