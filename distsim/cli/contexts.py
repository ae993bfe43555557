"""`distsim contexts SOURCE PHRASE`: the context features of a phrase."""

from typing import Annotated, Literal

import typer

from distsim.cli.console import say
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions, RecipeOption, SetOption, chosen
from distsim.cli.rows import lists_rows, put_row, say_rest


@lists_rows
@grouped
def contexts(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="An index; files with --from annotated."),
    ],
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    part: DocumentOptions,
    kind: Annotated[
        Literal["index", "annotated"],
        typer.Option("--from", help="What the sources are: an index, or annotated text."),
    ] = "index",
    trees: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Bracketed trees, one a line, one a sentence."),
    ] = None,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Features at most; 0: all.")
    ] = 20,
) -> None:
    """List the contexts of a phrase.

    Prints feature<TAB>count<TAB>weight, strongest first. By the preset thesis, or syntax; --set
    changes it, as model.window, model.sides, model.families or weighting.scheme.
    """
    from distsim.contexts.selection import Selection
    from distsim.signatures.recipe import PRESETS

    usual = PRESETS["thesis" if kind == "index" else "syntax"]
    made, _ = chosen(usual, Selection(), recipe=recipe, settings=settings)
    if made.model.name != usual.model.name:
        raise typer.BadParameter(f"a recipe of {made.model.name} contexts: --from {kind} has none")
    if kind == "index" and trees:
        raise typer.BadParameter("--trees goes with --from annotated")
    if kind == "index" and len(sources) > 1:
        raise typer.BadParameter("--from index takes one source")
    if kind == "annotated" and part.given():
        raise typer.BadParameter(f"{part.given()[0]} selects documents of an index")
    if kind == "annotated":
        from distsim.contexts.syntax.named import named_contexts as syntax_contexts
        from distsim.corpus.annotated import read_annotated

        read = read_annotated(sources, trees=trees or ())
        found = syntax_contexts(read, phrase, made.model, made.weighting)
    else:
        from distsim.contexts.ngram import named_contexts

        index, model = part.opened(sources[0]), made.model
        found = named_contexts(
            index,
            phrase,
            window=model.window,
            weighting=made.weighting,
            sides=model.sides,
            narrow=model.narrow,
        )
    if not found:
        say(f"{phrase!r} does not occur beside any word")
    for feature, times, weight in found[: limit or None]:
        put_row({"answer": feature, "count": times, "weight": weight}, phrase=phrase)
    say_rest(len(found[: limit or None]), len(found))
