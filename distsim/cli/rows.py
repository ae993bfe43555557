"""The writer of all lists that commands print: rows with named columns.

On a terminal a list has a header and aligned columns, is cut to the width, and numbers have three
significant digits. In a pipe or a file it is tab-separated with all digits, with a header where
--header asks for one. --csv and --json have the same names and all digits.
"""

import csv
import inspect
import io
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from math import isnan
from typing import Annotated, Any, TextIO

import typer

from distsim.cli.console import NOT_AVAILABLE, before_message, number, say, visible, visible_json

_BUFFERED_ROWS = 200  # rows whose widths decide those of the columns
_MIN_WIDTH = 8  # to which a column is cut at most
_MIN_SIDE = 25  # of a concordance; what would leave less stands on a line below
_MIN_FIELD = 10  # of a place or field beside it
_MAX_BELOW = 48  # of a field on a line below, with its name
_BELOW = -1  # the width of a column that stands there
_SMALL = 1e-4  # numbers below it are printed with an exponent
_GAP = "  "
_ELLIPSIS = "…"
NOTE = "note"  # the column that says what is special about a row; left out of a pipe where empty
# Columns of numbers that are no quantities.
_IDENTIFIERS = {"value", "second", "line", "number", "rank"}
ALL_ROWS = 1 << 30  # how many rows `-k 0` asks for
_LEFT, _NODE, _RIGHT = "left", "node", "right"  # columns of a concordance
# Places (file:line) and the keys of `info`, of which the end says more.
_TAILS = {"place", "places", "name"}


@dataclass
class _RowFormat:
    """How the running command prints its rows.

    json, csv: as asked. header: also in a pipe. names, widths: of the columns of the rows above.
    rows: those that wait. has_written: rows stand above. hidden: columns without room. unshown: a
    column that a terminal does not get.
    """

    json: bool = False
    csv: bool = False
    header: bool = False
    names: tuple[str, ...] | None = None
    rows: list[list[object]] = field(default_factory=list)
    widths: list[int] | None = None
    has_written: bool = False
    hidden: dict[str, None] = field(default_factory=dict)
    unshown: str | None = None


_row_format = _RowFormat()
_ROW_OPTIONS = (  # name, flag and sentence of the options of all commands that print rows
    ("as_json", "--json", "One JSON object a line."),
    ("as_csv", "--csv", "Comma-separated, with a header."),
    ("header", "--header", "A first line with the names of the columns."),
)


