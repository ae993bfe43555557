"""Sums phrases and their contexts, added in any order, into one row for each phrase."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from distsim.base.arguments import MAX_LENGTH, MIN_COUNT, check_types, in_range
from distsim.base.errors import InputError, ParameterError
from distsim.contexts.kernels.ngram_counts import WORD_BITS, read_spellings, spell_phrases
from distsim.contexts.triples import Partition, TripleStore
from distsim.kernels.arrays import places_of_ranges
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted

LONGEST = 8


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Limits of the phrases that get a row in the table.

    Arguments:
        min_count: phrases that occur less often are left out.
        max_length: the longest phrases, in tokens, 1 to 8.
        max_phrases: number of phrases to keep, the most frequent ones; all of them where None.

    Raises:
        ParameterError: a limit is outside its range.

    >>> Selection(min_count=2)
    Selection(min_count=2, max_length=4, max_phrases=None)
    """

    min_count: int = MIN_COUNT
    max_length: int = MAX_LENGTH
    max_phrases: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("min_count", "max_length", "max_phrases"):
            value = getattr(self, name)
            wanted = isinstance(value, int) and not isinstance(value, bool)
            if not wanted and not (value is None and name == "max_phrases"):
                raise ParameterError(f"`{name}` {value!r}: give a whole number")
        in_range(self.min_count, "`min_count`", 1)
        in_range(self.max_length, "`max_length`", 1, LONGEST)
        if self.max_phrases is not None:
            in_range(self.max_phrases, "`max_phrases`", 1)


MOST_WORDS = 1 << WORD_BITS
DEFAULT_MEMORY = 4 << 30
FEWEST_BYTES = 1 << 18


@dataclass(frozen=True)
class CountedPhrases:
    """Phrases in ascending order of their hashes, with their features as sparse rows.

    Phrase i has features[starts[i]:starts[i + 1]], each once.

    Attributes:
        hashes: uint64[n].
        words: uint32[n, longest], ids, 0 behind the last.
        lengths: int64[n], in tokens.
        strengths: uint64[n], occurrences.
        starts: int64[n + 1].
        features: uint64.
        counts: uint64, beside them.
    """

    hashes: np.ndarray
    words: np.ndarray
    lengths: np.ndarray
    strengths: np.ndarray
    starts: np.ndarray
    features: np.ndarray
    counts: np.ndarray

    def parts(self, size: int) -> Iterator["CountedPhrases"]:
        """Yield the phrases in pieces.

        Arguments:
            size: the most phrases of a piece.
        """
        for first in range(0, self.hashes.size, size):
            rows = slice(first, first + size)
            starts = self.starts[first : first + size + 1]
            entries = slice(starts[0], starts[-1])
            yield CountedPhrases(
                self.hashes[rows], self.words[rows], self.lengths[rows], self.strengths[rows],
                starts - starts[0], self.features[entries], self.counts[entries],
            )  # fmt: skip


