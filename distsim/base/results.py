"""Lists of results that convert to a data frame and are shown as a table in a notebook."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, SupportsIndex, TypeVar, overload

from distsim.base.arguments import shown
from distsim.base.errors import ParameterError

_FRAMES = ("pandas", "polars")
_SHOWN_ROWS = 30
T = TypeVar("T")


class Results(list[T]):
    """A list of results of one kind, such as neighbours: named tuples or dataclasses.

    opposites: phrases contrasted with the one asked for that were put below the last result.
    total: results that there are, where only the first were asked for; None: these are all.

    >>> from distsim import neighbours
    >>> found = neighbours(table, "the king", k=3)
    >>> isinstance(found, list), found.columns()
    (True, ['phrase', 'similarity', 'strength', 'composed'])
    """

    opposites: int = 0
    total: int | None = None

    def columns(self) -> list[str]:
        """Return the names of the results' fields; an empty list where there is no result."""
        return list(_fields(self[0], 0)) if self else []

    def to_frame(self, *, library: str | None = None) -> Any:
        """Return a frame of pandas or polars, a column for each field.

        Arguments:
            library: pandas or polars; the one that is installed where None.
        """
        return to_frame(self, library=library)

    def _repr_html_(self) -> str:
        names = self.columns()
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        rows = [
            "<tr>" + "".join(f"<td>{_cell(getattr(row, name))}</td>" for name in names) + "</tr>"
            for row in self[:_SHOWN_ROWS]
        ]
        more = f"<p>{len(self):,} in all</p>" if len(self) > _SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> "Results[T]": ...
    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        selected: Any = super().__getitem__(place)
        return Results(selected) if isinstance(place, slice) else selected


def to_frame(results: Iterable[Any], *, library: str | None = None) -> Any:
    """Return results, such as neighbours or concordance lines, as a pandas or polars frame.

    Arguments:
        results: named tuples or dataclasses of one kind, a column for each of their fields.
        library: `pandas` or `polars`; the first that is installed where None.

    Raises:
        ParameterError: neither is installed, or a result has no fields.

    >>> to_frame([table.find("the king")])
    Traceback (most recent call last):
    distsim.base.errors.ParameterError: results[0]: has no fields: give named tuples, such as neighbours
    """  # noqa: E501
    if isinstance(results, str) or not isinstance(results, Iterable):
        raise ParameterError(f"results: is {shown(results)}, wanted a list of named tuples")
    rows = list(results)
    named = [_fields(row, number) for number, row in enumerate(rows)]
    names = named[0] if named else ()
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    wanted = _FRAMES if library is None else (library,)
    for name in wanted:
        if name in _FRAMES and find_spec(name) is not None:
            return import_module(name).DataFrame(columns)
    raise ParameterError(f"a frame needs {' or '.join(wanted)}: install it (pip install pandas)")


def _fields(row: Any, number: int) -> tuple[str, ...]:
    if hasattr(row, "_fields"):
        return tuple(row._fields)
    if is_dataclass(row) and not isinstance(row, type):
        return tuple(field.name for field in fields(row))
    raise ParameterError(f"results[{number}]: has no fields: give named tuples, such as neighbours")


def _cell(value: Any) -> str:
    if value is None:
        return "NA"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, tuple | list):
        return escape("; ".join(map(str, value)))
    return escape(str(value))
