"""Files of lines that a stopped run goes on with: what is continued, refused, never read back."""

import os
import threading

import pytest

from distsim import CorpusIndex, InputError, SignatureTable
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.paraphrase.records import paraphrase_phrases
from distsim.storage import is_finished, resumable_lines, resumable_part

HEAD = b"# made so\n"
LINES = [b"one\n", b"two\n", b"three\n"]


def write(path, head=HEAD):
    """Write what is missing of LINES; returns how many were there already."""
    with resumable_lines(path, head) as out:
        done = out.done
        for line in LINES[done:]:
            out.write(line)
    return done


class Reader(threading.Thread):
    """Reads a FIFO to its end, as the program at the other end of a pipe does."""

    def __init__(self, path):
        super().__init__(daemon=True)
        os.mkfifo(path)
        self._path = path
        self.start()

    def run(self):
        with open(self._path, "rb") as file:
            self._found = file.read()

    def found(self):
        self.join(60)
        return self._found


def test_a_pipe_is_written_and_never_read(tmp_path):
    reader = Reader(tmp_path / "pipe")
    assert not is_finished(tmp_path / "pipe", HEAD)
    write(tmp_path / "pipe")
    assert reader.found() == HEAD + b"".join(LINES)
    assert os.listdir(tmp_path) == ["pipe"]
    for _ in range(2):
        assert write(tmp_path.joinpath("/dev/null")) == 0
    assert not os.path.lexists("/dev/null.part")


def test_standard_output(tmp_path, capfdbinary, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path.relative_to(tmp_path) / "-"
    assert write(path) == 0 and os.listdir(tmp_path) == []
    assert capfdbinary.readouterr().out == HEAD + b"".join(LINES)


def test_a_link_stays_and_its_file_is_written(tmp_path):
    """/dev/stdout, too, is one: it was replaced by a file."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/out")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "out").read_bytes() == HEAD + b"".join(LINES)
    assert is_finished(tmp_path / "link", HEAD)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link"]


def test_what_stands_where_the_part_should_is_not_touched(tmp_path):
    part, outside = tmp_path / "out.part", tmp_path / "outside"
    outside.write_bytes(b"mine")
    makers = (os.mkfifo, os.mkdir, lambda path: path.symlink_to(outside))
    for make in (*makers, lambda path: path.hardlink_to(outside)):
        make(part)
        with pytest.raises(InputError, match=r"out\.part: exists already: remove it"):
            write(tmp_path / "out")
        part.rmdir() if part.is_dir() else part.unlink()
    assert outside.read_bytes() == b"mine"
    for foreign in (b"mine", b"mine\n", HEAD[:3] + b"mine", b"\n"):
        part.write_bytes(foreign)
        with pytest.raises(InputError, match=r"out\.part, line 1: was begun with other settings"):
            write(tmp_path / "out")
        assert part.read_bytes() == foreign


@pytest.mark.parametrize("cut", [0, 1, len(HEAD) - 1, len(HEAD), len(HEAD) + 5])
def test_a_part_goes_on_wherever_it_was_cut(tmp_path, cut):
    whole = HEAD + b"".join(LINES)
    (tmp_path / "out.part").write_bytes(whole[:cut])
    assert write(tmp_path / "out") == (cut > len(HEAD) + 3)
    assert (tmp_path / "out").read_bytes() == whole
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(("cut", "done"), [(0, 0), (3, 0), (9, 0), (12, 1), (13, 1), (99, 2)])
def test_a_record_of_several_lines_is_written_again_where_it_was_the_last(tmp_path, cut, done):
    """Which lines are there is told, too, and what is appended stands behind them."""
    records = [b"1 a\n1 b\n", b"2 c\n", b"3 d\n3 e\n"]
    part = tmp_path / "out.part"
    part.write_bytes(HEAD + b"".join(records)[:cut])
    with resumable_part(tmp_path / "out", HEAD, lambda line: line[:1]) as out:
        assert out.done == done and list(out.lines()) == list(
            b"".join(records[:done]).splitlines(keepends=True)
        )
        for record in records[done:]:
            out.write(record)
        assert b"".join(out.lines()) == b"".join(records)
    assert part.read_bytes() == HEAD + b"".join(records)


def test_an_empty_file_is_not_finished(tmp_path):
    (tmp_path / "out").touch()  # as a shell makes it: > out
    assert not is_finished(tmp_path / "out", HEAD)
    write(tmp_path / "out")
    assert is_finished(tmp_path / "out", HEAD)
    with pytest.raises(InputError, match="out, line 1: was begun with other settings"):
        is_finished(tmp_path / "out", HEAD + b"x")


@pytest.mark.parametrize("name", ["out.gz", "out.zst", "out.xz", "out.bz2"])
def test_a_name_of_a_compressed_file_is_refused(tmp_path, name):
    """The file is written line by line, so that a stopped run goes on: it would be plain text."""
    with pytest.raises(InputError, match="would not be compressed .* does not end in"):
        write(tmp_path / name)
    assert not os.listdir(tmp_path)


def test_paraphrases_of_a_text_into_a_pipe(small_index, tmp_path):
    paraphraser = Paraphraser(small_index)
    phrases = {word: 1 for word in ["a0", "bé1", "nothing"]}
    report = paraphrase_phrases(paraphraser, phrases, tmp_path / "file")
    reader = Reader(tmp_path / "pipe")
    assert paraphrase_phrases(paraphraser, phrases, tmp_path / "pipe") == report
    assert reader.found() == (tmp_path / "file").read_bytes()


def test_paraphrases_go_on_with_the_same_text_and_table_alone(small_index, sentences, tmp_path):
    """An index of the same words in another order has the same counts; so has its table."""
    phrases = {"a0": 1}
    table = SignatureTable.build(small_index, tmp_path / "table")
    out = tmp_path / "out"
    paraphrase_phrases(Paraphraser(small_index, table=table), phrases, out)
    (tmp_path / "turned").write_text("".join(" ".join(s[::-1]) + "\n" for s in sentences))
    turned = CorpusIndex.build([tmp_path / "turned"], tmp_path / "other.index")
    assert turned.corpus == small_index.corpus
    other = SignatureTable.build(turned, tmp_path / "other")
    for index, of in ((turned, table), (small_index, other)):
        with pytest.raises(InputError, match="out, line 1: was begun with other settings"):
            paraphrase_phrases(Paraphraser(index, table=of), phrases, out)
    (tmp_path / "index").rename(tmp_path / "moved")  # the same text, from another place
    (tmp_path / "table").rename(tmp_path / "moved.table")
    moved = CorpusIndex.open(tmp_path / "moved")
    again = Paraphraser(moved, table=SignatureTable.open(tmp_path / "moved.table"))
    assert paraphrase_phrases(again, phrases, out).resumed == 1
