"""Text that an index has already: known again by its bytes, whatever its name or packing."""

import gzip
import json
import os
import threading

import numpy as np
import pytest

from distsim import PRESETS, CorpusIndex, IndexOptions, Selection, SignatureTable, storage
from distsim.base.errors import ArtifactError, InputError
from distsim.output.verification import find_faults


def bytes_of(folder):
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


@pytest.fixture
def texts(tmp_path):
    for name, text in (("a.txt", "one two\n"), ("b.txt", "three four five\n")):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def index(texts):
    return CorpusIndex.build(texts / "a.txt", texts / "index")


@pytest.mark.parametrize("how", ["same", "renamed", "packed", "marked", "folder", "pipe"])
def test_adding_what_is_there_changes_nothing(how, texts, index):
    again = texts / "a.txt"
    data = again.read_bytes()
    if how == "renamed":
        again = again.rename(texts / "other.txt")
    elif how == "packed":
        again = texts / "a.gz"
        again.write_bytes(gzip.compress(data))
    elif how == "marked":
        again.write_bytes(b"\xef\xbb\xbf" + data)
    elif how == "folder":
        (texts / "folder").mkdir()
        again = again.rename(texts / "folder" / "a.txt").parent
    elif how == "pipe":
        again = texts / "pipe"
        os.mkfifo(again)
        threading.Thread(target=lambda: again.write_bytes(data), daemon=True).start()
    before = bytes_of(index.path)
    grown = index.add(again)
    assert grown.report.added == 0
    assert [one.known_as for one in grown.report.repeated] == ["a.txt"]
    assert bytes_of(index.path) == before
    assert grown.count("one two") == 1


def test_new_files_are_added_beside_known_ones(texts, index):
    grown = index.add([texts / "a.txt", texts / "b.txt"])
    assert (grown.report.added, grown.count(["one", "three"]).tolist()) == (1, [1, 1])
    assert grown.add([texts / "a.txt", texts / "b.txt"]).report.added == 0
    twice = grown.add(texts / "b.txt", again=True)
    assert twice.count("three") == 2
    assert find_faults(index.path) == []


def test_two_files_of_one_text_in_one_call_are_both_read(texts):
    (texts / "copy.txt").write_bytes((texts / "a.txt").read_bytes())
    both = [texts / "a.txt", texts / "copy.txt"]
    built = CorpusIndex.build(both, texts / "built")
    assert built.count("one") == 2
    grown = CorpusIndex.build(texts / "b.txt", texts / "grown").add(both)
    assert grown.count("one") == 2
    assert grown.add(both).report.added == 0


def test_a_file_that_grew_is_not_counted_twice(texts, index):
    with open(texts / "a.txt", "a") as file:
        file.write("six\n")
    before = bytes_of(index.path)
    with pytest.raises(InputError, match=r"a\.txt: has grown: its first 8 bytes .*tail -c \+9"):
        index.add(texts / "a.txt")
    assert bytes_of(index.path) == before
    assert index.add(texts / "a.txt", again=True).count("one") == 2
    # Under another name it is another text, as far as anyone can tell.
    (texts / "c.txt").write_text("one two\nseven\n")
    assert index.add(texts / "c.txt").report.added == 1


def test_an_index_of_before_stays_readable_and_can_grow(texts, index):
    with storage.change(index.path, storage.INDEX) as writer:
        del writer.parameters["texts"]
    old = CorpusIndex.open(index.path)
    assert old.count("one") == 1
    grown = old.add(texts / "a.txt")  # nothing is known of what was there
    assert grown.count("one") == 2
    assert grown.parameters["texts"][0] is None
    assert grown.add(texts / "a.txt").report.added == 0


@pytest.mark.parametrize("kept", [[], ["x"], [[1, 2]], [["ab", 1.0]], "x", [None, None], 7])
def test_digests_that_cannot_be(kept, texts, index):
    with storage.change(index.path, storage.INDEX) as writer:
        writer.parameters["texts"] = kept
    with pytest.raises(ArtifactError, match="holds parameters that cannot be"):
        CorpusIndex.open(index.path).add(texts / "b.txt")


def test_the_program_says_so(texts, index, run, monkeypatch):
    monkeypatch.chdir(texts)
    _, err = run("index", "add", "index", "a.txt")
    assert err == (
        "a.txt: its text is in the index already\n"
        "nothing new: the index stays as it is (--again adds the text once more)\n"
    )
    _, err = run("index", "add", "index", "a.txt", "b.txt")
    assert "a.txt: its text is in the index already\n5 tokens, 5 words, 2 sent" in err
    _, err = run("index", "add", "index", "a.txt", "--again")
    assert err.startswith("7 tokens")


