"""What commands that write leave when something comes between: all, nothing, or a beginning.

Each command is run undisturbed first, which gives the bytes that are wanted and the time it
takes; then again and again in copies of one folder, which holds nothing of its output, or an
older output and files of the user's among it.

kills: SIGKILL at random moments and before random steps of storage, every third time once more
while it goes on. signals: Ctrl-C, SIGTERM, SIGHUP. writers: a second one at once, of the same
command or of the one that wrote the older output. disk: full after so many bytes. links: planted
at the output's name and at names of unfinished files. Afterwards every file has its old bytes or
those of the undisturbed run, artifacts are sound, nothing of the user's has changed, an error is
one sentence; run again, the folder has the bytes of the undisturbed run and no other file.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.faults.commands import WRITING, Command, in_folder
from tests.faults.frame import (
    Budget,
    Case,
    Child,
    Ended,
    Outcome,
    faults_of,
    forked,
    n_threads,
    remove,
    renew,
    snapshot,
)  # fmt: skip

_LATEST = 1.1  # moments are drawn from so much of the time that an undisturbed run takes
# What a run that was killed may leave until it is run again: hidden, or named as unfinished; the
# list of the steps that make-grammar has done; a projection that no table names yet.
_LEAVING = re.compile(
    r"(^|/)\.|\.part$|\.[0-9a-f]{12}\.bin$|/steps\.json$|/projection(/manifest\.json)?$"
)
# Commands that leave what they go on with; the folder of a run goes when its user removes it.
GOES_ON = ("make-grammar", "annotate", "augment --unknown", "paraphrase", "rewrite", "cluster")
ONCE = ("index remove",)  # done, they are refused when run again: there is nothing left to do
_LITTER = {"cluster": re.compile(r"^work(/|$)")}
_NO_LITTER = re.compile(r"(?!)")
_MINE = {  # files of the user's, where an older output stands; names may look like ours
    "notes.txt": "mine\n", "mine.bin": "mine\n", "tokens.0123456789ab.bin": "mine\n",
    ".hidden": "mine\n", "new.gz.part.mine": "mine\n", "new.gz.answers": "mine\n",
}  # fmt: skip


class Trial:
    """One command and a folder to begin from."""

    def __init__(self, place: Path, start: Path, command: Command, outcome: Outcome) -> None:
        self.start, self.folder, self.temporary = start, place / "folder", place / "temporary"
        self.command, self.outcome = command, outcome
        self._litter = _LITTER.get(command.name.split()[0], _NO_LITTER)
        self.goes_on = command.name.startswith(GOES_ON)
        self.old = self._seen(start)
        self.renew()
        ended = self.run()
        if ended.status != 0:
            raise SystemExit(f"undisturbed: exit {ended.status}: {ended.said[-2000:]}")
        self.new = self.seen()
        self.renew()
        self.seconds = self.run().seconds
        outcome.check(self.seen() == self.new, "two undisturbed runs differ")

    def seen(self) -> dict[str, str]:
        """Return what stands in the folder, but what a run's own folder holds."""
        return self._seen(self.folder)

    def _seen(self, folder: Path) -> dict[str, str]:
        found = snapshot(folder)
        return {name: is_ for name, is_ in found.items() if not self._litter.match(name)}

    def renew(self) -> None:
        renew(self.folder, self.start)
        remove(self.temporary)
        self.temporary.mkdir()

    def act(self) -> Callable[[], int]:
        self.temporary.mkdir(exist_ok=True)
        return in_folder(self.command, self.folder, self.temporary)

    def run(self, **waiting: float) -> Ended:
        return forked(self.act(), **waiting)

    def broken(self, how: str, what: str) -> None:
        self.outcome.broken.append(f"{how}: {what}")

    def is_done(self) -> bool:
        """Return whether the command may be refused since its outputs are in place."""
        names = [f"{output}/manifest.json" for output in self.command.outputs]
        seen = self.seen()
        return self.command.name.startswith(ONCE) and all(
            seen.get(name) == self.new[name] for name in names
        )

    def again(self, how: str) -> None:
        """Run the command to its end; the folder must be as the undisturbed run has left it."""
        is_done = self.is_done()
        ended = self.run()
        if ended.status != 0 and not (is_done and ended.is_one_sentence()):
            self.broken(how, f"run again: exit {ended.status}: {ended.said[-400:]}")
        found = self.seen()
        wrong = [n for n in found.keys() | self.new.keys() if found.get(n) != self.new.get(n)]
        for name in sorted(wrong)[:3]:
            what = {None: "missing"}.get(found.get(name), "left over")
            what = "different" if name in found and name in self.new else what
            self.broken(how, f"run again: {name} is {what}, one of {len(wrong)}")
        if left := sorted(path.name for path in self.temporary.iterdir()):
            self.broken(how, f"run again: {left} left among temporary files")

    def judge(self, how: str, may_leave: bool) -> None:
        """Look at what a disturbance has left."""
        found = self.seen()
        for name in sorted(found.keys() | self.old.keys()):
            old, new, now = (one.get(name) for one in (self.old, self.new, found))
            if now is None and old is not None and old == new:
                self.broken(how, f"{name} is gone")
            if now is None or now in (old, new):
                continue
            if not may_leave or not _LEAVING.search(name) or (old is not None and old == new):
                self.broken(how, f"{name} is half-written, or nobody's")
        for output in self.command.outputs:
            if output in self.old and output not in found:
                self.broken(how, f"the old {output} is gone and the new one not there")
        for manifest in self.folder.rglob("manifest.json"):
            inside = manifest.parent.relative_to(self.folder)
            hidden = any(part.startswith(".") for part in inside.parts)
            if hidden or self._litter.match(str(inside)):
                continue
            if faults := faults_of(manifest.parent):
                self.broken(how, f"{inside}: {faults}")
        state = {str(self.old): "old", str(self.new): "new"}.get(str(found), "midway")
        self.outcome.counts[f"left {state}"] += 1

    def judge_refusal(self, how: str, ended: Ended, status: int = 1) -> None:
        """Judge a run that had to give up: a sentence, nothing half-written."""
        if ended.status == 0:
            self.outcome.counts["done all the same"] += 1
            if self.seen() != self.new:
                self.broken(how, "says nothing, and the output is another")
        else:
            sentences = ended.said.count("distsim: ")
            if ended.status != status or sentences != 1 or "Traceback" in ended.said:
                self.broken(how, f"exit {ended.status}: {ended.said[-300:]!r}")
            self.judge(how, self.goes_on)


