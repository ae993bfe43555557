"""`distsim learn INDEX -o PROJECTION`: a projection for `sign --projection PROJECTION`."""

from dataclasses import replace
from typing import Annotated

import typer

from distsim.base.choices import Rotation
from distsim.cli.console import ForceOption, JobsOption, may_replace, progress_bar, say
from distsim.cli.groups import grouped
from distsim.cli.options import SidesOption, WeightingOptions, WindowOption


@grouped
def learn(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PROJECTION", help="Its folder.")
    ],
    weighed: WeightingOptions,
    window: WindowOption = None,
    sides: SidesOption = None,
    bits: Annotated[int, typer.Option(help="64 to 1024, in steps of 64.")] = 256,
    seed: Annotated[int, typer.Option(help="Of the range finder and the rotation.")] = 1,
    rows: Annotated[int | None, typer.Option(help="Most frequent words to learn from.")] = None,
    features: Annotated[int | None, typer.Option(help="Most frequent features.")] = None,
    rank: Annotated[
        int | None, typer.Option(help="Singular directions; default: bits and half as many again.")
    ] = None,
    exponent: Annotated[float | None, typer.Option(help="Of the singular values, 0 to 1.")] = None,
    rotation: Annotated[Rotation | None, typer.Option(help="Before bits are cut.")] = None,
    force: ForceOption = False,
    jobs: JobsOption = None,
) -> None:
    """Learn a projection from an index's frequent words and the features around them."""
    from distsim.base.malloc_tuning import keep_freed
    from distsim.contexts.ngram import NgramModel
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.projections.learn import Learning
    from distsim.signatures.recipe import DEFAULT
    from distsim.signatures.sign import learn as learn_projection
    from distsim.storage import Artifact

    keep_freed()
    usual, model = Learning(), DEFAULT.model
    assert isinstance(model, NgramModel)
    recipe = replace(
        DEFAULT,
        model=NgramModel(
            model.window if window is None else window, model.sides if sides is None else sides
        ),
        weighting=weighed.changed(DEFAULT.weighting),
        n_bits=bits,
        seed=seed,
        learning=Learning(
            rows=usual.rows if rows is None else rows,
            features=usual.features if features is None else features,
            rank=rank,
            exponent=usual.exponent if exponent is None else exponent,
            rotation=usual.rotation if rotation is None else rotation,
        ),
    )
    force = may_replace(output, force)
    with progress_bar() as bar:
        path = learn_projection(
            CorpusIndex.open(source), output, recipe, force=force, jobs=jobs, progress=bar
        )
    made = Artifact(path).parameters
    say(
        f"{made['rank']} directions for {made['bits']} bits, learnt from {made['rows']:,} words "
        f"by {made['features']:,} features, {made['cells']:,} cells"
    )
