"""What a run has done already, kept where it is killed: lines of a file, notes on finished parts.

Lines go to `<file>.part` under a head line, which says what they depend on. A part of a run is
noted with a key of what it is made of: arrays of an artifact in the making and steps of
`make-grammar` with the checksums of their files (`FinishedPart`); tasks of a cluster, whose
machines share no lock, each by a file of its own (`FinishedTasks`), in a folder whose name is the
key.
"""

import errno
import fcntl
import json
import os
import shutil
import stat
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from distsim.base.arguments import real_path
from distsim.base.errors import InputError
from distsim.storage.files import STANDARD_OUTPUT, is_stream, naming, require_suffix
from distsim.storage.manifest import checksum_of_file


class FinishedPart(NamedTuple):
    """A note on a finished part of a run.

    Attributes:
        key: checksum of all that it is made of.
        files: checksums of its files, by their paths from where the part is.
        facts: more that the note tells, in values of JSON.
    """

    key: str
    files: dict[str, str]
    facts: dict[str, Any]

    @classmethod
    def read(cls, note: Any) -> "FinishedPart":
        """Return the part of a note, as `note` returns it.

        Raises:
            ValueError: it is none.
        """
        if not isinstance(note, dict):
            raise ValueError
        key, files = note.get("key"), note.get("files")
        if not isinstance(key, str) or not isinstance(files, dict) or not files:
            raise ValueError
        facts = {name: value for name, value in note.items() if name not in ("key", "files")}
        return cls(key, files, facts)

    @classmethod
    def of(cls, key: str, path: Path, **facts: Any) -> "FinishedPart":
        """Return the note on a file, or on all files in a folder."""
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        checksums = {
            str(file.relative_to(path)): checksum_of_file(file) for file in files if file.is_file()
        }
        return cls(key, checksums, facts)

    @property
    def note(self) -> dict[str, Any]:
        """The values of JSON that are kept."""
        return {"key": self.key, "files": self.files, **self.facts}

    def faults(self, path: Path) -> Iterator[str]:
        """Yield what is wrong with the files of the part at a path: missing ones, damaged ones."""
        for name, checksum in self.files.items():
            file = path / name
            if not file.is_file():
                yield f"{file} is missing"
            elif checksum_of_file(file) != checksum:
                yield f"{file} is damaged"

    def is_there(self, path: Path, key: str) -> bool:
        """Return whether the part was made of what has this key, and is at a path as it was."""
        return self.key == key and not any(self.faults(path))


class FinishedTasks:
    """Reports of the finished tasks of a run on machines that share a folder.

    Arguments:
        folder: of the run, named by a checksum of its plan.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "done"

    def _path(self, stage: str, number: int) -> Path:
        return self._folder / f"{stage}-{number:06d}.json"

    def note(self, stage: str, number: int, report: Any) -> None:
        """Note that a task is done.

        Arguments:
            report: values of JSON.
        """
        with replacing(self._path(stage, number)) as part:
            part.write_text(json.dumps(report))

    def has(self, stage: str, number: int) -> bool:
        """Return whether a task was done, by this run or an earlier one."""
        return self._path(stage, number).exists()

    def reports(self, stage: str) -> list[Any]:
        """Return the reports of the finished tasks of a stage, in order."""
        return [
            json.loads(path.read_text())
            for path in sorted(self._folder.glob(f"{stage}-[0-9]*.json"))
        ]


def attempt_name(path: Path) -> Path:
    """Return a hidden sibling of `path` that no other attempt has.

    Arguments:
        path: of a file or folder that will be written.
    """
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file, which replaces `path` at the end.

    Arguments:
        path: of the file that is written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = attempt_name(path)
    try:
        with naming(path):
            yield part
            os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


@contextmanager
def first_stays(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary folder, which becomes `path` unless that exists.

    Arguments:
        path: of the folder that is written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = attempt_name(path)
    try:
        yield part
        try:
            os.rename(part, path)
        except OSError:
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


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
