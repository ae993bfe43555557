"""Manifests: kind, parameters, arrays (dtype, shape, size, checksum); folders in artifacts."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from distsim.base.arguments import AnyPath
from distsim.base.errors import ArtifactError
from distsim.storage.files import MANIFEST, naming, raw_bytes

CHECKSUM_BYTES = 16
_READ_BYTES = 1 << 22


def checksum_of_settings(settings: Any) -> str:
    """Return a checksum of plain values (dicts, lists, text, numbers), in canonical JSON."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(
        text.encode(errors="surrogateescape"), digest_size=CHECKSUM_BYTES
    ).hexdigest()


def checksum_of_array(values: np.ndarray) -> str:
    """Return the checksum of an array's bytes.

    values: of any shape and type.
    """
    return hashlib.blake2b(raw_bytes(values), digest_size=CHECKSUM_BYTES).hexdigest()


class RunningChecksum:
    """Checksum of an array that is read in pieces."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)

    def add(self, values: np.ndarray) -> None:
        """Add the next piece.

        values: of any shape and type.
        """
        self._digest.update(raw_bytes(values))

    def __str__(self) -> str:
        return self._digest.hexdigest()


def checksum_of_file(file: Path) -> str:
    """Return the checksum of a file's bytes."""
    digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
    with naming(file), open(file, "rb") as stream:
        while data := stream.read(_READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


STORED_KEYS = {"min_weight": "least", "prior_count": "trust", "min_own_count": "own_from"}
_NAMES = {key: name for name, key in STORED_KEYS.items()}


def to_stored(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under the keys that manifests have, in the same order.

    >>> to_stored({"alpha": 0.75, "min_weight": 0.3})
    {'alpha': 0.75, 'least': 0.3}
    """
    return {STORED_KEYS.get(name, name): value for name, value in settings.items()}


def from_stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by name in code, the inverse of `to_stored`."""
    return {_NAMES.get(key, key): value for key, value in values.items()}


MADE_FROM = ".made-from"

# What an entry of a manifest may say: no path out of the folder, no dtype that holds pointers.
_FILE_NAME = re.compile(r"[^/\0]+\.bin")
_MAX_ITEMS = 1 << 62
_DTYPE = re.compile(r"\|[uib]1|<[uif][248]")


@dataclass(frozen=True)
class ArtifactKind:
    """A kind of artifact, with the format versions that this distsim writes and reads.

    name: in manifests. version: the newest; an artifact is written in the oldest whose readers
    understand it. oldest_readable: older versions are refused. made_by: the command, where the name
    does not tell it.
    """

    name: str
    version: int
    oldest_readable: int
    made_by: str = ""

    @property
    def again(self) -> str:
        """What to do where an artifact is damaged."""
        return f"build the {self.name} again" + (f" with {self.made_by}" if self.made_by else "")


INDEX = ArtifactKind("index", version=2, oldest_readable=1)
SIGNATURES = ArtifactKind("signatures", version=3, oldest_readable=1)
PROJECTION = ArtifactKind("projection", version=3, oldest_readable=1)
BITEXT = ArtifactKind("bitext", version=1, oldest_readable=1)
RULES = ArtifactKind("rules", version=1, oldest_readable=1)
GRAMMAR = ArtifactKind("grammar", version=2, oldest_readable=1)
FINDER = ArtifactKind("finder", version=1, oldest_readable=1, made_by="distsim sign INDEX")
MAP = ArtifactKind("map", version=1, oldest_readable=1)
KINDS = {
    kind.name: kind for kind in (INDEX, SIGNATURES, PROJECTION, FINDER, MAP, BITEXT, RULES, GRAMMAR)
}


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of an artifact; it is checked, the arrays are not.

    Arguments:
        path: of the artifact.

    Raises:
        ArtifactError: there is none, or it is damaged.
    """
    if not path.exists():
        raise ArtifactError(f"{path}: no such folder: check the path")
    if not path.is_dir():
        raise ArtifactError(f"{path}: is a file, wanted the folder of an artifact: check the path")
    file = path / MANIFEST
    if file.is_symlink() or (file.exists() and not file.is_file()):
        raise ArtifactError(
            f"{file}: is no file but a link or the like, and artifacts hold none: put the file "
            "itself there"
        )
    if not file.exists():
        raise ArtifactError(
            f"{path}: has no {MANIFEST}: an unfinished build or no artifact of distsim; "
            "name another folder, or remove this one and build it again"
        )
    try:
        text = file.read_bytes()
        manifest: dict[str, Any] = json.loads(text, parse_constant=_refuse)
        sound = (
            manifest["checksum"] == manifest_checksum(manifest)
            and text == manifest_text(manifest).encode()
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


def require_kind(path: Path, manifest: dict[str, Any], kind: ArtifactKind | None) -> ArtifactKind:
    """Return the kind of an artifact after checking it and its format version.

    Arguments:
        path: of the artifact.
        manifest: as read.
        kind: that is wanted; any where None.

    Raises:
        ArtifactError: the artifact is of another kind or of an unknown format version.
    """
    known_kind = KINDS.get(manifest["kind"])
    if known_kind is None:
        raise ArtifactError(
            f"{path}: holds {manifest['kind']!r}, a kind of artifact that this "
            "version of distsim does not know: upgrade distsim"
        )
    if kind is not None and known_kind is not kind:
        raise ArtifactError(
            f"{path}: holds {_article(known_kind.name)}, wanted {_article(kind.name)}: "
            "name another folder"
        )
    version = manifest["version"]
    if version > known_kind.version:
        raise ArtifactError(
            f"{path}: {known_kind.name} of format version {version}, this distsim reads up "
            f"to {known_kind.version}: upgrade distsim"
        )
    if version < known_kind.oldest_readable:
        raise ArtifactError(
            f"{path}: {known_kind.name} of format version {version}, this distsim reads from "
            f"{known_kind.oldest_readable} on: build it again"
        )
    return known_kind


def _is_well_formed(manifest: dict[str, Any]) -> bool:
    return (
        isinstance(manifest["kind"], str)
        and type(manifest["version"]) is int
        and isinstance(manifest["parameters"], dict)
        and all(_is_entry(entry) for entry in manifest["arrays"].values())
    )


def _is_entry(entry: dict[str, Any]) -> bool:
    """Return whether an array's entry in a manifest is valid."""
    shape, dtype = entry["shape"], entry["dtype"]
    return (
        _FILE_NAME.fullmatch(entry["file"]) is not None
        and _DTYPE.fullmatch(dtype) is not None
        and isinstance(entry["checksum"], str)
        and len(shape) in (1, 2)
        and all(type(length) is int and 0 <= length < _MAX_ITEMS for length in shape)
        and type(entry["size"]) is int
        and entry["size"] == math.prod(shape) * int(dtype[2:])
    )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of a manifest")


def stored_count(parameters: dict[str, Any], name: str) -> int:
    """Return a count from a manifest's parameters.

    Arguments:
        parameters: of the manifest.
        name: of the count.

    Raises:
        ValueError: it is no whole number that a count can be; KeyError: it is not there.
    """
    number = parameters[name]
    if type(number) is not int or not 0 <= number < _MAX_ITEMS:
        raise ValueError(f"{name} is {str(number)[:40]}, wanted a whole number")
    return number


def manifest_text(manifest: dict[str, Any]) -> str:
    """Return the text of a manifest's file.

    Arguments:
        manifest: its entries.
    """
    return json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"


def made_from_text(checksum: str, content: str) -> str:
    """Return the text of the file MADE_FROM: checksums of its manifest and of the content used.

    Arguments:
        checksum: of the manifest.
        content: of the content used.
    """
    return f"{checksum} {content} {checksum_of_settings([checksum, content])}\n"


def manifest_checksum(manifest: dict[str, Any]) -> str:
    """Return the checksum of a manifest without its entry `checksum`.

    Arguments:
        manifest: its entries.
    """
    content = {name: value for name, value in manifest.items() if name != "checksum"}
    return checksum_of_settings(content)


def _article(noun: str) -> str:
    return {"index": "an index", "signatures": "a signature table"}.get(noun, f"a {noun}")


def signatures_inside(path: AnyPath) -> Path:
    """Return the path of the signature table inside an index's folder.

    Arguments:
        path: folder of the index.
    """
    return Path(path) / "signatures"


def finder_inside(path: AnyPath) -> Path:
    """Return the path of the finder of substitutes in a signature table.

    Arguments:
        path: folder of the table.
    """
    return Path(path) / "finder"
