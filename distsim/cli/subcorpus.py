"""`distsim subcorpus save/list/remove`: named parts of an index."""

from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import WhereOption, read_lines, say
from distsim.cli.rows import lists_rows, put_row

if TYPE_CHECKING:
    from distsim.indexes.subcorpora import Subcorpus

Index = Annotated[str, typer.Argument(metavar="INDEX")]
Name = Annotated[str, typer.Argument(metavar="NAME")]


@lists_rows
def save(
    index: Index,
    name: Name,
    where: WhereOption = None,
    ids: Annotated[
        str | None, typer.Option(metavar="FILE", help="Ids of documents, one a line; - for stdin.")
    ] = None,
) -> None:
    """Save a part of an index under a name, which --in takes.

    Prints name<TAB>documents<TAB>tokens<TAB>filters. Filters are applied when it is asked for:
    documents that are added later belong to it where they fit.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.subcorpora import save_subcorpus

    chosen = () if ids is None else [line for line in read_lines(ids) if line]
    _print(save_subcorpus(CorpusIndex.open(index), name, where=where or (), ids=chosen))


@lists_rows
def listed(index: Index) -> None:
    """List the named parts of an index.

    Prints name<TAB>documents<TAB>tokens<TAB>filters.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.subcorpora import list_subcorpora

    found = list_subcorpora(CorpusIndex.open(index))
    if not found:
        say(f"{index}: has no subcorpora: distsim subcorpus save makes one")
    for one in found:
        _print(one)


def remove(index: Index, name: Name) -> None:
    """Remove a name; the documents stay in the index."""
    from distsim.indexes.subcorpora import remove_subcorpus

    remove_subcorpus(index, name)


def _print(one: "Subcorpus") -> None:
    filters = [*one.where, *([f"{len(one.ids):,} ids"] if one.ids else [])]
    row = {"name": one.name, "documents": one.documents, "tokens": one.tokens}
    put_row({**row, "filters": "; ".join(filters)}, where=one.where, ids=one.ids)
