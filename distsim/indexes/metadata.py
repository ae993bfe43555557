"""Documents of an index: ids and typed fields in an SQLite file, and the filters on them.

The file is written in one transaction and opened read-only. Its bytes depend on the version of
SQLite, so a checksum of its rows is in the manifest beside the checksum of the file.
"""

import json
import math
import re
import sqlite3
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date, datetime
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import Any, get_args

import numpy as np

from distsim import storage
from distsim.base.arguments import FieldType, plain_number
from distsim.base.errors import ArtifactError, InputError, ParameterError, counted
from distsim.corpus.documents import ID_FIELD, NO_ID, without_id
from distsim.corpus.tokeniser import APOSTROPHES, QUOTES
from distsim.kernels.arrays import each_once
from distsim.storage.files import naming

ARRAY = "documents"  # the file, as an array of bytes
FIELD_TYPES: tuple[str, ...] = get_args(FieldType)
_MOST_FIELDS = 500
_MOST_VALUES = 500  # of one filter, and of a query for ids: SQLite has a limit
_ROWS = 1024  # of a line of the temporary file
_FIRST_IDS = 1 << 16  # which no other document may have, noticed when it is read
_MAX_INT64 = 2**63 - 1
_WHOLE = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_PLAIN_WHOLE = re.compile(r"-?(0|[1-9]\d{0,18})", re.ASCII)
_DIGITS = re.compile(r"-?\d+", re.ASCII)
_DATE = re.compile(
    r"\d{4}(-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII
)
_ROW = json.JSONEncoder(ensure_ascii=False)
_YEAR = re.compile(r"[12]\d{3}", re.ASCII)
_DATE_PARTS = {"": 4, "year": 4, "month": 7, "day": 10}  # characters
_STEP = re.compile(r"\d{1,9}", re.ASCII)
_AFTER = "~"  # above every character of a date
_NO_VALUE = {"<NA>", "NaT", "NaN"}  # how pandas and polars write a missing value

Value = int | float | str | None
_STRAIGHT = "with_straight_marks"  # the function of SQL
_STRAIGHT_MARKS = dict.fromkeys(map(ord, APOSTROPHES), "'") | dict.fromkeys(map(ord, QUOTES), '"')


