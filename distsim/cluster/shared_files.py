"""Files and folders that several attempts of a task may write; the first to finish remains.

An engine may run a task again, or twice at once. So an attempt writes under a name of its own and
renames it at the end; what it writes does not depend on the attempt. No lock is needed.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from distsim.storage.files import naming, raw_bytes

_HEAD_BYTES = 4096


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


def save(path: Path, values: np.ndarray) -> None:
    """Write an array, whole or not at all.

    Arguments:
        path: of the file, in numpy's format.
    """
    values = np.ascontiguousarray(values)
    with replacing(path) as part, open(part, "wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
        file.write(raw_bytes(values))  # np.save does not say what a full disk is


def mapped(path: Path) -> np.ndarray:
    """Return a memory-mapped array; processes of one machine share its pages."""
    if path.stat().st_size <= _HEAD_BYTES:  # perhaps nothing behind the head, which has no map
        small: np.ndarray = np.load(path)
        return small
    array = np.load(path, mmap_mode="r")
    plain: np.ndarray = np.ndarray(array.shape, array.dtype, buffer=array)
    plain.flags.writeable = False
    return plain
