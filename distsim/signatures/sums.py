"""Kept sums: what a table's raw sums are made of, for every phrase, written and read in order.

A raw sum is a whole number of times each of many vectors of the pool. Kept are the vectors'
places in the pool, the *terms*, and these numbers: exact, a few bytes for a rare phrase,
where the sum itself would take eight bytes a bit. The sums of two corpora add term by term.
Phrases of every count are kept, because a phrase that is rare in two halves may be frequent
in the whole; so are those without any context, for their strength.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from distsim import storage
from distsim.base.arguments import TextFormat
from distsim.base.errors import ArtifactError
from distsim.contexts.kernels.triples import sort_triples, sum_equal
from distsim.contexts.phrase_store import Selection
from distsim.contexts.sources.source import (
    CountedText,
    Model,
    PhraseBatch,
    ThreadTask,
    Work,
    narrowed,
)
from distsim.contexts.weights import ContextCounts, FeatureSpace
from distsim.corpus.normaliser import Normaliser
from distsim.indexes.build import WordsChecksum
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import permute_texts
from distsim.signatures.layout import PhraseColumns, PhraseStream
from distsim.signatures.projections.random_projections import POOL_SIZE
from distsim.signatures.recipe import Fingerprint, Recipe
from distsim.storage import StoredArray, start_array

_LARGEST_COUNT = np.uint64(0xFFFFFFFF)
# What is held at a time, of all tables together.
_ROWS = 1 << 16
_TERMS = 1 << 19
# The space whose feature number n has the n-th vector of the pool.
_POOL_SPACE = FeatureSpace(
    family_names=("pool",),
    families=np.zeros(POOL_SIZE, np.uint8),
    hashes=np.arange(POOL_SIZE, dtype=np.uint64),
    marginals=np.empty(0),
    totals=np.zeros(1),
)


class SumsStream:
    """Writes the terms of phrases that come in ascending order of their hashes.

    Arguments:
        writer: of the table's artifact.
    """

    def __init__(self, writer: storage.ArtifactWriter) -> None:
        self._writer = writer
        self._phrases = PhraseStream(writer, "sums/")
        self._starts = writer.stream("sums/starts", np.uint64)
        self._terms = writer.stream("sums/terms", np.uint32)
        self._counts = writer.stream("sums/counts", np.uint32)
        self._starts.append(np.zeros(1))
        self._n_terms = 0

    def add(self, batch: PhraseBatch, offsets: np.ndarray) -> None:
        """Append phrases.

        Arguments:
            batch: phrases with their contexts, ascending by hash.
            offsets: uint32, where each feature's vector begins in the pool.
        """
        self._phrases.append(batch.hashes, batch.strengths, batch.text, batch.text_lengths)
        contexts = batch.contexts
        starts, terms, counts = add_terms(
            np.repeat(np.arange(batch.hashes.size), np.diff(contexts.starts)),
            offsets[contexts.features],
            contexts.counts,
            batch.hashes.size,
        )
        pieces = (1 + (counts - 1) // _LARGEST_COUNT).astype(np.int64)  # 1, but beyond 32 bits
        if counts.size and pieces.max() > 1:
            last = np.cumsum(pieces) - 1
            rest = counts - (pieces - 1).astype(np.uint64) * _LARGEST_COUNT
            counts = np.full(last[-1] + 1, _LARGEST_COUNT)
            counts[last] = rest
            terms = np.repeat(terms, pieces)
            starts = np.concatenate([[0], np.cumsum(pieces)])[starts]
        self._starts.append(self._n_terms + starts[1:].astype(np.uint64))
        self._terms.append(terms)
        self._counts.append(counts)
        self._n_terms += terms.size


def add_terms(
    rows: np.ndarray, terms: np.ndarray, counts: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sparse rows of terms, equal ones summed.

    They are (starts int64[n_rows + 1], terms uint64 ascending in each row, counts uint64).

    Arguments:
        rows: the row of each term, in any order.
        terms: places in the pool, beside them.
        counts: beside them.
        n_rows: the number of rows.
    """
    columns = [frozen(values.astype(np.uint64)) for values in (rows, terms, counts)]
    ordered = [np.empty(rows.size, np.uint64) for _ in columns]
    sort_triples(*columns, *ordered)
    n = sum_equal(*ordered)
    rows, terms, counts = (values[:n] for values in ordered)
    return np.searchsorted(rows, np.arange(n_rows + 1, dtype=np.uint64)), terms, counts


