"""Options that the subcommands on grammar files share."""

from typing import Annotated

import typer

from distsim.base.choices import OnError
from distsim.grammar.formats import FORMATS


def _format_name(text: str) -> str:
    if text not in FORMATS:
        raise typer.BadParameter(f"{text!r}: choose one of {', '.join(FORMATS)}")
    return text


OnErrorOption = Annotated[
    OnError, typer.Option(help="Faulty lines: stop, or keep them as they are, or drop them.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar=f"[{'|'.join(FORMATS)}]",
        parser=_format_name,
        help="Told by the first lines where not given.",
    ),
]
