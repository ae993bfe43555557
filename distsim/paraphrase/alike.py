"""Signature table -> the phrases of nearest bits, quickly, for many words of bits at once."""

import numpy as np

from distsim.signatures.table import SignatureTable


class AlikePhrases:
    """Searches the strong rows of a table; as NeighbourSearch, a column of bits at a time.

    Arguments:
        min_strength: only phrases with at least so many occurrences behind them.
    """

    def __init__(self, table: SignatureTable, min_strength: int) -> None:
        self._table = table
        self._rows = np.flatnonzero(table.strengths >= min_strength)
        bits = table.bits[self._rows]
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
        within = np.searchsorted(np.cumsum(np.bincount(distances)), k + 1)
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
        return [text for _, _, text in ordered[:k]]
