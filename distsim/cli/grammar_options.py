"""Options that the subcommands on grammar files share."""

from enum import StrEnum
from typing import Annotated, Literal

import typer


class OnError(StrEnum):
    """What becomes of lines that are no rules."""

    STOP = "stop"
    KEEP = "keep"
    DROP = "drop"


class GrammarFormat(StrEnum):
    """How a grammar is written."""

    RULES = "rules"
    PHRASE_TABLE = "phrase-table"


OnErrorOption = Annotated[
    OnError, typer.Option(help="Faulty lines: stop, or keep them as they are, or drop them.")
]
FormatOption = Annotated[
    GrammarFormat | None, typer.Option("--format", help="Told by the first lines where not given.")
]


def format_value(chosen: GrammarFormat | None) -> Literal["rules", "phrase-table"] | None:
    """Return the name of a grammar's format, None where it is to be told."""
    if chosen is None:
        return None
    return "rules" if chosen is GrammarFormat.RULES else "phrase-table"
