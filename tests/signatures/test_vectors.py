"""Word vectors from elsewhere: every format read, bad files refused, tables that answer."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from distsim import (
    PRESETS,
    CorpusIndex,
    InputError,
    ParameterError,
    Recipe,
    SignatureTable,
    neighbours,
    similarities,
)
from distsim.comparison.measures import ComposedCosine, EstimatedCosine
from distsim.contexts import GivenVectors, VectorFile, VectorModel
from distsim.corpus.vectors import read_vectors
from distsim.evaluation.correlations import in_common
from distsim.signatures import VECTORS
from tests.conftest import write_lines

WORDS = ["the", "king", "queen", "Été", "don't", "o'clock"]

VECTORS_AS_THEY_ARE = replace(VECTORS, model=VectorModel(centre=False))


def drawn(n: int, dimensions: int, seed: int = 1, mean: float = 0.0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return (generator.standard_normal((n, dimensions)) + mean).astype(np.float32)


def as_text(words, vectors, header: bool = True, end: str = "\n") -> bytes:
    lines = [f"{len(words)} {vectors.shape[1]}"] if header else []
    for word, vector in zip(words, vectors.tolist(), strict=True):
        lines.append(" ".join([word, *map(repr, vector)]))
    return (end.join(lines) + end).encode()


def as_binary(words, vectors, newline: bytes = b"\n") -> bytes:
    body = [
        word.encode() + b" " + row.astype("<f4").tobytes() + newline
        for word, row in zip(words, vectors, strict=True)
    ]
    return f"{len(words)} {vectors.shape[1]}\n".encode() + b"".join(body)


@pytest.mark.parametrize("n_words", [1, 6, 900])
@pytest.mark.parametrize("dimensions", [1, 2, 300])
def test_every_format_gives_the_same_words_and_vectors(tmp_path, n_words, dimensions):
    if n_words * dimensions > 10_000:
        dimensions = 20
    words = (WORDS + [f"w{i}" for i in range(n_words)])[:n_words]
    vectors = drawn(n_words, dimensions)
    files = {
        "word2vec.txt": as_text(words, vectors),
        "fasttext.vec": as_text(words, vectors, end=" \n"),
        "windows.txt": as_text(words, vectors, end="\r\n"),
        "glove.txt": as_text(words, vectors, header=False),
        "tabs.txt": as_text(words, vectors).replace(b" ", b"\t"),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / (name + ".gz")).write_bytes(gzip.compress(content))
    for name in [*files, *(name + ".gz" for name in files)]:
        found = read_vectors(tmp_path / name)
        assert found.words == words, name
        np.testing.assert_array_equal(found.vectors, vectors, name)


def test_words_with_spaces_are_read_from_the_right(tmp_path):
    (tmp_path / "v").write_bytes(b". . . 1 2\nat name@domain.com 3 4.5e-1\n")
    (tmp_path / "w").write_bytes(b"the 0 1\n. . . 1 2\nat name@domain.com 3 4.5e-1\n")
    assert read_vectors(tmp_path / "w").words == ["the", ". . .", "at name@domain.com"]
    assert read_vectors(tmp_path / "v").words == [". . .", "at name@domain.com"]


TWO = as_text(["a", "b"], np.array([[1.0, 2.0], [3.0, 4.0]]))
BINARY = as_binary(["aa", "bb"], drawn(2, 50))
FAULTS = {
    "empty": (b"", "f: is empty"),
    "a header alone": (b"2 3\n", "f, line 1: the header promises 2 words, 0 follow"),
    "a header that lies": (TWO.replace(b"2 2", b"3 2"), "f, line 1: the header promises 3 words"),
    "too few in a header": (TWO.replace(b"2 2", b"1 2"), "f, line 1: the header promises 1 word,"),
    "wrong dimensions": (
        TWO.replace(b"2 2", b"2 5"), "f, line 2: 2 numbers after the word, wanted 5, as the header"
    ),
    "no dimension": (b"2 0\na\nb\n", "f, line 1: 0 dimensions"),
    "too few numbers": (b"a 1 2\nb 3\n", "f, line 2: 1 number after the word, wanted 2, as in"),
    "too many numbers": (b"a 1 2\nb 3 4 5\n", "f, line 2: 3 numbers after the word, wanted 2"),
    "ragged both ways": (b"a 1 2\nb 3\nc 4 5 6\n", "f, line 2: 1 number after"),
    "no number": (b"a 1 2\nb 3 x\n", "f, line 2: 'x' is no number, wanted 2 numbers"),
    "an empty line": (b"a 1 2\n\nb 3 4\n", "f, line 2: 0 numbers after the word"),
    "no word": (b"a 1 2\n 3 4\n", "f, line 2: "),
    "nan": (b"a 1 2\nb nan 4\n", "f, line 2: the vector of 'b' holds a number that is not finite"),
    "infinite": (b"a 1 2\nb 3 1e999\n", "f, line 2: the vector of 'b' holds"),
    "infinite in 32 bits": (b"a 1 2\nb 3 1e300\n", "f, line 2: the vector of 'b' holds"),
    "no UTF-8": (b"a 1 2\nb\xff 3 4\n", "f, line 2: is not valid UTF-8: convert"),
    "a word twice": (b"a 1 2\nb 3 4\na 5 6\n", "f, line 3: 'a' is in line 1 already"),
    "prose": (b"It is a truth universally acknowledged\n", "f, line 1: ends with no number"),
    "a pickle": (b"\x80\x04\x95 and so on", "f: is a pickle: save the vectors in word2vec's"),
    "a fastText model": (b"\xba\x16\x4f\x2f....", "f: is a model of fastText: name its .vec"),
    "binary": (BINARY, "f: is in word2vec's binary format: save it as text, or give words"),
    "cut archive": (gzip.compress(TWO * 50)[:-20], "f: the archive is cut short"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_file_is_one_sentence_with_its_place(tmp_path, run, fault):
    content, message = FAULTS[fault]
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(InputError) as error:
        read_vectors(tmp_path / "f")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    run("sign", "--from", "vectors", tmp_path / "f", "-o", tmp_path / "t", status=1)
    assert not (tmp_path / "t").exists()


def test_a_numpy_file_is_refused(tmp_path):
    np.save(tmp_path / "v.npy", drawn(2, 3))
    with pytest.raises(InputError, match=r"v\.npy: is an array without words: .*GivenVectors"):
        read_vectors(tmp_path / "v.npy")


def true_cosines(vectors: np.ndarray, a, b) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return (unit[a] * unit[b]).sum(axis=1)


@pytest.mark.parametrize("dimensions", [20, 300])
def test_bits_estimate_the_vectors_own_cosines(tmp_path, dimensions):
    """Near pairs and far ones; a large mean, as word2vec's vectors have."""
    base = drawn(200, dimensions, mean=0.5)
    vectors = np.concatenate([base, base + 0.5 * drawn(200, dimensions, 2)])
    words = [f"w{i}" for i in range(400)]
    recipe = Recipe(**vars(VECTORS_AS_THEY_ARE) | {"n_bits": 512})
    table = SignatureTable.build(GivenVectors(words, vectors), tmp_path / "t", recipe=recipe)
    a = np.concatenate([np.arange(200), np.arange(200)])
    b = np.concatenate([np.arange(200, 400), np.arange(200)[::-1]])
    truth = true_cosines(vectors, a, b)
    pairs = [(words[i], words[j]) for i, j in zip(a, b, strict=True)]
    estimated = np.array(similarities(table, pairs), float)
    assert abs((estimated - truth).mean()) < 0.02
    assert np.abs(estimated - truth).mean() < 0.06  # 1.6 / sqrt(512) = .07 near 0
    real = np.array(ComposedCosine(table).similarities(pairs), float)
    if dimensions <= 512:
        np.testing.assert_allclose(real, truth, atol=2e-3)  # kept in float16


