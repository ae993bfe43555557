"""The columns of a table: written whole or in a stream, opened, checked, decoded.

Phrases are in ascending order of their hashes. Their texts are concatenated; row r ends at
text_blocks[r // 64] + text_ends[r], so that an offset takes four bytes.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Protocol

import numpy as np

from distsim import storage
from distsim.base.arguments import utf8_phrase
from distsim.corpus.vocabulary import hash_blob, hash_text
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_texts
from distsim.signatures.kernels.distinctive_words import count_tokens
from distsim.signatures.signer import SignedBatch
from distsim.storage import StoredArray
from distsim.storage.reading import Declaration

BLOCK_ROWS = 64  # text offsets are kept relative to blocks of so many rows
_ROWS_AT_ONCE = 1 << 20
_COUNTED_AT_ONCE = 1 << 14  # rows whose arrays stay in the processor's cache


class TableRowWriter(Protocol):
    """Takes signed phrases and writes the rows of a table."""

    n_without_context: int

    def add(self, batch: SignedBatch) -> None:
        """Add the phrases of a batch that have a signature; count the others.

        Arguments:
            batch: phrases with their signatures.
        """
        ...

    def finish(self) -> int:
        """Write the remaining rows and return the number of all."""
        ...


class StreamedRows:
    """Writer of rows that arrive in ascending order of their hashes.

    Arguments:
        writer: of the table's artifact.
        n_bits: bits of a signature.
        composed: whether phrases are composed of their words.
    """

    def __init__(self, writer: storage.ArtifactWriter, n_bits: int, composed: bool) -> None:
        self._phrases = PhraseStream(writer)
        self._bits = writer.stream("bits", np.uint64, n_bits // 64)
        self._shares = writer.stream("own_shares", np.uint8) if composed else None
        self.n_without_context = 0

    def add(self, batch: SignedBatch) -> None:
        """Add the phrases of a batch that have a signature; count the others.

        Arguments:
            batch: phrases with their signatures.
        """
        has_contexts, phrases = batch.has_signature, batch.phrases
        self.append(
            phrases.hashes[has_contexts],
            phrases.strengths[has_contexts],
            phrases.text[np.repeat(has_contexts, phrases.text_lengths)],
            phrases.text_lengths[has_contexts],
            bits=batch.bits[has_contexts],
            shares=batch.shares[has_contexts],
        )
        self.n_without_context += int(has_contexts.size - np.count_nonzero(has_contexts))

    def append(self, *phrases: np.ndarray, bits: np.ndarray, shares: np.ndarray | None) -> None:
        """Append rows.

        Arguments:
            phrases: as `PhraseStream.append` takes them.
            bits: uint64[n, n_bits / 64].
            shares: uint8[n], of own contexts; read where phrases are composed.
        """
        self._phrases.append(*phrases)
        self._bits.append(bits)
        if self._shares is not None and shares is not None:
            self._shares.append(shares)

    def finish(self) -> int:
        """Return the number of rows; the writer closes open files."""
        return len(self._phrases)


class PhraseStream:
    """Writer of hashes, strengths and texts of phrases, in ascending order of hash.

    Arguments:
        writer: of the table's artifact.
        prefix: of the arrays' names; of kept sums strengths have 64 bits.
    """

    def __init__(self, writer: storage.ArtifactWriter, prefix: str = "") -> None:
        self._writer = writer
        declared = PhraseColumns.declared(prefix)
        self._names = [prefix + name for name in declared]
        self._largest_strength = np.iinfo(declared["strengths"].dtype).max
        streams = [writer.stream(prefix + name, of.dtype) for name, of in declared.items()]
        self._hashes, self._strengths, self._text, self._blocks, self._ends = streams
        self._n_rows = 0
        self._n_bytes = 0
        self._base = 0  # of the block that is being filled

    def __len__(self) -> int:
        return self._n_rows

    def append(
        self, hashes: np.ndarray, strengths: np.ndarray, text: np.ndarray, lengths: np.ndarray
    ) -> None:
        """Append phrases.

        Arguments:
            hashes: uint64[n], ascending.
            strengths: uint64[n], occurrences.
            text: uint8, the phrases' UTF-8 end to end.
            lengths: int64[n], bytes of each phrase.
        """
        if hashes.size == 0:
            return
        ends = self._n_bytes + np.cumsum(lengths)
        rows = np.arange(self._n_rows, self._n_rows + hashes.size)
        begins = ends - lengths
        bases = begins[rows % BLOCK_ROWS == 0]
        block = rows // BLOCK_ROWS - (self._n_rows - 1) // BLOCK_ROWS  # 0: begun before
        self._hashes.append(hashes)
        self._strengths.append(np.minimum(strengths, self._largest_strength))
        self._text.append(text)
        self._blocks.append(bases)
        all_bases = np.concatenate([[self._base], bases])
        self._ends.append(ends - all_bases[block])
        self._base = int(all_bases[-1])
        self._n_rows += hashes.size
        self._n_bytes = int(ends[-1])

    def close(self) -> None:
        """Finish the arrays."""
        for name in self._names:
            self._writer.close(name)


class PhraseColumns:
    """Phrases in ascending order of their hashes, mapped, as a PhraseStream wrote them.

    Attributes:
        hashes: uint64[n].
        strengths: uint32[n]; uint64[n] of kept sums.

    Arguments:
        artifact: of the table.
        prefix: of the arrays' names.

    Raises:
        ArtifactError: the arrays contradict each other.
    """

    ARRAYS: ClassVar[Declaration] = {
        "hashes": StoredArray(np.uint64, "phrases", ascending="weakly"),
        "strengths": StoredArray(np.uint32, "phrases"),
        "text": StoredArray(np.uint8, "bytes"),
        "text_blocks": StoredArray(np.uint64, "blocks", at_most="bytes", at_open=True),
        "text_ends": StoredArray(np.uint32, "phrases"),
    }

    @classmethod
    def declared(cls, prefix: str) -> Declaration:
        """Return the arrays by name.

        Arguments:
            prefix: of the names; kept sums have strengths of 64 bits.
        """
        strengths = {"strengths": StoredArray(np.uint64, "phrases")} if prefix else {}
        return {**cls.ARRAYS, **strengths}

    def __init__(self, artifact: storage.Artifact, prefix: str = "") -> None:
        arrays = artifact.arrays(self.declared(prefix), prefix)
        columns = map(frozen, arrays.values())
        self.hashes, self.strengths, self._text, self._blocks, self._ends = columns
        if self._blocks.size != -(-self.hashes.size // BLOCK_ROWS):
            raise artifact.contradiction(f"{prefix}text_blocks")

    def __len__(self) -> int:
        return self.hashes.size

    def text(self, row: int) -> str:
        """Return the phrase of a row.

        Arguments:
            row: 0 to n - 1.
        """
        base = int(self._blocks[row // BLOCK_ROWS])
        start = base + (int(self._ends[row - 1]) if row % BLOCK_ROWS else 0)
        return bytes(self._text[start : base + int(self._ends[row])]).decode(errors="replace")

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """Hashes and texts, as the kernel `find_texts` takes them."""
        return self.hashes, self._text, self._blocks, self._ends

    def row(self, text: bytes) -> int:
        """Return the row of one phrase, -1 where there is none, without a kernel.

        Arguments:
            text: the phrase in its normal form.
        """
        hashes, phrase_hash = self._searched, hash_text(text)
        row = bisect_left(hashes, phrase_hash)
        while row < len(hashes) and hashes[row] == phrase_hash:
            base = int(self._blocks[row // BLOCK_ROWS])
            start = base + (int(self._ends[row - 1]) if row % BLOCK_ROWS else 0)
            if self._text[start : base + int(self._ends[row])].tobytes() == text:
                return row
            row += 1
        return -1

    @cached_property
    def _searched(self) -> memoryview:
        """The hashes, as a view whose items are Python's whole numbers."""
        return self.hashes.data

    def bounds(self, first: int, stop: int) -> np.ndarray:
        """Return where the texts of some rows begin, and the end; int64[stop - first + 1].

        Not checked: in a damaged table they may lie outside the text or run backwards.

        Arguments:
            first, stop: the rows first to stop - 1.
        """
        rows = np.arange(first - 1, stop)
        inner = np.maximum(rows, 0)
        ends = self._blocks[inner // BLOCK_ROWS].astype(np.int64) + self._ends[inner]
        return np.where(rows < 0, 0, ends)

    def text_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all texts end to end, uint8, and their bounds, int64[n + 1], made ascending."""
        edges = self.bounds(0, len(self)) if len(self) else np.zeros(1, np.int64)
        edges = np.minimum(edges, self._text.size)
        return self._text, frozen(np.maximum.accumulate(edges))

    def edges(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all texts, uint8, and where those of some rows begin and end in it, int64[n].

        Arguments:
            rows: int64[n].
        """
        blocks = rows // BLOCK_ROWS
        bases = self._blocks[blocks].astype(np.int64)
        ends = bases + self._ends[rows]
        begins = np.where(rows % BLOCK_ROWS, bases + self._ends[np.maximum(rows - 1, 0)], bases)
        ends = np.minimum(ends, self._text.size)  # of a damaged table they may lie outside
        return self._text, frozen(np.minimum(begins, ends)), frozen(ends)

    def token_counts(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the number of tokens of phrases, uint16[n].

        Arguments:
            rows: int64[n]; all rows where None.
        """
        if rows is not None:
            return np.asarray(count_tokens(*self.edges(rows)))
        counts = np.empty(len(self), np.uint16)
        for first in range(0, counts.size, _COUNTED_AT_ONCE):
            stop = min(first + _COUNTED_AT_ONCE, counts.size)
            edges = np.minimum(self.bounds(first, stop), self._text.size)
            edges = frozen(np.maximum.accumulate(edges))  # of a damaged table, too
            counts[first:stop] = count_tokens(self._text, edges[:-1], edges[1:])
        return counts

    def find(self, text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return the row of every phrase, int64[n], -1 where there is none; millions a second.

        Arguments:
            text: uint8, phrases in their normal form as UTF-8, end to end.
            offsets: int64[n + 1], where each begins in `text`.
        """
        rows: np.ndarray = find_texts(
            *self.columns, BLOCK_ROWS, frozen(hash_blob(text, offsets)), frozen(text),
            frozen(offsets),
        )  # fmt: skip
        return rows


def strongest_rows(
    order: np.ndarray, strengths: np.ndarray, text: np.ndarray, starts: np.ndarray, keep: int
) -> np.ndarray:
    """Return the strongest rows in the given order; of equally strong ones the first by text.

    Arguments:
        order: int64[n], rows.
        strengths: uint64[n], by row.
        text: uint8, the phrases' UTF-8 end to end.
        starts: int64[n + 1], where each row's phrase begins in `text`.
        keep: the number of rows.
    """
    threshold = np.partition(strengths, strengths.size - keep)[strengths.size - keep]
    kept = strengths > threshold
    level = np.flatnonzero(strengths == threshold).tolist()
    level.sort(key=lambda row: text[starts[row] : starts[row + 1]].tobytes())
    kept[level[: keep - int(np.count_nonzero(kept))]] = True
    rows: np.ndarray = order[kept[order]]
    return rows


def rendered(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return (phrases as UTF-8 end to end, uint8; where each begins, and the end, int64[n + 1]).

    Arguments:
        texts: n phrases in their normal form.

    Raises:
        ParameterError: a phrase is not valid Unicode.
    """
    joined = "".join(texts) if set(map(type, texts)) <= {str} else None
    if joined is not None and joined.isascii():
        data, lengths = joined.encode(), map(len, texts)
    else:
        in_bytes = [utf8_phrase(text) for text in texts]
        data, lengths = b"".join(in_bytes), map(len, in_bytes)
    offsets = np.fromiter(accumulate(lengths, initial=0), np.int64, len(texts) + 1)
    return np.frombuffer(data, np.uint8), offsets
