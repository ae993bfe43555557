"""Groups of options as dataclasses, so that commands and their functions have few parameters."""

import dataclasses
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, get_args, get_type_hints


class OptionGroup:
    """Base of dataclasses whose fields are options of a command."""

    def given(self) -> list[str]:
        """Return the options that were given, as they are typed."""
        return [
            _flag(field.name, hint)
            for field, hint in _fields(type(self))
            if getattr(self, field.name) != field.default
        ]

    def other_than(self, *names: str) -> list[str]:
        """Return the options that were given, without those of some fields."""
        allowed = {_flag(field.name, hint) for field, hint in _fields(type(self))
                   if field.name in names}  # fmt: skip
        return [flag for flag in self.given() if flag not in allowed]


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the options of each group in place of the parameter of that type.

    Arguments:
        command: a function, some of whose parameters are of subclasses of OptionGroup.
    """
    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for name, parameter in signature.parameters.items():
        if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, OptionGroup):
            groups[name] = parameter.annotation
            parameters += [
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY,
                    default=field.default, annotation=hint,
                )
                for field, hint in _fields(parameter.annotation)
            ]  # fmt: skip
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def flat(**values: Any) -> Any:
        taken = {
            name: group(**{field.name: values.pop(field.name) for field, _ in _fields(group)})
            for name, group in groups.items()
        }
        return command(**values, **taken)

    del flat.__wrapped__
    flat.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _fields(group: type) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = get_type_hints(group, include_extras=True)
    return [(field, hints[field.name]) for field in dataclasses.fields(group)]


def _flag(name: str, hint: Any) -> str:
    """Return the option of a parameter: `--max-length` for max_length, or the declared name."""
    for extra in get_args(hint)[1:]:
        # Inside Annotated the first declared name stands where a default would.
        for declared in (
            getattr(extra, "default", None),
            *(getattr(extra, "param_decls", None) or ()),
        ):
            if isinstance(declared, str) and declared.startswith("--"):
                return str(declared).split("/")[0]
    return "--" + name.replace("_", "-")
