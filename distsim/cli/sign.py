"""`distsim sign SOURCE`: every frequent phrase's contexts -> a table of bit signatures."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import (
    FeaturesOption,
    KindsOption,
    MemoryOption,
    Model,
    ModelOption,
    ModelsOption,
    ProcessorsOption,
    TreesOption,
    WeightsOption,
    WindowOption,
)

if TYPE_CHECKING:
    from distsim.signatures.table import SignatureTable


class Preset(StrEnum):
    """Named settings."""

    THESIS = "thesis"


class Projection(StrEnum):
    """How features become bits."""

    GAUSSIAN = "gaussian"


def sign(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="An index; files with --model syntax."),
    ],
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
    model: ModelOption = Model.NGRAM,
    trees: TreesOption = None,
    features: FeaturesOption = None,
    kinds: KindsOption = None,
    keep_features: Annotated[
        bool,
        typer.Option("--keep-features", help="syntax: keep them in the table, for --exact."),
    ] = False,
    models: ModelsOption = None,
    processors: ProcessorsOption = None,
    memory: MemoryOption = "4G",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Sign the phrases of an index; the table goes into the index where no -o is given.

    With --model syntax, sign those of annotated files (CoNLL-U or the lines of the thesis's
    toolkit, with --trees FILE for trees), or of plain text that stanza annotates (--models DIR).
    """
    from distsim.contexts.weights import Weighting
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.recipe import PRESETS
    from distsim.signatures.sign import Selection
    from distsim.signatures.table import SignatureTable

    selection = Selection(min_count, max_length, max_phrases)
    if model is Model.SYNTAX:
        from distsim.cli.syntax import sign_syntax

        if output is None:
            raise typer.BadParameter("--model syntax needs the table's folder: give -o TABLE")
        weighting = Weighting(weights.value, alpha, shift) if weights else Weighting()
        with progress_bar() as bar:
            table = sign_syntax(
                sources, output, trees or [], (features, kinds, window), weighting, bits, seed,
                selection, models, processors, memory, keep_features, jobs, bar,
            )  # fmt: skip
        _report(table, max_length)
        return
    if len(sources) > 1 or trees or features or kinds or keep_features or models or processors:
        raise typer.BadParameter("give one index, or files with --model syntax")
    recipe = PRESETS[preset.value]
    if weights is not None:
        recipe = replace(recipe, weighting=Weighting(weights.value, alpha, shift))
    recipe = replace(
        recipe,
        window=recipe.window if window is None else window,
        n_bits=recipe.n_bits if bits is None else bits,
        seed=recipe.seed if seed is None else seed,
    )
    index = CorpusIndex.open(sources[0])
    with progress_bar() as bar:
        table = SignatureTable.build(index, output, recipe, selection, jobs, bar)
    _report(table, max_length)


def _report(table: "SignatureTable", max_length: int) -> None:
    from distsim.signatures.recipe import short_fingerprint

    say(
        f"{len(table):,} phrases of 1 to {max_length} tokens, {table.n_bits} bits, "
        f"fingerprint {short_fingerprint(table.fingerprint)}"
    )
    left_out = table.parameters["phrases_without_context"]
    if left_out:
        say(f"{left_out:,} more phrases have no weighted context and so no signature")
