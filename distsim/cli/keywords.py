"""`distsim keywords INDEX --against OTHER`: words more or less frequent than in another index."""

from typing import Annotated

import typer

from distsim.base.choices import KeywordMeasure
from distsim.cli.console import JsonOption, WhereOption, WordsOnlyOption, number, put, put_json


def keywords(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    against: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The reference corpus.  [default: the other documents]"),
    ] = None,
    where: WhereOption = None,
    against_where: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=VALUES", help="Only such documents of the reference corpus."),
    ] = None,
    measure: Annotated[
        KeywordMeasure,
        typer.Option(help="Order; llr-2: log-likelihood of two cells; llr: of four."),
    ] = "llr-2",
    negative: Annotated[
        bool, typer.Option("--negative", help="The words that are less frequent here.")
    ] = False,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer words, of both.")] = 5,
    max_p: Annotated[float, typer.Option(min=0, max=1, help="Leave out higher p.")] = 1.0,
    words_only: WordsOnlyOption = False,
    limit: Annotated[int, typer.Option(min=0, help="Words at most; 0: all.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """List the words that are more frequent than in another index, or in its other documents.

    Prints word<TAB>count here<TAB>count there<TAB>log-likelihood<TAB>log ratio<TAB>p (Holm)<TAB>
    documents here<TAB>DP<TAB>normalised DP.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.keyness import keywords as found_keywords

    if against is None and not where:
        raise typer.BadParameter("give --against INDEX, or --where FIELD=VALUES for the others")
    here = CorpusIndex.open(index).select(where=where or ())
    if against is not None or against_where:
        reference = CorpusIndex.open(against or index).select(where=against_where or ())
    else:
        reference = here.other_documents()
    found = found_keywords(
        here, reference, measure=measure, negative=negative, min_count=min_count, max_p=max_p,
        words_only=words_only, k=limit or None,
    )  # fmt: skip
    for one in found:
        if as_json:
            put_json(**one._asdict())
        else:
            scores = number(one.log_likelihood), number(one.log_ratio), f"{one.p:.3g}"
            spread = one.documents, number(one.dp), number(one.dp_norm)
            put(one.word, one.here, one.there, *scores, *spread)
