"""Enumerates all phrases of 1..n tokens in shards, with all occurrences of each together.

Suffixes that share n tokens are neighbours in a suffix array, so the runs of rows that share
n tokens are exactly the phrases of n tokens. The shards agree on the order of suffixes,
because they share word ids; their rows are merged, and nothing after that knows of shards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from distsim.indexes.shard import LAST_WORD, FirstWords, Shard
from distsim.kernels import suffixes as kernel
from distsim.kernels.compiled import frozen

CHUNK_ROWS = 1 << 20


@dataclass(frozen=True)
class PhraseChunk:
    """The occurrences of all phrases that begin with certain words.

    rows: uint32[n, before + longest + after], what is around each occurrence: `before`
        tokens on the left, then the phrase and what follows it; 0 from the sentence's edge
        outwards; in order of the tokens from column `before` on.
    common: uint8[n], how many tokens from there on a row shares with the row before.
    """

    rows: np.ndarray
    common: np.ndarray
    before: int

    def runs(self, length: int, min_count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the runs of rows, (lows, highs), of every phrase of `length` tokens.

        Arguments:
            length: tokens.
            min_count: phrases that occur less often are left out.
        """
        runs: tuple[np.ndarray, np.ndarray] = kernel.find_runs(
            frozen(self.rows), self.before, frozen(self.common), length, min_count
        )
        return runs


def word_counts(shards: Sequence[Shard], n_words: int) -> np.ndarray:
    """Return how often each word occurs, uint64[n_words]; the boundary's entry counts sentences."""
    counts = np.zeros(n_words, np.uint64)
    for shard in shards:
        counts += shard.word_counts(n_words)
    return counts


def chunk_words(counts: np.ndarray, chunk_rows: int = CHUNK_ROWS) -> list[FirstWords]:
    """Return half-open ranges of word ids whose counts sum to about `chunk_rows` each.

    Arguments:
        counts: int64, number of occurrences of each word id.
        chunk_rows: wanted sum of counts of a range.
    """
    stops = np.cumsum(counts[1:], dtype=np.int64)
    ranges = []
    first = 0
    while first < stops.size:
        done = stops[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(stops, done + chunk_rows, "right")))
        ranges.append(FirstWords(first + 1, last + 1))
        first = last
    return ranges


def split(
    shards: Sequence[Shard], words: FirstWords, chunk_rows: int = CHUNK_ROWS
) -> list[FirstWords]:
    """Return a single word's phrases in ranges of second words of about `chunk_rows` rows each.

    Arguments:
        words: half-open range of word ids; several, or a rare one, are returned unchanged.
        chunk_rows: wanted number of rows of a range.
    """
    rows = [shard.suffixes_of_words(words).size for shard in shards]
    n_pieces = -(-sum(rows) // chunk_rows)
    if n_pieces < 2 or words.stop - words.first > 1 or not words.is_whole:
        return [words]
    fullest = shards[int(np.argmax(rows))]
    places = np.arange(1, n_pieces) * max(rows) // n_pieces
    seconds = np.unique(fullest.words_after(fullest.suffixes_of_words(words)[places]))
    edges = [0, *seconds[seconds > 0].tolist(), LAST_WORD]
    return [words._replace(second=a, second_stop=b) for a, b in pairwise(edges)]


def gather_chunk(
    shards: Sequence[Shard],
    words: FirstWords,
    n_words: int,
    longest: int,
    before: int = 0,
    after: int = 0,
) -> PhraseChunk:
    """Return the phrases of 1..longest tokens that begin with `words`.

    Where these are not whole, phrases of one token have a part of their rows only.

    Arguments:
        longest: tokens of a phrase.
        before, after: tokens of context in each row.
    """
    parts = [shard.rows_of_words(words, before, longest, after, n_words) for shard in shards]
    rows = _merged(parts, before, longest)
    common = kernel.common_prefixes(frozen(rows), before, longest)
    return PhraseChunk(rows, common, before)


def walk(
    shards: Sequence[Shard], n_words: int, longest: int, chunk_rows: int = CHUNK_ROWS
) -> Iterator[PhraseChunk]:
    """Yield every phrase of 1..longest tokens, in index order, in chunks.

    Arguments:
        longest: tokens of a phrase.
        chunk_rows: occurrences in a chunk, about.
    """
    for words in chunk_words(word_counts(shards, n_words), chunk_rows):
        yield gather_chunk(shards, words, n_words, longest)


def _merged(parts: list[np.ndarray], first: int, length: int) -> np.ndarray:
    """Return sorted row sets merged into one, two by two.

    Arguments:
        parts: uint32[n, columns] each, sorted.
        first, length: the columns by which they are sorted.
    """
    while len(parts) > 1:
        merged_parts = []
        for a, b in zip(parts[::2], parts[1::2], strict=False):
            out = np.empty((len(a) + len(b), a.shape[1]), np.uint32)
            kernel.merge_rows(frozen(a), frozen(b), first, length, out)
            merged_parts.append(out)
        if len(parts) % 2:
            merged_parts.append(parts[-1])
        parts = merged_parts
    return parts[0]
