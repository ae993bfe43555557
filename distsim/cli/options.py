"""Options that several subcommands have: fine settings, memory, estimates of similarity."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.choices import EstimateName, TextFormat
from distsim.base.settings import (
    SettingError,
    changed,
    keys,
    parse_changes,
    read_changes,
    settings_text,
)
from distsim.cli.console import InOption, WhereOption, know_settings, say_format
from distsim.cli.groups import OptionGroup
from distsim.corpus.numbers import plain_number

if TYPE_CHECKING:
    from distsim.corpus.sources import Source
    from distsim.indexes.corpus_index import CorpusIndex

EstimateOption = Annotated[
    EstimateName | None,
    typer.Option(
        help="bits: by Hamming distance; restored: by the posterior mean vectors of both. "
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
    **given: Any,
) -> list[Any]:
    """Return dataclass instances with the values of --recipe, --set and a command's own options.

    Arguments:
        options: the instances, no two with a field of the same name.
        recipe: a TOML file. settings: `key=value` texts, which change what the file says.
        given: values of fields from options of the command; those that are None say nothing.

    Raises:
        typer.BadParameter: `settings` has an unknown key or a wrong value.
        SettingError, InputError: the same of the file, or it is not TOML.
        typer.Exit: `settings` is `keys`; the settings were printed as TOML.
    """
    know_settings(key for one in options for key in keys(one))
    found = list(options) if recipe is None else changed(options, read_changes(recipe), recipe)
    listed = "keys" in (settings or ())
    try:
        changes = parse_changes([text for text in settings or () if text != "keys"])
        changes |= {name: value for name, value in given.items() if value is not None}
        found = changed(found, changes)
    except SettingError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from None
    if listed:
        print(settings_text(*found), end="")
        raise typer.Exit
    return found


@dataclass
class FineSettings(OptionGroup):
    """The options for settings that have no option of their own."""

    recipe: RecipeOption = None
    settings: SetOption = None

    def chosen(self, *options: Any, **given: Any) -> list[Any]:
        """Return dataclass instances with these settings.

        Arguments:
            options: instances whose fields can be set.
            given: values of options of their own, which come before the settings.
        """
        return chosen(*options, recipe=self.recipe, settings=self.settings, **given)


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


def _set_memory_limit(n_bytes: int | None) -> None:
    if n_bytes is not None:
        from distsim.base.memory import set_memory_limit

        set_memory_limit(n_bytes)


HeldMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        parser=memory_bytes,
        callback=_set_memory_limit,
        help="For copies and caches that answer sooner.  [default: half of what is free]",
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
