"""The file of an index that holds the filters and ids of its subcorpora by name."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from distsim.base.errors import ArtifactError, ParameterError
from distsim.storage import open_output

FILE = "subcorpora.json"


def filters_of(path: Path, name: str) -> tuple[list[str], list[str] | None]:
    """Return (filters, ids or None) of a subcorpus.

    Raises:
        ParameterError: there is no such name.
    """
    chosen = filters_named(path, read_filters(path), name)
    return chosen["where"], chosen["ids"] or None


def filters_named(path: Path, known: Mapping[str, Any], name: str) -> Any:
    """Return the entry of a subcorpus among those that `read_filters` returned.

    Raises:
        ParameterError: there is no such name.
    """
    if name not in known:
        names = ", ".join(known) or "none: distsim subcorpus save makes one"
        raise ParameterError(f"{path}: has no subcorpus {name!r}; it has {names}")
    return known[name]


def read_filters(path: Path) -> dict[str, Any]:
    """Return the filters and ids of each name.

    Raises:
        ArtifactError: the file is damaged.
    """
    file = path / FILE
    if not file.exists():
        return {}
    try:
        known = json.loads(file.read_bytes())
        for saved in known.values():
            if not all(isinstance(text, str) for text in [*saved["where"], *saved["ids"]]):
                raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ArtifactError(f"{file}: is damaged: remove it and save subcorpora again") from None
    return dict(sorted(known.items()))


def write_filters(path: Path, known: Mapping[str, Any]) -> None:
    """Write the filters and ids of all names in place of those that are there."""
    with open_output(path / FILE, follow=False) as file:
        text = json.dumps(dict(sorted(known.items())), ensure_ascii=False, indent=1)
        file.write(text.encode() + b"\n")
