"""Decompression of files (gzip, bzip2, xz, zstd), each stream to its last byte.

A file's compression is recognised by its first bytes, never by its name. One rule for all
formats: streams follow one another to the end of the file, of one compression or several; zero
bytes may fill up what is behind them; anything else is an error. Reading is bounded: a piece
that comes out never takes much more memory than is asked for.
"""

import bz2
import codecs
import io
import lzma
import os
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, NamedTuple, cast

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LARGEST_RATIO = 1000
DEFAULT_UNPACK_LIMIT = 100 << 20

_MAGIC_BYTES = 6
_READ_BYTES = 1 << 17
_PIECE_BYTES = 1 << 20
# A zstd block of 4 bytes may stand for 128 kB, and its decompressor knows no bound.
_ZSTD_READ_BYTES = 1 << 9


class DamagedArchiveError(Exception):
    """Damaged compressed file; the message names the fault."""


class OtherEncodingError(Exception):
    """Text that is not of the encoding that was named; the message names the fault."""


class UnpackLimitError(Exception):
    """Compressed file that expands to much more than any text would."""


class _CompressionFormat(NamedTuple):
    """A compression format.

    new: returns a decompressor. read_bytes: its input at a time. is_bounded: it takes a limit of
    the bytes that come out.
    """

    new: Callable[[], Any]
    read_bytes: int = _READ_BYTES
    is_bounded: bool = True


class _Stream:
    """Decompressor of one stream; `rest` is input after the stream's end."""

    def __init__(self, compression: _CompressionFormat) -> None:
        self._stream = compression.new()
        self._bounds = (_PIECE_BYTES,) if compression.is_bounded else ()
        self.read_bytes = compression.read_bytes
        self.rest = b""

    @property
    def is_hungry(self) -> bool:
        """Whether it needs more input before it has more output."""
        return bool(getattr(self._stream, "needs_input", True))

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        return bool(self._stream.eof)

    def decompress(self, compressed: bytes) -> bytes:
        """Return the next uncompressed bytes; input behind the stream's end becomes `rest`."""
        data: bytes = self._stream.decompress(compressed, *self._bounds)
        self.rest = (
            self._stream.unused_data if self.eof else getattr(self._stream, "unconsumed_tail", b"")
        )
        return data


def _new_zstd() -> Any:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


_GZ = _CompressionFormat(partial(zlib.decompressobj, 31))
_BZ2 = _CompressionFormat(bz2.BZ2Decompressor)
_XZ = _CompressionFormat(partial(lzma.LZMADecompressor, lzma.FORMAT_XZ))
_ZSTD = _CompressionFormat(_new_zstd, _ZSTD_READ_BYTES, is_bounded=False)


def _compression(magic: bytes) -> _CompressionFormat | None:
    """Return the compression format by a file's first bytes, None for an uncompressed file."""
    if magic.startswith(b"\x1f\x8b"):
        return _GZ
    if magic.startswith(b"BZh"):
        return _BZ2
    if magic.startswith(b"\xfd7zXZ\x00"):
        return _XZ
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return _ZSTD
    if magic[1:4] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50:
        return _ZSTD  # a frame that is to be skipped
    return None