def test_centred_vectors_order_neighbours_as_their_cosines_do(tmp_path):
    base = drawn(50, 40, mean=1.0)
    vectors = np.concatenate([base, base + 0.3 * drawn(50, 40, 2)])
    words = [f"w{i}" for i in range(100)]
    table = SignatureTable.build(GivenVectors(words, vectors), tmp_path / "t", recipe=VECTORS)
    assert table.fingerprint.is_learned and table.fingerprint.is_of_vectors
    right = [neighbours(table, f"w{i}", k=1)[0].phrase == f"w{i + 50}" for i in range(50)]
    assert sum(right) >= 48
    shares = np.unpackbits(table.bits.view(np.uint8)).mean()
    assert abs(shares - 0.5) < 0.03  # half of the bits are set
    assert SignatureTable.build(
        GivenVectors(words, vectors), tmp_path / "t", recipe=VECTORS
    ).unchanged


def test_phrases_are_made_of_their_words(tmp_path):
    words = ["The", "king", "queen", "of", "THE"]
    vectors = drawn(5, 30)
    (tmp_path / "phrases").write_text("king of the\nqueen\nthe zebra\nzebra\nking of the\n")
    source = GivenVectors(words, vectors, phrases=tmp_path / "phrases")
    table = SignatureTable.build(source, tmp_path / "t", recipe=VECTORS_AS_THEY_ARE)
    assert sorted(table) == ["king", "king of the", "of", "queen", "the", "the zebra"]
    assert table.strengths.tolist() == [0] * 6  # nothing is known
    assert source.report.alike == 1
    assert table.parameters["phrases_without_context"] == 1  # zebra
    # Zipf: ranks 1 to 4 have the shares 12/25, 6/25, 4/25, 3/25; a word weighs .003 / (.003 + p).
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    ranked = enumerate(["the", "king", "queen", "of"], 1)
    weight = {word: 0.003 / (0.003 + 0.48 / rank) for rank, word in ranked}
    made = weight["king"] * unit[1] + weight["of"] * unit[3] + weight["the"] * unit[0]
    truth = float(made @ unit[2] / np.linalg.norm(made))
    found = ComposedCosine(table).similarity("king of the", "queen")
    assert found == pytest.approx(truth, abs=2e-3)
    assert similarities(table, [("the zebra", "the")]) == [1.0]
    assert EstimatedCosine(table).estimates([("of queen", "queen")])[0].composed


