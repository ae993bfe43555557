"""Temporary columns, in files of a folder beside the output or in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.arguments import real_path
from distsim.base.errors import InputError


@contextmanager
def scratch_folder(output: str | Path) -> Iterator[Path]:
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
