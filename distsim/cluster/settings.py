"""Converts settings (nested frozen dataclasses) to and from JSON values.

A dataclass becomes {"is": its name, its fields}; the types of fields say which names there can be.
So a recipe travels whatever its settings are.
"""

import dataclasses
import types
import typing
from typing import Any

from distsim.base.errors import ArtifactError


def to_plain(value: Any) -> Any:
    """Return the JSON value of a setting.

    Arguments:
        value: a setting.

    >>> from distsim import Selection
    >>> to_plain(Selection(min_count=2))
    {'is': 'Selection', 'min_count': 2, 'max_length': 4, 'max_phrases': None}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: to_plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
        return {"is": type(value).__name__} | fields
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: to_plain(one) for name, one in value.items()}
    return value


def from_plain(kind: Any, value: Any) -> Any:
    """Return the value of type `kind` from its JSON value; the inverse of `to_plain`.

    Arguments:
        kind: a dataclass or another type that `to_plain` can take.
        value: as json.loads returns it.

    Raises:
        ArtifactError: it is of another version of distsim.

    >>> from distsim import Selection
    >>> from_plain(Selection, to_plain(Selection(max_length=2))).max_length
    2
    """
    if isinstance(value, dict) and "is" in value:
        found = {one.__name__: one for one in _dataclasses_in(kind)}.get(value["is"])
        if found is not None:
            hints = typing.get_type_hints(found)
            given = {name: one for name, one in value.items() if name != "is"}
            if given.keys() <= hints.keys():
                return found(**{name: from_plain(hints[name], one) for name, one in given.items()})
        raise ArtifactError(
            f"the plan holds the settings {value['is']!r} of another version of distsim: start "
            "anew with another folder"
        )
    if isinstance(value, list):
        inside = typing.get_args(kind)
        read = [from_plain(inside[0] if inside else Any, one) for one in value]
        return tuple(read) if tuple in (kind, typing.get_origin(kind)) else read
    return value


def _dataclasses_in(kind: Any) -> list[type]:
    if dataclasses.is_dataclass(kind):
        return [typing.cast(type, kind)]
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return [one for inside in typing.get_args(kind) for one in _dataclasses_in(inside)]
    return []
