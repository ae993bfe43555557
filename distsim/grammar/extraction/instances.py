"""Instances of the rules of a linked text, in runs by foreign side."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import numpy as np

from distsim.base.arguments import (
    Chains,
    ExtractPreset,
    Labels,
    Unlabelled,
    check_types,
    in_range,
    one_of,
)
from distsim.base.errors import ParameterError, check_interrupted
from distsim.base.parallel import Progress, Run, available_cores
from distsim.base.settings import presets
from distsim.grammar.extraction.linked_text import LinkedText
from distsim.grammar.kernels import extraction as kernels
from distsim.grammar.kernels.extraction import COLUMNS, extract_rows
from distsim.grammar.kernels.rule_counts import partition_rows

_LABELS: dict[str, int] = {
    "none": kernels.X_ONLY,
    "thesis": kernels.THESIS,
    "slashes": kernels.NO_SUMS,
    "constituents": kernels.CONSTITUENTS,
    "every": kernels.EVERY,
}
_UNLABELLED: dict[str, int] = {
    "keep": kernels.NONE_NEEDED,
    "drop-gappy": kernels.IN_GAPPY,
    "drop": kernels.IN_ALL,
}
_LONGEST_GAPPY = 15  # a gap's place is four bits


@dataclass(frozen=True, kw_only=True)
class ExtractOptions:
    """Options of an extraction: limits and labels of rules; the defaults are those of Hiero.

    Arguments:
        longest: tokens of an initial pair, on either side; at most 15 where there are gaps.
        most_symbols: symbols of either side of a rule with gaps.
        most_gaps: 0, 1 or 2.
        loose: the edges of an initial pair may run on over unlinked words; many more rules.
        min_linked: linked words that must be outside the gaps.
        may_touch: two gaps may be neighbours on the source side.
        labels: `none` (all are X); `thesis`, the first of constituent, X/Y, X\\Y, X+Y, X+Y+Z
            (thesis 3.2.2); `slashes`, without sums; `constituents` alone (Callison-Burch 2008, 3);
            `every`, a rule for each label that the span has (the same, 3.2), no gaps.
        unlabelled: what becomes of rules with X as label or gap where there are trees:
            `keep`, `drop-gappy` (only those with gaps) or `drop`.
        chains: of constituents over the same words the `top` one or the `bottom` one.
        whole: each sentence pair, however long, is a rule too.
        min_count: rarer rules are left out once everything is counted; those of one word
            without gaps stay.

    >>> ExtractOptions(most_gaps=0, longest=7).labels
    'none'
    """

    longest: int = 10
    most_symbols: int = 5
    most_gaps: int = 2
    loose: bool = False
    min_linked: int = 1
    may_touch: bool = False
    labels: Labels = "none"
    unlabelled: Unlabelled = "keep"
    chains: Chains = "top"
    whole: bool = True
    min_count: int = 1

    def __post_init__(self) -> None:
        check_types(self)
        in_range(self.most_gaps, "most_gaps", 0, 2)
        top = _LONGEST_GAPPY if self.most_gaps else kernels.CHART - 1
        in_range(self.longest, "longest", 1, top)
        in_range(self.most_symbols, "most_symbols", 1, top)
        in_range(self.min_linked, "min_linked", 0)
        in_range(self.min_count, "min_count", 1)
        one_of(self.labels, _LABELS, "labels")
        one_of(self.unlabelled, _UNLABELLED, "unlabelled")
        one_of(self.chains, get_args(Chains), "chains")
        if self.labels == "every" and self.most_gaps:
            raise ParameterError("labels 'every' is for rules without gaps: set most_gaps to 0")

    def settings(self, has_trees: bool) -> np.ndarray:
        """Return the options as the kernels read them, int64[9].

        has_trees: without trees every label is X, and none is needed.

        >>> ExtractOptions(labels="thesis", unlabelled="drop").settings(False).tolist()
        [10, 5, 2, 0, 1, 0, 0, 0, 1]
        """
        return np.array(
            [
                self.longest,
                self.most_symbols,
                self.most_gaps,
                self.loose,
                self.min_linked,
                self.may_touch,
                _LABELS[self.labels] if has_trees else kernels.X_ONLY,
                _UNLABELLED[self.unlabelled] if has_trees else kernels.NONE_NEEDED,
                self.whole,
            ],
            np.int64,
        )


# What `distsim extract --preset NAME` starts from: data/recipes/extract/NAME.toml.
PRESETS = presets("extract", get_args(ExtractPreset), ExtractOptions())


PART_BITS = 10  # runs are in so many parts by the leading bits of the foreign hash
_ROW_BYTES = 8 * COLUMNS
_FEWEST_ROWS, _MOST_ROWS = 1 << 16, 1 << 20  # of a run
_BLOCK_SENTENCES = 512
_BYTES_A_ROW = 2 * _ROW_BYTES + 16  # kept, its sorted copy, room
MEMORY = 1 << 30  # that extraction takes by itself
_HELD = 2  # of the memory for rows, one part of so many is for runs that are not written


@dataclass
class Runs:
    """Runs of rows, each in parts by the leading bits of the foreign hash, the last one first.

    The first runs are in memory, as many as fit; the others are files. Reading from the first part
    on takes from the ends of the files, which are cut as they are read.

    Attributes:
        folder: of the files.
        most_held: rows in memory.
        instances: rows in all.
        runs: paths, or arrays uint64[n, 5].
        counts: int64, rows of each part, by run.
        lock: held while a run is added.
    """

    folder: Path
    most_held: int = 0  # rows
    instances: int = 0
    runs: list[Path | np.ndarray] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)  # rows of each part
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, rows: np.ndarray, n: int) -> bool:
        """Add rows[:n] as a run and return whether it stays in memory; the rows are reordered.

        Arguments:
            rows: uint64[m, 5], occurrences of rules.
            n: number of rows that are filled.
        """
        counts = partition_rows(rows, n, PART_BITS, np.empty((n, COLUMNS), np.uint64))
        with self.lock:
            is_held = n <= self.most_held
            self.most_held -= n if is_held else 0
            path = self.folder / f"run{len(self.runs)}"
            self.runs.append(rows[:n] if is_held else path)
            self.counts.append(counts)
        if not is_held:
            with open(path, "wb") as file:
                file.write(_bytes_of(rows[:n]))
        return is_held

    @property
    def held(self) -> int:
        """Bytes of the runs in memory."""
        return sum(run.nbytes for run in self.runs if isinstance(run, np.ndarray))

    @property
    def files(self) -> list[Path]:
        """Paths of the runs on the disk."""
        return [run for run in self.runs if isinstance(run, Path)]

    def groups(self, most_rows: int) -> list[tuple[int, int]]:
        """Return ranges of parts (first, stop) of at most most_rows rows, or of a single part.

        Arguments:
            most_rows: maximum number of rows of a range.
        """
        sizes = np.sum(self.counts, axis=0).tolist() if self.counts else []
        groups: list[tuple[int, int]] = []
        first = total = 0
        for part, size in enumerate(sizes):
            if part > first and total + size > most_rows:
                groups.append((first, part))
                first, total = part, 0
            total += size
        if sizes:
            groups.append((first, len(sizes)))
        return groups

    def take(self, first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (rows of parts first..stop, uint64[n, 5]; bounds, int64[runs, parts + 1]).

        bounds: where the rows of each part end, and where those of the last part begin. In each
        run the last part is first. Parts are taken in ascending order, each once: their rows are
        freed.
        """
        sizes = np.array([counts[first:stop] for counts in self.counts], np.int64)
        of_runs = sizes.sum(axis=1)
        ends = np.cumsum(of_runs)
        bounds = np.empty((len(sizes), stop - first + 1), np.int64)
        bounds[:, 0] = ends
        np.subtract(ends[:, None], np.cumsum(sizes, axis=1), out=bounds[:, 1:])
        if len(self.runs) == 1 and isinstance(held := self.runs[0], np.ndarray):
            end = int(self.counts[0][first:].sum())
            return held[end - int(ends[-1]) : end], bounds
        rows = np.empty((int(ends[-1]), COLUMNS), np.uint64)
        for run, counts, size, n in zip(
            self.runs, self.counts, of_runs.tolist(), bounds[:, -1].tolist(), strict=True
        ):
            end = int(counts[first:].sum())
            if isinstance(run, np.ndarray):
                rows[n : n + size] = run[end - size : end]
                continue
            with open(run, "r+b") as file:
                file.seek((end - size) * _ROW_BYTES)
                file.readinto(_bytes_of(rows[n : n + size]))
                file.truncate((end - size) * _ROW_BYTES)
        return rows, bounds

    def close(self) -> None:
        """Remove all runs."""
        for path in self.files:
            path.unlink()
        self.runs.clear()


