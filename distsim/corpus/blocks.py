"""Reads sources as blocks of whole lines, valid UTF-8, with file and first line number."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distsim.corpus.lines import WholeLines, decoded
from distsim.corpus.sources import Source, open_source

BLOCK_BYTES = 1 << 20


class BlockDocuments(NamedTuple):
    """Documents of a block, with the lines of each.

    documents: without their text. ordinals: int64, of each in its source, from 0. of_lines: int64,
    for each line, which of them it belongs to. lines: int64, the number of each line, from 1.
    annotations: of each token, as in `Document`; none where the text is not annotated.
    """

    documents: list[Any]
    ordinals: np.ndarray
    of_lines: np.ndarray
    lines: np.ndarray
    annotations: list[tuple[Any, ...]]


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
    documents: BlockDocuments | None = None

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

    Raises:
        InputError: a file cannot be read, has a line longer than `longest`, or is not UTF-8
            (file, line and byte are named).
    """
    for number, source in enumerate(sources):
        lines = WholeLines(source.label, block_bytes, block_bytes, longest)
        with open_source(source) as stream:
            for text, first_line in lines.read(stream, partial(watch, number)):
                decoded(text, source.label, first_line)
                yield Block(text, number, first_line)
