"""Candidates -> those that say something else: entailment, pieces, collapsed edges, length."""

from collections.abc import Sequence, Set

Words = tuple[int, ...]


def entails(kept: str, focal: Sequence[int], candidate: Sequence[int]) -> bool:
    """Tell whether a candidate falls to the entailment filter (Marton 2013, 3.2.5).

    Arguments:
        kept: `off`, `contained` (the candidate's words all stand in the focal phrase in the
            same order), `containing` (the other way round) or `both`.

    >>> entails("contained", (1, 2), (2,)), entails("containing", (1, 2), (1, 7, 2))
    (True, True)
    """
    return (kept in ("contained", "both") and _in_order(candidate, focal)) or (
        kept in ("containing", "both") and _in_order(focal, candidate)
    )


def is_piece(focal: Words, candidate: Words) -> bool:
    """Tell whether one of the two phrases stands in the other without a gap."""
    short, long = sorted((focal, candidate), key=len)
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def is_collapsed(focal: Words, candidate: Words, better: Set[Words]) -> bool:
    """Tell whether a longer candidate is two phrases run together.

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


def _in_order(short: Sequence[int], long: Sequence[int]) -> bool:
    rest = iter(long)
    return all(word in rest for word in short)
