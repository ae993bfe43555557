"""`distsim map SOURCE TARGET --pairs DICTIONARY -o MAP`: a map for `neighbours --map MAP`."""

from typing import Annotated

import typer

from distsim.cli.console import ForceOption, may_replace, say
from distsim.cli.options import SetOption, chosen


def map(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A table, or an index that was signed.")
    ],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The same, of the other text.")],
    pairs: Annotated[
        str,
        typer.Option(
            metavar="DICTIONARY", help="Lines word<TAB>translation, perhaps with <TAB>weight."
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MAP", help="Its folder.")],
    settings: SetOption = None,
    force: ForceOption = False,
) -> None:
    """Learn a linear map from the word vectors of one table to those of another.

    By ridge regression, or with --set method=orthogonal by orthogonal Procrustes.
    """
    from distsim.comparison.mapping import MapOptions, VectorMap

    (options,) = chosen(MapOptions(), settings=settings)
    force = may_replace(output, force)
    made = VectorMap.learn(source, target, pairs, output, options=options, force=force, notice=say)
    say(
        f"{made.parameters['pairs']:,} pairs, {made.matrix.shape[0]} by {made.matrix.shape[1]} "
        f"dimensions, {len(made.target.words):,} target words"
    )
