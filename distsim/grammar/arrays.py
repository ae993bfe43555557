"""Arrays of rules: numbered, put in order, and kept in files of a folder until they are read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.arguments import real_path
from distsim.base.errors import InputError
from distsim.base.parallel import ordered_map
from distsim.grammar.kernels import pivot as kernel
from distsim.grammar.kernels.packs import TextColumn, gather_lines
from distsim.kernels.compiled import frozen
from distsim.storage.files import LineWriter, raw_bytes


@contextmanager
def folder_beside(output: str | Path) -> Iterator[Path]:
    """Yield an empty folder beside the output, which is removed at the end.

    Arguments:
        output: path of the file that will be written.

    Raises:
        InputError: the output's folder does not exist.
    """
    is_file = str(output) != storage.STANDARD_OUTPUT
    place = real_path(output).parent if is_file else None
    if place is not None and not place.is_dir():
        raise InputError(f"{place}: no such folder: create it first")
    with storage.scratch_folder(place) as folder:
        yield folder


class Column:
    """Array that is appended to, then read from the front, piece by piece.

    Arguments:
        path: its file; in memory where None. dtype: of its values. width: values of a row.
    """

    def __init__(self, path: Path | None, dtype: Any, width: int = 1) -> None:
        self._path = path
        self._dtype = np.dtype(dtype)
        self._width = width
        self._file = None if path is None else open(path, "w+b")  # noqa: SIM115 (closed by close)
        self._held = [np.empty(self._shape(0), self._dtype)]
        self._n_read = 0
        self.size = 0

    def _shape(self, n: int) -> tuple[int, ...]:
        return (n,) if self._width == 1 else (n, self._width)

    def append(self, values: np.ndarray) -> None:
        """Append values, converted to the column's dtype.

        Arguments:
            values: int or float array.
        """
        self.size += len(values)
        if self._file is None:
            self._held.append(np.array(values, self._dtype, order="C"))
            return
        values = np.ascontiguousarray(values, self._dtype)
        self._file.write(values.reshape(-1).view(np.uint8).data)

    def rewind(self) -> None:
        """Start reading at the first value."""
        if self._file is None:
            pieces = [piece for piece in self._held if piece.size] or self._held[:1]
            self._held = [np.concatenate(pieces)] if len(pieces) > 1 else pieces
            self._n_read = 0
        else:
            self._file.flush()
            self._file.seek(0)

    def read(self, n: int) -> np.ndarray:
        """Return the next n values; those in memory are not to be changed."""
        if self._file is None:
            self._n_read += n
            return self._held[0][self._n_read - n : self._n_read]
        values = np.empty(self._shape(n), self._dtype)
        self._file.readinto(values.reshape(-1).view(np.uint8).data)
        return values

    def close(self) -> None:
        """Remove the file, or free the memory."""
        self._held.clear()
        if self._file is not None and self._path is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)


_LINES_A_PIECE = 1 << 14


class Spool:
    """Columns of values that are too many for memory, a file each, and lines of text by number.

    Arguments:
        folder: an empty one, for the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._n_bytes = 0

    def append(self, name: str, values: np.ndarray) -> None:
        """Append values to a column; all of a column have one dtype."""
        with open(self._folder / name, "ab") as file:
            file.write(raw_bytes(values))

    def column(self, name: str, dtype: Any) -> np.ndarray:
        """Return all values of a column, read-only; none where nothing was appended."""
        file = self._folder / name
        if not file.exists() or file.stat().st_size == 0:
            return frozen(np.empty(0, dtype))
        return frozen(np.memmap(file, dtype, "r"))

    def append_lines(self, text: bytes, bounds: np.ndarray, chosen: np.ndarray) -> int:
        """Append some lines of a text; return the bytes appended before it.

        Arguments:
            text: whole lines. bounds: int64[n + 1], where each begins and the last one ends.
            chosen: bool[n], the lines that get a number.
        """
        before = self._n_bytes
        self.append("line_start", bounds[:-1][chosen] + before)
        self.append("line_stop", bounds[1:][chosen] + before)
        self.append("lines", np.frombuffer(text, np.uint8))
        self._n_bytes += len(text)
        return before

    def write_lines(self, out: LineWriter, wanted: np.ndarray, jobs: int | None) -> None:
        """Write lines by their numbers, in the order of the numbers given.

        Arguments:
            wanted: int64, numbers of lines.
        """
        lines = self.column("lines", np.uint8)
        starts, stops = (self.column(f"line_{end}", np.int64) for end in ("start", "stop"))
        pieces = [wanted[k : k + _LINES_A_PIECE] for k in range(0, wanted.size, _LINES_A_PIECE)]

        def packed(piece: np.ndarray) -> bytes:
            return out.pack(gather_lines(lines, starts, stops, frozen(piece)).tobytes())

        for packed_lines in ordered_map(packed, pieces, jobs):
            out.write_packed(packed_lines)


