"""`distsim export TABLE -o FILE`: a table's vectors, phrases or neighbours for other tools."""

from typing import Annotated

import typer

from distsim.base.choices import ExportFormat
from distsim.cli.console import counted, in_flags, read_lines, say


def export(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Packed if it ends in .gz.")
    ],
    output_format: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="w2v, w2v-bin: real-valued vectors of words; parquet, csv: phrases with their "
            "signatures, or with --neighbours their neighbours.",
        ),
    ] = "w2v",
    phrases: Annotated[
        str | None, typer.Option(metavar="FILE", help="Only these phrases, one a line.")
    ] = None,
    neighbours: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="parquet, csv: K neighbours of each."),
    ] = None,
) -> None:
    """Write a table's vectors, phrases or neighbours for gensim, pandas and polars."""
    from distsim.output.exporting import export as write

    named = None
    if phrases is not None:
        named = [line for line in read_lines(phrases) if line.strip()]
    n = write(
        table, output, format=str(output_format), phrases=named, neighbours=neighbours,
        notice=lambda message: say(in_flags(message)),
    )  # fmt: skip
    say(f"{output}: {counted(n, 'row')}")
