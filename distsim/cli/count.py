"""`distsim count INDEX PHRASE...`: how often phrases occur."""

from typing import Annotated

import typer

from distsim.cli.console import (
    NOT_AVAILABLE,
    InputOption,
    JsonOption,
    asked_phrases,
    put,
    put_json,
)
from distsim.cli.indexes import split_indexes


def count(
    index: Annotated[str, typer.Argument(metavar="INDEX...", help="Several answer as one.")],
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Count phrases.

    Prints phrase<TAB>count.
    """
    from distsim.indexes.corpus_index import CorpusIndex

    indexes, phrases = split_indexes(index, phrases)
    asked = asked_phrases(phrases, file)
    opened = CorpusIndex.open(indexes)
    wanted = [one.phrase for one in asked if not one.empty]
    if gapped:
        found = [len(spans) for spans in opened.gapped(wanted)]
    else:
        found = opened.count(wanted).tolist()
    counts = iter(found)
    for one in asked:
        times = None if one.empty else next(counts)
        if as_json:
            put_json(phrase=one.phrase, count=times)
        else:
            put(one.phrase, NOT_AVAILABLE if times is None else times)
