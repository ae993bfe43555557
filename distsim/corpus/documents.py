"""Documents as readers of files and callers give them, and fields of whole files."""

import csv
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import shown
from distsim.base.errors import InputError, ParameterError, counted
from distsim.corpus.lines import DOCUMENT_BLOCK_BYTES, Block, BlockDocuments, decoded, read_lines
from distsim.corpus.sources import Source

_FILE_COLUMNS = ("file", "filename", "path")
_SHOWN = 3

NO_ID = "-"  # in place of the name of a field: documents are numbered
NO_SPACE = "\x1f"  # between two tokens of annotated text that are written without a space
# Before and behind the form of a contraction (Italian *della*), whose words (*di*, *la*) follow it,
# separated by the third; only the words are tokens.
FORM, FORM_ENDS, WITHIN = "\x1e", "\x1d", "\x1c"
_FORM_BYTES = re.compile(rb"\x1e[^\x1d\n]*\x1d")
ID_FIELD = "id"  # the usual field of an id; a name of every document's own


class Document(NamedTuple):
    """A text with its id and fields.

    text: as written; its lines end at newlines. id: unique in an index; its number, from 1, where
    None. fields: values by name: text, numbers, dates, None for a missing one. line: where the
    document is in its file, from 1, shown with every place in it, or where each line of the
    text is; where None, lines are counted as in a file of all documents with a blank line
    behind each. annotations: lemma and tag of each token of a tokenised text, perhaps its coarse
    tag; where the reader has dependencies also its relation, and how far behind it its head is;
    such tokens are separated by NO_SPACE where the reader knows that no space does, and words of
    a contraction are `contraction` of them.
    continues: the text goes on where that of the document before ended.

    >>> Document("Hello, Alice.", "letter-1", {"year": 1865}).fields["year"]
    1865
    """

    text: str
    id: str | None = None
    fields: Mapping[str, Any] = {}
    line: int | Sequence[int] | None = None
    annotations: Sequence[tuple[Any, ...]] | None = None
    continues: bool = False


def contraction(form: str, words: Sequence[str]) -> str:
    """Return the words of a contraction with its form, as the text of a document has them."""
    return f"{FORM}{form}{FORM_ENDS}{WITHIN.join(words)}"


