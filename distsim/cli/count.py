"""`distsim count INDEX PHRASE...`: how often phrases occur."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.cli.console import (
    InputOption,
    JsonOption,
    QueryOption,
    SpreadOption,
    WhereOption,
    asked_phrases,
    cell,
    number,
    put,
    put_json,
)

if TYPE_CHECKING:
    import numpy as np

    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.dispersion import Documents

_BAR = 20  # characters of the longest bar


def count(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    query: QueryOption = False,
    spread: SpreadOption = False,
    where: WhereOption = None,
    by: Annotated[
        str | None, typer.Option(metavar="FIELD", help="By the values of a field of documents.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count phrases.

    Prints phrase<TAB>count; with --spread also count per million tokens<TAB>documents<TAB>DP<TAB>
    normalised DP. With --by phrase<TAB>value<TAB>count<TAB>per million tokens of the documents with
    this value<TAB>these tokens<TAB>these documents, and on a terminal a bar.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.dispersion import Documents, Spread

    asked = asked_phrases(phrases, file)
    opened = CorpusIndex.open(index).select(where=where or ())
    wanted = [one.phrase for one in asked if not one.empty]
    if by is not None:
        begins = (opened.spans(phrase, gapped=gapped, query=query)[:, 0] for phrase in wanted)
        _print_by(opened, by, dict(zip(wanted, begins, strict=True)), as_json)
        return
    documents = Documents(opened) if spread else None
    rows: Iterator[dict[str, Any]]
    if gapped or query or spread:
        begins = (opened.spans(phrase, gapped=gapped, query=query)[:, 0] for phrase in wanted)
        rows = (_row(found, opened.n_tokens, documents) for found in begins)
    else:
        rows = ({"count": n} for n in opened.count(wanted).tolist())
    nothing = dict.fromkeys(("count", "per_million", *Spread._fields)[: None if spread else 1])
    for one in asked:
        row = nothing if one.empty else next(rows)
        if as_json:
            put_json(phrase=one.phrase, **row)
        else:
            put(one.phrase, *map(cell, row.values()))


def _print_by(
    index: "CorpusIndex", by: str, phrases: "dict[str, np.ndarray]", as_json: bool
) -> None:
    """Print the counts of phrases by the values of a field."""
    from distsim.indexes.dispersion import counts_by

    rows = [
        (phrase, one) for phrase, begins in phrases.items() for one in counts_by(index, begins, by)
    ]
    highest = max((one.per_million for _, one in rows), default=0) or 1
    for phrase, one in rows:
        if as_json:
            put_json(phrase=phrase, **one._asdict())
        else:
            put(
                phrase,
                cell(one.value),
                one.times,
                number(one.per_million),
                one.n_tokens,
                one.documents,
                *(["#" * round(_BAR * one.per_million / highest)] if sys.stdout.isatty() else []),
            )


def _row(begins: "np.ndarray", n_tokens: int, documents: "Documents | None") -> dict[str, Any]:
    found: dict[str, Any] = {"count": begins.size}
    if documents is not None:
        found["per_million"] = begins.size / n_tokens * 1e6
        found |= documents.of_positions(begins)._asdict()
    return found
