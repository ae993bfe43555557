"""What the campaigns share: small texts, the program in forked children, what stands in a folder.

The modules are imported once and nothing is run here, so that no thread is there to be forked;
each command runs in a child, which costs some milliseconds instead of a start of seconds.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: its threads die in a fork
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import hashlib
import lzma
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
from itertools import islice
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT / "distsim" / "data"
V1 = PROJECT / "tests" / "data" / "formats" / "v1"
PROGRAM = [sys.executable, "-m", "distsim.cli.start"]
PATIENCE = 120.0  # seconds after which a command hangs
_SHOWN = 20


@dataclass
class Outcome:
    """What a campaign counts, and the promises that were broken."""

    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def check(self, holds: bool, what: str) -> None:
        self.counts["checks"] += 1
        if not holds:
            self.broken.append(what)

    def add(self, other: "Outcome", name: str = "") -> None:
        before = f"{name}: " if name else ""
        self.counts.update({f"{before}{what}": n for what, n in other.counts.items()})
        self.broken += [before + what for what in other.broken]


# Children ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """How a child ended: exit status (negative: the signal; None: it hung), what it said."""

    status: int | None
    out: bytes = b""
    err: bytes = b""
    seconds: float = 0.0

    def is_one_sentence(self) -> bool:
        """Exit status 1 (2: usage) and one line, said by the program itself."""
        lines = self.err.decode(errors="replace").strip().split("\n")
        return self.status == 1 and len(lines) == 1 and lines[0].startswith("distsim: ")


def run_main(arguments: Sequence[object]) -> int:
    """Run the program in this process, as its users do; return its exit status."""
    from distsim.cli.main import main

    sys.argv = ["distsim", *[os.fsdecode(os.fspath(_path(one))) for one in arguments]]
    try:
        main()
    except SystemExit as error:
        return int(error.code or 0)
    return 0


def warm(arguments: Sequence[object], folder: Path) -> None:
    """Run a command in this process for the modules and kernels that it loads."""
    from distsim.cli.main import app

    before = Path.cwd()
    os.chdir(folder)
    held = [os.dup(1), os.dup(2)]
    null = os.open(os.devnull, os.O_WRONLY)
    standard_input = sys.stdin
    try:
        sys.stdin = os.fdopen(os.dup(0))  # which the command closes
        os.dup2(null, 1)
        os.dup2(null, 2)
        app([os.fsdecode(os.fspath(_path(one))) for one in arguments], standalone_mode=False)
        sys.stdout.flush()
    finally:
        for number, handle in enumerate(held, 1):
            os.dup2(handle, number)
            os.close(handle)
        os.close(null)
        sys.stdin = standard_input
        os.chdir(before)


def forked(
    act: Callable[[], int], *, kill_after: float | None = None, patience: float = PATIENCE
) -> Ended:
    """Run act in a child of its own process group; its status, what it wrote, how long it took.

    kill_after: seconds until the child and its children are killed (SIGKILL).
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            status = 99
            try:
                os.setpgid(0, 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                status = act()
                sys.stdout.flush()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        status, hung = _awaited(child, begun, kill_after, patience)
        seconds = time.monotonic() - begun
        out.seek(0)
        err.seek(0)
        return Ended(None if hung else status, out.read(), err.read(), seconds)


def _awaited(
    child: int, begun: float, kill_after: float | None, patience: float
) -> tuple[int, bool]:
    handle = os.pidfd_open(child)
    try:
        allowed = patience if kill_after is None else kill_after
        ready, _, _ = select.select([handle], [], [], max(0.0, allowed - time.monotonic() + begun))
        for kill in (os.killpg, os.kill):
            if not ready:
                try:
                    kill(child, signal.SIGKILL)
                    break
                except ProcessLookupError:  # it is no group's leader yet
                    continue
    finally:
        os.close(handle)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), not ready and kill_after is None


def n_threads() -> int:
    """Return how many threads this process has, those of libraries too."""
    return len(os.listdir("/proc/self/task"))


def _path(argument: object) -> str | bytes | os.PathLike[str]:
    return argument if isinstance(argument, bytes | str | os.PathLike) else str(argument)


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
    from distsim.base.errors import DistsimError
    from distsim.output.verification import find_faults

    try:
        return find_faults(path)
    except DistsimError as error:
        return [str(error)]


@contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """Give a folder that goes at the end; everybody may enter it."""
    with tempfile.TemporaryDirectory(prefix=f"distsim-{name}-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder


def renew(folder: Path, start: Path) -> Path:
    """Make a folder the copy of another, times too."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(start, folder, symlinks=True)
    return folder


# Texts ------------------------------------------------------------------------------------


def novel(n_bytes: int, name: str = "carroll-alice-in-wonderland-1865", skip: int = 0) -> str:
    """Return so much of a novel, whole lines."""
    text = lzma.decompress((DATA / "novels" / f"{name}.txt.xz").read_bytes()).decode()
    text = text[text.find("\n", skip) + 1 :] if skip else text
    return text[: text.rfind("\n", 0, n_bytes) + 1]


def bitext(n_pairs: int) -> tuple[str, str]:
    """Return the first pairs of the package's English and German."""
    from distsim.corpus.lines import read_lines

    sides = []
    for side in ("en", "de"):
        lines = islice(read_lines(DATA / "bitext" / f"help.{side}.xz"), n_pairs)
        sides.append(b"".join(line.rstrip(b"\n") + b"\n" for _, line in lines).decode())
    return sides[0], sides[1]


def tokenised(text: str) -> str:
    """Return running text as words parted by spaces, in lower case; lines stay."""
    import re

    return re.sub(r"[ ]+", " ", re.sub(r"([^\w\s'-])", r" \1 ", text.lower()))


# A campaign as a program ------------------------------------------------------------------


def main(
    doc: str | None, campaigns: dict[str, Callable[..., Outcome]], **budget: float | str
) -> None:
    """Run campaigns by name; print what was counted, what is broken, what it cost; exit 1 then."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("campaigns", nargs="*", help=f"of {', '.join(campaigns)}; all by default")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in budget.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    given = parser.parse_args()
    unknown = set(given.campaigns) - set(campaigns)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: choose of {', '.join(campaigns)}")
    failed = 0
    for name in given.campaigns or campaigns:
        begun, cpu = time.monotonic(), sum(os.times()[:4])
        outcome = campaigns[name](
            random.Random(given.seed), **{key: getattr(given, key) for key in budget}
        )
        counts = ", ".join(f"{what} {n:,}" for what, n in sorted(outcome.counts.items()))
        print(
            f"{name}: {counts}; {len(outcome.broken)} broken; "
            f"{time.monotonic() - begun:.0f} s, {sum(os.times()[:4]) - cpu:.0f} CPU s",
            flush=True,
        )
        for what in outcome.broken[:_SHOWN]:
            print(f"  {what}", flush=True)
        failed += len(outcome.broken)
    sys.exit(bool(failed))
