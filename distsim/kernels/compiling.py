"""Compiles kernels with numba and stores them in its cache; imported when the first is called."""

import fcntl
import gc
import hashlib
import importlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.core.caching import IndexDataCacheFile
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.extending import intrinsic

uncached: set[str] = set()  # names of the kernels that could not be stored in the cache
compiled: list[str] = []  # names of the kernels that this process compiled
_IMPORTED = re.compile(rb"^(?:from|import) ([\w.]+)", re.MULTILINE)
_DIGEST_BYTES = 8
_PATIENCE = 120.0  # seconds for which another process that compiles a kernel is waited for
_PAUSE = 0.01
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
    return _kept(function, "", nogil=True, no_cfunc_wrapper=True)


def called_kernel(function: Callable[..., Any]) -> Any:
    """Return what other kernels call: the same without the part that Python calls, also stored.

    function: of typed arrays and numbers.
    """
    return _kept(function, "called-", nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _kept(function: Callable[..., Any], prefix: str, **options: Any) -> Any:
    """Return a kernel that is stored in numba's cache under its name after the prefix."""
    kernel = _without_literals(njit(**options)(function))
    files = None
    try:
        kernel.enable_caching()
        files = kernel._cache._cache_file = _CompiledFiles(kernel._cache, function, prefix)
    except (RuntimeError, OSError):
        uncached.add(function.__name__)
        kernel = _without_literals(njit(**options)(function))
    else:
        _forgive(kernel._cache, function.__name__)
    compile_kernel = kernel.compile

    def compile_quickly(signature: Any) -> Any:
        if files is None:
            _replace_allocation()
        with _uncollected():
            try:
                return compile_kernel(signature)
            finally:
                if files is not None:
                    files.unlock()

    kernel.compile = compile_quickly
    return kernel


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave out Python's garbage collection, which takes an eighth of the time of compilation."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


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
    made_intrinsic: Any = intrinsic(function)
    context = cpu_target.typing_context
    context.refresh()  # it was registered just now
    made_intrinsic._numba_type_ = context.resolve_value_type(made_intrinsic)
    return made_intrinsic


def signature_text(arguments: Any) -> str | None:
    """Return types of arguments as text (`uint8:1r,int64`); None if some are no plain arrays.

    After the colon an array has its number of dimensions, and an r if it is read-only.

    Arguments:
        arguments: numba's types.
    """
    texts = []
    for kind in arguments:
        if isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned:
            texts.append(f"{kind.dtype}:{kind.ndim}{'' if kind.mutable else 'r'}")
        elif isinstance(kind, types.Number | types.Boolean):
            texts.append(str(kind))
        else:
            return None
    return ",".join(texts)


def compile_signature(module: str, name: str, text: str) -> None:
    """Compile a kernel for arguments as in signature_text, unless numba's cache has it."""
    arguments = []
    for argument in text.split(","):
        entry, _, shape = argument.partition(":")
        kind = getattr(types, entry)
        if shape:
            kind = types.Array(kind, int(shape.rstrip("r")), "C", readonly=shape.endswith("r"))
        arguments.append(kind)
    getattr(importlib.import_module(module), name).compile(tuple(arguments))


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

    def __init__(self, cache: Any, function: Callable[..., Any], prefix: str) -> None:
        base = prefix + cache._impl.filename_base
        super().__init__(cache.cache_path, base, None)
        self._locked: list[tuple[int, int]] = []  # threads, and what they have locked
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
        name = self._named(key)
        try:
            kept, data = self._load_data(name)
        except FileNotFoundError:
            if not self._lock(name):
                return None
            try:
                kept, data = self._load_data(name)
            except FileNotFoundError:
                return None
        return data if kept == key else None

    def _lock(self, name: str) -> bool:
        """Lock a name for this process to compile it; return whether another one had it before.

        Two commands that begin at the same time compile each kernel once: the second waits.
        """
        place = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big")
        waits_until = time.monotonic() + _PATIENCE
        waited = False
        with suppress(OSError):
            file = _lock_file(self._cache_path)
            while time.monotonic() < waits_until:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                except (BlockingIOError, PermissionError):
                    waited = True
                    time.sleep(_PAUSE)
                else:
                    self._locked.append((get_ident(), place))
                    break
        return waited

    def unlock(self) -> None:
        """Release what this thread has locked."""
        for lock in [lock for lock in self._locked if lock[0] == get_ident()]:
            self._locked.remove(lock)
            with suppress(OSError):
                fcntl.lockf(_lock_file(self._cache_path), fcntl.LOCK_UN, 1, lock[1])

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
def _lock_file(folder: str) -> int:
    """Return an open file of the cache's folder whose bytes stand for kernels."""
    return os.open(
        os.path.join(folder, "compiling.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666
    )


@cache
def _state_of(file: Path) -> str:
    """Return a checksum of a kernel's file, the kernels that it imports, and of numba."""
    files, waiting = {file, Path(__file__)}, [file]
    while waiting:
        for name in _IMPORTED.findall(_text_of(waiting.pop())):
            file_name = getattr(sys.modules.get(name.decode()), "__file__", None)
            module_file = Path(file_name or "")
            if "kernels" in (module_file.stem, module_file.parent.name):
                waiting += {module_file} - files
                files.add(module_file)
    checksum = hashlib.blake2b(numba.__version__.encode(), digest_size=_DIGEST_BYTES)
    for module_file in sorted(files):
        checksum.update(b"\0" + module_file.name.encode() + b"\0" + _text_of(module_file))
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
            loaded = load(signature, target)
        except Exception:  # whatever a damaged or unreadable cache file raises
            loaded = None
        if loaded is None:
            _replace_allocation()
        return loaded

    def save_if_possible(signature: Any, data: Any) -> None:
        compiled.append(name)
        try:
            save(signature, data)
        except Exception:
            uncached.add(name)

    cache.load_overload, cache.save_overload = load_if_possible, save_if_possible


@cache
def _replace_allocation() -> None:
    """Let np.empty, np.zeros and np.full emit their instructions where kernels call them.

    For each kind of array, and in each process anew, numba compiles functions of its own: an
    eighth of what a first use compiled. They remain for other kinds of arguments.
    """
    cpu_target.target_context.refresh()
    context = cpu_target.typing_context
    context.refresh()
    allocations = (
        (np.empty, _new_array(None)),
        (np.zeros, _new_array(_clear)),
        (np.full, _full_array),
    )
    for function, definition in allocations:
        ours = intrinsic_kernel(definition)._numba_type_.templates[0]
        templates = context.resolve_value_type(function).templates
        first = type(ours.__name__, (ours,), {"key": templates[0].key})
        context._remove_global(function)
        context.insert_global(function, types.Function((first, *templates)))


def _new_array(fill: Callable[..., None] | None) -> Callable[..., Any]:
    """Return the definition of np.empty, or of a function that fills the array."""

    def new_array(typing_context: Any, shape: Any, dtype: Any = None) -> Any:
        kind = _kind_of_array(shape, types.float64 if dtype is None else parse_dtype(dtype))
        if kind is None:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, n_bytes = _allocate(context, builder, kind, signature.args[0], arguments[0])
            if fill is not None:
                fill(builder, array, n_bytes)
            return array._getvalue()

        return kind(shape, types.Omitted(None) if dtype is None else dtype), generate

    return new_array


def _clear(builder: Any, array: Any, n_bytes: Any) -> None:
    cgutils.memset(builder, array.data, n_bytes, 0)


def _full_array(typing_context: Any, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Return the definition of np.full."""
    entry = types.unliteral(fill_value) if dtype is None else parse_dtype(dtype)
    kind = _kind_of_array(shape, entry)
    if kind is None:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, n_bytes = _allocate(context, builder, kind, signature.args[0], arguments[0])
        value = context.cast(builder, arguments[1], signature.args[1], kind.dtype)
        value = context.data_model_manager[kind.dtype].as_data(builder, value)
        with cgutils.for_range(builder, builder.udiv(n_bytes, array.itemsize)) as entries:
            builder.store(value, builder.gep(array.data, [entries.index]))
        return array._getvalue()

    return kind(shape, fill_value, types.Omitted(None) if dtype is None else dtype), generate


def _kind_of_array(shape: Any, entry: Any) -> Any:
    """Return the type of an array of numbers; None for other entries or shapes."""
    n_dimensions = parse_shape(types.unliteral(shape))
    if n_dimensions is None or not isinstance(entry, types.Number | types.Boolean):
        return None
    return types.Array(entry, n_dimensions, "C")


def _allocate(
    context: Any, builder: Any, kind: Any, shape_type: Any, shape: Any
) -> tuple[Any, Any]:
    """Return a new array and its number of bytes; ValueError for a negative or too large shape."""
    from numba.np import arrayobj

    if isinstance(shape_type, types.Integer):
        sizes_and_types = [(shape, shape_type)]
    else:
        sizes_and_types = list(zip(cgutils.unpack_tuple(builder, shape), shape_type, strict=True))
    sizes = [
        context.cast(builder, size, its_type, types.intp) for size, its_type in sizes_and_types
    ]
    zero = context.get_constant(types.intp, 0)
    item_size = context.get_constant(types.intp, arrayobj.get_itemsize(context, kind))
    n_bytes, wrong = item_size, cgutils.false_bit
    strides: list[Any] = []
    for size in reversed(sizes):
        strides.insert(0, n_bytes)
        product = builder.smul_with_overflow(n_bytes, size)
        n_bytes = builder.extract_value(product, 0)
        wrong = builder.or_(wrong, builder.extract_value(product, 1))
        wrong = builder.or_(wrong, builder.icmp_signed("<", size, zero))
    with builder.if_then(wrong, likely=False):
        context.call_conv.return_user_exc(builder, ValueError, ("no array has this shape",))
    align = context.get_preferred_array_alignment(kind.dtype)
    memory = context.nrt.meminfo_alloc_aligned(builder, n_bytes, align)
    entries = context.get_data_type(kind.dtype).as_pointer()
    data = builder.bitcast(context.nrt.meminfo_data(builder, memory), entries)
    array = arrayobj.make_array(kind)(context, builder)
    arrayobj.populate_array(array, data, sizes, strides, item_size, memory)
    return array, n_bytes