def _starts(place: Path, command: Command) -> list[Path]:
    """Return folders to begin from: bare, and with an older output and the user's files."""
    bare = place / "start"
    if not command.before and not command.is_change:
        return [bare]
    old = renew(place / "old", bare)
    if command.before:
        earlier = Command("before", (), (), command.before)
        forked(in_folder(earlier, old, place))
    for folder in [old, *(old / one for one in command.outputs)]:
        if folder == old or (folder / "manifest.json").exists():
            for name, text in _MINE.items():
                (folder / name).write_text(text)
    return [old] if command.is_change else [bare, old]


def _trials(place: Path, command: Command, outcome: Outcome) -> list[Trial]:
    starts = _starts(place, command)
    command.warm(renew(place / "warm", starts[0]))
    outcome.check(n_threads() == 1, f"{n_threads()} threads before the fork")
    return [Trial(place / f"trial-{n}", start, command, outcome) for n, start in enumerate(starts)]


def _arm(step: int, count: Path | None = None) -> None:
    """Let this process kill itself before its step-th change of the file system by storage."""
    from distsim import storage

    done = 0

    def guard(function: Callable) -> Callable:  # type: ignore[type-arg]
        def guarded(*arguments, **options):  # type: ignore[no-untyped-def]
            nonlocal done
            if done == step:
                os.kill(os.getpid(), signal.SIGKILL)
            done += 1
            if count is not None:
                count.write_bytes(b"%d" % done)
            return function(*arguments, **options)

        return guarded

    for name in ("replace", "rename", "fsync"):
        setattr(os, name, guard(getattr(os, name)))
    for name in ("unlink", "mkdir", "rmdir"):
        setattr(Path, name, guard(getattr(Path, name)))
    storage.ArrayStream.append = guard(storage.ArrayStream.append)  # type: ignore[method-assign]


