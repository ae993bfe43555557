"""`distsim neighbours TABLE PHRASE`: the most similar phrases, or patterns with gaps."""

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from distsim.base.errors import counted
from distsim.cli.console import (
    InputOption,
    asked_phrases,
    contrast_label,
    lengths_range,
    read_lines,
    say,
    say_left_out,
    say_opposites,
    say_shares,
)
from distsim.cli.options import (
    HeldMemoryOption,
    OptionGroup,
    SetOption,
    chosen,
    grouped,
    limit_memory,
)
from distsim.cli.rows import ALL_ROWS, NOTE, lists_rows, put_answer, say_ends

if TYPE_CHECKING:
    from distsim.base.results import Results
    from distsim.cli.console import PhraseArgument
    from distsim.comparison.finder.word_neighbours import NeighbourLister, WordList
    from distsim.comparison.nearest import NeighbourList
    from distsim.comparison.table import CosineEvidence
    from distsim.signatures.table import StoredTable

_DEFAULT_K = 10
_MIN_MATCHES = 10  # of a pattern with gaps


# What lists and orders phrases: the table, the finder of `sign`, or exact cosines of the nearest.
NeighbourMeasure = Literal["table", "finder", "exact"]


@dataclass
class NeighbourOptions(OptionGroup):
    """Limits and order of the phrases found."""

    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--limit",
            min=0,
            help="At most this many; 0: all.  [default: 10; all with --threshold]",
        ),
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
            help="Only phrases with this strength or more.  [default: up to 30 in large tables "
            "where near-duplicates are hidden, else any]",
        ),
    ] = None
    lengths: Annotated[
        str | None, typer.Option(metavar="N or N-M", help="Only phrases of this many tokens.")
    ] = None
    by: Annotated[
        NeighbourMeasure | None,
        typer.Option(
            help="table: cosines of the table's vectors; finder: what can stand for a word, from "
            "what `sign` stored; exact: the 300 nearest by their contexts in the index.  "
            "[default: finder for single words, where it knows them; else table]",
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
        typer.Option(metavar="INDEX", help="The index that --by, --gapped and --why count in."),
    ] = None
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Also the share of own contexts in each vector, whether it is stored, and the "
            "strongest shared contexts.",
        ),
    ] = False
    beside: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Another table: what is near in both, in one alone."),
    ] = None
    by_map: Annotated[
        str | None,
        typer.Option("--map", metavar="MAP", help="Translations by a map of `distsim map`."),
    ] = None


@dataclass(frozen=True)
class NeighbourSettings:
    """Settings of the finder.

    Arguments:
        weights: `substitutes`, which ship, or a TOML file of `rank --substitutes`.
    """

    weights: str = "substitutes"


@lists_rows
@grouped
def neighbours(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    how: NeighbourOptions,
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
    settings: SetOption = None,
    memory: HeldMemoryOption = None,
) -> None:
    """Find the most similar phrases, or with --gapped the most similar patterns.

    Prints rank<TAB>phrase<TAB>similarity<TAB>count; the focal phrase first with --input or
    where there are several. For a single word these are the words that can stand in its place,
    with their score in place of the similarity, the probability that people name them;
    opposites come last. --json has both numbers. For a phrase they are the nearest phrases with
    their cosine. A fifth column says `opposite` or `contrasted`, or `composed` where the focal
    phrase is not in the table and was made of its words. With --gapped the fourth column counts
    the pattern among the places looked at.
    With --map the phrases are words of the map's target table, ordered by CSLS. With --beside:
    both, a or b<TAB>phrase<TAB>cosine in TABLE<TAB>cosine in the other table.
    """
    from distsim.cli.opened import opened_evidence

    limit_memory(memory)
    (finding,) = chosen(NeighbourSettings(), settings=settings)
    asked = asked_phrases(phrases, file)
    several = file is not None or len(asked) > 1
    if _put_others(table, how, asked, several, gapped=gapped):
        return
    lister = _lister(table, how, finding.weights)
    signatures, k = lister.table, _wanted_rows(how)
    evidence = opened_evidence(signatures, how.index) if how.why else None
    lists: list[NeighbourList | WordList] = []
    near_lists = lister.neighbour_lists(
        [argument.phrase for argument in asked if not argument.empty], k
    )
    for argument in asked:
        near = None if argument.empty else next(near_lists)
        if near is None:
            from distsim.comparison.measures import reason_without_signature

            reason = (
                "empty" if argument.empty else reason_without_signature(signatures, argument.phrase)
            )
            _put_without_neighbours(argument, reason, several)
            continue
        lists.append(near)
        groups = _groups(signatures, near.neighbours) if senses else None
        reasons = None
        if evidence is not None:
            reasons = [evidence.of_pair(argument.phrase, row.phrase) for row in near.neighbours]
        _put_near(argument.phrase, near.neighbours, several, groups, reasons)
    say_ends(k, [len(near_list.neighbours) for near_list in lists])
    if _say_totals(lister, how, lists):
        say_left_out(signatures, (argument.phrase for argument in asked if not argument.empty))