def test_phrases_and_counts_of_an_index(tmp_path, sentences):
    index = CorpusIndex.build(write_lines(tmp_path / "text", sentences), tmp_path / "index")
    words = [*list(index)[:5], "elsewhere"]
    table = SignatureTable.build(
        VectorFile_of(tmp_path, words, drawn(6, 30), index=index), tmp_path / "t", recipe=VECTORS
    )
    assert set(words) <= set(table)
    assert len(table) > 10
    for row, phrase in enumerate(table):
        assert table.strengths[row] == index.count(phrase)
        assert " " not in phrase or set(phrase.split()) & set(words)
    assert not any(word in table for word in list(index)[5:])
    with pytest.raises(ParameterError, match="`index` gives phrases"):
        VectorFile("x", index=index, phrases="y")


def VectorFile_of(folder, words, vectors, **others) -> VectorFile:  # noqa: N802
    (folder / "vectors").write_bytes(as_text(words, vectors))
    return VectorFile(folder / "vectors", **others)


def test_same_bits_for_any_jobs_and_format(tmp_path):
    words, vectors = [f"w{i}" for i in range(8200)], drawn(8200, 4)
    (tmp_path / "b").write_bytes(as_text(words, vectors))
    (tmp_path / "g").write_bytes(as_text(words, vectors, header=False))
    tables = [
        SignatureTable.build(
            VectorFile(tmp_path / f), tmp_path / f"t{f}{jobs}", recipe=VECTORS, jobs=jobs
        )
        for f, jobs in (("b", 1), ("b", 2), ("g", 2))
    ]
    assert len({table.artifact.checksum for table in tables}) == 1


