"""Readers of records, one a document: JSON lines, CSV and TSV, Parquet."""

import csv
import io
import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from distsim.base.errors import InputError, counted
from distsim.corpus.decompression import peeked
from distsim.corpus.documents import Document, without_unnamed
from distsim.corpus.lines import TEXT_LINE_BYTES, decoded, read_lines
from distsim.corpus.plain_text import HEAD_BYTES
from distsim.corpus.readers.reader import Reader, ReadOptions, library
from distsim.corpus.sources import STANDARD_INPUT, Source, open_source, refuse_bomb
from distsim.storage import scratch_folder


def _read_jsonl(source: Source, options: ReadOptions) -> Iterator[Document]:
    for number, line in read_lines(source, TEXT_LINE_BYTES):
        if not line.strip():
            continue
        place = f"{source.label}, line {number}"
        try:
            values = json.loads(decoded(line, source.label, number))
        except InputError as error:
            options.skip(error)
            continue
        except (ValueError, RecursionError) as error:  # also a number of thousands of digits
            reason = getattr(error, "msg", "a number or a nesting is too large")
            options.skip(InputError(f"{place}: is no JSON ({reason}): correct the line"))
            continue
        if not isinstance(values, dict):
            options.skip(InputError(f"{place}: is no JSON object: give an object a line"))
            continue
        document = options.document(values, place, number)
        if document is not None:
            yield document


JSONL = Reader((".jsonl", ".ndjson"), ("JSON lines",), _read_jsonl)


class _StreamLines:
    """The lines of a stream as text; `number` were read."""

    def __init__(self, stream: BinaryIO, source: Source) -> None:
        self._stream = stream
        self._source = source
        self.number = 0

    def __iter__(self) -> "_StreamLines":
        return self

    def __next__(self) -> str:
        line = self._stream.readline(TEXT_LINE_BYTES + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) > TEXT_LINE_BYTES:
            raise InputError(
                f"{self._source.label}, line {self.number}: is longer than "
                f"{TEXT_LINE_BYTES >> 20} MB: break it into rows"
            )
        return decoded(line, self._source.label, self.number)


def _read_delimited(marks: str, source: Source, options: ReadOptions) -> Iterator[Document]:
    csv.field_size_limit(TEXT_LINE_BYTES)
    with open_source(source) as stream:
        head, text = peeked(cast(io.BufferedReader, stream), HEAD_BYTES)
        lines = _StreamLines(text, source)
        rows = csv.reader(lines, strict=True, **_dialect(head, marks))
        names = _names(rows, source)
        while True:
            begin = lines.number + 1
            place = f"{source.label}, line {begin}"
            try:
                row = next(rows, None)
            except csv.Error as error:
                options.skip(InputError(f"{place}: {_fault(error)}"))
                continue
            except InputError as error:
                options.skip(error)
                continue
            if row is None:
                return
            if row and len(row) != len(names):
                options.skip(
                    InputError(
                        f"{place}: {counted(len(row), 'field')}, wanted {len(names)} as in "
                        "the first row: "
                        "correct the row"
                    )
                )
            elif row:
                values = without_unnamed(dict(zip(names, row, strict=True)))
                document = options.document(values, place, begin)
                if document is not None:
                    yield document


def _dialect(head: bytes, marks: str) -> dict[str, Any]:
    """Return the delimiter and whether fields are quoted, by a table's first bytes.

    Fields of tables with tabs are quoted if the quotation marks are all where such fields have
    them: else they belong to the text.
    """
    lines = head.decode(errors="replace").splitlines(keepends=True)
    mark = max(marks, key=lines[0].count) if lines else marks[0]
    if mark == "\t" and '"' in head.decode(errors="replace"):
        rows = csv.reader(
            lines[: -1 if len(head) == HEAD_BYTES else None], "excel-tab", strict=True
        )
        widths: set[int] = set()
        try:
            widths.update(map(len, rows))
        except csv.Error as error:
            if len(head) < HEAD_BYTES or "end of data" not in str(error):
                widths = set()
        if len(widths - {0}) != 1:
            return {"delimiter": mark, "quoting": csv.QUOTE_NONE}
    return {"delimiter": mark}


def _fault(error: csv.Error) -> str:
    """Return what is wrong with a row, and the remedy."""
    reason = str(error)
    if "new-line" in reason:
        return "its lines end in carriage returns alone: convert them (tr '\\r' '\\n')"
    if "end of data" in reason or "field larger" in reason:
        return "a field in quotation marks that begins here does not end: correct the row"
    return f"a row that cannot be read ({reason}): correct its quotation marks"


def _names(rows: Any, source: Source) -> list[str]:
    """Return the names of the columns.

    Raises:
        InputError: the first row has an empty name, or one twice, or cannot be read.
    """
    try:
        names: list[str] = next(rows, [])
    except csv.Error as error:
        raise InputError(f"{source.label}, line 1: {_fault(error)}") from None
    names = [name.strip() for name in names]
    for number, name in enumerate(names):
        if name and name in names[:number]:
            raise InputError(
                f"{source.label}, line 1: two columns are named {name!r}: "
                "give each column a name of its own in the first row"
            )
    return names


CSV = Reader((".csv",), ("CSV",), partial(_read_delimited, ",;\t"))
TSV = Reader((".tsv", ".tab"), ("TSV",), partial(_read_delimited, "\t"))


_ROWS = 1024  # of a batch
_MAGIC = b"PAR1"


def _read_parquet(source: Source, options: ReadOptions) -> Iterator[Document]:
    pyarrow = library("pyarrow", source, "Parquet", "parquet")
    parquet = library("pyarrow.parquet", source, "Parquet", "parquet")
    with _seekable(source) as path:
        size, n_bytes = Path(path).stat().st_size, 0
        try:
            # Dictionaries stay so: a file of a few kB may have a million rows of one long text.
            schema = parquet.read_schema(path)
            texts = [field.name for field in schema if pyarrow.types.is_string(field.type)]
            batches = parquet.ParquetFile(
                path, read_dictionary=texts, page_checksum_verification=True
            ).iter_batches(_ROWS)
            for number, values in enumerate(_rows(batches), 1):
                document = options.document(values, f"{source.label}, row {number}", number)
                if document is not None:
                    n_bytes += len(document.text)
                    refuse_bomb(source, n_bytes, size)
                    yield document
        except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{source.label}: no readable Parquet ({str(error).splitlines()[0]:.100}): "
                "write the file again"
            ) from None


def _rows(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield the values of each row by the names of the columns."""
    for batch in batches:
        columns = [batch.column(number) for number in range(batch.num_columns)]
        for row in range(batch.num_rows):
            values = (column[row].as_py() for column in columns)
            yield dict(zip(batch.schema.names, values, strict=True))


@contextmanager
def _seekable(source: Source) -> Iterator[Path]:
    """Yield the path of a source's uncompressed bytes: its own, or that of a copy."""
    with open_source(source) as stream:
        if source.path != STANDARD_INPUT and _is_plain(Path(source.path)):
            yield Path(source.path)
            return
        with scratch_folder() as folder:
            with open(folder / "copy", "wb") as copy:
                shutil.copyfileobj(stream, copy)
            yield folder / "copy"


def _is_plain(path: Path) -> bool:
    """Return whether a regular file is Parquet as it is, not compressed once more."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


PARQUET = Reader((".parquet", ".pq"), ("Parquet",), _read_parquet)
