"""Files -> read-only arrays: small ones read, larger ones memory-mapped."""

import ctypes
import mmap
import os
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SMALL_BYTES = 1 << 16


def read_only(file: Path, dtype: str, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Return the array that a file of `size` bytes holds."""
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
    # At exit the maps go with the process: a thread may still be reading them.
    weakref.finalize(pages, library.munmap, address, size).atexit = False
    return memoryview(pages).cast("B").toreadonly()


@cache
def memory_maps() -> Any:
    """Return the C library, with its mmap, munmap and madvise declared."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    )  # fmt: skip
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return library
