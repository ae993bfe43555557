"""Bitexts: two files and what is said of their pairs, read, kept, counted, refused."""

import gzip
import re
from functools import partial

import numpy as np
import pytest

from distsim import ArtifactError, extract_rules, storage
from distsim.base.errors import InputError, ParameterError
from distsim.bitext import bitext as bitext_module
from distsim.bitext import links as links_module
from distsim.bitext.bitext import Bitext
from distsim.bitext.bitext_builder import Given, build_bitext
from distsim.bitext.kernels.links import format_links, parse_links
from distsim.bitext.links import parse_pharaoh, pharaoh_text
from distsim.bitext.sentence_pairs import BitextOptions, read_pairs
from distsim.corpus import Normaliser
from distsim.corpus.annotation import Constituent
from distsim.corpus.lines import read_blocks
from distsim.grammar.extraction import linked_text
from distsim.kernels.compiled import frozen
from distsim.output.verification import find_faults

ENGLISH = "The house is small\n\nthe house\na book\nThe house is small\nlong\n"
OTHER = "das Haus ist klein\nnichts\ndas Haus\n\ndas Haus ist klein\nlang\n"
LINKS = "0-0 1-1 2-2 3-3\n\n1-1 0-0\n9-9\n0-0\n0-0-P\n"
TREES = (
    "(ROOT (S (NP (DT The) (NN house)) (VP (VBZ is) (ADJP-PRD (JJ small)))))\n\n"
    "(NP (DT the))\n\n(NP (DT the))\n(ADJP (JJ long))\n"
)


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def sides(written):
    return written("b.en", ENGLISH), written("b.de", OTHER)


@pytest.fixture
def bitext(sides, written, tmp_path):
    given = Given(
        written("links", LINKS), written("trees", TREES), written("tags", "A B C D\n\n\n\nA\nE\n")
    )
    return build_bitext(
        *sides, tmp_path / "made", options=BitextOptions(dedup="exact"), given=given
    )


def test_pairs_keep_their_lines_and_lose_what_cannot_be_used(bitext):
    assert bitext.parameters["counts"] == {
        "pairs": 6, "kept": 3, "empty_english": 1, "empty_other": 1, "long": 0, "repeated": 1,
    }  # fmt: skip
    assert bitext.lines.tolist() == [1, 3, 6]
    assert [bitext.english.words(i) for i in range(3)] == [
        ["the", "house", "is", "small"], ["the", "house"], ["long"],
    ]  # fmt: skip
    assert [bitext.other.words(i) for i in range(3)] == [
        ["das", "haus", "ist", "klein"], ["das", "haus"], ["lang"],
    ]  # fmt: skip
    assert bitext.english.ids(1).tolist() == [1, 2]  # numbered as if the rest never were
    assert len(bitext.english.vocabulary) == 6


def test_links_trees_and_tags_go_with_their_pairs(bitext):
    assert [bitext.links_of(i) for i in range(3)] == [
        [(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0), (1, 1)], [(0, 0)],
    ]  # fmt: skip
    assert bitext.parameters["links"] == {"from": "file", "links": 7, "possible": 1}
    assert bitext.parameters["trees"] == {"trees": 2, "missing": 0, "unlike": 1}
    assert bitext.trees.line(0).startswith("(ROOT (S (NP")
    assert bitext.trees.nodes(0)[0] == Constituent(0, 4, "S")
    assert Constituent(3, 4, "ADJP") in bitext.trees.nodes(0)
    assert bitext.trees.nodes(1) == [] and bitext.trees.line(1) == ""
    assert bitext.tags.numbers.tolist() == [1, 2, 3, 4, 0, 0, 5]
    assert bitext.tags.vocabulary.words(np.array([1, 5])) == ["A", "E"]
    assert bitext.parameters["tags"] == {"missing": 1, "unlike": 0}


def test_links_are_written_for_the_lines_that_were_read(bitext):
    assert pharaoh_text(bitext) == b"0-0 1-1 2-2 3-3\n\n0-0 1-1\n\n\n0-0\n"


def test_the_same_bytes_for_any_number_of_threads(sides, written, tmp_path):
    given = Given(written("links", LINKS))
    one = build_bitext(*sides, tmp_path / "one", given=given, jobs=1)
    two = build_bitext(*sides, tmp_path / "two", given=given, jobs=3)
    assert one.checksum == two.checksum


