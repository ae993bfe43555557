"""Copies bytes and writes whole numbers into texts."""

from typing import NamedTuple

import numpy as np

from distsim.kernels.compiled import uncounted


class TextColumn(NamedTuple):
    """Texts end to end: text i is text[offsets[i]:offsets[i + 1]]; uint8, int64[n + 1]."""

    text: np.ndarray
    offsets: np.ndarray


@uncounted
def put_bytes(out, n, source, start, stop):
    """Copy source[start:stop] to out from n on; return the end.

    Arguments:
        out: uint8, filled up to n.
        n: position in out.
        source: uint8.
        start, stop: half-open range of source.
    """
    for k in range(stop - start):
        out[n + k] = source[start + k]
    return n + stop - start


@uncounted
def put_bar(out, n):
    """Append ` ||| `; return the new number of bytes.

    Arguments:
        out: uint8, written.
        n: number of bytes that are filled.
    """
    out[n] = 32
    out[n + 1] = 124
    out[n + 2] = 124
    out[n + 3] = 124
    out[n + 4] = 32
    return n + 5


@uncounted
def put_integer(out, n, value):
    """Append a whole number of at least 0; return the new number of bytes.

    Arguments:
        out: uint8, written.
        n: number of bytes that are filled.
        value: the number.
    """
    size = 1
    rest = value // 10
    while rest > 0:
        size += 1
        rest //= 10
    for k in range(n + size - 1, n - 1, -1):
        out[k] = 48 + value % 10
        value //= 10
    return n + size


@uncounted
def put_decimals(out, n, scaled):
    """Append a number with five decimals; return the new number of bytes.

    Arguments:
        out: uint8, written.
        n: number of bytes that are filled.
        scaled: 100,000 times the number, a whole number of at least 0.
    """
    n = put_integer(out, n, scaled // 100000)
    out[n] = 46
    rest = scaled % 100000
    for k in range(n + 5, n, -1):
        out[k] = 48 + rest % 10
        rest //= 10
    return n + 6
