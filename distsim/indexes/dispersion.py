"""Phrases over the documents of an index: dispersion, and counts by a field.

A document begins with each file and after each blank line.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath
from distsim.base.results import Results
from distsim.indexes.corpus_index import CorpusIndex, opened_index


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


class GroupCount(NamedTuple):
    """A phrase in the documents of one value of a field.

    value: of the field, of a date its year. times: occurrences there. per_million: the same per
    million tokens. n_tokens, documents: of the group.

    >>> from distsim import CorpusIndex
    >>> rows = [{"text": "tea", "year": 1850}, {"text": "more tea", "year": 1860}]
    >>> counts_by(CorpusIndex.from_texts(rows, folder / "by.index"), "tea", "year")[0].value
    1850
    """

    value: int | float | str
    times: int
    per_million: float
    n_tokens: int
    documents: int


def counts_by(
    index: CorpusIndex | AnyPath, begins: np.ndarray | str, field: str
) -> Results[GroupCount]:
    """Return the counts of a phrase by the values of a field of documents, ascending.

    Documents without a value are in no group.

    Arguments:
        index: the corpus.
        begins: a phrase, or positions, int64.
        field: its name.

    Raises:
        ParameterError: there is no such field.

    >>> from distsim import CorpusIndex
    >>> rows = [{"text": "tea", "year": 1850}, {"text": "more tea", "year": 1860}]
    >>> counted = CorpusIndex.from_texts(rows, folder / "counted.index")
    >>> [(one.value, one.times) for one in counts_by(counted, "tea", "year")]
    [(1850, 1), (1860, 1)]
    """
    index = opened_index(index)
    values, groups = index.field_groups(field)
    if index.kept_documents is not None:
        groups = np.where(index.kept_documents, groups, -1)
    if isinstance(begins, str):
        begins = index.positions(begins)
    owners = groups[np.searchsorted(index.document_edges, begins, "right") - 1]
    counts = np.bincount(owners[owners >= 0], minlength=len(values))
    grouped = groups >= 0
    lengths = index.document_lengths[grouped]
    tokens = np.bincount(groups[grouped], lengths, minlength=len(values)).astype(np.int64)
    documents = np.bincount(groups[grouped], minlength=len(values))
    columns = zip(values, counts.tolist(), tokens.tolist(), documents.tolist(), strict=True)
    return Results(
        GroupCount(value, count, count / n_tokens * 1e6, n_tokens, n)
        for value, count, n_tokens, n in columns
        if n
    )


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
