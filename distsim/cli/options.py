"""Options that more than one subcommand has: weights, grammar files."""

from enum import StrEnum
from typing import Annotated, Literal

import typer


class Weights(StrEnum):
    """How counts become weights."""

    RAW = "raw"
    LOG = "log"
    PPMI = "ppmi"
    LLR = "llr"


WindowOption = Annotated[
    int | None, typer.Option(min=1, max=3, help="Tokens on either side that are features.")
]
WeightsOption = Annotated[
    Weights | None, typer.Option(help="How counts of features become weights.")
]


class OnError(StrEnum):
    """What becomes of lines that are no rules."""

    STOP = "stop"
    KEEP = "keep"
    DROP = "drop"


def format_value(chosen: "GrammarFormat | None") -> Literal["rules", "phrase-table"] | None:
    """Return the name of a grammar's format, None where it is to be told."""
    if chosen is None:
        return None
    return "rules" if chosen is GrammarFormat.RULES else "phrase-table"


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
