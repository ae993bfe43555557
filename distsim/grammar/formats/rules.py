"""Rules of Joshua, Thrax, PPDB and cdec, byte for byte.

    [NP] ||| the [JJ,1] ||| a [JJ,1] ||| p(e|f)=0.5 ||| 0-0 1-1

A label, two sides with gaps, features by name or bare, perhaps word links and further fields.
"""

from dataclasses import dataclass

from distsim.corpus.lines import is_utf8
from distsim.corpus.numbers import plain_count, plain_number
from distsim.grammar.fields import (
    BLANKS,
    LineFaultError,
    append_to_field,
    join_fields,
    side_tokens,
    split_fields,
    tokens,
    without_line_end,
)
from distsim.grammar.formats.grammar_format import GrammarFormat, LineLayout

Symbols = tuple[bytes, ...]


@dataclass(frozen=True)
class Features:
    """The features of a rule as written.

    named: value by name. bare: values without a name, in order.
    """

    named: dict[bytes, bytes]
    bare: list[bytes]

    @classmethod
    def parse(cls, text: bytes) -> "Features":
        """Return the features of a field.

        Arguments:
            text: its bytes, without the line end.

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
        """Return a feature by its name, or a bare one by its position from 0; None without.

        Arguments:
            column: the name, or the position as text.
        """
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


@dataclass(frozen=True)
class RuleEntry:
    """A rule as the fields of its line; all else is read from them.

    >>> entry = RuleEntry.parse(b"[X] ||| la [X,1] ||| the [X,1] ||| 0.5 0.1 ||| 0-0\\n")
    >>> entry.source, entry.with_score(b"0").line()
    (b'la [X,1]', b'[X] ||| la [X,1] ||| the [X,1] ||| 0.5 0.1 0 ||| 0-0\\n')
    """

    fields: tuple[bytes, ...]

    @classmethod
    def parse(cls, line: bytes) -> "RuleEntry":
        """Return the rule of a line.

        Arguments:
            line: bytes of a line of a grammar.

        Raises:
            LineFaultError: it has too few fields, no label, or is not UTF-8.
        """
        if not is_utf8(line):
            raise LineFaultError("not UTF-8")
        entry = cls(tuple(split_fields(line)))
        if len(entry.fields) < 4:
            raise LineFaultError(
                f"{len(entry.fields)} fields separated by |||, wanted [label] ||| source ||| "
                "target ||| features"
            )
        if not (entry.label[:1] == b"[" and entry.label[-1:] == b"]" and entry.source):
            raise LineFaultError("the label in brackets or the source side is missing")
        return entry

    def line(self) -> bytes:
        """Return the line, with its newline if it had one."""
        return join_fields(list(self.fields))

    @property
    def label(self) -> bytes:
        """The left-hand side, in its brackets."""
        return self.fields[0].strip(BLANKS)

    @property
    def source(self) -> bytes:
        """The source side without the blanks around it."""
        return self.fields[1].strip(BLANKS)

    @property
    def target(self) -> bytes:
        """The target side without the blanks around it."""
        return self.fields[2].strip(BLANKS)

    @property
    def features(self) -> Features:
        """The features, by name or bare."""
        return Features.parse(without_line_end(self.fields[3]))

    def with_score(self, score: bytes) -> "RuleEntry":
        """Return the rule with one more feature behind the present ones.

        Arguments:
            score: as it is to be written.
        """
        fields = list(self.fields)
        fields[3] = append_to_field(fields[3], score)
        return RuleEntry(tuple(fields))


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
    layout=LineLayout(label=0, source=1, target=2, features=3, links=4),
    looks_so=_looks_so,
)
