"""Keys of stored manifests whose settings have another name in code.

Keys of released versions stay, so that older artifacts open and fingerprints do not change.
"""

from collections.abc import Mapping
from typing import Any

STORED_KEYS = {"min_weight": "least", "prior_count": "trust", "min_own_count": "own_from"}
_NAMES = {key: name for name, key in STORED_KEYS.items()}


def to_stored(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under the keys that manifests have, in the same order.

    Arguments:
        settings: values by name in code.

    >>> to_stored({"alpha": 0.75, "min_weight": 0.3})
    {'alpha': 0.75, 'least': 0.3}
    """
    return {STORED_KEYS.get(name, name): value for name, value in settings.items()}


def from_stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by name in code, the inverse of `to_stored`.

    Arguments:
        values: what a manifest keeps.
    """
    return {_NAMES.get(key, key): value for key, value in values.items()}
