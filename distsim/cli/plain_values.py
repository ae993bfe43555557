"""Takes values of options that need no check as they are.

The argument parser checks every value by pydantic, also that of an option that was not given, and
pydantic takes .2 s to import. What it would return unchanged is not given to it.
"""

import re
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

_WHOLE = re.compile(r"-?[0-9]{1,9}")


def take_plainly(params: Iterable[Any]) -> None:
    """Let parameters of the argument parser take plain values without a check.

    Arguments:
        params: of a command; one that has no such checks stays as it is.
    """
    for param in params:
        make = getattr(param, "get_runtime_param", None)
        if hasattr(param, "type_descriptor") and not isinstance(make, _PlainFirst | None):
            param.get_runtime_param = _PlainFirst(make, param.type_descriptor)


class _PlainFirst:
    """What coerces the values of a parameter: itself, or the check that is made at need.

    Arguments:
        make: returns the parser's own.
        descriptor: of the parameter.
    """

    def __init__(self, make: Any, descriptor: Any) -> None:
        self._make = make
        self._annotation, self._info = descriptor.annotation, descriptor.parameter_info

    def __call__(self) -> "_PlainFirst":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a value in the type of its parameter.

        Arguments:
            value: as given; None where it was not.
            param, ctx: as the parser has them.
        """
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        is_plain, found = (False, None) if self._info.parser else self._plain(value)
        return found if is_plain else self._make().coerce(value, param=param, ctx=ctx)

    def _plain(self, value: Any) -> tuple[bool, Any]:
        """Return (whether a value needs no check, it in its type)."""
        kind = self._annotation
        if kind is str:
            return _is_text(value), value
        if kind == list[str]:
            is_plain = isinstance(value, list | tuple) and all(map(_is_text, value))
            return is_plain, list(value) if is_plain else None
        if kind is int and (type(value) is int or _is_whole(value)):
            number, least, most = int(value), self._info.min, self._info.max
            fits = (least is None or number >= least) and (most is None or number <= most)
            return fits, number
        if get_origin(kind) is Literal:
            return type(value) is str and value in get_args(kind), value
        return False, None


def _is_text(value: Any) -> bool:
    """Return whether a value is text without bytes that are no UTF-8."""
    if type(value) is not str:
        return False
    return value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)


def _is_whole(value: Any) -> bool:
    return type(value) is str and _WHOLE.fullmatch(value) is not None
