"""All commands where and as they should not be run: an answer, or a sentence and nothing left.

    python -m tests.faults.places [forked started] [--only COMMAND;...] [--seed 1]

forked: every command of kills.py and every one that reads, in forked children with standard
input, output or error closed, few open files, short files, little memory, as another user who may
read but not write, on a disk that is read-only, HOME unset, and with all its files in a folder
whose name holds spaces, a newline, a tab and bytes that are no UTF-8. started: some of them as
processes of their own, where Python and libraries themselves meet `ulimit -v`, closed streams,
LANG=C; in_c: all of them so, with LANG=C and in that folder. A command ends with 0 and what an
undisturbed run writes, or with 1 or 2, one sentence, and the folder as it was, or all that is
written where only the report of it failed; what a command leaves to go on with must end, run
again, in the bytes of an undisturbed run. Never by a traceback, a signal or a hang.
Peers: none.
"""

import ctypes
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.faults import frame as common
from tests.faults import kills
from tests.faults.frame import Ended, Outcome, forked, n_threads, renew, run_main, snapshot, warm

NOBODY = 65534
ODD_FOLDER = b"sp ace/new\nline/tab\t\xff\xe9/-dash"

# Name | needs, then the command.
_READING = """
count | x.index
    count x.index the alice
kwic | x.index
    kwic x.index the
ngrams | x.index
    ngrams x.index -n 1-2
contexts | x.index
    contexts x.index the
compare | signed.index
    compare signed.index the alice
similarity | signed.index
    similarity signed.index the alice
neighbours | signed.index
    neighbours signed.index alice
evaluate | signed.index gold.tsv
    evaluate signed.index gold.tsv --samples 20
paraphrase | signed.index
    paraphrase signed.index alice --sample 50 -j 1
substitute | signed.index
    substitute signed.index [--neighbours=20] -i substitute.tsv -j 1
rules | pack
    rules pack the
rewrite to standard output | pack source x.index
    rewrite pack source --index x.index --pops 5 -n 1 -j 1
info | signed.index
    info signed.index
verify | signed.index
    verify signed.index
pivot to standard output | rules.gz
    pivot rules.gz -j 1
score from standard input | para.gz signed.index
    score - --ngram signed.index --align none -j 1
index build from standard input | a.txt
    index build - -o new.index -j 1
"""


_NOT_WRITABLE = ("another user", "a read-only disk")
_GOING_ON = (
    "make-grammar",
    "annotate",
    "paraphrase",
    "rewrite",
)  # commands that leave what they go on with


@dataclass(frozen=True)
class Place:
    """What is done to a child before the command."""

    name: str
    act: Callable[[], object]


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


_NEW_MOUNTS, _BIND, _REMOUNT, _RECURSIVE, _PRIVATE, _READ_ONLY = (
    0x20000, 0x1000, 0x20, 0x4000, 1 << 18, 1,
)  # fmt: skip


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


PLACES = [
    Place("standard input closed", partial(os.close, 0)),
    Place("standard output closed", partial(os.close, 1)),
    Place("standard error closed", partial(os.close, 2)),
    Place("all three closed", partial(os.closerange, 0, 3)),
    *(Place(f"{n} open files", _limit(resource.RLIMIT_NOFILE, n)) for n in (12, 20, 64)),
    *(Place(f"files of {n:,} bytes", _limit(resource.RLIMIT_FSIZE, n)) for n in (0, 4096, 65536)),
    *(Place(f"{n} MB more", partial(_less_memory, n << 20)) for n in (4, 32, 128)),
    Place("another user", _another_user),
    Place("a read-only disk", _read_only_disk),
    Place("HOME unset", partial(os.environ.pop, "HOME", None)),
]


def _commands() -> dict[str, kills.Written]:
    found = dict(kills.commands())
    name = ""
    for line in _READING.strip().splitlines():
        if not line.startswith(" "):
            name, needs = line.split(" | ")
        else:
            written = line.strip().replace("[--neighbours=20] ", "")
            found[name] = kills.Written(name, needs.split(), [], written)
    return found


