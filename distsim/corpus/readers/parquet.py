"""Reads Parquet files, by pyarrow; a row is a document."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.readers.reader import Reader, ReadOptions, library
from distsim.corpus.sources import STANDARD_INPUT, Source, open_source, refuse_bomb
from distsim.storage import scratch_folder

_ROWS = 1024  # of a batch
_MAGIC = b"PAR1"


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    pyarrow = library("pyarrow", source, "Parquet", "parquet")
    parquet = library("pyarrow.parquet", source, "Parquet", "parquet")
    with _seekable(source) as path:
        size, n_bytes = Path(path).stat().st_size, 0
        try:
            # Dictionaries stay so: a file of a few kB may have a million rows of one long text.
            schema = parquet.read_schema(path)
            texts = [one.name for one in schema if pyarrow.types.is_string(one.type)]
            batches = parquet.ParquetFile(
                path, read_dictionary=texts, page_checksum_verification=True
            ).iter_batches(_ROWS)
            for number, values in enumerate(_rows(batches), 1):
                found = options.document(values, f"{source.label}, row {number}", number)
                if found is not None:
                    n_bytes += len(found.text)
                    refuse_bomb(source, n_bytes, size)
                    yield found
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


PARQUET = Reader((".parquet", ".pq"), ("Parquet",), _read)
