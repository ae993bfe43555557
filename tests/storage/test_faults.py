"""What is left after a kill, a flipped byte, a full disk; the long runs are tests/faults."""

import errno
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile
from numba.core.registry import cpu_target

from distsim import ArtifactError, CorpusIndex, IndexOptions, Recipe, SignatureTable, storage
from distsim.base.errors import Interrupted, ParameterError
from distsim.base.parallel import interruptible
from distsim.cli import main as program
from distsim.cli import start
from distsim.contexts.ngram import NgramCounter
from distsim.contexts.weights import Weighting
from distsim.indexes import build
from distsim.kernels import compiled, compiling, suffixes
from distsim.kernels.compiled import frozen
from distsim.output.verification import find_faults
from tests.faults.commands import WRITING, in_folder, write_texts
from tests.faults.flips import HEAVY, LIGHT, damage, flips_of, mended
from tests.faults.frame import PROJECT, forked, renew, run_here, snapshot
from tests.faults.writing import dies_at


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_texts(folder)
    return folder


@pytest.fixture
def index(corpus: Path, tmp_path: Path) -> Path:
    options = IndexOptions("text", shard_tokens=800)
    opened = CorpusIndex.build(
        [corpus / "a.txt", corpus / "b.txt"], tmp_path / "x.index", options=options
    )
    SignatureTable.build(opened, recipe=Recipe())
    return tmp_path / "x.index"


def in_child(act: Callable[[], object]) -> tuple[int, str]:
    """Run act in a forked child; return its exit status and what it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        sys.stderr = open(writer, "w")  # noqa: SIM115 (the child's for good)
        status = 0
        try:
            act()
        except SystemExit as end:
            status = end.code
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            status = 99
        sys.stderr.flush()
        os._exit(status)
    os.close(writer)
    with open(reader) as stream:
        said = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def run_program(monkeypatch: pytest.MonkeyPatch, folder: Path, command: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["distsim", *command.split()])
    return in_child(program.main)


# Kills


def test_the_campaigns_run(capfd: pytest.CaptureFixture[str]) -> None:
    """One case in its tiny form: a command is killed, at random and before steps of storage."""
    command = [sys.executable, "-m", "tests.faults", "--only", "kills/index build of", "--tiny"]
    assert subprocess.run(command, cwd=PROJECT).returncode == 0
    assert "killed" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["index build", "index add", "sign", "sign -o"])
def test_killed_before_some_steps(name: str, corpus: Path, tmp_path: Path) -> None:
    """What is left is sound; run again, it is what an undisturbed run leaves, and nothing more."""
    command = WRITING[name]

    def renewed() -> Path:
        folder = renew(tmp_path / "folder", corpus)
        for material in command.needs:
            if material.endswith(".index"):
                run_here(folder, f"index build --format text --dedup exact b.txt -o {material}")
        return folder

    act = in_folder(command, renewed(), tmp_path)
    assert forked(act).status == 0
    wanted = snapshot(tmp_path / "folder")
    killed = 0
    for step in sorted(random.Random(1).sample(range(22), 3)):
        folder = renewed()
        killed += dies_at(step, act)
        for manifest in folder.rglob("manifest.json"):
            hidden = any(part.startswith(".") for part in manifest.relative_to(folder).parts)
            assert hidden or find_faults(manifest.parent) == []
        assert forked(act).status == 0
        assert snapshot(folder) == wanted
    assert killed


def test_killed_around_the_moment_of_change(tmp_path: Path) -> None:
    """Every step of replacing an artifact, one by one, in the smallest artifact there is."""

    def write(values: list[int]) -> None:
        with storage.create(tmp_path / "x", storage.INDEX) as writer:
            writer.add("values", np.array(values, np.uint32))
            writer.parameters = {"n": len(values)}

    write([1])
    seen = []
    for step in range(100):
        write([1])
        if not dies_at(step, lambda: write([1, 2])):
            break
        seen.append(storage.Artifact(tmp_path / "x").array("values").tolist())
        assert storage.Artifact(tmp_path / "x").damaged() == []
    assert seen == sorted(seen) and seen[0] == [1] and seen[-1] == [1, 2]
    write([1, 2])
    assert len(list((tmp_path / "x").iterdir())) == 2


def test_interrupted_right_after_the_change_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names the new files already: the clearing up must not take them away."""
    path = tmp_path / "x"
    with storage.create(path, storage.INDEX) as writer:
        writer.add("values", np.arange(3))
    synced = storage.writing.sync_folder
    calls = []

    def interrupt(folder: Path) -> None:
        calls.append(folder)
        if len(calls) == 2:  # the one after the manifest was replaced
            raise KeyboardInterrupt
        synced(folder)

    monkeypatch.setattr(storage.writing, "sync_folder", interrupt)
    with pytest.raises(KeyboardInterrupt), storage.change(path, storage.INDEX) as writer:
        writer.add("values", np.arange(5))
    assert storage.Artifact(path).array("values").tolist() == [0, 1, 2, 3, 4]
    assert storage.Artifact(path).damaged() == []


