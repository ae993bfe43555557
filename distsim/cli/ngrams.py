"""`distsim ngrams INDEX`: all phrases with their counts."""

from collections.abc import Iterable
from typing import Annotated

import typer

from distsim.cli.console import (
    LayerOption,
    SpreadOption,
    WordsOnlyOption,
    lengths_range,
    read_lines,
)
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions
from distsim.cli.rows import lists_rows, put_row, say_rest


@lists_rows
@grouped
def ngrams(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    lengths: Annotated[
        str, typer.Option("--lengths", "-n", metavar="N or N-M", help="Tokens.")
    ] = "1-5",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer phrases.")] = 1,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="The most frequent; 0: all.")
    ] = 0,
    containing: Annotated[
        str | None, typer.Option(metavar="PHRASE", help="Only phrases that contain this one.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words, one a line, to leave out.")
    ] = None,
    words_only: WordsOnlyOption = False,
    min_documents: Annotated[
        int, typer.Option(min=1, help="Leave out what is in fewer documents.")
    ] = 1,
    spread: SpreadOption = False,
    by: LayerOption = "word",
) -> None:
    """List all phrases with their counts.

    Prints phrase<TAB>count in index order: by the words' first appearance in the corpus. With
    --limit, --containing, --stop, --words-only, --min-documents or --spread the most frequent come
    first; with --spread also count per million tokens<TAB>documents<TAB>DP<TAB>normalised DP.
    """
    from distsim.indexes.phrase_lists import ListedPhrase, list_phrases

    shortest, longest = lengths_range(lengths)
    opened = part.opened(index).of_layer(by)
    chosen = limit, words_only, min_documents > 1, spread
    rows: Iterable[tuple[object, ...]]
    if any(chosen) or containing is not None or stop is not None:
        stopped = () if stop is None else [word for word in read_lines(stop) if word.strip()]
        rows = list_phrases(
            opened, lengths=(shortest, longest), containing=containing, stop=stopped,
            words_only=words_only, min_count=min_count, min_documents=min_documents,
            k=limit or None,
        )  # fmt: skip
    else:
        rows = opened.ngrams(shortest=shortest, longest=longest, min_count=min_count)
    columns = ("phrase", "count", *ListedPhrase._fields[2:])
    n_shown = 0
    for row in rows:
        n_shown += 1
        shown = row if spread else row[:2]
        put_row(dict(zip(columns, shown, strict=False)))
    say_rest(n_shown, getattr(rows, "total", None))