class _Decompressor(io.RawIOBase):
    """Stream of the uncompressed bytes of a file."""

    def __init__(self, raw: BinaryIO, unpack_limit: int) -> None:
        self._raw = raw
        self._limit = unpack_limit
        self._compressed_bytes = 0
        self._file_bytes = _size_of(raw)
        self._decompressed_bytes = 0
        self._stream: _Stream | None = None
        self._waiting = b""  # compressed
        self._ready = memoryview(b"")  # decompressed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._stream is None and not self._begin():
                return 0
            self._decompress()
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _read(self, size: int) -> bytes:
        data = self._raw.read(size)
        self._compressed_bytes += len(data)
        return data

    def _begin(self) -> bool:
        """Return whether there is another stream, after beginning it."""
        while True:
            self._waiting += self._read(max(0, _MAGIC_BYTES - len(self._waiting)))
            if not self._waiting:
                return False
            filled = self._waiting.lstrip(b"\0")
            if len(filled) == len(self._waiting) or not self._decompressed_any:
                break
            self._waiting = filled or self._read(_READ_BYTES)
        kind = _compression(self._waiting)
        if kind is None:
            raise DamagedArchiveError("what follows its last stream is no archive")
        self._stream = _Stream(kind)
        return True

    @property
    def _decompressed_any(self) -> bool:
        return self._compressed_bytes > len(self._waiting)

    def _decompress(self) -> None:
        stream = cast(_Stream, self._stream)
        compressed = b""
        if self._waiting:
            compressed = self._waiting[: stream.read_bytes]
            self._waiting = self._waiting[stream.read_bytes :]
        elif stream.is_hungry:
            compressed = self._read(stream.read_bytes)
            if not compressed:
                raise EOFError
        try:
            data = stream.decompress(compressed)
        except (zlib.error, lzma.LZMAError, OSError, ValueError) as error:
            raise DamagedArchiveError(str(error)) from None
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            raise DamagedArchiveError(str(error)) from None
        self._waiting = stream.rest + self._waiting
        if stream.eof:
            self._stream = None
        self._ready = memoryview(data)
        self._decompressed_bytes += len(data)
        size = max(self._compressed_bytes, self._file_bytes)
        if self._decompressed_bytes > max(self._limit, LARGEST_RATIO * size):
            raise UnpackLimitError


class _Rejoined(io.RawIOBase):
    """Stream of bytes that were read already, followed by the rest."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)]
        if data:
            self._head = self._head[len(data) :]
        else:
            data = self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._rest.close()
        super().close()


def decompressed(raw: io.BufferedReader, unpack_limit: int) -> BinaryIO:
    """Return a stream of a file's bytes, uncompressed and without a byte order mark.

    Arguments:
        raw: the file's bytes.
        unpack_limit: bytes.

    Raises (also while it is read):
        EOFError: it is compressed and cut short. DamagedArchiveError: it is damaged.
        UnpackLimitError: it unpacks to more than `unpack_limit` bytes and LARGEST_RATIO times
            its size.
    """
    magic, raw = peeked(raw, _MAGIC_BYTES)
    text = raw
    if _compression(magic) is not None:
        text = io.BufferedReader(_Decompressor(raw, unpack_limit), _PIECE_BYTES)
    head, text = peeked(text, len(BYTE_ORDER_MARK))
    if head == BYTE_ORDER_MARK:
        text.read(len(head))
    return text


class _Recoded(io.RawIOBase):
    """Stream of a text in UTF-8 whose bytes are of another encoding."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = memoryview(b"")
        self._n_bytes = 0
        self._is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._is_over:
            data = self._stream.read(_READ_BYTES)
            self._is_over = not data
            try:
                text = self._decoder.decode(data, self._is_over)
                self._ready = memoryview(text.encode())
            except UnicodeError as error:
                begin = self._n_bytes + getattr(error, "start", 0)
                reason = getattr(error, "reason", str(error))
                raise OtherEncodingError(f"{reason} at byte {begin + 1:,}") from None
            self._n_bytes += len(data)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def recoded(stream: BinaryIO, encoding: str) -> BinaryIO:
    """Return a stream of a text in UTF-8, without a byte order mark.

    Arguments:
        stream: of its bytes.
        encoding: of these, known to Python.

    Raises, while it is read:
        OtherEncodingError: they are not of that encoding.
    """
    text: Any = io.BufferedReader(_Recoded(stream, encoding), _PIECE_BYTES)
    head, text = peeked(text, len(BYTE_ORDER_MARK))
    if head == BYTE_ORDER_MARK:
        text.read(len(head))
    return cast(BinaryIO, text)


def peeked(stream: io.BufferedReader, size: int) -> tuple[bytes, io.BufferedReader]:
    """Return the first bytes of a stream, fewer only where it ends, and the whole stream.

    Arguments:
        size: number of bytes.
    """
    head = stream.peek(size)[:size]
    if len(head) < size:  # a pipe gives what it has
        head = stream.read(size)
        stream = io.BufferedReader(_Rejoined(head, stream), _READ_BYTES)
    return head, stream


def _size_of(raw: BinaryIO) -> int:
    """Return the size in bytes of a stream's file, 0 where it has none."""
    try:
        return os.fstat(raw.fileno()).st_size
    except (OSError, ValueError):
        return 0
