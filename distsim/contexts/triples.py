"""Sums triples (phrase, feature, count), added in any order, by phrase.

Triples are gathered in a buffer, equal ones summed when it is full, and written in order to
one temporary file as a *run*. The file has no name from the start, so that it vanishes with
the process, however that ends. At the end all runs are cut at the same phrases into parts
that fit the memory, and each part is put in order and summed on its own.
"""

import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.contexts.kernels import triples as kernel
from distsim.kernels.compiled import frozen
from distsim.storage.files import raw_bytes

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
        self._spill: SortedRuns | None = None

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
        n_triples = self._spill.n_bytes // _TRIPLE_BYTES
        for low, high in self._spill.ranges(self._part_triples(n_triples)):
            part = self._spill.read(low, high)
            n = _sum_triples(part)
            if n:
                yield _cut([column[:n] for column in part])

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
        self._size = _sum_triples(list(self._buffer[:, : self._size]))

    def _spill_buffer(self) -> None:
        self._sum()
        if self._spill is None:
            self._spill = SortedRuns(self._folder)
        if self._size:
            self._spill.write(list(self._buffer[:, : self._size]))
        self._size = 0

    def _partitions_in_memory(self) -> Iterator[Partition]:
        triples = self._buffer[:, : self._size]
        step = self._part_triples(self._size)
        begin = 0
        while begin < self._size:
            last = triples[0, min(begin + step, self._size) - 1]
            stop = int(np.searchsorted(triples[0], last, "right"))
            yield _cut(list(triples[:, begin:stop].copy()))
            begin = stop


def _sum_triples(triples: Sequence[np.ndarray]) -> int:
    """Return the number of distinct triples after sorting, and summing equal ones, in place."""
    if triples[0].size == 0:
        return 0
    ordered = [np.empty_like(column) for column in triples]
    kernel.sort_triples(*map(frozen, triples), *ordered)
    n: int = kernel.sum_equal(*ordered)
    for column, values in zip(triples, ordered, strict=True):
        column[:n] = values[:n]
    return n


def _cut(triples: Sequence[np.ndarray]) -> Partition:
    phrases, starts = kernel.find_phrases(frozen(triples[0]))
    return Partition(phrases, starts, triples[1], triples[2])


class _SortedRun(NamedTuple):
    """Rows in order in the temporary file, column by column.

    places: the byte where each column begins. likes: empty arrays of their types and shapes.
    edges: int64[4097], how many rows have a hash with lower leading 12 bits. text_edges: the same
    of the values of the column that rows have several of; None without one.
    """

    places: list[int]
    likes: list[np.ndarray]
    edges: np.ndarray
    text_edges: np.ndarray | None


