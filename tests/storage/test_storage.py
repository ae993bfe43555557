"""Artifacts: whole or not at all, checked when opened, changed in one step."""

import errno
import json
import os
import resource
from contextlib import suppress

import numpy as np
import pytest

from distsim import ArtifactError, CorpusIndex, ParameterError, SignatureTable, storage
from distsim.cluster.plan import save
from distsim.corpus.lines import read_lines
from distsim.output.verification import find_faults
from distsim.storage.files import raw_bytes
from distsim.storage.reading import are_starts


@pytest.fixture
def folder(tmp_path):
    with storage.create(tmp_path / "a", storage.SIGNATURES) as writer:
        writer.add("some", np.arange(20_000, dtype=np.uint32))
        stream = writer.stream("pieces", np.uint64, width=2)
        for i in range(5):
            stream.append(np.full((i, 2), i))
        writer.add("none", np.empty(0, np.float64))
        writer.parameters = {"made": "here"}
    return tmp_path / "a"


def rewrite_manifest(folder, **changes):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest.update(changes)
    manifest["checksum"] = storage.manifest.manifest_checksum(manifest)
    (folder / "manifest.json").write_text(storage.manifest.manifest_text(manifest))


def test_what_was_written_is_read(folder):
    artifact = storage.Artifact(folder)
    assert artifact.array("some").tolist() == list(range(20_000))
    assert artifact.array("pieces").tolist() == [[i, i] for i in range(5) for _ in range(i)]
    assert artifact.array("none").shape == (0,)
    assert artifact.parameters == {"made": "here"}
    assert "some" in artifact and "other" not in artifact
    assert artifact.damaged() == []
    with pytest.raises(ValueError, match="read-only"):
        artifact.array("some")[0] = 1
    with pytest.raises(ArtifactError, match="no array 'other'"):
        artifact.array("other")


def test_a_failed_build_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), storage.create(tmp_path / "a", storage.INDEX) as writer:
        writer.add("some", np.arange(3))
        writer.stream("open", np.uint8).append(np.arange(3))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_failed_change_leaves_the_old_state(folder):
    before = {f.name: f.read_bytes() for f in folder.iterdir()}
    with pytest.raises(KeyboardInterrupt), storage.change(folder, storage.SIGNATURES) as writer:
        writer.add("some", np.arange(3))
        raise KeyboardInterrupt
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == before


def test_a_change_keeps_what_it_does_not_touch_and_removes_what_it_replaces(folder):
    with storage.change(folder, storage.SIGNATURES) as writer:
        writer.add("some", np.arange(3))
        del writer.entries["pieces"]
    artifact = storage.Artifact(folder)
    assert artifact.array("some").tolist() == [0, 1, 2]
    assert "pieces" not in artifact and "none" in artifact
    assert len(list(folder.iterdir())) == 3


def test_readers_keep_the_state_that_they_opened(folder):
    reader = storage.Artifact(folder)
    with storage.change(folder, storage.SIGNATURES) as writer:
        writer.add("some", np.arange(3))
    assert reader.array("some").size == 20_000


def leave_behind(folder):
    """What a killed writer leaves: a file in the making, and a finished array."""
    (folder / ".some.distsim-part").write_bytes(b"half")
    checksum = storage.checksum_of_array(np.arange(5))
    np.arange(5).tofile(folder / f"old.{checksum[:12]}.bin")


def put_in(folder):
    """Put a user's own files beside ours; return what they are."""
    own = ("mine.bin", "mine.part", "notes.0123456789ab.bin", "manifest.json.part", "old.bin")
    for name in own:
        (folder / name).write_bytes(b"precious")
    return sorted(own)


def test_creating_again_replaces_and_cleans(folder):
    leave_behind(folder)
    with storage.create(folder, storage.SIGNATURES) as writer:
        writer.add("only", np.arange(3))
    names = sorted(f.name for f in folder.iterdir())
    assert len(names) == 2 and names[0] == "manifest.json" and names[1].startswith("only.")