def _put_others(
    table: str, how: NeighbourOptions, asked: "list[PhraseArgument]", several: bool, *, gapped: bool
) -> bool:
    """Return whether --gapped, --map or --beside is given, which print rows of their own."""
    for option, value, put, also in (
        ("--gapped", gapped, _put_gapped, "-k, --min-strength, --index"),
        ("--map", how.by_map is not None, _put_translations, "-k"),
        ("--beside", how.beside is not None, _put_beside, "-k, --min-strength, --lengths, --all"),
    ):
        if value:
            if set(how.given()) - {option, *also.split(", ")} - {"--limit"}:
                raise typer.BadParameter(f"{option} goes with {also} alone")
            put(table, how, asked, several)
            return True
    return False


def _wanted_rows(how: NeighbourOptions) -> int | None:
    """Return how many rows are wanted of a phrase, None for all."""
    if how.k is None:
        return None if how.threshold is not None else _DEFAULT_K
    return how.k or None


def _say_totals(
    lister: "NeighbourLister", how: NeighbourOptions, lists: "list[NeighbourList | WordList]"
) -> int:
    """Say what was left out or put below; return the number of phrases composed of words."""
    from distsim.comparison.finder.word_neighbours import WordList

    n_hidden = sum(near_list.hidden for near_list in lists)
    n_by_finder = sum(isinstance(near_list, WordList) for near_list in lists)
    labels = [
        name for near_list in lists for row in near_list.neighbours for name in contrast_label(row)
    ]
    n_composed = sum(any(row.composed for row in near_list.neighbours) for near_list in lists)
    if n_hidden:
        say(f"{counted(n_hidden, 'near-duplicate')} hidden: --all shows them")
    if n_by_finder < len(lists) and (least := _usual_least(lister.table, how)) > 1:
        say(
            f"phrases of less than {counted(least, 'occurrence')} left out: --min-strength "
            "0 shows them"
        )
    if how.by == "finder" and n_by_finder < len(lists):
        n_others = counted(len(lists) - n_by_finder, "phrase")
        say(f"{n_others} by the table's cosine: the finder lists words for words that it knows")
    if n_by_finder and lister.gives_shares:
        say_shares()
    if n_by_finder:
        say("words from the finder: --by table lists words and phrases by their cosine")
    say_opposites(labels, sum(near_list.neighbours.opposites for near_list in lists))
    if n_composed:
        say(
            f"{n_composed:,} of {counted(len(lists), 'phrase')} not in the table: composed of words"
        )
    return n_composed


def _lister(table: str, how: NeighbourOptions, weights: str) -> "NeighbourLister":
    """Return what lists the neighbours of phrases."""
    from distsim.comparison.finder.word_neighbours import NeighbourLister
    from distsim.comparison.measures import cosine
    from distsim.comparison.table import SignatureTable

    if how.by == "exact" and how.threshold is not None:
        raise typer.BadParameter("--by exact orders the nearest: leave out --threshold")
    low, high = lengths_range(how.lengths) if how.lengths else (0, 0)
    among = None
    if how.candidates is not None:
        among = [line for line in read_lines(how.candidates) if line.strip()]
    signatures = SignatureTable.open(table)
    return NeighbourLister(
        signatures,
        by=cosine(signatures, how="exact", index=how.index) if how.by == "exact" else how.by,
        threshold=how.threshold,
        index=how.index,
        weights=weights,
        candidates=among,
        min_strength=how.min_strength,
        lengths=range(low, high + 1) if how.lengths else None,
        distinct=False if how.everything else None,
    )


def _usual_least(table: "StoredTable", how: NeighbourOptions) -> int:
    """Return the usual least count, 0 where the user gave one, or none is applied."""
    from distsim.comparison.nearest import usual_strength

    hides = how.min_strength is None and not how.everything and how.candidates is None
    composes = table.fingerprint.composition is not None
    return usual_strength(table) if hides and composes else 0


def _groups(table: "StoredTable", near: "Results[Any]") -> list[str]:
    from distsim.comparison.table import group_senses

    return group_senses(table, [other.phrase for other in near])