class PhraseStore:
    """Store that sums phrases' occurrences and contexts, more of them than fit in memory.

    Two phrases of one hash are an error.

    Arguments:
        longest: the most tokens of a phrase.
        folder: for temporary files.
        memory: bytes of the buffers.

    Raises:
        ParameterError: there is too little memory.
    """

    n_unknown: int = 0  # phrases with contexts that were never added, after `blocks`

    def __init__(self, longest: int, folder: Path, memory: int) -> None:
        if memory < FEWEST_BYTES:
            raise ParameterError(f"`memory` {memory:,} bytes: give at least {FEWEST_BYTES:,}")
        self._longest = longest
        self._phrases = TripleStore(folder, memory // 3)
        self._contexts = TripleStore(folder, memory - memory // 3)

    def add_phrases(
        self,
        hashes: np.ndarray,
        words: np.ndarray,
        starts: np.ndarray,
        lengths: np.ndarray,
        strengths: np.ndarray,
    ) -> None:
        """Add occurrences of phrases; phrase i is words[starts[i]:starts[i] + lengths[i]].

        Arguments:
            hashes: uint64[n], of the phrases.
            words: uint32, word ids.
            starts, lengths: int64[n].
            strengths: uint64[n], occurrences.

        Raises:
            ParameterError: there are too many distinct words.
        """
        if words.max(initial=0) >= MOST_WORDS:
            raise ParameterError(
                f"more than {MOST_WORDS:,} distinct words: fold numbers or leave out rare words"
            )
        keys, spellings, owners = spell_phrases(
            frozen(words), frozen(starts), frozen(lengths), frozen(hashes)
        )
        self._phrases.add(keys, spellings, strengths[owners])

    def add_contexts(self, phrases: np.ndarray, features: np.ndarray, counts: np.ndarray) -> None:
        """Add features of phrases.

        Arguments:
            phrases: uint64[m], hashes of phrases.
            features: uint64[m].
            counts: unsigned[m].
        """
        self._contexts.add(phrases, features.astype(np.uint64, copy=False), counts)

    def blocks(self, min_count: int = 1) -> Iterator[CountedPhrases]:
        """Yield all phrases in ascending order of their hashes.

        Arguments:
            min_count: the lowest count of a phrase.
        """
        self.n_unknown = 0
        phrases = _Phrases(self._phrases.partitions(), self._longest)
        for contexts in self._contexts.partitions():
            block = phrases.up_to(int(contexts.phrases[-1]))
            yield self._joined(block, contexts, min_count)
        nothing = np.empty(0, np.uint64)
        no_contexts = Partition(nothing, np.zeros(1, np.int64), nothing, nothing)
        while (last := phrases.next_block()) is not None:
            yield self._joined(last, no_contexts, min_count)

    def close(self) -> None:
        """Release memory and temporary files."""
        self._phrases.close()
        self._contexts.close()

    def _joined(self, block: "_PhraseBlock", contexts: Partition, min_count: int) -> CountedPhrases:
        """Return phrases with their contexts; those that have none get an empty row."""
        rows = find_sorted(frozen(contexts.phrases), frozen(block[0]))
        is_known = rows >= 0
        self.n_unknown += contexts.phrases.size - int(np.count_nonzero(is_known))
        is_frequent = block[3] >= min_count
        block, rows, is_known = _rows(block, is_frequent), rows[is_frequent], is_known[is_frequent]
        sizes = np.zeros(is_known.size, np.int64)
        sizes[is_known] = np.diff(contexts.starts)[rows[is_known]]
        begins = np.zeros(is_known.size, np.int64)
        begins[is_known] = contexts.starts[rows[is_known]]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        entries = places_of_ranges(begins, sizes)
        return CountedPhrases(*block, starts, contexts.features[entries], contexts.counts[entries])


# Columns beside each other: hashes, words, lengths, strengths as in CountedPhrases.
_PhraseBlock = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class _Phrases:
    """Reader of phrases in order, from partitions on demand."""

    def __init__(self, partitions: Iterator[Partition], longest: int) -> None:
        self._partitions = partitions
        self._longest = longest
        self._rest = self._empty()

    def up_to(self, last: int) -> _PhraseBlock:
        """Return the next phrases, those with hashes up to `last`."""
        blocks = [self._empty()]
        while True:
            n = int(np.searchsorted(self._rest[0], np.uint64(last), "right"))
            blocks.append(_rows(self._rest, slice(0, n)))
            if n < self._rest[0].size:
                self._rest = _rows(self._rest, slice(n, None))
                break
            self._rest = self._empty()
            block = self._read()
            if block is None:
                break
            self._rest = block
        return _concatenated(blocks)

    def next_block(self) -> _PhraseBlock | None:
        """Return some more phrases, None after the last."""
        if self._rest[0].size:
            block, self._rest = self._rest, self._empty()
            return block
        return self._read()

    def _read(self) -> _PhraseBlock | None:
        part = next(self._partitions, None)
        if part is None:
            return None
        words, lengths = read_spellings(frozen(part.starts), frozen(part.features), self._longest)
        if not lengths.all():
            name = int(part.phrases[np.argmin(lengths)])
            raise InputError(
                f"two phrases have the hash {name:016x}: leave one of them out of the text"
            )
        return part.phrases, words, lengths, part.counts[part.starts[:-1]]

    def _empty(self) -> _PhraseBlock:
        return (
            np.empty(0, np.uint64), np.empty((0, self._longest), np.uint32),
            np.empty(0, np.int64), np.empty(0, np.uint64),
        )  # fmt: skip


def _rows(block: _PhraseBlock, rows: slice | np.ndarray) -> _PhraseBlock:
    return block[0][rows], block[1][rows], block[2][rows], block[3][rows]


def _concatenated(blocks: list[_PhraseBlock]) -> _PhraseBlock:
    hashes, words, lengths, strengths = map(np.concatenate, zip(*blocks, strict=True))
    return hashes, words, lengths, strengths
