"""Splits a line into its fields between the separators `|||`, and joins them, byte for byte.

A separator is the token `|||`: between blanks, or at the line's end. So `a ||| b |||` has an
empty last field, and `a |||  ||| b` and `a ||| ||| b` an empty middle one. Blanks are the space
and the tab; a line ends at a newline with perhaps one carriage return before it; every other
byte is part of a token. `kernels/rules.py` reads lines by the same rules.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import get_args

from distsim.base.arguments import OnError, one_of
from distsim.base.errors import InputError, ParameterError, counted
from distsim.corpus.sources import file_label

ON_ERROR: tuple[str, ...] = get_args(OnError)

_SHOWN_FAULTS = 10


@dataclass
class InvalidLines:
    """Invalid lines of a grammar: how they are treated, their counts, the first messages.

    Attributes:
        path: of the grammar.
        on_error: `stop` raises at the first one, `keep` passes it through unscored, `drop` leaves
            it out; both count.
        kept, dropped: their counts.
        shown: the first few messages.
    """

    path: str | Path
    on_error: OnError = "stop"
    kept: int = 0
    dropped: int = 0
    shown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        one_of(self.on_error, ON_ERROR, "`on_error`")

    def keeps(self, line: int, fault: str) -> bool:
        """Count an invalid line; return whether it stays in the output.

        Arguments:
            line: its number, from 1. fault: what is wrong with it.

        Raises:
            InputError: under `stop`; the message names file, line, fault and remedy.
        """
        where = f"{file_label(self.path)}, line {line}"
        if self.on_error == "stop":
            raise InputError(
                f"{where}: {fault}: mend the line, or pass over such lines with "
                "`on_error` keep or `on_error` drop"
            )
        if len(self.shown) < _SHOWN_FAULTS:
            self.shown.append(f"{where}: {fault}")
        if self.on_error == "keep":
            self.kept += 1
            return True
        self.dropped += 1
        return False

    def add_to(self, report: list[str], *, are_left_out: bool = False) -> None:
        """Add their numbers to the first line of a report, and the first messages behind it.

        Arguments:
            are_left_out: also those that are kept elsewhere, since the output has other lines.
        """
        if self.kept or self.dropped:
            report[0] += (
                f", {counted(self.kept + self.dropped, 'invalid line')} left out"
                if are_left_out
                else f", {counted(self.kept, 'invalid line')} kept, {self.dropped:,} dropped"
            )
            report += [f"  {message}" for message in self.shown]

    def require_lines(self, n_lines: int) -> None:
        """Check that a file has lines; an empty one is an error under `stop`, else a message.

        Raises:
            InputError: the file is empty.
        """
        if n_lines == 0:
            message = f"{file_label(self.path)}, line 1: the file is empty"
            if self.on_error == "stop":
                raise InputError(f"{message}: check what should have written it")
            self.shown.append(message)


SEPARATOR = b"|||"
BLANKS = b" \t"

_TOKENS = re.compile(rb"[^ \t]+")
_NAME = re.compile(r"[^\s=\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class LineFaultError(ValueError):
    """An invalid line: the fault in a few words; InvalidLines adds the file and the line."""


@cache
def _separators(separator: bytes) -> re.Pattern[bytes]:
    """Return what matches a separator: a token of it, or the bytes where it is blank itself."""
    if not separator.strip(BLANKS):
        return re.compile(re.escape(separator))
    return re.compile(rb"(?<![^ \t\n])%s(?=[ \t]|\r?\n|\r?\Z)" % re.escape(separator))


def split_fields(line: bytes, separator: bytes = SEPARATOR) -> list[bytes]:
    """Return the fields of a line with the blanks around them, the newline in the last.

    >>> split_fields(b"a ||| b c |||\\n"), split_fields(b"a;; ;; b", b";;")
    ([b'a ', b' b c ', b'\\n'], [b'a;; ', b' b'])
    """
    return _separators(separator).split(line)


def between_bars(text: bytes, separator: bytes) -> bytes:
    """Return lines whose fields are separated in another way with `|||` between them.

    >>> between_bars(b"a ;; b\\n", b";;"), between_bars(b"a\\tb\\n", b"\\t")
    (b'a ||| b\\n', b'a ||| b\\n')
    """
    bars = SEPARATOR if separator.strip(BLANKS) else b" %s " % SEPARATOR
    return _separators(separator).sub(bars, text)


def tokens(field: bytes) -> list[bytes]:
    """Return the tokens of a field, which are separated by spaces and tabs alone.

    >>> tokens(b" a\\tb\\x0cc  d\\r\\n")
    [b'a', b'b\\x0cc', b'd']
    """
    return _TOKENS.findall(without_line_end(field))


def side_tokens(side: bytes) -> list[bytes]:
    """Return the tokens of a side that was taken out of its line; a final carriage return is one.

    >>> side_tokens(b"a \\r")
    [b'a', b'\\r']
    """
    return _TOKENS.findall(side)


def is_feature_name(text: str) -> bool:
    """Return whether a feature of this name, or this value, can be written into a rule.

    Arguments:
        text: the name or value.

    >>> is_feature_name("p(e|f,LHS)"), is_feature_name("a b"), is_feature_name("a=1")
    (True, False, False)
    """
    return _NAME.fullmatch(text) is not None and "|||" not in text


def require_utf8(feature: str) -> str:
    """Return the name of a feature, checked to be UTF-8, as grammars are.

    Raises:
        ParameterError: it is of bytes that are not UTF-8.
    """
    if not feature.isprintable() and any("\ud800" <= c <= "\udfff" for c in feature):
        raise ParameterError(
            f"feature {feature!r}: is not UTF-8, which grammars are: give the name in UTF-8"
        )
    return feature


def without_line_end(line: bytes) -> bytes:
    """Return a line without its newline and one carriage return before it.

    Arguments:
        line: bytes.
    """
    return line.removesuffix(b"\n").removesuffix(b"\r")


def with_line_end(line: bytes) -> bytes:
    """Return a line with a newline at its end, where it has none.

    Arguments:
        line: bytes.
    """
    return line if line.endswith(b"\n") else line + b"\n"


def join_fields(fields: Iterable[bytes], separator: bytes = SEPARATOR) -> bytes:
    """Return the line of the fields that `split_fields` returned."""
    return separator.join(fields)


def append_to_field(field: bytes, text: bytes) -> bytes:
    """Return a field with one more token at its end, before any blanks that close it.

    >>> append_to_field(b" 0 1 ", b"0.5")
    b' 0 1 0.5 '
    """
    body = without_line_end(field).rstrip(BLANKS)
    return body + b" " + text + field[len(body) :]


def replace_field(field: bytes, text: bytes) -> bytes:
    """Return a field with other contents and the same blanks around them.

    >>> replace_field(b" 0 1 ", b"2")
    b' 2 '
    """
    body = without_line_end(field).strip(BLANKS)
    if not body:
        return b" " + text + (field if field.strip(BLANKS) else b" ")
    start = field.index(body)
    return field[:start] + text + field[start + len(body) :]
