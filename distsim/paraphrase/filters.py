"""Filters of candidates: entailment, parts of the focal phrase, collapsed edges, overlaps."""

from collections.abc import Set

import numpy as np

from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import CONTAINED, CONTAINING, PIECE, relations
from distsim.paraphrase.pool import Pool

Words = tuple[int, ...]


def says_the_same(focal: np.ndarray, pool: Pool, pieces: bool, entailment: str) -> np.ndarray:
    """Return which phrases share too many words with the focal phrase, bool[n].

    Arguments:
        focal: int64, word ids. pool: the phrases.
        pieces: those that stand in the focal phrase without a gap, or hold it so.
        entailment: those that fall to the entailment filter (Marton 2013, 3.2.5): `contained` (all
            words stand in the focal phrase in the same order), `containing` (the other way round),
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


def is_collapsed(focal: Words, candidate: Words, better: Set[Words]) -> bool:
    """Return whether a longer candidate is two phrases joined.

    It begins with one of `better`, the focal phrase and the paraphrases that score higher, and
    ends with another. `fall tokyo ap stock prices fell` was gathered for `fall` from the
    context to the left of `fall` and the one to the right of `fell` (Marton 2013, 6.2).

    >>> is_collapsed((1,), (1, 7, 8, 2), {(1,), (2,)})
    True
    """
    n = len(candidate)
    if n <= len(focal):
        return False
    first = next((size for size in range(1, n) if candidate[:size] in better), n)
    last = next((size for size in range(1, n) if candidate[n - size :] in better), n)
    return first + last <= n


def run_together(
    focal: np.ndarray, words: np.ndarray, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the phrases that candidates and the focal phrase form where they overlap.

    A candidate that ends as the focal phrase begins, or begins as it ends, may stand across its
    edge: `in las` and `las vegas` make `in las vegas`.

    Arguments:
        focal: int64, word ids. words: int64, the word ids of all candidates, end to end; stops:
            int64, where each ends.

    Returns:
        Numbers of candidates, int64, one for each way to overlap; the words that the two make,
        end to end, and where each of these ends.

    >>> import numpy as np
    >>> run_together(np.array([1, 2]), np.array([3, 1, 4, 5]), np.array([2, 4]))
    (array([0]), array([3, 1, 2]), array([3]))
    """
    lengths = np.diff(stops, prepend=0)
    nothing = np.empty(0, np.int64)
    which, made, sizes = [nothing], [nothing], [nothing]
    for length in np.unique(lengths).tolist():
        own = np.flatnonzero(lengths == length)
        phrases = words[(stops[own] - length)[:, None] + np.arange(length)]
        for shared in range(1, min(length, focal.size)):
            before = (phrases[:, length - shared :] == focal[:shared]).all(axis=1)
            behind = (phrases[:, :shared] == focal[focal.size - shared :]).all(axis=1)
            for fits, parts in (
                (before, (phrases, _rows(focal[shared:], own.size))),
                (behind, (_rows(focal, own.size), phrases[:, shared:])),
            ):
                joined = np.column_stack(parts)[fits]
                which.append(own[fits])
                made.append(joined.reshape(-1))
                sizes.append(np.full(len(joined), joined.shape[1]))
    return np.concatenate(which), np.concatenate(made), np.cumsum(np.concatenate(sizes))


def _rows(words: np.ndarray, n: int) -> np.ndarray:
    return np.broadcast_to(words, (n, words.size))
