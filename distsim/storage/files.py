"""Writes single files, whole or not at all."""

import fcntl
import gzip
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from distsim.base.arguments import one_path, real_path
from distsim.base.errors import ArtifactError, InputError

MANIFEST = "manifest.json"  # written last: makes a folder an artifact
STANDARD_OUTPUT = "-"
GZ_LEVEL = 6
_MEMBER_BYTES = 1 << 20


def _gzipped(text: bytes) -> bytes:
    return gzip.compress(text, GZ_LEVEL, mtime=0)


def _zstandard(text: bytes) -> bytes:
    import zstandard  # slow to import

    return zstandard.ZstdCompressor(write_checksum=True).compress(text)


_COMPRESSED = {".gz", ".zst", ".bz2", ".xz"}
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": _gzipped, ".zst": _zstandard}


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Add the file's name to an OSError that has none."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(file)
        raise


def raw_bytes(values: np.ndarray) -> memoryview:
    """Return an array's bytes, without a copy where it is contiguous.

    To be written by `file.write`: numpy's `tofile` loses why the system could not.

    values: of any shape and type.
    """
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def new_file(path: Path) -> BinaryIO:
    """Return a new file opened for writing; no link is followed.

    Raises:
        ArtifactError: the path exists already.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.fdopen(os.open(path, flags, 0o666), "wb")
    except FileExistsError:
        raise ArtifactError(f"{path}: exists already: remove it") from None


class LineWriter:
    """Writes bytes to a file, compressed by independent members where there is a `compress`.

    Arguments:
        stream: the file.
        compress: returns a compressed member; None: plain.
    """

    def __init__(self, stream: BinaryIO, compress: Callable[[bytes], bytes] | None) -> None:
        self._stream = stream
        self._compress = compress
        self._waiting: list[bytes | memoryview] = []
        self._n_waiting = 0

    def write(self, line: bytes | memoryview) -> None:
        """Write a line, or any bytes.

        Arguments:
            line: bytes.
        """
        self._waiting.append(line)
        self._n_waiting += len(line)
        if self._n_waiting >= _MEMBER_BYTES:
            self.flush()

    def pack(self, text: bytes) -> bytes:
        """Return text as it is stored in the file; may be called from any thread.

        Arguments:
            text: bytes.
        """
        return self._compress(text) if self._compress and text else text

    def write_packed(self, packed: bytes) -> None:
        """Write bytes that `pack` returned.

        Arguments:
            packed: the bytes.
        """
        self.flush()
        self._stream.write(packed)

    def flush(self) -> None:
        """Write all buffered bytes to the file."""
        if self._waiting:
            if len(self._waiting) == 1 and not self._compress:
                self._stream.write(self._waiting[0])  # as it is, without a copy
            else:
                self._stream.write(self.pack(b"".join(self._waiting)))
            self._waiting, self._n_waiting = [], 0


def require_suffix(path: Path, written: Collection[str]) -> None:
    """Raise where a file's name promises a compression that is not written.

    Arguments:
        path: of the file. written: the suffixes of the compressions that are written.

    Raises:
        InputError: the name ends in another suffix of compressed files.
    """
    if path.suffix in _COMPRESSED - set(written):
        wanted = f"ends in {' or '.join(written)}" if written else f"does not end in {path.suffix}"
        raise InputError(
            f"{path}: would not be compressed as {path.suffix}: give a name that {wanted}"
        )


@contextmanager
def open_output(path: str | Path, *, follow: bool = True) -> Iterator[LineWriter]:
    """Yield a writer of a file that is renamed into place when the block ends without an error.

    Arguments:
        path: compressed where it ends in `.gz` or `.zst`; `-` for standard output, plain.
        follow: a symbolic link at `path` is followed, as where the user named it; else replaced.

    Raises:
        InputError: the folder does not exist, `path` is one, or its name ends in `.bz2` or `.xz`.
    """
    if str(path) == STANDARD_OUTPUT:
        writer = LineWriter(sys.stdout.buffer, None)
        yield writer
        writer.flush()
        sys.stdout.buffer.flush()
        return
    path = one_path(path)
    require_suffix(path, _COMPRESS)
    compress = _COMPRESS.get(path.suffix)
    follows = follow or not path.is_symlink()
    if follows and path.is_dir():
        raise InputError(f"{path}: is a folder, wanted a file to write: name a file in it")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: no such folder: create it first")
    if path.name == MANIFEST and path.exists():
        raise InputError(f"{path}: belongs to an artifact, which would be lost: give another name")
    if follows and path.exists() and not path.is_file():  # nothing renames over it
        with open(path, "wb") as stream:
            writer = LineWriter(stream, compress)
            yield writer
            writer.flush()
        return
    target = real_path(path) if follows else path
    unfinished, begun = _begun(target)
    try:
        with begun:
            writer = LineWriter(begun, compress)
            yield writer
            writer.flush()
            if compress and begun.tell() == 0:
                begun.write(compress(b""))
            begun.flush()
            os.fsync(begun.fileno())
            os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _begun(target: Path) -> tuple[Path, BinaryIO]:
    """Return (path, stream) of a new unfinished file beside `target`, locked.

    Raises:
        ArtifactError: another file is in its place.
    """
    ours = re.compile(rf"\.{re.escape(target.name)}\.\d+\.unfinished")
    with suppress(OSError):  # a folder that cannot be listed can be written all the same
        for name in os.listdir(target.parent):
            if ours.fullmatch(name):
                remove_abandoned(target.with_name(name))
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    while True:
        stream = new_file(unfinished)
        fcntl.flock(stream, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):  # another process took it for one that was left
            if os.path.samestat(os.fstat(stream.fileno()), unfinished.lstat()):
                return unfinished, stream
        stream.close()


def remove_abandoned(unfinished: Path) -> None:
    """Remove an unfinished file whose writer has ended; a writer that runs holds its lock.

    Arguments:
        unfinished: path of the file; nothing is done where it is missing or locked.
    """
    with suppress(OSError):
        handle = os.open(unfinished, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISREG(os.fstat(handle).st_mode):
                unfinished.unlink()
        finally:
            os.close(handle)


def is_stream(path: Path) -> bool:
    """Return whether `path` cannot be read again: standard output, a pipe, a device."""
    return str(path) == STANDARD_OUTPUT or (path.exists() and not path.is_file())
