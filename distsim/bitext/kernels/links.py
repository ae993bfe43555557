"""Compiled loops that parse and format word links (Pharaoh lines)."""

import numpy as np

from distsim.kernels.compiled import compiled, uncounted

# What parse_links says about a line that is none of links.
SOUND, MALFORMED = 0, 1
_NEWLINE, _HYPHEN, _ZERO, _NINE, _P = 10, 45, 48, 57, 80
MOST_POSITION = 1 << 30  # beyond any text; larger numbers stay there


@compiled
def parse_links(text):
    """Return the links in lines of `i-j` or `i-j-P` (possible links), separated by white space.

    Arguments:
        text: uint8, whole lines.

    Returns (pairs int32[m, 2], possible bool[m], line_stops int64[n_lines], fault int64):
    `fault` is where in the text the first piece that is no link begins, -1 if there is none.
    """
    n_hyphens = 0
    n_lines = 0
    for i in range(text.size):
        n_hyphens += text[i] == _HYPHEN
        n_lines += text[i] == _NEWLINE
    if text.size > 0 and text[text.size - 1] != _NEWLINE:
        n_lines += 1
    pairs = np.empty((n_hyphens, 2), np.int32)
    possible = np.zeros(n_hyphens, np.bool_)
    stops = np.empty(n_lines, np.int64)
    m = 0
    line = 0
    i = 0
    while i < text.size:
        c = text[i]
        if c == _NEWLINE:
            stops[line] = m
            line += 1
            i += 1
            continue
        if c == 32 or c == 9 or c == 13:
            i += 1
            continue
        begin = i
        for side in range(2):
            value = 0
            first = i
            while i < text.size and _ZERO <= text[i] and text[i] <= _NINE:
                value = min(MOST_POSITION, value * 10 + np.int64(text[i]) - _ZERO)
                i += 1
            if i == first or (side == 0 and (i == text.size or text[i] != _HYPHEN)):
                return pairs[:m], possible[:m], stops[:line], begin
            pairs[m, side] = value
            i += side == 0
        if i + 1 < text.size and text[i] == _HYPHEN and text[i + 1] == _P:
            possible[m] = True
            i += 2
        if i < text.size and not (text[i] == 32 or 9 <= text[i] <= 13):
            return pairs[:m], possible[:m], stops[:line], begin
        m += 1
    if line < n_lines:
        stops[line] = m
    return pairs[:m], possible[:m], stops, -1


@uncounted
def _write_number(value, text, size):
    """Return the end of the text after writing a number in decimals at its end.

    Arguments:
        value: int64, 0 or more.
        text: uint8, written.
        size: number of bytes of text that are filled.
    """
    digits = 1
    rest = value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for k in range(digits):
        text[size + digits - 1 - k] = _ZERO + value % 10
        value //= 10
    return size + digits


@compiled
def format_links(pairs, starts, rows):
    """Return uint8: for each of `rows` a line of its links, an empty line where it is -1.

    Arguments:
        pairs: int[m, 2], links.
        starts: uint64[n + 1], the first link of each sentence pair.
        rows: int64, numbers of sentence pairs, -1 for an empty line.
    """
    largest = 0
    for k in range(pairs.shape[0]):
        largest = max(largest, np.int64(pairs[k, 0]), np.int64(pairs[k, 1]))
    digits = 1
    while largest > 9:
        largest //= 10
        digits += 1
    most = rows.size
    for row in rows:
        if row >= 0:
            most += (2 * digits + 2) * (np.int64(starts[row + 1]) - np.int64(starts[row]))
    text = np.empty(most, np.uint8)
    size = 0
    for row in rows:
        if row >= 0:
            first = np.int64(starts[row])
            for k in range(first, np.int64(starts[row + 1])):
                if k > first:
                    text[size] = 32
                    size += 1
                size = _write_number(np.int64(pairs[k, 0]), text, size)
                text[size] = _HYPHEN
                size = _write_number(np.int64(pairs[k, 1]), text, size + 1)
        text[size] = _NEWLINE
        size += 1
    return text[:size]
