"""Encodes the values of a feature in one, two or four bytes, and decodes them."""

from typing import NamedTuple

import numpy as np

_DECIMALS = 100_000  # features are written with five decimals
_MISSING = -(1 << 31)


class Coded(NamedTuple):
    """Encoded values. codes: uint8, uint16 or int32; table: float64, the value of each code.

    An empty table: a code is the value times 100,000, the least int32 a missing one. Codes of
    float64 are the values themselves.
    """

    codes: np.ndarray
    table: np.ndarray


def encode(values: np.ndarray) -> Coded:
    """Return values in the smallest exact code.

    Arguments:
        values: float64[n], NaN where missing.

    >>> import numpy as np
    >>> coded = encode(np.array([0.5, 2.0, np.nan, 0.5]))
    >>> coded.codes.dtype, decode(coded.codes, coded.table).tolist()
    (dtype('uint8'), [0.5, 2.0, nan, 0.5])
    """
    distinct, codes = np.unique(values, return_inverse=True)
    if distinct.size <= 1 << 8:
        return Coded(codes.astype(np.uint8), distinct)
    if distinct.size <= 1 << 16:
        return Coded(codes.astype(np.uint16), distinct)
    known = distinct[~np.isnan(distinct)]
    scaled = np.rint(known * _DECIMALS)
    if abs(scaled).max() < 1 << 31 and np.array_equal(scaled / _DECIMALS, known):
        missing = np.isnan(values)
        whole = np.rint(np.where(missing, 0.0, values) * _DECIMALS).astype(np.int32)
        whole[missing] = _MISSING
        return Coded(whole, np.empty(0))
    return Coded(values, np.empty(0))


def decode(codes: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the values of codes, float64[n], NaN where missing.

    Arguments:
        codes: uint8[n], uint16[n], int32[n] or float64[n], by `encode`.
        table: float64, the value of each code; empty where codes are scaled values.
    """
    if table.size:
        decoded: np.ndarray = table[codes]
        return decoded
    if codes.dtype == np.int32:
        return np.where(codes == _MISSING, np.nan, codes / _DECIMALS)
    return codes
