"""`distsim kwic INDEX PHRASE`: a phrase's occurrences in their sentences."""

from enum import StrEnum
from typing import Annotated

import typer

from distsim.cli.console import JsonOption, put, put_json


class Order(StrEnum):
    """The order of concordance lines."""

    CORPUS = "corpus"
    LEFT = "left"
    RIGHT = "right"


def kwic(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    limit: Annotated[int, typer.Option(min=0, help="Lines at most; 0: all.")] = 20,
    width: Annotated[int, typer.Option(min=0, help="Tokens on either side.")] = 10,
    sort: Annotated[
        Order, typer.Option(help="By place, or by the words on the left or right.")
    ] = Order.CORPUS,
    sample: Annotated[
        int | None, typer.Option(min=1, help="So many occurrences, evenly spaced.")
    ] = None,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a phrase in its contexts.

    Prints file:line<TAB>left<TAB>node<TAB>right of the normalised text.
    """
    from distsim.indexes.corpus_index import CorpusIndex

    lines = CorpusIndex.open(index).concordance(
        phrase, limit or None, width, sort.value, sample, gapped
    )
    for line in lines:
        if as_json:
            put_json(**line._asdict())
        else:
            put(f"{line.source}:{line.line}", line.left, line.node, line.right)
