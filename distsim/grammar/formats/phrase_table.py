"""Entries of Moses phrase tables, in both layouts, read and written byte for byte.

    source ||| target ||| scores ||| alignment ||| counts |||        as Moses writes it today
    source ||| target ||| (0) (1,2) ||| (0) (1) (1) ||| scores       the older layout

In the older layout (Marton 2013, section 4.2) each token's partners are in brackets, first
for the source tokens, then for the target tokens.
"""

import re
from dataclasses import dataclass, replace

from distsim.base.arguments import plain_number
from distsim.corpus.lines import is_utf8
from distsim.grammar.fields import (
    BLANKS,
    LineFaultError,
    append_to_field,
    join_fields,
    replace_field,
    split_fields,
    tokens,
    without_line_end,
)
from distsim.grammar.formats.grammar_format import GrammarFormat, LineLayout

_OLD_COLUMN = re.compile(rb"[ \t]*(\([0-9, ]*\)[ \t]*)+\Z")


@dataclass(frozen=True)
class PhraseTableEntry:
    """An entry of a phrase table.

    fields: the bytes of its line, from which all else is read. is_old: in the layout whose third
    and fourth fields are alignments of each side, in brackets.

    >>> entry = PhraseTableEntry.parse(b"la ||| the house ||| 0.5 0.1 ||| 0-0 ||| 3 4 2 |||\\n")
    >>> entry.source, entry.target, entry.scores
    (b'la', b'the house', [b'0.5', b'0.1'])
    >>> entry.with_score(b"1").line()
    b'la ||| the house ||| 0.5 0.1 1 ||| 0-0 ||| 3 4 2 |||\\n'
    """

    fields: tuple[bytes, ...]
    is_old: bool

    @classmethod
    def parse(cls, line: bytes) -> "PhraseTableEntry":
        """Return the entry of a line.

        Arguments:
            line: bytes of a line of a phrase table.

        Raises:
            LineFaultError: it has too few fields, an empty side, or is not UTF-8.
        """
        if not is_utf8(line):
            raise LineFaultError("not UTF-8")
        fields = tuple(split_fields(line))
        if len(fields) < 3:
            raise LineFaultError(
                f"{len(fields)} fields separated by |||, wanted source ||| target ||| scores"
            )
        is_old = len(fields) >= 5 and all(_OLD_COLUMN.match(column) for column in fields[2:4])
        entry = cls(fields, is_old)
        for name, side in (("source", entry.source), ("target", entry.target)):
            if not side:
                raise LineFaultError(f"the {name} phrase is empty")
        return entry

    def line(self) -> bytes:
        """Return the line, with its newline if it had one."""
        return join_fields(list(self.fields))

    @property
    def source(self) -> bytes:
        """The source phrase without the blanks around it."""
        return self.fields[0].strip(BLANKS)

    @property
    def target(self) -> bytes:
        """The target phrase without the blanks around it."""
        return self.fields[1].strip(BLANKS)

    @property
    def scores_field(self) -> int:
        """The number of the field of scores, from 0."""
        return 4 if self.is_old else 2

    @property
    def scores(self) -> list[bytes]:
        """The scores as they are written."""
        return tokens(self.fields[self.scores_field])

    def numbers(self) -> list[float]:
        """Return the scores as numbers.

        Raises:
            LineFaultError: one is not a number.
        """
        numbers = [number for score in self.scores if (number := plain_number(score)) is not None]
        if len(numbers) < len(self.scores):
            raise LineFaultError(
                f"scores {self.fields[self.scores_field].strip().decode()!r}: wanted numbers"
            )
        return numbers

    @property
    def counts(self) -> list[bytes]:
        """The counts (target, source, both), empty where there are none."""
        return [] if self.is_old or len(self.fields) < 5 else tokens(self.fields[4])

    def with_score(self, *scores: bytes) -> "PhraseTableEntry":
        """Return the entry with further scores behind the present ones.

        Arguments:
            scores: written after the present ones.
        """
        fields = list(self.fields)
        number = self.scores_field
        for score in scores:
            fields[number] = append_to_field(fields[number], score)
        return replace(self, fields=tuple(fields))

    def with_source(self, source: bytes) -> "PhraseTableEntry":
        """Return the entry for another source phrase; its word alignment is emptied.

        The new phrase has no links to inherit: the column is left empty, in the older
        layout `( )` for every token on either side.

        Arguments:
            source: the source phrase, words separated by spaces.
        """
        fields = list(self.fields)
        fields[0] = replace_field(fields[0], source)
        if self.is_old:
            for number, phrase in ((2, source), (3, self.target)):
                empty = b" ".join([b"( )"] * len(tokens(phrase)))
                fields[number] = replace_field(fields[number], empty)
        elif len(fields) > 3:
            fields[3] = b" " + fields[3][len(without_line_end(fields[3]).rstrip(BLANKS)) :]
        return replace(self, fields=tuple(fields))


PHRASE_TABLE = GrammarFormat(
    name="phrase-table",
    layout=LineLayout(
        label=-1, source=0, target=1, features=2, links=3, counts=4, partners=2, gaps=False
    ),
    looks_so=lambda line: b"|||" in line,
    named_features=False,
    columns={"p(f|e)": 0, "Lex(f|e)": 1, "p(e|f)": 2, "Lex(e|f)": 3},  # as Moses trains them
    scale="probability",
)
