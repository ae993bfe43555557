"""Signature table -> the phrases of nearest bits, quickly, for many words of bits at once."""

import numpy as np

from distsim.nearest import Neighbour, Repeats
from distsim.signatures.table import SignatureTable

_CROWD = 4  # phrases of the same telling words that may stand around each other


class AlikePhrases:
    """Searches the strong rows of a table; as NeighbourSearch, a column of bits at a time.

    Where the table composes phrases of their words, one phrase for each set of telling words:
    else those that hold the focal phrase would be most of them.

    Arguments:
        min_strength: only phrases with at least so many occurrences behind them.
    """

    def __init__(self, table: SignatureTable, min_strength: int) -> None:
        self._table = table
        self._rows = np.flatnonzero(table.strengths >= min_strength)
        bits = table.bits[self._rows]
        self._repeats = Repeats(table) if table.fingerprint.composition is not None else None
        self._columns = [np.ascontiguousarray(bits[:, word]) for word in range(bits.shape[1])]

    def nearest(self, phrase: str, k: int) -> list[str]:
        """Return the k phrases nearest to one in its normal form, itself left out.

        In order of distance, strength and text; none without a signature.
        """
        row = int(self._table.find_normal([phrase])[0])
        if row < 0 or k < 1 or not self._rows.size:
            return []
        distances = np.zeros(self._rows.size, np.uint16)
        for column, query in zip(self._columns, self._table.bits[row], strict=True):
            distances += np.bitwise_count(column ^ query)
        asked = k if self._repeats is None else k * _CROWD
        within = np.searchsorted(np.cumsum(np.bincount(distances)), asked + 1)
        near = np.flatnonzero(distances <= within)
        ordered = sorted(
            (distance, -strength, self._table.text(other))
            for distance, strength, other in zip(
                distances[near].tolist(),
                self._table.strengths[self._rows[near]].tolist(),
                self._rows[near].tolist(),
                strict=True,
            )
            if other != row
        )
        if self._repeats is None:
            return [text for _, _, text in ordered[:k]]
        found = [Neighbour(text, -distance, -strength) for distance, strength, text in ordered]
        return [one.phrase for one in self._repeats.without(phrase, found)[:k]]
