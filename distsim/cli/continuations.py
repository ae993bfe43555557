"""`distsim continuations INDEX PHRASE`: the words that follow a phrase."""

from typing import Annotated

import typer

from distsim.cli.console import counted, say
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions
from distsim.cli.rows import lists_rows, prints_json, put_object, put_row


@lists_rows
@grouped
def continuations(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Words at most; 0: all.")] = 20,
) -> None:
    """List the words that follow a phrase, or the longest of its suffixes that occurs.

    Prints word<TAB>count<TAB>share; an empty word is the end of the sentence. The length of the
    suffix and the number of its occurrences are on standard error, or in the JSON object.
    """
    from distsim.indexes.tracing import continuations as found_continuations

    opened = part.opened(index)
    found = found_continuations(opened, phrase, k=limit or None)
    if prints_json():
        answers = [
            {"answer": one.word, "count": one.times, "share": one.share} for one in found.words
        ]
        own = {"suffix_tokens": found.suffix_tokens, "count": found.total}
        put_object(phrase=phrase, **own, answers=answers)
        return
    suffix = counted(found.suffix_tokens, "token")
    say(f"{phrase}: {counted(found.total, 'occurrence')} of the last {suffix}")
    for one in found.words:
        put_row({"answer": one.word, "count": one.times, "share": one.share})
