"""`distsim learn INDEX -o PROJECTION`: a projection for `sign --projection PROJECTION`."""

from enum import StrEnum
from typing import Annotated

import typer

from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import (
    AlphaOption,
    DiscountOption,
    ShiftOption,
    SidesOption,
    SubsampleOption,
    WeightsOption,
    WindowOption,
    changed_weighting,
)


class Rotation(StrEnum):
    """How the learnt space is turned before bits are cut."""

    ITQ = "itq"
    RANDOM = "random"


def learn(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PROJECTION", help="Its folder.")
    ],
    window: WindowOption = None,
    sides: SidesOption = None,
    weights: WeightsOption = None,
    alpha: AlphaOption = None,
    shift: ShiftOption = None,
    subsample: SubsampleOption = None,
    discount: DiscountOption = None,
    bits: Annotated[int, typer.Option(help="64 to 1024, in steps of 64.")] = 256,
    seed: Annotated[int, typer.Option(help="Of the range finder and the rotation.")] = 1,
    rows: Annotated[int | None, typer.Option(help="Most frequent words to learn from.")] = None,
    features: Annotated[int | None, typer.Option(help="Most frequent features.")] = None,
    rank: Annotated[int | None, typer.Option(help="Singular directions; default: bits.")] = None,
    exponent: Annotated[float | None, typer.Option(help="Of the singular values, 0 to 1.")] = None,
    rotation: Annotated[Rotation | None, typer.Option(help="Before bits are cut.")] = None,
    jobs: JobsOption = None,
) -> None:
    """Learn a projection from an index's frequent words and the features around them."""
    from dataclasses import replace

    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.learn import Learning
    from distsim.signatures.recipe import PRESETS
    from distsim.signatures.sign import learn_from_index
    from distsim.storage import Artifact

    recipe = PRESETS["learnt"]
    recipe = replace(
        recipe,
        window=recipe.window if window is None else window,
        sides=recipe.sides if sides is None else sides,
        weighting=changed_weighting(recipe.weighting, weights, alpha, shift, subsample, discount),
        n_bits=bits,
        seed=seed,
    )
    usual = Learning()
    learning = Learning(
        rows=rows or usual.rows,
        features=features or usual.features,
        rank=rank,
        exponent=usual.exponent if exponent is None else exponent,
        rotation=rotation.value if rotation is not None else usual.rotation,
    )
    with progress_bar() as bar:
        path = learn_from_index(CorpusIndex.open(source), output, recipe, learning, jobs, bar)
    made = Artifact(path).parameters
    say(
        f"{made['rank']} directions for {made['bits']} bits, learnt from {made['rows']:,} words "
        f"by {made['features']:,} features, {made['cells']:,} cells"
    )
