"""Checksums of arrays, settings and files: BLAKE2b, 16 bytes, in hexadecimal; keys of settings.

Settings of manifests that have another name in code keep their keys, so that older artifacts open
and fingerprints do not change.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from distsim.storage.files import naming, raw_bytes

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