def test_verify_finds_what_contradicts_itself(bitext):
    path = bitext.artifact.path
    assert find_faults(path) == []
    n_spans = len(bitext.trees.span_bounds)
    changes = {
        "links lead out": ("links/pairs", np.full((7, 2), 9, np.uint8)),
        "links are not in order": ("links/pairs", np.zeros((7, 2), np.uint8)),
        "lines is not in ascending order": ("lines", np.array([3, 2, 1], np.uint32)),
        "english/tokens has the value 99": ("english/tokens", np.full(7, 99, np.uint32)),
        "constituents lead out": ("trees/span_bounds", np.full((n_spans, 2), 9, np.uint8)),
        "span_labels has the value 99": ("trees/span_labels", np.full(n_spans, 99, np.uint32)),
        "tags/numbers has the value 99": ("tags/numbers", np.full(7, 99, np.uint32)),
    }  # fmt: skip
    for fault, (name, values) in changes.items():
        with storage.change(path, storage.BITEXT) as writer:
            before = writer.read(name).copy()
            writer.add(name, values)
        assert any(fault in found for found in find_faults(path)), fault
        with pytest.raises(ArtifactError, match=f"{fault}.*: restore the bitext or make it again"):
            extract_rules([Bitext.open(path)], path.parent / "rules")
        if "span_labels" in fault:
            with pytest.raises(ArtifactError, match="the tree of sentence 1 is damaged"):
                Bitext.open(path).trees.nodes(0)
        with storage.change(path, storage.BITEXT) as writer:
            writer.add(name, before)
    assert find_faults(path) == []
    with storage.change(path, storage.BITEXT) as writer:
        writer.add("links/starts", np.array([0, 7], np.uint64))
    with pytest.raises(ArtifactError, match="its arrays contradict each other"):
        Bitext.open(path)


@pytest.mark.parametrize("pairs_at_once", [1, 2, 3, 4, 5, 6, 1 << 17])
def test_links_are_checked_and_turned_in_parts(written, tmp_path, monkeypatch, pairs_at_once):
    sides = [written(name, "x y z\n" * 5) for name in ("b.en", "b.de")]
    sides[1].write_text("u v w\n" * 5)
    links = "2-0 0-1 0-0\n\n1-2 2-1 1-0\n0-0\n1-1 0-2\n"
    bitext = build_bitext(*sides, tmp_path / "made", given=Given(written("links", links)))
    monkeypatch.setattr(bitext_module, "_PAIRS_AT_ONCE", pairs_at_once)
    monkeypatch.setattr(linked_text, "_PAIRS_AT_ONCE", pairs_at_once)
    text = linked_text.LinkedText.join([bitext])
    assert text.links.tolist() == [
        [0, 0], [0, 2], [1, 0], [0, 1], [1, 2], [2, 1], [0, 0], [1, 1], [2, 0],
    ]  # fmt: skip
    assert list(bitext.faults()) == []
    path, correct = bitext.artifact.path, bitext.links.copy()
    for place, value, fault in (
        (8, 3, "lead out"), (6, 3, "lead out"), (8, 0, "not in order"), (5, 0, "not in order"),
    ):  # fmt: skip
        wrong = correct.copy()
        wrong[place, 0] = value
        with storage.change(path, storage.BITEXT) as writer:
            writer.add("links/pairs", wrong)
        assert any(fault in message for message in find_faults(path)), (place, value)


@pytest.mark.parametrize("block_bytes", [1, 9, 20, 1 << 20])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_links_are_read_in_parts(written, monkeypatch, block_bytes, is_reversed):
    monkeypatch.setattr(links_module, "read_blocks", partial(read_blocks, block_bytes=block_bytes))
    english, other = (
        written(name, f"{text}\n" * 6) for name, text in (("e", "x y z"), ("f", "u v"))
    )
    english.write_text("x y z\n\n" + "x y z\n" * 4)  # the second pair is left out, with its links
    pairs = read_pairs(english, other)
    lines = ["0-0 2-1", "9-9", "", "1-1-P 0-1", "2-0 2-0-P", "0-0-P"]
    if is_reversed:
        lines = [re.sub(r"(\d)-(\d)", r"\2-\1", line) for line in lines]
    path = written("links", "\n".join(lines))
    links = links_module.links_for(path, pairs, is_reversed)
    assert links.pairs.dtype == np.uint8
    assert [[tuple(map(int, link)) for link in links.of(row)] for row in range(5)] == [
        [(0, 0), (2, 1)], [], [(0, 1), (1, 1)], [(2, 0)], [(0, 0)],
    ]  # fmt: skip
    assert links.possible.tolist() == [False, False, False, True, False, True]
    for wrong, message in (
        ([*lines[:5], "0-0 2-2"], r"links, line 6: the link 2-2 leads out of the pair"),
        ([*lines[:2], "7-0", *lines[3:5]], "has 5 lines, the bitext has 6 pairs"),
        ([*lines[:2], "7-7", *lines[3:], "0-0"], "has 7 lines, the bitext has 6 pairs"),
    ):
        path.write_text("\n".join(wrong))
        with pytest.raises(InputError, match=message):
            links_module.links_for(path, pairs, is_reversed)


