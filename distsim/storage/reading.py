"""Opens artifacts: manifest and arrays, checked when they are opened."""

import ctypes
import errno
import mmap
import os
import stat
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from distsim.base.arguments import one_path
from distsim.base.errors import ArtifactError
from distsim.storage.files import MANIFEST
from distsim.storage.manifest import (
    KINDS,
    MADE_FROM,
    ArtifactKind,
    checksum_of_file,
    made_from_text,
    read_manifest,
    require_kind,
)

SMALL_BYTES = 1 << 16
_AT_ONCE = 1 << 20  # values whose order is checked
# Of each live map, by its address: the file, its device and inode, and the bytes mapped.
_MAPS: dict[int, tuple[str, int, int, int]] = {}


def are_starts(starts: np.ndarray, n_values: int, n_rows: int | None = None) -> bool:
    """Return whether rows that begin at `starts` are all of so many values, end to end.

    Arguments:
        starts: integers, where each row begins and where the last one ends.
        n_values: of all rows together.
        n_rows: how many rows there must be; any number where None.
    """
    return bool(
        starts.size == (max(1, starts.size) if n_rows is None else n_rows + 1)
        and starts[0] == 0
        and starts[-1] == n_values
        and np.all(starts[:-1] <= starts[1:])
    )


@dataclass(frozen=True)
class StoredArray:
    """What an array of an artifact must be; the readers of an artifact declare all that they read.

    Attributes:
        dtype: of its values; one of several where it is a tuple.
        rows: a name of its length, any length where empty. Equal names within a declaration are
            equal lengths, and `sizes` of `Artifact.arrays` gives some of them.
        more: rows beside that length.
        columns: a name, or the number, of its columns; None: one dimension.
        starts: the array whose rows begin at these values; the last value is its length.
        least: the lowest value allowed. below, at_most: a name of a length that values are under.
        ascending: whether values ascend, "strictly" or "weakly"; not checked where empty.
        at_open: whether values are checked when it is opened, not by `verify` alone: so must be
            those that a kernel follows.
        optional: whether it may be missing.
    """

    dtype: Any
    rows: str = ""
    more: int = 0
    columns: str | int | None = None
    starts: str = ""
    least: int | None = None
    below: str = ""
    at_most: str = ""
    ascending: str = ""
    at_open: bool = False
    optional: bool = False

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return 1 if self.columns is None else 2


Declaration = Mapping[str, StoredArray]


def start_array(rows: str, of: str, dtype: Any = np.uint64, at_open: bool = True) -> StoredArray:
    """Return the declaration of the starts of rows, with the end of the last one.

    Arguments:
        rows: a name of their number. of: the array that they are rows of.
    """
    return StoredArray(dtype, rows, 1, starts=of, at_open=at_open)


def _size_faults(
    arrays: Mapping[str, np.ndarray], declared: Declaration, sizes: dict[str, int]
) -> Iterator[str]:
    """Yield which arrays are of another size than others say; `sizes` takes what is learned."""
    for name, values in arrays.items():
        of = declared[name]
        lengths = [(of.rows, len(values) - of.more)] if of.rows else []
        if isinstance(of.columns, str):
            lengths.append((of.columns, values.shape[1]))
        elif of.columns is not None and values.shape[1] != of.columns:
            yield f"{name} has {values.shape[1]} columns, wanted {of.columns}"
        for size, length in lengths:
            if length != sizes.setdefault(size, length):
                yield f"{name} has {length + of.more} rows or columns, wanted {sizes[size]}"


def _value_faults(name: str, values: np.ndarray, of: StoredArray, sizes: dict[str, int]) -> str:
    """Return what is wrong with the values of an array, "" where nothing is."""
    if of.starts and not are_starts(values, sizes["len " + of.starts], len(values) - 1):
        return f"{name} are no starts of the rows of {of.starts}"
    if values.size == 0:
        return ""
    if of.least is not None and int(values.min()) < of.least:
        return f"{name} has values below {of.least}"
    limits = [(sizes.get(of.below), 0), (sizes.get(of.at_most), 1)]
    for limit, more in limits:
        if limit is not None and int(values.max()) >= limit + more:
            return f"{name} has the value {int(values.max())}, wanted less than {limit + more}"
    if of.ascending:
        is_strict = of.ascending == "strictly"
        for first in range(0, len(values), _AT_ONCE):
            part = values[first : first + _AT_ONCE + 1]
            if np.any(part[1:] <= part[:-1] if is_strict else part[1:] < part[:-1]):
                return f"{name} is not in ascending order"
    return ""


