"""Documents as readers of files and callers give them, and blocks of text made of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.corpus.blocks import BLOCK_BYTES, Block, Documents
from distsim.corpus.sources import Source


class Document(NamedTuple):
    """A text with its id and fields.

    text: as written; its lines end at newlines. id: unique in an index; its number, from 1, where
    None. fields: values by name: text, numbers, dates, None for a missing one. line: where the
    document stands in its file, from 1, shown with every place in it, or where each line of the
    text stands; where None, lines are counted as in a file of all documents with a blank line
    behind each. annotations: lemma and tag of each token of a tokenised text. continues: the text
    goes on where that of the document before ended.

    >>> Document("Hello, Alice.", "letter-1", {"year": 1865}).fields["year"]
    1865
    """

    text: str
    id: str | None = None
    fields: Mapping[str, Any] = {}
    line: int | Sequence[int] | None = None
    annotations: Sequence[tuple[str, str]] | None = None
    continues: bool = False


def document_blocks(
    source: Source,
    number: int,
    watch: Callable[[bytes], object] = lambda text: None,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Block]:
    """Yield the text of a source's documents in blocks of whole documents.

    Arguments:
        source: with `documents`, which are read once; those without a line of text are passed over.
        number: of the source.
        watch: called with the text of each document as a file has it: without blank lines, and a
            blank line behind it.
        block_bytes: of a block; a longer document makes a longer one.

    Raises:
        ParameterError: a text has half of a character.
    """
    assert source.documents is not None
    made = _BlockOfDocuments(number)
    n_lines, ordinal = 0, -1
    for document in source.documents():
        ordinal += not document.continues
        text = _utf8(document, source, ordinal)
        lines = text.split(b"\n")
        filled = np.array([bool(line.strip()) for line in lines])
        if not filled.any():
            continue
        watch(b"\n".join(line.rstrip(b"\r") for line in lines if line.strip()) + b"\n\n")
        if document.line is None:
            line_numbers = n_lines + np.cumsum(filled)
            n_lines = int(line_numbers[-1]) + 1
        else:
            line_numbers = np.full(len(lines), document.line, np.int64)
        made.add(document._replace(text="", annotations=None), ordinal, text, line_numbers)
        made.annotations += document.annotations or ()
        if made.n_bytes >= block_bytes:
            yield made.block()
            made = _BlockOfDocuments(number)
    if made.n_bytes:
        yield made.block()


class _BlockOfDocuments:
    def __init__(self, number: int) -> None:
        self._number = number
        self._texts: list[bytes] = []
        self._documents: list[Document] = []
        self._ordinals: list[int] = []
        self._lines: list[np.ndarray] = []
        self.annotations: list[tuple[str, str]] = []
        self.n_bytes = 0

    def add(self, document: Document, ordinal: int, text: bytes, line_numbers: np.ndarray) -> None:
        self._texts.append(text)
        self._documents.append(document)
        self._ordinals.append(ordinal)
        self._lines.append(line_numbers)
        self.n_bytes += len(text) + 1

    def block(self) -> Block:
        of_lines = np.repeat(np.arange(len(self._lines)), [one.size for one in self._lines])
        about = Documents(
            self._documents, np.array(self._ordinals), of_lines, np.concatenate(self._lines),
            self.annotations,
        )  # fmt: skip
        return Block(b"\n".join([*self._texts, b""]), self._number, 1, about)


def _utf8(document: Document, source: Source, ordinal: int) -> bytes:
    try:
        return document.text.encode()
    except UnicodeEncodeError as error:
        place = f"[{ordinal}]" if document.line is None else f", line {document.line}"
        raise ParameterError(
            f"{source.label}{place}: {document.text[error.start]!r} is half of a character: "
            "leave it out"
        ) from None
