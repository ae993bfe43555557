"""`distsim document INDEX ID...`: documents of an index, or the text around a phrase in them."""

import sys
from typing import Annotated

import typer

from distsim.cli.console import say, visible
from distsim.cli.rows import lists_rows, prints_json, put_object


@lists_rows
def document(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    ids: Annotated[list[str], typer.Argument(metavar="ID|FILE:LINE...")],
    around: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help="Only the passages around a phrase, one a line."),
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=0, help="Of a passage, on either side of the phrase.")
    ] = 2,
) -> None:
    """Print documents as they were written.

    A document is named by its id, or by a place in it as kwic prints it. Its id and fields are
    printed to standard error, or in the JSON object.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.stored_documents import passage, read_document

    opened = CorpusIndex.open(index)
    for one in ids:
        found = read_document(opened, one)
        passages = None
        if around is not None:
            begins = opened.select(documents=[found.id]).positions(around)
            passages = [passage(opened, begin, sentences) for begin in begins.tolist()]
            if not passages:
                say(f"{around}: does not occur in {found.id}")
        if prints_json():
            shown = found._asdict()
            if passages is not None:
                shown["passages"] = passages
                del shown["text"]
            put_object(**shown)
            continue
        fields = "".join(f", {name} {value}" for name, value in found.fields.items())
        say(f"{found.id}: {found.source}:{found.line}{fields}")
        if passages is None:
            print(found.text)
        for text in passages or ():
            print(visible(" ".join(text.split()), sys.stdout))
