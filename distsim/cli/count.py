"""`distsim count INDEX PHRASE...`: how often phrases occur."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.cli.console import (
    InputOption,
    QueryOption,
    SpreadOption,
    asked_phrases,
)
from distsim.cli.options import DocumentOptions, SetOption, chosen, grouped
from distsim.cli.rows import leave_out_question, lists_rows, prints_json, put_row, say_rest

if TYPE_CHECKING:
    import numpy as np

    from distsim.indexes.collocation import Documents
    from distsim.indexes.grouping import GroupCount

_BAR = 20  # characters of the longest bar


@lists_rows
@grouped
def count(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    query: QueryOption = False,
    spread: SpreadOption = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="GROUP",
            help="By match, lemma, tag, 1L, 2R.tag, FIELD, FIELD/10, DATE/month, or two: year,1R.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Groups of a phrase at most; 0: all.")
    ] = 0,
    settings: SetOption = None,
) -> None:
    """Count phrases.

    Prints phrase<TAB>count; with --spread also count per million tokens<TAB>documents<TAB>DP<TAB>
    normalised DP. With --by phrase<TAB>value (and a second one)<TAB>count<TAB>per million tokens of
    the documents with this value<TAB>these tokens<TAB>these documents, and on a terminal a bar;
    the counts add up. Matches of a --query
    with the same first token count once; with --set matching=all each.
    """
    from distsim.indexes.collocation import Documents, Spread
    from distsim.indexes.grouping import counts_by
    from distsim.indexes.queries import QuerySettings

    (how,) = chosen(QuerySettings(), settings=settings)
    asked = asked_phrases(phrases, file)
    corpus = part.opened(index)
    wanted = [argument.phrase for argument in asked if not argument.empty]
    if by is not None:
        groups = [
            counts_by(
                corpus, corpus.spans(text, gapped=gapped, query=query, matching=how.matching), by
            )
            for text in wanted
        ]
        is_crossed = "," in by and by not in corpus.metadata.fields
        _print_by(dict(zip(wanted, groups, strict=True)), is_crossed, limit)
        return
    documents = Documents(corpus) if spread else None
    rows: Iterator[dict[str, Any]]
    if gapped or query or spread:
        begins = (
            corpus.spans(phrase, gapped=gapped, query=query, matching=how.matching)[:, 0]
            for phrase in wanted
        )
        rows = (_row(begins_of_phrase, corpus.n_tokens, documents) for begins_of_phrase in begins)
    else:
        rows = ({"count": n} for n in corpus.count(wanted).tolist())
    nothing = dict.fromkeys(("count", "per_million", *Spread._fields)[: None if spread else 1])
    for argument in asked:
        row = nothing if argument.empty else next(rows)
        put_row({"phrase": argument.phrase, **row})


def _print_by(phrases: "Mapping[str, Sequence[GroupCount]]", is_crossed: bool, limit: int) -> None:
    """Print the counts of phrases by groups."""
    leave_out_question("phrase", len(phrases))
    highest = max((row.per_million for rows in phrases.values() for row in rows), default=0) or 1
    for phrase, rows in phrases.items():
        shown = rows[: limit or None]
        for row in shown:
            bar = {}
            if sys.stdout.isatty() and not prints_json():
                bar = {"": "#" * round(_BAR * row.per_million / highest)}
            values = {"value": _as_written(row.value)}
            if is_crossed:
                values["second"] = _as_written(row.second)
            counts = {"count": row.times, "per_million": row.per_million, "tokens": row.n_tokens}
            put_row({"phrase": phrase, **values, **counts, "documents": row.documents, **bar})
        say_rest(len(shown), len(rows))


def _as_written(value: Any) -> Any:
    """Return the value of a field as it is printed: of a number with its own digits."""
    return str(value) if isinstance(value, float) and not prints_json() else value


def _row(begins: "np.ndarray", n_tokens: int, documents: "Documents | None") -> dict[str, Any]:
    columns: dict[str, Any] = {"count": begins.size}
    if documents is not None:
        columns["per_million"] = begins.size / n_tokens * 1e6
        columns |= documents.of_positions(begins)._asdict()
    return columns
