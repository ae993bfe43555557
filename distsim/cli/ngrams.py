"""`distsim ngrams INDEX`: all phrases with their counts."""

from typing import Annotated

import typer

from distsim.cli.console import JsonOption, lengths_range, put, put_json


def ngrams(
    indexes: Annotated[
        list[str], typer.Argument(metavar="INDEX...", help="Several are listed as one.")
    ],
    lengths: Annotated[
        str, typer.Option("--lengths", "-n", metavar="N or N-M", help="Tokens.")
    ] = "1-5",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer phrases.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """List all phrases with their counts.

    Prints phrase<TAB>count in index order: by the words' first appearance in the corpus.
    """
    from distsim.indexes.corpus_index import CorpusIndex

    shortest, longest = lengths_range(lengths)
    for phrase, times in CorpusIndex.open(indexes).ngrams(
        shortest=shortest, longest=longest, min_count=min_count
    ):
        if as_json:
            put_json(phrase=phrase, count=times)
        else:
            put(phrase, times)
