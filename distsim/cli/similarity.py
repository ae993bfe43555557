"""`distsim similarity TABLE A B`: the similarity of two phrases, or of pairs in a file."""

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.errors import InputError, ParameterError
from distsim.cli.console import JsonOption, number, put, put_json, read_lines, say, say_left_out
from distsim.cli.options import EstimateOption

if TYPE_CHECKING:
    from distsim.comparison.opposites.opposites import OppositeEvidence


def similarity(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    a: Annotated[str | None, typer.Argument(metavar="A")] = None,
    b: Annotated[str | None, typer.Argument(metavar="B")] = None,
    pairs: Annotated[
        str | None, typer.Option(metavar="FILE", help="Pairs a<TAB>b, one a line; - for stdin.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Cosine of the contexts themselves, from the index.")
    ] = False,
    index: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The index that --exact and --opposite count in."),
    ] = None,
    estimate: EstimateOption = None,
    opposite: Annotated[
        bool,
        typer.Option(
            "--opposite", help="Also print whether they are opposites, by patterns in the index."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the similarity of two phrases.

    Prints one number, or a<TAB>b<TAB>similarity for every pair of a file. With --opposite a score
    of opposites follows, the higher the likelier, and `opposite` where it is as high as that of
    known opposites. One more column says `composed` where a phrase is not in the table and was made
    of its words.
    """
    from distsim.cli.opened import exact_cosine, opened_opposites
    from distsim.comparison.measures import EstimatedCosine
    from distsim.comparison.table import SignatureTable

    if exact and estimate is not None:
        raise typer.BadParameter("--exact counts contexts, --estimate reads the table: choose one")
    single, asked = _asked_pairs(a, b, pairs)
    opened = SignatureTable.open(table)
    filled = [pair for pair in asked if pair[0].strip() and pair[1].strip()]
    measure: Any = EstimatedCosine(opened, estimate=estimate)
    if exact:
        measure = exact_cosine(opened, table, index)
    values = iter(measure.estimates(filled))
    evidence = iter(opened_opposites(index or table, table).evidence(filled) if opposite else ())
    n_composed = 0
    missing: Counter[str] = Counter()
    for first, second in asked:
        empty = not (first.strip() and second.strip())
        value, composed = (None, False) if empty else next(values)
        n_composed += composed
        found = next(evidence) if opposite and not empty else None
        reason = None if value is not None else _reason(opened, first, second, exact)
        if reason is not None:
            missing[reason] += 1
        if as_json:
            more = {"opposite": found._asdict() if found else None} if opposite else {}
            put_json(a=first, b=second, similarity=value, reason=reason, composed=composed, **more)
        else:
            columns = _opposite_columns(found) if opposite else []
            columns += ["composed"] if composed else []
            put(*([] if single else [first, second]), number(value), *columns)
    _say_totals(n_composed, missing, 0 if single else len(asked))
    if n_composed:
        say_left_out(opened, chain(*filled))


def _say_totals(n_composed: int, missing: "Counter[str]", n_pairs: int) -> None:
    """Say how many pairs were composed or have no similarity; n_pairs is 0 for a single pair."""
    of_all = f" of {n_pairs:,} pairs" if n_pairs else ""
    if n_composed:
        say(f"composed of its words: a phrase in {n_composed:,}{of_all or ' pair'}")
    for reason, times in missing.most_common(10):
        say(f"NA: {reason}" + (f": {times:,}{of_all}" if n_pairs else ""))


def _opposite_columns(found: "OppositeEvidence | None") -> list[str]:
    """Return the score of a pair as opposites, and `opposite` where it is high enough."""
    if found is None:
        return [number(None)]
    return [number(found.score), *(["opposite"] if found.opposite else [])]


def _asked_pairs(
    a: str | None, b: str | None, pairs: str | None
) -> tuple[bool, list[tuple[str, str]]]:
    """Return whether one pair was given as arguments, and all pairs that are asked for."""
    single = a is not None and b is not None
    if single == (pairs is not None) or (a is not None and b is None):
        raise typer.BadParameter("give two phrases, or a file of pairs with --pairs")
    if pairs is not None:
        return False, _read_pairs(pairs)
    asked = (a or "", b or "")
    if not all(phrase.strip() for phrase in asked):
        raise ParameterError("a phrase is empty: give at least one word for each")
    return True, [asked]


def _reason(table, a: str, b: str, exact: bool) -> str:  # type: ignore[no-untyped-def]
    from distsim.comparison.measures import reason_without_signature

    if not (a.strip() and b.strip()):
        return "empty phrase"
    if exact:
        return "no context in the index"
    first, second = table.find([a, b]).tolist()
    reasons = [
        f"{phrase!r} is {reason_without_signature(table, phrase)}"
        for phrase, row in ((a, first), (b, second))
        if row < 0
    ]
    return ", ".join(reasons)


def _read_pairs(path: str) -> list[tuple[str, str]]:
    asked = []
    for line, text in enumerate(read_lines(path), 1):
        columns = text.split("\t")
        if len(columns) < 2:
            raise InputError(
                f"{path}, line {line}: one column, expected two phrases separated by a tab"
            )
        asked.append((columns[0], columns[1]))
        if not columns[0].strip() or not columns[1].strip():
            say(f"{path}, line {line}: a phrase is empty: NA")
    return asked