def _run(folder: Path, command: str, place: Place | None, given: Path) -> Ended:
    temporary = given.with_name("temporary")
    temporary.mkdir(exist_ok=True)
    temporary.chmod(0o1777)

    def act() -> int:
        os.chdir(folder)
        tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
        os.dup2(os.open(given, os.O_RDONLY), 0)
        if place is not None:
            place.act()
        if command == kills.CLUSTER:
            return 0
        return run_main([os.fsencode(one) for one in command.split()])

    return forked(act)


def _judged(outcome: Outcome, what: str, ended: Ended, before: dict[str, str],
            after: dict[str, str], wanted: dict[str, str]) -> bool:  # fmt: skip
    """Judge an end; return whether something is left that the command may go on with."""
    outcome.counts[f"exit {ended.status}"] += 1
    said = ended.err.decode(errors="replace")
    differ = sorted(n for n in after.keys() | wanted.keys() if after.get(n) != wanted.get(n))
    left = sorted(n for n in after.keys() | before.keys() if after.get(n) != before.get(n))
    if ended.status is None or b"Traceback" in ended.err or ended.status not in (0, 1, 2):
        outcome.broken.append(f"{what}: exit {ended.status}: {said[-300:]!r}")
    elif ended.status == 0 and differ:
        outcome.broken.append(f"{what}: says nothing, and {differ[:5]} differ")
    if ended.status and not said.strip() and "closed" not in what and " 0 bytes" not in what:
        outcome.broken.append(f"{what}: exit {ended.status} without a word")
    lines = [line for line in said.strip().split("\n") if line.startswith("distsim: ")]
    if ended.status == 1 and said.strip() and len(lines) != 1:
        outcome.broken.append(f"{what}: not one sentence: {said[-300:]!r}")
    if not ended.status or not left:
        return False
    if not differ:
        outcome.counts["all written, not reported"] += 1
        return False
    return True


def in_places(scratch: Path, materials: Path, written: kills.Written) -> Outcome:
    """Run one command in every place; runs in a child of its own."""
    outcome = Outcome()
    start, folder = scratch / "start", scratch / "folder"
    start.mkdir()
    for name in written.needs:
        copy = shutil.copytree if (materials / name).is_dir() else shutil.copy2
        copy(materials / name, start / name)
    (start / "substitute.tsv").write_text("the\tking\tsees\n")
    given = scratch / "given"
    given.write_bytes((materials / "en").read_bytes() if "build -" in written.command else b"")
    if written.command.startswith("score -"):
        shutil.copy(materials / "para.gz", given)
    os.dup2(os.open(given, os.O_RDONLY), 0)
    # For the kernels; no thread may start here, as pyarrow's do.
    known = written.before if "parquet" in written.command else written.command
    warm(known.split(), renew(folder, start))
    outcome.check(n_threads() == 1, f"{n_threads()} threads before the fork")
    undisturbed = _run(renew(folder, start), written.command, None, given)
    if undisturbed.status != 0:
        outcome.broken.append(f"undisturbed: {undisturbed.err.decode()[-300:]}")
        return outcome
    before, wanted = snapshot(start), snapshot(folder)
    for place in PLACES:
        if place.name == "another user" and "parquet" in written.command and _HIDDEN:
            continue  # pyarrow is imported late, and they may not read this interpreter's library
        ended = _run(renew(folder, start), written.command, place, given)
        after = snapshot(folder)
        if _judged(outcome, place.name, ended, before, after, wanted):
            if written.command.startswith(_GOING_ON):
                again = _run(folder, written.command, None, given)
                found = snapshot(folder)
                wrong = [n for n in found.keys() | wanted.keys() if found.get(n) != wanted.get(n)]
                outcome.counts["gone on with"] += 1
                if again.status or wrong:
                    outcome.broken.append(f"{place.name}: gone on with: {sorted(wrong)[:5]} differ")
            else:
                names = sorted(after.keys() - before.keys())
                said = ended.err.decode(errors="replace")[-100:]
                outcome.broken.append(f"{place.name}: {said!r}, and {names[:5]} are left")
        writes = bool(written.outputs) or "-o new" in written.command
        if place.name in _NOT_WRITABLE and bool(ended.status) != writes:
            said = ended.err.decode(errors="replace")[-200:]
            outcome.broken.append(f"{place.name}: exit {ended.status}: {said}")
    if not written.command.startswith("make-grammar"):  # it notes where its texts stand
        base = Path(os.fsdecode(os.fsencode(scratch) + b"/" + ODD_FOLDER))
        shutil.rmtree(base, ignore_errors=True)
        shutil.copytree(start, base)
        names = {path.name for path in start.iterdir()} | set(written.outputs) | {"new.index"}
        arguments = [f"{base}/{one}" if one in names else one for one in written.command.split()]

        def odd() -> int:
            os.dup2(os.open(given, os.O_RDONLY), 0)
            return run_main([os.fsencode(one) for one in arguments])

        ended = forked(odd)
        if "parquet" not in written.name and "rewrite" not in written.name:
            _judged(outcome, "an odd folder", ended, before, snapshot(base), snapshot(base))
        if ended.status != 0:
            outcome.broken.append(f"an odd folder: {ended.err.decode(errors='replace')[-300:]}")
    return outcome


