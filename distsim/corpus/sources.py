"""Paths -> named byte streams: files and folders, plain or compressed, and standard input.

What a file is packed with is told by its first bytes, never by its name.
"""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from distsim.errors import InputError

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Source:
    """One file to read: `name` is what concordances show, `path` where it is."""

    name: str
    path: str


def find_sources(paths: Sequence[str | Path]) -> list[Source]:
    """Return the files behind `paths`: a file itself, a folder's files by name, `-` as stdin.

    Names are the file's own, within a folder the path from that folder, so that the same
    corpus gives the same index wherever it stands. Hidden files in folders are passed over.

    Raises:
        InputError: a path does not exist, a folder holds no file, standard input is named twice.
    """
    found: list[Source] = []
    for given in paths:
        if str(given) == STANDARD_INPUT:
            if any(source.path == STANDARD_INPUT for source in found):
                raise InputError("standard input (-) was named twice: name it once")
            found.append(Source("stdin", STANDARD_INPUT))
            continue
        path = Path(given)
        if path.is_dir():
            inside = [
                Source(file.relative_to(path).as_posix(), str(file))
                for file in sorted(path.rglob("*"))
                if file.is_file()
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
            ]
            if not inside:
                raise InputError(f"{path}: the folder holds no files: name one that does")
            found.extend(inside)
        elif path.exists():
            found.append(Source(path.name, str(path)))
        else:
            raise InputError(f"{path}: no such file or folder: check the path")
    return found


@contextmanager
def open_source(source: Source) -> Iterator[BinaryIO]:
    """Open a source for reading its bytes, unpacked.

    Raises:
        InputError: the file cannot be opened, or is packed and damaged or cut short
            (found while reading, inside the `with` block).
    """
    label = "standard input" if source.path == STANDARD_INPUT else source.path
    try:
        if source.path == STANDARD_INPUT:
            raw = cast(io.BufferedReader, sys.stdin.buffer)
        else:
            raw = open(source.path, "rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise InputError(f"{label}: cannot be opened: {error.strerror}") from None
    with raw:
        try:
            yield _unpacked(raw)
        except EOFError:
            raise InputError(
                f"{label}: the archive is cut short: fetch or pack the file again"
            ) from None
        except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, _ZstdError) as error:
            raise InputError(
                f"{label}: the archive is damaged ({error}): fetch or pack the file again"
            ) from None
        except OSError as error:
            if error.errno is None:  # bz2 reports damage so
                raise InputError(
                    f"{label}: the archive is damaged ({error}): fetch or pack the file again"
                ) from None
            raise InputError(f"{label}: cannot be read: {error.strerror}") from None


class _ZstdError(Exception):
    """A zstd frame is damaged."""


class _ZstdReader(io.RawIOBase):
    """Unpacks any number of zstd frames and notices when the last one is not complete."""

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard

        self._raw = raw
        self._new_frame = zstandard.ZstdDecompressor
        self._frame = self._new_frame().decompressobj()
        self._error = zstandard.ZstdError
        self._begun = False
        self._packed = b""
        self._unpacked = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        while not self._unpacked:
            packed = self._packed or self._raw.read(1 << 17)
            self._packed = b""
            if not packed:
                if self._begun:
                    raise EOFError
                return 0
            if not self._begun:
                self._frame = self._new_frame().decompressobj()
                self._begun = True
            try:
                self._unpacked = self._frame.decompress(packed)
            except self._error as error:
                raise _ZstdError(str(error)) from None
            if self._frame.eof:
                self._packed = self._frame.unused_data
                self._begun = False
        size = min(len(buffer), len(self._unpacked))
        buffer[:size] = self._unpacked[:size]
        self._unpacked = self._unpacked[size:]
        return size


def _unpacked(raw: io.BufferedReader) -> BinaryIO:
    magic = raw.peek(6)[:6]
    if magic.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if magic.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(raw))
    if magic.startswith(b"\xfd7zXZ\x00"):
        return cast(BinaryIO, lzma.LZMAFile(raw))
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return cast(BinaryIO, io.BufferedReader(_ZstdReader(raw), 1 << 20))
    return raw
