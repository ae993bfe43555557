"""Reads sources as blocks of whole lines, valid UTF-8, with file and first line number."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distsim.base.errors import InputError
from distsim.corpus.lines import WholeLines
from distsim.corpus.sources import Source, open_source

BLOCK_BYTES = 1 << 20


class Documents(NamedTuple):
    """Documents of a block, with the lines of each.

    documents: without their text. ordinals: int64, of each in its source, from 0. of_lines: int64,
    for each line, which of them it belongs to. lines: int64, the number of each line, from 1.
    annotations: lemma and tag of each token, none where the text is not annotated.
    """

    documents: list[Any]
    ordinals: np.ndarray
    of_lines: np.ndarray
    lines: np.ndarray
    annotations: list[tuple[str, str]]


@dataclass(frozen=True)
class Block:
    """Whole lines of one file.

    text: UTF-8, lines ended by a newline (the file's last line perhaps not).
    source: index of the file. first_line: number of the first line, from 1.
    documents: of a source that is read document by document; of others a blank line ends one.
    """

    text: bytes
    source: int
    first_line: int
    documents: Documents | None = None

    def lines(self) -> list[str]:
        """Return the lines without their newlines; nothing after the last newline is no line."""
        lines = self.text.decode().split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines


def read_blocks(
    sources: Sequence[Source],
    block_bytes: int = BLOCK_BYTES,
    watch: Callable[[int, bytes], object] = lambda number, text: None,
    longest: int | None = None,
) -> Iterator[Block]:
    """Yield the sources' text in blocks of about `block_bytes`, a longer line in one piece.

    Arguments:
        watch: called with each piece of a source as it is read, and the source's number.
        longest: bytes of a line; LINE_BYTES where None, TEXT_LINE_BYTES for plain text.
        sources: files, in order.
        block_bytes: size of a block.

    Raises:
        InputError: a file cannot be read, has a line longer than `longest`, or is not UTF-8
            (file, line and byte are named).
    """
    for number, source in enumerate(sources):
        lines = WholeLines(source.label, block_bytes, block_bytes, longest)
        with open_source(source) as stream:
            for text, first_line in lines.read(stream, partial(watch, number)):
                _check_utf8(text, source, first_line)
                yield Block(text, number, first_line)


def _check_utf8(text: bytes, source: Source, first_line: int) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = first_line + text.count(b"\n", 0, error.start)
        column = error.start - (text.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{source.label}, line {line}, byte {column}: not UTF-8 "
            f"(found 0x{text[error.start]:02x}): convert the file to UTF-8"
        ) from None
