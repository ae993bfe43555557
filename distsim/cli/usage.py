"""The program's commands, its help, and the checks of arguments.

`distsim/data/cli/commands.toml` lists the commands and `removed.toml` what was removed. A command's
module is imported when the command is used.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from math import isfinite
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from distsim.cli.console import know_options

# Of a seed, and of any other whole number. What counts or limits things needs no more.
_LARGEST_SEED, _LARGEST = 2**63 - 1, 2**31 - 1


@cache
def read_table(name: str) -> dict[str, Any]:
    """Return a table of `distsim/data/cli`, as TOML has it.

    Arguments:
        name: of the file, without its ending.
    """
    return tomllib.loads((files("distsim") / "data" / "cli" / f"{name}.toml").read_text())


@cache
def removed_options() -> dict[str, dict[str, str]]:
    """Return, by command, each removed option, value or subcommand with its replacement."""
    found: dict[str, dict[str, str]] = {}
    for commands, sentences in read_table("removed").items():
        for command in commands.split(", "):
            found.setdefault(command, {}).update(sentences)
    return found


class Commands(Mapping[str, Any]):
    """Commands by name, each made when it is asked for.

    Arguments:
        entries: `help`, `example` and perhaps `module` of each command, or `commands` of a group.
        module: the module in distsim.cli that has all of them; None where each has its own.
    """

    def __init__(self, entries: Mapping[str, Any], module: str | None = None) -> None:
        self.entries = entries
        self._module = module
        self._made: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            entry = self.entries[name]
            if "commands" in entry:
                inner = Commands(entry["commands"], name)
                self._made[name] = Grouped(
                    name=name,
                    help=entry["help"],
                    no_args_is_help=True,
                    rich_markup_mode=None,
                    inner=inner,
                )
            else:
                self._made[name] = self._command(name, entry)
        return self._made[name]

    def _command(self, name: str, entry: Mapping[str, str]) -> Any:
        module = self._module or entry.get("module", name)
        function = import_module(f"distsim.cli.{module.replace('-', '_')}")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(
            name, cls=Sectioned, short_help=entry["help"],
            epilog=f"Example: distsim {entry['example']}",
        )(getattr(function, name.replace("-", "_")))  # fmt: skip
        return bounded(typer.main.get_command(alone))


class Grouped(TyperGroup):
    """A group of commands; lists them under headings. Without `inner`, the program itself.

    Arguments:
        inner: the commands of the group; None: the program.
    """

    def __init__(self, *, inner: Commands | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._headings = {"Commands": inner.entries} if inner else read_table("commands")
        entries = {name: one for part in self._headings.values() for name, one in part.items()}
        self.commands: Any = inner or Commands(entries)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; raise a usage error that names the replacement of a removed one.

        Arguments:
            ctx: of the parser.
            args: that were typed.
        """
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            raise _told(error, ctx, args[0]) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list for --help, each command with its whole sentence.

        Arguments:
            ctx, formatter: of the parser.
        """
        width = max(len(name) for name in self.commands)
        for heading, entries in self._headings.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), entry["help"]) for name, entry in entries.items()]
                )


class Sectioned(TyperCommand):
    """A command whose help ends with an example, and whose errors name replacements of options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the remaining arguments; an error names the replacement of a removed option.

        Arguments:
            ctx: of the parser.
            args: that were typed.
        """
        pairs = [f"{name} {value}" for name, value in pairwise(args)]
        pairs += [arg.replace("=", " ", 1) for arg in args]
        phrases = [arg for arg in args if _may_be_phrase(arg)]
        try:
            found: list[str] = super().parse_args(ctx, args)
        except Exception as error:
            told = _told(error, ctx, getattr(error, "option_name", ""), *pairs)
            if hasattr(error, "possibilities") and phrases:  # there is no such option
                told.message += f"; before a phrase that begins with - put --: -- {phrases[0]}"
            raise told from None
        return found

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error in --set names the replacement of a removed setting.

        Arguments:
            ctx: of the parser.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            given = ctx.params.get("settings") or () if error.param_hint == "--set" else ()
            names = [name for text in given for name in (text, text.partition("=")[0])]
            raise _told(error, ctx, *(f"--set {name}" for name in names)) from None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example in one line, however long.

        Arguments:
            ctx, formatter: of the parser.
        """
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"{self.epilog}\n")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments behind the command's name: `INDEX... [PHRASE...]`.

        Arguments:
            ctx: of the parser.
        """
        pieces = super().collect_usage_pieces(ctx)
        for drawn, plain in (("{", ""), ("}", ""), ("......", "..."), ("...]...", "...]")):
            pieces = [piece.replace(drawn, plain) for piece in pieces]
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options.

        Arguments:
            ctx, formatter: of the parser.
        """
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                name, text = record
                if param.param_type_name == "argument":  # all are text: their type says nothing
                    sections["Arguments"].append((name.split(" <")[0], text))
                else:
                    sections["Options"].append((name, text))
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _told(error: Any, ctx: Any, *names: str) -> Any:
    """Return a usage error; for a removed option or value its message names the replacement."""
    removed = removed_options().get(ctx.command_path.partition(" ")[2], {})
    name = next((one for one in names if one in removed), None)
    if name is not None:
        error.message, error.possibilities = f"{name} was removed: {removed[name]}", None
    return error


def _may_be_phrase(arg: str) -> bool:
    """Return whether an argument may be a phrase though it is read as options: -lrb-."""
    return arg.startswith("-") and len(arg) > 2 and arg[1] != "-"


def bounded(command: Any) -> Any:
    """Return a command whose numbers are checked: whole ones in range, others finite.

    Arguments:
        command: made by typer.
    """
    work = command.callback
    options = {param.name: param for param in command.params}

    def checked(**values: Any) -> Any:
        know_options({name: option.opts[0] for name, option in options.items()})
        for name, value in values.items():
            for number in value if isinstance(value, list | tuple) else (value,):
                wrong = _wrong(number, options.get(name))
                if wrong:
                    raise typer.BadParameter(wrong, param_hint=" / ".join(options[name].opts))
        return work(**values)

    command.callback = checked
    return command


def _wrong(number: object, option: Any) -> str | None:
    if isinstance(number, float) and not isfinite(number):
        return f"{number} is not a finite number."
    if isinstance(number, int) and option is not None:
        large = option.name == "seed" or option.metavar == "SIZE"
        largest = _LARGEST_SEED if large else _LARGEST
        if abs(number) > largest:
            return f"{str(number)[:30]} is not in the range {-largest} to {largest}."
    return None
