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
    counted,
    lengths_range,
    number,
    put,
    put_json,
    read_lines,
    say,
)
from distsim.cli.in_sentence import AMONG, InSentenceOption, ranked_in
from distsim.cli.options import EstimateOption, PlotOption

if TYPE_CHECKING:
    from distsim.comparison import Similarity


_USUAL = 10


class Better(StrEnum):
    """By what the nearest few hundred are ordered anew."""

    EXACT = "exact"
    VECTORS = "vectors"


def neighbours(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="So many at most.  [default: 10; all with --threshold]"),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Only those at least so similar.")
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
            help="Leave out phrases that say the same as the focal phrase or one listed before, "
            "and say how many. Default: where phrases are composed and no --candidates named.",
        ),
    ] = None,
    index: Annotated[
        str | None, typer.Option(metavar="INDEX", help="The index that --rerank counts in.")
    ] = None,
    projection: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="That the table was signed by, if not the index's own."),
    ] = None,
    estimate: EstimateOption = None,
    plot: PlotOption = None,
    sentence: InSentenceOption = None,
    file: InputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the phrases most alike.

    Prints rank<TAB>phrase<TAB>similarity<TAB>strength; the focal phrase first with --input or
    where there are several.
    A fifth column says `composed` where the focal phrase is not in the table and was made
    of its words. With --in the similarity gives way to the score of `distsim substitute`.
    """
    from distsim.cli.opened import exact_cosine, learnt_cosine
    from distsim.comparison import reason_without_signature
    from distsim.nearest import NeighbourSearch, rerank_neighbours
    from distsim.pictures.drawing import require_painter
    from distsim.pictures.phrase_map import neighbour_picture
    from distsim.results import Results
    from distsim.signatures.table import SignatureTable

    if rerank is not None and threshold is not None:
        raise typer.BadParameter("--rerank orders the k nearest: leave out --threshold")
    asked = asked_phrases(phrases, file)
    if sentence is not None and (
        len(asked) > 1 or file is not None or rerank is not None or threshold is not None
    ):
        raise typer.BadParameter("--in goes with one phrase, without --rerank and --threshold")
    if plot is not None:
        if len(asked) > 1 or file is not None or sentence is not None:
            raise typer.BadParameter("--plot goes with one phrase, without --in")
        require_painter(plot)
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
        estimate=estimate,
    )
    measure: Similarity | None = None
    if rerank is not None:
        if by is Better.VECTORS:
            measure = learnt_cosine(opened, table, index, projection)
        else:
            measure = exact_cosine(opened, table, index)
    if k is None and threshold is None:
        k = _USUAL
    several = file is not None or len(asked) > 1
    n_composed = n_hidden = 0
    for one in asked:
        focal = [one.phrase] if several else []
        found = None
        if not one.empty:
            wanted = k
            if k is not None:
                wanted = max(k, rerank or 0, AMONG if sentence is not None else 0)
            found = search.found(one.phrase, wanted, threshold)
        if found is None:
            reason = "empty" if one.empty else reason_without_signature(opened, one.phrase)
            if as_json:
                put_json(focal=one.phrase, rank=None, reason=reason)
            else:
                put(*focal, *[NOT_AVAILABLE] * 4)
            if not one.empty:
                say(f"NA: {one.phrase!r} is {reason}")
            continue
        near = found.neighbours
        if measure is not None:
            near = rerank_neighbours(one.phrase, near, measure)[:k]
        elif sentence is not None:
            names = [other.phrase for other in near]
            ranked = ranked_in(index or table, table, sentence, one.phrase, names)[:k]
            near = Results(near[place]._replace(similarity=score) for place, score in ranked)
        if plot is not None:
            neighbour_picture(opened, one.phrase, near=near).save(plot)
        n_hidden += found.hidden
        n_composed += any(other.composed for other in near)
        for rank, other in enumerate(near, 1):
            value = None if isnan(other.similarity) else other.similarity
            if as_json:
                put_json(focal=one.phrase, rank=rank, **(other._asdict() | {"similarity": value}))
            else:
                mark = ["composed"] if other.composed else []
                put(*focal, rank, other.phrase, number(value), other.strength, *mark)
    if n_hidden:
        say(
            f"{counted(n_hidden, 'row')} as near that say the same again "
            f"{'is' if n_hidden == 1 else 'are'} hidden: --all shows them"
        )
    if n_composed:
        say(f"{n_composed:,} of {len(asked):,} phrases are not in the table: composed of words")
