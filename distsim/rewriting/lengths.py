"""A packed forest -> the forest of those of its sentences that have a number of words.

The search does not tell items of different lengths apart. Its forest does: each item has a best
derivation of every length, found from its parts' (as Viterbi's, with lengths as states). So the
best sentences of a length are found exactly, of those that the search kept.
"""

from typing import NamedTuple

import numpy as np

from distsim.kernels import rewriting_lengths as kernel
from distsim.rewriting.forest import Forest

_WINDOW = 100  # words more or fewer than an item's best has
_LEAST_EDGES = 2000
_EDGES = 100  # of each sentence wanted
_ROUNDING = 1e-6


class Curve(NamedTuple):
    """The best scores of whole sentences by words; scores: float64, -inf where there is none.

    low: the words of the first.
    """

    low: int
    scores: np.ndarray

    def nearest(self, wanted: int) -> int | None:
        """Return the most words up to `wanted` that a sentence has, or else the fewest, not 0.

        >>> curve = Curve(2, np.array([0.0, -np.inf, 1.0]))
        >>> curve.nearest(3), curve.nearest(9), curve.nearest(1)
        (2, 4, 2)
        """
        there = self.low + np.flatnonzero(self.scores > -np.inf)
        there = there[there > 0]
        if not there.size:
            return None
        fits = there[there <= wanted]
        return int(fits[-1] if fits.size else there[0])

    def price(self, wanted: int, step: float = 1.0) -> float:
        """Return what a word must score more for the best sentence to have `wanted`, or nearly.

        The slope of the upper hull there: of scores plus the price of words, the highest at
        `wanted` is then as low as can be. A step more or less where all are on one side.

        >>> Curve(1, np.array([5.0, 4.0, 2.0])).price(2)  # between those to 1 and to 3
        1.5
        >>> Curve(1, np.array([5.0, -np.inf, 2.0])).price(2)
        1.5
        """
        lengths = self.low + np.flatnonzero(self.scores > -np.inf)
        scores = self.scores[lengths - self.low]
        below, above = lengths < wanted, lengths > wanted
        if not below.any() or not above.any():
            return step if below.any() else -step
        gaps = lengths[above][None, :] - lengths[below][:, None]
        slopes = (scores[below][:, None] - scores[above][None, :]) / gaps
        heights = scores[below][:, None] + slopes * (lengths[below] - wanted)[:, None]
        here = scores[lengths == wanted]
        if here.size and here[0] >= heights.max():
            left = (scores[below] - here[0]) / (wanted - lengths[below])
            right = (here[0] - scores[above]) / (lengths[above] - wanted)
            return float(left.max() + right.min()) / 2
        return float(slopes.flat[int(heights.argmax())])


class Lengths:
    """The derivations of a forest by their words.

    words: int64, those that each rule says itself.
    """

    def __init__(self, forest: Forest, words: np.ndarray) -> None:
        self._forest = forest
        self._first = np.ascontiguousarray(forest.items[:, 2])
        self._words = words
        self._inside = kernel.inside(
            self._first, forest.edges, forest.edge_scores, words, _WINDOW
        )  # fmt: skip

    def curve(self) -> Curve:
        """Return the best score of a whole sentence of every length."""
        low, starts, best = self._inside
        items = self._forest.goal[:, 0].astype(np.int64)
        if not items.size:
            return Curve(0, np.empty(0))
        lowest = int(low[items].min())
        sizes = starts[items + 1] - starts[items]
        scores = np.full(int((low[items] + sizes).max()) - lowest, -np.inf)
        for item, end in zip(items.tolist(), self._forest.goal[:, 1].tolist(), strict=True):
            at = slice(
                int(low[item]) - lowest, int(low[item] - lowest + starts[item + 1] - starts[item])
            )
            scores[at] = np.maximum(scores[at], best[starts[item] : starts[item + 1]] + end)
        return Curve(lowest, scores)

    def forest(self, words: int, n: int) -> Forest:
        """Return a forest of sentences of so many words, at least the `n` best of them.

        Its edges are those that the best sentences have: an edge stays if its best sentence is
        among the best edges' (a hundred for each sentence wanted).
        """
        forest = self._forest
        rows, scores = kernel.through(
            self._first, forest.edges, forest.edge_scores, self._words, *self._inside,
            forest.goal, words,
        )  # fmt: skip
        most = max(_LEAST_EDGES, _EDGES * n)
        if scores.size > most:
            least = np.partition(scores, scores.size - most)[scores.size - most]
            rows = rows[scores >= least - _ROUNDING]
        low, starts, best = self._inside
        slots = np.unique(rows[:, 1:])
        slots = slots[slots >= 0]
        owner = np.searchsorted(starts, slots, side="right") - 1
        items = forest.items[owner].copy()
        rows = rows[np.argsort(rows[:, 1], kind="stable")]
        numbers = np.where(rows[:, 1:] < 0, -1, np.searchsorted(slots, rows[:, 1:]))
        begins = np.searchsorted(rows[:, 1], slots)
        stops = np.searchsorted(rows[:, 1], slots, side="right")
        items[:, 2] = np.where(begins < stops, begins, -1)
        following = np.arange(1, len(rows) + 1)
        following[stops[begins < stops] - 1] = -1
        edges = np.column_stack([forest.edges[rows[:, 0], 0], numbers[:, 1:], following])
        last = forest.goal[:, 0].astype(np.int64)
        wanted = starts[last] + words - low[last]
        is_there = (wanted >= starts[last]) & (wanted < starts[last + 1])
        is_there &= np.isin(wanted, slots)
        goal = forest.goal[is_there]
        goal[:, 0] = np.searchsorted(slots, wanted[is_there])
        return Forest(
            items, np.column_stack([best[slots], best[slots]]), edges,
            forest.edge_scores[rows[:, 0]], goal,
        )  # fmt: skip