def test_a_users_own_files_stay(folder):
    own = put_in(folder)
    leave_behind(folder)
    with storage.change(folder, storage.SIGNATURES) as writer:
        writer.add("some", np.arange(3))
    with storage.create(folder, storage.SIGNATURES) as writer:
        writer.add("only", np.arange(3))
    with pytest.raises(RuntimeError), storage.change(folder, storage.SIGNATURES) as writer:
        writer.add("some", np.arange(3))
        raise RuntimeError
    names = {f.name for f in folder.iterdir()}
    assert names == {
        *own,
        "manifest.json",
        storage.Artifact(folder).manifest["arrays"]["only"]["file"],
    }
    storage.remove_artifact(folder)
    assert sorted(f.name for f in folder.iterdir()) == own


def test_leavings_of_a_killed_build_are_cleaned(tmp_path):
    unfinished = tmp_path / ".a.unfinished"
    unfinished.mkdir()
    leave_behind(unfinished)
    with storage.create(tmp_path / "a", storage.SIGNATURES) as writer:
        writer.add("only", np.arange(3))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a"]
    assert len(list((tmp_path / "a").iterdir())) == 2
    unfinished = tmp_path / ".b.unfinished"
    unfinished.mkdir()
    own = put_in(unfinished)
    with pytest.raises(ArtifactError, match="unfinished: holds files that are not ours: move"):
        storage.create(tmp_path / "b", storage.SIGNATURES).__enter__()
    assert sorted(f.name for f in unfinished.iterdir()) == own


def test_an_artifact_that_was_complete_but_not_in_its_place_is_forgotten(tmp_path):
    write_small(tmp_path / ".a.unfinished")  # as a writer leaves it that is killed at its last step
    write_small(tmp_path / "a")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert storage.Artifact(tmp_path / "a").damaged() == []


def write_small(path):
    with storage.create(path, storage.SIGNATURES) as writer:
        writer.add("only", np.arange(3))


@pytest.mark.parametrize("place", ["folder", "link", "dot", "lost+found", "leavings"])
def test_an_empty_folder_is_a_fine_target(place, tmp_path, monkeypatch):
    """As the mount point of a container's volume, which can be neither removed nor renamed."""
    real = tmp_path / "real"
    real.mkdir()
    inode = real.stat().st_ino
    path = real
    if place == "link":
        path = tmp_path / "link"
        path.symlink_to(real)
    elif place == "dot":
        monkeypatch.chdir(real)
        path = "."
    elif place == "lost+found":
        (real / place).mkdir()
    elif place == "leavings":
        leave_behind(real)
    with pytest.raises(RuntimeError), storage.create(path, storage.SIGNATURES) as writer:
        writer.add("only", np.arange(4))
        raise RuntimeError
    assert [f.name for f in real.iterdir() if f.name != place] == []
    write_small(path)
    assert real.stat().st_ino == inode
    assert storage.Artifact(path).array("only").tolist() == [0, 1, 2]
    assert len([f for f in real.iterdir() if f.name != place]) == 2


def test_links_are_not_followed_below_what_the_user_named(tmp_path, folder):
    outside = tmp_path / "outside"
    outside.mkdir()
    own = put_in(outside)
    leave_behind(outside)
    before = sorted(f.name for f in outside.iterdir())
    (tmp_path / ".new.unfinished").symlink_to(outside)
    with pytest.raises(ArtifactError, match=r"\.new\.unfinished: exists already: remove it"):
        write_small(tmp_path / "new")
    assert sorted(f.name for f in outside.iterdir()) == before and set(own) < set(before)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(
        ArtifactError, match="dangling: is a link to .*nowhere, which does not exist"
    ):
        write_small(tmp_path / "dangling")
    (folder / ".only.distsim-part").symlink_to(tmp_path / "made")
    with pytest.raises(ArtifactError, match=r"\.only\.distsim-part: exists already: remove it"):
        write_small(folder)
    assert not (tmp_path / "made").exists()
    (folder / "signatures").symlink_to(outside)
    with pytest.raises(
        ArtifactError, match="signatures: is a link, and artifacts hold none: remove"
    ):
        write_small(folder / "signatures")