def _asked(name: str, only: str) -> bool:
    """Tell whether a name holds one of those that are parted by semicolons."""
    return any(one in name for one in only.split(";"))


def forked_commands(draw: random.Random, only: str) -> Outcome:
    """Run every command in every place."""
    total = Outcome()
    with common.scratch_folder("places") as scratch:
        materials = scratch / "materials"
        kills.make_materials(materials)
        for name, written in _commands().items():
            if not _asked(name, only) or written.command == kills.CLUSTER:
                continue
            kills.in_child(
                total, name, partial(in_places, materials=materials, written=written), scratch, 1800
            )
    return total


def _hidden() -> Path | None:
    """Return the folder that keeps others from the interpreter's own library, if one does."""
    folders = [Path(sys.base_prefix), *Path(sys.base_prefix).parents]
    return next((one for one in reversed(folders) if not one.stat().st_mode & 0o001), None)


_HIDDEN = _hidden()


def _opened() -> list[str]:
    """Return what lets everybody enter that folder, in mounts of the command's own."""
    if _HIDDEN is None:
        return []
    inside = Path(sys.base_prefix).relative_to(_HIDDEN)
    script = (
        f"mount -t tmpfs -o mode=755 none /mnt && mkdir -p /mnt/{inside} && "
        f"mount --bind {sys.base_prefix} /mnt/{inside} && mount --rbind /mnt {_HIDDEN} && "
        'exec "$@"'
    )
    return ["unshare", "-m", "sh", "-c", script, "sh"]


# As the shell starts it -------------------------------------------------------------------

_STARTED = {
    **{f"ulimit -v {n}": ["sh", "-c", f'ulimit -v {n} && exec "$@"', "sh"]
       for n in (100_000, 200_000, 300_000, 400_000, 600_000, 800_000, 1_200_000)},
    **{f"ulimit -n {n}": ["sh", "-c", f'ulimit -n {n} && exec "$@"', "sh"] for n in (8, 16, 32)},
    "ulimit -f 0": ["sh", "-c", 'ulimit -f 0 && exec "$@"', "sh"],
    "stdin closed": ["sh", "-c", 'exec "$@" <&-', "sh"],
    "stdout closed": ["sh", "-c", 'exec "$@" >&-', "sh"],
    "stderr closed": ["sh", "-c", 'exec "$@" 2>&-', "sh"],
    "all closed": ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"],
    "LANG=C": ["env", "LANG=C", "LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0"],
    "HOME unset": ["env", "-u", "HOME"],
    "nobody": [*_opened(), "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
               "env", "NUMBA_CACHE_DIR=/nonexistent", "HOME=/nonexistent"],
}  # fmt: skip
_TRIED = {
    "index build": ["index", "build", "--format", "text", "a.txt", "-o", "new.index"],
    "index build -": ["index", "build", "-", "-o", "new.index"],
    "count": ["count", "x.index", "the"],
    "neighbours": ["neighbours", "signed.index", "alice"],
    "pivot": ["pivot", "rules.gz", "-o", "new.gz"],
}


