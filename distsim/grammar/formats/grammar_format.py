"""Grammar formats: how one is recognised, its fields, how features are written; a line as a rule.

Lines are read and written byte for byte.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from distsim.base.arguments import plain_count, plain_number
from distsim.base.errors import counted
from distsim.corpus.lines import is_utf8, split_lines
from distsim.grammar.fields import (
    BLANKS,
    SEPARATOR,
    LineFaultError,
    append_to_field,
    between_bars,
    join_fields,
    replace_field,
    side_tokens,
    split_fields,
    tokens,
    without_line_end,
)  # fmt: skip

_PARTNERS = re.compile(rb"[ \t]*(\([0-9, ]*\)[ \t]*)+\Z")


class LineLayout(NamedTuple):
    """The field of a line, from 0, of each part of a rule; -1 where the format has none.

    The order is that of the constants in `kernels/rules.py`.

    Arguments:
        label: the left-hand side, in square brackets.
        links: word links as `0-0 1-2`.
        counts: how often the target, the source and both were seen.
        partners: the first of two fields that hold links instead, where both are columns of
            brackets: one bracket a token, with the positions of its partners on the other side.
            The features then are behind them.
        gaps: sides may have gaps, `[NP,1]`, and may be empty.
    """

    label: int
    source: int
    target: int
    features: int
    links: int = -1
    counts: int = -1
    partners: int = -1
    gaps: bool = True


@dataclass(frozen=True, kw_only=True)
class GrammarFormat:
    """A format of grammars: of fields between separators, or one that gives lines as such.

    Arguments:
        name: what `--format` calls it.
        layout: the fields of the parts of a rule.
        looks_so: returns whether a line looks like one of this format. A file has the first
            format that at least half of its first lines look like.
        named_features: features may be written as `name=value`; else only as bare values.
        label: the left-hand side of rules that have none of their own.
        columns: the positions of bare features whose meaning the format fixes, by name.
        scale: how those are written: `probability`, `log`, `negative-log` ...
        separator: a token that stands between fields, or a tab.
        as_rule: returns a line as one of this layout, `|||` between its fields, where these cannot
            be read so; one of too few fields where the line has too few.
        put_features: returns a line, as the format writes it, with other features: those of
            `as_rule`, changed. Given where `as_rule` is.
        sort_key: returns what `rerank` sorts a line by where the rules of a group are not
            together; label and source as rules have them where None.
    """

    name: str
    layout: LineLayout
    looks_so: Callable[[bytes], bool]
    named_features: bool = True
    label: bytes = b"[X]"
    columns: Mapping[str, int] = field(default_factory=dict)
    scale: str = "negative-log"
    separator: str = SEPARATOR.decode()
    as_rule: Callable[[bytes], bytes] | None = None
    put_features: Callable[[bytes, bytes], bytes] | None = None
    sort_key: Callable[[bytes], bytes] | None = None

    def __post_init__(self) -> None:
        if (self.as_rule is None) != (self.put_features is None):
            raise ValueError(f"{self.name}: as_rule and put_features are given together")
        if self.layout.partners >= 0 and self.in_other_form:
            raise ValueError(f"{self.name}: columns of partners are read between ||| alone")
        label, source, target, features = self.layout[:4]
        if not label < source < target < features:
            raise ValueError(f"{self.name}: label, source, target and features come in this order")

    @property
    def in_other_form(self) -> bool:
        """Whether lines are other than rules with `|||` between their fields."""
        return self.as_rule is not None or self.separator.encode() != SEPARATOR

    def as_rules(self, text: bytes) -> bytes:
        """Return lines as rules of this layout with `|||` between their fields."""
        if self.as_rule is not None:
            return b"".join(map(self.as_rule, split_lines(text)))
        return between_bars(text, self.separator.encode()) if self.in_other_form else text

    def fields(self, line: bytes) -> list[bytes]:
        """Return the fields of a line in the order of the layout, with the blanks around them."""
        if self.as_rule is not None:
            return split_fields(self.as_rule(line))
        return split_fields(line, self.separator.encode())

    def with_features(self, line: bytes, features: bytes) -> bytes:
        """Return a rule's line, as the format writes it, with other features.

        Arguments:
            features: separated by blanks, without blanks around them.
        """
        if self.put_features is not None:
            return self.put_features(line, features)
        fields, at = self.fields(line), self.layout.features
        fields[at] = replace_field(fields[at], features)
        return join_fields(fields, self.separator.encode())

    def parse(self, line: bytes) -> "RuleLine":
        """Return the rule of a line of this format, with `|||` where the format has `as_rule`.

        Arguments:
            line: its bytes.

        Raises:
            LineFaultError: it has too few fields, an empty side, no label, or is not UTF-8.
        """
        if not is_utf8(line):
            raise LineFaultError("not UTF-8")
        fields, layout = tuple(self.fields(line)), self.layout
        if len(fields) <= layout.features:
            parts = ["source", "target", "scores"]
            if layout.label >= 0:
                parts = ["[label]", "source", "target", "features"]
            raise LineFaultError(
                f"{counted(len(fields), 'field')} separated by {self.separator}, wanted "
                + f" {self.separator} ".join(parts)
            )
        at = layout.partners
        if at >= 0 and len(fields) > at + 2 and all(map(_PARTNERS.match, fields[at : at + 2])):
            layout = layout._replace(features=at + 2, links=-1, counts=-1)
        rule = RuleLine(fields, self, layout)
        if layout.label >= 0 and not (
            rule.label[:1] == b"[" and rule.label[-1:] == b"]" and rule.source
        ):
            raise LineFaultError("the label in brackets or the source side is missing")
        for name, side in (("source", rule.source), ("target", rule.target)):
            if not (side or layout.gaps):
                raise LineFaultError(f"the {name} phrase is empty")
        return rule


@dataclass(frozen=True)
class Features:
    """The features of a rule as written.

    named: value by name. bare: values without a name, in order.
    """

    named: dict[bytes, bytes]
    bare: list[bytes]

    @classmethod
    def parse(cls, text: bytes, named: bool = True) -> "Features":
        """Return the features of a field.

        Arguments:
            text: its bytes, without the line end.
            named: `name=value` is a named feature; else all are bare.

        >>> Features.parse(b"0.5 p(e|f)=1.2 NA").bare
        [b'0.5', b'NA']
        """
        by_name: dict[bytes, bytes] = {}
        if not named or b"=" not in text:
            return cls(by_name, side_tokens(text))
        bare = []
        for token in side_tokens(text):
            name, separator, value = token.rpartition(b"=")
            if separator and name:
                by_name[name] = value
            else:
                bare.append(token)
        return cls(by_name, bare)

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
class RuleLine:
    """A line of a grammar or phrase table, as its fields; all else is read from them.

    The kernels of `kernels/rules.py` read blocks of lines, for what goes through whole grammars. A
    line as its fields is for what changes other fields than the features or adds lines (`augment`).
    `_is_read_alike` in `tests/faults/lines.py` keeps the two alike.

    Arguments:
        fields: the bytes of the line between separators, its end in the last.
        grammar_format: of the file.
        layout: which field is which: the format's, or that of its older lines.

    >>> from distsim.grammar.formats import FORMATS
    >>> rule = FORMATS["rules"].parse(b"[X] ||| la [X,1] ||| the [X,1] ||| 0.5 0.1 ||| 0-0\\n")
    >>> rule.source, rule.with_score(b"0").line()
    (b'la [X,1]', b'[X] ||| la [X,1] ||| the [X,1] ||| 0.5 0.1 0 ||| 0-0\\n')
    >>> rule = FORMATS["phrase-table"].parse(b"la ||| the house ||| 0.5 ||| 0-0 ||| 3 4 2\\n")
    >>> rule.label, rule.source, rule.scores, rule.counts
    (b'[X]', b'la', [b'0.5'], [b'3', b'4', b'2'])
    """

    fields: tuple[bytes, ...]
    grammar_format: GrammarFormat
    layout: LineLayout

    def line(self) -> bytes:
        """Return the line, with its newline if it had one."""
        known = self.grammar_format
        return join_fields(self.fields, SEPARATOR if known.as_rule else known.separator.encode())

    @property
    def label(self) -> bytes:
        """The left-hand side, in its brackets; that of the format where lines have none."""
        if self.layout.label < 0:
            return self.grammar_format.label
        return self.fields[self.layout.label].strip(BLANKS)

    @property
    def source(self) -> bytes:
        """The source side without the blanks around it."""
        return self.fields[self.layout.source].strip(BLANKS)

    @property
    def target(self) -> bytes:
        """The target side without the blanks around it."""
        return self.fields[self.layout.target].strip(BLANKS)

    @property
    def features(self) -> Features:
        """The features, by name or bare."""
        field = without_line_end(self.fields[self.layout.features])
        return Features.parse(field, self.grammar_format.named_features)

    @property
    def scores(self) -> list[bytes]:
        """The features without a name, as they are written."""
        return self.features.bare

    @property
    def has_partners(self) -> bool:
        """Whether the links are in two fields of brackets, before the features."""
        return 0 <= self.layout.partners < self.layout.features

    @property
    def counts(self) -> list[bytes]:
        """The counts (target, source, both), empty where there are none."""
        at = self.layout.counts
        return tokens(self.fields[at]) if 0 <= at < len(self.fields) else []

    def numbers(self) -> list[float]:
        """Return the scores as numbers.

        Raises:
            LineFaultError: one is not a number.
        """
        scores = self.scores
        numbers = [number for score in scores if (number := plain_number(score)) is not None]
        if len(numbers) < len(scores):
            written = self.fields[self.layout.features].strip().decode()
            raise LineFaultError(f"scores {written!r}: wanted numbers")
        return numbers

    def with_score(self, *scores: bytes) -> "RuleLine":
        """Return the rule with further features behind the present ones.

        Arguments:
            scores: as they are to be written.
        """
        fields = list(self.fields)
        for score in scores:
            fields[self.layout.features] = append_to_field(fields[self.layout.features], score)
        return replace(self, fields=tuple(fields))

    def with_source(self, source: bytes) -> "RuleLine":
        """Return the rule for another source phrase; its word alignment is emptied.

        The new phrase has no links to inherit: the column is left empty, or has `( )` for every
        token on either side.

        Arguments:
            source: the source phrase, words separated by spaces.
        """
        fields, layout = list(self.fields), self.layout
        fields[layout.source] = replace_field(fields[layout.source], source)
        if self.has_partners:
            for number, phrase in enumerate((source, self.target), start=layout.partners):
                empty = b" ".join([b"( )"] * len(tokens(phrase)))
                fields[number] = replace_field(fields[number], empty)
        elif 0 <= layout.links < len(fields):
            links = fields[layout.links]
            fields[layout.links] = b" " + links[len(without_line_end(links).rstrip(BLANKS)) :]
        return replace(self, fields=tuple(fields))
