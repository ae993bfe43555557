"""Files -> tokens: readers, archives, encodings, normaliser, sentence splitting."""

import bz2
import gzip
import lzma
import os
import threading
import unicodedata
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim.base.errors import InputError, ParameterError
from distsim.corpus import lines
from distsim.corpus.blocks import read_blocks
from distsim.corpus.decompression import DEFAULT_UNPACK_LIMIT
from distsim.corpus.lines import read_line_blocks, read_text_lines
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.query import split_phrase
from distsim.corpus.sources import find_sources, open_source, set_unpack_limit, spooled
from distsim.corpus.tokeniser import doubted_format, tokens_of
from distsim.indexes.build import IndexOptions
from distsim.indexes.corpus_index import CorpusIndex

TEXT = "the cat sat\nöl und 中文\n\nend without newline".encode()
PACKED = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def read(path, block_bytes=8) -> bytes:
    return b"".join(block.text for block in read_blocks(find_sources([path]), block_bytes))


@pytest.mark.parametrize("kind", PACKED)
def test_archives_are_told_by_their_bytes(tmp_path, kind):
    file = tmp_path / "corpus.anything"
    file.write_bytes(PACKED[kind](TEXT))
    assert read(file) == TEXT


@pytest.mark.parametrize("kind", [k for k in PACKED if k != "plain"])
def test_archives_of_several_members(tmp_path, kind):
    file = tmp_path / "corpus"
    file.write_bytes(PACKED[kind](TEXT) + PACKED[kind](b"\nmore\n"))
    assert read(file) == TEXT + b"\nmore\n"


@pytest.mark.parametrize("kind", [k for k in PACKED if k != "plain"])
def test_an_archive_cut_short_is_an_error(tmp_path, kind):
    file = tmp_path / "short"
    data = PACKED[kind](TEXT * 2000)
    file.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(InputError, match=r"short: the archive is cut short: fetch"):
        read(file, 1 << 20)


@pytest.mark.parametrize("kind", [k for k in PACKED if k != "plain"])
def test_a_damaged_archive_is_an_error(tmp_path, kind):
    file = tmp_path / "bad"
    data = bytearray(PACKED[kind](bytes(range(32, 127)) * 400))
    for i in range(12, len(data) - 2, 7):
        data[i] ^= 0x5A
    file.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"bad: the archive is (damaged|cut short)"):
        read(file, 1 << 20)


def test_blocks_hold_whole_lines_with_their_numbers(tmp_path):
    file = tmp_path / "corpus"
    file.write_bytes(b"\xef\xbb\xbfone\ntwo two two two\n\nthree\r\nfour")
    blocks = list(read_blocks(find_sources([file]), 7))
    assert b"".join(b.text for b in blocks) == b"one\ntwo two two two\n\nthree\r\nfour"
    line = 1
    for block in blocks:
        assert block.first_line == line
        line += block.text.count(b"\n")
        assert block.text.endswith(b"\n") or block is blocks[-1]


def test_invalid_utf8_names_file_line_and_byte(tmp_path):
    file = tmp_path / "latin1.txt"
    file.write_bytes("fine\nna\nalso fine caf\xe9 here\n".encode("latin-1"))
    with pytest.raises(
        InputError, match=r"latin1\.txt, line 3, byte 14: not UTF-8 .*0xe9.*convert"
    ):
        read(file)


