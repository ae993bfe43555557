"""The decorator that compiles a kernel, and the array view that every kernel is handed."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

_uncached: set[str] = set()
_compiled: list[str] = []


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel without the interpreter lock, kept in numba's cache where one is writable.

    numba raises at import where neither the package's folder nor the home folder takes a
    cache, and in the middle of a call where the cache's disk is full or its files cannot be
    read; the kernel is then compiled anew in each process.
    """
    kernel: Any = njit(nogil=True)(function)
    try:
        kernel.enable_caching()
    except (RuntimeError, OSError):
        _uncached.add(function.__name__)
        return kernel
    _forgive(kernel._cache, function.__name__)
    return kernel


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function into each kernel that calls it, so that no call is left in a loop.

    It must not raise: a loop with a way out is not made fast.
    """
    return njit(nogil=True, inline="always")(function)


def uncached_kernels() -> int:
    """Return how many kernels could not be kept in numba's cache."""
    return len(_uncached)


def compiled_kernels() -> int:
    """Return how many kernels this process had to compile: none once numba's cache has all."""
    return len(_compiled)


def _forgive(cache: Any, name: str) -> None:
    """Let a cache that fails do without, instead of failing the call."""
    load, save = cache.load_overload, cache.save_overload

    def load_if_possible(signature: Any, target: Any) -> Any:
        try:
            return load(signature, target)
        except Exception:  # whatever a damaged or unreadable cache file raises
            return None

    def save_if_possible(signature: Any, data: Any) -> None:
        _compiled.append(name)
        try:
            save(signature, data)
        except Exception:
            _uncached.add(name)

    cache.load_overload, cache.save_overload = load_if_possible, save_if_possible


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only, contiguous view of `array`.

    Memory maps are read-only, and numba compiles a kernel anew for read-only arguments:
    handing every input over as read-only keeps it at one compilation.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
