"""`distsim sketch INDEX WORD`: collocates by grammatical relation."""

from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import QueryOption, say
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions
from distsim.cli.rows import lists_rows, put_row

if TYPE_CHECKING:
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.sketches import SketchRelation


@lists_rows
@grouped
def sketch(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    word: Annotated[str, typer.Argument(metavar="WORD")],
    part: DocumentOptions,
    against: Annotated[
        str | None, typer.Option(metavar="WORD", help="The difference to another word.")
    ] = None,
    lines: Annotated[
        str | None,
        typer.Option(metavar="RELATION:COLLOCATE", help="The lines behind one row: objects:place."),
    ] = None,
    relations: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Relations in TOML; default: Universal Dependencies."),
    ] = None,
    query: QueryOption = False,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer pairs.")] = 2,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Collocates of each relation; 0: all.")
    ] = 10,
) -> None:
    """List the collocates of a lemma, or a phrase, by grammatical relation.

    Prints relation<TAB>collocate<TAB>pairs<TAB>logDice; with --against both words' pairs and
    logDice; with --lines the lines of a concordance. The index is of CoNLL-U with dependencies, as
    distsim annotate writes it.
    """
    from distsim.indexes import sketches

    opened = part.opened(index)
    known = sketches.read_relations(path=relations)
    if against is not None and (query or lines is not None):
        raise typer.BadParameter("--against compares two lemmas: leave out --query and --lines")
    if lines is not None:
        _print_lines(opened, word, lines, query, limit, known)
        return
    if against is not None:
        both = sketches.sketch_difference(
            opened, word, against, relations=known, min_count=min_count, k=limit or None
        )
        for one in both:
            counts = {"count": one.times, "other_count": one.other_times}
            scores = {"score": one.score, "other_score": one.other_score}
            put_row({"relation": one.relation, "answer": one.word, **counts, **scores}, phrase=word)
        return
    rows = sketches.sketch(
        opened, word, query=query, relations=known, min_count=min_count, k=limit or None
    )
    if not rows:
        say(f"{word}: has no pairs: it does not occur, or all are rarer than --min-count")
    for row in rows:
        counts = {"relation_count": row.of_word, "collocate_count": row.of_collocate}
        shown = {"answer": row.word, "count": row.times, "score": row.score}
        put_row({"relation": row.relation, **shown}, phrase=word, **counts)


def _print_lines(
    index: "CorpusIndex",
    word: str,
    pair: str,
    query: bool,
    limit: int,
    known: "list[SketchRelation]",
) -> None:
    """Print the concordance of a word with one collocate."""
    from distsim.indexes.sketches import sketch_spans

    relation, colon, collocate = pair.rpartition(":")
    if not colon:
        raise typer.BadParameter("give RELATION:COLLOCATE, such as objects:place")
    spans = sketch_spans(index, word, relation, collocate, query=query, relations=known)
    if not len(spans):
        say(f"{word}: has no {collocate} as {relation}")
    for line in index.lines(spans[: limit or None]):
        place = line.document if index.has_ids else f"{line.source}:{line.line}"
        put_row({"place": place, "left": line.left, "node": line.node, "right": line.right})
