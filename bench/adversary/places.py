"""All commands where and as they should not be run: an answer, or a sentence and nothing left.

    python bench/adversary/places.py [forked started] [--only COMMAND] [--seed 1]

forked: every command of kills.py and every one that reads, in forked children with standard
input, output or error closed, few open files, short files, little memory, as another user who may
read but not write, HOME unset, and with all its files in a folder whose name holds spaces, a
newline, a tab and bytes that are no UTF-8. started: some of them as processes of their own, where
Python and libraries themselves meet `ulimit -v`, closed streams, LANG=C. A command ends with 0 and
what an undisturbed run writes, or with 1 or 2, one sentence, and the folder as it was; never by a
traceback, a signal or a hang. Peers: none.
"""

import os
import random
import resource
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import common
import kills
from common import Ended, Outcome, forked, n_threads, renew, run_main, snapshot, warm

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


@dataclass(frozen=True)
class Place:
    """What is done to a child before the command; `fine`: statuses that are no surprise."""

    name: str
    act: Callable[[], object]
    env: dict[str, str] | None = None


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


PLACES = [
    Place("standard input closed", partial(os.close, 0)),
    Place("standard output closed", partial(os.close, 1)),
    Place("standard error closed", partial(os.close, 2)),
    Place("all three closed", partial(os.closerange, 0, 3)),
    *(Place(f"{n} open files", _limit(resource.RLIMIT_NOFILE, n)) for n in (12, 20, 64)),
    *(Place(f"files of {n:,} bytes", _limit(resource.RLIMIT_FSIZE, n)) for n in (0, 4096, 65536)),
    *(Place(f"{n} MB more", partial(_less_memory, n << 20)) for n in (4, 32, 128)),
    Place("another user", _another_user),
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
    def act() -> int:
        os.chdir(folder)
        os.dup2(os.open(given, os.O_RDONLY), 0)
        if place is not None:
            place.act()
        if command == kills.CLUSTER:
            return 0
        return run_main([os.fsencode(one) for one in command.split()])

    return forked(act)


def _judged(outcome: Outcome, what: str, ended: Ended, before: dict[str, str],
            after: dict[str, str], wanted: dict[str, str]) -> None:  # fmt: skip
    outcome.counts[f"exit {ended.status}"] += 1
    said = ended.err.decode(errors="replace")
    if ended.status is None or b"Traceback" in ended.err or ended.status not in (0, 1, 2):
        outcome.broken.append(f"{what}: exit {ended.status}: {said[-300:]!r}")
    elif ended.status == 0 and after != wanted:
        names = [n for n in after.keys() | wanted.keys() if after.get(n) != wanted.get(n)]
        outcome.broken.append(f"{what}: says nothing, and {sorted(names)[:5]} differ")
    elif ended.status and after != before:
        names = [n for n in after.keys() | before.keys() if after.get(n) != before.get(n)]
        if not all(n.endswith((".part", ".progress", "steps.json")) for n in names):
            outcome.broken.append(f"{what}: {said[-100:]!r}, and {sorted(names)[:5]} are left")
    if ended.status and not said.strip() and "closed" not in what and " 0 bytes" not in what:
        outcome.broken.append(f"{what}: exit {ended.status} without a word")
    lines = [line for line in said.strip().split("\n") if line.startswith("distsim: ")]
    if ended.status == 1 and said.strip() and len(lines) != 1:
        outcome.broken.append(f"{what}: not one sentence: {said[-300:]!r}")


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
    if "parquet" not in written.command:
        os.dup2(os.open(given, os.O_RDONLY), 0)
        warm(written.command.split(), renew(folder, start))
    outcome.check(n_threads() == 1, f"{n_threads()} threads before the fork")
    undisturbed = _run(renew(folder, start), written.command, None, given)
    if undisturbed.status:
        outcome.broken.append(f"undisturbed: {undisturbed.err.decode()[-300:]}")
        return outcome
    before, wanted = snapshot(start), snapshot(folder)
    for place in PLACES:
        ended = _run(renew(folder, start), written.command, place, given)
        _judged(outcome, place.name, ended, before, snapshot(folder), wanted)
        writes = bool(written.outputs) or "-o new" in written.command
        if place.name == "another user" and bool(ended.status) != writes:
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
        if ended.status:
            outcome.broken.append(f"an odd folder: {ended.err.decode(errors='replace')[-300:]}")
    return outcome


def forked_commands(draw: random.Random, only: str) -> Outcome:
    """Run every command in every place."""
    total = Outcome()
    with common.scratch_folder("places") as scratch:
        materials = scratch / "materials"
        kills.make_materials(materials)
        for name, written in _commands().items():
            if only not in name or written.command == kills.CLUSTER:
                continue
            kills.in_child(
                total, name, partial(in_places, materials=materials, written=written), scratch, 1800
            )
    return total


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
    "nobody": ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env",
               "NUMBA_CACHE_DIR=/nonexistent", "HOME=/nonexistent"],
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
                if only not in f"{place}, {name}":
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
                _judged(outcome, f"{place}, {name}", ended, before, after, after)
                said = ended.err.decode(errors="replace").strip().split("\n")[-1][:150]
                print(f"  {place}, {name}: exit {ended.status}: {said}", flush=True)
    return outcome


if __name__ == "__main__":
    common.main(__doc__, {"forked": forked_commands, "started": started}, only="")