def test_packed_files_escapes_and_running_text(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"It&apos;s R&amp;D &amp;lt;\r\n"))
    (tmp_path / "b").write_text("C&apos; est\n")
    pairs = read_pairs(tmp_path / "a.gz", tmp_path / "b", BitextOptions(unescape=True))
    assert pairs.english.vocabulary.texts(1) == [b"it's", b"r&d", b"&lt;"]
    pairs = read_pairs(tmp_path / "a.gz", tmp_path / "b", BitextOptions("text", unescape=True))
    assert pairs.english.vocabulary.texts(1)[:2] == [b"it", b"'s"]


def test_a_running_text_line_of_two_sentences_is_one_side(written):
    english = written("a", "One. Two.\nThree.\n")
    pairs = read_pairs(english, written("b", "Eins. Zwei.\nDrei."), BitextOptions("text"))
    assert pairs.english.lengths.tolist() == [4, 2] == pairs.other.lengths.tolist()


def test_long_sentences_are_left_out(written):
    english = written("a", "x\n" + "w " * 100_000 + "\n" + "w " * 255 + "\ny\n")
    other = written("b", "x\nw\nw v\n" + "w " * 256 + "\n")
    pairs = read_pairs(english, other)
    assert pairs.counts.long == 2 and pairs.lines.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("english", "other", "message"),
    [
        ("a\nb\n", "c\n", r"x has 2 lines, .*y has 1: give two files in which each line"),
        ("a\nb\n", "a\nb\n", r"x and .*y hold the same text"),
        ("a\n\0b\n", "c\nd\n", r"x, line 2: holds a NUL character: remove it"),
        ("\n\n", "c\nd\n", r"no pair is left of 2 \(2 without English\): give files with text"),
        ("", "", r"no pair is left of 0 \(the files are empty\)"),
    ],
)
def test_files_that_make_no_bitext(written, english, other, message):
    with pytest.raises(InputError, match=message):
        read_pairs(written("x", english), written("y", other))


def test_other_files_that_make_no_bitext(sides, tmp_path):
    with pytest.raises(InputError, match=r"b\.en: is both sides of the bitext"):
        read_pairs(sides[0], sides[0])
    with pytest.raises(InputError, match="is a folder, wanted a file"):
        read_pairs(sides[0], tmp_path)
    with pytest.raises(InputError, match="standard input .* was named twice"):
        read_pairs("-", "-")
    (tmp_path / "latin").write_bytes(b"gut\nsch\xf6n\n")
    with pytest.raises(InputError, match=r"latin, line 2, byte 4: not UTF-8"):
        read_pairs(sides[0], tmp_path / "latin")


@pytest.mark.parametrize(
    ("what", "text", "message"),
    [
        ("links", "0-0\n", r"links has 1 line, the bitext has 6 pairs: give a line of links"),
        ("links", "0-0\n\n0-0 2-1\n\n\n\n", r"links, line 3: the link 2-1 leads out of the pair"),
        ("links", "0-0\n\n0-0 1\n\n\n\n", r"links, line 3: '1' is no link: write pairs"),
        ("links", "0-0\0\n\n\n\n\n\n", r"links, line 1: holds a NUL"),
        ("trees", "(S\n\n\n\n\n\n", r"trees, line 1: the tree is broken: .* missing"),
        ("trees", "\n", r"trees has 1 line, .*give a line of trees for every pair"),
        ("tags", "A\n", r"tags has 1 line, .*give a line of tags for every pair"),
    ],
)
def test_files_that_do_not_go_with_the_pairs(sides, written, tmp_path, what, text, message):
    given = {"links": written("good", LINKS), what: written(what, text)}
    with pytest.raises(InputError, match=message):
        build_bitext(*sides, tmp_path / "made", given=Given(**given))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("what", ["links", "trees", "tags"])
