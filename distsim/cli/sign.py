"""`distsim sign SOURCE`: every frequent phrase's contexts -> a table of bit signatures."""

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import WeightsOption, WindowOption


class Preset(StrEnum):
    """Named settings."""

    THESIS = "thesis"


class Projection(StrEnum):
    """How features become bits."""

    GAUSSIAN = "gaussian"


def sign(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="An index.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="TABLE", help="Its folder; default: in the index."),
    ] = None,
    preset: Annotated[
        Preset, typer.Option(help="thesis: raw counts, window 1, 256 random bits.")
    ] = Preset.THESIS,
    window: WindowOption = None,
    weights: WeightsOption = None,
    alpha: Annotated[float, typer.Option(help="ppmi: smoothing of features' counts.")] = 0.75,
    shift: Annotated[float, typer.Option(help="ppmi: taken off every association.")] = 1.0,
    projection: Annotated[
        Projection, typer.Option(help="How weights become bits.")
    ] = Projection.GAUSSIAN,
    bits: Annotated[int | None, typer.Option(help="64 to 1024, in steps of 64.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the random projection.")] = None,
    min_count: Annotated[int, typer.Option(help="Leave out rarer phrases.")] = 5,
    max_length: Annotated[int, typer.Option(help="Longest phrases, in tokens.")] = 4,
    max_phrases: Annotated[
        int | None, typer.Option(help="Keep only the most frequent so many.")
    ] = None,
    jobs: JobsOption = None,
) -> None:
    """Sign phrases into a table.

    The table goes into the index where no -o is given.
    """
    from distsim.contexts.weights import Weighting
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.recipe import PRESETS, short_fingerprint
    from distsim.signatures.sign import Selection
    from distsim.signatures.table import SignatureTable

    recipe = PRESETS[preset.value]
    if weights is not None:
        recipe = replace(recipe, weighting=Weighting(weights.value, alpha, shift))
    recipe = replace(
        recipe,
        window=recipe.window if window is None else window,
        n_bits=recipe.n_bits if bits is None else bits,
        seed=recipe.seed if seed is None else seed,
    )
    selection = Selection(min_count, max_length, max_phrases)
    index = CorpusIndex.open(source)
    with progress_bar() as bar:
        table = SignatureTable.build(index, output, recipe, selection, jobs, bar)
    say(
        f"{len(table):,} phrases of 1 to {max_length} tokens, {table.n_bits} bits, "
        f"fingerprint {short_fingerprint(table.fingerprint)}"
    )
    left_out = table.parameters["phrases_without_context"]
    if left_out:
        say(f"{left_out:,} more phrases have no weighted context and so no signature")
