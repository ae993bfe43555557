"""Phrases over the documents of an index: dispersion.

A document begins with each file and after each blank line.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distsim.indexes.corpus_index import CorpusIndex


class Spread(NamedTuple):
    """The spread of a phrase over documents.

    documents: those that contain it, its range. dp: half the sum, over documents, of |share of its
    occurrences - share of all tokens|: 0 where each document has its share, near 1 where one
    document has all (Gries 2008, "Dispersions and adjusted frequencies in corpora").
    dp_norm: dp / (1 - the smallest share), which reaches 1 (Lijffijt and Gries 2012). Both are
    None where the phrase does not occur.
    """

    documents: int
    dp: float | None
    dp_norm: float | None


class Documents:
    """The documents of an index: where each begins, and its share of all tokens.

    >>> len(Documents(index).shares)
    1
    """

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index
        self._begins = index.document_edges[:-1]
        lengths = index.document_lengths
        self._kept = index.kept_documents
        if self._kept is not None:
            self._numbers = np.cumsum(self._kept) - 1
            lengths = lengths[self._kept]
        self.shares = lengths / lengths.sum()

    def of_positions(self, positions: np.ndarray) -> Spread:
        """Return the dispersion of the occurrences at positions, int64.

        Arguments:
            positions: int64, positions of the occurrences in the corpus.
        """
        return self._spreads(positions, np.zeros(positions.size, np.int64), 1)[0]

    def of_phrases(self, phrases: Sequence[np.ndarray]) -> list[Spread]:
        """Return the spread of each phrase, given as its word ids.

        phrases: integers, of each phrase.
        """
        ids = np.concatenate([np.empty(0, np.int64), *phrases]).astype(np.int64)
        stops = np.cumsum([phrase.size for phrase in phrases], dtype=np.int64)
        found, owners = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for shard in self._index.shards:
            positions, numbers = shard.occurrences(ids, stops)
            found.append(positions + shard.first_position)
            owners.append(numbers)
        return self._spreads(np.concatenate(found), np.concatenate(owners), len(phrases))

    def _spreads(self, positions: np.ndarray, owners: np.ndarray, n: int) -> list[Spread]:
        documents = np.searchsorted(self._begins, positions, "right") - 1
        if self._kept is not None:
            documents = self._numbers[documents]
        keys, counts = np.unique(owners * self.shares.size + documents, return_counts=True)
        phrases, documents = np.divmod(keys, self.shares.size)
        totals = np.bincount(owners, minlength=n)
        shares = self.shares[documents]
        differences = np.abs(counts / totals[phrases] - shares) - shares
        dp = (1 + np.bincount(phrases, differences, minlength=n)) / 2
        largest = 1 - float(self.shares.min())
        ranges = np.bincount(phrases, minlength=n).tolist()
        return [
            Spread(number, one, one / largest if largest else 0.0)
            if number
            else Spread(0, None, None)
            for number, one in zip(ranges, dp.tolist(), strict=True)
        ]
