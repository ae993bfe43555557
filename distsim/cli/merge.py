"""`distsim merge TABLE... -o TABLE`: merges tables that store sums."""

from typing import Annotated

import typer

from distsim.cli.console import ForceOption, JobsOption, may_replace, progress_bar, say
from distsim.cli.sign import KeepSumsOption


def merge(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="Signed with --keep-sums.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="TABLE", help="Its folder.")],
    min_count: Annotated[
        int | None, typer.Option(min=1, help="Leave out phrases rarer in all; default: as signed.")
    ] = None,
    keep_sums: KeepSumsOption = False,
    force: ForceOption = False,
    jobs: JobsOption = None,
) -> None:
    """Merge tables of parts of a text into the table of the whole, without the text.

    They are signed with --preset thesis --keep-sums; the result is the table that signing the whole
    text gives, byte for byte.
    """
    from distsim.comparison.table import merge_tables

    force = may_replace(output, force)
    with progress_bar() as bar:
        table = merge_tables(
            tables,
            output,
            min_count=min_count,
            keep_sums=keep_sums,
            force=force,
            jobs=jobs,
            progress=bar,
        )
    say(
        f"{len(table):,} phrases of {len(tables)} tables that occur "
        f"{table.parameters['min_count']} times in all, {table.n_bits} bits, "
        f"fingerprint {table.fingerprint.short}"
    )
