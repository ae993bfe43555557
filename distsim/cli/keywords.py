"""`distsim keywords INDEX --against OTHER`: words more or less frequent than in another index."""

from typing import Annotated

import typer

from distsim.cli.console import JsonOption, number, put, put_json


def keywords(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    against: Annotated[str, typer.Option(metavar="INDEX", help="The reference corpus.")],
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer words, of both.")] = 5,
    limit: Annotated[int, typer.Option(min=0, help="Words at most; 0: all.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """List the words whose frequency differs most from another index.

    Prints word<TAB>count here<TAB>count there<TAB>log-likelihood<TAB>log ratio<TAB>p (Holm)<TAB>
    documents here<TAB>DP<TAB>normalised DP.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.keyness import keywords as found_keywords

    opened = CorpusIndex.open(index), CorpusIndex.open(against)
    for one in found_keywords(*opened, min_count=min_count, k=limit or None):
        if as_json:
            put_json(**one._asdict())
        else:
            scores = number(one.log_likelihood), number(one.log_ratio), f"{one.p:.3g}"
            spread = one.documents, number(one.dp), number(one.dp_norm)
            put(one.word, one.here, one.there, *scores, *spread)