_MOST_KEYS = 1 << 62
_DENSE = 4  # keys below so many times their number are counted, not sorted


def numbers_of(*keys: np.ndarray) -> np.ndarray:
    """Return a number for each row, int64[n], equal for equal keys, ascending with them.

    keys: whole numbers[n] each, none negative.
    """
    joined = _one_key(keys)
    numbers: np.ndarray
    if joined is None:
        order = np.lexsort(keys[::-1])
        numbers = np.empty(order.size, np.int64)
        new = np.zeros(order.size, np.int64)
        for key in keys:
            new[1:] |= np.diff(key[order]) != 0
        numbers[order] = np.cumsum(new)
        return numbers
    largest = int(joined.max(initial=0))
    if largest <= _DENSE * joined.size:
        seen = np.zeros(largest + 1, bool)
        seen[joined] = True
        numbers = (np.cumsum(seen) - 1)[joined]
        return numbers
    if np.all(joined[1:] >= joined[:-1]):
        return np.cumsum(np.append(np.zeros(1, bool), joined[1:] != joined[:-1])[: joined.size])
    return np.unique(joined, return_inverse=True)[1]


def order_by(*keys: np.ndarray) -> np.ndarray:
    """Return the stable order of rows by their keys, int64[n]; the first key counts most.

    keys: whole numbers[n] each, none negative.
    """
    joined = _one_key(keys)
    order: np.ndarray = (
        np.lexsort(keys[::-1]) if joined is None else np.argsort(joined, kind="stable")
    )
    return order


def first_rows(numbers: np.ndarray) -> np.ndarray:
    """Return the first row of each number, int64.

    Arguments:
        numbers: int64[n]; 0 to the highest all occur.
    """
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(numbers.size)[::-1]
    return first


def order_of_texts(text: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return the order of the bytes of text[starts[i]:stops[i]], int64[n]; equal ones keep theirs.

    Arguments:
        text: uint8. starts, stops: int64[n].
    """
    text, starts, stops = frozen(text), frozen(starts), frozen(stops)
    heads = kernel.eight_bytes(text, starts, stops)
    order = np.argsort(heads)
    kernel.order_texts(text, starts, stops, frozen(heads), order)
    return order


def _one_key(keys: tuple[np.ndarray, ...]) -> np.ndarray | None:
    """Return keys joined into one number a row, int64[n]; None where it would be too large.

    One sort of whole numbers takes a fraction of what a sort by several keys does, and next to
    nothing where they are in order.
    """
    if len(keys) == 1:
        return keys[0]
    joined = np.zeros(keys[0].size, np.int64)
    top = 1
    for key in keys:
        n = int(key.max(initial=0)) + 1
        top *= n
        if top >= _MOST_KEYS:
            return None
        joined *= n
        joined += key.astype(np.int64)
    return joined


def texts_of(texts: Sequence[bytes]) -> TextColumn:
    """Return texts end to end, read-only.

    Arguments:
        texts: UTF-8 of each text.

    >>> texts_of([b"ab", b"", b"c"]).offsets.tolist()
    [0, 2, 2, 3]
    """
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return TextColumn(frozen(np.frombuffer(b"".join(texts), np.uint8)), frozen(offsets))
