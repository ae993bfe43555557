"""Grammar files <-> lines of bytes: any packing in, plain or gz out, nothing re-encoded.

Reading and writing without change gives the same (unpacked) bytes. A line is what ends at a
newline; the newline, a carriage return before it and a missing one at the end all stay.
"""

import gzip
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, get_args

from distsim.corpus.sources import STANDARD_INPUT, Source, find_sources, open_source
from distsim.errors import InputError, ParameterError

STANDARD_OUTPUT = "-"
BLOCK_BYTES = 1 << 22
GZ_LEVEL = 6

OnError = Literal["stop", "keep", "drop"]
ON_ERROR: tuple[str, ...] = get_args(OnError)

_SHOWN_FAULTS = 10
_MEMBER_BYTES = 1 << 20
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


@dataclass
class FaultyLines:
    """What becomes of lines that cannot be read as rules, and what was wrong with them.

    on_error: `stop` raises at the first one, `keep` passes it through unscored, `drop`
    leaves it out; both count. `shown` holds the first few messages.
    """

    path: str | Path
    on_error: OnError = "stop"
    kept: int = 0
    dropped: int = 0
    shown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.on_error not in ON_ERROR:
            raise ParameterError(
                f"--on-error {self.on_error!r}: choose one of {', '.join(ON_ERROR)}"
            )

    def keeps(self, line: int, fault: str) -> bool:
        """Count a faulty line; tell whether it stays in the output.

        Raises:
            InputError: under `stop`; the message names file, line, fault and remedy.
        """
        where = f"{file_label(self.path)}, line {line}"
        if self.on_error == "stop":
            raise InputError(
                f"{where}: {fault}: mend the line, or pass over such lines with "
                "--on-error keep or --on-error drop"
            )
        if len(self.shown) < _SHOWN_FAULTS:
            self.shown.append(f"{where}: {fault}")
        if self.on_error == "keep":
            self.kept += 1
            return True
        self.dropped += 1
        return False

    def require_lines(self, n_lines: int) -> None:
        """Refuse a file without any line, unless faults are passed over.

        Raises:
            InputError: the file is empty.
        """
        if n_lines == 0:
            message = f"{file_label(self.path)}, line 1: the file is empty"
            if self.on_error == "stop":
                raise InputError(f"{message}: check what should have written it")
            self.shown.append(message)


class LineWriter:
    """Writes bytes to a file, packed into independent gz members where the name ends in .gz."""

    def __init__(self, stream: BinaryIO, packs: bool) -> None:
        self._stream = stream
        self._packs = packs
        self._waiting: list[bytes] = []
        self._n_waiting = 0

    def write(self, line: bytes) -> None:
        """Write a line, or any bytes."""
        self._waiting.append(line)
        self._n_waiting += len(line)
        if self._n_waiting >= _MEMBER_BYTES:
            self.flush()

    def pack(self, text: bytes) -> bytes:
        """Return text as it is to stand in the file; may be called from any thread."""
        return gzip.compress(text, GZ_LEVEL, mtime=0) if self._packs and text else text

    def write_packed(self, packed: bytes) -> None:
        """Write what `pack` returned."""
        self.flush()
        self._stream.write(packed)

    def flush(self) -> None:
        """Hand everything written so far to the file."""
        if self._waiting:
            self._stream.write(self.pack(b"".join(self._waiting)))
            self._waiting, self._n_waiting = [], 0


@contextmanager
def open_output(path: str | Path) -> Iterator[LineWriter]:
    """Write a file whole or not at all: it is renamed into place when the block ends well.

    Arguments:
        path: packed as gz where it ends in `.gz`; `-` for standard output, plain.

    Raises:
        InputError: the folder does not exist, or `path` is one.
    """
    if str(path) == STANDARD_OUTPUT:
        writer = LineWriter(sys.stdout.buffer, packs=False)
        yield writer
        writer.flush()
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    packs = path.suffix == ".gz"
    if path.is_dir():
        raise InputError(f"{path}: is a folder, wanted a file to write: name a file in it")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: no such folder: create it first")
    if path.exists() and not path.is_file():  # a device or a pipe cannot be renamed over
        with open(path, "wb") as stream:
            writer = LineWriter(stream, packs)
            yield writer
            writer.flush()
        return
    target = path.resolve()  # write through a link, not over it
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as stream:
            writer = LineWriter(stream, packs)
            yield writer
            writer.flush()
            if packs and stream.tell() == 0:
                stream.write(gzip.compress(b"", GZ_LEVEL, mtime=0))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _only_file(path: str | Path) -> Source:
    if str(path) != STANDARD_INPUT and Path(path).is_dir():
        raise InputError(f"{path}: is a folder, wanted a grammar file: name one")
    return find_sources([path])[0]


@contextmanager
def rereadable(grammar: str | Path, again: bool = True) -> Iterator[str | Path]:
    """Give a path that can be read twice, if it is to be: standard input is spooled."""
    if str(grammar) != STANDARD_INPUT or not again:
        yield grammar
        return
    with tempfile.TemporaryDirectory(prefix="distsim-") as folder:
        spooled = Path(folder) / "grammar"
        with open(spooled, "wb") as file:
            for block in read_line_blocks(grammar):
                file.write(block.text)
        yield spooled