class MetadataWriter:
    """Writer of the documents of an index: their rows are kept in a temporary file until the end.

    Arguments:
        types: of fields, by name; those of other fields are inferred from all their values.
    """

    def __init__(self, types: Mapping[str, FieldType]) -> None:
        for name, kind in types.items():
            if kind not in FIELD_TYPES:
                choices = ", ".join(FIELD_TYPES)
                raise ParameterError(f"`types`: {name} is {kind!r}, choose one of {choices}")
        self._types = {_folded(name): kind for name, kind in types.items()}
        self._possible: dict[str, set[str]] = {}
        self._rows: Any = None  # lines of JSON: lists of rows, or of how many are without all
        self._last_rows: list[Any] = []
        self._n_without = 0  # rows without id and fields that are not written yet
        self._has_ids = False
        self._first_ids: set[str] = set()
        self.needs_all_types = True  # a type of a field that there is not is an error

    def add_without(self, n: int) -> None:
        """Add documents without id and fields."""
        self._n_without += n

    def add(self, id_: str | None, fields: Mapping[str, Any]) -> None:
        """Add the next document.

        Arguments:
            id_: of the document; None where it has none.

        Raises:
            InputError: a field has no name that can be asked for, or there are too many.
            ParameterError: one of the first documents has the same id; others are noticed in the
                end.
        """
        values = {
            _folded(name): plain
            for name, raw in fields.items()
            if (plain := _plain(raw)) is not None
        }
        if id_ is not None:
            values = without_id(values)
        elif (id_value := values.pop(ID_FIELD, None)) is not None:
            id_ = str(id_value)
        for name, value in values.items():
            if name not in self._possible:
                self._learn(name)
            if name not in self._types and (possible := self._possible[name]):
                possible -= {kind for kind in possible if not _looks_like(value, kind)}
        if id_ is None and not values:
            self.add_without(1)
            return
        self._has_ids |= id_ is not None
        self._write_those_without()
        if id_ is not None:
            id_ = _folded(str(id_).encode(errors="replace").decode())
            if id_ in self._first_ids:
                raise _twice(id_)
            if len(self._first_ids) < _FIRST_IDS:
                self._first_ids.add(id_)
        self._last_rows.append([id_, values])
        if len(self._last_rows) >= _ROWS:
            self._flush()

    def declare(self, fields: Mapping[str, FieldType]) -> None:
        """Add fields with their types, whether a document has them or not.

        Arguments:
            fields: name of each field, to its type.
        """
        self._types = {**fields, **self._types}
        for name in fields:
            self._learn(name)

    def add_all(self, earlier: "Metadata") -> None:
        """Add the documents of an index, whose types stay."""
        self.declare(earlier.fields)
        for number in range(0, len(earlier), _MOST_VALUES):
            for id_, fields in earlier.rows(number, number + _MOST_VALUES):
                self.add(id_ if earlier.has_ids else None, fields)

    def _learn(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip() or "=" in name:
            raise InputError(f"a field is called {name!r}: names have a letter and no =: rename it")
        if len(self._possible) == _MOST_FIELDS:
            raise InputError(
                f"over {_MOST_FIELDS} fields, the last one is {name!r}: leave out some of them"
            )
        self._possible[name] = (
            {self._types[name]} if name in self._types else {"int", "float", "date"}
        )

    def _write_those_without(self) -> None:
        if self._rows is None:
            self._rows = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (until the end)
        if self._n_without:
            self._last_rows.append(self._n_without)
            self._n_without = 0

    def _flush(self) -> None:
        self._rows.write(json.dumps(self._last_rows) + "\n")
        self._last_rows = []

    def _read_rows(self) -> Iterator[tuple[str | None, dict[str, Any]]]:
        self._rows.seek(0)
        for line in self._rows:
            for row in json.loads(line):
                if isinstance(row, int):
                    yield from repeat((None, {}), row)
                else:
                    yield row

    def write(self, writer: storage.ArtifactWriter) -> dict[str, Any] | None:
        """Write the documents into an index and return their entry in its manifest.

        None where no document has an id or a field: nothing is written.

        Raises:
            ParameterError: two have one id; a type is given of a field that there is not.
        """
        for name in self._types:
            if name not in self._possible and self.needs_all_types:
                known = ", ".join(self._possible) or "none"
                raise ParameterError(
                    f"`types`: no document has the field {name!r}, they have {known}"
                )
        if self._rows is None:
            return None
        self._write_those_without()
        self._flush()
        kinds = {
            name: next((kind for kind in FIELD_TYPES if kind in possible), "text")
            for name, possible in self._possible.items()
        }
        unfit = dict.fromkeys(kinds, 0)
        checksum = blake2b(digest_size=16)
        checksum.update(_row_text(list(kinds.items())))
        with storage.scratch_folder(writer.folder) as folder:
            file = folder / "documents.sqlite"
            with naming(file), _errors_named(file), closing(sqlite3.connect(file)) as database:
                _fill(database, kinds, self._typed(kinds, unfit, checksum))
            stream = writer.stream(ARRAY, np.uint8)
            with open(file, "rb") as data:
                while piece := data.read(1 << 20):
                    stream.append(np.frombuffer(piece, np.uint8))
            writer.close(ARRAY)
        self._rows.close()
        unfit = {name: n for name, n in unfit.items() if n}
        return {
            "fields": kinds, "ids": self._has_ids, "unfit": unfit,
            "checksum": checksum.hexdigest(),
        }  # fmt: skip

    def _typed(
        self, kinds: Mapping[str, str], unfit: dict[str, int], checksum: Any
    ) -> Iterator[list[Value]]:
        """Yield the rows of the table; values that do not fit are missing and counted."""
        # Numbers that are given as ids are below those of documents without one.
        whole_ids = (id_ for id_, _ in self._read_rows() if id_ and _PLAIN_WHOLE.fullmatch(id_))
        last = max(map(int, whole_ids), default=0) if self._has_ids else 0
        for number, (id_, values) in enumerate(self._read_rows()):
            if id_ is None:
                last = max(number, last) + 1
                id_ = str(last)
            row: list[Value] = [number, id_]
            for name, kind in kinds.items():
                raw = values.get(name)
                value = None if raw is None else _typed_value(raw, kind)
                if raw is not None and value is None:
                    unfit[name] += 1
                row.append(value)
            checksum.update(_row_text(row[1:]))
            yield row


def _fill(database: sqlite3.Connection, kinds: Mapping[str, str], rows: Iterator[Any]) -> None:
    database.isolation_level = None
    for setting in ("page_size=4096", "encoding='UTF-8'", "journal_mode=OFF", "synchronous=OFF"):
        database.execute(f"PRAGMA {setting}")
    table, index = _schema(len(kinds))
    database.execute("BEGIN")
    database.execute(table)
    marks = ", ".join("?" * (len(kinds) + 2))
    database.executemany(f"INSERT INTO documents VALUES ({marks})", rows)
    try:
        database.execute(index)
    except sqlite3.IntegrityError:
        query = "SELECT id FROM documents GROUP BY id HAVING count(*) > 1 LIMIT 1"
        (twice,) = database.execute(query).fetchone()
        raise _twice(twice) from None
    database.execute("COMMIT")


def _twice(id_: str) -> ParameterError:
    return ParameterError(
        f"two documents have the id {id_!r}: name a field with other ids with `id_field`, or "
        f"number the documents with `id_field` {NO_ID}"
    )


def _schema(n_fields: int) -> tuple[str, str]:
    """Return the statements that make the table and its index; fields are columns by number."""
    columns = "".join(f", field_{number}" for number in range(n_fields))
    return (
        f"CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL{columns})",
        "CREATE UNIQUE INDEX ids ON documents (id)",
    )


class Metadata:
    """The documents of an index: ids and fields, by number from 0.

    Where no document has an id or a field, there is no file, and ids are the numbers from 1.

    fields: their types by name. has_ids: whether ids were given. unfit: values that did not fit
    their type, by field.

    Arguments:
        path: of the index.
        parameters, arrays: of its manifest.

    Raises:
        ArtifactError: the manifest and the file contradict each other.
    """

    def __init__(
        self, path: Path, parameters: Mapping[str, Any], arrays: Mapping[str, Any]
    ) -> None:
        self._path = path
        self._file = path / arrays[ARRAY]["file"] if ARRAY in arrays else None
        with storage.understood(path):
            self._n = storage.stored_count(parameters["counts"], "documents")
            about = parameters.get("documents") or {
                "fields": {}, "ids": False, "unfit": {}, "checksum": "",
            }  # fmt: skip
            self.fields: dict[str, FieldType] = dict(about["fields"])
            self.has_ids = bool(about["ids"])
            self.unfit: dict[str, int] = dict(about["unfit"])
            self._checksum = str(about["checksum"])
            if not set(self.fields.values()) <= set(FIELD_TYPES):
                raise ValueError("a field is of no known type")

    def __len__(self) -> int:
        return self._n

    def numbers(self, ids: Sequence[str]) -> np.ndarray:
        """Return the numbers of documents with these ids, int64, -1 where there is none."""
        if self._file is None:
            whole = [int(id_) if _PLAIN_WHOLE.fullmatch(id_) else 0 for id_ in ids]
            numbers = np.array(whole, np.int64) - 1
            return np.where((numbers >= 0) & (numbers < self._n), numbers, -1)
        known: dict[str, int] = {}
        with self._opened() as database:
            for first in range(0, len(ids), _MOST_VALUES):
                block = [id_ for id_ in ids[first : first + _MOST_VALUES] if _is_utf8(id_)]
                marks = ", ".join("?" * len(block))
                known.update(
                    database.execute(
                        f"SELECT id, number FROM documents WHERE id IN ({marks})", block
                    )
                )
        return self._checked(np.array([known.get(id_, -1) for id_ in ids], np.int64))

    def ids(self, numbers: np.ndarray) -> list[str]:
        """Return the ids of documents, given by number, int64.

        numbers: from 0.
        """
        if self._file is None or not self.has_ids:
            return [str(number + 1) for number in numbers.tolist()]
        known: dict[int, str] = {}
        wanted = each_once(numbers).tolist()
        with self._opened() as database:
            for first in range(0, len(wanted), _MOST_VALUES):
                block = wanted[first : first + _MOST_VALUES]
                marks = ", ".join("?" * len(block))
                known.update(
                    database.execute(
                        f"SELECT number, id FROM documents WHERE number IN ({marks})", block
                    )
                )
        if len(known) < len(wanted):
            raise self._damaged()
        return [known[number] for number in numbers.tolist()]

    def rows(self, first: int, stop: int) -> list[tuple[str, dict[str, Value]]]:
        """Return (id, fields that have a value) of each document in a range.

        Arguments:
            first, stop: half-open range of numbers of documents.
        """
        stop = min(stop, self._n)
        if self._file is None:
            return [(str(number + 1), {}) for number in range(first, stop)]
        query = "SELECT * FROM documents WHERE number >= ? AND number < ? ORDER BY number"
        with self._opened() as database:
            records = database.execute(query, (first, stop)).fetchall()
        if [row[0] for row in records] != list(range(first, stop)):
            raise self._damaged()
        return [
            (
                row[1],
                {name: v for name, v in zip(self.fields, row[2:], strict=True) if v is not None},
            )
            for row in records
        ]

    def values(self, fields: Sequence[str], numbers: np.ndarray) -> list[dict[str, Value]]:
        """Return values of fields of documents, None where one has none.

        Arguments:
            fields: names; `id` is one.
            numbers: int64, of the documents.

        Raises:
            ParameterError: there is no such field.
        """
        if self._file is None and set(fields) == {ID_FIELD}:
            return [{ID_FIELD: id_} for id_ in self.ids(numbers)]
        columns = ", ".join(self._column(name) for name in fields)
        rows: dict[int, tuple[Value, ...]] = {}
        wanted = each_once(numbers).tolist()
        with self._opened() as database:
            for first in range(0, len(wanted), _MOST_VALUES):
                batch = wanted[first : first + _MOST_VALUES]
                marks = ", ".join("?" * len(batch))
                query = f"SELECT number, {columns} FROM documents WHERE number IN ({marks})"
                rows.update((number, values) for number, *values in database.execute(query, batch))
        if len(rows) < len(wanted):
            raise self._damaged()
        return [dict(zip(fields, rows[number], strict=True)) for number in numbers.tolist()]

    def groups(self, field: str) -> tuple[list[Value], np.ndarray]:
        """Return (values of a field, ascending, a date's year; for each document which, or -1).

        Texts that differ in the form of apostrophes and quotation marks alone are one value,
        written as most documents have it.

        Arguments:
            field: its name; `year/10` for the decade, or any other step, of a number or a date;
                `day/month` and `day/day` of a date.

        Raises:
            ParameterError: there is no such field, or it has no such parts.
        """
        name, slash, part = field.rpartition("/")
        if field in self.fields or not slash:
            name, part = field, ""
        return self._grouped(self._column(name), self._part(name, part))

    def _grouped(
        self, column: str, convert: Callable[[Any], Any]
    ) -> tuple[list[Value], np.ndarray]:
        """Return (converted values of a column, ascending; for each document which, or -1)."""
        numbers = np.full(self._n, -1, np.int64)
        query = f"SELECT number, {column} FROM documents WHERE {column} IS NOT NULL"
        with self._opened() as database:
            records = database.execute(query).fetchall()
        try:
            records = [(number, convert(value)) for number, value in records]
            spellings = _common_spellings([value for _, value in records])
            records = [(number, spellings.get(value, value)) for number, value in records]
            values = sorted({value for _, value in records})
        except (TypeError, ValueError):
            raise self._damaged() from None
        place = {value: number for number, value in enumerate(values)}
        at = self._checked(np.array([number for number, _ in records], np.int64))
        numbers[at] = [place[value] for _, value in records]
        return values, numbers

    def matching(self, field: str, fits: Callable[[list[str]], np.ndarray]) -> np.ndarray:
        """Return which documents have a value that fits in one of the ways to write it, bool.

        A date fits as its year and its month, too, a whole number without its point. Apostrophes
        and quotation marks are straight.

        Arguments:
            field: its name.
            fits: takes texts, returns which of them fit, bool.

        Raises:
            ParameterError: there is no such field.
        """
        is_date = self.fields.get(field) == "date"
        values, groups = self._grouped(self._column(field), lambda value: value)
        ways = [_ways_to_write(value, is_date) for value in values]
        starts = np.cumsum([0, *map(len, ways)])
        counts = np.append(0, np.cumsum(fits([text for texts in ways for text in texts])))
        of_values: np.ndarray = np.append(np.diff(counts[starts]) > 0, False)
        is_fitting: np.ndarray = of_values[groups]
        return is_fitting

    def _part(self, field: str, part: str) -> Callable[[Any], Any]:
        """Return what makes the group of a value of a field."""
        kind = self.fields.get(field, "text")
        if kind == "date" and part in _DATE_PARTS:
            return lambda value: value[: _DATE_PARTS[part]]
        if not part:
            return lambda value: value
        step = int(part) if _STEP.fullmatch(part) else 0
        if step < 1 or kind == "text":
            raise ParameterError(
                f"`by` {field}/{part}: {field} is of type {kind}; a number or a date has parts "
                "such as /10, a date /month and /day, too"
            )
        if kind == "date":
            return lambda value: int(value[:4]) // step * step
        return lambda value: int(value // step * step)

    def where(self, filters: Sequence[str]) -> np.ndarray:
        """Return which documents fit all filters, bool.

        Arguments:
            filters: `FIELD=VALUES` each: values, `low..high` of an int, float or date, or `*` for
                any value, separated by `|`; a date fits the dates that it begins. A backslash takes
                its meaning from `|` and `*`.

        Raises:
            ParameterError: there is no such field, or a value does not fit its type.
        """
        mask = np.zeros(self._n, bool)
        compiled = [self._compile(condition) for condition in filters]
        clauses = " AND ".join(clause for clause, _ in compiled) or "1"
        values = [value for _, values_of_condition in compiled for value in values_of_condition]
        with self._opened() as database:
            documents = database.execute(f"SELECT number FROM documents WHERE {clauses}", values)
            numbers = np.fromiter((number for (number,) in documents), np.int64)
        mask[self._checked(numbers)] = True
        return mask

    def where_left(self, filters: Sequence[str]) -> np.ndarray:
        """Return which documents fit filters that were saved when there were others, bool.

        A value that fits no type any more, or a field that is gone, is one that no document has.

        Arguments:
            filters: as `where` takes them.
        """
        mask = np.ones(self._n, bool)
        for condition in filters:
            field, _, values = condition.partition("=")
            fits = np.zeros(self._n, bool)
            for alternative in _alternatives(values):
                with suppress(ParameterError):
                    fits |= self.where([f"{field}={alternative}"])
            mask &= fits
        return mask

    def described(self, field: str) -> str:
        """Return a few words about the values of a field: the range, or the first ones."""
        values, _ = self.groups(field) if field in self.fields else ([], None)
        if not values:
            return ""
        if self.fields[field] == "text":
            shown = ", ".join(repr(value) for value in values[:3])
            return f"{field} is {shown}{', …' if len(values) > 3 else ''}"
        return f"{field} is from {values[0]} to {values[-1]}"

    def faults(self) -> Iterator[str]:
        """Yield the faults of the rows: their number, their checksum."""
        if self._file is None:
            return
        checksum = blake2b(digest_size=16)
        checksum.update(_row_text(list(self.fields.items())))
        n = 0
        with self._opened() as database:
            for number, *row in database.execute("SELECT * FROM documents ORDER BY number"):
                if number != n:
                    break
                n += 1
                checksum.update(_row_text(row))
        if n != self._n:
            yield f"there are rows of {counted(n, 'document')}, wanted {self._n:,}"
        elif checksum.hexdigest() != self._checksum:
            yield "the fields of the documents are not those that were written"

    def _compile(self, text: str) -> tuple[str, list[Value]]:
        """Return a filter as a condition with marks, and the values of the marks."""
        field, equals, values = text.partition("=")
        if not equals or not values:
            raise ParameterError(
                f"`where` {text!r}: wanted FIELD=VALUES, such as year=1850..1900 or "
                "genre=novel|drama"
            )
        if field[-1:] in ("<", ">", "!"):
            name = field[:-1].strip()
            remedy = f"a range is {name}=1850..1900, {name}=1850.. or {name}=..1900"
            if field[-1] == "!":
                remedy = f"name the values that fit, as in {name}=novel|drama"
            raise ParameterError(f"`where` {text!r}: wanted FIELD=VALUES: {remedy}")
        field = _folded(field)
        column, kind = self._column(field), self.fields.get(field, "text")
        alternatives = _alternatives(values)
        if len(alternatives) > _MOST_VALUES:
            raise ParameterError(f"`where` {field}: over {_MOST_VALUES} values: give ranges")
        clauses, marked = [], []
        for alternative in alternatives:
            is_quoted = (
                alternative[:1] in ('"', "'")
                and alternative[-1] == alternative[0]
                and len(alternative) > 2
            )
            if is_quoted and _is_utf8(alternative) and not self._has(column, alternative):
                alternative = alternative[1:-1]  # the marks are none of the value
            clause, values_of_condition = _condition(column, field, kind, alternative)
            if field == ID_FIELD and alternative != "*":
                clause, values_of_condition = self._of_id(str(values_of_condition[0]))
            clauses.append(clause)
            marked += values_of_condition
        return f"({' OR '.join(clauses)})", marked

    def _has(self, column: str, text: str) -> bool:
        with self._opened() as database:
            rows = database.execute(f"SELECT 1 FROM documents WHERE {column} = ? LIMIT 1", [text])
            return rows.fetchone() is not None

    def _of_id(self, id_: str) -> tuple[str, list[Value]]:
        """Return the condition of an id; where none has it, of a file's name without its ending."""
        column = f"{_STRAIGHT}({ID_FIELD})" if _has_marks(id_) else ID_FIELD
        if self._has(column, id_):
            return f"{column} = ?", [id_]
        return f"(substr({column}, 1, ?) = ? AND instr(substr({column}, ?), '/') = 0)", [
            len(id_) + 1, f"{id_}.", len(id_) + 1,
        ]  # fmt: skip

    def _column(self, field: str) -> str:
        if self._file is None:
            raise ParameterError(
                f"{self._path}: the documents have no fields: build the index from documents with "
                "fields, or give `metadata` of its files"
            )
        if field == ID_FIELD:
            return ID_FIELD
        if field in self.fields:
            return f"field_{list(self.fields).index(field)}"
        raise ParameterError(
            f"{self._path}: the documents have no field {field!r}, they have "
            f"{', '.join([ID_FIELD, *self.fields])}"
        )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Yield the opened file; an error in the block is that the file is damaged."""
        if self._file is None:
            raise self._damaged()
        if not self._file.is_file():
            raise ArtifactError(f"{self._path}: was changed since it was opened: open it again")
        try:
            uri = f"{self._file.absolute().as_uri()}?mode=ro&immutable=1"
            with closing(sqlite3.connect(uri, uri=True)) as database:
                database.execute("PRAGMA trusted_schema=OFF")
                statements = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master")]
                if statements != list(_schema(len(self.fields))):
                    raise self._damaged()
                database.create_function(_STRAIGHT, 1, with_straight_marks, deterministic=True)
                yield database
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError, OverflowError):
            raise self._damaged() from None

    def _checked(self, numbers: np.ndarray) -> np.ndarray:
        if numbers.size and not -1 <= numbers.min() <= numbers.max() < self._n:
            raise self._damaged()
        return numbers

    def _damaged(self) -> ArtifactError:
        return ArtifactError(
            f"{self._path}: its documents are damaged: run distsim verify on it, then restore it "
            "or build it again"
        )


def _alternatives(values: str) -> list[str]:
    return [alternative.strip() for alternative in re.split(r"(?<!\\)\|", values)]


def _condition(column: str, field: str, kind: str, text: str) -> tuple[str, list[Value]]:
    """Return the condition of one alternative of a filter, and its values."""
    if text == "*":
        return f"{column} IS NOT NULL", []
    low, dots, high = text.partition("..")
    if kind == "text" or not dots:
        value = _filter_value(field, kind, text)
        if kind == "date":
            return f"({column} >= ? AND {column} < ?)", [value, f"{value}{_AFTER}"]
        straight = with_straight_marks(value)
        if kind == "text" and _has_marks(straight):
            return f"{_STRAIGHT}({column}) = ?", [straight]
        return f"{column} = ?", [value]
    clauses, values = [], []
    if low:
        clauses.append(f"{column} >= ?")
        values.append(_filter_value(field, kind, low))
    if high:
        value = _filter_value(field, kind, high)
        clauses.append(f"{column} <= ?")
        values.append(f"{value}{_AFTER}" if kind == "date" else value)
    return f"({' AND '.join(clauses or [f'{column} IS NOT NULL'])})", values


def _filter_value(field: str, kind: str, text: str) -> Value:
    plain = _folded(re.sub(r"\\([|*;\\])", r"\1", text))
    value = _typed_value(plain, kind)
    if not _is_utf8(plain) or value is None:
        raise ParameterError(f"`where` {field}: {plain!r} is no value of type {kind}")
    return value


def with_straight_marks(value: Any) -> Any:
    """Return a text with straight apostrophes and quotation marks; other values as they are."""
    return value.translate(_STRAIGHT_MARKS) if isinstance(value, str) else value


def _has_marks(straight: Any) -> bool:
    return "'" in straight or '"' in straight


def _common_spellings(values: list[Any]) -> dict[Any, Any]:
    """Return, for each text with apostrophes or quotation marks, its most frequent spelling."""
    spellings: dict[Any, Counter[Any]] = {}
    for value in values:
        straight = with_straight_marks(value)
        if isinstance(straight, str) and _has_marks(straight):
            spellings.setdefault(straight, Counter())[value] += 1
    return {
        value: min(counts, key=lambda spelling: (-counts[spelling], spelling))
        for counts in spellings.values()
        for value in counts
    }


def _ways_to_write(value: Value, is_date: bool) -> list[str]:
    """Return the texts as which a query may ask for a value."""
    if is_date:
        return [str(value), *{str(value)[:length] for length in _DATE_PARTS.values()}]
    if isinstance(value, float) and value.is_integer():
        return [str(value), str(int(value))]
    return [str(with_straight_marks(value))]


def _folded(text: Any) -> Any:
    """Return a text composed (NFC), without blanks at its edges; other values as they are."""
    if not isinstance(text, str):
        return text
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).strip()


def _is_utf8(text: str) -> bool:
    return text.encode(errors="ignore").decode() == text


def _plain(raw: Any) -> Value:
    """Return a field's value as text, whole number or float; None where it is missing."""
    if isinstance(raw, str):
        if not raw.isascii():
            raw = raw.encode(errors="replace").decode()
        return _folded(raw) or None
    if isinstance(raw, np.generic):
        raw = raw.item()
    if raw is None or raw != raw:  # noqa: PLR0124 (not a number)
        return None
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int):
        return raw if abs(raw) <= _MAX_INT64 else str(raw)
    if isinstance(raw, float):
        return raw if math.isfinite(raw) else None
    if isinstance(raw, date | datetime):
        return raw.isoformat()
    if isinstance(raw, list | tuple | dict):
        return json.dumps(raw, ensure_ascii=False, default=str) if raw else None
    text = str(raw)
    return None if text in _NO_VALUE else text


def _looks_like(value: Value, kind: str) -> bool:
    """Return whether a type can be inferred from a value."""
    if isinstance(value, str) and kind in ("int", "float") and _DIGITS.fullmatch(value):
        # Digits alone are a number where a number keeps them all: no 007, no 20 digits.
        is_plain = _PLAIN_WHOLE.fullmatch(value) is not None
        return is_plain and _typed_value(value, "int") is not None
    if kind == "int" and isinstance(value, str):
        return False
    if kind == "date":
        # A year alone is one, too, beside whole dates; where all are years, they are numbers.
        is_like = isinstance(value, str) and ("-" in value or _YEAR.fullmatch(value) is not None)
        return is_like and _typed_value(value, kind) is not None
    return _typed_value(value, kind) is not None


def _typed_value(value: Value, kind: str) -> Value:
    """Return a value converted to a type, None where it does not fit."""
    if kind == "text":
        return str(value)
    if isinstance(value, str):
        value = value.strip()
    if kind == "date":
        return value if isinstance(value, str) and _is_date(value) else None
    if isinstance(value, str):
        value = int(value) if _WHOLE.fullmatch(value) else plain_number(value)
    if value is None:
        return None
    if kind == "float":
        return float(value)
    whole = int(value)
    return whole if whole == value and abs(whole) <= _MAX_INT64 else None


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text[:10] + "-01-01"[len(text[:10]) - 4 :])
    except ValueError:
        return False
    return True


def _row_text(row: Sequence[Any]) -> bytes:
    return _ROW.encode(row).encode(errors="surrogatepass") + b"\n"


@contextmanager
def _errors_named(file: Path) -> Iterator[None]:
    """Raise an SQLite error, such as a full disk, as an OSError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(str(error)) from None
