"""`distsim sign SOURCE`: every frequent phrase's contexts -> a table of bit signatures."""

from enum import StrEnum
from typing import Annotated

import typer

from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import SidesOption, WeightsOption, WindowOption


class Preset(StrEnum):
    """Named settings."""

    LEARNT = "learnt"
    THESIS = "thesis"


GAUSSIAN, SPECTRAL = "gaussian", "spectral"


def sign(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="An index.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="TABLE", help="Its folder; default: in the index."),
    ] = None,
    preset: Annotated[
        Preset,
        typer.Option(
            help="learnt: ppmi, both sides to 5 words, learnt bits, composed phrases; "
            "thesis: raw counts, window 1, 256 random bits."
        ),
    ] = Preset.LEARNT,
    window: WindowOption = None,
    sides: SidesOption = None,
    weights: WeightsOption = None,
    alpha: Annotated[float, typer.Option(help="ppmi: smoothing of features' counts.")] = 0.75,
    shift: Annotated[float, typer.Option(help="ppmi: taken off every association.")] = 1.0,
    projection: Annotated[
        str | None,
        typer.Option(
            metavar="gaussian|spectral|FILE",
            help="How weights become bits; spectral learns it first, FILE was learnt before.",
        ),
    ] = None,
    compose: Annotated[
        bool | None,
        typer.Option("--compose/--no-compose", help="Mix a phrase's vector with its words'."),
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts/--no-parts", help="Keep the words' vectors in the table.")
    ] = True,
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
    from distsim.signatures.composition import Composition
    from distsim.signatures.recipe import PRESETS, Recipe, short_fingerprint
    from distsim.signatures.sign import Selection
    from distsim.signatures.table import SignatureTable

    recipe = PRESETS[preset.value]
    scheme = recipe.weighting.scheme if weights is None else weights.value
    learnt = recipe.learnt if projection is None else projection != GAUSSIAN
    composition = recipe.composition if learnt else None
    if compose is not None:
        composition = Composition() if compose else None
    recipe = Recipe(
        window=recipe.window if window is None else window,
        weighting=Weighting(scheme, alpha, shift),
        n_bits=recipe.n_bits if bits is None else bits,
        seed=recipe.seed if seed is None else seed,
        sides=recipe.sides if sides is None else sides,
        learnt=learnt,
        composition=composition,
    )
    file = projection if projection not in (None, GAUSSIAN, SPECTRAL) else None
    selection = Selection(min_count, max_length, max_phrases)
    index = CorpusIndex.open(source)
    with progress_bar() as bar:
        table = SignatureTable.build(index, output, recipe, selection, jobs, bar, file, parts)
    say(
        f"{len(table):,} phrases of 1 to {max_length} tokens, {table.n_bits} bits, "
        f"fingerprint {short_fingerprint(table.fingerprint)}"
    )
    if table.parts is not None:
        say(
            f"{len(table.parts.hashes):,} words' vectors kept beside them, "
            f"{table.parts.vectors.nbytes / 1e6:,.0f} MB, to compose phrases that are not there"
        )
    left_out = table.parameters["phrases_without_context"]
    if left_out:
        say(f"{left_out:,} more phrases have no weighted context and so no signature")
