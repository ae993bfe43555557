"""`distsim neighbours TABLE PHRASE`: the most similar phrases, or patterns with gaps."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import typer

from distsim.base.choices import EstimateName
from distsim.cli.console import (
    NOT_AVAILABLE,
    InputOption,
    JsonOption,
    asked_phrases,
    contrast_label,
    counted,
    lengths_range,
    number,
    put,
    put_json,
    read_lines,
    say,
    say_left_out,
    say_no_finder,
    say_opposites,
    say_shares,
)
from distsim.cli.groups import OptionGroup, grouped
from distsim.cli.options import HeldMemoryOption, SetOption, chosen

if TYPE_CHECKING:
    from distsim.base.results import Results
    from distsim.cli.console import Asked
    from distsim.comparison.measures import Similarity
    from distsim.comparison.nearest import Found, Neighbour, NeighbourSearch
    from distsim.comparison.table import SignatureTable

_USUAL = 10
_MIN_MATCHES = 10  # of a pattern with gaps


class _Labelled(NamedTuple):
    """A Neighbour, and whether it is an opposite of the focal phrase.

    phrase, similarity, strength, composed: fields of the Neighbour. opposite: it is one.
    contrasted: the text contrasts the two.
    """

    phrase: str
    similarity: float
    strength: int
    composed: bool
    opposite: bool
    contrasted: bool


# What phrases are ordered by: an estimate from the table, or a measure of the nearest few hundred.
By = Literal["bits", "restored", "exact", "vectors", "substitutes", "related"]


@dataclass
class SearchOptions(OptionGroup):
    """Limits and order of the phrases found."""

    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="At most this many.  [default: 10; all with --threshold]"),
    ] = None
    threshold: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Only those at least this similar.")
    ] = None
    candidates: Annotated[
        str | None, typer.Option(metavar="FILE", help="Only these phrases, one a line.")
    ] = None
    min_strength: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Only phrases with this strength or more.  [default: 30 where rows are hidden, "
            "else any]",
        ),
    ] = None
    lengths: Annotated[
        str | None, typer.Option(metavar="N or N-M", help="Only phrases of this many tokens.")
    ] = None
    by: Annotated[
        By | None,
        typer.Option(
            help="An estimate from the table (see `similarity --estimate`); or, of the 300 "
            "nearest: exact cosine, real-valued vectors, what can replace the phrase, what "
            "belongs to its topic."
        ),
    ] = None
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also other forms of the phrase, and near-duplicates of rows above."
        ),
    ] = False
    index: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The index that --by and --gapped count in."),
    ] = None
    by_map: Annotated[
        str | None,
        typer.Option("--map", metavar="MAP", help="Translations by a map of `distsim map`."),
    ] = None


@dataclass(frozen=True)
class NeighbourSettings:
    """Settings of `--by substitutes`.

    Arguments:
        weights: `substitutes`, which ship, or a TOML file of `rank --substitutes`.
    """

    weights: str = "substitutes"


@grouped
def neighbours(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    how: SearchOptions,
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    gapped: Annotated[
        bool,
        typer.Option(
            "--gapped",
            help="Phrases are patterns, as 'take _ into account': find similar patterns.",
        ),
    ] = False,
    senses: Annotated[
        bool,
        typer.Option("--senses", help="Also the group of each: at most three, by two words each."),
    ] = False,
    file: InputOption = None,
    as_json: JsonOption = False,
    settings: SetOption = None,
    memory: HeldMemoryOption = None,
) -> None:
    """Find the most similar phrases, or with --gapped the most similar patterns.

    Prints rank<TAB>phrase<TAB>similarity<TAB>strength; the focal phrase first with --input or
    where there are several.
    A fifth column says `composed` where the focal phrase is not in the table and was made
    of its words. With --gapped the fourth column counts the pattern among the places looked at.
    With --map the phrases are words of the map's target table, ordered by CSLS.
    """
    (finding,) = chosen(NeighbourSettings(), settings=settings)
    asked = asked_phrases(phrases, file)
    several = file is not None or len(asked) > 1
    if gapped:
        if how.other_than("k", "min_strength", "index"):
            raise typer.BadParameter("--gapped goes with -k, --min-strength, --index alone")
        _put_gapped(table, how, asked, several, as_json)
        return
    if how.by_map is not None:
        if how.other_than("k", "by_map"):
            raise typer.BadParameter("--map goes with -k alone")
        _put_translations(table, how, asked, several, as_json)
        return
    opened, found_of = _search(table, how, finding.weights)
    n_composed = n_hidden = n_below = 0
    labels: list[str] = []
    for one in asked:
        found = None if one.empty else found_of(one.phrase)
        if found is None:
            from distsim.comparison.measures import reason_without_signature

            reason = "empty" if one.empty else reason_without_signature(opened, one.phrase)
            _put_nothing(one, reason, several, as_json)
            continue
        n_hidden += found.hidden
        n_below += found.neighbours.opposites
        labels += [name for row in found.neighbours for name in contrast_label(row)]
        n_composed += any(other.composed for other in found.neighbours)
        groups = _groups(opened, found.neighbours) if senses else None
        _put_near(one.phrase, found.neighbours, several, as_json, groups)
    if n_hidden:
        say(f"{counted(n_hidden, 'near-duplicate')} hidden: --all shows them")
    say_opposites(labels, n_below)
    if n_composed:
        say(f"{n_composed:,} of {len(asked):,} phrases are not in the table: composed of words")
        say_left_out(opened, (one.phrase for one in asked if not one.empty))


def _search(
    table: str, how: SearchOptions, weights: str
) -> "tuple[SignatureTable, Callable[[str], Found | None]]":
    """Return the table, and the function that finds a phrase's neighbours, None where unknown."""
    from distsim.comparison.nearest import RERANKED, NeighbourSearch, rerank_neighbours
    from distsim.comparison.table import SignatureTable

    by, k, threshold = how.by, how.k, how.threshold
    measured = by is not None and by not in get_args(EstimateName)
    if measured and by != "substitutes" and threshold is not None:
        raise typer.BadParameter(f"--by {by} orders the nearest: leave out --threshold")
    low, high = lengths_range(how.lengths) if how.lengths else (0, 0)
    opened = SignatureTable.open(table)
    among = None
    if how.candidates is not None:
        among = [line for line in read_lines(how.candidates) if line.strip()]
    search = NeighbourSearch(
        opened,
        candidates=among,
        min_strength=how.min_strength,
        lengths=range(low, high + 1) if how.lengths else None,
        distinct=False if how.everything else None,
        estimate=None if measured else by,
    )
    if k is None and threshold is None:
        k = _USUAL
    if not measured:
        return opened, lambda phrase: search.found(phrase, k=k, threshold=threshold)
    measure = _measure(str(by), opened, table, how.index)
    if by == "substitutes" and how.candidates is None:
        of_stored = _by_finder(opened, table, how, weights, search, measure, k)
        if of_stored is not None:
            return opened, of_stored

    def reranked(phrase: str) -> "Found | None":
        found = search.found(phrase, k=RERANKED)
        if found is None:
            return None
        near = rerank_neighbours(phrase, found.neighbours, measure)
        return found._replace(neighbours=_reaching(near, threshold)[:k])

    return opened, reranked


