"""`distsim kwic INDEX PHRASE...`: phrases' occurrences in their sentences."""

from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import (
    InputOption,
    QueryOption,
    asked_phrases,
    say,
)
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions, SetOption, chosen, split_names
from distsim.cli.rows import lists_rows, put_row, say_rest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distsim.indexes.corpus_index import ConcordanceLine, CorpusIndex

ContextOption = Annotated[
    str | None,
    typer.Option(
        metavar="s|p|N|N:M", help="Across sentences: sentence, paragraph, or so many tokens."
    ),
]
SortOption = Annotated[
    str,
    typer.Option(
        metavar="ORDER", help="corpus, left, right, or up to three places such as 1L,2L,1R."
    ),
]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="Draw the --sample at random, by this seed.")
]
_COLUMNS = ("place", "left", "node", "right", "phrase", "source", "line", "document", "position")


@lists_rows
@grouped
def kwic(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Lines a phrase at most; 0: all.")
    ] = 20,
    skip: Annotated[int, typer.Option(min=0, help="Lines to leave out first: the next page.")] = 0,
    width: Annotated[int, typer.Option(min=0, help="Tokens on either side.")] = 10,
    context: ContextOption = None,
    sort: SortOption = "corpus",
    sample: Annotated[
        int | None, typer.Option(min=1, help="So many occurrences, evenly spaced.")
    ] = None,
    seed: SeedOption = None,
    thin: Annotated[int, typer.Option(min=1, help="Only each so many-th occurrence.")] = 1,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    query: QueryOption = False,
    show: Annotated[
        str | None,
        typer.Option(metavar="FIELDS", help="Fields of documents behind each line: author,year."),
    ] = None,
    settings: SetOption = None,
) -> None:
    """Show phrases in their contexts, one after another.

    Prints file:line<TAB>left<TAB>node<TAB>right, as written where the index keeps the text; where
    documents have ids of their own, the id in place of file:line. Of the matches of a --query with
    the same first token the shortest is shown; --set matching=longest or all shows others.
    """
    from distsim.indexes.concordance import Sample
    from distsim.indexes.corpus_index import ORDERS, sort_places
    from distsim.indexes.queries import QuerySettings

    (how,) = chosen(QuerySettings(), settings=settings)
    if sort not in ORDERS and sort_places(sort) is None:
        raise typer.BadParameter(
            f"{sort!r}: give {', '.join(ORDERS)}, or up to three places such as 1L,2L,1R",
            param_hint="--sort",
        )
    if seed is not None and sample is None:
        raise typer.BadParameter("give the size of the sample with --sample", param_hint="--seed")
    taken = Sample(sample, seed, thin) if sample is not None or thin > 1 else None
    asked = [one.phrase for one in asked_phrases(phrases, file) if not one.empty]
    opened = part.opened(index)
    for phrase in asked:
        lines = opened.concordance(
            phrase, k=limit + skip if limit else None, width=context or width, order=sort,
            sample=taken, gapped=gapped, query=query, matching=how.matching,
        )  # fmt: skip
        if not lines:
            say(f"{phrase}: does not occur")
        _print_lines(opened, phrase, lines[skip:], show)
        if not (gapped or query or taken):
            say_rest(len(lines[skip:]), opened.count(phrase))


def _print_lines(
    index: "CorpusIndex", phrase: str, lines: "Sequence[ConcordanceLine]", show: str | None
) -> None:
    """Print lines of a concordance, with fields of their documents beside."""
    fields_of_lines = _fields_beside(index, [line.document for line in lines], show)
    for line, fields in zip(lines, fields_of_lines, strict=True):
        has_id = index.has_ids and line.document != line.source
        place = line.document if has_id else f"{line.source}:{line.line}"
        sides = {"left": line.left, "node": line.node, "right": line.right}
        put_row({"place": place, **sides, **fields}, **{"phrase": phrase, **line._asdict()})


def _fields_beside(
    index: "CorpusIndex", ids: list[str], show: str | None
) -> list[dict[str, object]]:
    """Return the fields to be shown beside each line, by the names of their columns."""
    names = split_names(show or "")
    if not names or not ids:
        return [{} for _ in ids]
    columns = {name: f"document.{name}" if name in _COLUMNS else name for name in names}
    rows = index.metadata.values(names, index.metadata.numbers(ids))
    return [{columns[name]: value for name, value in row.items()} for row in rows]
