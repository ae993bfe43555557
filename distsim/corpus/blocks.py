"""Sources -> blocks of whole lines, valid UTF-8, each with its file and first line number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from distsim.corpus.sources import Source, open_source
from distsim.errors import InputError

BLOCK_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Whole lines of one file.

    text: UTF-8, lines ended by a newline (the file's last line perhaps not).
    source: index of the file. first_line: number of the first line, from 1.
    """

    text: bytes
    source: int
    first_line: int


def read_blocks(sources: Sequence[Source], block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """Yield the sources' text in blocks of about `block_bytes`, a longer line in one piece.

    Raises:
        InputError: a file cannot be read, or is not UTF-8 (file, line and byte are named).
    """
    for number, source in enumerate(sources):
        with open_source(source) as stream:
            line = 1
            rest = b""
            at_start = True
            while chunk := stream.read(block_bytes):
                if at_start:
                    chunk = chunk.removeprefix(_BYTE_ORDER_MARK)
                    at_start = False
                cut = chunk.rfind(b"\n") + 1
                if not cut:
                    rest += chunk
                    continue
                text = rest + chunk[:cut]
                rest = chunk[cut:]
                _check_utf8(text, source, line)
                yield Block(text, number, line)
                line += text.count(b"\n")
            if rest:
                _check_utf8(rest, source, line)
                yield Block(rest, number, line)


def _check_utf8(text: bytes, source: Source, first_line: int) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = first_line + text.count(b"\n", 0, error.start)
        column = error.start - (text.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{source.path}, line {line}, byte {column}: not UTF-8 "
            f"(found 0x{text[error.start]:02x}): convert the file to UTF-8"
        ) from None
