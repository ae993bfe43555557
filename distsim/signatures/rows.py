"""Signed phrases in any order -> the sorted arrays of a table."""

import numpy as np

from distsim import storage
from distsim.kernels.compiled import frozen
from distsim.kernels.tables import permute_texts
from distsim.signatures.signer import SignedBatch

BLOCK_ROWS = 64  # text offsets are kept relative to blocks of so many rows
STRONGEST = 0xFFFFFFFF


class TableRows:
    """Gathers the rows of a table batch by batch and writes them in order of their hashes."""

    def __init__(self, n_bits: int) -> None:
        self._hashes = [np.empty(0, np.uint64)]
        self._bits = [np.empty((0, n_bits // 64), np.uint64)]
        self._strengths = [np.empty(0, np.uint64)]
        self._text = [np.empty(0, np.uint8)]
        self._text_lengths = [np.empty(0, np.int64)]
        self.n_without_context = 0

    def add(self, batch: SignedBatch) -> None:
        """Add the phrases of a batch that have a signature; count the others."""
        some, phrases = batch.some, batch.phrases
        self._hashes.append(phrases.hashes[some])
        self._bits.append(batch.bits[some])
        self._strengths.append(phrases.strengths[some])
        self._text.append(phrases.text[np.repeat(some, phrases.text_lengths)])
        self._text_lengths.append(phrases.text_lengths[some])
        self.n_without_context += int(some.size - np.count_nonzero(some))

    def write(self, writer: storage.ArtifactWriter, keep: int | None = None) -> int:
        """Write the arrays of a table, at most the `keep` strongest rows; return their number."""
        hashes = np.concatenate(self._hashes)
        strengths = np.concatenate(self._strengths)
        text = np.concatenate(self._text)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(self._text_lengths))])
        order = np.argsort(hashes, kind="stable")
        if keep is not None and keep < order.size:
            order = _strongest(order, strengths, text, starts, keep)
        text, ends = permute_texts(frozen(text), frozen(starts), frozen(order))
        blocks = ends[:-1:BLOCK_ROWS]
        within = ends[1:] - np.repeat(blocks, BLOCK_ROWS)[: order.size]
        writer.add("hashes", hashes[order])
        writer.add("bits", np.concatenate(self._bits)[order])
        writer.add("strengths", np.minimum(strengths[order], STRONGEST).astype(np.uint32))
        writer.add("text", text)
        writer.add("text_blocks", blocks.astype(np.uint64))
        writer.add("text_ends", within.astype(np.uint32))
        return order.size


def _strongest(
    order: np.ndarray, strengths: np.ndarray, text: np.ndarray, starts: np.ndarray, keep: int
) -> np.ndarray:
    """Return the `keep` strongest rows in the given order; at equal strength, first by text."""
    threshold = np.partition(strengths, strengths.size - keep)[strengths.size - keep]
    kept = strengths > threshold
    level = np.flatnonzero(strengths == threshold).tolist()
    level.sort(key=lambda row: text[starts[row] : starts[row + 1]].tobytes())
    kept[level[: keep - int(np.count_nonzero(kept))]] = True
    return order[kept[order]]
