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
    int | None, typer.Option(min=1, max=3, help="Tokens on either side that are features.")
]
WeightsOption = Annotated[
    Weights | None, typer.Option(help="How counts of features become weights.")
]
