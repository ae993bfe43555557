"""All commands where and as they should not be run: an answer, or a sentence and nothing left.

places: every command in forked children with standard input, output or error closed or full, few
open files, short files, little memory, as another user who may read but not write, on a disk that
is read-only, HOME unset, and with all its files in a folder whose name holds spaces, a newline, a
tab and bytes that are no UTF-8. started: as processes of their own, where Python and libraries
themselves meet `ulimit`, closed streams, LANG=C. A command ends with 0 and what an undisturbed
run writes, or with 1 or 2, one sentence, and the folder as it was, or all that is written where
only the report of it failed, or what it goes on with. Never a traceback, a signal or a hang.
"""

import ctypes
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.faults.commands import GIVEN, READING, WRITING, Command, in_folder
from tests.faults.frame import (
    PROGRAM,
    PROJECT,
    Budget,
    Case,
    Ended,
    Outcome,
    forked,
    n_threads,
    renew,
    run_main,
)  # fmt: skip
from tests.faults.writing import Trial

NOBODY = 65534
ODD_FOLDER = b"sp ace/new\nline/tab\t\xff\xe9/-dash"
_NOT_WRITABLE = ("another user", "a read-only disk")
_NEW_MOUNTS, _BIND, _REMOUNT, _RECURSIVE, _PRIVATE, _READ_ONLY = (
    0x20000, 0x1000, 0x20, 0x4000, 1 << 18, 1,
)  # fmt: skip


def _limit(what: int, size: int) -> Callable[[], object]:
    return lambda: resource.setrlimit(what, (size, size))


def _less_memory(more: int) -> None:
    """Let this process map so many bytes more than it has mapped now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _another_user() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _read_only_disk() -> None:
    """Make the working folder one that even root may not write, for this process alone."""
    system = ctypes.CDLL(None, use_errno=True)
    here = os.fsencode(Path.cwd())
    done = [
        system.unshare(_NEW_MOUNTS),
        system.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None),
        system.mount(here, here, None, _BIND, None),
        system.mount(b"none", here, None, _BIND | _REMOUNT | _READ_ONLY, None),
    ]
    if any(done):
        raise OSError(ctypes.get_errno(), "mount")
    os.chdir(here)


PLACES: dict[str, Callable[[], object]] = {
    "standard input closed": partial(os.close, 0),
    "standard output closed": partial(os.close, 1),
    "standard output full": lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 1),
    "standard error closed": partial(os.close, 2),
    "all three closed": partial(os.closerange, 0, 3),
    **{f"{n} open files": _limit(resource.RLIMIT_NOFILE, n) for n in (12, 20, 64)},
    **{f"files of {n:,} bytes": _limit(resource.RLIMIT_FSIZE, n) for n in (0, 4096, 65536)},
    **{f"{n} MB more": partial(_less_memory, n << 20) for n in (4, 32, 128)},
    "another user": _another_user,
    "a read-only disk": _read_only_disk,
    "HOME unset": partial(os.environ.pop, "HOME", None),
}


def _hidden() -> Path | None:
    """Return the folder that keeps others from the interpreter's own library, if one does."""
    folders = [Path(sys.base_prefix), *Path(sys.base_prefix).parents]
    return next((one for one in reversed(folders) if not one.stat().st_mode & 0o001), None)


_HIDDEN = _hidden()


