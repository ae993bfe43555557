"""Exports of a table for other tools: vectors, phrases, neighbours."""

import io
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, get_args
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from distsim.base.arguments import ExportFormat, Texts, one_of, one_or_many_texts
from distsim.base.errors import ParameterError, how_to_install
from distsim.comparison.nearest import NeighbourSearch
from distsim.corpus.vectors import VectorFileContents
from distsim.signatures.table import StoredTable, TableLike, opened_table
from distsim.storage.files import LineWriter, open_output

FORMATS: tuple[str, ...] = get_args(ExportFormat)
_BLOCK = 1024
_NAMED = 3  # of phrases that are left out


def word_vectors(table: TableLike, *, phrases: Texts | None = None) -> VectorFileContents:
    """Return real-valued unit vectors of a table's words, the most frequent first, or of phrases.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        phrases: made of their words; those of which no word has a vector are left out.

    Raises:
        IncompatibleError: the table keeps no vectors of words.
        ParameterError: a phrase is empty.

    >>> vectors = word_vectors(learned)
    >>> vectors.vectors.shape[1]
    512
    """
    table = opened_table(table)
    parts = table.require_word_vectors()
    if phrases is not None:
        texts = one_or_many_texts(phrases)
        rows = [table.vectors(text, of_words=True)[0].astype(np.float32) for text in texts]
        known = [(text, row) for text, row in zip(texts, rows, strict=True) if not np.isnan(row[0])]
        empty = np.empty((0, parts.n_dimensions), np.float32)
        return VectorFileContents(
            [text for text, _ in known], np.stack([row for _, row in known]) if known else empty
        )
    places = np.searchsorted(table.hashes, parts.hashes)
    places = np.minimum(places, max(0, len(table) - 1))
    here = np.flatnonzero(table.hashes[places] == parts.hashes) if len(table) else places[:0]
    order = here[np.argsort(-table.strengths[places[here]].astype(np.int64), kind="stable")]
    words = [table.text(row) for row in places[order].tolist()]
    return VectorFileContents(words, parts.unit_vectors(order))


def export(
    table: TableLike,
    path: str | Path,
    *,
    format: str = "w2v",
    phrases: Texts | None = None,
    neighbours: int | None = None,
    notice: Callable[[str], object] = warn,
) -> int:
    """Return the number of rows written of a table, for other tools.

    `w2v` and `w2v-bin` hold real-valued vectors of words, or of `phrases` made of their words, a
    space written as `_`. `parquet` (by pyarrow) and `csv` hold phrase, strength and signature, or,
    with `neighbours`, focal phrase, rank, phrase, similarity and strength.

    Arguments:
        format: `w2v`, `w2v-bin`, `parquet` or `csv`.
        path: written whole or not at all, compressed where it ends in .gz or .zst;
            `-` for standard output.
        table: a table, an index that was signed, or the path of either.
        phrases: only these; all of the table where None.
        neighbours: number of neighbours of each phrase.
        notice: called with a sentence on `phrases` that are left out.

    Raises:
        IncompatibleError: vectors are wanted and the table keeps none.
        ParameterError: there is no such format, the library that writes it is not installed, or
            nothing is left to write.

    >>> export(learned, folder / "vectors.txt", phrases=["king", "the queen"])
    2
    >>> (folder / "vectors.txt").read_text()[:6]
    '2 512\\n'
    """
    one_of(format, FORMATS, "`format`")
    if neighbours is not None and (neighbours < 1 or format.startswith("w2v")):
        raise ParameterError(
            f"`neighbours` {neighbours} with {format}: leave it out, or choose 1 or more"
        )
    table = opened_table(table)
    if phrases is not None:
        phrases = _known(table, one_or_many_texts(phrases), format.startswith("w2v"), notice)
    if format.startswith("w2v"):
        vectors = word_vectors(table, phrases=phrases)
        with open_output(path) as out:
            _write_vectors(out, vectors, binary=format == "w2v-bin")
        return len(vectors.words)
    columns = _columns(table, phrases, neighbours)
    if format == "csv":
        with open_output(path) as out:
            _write_csv(out, columns)
    else:
        with open_output(path) as out:
            out.write(_parquet(columns))
    return len(columns["phrase"])


