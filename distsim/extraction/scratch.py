"""Arrays -> a folder of raw files beside the output, gone when the work ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.errors import InputError


@contextmanager
def scratch_folder(output: str | Path) -> Iterator[Path]:
    """Give an empty folder beside the output.

    Raises:
        InputError: the output's folder does not exist.
    """
    is_file = str(output) != storage.STANDARD_OUTPUT
    place = Path(output).resolve().parent if is_file else None
    if place is not None and not place.is_dir():
        raise InputError(f"{place}: no such folder: create it first")
    with storage.scratch_folder(place) as folder:
        yield folder


class Column:
    """An array in a file that is appended to, then read from the front, piece by piece."""

    def __init__(self, path: Path, dtype: Any, width: int = 1) -> None:
        self._path = path
        self._dtype = np.dtype(dtype)
        self._width = width
        self._file = open(path, "w+b")  # noqa: SIM115 (closed by close)
        self.size = 0

    def append(self, values: np.ndarray) -> None:
        """Append values, converted to the column's dtype."""
        values = np.ascontiguousarray(values, self._dtype)
        self._file.write(values.reshape(-1).view(np.uint8).data)
        self.size += len(values)

    def rewind(self) -> None:
        """Begin to read."""
        self._file.flush()
        self._file.seek(0)

    def read(self, n: int) -> np.ndarray:
        """Return the next n values."""
        values = np.empty(n * self._width, self._dtype)
        n_bytes = self._file.readinto(values.view(np.uint8).data)
        values = values[: n_bytes // self._dtype.itemsize]
        return values if self._width == 1 else values.reshape(n, self._width)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
        self._path.unlink(missing_ok=True)
