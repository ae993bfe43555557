"""Signature table -> the phrases of nearest bits, as candidates."""

import numpy as np

from distsim.nearest import NeighbourSearch
from distsim.signatures.table import SignatureTable

_CROWD = 4  # phrases of the same telling words that may stand around each other


class AlikePhrases:
    """Searches the strong rows of a table.

    Where the table composes phrases of their words, one phrase for each set of telling words:
    else those that hold the focal phrase would be most of them.

    Arguments:
        min_strength: only phrases with at least so many occurrences behind them.
    """

    def __init__(self, table: SignatureTable, min_strength: int) -> None:
        self._table = table
        self._search = None
        if np.any(table.strengths >= min_strength):
            self._search = NeighbourSearch(table, min_strength=min_strength, estimate="bits")

    def nearest(self, phrase: str, k: int) -> list[str]:
        """Return the k phrases nearest to one in its normal form, itself left out.

        In order of distance, strength and text; none without a signature.
        """
        if self._search is None or k < 1 or self._table.find_normal([phrase])[0] < 0:
            return []
        found = self._search.found(phrase, k, among=_CROWD * k)
        return [] if found is None else [one.phrase for one in found.neighbours]