def dies_at(step: int, act: Callable[[], object]) -> bool:
    """Do something in a child that kills itself before a step of storage; tell if it did."""

    def armed() -> int:
        _arm(step)
        act()
        return 0

    ended = forked(armed)
    if ended.status not in (0, -signal.SIGKILL):
        raise RuntimeError(ended.said)
    return ended.status != 0


def kill(trial: Trial, draw: random.Random, times: int) -> None:
    """Kill the command so many times."""
    count = trial.folder.with_name("steps")
    trial.renew()

    def counting() -> int:
        act = trial.act()
        _arm(-1, count)
        return act()

    forked(counting)
    n_steps = int(count.read_bytes()) if count.exists() else 0
    number = 0
    while times > 0:
        trial.renew()
        number += 1
        how = "killed"
        for _ in range(min(times, 2 if number % 3 == 0 else 1)):
            times -= 1
            if n_steps and draw.random() < 0.4:
                step = draw.randrange(n_steps)
                how += f" before step {step}"
                died = dies_at(step, trial.act())
            else:
                moment = draw.uniform(0, _LATEST * trial.seconds)
                how += f" after {moment:.3f} s"
                is_done = trial.is_done()
                ended = trial.run(after=moment)
                died = ended.status == -signal.SIGKILL
                if not died and ended.status != 0 and not is_done:
                    trial.broken(how, f"exit {ended.status}: {ended.said[-300:]}")
            trial.outcome.counts["killed" if died else "ended before"] += 1
            trial.judge(how, True)
        trial.again(how)


