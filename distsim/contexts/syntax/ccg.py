r"""Labels of spans from the constituents of a sentence: X, X/Y, X\Y, X+Y and X+Y+Z.

Thesis 3.2.2, after Zollmann and Venugopal (2006): a span that is no constituent may still be
an X that lacks a Y on its right (X/Y) or on its left (X\Y), or constituents side by side.
"""

from collections import defaultdict
from collections.abc import Iterable

from distsim.corpus.annotation import Node


class SpanLabels:
    r"""The labels of the spans of one tree, looked up by where nodes begin and end.

    Arguments:
        nodes: the constituents of the tree, from the top down.

    Each method returns distinct labels in the order in which they are met, larger
    constituents first.

    >>> tree = [Node(0, 3, "NP"), Node(0, 1, "DT"), Node(1, 2, "JJ"), Node(2, 3, "NN")]
    >>> labels = SpanLabels(tree)
    >>> labels.forward(0, 2), labels.backward(1, 3), labels.concatenations(1, 3)
    (['NP/NN'], ['NP\\DT'], ['JJ+NN'])
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._from: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self._to: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self._over: dict[tuple[int, int], list[str]] = defaultdict(list)
        for start, stop, label in nodes:
            self._from[start].append((stop, label))
            self._to[stop].append((start, label))
            if label not in self._over[start, stop]:
                self._over[start, stop].append(label)

    def constituents(self, start: int, stop: int) -> list[str]:
        """Return the labels X of the nodes over exactly start..stop."""
        return list(self._over.get((start, stop), ()))

    def forward(self, start: int, stop: int) -> list[str]:
        """Return the labels X/Y: a Y begins at stop, and from start to its end is an X."""
        return _distinct(
            f"{whole}/{missing}"
            for end, whole in self._from.get(start, ())
            if end > stop
            for missing in self._over.get((stop, end), ())
        )

    def backward(self, start: int, stop: int) -> list[str]:
        r"""Return the labels X\Y: a Y ends at start, and from its beginning to stop is an X."""
        return _distinct(
            f"{whole}\\{missing}"
            for begin, whole in self._to.get(stop, ())
            if begin < start
            for missing in self._over.get((begin, start), ())
        )

    def concatenations(self, start: int, stop: int, *, most: int = 3) -> list[str]:
        """Return the labels X+Y, X+Y+Z of 2 to `most` constituents that fill start..stop."""
        found: list[str] = []
        for parts in range(2, most + 1):
            found += self._joined(start, stop, parts)
        return _distinct(found)

    def all(self, start: int, stop: int) -> list[str]:
        """Return all labels of the span start..stop: constituents, slashed ones, concatenations."""
        return (
            self.constituents(start, stop)
            + self.forward(start, stop)
            + self.backward(start, stop)
            + self.concatenations(start, stop)
        )

    def _joined(self, start: int, stop: int, parts: int) -> list[str]:
        if parts == 1:
            return self.constituents(start, stop)
        return [
            f"{label}+{rest}"
            for middle, label in self._from.get(start, ())
            if middle < stop
            for rest in self._joined(middle, stop, parts - 1)
        ]


def _distinct(labels: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(labels))
