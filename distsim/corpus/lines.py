"""Reads text files, compressed or not, as blocks of whole lines (bytes).

A line is what ends at a newline; the newline, a carriage return before it and a missing one at
the end all stay.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from distsim.base.arguments import TextFormat
from distsim.base.errors import InputError
from distsim.corpus.plain_text import HEAD_BYTES, format_signs, likely_encoding
from distsim.corpus.sources import Source, file_label, find_file, find_texts, open_source
from distsim.corpus.tokeniser import tokens_of

BLOCK_BYTES = 1 << 22
LINE_BYTES = 4 << 20  # of a line of any format; readers hold several times as much
TEXT_LINE_BYTES = 64 << 20  # of plain text, which may be a whole book in one line
_SAMPLE_BYTES = 1 << 13  # on either side of a byte that is not UTF-8
_NO_LETTER = re.compile(rb"[\x00-\x2f]")
_PIECE_BYTES = 1 << 16  # so much at most of a damaged archive is not looked at


class LineBlock(NamedTuple):
    """Whole lines of a file, as read.

    text: their bytes. first_line: number of the first, from 1.
    """

    text: bytes
    first_line: int


def read_line_blocks(
    path: str | Path | Source, block_bytes: int = BLOCK_BYTES, longest: int | None = None
) -> Iterator[LineBlock]:
    """Yield a file's bytes in blocks of whole lines, about `block_bytes` each.

    Arguments:
        path: plain or compressed; `-` for standard input; or a source.
        longest: bytes of a line; LINE_BYTES where None.

    Raises:
        InputError: the file cannot be opened, is compressed and damaged, or has a line that is
            too long; the message names the last line that could be read, within 64 kB.
    """
    source = path if isinstance(path, Source) else find_file(path)
    lines = WholeLines(source.label, block_bytes, _PIECE_BYTES, longest)
    try:
        with open_source(source) as stream:
            yield from lines.read(stream)
    except InputError as error:
        if lines.n_lines == 0:
            raise
        raise InputError(f"{error} (line {lines.n_lines} is the last that could be read)") from None


class WholeLines:
    """Reader of streams of bytes in blocks of whole lines; `n_lines` were read so far.

    longest: bytes of a line; LINE_BYTES where None.

    Arguments:
        label: of the stream, for messages.
        block_bytes: of a block, about.
        piece_bytes: read at once.
    """

    def __init__(
        self, label: str, block_bytes: int, piece_bytes: int, longest: int | None = None
    ) -> None:
        self._label = label
        self._longest = longest or LINE_BYTES
        self._block_bytes = block_bytes
        self._piece_bytes = min(block_bytes, piece_bytes)
        self.n_lines = 0

    def read(
        self, stream: BinaryIO, watch: Callable[[bytes], object] = lambda piece: None
    ) -> Iterator[LineBlock]:
        """Yield a stream's lines in blocks of about `block_bytes`, a longer line in one piece.

        Arguments:
            stream: of bytes.
            watch: called with each piece as it is read.

        Raises:
            InputError: a line is too long.
        """
        held: list[bytes] = []
        n_held = cut = 0  # bytes; those up to the last newline
        first_line = 1
        while piece := stream.read(self._piece_bytes):
            watch(piece)
            at = piece.rfind(b"\n") + 1
            if at:
                cut = n_held + at
                self.n_lines += piece.count(b"\n")
            held.append(piece)
            n_held += len(piece)
            if n_held - cut > self._longest:
                raise InputError(
                    f"{self._label}, line {self.n_lines + 1}: is longer than "
                    f"{self._longest >> 20} MB: is it text? break it into lines"
                )
            if cut and n_held >= self._block_bytes:
                text = b"".join(held)
                yield LineBlock(text[:cut], first_line)
                first_line = self.n_lines + 1
                held, n_held, cut = [text[cut:]], n_held - cut, 0
        if n_held:
            yield LineBlock(b"".join(held), first_line)


def read_lines(
    path: str | Path | Source, longest: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line with its newline) of a file.

    Arguments:
        path: of the file, `-` for standard input, or a source.
        longest: bytes of a line; LINE_BYTES where None.
    """
    for block in read_line_blocks(path, longest=longest):
        yield from enumerate(split_lines(block.text), block.first_line)


