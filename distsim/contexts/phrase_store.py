"""Sums phrases and their contexts, added in any order, into one row for each phrase."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.errors import InputError, ParameterError
from distsim.contexts.kernels.counts import (
    TAG_SHIFT,
    WORD_BITS,
    match_tagged,
    part_by_tag,
    read_spellings,
    spell_phrases,
    tag_phrases,
)
from distsim.contexts.triples import Partition, TripleStore
from distsim.kernels.compiled import frozen

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


class Spelling(NamedTuple):
    """The hashes by which two phrases that share one hash are distinguished.

    Attributes:
        word_hashes: () -> uint64 by word id.
        phrase_hash: returns the hash of a phrase, given the ids of its words.
    """

    word_hashes: Callable[[], np.ndarray]
    phrase_hash: Callable[[Sequence[int]], int]


class PhraseStore:
    """Store that sums phrases' occurrences and contexts, more of them than fit in memory.

    Phrases are distinguished by their hash and by what they are spelt of.

    Arguments:
        longest: the most tokens of a phrase.
        folder: for temporary files.
        memory: bytes of the buffers.
        spelling: of the words that are added.

    Raises:
        ParameterError: there is too little memory.
    """

    def __init__(self, longest: int, folder: Path, memory: int, spelling: Spelling) -> None:
        if memory < FEWEST_BYTES:
            raise ParameterError(f"`memory` {memory:,} bytes: give at least {FEWEST_BYTES:,}")
        self.n_unknown = 0  # phrases with contexts that were never added themselves
        self._longest = longest
        self._spelling = spelling
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
            features: uint64[m], each under its phrase's tag; see `tagged`.
            counts: unsigned[m].
        """
        self._contexts.add(phrases, features, counts)

    def tagged(
        self, words: np.ndarray, starts: np.ndarray, lengths: np.ndarray, sizes: np.ndarray,
        features: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Return the features of phrases under their tags, uint64.

        Arguments:
            words, starts, lengths: as of add_phrases.
            sizes: int64[n], the number of features of each phrase.
            features: uint32, of all phrases end to end.
        """
        tags = tag_phrases(
            frozen(words), frozen(starts), frozen(lengths), frozen(self._spelling.word_hashes())
        )
        return under_tags(tags, sizes, features)

    def phrases(self) -> Iterator[CountedPhrases]:
        """Yield all phrases that were added, without contexts."""
        phrases = _Phrases(self._phrases.partitions(), self._longest, self._spelling)
        nothing = np.empty(0, np.uint64)
        while (block := phrases.next_block()) is not None:
            starts = np.zeros(block[0].size + 1, np.int64)
            yield CountedPhrases(*block[:4], starts, nothing, nothing)

    def contexts(self) -> Iterator[tuple[Partition, np.ndarray]]:
        """Yield all contexts that were added, also of phrases that were not, and phrases' tags.

        Two phrases of one hash have a row each.
        """
        for part in self._contexts.partitions():
            rows, tags, starts, features = part_by_tag(frozen(part.starts), frozen(part.features))
            yield Partition(part.phrases[rows], starts, features, part.counts), tags

    def strengths(self) -> Iterator[np.ndarray]:
        """Yield the strengths of all phrases, block by block, uint64."""
        for part in self._phrases.partitions():
            yield part.counts[part.starts[:-1]]

    def blocks(self, min_count: int = 1) -> Iterator[CountedPhrases]:
        """Yield all phrases in ascending order of their hashes.

        Arguments:
            min_count: the lowest count of a phrase.
        """
        self.n_unknown = 0
        phrases = _Phrases(self._phrases.partitions(), self._longest, self._spelling)
        for contexts, tags in self.contexts():
            block = phrases.up_to(int(contexts.phrases[-1]))
            yield self._joined(block, contexts, tags, min_count)
        nothing = np.empty(0, np.uint64)
        no_contexts = Partition(nothing, np.zeros(1, np.int64), nothing, nothing)
        while (last := phrases.next_block()) is not None:
            yield self._joined(last, no_contexts, nothing, min_count)

    def close(self) -> None:
        """Release memory and temporary files."""
        self._phrases.close()
        self._contexts.close()

    def _joined(
        self, block: "_Block", contexts: Partition, tags: np.ndarray, min_count: int
    ) -> CountedPhrases:
        """Return phrases with their contexts; those that have none get an empty row."""
        rows = match_tagged(
            frozen(block[0]), frozen(block[4]), frozen(contexts.phrases), frozen(tags)
        )
        found = rows >= 0
        self.n_unknown += contexts.phrases.size - int(np.count_nonzero(found))
        kept = block[3] >= min_count
        block, rows, found = _rows(block, kept), rows[kept], found[kept]
        sizes = np.zeros(found.size, np.int64)
        sizes[found] = np.diff(contexts.starts)[rows[found]]
        begins = np.zeros(found.size, np.int64)
        begins[found] = contexts.starts[rows[found]]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        entries = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], sizes)
        return CountedPhrases(
            *block[:4], starts, contexts.features[entries], contexts.counts[entries]
        )


def under_tags(tags: np.ndarray, sizes: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the features of rows under the rows' tags, uint64.

    Arguments:
        tags: uint64[n], of the rows.
        sizes: int64[n], features of each row.
        features: unsigned, of all rows end to end.
    """
    marked: np.ndarray = features.astype(np.uint64) | np.repeat(tags << np.uint64(TAG_SHIFT), sizes)
    return marked


# Columns beside each other: hashes, words, lengths, strengths as in CountedPhrases, and tags; in
# order of hashes, those that share one in order of tags.
_Block = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class _Phrases:
    """Reader of phrases in order, from partitions on demand."""

    def __init__(self, partitions: Iterator[Partition], longest: int, spelling: Spelling) -> None:
        self._partitions = partitions
        self._longest = longest
        self._spelling = spelling
        self._rest = self._empty()

    def up_to(self, last: int) -> _Block:
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

    def next_block(self) -> _Block | None:
        """Return some more phrases, None after the last."""
        if self._rest[0].size:
            block, self._rest = self._rest, self._empty()
            return block
        return self._read()

    def _read(self) -> _Block | None:
        part = next(self._partitions, None)
        if part is None:
            return None
        words, lengths = read_spellings(frozen(part.starts), frozen(part.features), self._longest)
        hashes, strengths = part.phrases, part.counts[part.starts[:-1]]
        if not lengths.all():
            hashes, words, lengths, strengths = self._told_apart(part, words, lengths)
        tags = tag_phrases(
            frozen(words.reshape(-1)), frozen(np.arange(lengths.size) * self._longest),
            frozen(lengths), frozen(self._spelling.word_hashes()),
        )  # fmt: skip
        if hashes is not part.phrases:
            order = np.lexsort((tags, hashes))
            hashes, words, lengths = hashes[order], words[order], lengths[order]
            strengths, tags = strengths[order], tags[order]
        return hashes, words, lengths, strengths, tags

    def _told_apart(
        self, part: Partition, words: np.ndarray, lengths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the phrases of a partition in which some share a hash, each with its own count."""
        clear = np.flatnonzero(lengths)
        hashes, all_words = [part.phrases[clear]], [words[clear]]
        all_lengths, strengths = [lengths[clear]], [part.counts[part.starts[clear]]]
        for row in np.flatnonzero(lengths == 0).tolist():
            own = slice(part.starts[row], part.starts[row + 1])
            name = int(part.phrases[row])
            found = phrases_of_one_hash(
                part.features[own].tolist(), part.counts[own].tolist(), self._longest,
                partial(self._has_hash, name),
            )  # fmt: skip
            if found is None:
                raise InputError(
                    f"phrases that have the hash {name:016x} cannot be told apart: leave one out "
                    "of the counts"
                )
            for spelt, count in found:
                hashes.append(np.array([name], np.uint64))
                padded = [*spelt, *[0] * (self._longest - len(spelt))]
                all_words.append(np.array([padded], np.uint32))
                all_lengths.append(np.array([len(spelt)]))
                strengths.append(np.array([count], np.uint64))
        return (np.concatenate(hashes), np.concatenate(all_words), np.concatenate(all_lengths),
                np.concatenate(strengths))  # fmt: skip

    def _has_hash(self, name: int, words: Sequence[int]) -> bool:
        return self._spelling.phrase_hash(words) == name

    def _empty(self) -> _Block:
        return (
            np.empty(0, np.uint64), np.empty((0, self._longest), np.uint32),
            np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.uint64),
        )  # fmt: skip


def _rows(block: _Block, rows: slice | np.ndarray) -> _Block:
    return block[0][rows], block[1][rows], block[2][rows], block[3][rows], block[4][rows]


def _concatenated(blocks: list[_Block]) -> _Block:
    hashes, words, lengths, strengths, tags = map(np.concatenate, zip(*blocks, strict=True))
    return hashes, words, lengths, strengths, tags


def phrases_of_one_hash(
    numbers: Sequence[int], counts: Sequence[int], longest: int, fits: Callable[[list[int]], bool]
) -> list[tuple[list[int], int]] | None:
    """Return the phrases and counts whose spellings were summed under one hash.

    A phrase is a way through the numbers, place by place, whose words have the hash. Its count is
    that of a number which no other of them has, once the others' are known.

    None where the counts do not tell.

    Arguments:
        numbers, counts: as of spell_phrases, summed.
        longest: tokens of the longest phrases.
        fits: returns whether words, by id, have the hash.
    """
    at: dict[int, list[int]] = {}
    for number in numbers:
        at.setdefault(number >> (2 * WORD_BITS), []).append(number)
    ways: list[tuple[list[int], list[int]]] = []

    def go_on(way: list[int], words: list[int]) -> None:
        if way and fits(words):
            ways.append((way, words))
        if len(words) == 2 * len(way) and len(words) < longest:
            for number in at.get(len(way), ()):
                pair = (number >> WORD_BITS) % MOST_WORDS, number % MOST_WORDS
                go_on([*way, number], [*words, *(word for word in pair if word)])

    go_on([], [])
    left = dict(zip(numbers, counts, strict=True))
    found: list[tuple[list[int], int]] = []
    while ways:
        own = {number for way, _ in ways for number in way
               if sum(number in other for other, _ in ways) == 1}  # fmt: skip
        place = next((n for n, (way, _) in enumerate(ways) if own & set(way)), None)
        if place is None:
            return None
        way, words = ways.pop(place)
        count = left[next(number for number in way if number in own)]
        if count:
            found.append((words, count))
        for number in way:
            left[number] -= count
    return found if not any(left.values()) else None