def _bytes_of(rows: np.ndarray) -> memoryview:
    return rows.reshape(-1).view(np.uint8).data


class _InstanceTable:
    """Table of rows, which becomes a run when it is full."""

    def __init__(self, runs: Runs, most_rows: int) -> None:
        self._runs = runs
        self._kept = np.empty((most_rows, COLUMNS), np.uint64)
        self._n = 0

    @property
    def free(self) -> np.ndarray:
        """The rows that are not filled."""
        return self._kept[self._n :]

    def filled(self, n: int, is_full: bool) -> None:
        """Count n more rows as filled; where that is all that fits, make a run or more room."""
        self._n += n
        if is_full and not self._n:
            self._kept = np.empty((2 * len(self._kept), COLUMNS), np.uint64)
        elif is_full:
            self.flush()

    def flush(self) -> None:
        """Make a run of the rows of the table."""
        if self._n and self._runs.add(self._kept, self._n):
            self._kept = np.empty_like(self._kept)
        self._n = 0


def extract_instances(
    text: LinkedText,
    options: ExtractOptions,
    folder: Path,
    run: Run,
) -> Runs:
    """Return the runs of all instances of the rules of a text.

    Arguments:
        options: which rules. folder: for the runs that do not fit into memory.
        run: its memory is for the rows of all threads together, MEMORY where None.
    """
    jobs, memory = run.jobs or available_cores(), run.memory or MEMORY
    settings = options.settings(text.has_trees)
    runs = Runs(folder, memory // _HELD // _ROW_BYTES)
    most_rows = min(max(_FEWEST_ROWS, memory // _HELD // jobs // _BYTES_A_ROW), _MOST_ROWS)
    blocks = _SentenceRanges(text, run.progress)

    def work() -> int:
        table = _InstanceTable(runs, most_rows)
        cursor = np.zeros(2, np.int64)
        n_rows = 0
        for cursor[0], stop in blocks:
            cursor[1] = 0
            while cursor[0] < stop:
                check_interrupted()
                n = max(0, extract_rows(text.arrays, settings, cursor, stop, table.free))
                table.filled(n, cursor[0] < stop)
                n_rows += n
        table.flush()
        return n_rows

    with ThreadPoolExecutor(jobs) as pool:
        runs.instances = sum([done.result() for done in [pool.submit(work) for _ in range(jobs)]])
    return runs


class _SentenceRanges:
    """Iterator of blocks (first sentence, end) that several threads share."""

    def __init__(self, text: LinkedText, progress: Progress) -> None:
        self._blocks = iter(range(0, len(text), _BLOCK_SENTENCES))
        self._n = len(text)
        self._progress = progress
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while True:
            with self._lock:
                first = next(self._blocks, None)
                stop = self._n if first is None else min(first + _BLOCK_SENTENCES, self._n)
                self._progress("extracting", stop, self._n)
            if first is None:
                return
            yield first, stop
