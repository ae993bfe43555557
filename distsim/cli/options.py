"""Options that several subcommands have: fine settings, memory, estimates of similarity."""

import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from distsim.base.arguments import (
    EstimateName,
    GrammarFormatName,
    OnError,
    TextFormat,
    plain_number,
)
from distsim.base.settings import (
    SettingError,
    changed,
    keys,
    parse_changes,
    read_changes,
    settings_text,
)
from distsim.cli.console import InOption, WhereOption, know_settings, say_format

if TYPE_CHECKING:
    from distsim.corpus.sources import Source
    from distsim.indexes.corpus_index import CorpusIndex


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
        is_plain, converted = (self._parsed if self._info.parser else self._plain)(value)
        return converted if is_plain else self._make().coerce(value, param=param, ctx=ctx)

    def _parsed(self, value: Any) -> tuple[bool, Any]:
        """Return (whether the parameter's own parser takes a value, it in its type)."""
        with suppress(typer.BadParameter):
            if type(value) is str and type(converted := self._info.parser(value)) is int:
                return True, converted
        return False, None

    def _plain(self, value: Any) -> tuple[bool, Any]:
        """Return (whether a value needs no check, it in its type)."""
        kind = self._annotation
        if kind is str:
            return _is_text(value), value
        if kind == list[str]:
            is_plain = isinstance(value, list | tuple) and all(map(_is_text, value))
            return is_plain, list(value) if is_plain else None
        # Of numbers with a point the defaults alone.
        is_number = type(value) is kind if kind is float else type(value) is int or _is_whole(value)
        if kind in (int, float) and is_number:
            number, least, largest = kind(value), self._info.min, self._info.max
            fits = (least is None or number >= least) and (largest is None or number <= largest)
            return fits, number
        if get_origin(kind) is Literal:
            return type(value) is str and value in get_args(kind), value
        return False, None


def _is_text(value: Any) -> bool:
    """Return whether a value is text without bytes that are no UTF-8."""
    if type(value) is not str:
        return False
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _is_whole(value: Any) -> bool:
    return type(value) is str and _WHOLE.fullmatch(value) is not None


