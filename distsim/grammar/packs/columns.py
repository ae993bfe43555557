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


_BUCKETS = 255  # of one byte; the last code is a missing value


def encode(values: np.ndarray, in_one_byte: bool = False) -> Coded:
    """Return values in the smallest exact code, or in one byte.

    In one byte, values of more than 256 kinds fall into 255 equal parts of their order, each with
    its mean (thesis 6.4.2, Federico and Bertoldi 2006); equal values have one code.

    Arguments:
        values: float64[n], NaN where missing.
        in_one_byte: lose precision for it.

    >>> import numpy as np
    >>> coded = encode(np.array([0.5, 2.0, np.nan, 0.5]))
    >>> coded.codes.dtype, decode(coded.codes, coded.table).tolist()
    (dtype('uint8'), [0.5, 2.0, nan, 0.5])
    """
    distinct, codes = np.unique(values, return_inverse=True)
    if distinct.size <= 1 << 8:
        return Coded(codes.astype(np.uint8), distinct)
    if in_one_byte:
        known = ~np.isnan(values)
        counts = np.bincount(codes[known], minlength=distinct.size)
        parts = (np.cumsum(counts) - counts) * _BUCKETS // max(1, int(counts.sum()))
        parts[np.isnan(distinct)] = _BUCKETS
        number = parts[codes]
        sums = np.bincount(number[known], values[known], _BUCKETS)
        means = sums / np.maximum(1, np.bincount(number[known], minlength=_BUCKETS))
        return Coded(number.astype(np.uint8), np.append(means, np.nan))
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


def loss_of(name: str, values: np.ndarray, coded: Coded) -> dict[str, tuple[float, float]]:
    """Return root mean squared and largest error of a feature's code, by name; none where exact.

    Arguments:
        name: of the feature. values: float64[n], as they were.
    """
    errors = np.nan_to_num(decode(coded.codes, coded.table) - values)
    if not errors.any():
        return {}
    return {name: (float(np.sqrt(np.mean(errors**2))), float(abs(errors).max()))}


SIZES = ("S", "M", "L", "XL", "XXL", "XXXL")
TYPES = ("lexical", "one-to-many", "many-to-one", "phrasal", "syntactic")
LEXICAL, ONE_TO_MANY, MANY_TO_ONE, PHRASAL, SYNTACTIC = range(len(TYPES))


def rule_types(
    source_words: np.ndarray, target_words: np.ndarray, n_gaps: np.ndarray
) -> np.ndarray:
    """Return the type of each rule by its numbers of words and gaps, uint8[n].

    Arguments:
        source_words, target_words, n_gaps: int64[n].

    >>> import numpy as np
    >>> sides = np.array([1, 1, 2, 2, 1]), np.array([1, 3, 1, 2, 1]), np.array([0, 0, 0, 0, 1])
    >>> [TYPES[number] for number in rule_types(*sides)]
    ['lexical', 'one-to-many', 'many-to-one', 'phrasal', 'syntactic']
    """
    is_single, other = source_words == 1, target_words == 1
    types = np.where(
        is_single, np.where(other, LEXICAL, ONE_TO_MANY), np.where(other, MANY_TO_ONE, PHRASAL)
    )
    return np.where(n_gaps > 0, SYNTACTIC, types).astype(np.uint8)


def rule_sizes(types: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the smallest pack of each rule, uint8[n]; each pack contains the smaller ones.

    XXXL is all; each next smaller size is the better half of it, for each type by itself.

    Arguments:
        types: uint8[n]. order: int64[n], rules from the best to the worst.

    >>> import numpy as np
    >>> sizes = rule_sizes(np.zeros(64, np.uint8), np.arange(64))
    >>> {name: int((sizes <= number).sum()) for number, name in enumerate(SIZES)}
    {'S': 2, 'M': 4, 'L': 8, 'XL': 16, 'XXL': 32, 'XXXL': 64}
    """
    sizes = np.empty(types.size, np.uint8)
    for number in range(len(TYPES)):
        of_type = order[types[order] == number]
        for size in range(len(SIZES) - 1, -1, -1):
            n = -(-of_type.size // (1 << (len(SIZES) - 1 - size)))
            sizes[of_type[:n]] = size
    return sizes