def test_artifacts_hold_no_links(tmp_path, folder):
    for file in list(folder.iterdir()):
        moved = file.rename(tmp_path / file.name)
        file.symlink_to(moved)
        with pytest.raises(ArtifactError, match=f"{file.name}: is no file but a link or the like"):
            storage.Artifact(folder)
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(ArtifactError, match=f"{file.name}: is no file but a link or the like"):
            storage.Artifact(folder)
        file.unlink()
        moved.rename(file)
    assert storage.Artifact(folder).damaged() == []


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_manifests_hold_no_number_that_is_none(folder, number):
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["parameters"]["counts"] = {"tokens": float(number)}
    manifest["checksum"] = storage.manifest.manifest_checksum(manifest)
    file.write_text(storage.manifest.manifest_text(manifest))
    with pytest.raises(ArtifactError, match=r"manifest\.json: is damaged"):
        storage.Artifact(folder)


@pytest.mark.parametrize("number", [1.0, 10**30, -1, True, None, "1", 10**500])
@pytest.mark.parametrize("name", ["shards", "tokens", "size", "shape", "version"])
def test_counts_are_whole_numbers(small_index, name, number):
    manifest = json.loads((small_index.path / "manifest.json").read_text())
    if name == "version":
        manifest["version"] = number
    elif name == "shards":
        manifest["parameters"]["shards"] = number
    elif name == "tokens":
        manifest["parameters"]["counts"]["tokens"] = number
    else:
        entry = manifest["arrays"]["sources"]
        entry[name] = [number] if name == "shape" else number
    rewrite_manifest(small_index.path, **manifest)
    with pytest.raises(ArtifactError):
        CorpusIndex.open(small_index.path)


def test_one_writer_at_a_time(tmp_path, folder):
    message = "another process is writing here: wait"
    with storage.create(tmp_path / "new", storage.SIGNATURES):
        with pytest.raises(ArtifactError, match=message):
            storage.create(tmp_path / "new", storage.SIGNATURES).__enter__()
    with storage.change(folder, storage.SIGNATURES):
        with pytest.raises(ArtifactError, match=message):
            storage.change(folder, storage.SIGNATURES).__enter__()


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        with storage.create(tmp_path / name, storage.INDEX) as writer:
            writer.add("x", np.arange(9))
            writer.add("y", np.arange(9.0))
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_an_empty_path_is_not_the_folder_where_one_stands(folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir())
    for act in (
        storage.Artifact,
        lambda path: storage.create(path, storage.INDEX).__enter__(),
        storage.require_free,
    ):
        with pytest.raises(ParameterError, match="path: is an empty text"):
            act("")
    assert sorted(os.listdir()) == before


def test_places_that_hold_no_artifact(tmp_path):
    with pytest.raises(ArtifactError, match=r"nowhere: no such folder: check the path"):
        storage.Artifact(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError, match=r"file: is a file, wanted the folder"):
        storage.Artifact(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArtifactError, match=r"has no manifest\.json: an unfinished build .* again"):
        storage.Artifact(tmp_path / "empty")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(ArtifactError, match="an unfinished build or no artifact"):
        storage.create(tmp_path / "mine", storage.INDEX).__enter__()
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
    with pytest.raises(ArtifactError, match="no such folder: create it first"):
        storage.create(tmp_path / "a" / "b", storage.INDEX).__enter__()


def test_another_kind(folder, small_index):
    with pytest.raises(ArtifactError, match="holds a signature table, wanted an index: name"):
        CorpusIndex.open(folder)
    with pytest.raises(ArtifactError, match="holds a signature table, wanted an index"):
        storage.create(folder, storage.INDEX).__enter__()
    with pytest.raises(ArtifactError, match="holds an index, wanted a signature table"):
        storage.Artifact(small_index.path, storage.SIGNATURES)
    rewrite_manifest(folder, kind="sculpture")
    with pytest.raises(ArtifactError, match="'sculpture', a kind .* upgrade distsim"):
        storage.Artifact(folder)