def test_digests_do_not_depend_on_the_number_of_jobs(texts):
    lines = "".join(f"w{i % 7} w{i}\n" for i in range(300_000))
    (texts / "long.txt").write_text(lines)
    found = []
    for jobs in (1, 3):
        index = CorpusIndex.build(
            [texts / "a.txt", texts / "long.txt"],
            texts / f"i{jobs}",
            options=IndexOptions(),
            jobs=jobs,
        )
        found.append((index.path / "manifest.json").read_bytes())
    assert found[0] == found[1]
    n_bytes = [one[1] for one in json.loads(found[0])["parameters"]["texts"]]
    assert n_bytes == [8, len(lines)]
    assert np.all(CorpusIndex.open(texts / "i1").count(["one", "w3"]) == [1, 42_857 + 1])


def test_an_index_is_replaced_only_on_request(texts, index, run):
    SignatureTable.build(index, recipe=PRESETS["thesis"], selection=Selection(min_count=1))
    before = bytes_of(index.path)
    with pytest.raises(ArtifactError, match=r"index: holds an artifact already: .*`force`"):
        CorpusIndex.build(texts / "b.txt", index.path)
    _, err = run("index", "build", texts / "b.txt", "-o", index.path, status=1)
    assert err.endswith("name another folder, or replace it with --force\n")
    assert bytes_of(index.path) == before
    run("index", "build", texts / "b.txt", "-o", index.path, "--force")
    assert CorpusIndex.open(index.path).count("three") == 1
    assert not (index.path / "signatures").exists()
    assert find_faults(index.path) == []


def test_a_table_of_another_text_is_never_used(texts, index):
    SignatureTable.build(index, recipe=PRESETS["thesis"], selection=Selection(min_count=1))
    index.add(texts / "b.txt")
    assert len(SignatureTable.open(index.path)) > 0  # of what the index held before it grew
    assert find_faults(index.path) == []
    other = CorpusIndex.build(texts / "b.txt", texts / "other")
    (index.path / "signatures").rename(other.path / "signatures")
    with pytest.raises(ArtifactError, match="was signed from another text than the index holds"):
        SignatureTable.open(other.path)
    assert "was signed from another text" in find_faults(other.path)[0]


def test_names_are_bytes(texts, run):
    name = os.fsdecode(b"caf\xe9\t.txt")
    (texts / "a.txt").rename(texts / name)
    index = CorpusIndex.build(texts / name, texts / "index")
    assert [line.source for line in index.concordance("one")] == [name]
    assert index.add(texts / name).report.repeated[0].known_as == name
    assert run("kwic", index.path, "one")[0] == "caf\\xe9\\t.txt:1\t\tone\ttwo\n"
    assert json.loads(run("kwic", index.path, "one", "--json")[0])["source"] == name
    assert find_faults(index.path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_refused_before_the_work(texts):
    (texts / "b.txt").chmod(0)
    with pytest.raises(InputError, match=r"b\.txt: cannot be read: change its permissions"):
        CorpusIndex.build([texts / "a.txt", texts / "b.txt"], texts / "index")


def test_text_that_does_not_look_as_its_format_says(texts, run):
    raw = "Well, he said: come; now? No, never! So, well, then.\n"
    (texts / "raw").write_text(raw)
    (texts / "moses").write_text(
        "don &apos;t say &quot; no &quot; , he didn &apos;t @-@ it &apos;s\n"
    )
    _, err = run("index", "build", texts / "raw", "-o", texts / "i1", "--format", "lines")
    assert "raw: looks untokenised (`Well,`)" in err and "--format text" in err
    assert (
        run("index", "build", texts / "raw", "-o", texts / "i2", "--format", "text")[1].count("\n")
        == 1
    )
    _, err = run("index", "build", texts / "moses", "-o", texts / "i3", "--format", "text")
    assert "moses: looks tokenised (`&apos;t` stands alone)" in err
    _, err = run("index", "build", texts / "moses", "-o", texts / "i4")
    assert "read as tokenised text, a sentence a line" in err and err.count("\n") == 2
    _, err = run("index", "build", texts / "raw", "-o", texts / "i6")
    assert "read as running text" in err and "untokenised" not in err
    (texts / "web").write_text(raw + "AT&T isn&#8217;t &lt;that&gt;; fish&nbsp;and chips.\n")
    _, err = run("index", "build", texts / "web", "-o", texts / "i7")
    assert "`&#8217;` stands for a character and is read as three tokens" in err
    with pytest.warns(UserWarning, match="raw: looks untokenised"):
        CorpusIndex.build(texts / "raw", texts / "i5")
