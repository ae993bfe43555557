"""Rules of Joshua, Thrax, PPDB and cdec, byte for byte.

    [NP] ||| the [JJ,1] ||| a [JJ,1] ||| p(e|f)=0.5 ||| 0-0 1-1

A label, two sides with gaps, features by name or bare, perhaps word links and further fields.
"""

from dataclasses import dataclass

from distsim.corpus.numbers import plain_count, plain_number
from distsim.grammar.fields import (
    LineFaultError,
    side_tokens,
    tokens,
)
from distsim.grammar.formats.layout import GrammarFormat, Layout

Symbols = tuple[bytes, ...]


@dataclass(frozen=True)
class Features:
    """The features of a rule as written: by name, or by position among the bare ones."""

    named: dict[bytes, bytes]
    bare: list[bytes]

    @classmethod
    def parse(cls, text: bytes) -> "Features":
        """Return the features of a field; text: its bytes, without the line end.

        >>> Features.parse(b"0.5 p(e|f)=1.2 NA").bare
        [b'0.5', b'NA']
        """
        named: dict[bytes, bytes] = {}
        if b"=" not in text:
            return cls(named, side_tokens(text))
        bare = []
        for token in side_tokens(text):
            name, separator, value = token.rpartition(b"=")
            if separator and name:
                named[name] = value
            else:
                bare.append(token)
        return cls(named, bare)

    def get(self, column: str) -> bytes | None:
        """Return a feature by its name, or a bare one by its position from 0; None without."""
        value = self.named.get(column.encode())
        place = plain_count(column)
        if value is None and place is not None and place < len(self.bare):
            value = self.bare[place]
        return value

    def number(self, column: str, missing: float | None = None) -> float:
        """Return a feature as a number.

        Arguments:
            column: a name, or a position from 0 as text.
            missing: the value of a feature that is not there or `NA`; an error where None.

        Raises:
            LineFaultError: it is not there, or no number.
        """
        value = self.get(column)
        if value is None or value == b"NA":
            if missing is not None:
                return missing
            state = "is NA" if value else "is not there"
            raise LineFaultError(f"feature {column} {state}, wanted a number")
        number = plain_number(value)
        if number is None:
            raise LineFaultError(
                f"feature {column} is {value.decode(errors='replace')!r}, wanted a number"
            )
        return number


def gap_of(symbol: bytes) -> tuple[bytes, bytes] | None:
    """Return the label and index of a gap, None for a word.

    >>> gap_of(b"[,,1]"), gap_of(b"[NP/NN,12]"), gap_of(b"[1,000]"), gap_of(b"[x]")
    ((b',', b'1'), (b'NP/NN', b'12'), None, None)
    """
    if symbol[:1] != b"[" or symbol[-1:] != b"]":
        return None
    label, comma, index = symbol[1:-1].rpartition(b",")
    if not comma or not label or not index.isdigit() or not index.strip(b"0"):
        return None
    return label, index


def _looks_so(line: bytes) -> bool:
    """Return whether a line begins with a label in brackets and has at least three fields."""
    label, separator, rest = line.partition(b" ||| ")
    is_label = label[:1] == b"[" and label[-1:] == b"]" and len(tokens(label)) == 1
    return bool(separator and is_label and len(label) > 2 and rest.count(b"|||") >= 1)


RULES = GrammarFormat(
    name="rules",
    layout=Layout(label=0, source=1, target=2, features=3, links=4),
    looks_so=_looks_so,
)