def read_text_lines(path: str | Path, as_is: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line with its newline) of a file that must be plain text.

    Arguments:
        path: of the file, `-` for standard input.
        as_is: take what looks like another format, too.
    """
    (source,) = find_texts([find_file(path)], as_is)
    return read_lines(source, TEXT_LINE_BYTES)


class TokenisedLines(NamedTuple):
    """Lines of a text with white space between tokens.

    text_format: `lines` where they were so and are as written; `text` where running text was cut.
    lines: (number of the line, its text); they can be taken once.
    """

    text_format: TextFormat
    lines: Iterator[tuple[int, str]]


def read_tokenised(
    path: str | Path, as_is: bool = False, text_format: TextFormat | None = None
) -> TokenisedLines:
    """Return the lines of a plain text with white space between tokens, not normalised.

    Arguments:
        path: of the file, `-` for standard input.
        as_is: take what looks like another format, too.
        text_format: `lines`: tokens are what white space separates; `text`: running text, cut as
            that of a corpus; where None `text` if marks stand at words in its beginning.

    Raises:
        InputError: a line is not UTF-8, or the file cannot be read or looks like something else
            than plain text and is not to be taken `as_is`.
    """
    label = file_label(path)
    lines = read_text_lines(path, as_is)
    head: list[tuple[int, bytes]] = []
    if text_format is None:
        n_bytes = 0
        for line in lines:
            head.append(line)
            n_bytes += len(line[1])
            if n_bytes >= HEAD_BYTES:
                break
        signs = format_signs(b"".join(line for _, line in head))
        is_running = signs.text_format == "text" and signs.glued + signs.other_glued > 0
        text_format = "text" if is_running else "lines"
    texts = ((n, decoded_line(line, f"{label}, line {n}")) for n, line in chain(head, lines))
    if text_format == "text":
        texts = ((n, " ".join(tokens_of(text, "text"))) for n, text in texts)
    return TokenisedLines(text_format, texts)


def split_lines(text: bytes) -> list[bytes]:
    """Return the lines of a text with their newlines; nothing else breaks a line.

    Arguments:
        text: bytes.
    """
    if b"\r" not in text:
        return text.splitlines(keepends=True)
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def decoded(text: bytes, label: str, line: int = 1) -> str:
    """Return whole lines of a file as text.

    Arguments:
        text: the lines. label: of the file, for the message. line: number of the first.

    Raises:
        InputError: it is not valid UTF-8; line and byte are named, and the encoding that it looks
            like.
    """
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        number = line + text.count(b"\n", 0, error.start)
        column = error.start - text.rfind(b"\n", 0, error.start)
        begin = max(0, error.start - _SAMPLE_BYTES)
        if begin:  # behind a blank or a mark, which is no part of a longer character
            separator = _NO_LETTER.search(text, begin, error.start)
            begin = separator.end() if separator else error.start
        encoding = likely_encoding(text[begin : error.start + _SAMPLE_BYTES])
        raise InputError(
            f"{label}, line {number}, byte {column}: not UTF-8 (found 0x{text[error.start]:02x}"
            + (f", looks like {encoding}" if encoding else "")
            + "): convert the file to UTF-8, or name its encoding with `encoding`"
            + (f" {encoding}" if encoding else "")
        ) from None


def decoded_line(line: bytes, place: str) -> str:
    """Return a line as text, without its end.

    Arguments:
        place: file and line, for the message.

    Raises:
        InputError: it is not valid UTF-8.

    >>> decoded_line(b"a king\\n", "notes.txt, line 1")
    'a king'
    """
    label, _, number = place.rpartition(", line ")
    return decoded(line, label or place, int(number) if number.isdecimal() else 1).rstrip("\r\n")


def is_utf8(line: bytes) -> bool:
    """Return whether a line is valid UTF-8.

    Arguments:
        line: bytes.
    """
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


DOCUMENT_BLOCK_BYTES = 1 << 20


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
    written: the text with the forms of contractions, where it has any.
    """

    text: bytes
    source: int
    first_line: int
    documents: BlockDocuments | None = None
    written: bytes | None = None

    def lines(self) -> list[str]:
        """Return the lines without their newlines; nothing after the last newline is no line."""
        lines = self.text.decode().split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines


def read_blocks(
    sources: Sequence[Source],
    block_bytes: int = DOCUMENT_BLOCK_BYTES,
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
