"""Signed phrases in order of their hashes -> the arrays of a table, written as they come."""

from collections.abc import Iterable, Iterator

import numpy as np

from distsim import storage
from distsim.contexts.features import ContextCounts
from distsim.contexts.phrase_store import CountedPhrases
from distsim.kernels.compiled import frozen
from distsim.kernels.text import render_phrases
from distsim.parallel import ordered_map
from distsim.signatures.feature_store import FeatureWriter
from distsim.signatures.rows import BLOCK_ROWS, STRONGEST, TableRows
from distsim.signatures.signer import BATCH_PHRASES, PhraseBatch, SignedBatch, Signer

_TEXT = ("text", "text_blocks", "text_ends")


class PhraseStream:
    """Writes hashes, strengths and texts of phrases that come in ascending order of hash.

    Arguments:
        prefix: of the arrays' names. strength_dtype: of the strengths, which saturate.
    """

    def __init__(
        self, writer: storage.ArtifactWriter, prefix: str = "", strength_dtype: type = np.uint32
    ) -> None:
        self._most = np.iinfo(strength_dtype).max
        self._names = [f"{prefix}{name}" for name in ("hashes", "strengths", *_TEXT)]
        dtypes = (np.uint64, strength_dtype, np.uint8, np.uint64, np.uint32)
        self._writer = writer
        streams = [writer.stream(*one) for one in zip(self._names, dtypes, strict=True)]
        self._hashes, self._strengths, self._text, self._blocks, self._ends = streams
        self._n_rows = 0
        self._n_bytes = 0
        self._base = 0  # of the block that is being filled

    def __len__(self) -> int:
        return self._n_rows

    def append(
        self, hashes: np.ndarray, strengths: np.ndarray, text: np.ndarray, lengths: np.ndarray
    ) -> None:
        """Append phrases; as in a PhraseBatch."""
        if hashes.size == 0:
            return
        ends = self._n_bytes + np.cumsum(lengths)
        rows = np.arange(self._n_rows, self._n_rows + hashes.size)
        begins = ends - lengths
        bases = begins[rows % BLOCK_ROWS == 0]
        block = rows // BLOCK_ROWS - (self._n_rows - 1) // BLOCK_ROWS  # 0: begun before
        self._hashes.append(hashes)
        self._strengths.append(np.minimum(strengths, self._most))
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


class TableStream:
    """Writes a table's rows as they come, sorted; the streaming sister of TableRows."""

    def __init__(self, writer: storage.ArtifactWriter, n_bits: int) -> None:
        self._phrases = PhraseStream(writer)
        self._bits = writer.stream("bits", np.uint64, n_bits // 64)
        self.n_without_context = 0

    def add(self, batch: SignedBatch) -> None:
        """Add the phrases of a batch that have a signature; count the others."""
        some, phrases = batch.some, batch.phrases
        text = phrases.text[np.repeat(some, phrases.text_lengths)]
        self._phrases.append(
            phrases.hashes[some], phrases.strengths[some], text, phrases.text_lengths[some]
        )
        self._bits.append(batch.bits[some])
        self.n_without_context += int(some.size - np.count_nonzero(some))

    def __len__(self) -> int:
        return len(self._phrases)


def write_table(
    writer: storage.ArtifactWriter,
    batches: Iterable[PhraseBatch],
    signer: Signer,
    n_bits: int,
    keep: int | None = None,
    jobs: int | None = None,
    kept: FeatureWriter | None = None,
) -> tuple[int, int]:
    """Sign phrases that come in ascending order of their hashes and write the table's rows.

    Arguments:
        keep: at most so many rows, the strongest ones; these are then held in memory.
        kept: takes the weighted features of all phrases, where they are to be kept.

    Returns (rows, phrases without a signature).
    """
    rows = TableRows(n_bits) if keep is not None else TableStream(writer, n_bits)

    def sign(batch: PhraseBatch) -> tuple[SignedBatch, tuple[np.ndarray, np.ndarray] | None]:
        return signer.sign(batch), signer.named_weights(batch.contexts) if kept else None

    for signed, features in ordered_map(sign, batches, jobs):
        rows.add(signed)
        if kept is not None and features is not None:
            kept.add(signed.phrases.hashes, signed.phrases.contexts.starts, *features)
    n_rows = rows.write(writer, keep) if isinstance(rows, TableRows) else len(rows)
    return n_rows, rows.n_without_context


def phrase_batches(
    block: CountedPhrases, text: np.ndarray, offsets: np.ndarray
) -> Iterator[PhraseBatch]:
    """Yield counted phrases in batches; text, offsets: the words' UTF-8 by id."""
    for part in block.parts(BATCH_PHRASES):
        n, longest = part.words.shape
        rendered, ends = render_phrases(
            frozen(part.words.reshape(-1)), frozen(np.arange(n) * longest), frozen(part.lengths),
            frozen(text), frozen(offsets),
        )  # fmt: skip
        yield PhraseBatch(
            part.hashes, rendered, np.diff(ends), part.strengths,
            narrowed(part.starts, part.features, part.counts),
        )  # fmt: skip


def narrowed(starts: np.ndarray, features: np.ndarray, counts: np.ndarray) -> ContextCounts:
    """Return contexts with features of 32 bits and, where they fit, counts of 32 bits."""
    if counts.max(initial=0) <= STRONGEST:
        counts = counts.astype(np.uint32)
    return ContextCounts(starts, features.astype(np.uint32), counts)
