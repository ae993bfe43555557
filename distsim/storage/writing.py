"""Writes artifacts, whole or not at all: a new one, or a change in one step."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from distsim.base.arguments import one_path
from distsim.base.errors import ArtifactError, Interrupted, check_interrupted
from distsim.storage.files import MANIFEST, naming, new_file, raw_bytes
from distsim.storage.folders import (
    SCRATCH,
    locked,
    require_writable,
    spare_descriptors,
    sync_folder,
)
from distsim.storage.manifest import (
    CHECKSUM_BYTES,
    MADE_FROM,
    ArtifactKind,
    checksum_of_file,
    made_from_text,
    manifest_checksum,
    manifest_text,
    read_manifest,
    require_kind,
)
from distsim.storage.reading import Artifact, read_only
from distsim.storage.resumption import FinishedPart

# The names of files in the making, and of arrays with a piece of their checksum.
_PART = ".distsim-part"
_PIECE = ".piece" + _PART  # of the name of a note on an array that is kept
_ARRAY_FILE = re.compile(r"[\w-]+\.([0-9a-f]{12})\.bin")
# Where a disk begins, its file system may keep what it has found.
_NOT_OURS_TO_MIND = {"lost+found"}


class ArrayStream:
    """Writer of one array of an artifact, piece by piece.

    Arguments:
        folder: of the artifact.
        name: of the array.
        dtype: of its values.
        width: columns; None: one dimension.
    """

    def __init__(self, folder: Path, name: str, dtype: np.dtype, width: int | None) -> None:
        self._folder = folder
        self._stem = name.replace("/", "-")
        self._dtype = dtype
        self._width = width
        self._part = folder / f".{self._stem}{_PART}"
        self._file = new_file(self._part)
        self._hash = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
        self._size = 0

    def append(self, values: np.ndarray) -> None:
        """Append values to the array's file, converted to the array's dtype."""
        data = raw_bytes(np.asarray(values, self._dtype))
        with naming(self._part):
            self._file.write(data)
        self._hash.update(data)
        self._size += len(data)

    def __len__(self) -> int:
        return self._size // (self._dtype.itemsize * (self._width or 1))

    def close(self) -> dict[str, Any]:
        """Finish the file under its final name and return its entry in the manifest."""
        if not self._file.closed:
            with naming(self._part):
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
    """Writer of an artifact; fill `parameters` and the arrays inside `create` or `change`.

    Attributes:
        folder: of the artifact.
        kind: of the artifact.
        parameters: values that the manifest keeps.
        entries: of the arrays, by name.
        version: of the format, the oldest whose readers understand what is written.
        made_from: a checksum of all that it is made from, where its maker looks for it again.
    """

    folder: Path
    kind: ArtifactKind
    parameters: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: int = 1
    made_from: str = ""
    _streams: dict[str, ArrayStream] = field(default_factory=dict)
    _unchecked: set[str] = field(default_factory=set)  # entries that an earlier writer made
    _kept: bool = False
    _continues: bool = False

    def add(self, name: str, values: np.ndarray) -> None:
        """Write a whole array, one- or two-dimensional.

        Arguments:
            name: of the array in the artifact.
        """
        width = None if values.ndim == 1 else values.shape[1]
        stream = self.stream(name, values.dtype, width)
        stream.append(values)
        self.close(name)

    def stream(self, name: str, dtype: Any, width: int | None = None) -> ArrayStream:
        """Begin an array that is written piece by piece; `width` columns where given.

        Arguments:
            width: columns; None: one dimension.
        """
        stream = ArrayStream(self.folder, name, np.dtype(dtype).newbyteorder("<"), width)
        self._streams[name] = stream
        return stream

    def close(self, name: str) -> None:
        """Finish an array."""
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
            if checksum_of_file(file) != entry["checksum"]:
                raise ArtifactError(f"{file}: is damaged: restore it or {self.kind.again}")
            self._unchecked.discard(name)
        return read_only(file, entry["dtype"], tuple(entry["shape"]), entry["size"])

    def checksum(self, name: str) -> str:
        """Return the checksum of a finished array."""
        return str(self.entries[name]["checksum"])

    def keep(self, name: str, key: str) -> None:
        """Keep a finished array for the next writer, should this one be killed or interrupted.

        Only where the writer `continues`.

        Arguments:
            key: checksum of all that it is made from.
        """
        if self._continues:
            note = self.folder / f".{name.replace('/', '-')}{_PIECE}"
            note.unlink(missing_ok=True)
            entry = self.entries[name]
            part = FinishedPart(key, {entry["file"]: entry["checksum"]}, {"entry": entry})
            with new_file(note) as file:
                file.write(json.dumps(part.note).encode())

    def take(self, name: str, key: str) -> bool:
        """Return whether an earlier writer has kept this array; now it is one of this writer.

        Arguments:
            key: checksum of all that it is made from.
        """
        notes = _pieces(self.folder) if self._continues else {}
        note = notes.get(f".{name.replace('/', '-')}{_PIECE}")
        if note is None or not note.is_there(self.folder, key):
            return False
        self.entries[name] = note.facts["entry"]
        return True

    def keep_as_it_is(self) -> None:
        """Mark the artifact as unchanged: it stays as it is."""
        self._kept = True

    def finish(self) -> None:
        """Write the manifest, which makes the folder the new artifact."""
        check_interrupted()
        if self._kept:
            self.abandon()
            return
        for name in list(self._streams):
            self.close(name)
        manifest = {
            "kind": self.kind.name,
            "version": self.version,
            "parameters": self.parameters,
            "arrays": dict(sorted(self.entries.items())),
        }
        manifest["checksum"] = checksum = manifest_checksum(manifest)
        if self.made_from:  # holds for the new manifest only, so it may come before that
            self._put(MADE_FROM, made_from_text(checksum, self.made_from))
        self._put(MANIFEST, manifest_text(manifest))
        sync_folder(self.folder)

    def _put(self, name: str, text: str) -> None:
        """Write a file whole; the names of all before it are on the disk before its own."""
        part = self.folder / f".{name}{_PART}"
        with naming(part), new_file(part) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.folder)
        os.replace(part, self.folder / name)

    def files(self) -> set[str]:
        """Return the names of the files of its arrays."""
        return {entry["file"] for entry in self.entries.values()}

    def abandon(self) -> None:
        """Close open files without keeping them."""
        for stream in self._streams.values():
            stream.abandon()


def holds_artifact(path: str | Path) -> bool:
    """Return whether a folder contains an artifact, valid or not."""
    return (one_path(path) / MANIFEST).is_file()


def require_free(path: str | Path, force: bool = False) -> None:
    """Raise where an artifact exists and is not to be replaced.

    Arguments:
        force: it may be replaced.

    Raises:
        ArtifactError: the path exists already and `force` was not given.
    """
    if holds_artifact(path) and not force:
        raise ArtifactError(
            f"{path}: holds an artifact already: name another folder, or replace it (`force`)"
        )


def _pieces(folder: Path) -> dict[str, FinishedPart]:
    """Return the notes on arrays that a killed writer kept, by their file names."""
    pieces = {}
    for file in folder.glob(f".*{_PIECE}"):
        with suppress(OSError, ValueError, LookupError, TypeError):
            note = FinishedPart.read(json.loads(file.read_text("utf-8")))
            entry = note.facts["entry"]
            if (folder / entry["file"]).stat().st_size == entry["size"]:
                pieces[file.name] = note
    return pieces


def _kept_files(folder: Path) -> set[str]:
    """Return the names of the files that the next writer may take, and of the notes on them."""
    notes = _pieces(folder)
    return {*notes, *(file for note in notes.values() for file in note.files)}


def keeps_pieces(path: str | Path) -> bool:
    """Return whether an interrupted writer of an artifact has left what the next goes on with."""
    path = one_path(path)
    return bool(_pieces(path) or _pieces(_unfinished(path)))


def _unfinished(path: Path) -> Path:
    """Return the hidden folder in which an artifact is made."""
    return path.with_name(f".{path.name}.unfinished")


@contextmanager
def create(
    path: str | Path, kind: ArtifactKind, continues: bool = False
) -> Iterator[ArtifactWriter]:
    """Yield the writer of a new artifact at `path`, which appears complete or not at all.

    It is built in a hidden sibling folder and renamed into place; in an empty folder that
    exists already, it is built inside, the manifest last. An artifact of the same kind,
    damaged or not, is replaced in one step when the new one is complete.

    Arguments:
        continues: what a killed or interrupted writer kept is left for this one to take.

    Raises:
        ArtifactError: something else exists at `path`, or it cannot be written, or another
            process is writing there.
    """
    path = one_path(path)
    _require_no_link(path)
    if path.exists():
        if not _is_vacant(path):
            require_kind(path, read_manifest(path), kind)  # refuses what must not be replaced
        new_writer = ArtifactWriter(path, kind, _continues=continues)
        with locked(path, path), _changing(path, new_writer) as writer:
            yield writer
        return
    if not path.parent.is_dir():
        raise ArtifactError(f"{path.parent}: no such folder: create it first")
    require_writable(path.parent)
    unfinished = _unfinished(path)
    with spare_descriptors() as spare, locked(unfinished, path, make=True):
        if path.exists():
            raise ArtifactError(
                f"{path}: another process has just written here: look at it, or run the same "
                "command again to replace it"
            )
        try:
            named = _forgotten(unfinished)
            left = _kept_files(unfinished) if continues else set()
            _clear(unfinished, keep=left, ours=named)
        except OSError:  # it cannot even be listed
            with suppress(OSError):
                unfinished.rmdir()
            raise
        if any(
            file.is_symlink() or not file.is_dir()
            for file in unfinished.iterdir() if file.name not in left
        ):  # fmt: skip
            raise ArtifactError(f"{unfinished}: holds files that are not ours: move them away")
        writer = ArtifactWriter(unfinished, kind, _continues=continues)
        try:
            yield writer
            writer.finish()
            if continues:
                _clear(unfinished, keep={*writer.files(), MANIFEST, MADE_FROM})
            os.rename(unfinished, path)
        except BaseException as error:
            writer.abandon()
            spare.close()
            with suppress(OSError):
                _forgotten(unfinished)
                _clear(unfinished, keep=_left_after(error, writer), ours=writer.files())
                unfinished.rmdir()
            raise
        sync_folder(path.parent)


def _left_after(error: BaseException, writer: ArtifactWriter) -> set[str]:
    """Return the files that stay after an error: what is kept, where it is an interruption."""
    is_interruption = isinstance(error, Interrupted | KeyboardInterrupt)
    return _kept_files(writer.folder) if is_interruption else set()


def _forgotten(unfinished: Path) -> set[str]:
    """Return the files of a complete artifact that was never renamed; its manifest is removed."""
    if (unfinished / MANIFEST).is_symlink() or not holds_artifact(unfinished):
        return set()
    named = _named_files(unfinished)
    (unfinished / MANIFEST).unlink()
    return named


def _require_no_link(path: Path) -> None:
    """Raise where `path` is a link inside an artifact or a link to nothing.

    Raises:
        ArtifactError: it does.
    """
    if not path.is_symlink():
        return
    if holds_artifact(path.parent):
        raise ArtifactError(f"{path}: is a link, and artifacts hold none: remove it")
    if not path.exists():
        raise ArtifactError(
            f"{path}: is a link to {os.readlink(path)}, which does not exist: create that folder, "
            "or remove the link"
        )


def _is_vacant(path: Path) -> bool:
    """Return whether a folder is empty except for files that a killed writer left."""
    return path.is_dir() and all(
        file.name in _NOT_OURS_TO_MIND or _is_leaving(file) or _is_unfinished_inside(file)
        for file in path.iterdir()
    )


def _is_unfinished_inside(file: Path) -> bool:
    """Return whether a folder is an unfinished artifact inside another, left by a killed writer."""
    hidden = file.name.startswith(".") and file.name.endswith(".unfinished")
    return not file.is_symlink() and file.is_dir() and (hidden or holds_artifact(file))


@contextmanager
def change(
    path: str | Path, kind: ArtifactKind, continues: bool = False
) -> Iterator[ArtifactWriter]:
    """Yield a writer that changes the artifact at `path`: new arrays first, then the manifest.

    The writer starts with the present parameters, arrays and `made_from`; entries that are removed
    from `writer.entries` go when the change is complete. Readers see the old or the new state.

    Arguments:
        continues: what a killed or interrupted writer kept is left for this one to take.

    Raises:
        ArtifactError: there is no such artifact, it cannot be written, or another process does.
    """
    path = Path(path)
    read_manifest(path)
    with locked(path, path):
        artifact = Artifact(path, kind)
        entries = dict(artifact.manifest["arrays"])
        writer = ArtifactWriter(
            path, kind, dict(artifact.parameters), entries, made_from=artifact.made_from,
            _unchecked=set(entries), _continues=continues,
        )  # fmt: skip
        with _changing(path, writer):
            yield writer


@contextmanager
def _changing(path: Path, writer: ArtifactWriter) -> Iterator[ArtifactWriter]:
    """Yield the writer of a locked folder, and remove files that its manifest no longer names."""
    require_writable(path)
    before = _named_files(path)
    _clear(path, keep=before | (_kept_files(path) if writer._continues else set()))
    with spare_descriptors() as spare:
        try:
            yield writer
            writer.finish()
        except BaseException as error:
            writer.abandon()
            spare.close()
            with suppress(OSError, ArtifactError):
                # Not the files named before: the manifest may be the new one already.
                kept = _named_files(path) | _left_after(error, writer)
                _clear(path, keep=kept, ours=before | writer.files())
            raise
    with suppress(OSError):  # the change is made; the next writer clears what stays now
        _clear(path, keep=_named_files(path), ours=before | writer.files())


def remove_artifact(path: str | Path) -> None:
    """Remove an artifact and those inside it; files that distsim did not write stay."""
    path = Path(path)
    if path.is_symlink() or not holds_artifact(path):
        return
    named = _named_files(path)
    (path / MANIFEST).unlink()  # from here on it is none
    for inside in path.iterdir():
        if inside.is_dir():
            remove_artifact(inside)
    _clear(path, keep=set(), ours=named)
    with suppress(OSError):
        path.rmdir()


def _named_files(path: Path) -> set[str]:
    if not holds_artifact(path):
        return set()
    return {MADE_FROM, *(entry["file"] for entry in read_manifest(path)["arrays"].values())}


def _clear(folder: Path, keep: set[str], ours: set[str] | None = None) -> None:
    """Remove files that distsim wrote and no manifest names, left by a killed writer.

    ours: array files that a manifest of distsim named or this writer wrote.
    """
    for file in folder.iterdir():
        if file.name not in keep and _is_leaving(file, ours):
            if file.is_dir():
                shutil.rmtree(file, ignore_errors=True)
            else:
                file.unlink(missing_ok=True)


def _is_leaving(file: Path, ours: set[str] | None = None) -> bool:
    """Return whether distsim wrote a file, by its name and, for arrays, its checksum."""
    if file.is_symlink():
        return False
    if file.is_dir():
        return file.name.startswith(".") and file.name.endswith(SCRATCH)
    if not file.is_file():
        return False
    if file.name == MADE_FROM or (file.name.startswith(".") and file.name.endswith(_PART)):
        return True
    array = _ARRAY_FILE.fullmatch(file.name)
    if array is None:
        return False
    return (ours is not None and file.name in ours) or checksum_of_file(file).startswith(array[1])