def lists_rows(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that has the options --json, --csv and --header for its rows.

    Arguments:
        command: the function of a subcommand, which prints by `put_row`.
    """
    signature = inspect.signature(command)
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=False,
            annotation=Annotated[bool, typer.Option(flag, help=sentence)],
        )
        for name, flag, sentence in _ROW_OPTIONS
    ]  # fmt: skip
    named = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
    ]

    @wraps(command)
    def listing(**values: Any) -> Any:
        choose_format(*(values.pop(name) for name, _, _ in _ROW_OPTIONS))
        try:
            return command(**values)
        finally:
            flush_rows()
            _say_hidden()

    del listing.__wrapped__
    listing.__signature__ = signature.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
    hints = {parameter.name: parameter.annotation for parameter in options}
    listing.__annotations__ = dict(command.__annotations__) | hints
    return listing


def prints_json() -> bool:
    """Return whether the running command prints JSON."""
    return _row_format.json


def prints_csv() -> bool:
    """Return whether the running command prints CSV."""
    return _row_format.csv


def field_value(value: object) -> object:
    """Return the value of a field of documents as it is printed: a number with its own digits.

    Arguments:
        value: of the field.
    """
    return str(value) if isinstance(value, int | float) and not prints_json() else value


def choose_format(as_json: bool, as_csv: bool, header: bool) -> None:
    """Set how the rows of a command are printed.

    Arguments:
        as_json: one object a line.
        as_csv: comma-separated, with a header.
        header: also where the output is tab-separated.

    Raises:
        typer.BadParameter: both JSON and CSV are asked for.
    """
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other")
    _row_format.json, _row_format.csv, _row_format.header = as_json, as_csv, header
    _row_format.names, _row_format.widths, _row_format.has_written = None, None, False
    _row_format.unshown = None
    _row_format.rows.clear()
    _row_format.hidden.clear()


def put_row(columns: Mapping[str, object], **more: object) -> None:
    """Print a row on standard output.

    Arguments:
        columns: its values by name; a float is a score, None is printed as NA.
        more: values that only JSON has.
    """
    if _row_format.json:
        shown = {name: value for name, value in columns.items() if name != NOTE}
        sys.stdout.write(visible_json(shown | more) + "\n")
        return
    if _row_format.unshown is not None and _is_table():
        columns = {name: columns[name] for name in columns if name != _row_format.unshown}
    names = tuple(columns)
    if names != _row_format.names:
        flush_rows()
        _row_format.names, _row_format.widths = names, None
        if _row_format.csv or (_row_format.header and not sys.stdout.isatty()):
            _write_line(list(names))
    if _is_table():
        _row_format.rows.append(list(columns.values()))
        if len(_row_format.rows) >= _BUFFERED_ROWS:
            flush_rows()
    else:
        _write_line([_full(value) for value in _without_empty_note(columns)])


def leave_out_question(column: str, n_asked: int) -> None:
    """Leave out on a terminal the column that repeats the question, where there is one.

    Arguments:
        column: its name.
        n_asked: questions of the command.
    """
    _row_format.unshown = column if n_asked == 1 else None


def put_answer(phrase: str, several: bool, columns: Mapping[str, object], **more: object) -> None:
    """Print a row of the answer to a phrase, which comes first where there are several.

    Arguments:
        phrase: the question.
        several: more than one was asked.
        columns: of `put_row`.
        more: of `put_row`.
    """
    asked = {"phrase": phrase} if several or _row_format.csv else {}
    put_row({**asked, **columns}, **({} if asked else {"phrase": phrase}), **more)


def say_rest(n_shown: int, n_all: int | None, has_more: bool = False) -> None:
    """Print on a terminal how many rows of how many are shown, where some are not.

    Arguments:
        n_shown: rows printed.
        n_all: rows that there are; None: unknown.
        has_more: there are more than are printed, of an unknown number.
    """
    if _row_format.json or not _is_table():
        return
    if n_all is not None and n_shown < n_all:
        say(f"{n_shown:,} of {n_all:,} (-k 0: all)")
    elif has_more:
        say(f"the first {n_shown:,} (-k 0: all)")


def say_ends(k: int | None, sizes: Sequence[int]) -> None:
    """Print on a terminal that lists of best answers end, where one has all the rows asked for.

    Arguments:
        k: how many rows were asked for; None or 0: all.
        sizes: rows of each list.
    """
    if not k or max(sizes, default=0) < k:
        return
    if len(sizes) == 1:
        say_rest(k, None, has_more=True)
    elif not _row_format.json and _is_table():
        say(f"the first {k:,} of each (-k 0: all)")


def flush_rows() -> None:
    """Print the rows that wait for the widths of their columns."""
    if not _row_format.rows:
        return
    rows, names = list(_row_format.rows), _row_format.names or ()
    _row_format.rows.clear()
    is_first = _row_format.widths is None
    lines, _row_format.widths = aligned_lines(
        names, rows, _terminal_width(), _row_format.widths, _row_format.has_written
    )
    _row_format.has_written = True
    sys.stdout.write("".join(line + "\n" for line in lines))
    if is_first:
        for name, size, column in zip(
            names, _row_format.widths, zip(*rows, strict=True), strict=True
        ):
            if not size and any(value != "" for value in column):
                _row_format.hidden[name] = None


def _say_hidden() -> None:
    """Print which columns had no room on the terminal."""
    if _row_format.hidden:
        say(f"no room for {', '.join(_row_format.hidden)}: --csv, or a wider terminal")
        _row_format.hidden.clear()


before_message(flush_rows)


def aligned_lines(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    width: int,
    widths: list[int] | None = None,
    follows: bool = False,
) -> tuple[list[str], list[int]]:
    """Return the lines of a table on a terminal, and the widths of its columns.

    Columns without any value are left out, and the last ones where there is no room for 8 cells
    of each text and all digits of each number. Numbers stand on the right; the columns left, node
    and right of a concordance are aligned on the node, and where the columns behind them would
    leave too little of the text, these are on a line below, with their names.

    Arguments:
        names: of the columns.
        rows: their values.
        width: of the terminal, in cells.
        widths: of the columns of the rows above; None: these are the first rows.
        follows: other rows stand above: a blank line parts the two.

    >>> aligned_lines(("phrase", "count"), [("the king", 1234)], 40)[0][1:]
    ['the king  1,234']
    """
    cells = [
        [_rounded(value, name) for value, name in zip(row, names, strict=True)] for row in rows
    ]
    lines: list[str] = []
    if widths is None:
        widths = [
            max(map(_cells_of, column)) if any(column) else 0 for column in zip(*cells, strict=True)
        ]
        widths = [
            max(size, _cells_of(name)) if size else 0
            for name, size in zip(names, widths, strict=True)
        ]
        least = _least_widths(names, rows, cells, widths)
        _put_below(names, widths, least, width)
        _cut_widths(names, widths, least, width)
        heads = [
            _aligned(_cut(name, size, False), size, _side(name, [row[place] for row in rows]))
            for place, (name, size) in enumerate(zip(names, widths, strict=True))
            if size > 0
        ]
        lines += [""] if follows else []
        lines.append(_bold(_GAP.join(heads).rstrip()))
    sides = [_side(name, [row[place] for row in rows]) for place, name in enumerate(names)]
    for row in cells:
        shown = [
            _aligned(cell, size, side)
            for cell, size, side in zip(row, widths, sides, strict=True)
            if size > 0
        ]
        lines.append(_GAP.join(shown).rstrip())
        lines += _lines_below(names, row, widths, width)
    return lines, widths


def _lines_below(
    names: Sequence[str], cells: Sequence[str], widths: Sequence[int], width: int
) -> list[str]:
    """Return the columns that stand below a line of a concordance, with names, in lines."""
    lines: list[str] = []
    for name, cell, size in zip(names, cells, widths, strict=True):
        if size == _BELOW and cell:
            field = _GAP + _cut(f"{name}: {cell}", min(_MAX_BELOW, width - len(_GAP)), False)
            if lines and _cells_of(lines[-1]) + _cells_of(field) <= width:
                lines[-1] += field
            else:
                lines.append(field)
    return lines


def _least_widths(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
) -> list[int]:
    """Return to how many cells each column may be cut: a number and a node stay whole."""
    least = []
    for place, (name, size) in enumerate(zip(names, widths, strict=True)):
        whole = max((_cells_of(row[place]) for row in cells), default=0)
        if name == _NODE or _side(name, [row[place] for row in rows]) == "number":
            least.append(min(size, max(whole, _MIN_WIDTH)))
        else:
            least.append(min(size, _MIN_WIDTH))
    return least


def _put_below(names: Sequence[str], widths: list[int], least: Sequence[int], width: int) -> None:
    """Mark the columns behind a concordance that would leave too little room for its sides."""
    if _NODE not in names or _RIGHT not in names:
        return
    shown = [place for place, size in enumerate(widths) if size]
    wanted = [
        min(widths[place], _MIN_SIDE if names[place] in (_LEFT, _RIGHT) else _MIN_FIELD)
        for place in shown
    ]
    needed = sum(max(size, least[place]) for size, place in zip(wanted, shown, strict=True))
    if needed + len(_GAP) * (len(shown) - 1) > width:
        for place in shown:
            if place > names.index(_RIGHT):
                widths[place] = _BELOW


def _cut_widths(names: Sequence[str], widths: list[int], least: Sequence[int], width: int) -> None:
    """Make columns narrower until they fit, the widest first; the last ones go where none can.

    The sides of a concordance are the last that become narrow.
    """
    while True:
        shown = [place for place, size in enumerate(widths) if size > 0]
        room = width - len(_GAP) * (len(shown) - 1)
        if sum(least[place] for place in shown) <= room or len(shown) == 1:
            break
        if names[shown[-1]] in (_NODE, _RIGHT):  # a concordance is nothing without them
            break
        widths[shown[-1]] = 0
    while sum(widths[place] for place in shown) > room:
        free = [place for place in shown if widths[place] > least[place]]
        if not free:
            return
        others = [
            place
            for place in free
            if names[place] not in (_LEFT, _RIGHT) or widths[place] > _MIN_SIDE
        ]
        widths[max(others or free, key=lambda place: widths[place])] -= 1


def _side(name: str, values: Sequence[object]) -> str:
    """Return on which side of its column a cell stands, and so where it is cut.

    Numbers and left contexts stand on the right; of these and of places the end is kept.
    """
    if name == _LEFT or name in _TAILS:
        return "end" if name == _LEFT else "tail"
    numbers = [value for value in values if value is not None]
    is_number = all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in numbers
    )
    return "number" if numbers and is_number else "start"


def _aligned(cell: str, size: int, side: str) -> str:
    """Return a cell of `size` cells: cut and filled up."""
    # A number that is cut would be another number.
    text = cell if side == "number" else _cut(cell, size, from_end=side in ("end", "tail"))
    fill = " " * (size - _cells_of(text))
    isolated = f"\u2068{text}\u2069" if _turns_direction(text) else text
    return fill + isolated if side in ("number", "end") else isolated + fill


def _cut(text: str, size: int, from_end: bool) -> str:
    """Return a text of at most `size` cells; what is left out is an ellipsis."""
    if _cells_of(text) <= size:
        return text
    while text and _cells_of(text) > size - 1:
        text = text[1:] if from_end else text[:-1]
    return _ELLIPSIS + text if from_end else text + _ELLIPSIS


def _cells_of(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _turns_direction(text: str) -> bool:
    """Return whether a text has letters that are written from right to left."""
    if text.isascii():
        return False
    from unicodedata import bidirectional

    return any(bidirectional(character) in ("R", "AL") for character in text)


def _rounded(value: object, name: str = "") -> str:
    """Return a value of a column as a terminal shows it.

    >>> [_rounded(value) for value in (9035.553422, 0.74762612, 1034, None, 0.0)]
    ['9,036', '0.748', '1,034', 'NA', '0']
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NOT_AVAILABLE if value is None else visible(str(value), sys.stdout)
    if isinstance(value, int):
        return str(value) if name in _IDENTIFIERS else f"{value:,}"
    if isnan(value):
        return NOT_AVAILABLE
    if name in _IDENTIFIERS and value.is_integer():
        return f"{value:.0f}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return text if "e" in text else _padded(value, text)


def _padded(value: float, text: str) -> str:
    """Return a number with the zeros that make three significant digits, as 0.500."""
    if value == 0:
        return "0"
    digits = len(text.lstrip("-0.").replace(".", ""))
    missing = 3 - digits
    if missing <= 0:
        return text
    return text + ("" if "." in text else ".") + "0" * missing


def _full(value: object) -> str:
    """Return a value as a pipe gets it, with all digits."""
    if value is None or isinstance(value, float):
        return number(value) if not value or abs(value) >= _SMALL else f"{value:.3g}"
    return str(value)


def _without_empty_note(columns: Mapping[str, object]) -> list[object]:
    keep_note = _row_format.csv or _row_format.header
    rows = columns.items()
    return [value for name, value in rows if keep_note or name != NOTE or value]


def _write_line(cells: Sequence[str]) -> None:
    stream: TextIO = sys.stdout
    if _row_format.csv:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        stream.write(line.getvalue())
        return
    stream.write("\t".join([visible(cell, stream) for cell in cells]) + "\n")


def _is_table() -> bool:
    return sys.stdout.isatty() and not _row_format.csv


def _terminal_width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _bold(text: str) -> str:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[1m{text}\x1b[0m"


def put_object(**values: Any) -> None:
    """Print one JSON object on standard output."""
    sys.stdout.write(visible_json(values) + "\n")