def test_settings_that_do_not_go_together(tmp_path, small_index):
    given = GivenVectors(["a", "b"], drawn(2, 4))
    with pytest.raises(ParameterError, match="give a recipe with a VectorModel"):
        SignatureTable.build(given, tmp_path / "t", recipe=PRESETS["learned"])
    with pytest.raises(ParameterError, match="start from VECTORS"):
        Recipe(model=VectorModel())
    with pytest.raises(ParameterError, match="start from VECTORS"):
        Recipe(projection="rotation")
    with pytest.raises(ParameterError):
        SignatureTable.build(small_index, tmp_path / "t", recipe=VECTORS)
    with pytest.raises(ParameterError, match="word vectors have none: leave it out"):
        SignatureTable.build(given, tmp_path / "t", recipe=VECTORS, keep_features=True)
    with pytest.raises(ParameterError, match="2 words: give floats"):
        GivenVectors(["a", "b"], drawn(3, 4))
    assert Recipe.from_fingerprint(
        SignatureTable.build(given, tmp_path / "t", recipe=VECTORS).fingerprint
    ).model == VectorModel(centre=True)


def test_the_command_line(tmp_path, run):
    base = drawn(30, 20, mean=0.5)
    vectors = np.concatenate([base, base + 0.4 * drawn(30, 20, 2)])
    words = [f"{'ab'[i // 30]}{i % 30}" for i in range(60)]
    (tmp_path / "v.vec").write_bytes(as_text(words, vectors))
    (tmp_path / "phrases").write_text("a1 b2\n")
    table, other = tmp_path / "one.table", tmp_path / "other.table"
    run(
        "sign",
        "--from",
        "vectors",
        tmp_path / "v.vec",
        "-o",
        table,
        "--set",
        f"phrases={tmp_path / 'phrases'}",
    )
    (tmp_path / "w.vec").write_bytes(as_text(words[:40], vectors[:40]))
    run("sign", "--from", "vectors", tmp_path / "w.vec", "-o", other, "--set",
        "model.centre=false", "--set", "n_bits=128")  # fmt: skip
    assert run("neighbours", table, "a3", "-k", 1)[0].startswith("1\tb3\t")
    assert run("verify", table)[0]
    run("similarity", table, "a1 b2", "b2")
    gold = tmp_path / "gold.tsv"
    gold.write_text("".join(f"a{i}\tb{i if i % 2 else 29 - i}\t{i % 2}\n" for i in range(30)))
    out, _ = run("evaluate", table, other, gold, "--by", "table", "--format", "tsv", "--common")
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[1] for row in rows[1:3]] == ["one.table", "other.table"]
    assert rows[1][8] == rows[2][8]  # the same pairs are covered
    assert int(rows[1][8]) < 30
    assert rows[3][0].startswith("# one.table|model:vectors|centre:yes")
    out, _ = run("evaluate", table, gold, "--by", "vectors", "--format", "tsv")
    assert out.splitlines()[1].split("\t")[1] == "vectors"
    run("evaluate", table, gold, "--by", "exact", status=1)
    run("evaluate", table, other, status=2)
    for status, wrong in (
        (2, ["--set", "model.window=2"]),
        (2, ["--set", "keep_features=true"]),
        (2, ["--projection", table]),
        (1, ["--set", "weighting.scheme=ppmi"]),
        (1, ["--preset", "learned"]),
    ):
        run("sign", "--from", "vectors", tmp_path / "v.vec", "-o", tmp_path / "x", *wrong,
            status=status)  # fmt: skip
    run("sign", "--from", "vectors", tmp_path / "v.vec", status=2)
    run("sign", tmp_path / "v.vec", "--set", "phrases=x", status=2)


def test_in_common_leaves_the_pairs_that_all_know():
    class Some:
        def __init__(self, name, known):
            self.name, self._known = name, known

        def estimates(self, pairs):
            from distsim.comparison.measures import Estimate

            return [Estimate(0.5 if a in self._known else None) for a, _ in pairs]

    pairs = [("a", "x"), ("b", "x"), ("c", "x")]
    first, second = in_common([Some("first", "ab"), Some("second", "bc")])
    assert [one.similarity for one in first.estimates(pairs)] == [None, 0.5, None]
    assert first.estimates(pairs) == second.estimates(pairs)
    assert first.name == "first"