def read_only(file: Path, dtype: str, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Return the array in a file of `size` bytes.

    Arguments:
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


class Artifact:
    """An artifact opened for reading: its manifest and its arrays, memory-mapped.

    It is pickled by its path, and must be the same when it is opened again from there.

    Arguments:
        path: its folder.
        kind: that it must be of; any where None.

    Raises:
        ArtifactError: the folder is missing, unfinished, of another kind, of a version that
            cannot be read, or does not hold what its manifest says.
    """

    def __init__(self, path: str | Path, kind: ArtifactKind | None = None) -> None:
        self.path = one_path(path)
        self.manifest = read_manifest(self.path)
        self.kind = require_kind(self.path, self.manifest, kind)
        self._declared: dict[str, tuple[StoredArray, str, dict[str, int]]] = {}
        while True:
            try:
                self._arrays = {name: self._map(name) for name in self.manifest["arrays"]}
                return
            except ArtifactError:
                before = self.manifest["checksum"]
                self.manifest = read_manifest(self.path)
                if self.manifest["checksum"] == before:  # else a writer was faster than we
                    raise

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (str(self.path.absolute()), self.kind.name, self.checksum)

    @property
    def parameters(self) -> dict[str, Any]:
        """The settings and facts that the artifact was made with."""
        parameters: dict[str, Any] = self.manifest["parameters"]
        return parameters

    @property
    def checksum(self) -> str:
        """The checksum of the manifest, and through it of everything in the artifact."""
        checksum: str = self.manifest["checksum"]
        return checksum

    @property
    def made_from(self) -> str:
        """The checksum of all that the artifact was made from, empty where it is not known.

        It is in a file of its own, bound to the manifest's checksum: equal artifacts may be
        made from different files, and their manifests stay equal.
        """
        of, content = self._record() or ("", "")
        return content if of == self.checksum else ""

    def _record(self) -> tuple[str, str] | None:
        """Return the record of the file, None where it is damaged, empty where there is none."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(self.path / MADE_FROM, flags), "rb") as file:
                text = file.read(256).decode(errors="replace")
        except FileNotFoundError:
            return "", ""
        except OSError:
            return None
        of, content = text.split(" ")[:2] if " " in text else ("", "")
        return (of, content) if text == made_from_text(of, content) else None

    def __contains__(self, name: str) -> bool:
        return name in self.manifest["arrays"]

    def array(self, name: str, dtype: Any = None, ndim: int = 1) -> np.ndarray:
        """Return an array, read-only; the larger ones are memory-mapped.

        Arguments:
            dtype: that its reader relies on; not checked where None.
            ndim: number of dimensions that its reader relies on.

        Raises:
            ArtifactError: there is no such array, or it is of another dtype or dimension.
        """
        try:
            values = self._arrays[name]
        except KeyError:
            raise ArtifactError(
                f"{self.path}: no array {name!r} in the manifest: build it again"
            ) from None
        if dtype is not None and (values.dtype != np.dtype(dtype) or values.ndim != ndim):
            raise ArtifactError(
                f"{self.path}: array {name!r} is {values.ndim}-dimensional {values.dtype}, wanted "
                f"{ndim}-dimensional {np.dtype(dtype)}: restore it or build it again"
            )
        return values

    def arrays(
        self,
        declared: Declaration,
        prefix: str = "",
        sizes: Mapping[str, int] = MappingProxyType({}),
        *,
        values: bool = True,
    ) -> dict[str, np.ndarray]:
        """Return arrays by name, without optional ones that are missing, checked as declared.

        Arguments:
            declared: by names, which the artifact has with the prefix.
            sizes: lengths that are known beforehand, by name.
            values: whether values are checked, too, which are to be when the artifact is opened;
                `require_sound` does so later where not.

        Raises:
            ArtifactError: an array is missing, is of another dtype or dimension, or contradicts
                another.
        """
        arrays = {}
        for name, of in declared.items():
            if of.optional and prefix + name not in self:
                continue
            dtypes = of.dtype if isinstance(of.dtype, tuple) else (of.dtype,)
            stored = self.array(prefix + name, None)
            dtype = stored.dtype if stored.dtype in map(np.dtype, dtypes) else dtypes[0]
            arrays[name] = self.array(prefix + name, dtype, of.ndim)
        lengths = {**sizes, **{"len " + name: len(array) for name, array in arrays.items()}}
        for fault in _size_faults(arrays, declared, lengths):
            raise self.contradiction(prefix + fault)
        self._declared |= {prefix + name: (declared[name], prefix, lengths) for name in arrays}
        if values:
            self.require_sound(prefix)
        return arrays

    def require_sound(self, prefix: str = "") -> None:
        """Raise where values that are to be checked when the artifact is opened are none allowed.

        Arguments:
            prefix: of the arrays that were read.

        Raises:
            ArtifactError: the first of them.
        """
        for name, (of, of_prefix, sizes) in self._declared.items():
            is_asked = of.at_open and of_prefix == prefix
            if is_asked and (fault := _value_faults(name, self._arrays[name], of, sizes)):
                raise self.contradiction(fault)

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the values of all arrays that were read by `arrays`."""
        for name, (of, _, sizes) in self._declared.items():
            if fault := _value_faults(name, self._arrays[name], of, sizes):
                yield fault

    def contradiction(self, fault: str) -> ArtifactError:
        """Return the error that arrays contradict each other."""
        return ArtifactError(
            f"{self.path}: its arrays contradict each other ({fault}): restore it or "
            f"{self.kind.again}"
        )

    def size(self) -> int:
        """Return the bytes of all arrays."""
        return sum(entry["size"] for entry in self.manifest["arrays"].values())

    def damaged(self, watch: Callable[[int], object] = lambda size: None) -> list[str]:
        """Return the names of the files whose checksum is not that of the manifest.

        watch: called with the bytes of each file that was read.
        """
        files = []
        for entry in self.manifest["arrays"].values():
            if checksum_of_file(self.path / entry["file"]) != entry["checksum"]:
                files.append(entry["file"])
            watch(entry["size"])
        return files if self._record() is not None else [*files, MADE_FROM]

    def _map(self, name: str) -> np.ndarray:
        entry = self.manifest["arrays"][name]
        file = self.path / entry["file"]
        try:
            status = file.lstat()
            size = status.st_size
            if not stat.S_ISREG(status.st_mode):
                raise ArtifactError(
                    f"{file}: is no file but a link or the like, and artifacts hold none: put "
                    f"the file itself there or {self.kind.again}"
                )
            if size == entry["size"]:
                return read_only(file, entry["dtype"], tuple(entry["shape"]), size)
        except OSError as error:
            remedy = f"restore the file or {self.kind.again}"
            if isinstance(error, PermissionError):
                remedy = "change its permissions"
            elif error.errno == errno.ENOMEM:
                remedy = "raise the limit of memory (ulimit -v) or use a larger machine"
            elif error.errno in (errno.EMFILE, errno.ENFILE):
                remedy = "raise the limit of open files (ulimit -n)"
            raise ArtifactError(f"{file}: cannot be opened ({error.strerror}): {remedy}") from None
        raise ArtifactError(
            f"{file}: {size:,} bytes, wanted {entry['size']:,}: the file is cut short or changed; "
            f"restore it or {self.kind.again}"
        )


def _reopened(path: str, kind: str, checksum: str) -> Artifact:
    """Return an artifact reopened, perhaps in another process, with the same checksum."""
    artifact = Artifact(path, KINDS[kind])
    if artifact.checksum != checksum:
        raise ArtifactError(f"{path}: was changed since it was opened: open it again")
    return artifact


@contextmanager
def understood(path: str | Path) -> Iterator[None]:
    """Convert errors from invalid parameters of a manifest into an ArtifactError with the path."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactError(
            f"{path}: {MANIFEST} holds parameters that cannot be ({error}): restore it or "
            "build it again"
        ) from error
