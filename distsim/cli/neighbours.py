"""`distsim neighbours TABLE PHRASE`: the phrases most alike."""

from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from distsim.base.errors import ParameterError
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
from distsim.cli.with_gaps import GappedOption, put_gapped

if TYPE_CHECKING:
    from distsim.base.results import Results
    from distsim.comparison.measures import Similarity
    from distsim.comparison.nearest import Neighbour
    from distsim.comparison.table import SignatureTable

    _Order = Callable[[str, "Results[Neighbour]"], "Results[Neighbour]"]

_USUAL = 10


Kind = Literal["substitutes", "related"]
Better = Literal["exact", "vectors"]  # by what the nearest few hundred are ordered anew


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
    ] = "exact",
    kind: Annotated[
        Kind | None,
        typer.Option(
            help="What may stand in its place, or what belongs to its topic, told by the index; "
            "both where not given."
        ),
    ] = None,
    distinct: Annotated[
        bool | None,
        typer.Option(
            "--distinct/--all",
            help="Leave out phrases that say the same as the focal phrase or one listed before, "
            "and say how many. Default: where phrases are composed and no --candidates named.",
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The index that --rerank and --kind count in."),
    ] = None,
    projection: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="That the table was signed by, if not the index's own."),
    ] = None,
    estimate: EstimateOption = None,
    plot: PlotOption = None,
    sentence: InSentenceOption = None,
    gapped: GappedOption = False,
    file: InputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the phrases most alike, or with --gapped the patterns.

    Prints rank<TAB>phrase<TAB>similarity<TAB>strength; the focal phrase first with --input or
    where there are several.
    A fifth column says `composed` where the focal phrase is not in the table and was made
    of its words. With --in the similarity gives way to the score of `distsim substitute`; with
    --gapped the fourth column counts the pattern among the places looked at.
    """
    from distsim.comparison.measures import reason_without_signature
    from distsim.comparison.nearest import RERANKED, NeighbourSearch
    from distsim.comparison.table import SignatureTable
    from distsim.output.pictures.drawing import require_painter
    from distsim.output.pictures.phrase_map import neighbour_picture

    if rerank is not None and threshold is not None:
        raise typer.BadParameter("--rerank orders the k nearest: leave out --threshold")
    asked = asked_phrases(phrases, file)
    several = file is not None or len(asked) > 1
    if gapped:
        others = (
            threshold,
            candidates,
            lengths,
            rerank,
            kind,
            distinct,
            projection,
            estimate,
            plot,
        )
        if sentence is not None or any(one is not None for one in others):
            raise typer.BadParameter("--gapped goes with -k, --min-strength, --index alone")
        put_gapped(table, index, asked, k or _USUAL, min_strength, several, as_json)
        return
    if sentence is not None and (several or rerank is not None or threshold is not None):
        raise typer.BadParameter("--in goes with one phrase, without --rerank and --threshold")
    if kind is not None and any(one is not None for one in (rerank, threshold, sentence)):
        raise typer.BadParameter("--kind goes without --rerank, --threshold and --in")
    if plot is not None:
        if several or sentence is not None:
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
    if k is None and threshold is None:
        k = _USUAL
    order: _Order = _as_found
    looked_at = k
    if rerank is not None and k is not None:
        order, looked_at = _by_measure(by, opened, table, index, projection), rerank
    elif kind is not None and k is not None:
        order, looked_at = _by_kind(kind, opened, table, index), RERANKED
    elif sentence is not None and k is not None:
        order, looked_at = _by_sentence(index or table, table, sentence), AMONG
    n_composed = n_hidden = 0
    for one in asked:
        focal = [one.phrase] if several else []
        found = None if one.empty else search.found(one.phrase, looked_at, threshold)
        if found is None:
            reason = "empty" if one.empty else reason_without_signature(opened, one.phrase)
            if as_json:
                put_json(focal=one.phrase, rank=None, reason=reason)
            else:
                put(*focal, *[NOT_AVAILABLE] * 4)
            if not one.empty:
                say(f"NA: {one.phrase!r} is {reason}")
            continue
        near = order(one.phrase, found.neighbours)[:k]
        if plot is not None:
            neighbour_picture(opened, one.phrase, near=near).save(plot)
        n_hidden += found.hidden
        n_composed += any(other.composed for other in near)
        _put_near(one.phrase, focal, near, as_json)
    if n_hidden:
        say(
            f"{counted(n_hidden, 'row')} as near that say the same again "
            f"{'is' if n_hidden == 1 else 'are'} hidden: --all shows them"
        )
    if n_composed:
        say(f"{n_composed:,} of {len(asked):,} phrases are not in the table: composed of words")


def _as_found(phrase: str, near: "Results[Neighbour]") -> "Results[Neighbour]":
    return near


def _by_measure(
    by: Better, opened: "SignatureTable", table: str, index: str | None, projection: str | None
) -> "_Order":
    """Return what orders neighbours by their exact or real-valued cosines."""
    from distsim.cli.opened import exact_cosine, learnt_cosine
    from distsim.comparison.nearest import rerank_neighbours

    if by == "vectors":
        measure: Similarity = learnt_cosine(opened, table, index, projection)
    else:
        measure = exact_cosine(opened, table, index)
    return lambda phrase, near: rerank_neighbours(phrase, near, measure)


def _by_kind(kind: Kind, opened: "SignatureTable", table: str, index: str | None) -> "_Order":
    """Return what orders neighbours by how alike they are of one kind.

    Raises:
        ParameterError: the table lives in no index and none was given.
    """
    from distsim import storage
    from distsim.comparison.nearest import rerank_neighbours
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.kinds import KindCosine

    if index is None and storage.Artifact(table).kind is not storage.INDEX:
        raise ParameterError(f"{table}: a table has no places: name its index with --index INDEX")
    measure = KindCosine(CorpusIndex.open(index or table), opened, kind)
    return lambda phrase, near: rerank_neighbours(phrase, near, measure)


def _by_sentence(index: str, table: str, sentence: str) -> "_Order":
    """Return what orders neighbours by how they stand in a sentence, and scores them so."""
    from distsim.base.results import Results

    def order(phrase: str, near: "Results[Neighbour]") -> "Results[Neighbour]":
        ranked = ranked_in(index, table, sentence, phrase, [other.phrase for other in near])
        return Results(near[place]._replace(similarity=score) for place, score in ranked)

    return order


def _put_near(phrase: str, focal: list[str], near: "Results[Neighbour]", as_json: bool) -> None:
    for rank, other in enumerate(near, 1):
        value = None if isnan(other.similarity) else other.similarity
        if as_json:
            put_json(focal=phrase, rank=rank, **(other._asdict() | {"similarity": value}))
        else:
            mark = ["composed"] if other.composed else []
            put(*focal, rank, other.phrase, number(value), other.strength, *mark)
