"""The program's own help and arguments: commands and options in groups, numbers that fit."""

from collections.abc import Callable
from math import isfinite
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from distsim.cli.console import know_options
from distsim.cli.removed import REMOVED

# Of a seed, and of any other whole number. What counts or limits things needs no more.
_LARGEST_SEED, _LARGEST = 2**63 - 1, 2**31 - 1


class Grouped(TyperGroup):
    """Lists the commands under the headings (`rich_help_panel`) that they were given."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is meant; of one that was removed, say what took its place."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            raise _told(error, ctx, args[0]) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list for --help, each command with its whole sentence."""
        groups: dict[str, list[tuple[str, str]]] = {}
        commands: list[Any] = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        for command in sorted(commands, key=lambda one: not hasattr(one, "commands")):
            if not command.hidden:
                heading = getattr(command, "rich_help_panel", None) or "Commands"
                sentence = command.get_short_help_str(limit=500)
                groups.setdefault(str(heading), []).append((command.name, sentence))
        width = max(len(name) for rows in groups.values() for name, _ in rows)
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), sentence) for name, sentence in rows])


class Sectioned(TyperCommand):
    """Lists a command's options under the headings (`rich_help_panel`) that they were given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; of an option that was removed, say what took its place."""
        try:
            found: list[str] = super().parse_args(ctx, args)
        except Exception as error:
            raise _told(error, ctx, getattr(error, "option_name", "")) from None
        return found

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example in one line, however long."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"{self.epilog}\n")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what stands behind the command's name: `INDEX... [PHRASE...]`."""
        pieces = super().collect_usage_pieces(ctx)
        for drawn, plain in (("{", ""), ("}", ""), ("......", "..."), ("...]...", "...]")):
            pieces = [piece.replace(drawn, plain) for piece in pieces]
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options without a heading, then those of each heading."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                usual, (name, told) = "Options", record
                if param.param_type_name == "argument":  # all are text: their type says nothing
                    usual, name = "Arguments", name.split(" <")[0]
                heading = getattr(param, "rich_help_panel", None) or usual
                sections.setdefault(str(heading), []).append((name, told))
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _told(error: Any, ctx: Any, name: str) -> Any:
    """Return a usage error, of what was removed with the sentence that names its replacement."""
    command = ctx.command_path.partition(" ")[2]
    sentence = REMOVED.get(command, {}).get(name)
    if sentence is not None:
        error.message, error.possibilities = f"{name} was removed: {sentence}", None
    return error


def register(
    app: typer.Typer, name: str, sentence: str, example: str, group: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds a subcommand to the program or to a group of commands.

    Arguments:
        sentence: stands beside its name in --help.
        example: what its own --help ends with, as it is typed after `distsim`.
        group: the heading that it stands under.
    """
    return app.command(
        name, cls=Sectioned, short_help=sentence, rich_help_panel=group,
        epilog=f"Example: distsim {example}",
    )  # fmt: skip


def bounded(command: Any) -> Any:
    """Return a command whose numbers are checked: whole ones in range, others finite."""
    subcommands = getattr(command, "commands", {}).values()
    for subcommand in subcommands:
        bounded(subcommand)
    if subcommands:
        return command
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
