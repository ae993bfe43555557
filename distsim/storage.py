"""Arrays and text <-> artifact folders: manifests, versions, memory maps, checks, locks.

An artifact is a folder of raw little-endian arrays and a `manifest.json` that names each
with its dtype, shape, size and checksum. File names carry a piece of the checksum, so a
folder can hold an old and a new state side by side; the manifest, replaced in one step,
decides which of them is the artifact. Nothing in it is ever unpickled or run.
"""

import ctypes
import errno
import fcntl
import hashlib
import json
import math
import mmap
import os
import re
import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from distsim.errors import ArtifactError
from distsim.parallel import check_interrupted

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Kind:
    """A kind of artifact, and which format versions of it this distsim writes and reads."""

    name: str
    version: int
    oldest_readable: int


INDEX = Kind("index", version=1, oldest_readable=1)
SIGNATURES = Kind("signatures", version=1, oldest_readable=1)
PROJECTION = Kind("projection", version=1, oldest_readable=1)
KINDS = {kind.name: kind for kind in (INDEX, SIGNATURES, PROJECTION)}

_CHECKSUM_BYTES = 16
_READ_BYTES = 1 << 22
_SMALL_BYTES = 1 << 16
# What an entry of a manifest may say: no path out of the folder, no dtype that holds pointers.
_FILE_NAME = re.compile(r"[^/\0]+\.bin")
_DTYPE = re.compile(r"\|[uib]1|<[uif][248]")


class Artifact:
    """An artifact opened for reading: its manifest and its arrays, memory-mapped.

    Raises:
        ArtifactError: the folder is missing, unfinished, of another kind, of a version that
            cannot be read, or does not hold what its manifest says.
    """

    def __init__(self, path: str | Path, kind: Kind | None = None) -> None:
        self.path = Path(path)
        self.manifest = _read_manifest(self.path)
        self.kind = _require_kind(self.path, self.manifest, kind)
        while True:
            try:
                self._arrays = {name: self._map(name) for name in self.manifest["arrays"]}
                return
            except ArtifactError:
                before = self.manifest["checksum"]
                self.manifest = _read_manifest(self.path)
                if self.manifest["checksum"] == before:  # else a writer was faster than we
                    raise

    @property
    def parameters(self) -> dict[str, Any]:
        """What the artifact was made with."""
        return self.manifest["parameters"]

    @property
    def checksum(self) -> str:
        """The checksum of the manifest, and through it of everything in the artifact."""
        return self.manifest["checksum"]

    def __contains__(self, name: str) -> bool:
        return name in self.manifest["arrays"]

    def array(self, name: str, dtype: Any = None, ndim: int = 1) -> np.ndarray:
        """Return an array, read-only; the larger ones are memory-mapped.

        dtype: what its reader relies on, with `ndim`; not checked where None.

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

    def release(self) -> None:
        """Let go of the pages of mapped arrays that were read; they are read anew on demand."""
        for values in self._arrays.values():
            if values.nbytes > _SMALL_BYTES:
                _memory_maps().madvise(values.ctypes.data, values.nbytes, mmap.MADV_DONTNEED)

    def size(self) -> int:
        """Return the bytes of all arrays."""
        return sum(entry["size"] for entry in self.manifest["arrays"].values())

    def damaged(self) -> list[str]:
        """Return the files whose bytes are not those that were written."""
        return [
            entry["file"]
            for entry in self.manifest["arrays"].values()
            if _checksum_of(self.path / entry["file"]) != entry["checksum"]
        ]

    def _map(self, name: str) -> np.ndarray:
        entry = self.manifest["arrays"][name]
        file = self.path / entry["file"]
        try:
            size = file.stat().st_size
            if size == entry["size"]:
                return _read_only(file, entry["dtype"], tuple(entry["shape"]), size)
        except OSError as error:
            remedy = f"restore the file or build the {self.kind.name} again"
            if isinstance(error, PermissionError):
                remedy = "change its permissions"
            elif error.errno == errno.ENOMEM:
                remedy = "raise the limit of memory (ulimit -v) or use a larger machine"
            elif error.errno in (errno.EMFILE, errno.ENFILE):
                remedy = "raise the limit of open files (ulimit -n)"
            raise ArtifactError(f"{file}: cannot be opened ({error.strerror}): {remedy}") from None
        raise ArtifactError(
            f"{file}: {size:,} bytes, wanted {entry['size']:,}: the file is cut short or changed; "
            f"restore it or build the {self.kind.name} again"
        )


def _read_only(file: Path, dtype: str, shape: tuple[int, ...], size: int) -> np.ndarray:
    if size > _SMALL_BYTES:
        values = np.frombuffer(_mapped(file, size), dtype).reshape(shape)
    else:
        values = np.frombuffer(file.read_bytes(), dtype).reshape(shape)
    values.flags.writeable = False
    return values


def _mapped(file: Path, size: int) -> memoryview:
    """Return a file's bytes, memory-mapped, without a file descriptor that stays open.

    Python's mmap keeps one for each map (until 3.13's trackfd), and an index has five maps
    a shard: too many for a process that may open 64 files.
    """
    library = _memory_maps()
    handle = os.open(file, os.O_RDONLY)
    try:
        address = library.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, handle, 0)
    finally:
        os.close(handle)
    if address == ctypes.c_void_p(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(file))
    pages = (ctypes.c_ubyte * size).from_address(address)
    # At exit the maps go with the process: a thread may still be reading them.
    weakref.finalize(pages, library.munmap, address, size).atexit = False
    return memoryview(pages).cast("B").toreadonly()


@cache
def _memory_maps() -> Any:
    """Return the C library, with its mmap, munmap and madvise declared."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    )  # fmt: skip
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return library