# Flips


@pytest.mark.parametrize("mend", [False, True])
def test_changed_bytes(mend: bool, index: Path) -> None:
    """In a child that may crash: verify sees what has no new checksum, readers never fall."""
    draw = random.Random(3)
    changes = (
        [partial(mended, index, draw)] * 4 if mend else draw.sample(flips_of(index, 1, draw), 4)
    )
    questions = [LIGHT["index"], *(HEAVY["index"][:1] if mend else [])]
    outcome = damage(index, questions, changes, not mend)
    assert outcome.broken == []
    assert outcome.counts.total() >= 8


def rewrite(path: Path, change: Callable[[dict], None]) -> None:
    """Change a manifest and mend its checksum."""
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    manifest["checksum"] = storage.manifest.manifest_checksum(manifest)
    (path / "manifest.json").write_text(storage.manifest.manifest_text(manifest))


@pytest.mark.parametrize(
    "entry",
    [
        {"file": "../x.bin"},
        {"file": "/etc/passwd"},
        {"dtype": "|O8"},
        {"dtype": ">u4"},
        {"shape": [-2, -3]},
        {"shape": [1 << 40, 1 << 40]},
        {"shape": []},
        {"shape": 3},
        {"size": "3"},
        {"checksum": None},
    ],
)
def test_entries_that_no_writer_makes(index: Path, entry: dict) -> None:
    rewrite(index, lambda manifest: manifest["arrays"]["shard-0/tokens"].update(entry))
    with pytest.raises(ArtifactError, match=r"manifest.json: is damaged: restore the file, or"):
        CorpusIndex.open(index)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"shards": "two"}, {"normaliser": 3}, {"format": "verse"}, {"counts": []}],
)
def test_parameters_that_cannot_be(index: Path, parameters: dict) -> None:
    rewrite(
        index,
        lambda manifest: manifest.update(
            parameters={**manifest["parameters"], **parameters} if parameters else {}
        ),
    )
    with pytest.raises(ArtifactError, match=r"x.index: .*(restore|upgrade)"):
        CorpusIndex.open(index)


def test_table_parameters_that_cannot_be(index: Path) -> None:
    rewrite(index / "signatures", lambda manifest: manifest["parameters"].pop("fingerprint"))
    with pytest.raises(ArtifactError, match=r"signatures: manifest.json holds parameters that"):
        SignatureTable.open(index)


def test_arrays_of_another_dtype(index: Path) -> None:
    def change(manifest: dict) -> None:
        manifest["arrays"]["shard-0/tokens"]["dtype"] = "<f4"

    rewrite(index, change)
    with pytest.raises(ArtifactError, match=r"'shard-0/tokens' is 1-dimensional float32, wanted"):
        CorpusIndex.open(index)


