"""The decorators that make kernels of Python functions, and the array view that kernels take.

numba takes most of a second to import. It is imported when a kernel is first called, so that
commands that call none start at once.
"""

import sys
from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np

_making = RLock()


class Kernel:
    """A function that numba compiles when it is first called.

    To numba it is the compiled function: other kernels call it by its name.

    Arguments:
        function: the Python function.
        how: the name of the function in distsim.kernels.compiling that makes it.
    """

    def __init__(self, function: Callable[..., Any], how: str) -> None:
        self.py_func = function
        self.__name__, self.__module__ = function.__name__, function.__module__
        self.__doc__ = function.__doc__
        self._how = how
        self._function: Any = None  # what Python calls
        self._called: Any = None  # what other kernels call

    def __call__(self, *arguments: Any) -> Any:
        """Return the kernel's result."""
        function = self._function
        return function(*arguments) if function is not None else self._make()(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by inspect, copy and others of any object
            raise AttributeError(name)
        if name == "_numba_type_":
            return self._make_called()._numba_type_
        return getattr(self._make(), name)

    def _make_called(self) -> Any:
        """Return the compiled kernel for other kernels, without the part that Python calls."""
        if self._how != "cached_kernel":
            return self._make()
        from distsim.kernels import compiling

        with _making:
            if self._called is None:
                self._called = compiling.called_kernel(self.py_func)
        return self._called

    def _make(self) -> Any:
        """Return the compiled kernel, made at the first call."""
        from distsim.kernels import compiling

        with _making:
            if self._function is None:
                self._function = getattr(compiling, self._how)(self.py_func)
        return self._function


def compiled(function: Callable[..., Any]) -> Any:
    """Return a kernel that runs without the interpreter lock and is stored in numba's cache.

    Where the cache cannot be written or read, the kernel is compiled anew in each process.

    function: of typed arrays and numbers.
    """
    return Kernel(function, "cached_kernel")


def inlined(function: Callable[..., Any]) -> Any:
    """Return a small function that is compiled into each kernel that calls it.

    It must not raise: a loop with a way out is not made fast.

    function: of typed arrays and numbers.
    """
    return Kernel(function, "inlined_kernel")


def uncounted(function: Callable[..., Any]) -> Any:
    """Return a function that kernels call and that makes no arrays: it counts no references.

    Otherwise every call that numba does not inline adds to and takes from the counts of all
    arrays that it is handed, each time locking the processor's bus: in a short function that
    takes longer than the rest. It may call others of its kind alone, and not be called from
    Python.

    function: of typed arrays and numbers.
    """
    return Kernel(function, "uncounted_kernel")


def folded(function: Callable[..., Any]) -> Any:
    """Return a kernel that is not counted on its own and is compiled into each of its callers.

    It is meant for parts of a long kernel: a call with tens of arrays costs as much time as a
    short part does.

    Arguments:
        function: of typed arrays and numbers.
    """
    return Kernel(function, "folded_kernel")


def intrinsic(function: Callable[..., Any]) -> Any:
    """Return a function that kernels call and that emits machine instructions itself.

    function: takes numba's typing context and the types of arguments, and returns (signature,
    generator of code).
    """
    return Kernel(function, "intrinsic_kernel")


def uncached_kernels() -> int:
    """Return how many kernels could not be stored in numba's cache."""
    compiling = sys.modules.get("distsim.kernels.compiling")
    return 0 if compiling is None else len(compiling.uncached)


def compiled_kernels() -> int:
    """Return the number of kernels that this process compiled; 0 once numba's cache has all."""
    compiling = sys.modules.get("distsim.kernels.compiling")
    return 0 if compiling is None else len(compiling.compiled)


def is_kept(kernel: Any) -> bool:
    """Return whether numba's cache has a kernel, for any kind of arguments.

    Arguments:
        kernel: a compiled function.
    """
    from distsim.kernels.compiling import is_cached

    return is_cached(kernel)


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only, contiguous view of `array`.

    Memory maps are read-only, and numba compiles a kernel anew for read-only arguments:
    handing every input over as read-only keeps it at one compilation.

    Arguments:
        array: of any dtype.
    """
    if type(array) is np.ndarray and array.ndim:
        flags = array.flags
        if flags.c_contiguous and not flags.writeable:
            return array
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