@contextmanager
def understood(path: str | Path) -> Iterator[None]:
    """Turn what odd parameters in a manifest raise into an ArtifactError that names the place."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactError(
            f"{path}: {MANIFEST} holds parameters that cannot be ({error}): restore it or "
            "build it again"
        ) from error


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Put the file's name into an error of the system that has none."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(file)
        raise


class ArrayStream:
    """An array of an artifact that is being written piece by piece."""

    def __init__(self, folder: Path, name: str, dtype: np.dtype, width: int | None) -> None:
        self._folder = folder
        self._stem = name.replace("/", "-")
        self._dtype = dtype
        self._width = width
        self._part = folder / f"{self._stem}.part"
        self._file = open(self._part, "wb")  # noqa: SIM115 (closed by close or abandon)
        self._hash = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)
        self._size = 0

    def append(self, values: np.ndarray) -> None:
        """Append values, converted to the array's dtype."""
        data = np.ascontiguousarray(values, self._dtype).reshape(-1).view(np.uint8).data
        with _naming(self._part):
            self._file.write(data)
        self._hash.update(data)
        self._size += len(data)

    def __len__(self) -> int:
        return self._size // (self._dtype.itemsize * (self._width or 1))

    def close(self) -> dict[str, Any]:
        """Finish the file under its final name and return its entry in the manifest."""
        if not self._file.closed:
            with _naming(self._part):
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
            checksum = self._hash.hexdigest()
            file = f"{self._stem}.{checksum[:12]}.bin"
            os.replace(self._part, self._folder / file)
            shape = [len(self)] if self._width is None else [len(self), self._width]
            self._entry = {
                "file": file,
                "dtype": self._dtype.str,
                "shape": shape,
                "size": self._size,
                "checksum": checksum,
            }
        return self._entry

    def abandon(self) -> None:
        """Close the file without keeping it."""
        with suppress(OSError):  # closing writes out what is left, on a full disk in vain
            self._file.close()


@dataclass
class ArtifactWriter:
    """An artifact in the making; fill `parameters` and the arrays inside `create` or `change`."""

    folder: Path
    kind: Kind
    parameters: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    _streams: dict[str, ArrayStream] = field(default_factory=dict)
    _unchecked: set[str] = field(default_factory=set)  # entries that an earlier writer made

    def add(self, name: str, values: np.ndarray) -> None:
        """Write a whole array, one- or two-dimensional."""
        width = None if values.ndim == 1 else values.shape[1]
        stream = self.stream(name, values.dtype, width)
        stream.append(values)
        self.close(name)

    def stream(self, name: str, dtype: Any, width: int | None = None) -> ArrayStream:
        """Begin an array that is written piece by piece; `width` columns where given."""
        stream = ArrayStream(self.folder, name, np.dtype(dtype).newbyteorder("<"), width)
        self._streams[name] = stream
        return stream

    def close(self, name: str) -> None:
        """Finish the array of this name."""
        self.entries[name] = self._streams.pop(name).close()
        self._unchecked.discard(name)

    def read(self, name: str) -> np.ndarray:
        """Return a finished array of this artifact, mapped read-only.

        Raises:
            ArtifactError: it is an array of the earlier state and is damaged. What is read here
                goes into new arrays, whose fresh checksums would hide the damage for ever.
        """
        entry = self.entries[name]
        file = self.folder / entry["file"]
        if name in self._unchecked:
            if _checksum_of(file) != entry["checksum"]:
                raise ArtifactError(
                    f"{file}: is damaged: restore it or build the {self.kind.name} again"
                )
            self._unchecked.discard(name)
        return _read_only(file, entry["dtype"], tuple(entry["shape"]), entry["size"])

    def finish(self) -> None:
        """Put the manifest in place: from here on the folder is the new artifact."""
        check_interrupted()
        for name in list(self._streams):
            self.close(name)
        manifest = {
            "kind": self.kind.name,
            "version": self.kind.version,
            "parameters": self.parameters,
            "arrays": dict(sorted(self.entries.items())),
        }
        manifest["checksum"] = _manifest_checksum(manifest)
        part = self.folder / (MANIFEST + ".part")
        with _naming(part), open(part, "w", encoding="utf-8") as file:
            file.write(_manifest_text(manifest))
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(self.folder)  # the arrays' names are on the disk before the manifest's
        os.replace(part, self.folder / MANIFEST)
        _sync_folder(self.folder)

    def abandon(self) -> None:
        """Close what is open; nothing of it is kept."""
        for stream in self._streams.values():
            stream.abandon()