def test_other_versions(folder):
    rewrite_manifest(folder, version=99)
    with pytest.raises(ArtifactError, match=r"version 99, this distsim reads up to \d+: upgrade"):
        SignatureTable.open(folder)
    rewrite_manifest(folder, version=0)
    with pytest.raises(ArtifactError, match=r"version 0, this distsim reads from \d+ on: build"):
        SignatureTable.open(folder)


def test_a_truncated_or_missing_array(folder):
    file = next(folder.glob("some.*"))
    with open(file, "r+b") as stream:
        stream.truncate(79_999)
    with pytest.raises(ArtifactError, match=r"some\..*: 79,999 bytes, wanted 80,000: .* restore"):
        storage.Artifact(folder)
    file.unlink()
    with pytest.raises(ArtifactError, match=r"some\..* cannot be opened .* restore the file"):
        storage.Artifact(folder)


def test_a_damaged_manifest(folder):
    file = folder / "manifest.json"
    whole = file.read_bytes()
    for i in range(0, len(whole), 7):
        file.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        with pytest.raises(ArtifactError, match=r"manifest\.json: is damaged|upgrade distsim"):
            storage.Artifact(folder)


def test_verify_finds_any_flipped_byte(alice_index, tmp_path):
    import shutil

    draw = np.random.default_rng(1)
    copy = tmp_path / "copy"
    shutil.copytree(alice_index.path, copy)
    assert find_faults(copy) == []
    files = [f for f in sorted(copy.rglob("*")) if f.is_file() and f.stat().st_size]
    for file in files:
        whole = file.read_bytes()
        at = int(draw.integers(len(whole)))
        file.write_bytes(
            whole[:at] + bytes([whole[at] ^ int(draw.integers(1, 256))]) + whole[at + 1 :]
        )
        try:
            assert find_faults(copy)
        except ArtifactError:
            assert file.name == "manifest.json"
        file.write_bytes(whole)
    assert find_faults(copy) == []


def test_verify_finds_arrays_that_contradict_each_other(small_index):
    with storage.change(small_index.path, storage.INDEX) as writer:
        suffixes = writer.read("shard-0/suffixes").copy()
        suffixes[[5, 50]] = suffixes[[50, 5]]
        writer.add("shard-0/suffixes", suffixes)
    assert find_faults(small_index.path) == ["shard 0: the suffix array is not in order"]
    with storage.change(small_index.path, storage.INDEX) as writer:
        suffixes[7] = suffixes[8]
        writer.add("shard-0/suffixes", suffixes)
    assert "shard 0: the suffix array is no permutation" in find_faults(small_index.path)[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        storage.create(tmp_path / "a", storage.INDEX).__enter__()


def test_scratch_of_a_killed_writer_goes(tmp_path, folder):
    kept = folder / ".abc.distsim-scratch"
    kept.mkdir()
    (kept / "tokens").write_bytes(b"x")
    (tmp_path / ".new.unfinished").mkdir()
    kept.rename(tmp_path / ".new.unfinished" / kept.name)
    with storage.create(tmp_path / "new", storage.SIGNATURES) as writer:
        with storage.scratch_folder(writer.folder) as scratch:
            (scratch / "x").write_bytes(b"x")
        writer.add("only", np.arange(3))
    assert len(list((tmp_path / "new").iterdir())) == 2


def test_scratch_goes_when_the_next_is_made_but_not_that_of_the_living(tmp_path):
    left, mine = tmp_path / ".abc.distsim-scratch", tmp_path / "abc.distsim-scratch"
    for folder in (left, mine):
        folder.mkdir()
        (folder / "x").write_bytes(b"x")
    (tmp_path / ".link.distsim-scratch").symlink_to(mine)
    with storage.scratch_folder(tmp_path) as one, storage.scratch_folder(tmp_path) as two:
        assert one != two and one.is_dir() and two.is_dir() and not left.exists()
        (one / "x").write_bytes(b"x")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".link.distsim-scratch", mine.name]
    assert (mine / "x").exists()


