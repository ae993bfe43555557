"""`distsim contexts SOURCE PHRASE`: the features behind a phrase's signature."""

from typing import Annotated

import typer

from distsim.cli.console import JsonOption, number, put, put_json, say
from distsim.cli.options import (
    FeaturesOption,
    KindsOption,
    ModelOption,
    PlotOption,
    SidesOption,
    TreesOption,
    WeightsOption,
    WindowOption,
)


def contexts(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...", help="An index or several; annotated files with --model syntax."
        ),
    ],
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    model: ModelOption = "ngram",
    window: WindowOption = None,
    sides: SidesOption = None,
    weights: WeightsOption = None,
    trees: TreesOption = None,
    features: FeaturesOption = None,
    kinds: KindsOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Features at most; 0: all.")] = 20,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the contexts of a phrase.

    Prints feature<TAB>count<TAB>weight, strongest first.
    """
    from distsim.contexts.weights import Weighting

    if plot is not None:
        if model == "syntax":
            raise typer.BadParameter("--plot draws the words beside a phrase: leave out --model")
        from distsim.output.pictures.drawing import require_painter

        require_painter(plot)
    weighting = Weighting(str(weights)) if weights else Weighting()
    settings = ""
    if model == "syntax":
        from distsim.cli.syntax import syntax_model
        from distsim.contexts.syntax.named import named_contexts as syntax_contexts
        from distsim.corpus.annotated import read_annotated

        found = syntax_contexts(
            read_annotated(sources, trees or ()), phrase, syntax_model(features, kinds, window),
            weighting,
        )  # fmt: skip
    else:
        from distsim.contexts.ngram import named_contexts
        from distsim.indexes.corpus_index import CorpusIndex
        from distsim.output.pictures.settings import index_settings

        if trees or features or kinds:
            raise typer.BadParameter("give an index, or annotated files with --model syntax")
        index = CorpusIndex.open(sources)
        found = named_contexts(index, phrase, window or 1, weighting, bool(sides))
        settings = index_settings(index, window=window or 1, weights=weighting.scheme)
    if not found:
        say(f"{phrase!r} does not occur beside any word")
    if plot is not None:
        from distsim.output.pictures.contexts import context_picture

        context_picture(phrase, found, settings, limit or len(found)).save(plot)
    for feature, times, weight in found[: limit or None]:
        if as_json:
            put_json(feature=feature, count=times, weight=weight)
        else:
            put(feature, times, number(weight))
