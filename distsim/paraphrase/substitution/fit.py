"""Signature of a slot from the words around it, and how well candidates fit it.

The signature of one occurrence: the sum of the learnt vectors of the words around it, with the
table's window, sides, distances and subsampling; in form balAdd's context (Melamud, Levy and
Dagan 2015).
"""

from dataclasses import dataclass

import numpy as np

from distsim.paraphrase.finder.space import LearntSpace
from distsim.paraphrase.substitution.occurrence import Occurrence


@dataclass(frozen=True)
class Slot:
    """An occurrence's own signature.

    vector: float64[n_dimensions], of length 1, or zeros where no word around has a vector.
    parts: float64[m, n_dimensions], what each context word adds to it; places: int64[m], where
    the word is: 1, 2 ... to the right, -1, -2 ... to the left.
    """

    vector: np.ndarray
    parts: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, space: LearntSpace, occurrence: Occurrence) -> "Slot":
        """Return the signature of an occurrence.

        Arguments:
            space: of the table's vectors.
            occurrence: of the target.
        """
        parts, places = space.contexts(occurrence.left, occurrence.right)
        vector, scale = space.centred(parts.sum(axis=0))
        return cls(vector, parts * scale, places)

    def fit(self, rows: np.ndarray) -> np.ndarray:
        """Return the cosine of the slot with each unit row, float64[n]; 0 for zero rows.

        Arguments:
            rows: float[n, n_dimensions], unit or zero vectors.
        """
        fits: np.ndarray = rows @ self.vector
        return fits

    def because(self, row: np.ndarray) -> list[tuple[int, float]]:
        """Return (place, part of the cosine) of the words that contribute to a candidate's fit.

        The strongest first. What the centre takes off is no word's, so the parts add up to
        more than the fit.

        row: float[n_dimensions], the candidate's vector.
        """
        shares = self.parts @ row
        order = np.argsort(-shares, kind="stable")
        return [(int(self.places[i]), float(shares[i])) for i in order if shares[i] > 0.0]
