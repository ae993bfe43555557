"""Folders: temporary ones that are removed however the process ends, locks, syncing to the disk."""

import ctypes
import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from distsim.base.errors import ArtifactError


@contextmanager
def locked(folder: Path, path: Path, make: bool = False) -> Iterator[None]:
    """Hold the folder's lock during the block, or until the process ends.

    Arguments:
        make: make the folder where there is none.

    Raises:
        ArtifactError: the folder cannot be locked, or another process holds the lock.
    """
    while True:
        flags = os.O_RDONLY | os.O_DIRECTORY
        is_made = False
        if make:
            flags |= os.O_NOFOLLOW  # the hidden folder is ours; a link there is not
            with suppress(FileExistsError):
                folder.mkdir()
                is_made = True
        try:
            handle = os.open(folder, flags)
        except NotADirectoryError:
            raise ArtifactError(f"{folder}: exists already: remove it") from None
        except FileNotFoundError:
            if make:
                continue
            raise
        except OSError:
            if is_made:
                with suppress(OSError):
                    folder.rmdir()
            raise
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                raise ArtifactError(
                    f"{path}: another process is writing here: wait until it is done"
                ) from None
            same = folder.exists() and os.path.samestat(os.fstat(handle), folder.stat())
            if not same:
                continue  # it was renamed or removed while we waited for it
            yield
            return
        finally:
            os.close(handle)


def require_writable(folder: Path) -> None:
    """Check that a folder can be written, before any work is done.

    Raises:
        ArtifactError: it cannot be written.
    """
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArtifactError(
            f"{folder}: cannot be written: change its permissions or name another place"
        )


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux


def exchange(path: Path, other: Path) -> None:
    """Exchange two paths in one step, or in three renames where the system has no such call."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    places = (_AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(other))
    if rename is not None and rename(*places, _RENAME_EXCHANGE) == 0:
        return
    between = path.with_name(f"{path.name}.old")
    os.rename(other, between)
    os.rename(path, other)
    os.rename(between, path)


SCRATCH = ".distsim-scratch"
_SPARE_DESCRIPTORS = 4  # what removing a folder with folders in it takes
_NAME = re.compile(rf"\.\w+{re.escape(SCRATCH)}")


@contextmanager
def scratch_folder(folder: str | Path | None = None) -> Iterator[Path]:
    """Yield a new temporary folder, which is removed at the end of the block.

    One that a killed process left goes when the next is made in the same place: the living hold
    a lock on theirs.

    folder: where it is; the system's place for temporary files where None.
    """
    place = Path(tempfile.gettempdir() if folder is None else folder)
    with suppress(OSError):
        for entry in os.scandir(place):
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove_abandoned(Path(entry.path))
    with spare_descriptors() as spare:
        scratch, handle = _open_scratch(place)
        try:
            yield scratch
        finally:
            spare.close()
            shutil.rmtree(scratch, ignore_errors=True)
            os.close(handle)


@contextmanager
def spare_descriptors() -> Iterator[ExitStack]:
    """Yield an ExitStack of a few reserved file descriptors, to be closed before a clean-up.

    A process that has run out of them could not list a folder otherwise.
    """
    with ExitStack() as spare:
        for _ in range(_SPARE_DESCRIPTORS):
            spare.callback(os.close, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        yield spare


def _open_scratch(place: Path) -> tuple[Path, int]:
    """Return a new temporary folder and the descriptor that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=".", suffix=SCRATCH, dir=place))
        with suppress(FileNotFoundError):
            try:
                handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError:
                with suppress(OSError):
                    folder.rmdir()
                raise
            fcntl.flock(handle, fcntl.LOCK_EX)
            if folder.is_dir() and os.path.samestat(os.fstat(handle), folder.stat()):
                return folder, handle
            os.close(handle)


def _remove_abandoned(left: Path) -> None:
    with suppress(OSError):
        handle = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if os.fstat(handle).st_uid == os.geteuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
        finally:
            os.close(handle)