def _by_finder(
    opened: "SignatureTable",
    table: str,
    how: SearchOptions,
    weights: str,
    search: "NeighbourSearch",
    measure: "Similarity",
    k: int | None,
) -> "Callable[[str], Found | None] | None":
    """Return the function that finds substitutes by what `sign` stored; None where it did not."""
    from distsim.base.results import Results
    from distsim.cli.opened import index_of
    from distsim.comparison.nearest import RERANKED, Found, rerank_neighbours
    from distsim.comparison.opposites.opposites import SPARE, Opposites, opposites_last
    from distsim.paraphrase.finder.inflections import as_bases
    from distsim.paraphrase.finder.word_substitutes import WordSubstitutes
    from distsim.signatures.table import finder_of

    say_no_finder(opened)
    if finder_of(opened) is None:
        return None
    corpus = index_of(table, how.index)
    low, _ = lengths_range(how.lengths) if how.lengths else (1, 1)
    words = WordSubstitutes.open(corpus, opened, weights=weights)
    opposites = Opposites(corpus, opened)
    if words is not None and not words.finder.is_calibrated:
        say_shares()

    def substitutes(phrase: str) -> "Found | None":
        near: Any = None
        if words is not None and low == 1:
            some = None if how.min_strength else k and k + SPARE
            near = words.answers(phrase, k=some)
        if near is not None:
            near = [one for one in near if one.strength >= (how.min_strength or 0)]
        if words is not None and near is None:
            found = search.found(phrase, k=RERANKED)
            if found is None:
                return None
            ranked = rerank_neighbours(phrase, found.neighbours, measure)
            given = {tuple(one.phrase.split(" ")): one for one in ranked}
            bases = as_bases(tuple(corpus.words(phrase)), given, words.forms)
            near = [given[own] for own in bases.values()]
        near = _reaching(near, how.threshold)
        placed, n_below = opposites_last(opposites, phrase, [one.phrase for one in near], k)
        labelled = Results[Any](
            _Labelled(one.phrase, one.similarity, one.strength, one.composed, opposite, contrasted)
            for one, (_, contrasted, opposite) in ((near[row.place], row) for row in placed)
        )
        labelled.opposites = n_below
        return Found(labelled, 0)

    return substitutes


