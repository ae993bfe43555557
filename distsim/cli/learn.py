"""`distsim learn INDEX -o PROJECTION`: a projection for `sign --projection PROJECTION`."""

from typing import Annotated

import typer

from distsim.cli.console import ForceOption, JobsOption, may_replace, progress_bar, say
from distsim.cli.costs import LEARN, say_cost
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions, FreeMemoryOption, RecipeOption, SetOption, chosen


@grouped
def learn(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PROJECTION", help="Its folder.")
    ],
    part: DocumentOptions,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    force: ForceOption = False,
    memory: FreeMemoryOption = None,
    jobs: JobsOption = None,
) -> None:
    """Learn a projection from an index's frequent words and the features around them.

    By the recipe of `sign --preset learned`; --recipe and --set change it as they do there.
    """
    from distsim.base.memory import keep_freed
    from distsim.contexts.selection import Selection
    from distsim.signatures.recipe import DEFAULT
    from distsim.signatures.signing import learn as learn_projection
    from distsim.storage import Artifact

    # A table's recipe also says which phrases were signed: nothing is learned from that.
    made, _ = chosen(DEFAULT, Selection(), recipe=recipe, settings=settings)
    keep_freed()
    force = may_replace(output, force)
    index = part.opened(source)
    say_cost(index.n_tokens, [LEARN], jobs)
    with progress_bar() as bar:
        path = learn_projection(
            index, output, recipe=made, force=force, memory=memory, jobs=jobs,
            progress=bar,
        )  # fmt: skip
    found = Artifact(path).parameters
    say(
        f"{found['rank']} directions for {found['bits']} bits, learned from {found['rows']:,} "
        f"words by {found['features']:,} features, {found['cells']:,} cells"
    )
