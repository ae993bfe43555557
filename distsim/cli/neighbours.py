"""`distsim neighbours TABLE PHRASE`: the phrases most alike."""

from enum import StrEnum
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import (
    NOT_AVAILABLE,
    InputOption,
    JsonOption,
    asked_phrases,
    lengths_range,
    number,
    put,
    put_json,
    read_lines,
    say,
)
from distsim.cli.in_sentence import AMONG, InSentenceOption, ranked_in

if TYPE_CHECKING:
    from distsim.comparison import ExactCosine, LearntCosine, StoredCosine


class Better(StrEnum):
    """By what the nearest few hundred are ordered anew."""

    EXACT = "exact"
    VECTORS = "vectors"


def neighbours(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    phrase: Annotated[str | None, typer.Argument(metavar="PHRASE")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many.")] = 10,
    threshold: Annotated[
        float | None, typer.Option(min=-1, max=1, help="All at least so similar, not k.")
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(metavar="FILE", help="Only these phrases, one a line.")
    ] = None,
    min_strength: Annotated[
        int | None,
        typer.Option(
            min=0, help="Only phrases so frequent. Default: with --distinct 30, else any."
        ),
    ] = None,
    lengths: Annotated[
        str | None, typer.Option(metavar="N or N-M", help="Only phrases of so many tokens.")
    ] = None,
    rerank: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Order the N nearest by a better measure."),
    ] = None,
    by: Annotated[
        Better,
        typer.Option(help="--rerank: exact cosine, or real-valued vectors of a learnt table."),
    ] = Better.EXACT,
    distinct: Annotated[
        bool | None,
        typer.Option(
            "--distinct/--all",
            help="Leave out phrases with the telling words of the focal phrase or of one listed "
            "before. Default: where phrases are composed of their words and no --candidates named.",
        ),
    ] = None,
    index: Annotated[
        str | None, typer.Option(metavar="INDEX", help="The index that --rerank counts in.")
    ] = None,
    projection: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="That the table was signed by, if not the index's own."),
    ] = None,
    sentence: InSentenceOption = None,
    file: InputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the phrases most alike.

    Prints rank<TAB>phrase<TAB>similarity<TAB>strength; with --input the focal phrase first.
    A fifth column says `composed` where the focal phrase is not in the table and its bits were
    made of its words. With --in the similarity gives way to the score of `distsim substitute`.
    """
    from distsim.cli.opened import exact_cosine, learnt_cosine
    from distsim.comparison import reason_without_signature
    from distsim.nearest import NeighbourSearch
    from distsim.signatures.table import SignatureTable

    asked = asked_phrases([phrase] if phrase is not None else None, file)
    low, high = lengths_range(lengths) if lengths else (0, 0)
    opened = SignatureTable.open(table)
    among = None
    if candidates is not None:
        among = [line for line in read_lines(candidates) if line.strip()]
    search = NeighbourSearch(
        opened,
        candidates=among,
        min_strength=min_strength,
        lengths=range(low, high + 1) if lengths else None,
        distinct=distinct,
    )
    if sentence is not None and (file is not None or rerank is not None or threshold is not None):
        raise typer.BadParameter("--in goes with one phrase, without --rerank and --threshold")
    if rerank is not None and threshold is not None:
        raise typer.BadParameter("--rerank orders the k nearest: leave out --threshold")
    measure: ExactCosine | StoredCosine | LearntCosine | None = None
    if rerank is not None:
        if by is Better.VECTORS:
            measure = learnt_cosine(opened, table, index, projection)
        else:
            measure = exact_cosine(opened, table, index)
    n_composed = 0
    for one in asked:
        focal = [one.phrase] if file is not None else []
        found = None
        if not one.empty:
            if measure is not None and rerank is not None:
                found = search.reranked(one.phrase, k, measure, rerank)
            elif sentence is not None:
                found = search.nearest(one.phrase, max(k, AMONG))
                names = [near.phrase for near in found or ()]
                ranked = ranked_in(index or table, table, sentence, one.phrase, names)[:k]
                found = found and [found[i]._replace(similarity=score) for i, score in ranked]
            elif threshold is None:
                found = search.nearest(one.phrase, k)
            else:
                found = search.above(one.phrase, threshold)
        if found is None:
            reason = "empty" if one.empty else reason_without_signature(opened, one.phrase)
            if as_json:
                put_json(focal=one.phrase, rank=None, reason=reason)
            else:
                put(*focal, *[NOT_AVAILABLE] * 4)
            if not one.empty:
                say(f"NA: {one.phrase!r} is {reason}")
            continue
        n_composed += any(near.composed for near in found)
        for rank, near in enumerate(found, 1):
            value = None if isnan(near.similarity) else near.similarity
            if as_json:
                put_json(focal=one.phrase, rank=rank, **(near._asdict() | {"similarity": value}))
            else:
                mark = ["composed"] if near.composed else []
                put(*focal, rank, near.phrase, number(value), near.strength, *mark)
    if n_composed:
        say(f"{n_composed:,} of {len(asked):,} phrases are not in the table: composed of words")
