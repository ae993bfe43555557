"""The derivations of a packed forest, the best first: the twin of kernels.derivations.

Huang and Chiang 2005, algorithm 3, with dictionaries and heapq.
"""

import heapq
from collections.abc import Iterator
from typing import NamedTuple

from distsim.paraphrase.rewriting.rewriting_features import Forest


class Derivation(NamedTuple):
    """score; edge, -1 for the sentence's beginning; which derivations of its two items."""

    score: float
    edge: int
    ranks: tuple[int, int]


class Derivations:
    """The derivations of a forest by item and rank, from 0."""

    def __init__(self, forest: Forest, targets, target_starts, same) -> None:
        self._first = forest.items[:, 2].tolist()
        self._edges = forest.edges.tolist()
        self._edge_scores = forest.edge_scores.tolist()
        self._goal = forest.goal.tolist()
        self._same = same.tolist()
        self._targets = targets.tolist()
        self._starts = target_starts.tolist()
        self._found: dict[int, list[Derivation]] = {}
        self._heaps: dict[int, list[tuple[float, int, tuple[int, int]]]] = {}
        self._pending: dict[int, list[tuple[int, tuple[int, int]]]] = {}
        self._seen: dict[int, set[tuple[int, tuple[int, int]]]] = {}
        self._known: dict[int, set[tuple[int, ...]]] = {}
        self._yields: dict[int, list[tuple[int, ...]]] = {}

    def best(self) -> Iterator[tuple[float, int, int]]:
        """Yield (score, last item, rank of its derivation) of whole sentences, the best first."""
        heap = []
        for item, end in self._goal:
            derivation = self.at(int(item), 0)
            if derivation is not None:
                heap.append((-(derivation.score + end), int(item), 0, end))
        heapq.heapify(heap)
        while heap:
            score, item, rank, end = heap[0]
            following = self.at(item, rank + 1)
            if following is None:
                heapq.heappop(heap)
            else:
                heapq.heapreplace(heap, (-(following.score + end), item, rank + 1, end))
            yield -score, item, rank

    def at(self, item: int, rank: int) -> Derivation | None:
        """Return an item's derivation of a rank, None where it has not so many."""
        waiting = [(item, rank)]  # a stack of our own: sentences may be long
        while waiting:
            at, wanted = waiting[-1]
            found = self._found.get(at)
            if found is None:
                found = self._begin(at)
            if len(found) > wanted:
                waiting.pop()
                continue
            pending = self._pending[at]
            if pending:
                edge, ranks = pending[-1]
                children = self._children(edge, ranks)
                lacking = [one for one in children if not self._knows(*one)]
                if lacking:
                    waiting.append(lacking[0])
                    continue
                pending.pop()
                score = self._edge_scores[edge]
                below = [self._found[child] for child, _ in children]
                if all(len(f) > r for f, (_, r) in zip(below, children, strict=True)):
                    for f, (_, r) in zip(below, children, strict=True):
                        score += f[r].score
                    heapq.heappush(self._heaps[at], (-score, edge, ranks))
            elif self._heaps[at]:
                score, edge, ranks = heapq.heappop(self._heaps[at])
                words = self._words(edge, ranks)
                written = tuple(self._same[word] for word in words)
                if written not in self._known[at]:  # else said better by another derivation
                    self._known[at].add(written)
                    self._yields[at].append(words)
                    found.append(Derivation(-score, edge, ranks))
                one, two = ranks
                for following, child in (((one + 1, two), 1), ((one, two + 1), 2)):
                    if self._edges[edge][child] >= 0 and (edge, following) not in self._seen[at]:
                        self._seen[at].add((edge, following))
                        pending.append((edge, following))
            else:
                waiting.pop()
        found = self._found[item]
        return found[rank] if rank < len(found) else None

    def _begin(self, item: int) -> list[Derivation]:
        found = self._found[item] = []
        self._heaps[item] = []
        self._seen[item], self._known[item] = set(), set()
        self._yields[item] = []
        pending = self._pending[item] = []
        edge = self._first[item]
        if edge < 0:
            found.append(Derivation(0.0, -1, (0, 0)))
            self._yields[item].append(())
        while edge >= 0:
            pending.append((edge, (0, 0)))
            edge = self._edges[edge][3]
        return found

    def _children(self, edge: int, ranks: tuple[int, int]) -> list[tuple[int, int]]:
        items = self._edges[edge][1:3]
        return [(item, rank) for item, rank in zip(items, ranks, strict=True) if item >= 0]

    def _knows(self, item: int, rank: int) -> bool:
        """Tell whether an item's derivation of a rank is found, or is known not to be."""
        found = self._found.get(item)
        if found is None:
            return False
        return len(found) > rank or not (self._pending[item] or self._heaps[item])

    def _words(self, edge: int, ranks: tuple[int, int]) -> tuple[int, ...]:
        rule, *children = self._edges[edge][:3]
        words: list[int] = []
        for symbol in self._targets[self._starts[rule] : self._starts[rule + 1]]:
            if symbol >= 0:
                words.append(symbol)
            else:
                words += self._yields[children[-1 - symbol]][ranks[-1 - symbol]]
        return tuple(words)

    def symbols(self, item: int, rank: int) -> tuple[int, ...]:
        """Return the words of a derivation that `at` has found, as symbols."""
        return self._yields[item][rank]

    def nodes(self, item: int, rank: int) -> Iterator[tuple[int, int]]:
        """Yield the nodes of a derivation, from the whole to its parts, left to right."""
        waiting = [(item, rank)]
        while waiting:
            item, rank = waiting.pop()
            edge = self._found[item][rank].edge
            rule, *children = self._edges[edge][:3]
            below = [
                (child, place)
                for child, place in zip(children, self._found[item][rank].ranks, strict=True)
                if child >= 0 and self._found[child][place].edge >= 0
            ]
            yield rule, len(below)
            waiting += reversed(below)
