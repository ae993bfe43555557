"""Numbers in plain notation; other notations that Python accepts are refused."""

import math
import re

_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST_DIGITS = 18  # of a count: such a one fits 64 bits


def plain_number(text: bytes | str) -> float | None:
    """Return a finite number in plain notation (sign, digits, point, exponent), else None.

    Arguments:
        text: the number as written.

    >>> plain_number(b"-1.5e3"), plain_number("1_0"), plain_number("nan"), plain_number("1e400")
    (-1500.0, None, None, None)
    """
    written = text.encode(errors="replace") if isinstance(text, str) else text
    value = float(written) if _NUMBER.fullmatch(written) else math.inf
    return value if math.isfinite(value) else None


def plain_count(text: str) -> int | None:
    """Return a whole number from 0 that fits 64 bits, else None.

    Arguments:
        text: the number as written.

    >>> plain_count("12"), plain_count("-1"), plain_count("1_0"), plain_count("9" * 30)
    (12, None, None, None)
    """
    digits = text.lstrip("0") or text[:1]
    is_count = text.isascii() and text.isdigit() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_count else None
