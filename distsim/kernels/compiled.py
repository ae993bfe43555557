"""The decorator that compiles a kernel, and the array view that every kernel is handed."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel without the interpreter lock, kept in numba's cache where one is writable.

    numba raises at import where neither the package's folder nor the home folder takes a
    cache; the kernel is then compiled anew in each process.
    """
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only, contiguous view of `array`.

    Memory maps are read-only, and numba compiles a kernel anew for read-only arguments:
    handing every input over as read-only keeps it at one compilation.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
