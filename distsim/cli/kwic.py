"""`distsim kwic INDEX PHRASE...`: phrases' occurrences in their sentences."""

from typing import Annotated

import typer

from distsim.cli.console import (
    InputOption,
    JsonOption,
    QueryOption,
    WhereOption,
    asked_phrases,
    put,
    put_json,
    say,
)


def kwic(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Lines a phrase at most; 0: all.")] = 20,
    skip: Annotated[int, typer.Option(min=0, help="Lines to leave out first: the next page.")] = 0,
    width: Annotated[int, typer.Option(min=0, help="Tokens on either side.")] = 10,
    sort: Annotated[
        str,
        typer.Option(
            metavar="ORDER", help="corpus, left, right, or up to three places such as 1L,2L,1R."
        ),
    ] = "corpus",
    sample: Annotated[
        int | None, typer.Option(min=1, help="So many occurrences, evenly spaced.")
    ] = None,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    query: QueryOption = False,
    where: WhereOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show phrases in their contexts, one after another.

    Prints file:line<TAB>left<TAB>node<TAB>right, as written where the index keeps the text; where
    documents have ids of their own, the id in place of file:line.
    """
    from distsim.indexes.corpus_index import ORDERS, CorpusIndex, sort_places

    if sort not in ORDERS and sort_places(sort) is None:
        raise typer.BadParameter(
            f"{sort!r}: give {', '.join(ORDERS)}, or up to three places such as 1L,2L,1R",
            param_hint="--sort",
        )
    asked = [one.phrase for one in asked_phrases(phrases, file) if not one.empty]
    opened = CorpusIndex.open(index).select(where=where or ())
    has_ids = opened.has_ids
    for phrase in asked:
        lines = opened.concordance(
            phrase, k=limit + skip if limit else None, width=width, order=sort, sample=sample,
            gapped=gapped, query=query,
        )  # fmt: skip
        if not lines:
            say(f"{phrase}: does not occur")
        for line in lines[skip:]:
            if as_json:
                put_json(phrase=phrase, **line._asdict())
            else:
                given = has_ids and line.document != line.source
                place = line.document if given else f"{line.source}:{line.line}"
                put(place, line.left, line.node, line.right)