def _reaching(near: Any, threshold: float | None) -> Any:
    """Return the rows that are at least as similar."""
    return near if threshold is None else [one for one in near if one.similarity >= threshold]


def _measure(by: str, opened: "SignatureTable", table: str, index: str | None) -> "Similarity":
    """Return the measure of this name.

    Raises:
        ParameterError: the table is in no index and none was given.
    """
    from distsim.cli.opened import exact_cosine, index_of, learnt_cosine
    from distsim.paraphrase.kinds import KindCosine

    if by == "vectors":
        return learnt_cosine(opened, table, index)
    if by == "exact":
        return exact_cosine(opened, table, index)
    kind: Any = by
    return KindCosine(index_of(table, index), opened, kind)


def _groups(opened: "SignatureTable", near: "Results[Neighbour]") -> list[str]:
    from distsim.comparison.senses import group_senses

    return group_senses(opened, [other.phrase for other in near])


def _put_near(
    phrase: str,
    near: "Results[Neighbour]",
    several: bool,
    as_json: bool,
    groups: list[str] | None,
) -> None:
    for rank, other in enumerate(near, 1):
        value = None if isnan(other.similarity) else other.similarity
        if as_json:
            own = {} if groups is None else {"sense": groups[rank - 1]}
            put_json(focal=phrase, rank=rank, **(other._asdict() | {"similarity": value} | own))
        else:
            mark = ["composed"] if other.composed else []
            mark += contrast_label(other)
            mark += [] if groups is None else [groups[rank - 1]]
            focal = [phrase] if several else []
            put(*focal, rank, other.phrase, number(value), other.strength, *mark)


def _put_nothing(one: "Asked", reason: str, several: bool, as_json: bool) -> None:
    if as_json:
        put_json(focal=one.phrase, rank=None, reason=reason)
    else:
        put(*([one.phrase] if several else []), *[NOT_AVAILABLE] * 4)
    if not one.empty:
        say(f"NA: {one.phrase!r} is {reason}")


def _put_gapped(
    table: str, how: SearchOptions, asked: "list[Asked]", several: bool, as_json: bool
) -> None:
    """Print the patterns most similar to each pattern: rank, pattern, similarity, matches.

    Raises:
        ParameterError: a pattern has no word or no gap; no index is named.
    """
    from distsim.cli.opened import opened_gapped
    from distsim.comparison.gapped.search import gapped_neighbours

    cosine = opened_gapped(how.index or table, None if how.index is None else table)
    k, min_matches = how.k or _USUAL, how.min_strength or _MIN_MATCHES
    for one in asked:
        near = None
        if not one.empty:
            near = gapped_neighbours(cosine, one.phrase, k=k, min_matches=min_matches)
        if near is None:
            reason = "empty" if one.empty else "not found in the index"
            _put_nothing(one, reason, several, as_json)
            continue
        for rank, other in enumerate(near, 1):
            if as_json:
                put_json(focal=one.phrase, rank=rank, **other._asdict())
            else:
                focal = [one.phrase] if several else []
                put(*focal, rank, other.pattern, number(other.similarity), other.matches)


def _put_translations(
    table: str, how: SearchOptions, asked: "list[Asked]", several: bool, as_json: bool
) -> None:
    """Print the target words of each phrase by a map: rank, word, cosine, strength."""
    from distsim.comparison.mapping import VectorMap

    opened = VectorMap.open(str(how.by_map), source=table)
    for one in asked:
        found = None if one.empty else opened.translations(one.phrase, k=how.k or _USUAL)
        if found is None:
            reason = "empty" if one.empty else "not in the table, nor any of its words"
            _put_nothing(one, reason, several, as_json)
            continue
        for rank, other in enumerate(found, 1):
            if as_json:
                put_json(focal=one.phrase, rank=rank, **other._asdict())
            else:
                focal = [one.phrase] if several else []
                put(*focal, rank, other.phrase, number(other.similarity), other.strength)
