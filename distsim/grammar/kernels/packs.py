"""Compiled loops of packs: hashes of source sides, lines copied, columns of features read."""

from typing import NamedTuple

import numpy as np

from distsim.grammar.kernels.rules import next_token
from distsim.kernels.compiled import compiled, uncounted
from distsim.kernels.hashing import SPACE, START, extend, finish, step


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


@uncounted
def put_number(out, n, value):
    """Append a number with five decimals, rounded, ties to even; return the new number of bytes.

    Arguments:
        out: uint8, written.
        n: number of bytes that are filled.
        value: float64.
    """
    scaled = np.int64(np.rint(value * 100000.0))
    if scaled < 0:
        out[n] = 45
        n += 1
    return put_decimals(out, n, abs(scaled))


@compiled
def write_values(values, wanted, labels, label_offsets, absent):
    """Return the values of lines as text, each behind its label, with five decimals.

    Arguments:
        values: float64[n, m], NaN where there is none.
        wanted: bool[n], lines that have values.
        labels, label_offsets: uint8 and int64[m + 1], what stands before the values, end to end.
        absent: uint8, what stands in place of a label and a value that is NaN.

    Returns (text uint8, offsets int64[n + 1] of each line's in it).
    """
    n, m = values.shape
    line_bytes = label_offsets[m] + m * (absent.size + 27)
    text = np.empty(n * line_bytes, np.uint8)
    offsets = np.zeros(n + 1, np.int64)
    at = 0
    for row in range(n):
        for column in range(m):
            if not wanted[row]:
                continue
            value = values[row, column]
            if np.isnan(value):
                at = put_bytes(text, at, absent, 0, absent.size)
                continue
            at = put_bytes(text, at, labels, label_offsets[column], label_offsets[column + 1])
            at = put_number(text, at, value)
        offsets[row + 1] = at
    return text[:at].copy(), offsets


@compiled
def insert_texts(text, starts, places, added, added_offsets, wanted):
    """Return the wanted lines end to end, uint8, each with a text inserted.

    Arguments:
        text: uint8, whole lines.
        starts: int64[n + 1], where each line starts and the last one stops.
        places: int64[n], where in text the insertion of each line is; not looked at where it has
            none.
        added, added_offsets: uint8 and int64[n + 1], the insertions end to end.
        wanted: bool[n].
    """
    out = np.empty(text.size + added.size, np.uint8)
    n = 0
    for line in range(starts.size - 1):
        if not wanted[line]:
            continue
        start, stop = starts[line], starts[line + 1]
        if added_offsets[line + 1] > added_offsets[line]:
            n = put_bytes(out, n, text, start, places[line])
            n = put_bytes(out, n, added, added_offsets[line], added_offsets[line + 1])
            start = places[line]
        n = put_bytes(out, n, text, start, stop)
    return out[:n].copy()


@compiled
def source_hashes(text, starts, stops, token_stops):
    """Return the hash of each rule's source side, symbols separated by a space; uint64[n].

    Arguments:
        text, starts, stops, token_stops: as `LineArrays` in kernels/rules.py has them.
    """
    out = np.empty(token_stops.shape[0], np.uint64)
    begin = 0
    for rule in range(token_stops.shape[0]):
        state = START
        for k in range(begin, token_stops[rule, 0]):
            if k > begin:
                state = step(state, SPACE)
            state = extend(state, text, starts[k], stops[k])
        out[rule] = finish(state)
        begin = token_stops[rule, 1]
    return out


@compiled
def gather_lines(text, starts, stops, wanted):
    """Return text[starts[i]:stops[i]] for each i in wanted, end to end, uint8.

    Arguments:
        text: uint8.
        starts, stops: int64, of each line.
        wanted: int64, numbers of lines.
    """
    size = 0
    for i in wanted:
        size += stops[i] - starts[i]
    out = np.empty(size, np.uint8)
    n = 0
    for i in wanted:
        for k in range(starts[i], stops[i]):
            out[n] = text[k]
            n += 1
    return out


@compiled
def gather_runs(values, starts, wanted):
    """Return values[starts[i]:starts[i + 1]] for each i in wanted, end to end.

    Arguments:
        values: of any dtype.
        starts: int64[n + 1].
        wanted: int64, numbers of runs.
    """
    size = 0
    for i in wanted:
        size += starts[i + 1] - starts[i]
    out = np.empty(size, values.dtype)
    n = 0
    for i in wanted:
        for k in range(starts[i], starts[i + 1]):
            out[n] = values[k]
            n += 1
    return out


# What was found in a column of a line.
FOUND, ABSENT, NO_NUMBER, NOT_AVAILABLE = range(4)
_MOST_DIGITS = 18  # of a mantissa that int64 holds


