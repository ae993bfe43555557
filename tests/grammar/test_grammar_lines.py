"""Grammar files and phrase-table entries: bytes stay, faults are told, output is whole."""

import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from distsim.base.errors import InputError, ParameterError
from distsim.corpus.lines import read_line_blocks, read_lines, split_lines
from distsim.grammar.fields import (
    InvalidLines,
    LineFaultError,
    append_to_field,
    join_fields,
    replace_field,
    split_fields,
)
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.paraphrase.augment import read_phrase_table
from distsim.storage.files import open_output
from tests.conftest import SHARED

GRAMMARS = SHARED / "data" / "grammars"
needs_grammars = pytest.mark.skipif(not GRAMMARS.exists(), reason="needs ../shared/data/grammars")


@pytest.mark.parametrize("name", ["g.xz", "g.bz2"])
def test_compressions_that_are_not_written_are_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"would not be compressed .* ends in \.gz or \.zst"):
        open_output(tmp_path / name).__enter__()
    assert not list(tmp_path.iterdir())


def copied(source: Path, target: Path) -> None:
    with open_output(target) as out:
        for _, line in read_lines(source):
            out.write(line)


@needs_grammars
@pytest.mark.parametrize("name", sorted(p.name for p in GRAMMARS.glob("*.gz")))
def test_a_shipped_grammar_is_copied_byte_for_byte(name, tmp_path):
    given = gzip.decompress((GRAMMARS / name).read_bytes())
    copied(GRAMMARS / name, tmp_path / "plain")
    assert (tmp_path / "plain").read_bytes() == given
    if name.startswith("joshua.thrax"):
        copied(GRAMMARS / name, tmp_path / "packed.gz")
        assert gzip.decompress((tmp_path / "packed.gz").read_bytes()) == given


def entries_of(path, faulty=None):
    return read_phrase_table(path, PHRASE_TABLE.parse, faulty=faulty)


@needs_grammars
def test_every_entry_of_a_moses_table_is_written_as_it_was_read():
    n = 0
    for line, entry in entries_of(GRAMMARS / "joshua.moses.fr-en.rules.1.gz"):
        assert entry is not None and entry.line() == line
        assert len(entry.numbers()) == 4 and len(entry.counts) == 3
        n += 1
    assert n == 165161


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"a\n",
        b"a",
        b"a\r\nb\rc\r\n",
        b"\n\n x \n",
        b"\xff\n\x00\x1c\n",
        b"a\x0bb\x85c\n",
    ],
)
@pytest.mark.parametrize("block", [1, 2, 1 << 22])
def test_blocks_and_lines_lose_no_byte(text, block, tmp_path):
    (tmp_path / "g").write_bytes(text)
    blocks = list(read_line_blocks(tmp_path / "g", block))
    assert b"".join(b.text for b in blocks) == text
    lines = [line for b in blocks for line in split_lines(b.text)]
    assert lines == [line + b"\n" for line in text.split(b"\n")[:-1]] + [
        last for last in text.split(b"\n")[-1:] if last
    ]
    for b in blocks:
        assert b.first_line == 1 + text[: text.index(b.text)].count(b"\n") or text.count(b.text) > 1


def test_standard_input_and_output(monkeypatch, tmp_path):
    class Stream:
        buffer = io.BufferedReader(io.BytesIO(gzip.compress(b"a ||| b\n")))

    class Out:
        buffer = io.BytesIO()

    monkeypatch.setattr(sys, "stdin", Stream)
    monkeypatch.setattr(sys, "stdout", Out)
    with open_output("-") as out:
        for _, line in read_lines("-"):
            out.write(line)
    assert Out.buffer.getvalue() == b"a ||| b\n"