def _put_near(
    phrase: str,
    near: "Results[Any]",
    several: bool,
    groups: list[str] | None,
    reasons: "list[CosineEvidence] | None" = None,
) -> None:
    from distsim.cli.similarity import as_record, columns_of
    from distsim.comparison.finder.word_neighbours import WordNeighbour

    for rank, other in enumerate(near, 1):
        value = None if isnan(other.similarity) else other.similarity
        notes = (["composed"] if other.composed else []) + contrast_label(other)
        sense = {} if groups is None else {"sense": groups[rank - 1]}
        why = {} if reasons is None else columns_of(reasons[rank - 1])
        score = {"similarity": value}
        if isinstance(other, WordNeighbour):
            score = {"score": other.score}
        scores = {**score, "count": other.strength, **why, NOTE: ",".join(notes)}
        labels: dict[str, Any] = {
            name: getattr(other, name)
            for name in ("composed", "opposite", "contrasted")
            if hasattr(other, name)
        }
        if isinstance(other, WordNeighbour):
            labels["similarity"] = value
        if reasons is not None:
            labels["why"] = as_record(reasons[rank - 1])
        put_answer(phrase, several, {"rank": rank, "answer": other.phrase, **scores, **sense},
                   **labels)  # fmt: skip


def _put_without_neighbours(argument: "PhraseArgument", reason: str, several: bool) -> None:
    columns = dict.fromkeys(("rank", "answer", "similarity", "count"))
    put_answer(argument.phrase, several, columns, reason=reason)
    if not argument.empty:
        say(f"NA: {argument.phrase!r} is {reason}")


def _put_gapped(
    table: str, how: NeighbourOptions, asked: "list[PhraseArgument]", several: bool
) -> None:
    """Print the patterns most similar to each pattern: rank, pattern, similarity, matches.

    Raises:
        ParameterError: a pattern has no word or no gap; no index is named.
    """
    from distsim.cli.opened import opened_gapped
    from distsim.comparison.gapped.search import gapped_neighbours

    cosine = opened_gapped(how.index or table, None if how.index is None else table)
    k, min_matches = _wanted(how), how.min_strength or _MIN_MATCHES
    for argument in asked:
        near = None
        if not argument.empty:
            near = gapped_neighbours(cosine, argument.phrase, k=k, min_matches=min_matches)
        if near is None:
            reason = "empty" if argument.empty else "not found in the index"
            _put_without_neighbours(argument, reason, several)
            continue
        for rank, other in enumerate(near, 1):
            scores = {"similarity": other.similarity, "count": other.matches}
            put_answer(argument.phrase, several, {"rank": rank, "answer": other.pattern, **scores})


def _put_beside(
    table: str, how: NeighbourOptions, asked: "list[PhraseArgument]", several: bool
) -> None:
    """Print what is near each phrase in two tables: of which, phrase, cosine in each."""
    from distsim.comparison.measures import reason_without_signature
    from distsim.comparison.nearest import NeighbourSearch, neighbours_of_both

    low, high = lengths_range(how.lengths) if how.lengths else (0, 0)
    searches = [
        NeighbourSearch(
            path,
            min_strength=how.min_strength,
            lengths=range(low, high + 1) if how.lengths else None,
            distinct=False if how.everything else None,
        )
        for path in (table, str(how.beside))
    ]
    for argument in asked:
        near = None
        if not argument.empty:
            near = neighbours_of_both(searches[0], searches[1], argument.phrase, k=_wanted(how))
        if not near:
            reason = (
                "empty"
                if argument.empty
                else reason_without_signature(searches[0].table, argument.phrase)
            )
            columns = dict.fromkeys(("of", "answer", "similarity_a", "similarity_b"))
            put_answer(argument.phrase, several, columns, reason=reason)
            continue
        for other in near:
            row = other._asdict()
            row["answer"] = row.pop("phrase")
            names = ("of", "answer", "similarity_a", "similarity_b")
            put_answer(argument.phrase, several, {name: row[name] for name in names})


def _wanted(how: NeighbourOptions) -> int:
    return _DEFAULT_K if how.k is None else how.k or ALL_ROWS


def _put_translations(
    table: str, how: NeighbourOptions, asked: "list[PhraseArgument]", several: bool
) -> None:
    """Print the target words of each phrase by a map: rank, word, cosine, strength."""
    from distsim.comparison.mapping import VectorMap

    opened = VectorMap.open(str(how.by_map), source=table)
    for argument in asked:
        translations = (
            None if argument.empty else opened.translations(argument.phrase, k=_wanted(how))
        )
        if translations is None:
            reason = "empty" if argument.empty else "not in the table, nor any of its words"
            _put_without_neighbours(argument, reason, several)
            continue
        for rank, other in enumerate(translations, 1):
            scores = {"similarity": other.similarity, "count": other.strength}
            put_answer(argument.phrase, several, {"rank": rank, "answer": other.phrase, **scores})
