"""What the campaigns share: cases, outcomes, the program in forked children, folders.

A case runs in a child of its own, in a folder of its own, from a seed of its own. The program's
modules are imported once and commands run in forked children, which costs milliseconds
instead of a start of seconds. Nothing that starts a thread may run before a fork.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: its threads die in a fork
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hashlib
import json
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from distsim.public_names import TOPICS, modules_of_names

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT / "distsim" / "data"
V1 = PROJECT / "tests" / "data" / "formats" / "v1"
PROGRAM = [sys.executable, "-m", "distsim.cli.start"]
PATIENCE = 120.0  # seconds after which a command hangs
_SHOWN = 10


class _Public:
    """Every public name of distsim, of whatever topic, loaded when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        for topic in TOPICS:
            if module := modules_of_names(topic).get(name):
                return getattr(import_module(module), name)
        raise AttributeError(name)


d = _Public()


@dataclass(frozen=True)
class Budget:
    """How much is tried: kills of a command, fuzzed lines of a reader, rounds of questions.

    stride: of the bytes of an artifact, every so many-th is changed.
    """

    kills: int = 50
    lines: int = 30_000
    rounds: int = 20
    stride: int = 1
    pairs: int = 1001


TINY = Budget(kills=3, lines=300, rounds=1, stride=29, pairs=60)


@dataclass
class Outcome:
    """What a case counts, and the promises that were broken."""

    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def check(self, holds: object, what: str) -> None:
        self.counts["checks"] += 1
        if not holds:
            self.broken.append(what)


Give = Callable[[tuple[str, ...], Path], None]


@dataclass(frozen=True)
class Case:
    """One line of the report.

    work: takes a folder of its own, a source of chance and the budget. needs: materials that are
    copied into the folder `start` in it. in_tiny: part of the tiny form too.
    """

    name: str
    work: Callable[[Path, random.Random, Budget], Outcome]
    needs: tuple[str, ...] = ()
    in_tiny: bool = False


def run_case(case: Case, scratch: Path, give: Give, seed: int, budget: Budget) -> Outcome:
    """Run a case in a child; print what came of it. give: copies materials into a folder."""
    place, answer = scratch / "place", scratch / "answer"
    remove(place)
    place.mkdir()
    give(case.needs, place / "start")
    answer.unlink(missing_ok=True)

    def work() -> int:
        outcome = case.work(place, random.Random(f"{seed} {case.name}"), budget)
        answer.write_text(json.dumps([outcome.counts, outcome.broken]))
        return 0

    ended = forked(work, patience=6 * 3600)
    if answer.exists():
        counts, broken = json.loads(answer.read_text())
        outcome = Outcome(Counter(counts), broken)
    else:
        outcome = Outcome(broken=[f"exit {ended.status}: {ended.err.decode()[-1500:]}"])
    told = ", ".join(f"{what} {n:,}" for what, n in sorted(outcome.counts.items()))
    print(f"{case.name}: {told}; {len(outcome.broken)} broken; {ended.seconds:.0f} s", flush=True)
    for what in outcome.broken[:_SHOWN]:
        print(f"    {what}", flush=True)
    return outcome


# Children ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """How a child ended: exit status (negative: the signal; None: it hung), what it said."""

    status: int | None
    out: bytes = b""
    err: bytes = b""
    seconds: float = 0.0

    @property
    def said(self) -> str:
        return self.err.decode(errors="replace").strip()

    def is_one_sentence(self) -> bool:
        """Exit status 1 and one line, said by the program itself; notes may stand before it."""
        lines = [line for line in self.said.split("\n") if line.startswith("distsim: ")]
        return self.status == 1 and len(lines) == 1 and self.said.endswith(lines[0])


def run_main(command: str | Sequence[str]) -> int:
    """Run the program in this process, as its users do; return its exit status."""
    from distsim.cli.main import main

    sys.argv = ["distsim", *(command.split() if isinstance(command, str) else command)]
    try:
        main()
    except SystemExit as error:
        return int(error.code or 0)
    return 0