def without_id(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields whose `id`, a name of every document's own, is called `given_id`.

    Arguments:
        fields: fields of a document, name to value.

    >>> without_id({"id": 7, "year": 1865})
    {'year': 1865, 'given_id': 7}
    """
    others = {name: value for name, value in fields.items() if name != ID_FIELD}
    if ID_FIELD in fields:
        others["given_id"] = fields[ID_FIELD]
    return others


def without_unnamed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a table without columns that have no name, as the row numbers of pandas.

    Arguments:
        row: values by column.

    >>> without_unnamed({"": "0", "year": "1850"})
    {'year': '1850'}
    """
    return {name: value for name, value in row.items() if name}


def source_of_texts(texts: Iterable[Any], metadata: Iterable[Any] | None = None) -> Source:
    """Return a source of texts in memory, a document each.

    It is indexed as a file with a blank line behind each document. Blank lines inside a text do not
    count, and texts that have no other lines are left out.

    Arguments:
        texts: read once: texts, or rows with a field `text` and others.
        metadata: rows of fields, one for each text.

    Raises:
        ParameterError: `texts` is one text; when it is read, one of them is no text, or `metadata`
            has another number of rows: the number is told.
    """
    for values, name in ((texts, "texts"), ([] if metadata is None else metadata, "metadata")):
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise ParameterError(f"`{name}`: give a list or another iterable of {name}")
        if isinstance(values, Mapping):
            names = ", ".join(map(str, values))
            raise ParameterError(f"`{name}`: is a dict of {names}: give one of these, or rows")
    return Source(
        "texts", "", shown_as="texts", documents=lambda _: _documents_of(_rows(texts), metadata)
    )


def _documents_of(texts: Iterable[Any], metadata: Iterable[Any] | None) -> Iterator[Document]:
    rows = None if metadata is None else iter(_rows(metadata))
    number = -1
    for number, document in enumerate(texts):
        fields: Any = {} if rows is None else next(rows, None)
        if not isinstance(fields, Mapping):
            fault = "is missing" if fields is None else f"is {shown(fields)}, wanted a dict"
            raise ParameterError(f"metadata[{number}]: {fault}: give one row for each text")
        text = document
        if isinstance(document, Mapping):
            if "text" not in document:
                names = ", ".join(map(str, document))
                raise ParameterError(
                    f"texts[{number}]: has no field `text`, but {names}: rename one"
                )
            text, fields = document["text"], {**document, **fields}
            del fields["text"]
        if not isinstance(text, str):
            raise ParameterError(
                f"texts[{number}]: is {shown(text)}, wanted a text (str): leave it out, or give ''"
            )
        yield Document(text, None, fields)
    if rows is not None and next(rows, None) is not None:
        raise ParameterError(
            f"`metadata`: more rows than the {counted(number + 1, 'text')}: give one for each"
        )


def _rows(table: Any) -> Iterable[Any]:
    """Return the rows of a frame of pandas or polars as dicts, anything else as it is."""
    if hasattr(table, "iter_rows"):
        rows: Iterable[Any] = table.iter_rows(named=True)
        return rows
    if hasattr(table, "itertuples"):
        names = [str(name) for name in table.columns]
        return (dict(zip(names, row, strict=True)) for row in table.itertuples(False, None))
    return table  # type: ignore[no-any-return]


def document_blocks(
    source: Source,
    number: int,
    watch: Callable[[bytes], object] = lambda text: None,
    block_bytes: int = DOCUMENT_BLOCK_BYTES,
) -> Iterator[Block]:
    """Yield the text of a source's documents in blocks of whole documents.

    Arguments:
        source: with `documents`, which are read once; those without a line of text are passed over.
        watch: called with the text of each document as a file has it: without blank lines, and a
            blank line behind it.
        block_bytes: of a block; a longer document makes a longer one.

    Raises:
        ParameterError: a text has half of a character.
    """
    assert source.documents is not None
    block = _BlockOfDocuments(number)
    n_lines, ordinal, begun = 0, -1, False
    for document in source.documents(source):
        ordinal += not document.continues
        text = _utf8(document, source, ordinal)
        lines = text.split(b"\n")
        filled = [line for line in lines if line.strip()]
        if not filled:
            continue
        watch(b"\n".join([line.rstrip(b"\r") for line in filled]) + b"\n\n")
        if isinstance(document.line, int):
            line_numbers = [document.line] * len(lines)
        elif document.line is not None:
            line_numbers = list(document.line)
        else:
            line_numbers = list(accumulate((bool(line.strip()) for line in lines), initial=n_lines))
            del line_numbers[0]
            n_lines = line_numbers[-1] + 1
        if begun and not document.continues:  # a blank line is before it, as in a file
            text = b"\n" + text
            line_numbers.insert(0, line_numbers[0])
        begun = True
        block.add(document, ordinal, text, line_numbers)
        block.annotations += document.annotations or ()
        if block.n_bytes >= block_bytes:
            yield block.block()
            block = _BlockOfDocuments(number)
    if block.n_bytes:
        yield block.block()


class _BlockOfDocuments:
    def __init__(self, number: int) -> None:
        self._number = number
        self._texts: list[bytes] = []
        self._documents: list[Document] = []
        self._ordinals: list[int] = []
        self._lines: list[int] = []
        self._n_lines: list[int] = []
        self.annotations: list[tuple[Any, ...]] = []
        self.n_bytes = 0

    def add(self, document: Document, ordinal: int, text: bytes, line_numbers: list[int]) -> None:
        self._texts.append(text)
        self._documents.append(Document("", document.id, document.fields))
        self._ordinals.append(ordinal)
        self._lines += line_numbers
        self._n_lines.append(len(line_numbers))
        self.n_bytes += len(text) + 1

    def block(self) -> Block:
        of_lines = np.repeat(np.arange(len(self._n_lines)), self._n_lines)
        lines = np.array(self._lines, np.int64)
        about = BlockDocuments(
            self._documents, np.array(self._ordinals), of_lines, lines, self.annotations
        )  # fmt: skip
        text = b"\n".join([*self._texts, b""])
        if not self.annotations or FORM.encode() not in text:
            return Block(text, self._number, 1, about)
        return Block(_FORM_BYTES.sub(b"", text), self._number, 1, about, text)


def _utf8(document: Document, source: Source, ordinal: int) -> bytes:
    try:
        return document.text.encode()
    except UnicodeEncodeError as error:
        place = f"[{ordinal}]" if document.line is None else f", line {document.line}"
        raise ParameterError(
            f"{source.label}{place}: {document.text[error.start]!r} is half of a character: "
            "leave it out"
        ) from None


class FileFields:
    """Fields of files, by the name of each; without `fields` there are none of any file.

    Arguments:
        fields: by the name of a file, fields with their values.
        label: of the file that they were read from, for messages.
    """

    def __init__(self, fields: Mapping[str, Mapping[str, Any]], label: str = "") -> None:
        self._fields = {_of_file(name): row for name, row in fields.items()}
        # Names of file systems without case, where no two differ in it alone.
        folded = Counter(name.casefold() for name in self._fields)
        self._in_other_case = {
            name.casefold(): name for name in self._fields if folded[name.casefold()] == 1
        }
        self._label = label
        self._used: set[str] = set()
        self._unknown: set[str] = set()

    def of(self, name: str) -> Mapping[str, Any] | None:
        """Return the fields of a file; None where there are none of any file."""
        if not self._fields:
            return None
        known = _of_file(name)
        while known not in self._fields:  # the name may be given without its endings
            shorter = str(Path(known).with_suffix(""))
            if shorter == known:
                known = self._in_other_case.get(_of_file(name).casefold(), "")
                if not known:
                    self._unknown.add(name)
                    return {}
                break
            known = shorter
        self._used.add(known)
        return self._fields[known]

    def tell_unused(self, notice: Callable[[str], object]) -> None:
        """Call `notice` where files have no fields, or fields no file.

        Arguments:
            notice: called with a sentence.

        Raises:
            InputError: no file has fields.
        """
        unused = [name for name in self._fields if name not in self._used]
        for names, fault in ((unused, "names files that are not read"),
                            (sorted(self._unknown), "does not name all files")):  # fmt: skip
            shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            if names and not self._used:
                raise InputError(f"{self._label}: names no file that is read, but {shown}")
            if names:
                notice(f"{self._label}: {fault}: {shown}")


def _of_file(name: str) -> str:
    """Return a file's name of composed characters; file systems may decompose them."""
    return unicodedata.normalize("NFC", name).strip()


def read_file_fields(path: str | Path) -> FileFields:
    """Return the fields of files from a table: CSV, TSV (`.tsv`) or JSONL (`.jsonl`).

    One column, `file`, `filename` or `path`, has the name of the file, with or without endings such
    as `.txt.gz`; the others are its fields.

    Raises:
        InputError: it cannot be read, has no such column, or a file has two rows.
    """
    label = str(path)
    is_jsonl = label.removesuffix(".gz").endswith(".jsonl")
    fields: dict[str, dict[str, Any]] = {}
    for line, row in _json_rows(path) if is_jsonl else _table_rows(path):
        column = next((name for name in _FILE_COLUMNS if name in row), None)
        if column is None:
            raise InputError(
                f"{label}, line {line}: has no column {' or '.join(_FILE_COLUMNS)}, but "
                f"{', '.join(map(str, row))}: name the column of files so"
            )
        name = str(row.pop(column)).strip()
        if name in fields:
            raise InputError(f"{label}, line {line}: {name} is named twice: keep one row a file")
        fields[name] = row
    if not fields:
        raise InputError(f"{label}: has no row: name a table with a row for each file")
    return FileFields(fields, label)


def _json_rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in read_lines(path):
        try:
            row = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            row = ()
        if row is not None and not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: is no JSON object: correct it")
        if row:
            yield number, row


def _table_rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = (decoded(line, str(path), number) for number, line in read_lines(path))
    first = next(text, "")
    is_tsv = str(path).removesuffix(".gz").endswith(".tsv")
    mark = "\t" if is_tsv else max(",;\t", key=first.count)
    rows = csv.reader(chain([first], text), delimiter=mark, strict=True)
    try:
        names = [name.strip() for name in next(rows, [])]
        if twice := [name for number, name in enumerate(names) if name and name in names[:number]]:
            raise InputError(f"{path}, line 1: two columns are named {twice[0]!r}: rename one")
        for row in rows:
            if len(row) > len(names):
                raise InputError(
                    f"{path}, line {rows.line_num}: {counted(len(row), 'field')}, wanted "
                    f"{len(names)} as "
                    "in the first row: correct the row"
                )
            if row:
                yield rows.line_num, without_unnamed(dict(zip(names, row, strict=False)))
    except csv.Error as error:
        raise InputError(f"{path}, line {rows.line_num}: {error}: correct it") from None
