"""Compiles kernels with numba and stores them in its cache; imported when the first is called."""

import hashlib
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit, types
from numba.core.caching import IndexDataCacheFile
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.extending import intrinsic

uncached: set[str] = set()  # names of the kernels that could not be stored in the cache
compiled: list[str] = []  # names of the kernels that this process compiled
_IMPORTED = re.compile(rb"^(?:from|import) ([\w.]+)", re.MULTILINE)
_DIGEST_BYTES = 8
_UNCOUNTED: Any = {
    "nogil": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip


def cached_kernel(function: Callable[..., Any]) -> Any:
    """Return a kernel that runs without the interpreter lock and is stored in numba's cache.

    numba raises at import where neither the package's folder nor the home folder takes a
    cache, and in the middle of a call where the cache's disk is full or its files cannot be
    read; the kernel is then compiled anew in each process.

    function: of typed arrays and numbers.
    """
    kernel = _without_literals(njit(nogil=True)(function))
    try:
        kernel.enable_caching()
        kernel._cache._cache_file = _CompiledFiles(kernel._cache, function)
    except (RuntimeError, OSError):
        uncached.add(function.__name__)
        return _without_literals(njit(nogil=True)(function))
    _forgive(kernel._cache, function.__name__)
    return kernel


def _without_literals(kernel: Any) -> Any:
    """Return a kernel that is compiled once for literals and variables of a type.

    To numba each literal in a call is a type of its own, for which it compiles the callee anew.
    """
    template_for = kernel.get_call_template

    def without_literals(args: Any, kws: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in kws.items()}
        return template_for([types.unliteral(kind) for kind in args], named)

    kernel.get_call_template = without_literals
    return kernel


def inlined_kernel(function: Callable[..., Any]) -> Any:
    """Return a function that numba compiles inline into each kernel that calls it.

    Arguments:
        function: takes and returns typed arrays and numbers.
    """
    return njit(nogil=True, inline="always")(function)


def uncounted_kernel(function: Callable[..., Any]) -> Any:
    """Return a function for kernels that counts no references to its arrays.

    function: of typed arrays and numbers.
    """
    return _without_literals(njit(**_UNCOUNTED)(function))


def folded_kernel(function: Callable[..., Any]) -> Any:
    """Return an uncounted function that is compiled into each of its callers.

    function: of typed arrays and numbers.
    """
    return _without_literals(njit(**_UNCOUNTED, forceinline=True)(function))


def intrinsic_kernel(function: Callable[..., Any]) -> Any:
    """Return an intrinsic of numba, with the type by which kernels find it.

    function: takes numba's typing context and the types of arguments, and returns (signature,
    generator of code).
    """
    made: Any = intrinsic(function)
    context = cpu_target.typing_context
    context.refresh()  # it was registered just now
    made._numba_type_ = context.resolve_value_type(made)
    return made


def is_cached(kernel: Any) -> bool:
    """Return whether numba's cache has a kernel, for any kind of arguments.

    Arguments:
        kernel: a compiled function.
    """
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return isinstance(file, _CompiledFiles) and file.holds_any()


class _CompiledFiles(IndexDataCacheFile):
    """A file for each kernel, signature and state of the source, recognised by its name.

    numba's own index is written before the file that it names, and both begin at 1 again when
    the source changes: a process that is killed in between, or two that compile at once, leave
    the code of another signature or of the old source where the new one's is looked for. Nor
    does numba see that a kernel or a constant has changed which is imported from another file.
    """

    def __init__(self, cache: Any, function: Callable[..., Any]) -> None:
        base = cache._impl.filename_base
        super().__init__(cache.cache_path, base, None)
        self._before = f"{base}."
        self._name = f"{base}.{_state_of(Path(function.__code__.co_filename))}"

    def save(self, key: Any, data: Any) -> None:
        """Store a compiled kernel; files of other states of the source are removed."""
        for name in os.listdir(self._cache_path):
            if name.startswith(self._before) and not name.startswith(self._name):
                with suppress(OSError):
                    os.unlink(self._data_path(name))
        self._save_data(self._named(key), (key, data))

    def load(self, key: Any) -> Any:
        """Return a stored kernel, None where there is none."""
        try:
            kept, data = self._load_data(self._named(key))
        except FileNotFoundError:
            return None
        return data if kept == key else None

    def holds_any(self) -> bool:
        """Return whether anything is kept of this state of the source."""
        with suppress(OSError):
            return any(name.startswith(self._name) for name in os.listdir(self._cache_path))
        return False

    def _named(self, key: Any) -> str:
        """Return the name of the file of a compiled kernel."""
        digest = hashlib.blake2b(repr(key).encode(), digest_size=_DIGEST_BYTES).hexdigest()
        return f"{self._name}.{digest}.nbc"


@cache
def _state_of(file: Path) -> str:
    """Return a checksum of a kernel's file, the kernels that it imports, and of numba."""
    files, waiting = {file, Path(__file__)}, [file]
    while waiting:
        for name in _IMPORTED.findall(_text_of(waiting.pop())):
            found = getattr(sys.modules.get(name.decode()), "__file__", None)
            if found is not None and (one := Path(found)).parent.name == "kernels":
                waiting += {one} - files
                files.add(one)
    checksum = hashlib.blake2b(numba.__version__.encode(), digest_size=_DIGEST_BYTES)
    for one in sorted(files):
        checksum.update(b"\0" + one.name.encode() + b"\0" + _text_of(one))
    return checksum.hexdigest()


@cache
def _text_of(file: Path) -> bytes:
    """Return the bytes of a source file."""
    return file.read_bytes()


def _forgive(cache: Any, name: str) -> None:
    """Make a failing cache a miss instead of an error of the call.

    What is kept is loaded without numba's registries, which take half a second and are needed
    only where something is compiled; numba fills them then by itself.
    """
    load = getattr(cache, "_load_overload", None) or cache.load_overload
    save = cache.save_overload

    def load_if_possible(signature: Any, target: Any) -> Any:
        try:
            rtsys.initialize(target)
            return load(signature, target)
        except Exception:  # whatever a damaged or unreadable cache file raises
            return None

    def save_if_possible(signature: Any, data: Any) -> None:
        compiled.append(name)
        try:
            save(signature, data)
        except Exception:
            uncached.add(name)

    cache.load_overload, cache.save_overload = load_if_possible, save_if_possible