@contextmanager
def create(path: str | Path, kind: Kind) -> Iterator[ArtifactWriter]:
    """Write a new artifact at `path`, whole or not at all.

    It is built in a hidden sibling folder and renamed into place. An artifact of the same
    kind that stands there already, damaged or not, is replaced in one step when the new one
    is complete.

    Raises:
        ArtifactError: something else stands at `path`, or it cannot be written, or another
            process is writing there.
    """
    path = Path(path)
    if path.exists() or path.is_symlink():
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        else:
            _require_kind(path, _read_manifest(path), kind)  # refuses what must not be replaced
            with _locked(path, path), _changing(path, ArtifactWriter(path, kind)) as writer:
                yield writer
            return
    if not path.parent.is_dir():
        raise ArtifactError(f"{path.parent}: no such folder: create it first")
    _require_writable(path.parent)
    unfinished = path.with_name(f".{path.name}.unfinished")
    with _locked(unfinished, path, make=True):
        if path.exists():
            raise ArtifactError(
                f"{path}: another process has just written here: look at it, or run the same "
                "command again to replace it"
            )
        _clear(unfinished, keep=set())
        writer = ArtifactWriter(unfinished, kind)
        try:
            yield writer
            writer.finish()
            os.rename(unfinished, path)
        except BaseException:
            writer.abandon()
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        _sync_folder(path.parent)


@contextmanager
def change(path: str | Path, kind: Kind) -> Iterator[ArtifactWriter]:
    """Change the artifact at `path`: new arrays first, then the manifest in one step.

    The writer starts with the present parameters and arrays; entries that are removed from
    `writer.entries` go when the change is complete. Readers see the old or the new state.

    Raises:
        ArtifactError: as Artifact, or it cannot be written, or another process is writing.
    """
    path = Path(path)
    _read_manifest(path)
    with _locked(path, path):
        manifest = Artifact(path, kind).manifest
        entries = dict(manifest["arrays"])
        writer = ArtifactWriter(
            path, kind, dict(manifest["parameters"]), entries, _unchecked=set(entries)
        )
        with _changing(path, writer):
            yield writer


@contextmanager
def _changing(path: Path, writer: ArtifactWriter) -> Iterator[ArtifactWriter]:
    """Write into a locked artifact; afterwards only what its manifest names is left."""
    _require_writable(path)
    _clear(path, keep=_named_files(path))
    try:
        yield writer
        writer.finish()
    except BaseException:
        writer.abandon()
        with suppress(OSError, ArtifactError):
            # Not the files named before: the manifest may be the new one already.
            _clear(path, keep=_named_files(path))
        raise
    with suppress(OSError):  # the change is made; the next writer clears what stays now
        _clear(path, keep=_named_files(path))


@contextmanager
def _locked(folder: Path, path: Path, make: bool = False) -> Iterator[None]:
    """Hold the folder's lock; the lock goes with the process, however that ends."""
    while True:
        if make:
            folder.mkdir(exist_ok=True)
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            if make:
                continue
            raise
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                raise ArtifactError(
                    f"{path}: another process is writing here: wait until it is done"
                ) from None
            same = folder.exists() and os.path.samestat(os.fstat(handle), folder.stat())
            if not same:
                continue  # it was renamed or removed while we waited for it
            yield
            return
        finally:
            os.close(handle)


