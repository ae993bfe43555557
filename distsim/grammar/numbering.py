"""Numbers and orders of rows of whole numbers, and of texts."""

from collections.abc import Sequence

import numpy as np

from distsim.grammar.kernels import pivot as kernel
from distsim.grammar.kernels.copying import TextColumn
from distsim.kernels.compiled import frozen

_MOST_KEYS = 1 << 62
_DENSE = 4  # keys below so many times their number are counted, not sorted


def numbers_of(*keys: np.ndarray) -> np.ndarray:
    """Return a number for each row, int64[n], equal for equal keys, ascending with them.

    keys: whole numbers[n] each, none negative.
    """
    joined = _one_key(keys)
    numbers: np.ndarray
    if joined is None:
        order = np.lexsort(keys[::-1])
        numbers = np.empty(order.size, np.int64)
        new = np.zeros(order.size, np.int64)
        for key in keys:
            new[1:] |= np.diff(key[order]) != 0
        numbers[order] = np.cumsum(new)
        return numbers
    most = int(joined.max(initial=0))
    if most <= _DENSE * joined.size:
        seen = np.zeros(most + 1, bool)
        seen[joined] = True
        numbers = (np.cumsum(seen) - 1)[joined]
        return numbers
    if np.all(joined[1:] >= joined[:-1]):
        return np.cumsum(np.append(np.zeros(1, bool), joined[1:] != joined[:-1])[: joined.size])
    return np.unique(joined, return_inverse=True)[1]


def order_by(*keys: np.ndarray) -> np.ndarray:
    """Return the stable order of rows by their keys, int64[n]; the first key counts most.

    keys: whole numbers[n] each, none negative.
    """
    joined = _one_key(keys)
    order: np.ndarray = (
        np.lexsort(keys[::-1]) if joined is None else np.argsort(joined, kind="stable")
    )
    return order


def first_rows(numbers: np.ndarray) -> np.ndarray:
    """Return the first row of each number, int64.

    Arguments:
        numbers: int64[n]; 0 to the highest all occur.
    """
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(numbers.size)[::-1]
    return first


def order_of_texts(text: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return the order of the bytes of text[starts[i]:stops[i]], int64[n]; equal ones keep theirs.

    Arguments:
        text: uint8. starts, stops: int64[n].
    """
    text, starts, stops = frozen(text), frozen(starts), frozen(stops)
    heads = kernel.eight_bytes(text, starts, stops)
    order = np.argsort(heads)
    kernel.order_texts(text, starts, stops, frozen(heads), order)
    return order


def _one_key(keys: tuple[np.ndarray, ...]) -> np.ndarray | None:
    """Return keys joined into one number a row, int64[n]; None where it would be too large.

    One sort of whole numbers takes a fraction of what a sort by several keys does, and next to
    nothing where they are in order.
    """
    if len(keys) == 1:
        return keys[0]
    joined = np.zeros(keys[0].size, np.int64)
    top = 1
    for key in keys:
        n = int(key.max(initial=0)) + 1
        top *= n
        if top >= _MOST_KEYS:
            return None
        joined *= n
        joined += key.astype(np.int64)
    return joined


def texts_of(texts: Sequence[bytes]) -> TextColumn:
    """Return texts end to end, read-only.

    Arguments:
        texts: UTF-8 of each text.

    >>> texts_of([b"ab", b"", b"c"]).offsets.tolist()
    [0, 2, 2, 3]
    """
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return TextColumn(frozen(np.frombuffer(b"".join(texts), np.uint8)), frozen(offsets))