def refused_and_nothing_left(folder):
    with (
        pytest.raises(OSError, match="Too many open files"),
        storage.create(folder / "x.index", storage.INDEX),
    ):
        pass
    assert list(folder.iterdir()) == []


def test_nothing_is_left_where_a_folder_cannot_be_locked(tmp_path, monkeypatch):
    """A process without a descriptor left can make the hidden folder, but not open it."""
    opened = os.open

    def open_no_folder(path, flags, *more, **named):
        if flags & os.O_DIRECTORY:
            raise OSError(errno.EMFILE, "Too many open files", str(path))
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", open_no_folder)
    refused_and_nothing_left(tmp_path)


def test_nothing_is_left_where_a_folder_cannot_be_listed(tmp_path, monkeypatch):
    def refuse(path):
        raise OSError(errno.EMFILE, "Too many open files", str(path))

    monkeypatch.setattr("distsim.storage.writing._clear", lambda path, **given: refuse(path))
    refused_and_nothing_left(tmp_path)


def test_nothing_is_left_where_descriptors_run_out(small_index, tmp_path):
    """What is open when the last one is taken stays open while the folder is cleared."""
    taken = []
    before = os.listdir(tmp_path)

    def take_all():
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        for path, write in ((tmp_path / "new", storage.create), (small_index.path, storage.change)):
            with (
                pytest.raises(OSError, match="Too many open files"),
                write(path, storage.INDEX) as writer,
            ):
                writer.add("of_mine", np.arange(3))
                take_all()
                writer.add("more", np.arange(3))
            while taken:
                os.close(taken.pop())
        with pytest.raises(OSError, match="Too many"), storage.scratch_folder(tmp_path) as folder:
            (folder / "inside").mkdir()
            (folder / "inside" / "x").write_bytes(b"x")
            take_all()
            (folder / "y").write_bytes(b"y")
    finally:
        while taken:
            os.close(taken.pop())
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert os.listdir(tmp_path) == before
    assert not [name for name in os.listdir(small_index.path) if "of_mine" in name]


def test_arrays_are_written_as_numpy_writes_them_and_a_full_disk_is_told(tmp_path):
    values = np.arange(12, dtype=np.uint32).reshape(3, 4)
    for array in (values, values.T, np.empty(0, np.float32)):
        save(tmp_path / "ours.npy", array)
        np.save(tmp_path / "numpy.npy", np.ascontiguousarray(array))
        assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "numpy.npy").read_bytes()
    with (
        pytest.raises(OSError, match="No space left on device"),
        open("/dev/full", "wb", buffering=0) as full,
    ):
        full.write(raw_bytes(values))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("lines", [0, 3, 200_000])
def test_compressed_output_is_read_back(tmp_path, suffix, lines):
    path = tmp_path / f"rules{suffix}"
    written = [f"[X] ||| a ||| {n}\n".encode() for n in range(lines)]
    with storage.open_output(path) as out:
        for line in written:
            out.write(line)
    assert path.read_bytes()[:2] == {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5"}[suffix]
    assert [line.rstrip() for _, line in read_lines(path)] == [one.rstrip() for one in written]


@pytest.mark.parametrize(
    ("starts", "n_values", "n_rows", "expected"),
    [
        ([0, 2, 2, 5], 5, 3, True),
        ([0, 2, 2, 5], 5, None, True),
        ([0], 0, 0, True),
        ([], 0, None, False),
        ([0, 2, 5], 5, 3, False),
        ([1, 2, 5], 5, 2, False),
        ([0, 2, 4], 5, 2, False),
        ([0, 3, 2, 5], 5, 3, False),
    ],
)
def test_starts_cut_all_values_into_rows(starts, n_values, n_rows, expected):
    assert are_starts(np.array(starts, np.uint64), n_values, n_rows) is expected
