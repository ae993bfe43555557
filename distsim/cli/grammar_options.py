"""Options that the subcommands on grammar files share."""

from enum import StrEnum
from typing import Annotated

import click
import typer

from distsim.grammar.formats import FORMATS


class OnError(StrEnum):
    """What becomes of lines that are no rules."""

    STOP = "stop"
    KEEP = "keep"
    DROP = "drop"


OnErrorOption = Annotated[
    OnError, typer.Option(help="Faulty lines: stop, or keep them as they are, or drop them.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        click_type=click.Choice(list(FORMATS)),
        help="Told by the first lines where not given.",
    ),
]
