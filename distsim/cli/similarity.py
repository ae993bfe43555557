"""`distsim similarity TABLE A B`: how alike are two phrases?"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.errors import InputError, ParameterError
from distsim.cli.console import JsonOption, number, put, put_json, read_lines, say
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
            "--opposite", help="Also tell whether they are opposites, by patterns in the index."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell how alike two phrases are.

    Prints one number, or a<TAB>b<TAB>similarity for every pair of a file. With --opposite a score
    of opposites follows, the higher the likelier, and `opposite` where it is as high as theirs. One
    more column says
    `composed` where a phrase is not in the table and was made of its words.
    """
    from distsim.cli.opened import exact_cosine
    from distsim.comparison import measures as engine
    from distsim.comparison.table import SignatureTable

    single = a is not None and b is not None
    if exact and estimate is not None:
        raise typer.BadParameter("--exact counts contexts, --estimate reads the table: choose one")
    if single == (pairs is not None) or (a is not None and b is None):
        raise typer.BadParameter("give two phrases, or a file of pairs with --pairs")
    opened = SignatureTable.open(table)
    asked = [(a or "", b or "")] if pairs is None else _read_pairs(pairs)
    if single and not all(phrase.strip() for phrase in asked[0]):
        raise ParameterError("a phrase is empty: give at least one word for each")
    filled = [pair for pair in asked if pair[0].strip() and pair[1].strip()]
    if exact:
        cosines = exact_cosine(opened, table, index).similarities(filled)
        values = iter([engine.Estimate(value) for value in cosines])
    else:
        values = iter(engine.EstimatedCosine(opened, estimate=estimate).estimates(filled))
    told: Iterator[OppositeEvidence | None] = iter(())
    if opposite:
        from distsim.cli.opened import opened_opposites

        told = iter(opened_opposites(index or table, table).evidence(filled))
    n_composed = 0
    missing: Counter[str] = Counter()
    for first, second in asked:
        empty = not (first.strip() and second.strip())
        value, composed = (None, False) if empty else next(values)
        n_composed += composed
        mark = ["composed"] if composed else []
        found = next(told) if opposite and not empty else None
        if opposite:
            is_opposite = ["opposite"] if found and found.opposite else []
            mark = [number(found.score if found else None), *is_opposite, *mark]
        reason = None
        if value is None:
            reason = "empty phrase" if empty else _reason(opened, first, second, exact)
            missing[reason] += 1
        if as_json:
            more = {"opposite": found._asdict() if found else None} if opposite else {}
            put_json(a=first, b=second, similarity=value, reason=reason, composed=composed, **more)
        elif single:
            put(number(value), *mark)
        else:
            put(first, second, number(value), *mark)
    if n_composed:
        say(
            f"composed: {n_composed:,} of {len(asked):,} pairs have a phrase that is not in the "
            "table and was made of its words"
        )
    for reason, times in missing.most_common(10):
        say(f"NA: {reason}" + ("" if single else f": {times:,} of {len(asked):,} pairs"))


def _reason(table, a: str, b: str, exact: bool) -> str:  # type: ignore[no-untyped-def]
    from distsim.comparison.measures import reason_without_signature

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
                f"{path}, line {line}: one column, wanted two phrases parted by a tab: add the tab"
            )
        asked.append((columns[0], columns[1]))
        if not columns[0].strip() or not columns[1].strip():
            say(f"{path}, line {line}: a phrase is empty: NA")
    return asked
