"""Rules of Joshua, Thrax, PPDB and cdec, byte for byte.

    [NP] ||| the [JJ,1] ||| a [JJ,1] ||| p(e|f)=0.5 ||| 0-0 1-1

A label, two sides with gaps, features by name or bare, perhaps word links and further fields.
"""

import re
from dataclasses import dataclass

from distsim.base.arguments import plain_count, plain_number
from distsim.corpus.lines import is_utf8
from distsim.grammar.fields import (
    BLANKS,
    SEPARATOR,
    LineFaultError,
    append_to_field,
    join_fields,
    side_tokens,
    split_fields,
    tokens,
    without_line_end,
)
from distsim.grammar.formats.grammar_format import GrammarFormat, LineLayout
from distsim.grammar.formats.phrase_table import PHRASE_TABLE

_LABEL = re.compile(rb"\[([^\[\]]+)\]")
_GAP = re.compile(rb"\[([^\[\]]*)\]\[([^\[\]]*)\]")
_LINK = re.compile(rb"(\d{1,9})-(\d{1,9})")


def as_rule(line: bytes) -> bytes:
    """Return a line of Moses' hierarchical rules as a rule whose gaps have indices.

    Arguments:
        line: of a rule table; one without labels at the ends of both sides gets no left-hand side.

    >>> as_rule(b"[X][X] de [X] ||| of [X][NP] [NP] ||| 0.5 ||| 0-1 1-0\\n")
    b'[NP] ||| [X,1] de ||| of [NP,1] ||| 0.5 ||| 0-1 1-0\\n'
    """
    fields = split_fields(line)
    if len(fields) < 3:
        return line
    sides = [tokens(field) for field in fields[:2]]
    labels = [_LABEL.fullmatch(side[-1]) if side else None for side in sides]
    if None in labels:
        return SEPARATOR.join([b" ", *fields])
    source, target = (side[:-1] for side in sides)
    links = [_LINK.fullmatch(link) for link in tokens(fields[3])] if len(fields) > 3 else []
    partners = {int(link[2]): int(link[1]) for link in links if link}
    numbers: dict[int, int] = {}
    for at, symbol in enumerate(source):
        if _GAP.fullmatch(symbol):
            numbers[at] = len(numbers) + 1
    left = [_indexed(symbol, numbers.get(at, 0)) for at, symbol in enumerate(source)]
    right = [_indexed(symbol, numbers.get(partners.get(at, -1), len(numbers) + 1))
             for at, symbol in enumerate(target)]  # fmt: skip
    label = _label_of(*(match[1] for match in labels if match))
    first = [b"[%s] " % label, b" %s " % b" ".join(left), b" %s " % b" ".join(right)]
    return SEPARATOR.join([*first, *fields[2:]])


def _label_of(source: bytes, target: bytes) -> bytes:
    return source if target in (b"X", b"") else target


def _indexed(symbol: bytes, index: int) -> bytes:
    """Return a gap with its label and index, a word as it is."""
    match = _GAP.fullmatch(symbol)
    return b"[%s,%d]" % (_label_of(match[1], match[2]) or b"X", index) if match else symbol


def _looks_like_moses(line: bytes) -> bool:
    """Return whether both sides of a line end with a label, behind at least one symbol."""
    fields = [tokens(field) for field in split_fields(line)[:3]]
    return len(fields) == 3 and all(
        len(side) > 1 and _LABEL.fullmatch(side[-1]) for side in fields[:2]
    )


MOSES_RULES = GrammarFormat(
    name="moses-rules",
    layout=LineLayout(label=0, source=1, target=2, features=3, links=4, counts=5),
    looks_so=_looks_like_moses,
    named_features=False,
    columns=PHRASE_TABLE.columns,
    scale=PHRASE_TABLE.scale,
    as_rule=as_rule,
)


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


def _looks_like_rules(line: bytes) -> bool:
    """Return whether a line begins with a label in brackets and has at least three fields."""
    label, separator, rest = line.partition(b" ||| ")
    is_label = label[:1] == b"[" and label[-1:] == b"]" and len(tokens(label)) == 1
    return bool(separator and is_label and len(label) > 2 and rest.count(b"|||") >= 1)


RULES = GrammarFormat(
    name="rules",
    layout=LineLayout(label=0, source=1, target=2, features=3, links=4),
    looks_so=_looks_like_rules,
)