def interrupt(trial: Trial, draw: random.Random, times: int) -> None:
    """Send signals that ask the command to end."""
    for _ in range(-(-times // 5)):
        number = draw.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        moment = draw.uniform(0.1, _LATEST) * trial.seconds
        how = f"{number.name} after {moment:.3f} s"
        trial.renew()
        ended = trial.run(after=moment, number=number)
        if ended.status == -number:  # the program has not begun
            trial.outcome.counts["before it began"] += 1
        elif trial.command.words[0] != "!":
            trial.judge_refusal(how, ended, 128 + number)
        trial.again(how)


def two_writers(trial: Trial, draw: random.Random, times: int) -> None:
    """Start a second writer while the first is at work."""
    other = Command("other", (), trial.command.outputs, trial.command.before)
    trial.renew()
    alone = [trial.new, trial.old]
    if trial.command.before:
        forked(in_folder(other, trial.folder, trial.temporary))
        alone.append(trial.seen())
    for number in range(-(-times // 3)):
        trial.renew()
        moment = draw.uniform(0, trial.seconds)
        is_other = trial.command.before and number % 3 == 2
        how = f"{'another' if is_other else 'a second'} writer after {moment:.3f} s"
        first = Child(trial.act())
        time.sleep(moment)
        second = Child(in_folder(other, trial.folder, trial.temporary) if is_other else trial.act())
        ends = [first.wait(), second.wait()]
        for ended in ends:
            trial.outcome.counts[f"exit {ended.status}"] += 1
            if ended.status != 0 and not ended.is_one_sentence():
                trial.broken(how, f"exit {ended.status}: {ended.said[-300:]!r}")
        if all(ended.status for ended in ends):
            trial.broken(how, f"both refused: {[ended.said for ended in ends]}")
        found = trial.seen()
        if not is_other and found != trial.new:
            names = {name for name in found.keys() | trial.new.keys()
                     if found.get(name) != trial.new.get(name)}  # fmt: skip
            trial.broken(how, f"{sorted(names)[:5]} differ")
        for output in trial.command.outputs:
            parts = [
                {name: is_ for name, is_ in one.items() if name.split("/")[0] == output}
                for one in (found, *alone)
            ]
            if parts[0] not in parts[1:]:
                trial.broken(how, f"{output} is of neither")
        trial.again(how)


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[int], None] | None]:
    """Mount a disk of its own at a folder; gives what sets its size in bytes, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        yield None
        return

    def limit(size: int) -> None:
        option = f"remount,size={max(4096, size)}"
        subprocess.run(["mount", "-o", option, str(folder)], check=True)

    try:
        yield limit
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_disk(trial: Trial, draw: random.Random, times: int) -> None:
    """Run the command on disks that are full after some bytes; then again, with room."""
    disk = trial.folder.with_name("disk")
    with small_disk(disk) as limit:
        if limit is None:
            trial.outcome.counts["skipped: mount is not allowed here"] += 1
            return
        trial.folder, trial.temporary = disk / "folder", disk / "temporary"
        trial.renew()
        before = shutil.disk_usage(disk).used
        trial.run()
        trial.new = trial.seen()  # some outputs name the folder that they stand in
        needed = max(0, shutil.disk_usage(disk).used - before) + (64 << 10)
        for number in range(-(-times // 6)):
            room = 0 if number == 0 else draw.randrange(needed)
            limit(1 << 30)
            trial.renew()
            limit(shutil.disk_usage(disk).used + room)
            how = f"{room:,} bytes of {needed:,} free"
            trial.judge_refusal(how, trial.run())
            limit(1 << 30)
            trial.again(how)


def plant_links(trial: Trial, draw: random.Random, times: int) -> None:
    """Plant links where the output and its unfinished files stand; what they lead to stays."""
    victim = trial.folder.with_name("victim")
    for output in trial.command.outputs:
        names = [output, f".{output}.unfinished", f".{output}.PID.unfinished", f"{output}.part",
                 f".{output}.distsim-part"]  # fmt: skip
        for name in names:
            for kind in ("file", "folder", "nothing", "hard link", "hard link to nothing"):
                remove(victim)
                victim.mkdir()
                (victim / "file").write_text("" if "to nothing" in kind else "mine, no newline")
                trial.renew()
                before = snapshot(victim)
                how = f"{name}, a link to {kind}"
                ended = forked(partial(_planted, trial, name, kind, victim))
                after = snapshot(victim)
                if name == output and kind in ("file", "nothing"):  # a link that the user named
                    target = {"file": "file", "nothing": "none"}[kind]
                    if _under(after, target) == _under(trial.new, output):  # whole; the link stays
                        for one in (after, before):
                            for inside in [n for n in one if n.split("/")[0] == target]:
                                del one[inside]
                if after != before:
                    trial.broken(how, f"it was written through: {sorted(after)}")
                if ended.status != 0 and not ended.is_one_sentence():
                    trial.broken(how, f"exit {ended.status}: {ended.said[-300:]!r}")
                trial.outcome.counts["refused" if ended.status else "written"] += 1


def _under(found: dict[str, str], name: str) -> dict[str, str]:
    """Return what is at a name, or in the folder of this name."""
    return {at[len(name) :]: is_ for at, is_ in found.items() if at.split("/")[0] == name}


def _planted(trial: Trial, name: str, kind: str, victim: Path) -> int:
    place = trial.folder / name.replace("PID", str(os.getpid()))
    if place.is_dir() and not place.is_symlink():
        remove(place)
    place.unlink(missing_ok=True)
    if kind.startswith("hard link"):
        os.link(victim / "file", place)
    else:
        place.symlink_to({"file": victim / "file", "folder": victim}.get(kind, victim / "none"))
    return trial.act()()


Way = Callable[[Trial, random.Random, int], None]
WAYS: dict[str, Way] = {
    "kills": kill, "signals": interrupt, "writers": two_writers, "disk": fill_disk,
    "links": plant_links,
}  # fmt: skip


def _work(way: Way, command: Command, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    outcome = Outcome()
    trials = _trials(place, command, outcome)
    for number, trial in enumerate(trials):
        n = len(trials)
        way(trial, draw, budget.kills * (number + 1) // n - budget.kills * number // n)
    return outcome


_TINY = ("kills/index build of folders", "kills/pivot", "writers/rerank", "disk/align")


def cases() -> list[Case]:
    """Return every command, disturbed in every way."""
    return [
        Case(f"{name}/{command.name}", partial(_work, way, command), command.needs,
             f"{name}/{command.name}" in _TINY)
        for name, way in WAYS.items()
        for command in WRITING.values()
    ]  # fmt: skip
