"""Writes single files: whole or not at all, or continued where a run stopped."""

import errno
import fcntl
import gzip
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
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


class ResumableLines:
    """An unfinished file of records under a head line; it contains `done` records already.

    Arguments:
        stream: the file, at its end.
        done: records.
        begin: where the first record begins.
    """

    def __init__(self, stream: BinaryIO, done: int, begin: int = 0) -> None:
        self._stream = stream
        self.done = done
        self._begin = begin

    def write(self, record: bytes) -> None:
        """Write the next record; it stays when the process is killed.

        Arguments:
            record: bytes of one line.
        """
        self._stream.write(record)
        self._stream.flush()
        self.done += 1

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of all records, those of an earlier run, too; write none meanwhile."""
        self._stream.seek(self._begin)
        try:
            yield from self._stream
        finally:
            self._stream.seek(0, os.SEEK_END)

    def sync(self) -> None:
        """Wait until the disk has all records."""
        os.fsync(self._stream.fileno())


def is_stream(path: Path) -> bool:
    """Return whether `path` cannot be read again: standard output, a pipe, a device."""
    return str(path) == STANDARD_OUTPUT or (path.exists() and not path.is_file())


def is_finished(path: Path, head: bytes) -> bool:
    """Return whether `path` is the complete file of a run with this head line.

    Arguments:
        head: first line of the file, which names the run.

    Raises:
        InputError: the file there is of another run; or there can be none.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: name a file in a folder that exists")
    if is_stream(path) or not path.exists() or path.stat().st_size == 0:
        return False
    with open(path, "rb") as file:
        _require_begun(path, file.read(len(head)) == head)
    return True


@contextmanager
def resumable_lines(
    path: Path, head: bytes, record_of: Callable[[bytes], object] | None = None
) -> Iterator[ResumableLines]:
    """Yield a writer of records; a stopped run leaves `<path>.part`, which the next continues.

    The part becomes the file when the block ends well. A pipe or a device is never read, so a run
    that writes to one begins anew.

    Arguments:
        head: the first line, which says what the others depend on; a part is continued only
            under the same one.
        record_of: tells which record a line is of, where one may have several lines; the last
            record of a part may then lack some, and is written again. A line each where None.

    Raises:
        InputError: the part has another head, another process is writing it, or the name of the
            file is that of a compressed one.
    """
    require_suffix(path, ())
    if is_stream(path):
        is_output = str(path) == STANDARD_OUTPUT
        with nullcontext(sys.stdout.buffer) if is_output else open(path, "wb") as stream:
            stream.write(head)
            yield ResumableLines(stream, 0)
        return
    path = real_path(path)  # write through a link, not over it
    with resumable_part(path, head, record_of) as lines:
        yield lines
        lines.sync()
        os.replace(part_of(path), path)


@contextmanager
def resumable_part(
    path: Path, head: bytes, record_of: Callable[[bytes], object] | None = None
) -> Iterator[ResumableLines]:
    """Yield a writer of records to `<path>.part`, which stays.

    It is removed where an error comes before the first record.

    Arguments:
        head: the first line, which an unfinished file must have.
        record_of: tells which record a line is of, where one may have several lines; the last
            record of a part may then lack some, and is written again. A line each where None.
    """
    with open_part(path) as file:
        lines = ResumableLines(file, _whole_records(file, path, head, record_of), len(head))
        try:
            yield lines
        except BaseException:
            if not lines.done:
                part_of(path).unlink()
            raise


def part_of(path: Path) -> Path:
    """Return the path of the unfinished part of a file that is written record by record."""
    return path.with_name(path.name + ".part")


def open_part(path: Path) -> BinaryIO:
    """Return the unfinished part of a file, opened for reading and writing, and locked.

    Raises:
        InputError: something else is there, or another process is writing it.
    """
    part = part_of(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(part, flags, 0o666)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise
        raise InputError(f"{part}: exists already: remove it") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:  # a hard link to another's file
            raise InputError(f"{part}: exists already: remove it")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not part.exists() or not os.path.samestat(status, part.lstat()):
            raise BlockingIOError  # the other process has just put it in place
        return os.fdopen(handle, "r+b")
    except BlockingIOError:
        os.close(handle)
        raise InputError(f"{path}: another process is writing it: wait until it is done") from None
    except BaseException:
        os.close(handle)
        raise


def _require_begun(path: Path, is_ours: bool) -> None:
    """Raise where a file was begun by another run.

    Raises:
        InputError: it is not written by distsim.
    """
    if not is_ours:
        raise InputError(
            f"{path}, line 1: was begun with other settings, another text or another index: "
            "remove it, or give another name with -o"
        )


def _whole_records(
    file: BinaryIO, path: Path, head: bytes, record_of: Callable[[bytes], object] | None
) -> int:
    """Return the number of whole records in a file, and cut off the bytes after the last one."""
    begun = file.read(len(head))
    _require_begun(part_of(path), head.startswith(begun))
    if begun != head:
        file.seek(0)
        file.truncate()
        file.write(head)
        file.flush()
        return 0
    done, size = 0, len(head)
    last, of_last = None, 0  # the record of the lines before, and their bytes, which may lack some
    for line in file:
        if not line.endswith(b"\n"):
            break
        record = None if record_of is None else record_of(line)
        if of_last and (record is None or record != last):
            done, size, of_last = done + 1, size + of_last, 0
        last, of_last = record, of_last + len(line)
    if record_of is None and of_last:
        done, size = done + 1, size + of_last
    file.truncate(size)
    file.seek(size)
    return done
