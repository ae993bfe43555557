"""Many processes read one index while a writer adds shards, signs anew and builds it again.

Measured: whether each reader sees one of the states that were written, whole. Every reader
opens the index again and again and keeps another open from the start; what it counts must be
the count of a single state for all phrases at once, and a table's similarities those of a
single table. Verifying meanwhile must find nothing. Exit status 1 if anything else was seen.

    python -m tests.faults.readers [--readers 6] [--changes 12] [--seed 1]

Peers: none; the yardstick is the promise.
"""

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.faults.artifacts import run_here, write_corpus

PHRASES = ("the", "of the", "said", "and the", "time", "in a")
PAIRS = [("time", "day"), ("the", "a"), ("said", "thought"), ("in the", "of the")]
_BUILD = "index build --format text a.txt -o x.index --force"
_TRIES = 1000  # of verifying, while a table of the text before is on its way out
READERS = ("count", "kwic", "similarity", "verify")

# What a reader saw: the checksum of the state, and its answers.
Seen = tuple[str, Any]


def look(path: Path, what: str) -> Seen:
    """Open the index and answer one kind of question from it."""
    from distsim import ArtifactError, CorpusIndex, SignatureTable, similarities
    from distsim.output.verification import find_faults

    if what == "count":
        index = CorpusIndex.open(path)
        return index.checksum, tuple(index.count(PHRASES).tolist())
    if what == "kwic":
        index = CorpusIndex.open(path)
        lines = index.concordance("time", order="left", width=4)
        return index.checksum, tuple(lines)
    if what == "similarity":
        try:
            table = SignatureTable.open(path)
        except ArtifactError:  # an index that was built anew takes its old table with it
            return "unsigned", ()
        return str(table.parameters), tuple(similarities(table, PAIRS))
    for _ in range(_TRIES):
        with suppress(ArtifactError):  # the table went while it was read
            faults = find_faults(path)
            if not any("signatures" in fault for fault in faults):
                return "", tuple(faults)
    return "", tuple(find_faults(path))


def _read(path: Path, what: str, stop: Any, results: Any) -> None:
    """Look until told to stop; tell what was seen, and how often."""
    from distsim import CorpusIndex

    first = CorpusIndex.open(path)
    first_counts = first.count(PHRASES).tolist()
    seen: Counter[Any] = Counter()
    try:
        while not stop.is_set():
            seen[look(path, what)] += 1
            if first.count(PHRASES).tolist() != first_counts:
                raise AssertionError("an index that was open changed its answers")
    except BaseException as error:
        results.put((what, None, f"{type(error).__name__}: {error}"))
        return
    results.put((what, seen, None))


def watch(
    path: Path, n_readers: int, changes: list[Callable[[], None]], legal: list[dict[str, Seen]]
) -> tuple[Counter[str], list[str]]:
    """Make changes while readers look; return how often each state was seen, and faults.

    legal: filled with what every state answers, after each change.
    """
    context = multiprocessing.get_context("fork")
    stop, results = context.Event(), context.Queue()
    readers = [
        context.Process(target=_read, args=(path, READERS[n % len(READERS)], stop, results))
        for n in range(n_readers)
    ]
    legal.append({what: look(path, what) for what in READERS})
    for reader in readers:
        reader.daemon = True  # whatever happens here, they end with us
        reader.start()
    try:
        for change in changes:
            change()
            legal.append({what: look(path, what) for what in READERS})
    finally:
        stop.set()
    looks: Counter[str] = Counter()
    faults: list[str] = []
    for _ in readers:
        what, seen, error = results.get(timeout=120)
        if error is not None:
            faults.append(f"{what}: {error}")
            continue
        allowed = {state[what] for state in legal}
        if what == "similarity":
            allowed.add(("unsigned", ()))
        looks[f"{what}: looks"] += sum(seen.values())
        looks[f"{what}: states seen at most by one"] = max(
            looks[f"{what}: states seen at most by one"], len(seen)
        )
        faults += [f"{what}: saw {one!r}" for one in seen if one not in allowed]
    for reader in readers:
        reader.join()
    return looks, faults


def plan(folder: Path, n: int, draw: random.Random) -> list[Callable[[], None]]:
    """Return n changes: adding, signing, verifying the old state away by building anew."""
    commands = ["index add x.index b.txt --again", "index add x.index c.txt --again", _BUILD,
                "sign x.index --min-count 3", "sign x.index --preset thesis"]  # fmt: skip
    drawn = [commands[i % len(commands)] for i in range(n)]
    draw.shuffle(drawn)
    return [lambda command=command: run_here(folder, command) for command in drawn]


def prepare(folder: Path, tokens: int) -> Path:
    """Make the corpus and a signed index to begin with; return the index."""
    folder.mkdir(parents=True, exist_ok=True)
    write_corpus(folder, tokens)
    run_here(folder, _BUILD)
    run_here(folder, "sign x.index")
    return folder / "x.index"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--readers", type=int, default=6)
    parser.add_argument("--changes", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=60_000, help="of each of three texts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="distsim-readers-") as made:
        path = prepare(Path(made), options.tokens)
        begun = time.monotonic()
        states: list[dict[str, Seen]] = []
        changes = plan(path.parent, options.changes, random.Random(options.seed))
        looks, faults = watch(path, options.readers, changes, states)
    print(
        f"{options.readers} readers, {options.changes} changes, "
        f"{len({state['count'] for state in states})} different totals, "
        f"{time.monotonic() - begun:.0f} s"
    )
    for what, times in sorted(looks.items()):
        print(f"{what}: {times:,}")
    for fault in faults[:10]:
        print(f"FAIL {fault[:300]}")
    print(f"{len(faults)} promises broken")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
