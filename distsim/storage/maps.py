"""Read-only arrays of files: small ones are read, larger ones memory-mapped."""

import ctypes
import mmap
import os
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SMALL_BYTES = 1 << 16
# Of each live map, by its address: the file, its device and inode, and the bytes mapped.
_MAPS: dict[int, tuple[str, int, int, int]] = {}


def read_only(file: Path, dtype: str, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Return the array in a file of `size` bytes.

    Arguments:
        file: its path.
        dtype, shape: of the array.
        size: bytes of the file.
    """
    # No link is followed, nothing waited for.
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        data = _mapped(handle, file, size) if size > SMALL_BYTES else os.read(handle, size)
    finally:
        os.close(handle)
    values = np.frombuffer(data, dtype).reshape(shape)
    values.flags.writeable = False
    return values


def _mapped(handle: int, file: Path, size: int) -> memoryview:
    """Return a file's bytes, memory-mapped, without a file descriptor that stays open.

    Python's mmap keeps one for each map (until 3.13's trackfd), and an index has five maps
    a shard: too many for a process that may open 64 files.
    """
    library = memory_maps()
    address = library.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, handle, 0)
    if address == ctypes.c_void_p(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(file))
    pages = (ctypes.c_ubyte * size).from_address(address)
    status = os.fstat(handle)
    _MAPS[address] = (os.path.abspath(file), status.st_dev, status.st_ino, size)
    # At exit the maps go with the process: a thread may still be reading them.
    weakref.finalize(pages, _unmap, address, size).atexit = False
    return memoryview(pages).cast("B").toreadonly()


def _unmap(address: int, size: int) -> None:
    del _MAPS[address]  # first: the next map may get this address
    memory_maps().munmap(address, size)


def cut_short() -> str | None:
    """Return the name of a mapped file that is now shorter than its map; None if there is none.

    Reading the missing part of such a file would end the process (SIGBUS). A file that was removed
    or replaced is not reported: its map remains valid. All maps of the process are checked.
    """
    for file, device, inode, size in list(_MAPS.values()):
        try:
            status = os.stat(file)
        except OSError:
            continue
        if (status.st_dev, status.st_ino) == (device, inode) and status.st_size < size:
            return file
    return None


@cache
def memory_maps() -> Any:
    """Return the C library, with its mmap and munmap declared."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    )  # fmt: skip
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return library
