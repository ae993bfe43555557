"""Candidates from a table of signatures: phrases of the smallest Hamming distance."""

import numpy as np

from distsim.comparison.nearest import NeighbourSearch
from distsim.signatures.table import StoredTable

_CROWD = 4  # phrases of the same distinctive words that may be around each other
_LEAST_STRENGTH = 5  # of phrases as long as the focal one: fewer are hardly worth their bits


class SimilarPhrases:
    """Nearest phrases of a table of signatures, searched in two ways.

    Among all strong ones, where the table composes phrases of their words, one phrase for each
    set of distinctive words: else those that hold the focal phrase would be most of them. But of
    `led by` and `owned by` this finds `led` and `owned`, so those of as many tokens as the
    focal phrase are searched as well, each for itself, and rare ones too.

    Arguments:
        table: a table of signatures.
        min_strength: in the first way only phrases with at least so many occurrences behind
            them.
    """

    def __init__(self, table: StoredTable, min_strength: int) -> None:
        self._table = table
        self._search = None
        self._of_length: dict[int, NeighbourSearch] = {}
        if np.any(table.strengths >= min_strength):
            self._search = NeighbourSearch(table, min_strength=min_strength, estimate="bits")

    def nearest(self, phrase: str, k: int, as_long: int) -> list[str]:
        """Return the phrases nearest to one in its normal form, itself left out.

        k in the first way, `as_long` in the second, in order of distance, strength and text in
        each way, each phrase once; none without a signature.

        Arguments:
            phrase: words separated by spaces.
            k: number of nearest phrases.
            as_long: number of nearest phrases of the same length.
        """
        row = self._table.find_normal([phrase])[0]
        if row < 0 or k < 1:
            return []
        found = []
        if self._search is not None:
            found.append(self._search.found(phrase, k=k, among=_CROWD * k))
        if self._table.strengths[row] >= _LEAST_STRENGTH:  # so that there is one of its length
            found.append(self._as_long(phrase.count(" ") + 1).found(phrase, k=as_long))
        near = [one.phrase for part in found if part is not None for one in part.neighbours]
        return list(dict.fromkeys(near))

    def _as_long(self, length: int) -> NeighbourSearch:
        search = self._of_length.get(length)
        if search is None:
            search = self._of_length[length] = NeighbourSearch(
                self._table, min_strength=_LEAST_STRENGTH, lengths=[length], distinct=False,
                estimate="bits",
            )  # fmt: skip
        return search