@compiled
def read_number(text, start, stop):
    """Return the number that text[start:stop] is, float64, and whether it is one.

    A number is an optional sign, digits with perhaps a point among or beside them, and perhaps
    an exponent; it is finite. Nothing else is one: no `nan`, no `inf`, no `1_0`. Correct to a
    unit in the last place.

    Arguments:
        text: uint8.
        start, stop: half-open range in it.
    """
    i = start
    negative = False
    if i < stop and (text[i] == 45 or text[i] == 43):
        negative = text[i] == 45
        i += 1
    mantissa = 0
    exponent = 0
    n_digits = 0
    n_kept = 0
    seen_point = False
    while i < stop:
        byte = np.int64(text[i])
        if byte == 46 and not seen_point:
            seen_point = True
        elif 48 <= byte <= 57:
            n_digits += 1
            if n_kept < _MOST_DIGITS:
                mantissa = mantissa * 10 + byte - 48
                n_kept += 1 if mantissa > 0 else 0
                exponent -= 1 if seen_point else 0
            elif not seen_point:
                exponent += 1
        else:
            break
        i += 1
    if n_digits == 0:
        return 0.0, False
    if i < stop:
        if text[i] != 101 and text[i] != 69:
            return 0.0, False
        i += 1
        sign = 1
        if i < stop and (text[i] == 45 or text[i] == 43):
            sign = -1 if text[i] == 45 else 1
            i += 1
        if i == stop:
            return 0.0, False
        power = 0
        while i < stop:
            digit = np.int64(text[i]) - 48
            if digit < 0 or digit > 9:
                return 0.0, False
            power = min(power * 10 + digit, 100_000)
            i += 1
        exponent += sign * power
    value = np.float64(mantissa)
    if mantissa > 0 and exponent < 0:
        low = max(exponent, -300)
        value /= 10.0**-low
        if exponent < low:
            value /= 10.0 ** min(low - exponent, 300)
    elif mantissa > 0 and exponent > 0:
        value *= 10.0 ** min(exponent, 300)
        if exponent > 300:
            value *= 10.0 ** min(exponent - 300, 300)
    return (-value if negative else value), np.isfinite(value)


@compiled
def new_names(text, fields, names, name_offsets, max_names):
    """Return the names of features that are no columns yet, and the most bare values of a line.

    Arguments:
        text: uint8, lines of a grammar.
        fields: int64[n, 2], where the field of features of each line starts and stops.
        names, name_offsets: uint8 and int64, the known columns' names end to end.
        max_names: maximum number of new names.

    Returns (int64[m, 2], start and stop in text of the first of each new name, in the order met;
    the most and the fewest bare values of a line).
    """
    n_known = name_offsets.size - 1
    spans = np.empty((max_names, 2), np.int64)
    n = 0
    most_bare = 0
    fewest_bare = text.size if fields.shape[0] > 0 else 0
    for line in range(fields.shape[0]):
        bare = 0
        i, stop = next_token(text, fields[line, 0], fields[line, 1])
        while i < stop:
            equals = stop - 1
            while equals > i and text[equals] != 61:
                equals -= 1
            if equals > i:
                is_new = True
                for column in range(n_known):
                    if is_new and name_offsets[column + 1] - name_offsets[column] == equals - i:
                        is_new = not _same(names, name_offsets[column], text, i, equals)
                for k in range(n):
                    if is_new and spans[k, 1] - spans[k, 0] == equals - i:
                        is_new = not _same(text, spans[k, 0], text, i, equals)
                if is_new and n < max_names:
                    spans[n, 0] = i
                    spans[n, 1] = equals
                    n += 1
            else:
                bare += 1
            i, stop = next_token(text, stop, fields[line, 1])
        most_bare = max(most_bare, bare)
        fewest_bare = min(fewest_bare, bare)
    return spans[:n].copy(), most_bare, fewest_bare


@uncounted
def _same(a, at, other, start, stop):
    """Return whether the bytes one[at:at + stop - start] equal other[start:stop], uint8 both."""
    for k in range(stop - start):
        if a[at + k] != other[start + k]:
            return False
    return True


@compiled
def read_columns(text, fields, names, name_offsets, positions):
    """Return the values of some columns in fields of features, and whether they are numbers.

    A column has a name or a position among the bare values. Of features with one name the last
    counts, a name before a position.

    Arguments:
        text: uint8, lines of a grammar.
        fields: int64[n, 2], where the field of each line starts and stops.
        names, name_offsets: uint8 and int64[c + 1], the columns' names end to end.
        positions: int64[c], places among the bare values, from 0; -1 for none.

    Returns (float64[n, c], NaN where there is none; uint8[n, c], FOUND or why not; int64[n, c, 2],
    where each value starts and stops in text).
    """
    n_columns = positions.size
    values = np.full((fields.shape[0], n_columns), np.nan)
    states = np.full((fields.shape[0], n_columns), ABSENT, np.uint8)
    places = np.zeros((fields.shape[0], n_columns, 2), np.int64)
    by_name = np.zeros(n_columns, np.bool_)
    for line in range(fields.shape[0]):
        bare = 0
        by_name[:] = False
        i, stop = next_token(text, fields[line, 0], fields[line, 1])
        while i < stop:
            equals = stop - 1
            while equals > i and text[equals] != 61:
                equals -= 1
            named = equals > i
            for column in range(n_columns):
                length = name_offsets[column + 1] - name_offsets[column]
                if named:
                    same = length == equals - i
                    for k in range(length if same else 0):
                        same = same and names[name_offsets[column] + k] == text[i + k]
                else:
                    same = positions[column] == bare and not by_name[column]
                if not same:
                    continue
                by_name[column] = named
                start = equals + 1 if named else i
                places[line, column, 0] = start
                places[line, column, 1] = stop
                if stop - start == 2 and text[start] == 78 and text[start + 1] == 65:
                    states[line, column] = NOT_AVAILABLE
                    continue
                value, is_number = read_number(text, start, stop)
                states[line, column] = FOUND if is_number else NO_NUMBER
                values[line, column] = value if is_number else np.nan
            if not named:
                bare += 1
            i, stop = next_token(text, stop, fields[line, 1])
    return values, states, places
