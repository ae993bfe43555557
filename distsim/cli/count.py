"""`distsim count INDEX PHRASE...`: how often phrases occur."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.cli.console import (
    InputOption,
    JsonOption,
    QueryOption,
    SpreadOption,
    asked_phrases,
    cell,
    put,
    put_json,
)
from distsim.cli.indexes import split_indexes

if TYPE_CHECKING:
    import numpy as np

    from distsim.indexes.dispersion import Documents


def count(
    index: Annotated[str, typer.Argument(metavar="INDEX...", help="Several answer as one.")],
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    query: QueryOption = False,
    spread: SpreadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Count phrases.

    Prints phrase<TAB>count; with --spread also count per million tokens<TAB>documents<TAB>DP<TAB>
    normalised DP.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.dispersion import Documents, Spread

    indexes, phrases = split_indexes(index, phrases)
    asked = asked_phrases(phrases, file)
    opened = CorpusIndex.open(indexes)
    wanted = [one.phrase for one in asked if not one.empty]
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


def _row(begins: "np.ndarray", n_tokens: int, documents: "Documents | None") -> dict[str, Any]:
    found: dict[str, Any] = {"count": begins.size}
    if documents is not None:
        found["per_million"] = begins.size / n_tokens * 1e6
        found |= documents.of_positions(begins)._asdict()
    return found
