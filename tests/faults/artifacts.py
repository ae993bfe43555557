"""Kill, flip and starve: what is left of an artifact, and what its reader does.

Measured: (kill) SIGKILL at random moments of every command that writes, and before every
single step that storage takes; (flip) random bytes changed in an artifact, with the old
checksum and with a mended one, so that only the checks of bounds protect; (starve) signals,
full disks, missing permissions, a second writer, few file descriptors, no place for numba's
cache. Every promise that is not kept is printed and makes the exit status 1.

    python -m tests.faults.artifacts kill flip starve [--times 100] [--flips 1000] [--seed 1]

Peers: none; the yardstick is the promise. Runs as root need `mount` for a full disk and
`setpriv` for missing permissions; without them these lines say "skipped".
"""

import argparse
import hashlib
import json
import lzma
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

TABLE = "x.index/signatures"
_MEMORY_MARGIN = 3 << 30  # what one query on a small artifact may map beyond what was mapped before
_SECONDS = 60  # after which a query hangs


# What is killed ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A command that writes.

    before: the commands that make what stands there when it begins. artifact: what it makes
    or changes. leaves: a rerun after the change was made leaves the same (index add does not:
    it adds once more).
    """

    arguments: str
    artifact: str
    before: tuple[str, ...] = ()
    idempotent: bool = True


_BUILD = "index build --format text --dedup exact --set shard_tokens=60000 {} -o x.index"
_OTHER = _BUILD.format("b.txt")
_BUILD = _BUILD.format("a.txt b.txt") + " --force"
_WIDE = "--preset thesis --set model.window=2"
_SUMS = "--preset thesis --set keep_sums=true"
COMMANDS = {
    "index build": Command(_BUILD, "x.index"),
    "index build over an index": Command(_BUILD, "x.index", (_OTHER,)),
    "index add": Command("index add x.index c.txt", "x.index", (_OTHER,)),
    "sign": Command("sign x.index", TABLE, (_BUILD,)),
    "sign over a table": Command(
        "sign x.index --preset thesis --set weighting.scheme=ppmi --set model.window=2",
        TABLE,
        (_BUILD, "sign x.index"),
    ),
    "sign -o": Command("sign x.index -o y.table", "y.table", (_BUILD,)),
    "merge": Command(
        "merge x.index y.table -o z.table",
        "z.table",
        (_BUILD, f"sign x.index {_SUMS}", f"sign x.index {_SUMS} -o y.table"),
    ),
    "sign --from counts": Command(
        "sign counts.txt --from counts --max-length 1 --memory 64M -o y.table", "y.table"
    ),
    "index add near": Command(
        "index add x.index c.txt", "x.index", (_OTHER.replace("exact", "near"),)
    ),
}


def write_corpus(folder: Path, tokens: int) -> None:
    """Write a.txt, b.txt and c.txt, about `tokens` tokens of novels from the package each."""
    novels = sorted(
        (file for file in (files("distsim") / "data" / "novels").iterdir()),
        key=lambda file: (file.name[:7] != "carroll", file.name),
    )
    size = 6 * tokens
    text = ""
    while len(text) < 3 * size and novels:
        text += lzma.decompress(novels.pop(0).read_bytes()).decode()
    for number, name in enumerate(("a.txt", "b.txt", "c.txt")):
        part = text[number * size : (number + 1) * size]
        (folder / name).write_text(part[: part.rfind("\n") + 1])
    words = text[:size].split()
    counts = Counter(words) + Counter(map(" ".join, pairwise(words)))
    lines = (f"{phrase}\t{times}\n" for phrase, times in counts.items())
    (folder / "counts.txt").write_text("".join(lines))


def run_here(folder: Path, command: str) -> None:
    """Run a command of distsim in this process; the quickest way."""
    from distsim.cli.main import app

    with chdir(folder), _quiet():
        app(command.split(), standalone_mode=False)


def snapshot(folder: Path) -> dict[str, str]:
    """Return a checksum of every file below the folder, hidden ones too, and every folder."""
    return {
        str(file.relative_to(folder)): (
            hashlib.blake2b(file.read_bytes()).hexdigest() if file.is_file() else "folder"
        )
        for file in sorted(folder.rglob("*"))
    }


def faults_of(path: Path) -> list[str]:
    """Return what verify finds, as a sentence each."""
    from distsim.base.errors import DistsimError
    from distsim.output.verification import find_faults

    try:
        return find_faults(path)
    except DistsimError as error:
        return [str(error)]


class KillCampaign:
    """One command, killed again and again in folders that all begin alike."""

    def __init__(self, scratch: Path, corpus: Path, name: str) -> None:
        self._scratch = scratch
        self.command = COMMANDS[name]
        self._start = scratch / "start"
        shutil.copytree(corpus, self._start)
        for command in self.command.before:
            run_here(self._start, command)
        self._old = snapshot(self._start)
        done = self._folder()
        run_here(done, self.command.arguments)
        self._new = snapshot(done)
        self.outcomes: Counter[str] = Counter()
        self.broken: list[str] = []

    def _folder(self) -> Path:
        folder = self._scratch / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._start, folder)
        return folder

    def kill_processes(self, times: int, draw: random.Random) -> None:
        """Kill the command, in a child that has the modules loaded, at random moments."""
        begun = time.monotonic()
        os.waitpid(self._spawn(self._folder()), 0)
        lasts = time.monotonic() - begun
        for _ in range(times):
            folder = self._folder()
            moment = draw.uniform(0.02 * lasts, 1.02 * lasts)
            child = self._spawn(folder)
            time.sleep(moment)
            os.kill(child, signal.SIGKILL)  # an ended child stays until it is waited for
            os.waitpid(child, 0)
            self._judge(folder, f"killed after {moment:.3f} s")

    def kill_steps(self, most: int = 1000) -> int:
        """Kill the command before each single step of storage; return how many there were."""
        for step in range(most):
            folder = self._folder()
            if not _dies_at(step, lambda folder=folder: run_here(folder, self.command.arguments)):
                return step
            self._judge(folder, f"killed before step {step}")
        return most

    def _spawn(self, folder: Path) -> int:
        child = os.fork()
        if child == 0:
            run_here(folder, self.command.arguments)
            os._exit(0)
        return child

    def _judge(self, folder: Path, how: str) -> None:
        artifact = folder / self.command.artifact
        state = self._state(folder)
        if state == "neither":
            self.broken.append(f"{how}: what is left is neither the old nor the new state")
        elif artifact.exists() and (found := faults_of(artifact)):
            self.broken.append(f"{how}: {state} state: {found}")
        self.outcomes[state] += 1
        if state == "new" and not self.command.idempotent:
            return
        try:
            run_here(folder, self.command.arguments)
        except Exception as error:
            self.broken.append(f"{how}: run again: {error!r}")
            return
        if snapshot(folder) != self._new:
            self.broken.append(f"{how}: run again: other bytes, or something was left over")

    def _state(self, folder: Path) -> str:
        """Tell the old from the new state by the files that a manifest names."""
        found = snapshot(folder)
        manifest = f"{self.command.artifact}/manifest.json"
        for name, wanted in (("new", self._new), ("old", self._old)):
            whole = all(found.get(file) == checksum for file, checksum in wanted.items())
            if whole and found.get(manifest) == wanted.get(manifest):
                return name
        return "neither"


def _dies_at(step: int, act: Callable[[], None]) -> bool:
    """Run act in a child that kills itself before the given step of storage; tell if it did."""
    child = os.fork()
    if child == 0:
        _arm(step)
        try:
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError("the command failed in the child")
    return os.WIFSIGNALED(status)


def _arm(step: int) -> None:
    """Let this process kill itself before its step-th change of the file system by storage."""
    from distsim import storage

    left = step

    def guard(function: Callable) -> Callable:  # type: ignore[type-arg]
        def guarded(*arguments, **options):  # type: ignore[no-untyped-def]
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return function(*arguments, **options)

        return guarded

    for name in ("replace", "rename", "fsync"):
        setattr(os, name, guard(getattr(os, name)))
    for name in ("unlink", "mkdir", "rmdir"):
        setattr(Path, name, guard(getattr(Path, name)))
    storage.ArrayStream.append = guard(storage.ArrayStream.append)  # type: ignore[method-assign]


# What is flipped --------------------------------------------------------------------------


def queries(path: Path, scratch: Path) -> dict[str, Callable[[], object]]:
    """Return everything that reads an index or the table inside it, by name."""
    from distsim import CorpusIndex, ExactCosine, Recipe, Selection, SignatureTable, similarities
    from distsim.comparison import NeighbourSearch
    from distsim.comparison.table import merge_tables
    from distsim.contexts import Weighting
    from distsim.contexts.ngram import NgramModel, named_contexts
    from distsim.output.verification import find_faults
    from distsim.signatures import sign

    words = ("the", "of the", "alice", "in a", "said the", "one of the", "xyzzy", "it was a very")
    pairs = [(a, b) for a in words for b in words[:3]]
    return {
        "verify": lambda: find_faults(path),
        "count": lambda: CorpusIndex.open(path).count(words),
        "gapped": lambda: CorpusIndex.open(path).gapped(["the _ of", "a _ the _ of"]),
        "kwic": lambda: [
            CorpusIndex.open(path).concordance("of the", width=5, order=order)
            for order in ("corpus", "left", "right")
        ],
        "ngrams": lambda: sum(count for _, count in CorpusIndex.open(path).ngrams(1, 3)),
        "contexts": lambda: [
            named_contexts(CorpusIndex.open(path), "the", 2, Weighting(scheme))
            for scheme in ("raw", "ppmi", "llr")
        ],
        "sign": lambda: sign(
            CorpusIndex.open(path), scratch / "t",
            Recipe(model=NgramModel(2), weighting=Weighting("llr")),
            Selection(3, max_phrases=500),
        ),
        "similarity": lambda: similarities(SignatureTable.open(path), pairs),
        "exact": lambda: ExactCosine(
            CorpusIndex.open(path), SignatureTable.open(path)
        ).similarities(pairs),
        "neighbours": lambda: [
            NeighbourSearch(
                SignatureTable.open(path), min_strength=6, lengths=[1, 2]
            ).nearest("the"),
            NeighbourSearch(SignatureTable.open(path), candidates=words).above("the", 0.1),
        ],
        "merge": lambda: merge_tables([path, path.parent / "y.table"], scratch / "m"),
        "index add": lambda: CorpusIndex.open(path).add([path.parent / "c.txt"]),
    }  # fmt: skip


def change_bytes(folder: Path, draw: random.Random, mend: bool) -> str:
    """Change bytes of one file of an artifact, one where not mended; return what was done.

    mend: put the new checksum into the manifest, as if the file had been written so.
    """
    manifest_file = folder / "manifest.json"
    manifest = json.loads(manifest_file.read_text())
    arrays = [name for name, entry in manifest["arrays"].items() if entry["size"]]
    if not mend and draw.random() < 0.1:
        return _flip(manifest_file, draw)
    name = draw.choice(sorted(arrays))
    entry = manifest["arrays"][name]
    file = folder / entry["file"]
    if not mend:
        return _flip(file, draw)
    width = int(entry["dtype"][2:])
    data = bytearray(file.read_bytes())
    for _ in range(draw.choice((1, 1, 3, 30))):
        at = draw.choice((0, len(data) // width - 1, draw.randrange(len(data) // width))) * width
        other = draw.randrange(len(data) // width) * width
        data[at : at + width] = draw.choice(
            (b"\0" * width, b"\xff" * width, b"\x7f" * width, draw.randbytes(width),
             bytes(data[other : other + width]), (len(data) // width).to_bytes(width, "little")
             if len(data) // width < 256**width else b"\x80" * width)
        )  # fmt: skip
    file.write_bytes(data)
    _mend(manifest_file, manifest, name, data)
    return f"{file.name} changed and its checksum mended"


def _flip(file: Path, draw: random.Random) -> str:
    data = bytearray(file.read_bytes())
    at = draw.randrange(len(data))
    data[at] ^= draw.randrange(1, 256)
    file.write_bytes(data)
    return f"{file.name}, byte {at} flipped"


def _mend(manifest_file: Path, manifest: dict, name: str, data: bytes) -> None:  # type: ignore[type-arg]
    from distsim import storage

    manifest["arrays"][name]["checksum"] = hashlib.blake2b(data, digest_size=16).hexdigest()
    manifest["checksum"] = storage.manifest.manifest_checksum(manifest)
    manifest_file.write_text(storage.manifest.manifest_text(manifest))


def ask_in_child(path: Path, scratch: Path, names: list[str] | None = None) -> dict[str, str]:
    """Ask everything of a damaged artifact in a child process; return how each query ended.

    `answer`, `DistsimError`, or what is not allowed: another exception, a signal, a hang.
    """
    ends: dict[str, str] = {}
    for name, query in queries(path, scratch).items():
        if names is not None and name not in names:
            continue
        child = os.fork()
        if child == 0:
            _answer_and_exit(query)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            ends[name] = "hang" if number == signal.SIGALRM else signal.Signals(number).name
        else:
            ends[name] = {0: "answer", 3: "DistsimError"}.get(os.WEXITSTATUS(status), "exception")
    return ends


def _answer_and_exit(query: Callable[[], object]) -> None:
    from distsim.base.errors import DistsimError

    status = 0
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _MEMORY_MARGIN,) * 2)
    signal.alarm(_SECONDS)
    try:
        query()
    except DistsimError:
        status = 3
    except BaseException:
        traceback.print_exc()
        status = 1
    os._exit(status)


def flip_campaign(
    scratch: Path, corpus: Path, times: int, draw: random.Random, mend: bool,
    names: list[str] | None = None,
) -> tuple[Counter[str], list[str]]:  # fmt: skip
    """Damage copies of a signed index; return how the queries ended and what broke a promise."""
    sound = scratch / "sound"
    if not sound.exists():
        shutil.copytree(corpus, sound)
        run_here(sound, _BUILD.replace("60000", "20000"))
        run_here(sound, f"sign x.index --min-count 3 {_SUMS}")
        run_here(sound, f"sign x.index --min-count 3 {_SUMS} -o y.table")
        warm = scratch / "warm"
        shutil.copytree(sound, warm)
        for query in queries(warm / "x.index", warm).values():
            query()
    ends: Counter[str] = Counter()
    broken: list[str] = []
    for _ in range(times):
        folder = scratch / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(sound, folder)
        path = folder / "x.index"
        done = change_bytes(draw.choice((path, path, folder / TABLE)), draw, mend)
        if not mend and not faults_of(path):
            broken.append(f"{done}: verify does not find it")
        found = ask_in_child(path, folder, names)
        ends.update(f"{name}: {end}" for name, end in found.items())
        broken += [
            f"{done}: {name}: {end}"
            for name, end in found.items()
            if end not in ("answer", "DistsimError")
        ]
    return ends, broken


# What is starved --------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """How a process of distsim ended."""

    status: int
    said: str

    def is_one_sentence(self) -> bool:
        lines = self.said.strip().split("\n")
        return len(lines) == 1 and lines[0].startswith("distsim: ")


def run_process(
    folder: Path, command: str, *, prefix: tuple[str, ...] = (), signal_after: float | None = None,
    number: int = signal.SIGINT, **environment: str,
) -> Ended:  # fmt: skip
    """Run a command of distsim as its users do; `prefix` goes before it."""

    process = subprocess.Popen(
        [*prefix, sys.executable, "-m", "distsim.cli.start", *command.split()],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    try:
        said = process.communicate(timeout=signal_after)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        said = process.communicate()[1]
    return Ended(process.returncode, said)


class Starving:
    """The list of things that go wrong around a program; prints a line for each."""

    def __init__(self, scratch: Path, corpus: Path) -> None:
        self._scratch = scratch
        self._corpus = corpus
        self._built = scratch / "built"
        shutil.copytree(corpus, self._built)
        run_here(self._built, _BUILD)
        run_here(self._built, "sign x.index")
        self.broken: list[str] = []

    def all(self, times: int, draw: random.Random) -> None:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            for command in (_BUILD, "index add x.index c.txt", f"sign x.index {_WIDE}",
                            "ngrams x.index", "verify x.index"):  # fmt: skip
                self._interrupt(command, getattr(signal, name), times, draw)
        self.full_disk()
        self.file_sizes()
        self.permissions()
        self.second_writer()
        self.few_files()
        self.caches()
        self._say("standard output on a full disk", *self._output_full())

    def _folder(self, built: bool = True) -> Path:
        folder = self._scratch / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._built if built else self._corpus, folder)
        return folder

    def _say(self, what: str, good: bool, detail: str) -> None:
        print(f"{'ok  ' if good else 'FAIL'} {what}: {detail.strip()}", flush=True)
        if not good:
            self.broken.append(what)

    def _refused(self, what: str, folder: Path, before: dict[str, str], ended: Ended) -> None:
        """One sentence, status 1, and the folder as it was."""
        kept = snapshot(folder) == before
        good = ended.status == 1 and ended.is_one_sentence() and kept
        self._say(what, good, f"{ended.said.strip()}{'' if kept else ' SOMETHING IS LEFT'}")

    def _interrupt(self, command: str, number: int, times: int, draw: random.Random) -> None:
        build = command == _BUILD
        begun = time.monotonic()
        run_process(self._folder(not build), command)
        lasts = time.monotonic() - begun
        outcomes: Counter[str] = Counter()
        bad = ""
        for _ in range(times):
            folder = self._folder(not build)
            before = snapshot(folder)
            moment = draw.uniform(0.4, max(0.5, lasts))  # importing is over by then
            ended = run_process(folder, command, signal_after=moment, number=number)
            if ended.status == 0:
                outcomes["finished"] += 1
            elif ended.status != 128 + number or not ended.is_one_sentence():
                bad = f"after {moment:.2f} s: status {ended.status}: {ended.said}"
            elif snapshot(folder) == before:
                outcomes["stopped, nothing left"] += 1
            else:
                bad = f"after {moment:.2f} s: something is left"
        name = f"{signal.Signals(number).name} in {' '.join(command.split()[:2])}"
        self._say(name, not bad, bad or f"{dict(outcomes)} of {times}")

    def full_disk(self) -> None:
        """Every command that writes, on disks of several sizes that are too small."""
        for name, command in COMMANDS.items():
            for room in (0, 64, 256):
                folder = self._scratch / "folder"
                shutil.rmtree(folder, ignore_errors=True)
                with _small_disk(folder) as limit:
                    if not limit:
                        self._say("full disk", True, "skipped: mount is not allowed here")
                        return
                    shutil.copytree(self._corpus, folder, dirs_exist_ok=True)
                    for earlier in command.before:
                        run_here(folder, earlier)
                    used = shutil.disk_usage(folder).used
                    limit(used + (room << 10))
                    before = snapshot(folder)
                    ended = run_process(folder, command.arguments)
                    self._refused(f"{name}, {room} KiB free", folder, before, ended)

    def file_sizes(self) -> None:
        for name, command in COMMANDS.items():
            folder = self._folder(False)
            for earlier in command.before:
                run_here(folder, earlier)
            before = snapshot(folder)
            prefix = ("prlimit", "--fsize=40000:40000")
            ended = run_process(folder, command.arguments, prefix=prefix)
            self._refused(f"{name}, files of 40,000 bytes at most", folder, before, ended)

    def permissions(self) -> None:
        prefix = _as_nobody()
        if prefix is None:
            self._say("permissions", True, "skipped: needs root and setpriv")
            return
        for command in (_BUILD, "index add x.index c.txt", "sign x.index", "sign x.index -o t"):
            folder = self._folder(command != _BUILD)
            _open_up(folder)
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o555 if path.is_dir() else 0o444)
            before = snapshot(folder)
            ended = run_process(folder, command, prefix=prefix)
            self._refused(
                f"no permission to write: {command.split('-o')[0]}", folder, before, ended
            )
        for path in (folder / "x.index").rglob("*.bin"):
            path.chmod(0)
        ended = run_process(folder, "count x.index the", prefix=prefix)
        good = ended.status == 1 and ended.is_one_sentence()
        self._say("no permission to read", good, ended.said)

    def second_writer(self) -> None:
        import fcntl

        for command, lock in (
            (_BUILD, "x.index"), ("index add x.index c.txt", "x.index"),
            ("sign x.index", TABLE), (_BUILD, ".x.index.unfinished"),
        ):  # fmt: skip
            folder = self._folder(not lock.startswith("."))
            (folder / lock).mkdir(exist_ok=True)
            handle = os.open(folder / lock, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX)
            before = snapshot(folder)
            ended = run_process(folder, command)
            os.close(handle)
            self._refused(f"second writer: {command.split('-o')[0]}", folder, before, ended)

    def few_files(self) -> None:
        """64 file descriptors and more than thirty shards."""
        folder = self._folder(False)
        size = (folder / "a.txt").stat().st_size + (folder / "b.txt").stat().st_size
        shard_tokens = str(max(20_000, size // 5 // 36))
        for command in (
            _BUILD.replace("60000", shard_tokens), "index add x.index c.txt", "verify x.index",
            "count x.index the", "kwic x.index alice --sort left", "ngrams x.index --min-count 20",
            "contexts x.index the", "sign x.index", "similarity x.index time world",
            "similarity x.index time world --exact", "neighbours x.index time",
        ):  # fmt: skip
            ended = run_process(folder, command, prefix=("prlimit", "--nofile=64:64"))
            shards = json.loads((folder / "x.index/manifest.json").read_text())["parameters"]
            self._say(
                f"64 file descriptors, {shards['shards']} shards: {command.split('-o')[0]}",
                ended.status == 0, "works" if ended.status == 0 else ended.said,
            )  # fmt: skip

    def caches(self) -> None:
        folder = self._folder()
        full = self._scratch / "full"
        with _small_disk(full) as limit:
            if limit:
                limit(1 << 16)
                ended = run_process(folder, "count x.index the", NUMBA_CACHE_DIR=str(full))
                good = ended.status == 0 and ended.is_one_sentence()
                self._say("numba's cache on a full disk", good, ended.said)
            else:
                self._say("numba's cache on a full disk", True, "skipped: mount is not allowed")
        prefix = _as_nobody()
        if prefix is None:
            self._say("no place for numba's cache", True, "skipped: needs root and setpriv")
            return
        _open_up(folder)
        environment = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
        ended = run_process(folder, "count x.index the", prefix=prefix, **environment)
        good = ended.status == 0 and ended.is_one_sentence()
        self._say("no place for numba's cache", good, ended.said)

    def _output_full(self) -> tuple[bool, str]:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "distsim.cli.start", "ngrams", "x.index"],
                cwd=self._folder(), stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        ended = Ended(done.returncode, done.stderr)
        return ended.status == 1 and ended.is_one_sentence(), ended.said


def _as_nobody() -> tuple[str, ...] | None:
    if os.geteuid() or shutil.which("setpriv") is None:
        return None
    return ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def _open_up(folder: Path) -> None:
    """Let another user walk into a folder below the scratch folder."""
    for path in (folder, *folder.parents):
        if path == Path(tempfile.gettempdir()):
            break
        path.chmod(path.stat().st_mode | 0o555)


@contextmanager
def _small_disk(folder: Path):  # type: ignore[no-untyped-def]
    """Mount a disk of its own at a folder; gives what sets its size in bytes, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        yield None
        return

    def limit(size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={max(4096, size)}", str(folder)], check=True)

    try:
        yield limit
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def _quiet():  # type: ignore[no-untyped-def]
    """Keep what a command says to itself."""
    from contextlib import redirect_stderr, redirect_stdout

    with open(os.devnull, "w") as nothing, redirect_stderr(nothing), redirect_stdout(nothing):
        yield


def _report(what: str, outcomes: Counter[str], broken: list[str]) -> None:
    print(f"{'FAIL' if broken else 'ok  '} {what}: {dict(sorted(outcomes.items()))}", flush=True)
    for one in broken[:10]:
        print(f"     {one}", flush=True)


def _flip_with_bounds_checked(options: argparse.Namespace, scratch: Path) -> list[str]:
    """Run the flips in a process whose kernels raise where they leave an array.

    A read beyond an array's end often goes unnoticed; so it cannot.
    """
    print("with bounds checked in every kernel:", flush=True)
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(scratch / "n")}
    arguments = ["flip", "--flips", str(options.flips), "--seed", str(options.seed + 1)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.artifacts", *arguments], env=environment, check=False
    )
    print("with kernels as they are used:", flush=True)
    return ["flips with bounds checked"] if done.returncode else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", default=["kill", "flip", "starve"])
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, help="to kill; all by default")
    parser.add_argument("--times", type=int, default=100, help="kills of each command")
    parser.add_argument("--tokens", type=int, default=100_000, help="in each text, but for flips")
    parser.add_argument("--flips", type=int, default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="distsim-faults-") as made:
        scratch = Path(made)
        small, large = scratch / "small", scratch / "large"
        for folder, tokens in ((small, 30_000), (large, options.tokens)):
            folder.mkdir()
            write_corpus(folder, tokens)
        if "kill" in options.parts:
            for name in options.commands or COMMANDS:
                campaign = KillCampaign(scratch / f"steps {name}", small, name)
                steps = campaign.kill_steps()
                _report(f"{name}, killed before each of {steps} steps", campaign.outcomes,
                        campaign.broken)  # fmt: skip
                broken += campaign.broken
                campaign = KillCampaign(scratch / f"kill {name}", large, name)
                campaign.kill_processes(options.times, draw)
                _report(f"{name}, killed {options.times} times at random", campaign.outcomes,
                        campaign.broken)  # fmt: skip
                broken += campaign.broken
        if "flip" in options.parts and "NUMBA_BOUNDSCHECK" not in os.environ:
            broken += _flip_with_bounds_checked(options, scratch)
        if "flip" in options.parts:
            for mend in (False, True):
                ends, found = flip_campaign(scratch / "flip", small, options.flips, draw, mend)
                what = "changed, checksum mended" if mend else "one byte flipped"
                _report(f"{options.flips} times {what}", ends, found)
                broken += found
        if "starve" in options.parts:
            starving = Starving(scratch / "starve", large)
            starving.all(max(1, options.times // 10), draw)
            broken += starving.broken
        with suppress(OSError):
            for path in scratch.rglob("*"):
                path.chmod(0o755)
    print(f"{len(broken)} promises broken")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
