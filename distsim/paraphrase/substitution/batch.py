"""Lines `left<TAB>target<TAB>right[<TAB>candidate;candidate...]` -> tasks, each with its line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from distsim.base.errors import InputError
from distsim.corpus.lines import decoded_line, read_lines
from distsim.corpus.sources import file_label
from distsim.paraphrase.substitution.substituter import MOST_CANDIDATES

SEPARATOR = ";"


@dataclass(frozen=True)
class Task:
    """A target in its sentence.

    line: its number, from 1. left, target, right: as written. candidates: None where none are
    named.
    """

    line: int
    left: str
    target: str
    right: str
    candidates: tuple[str, ...] | None = None


def read_tasks(path: str | Path) -> Iterator[Task]:
    """Yield the tasks of a file, plain or packed, `-` for standard input; lines from 1.

    Arguments:
        path: of the file.

    Raises:
        InputError: a line has too few or too many columns, an empty target, too many candidates or
            is not valid UTF-8; the message names file and line.
    """
    for number, raw in read_lines(path):
        where = f"{file_label(path)}, line {number}"
        columns = decoded_line(raw, where).split("\t")
        if not 3 <= len(columns) <= 4:
            raise InputError(
                f"{where}: {len(columns)} columns separated by tabs, wanted left, target, right "
                "and perhaps candidates: add the tabs, also around an empty left or right"
            )
        left, target, right = columns[:3]
        if not target.strip():
            raise InputError(f"{where}: the target is empty: write it between the first two tabs")
        candidates = None
        if len(columns) == 4:
            named = (one.strip() for one in columns[3].split(SEPARATOR))
            candidates = tuple(one for one in named if one)
            if len(candidates) > MOST_CANDIDATES:
                raise InputError(
                    f"{where}: {len(candidates):,} candidates: give {MOST_CANDIDATES:,} at most"
                )
        yield Task(number, left, target, right, candidates)
