"""Options that more than one subcommand has: weights and what depends on them."""

from enum import StrEnum
from typing import Annotated

import typer


class Weights(StrEnum):
    """How counts become weights."""

    RAW = "raw"
    LOG = "log"
    PPMI = "ppmi"
    LLR = "llr"


WindowOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=10, help="Tokens on either side that are features; 3 at most by positions."
    ),
]
SidesOption = Annotated[
    bool | None,
    typer.Option("--sides/--positions", help="A feature for either side, or for each position."),
]
WeightsOption = Annotated[
    Weights | None, typer.Option(help="How counts of features become weights.")
]
