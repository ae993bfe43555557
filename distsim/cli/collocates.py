"""`distsim collocates INDEX PHRASE`: the words around a phrase, by an association measure."""

from typing import Annotated

import typer

from distsim.base.choices import AssociationMeasure
from distsim.cli.console import (
    JsonOption,
    QueryOption,
    WhereOption,
    WordsOnlyOption,
    number,
    put,
    put_json,
    say,
)


def collocates(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    window: Annotated[int, typer.Option(min=1, help="Tokens on either side.")] = 5,
    measure: Annotated[
        AssociationMeasure,
        typer.Option(help="llr: log-likelihood of four cells; llr-2: of two."),
    ] = "log-dice",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer collocates.")] = 3,
    query: QueryOption = False,
    where: WhereOption = None,
    words_only: WordsOnlyOption = False,
    limit: Annotated[int, typer.Option(min=0, help="Collocates at most; 0: all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the collocates of a phrase.

    Prints word<TAB>count in windows<TAB>count in the corpus<TAB>expected count<TAB>score.
    """
    from distsim.indexes.collocation import collocates as found_collocates
    from distsim.indexes.corpus_index import CorpusIndex

    opened = CorpusIndex.open(index).select(where=where or ())
    found = found_collocates(
        opened, phrase, window=window, measure=measure, min_count=min_count,
        words_only=words_only, query=query, k=limit or None,
    )  # fmt: skip
    if not found:
        say(f"{phrase}: has no collocates: it does not occur, or all are rarer than --min-count")
    for one in found:
        if as_json:
            put_json(phrase=phrase, **one._asdict())
        else:
            put(one.word, one.together, one.in_corpus, number(one.expected), number(one.score))