_ARRAYS = {
    "starts": start_array("phrases", "terms", at_open=False),
    "terms": StoredArray(np.uint32, "terms"),
    "counts": StoredArray(np.uint32, "terms"),
}


class KeptSums:
    """The kept sums of a table, read in order, block by block.

    Arguments:
        artifact: of the table.

    Raises:
        ArtifactError: the table was signed without sums, or they are damaged.
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        self.path: Path = artifact.path
        if "sums/hashes" not in artifact:
            raise ArtifactError(
                f"{self.path}: the table was signed without its sums and cannot be merged: "
                "sign it again with `keep_sums`"
            )
        self._artifact = artifact
        try:
            self._phrases = PhraseColumns(artifact, "sums/")
            self.hashes = self._phrases.hashes
            arrays = artifact.arrays(_ARRAYS, "sums/", {"phrases": len(self)}, values=False)
        except ArtifactError:
            raise self.damaged() from None
        self._text = artifact.array("sums/text", np.uint8)
        self._starts, self._terms, self._counts = arrays.values()
        if self._starts[-1] != self._terms.size:
            raise self.damaged()

    def __len__(self) -> int:
        return self.hashes.size

    def stop(self, first: int, rows: int, terms: int) -> int:
        """Return the row behind the last of a block, whose size is limited.

        Arguments:
            first: the block's first row.
            rows: the most rows of the block.
            terms: the most terms of the block; a single row may have more.
        """
        last = min(len(self), first + rows)
        limit = self._starts[first] + np.uint64(terms)
        stop = first + int(np.searchsorted(self._starts[first + 1 : last + 1], limit, "right"))
        return min(last, max(stop, first + 1))

    def read(self, first: int, stop: int) -> PhraseBatch:
        """Return the phrases of some rows, with terms in place of features (copies).

        Arguments:
            first, stop: the rows first to stop - 1.

        Raises:
            ArtifactError: the sums are damaged.
        """
        starts = self._starts[first : stop + 1].astype(np.int64)
        edges = self._phrases.bounds(first, stop)
        lengths = np.diff(edges)
        sound = (
            bool(np.all(np.diff(starts) >= 0) and np.all(lengths > 0))
            and 0 <= starts[0] <= starts[-1] <= self._terms.size
            and edges[-1] <= self._text.size
        )
        if not sound:
            raise self.damaged()
        terms = np.array(self._terms[starts[0] : starts[-1]])
        hashes = np.array(self.hashes[first:stop])
        if terms.max(initial=0) >= POOL_SIZE or np.any(hashes[1:] <= hashes[:-1]):
            raise self.damaged()
        counts = np.array(self._counts[starts[0] : starts[-1]])
        return PhraseBatch(
            hashes,
            np.array(self._text[edges[0] : edges[-1]]),
            lengths,
            np.array(self._phrases.strengths[first:stop]),
            ContextCounts(starts - starts[0], terms, counts),
            _POOL_SPACE,
        )

    def damaged(self) -> ArtifactError:
        """Return the error that says so."""
        return ArtifactError(f"{self.path}: the kept sums are damaged: sign the table again")


def merged_blocks(tables: list[KeptSums], rows: int, terms: int) -> Iterator[PhraseBatch]:
    """Yield the phrases of all tables with their sums added, in ascending order of hashes.

    Arguments:
        tables: the kept sums, of tables that were made alike.
        rows, terms: at most so many are held of each table at a time; they bound the memory.

    Raises:
        ArtifactError: a table's sums are damaged.
    """
    at = [0] * len(tables)
    highest = np.uint64(0xFFFFFFFFFFFFFFFF)
    while any(first < len(table) for first, table in zip(at, tables, strict=True)):
        stops = [
            table.stop(first, rows, terms) if first < len(table) else first
            for first, table in zip(at, tables, strict=True)
        ]
        bound = min(
            (
                table.hashes[stop - 1]
                for stop, table in zip(stops, tables, strict=True)
                if stop < len(table)
            ),
            default=highest,
        )
        blocks = []
        for number, table in enumerate(tables):
            first = at[number]
            hashes = table.hashes[first : stops[number]]
            if np.any(hashes[1:] <= hashes[:-1]):  # the search below would never get on
                raise table.damaged()
            n = int(np.searchsorted(hashes, bound, "right"))
            if n:
                blocks.append(table.read(first, first + n))
                at[number] = first + n
        yield _added(blocks)


def _added(blocks: list[PhraseBatch]) -> PhraseBatch:
    """Return the phrases of all blocks in order, each once, with its strengths and terms added."""
    hashes, first, row = np.unique(
        np.concatenate([block.hashes for block in blocks]), return_index=True, return_inverse=True
    )
    strengths = np.zeros(hashes.size, np.uint64)
    np.add.at(strengths, row, np.concatenate([block.strengths for block in blocks]))
    lengths = np.concatenate([block.text_lengths for block in blocks])
    text, ends = permute_texts(
        frozen(np.concatenate([block.text for block in blocks])),
        frozen(np.concatenate([[0], np.cumsum(lengths)])),
        frozen(first),
    )
    sizes = np.concatenate([np.diff(block.contexts.starts) for block in blocks])
    contexts = add_terms(
        np.repeat(row, sizes),
        np.concatenate([block.contexts.features for block in blocks]),
        np.concatenate([block.contexts.counts for block in blocks]),
        hashes.size,
    )
    return PhraseBatch(hashes, text, np.diff(ends), strengths, narrowed(*contexts), _POOL_SPACE)


class AddedSums(CountedText):
    """The phrases of tables with kept sums, added up; a PhraseSource and its CountedText.

    Its parts are batches already, the pool's entries are their features.

    Arguments:
        sums: of tables that were made alike.
        fingerprint: the tables' own.
        text_format: the tables' own.
        n_tokens: of all their text.
        n_sentences: of all their text.
    """

    marginals = ""  # raw counts depend on none

    def __init__(
        self,
        sums: list[KeptSums],
        fingerprint: Fingerprint,
        text_format: TextFormat,
        n_tokens: int,
        n_sentences: int,
    ) -> None:
        self.usual_model = type(Recipe.from_fingerprint(fingerprint).model)
        self.model = fingerprint.model
        self.normaliser = Normaliser.from_manifest(fingerprint.normaliser)
        self.text_format = text_format
        self.n_tokens, self.n_sentences = n_tokens, n_sentences
        self.corpus = None  # known when all parts were asked for
        self.space = _POOL_SPACE
        self._sums = sums

    @contextmanager
    def counted(self, model: Model, selection: Selection, work: Work) -> Iterator["AddedSums"]:
        """Yield the sums, added.

        Arguments:
            model: that of the tables.
            selection: which phrases are signed.
            work: not used.
        """
        yield self

    def total(self) -> int:
        """Return the rows of all tables."""
        return sum(map(len, self._sums))

    def parts(self, min_count: int, max_length: int) -> Iterator[ThreadTask]:
        """Yield the batches of all phrases, in ascending order of their hashes.

        Arguments:
            min_count: occurrences of a phrase; rarer ones are left out.
            max_length: that of the tables.
        """
        words = WordsChecksum()
        n = len(self._sums)
        for batch in merged_blocks(self._sums, _ROWS // n + 1, _TERMS // n + 1):
            single = batch.token_counts() == 1
            words.add(batch.hashes[single], batch.strengths[single])
            yield ThreadTask(batch.where(batch.strengths >= min_count), batch.hashes.size)
        self.corpus = words.fingerprint(self.n_tokens, self.n_sentences)
