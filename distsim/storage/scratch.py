"""Temporary folders that are removed however the process ends."""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

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
        made, handle = _made(place)
        try:
            yield made
        finally:
            spare.close()
            shutil.rmtree(made, ignore_errors=True)
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


def _made(place: Path) -> tuple[Path, int]:
    """Return a new temporary folder and the descriptor that locks it."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=".", suffix=SCRATCH, dir=place))
        with suppress(FileNotFoundError):
            try:
                handle = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError:
                with suppress(OSError):
                    made.rmdir()
                raise
            fcntl.flock(handle, fcntl.LOCK_EX)
            if made.is_dir() and os.path.samestat(os.fstat(handle), made.stat()):
                return made, handle
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