def test_kernels_refuse_indexes_from_outside() -> None:
    tokens = frozen(np.array([1, 2, 0], np.uint32))
    phrase, stops = frozen(np.array([1], np.int64)), frozen(np.array([1], np.int64))
    lows, highs = np.empty(1, np.int64), np.empty(1, np.int64)
    for starts in ([0, 1, 9, 9], [0, 3, 2, 3]):
        word_starts = frozen(np.array(starts, np.uint32))
        state = suffixes.find_intervals(
            tokens, frozen(np.array([2, 0, 1], np.uint32)), word_starts, phrase, stops, lows, highs
        )
        assert state == suffixes.DAMAGED
    rows = np.empty((1, 2), np.uint32)
    far = frozen(np.array([0xFFFFFFFF], np.uint32))
    assert suffixes.gather_neighbourhoods(tokens, far, 1, 1, 3, rows) == suffixes.DAMAGED
    here = frozen(np.array([1], np.uint32))
    assert suffixes.gather_neighbourhoods(tokens, here, 1, 1, 2, rows) == suffixes.DAMAGED
    assert suffixes.gather_neighbourhoods(tokens, here, 1, 1, 3, rows) == 0


def test_words_are_counted_within_a_damaged_index(index: Path) -> None:
    shard = CorpusIndex.open(index).shards[0]
    n_words = shard.word_starts.size - 1
    counter, words = NgramCounter(n_words, 2), np.arange(1, n_words)
    found = counter.count_words([shard], words)
    assert found.counts.sum() > 0
    runs_backwards = replace(shard, word_starts=shard.word_starts[::-1])
    assert counter.count_words([runs_backwards], words).counts.sum() == 0
    ends_far_away = replace(shard, word_starts=shard.word_starts + np.uint32(10**6))
    assert counter.count_words([ends_far_away], words).counts.sum() == 0
    with pytest.raises(ArtifactError, match="is damaged"):
        NgramCounter(n_words, 2).count_words([replace(shard, suffixes=~shard.suffixes)], words)


def test_a_shift_that_would_never_end_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"shift -1e\+308: choose -100 to 100"):
        Weighting("ppmi", shift=-1e308)


def test_damage_is_not_taken_into_fresh_checksums(index: Path, corpus: Path) -> None:
    file = next(index.glob("vocabulary-text.*.bin"))
    data = bytearray(file.read_bytes())
    data[3] ^= 1
    file.write_bytes(data)
    with pytest.raises(ArtifactError, match=r"vocabulary-text.*: is damaged: restore it or build"):
        CorpusIndex.open(index).add([corpus / "c.txt"])
    assert find_faults(index) == [f"{file} is damaged"]


def test_a_damaged_index_can_be_built_again_in_place(index: Path, corpus: Path) -> None:
    file = next(index.glob("shard-0-tokens.*.bin"))
    file.write_bytes(b"short")
    with pytest.raises(ArtifactError, match=r"5 bytes, wanted .* build the index again"):
        CorpusIndex.open(index)
    CorpusIndex.build([corpus / "a.txt"], index, options=IndexOptions("text"), force=True)
    assert find_faults(index) == []


# Starved


