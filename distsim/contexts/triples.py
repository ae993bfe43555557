"""Sums triples (phrase, feature, count), added in any order, by phrase.

Triples are gathered in a buffer, equal ones summed when it is full, and written in order to
one temporary file as a *run*. The file has no name from the start, so that it vanishes with
the process, however that ends. At the end all runs are cut at the same phrases into parts
that fit the memory, and each part is put in order and summed on its own.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.contexts.kernels import triples as kernel
from distsim.kernels.compiled import frozen

_COLUMN = np.dtype(np.uint64)
_TRIPLE_BYTES = 3 * _COLUMN.itemsize
# A buffer of triples is put in order into a second one; the rest is for what is cut from them.
_BYTES_HELD = 2 * _TRIPLE_BYTES + 16
_PART_TRIPLES = 1 << 22  # more in one part only costs memory
_FEWEST_TRIPLES = 1 << 10
_PREFIXES = 1 << 12
_PREFIX_SHIFT = np.uint64(64 - 12)


class Partition(NamedTuple):
    """The phrases of one range of hashes, with their features as sparse rows.

    Phrase i has features[starts[i]:starts[i + 1]], distinct and ascending.

    Attributes:
        phrases: uint64[m], distinct, ascending.
        starts: int64[m + 1].
        features: uint64.
        counts: uint64, beside them.
    """

    phrases: np.ndarray
    starts: np.ndarray
    features: np.ndarray
    counts: np.ndarray


class TripleStore:
    """Store that sums the counts of (phrase, feature) pairs, more of them than fit in memory.

    What comes out does not depend on the memory, on the order in which triples are added,
    nor on how they are cut into blocks. Only the triples of a single phrase must fit.

    Arguments:
        folder: where the temporary file goes, when the buffer is full for the first time; it
            has no name and takes 24 bytes a triple that differs from its neighbours.
        memory: for the buffers; less makes more and shorter runs.
        n_partitions: least number of partitions, where there are as many phrases; None: as
            few as the memory allows.

    Raises:
        ParameterError: the memory is less than 64 kB.
    """

    def __init__(self, folder: str | Path, memory: int, n_partitions: int | None = None) -> None:
        capacity = memory // _BYTES_HELD
        if capacity < _FEWEST_TRIPLES:
            raise ParameterError(
                f"memory {memory:,} bytes: give at least {_FEWEST_TRIPLES * _BYTES_HELD:,}"
            )
        self._folder = Path(folder)
        self._capacity = capacity
        self._n_partitions = n_partitions or 1
        self._buffer = np.empty((3, 0), _COLUMN)
        self._size = 0
        self._spill: _Spill | None = None

    def add(self, phrases: np.ndarray, features: np.ndarray, counts: np.ndarray) -> None:
        """Add triples; keys may repeat.

        Arguments:
            phrases: uint64[n].
            features: uint64[n].
            counts: unsigned[n].
        """
        done = 0
        while done < phrases.size:
            self._make_room(phrases.size - done)
            n = min(self._buffer.shape[1] - self._size, phrases.size - done)
            place = slice(self._size, self._size + n)
            for column, values in zip(self._buffer, (phrases, features, counts), strict=True):
                column[place] = values[done : done + n]
            self._size += n
            done += n

    def partitions(self) -> Iterator[Partition]:
        """Yield all phrases in ascending order of their hashes, in parts that fit the memory."""
        if self._spill is None:
            self._sum()
            yield from self._partitions_in_memory()
            return
        self._spill_buffer()
        self._buffer = np.empty((3, 0), _COLUMN)
        for low, high in self._spill.ranges(self._part_triples(self._spill.n_triples)):
            part = self._spill.read(low, high)
            triples = part[:, : _sum_triples(part)]
            if triples.size:
                yield _cut(triples)

    def close(self) -> None:
        """Release memory and the temporary file."""
        self._buffer = np.empty((3, 0), _COLUMN)
        self._size = 0
        if self._spill is not None:
            self._spill.close()
            self._spill = None

    def __enter__(self) -> "TripleStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _part_triples(self, n_triples: int) -> int:
        return max(1, min(_PART_TRIPLES, self._capacity, -(-n_triples // self._n_partitions)))

    def _make_room(self, wanted: int) -> None:
        if self._size < self._buffer.shape[1]:
            return
        if self._size == self._capacity:
            self._sum()
            if 2 * self._size > self._capacity:  # else most were repeats: go on gathering
                self._spill_buffer()
            return
        # Four times as many: pages that are never written cost nothing, copies do.
        size = min(self._capacity, max(_FEWEST_TRIPLES, self._size + wanted, 4 * self._size))
        grown = np.empty((3, size), _COLUMN)
        grown[:, : self._size] = self._buffer[:, : self._size]
        self._buffer = grown

    def _sum(self) -> None:
        self._size = _sum_triples(self._buffer[:, : self._size])

    def _spill_buffer(self) -> None:
        self._sum()
        if self._spill is None:
            self._spill = _Spill(self._folder)
        if self._size:
            self._spill.write(self._buffer[:, : self._size])
        self._size = 0

    def _partitions_in_memory(self) -> Iterator[Partition]:
        triples = self._buffer[:, : self._size]
        step = self._part_triples(self._size)
        begin = 0
        while begin < self._size:
            last = triples[0, min(begin + step, self._size) - 1]
            stop = int(np.searchsorted(triples[0], last, "right"))
            yield _cut(triples[:, begin:stop].copy())
            begin = stop


def _sum_triples(triples: np.ndarray) -> int:
    """Return the number of distinct triples after sorting, and summing equal ones, in place."""
    if triples.shape[1] == 0:
        return 0
    ordered = np.empty_like(triples)
    kernel.sort_triples(*map(frozen, triples), *ordered)
    n: int = kernel.sum_equal(*ordered)
    triples[:, :n] = ordered[:, :n]
    return n


def _cut(triples: np.ndarray) -> Partition:
    phrases, starts = kernel.find_phrases(frozen(triples[0]))
    return Partition(phrases, starts, triples[1], triples[2])


class _TripleRun(NamedTuple):
    """Sorted triples in the temporary file, column by column from byte `offset` on.

    size: triples. prefixes: int64[4097], how many have a phrase with lower leading 12 bits.
    """

    offset: int
    size: int
    prefixes: np.ndarray


class _Spill:
    """A temporary file of sorted runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (see close)
        self._end = 0
        self._runs: list[_TripleRun] = []

    @property
    def n_triples(self) -> int:
        """The number of triples in the file."""
        return sum(run.size for run in self._runs)

    def write(self, triples: np.ndarray) -> None:
        """Append a run of triples that are in order."""
        begin = self._end
        for column in triples:
            data = np.ascontiguousarray(column).data.cast("B")
            while data:
                written = os.pwrite(self._file.fileno(), data[: 1 << 30], self._end)
                self._end += written
                data = data[written:]
        prefixes = np.arange(_PREFIXES, dtype=np.uint64) << _PREFIX_SHIFT
        starts = np.searchsorted(triples[0], prefixes)
        self._runs.append(_TripleRun(begin, triples.shape[1], np.append(starts, triples.shape[1])))

    def ranges(self, most: int) -> Iterator[tuple[int, int]]:
        """Yield ranges low..high (inclusive) of phrase hashes with about `most` triples each.

        They cover all hashes; one contains more where a single phrase does.
        """
        sizes = np.diff(np.sum([run.prefixes for run in self._runs], axis=0))
        stops = np.cumsum(sizes)
        first = 0
        while first < _PREFIXES:
            done = stops[first - 1] if first else 0
            last = int(np.searchsorted(stops, done + most, "right"))  # the first that is too much
            low = first << int(_PREFIX_SHIFT)
            if last > first:
                yield low, (last << int(_PREFIX_SHIFT)) - 1
                first = last
            else:
                first += 1
                yield from self._halves(low, (first << int(_PREFIX_SHIFT)) - 1, most)

    def _halves(self, low: int, high: int, most: int) -> Iterator[tuple[int, int]]:
        size = sum(stop - start for start, stop in self._slices(low, high))
        if size <= most or low == high:
            yield low, high
            return
        middle = (low + high) // 2
        yield from self._halves(low, middle, most)
        yield from self._halves(middle + 1, high, most)

    def read(self, low: int, high: int) -> np.ndarray:
        """Return the triples of all runs with a phrase in low..high, uint64[3, m], run by run."""
        slices = self._slices(low, high)
        triples = np.empty((3, sum(stop - start for start, stop in slices)), _COLUMN)
        done = 0
        for run, (start, stop) in zip(self._runs, slices, strict=True):
            for number, column in enumerate(triples):
                place = run.offset + (number * run.size + start) * _COLUMN.itemsize
                self._read_into(column[done : done + stop - start], place)
            done += stop - start
        return triples

    def _slices(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return (start, stop) of the phrases low..high in each run."""
        return [(self._first(run, low), self._first(run, high + 1)) for run in self._runs]

    def _first(self, run: _TripleRun, phrase: int) -> int:
        """Return the number of triples of a run with a lower phrase."""
        prefix, rest = divmod(phrase, 1 << int(_PREFIX_SHIFT))
        if rest == 0:
            return int(run.prefixes[prefix])
        low, high = int(run.prefixes[prefix]), int(run.prefixes[prefix + 1])
        value = np.empty(1, _COLUMN)
        while low < high:
            middle = (low + high) // 2
            self._read_into(value, run.offset + middle * _COLUMN.itemsize)
            if int(value[0]) < phrase:
                low = middle + 1
            else:
                high = middle
        return low

    def _read_into(self, values: np.ndarray, place: int) -> None:
        data = values.data.cast("B")
        while data:
            n = os.preadv(self._file.fileno(), [data[: 1 << 30]], place)
            if n == 0:
                raise OSError(f"{self._folder}: the temporary file there is cut short")
            data = data[n:]
            place += n

    def close(self) -> None:
        self._file.close()
