"""One text file -> its lines as bytes: any packing in, nothing re-encoded.

A line is what ends at a newline; the newline, a carriage return before it and a missing one at
the end all stay.
"""

import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from distsim.corpus.sources import STANDARD_INPUT, Source, find_sources, open_source
from distsim.errors import InputError

BLOCK_BYTES = 1 << 22
_PIECE_BYTES = 1 << 16  # so much at most of a damaged archive is not looked at


class LineBlock(NamedTuple):
    """Whole lines of a file, as read; `first_line` is the number of the first, from 1."""

    text: bytes
    first_line: int


def file_label(path: str | Path) -> str:
    """Return what messages call a file."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def read_line_blocks(path: str | Path, block_bytes: int = BLOCK_BYTES) -> Iterator[LineBlock]:
    """Yield a file's bytes in blocks of whole lines, about `block_bytes` each.

    Arguments:
        path: plain or packed (told by the first bytes); `-` for standard input.

    Raises:
        InputError: the file cannot be opened, or is packed and damaged; the message names
            the last line that could be read, within 64 kB.
    """
    line = 1
    held: list[bytes] = []
    n_held = 0
    try:
        with open_source(_only_file(path)) as stream:
            while piece := stream.read(min(block_bytes, _PIECE_BYTES)):
                held.append(piece)
                n_held += len(piece)
                if n_held < block_bytes:
                    continue
                text = b"".join(held)
                cut = text.rfind(b"\n") + 1
                held, n_held = [text[cut:]], len(text) - cut
                if cut:
                    yield LineBlock(text[:cut], line)
                    line += text.count(b"\n", 0, cut)
                else:
                    n_held = 0  # a long line: wait for another block of it
            text = b"".join(held)
            if text:
                yield LineBlock(text, line)
    except InputError as error:
        line += sum(piece.count(b"\n") for piece in held)
        if line == 1:
            raise
        raise InputError(f"{error} (line {line - 1} is the last that could be read)") from None


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line with its newline) of a file; see read_line_blocks."""
    for block in read_line_blocks(path):
        yield from enumerate(split_lines(block.text), block.first_line)


def split_lines(text: bytes) -> list[bytes]:
    """Return the lines of a text with their newlines; nothing else breaks a line."""
    if b"\r" not in text:
        return text.splitlines(keepends=True)
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def is_utf8(line: bytes) -> bool:
    """Tell whether a line is valid UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def spooled(path: str | Path, again: bool = True) -> Iterator[str | Path]:
    """Give a path whose text can be read twice, if it is to be.

    A regular file is its own; standard input, a pipe and whatever else can be read but once
    is copied, unpacked, into a temporary file that goes at the end.

    Raises:
        InputError: as read_line_blocks.
    """
    if not again or _is_regular(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="distsim-") as folder:
        copy = Path(folder) / "spooled"
        with open(copy, "wb") as file:
            for block in read_line_blocks(path):
                file.write(block.text)
        yield copy


def _is_regular(path: str | Path) -> bool:
    """Tell whether a path can be opened again and again; one that is not there is left to fail."""
    if str(path) == STANDARD_INPUT:
        return False
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _only_file(path: str | Path) -> Source:
    if str(path) != STANDARD_INPUT and Path(path).is_dir():
        raise InputError(f"{path}: is a folder, wanted a file: name one")
    return find_sources([path])[0]