def started(draw: random.Random, only: str) -> Outcome:
    """Start the program as a shell does, with limits from its first moment."""
    outcome = Outcome()
    with common.scratch_folder("places") as scratch:
        materials = scratch / "materials"
        kills.make_materials(materials)
        folder = scratch / "folder"
        before = snapshot(renew(folder, materials))
        for place, prefix in _STARTED.items():
            for name, command in _TRIED.items():
                if not _asked(f"{place}, {name}", only):
                    continue
                renew(folder, materials)
                try:
                    done = subprocess.run(
                        [*prefix, *common.PROGRAM, *command], cwd=folder, check=False, timeout=180,
                        stdin=subprocess.DEVNULL, capture_output=True,
                        env={**os.environ, "PYTHONPATH": str(common.PROJECT)},
                    )  # fmt: skip
                    ended = Ended(done.returncode, done.stdout, done.stderr)
                except subprocess.TimeoutExpired:
                    ended = Ended(None)
                after = snapshot(folder)
                wanted = before if ended.status else after
                if _judged(outcome, f"{place}, {name}", ended, before, after, wanted):
                    outcome.broken.append(f"{place}, {name}: {after.keys() ^ before.keys()} left")
                said = ended.err.decode(errors="replace").strip().split("\n")[-1][:150]
                print(f"  {place}, {name}: exit {ended.status}: {said}", flush=True)
    return outcome


def in_c(draw: random.Random, only: str) -> Outcome:
    """Start every command with LANG=C, all its files in a folder of an odd name."""
    outcome = Outcome()
    with common.scratch_folder("places") as scratch:
        materials = scratch / "materials"
        kills.make_materials(materials)
        base = Path(os.fsdecode(os.fsencode(scratch) + b"/" + ODD_FOLDER))
        for name, written in _commands().items():
            if not _asked(name, only) or written.command == kills.CLUSTER:
                continue
            base.parent.mkdir(parents=True, exist_ok=True)
            renew(base, materials)
            (base / "substitute.tsv").write_text("the\tking\tsees\n")
            names = {path.name for path in base.iterdir()} | {*written.outputs, "new.index"}
            command, *words = written.command.split()
            arguments = [command, *(f"{base}/{one}" if one in names else one for one in words)]
            given = base / ("para.gz" if written.command.startswith("score -") else "en")
            try:
                with open(given, "rb") as stream:
                    done = subprocess.run(
                        [*_STARTED["LANG=C"], *common.PROGRAM, *arguments], cwd=scratch,
                        check=False, timeout=600, stdin=stream, capture_output=True,
                        env={**os.environ, "PYTHONPATH": str(common.PROJECT)},
                    )  # fmt: skip
                ended = Ended(done.returncode, done.stdout, done.stderr)
            except subprocess.TimeoutExpired:
                ended = Ended(None)
            outcome.counts[f"exit {ended.status}"] += 1
            said = ended.err.decode(errors="replace")
            missing = [one for one in written.outputs if not (base / one).exists()]
            if ended.status != 0 or missing or "Traceback" in said:
                outcome.broken.append(f"{name}: exit {ended.status}, {missing}: {said[-300:]!r}")
            for folder in (base.parent, *base.parent.parents[:2], scratch):
                beside = sorted(path.name for path in folder.iterdir())
                if len(beside) != (2 if folder == scratch else 1):
                    outcome.broken.append(f"{name}: {beside} in {folder}")
            print(f"  {name}: exit {ended.status}", flush=True)
    return outcome


if __name__ == "__main__":
    common.main(__doc__, {"forked": forked_commands, "started": started, "in_c": in_c}, only="")
