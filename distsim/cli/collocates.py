"""`distsim collocates INDEX PHRASE`: the words around a phrase, by an association measure."""

from collections.abc import Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.choices import AssociationMeasure
from distsim.cli.console import (
    LayerOption,
    QueryOption,
    SpreadOption,
    WordsOnlyOption,
    say,
)
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions, SetOption, chosen
from distsim.cli.rows import lists_rows, put_row, say_rest

if TYPE_CHECKING:
    from distsim.indexes.dispersion import Spread


@lists_rows
@grouped
def collocates(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    window: Annotated[int, typer.Option(min=1, help="Tokens on either side.")] = 5,
    measure: Annotated[
        AssociationMeasure,
        typer.Option(help="llr: log-likelihood of four cells; llr-2: of two."),
    ] = "log-dice",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer collocates.")] = 3,
    query: QueryOption = False,
    words_only: WordsOnlyOption = False,
    spread: SpreadOption = False,
    by: LayerOption = "word",
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Collocates at most; 0: all.")
    ] = 20,
    settings: SetOption = None,
) -> None:
    """List the collocates of a phrase.

    Prints word<TAB>count in windows<TAB>count in the corpus<TAB>expected count<TAB>score; with
    --spread also count per million, documents, DP and normalised DP of the pairs. The node
    of a --query is the shortest match; --set matching=longest or all takes others.
    """
    from distsim.indexes.collocation import collocate_spreads
    from distsim.indexes.collocation import collocates as found_collocates
    from distsim.indexes.queries import QuerySettings

    (how,) = chosen(QuerySettings(), settings=settings)
    opened = part.opened(index).of_layer(by)
    found = found_collocates(
        opened, phrase, window=window, measure=measure, min_count=min_count,
        words_only=words_only, query=query and how.matching, k=limit or None,
    )  # fmt: skip
    if not found:
        say(f"{phrase}: has no collocates: it does not occur, or all are rarer than --min-count")
    spreads: Iterable[Spread | None] = repeat(None, len(found))
    if spread:
        spreads = collocate_spreads(
            opened, phrase, [one.word for one in found], window=window,
            query=query and how.matching,
        )  # fmt: skip
    for one, of_pair in zip(found, spreads, strict=True):
        counts = {"count": one.together, "corpus_count": one.in_corpus, "expected": one.expected}
        more = {}
        if of_pair is not None:
            more = {"per_million": one.together / opened.n_tokens * 1e6, **of_pair._asdict()}
        put_row({"answer": one.word, **counts, "score": one.score, **more}, phrase=phrase)
    say_rest(len(found), found.total)
