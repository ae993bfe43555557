"""Raw arrays in files of a folder: appended block by block, mapped when they are read."""

from pathlib import Path
from typing import Any

import numpy as np

from distsim.base.parallel import ordered_map
from distsim.grammar.kernels.packs import gather_lines
from distsim.kernels.compiled import frozen
from distsim.storage.files import LineWriter, raw_bytes

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

        for one in ordered_map(packed, pieces, jobs):
            out.write_packed(one)
