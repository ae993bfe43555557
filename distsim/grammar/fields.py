"""A line -> its fields between the separators `|||`, and back, byte for byte.

A separator is the token `|||`: between blanks, or at the line's end. So `a ||| b |||` has an
empty last field, and `a |||  ||| b` and `a ||| ||| b` an empty middle one.
"""

import re

SEPARATOR = b"|||"
BLANKS = b" \t\r\n"

_SEPARATORS = re.compile(rb"(?<![^ \t])\|\|\|(?![^ \t\r\n])")


def split_fields(line: bytes) -> list[bytes]:
    """Return the fields of a line with the blanks around them, the newline in the last.

    >>> split_fields(b"a ||| b c |||\\n")
    [b'a ', b' b c ', b'\\n']
    """
    return _SEPARATORS.split(line)


def join_fields(fields: list[bytes]) -> bytes:
    """Return the line that `split_fields` took apart."""
    return SEPARATOR.join(fields)


def append_to_field(field: bytes, text: bytes) -> bytes:
    """Return a field with one more token at its end, before any blanks that close it.

    >>> append_to_field(b" 0 1 ", b"0.5")
    b' 0 1 0.5 '
    """
    body = field.rstrip(BLANKS)
    return body + b" " + text + field[len(body) :]


def replace_field(field: bytes, text: bytes) -> bytes:
    """Return a field with other contents and the same blanks around them.

    >>> replace_field(b" 0 1 ", b"2")
    b' 2 '
    """
    body = field.strip(BLANKS)
    if not body:
        return b" " + text + (field if field.strip(b" \t") else b" ")
    start = field.index(body)
    return field[:start] + text + field[start + len(body) :]
