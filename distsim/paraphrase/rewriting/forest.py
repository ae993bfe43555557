"""Best derivations of the packed forest of a sentence."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels.derivations import Hypergraph, best_derivations


class Forest(NamedTuple):
    """The packed forest of a sentence, as kernels.search.search returns it.

    items: int64[n, columns], the third column is the first edge. item_scores: float64[n, 2].
    edges: int64[m, 4] of rule, two items (-1 for none), next edge of the same item (-1).
    edge_scores: float64[m], the score of an edge without that of its items. goal: float64[k, 2],
    last items and what the sentence's end adds to their score. words: number of words of all its
    sentences where one was asked for, -1 where none of any number exists.
    """

    items: np.ndarray
    item_scores: np.ndarray
    edges: np.ndarray
    edge_scores: np.ndarray
    goal: np.ndarray
    words: int


class Node(NamedTuple):
    """A rule of a derivation; parts: how many of its gaps are filled by other nodes."""

    rule: int
    parts: int


class Derivation(NamedTuple):
    """A derivation of a rewritten sentence.

    words: symbols, in order. nodes: rules, from the whole to its parts, left to right.
    """

    words: tuple[int, ...]
    nodes: list[Node]


def best(
    forest: Forest, targets: np.ndarray, target_starts: np.ndarray, same: np.ndarray, most: int
) -> list[Derivation]:
    """Return the `most` best derivations of whole sentences, best first, all of different words.

    Arguments:
        forest: of a sentence.
        most: how many.
        targets, target_starts: int64, the target sides of all rules, end to end, and where each
            begins; -1 and -2 are gaps.
        same: int64 by symbol, a number that symbols of equal spelling share.
    """
    hypergraph = Hypergraph(
        frozen(forest.items[:, 2]), forest.edges, forest.edge_scores, frozen(targets),
        frozen(target_starts), frozen(same),
    )  # fmt: skip
    words, starts, nodes, node_starts = best_derivations(hypergraph, forest.goal, most)
    said, made = words.tolist(), [Node(*row) for row in nodes.tolist()]
    begins, firsts = starts.tolist(), node_starts.tolist()
    return [
        Derivation(tuple(said[begins[k] : begins[k + 1]]), made[firsts[k] : firsts[k + 1]])
        for k in range(len(begins) - 1)
    ]
