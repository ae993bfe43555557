"""`distsim document INDEX ID...`: documents of an index, or the text around a phrase in them."""

import sys
from typing import Annotated

import typer

from distsim.cli.console import say, visible
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions
from distsim.cli.rows import lists_rows, prints_json, put_object


@lists_rows
@grouped
def document(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID|FILE:LINE...")] = None,
    around: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help="Only the passages around a phrase, one a line."),
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=0, help="Of a passage, on either side of the phrase.")
    ] = 2,
) -> None:
    """Print documents as they were written.

    A document is named by its id, or by a place in it as kwic prints it; without names all
    documents of --where and --in are printed. Its id and fields are printed to standard error, or
    in the JSON object.
    """
    from distsim.indexes.stored_documents import passage, read_document

    if not (ids or part.given()):
        raise typer.BadParameter("name documents, or choose them by --where or --in")
    opened = part.opened(index)
    for one in ids or opened.documents_at(opened.document_edges[:-1][opened.kept_documents]):
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