def test_a_folder_or_no_name_for_a_file_of_lines(sides, tmp_path, what, run, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).write_text("0-0\n" * 6)
        _, err = run("align", *sides, "-o", tmp_path / "made", f"--{what}", folder, status=1)
        assert "folder: is a folder, wanted a file: name one" in err
    monkeypatch.chdir(folder)
    _, err = run("align", *sides, "-o", tmp_path / "made", f"--{what}", "", status=1)
    assert "an empty text, wanted a path" in err
    _, err = run("align", *sides, "-o", tmp_path / "made", "--write-links", "", status=1)
    assert "an empty text, wanted a path" in err
    assert not (tmp_path / "made").exists()


def test_reversed_links(sides, written, tmp_path):
    links = written("links", "0-3\n\n\n\n\n\n")
    made = build_bitext(*sides, tmp_path / "made", given=Given(links, reversed_links=True))
    assert made.links_of(0) == [(3, 0)]
    with pytest.raises(InputError, match="line 1: the link 0-9 leads out"):
        build_bitext(
            *sides, tmp_path / "no",
            given=Given(written("l", "0-9\n\n\n\n\n\n"), reversed_links=True),
        )  # fmt: skip


def test_links_refuse_a_normaliser_that_drops_tokens(sides, tmp_path):
    options = BitextOptions(normaliser=Normaliser(drop_punctuation=True))
    with pytest.raises(ParameterError, match="a normaliser that drops tokens"):
        build_bitext(*sides, tmp_path / "made", options=options, given=Given(links=sides[0]))


def test_trees_may_be_written_as_the_penn_treebank_does(written, tmp_path):
    english, other = written("a", '( a ) "\n'), written("b", "x\n")
    trees = written("t", "(NP (: -LRB-) (X a) (: -RRB-) (`` ``))\n")
    made = build_bitext(
        english, other, tmp_path / "made", given=Given(written("l", "0-0\n"), trees)
    )
    assert made.parameters["trees"]["trees"] == 1
    assert len(made.trees.nodes(0)) == 5


def naive_links(text):
    """(pairs, possible, stops) of sound Pharaoh lines, by Python's own means."""
    pairs, possible, stops = [], [], []
    for line in text.splitlines():
        for piece in line.split():
            parts = piece.split("-")
            pairs.append([int(parts[0]), int(parts[1])])
            possible.append(len(parts) == 3)
        stops.append(len(pairs))
    return pairs, possible, stops


def test_links_are_parsed_and_written_as_the_twin_does():
    draw = np.random.default_rng(0)
    lines = [
        " ".join(
            f"{i}-{j}" + "-P" * bool(draw.integers(2)) for i, j in draw.integers(0, 255, (n, 2))
        )
        for n in draw.integers(0, 9, 50)
    ]
    for text in ("\n".join(lines), "\n".join(lines) + "\n", "\n", "", " 0-0\t1-1 \r\n"):
        pairs, possible, stops, fault = parse_links(frozen(np.frombuffer(text.encode(), np.uint8)))
        assert (pairs.tolist(), possible.tolist(), stops.tolist()) == naive_links(text)
        assert fault == -1
    links = parse_pharaoh("\n".join(lines).encode())
    for i in range(len(lines)):
        pairs = naive_links(lines[i])[0]
        assert links.of(i) == sorted({(a, b) for a, b in pairs})
    for factor, dtype in ((1, np.uint8), (1, np.uint32), (4_000_000, np.uint32)):
        pairs = links.pairs * factor
        written = format_links(
            frozen(pairs.astype(dtype)), frozen(links.starts.astype(np.uint64)),
            frozen(np.array([3, -1, 0])),
        ).tobytes().decode()  # fmt: skip
        assert written.split("\n") == [
            " ".join(f"{factor * i}-{factor * j}" for i, j in links.of(row)) if row >= 0 else ""
            for row in (3, -1, 0)
        ] + [""]


@pytest.mark.parametrize("piece", ["1", "-1", "1-", "a-b", "1-2x", "1-2-Q", "1--2", "1-2-PP"])
def test_what_is_no_link(piece):
    with pytest.raises(InputError, match="file, line 9: '" + piece):
        parse_pharaoh(f"0-0\n0-1 {piece} 2-2\n".encode(), "file", 8)


def test_a_link_is_possible_only_where_it_never_stands_without_its_mark():
    links = parse_pharaoh(b"0-0-P 0-0 1-1-P 1-1-P")
    assert links.pairs.tolist() == [[0, 0], [1, 1]] and links.possible.tolist() == [False, True]
