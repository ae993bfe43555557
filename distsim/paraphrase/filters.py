"""Filters of candidates: entailment, parts of the focal phrase, collapsed edges, overlaps."""

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from distsim.base.arguments import WordIds
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import CONTAINED, CONTAINING, PIECE, relations
from distsim.paraphrase.context_candidates import Pool


def says_the_same(focal: np.ndarray, pool: Pool, pieces: bool, entailment: str) -> np.ndarray:
    """Return which phrases share too many words with the focal phrase, bool[n].

    Arguments:
        focal: int64, word ids. pool: the phrases.
        pieces: those that are in the focal phrase without a gap, or hold it so.
        entailment: those that fall to the entailment filter (Marton 2013, 3.2.5): `contained` (all
            words are in the focal phrase in the same order), `containing` (the other way round),
            `both` or `off`.

    >>> import numpy as np
    >>> words = np.array([2, 1, 7, 2])
    >>> pool = Pool.of([(words, np.array([1, 4]), np.arange(2))])
    >>> sorted(says_the_same(np.array([1, 2]), pool, False, "containing").tolist())
    [False, True]
    """
    found = relations(frozen(pool.words), frozen(pool.stops), frozen(focal))
    same: np.ndarray = (found & CONTAINED != 0) & (
        found & CONTAINING != 0
    )  # the focal phrase itself
    if pieces:
        same |= found & PIECE != 0
    if entailment in ("contained", "both"):
        same |= found & CONTAINED != 0
    if entailment in ("containing", "both"):
        same |= found & CONTAINING != 0
    return same


def is_collapsed(focal: WordIds, candidate: WordIds, better: Set[WordIds]) -> bool:
    """Return whether a longer candidate is two phrases joined.

    It begins with one of `better`, the focal phrase and the paraphrases that score higher, and
    ends with another. `fall tokyo ap stock prices fell` was gathered for `fall` from the
    context to the left of `fall` and the one to the right of `fell` (Marton 2013, 6.2).

    Arguments:
        focal: word ids of the focal phrase.
        better: word ids of paraphrases that score higher.

    >>> is_collapsed((1,), (1, 7, 8, 2), {(1,), (2,)})
    True
    """
    n = len(candidate)
    if n <= len(focal):
        return False
    first = next((size for size in range(1, n) if candidate[:size] in better), n)
    last = next((size for size in range(1, n) if candidate[n - size :] in better), n)
    return first + last <= n


def crosses_edge(focal: Sequence[Any], candidate: Sequence[Any]) -> bool:
    """Return whether a candidate begins as the focal phrase ends, or ends as that begins.

    Then it stands across the phrase's edge: *part in the* for *take part in*. Not where the focal
    phrase itself begins as it ends: *so long as* for *as far as*. Pieces of the focal phrase
    count as well. A focal phrase of one word has no such candidates.

    Arguments:
        focal, candidate: words, or their ids.

    >>> crosses_edge(("take", "part", "in"), ("part", "in", "the"))
    True
    """
    focal, candidate = tuple(focal), tuple(candidate)
    if len(focal) < 2:
        return False
    n = len(candidate)
    if any(focal[at : at + n] == candidate for at in range(len(focal) - n + 1)):
        return True
    return any(
        (candidate[:n] == focal[-n:] or candidate[-n:] == focal[:n]) and focal[:n] != focal[-n:]
        for n in range(1, min(len(focal), len(candidate)) + 1)
    )


def crossing(focal: np.ndarray, words: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return which of many candidates stand across the focal phrase's edge, bool[n].

    As `crosses_edge`, pieces of the focal phrase aside.

    Arguments:
        focal: int64, word ids.
        words: int64, the word ids of all candidates, end to end.
        stops: int64, where each candidate ends.

    >>> import numpy as np
    >>> crossing(np.array([1, 2]), np.array([3, 1, 4, 5]), np.array([2, 4])).tolist()
    [True, False]
    """
    lengths = np.diff(stops, prepend=0)
    found = np.zeros(stops.size, bool)
    if focal.size < 2:
        return found
    for length in np.unique(lengths).tolist():
        own = np.flatnonzero(lengths == length)
        phrases = words[(stops[own] - length)[:, None] + np.arange(length)]
        for n in range(1, min(length, focal.size) + 1):
            if not np.array_equal(focal[:n], focal[-n:]):
                found[own] |= (phrases[:, -n:] == focal[:n]).all(axis=1)
                found[own] |= (phrases[:, :n] == focal[-n:]).all(axis=1)
    return found
