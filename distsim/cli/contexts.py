"""`distsim contexts SOURCE PHRASE`: the features behind a phrase's signature."""

from typing import Annotated

import typer

from distsim.cli.console import JsonOption, number, put, put_json, say
from distsim.cli.options import SidesOption, WeightsOption, WindowOption


def contexts(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="An index.")],
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    window: WindowOption = None,
    sides: SidesOption = None,
    weights: WeightsOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Features at most; 0: all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the contexts of a phrase.

    Prints feature<TAB>count<TAB>weight, strongest first.
    """
    from distsim.contexts.ngram import named_contexts
    from distsim.contexts.weights import Weighting
    from distsim.indexes.corpus_index import CorpusIndex

    weighting = Weighting(weights.value) if weights else Weighting()
    features = named_contexts(CorpusIndex.open(source), phrase, window or 1, weighting, bool(sides))
    if not features:
        say(f"{phrase!r} does not occur beside any word")
    for feature, times, weight in features[: limit or None]:
        if as_json:
            put_json(feature=feature, count=times, weight=weight)
        else:
            put(feature, times, number(weight))