class SortedRuns:
    """Rows in order of their hashes, run after run in a temporary file without a name.

    All runs are cut at the same hashes, so that parts of all of them fit the memory.

    Arguments:
        folder: where the file goes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (see close)
        self._runs: list[_SortedRun] = []
        self.n_bytes = 0

    def write(self, columns: Sequence[np.ndarray], text: np.ndarray | None = None) -> None:
        """Append a run.

        Arguments:
            columns: arrays of n rows, of which the first are the hashes, uint64, ascending.
            text: values of all rows end to end; the last column says how many a row has.
        """
        prefixes = np.arange(_PREFIXES, dtype=np.uint64) << _PREFIX_SHIFT
        edges = np.append(np.searchsorted(columns[0], prefixes), len(columns[0]))
        text_edges = None if text is None else np.append(0, np.cumsum(columns[-1]))[edges]
        every = [*columns, *(() if text is None else (text,))]
        places = []
        for column in every:
            places.append(self.n_bytes)
            data = raw_bytes(column)
            while data:
                written = os.pwrite(self._file.fileno(), data[: 1 << 30], self.n_bytes)
                self.n_bytes += written
                data = data[written:]
        likes = [np.empty((0, *column.shape[1:]), column.dtype) for column in every]
        self._runs.append(_SortedRun(places, likes, edges, text_edges))

    def ranges(self, max_rows: int) -> Iterator[tuple[int, int]]:
        """Yield ranges low..high (inclusive) of hashes with about `max_rows` rows each.

        They cover all hashes; one contains more where a single hash does.
        """
        stops = np.cumsum(np.diff(np.sum([run.edges for run in self._runs], axis=0)))
        first = 0
        while first < _PREFIXES:
            done = stops[first - 1] if first else 0
            beyond = int(np.searchsorted(stops, done + max_rows, "right"))
            low = first << int(_PREFIX_SHIFT)
            if beyond > first:
                yield low, (beyond << int(_PREFIX_SHIFT)) - 1
                first = beyond
            else:
                first += 1
                yield from self._halves(low, (first << int(_PREFIX_SHIFT)) - 1, max_rows)

    def _halves(self, low: int, high: int, max_rows: int) -> Iterator[tuple[int, int]]:
        size = sum(stop - start for start, stop in self._slices(low, high))
        if size <= max_rows or low == high:
            yield low, high
            return
        middle = (low + high) // 2
        yield from self._halves(low, middle, max_rows)
        yield from self._halves(middle + 1, high, max_rows)

    def read(self, low: int, high: int) -> list[np.ndarray]:
        """Return the columns of all runs' rows with a hash in low..high, run by run."""
        slices = self._slices(low, high)
        of_text = [self._text_slice(*pair) for pair in zip(self._runs, slices, strict=True)]
        columns = []
        for number, like in enumerate(self._runs[0].likes):
            is_text = self._runs[0].text_edges is not None and like is self._runs[0].likes[-1]
            own = of_text if is_text else slices
            column = np.empty(
                (sum(stop - start for start, stop in own), *like.shape[1:]), like.dtype
            )
            done = 0
            for run, (start, stop) in zip(self._runs, own, strict=True):
                self._read_into(column[done : done + stop - start], run, number, start)
                done += stop - start
            columns.append(column)
        return columns

    def _slices(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return (start, stop) of the rows of hashes low..high in each run."""
        return [(self._first(run, low), self._first(run, high + 1)) for run in self._runs]

    def _first(self, run: _SortedRun, wanted: int) -> int:
        """Return the number of rows of a run with a lower hash."""
        prefix, rest = divmod(wanted, 1 << int(_PREFIX_SHIFT))
        if rest == 0:
            return int(run.edges[prefix])
        low, high = int(run.edges[prefix]), int(run.edges[prefix + 1])
        value = np.empty(1, np.uint64)
        while low < high:
            middle = (low + high) // 2
            self._read_into(value, run, 0, middle)
            if int(value[0]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _text_slice(self, run: _SortedRun, rows: tuple[int, int]) -> tuple[int, int]:
        """Return (start, stop) of the values of some rows of a run."""
        if run.text_edges is None:
            return 0, 0
        ends = []
        for row in rows:
            edge = int(np.searchsorted(run.edges, row, "right")) - 1
            lengths = np.empty(row - int(run.edges[edge]), run.likes[-2].dtype)
            self._read_into(lengths, run, len(run.likes) - 2, int(run.edges[edge]))
            ends.append(int(run.text_edges[edge]) + int(lengths.sum(dtype=np.int64)))
        return ends[0], ends[1]

    def _read_into(self, values: np.ndarray, run: _SortedRun, column: int, row: int) -> None:
        """Fill an array with a column's values from a row on."""
        like = run.likes[column]
        place = run.places[column] + row * like.itemsize * math.prod(like.shape[1:])
        data = raw_bytes(values)
        while data:
            n = os.preadv(self._file.fileno(), [data[: 1 << 30]], place)
            if n == 0:
                raise OSError(f"{self._folder}: the temporary file there is cut short")
            data = data[n:]
            place += n

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
