"""Processes read one index while a writer adds shards, signs anew and builds it again.

Every reader opens the index again and again and keeps another open from the start; what it counts
must be the count of a single state for all phrases at once, and a table's similarities those of a
single table. Verifying meanwhile must find nothing.
"""

import multiprocessing
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.faults.commands import write_texts
from tests.faults.frame import Budget, Case, Outcome, d, run_here

PHRASES = ("the", "of the", "said", "and the", "time", "in a")
PAIRS = [("time", "day"), ("the", "a"), ("said", "thought"), ("in the", "of the")]
_BUILD = "index build --format text a.txt -o x.index --force"
_CHANGES = ("index add x.index b.txt --again", "index add x.index c.txt --again", _BUILD,
            "sign x.index --min-count 3", "sign x.index --preset thesis")  # fmt: skip
_TRIES = 1000  # of verifying, while a table of the text before is on its way out
READERS = ("count", "kwic", "similarity", "verify")


def look(path: Path, what: str) -> tuple[str, Any]:
    """Open the index and answer one kind of question; the state's checksum, and the answers."""

    if what == "count":
        index = d.CorpusIndex.open(path)
        return index.checksum, tuple(index.count(PHRASES).tolist())
    if what == "kwic":
        index = d.CorpusIndex.open(path)
        return index.checksum, tuple(index.concordance("time", order="left", width=4))
    if what == "similarity":
        try:
            table = d.SignatureTable.open(path)
        except d.ArtifactError:  # an index that was built anew takes its old table with it
            return "unsigned", ()
        return str(table.parameters), tuple(d.similarities(table, PAIRS))
    for _ in range(_TRIES):
        with suppress(d.ArtifactError):  # the table went while it was read
            faults = d.find_faults(path)
            if not any("signatures" in fault for fault in faults):
                return "", tuple(faults)
    return "", tuple(d.find_faults(path))


def _read(path: Path, what: str, stop: Any, results: Any) -> None:
    """Look until told to stop; tell what was seen, and how often."""

    first = d.CorpusIndex.open(path)
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


def watch(path: Path, n_readers: int, changes: list[Callable[[], None]]) -> Outcome:
    """Make changes while readers look; count their looks and the states that there were."""
    context = multiprocessing.get_context("fork")
    stop, results = context.Event(), context.Queue()
    whats = [READERS[n % len(READERS)] for n in range(n_readers)]
    readers = [context.Process(target=_read, args=(path, what, stop, results)) for what in whats]
    states = [{what: look(path, what) for what in READERS}]
    for reader in readers:
        reader.daemon = True  # whatever happens here, they end with us
        reader.start()
    try:
        for change in changes:
            change()
            states.append({what: look(path, what) for what in READERS})
    finally:
        stop.set()
    outcome = Outcome(Counter(states=len({state["count"] for state in states})))
    for _ in readers:
        what, seen, error = results.get(timeout=120)
        outcome.check(error is None, f"{what}: {error}")
        allowed = {state[what] for state in states} | {("unsigned", ())}
        outcome.counts[f"{what}: looks"] += sum((seen or {}).values())
        outcome.broken += [f"{what}: saw {one!r}" for one in seen or () if one not in allowed]
    for reader in readers:
        reader.join()
    return outcome


def prepare(folder: Path) -> Path:
    """Make a signed index to begin with; return it."""
    write_texts(folder)
    run_here(folder, _BUILD)
    run_here(folder, "sign x.index")
    return folder / "x.index"


def plan(folder: Path, n: int, draw: random.Random) -> list[Callable[[], None]]:
    """Return n changes, in an order that is drawn."""
    drawn = [_CHANGES[i % len(_CHANGES)] for i in range(n)]
    draw.shuffle(drawn)
    return [lambda command=command: run_here(folder, command) for command in drawn]  # type: ignore[misc]


def beside_a_writer(place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Read with six processes while the index changes."""
    path = prepare(place)
    return watch(path, 6, plan(place, budget.rounds * 2, draw))


def cases() -> list[Case]:
    """Return the one case."""
    return [Case("readers beside a writer", beside_a_writer)]