def _known(
    table: StoredTable, phrases: list[str], vectors: bool, notice: Callable[[str], object]
) -> list[str]:
    """Return the phrases of which a row can be written; `notice` is called with those left out.

    Raises:
        IncompatibleError: vectors are wanted and the table keeps none.
        ParameterError: there is none.
    """
    if vectors:
        is_known = [not np.isnan(table.vectors(text, of_words=True)[0, 0]) for text in phrases]
        lack = "have no vector: none of their words has one"
    else:
        is_known = (table.find(phrases) >= 0).tolist()
        lack = "are not in the table"
    known_phrases = [text for text, known in zip(phrases, is_known, strict=True) if known]
    unknown = [text for text, known in zip(phrases, is_known, strict=True) if not known]
    named = ", ".join(map(repr, unknown[:_NAMED])) + (", ..." if len(unknown) > _NAMED else "")
    left_out = f"{len(unknown):,} of {len(phrases):,} `phrases` {lack} ({named})"
    if not known_phrases:
        raise ParameterError(f"{left_out if phrases else '`phrases`: is empty'}: name others")
    if unknown:
        notice(f"{left_out}: left out")
    return known_phrases


def _write_vectors(out: LineWriter, vectors: VectorFileContents, binary: bool) -> None:
    words = [word.replace(" ", "_").encode() for word in vectors.words]
    out.write(b"%d %d\n" % (len(words), vectors.vectors.shape[1]))
    for word, vector in zip(words, vectors.vectors, strict=True):
        if binary:
            out.write(word + b" " + vector.astype("<f4").tobytes() + b"\n")
        else:
            numbers = " ".join(f"{value:.6g}" for value in vector.tolist())
            out.write(word + b" " + numbers.encode() + b"\n")


def _columns(
    table: StoredTable, phrases: Texts | None, neighbours: int | None
) -> dict[str, Sequence[Any] | NDArray[Any]]:
    """Return the columns of a table, or of its phrases' neighbours."""
    if phrases is None:
        rows = np.arange(len(table))
    else:
        rows = table.find(one_or_many_texts(phrases))
        rows = rows[rows >= 0]
    texts = [table.text(row) for row in rows.tolist()]
    if neighbours is None:
        signatures = [row.tobytes() for row in np.ascontiguousarray(table.bits[rows])]
        return {"phrase": texts, "strength": table.strengths[rows], "signature": signatures}
    search = NeighbourSearch(table)
    near = list(chain.from_iterable(_near(search, text, neighbours) for text in texts))
    names = ("focal", "rank", "phrase", "similarity", "strength")
    return {name: [row[n] for row in near] for n, name in enumerate(names)}


def _near(search: NeighbourSearch, focal: str, k: int) -> Iterator[tuple[Any, ...]]:
    for rank, neighbour in enumerate(search.nearest(focal, k=k) or (), 1):
        yield focal, rank, neighbour.phrase, neighbour.similarity, neighbour.strength


def _write_csv(out: LineWriter, columns: dict[str, Any]) -> None:
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for number, row in enumerate(zip(*columns.values(), strict=True)):
        writer.writerow([cell.hex() if isinstance(cell, bytes) else cell for cell in row])
        if number % _BLOCK == _BLOCK - 1:
            out.write(text.getvalue().encode())
            text.seek(0)
            text.truncate()
    out.write(text.getvalue().encode())


def _parquet(columns: dict[str, Any]) -> bytes:
    if find_spec("pyarrow") is None:
        raise ParameterError(
            "`format` parquet is written by pyarrow, which is not installed: "
            f"{how_to_install('export')}"
        )
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()
