"""The program's commands, its help, and the checks of arguments.

`distsim/data/cli/commands.toml` lists the commands. A command's module is imported when the command
is used.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from math import isfinite
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from distsim.cli.console import know_options
from distsim.cli.options import take_plainly

_WRONG_VALUE = re.compile(r"'([^']*)' is not one of (.*)$")
_QUOTED = re.compile(r"'([^']*)'")
# Of a seed, and of any other whole number. What counts or limits things needs no more.
_MAX_SEED, _MAX_NUMBER = 2**63 - 1, 2**31 - 1


@cache
def read_command_table(name: str) -> dict[str, Any]:
    """Return a table of `distsim/data/cli`, as TOML has it.

    Arguments:
        name: of the file, without its ending.
    """
    return tomllib.loads((files("distsim") / "data" / "cli" / f"{name}.toml").read_text())


def overview() -> str:
    """Return what the program prints without arguments: the ten commands that most people need."""
    jobs = read_command_table("overview")
    width = max(len(command) for commands in jobs.values() for command in commands)
    lines = ["distsim finds phrases that are used alike, from plain text alone.", ""]
    for job, commands in jobs.items():
        lines.append(job)
        lines += [f"  distsim {command:{width}}  {text}" for command, text in commands.items()]
        lines.append("")
    lines.append("distsim demo shows the answers on twelve novels.")
    lines.append("distsim --help lists all commands, distsim COMMAND --help has an example.")
    return "\n".join(lines)


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
                inner = Commands(entry["commands"], entry.get("module", name))
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
        )(getattr(function, entry.get("function", name).replace("-", "_")))  # fmt: skip
        return bounded(typer.main.get_command(alone))


class Grouped(TyperGroup):
    """A group of commands; lists them under headings. Without `inner`, the program itself.

    Arguments:
        inner: the commands of the group; None: the program.
    """

    def __init__(self, *, inner: Commands | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._headings = {"Commands": inner.entries} if inner else read_command_table("commands")
        entries = {name: entry for part in self._headings.values() for name, entry in part.items()}
        self.commands: Any = inner or Commands(entries)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that of --help too, which take plain values as they are."""
        params: list[Any] = super().get_params(ctx)
        take_plainly(params)
        return params

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list for --help, each command with its whole sentence."""
        width = max(len(name) for name in self.commands)
        for heading, entries in self._headings.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), entry["help"]) for name, entry in entries.items()]
                )


class Sectioned(TyperCommand):
    """A command whose help ends with an example."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that of --help too, which take plain values as they are."""
        params: list[Any] = super().get_params(ctx)
        take_plainly(params)
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the remaining arguments; an error says how to give a phrase that begins with -."""
        pairs = [f"{name} {value}" for name, value in pairwise(args)]
        required = [param for param in self.params if param.required]
        if "--set keys" in pairs or "--set=keys" in args:  # which prints the settings alone
            for param in required:
                param.required = False
        try:
            remaining: list[str] = super().parse_args(ctx, [*args])  # which empties it
        except Exception as raised:
            error: Any = raised
            if hasattr(error, "message"):
                error.message = _with_nearest(error.message)
            phrase = next((arg for arg in args if _may_be_phrase(arg)), None)
            if hasattr(error, "possibilities") and phrase is not None:  # there is no such option
                error.message += f"; before a phrase that begins with - put --: -- {phrase}"
            raise
        finally:
            for param in required:
                param.required = True
        return remaining

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example in one line, however long."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"{self.epilog}\n")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments behind the command's name: `INDEX... [PHRASE...]`."""
        pieces = super().collect_usage_pieces(ctx)
        for drawn, plain in (("{", ""), ("}", ""), ("......", "..."), ("...]...", "...]")):
            pieces = [piece.replace(drawn, plain) for piece in pieces]
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options."""
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


def _with_nearest(message: str) -> str:
    """Return the message of a wrong value with the nearest of those that an option has.

    >>> _with_nearest("Value error, 'tabel' is not one of 'table', 'exact'.")
    "'tabel' is not one of 'table', 'exact'. Did you mean 'table'?"
    """
    wrong = _WRONG_VALUE.search(message)
    if wrong is None:
        return message
    near = get_close_matches(wrong[1], _QUOTED.findall(wrong[2]), 1)
    return wrong[0] + (f" Did you mean {near[0]!r}?" if near else "")


def _may_be_phrase(arg: str) -> bool:
    """Return whether an argument may be a phrase though it is read as options: -lrb-."""
    return arg.startswith("-") and len(arg) > 2 and arg[1] != "-"


def bounded(command: Any) -> Any:
    """Return a command whose numbers are checked: whole ones in range, others finite."""
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
        largest = _MAX_SEED if large else _MAX_NUMBER
        if abs(number) > largest:
            return f"{str(number)[:30]} is not in the range {-largest} to {largest}."
    return None
