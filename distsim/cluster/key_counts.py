"""Sums counts of keys within a memory limit and yields the frequent keys."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from distsim.storage.files import raw_bytes

_BYTES_HELD = 40  # a key with its count, while it is sorted
_FEWEST = 1 << 14


class KeyCounts:
    """Sums counts by key; sorted runs beyond the memory limit go to temporary files.

    Arguments:
        folder: where such files go. memory: for all that is held.
    """

    def __init__(self, folder: Path, memory: int) -> None:
        self._folder = folder
        self._capacity = max(_FEWEST, memory // _BYTES_HELD)
        self._held: list[tuple[np.ndarray, np.ndarray]] = []
        self._n_held = 0
        self._runs: list[tuple[np.memmap, np.memmap]] = []

    def add(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Add counts, uint64 both; keys may repeat."""
        self._held.append((keys, counts))
        self._n_held += keys.size
        if self._n_held >= self._capacity:
            self._held = [summed(self._held)]
            self._n_held = self._held[0][0].size
            if 2 * self._n_held > self._capacity:
                self._spill()

    def frequent(self, min_count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the keys that occur min_count times with their counts, in ascending order."""
        if not self._runs:
            yield _enough(summed(self._held), min_count)
            return
        self._held = [summed(self._held)]
        self._spill()
        at = [0] * len(self._runs)
        step = max(1, self._capacity // (2 * len(self._runs)))
        while any(first < run[0].size for first, run in zip(at, self._runs, strict=True)):
            bound = min(
                run[0][min(first + step, run[0].size) - 1]
                for first, run in zip(at, self._runs, strict=True)
                if first < run[0].size
            )
            pieces = []
            for number, (keys, counts) in enumerate(self._runs):
                first = at[number]
                ahead = keys[first : first + step]
                n = int(np.searchsorted(ahead, bound, "right"))
                pieces.append((np.array(ahead[:n]), np.array(counts[first : first + n])))
                at[number] = first + n
            yield _enough(summed(pieces), min_count)

    def _spill(self) -> None:
        keys, counts = self._held[0]
        if keys.size:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                file.write(raw_bytes(keys))
                file.write(raw_bytes(counts))
                file.flush()
                self._runs.append(
                    (
                        np.memmap(file, np.uint64, "r", 0, keys.shape),
                        np.memmap(file, np.uint64, "r", keys.nbytes, counts.shape),
                    )
                )
        self._held, self._n_held = [], 0


def summed(pieces: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys of all pieces, ascending, with their counts summed; uint64."""
    if not pieces:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    keys, counts = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if not keys.size:
        return keys, counts
    keys, counts = in_order(keys, counts)
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[first], np.add.reduceat(counts, first)


def in_order(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return keys in ascending order, uint64, with their counts.

    Where key and count fit into 64 bits together they are sorted as one number, which is several
    times faster than finding an order.
    """
    if not keys.size:
        return keys, counts
    free = _trailing_zeros(keys)
    if int(counts.max()).bit_length() <= free:
        both = np.sort(keys | counts)
        mask = np.uint64((1 << free) - 1)
        return both & ~mask, both & mask
    order = np.argsort(keys, kind="stable")
    return keys[order], counts[order]


def _trailing_zeros(keys: np.ndarray) -> int:
    """Return how many low bits are 0 in all keys."""
    union = int(np.bitwise_or.reduce(keys))
    return 64 if union == 0 else (union & -union).bit_length() - 1


def _enough(found: tuple[np.ndarray, np.ndarray], min_count: int) -> tuple[np.ndarray, np.ndarray]:
    keys, counts = found
    some = counts >= min_count
    return keys[some], counts[some]