def test_folders_are_read_by_name_without_hidden_files(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("b/2.txt", "a.txt", "b/1.txt", ".hidden", "b/.DS_Store"):
        (tmp_path / name).write_text("x\n")
    assert [s.name for s in find_sources([tmp_path])] == ["a.txt", "b/1.txt", "b/2.txt"]


def test_missing_and_empty_places(tmp_path):
    with pytest.raises(InputError, match=r"nowhere: no such file or folder: check the path"):
        find_sources([tmp_path / "nowhere"])
    with pytest.raises(InputError, match=r"holds no files: name one"):
        find_sources([tmp_path])
    with pytest.raises(InputError, match="standard input .* twice"):
        find_sources(["-", "-"])


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_normalising_a_line_is_normalising_its_tokens(line):
    whole = unicodedata.normalize("NFC", unicodedata.normalize("NFC", line).lower())
    normaliser = Normaliser()
    assert [normaliser.token(token) for token in line.split()] == whole.split()


@given(st.lists(st.text(max_size=8)), st.booleans(), st.booleans(), st.booleans())
def test_many_tokens_are_normalised_as_each(texts, lower, fold_numbers, drop_digits):
    normaliser = Normaliser(lower=lower, fold_numbers=fold_numbers, drop_digits=drop_digits)
    tokens = [text.encode(errors="replace") for text in texts]
    assert normaliser.tokens(tokens) == [normaliser.token(t.decode()).encode() for t in tokens]


def test_normaliser_options():
    assert Normaliser(lower=False).token("ÀB") == "ÀB"
    assert Normaliser(fold_numbers=True).token("a1٣-29") == "a00-00"
    drops = Normaliser(drop_punctuation=True, drop_digits=True)
    assert [drops.token(t) for t in ("--", "3.5", "b2b", "don't", "№")] == [
        "",
        "",
        "b2b",
        "don't",
        "",
    ]
    assert Normaliser.from_manifest(drops.manifest()) == drops


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't", "don 't"),
        ("the king's men", "the king 's men"),
        ("l'homme qu’elle", "l' homme qu’ elle"),
        ("rock'n'roll", "rock'n'roll"),
        ("U.S. e.g. J. Smith", "U.S. e.g. J. Smith"),
        ("Mr. Smith etc.", "Mr. Smith etc."),
        ("3.14 1,000,000 1914-1918.", "3.14 1,000,000 1914-1918 ."),
        ("well-known (sic)...", "well-known ( sic ) ..."),
        ("a--b", "a -- b"),
        ("wikipedia.org", "wikipedia.org"),
        ("end.Next", "end . Next"),
        ("中文 かな", "中 文 か な"),
        ("naïve café", "naïve café"),
        ("$5 50%", "$ 5 50 %"),
    ],
)
def test_running_text(text, tokens):
    assert tokens_of(text, "text") == tokens.split()


def test_split_phrase_leaves_known_pieces_whole():
    def known(piece):
        return piece in ("don't", "'s")

    assert split_phrase("DON'T king's 's", Normaliser(), known) == ["don't", "king", "'s", "'s"]
    escaped = "don&apos;t king &apos;s -LRB- R&amp;D"
    wanted = ["don't", "king", "'s", "(", *tokens_of("r&d", "text")]
    assert split_phrase(escaped, Normaliser(), known) == wanted
    assert split_phrase("&apos;s", Normaliser(), lambda piece: piece == "&apos;s") == ["&apos;s"]
    with pytest.raises(ParameterError, match="the phrase is empty: give at least one word"):
        split_phrase(" \u2003", Normaliser(), known)


@pytest.mark.parametrize("first", PACKED)
@pytest.mark.parametrize("second", [k for k in PACKED if k != "plain"])
def test_archives_of_several_packings_are_read_to_the_last_byte(tmp_path, first, second):
    file = tmp_path / "corpus"
    if first == "plain":
        first = second
    file.write_bytes(PACKED[first](TEXT) + PACKED[second](b"\nmore\n"))
    assert read(file) == TEXT + b"\nmore\n"
    file.write_bytes(PACKED[first](TEXT) + PACKED[second](b"\nmore\n") + bytes(1000))
    assert read(file) == TEXT + b"\nmore\n"
    for behind in (b"x", b"\0\0x", b"no archive"):
        file.write_bytes(PACKED[first](TEXT) + behind)
        with pytest.raises(InputError, match=r"corpus: the archive is damaged \(what follows its"):
            read(file)


def test_a_zstd_frame_that_is_to_be_skipped(tmp_path):
    skipped = b"\x5a\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"skipped"
    packed = PACKED["zst"](TEXT)
    (tmp_path / "corpus").write_bytes(skipped + packed + skipped + packed)
    assert read(tmp_path / "corpus") == TEXT * 2