def test_full_disk(index: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also closing the file fails then: what was begun must be removed all the same."""
    append = storage.ArrayStream.append
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class FullDisk:
        closed = False

        def write(self, data: object) -> None:
            raise full

        def close(self) -> None:
            raise full

    def run_full(stream: storage.ArrayStream, values: np.ndarray) -> None:
        if len(stream) + len(values) > 500:
            stream._file.close()
            stream._file = FullDisk()
        append(stream, values)

    monkeypatch.setattr(storage.ArrayStream, "append", run_full)
    folder = index.parent
    before = snapshot(folder)
    for command, file in (
        (f"index build --format text {corpus}/a.txt -o y.index", ".y.index.unfinished/.shard-0"),
        (f"index build --format text {corpus}/a.txt -o x.index --force", "x.index/.shard-0-tokens"),
        (f"index add x.index {corpus}/c.txt", "x.index/.shard-"),
        ("sign x.index --preset thesis --set n_bits=128", "x.index/signatures/"),
        ("sign x.index", "x.index/signatures/.projection.unfinished/"),
    ):
        status, said = run_program(monkeypatch, folder, command)
        assert status == 1
        assert said.startswith(f"distsim: {file}"), said
        assert said.endswith(
            "No space left on device: free some space and run the same command again\n"
        )
        assert snapshot(folder) == before


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ImportError("lib.so: failed to map segment from shared object"), "out of memory: "),
        (RuntimeError("can't start new thread"), "no thread can be started: "),
    ],
)
def test_no_room_for_a_library_or_a_thread(
    error: Exception, told: str, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(storage.ArrayStream, "append", fail)
    status, said = run_program(monkeypatch, index.parent, "sign x.index")
    assert status == 1 and said.startswith(f"distsim: {told}")


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EFBIG, "raise the limit of file sizes"),
        (errno.EMFILE, "raise the limit of open files"),
        (errno.EROFS, "name another place"),
        (errno.EACCES, "change the permissions"),
        (errno.EIO, "the disk or the connection to it is at fault"),
    ],
)
def test_errors_of_the_system(
    number: int, remedy: str, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number), "some.file")

    monkeypatch.setattr(storage.ArrayStream, "append", fail)
    status, said = run_program(monkeypatch, index.parent, "sign x.index")
    assert status == 1
    assert said.startswith(f"distsim: some.file: {os.strerror(number)}: ") and remedy in said
    assert said.count("\n") == 1


def test_no_permission_is_found_at_the_door(
    index: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    wanted = r"cannot be written: change its permissions or name another place"
    with pytest.raises(ArtifactError, match=f"x.index: {wanted}"):
        CorpusIndex.open(index).add([corpus / "c.txt"])
    with pytest.raises(ArtifactError, match=wanted):
        CorpusIndex.build([corpus / "a.txt"], index.parent / "y.index")
    with pytest.raises(ArtifactError, match=f"signatures: {wanted}"):
        SignatureTable.build(CorpusIndex.open(index), recipe=Recipe())


def test_second_writer(index: Path, corpus: Path) -> None:
    with storage.change(index, storage.INDEX) as writer:
        with pytest.raises(ArtifactError, match=r"x.index: another process is writing here: wait"):
            CorpusIndex.open(index).add([corpus / "c.txt"])
        writer.parameters["n"] = 1
    with (
        storage.create(index.parent / "new", storage.INDEX) as writer,
        pytest.raises(ArtifactError, match=r"new: another process is writing here: wait"),
        storage.create(index.parent / "new", storage.INDEX),
    ):
        pass


def test_maps_hold_no_file_descriptor(index: Path, tmp_path: Path) -> None:
    values = np.arange(100_000)
    with storage.create(tmp_path / "big", storage.INDEX) as writer:
        writer.add("values", values)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    opened = [storage.Artifact(tmp_path / "big") for _ in range(50)]
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before
    kept = opened[0].array("values")[10:20]
    opened.clear()
    assert kept.tolist() == list(range(10, 20))  # a view keeps its map
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        kept.flags.writeable = True


@pytest.mark.usefixtures("obeyed_signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals(name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = getattr(signal, name)

    def sort(tokens: np.ndarray) -> np.ndarray:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)  # a second tap does no harm
        return np.zeros(tokens.size, np.uint32)

    monkeypatch.setattr(build, "build_suffix_array", sort)
    status, said = run_program(
        monkeypatch, tmp_path, f"index build --format text {corpus}/a.txt -o x.index"
    )
    assert (status, said) == (
        128 + number,
        "distsim: interrupted; nothing half-written is left behind\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_signal_at_a_kernels_call(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """numba wraps what is raised there: it was a traceback."""

    def call(*arguments: object, **options: object) -> object:
        raise SystemError("a kernel returned a result with an exception set") from Interrupted(15)

    monkeypatch.setattr("distsim.indexes.corpus_index.add_to_index", call)
    status, said = run_program(monkeypatch, index.parent, f"index add x.index {__file__} --as-is")
    assert status == 128 + signal.SIGTERM
    assert said == "distsim: interrupted; nothing half-written is left behind\n"


def test_an_ignored_signal_stays_ignored(
    index: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As nohup starts a program."""
    add_to_index = build.add_to_index

    def hang_up(*arguments: object, **options: object) -> object:
        os.kill(os.getpid(), signal.SIGHUP)
        return add_to_index(*arguments, **options)

    monkeypatch.setattr("distsim.indexes.corpus_index.add_to_index", hang_up)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        command = f"index add x.index {corpus}/c.txt"
        assert run_program(monkeypatch, index.parent, command)[0] == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_numbas_cache_on_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    class FullCache:
        def _load_overload(self, signature: object, target: object) -> None:
            raise EOFError("cut short")

        def save_overload(self, signature: object, data: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    cache = FullCache()
    monkeypatch.setattr(compiling, "uncached", set())
    compiling._forgive(cache, "kernel")
    assert cache.load_overload(None, cpu_target.target_context) is None
    assert compiled.uncached_kernels() == 0
    cache.save_overload(None, None)
    assert compiled.uncached_kernels() == 1


def _imported(name: str, **sources: str) -> Any:
    """Write modules into the working folder and import the first, as a new process would."""
    for module, source in sources.items():
        Path(f"{module}.py").write_text("from distsim.kernels.compiled import compiled\n" + source)
    for module in ("inner_kernel", "outer_kernel"):
        sys.modules.pop(module, None)
    compiling._text_of.cache_clear()
    compiling._state_of.cache_clear()
    importlib.invalidate_caches()
    return importlib.import_module(name)


_INNER = "@compiled\ndef first(a):\n    return a[0] + {}\n"
_OUTER = "from inner_kernel import first\n@compiled\ndef outer(a):\n    return first(a)\n"


def test_no_other_code_is_taken_for_a_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that of a source that was, nor of another signature, nor a callee's of before."""
    folder = tmp_path / "kernels"  # whose files are kernels, and looked at for changes
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(compiling, "uncached", set())  # what fails below is told to nobody later
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    ints, floats = np.array([1]), np.array([1.5])
    sources = {"inner_kernel": _INNER.format(1), "outer_kernel": _OUTER}
    assert _imported("outer_kernel", **sources).outer(ints) == 2
    changed = _imported("outer_kernel", inner_kernel=_INNER.format(10))
    with monkeypatch.context() as full:
        full.setattr(IndexDataCacheFile, "_save_data", _raise_enospc)  # or killed there
        assert changed.first(floats) == 11.5
    again = _imported("outer_kernel")
    assert (again.first(floats), again.outer(ints)) == (11.5, 11)
    kept = _imported("outer_kernel")
    n = compiled.compiled_kernels()
    assert (kept.first(floats), kept.outer(ints)) == (11.5, 11)
    assert compiled.compiled_kernels() == n
    # first of floats and of ints, outer: what was compiled of the older source is gone.
    assert len(list(folder.glob("__pycache__/*.nb*"))) == 3


def _raise_enospc(*given: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_no_place_for_numbas_cache(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "uncached", {"kernel"})
    status, said = run_program(monkeypatch, index.parent, "info x.index")
    assert status == 0
    assert said.startswith("distsim: the compiled kernels could not be kept")
    assert said.endswith("set NUMBA_CACHE_DIR to a folder that can be written\n")


def test_verify_follows_a_writer(
    index: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that went between opening and checking belonged to an older state."""
    damaged = storage.Artifact.damaged
    added = []

    def add_first(artifact: storage.Artifact, *watch: object) -> list[str]:
        if not added:
            added.append(True)
            CorpusIndex.open(index).add([corpus / "c.txt"])
        return damaged(artifact, *watch)

    monkeypatch.setattr(storage.Artifact, "damaged", add_first)
    assert find_faults(index) == []
    assert added


@pytest.mark.usefixtures("obeyed_signals")
def test_a_long_call_can_be_interrupted() -> None:
    def tap(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def wait_for_ever() -> None:
        signal.signal(signal.SIGALRM, tap)
        try:  # the signal may come before the call, where the machine is busy
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            interruptible(threading.Event().wait)
        except KeyboardInterrupt:
            sys.exit(7)

    assert in_child(wait_for_ever)[0] == 7
    assert interruptible(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


@pytest.mark.usefixtures("obeyed_signals")
def test_interrupted_while_importing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Importing(ModuleType):
        def __getattr__(self, name: str) -> object:
            os.kill(os.getpid(), signal.SIGTERM)
            return lambda: None

    monkeypatch.setitem(sys.modules, "distsim.cli.main", Importing("distsim.cli.main"))
    reader, writer = os.pipe()

    def begin() -> None:
        os.dup2(writer, 2)
        start.main()

    assert in_child(begin)[0] == 128 + signal.SIGTERM
    os.close(writer)
    with open(reader) as stream:
        assert stream.read() == "distsim: interrupted; nothing half-written is left behind\n"
