"""A packed forest -> its best derivations, with what they say."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels.derivations import best_derivations


class Forest(NamedTuple):
    """What kernels.rewriting.search returns.

    items: int64 rows whose third number is the first edge. edges: int64[m, 4] of rule, two
    items (-1 for none), the next edge of the same item. edge_scores: float64[m], what an edge
    scores besides its items. goal: float64[k, 2] of a last item and what the sentence's end
    scores. words: what all its sentences have, where a number of words was wanted; else -1.
    """

    items: np.ndarray
    item_scores: np.ndarray
    edges: np.ndarray
    edge_scores: np.ndarray
    goal: np.ndarray
    words: int


class Node(NamedTuple):
    """A rule in a derivation; parts: how many of its gaps are filled by others' nodes."""

    rule: int
    parts: int


class Derivation(NamedTuple):
    """words: what it says, as symbols. nodes: from the whole to its parts, left to right."""

    words: tuple[int, ...]
    nodes: list[Node]


def best(
    forest: Forest, targets: np.ndarray, target_starts: np.ndarray, same: np.ndarray, most: int
) -> list[Derivation]:
    """Return the `most` best derivations of whole sentences, the best first, no two alike.

    targets, target_starts: int64, what rules say. same: int64 by word, a number that words
    written alike share.
    """
    words, starts, nodes, node_starts = best_derivations(
        frozen(forest.items[:, 2]), forest.edges, forest.edge_scores, forest.goal,
        frozen(targets), frozen(target_starts), frozen(same), most,
    )  # fmt: skip
    said, made = words.tolist(), [Node(*row) for row in nodes.tolist()]
    begins, firsts = starts.tolist(), node_starts.tolist()
    return [
        Derivation(tuple(said[begins[k] : begins[k + 1]]), made[firsts[k] : firsts[k + 1]])
        for k in range(len(begins) - 1)
    ]