def _in_places(command: Command, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    outcome = Outcome()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if command.name in GIVEN:
        os.dup2(os.open(place / "start" / GIVEN[command.name], os.O_RDONLY), 0)
    command.warm(renew(place / "warm", place / "start"))
    outcome.check(n_threads() == 1, f"{n_threads()} threads before the fork")
    trial = Trial(place, place / "start", command, outcome)
    for name, first in PLACES.items():
        if name == "another user" and "parquet" in command.words and _HIDDEN:
            continue  # pyarrow is imported late, and they may not read this interpreter's library
        trial.renew()
        trial.temporary.chmod(0o1777)
        ended = forked(in_folder(command, trial.folder, trial.temporary, first))
        outcome.counts[f"exit {ended.status}"] += 1
        judge(trial, name, ended)
        if name in _NOT_WRITABLE and bool(ended.status) != bool(command.outputs):
            trial.broken(name, f"exit {ended.status}: {ended.said[-200:]}")
    if not command.name.startswith(("make-grammar", "cluster", "annotate")):
        _in_odd_folder(trial, place)  # those note where their texts stand, or name them here
    return outcome


def judge(trial: Trial, how: str, ended: Ended) -> None:
    """Judge an end: done, or refused in a sentence, with nothing left but what it goes on with."""
    if ended.status not in (0, 1, 2) or "Traceback" in ended.said:
        trial.broken(how, f"exit {ended.status}: {ended.said[-300:]!r}")
    found = trial.seen()
    if ended.status == 0:
        if found != trial.new:
            trial.broken(how, "says nothing, and the output is another")
        return
    mute = "closed" in how or " 0 bytes" in how or "-f 0" in how
    n_sentences = sum(line.startswith("distsim: ") for line in ended.said.split("\n"))
    if ended.status == 1 and n_sentences != 1 and not mute:
        trial.broken(how, f"not one sentence: {ended.said[-300:]!r}")
    if found == trial.new != trial.old:
        trial.outcome.counts["all written, not reported"] += 1
    elif found != trial.old and trial.goes_on:
        trial.again(how)
    elif found != trial.old:
        names = sorted(name for name in found if found[name] != trial.old.get(name))
        trial.broken(how, f"{ended.said[-100:]!r}, and {names[:5]} are left")


def _arguments(command: Command, base: Path) -> list[str]:
    """Return a command's words, its files those of a folder."""
    files = {*command.needs, *command.outputs}
    return [f"{base}/{word}" if word in files else word for word in command.words.split()]


def _in_odd_folder(trial: Trial, place: Path) -> None:
    base = Path(os.fsdecode(os.fsencode(place) + b"/" + ODD_FOLDER))
    shutil.copytree(trial.start, base)

    def act() -> int:
        given = GIVEN.get(trial.command.name)
        os.dup2(os.open(base / given if given else os.devnull, os.O_RDONLY), 0)
        return run_main(_arguments(trial.command, base))

    ended = forked(act)
    missing = [one for one in trial.command.outputs if not (base / one).exists()]
    if ended.status != 0 or missing:
        trial.broken("an odd folder", f"exit {ended.status}, no {missing}: {ended.said[-300:]}")


# As the shell starts it -------------------------------------------------------------------


def _opened() -> list[str]:
    """Return what lets everybody enter the interpreter's folder, in mounts of the command's own."""
    if _HIDDEN is None:
        return []
    inside = Path(sys.base_prefix).relative_to(_HIDDEN)
    script = (
        f"mount -t tmpfs -o mode=755 none /mnt && mkdir -p /mnt/{inside} && "
        f"mount --bind {sys.base_prefix} /mnt/{inside} && mount --rbind /mnt {_HIDDEN} && "
        'exec "$@"'
    )
    return ["unshare", "-m", "sh", "-c", script, "sh"]


_LIMITS = [*(f"-v {n}" for n in (100_000, 200_000, 300_000, 400_000, 600_000, 800_000, 1_200_000)),
           *(f"-n {n}" for n in (8, 16, 32)), "-f 0"]  # fmt: skip
_CLOSED = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-", "all": "<&- >&- 2>&-"}
_STARTED = {
    **{f"ulimit {one}": ["sh", "-c", f'ulimit {one} && exec "$@"', "sh"] for one in _LIMITS},
    **{f"{one} closed": ["sh", "-c", f'exec "$@" {how}', "sh"] for one, how in _CLOSED.items()},
    "HOME unset": ["env", "-u", "HOME"],
    "nobody": [*_opened(), "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
               "env", "NUMBA_CACHE_DIR=/nonexistent", "HOME=/nonexistent"],
}  # fmt: skip
_TRIED = ("index build", "index build from standard input", "count", "neighbours", "pivot")
_LANG_C = ["env", "LANG=C", "LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0"]


def _process(prefix: list[str], words: list[str], folder: Path, given: Path) -> Ended:
    try:
        with open(given, "rb") as stream:
            done = subprocess.run(
                [*prefix, *PROGRAM, *words], cwd=folder, check=False, timeout=600, stdin=stream,
                capture_output=True, env={**os.environ, "PYTHONPATH": str(PROJECT)},
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Ended(None)
    return Ended(done.returncode, done.stdout, done.stderr)


def _as_started(command: Command, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    outcome = Outcome()
    given = place / "start" / GIVEN.get(command.name, "/dev/null")
    base = Path(os.fsdecode(os.fsencode(place) + b"/odd/" + ODD_FOLDER))
    shutil.copytree(place / "start", base)
    ended = _process(_LANG_C, _arguments(command, base), place, given)
    missing = [one for one in command.outputs if not (base / one).exists()]
    outcome.check(
        ended.status == 0 and not missing and "Traceback" not in ended.said,
        f"LANG=C in an odd folder: exit {ended.status}, no {missing}: {ended.said[-300:]!r}",
    )
    if command.name in _TRIED:
        trial = Trial(place, place / "start", command, outcome)
        for name, prefix in _STARTED.items():
            trial.renew()
            ended = _process(prefix, command.words.split(), trial.folder, given)
            outcome.counts[f"exit {ended.status}"] += 1
            judge(trial, name, ended)
    return outcome


def cases() -> list[Case]:
    """Return every command in every place, and every one as a process of its own."""
    commands = {**WRITING, **READING}
    found = [
        Case(f"places/{name}", partial(_in_places, one), one.needs, name == "kwic")
        for name, one in commands.items()
    ]
    return found + [
        Case(f"started/{name}", partial(_as_started, one), one.needs)
        for name, one in commands.items()
        if one.words[0] != "!" and not name.startswith("make-grammar")
    ]
