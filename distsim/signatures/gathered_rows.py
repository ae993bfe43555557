"""Puts the rows of a table in order of their hashes, in temporary files where they are many."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from distsim import storage
from distsim.contexts.triples import SortedRuns
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import permute_texts
from distsim.signatures.layout import StreamedRows
from distsim.signatures.signer import SignedBatch
from distsim.storage.files import naming

_COPIES = 3  # of the rows, while they are put in order


class _RowBatch(NamedTuple):
    """Rows of a table.

    hashes: uint64[n]. bits: uint64[n, n_words]. shares: uint8, of own contexts. strengths:
    occurrences. lengths: bytes of each text. text: uint8, UTF-8 of all phrases end to end.
    """

    hashes: np.ndarray
    bits: np.ndarray
    shares: np.ndarray
    strengths: np.ndarray
    lengths: np.ndarray
    text: np.ndarray

    @property
    def n_bytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self)

    def texts(self, numbers: np.ndarray) -> list[bytes]:
        """Return the phrases of the rows for which some, bool[n], is true."""
        ends = np.cumsum(self.lengths)
        pairs = zip((ends - self.lengths)[numbers].tolist(), ends[numbers].tolist(), strict=True)
        return [self.text[begin:end].tobytes() for begin, end in pairs]

    def where(self, kept: np.ndarray) -> "_RowBatch":
        """Return the rows for which kept, bool[n], is true."""
        text = self.text[np.repeat(kept, self.lengths)]
        return _RowBatch(
            self.hashes[kept], self.bits[kept], self.shares[kept], self.strengths[kept],
            self.lengths[kept], text,
        )  # fmt: skip


def _in_order(batches: Sequence[_RowBatch]) -> _RowBatch:
    """Return all of these rows in order of their hashes; equal ones in order of their text."""
    hashes, bits, shares, strengths, lengths, text = (
        np.concatenate(columns) for columns in zip(*batches, strict=True)
    )
    starts = np.concatenate([[0], np.cumsum(lengths)])
    order = np.argsort(hashes, kind="stable")
    _order_ties(order, hashes, text, starts)
    text, ends = permute_texts(frozen(text), frozen(starts), frozen(order))
    return _RowBatch(
        hashes[order], bits[order], shares[order], strengths[order], np.diff(ends), text
    )


class GatheredRows:
    """Rows in any order, put in order of their hashes.

    Arguments:
        writer: of the table's artifact; a temporary file without a name goes into its folder.
        n_bits: bits of a signature.
        memory: bytes; what does not fit is written to the file. The table is the same.
        keep: write only so many rows, the strongest; of equally strong ones the first by text.
            All where None.
        composed: whether phrases are composed of their words.
    """

    def __init__(
        self, writer: storage.ArtifactWriter, n_bits: int, memory: int, keep: int | None = None,
        *, composed: bool,
    ) -> None:  # fmt: skip
        self._composed = composed
        self._writer = writer
        self._n_bits = n_bits
        self._max_bytes = memory // _COPIES
        self._keep = keep
        self._rows: list[_RowBatch] = []
        self._n_bytes = 0
        self._n_rows = 0
        self._runs: SortedRuns | None = None
        self.n_without_context = 0

    def add(self, batch: SignedBatch) -> None:
        """Add the phrases of a batch that have a signature; count the others.

        Arguments:
            batch: phrases with their signatures.
        """
        has_contexts, phrases = batch.has_signature, batch.phrases
        lengths = phrases.text_lengths.astype(np.int32)
        rows = _RowBatch(
            phrases.hashes, batch.bits, batch.shares, phrases.strengths, lengths, phrases.text
        )
        rows = rows.where(has_contexts)
        self._rows.append(rows)
        self._n_rows += rows.hashes.size
        self._n_bytes += rows.n_bytes
        self.n_without_context += int(has_contexts.size - np.count_nonzero(has_contexts))
        if self._n_bytes > self._max_bytes:
            self._write_run()

    def finish(self) -> int:
        """Write the rows in order of their hashes and return their number."""
        least, last = self._limits()
        written = StreamedRows(self._writer, self._n_bits, self._composed)
        for rows in self._parts():
            if least:
                level = rows.strengths == least
                kept = rows.strengths > least
                kept[level] = [text <= last for text in rows.texts(level)]
                rows = rows.where(kept)
            written.append(
                rows.hashes, rows.strengths, rows.text, rows.lengths,
                bits=rows.bits, shares=rows.shares,
            )  # fmt: skip
        if self._runs is not None:
            self._runs.close()
        return written.finish()

    def _limits(self) -> tuple[int, bytes]:
        """Return (the lowest strength that is kept, the last text of those that have it)."""
        if self._keep is None or self._keep >= self._n_rows:
            return 0, b""
        strengths = np.concatenate([rows.strengths for rows in self._parts()])
        nth = strengths.size - self._keep
        least = int(np.partition(strengths, nth)[nth])
        n_level = self._keep - int(np.count_nonzero(strengths > least))
        level = [text for rows in self._parts() for text in rows.texts(rows.strengths == least)]
        return least, sorted(level)[n_level - 1]

    def _write_run(self) -> None:
        with naming(self._writer.folder):
            if self._runs is None:
                self._runs = SortedRuns(self._writer.folder)
            *columns, text = _in_order(self._rows)
            self._runs.write(columns, text)
        self._rows, self._n_bytes = [], 0

    def _parts(self) -> Iterator[_RowBatch]:
        """Yield all rows in order of their hashes, in parts that fit the memory."""
        if self._runs is None:
            self._rows = [_in_order(self._rows)] if self._rows else []
            yield from self._rows
            return
        if self._rows:
            self._write_run()
        max_rows = max(1, self._max_bytes // (self._runs.n_bytes // self._n_rows + 1))
        for low, high in self._runs.ranges(max_rows):
            yield _in_order([_RowBatch(*self._runs.read(low, high))])


def _order_ties(
    order: np.ndarray, hashes: np.ndarray, text: np.ndarray, starts: np.ndarray
) -> None:
    """Put rows that share a hash in order of their text.

    Arguments:
        order: int64, rows by hash; changed.
        hashes: uint64, of the rows.
        text, starts: uint8 and int64, the rows' phrases end to end.
    """
    ordered = hashes[order]
    ties = np.flatnonzero(ordered[1:] == ordered[:-1])
    for first in np.unique(np.searchsorted(ordered, ordered[ties])).tolist():
        stop = int(np.searchsorted(ordered, ordered[first], "right"))
        rows = order[first:stop].tolist()
        order[first:stop] = sorted(
            rows, key=lambda row: text[starts[row] : starts[row + 1]].tobytes()
        )
