"""Reads CoNLL-U: sentences of tokens with lemma, parts of speech and dependencies.

A document begins at `# newdoc`; `# newdoc id = NAME` gives its id, `# meta::name = value` its
fields. A file without these is one document.
"""

import re
from collections.abc import Iterator
from typing import Any

from distsim.base.errors import InputError
from distsim.corpus.conllu import word_rows
from distsim.corpus.documents import Document
from distsim.corpus.lines import LINE_BYTES, decoded, read_lines
from distsim.corpus.numbers import plain_count
from distsim.corpus.readers.reader import Reader, ReadOptions
from distsim.corpus.sources import Source

_PIECE_TOKENS = 1 << 16  # a longer document comes in pieces
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b(?:\s+id\s*=\s*(.*))?")
_FIELD = re.compile(r"#\s*meta::(\S+)\s*=\s*(.*)")
_BLANKS = re.compile(r"\s+")


class _SentenceRun:
    """Sentences of a document, all of them or some that follow one another."""

    def __init__(self, id: str | None, fields: dict[str, Any], continues: bool) -> None:
        self.id = id
        self.fields = fields
        self._continues = continues
        self._sentences: list[str] = []
        self._lines: list[int] = []
        self.annotations: list[tuple[Any, ...]] = []

    def add(self, rows: list[list[str]], line: int, distances: list[int]) -> None:
        """Add a sentence that begins in a line; distances: from each token to its head."""
        forms = (_BLANKS.sub("_", row[1].strip()) or "_" for row in rows)
        self._sentences.append(" ".join(forms))
        self._lines.append(line)
        self.annotations += [
            (row[2], row[3] if row[4] == "_" else row[4], row[3], row[7], distance)
            for row, distance in zip(rows, distances, strict=True)
        ]

    def document(self) -> Document:
        """Return the sentences, one a line."""
        return Document(
            "\n".join(self._sentences), self.id, self.fields, self._lines,
            annotations=self.annotations, continues=self._continues,
        )  # fmt: skip

    def rest(self) -> "_SentenceRun":
        """Return the next piece of the same document."""
        return _SentenceRun(self.id, self.fields, continues=True)


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    piece = _SentenceRun(None, {}, continues=False)
    for lines, first in _sentences(source):
        for line in lines:
            if (begins := _NEW_DOCUMENT.match(line)) is not None:
                if piece.annotations:
                    yield piece.document()
                piece = _SentenceRun(begins[1], {}, continues=False)
            elif (found := _FIELD.match(line)) is not None:
                piece.fields[found[1]] = found[2]
        at = [n for n, line in enumerate(lines, first) if line[0] != "#"]
        if not at:
            continue
        try:
            rows, at, _ = word_rows([lines[n - first].split("\t") for n in at], at, source.label)
            distances = _distances(rows, at, source.label)
        except InputError as error:
            options.skip(error)
            continue
        piece.add(rows, at[0], distances)
        if len(piece.annotations) >= _PIECE_TOKENS:
            yield piece.document()
            piece = piece.rest()
    if piece.annotations:
        yield piece.document()


def _distances(rows: list[list[str]], at: list[int], file: str) -> list[int]:
    """Return how many tokens behind each one its head is, 0 of the root and where none is given."""
    distances = []
    for number, (row, line) in enumerate(zip(rows, at, strict=True), 1):
        head = 0 if row[6] == "_" else plain_count(row[6])
        if head is None or head > len(rows):
            raise InputError(
                f"{file}, line {line}: the head is {row[6]:.20}, the sentence has {len(rows)} "
                "tokens: give the number of one, 0 for the root, or _"
            )
        distances.append(head - number if head else 0)
    return distances


def _sentences(source: Source) -> Iterator[tuple[list[str], int]]:
    """Yield (lines between blank lines, number of the first)."""
    lines: list[str] = []
    n_bytes = first = 0
    for number, data in read_lines(source):
        n_bytes += len(data)
        if n_bytes > LINE_BYTES:
            raise InputError(
                f"{source.label}, line {first}: a sentence of more than {LINE_BYTES >> 20} MB "
                "begins here: put a blank line after each sentence"
            )
        line = decoded(data, source.label, number).rstrip("\r\n")
        if line:
            lines.append(line)
            first = first or number
            continue
        if lines:
            yield lines, first
        lines, n_bytes, first = [], 0, 0
    if lines:
        yield lines, first


CONLLU = Reader(
    (".conllu", ".conll"), ("CoNLL-U",), _read, text_formats=("lines",), annotates=True,
    has_dependencies=True, is_unmistakable=True,
)  # fmt: skip