def _require_writable(folder: Path) -> None:
    """Refuse at the door what would fail after hours of work."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArtifactError(
            f"{folder}: cannot be written: change its permissions or name another place"
        )


def _named_files(path: Path) -> set[str]:
    return {entry["file"] for entry in _read_manifest(path)["arrays"].values()}


def _clear(folder: Path, keep: set[str]) -> None:
    """Remove our files that no manifest names: leavings of a writer that was killed."""
    for file in folder.iterdir():
        ours = file.suffix in (".bin", ".part")
        if ours and file.is_file() and file.name not in keep:
            file.unlink(missing_ok=True)


def _read_manifest(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ArtifactError(f"{path}: no such folder: check the path")
    if not path.is_dir():
        raise ArtifactError(f"{path}: is a file, wanted the folder of an artifact: check the path")
    file = path / MANIFEST
    if not file.exists():
        raise ArtifactError(
            f"{path}: has no {MANIFEST}: an unfinished build or no artifact of distsim; "
            "name another folder, or remove this one and build it again"
        )
    try:
        text = file.read_bytes()
        manifest = json.loads(text)
        sound = (
            manifest["checksum"] == _manifest_checksum(manifest)
            and text == _manifest_text(manifest).encode()
            and _is_well_formed(manifest)
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    except OSError as error:
        raise ArtifactError(
            f"{file}: cannot be read ({error.strerror}): change its permissions or restore it"
        ) from None
    if not sound:
        raise ArtifactError(
            f"{file}: is damaged: restore the file, or remove the folder and build it again"
        )
    return manifest


def _require_kind(path: Path, manifest: dict[str, Any], kind: Kind | None) -> Kind:
    """Return the kind of an artifact, `kind` where given, of a version that can be read."""
    found = KINDS.get(manifest["kind"])
    if found is None:
        raise ArtifactError(
            f"{path}: holds {manifest['kind']!r}, a kind of artifact that this "
            "version of distsim does not know: upgrade distsim"
        )
    if kind is not None and found is not kind:
        raise ArtifactError(
            f"{path}: holds {_article(found.name)}, wanted {_article(kind.name)}: "
            "name another folder"
        )
    version = manifest["version"]
    if version > found.version:
        raise ArtifactError(
            f"{path}: {found.name} of format version {version}, this distsim reads up "
            f"to {found.version}: upgrade distsim"
        )
    if version < found.oldest_readable:
        raise ArtifactError(
            f"{path}: {found.name} of format version {version}, this distsim reads from "
            f"{found.oldest_readable} on: build it again"
        )
    return found


def _is_well_formed(manifest: dict[str, Any]) -> bool:
    return (
        isinstance(manifest["kind"], str)
        and isinstance(manifest["version"], int)
        and isinstance(manifest["parameters"], dict)
        and all(_is_entry(entry) for entry in manifest["arrays"].values())
    )


def _is_entry(entry: dict[str, Any]) -> bool:
    """Tell whether an array's description is one that this module wrote or could write."""
    shape, dtype = entry["shape"], entry["dtype"]
    return (
        _FILE_NAME.fullmatch(entry["file"]) is not None
        and _DTYPE.fullmatch(dtype) is not None
        and isinstance(entry["checksum"], str)
        and len(shape) in (1, 2)
        and all(type(length) is int and length >= 0 for length in shape)
        and entry["size"] == math.prod(shape) * int(dtype[2:])
    )


def _manifest_text(manifest: dict[str, Any]) -> str:
    return json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"


def _manifest_checksum(manifest: dict[str, Any]) -> str:
    content = {name: value for name, value in manifest.items() if name != "checksum"}
    return checksum_of_settings(content)


def checksum_of_settings(settings: Any) -> str:
    """Return a checksum of plain values (dicts, lists, text, numbers), in canonical JSON."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=_CHECKSUM_BYTES).hexdigest()


def checksum_of_array(values: np.ndarray) -> str:
    """Return the checksum of an array's bytes."""
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
    return hashlib.blake2b(data, digest_size=_CHECKSUM_BYTES).hexdigest()


class RunningChecksum:
    """The checksum of an array that comes in pieces."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)

    def add(self, values: np.ndarray) -> None:
        """Add the next piece."""
        self._digest.update(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)

    def __str__(self) -> str:
        return self._digest.hexdigest()


def _checksum_of(file: Path) -> str:
    digest = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)
    with _naming(file), open(file, "rb") as stream:
        while data := stream.read(_READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _article(noun: str) -> str:
    return {"index": "an index", "signatures": "a signature table"}.get(noun, f"a {noun}")
