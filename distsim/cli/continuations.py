"""`distsim continuations INDEX PHRASE`: the words that follow a phrase."""

from typing import Annotated

import typer

from distsim.cli.console import JsonOption, WhereOption, counted, number, put, put_json, say


def continuations(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    where: WhereOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Words at most; 0: all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the words that follow a phrase, or the longest of its suffixes that occurs.

    Prints word<TAB>count<TAB>share; an empty word is the end of the sentence. The length of the
    suffix and the number of its occurrences are on standard error, or in the JSON object.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.tracing import continuations as found_continuations

    opened = CorpusIndex.open(index).select(where=where or ())
    found = found_continuations(opened, phrase, k=limit or None)
    if as_json:
        words = [one._asdict() for one in found.words]
        put_json(phrase=phrase, **(found._asdict() | {"words": words}))
        return
    suffix = counted(found.suffix_tokens, "token")
    say(f"{phrase}: {counted(found.total, 'occurrence')} of the last {suffix}")
    for one in found.words:
        put(one.word, one.times, number(one.share))