class Child:
    """A child of its own process group that does something and ends."""

    def __init__(self, act: Callable[[], int]) -> None:
        self._begun = time.monotonic()
        self._said = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._child = os.fork()
        if self._child == 0:
            status = 99
            try:
                os.setpgid(0, 0)
                for number, file in enumerate(self._said, 1):
                    os.dup2(file.fileno(), number)
                status = act()
                sys.stdout.flush()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)

    def wait(
        self, after: float | None = None, number: int = signal.SIGKILL, patience: float = PATIENCE
    ) -> Ended:
        """Return its status, what it wrote, how long it took.

        after: seconds until it and its children get the signal `number`.
        """
        hung = False
        handle = os.pidfd_open(self._child)
        try:
            if after is not None and not select.select([handle], [], [], after)[0]:
                self._signal(number)
            if not select.select([handle], [], [], patience)[0]:
                hung = True
                self._signal(signal.SIGKILL)
        finally:
            os.close(handle)
        status = os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])
        seconds = time.monotonic() - self._begun
        said = []
        for file in self._said:
            with file:
                file.seek(0)
                said.append(file.read())
        return Ended(None if hung else status, *said, seconds)

    def _signal(self, number: int) -> None:
        for send in (os.killpg, os.kill):
            try:
                return send(self._child, number)
            except ProcessLookupError:  # it leads no group yet
                continue


def forked(act: Callable[[], int], **waiting: Any) -> Ended:
    """Do something in a child; see Child.wait."""
    return Child(act).wait(**waiting)


def quietly(act: Callable[[], object], folder: Path) -> None:
    """Do something in a folder, in this process, for what it leaves and the kernels it loads."""
    before, standard_input = Path.cwd(), sys.stdin
    os.chdir(folder)
    held = [os.dup(1), os.dup(2)]
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        sys.stdin = os.fdopen(os.dup(0))  # which a command closes
        os.dup2(null, 1)
        os.dup2(null, 2)
        act()
        sys.stdout.flush()
    finally:
        for at, handle in enumerate(held, 1):
            os.dup2(handle, at)
            os.close(handle)
        os.close(null)
        sys.stdin = standard_input
        os.chdir(before)


def run_here(folder: Path, command: str) -> None:
    """Run a command in this process; its errors are raised."""
    from distsim.cli.main import app

    quietly(lambda: app(command.split(), standalone_mode=False), folder)


def n_threads() -> int:
    """Return how many threads this process has, once those of libraries had time to end."""
    for _ in range(20):
        if len(os.listdir("/proc/self/task")) == 1:
            break
        time.sleep(0.1)
    return len(os.listdir("/proc/self/task"))


# Folders ----------------------------------------------------------------------------------


def snapshot(folder: Path) -> dict[str, str]:
    """Return a checksum of every file below the folder, hidden ones too; folders, links."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.is_symlink():
            found[name] = f"link to {os.readlink(file)}"
        elif file.is_file():
            found[name] = hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
        else:
            found[name] = "folder"
    return found


def faults_of(path: Path) -> list[str]:
    """Return what `verify` finds, as a sentence each; an error of ours is one."""

    try:
        return d.find_faults(path)
    except d.DistsimError as error:
        return [str(error)]


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder that goes at the end; everybody may enter it."""
    with tempfile.TemporaryDirectory(prefix="distsim-faults-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def renew(folder: Path, start: Path) -> Path:
    """Make a folder the copy of another, times too."""
    if folder.is_mount():
        for inside in folder.iterdir():
            remove(inside) if inside.is_dir() and not inside.is_symlink() else inside.unlink()
    else:
        remove(folder)
    shutil.copytree(start, folder, symlinks=True, dirs_exist_ok=True)
    return folder
