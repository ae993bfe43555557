"""Settings: reads and writes dataclasses of options as `key=value` texts and TOML files.

A key is a field's name; the fields of a dataclass inside another follow a dot, as in
`weighting.alpha`. A field that may be None is so where `none` is written. Where a field may be one
of several dataclasses, `name` inside it chooses one by its attribute `name`.
"""

import json
import tomllib
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from distsim.base.errors import InputError, ParameterError, counted

NONE = "none"
_MAX_NUMBER, _MAX_SIZE = 2**31 - 1, 2**63 - 1  # counts; seeds and bytes
_Options = TypeVar("_Options")


class SettingError(ParameterError):
    """Unknown setting, or a value that the setting cannot have."""


def presets(folder: str, names: Iterable[str], options: _Options) -> dict[str, _Options]:
    """Return options as the package's files `data/recipes/FOLDER/NAME.toml` have them, by name.

    Arguments:
        options: the options that the files change.
    """
    place = files("distsim") / "data" / "recipes" / folder
    read = {name: (place / f"{name}.toml").read_text("utf-8") for name in names}
    return {n: changed([options], tomllib.loads(text), n)[0] for n, text in read.items()}


def read_changes(path: str | Path) -> dict[str, Any]:
    """Return the settings in a TOML file, a table as a dict.

    Raises:
        InputError: the file cannot be read or is no TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: name a TOML file") from None
    except ValueError as error:  # no TOML, or no UTF-8
        raise InputError(f"{path}: is no TOML ({error}): correct it") from None


def parse_changes(assignments: Iterable[str]) -> dict[str, Any]:
    """Return `key=value` texts as nested dicts; values are texts that `changed` converts.

    Raises:
        SettingError: one has no `=`, or a key is given both a value and keys below it.

    >>> parse_changes(["weighting.alpha=0.5", "n_bits=128"])
    {'weighting': {'alpha': '0.5'}, 'n_bits': '128'}
    """
    changes: dict[str, Any] = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        *parents, last = key.strip().split(".")
        if not equals or not last or not all(parents):
            raise SettingError(f"{text!r}: give KEY=VALUE, as in n_bits=128")
        below = changes
        for parent in parents:
            below = below.setdefault(parent, {})
            if not isinstance(below, dict):
                raise SettingError(f"{parent} and {key.strip()}: give one of them")
        if isinstance(below.get(last), dict):
            raise SettingError(f"{key.strip()} and keys below it: give one of them")
        below[last] = _TypedValue(value.strip())
    return changes


def changed(options: Iterable[Any], changes: Mapping[str, Any], where: str = "") -> list[Any]:
    """Return dataclass instances with the values of `changes` in place of their own.

    Arguments:
        options: dataclass instances, no two of which have a field of the same name.
        changes: by field; of a dataclass inside, a dict. From `read_changes` or `parse_changes`.
        where: the file that the changes come from, for error messages.

    Raises:
        SettingError: a key that none of them has, or a value of the wrong kind.
    """
    options = list(options)
    left = dict(changes)
    taken = [
        {key: left.pop(key) for key in list(left) if key in _settable(type(option))}
        for option in options
    ]
    place = f"{where}: " if where else ""
    if left:
        known = [key for option in options for key in keys(option)]
        raise SettingError(
            f"{place}{_full_key(left)}: no such setting: choose one of {', '.join(known)}"
        )
    return [
        _changed(option, mine, _At(place, "")) for option, mine in zip(options, taken, strict=True)
    ]


def keys(options: Any) -> list[str]:
    """Return the keys of a dataclass instance's settings, those of dataclasses inside dotted.

    >>> from distsim import Selection
    >>> keys(Selection())
    ['min_count', 'max_length', 'max_phrases']
    """
    names: list[str] = []
    for name, hint in _settable(type(options)).items():
        value = getattr(options, name)
        inner = value if is_dataclass(value) else next((c() for c in _classes(hint)), None)
        names += [f"{name}.{key}" for key in keys(inner)] if inner is not None else [name]
    return names


def settings_text(*options: Any) -> str:
    """Return the settings of dataclass instances as TOML, which `read_changes` reads again.

    Arguments:
        options: instances of dataclasses, whose fields are the settings.

    >>> from distsim import Selection
    >>> print(settings_text(Selection(max_phrases=10)), end="")
    min_count = 5
    max_length = 4
    max_phrases = 10
    """
    lines, tables = [], []
    for option in options:
        for name, hint in _settable(type(option)).items():
            value = getattr(option, name)
            if not is_dataclass(value):
                if not isinstance(value, Mapping):
                    lines.append(f"{name} = {_toml(value)}")
                elif value:
                    rows = [f"{json.dumps(key)} = {_toml(v)}" for key, v in value.items()]
                    tables.append("\n".join([f"[{name}]", *rows]))
                continue
            chosen = [f'name = "{_name(type(value))}"'] if len(_classes(hint)) > 1 else []
            inner = "\n".join([*chosen, settings_text(value).rstrip("\n")])
            # A table inside this one has its name before its own.
            tables.append(f"[{name}]\n{inner}".replace("\n[", f"\n[{name}."))
    return "\n\n".join([*(["\n".join(lines)] if lines else []), *tables]) + "\n"


class _TypedValue(str):
    """A value as it was typed, not yet converted."""


class _At(NamedTuple):
    """The beginning of a message on a key.

    place: the file and a colon, empty without one. above: the keys above, each with a dot behind.
    """

    place: str
    above: str

    def below(self, key: str) -> "_At":
        return self._replace(above=f"{self.above}{key}.")

    def error(self, key: str, value: Any, wanted: str) -> SettingError:
        return SettingError(f"{self.place}{self.above}{key}: is {value!r}, wanted {wanted}")


def _changed(options: Any, changes: Mapping[str, Any], at: _At) -> Any:
    known = _settable(type(options))
    new_values = {}
    for name, value in changes.items():
        plain = name in known and not _classes(known[name]) and not _is_mapping(known[name])
        if name not in known or (plain and isinstance(value, Mapping)):
            names = ", ".join(at.above + key for key in keys(options))
            raise SettingError(
                f"{at.place}{at.above}{_full_key({name: value})}: no such setting: choose one of "
                f"{names}"
            )
        classes = _classes(known[name])
        if classes:
            new_values[name] = _inner(getattr(options, name), classes, name, value, known[name], at)
        else:
            new_values[name] = _value(value, known[name], name, at)
    return replace(options, **new_values)


def _inner(now: Any, classes: list[type], name: str, value: Any, hint: Any, at: _At) -> Any:
    """Return the new value of a field that contains a dataclass."""
    may_be_none = type(None) in get_args(hint)
    if may_be_none and value == NONE:
        return None
    if not isinstance(value, Mapping):
        keys_inside = keys(now if now is not None else classes[0]())
        wanted = f"{'none, or ' * may_be_none}a key inside it, such as {name}.{keys_inside[0]}"
        raise at.error(name, value, wanted)
    value = dict(value)
    if len(classes) > 1 and "name" in value:
        chosen = value.pop("name")
        fitting = [kind for kind in classes if _name(kind) == chosen]
        if not fitting:
            names = ", ".join(map(_name, classes))
            raise at.below(name).error("name", chosen, f"one of {names}")
        now = now if isinstance(now, fitting[0]) else fitting[0]()
    return _changed(now if now is not None else classes[0](), value, at.below(name))


def _value(value: Any, hint: Any, name: str, at: _At) -> Any:
    """Return a value converted to the type of its field.

    Raises:
        SettingError: it is of another kind.
    """
    kinds = [member for member in _members(hint) if member is not type(None)]
    if len(kinds) < len(_members(hint)) and value == NONE:
        return None
    kind = kinds[0]
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value in inside:
            return str(value)
        raise at.error(name, value, f"one of {', '.join(inside)}")
    if origin is tuple:
        typed, value = value, _listed(value, in_brackets=get_origin(inside[0]) is tuple)
        if value is None:
            raise at.error(name, typed, "values in brackets, separated by commas")
        of_each = [inside[0]] * len(value) if inside[-1] is Ellipsis else list(inside)
        if len(of_each) != len(value):
            raise at.error(name, list(value), f"{counted(len(of_each), 'value')} in brackets")
        return tuple(_value(v, h, name, at) for v, h in zip(value, of_each, strict=True))
    if origin is not None:  # a mapping
        if not isinstance(value, Mapping):
            raise at.error(name, value, f"a key inside it, as in {name}.KEY=VALUE")
        return {
            key: _value(entry, inside[1], key, at.below(name))
            for key, entry in _flat(value).items()
        }
    read = _READERS[kind](value)
    if read is None:
        raise at.error(name, value, _WANTED[kind])
    largest = _MAX_SIZE if name in ("seed", "memory") or name.endswith("_bytes") else _MAX_NUMBER
    if isinstance(read, int) and abs(read) > largest:
        raise at.error(name, read, f"at most {largest:,}")
    return read


def _listed(text: Any, in_brackets: bool) -> Sequence[Any] | None:
    """Return the values of a TOML list or of a text separated by commas; None for anything else."""
    if not isinstance(text, _TypedValue):
        return text if isinstance(text, list | tuple) else None
    if in_brackets or text.startswith("["):
        try:
            parsed = tomllib.loads(f"x = {text}")["x"]
        except tomllib.TOMLDecodeError:
            return None
        return parsed if isinstance(parsed, list) else None
    return [_TypedValue(entry.strip()) for entry in text.split(",") if entry.strip()]


def _whole(value: Any) -> int | None:
    if isinstance(value, _TypedValue):
        digits = value.removeprefix("-")
        return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    if isinstance(value, _TypedValue):
        try:
            value = float(value if value.isascii() and "_" not in value else "")
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if abs(value) < float("inf") else None


def _truth(value: Any) -> bool | None:
    if isinstance(value, _TypedValue):
        return {"true": True, "false": False}.get(value)
    return value if isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str) else None


_READERS: dict[Any, Any] = {int: _whole, float: _number, bool: _truth, str: _text}
_WANTED = {
    int: "a whole number of up to 19 digits",
    float: "a number",
    bool: "true or false",
    str: "a text",
}


def _settable(cls: Any) -> dict[str, Any]:
    """Return the fields that settings can change, with the types of their values."""
    hints = get_type_hints(cls)
    names = [field.name for field in fields(cls) if field.init]
    return {name: hints[name] for name in names if _can_be_set(hints[name])}


def _can_be_set(hint: Any) -> bool:
    if hint is Ellipsis or hint is type(None):
        return True
    origin = get_origin(hint)
    if origin is Literal:
        return True
    if origin in (tuple, Union, types.UnionType) or _is_mapping(hint):
        return all(map(_can_be_set, get_args(hint)))
    return hint in _READERS or (is_dataclass(hint) and _has_defaults(hint))


def _has_defaults(cls: Any) -> bool:
    """Return whether an instance of a dataclass can be made without arguments."""
    return all(
        field.default is not MISSING or field.default_factory is not MISSING
        for field in fields(cls)
        if field.init
    )


def _is_mapping(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _members(hint: Any) -> tuple[Any, ...]:
    is_union = get_origin(hint) in (Union, types.UnionType)
    return get_args(hint) if is_union else (hint,)


def _classes(hint: Any) -> list[type]:
    """Return the dataclasses that a value may be of."""
    return [
        member for member in _members(hint) if isinstance(member, type) and is_dataclass(member)
    ]


def _name(cls: type) -> str:
    return str(getattr(cls, "name", cls.__name__))


def _full_key(changes: Mapping[str, Any]) -> str:
    """Return the first key, with those below it: `weighting.alfa`."""
    key, value = next(iter(changes.items()))
    return f"{key}.{_full_key(value)}" if isinstance(value, Mapping) and value else key


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return a mapping whose keys may have dots, which were taken for keys inside keys."""
    flattened: dict[str, Any] = {}
    for key, value in values.items():
        inner = isinstance(value, Mapping)
        flattened |= _flat(value, f"{above}{key}.") if inner else {above + key: value}
    return flattened


def _toml(value: Any) -> str:
    if value is None:
        return f'"{NONE}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
