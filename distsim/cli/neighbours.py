"""`distsim neighbours TABLE PHRASE`: the phrases most alike."""

from math import isnan
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from distsim.base.choices import EstimateName
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
from distsim.cli.options import PlotOption
from distsim.cli.with_gaps import GappedOption, put_gapped

if TYPE_CHECKING:
    from distsim.base.results import Results
    from distsim.comparison.measures import Similarity
    from distsim.comparison.nearest import Neighbour
    from distsim.comparison.table import SignatureTable
    from distsim.paraphrase.substitution.substituter import Substituter

_USUAL = 10


# What phrases are ordered by: an estimate from the table, or a measure of the nearest few hundred.
By = Literal["bits", "asymmetric", "restored", "exact", "vectors", "substitutes", "related"]


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
            min=0, help="Only phrases so frequent.  [default: 30 where rows are hidden, else any]"
        ),
    ] = None,
    lengths: Annotated[
        str | None, typer.Option(metavar="N or N-M", help="Only phrases of so many tokens.")
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            help="An estimate from the table (see `similarity --estimate`); or, of the 300 "
            "nearest: exact cosine, real-valued vectors, what may stand in its place, what "
            "belongs to its topic."
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also phrases that say the same as one listed before."),
    ] = False,
    index: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The index that --by and --gapped count in."),
    ] = None,
    plot: PlotOption = None,
    gapped: GappedOption = False,
    file: InputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the phrases most alike, or with --gapped the patterns.

    Prints rank<TAB>phrase<TAB>similarity<TAB>strength; the focal phrase first with --input or
    where there are several.
    A fifth column says `composed` where the focal phrase is not in the table and was made
    of its words. With --gapped the fourth column counts the pattern among the places looked at.
    """
    from distsim.comparison.measures import reason_without_signature
    from distsim.comparison.nearest import RERANKED, NeighbourSearch, rerank_neighbours
    from distsim.comparison.table import SignatureTable
    from distsim.output.pictures.drawing import require_svg
    from distsim.output.pictures.phrase_map import neighbour_picture

    estimate = by if by in get_args(EstimateName) else None
    measured = by is not None and estimate is None
    if measured and threshold is not None:
        raise typer.BadParameter(f"--by {by} orders the nearest: leave out --threshold")
    asked = asked_phrases(phrases, file)
    several = file is not None or len(asked) > 1
    if gapped:
        if everything or any(v is not None for v in (threshold, candidates, lengths, by, plot)):
            raise typer.BadParameter("--gapped goes with -k, --min-strength, --index alone")
        put_gapped(table, index, asked, k or _USUAL, min_strength, several, as_json)
        return
    if plot is not None:
        if several:
            raise typer.BadParameter("--plot goes with one phrase")
        require_svg(plot)
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
        distinct=False if everything else None,
        estimate=estimate,
    )
    if k is None and threshold is None:
        k = _USUAL
    measure = _measure(str(by), opened, table, index) if measured else None
    looked_at = RERANKED if measured else k
    limited = any(given is not None for given in (candidates, lengths, min_strength))
    words = _substituter(opened, table, index) if by == "substitutes" and not limited else None
    n_composed = n_hidden = 0
    for one in asked:
        focal = [one.phrase] if several else []
        of_word = None if words is None or one.empty else words.alone(one.phrase, k=k)
        if of_word is not None and plot is None:
            _put_near(one.phrase, focal, of_word, as_json)
            continue
        found = None if one.empty else search.found(one.phrase, k=looked_at, threshold=threshold)
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


def _measure(by: str, opened: "SignatureTable", table: str, index: str | None) -> "Similarity":
    """Return the measure of this name.

    Raises:
        ParameterError: the table lives in no index and none was given.
    """
    from distsim import storage
    from distsim.cli.opened import exact_cosine, learnt_cosine
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.kinds import KindCosine

    if by == "vectors":
        return learnt_cosine(opened, table, index)
    if by == "exact":
        return exact_cosine(opened, table, index)
    if index is None and storage.Artifact(table).kind is not storage.INDEX:
        raise ParameterError(f"{table}: a table has no places: name its index with --index INDEX")
    return KindCosine(
        CorpusIndex.open(index or table), opened, "related" if by == "related" else "substitutes"
    )


def _substituter(opened: "SignatureTable", table: str, index: str | None) -> "Substituter | None":
    """Return what finds substitutes of words, None where `sign` stored nothing for it."""
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.substitution.substituter import Substituter
    from distsim.paraphrase.substitution.word_profiles import finder_of

    if finder_of(opened) is None:
        return None
    return Substituter(CorpusIndex.open(index or table), opened)


def _put_near(phrase: str, focal: list[str], near: "Results[Neighbour]", as_json: bool) -> None:
    for rank, other in enumerate(near, 1):
        value = None if isnan(other.similarity) else other.similarity
        if as_json:
            put_json(focal=phrase, rank=rank, **(other._asdict() | {"similarity": value}))
        else:
            mark = ["composed"] if other.composed else []
            put(*focal, rank, other.phrase, number(value), other.strength, *mark)
