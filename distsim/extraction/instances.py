"""Linked text -> the instances of its rules, equal ones added up, in files by foreign side."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from distsim.extraction.linked_text import LinkedText
from distsim.extraction.options import ExtractOptions
from distsim.kernels.extraction import COLUMNS, add_rows, extract_rows
from distsim.kernels.rule_counts import partition_rows
from distsim.parallel import Progress, available_cores, check_interrupted, no_progress

PART_BITS = 10  # runs are in so many parts by the leading bits of the foreign hash
_ROW_BYTES = 8 * COLUMNS
_BUFFER_ROWS = 1 << 15
_FIRST_ROWS = 1 << 16
_ROOM = 1.2  # so many times the rows that are expected have room
_BLOCK_SENTENCES = 512
_BYTES_A_ROW = 2 * _ROW_BYTES + 16  # kept, its sorted copy, slots


@dataclass
class Runs:
    """Files of rows, each in parts by the leading bits of the foreign hash, the last one first.

    Reading from the first part on takes from the ends of the files, which are cut as they are
    read: the disk holds what is still to come.
    """

    folder: Path
    instances: int = 0
    files: list[Path] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)  # rows of each part
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, rows: np.ndarray, n: int) -> None:
        """Write a run."""
        out = np.empty((n, COLUMNS), np.uint64)
        starts = partition_rows(rows, n, PART_BITS, out)
        with self.lock:
            path = self.folder / f"run{len(self.files)}"
            self.files.append(path)
            self.counts.append(np.diff(starts))
        with open(path, "wb") as file:
            for part in range(len(starts) - 2, -1, -1):
                file.write(out[starts[part] : starts[part + 1]].reshape(-1).view(np.uint8).data)

    def groups(self, most_rows: int) -> list[tuple[int, int]]:
        """Return ranges of parts, first..stop, of at most so many rows (or of one part)."""
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
        """Return the rows of parts first..stop, uint64[n, 5]; parts are taken in order, once.

        The last part of each run stands first. Beside them int64[runs, parts + 1], where those
        of each part end, and where those of the last one begin.
        """
        sizes = np.array([counts[first:stop] for counts in self.counts], np.int64)
        of_runs = sizes.sum(axis=1)
        ends = np.cumsum(of_runs)
        bounds = np.empty((len(sizes), stop - first + 1), np.int64)
        bounds[:, 0] = ends
        np.subtract(ends[:, None], np.cumsum(sizes, axis=1), out=bounds[:, 1:])
        rows = np.empty((int(ends[-1]), COLUMNS), np.uint64)
        for path, counts, size, n in zip(
            self.files, self.counts, of_runs.tolist(), bounds[:, -1].tolist(), strict=True
        ):
            end = int(counts[first:].sum()) * _ROW_BYTES
            with open(path, "r+b") as file:
                file.seek(end - size * _ROW_BYTES)
                file.readinto(rows[n : n + size].reshape(-1).view(np.uint8).data)
                file.truncate(end - size * _ROW_BYTES)
        return rows, bounds


class _Table:
    """Distinct rows with their counts, written as a run when there are too many."""

    def __init__(self, runs: Runs, most_rows: int) -> None:
        self._runs = runs
        self._most = most_rows
        self._size(min(_FIRST_ROWS, most_rows))

    def _size(self, capacity: int) -> None:
        self._kept = np.empty((capacity, COLUMNS), np.uint64)
        self._slots = np.zeros(1 << (2 * capacity - 1).bit_length(), np.uint32)
        self._n = 0

    def add(self, rows: np.ndarray, n: int, share: float) -> None:
        """Add rows[:n]; share: of all rows that will come, about so many are then there."""
        done = 0
        while True:
            done, self._n = add_rows(rows, done, n, self._kept, self._n, self._slots)
            if done == n:
                return
            if len(self._kept) < self._most:
                kept, n_kept = self._kept, self._n
                expected = int(_ROOM * n_kept / share)
                self._size(min(max(4 * n_kept, expected), self._most))
                _, self._n = add_rows(kept, 0, n_kept, self._kept, 0, self._slots)
            else:
                self.flush()

    def flush(self) -> None:
        """Write what is there as a run."""
        if self._n:
            self._runs.add(self._kept, self._n)
            self._slots[:] = 0
            self._n = 0


def extract_instances(
    text: LinkedText,
    options: ExtractOptions,
    folder: Path,
    memory: int,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Runs:
    """Write all instances of rules of a text as runs in a folder.

    memory: bytes for the rows of all threads together.
    """
    jobs = jobs or available_cores()
    settings = options.settings(text.has_trees)
    runs = Runs(folder)
    most_rows = max(_FIRST_ROWS, memory // jobs // _BYTES_A_ROW)
    blocks = _Blocks(text, progress)

    def work() -> int:
        table = _Table(runs, most_rows)
        buffer = np.empty((_BUFFER_ROWS, COLUMNS), np.uint64)
        cursor = np.zeros(2, np.int64)
        n_rows = n_sentences = 0
        current = 0
        for bitext, cursor[0], stop in blocks:
            if bitext != current:  # counts are kept apart by bitext
                table.flush()
                current = bitext
            cursor[1] = 0
            n_sentences -= int(cursor[0])
            while cursor[0] < stop:
                check_interrupted()
                n = extract_rows(
                    text.foreign.tokens, text.foreign.starts, text.english.tokens,
                    text.english.starts, text.links, text.link_starts, text.nodes,
                    text.node_starts, text.foreign.words.hashes, text.english.words.hashes,
                    settings, cursor, stop, buffer,
                )  # fmt: skip
                if n < 0:
                    buffer = np.empty((2 * len(buffer), COLUMNS), np.uint64)
                    continue
                read = n_sentences + int(cursor[0])
                table.add(buffer, n, min(1.0, max(1, read) * jobs / len(text)))
                n_rows += n
            n_sentences += stop
        table.flush()
        return n_rows

    with ThreadPoolExecutor(jobs) as pool:
        runs.instances = sum([done.result() for done in [pool.submit(work) for _ in range(jobs)]])
    return runs


class _Blocks:
    """Hands out (bitext, first sentence, end) to threads, in order."""

    def __init__(self, text: LinkedText, progress: Progress) -> None:
        bounds = text.bounds.tolist()
        self._blocks = iter(
            [
                (bitext, first, min(first + _BLOCK_SENTENCES, stop))
                for bitext, (begin, stop) in enumerate(pairwise(bounds))
                for first in range(begin, stop, _BLOCK_SENTENCES)
            ]
        )
        self._n = len(text)
        self._progress = progress
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        while True:
            with self._lock:
                block = next(self._blocks, None)
                if block is not None:
                    self._progress("extracting", block[2], self._n)
            if block is None:
                return
            yield block