def test_a_broken_archive_names_the_last_whole_line(tmp_path):
    packed = gzip.compress(b"".join(b"line %d %d\n" % (i, i * i * 7919) for i in range(200_000)))
    (tmp_path / "g.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=r"g\.gz: the archive is cut short.*again \(line \d+ is"):
        for _ in read_line_blocks(tmp_path / "g.gz", 4096):
            pass


def test_an_interrupted_run_leaves_nothing(tmp_path):
    (tmp_path / "old").write_bytes(b"old\n")
    with pytest.raises(KeyboardInterrupt), open_output(tmp_path / "old") as out:
        out.write(b"new\n" * 1_000_000)
        raise KeyboardInterrupt
    assert (tmp_path / "old").read_bytes() == b"old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["old"]


def test_what_a_killed_writer_left_goes_and_nothing_else(tmp_path):
    def names():
        return sorted(path.name for path in tmp_path.iterdir())

    mine = [".a.b.7.unfinished", ".a.7.unfinished.mine", ".ab.7.unfinished", ".a.x.unfinished"]
    for name in (".a.7.unfinished", *mine):  # of a process that is no more
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / ".a.8.unfinished").symlink_to(tmp_path / mine[0])
    with open_output(tmp_path / "b") as other, open_output(tmp_path / "a") as out:
        other.write(b"b\n")
        out.write(b"a\n")
        with open_output(tmp_path / "b2"):
            assert f".a.{os.getpid()}.unfinished" in names()
    assert names() == sorted([*mine, ".a.8.unfinished", "a", "b", "b2"])
    assert (tmp_path / "a").read_bytes() == b"a\n" and (tmp_path / "b").read_bytes() == b"b\n"


def test_two_processes_write_the_same_output(tmp_path):
    with open_output(tmp_path / "a") as out:
        child = os.fork()
        if child == 0:
            with open_output(tmp_path / "a") as second:
                second.write(b"second\n")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        out.write(b"first\n")
    assert (tmp_path / "a").read_bytes() == b"first\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_gz_is_written_in_members_of_the_same_bytes_each_time(tmp_path):
    for name in ("a.gz", "b.gz", "none.gz"):
        with open_output(tmp_path / name) as out:
            if name != "none.gz":
                out.write(b"x ||| y\n")
                out.write_packed(out.pack(b"z\n"))
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"x ||| y\nz\n"
    assert gzip.decompress((tmp_path / "none.gz").read_bytes()) == b""


def test_outputs_that_cannot_be(tmp_path):
    with (
        pytest.raises(InputError, match="no such folder: create it"),
        open_output(tmp_path / "no" / "g"),
    ):
        pass
    with pytest.raises(InputError, match="is a folder"), open_output(tmp_path):
        pass
    with pytest.raises(InputError, match="is a folder, wanted a file"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (b"a ||| b |||\n", [b"a ", b" b ", b"\n"]),
        (b"a |||  ||| b", [b"a ", b"  ", b" b"]),
        (b"a ||| ||| b", [b"a ", b" ", b" b"]),
        (b"a|||b ||||| c\r\n", [b"a|||b ||||| c\r\n"]),
        (b"||| a |||\r\n", [b"", b" a ", b"\r\n"]),
    ],
)
def test_fields(line, fields):
    assert split_fields(line) == fields
    assert join_fields(fields) == line


def test_edited_fields():
    assert append_to_field(b" 1 2  \r\n", b"3") == b" 1 2 3  \r\n"
    assert append_to_field(b" ", b"3") == b" 3 "
    assert replace_field(b" 1 2 \n", b"x") == b" x \n"
    assert replace_field(b"\n", b"x") == b" x\n"
    assert replace_field(b"  ", b"x") == b" x "


OLD = b"de mantener el ||| leave the ||| ( ) (0) (1) ||| (1) (2) ||| 0.1 2.718\n"
NEW = b"de mantener el ||| leave the ||| 0.1 2.718 ||| 1-0 2-1 ||| 3 4 2 |||\n"


def test_both_layouts_of_an_entry():
    old, new = PHRASE_TABLE.parse(OLD), PHRASE_TABLE.parse(NEW)
    assert old.has_partners and not new.has_partners
    for entry, line in ((old, OLD), (new, NEW)):
        assert entry.line() == line
        assert entry.numbers() == [0.1, 2.718]
    assert old.counts == [] and new.counts == [b"3", b"4", b"2"]
    assert old.with_score(b"1").line() == OLD.replace(b"2.718", b"2.718 1")
    assert new.with_score(b"1", b"2").line() == NEW.replace(b"2.718", b"2.718 1 2")
    assert (
        old.with_source(b"quitter le").line()
        == b"quitter le ||| leave the ||| ( ) ( ) ||| ( ) ( ) ||| 0.1 2.718\n"
    )
    assert new.with_source(b"x").line() == b"x ||| leave the ||| 0.1 2.718 |||  ||| 3 4 2 |||\n"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"a ||| b\n", "2 fields"),
        (b"\n", "1 field separated"),
        (b" ||| b ||| 1\n", "source phrase is empty"),
        (b"a |||  ||| 1\n", "target phrase is empty"),
        (b"\xff ||| b ||| 1\n", "not UTF-8"),
    ],
)
def test_faulty_entries(line, fault, tmp_path):
    (tmp_path / "t").write_bytes(b"a ||| b ||| 1\n" + line + b"c ||| d ||| 1\n")
    with pytest.raises(InputError, match=rf"t, line 2: .*{fault}.*`on_error` keep"):
        list(entries_of(tmp_path / "t"))
    keep = InvalidLines(tmp_path / "t", "keep")
    found = list(entries_of(tmp_path / "t", keep))
    assert len(found) == 3
    assert found[1] == (line, None) and keep.kept == 1 and "line 2" in keep.shown[0]
    drop = InvalidLines(tmp_path / "t", "drop")
    assert [entry.source for _, entry in entries_of(tmp_path / "t", drop)] == [b"a", b"c"]
    assert drop.dropped == 1


def test_scores_that_are_no_numbers():
    with pytest.raises(LineFaultError, match="wanted numbers"):
        PHRASE_TABLE.parse(b"a ||| b ||| x\n").numbers()


def test_an_empty_file_and_a_wrong_policy(tmp_path):
    (tmp_path / "t").write_bytes(b"")
    with pytest.raises(InputError, match="t, line 1: the file is empty: check"):
        list(entries_of(tmp_path / "t"))
    assert list(entries_of(tmp_path / "t", InvalidLines(tmp_path / "t", "keep"))) == []
    with pytest.raises(ParameterError, match="choose one of stop, keep, drop"):
        InvalidLines("t", "maybe")  # type: ignore[arg-type]
