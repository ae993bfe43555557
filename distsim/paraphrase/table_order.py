"""Reads a translation table line by line and writes it with new lines, each where it belongs."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from distsim.base.parallel import Progress, no_progress
from distsim.corpus.lines import read_lines
from distsim.grammar.fields import LineFaultError, with_line_end
from distsim.grammar.formats.phrase_table import PhraseTableEntry
from distsim.grammar.formats.rules import RuleEntry
from distsim.grammar.invalid_lines import InvalidLines
from distsim.storage.files import LineWriter

_REPORT_LINES = 1 << 16
AnyEntry = TypeVar("AnyEntry", bound=PhraseTableEntry | RuleEntry)


class TableOrder:
    """The order of a table's source phrases: that of whole lines, that of the phrases, or none.

    Where all its lines are in order, new lines of one phrase are put in order, too.
    """

    def __init__(self) -> None:
        self._previous: bytes | None = None
        self._previous_line = b""
        self._of_lines = self._of_phrases = self._within = True

    def see(self, source: bytes, line: bytes) -> bool:
        """Take in the next rule; return whether it has another source phrase than the last one.

        Arguments:
            source: its source phrase. line: its line.
        """
        self._within &= self._previous_line <= line
        self._previous_line = line
        previous, self._previous = self._previous, source
        if source == previous:
            return False
        if previous is not None:
            self._of_lines &= _as_in_lines(previous) < _as_in_lines(source)
            self._of_phrases &= previous < source
        return True

    @property
    def is_sorted(self) -> bool:
        """Whether the phrases seen were in order."""
        return self._of_lines or self._of_phrases

    def arranged(self, lines: Iterable[bytes]) -> Iterable[bytes]:
        """Return the new lines of one source phrase in the order of the table's lines.

        Arguments:
            lines: of the phrase; as they are where the table's lines are in no order.
        """
        return sorted(lines) if self._within and self._of_lines else lines

    def key(self, source: bytes) -> bytes:
        """Return the sort key of a source phrase."""
        return _as_in_lines(source) if self._of_lines else source


def _as_in_lines(source: bytes) -> bytes:
    """Return the sort key of `LC_ALL=C sort`: the line up to the target."""
    return source + b" ||| "


def read_table(
    path: str | Path,
    parse: Callable[[bytes], AnyEntry],
    n_scores: Callable[[AnyEntry], int] = lambda entry: 0,
    faulty: InvalidLines | None = None,
    progress: tuple[Progress, str] = (no_progress, "reading"),
) -> Iterator[tuple[bytes, AnyEntry | None]]:
    """Yield (line, entry) of a table, entry None for an invalid line that is kept.

    Arguments:
        path: of the table.
        faulty: what becomes of invalid lines; the first one stops where None.
        parse: returns the entry of a line. n_scores: returns how many scores an entry has, all the
            same number, and refuses what is no number.
        progress: called with the step, the second of the two, and how many lines were read.

    Raises:
        InputError: a line is invalid and `faulty` says stop; the file is empty or cannot be read.
    """
    report, stage = progress
    faulty = faulty or InvalidLines(path)
    wanted: int | None = None
    n_lines = 0
    for number, line in read_lines(path):
        n_lines += 1
        if number % _REPORT_LINES == 0:
            report(stage, number, None)
        try:
            entry = parse(line)
            count = n_scores(entry)
            wanted = count if wanted is None else wanted
            if count != wanted:
                raise LineFaultError(f"{count} scores, wanted {wanted} as on the lines before")
        except LineFaultError as fault:
            if faulty.keeps(number, str(fault)):
                yield line, None
            continue
        yield line, entry
    faulty.require_lines(n_lines)


def write_merged(
    entries: Iterator[tuple[bytes, AnyEntry | None]],
    old_line: Callable[[AnyEntry], bytes],
    new_phrases: Iterable[bytes],
    new_lines: Callable[[bytes], Iterable[bytes]],
    order: TableOrder,
    writer: LineWriter,
) -> int:
    """Write a table with new lines in their places, or at its end; return its number of old rules.

    Arguments:
        entries: lines of the table. old_line: returns the line that a rule has in the new table.
        new_phrases: source phrases that the table lacks. new_lines: returns the lines of one.
    """
    waiting = sorted(new_phrases, key=order.key) if order.is_sorted else list(new_phrases)
    at = n_old = 0
    previous: bytes | None = None
    for line, entry in entries:
        if entry is not None:
            if order.is_sorted and entry.source != previous:
                while at < len(waiting) and order.key(waiting[at]) < order.key(entry.source):
                    for new in order.arranged(new_lines(waiting[at])):
                        writer.write(with_line_end(new))
                    at += 1
            previous = entry.source
            line = old_line(entry)
            n_old += 1
        writer.write(with_line_end(line))
    for phrase in waiting[at:]:
        for new in order.arranged(new_lines(phrase)):
            writer.write(with_line_end(new))
    return n_old