EstimateOption = Annotated[
    EstimateName | None,
    typer.Option(
        help="bits: by Hamming distance; restored: by the vectors of both, stored or composed. "
        "Default: restored where the table stores words' vectors."
    ),
]
OppositesOption = Annotated[
    str | None,
    typer.Option(
        metavar="INDEX",
        help="Also find opposites, by words that join them in this index.",
    ),
]
KeepCaseOption = Annotated[bool, typer.Option(help="Do not fold to lower case.")]
_COMMA = re.compile(r",(?![^()]*\))")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def memory_bytes(text: str) -> int:
    """Return a number of bytes.

    Arguments:
        text: such as `800M`, `4G` or a plain number.

    Raises:
        typer.BadParameter: it is none of these.
    """
    number = text.upper().removesuffix("B")
    digits = number.rstrip("KMGT")
    size = (plain_number(digits.strip()) or 0.0) * _UNITS.get(number[len(digits) :], 0)
    if not 1 <= size < math.inf:
        raise typer.BadParameter(f"{text!r}: give a size such as 800M or 4G")
    return int(size)


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a list; a comma in brackets belongs to a name.

    Arguments:
        text: names, separated by commas.

    >>> split_names("letters, p(e|f,LHS)")
    ('letters', 'p(e|f,LHS)')
    """
    return tuple(name.strip() for name in _COMMA.split(text) if name.strip())


SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a fine setting; repeat it. `--set keys` lists all with their values.",
    ),
]
RecipeOption = Annotated[
    str | None, typer.Option("--recipe", metavar="FILE", help="Take fine settings from TOML.")
]


def chosen(
    *options: Any,
    recipe: str | None = None,
    settings: Sequence[str] | None = None,
    **values: Any,
) -> list[Any]:
    """Return dataclass instances with the values of --recipe, --set and a command's own options.

    Arguments:
        options: the instances, no two with a field of the same name.
        recipe: a TOML file. settings: `key=value` texts, which change what the file says.
        values: values of fields from options of the command; those that are None say nothing.

    Raises:
        typer.BadParameter: `settings` has an unknown key or a wrong value.
        SettingError, InputError: the same of the file, or it is not TOML.
        typer.Exit: `settings` is `keys`; the settings were printed as TOML.
    """
    know_settings(key for option in options for key in keys(option))
    with_changes = (
        list(options) if recipe is None else changed(options, read_changes(recipe), recipe)
    )
    listed = "keys" in (settings or ())
    try:
        changes = parse_changes([text for text in settings or () if text != "keys"])
        own = {name: value for name, value in values.items() if value is not None}
        _require_one_value(changed(with_changes, changes), changes, own)
        with_changes = changed(with_changes, changes | own)
    except SettingError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from None
    if listed:
        print(settings_text(*with_changes), end="")
        raise typer.Exit
    return with_changes


def _require_one_value(
    options: Sequence[Any], changes: Mapping[str, Any], own: Mapping[str, Any]
) -> None:
    """Raise where --set gives a setting another value than the command's option for it.

    Arguments:
        options: with the changes of --set. changes: these. own: values by options of their own.
    """
    for name in changes.keys() & own.keys():
        if isinstance(changes[name], str):
            (value,) = (getattr(option, name) for option in options if hasattr(option, name))
            if value != own[name]:
                raise SettingError(
                    f"{name} is {value} here and {own[name]} by an option of its own: give one"
                )


@dataclass
class FineSettings(OptionGroup):
    """The options for settings that have no option of their own."""

    recipe: RecipeOption = None
    settings: SetOption = None

    def chosen(self, *options: Any, **values: Any) -> list[Any]:
        """Return dataclass instances with these settings.

        Arguments:
            options: instances whose fields can be set.
            values: values of options of their own, which override the settings.
        """
        return chosen(*options, recipe=self.recipe, settings=self.settings, **values)


def text_format_of(
    paths: "Sequence[str | Source]",
    settings: Sequence[str] | None,
    key: str,
    tokenised: bool = False,
) -> TextFormat:
    """Return how plain texts are cut, by their beginnings, and print it.

    Arguments:
        paths: of the texts.
        settings: of --set; what names `key` there is not printed, because it is settled there.
        key: of the format among the settings.
        tokenised: they must be, since links, trees or tags of their tokens are given.
    """
    from distsim.corpus.readers import plain_text_format

    text_format: TextFormat = "lines" if tokenised else plain_text_format(paths)
    if not any(text.partition("=")[0].strip() == key for text in settings or ()):
        say_format("text", text_format)
    return text_format


@dataclass
class DocumentOptions(OptionGroup):
    """The options for the documents of an index that are asked."""

    where: WhereOption = None
    within: InOption = None

    def opened(self, path: str) -> "CorpusIndex":
        """Return the index at a path, or these documents of it."""
        from distsim.indexes.corpus_index import CorpusIndex

        return CorpusIndex.open(path).select(where=self.where or (), subcorpus=self.within)


AsIsOption = Annotated[
    bool,
    typer.Option("--as-is", help="Take text that looks like HTML, XML, JSON or a table."),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of text that is not UTF-8, such as cp1252 or utf-16."),
]
MemoryOption = Annotated[
    int,
    typer.Option("--memory", metavar="SIZE", parser=memory_bytes, help="Such as 800M or 4G."),
]

FreeMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        parser=memory_bytes,
        help="Such as 800M or 4G; more goes through files.  [default: half of what is free]",
    ),
]


def limit_memory(n_bytes: int | None) -> None:
    """Have copies and caches take no more than --memory gives; half of what is free where None."""
    if n_bytes is not None:
        from distsim.base.parallel import set_memory_limit

        set_memory_limit(n_bytes)


HeldMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        parser=memory_bytes,
        help="For copies and caches that answer sooner.  [default: half of what is free]",
    ),
]
_OF_PROGRAM = 112 << 20  # bytes of the interpreter and the compiled loops


def limit_memory_beside_program(n_bytes: int | None) -> None:
    """Have an answer take no more than --memory gives, the program itself included.

    Raises:
        typer.BadParameter: that is less than the program alone takes.
    """
    if n_bytes is not None and n_bytes < _OF_PROGRAM:
        raise typer.BadParameter(
            f"the program alone takes {_OF_PROGRAM / 1e6:.0f}M: give more", param_hint="--memory"
        )
    limit_memory(None if n_bytes is None else n_bytes - _OF_PROGRAM)


AnswerMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        parser=memory_bytes,
        help="Such as 800M or 4G; what takes more, mapped files aside, is refused.",
    ),
]


def _set_unpack_limit(n_bytes: int | None) -> None:
    if n_bytes is not None:
        from distsim.corpus.sources import set_unpack_limit

        set_unpack_limit(n_bytes)


UnpackLimitOption = Annotated[
    int | None,
    typer.Option(
        "--unpack-limit",
        metavar="SIZE",
        parser=memory_bytes,
        callback=_set_unpack_limit,
        help="Maximum uncompressed size of a file that is over 1,000 times larger than "
        "compressed.  [default: 100M]",
    ),
]
ModelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|NAME", help="Models of stanza or spaCy, to annotate plain text with."
    ),
]
ProcessorsOption = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="What stanza does; all by default.")
]


def one_of(choices: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of an option that takes one of some words: its metavar and parser.

    Arguments:
        choices: the words, as they are shown.
    """
    names = tuple(choices)

    def checked(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r}: choose one of {', '.join(names)}")
        return text

    return {"metavar": f"[{'|'.join(names)}]", "parser": checked}


OnErrorOption = Annotated[
    OnError, typer.Option(help="Invalid lines: stop, keep them as they are, or drop them.")
]
GrammarFormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Inferred from the first lines where not given.",
        **one_of(get_args(GrammarFormatName)),
    ),
]
WeightOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        "-w",
        metavar="FEATURE=NUMBER",
        help="A term of the sum that orders rules, the largest sum first; repeat it.",
    ),
]


@dataclass
class GrammarFileOptions(OptionGroup):
    """How a grammar file is read."""

    grammar_format: GrammarFormatOption = None
    on_error: OnErrorOption = "stop"


@dataclass
class EvidenceOptions(OptionGroup):
    """Tables and index that give the similarity of a rule's sides."""

    ngram: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For sim_ngram: a table or signed index.")
    ] = None
    syntax: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For sim_syn: a syntactic table.")
    ] = None
    opposites: OppositesOption = None


def feature_weights(texts: list[str] | None) -> dict[str, float]:
    """Return the weight of each feature.

    Arguments:
        texts: `FEATURE=NUMBER` each, as typed.

    Raises:
        typer.BadParameter: a text is not of this form.
    """
    weights = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        number = plain_number(value)
        if not name or number is None:
            raise typer.BadParameter(
                f"--weight {text!r}: give FEATURE=NUMBER, as sim_ngram=2 or 0=-1"
            )
        weights[name] = number
    return weights