@pytest.mark.parametrize("kind", PACKED)
def test_a_byte_order_mark_is_no_text(tmp_path, kind):
    file = tmp_path / "corpus"
    for text in (b"\xef\xbb\xbfone\n", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbfx"):
        file.write_bytes(PACKED[kind](text))
        read_back = b"".join(block.text for block in read_line_blocks(file))
        assert read_back == text.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize("kind", PACKED)
def test_a_pipe_that_gives_byte_after_byte(tmp_path, kind):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb", buffering=0) as file:
            for byte in PACKED[kind](b"\xef\xbb\xbf" + TEXT):
                file.write(bytes([byte]))

    threading.Thread(target=write, daemon=True).start()
    assert read(pipe) == TEXT


def test_what_unpacks_to_much_more_than_any_text_is_refused(tmp_path):
    zeros = bytes(1 << 20)
    pack = zstandard.ZstdCompressor().compressobj()
    file = tmp_path / "bomb"
    file.write_bytes(b"".join(pack.compress(zeros) for _ in range(110)) + pack.flush())
    wanted = r"bomb: unpacks to more than 1,000 times its size and more than 100 MB.*--unpack-limit"
    with pytest.raises(InputError, match=wanted), open_source(find_sources([file])[0]) as stream:
        while stream.read(1 << 20):
            pass
    set_unpack_limit(1 << 30)
    try:
        with open_source(find_sources([file])[0]) as stream:
            assert sum(map(len, iter(lambda: stream.read(1 << 20), b""))) == 110 << 20
    finally:
        set_unpack_limit(DEFAULT_UNPACK_LIMIT)


@pytest.mark.parametrize("reader", [read, lambda file: list(read_line_blocks(file))])
def test_a_line_that_is_none(tmp_path, monkeypatch, reader):
    monkeypatch.setattr(lines, "LINE_BYTES", 3 << 20)
    (tmp_path / "t").write_bytes(b"a\nb\n" + b"c" * (4 << 20) + b"\n")
    with pytest.raises(InputError, match=r"t, line 3: is longer than 3 MB: is it text\? break it"):
        reader(tmp_path / "t")


def test_plain_text_may_have_longer_lines_than_other_formats(tmp_path):
    """A book in one line is indexed; a list of phrases or a grammar with such a line is none."""
    (tmp_path / "t").write_bytes(b"a b " * (lines.LINE_BYTES // 2) + b"\n")
    options = IndexOptions(text_format="lines")
    index = CorpusIndex.build([tmp_path / "t"], tmp_path / "x.index", options=options, jobs=1)
    assert index.count("b a") == lines.LINE_BYTES // 2 - 1
    assert sum(1 for _ in read_text_lines(tmp_path / "t")) == 1
    with pytest.raises(InputError, match=r"t, line 1: is longer than 4 MB: is it text\? break it"):
        list(read_line_blocks(tmp_path / "t"))


@pytest.mark.parametrize("kind", PACKED)
def test_spooled_text_can_be_read_twice(tmp_path, kind):
    (tmp_path / "t").write_bytes(b"x\n")
    with spooled(tmp_path / "t") as path:
        assert path == tmp_path / "t"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_bytes(PACKED[kind](TEXT)), daemon=True).start()
    with spooled(pipe) as path:
        assert read(path) == read(path) == TEXT
    assert not Path(path).exists()


def test_standard_input_is_read_but_once(monkeypatch):
    read_end, write_end = os.pipe()
    os.write(write_end, TEXT)
    os.close(write_end)
    monkeypatch.setattr("sys.stdin", os.fdopen(read_end))
    assert read("-") == TEXT
    with pytest.raises(InputError, match="standard input: is closed: give it something to read"):
        read("-")


def test_scripts_without_spaces_ask_for_text_that_is_cut():
    for text in ("ภาษาไทยไม่มีช่องว่าง", "ພາສາລາວ", "မြန်မာဘာသာ", "ភាសាខ្មែរ"):
        assert "cut the text into words first" in doubted_format(text.encode(), "text")
        cut_text = " ".join(text[i : i + 6] for i in range(0, len(text), 6))
        assert doubted_format(cut_text.encode(), "lines") == ""
        assert "cut the text into words first" in doubted_format((text * 3).encode(), "lines")
    for text in ("中文没有空格", "日本語です", "the word ไทย in an English sentence, once", ""):
        assert doubted_format(text.encode(), "text") == doubted_format(text.encode(), "lines") == ""
