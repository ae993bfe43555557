"""`distsim evaluate TABLE GOLD...`: agreement of similarities with human judgements"""

import sys
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from distsim.base.errors import InputError
from distsim.cli.console import number, visible
from distsim.cli.options import EstimateOption, SetOption, chosen
from distsim.cli.rows import put_object

if TYPE_CHECKING:
    from distsim.comparison.measures import CosineName, Similarity
    from distsim.evaluation.correlations import Result
    from distsim.evaluation.gold import GoldSet


EvaluationMeasure = Literal["table", "exact", "both", "vectors", "all"]  # what measures similarity
Format = Literal["text", "tsv", "json"]  # how results are printed


@dataclass(frozen=True)
class EvaluateSettings:
    """Settings of `evaluate`.

    Arguments:
        seed: of bootstrap samples and random pairs.
    """

    seed: int = 1


_MEASURES: "dict[str, tuple[Literal['table'] | CosineName, ...]]" = {
    "table": ("table",),
    "exact": ("exact",),
    "both": ("table", "exact"),
    "vectors": ("vectors",),
    "all": ("table", "vectors", "exact"),
}


def evaluate(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE... GOLD...",
            help="Tables, or indexes that were signed; then files: scored pairs, judged pairs, "
            "synonyms.",
        ),
    ],
    by: Annotated[
        EvaluationMeasure,
        typer.Option(help="What the table stores, exact cosine, both, real vectors, or all three."),
    ] = "table",
    index: Annotated[
        str | None, typer.Option(metavar="INDEX", help="The index of exact and vectors.")
    ] = None,
    estimate: EstimateOption = None,
    antonyms: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Antonym pairs, to be separated from synonyms."),
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Only pairs that every table and measure has.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,SCORE", help="Columns of phrases and score, from 1."),
    ] = None,
    samples: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0: none.")] = 1000,
    output_format: Annotated[Format, typer.Option("--format", help="text, tsv or json.")] = (
        "text"
    ),
    settings: SetOption = None,
) -> None:
    """Print Spearman with its 95% interval, Pearson, pairs and coverage for each gold set.

    Results of several tables are in one table, each under the name of its folder.
    --set seed=N draws other samples and other random pairs.
    """
    from distsim.comparison.measures import cosine
    from distsim.comparison.table import SignatureTable
    from distsim.evaluation import correlations as engine
    from distsim.evaluation.correlations import signature_line
    from distsim.evaluation.gold import read_gold

    (drawn,) = chosen(EvaluateSettings(), settings=settings)
    seed, places = drawn.seed, chosen_columns(columns)
    tables, gold = _parted(sources)
    sets = [read_gold(path, columns=places) for path in gold]
    contrary = read_gold(antonyms) if antonyms is not None else None
    opened = [SignatureTable.open(table) for table in tables]
    measures: list[Similarity] = []
    for label, table in zip(_labels(tables), opened, strict=True):
        for name in _MEASURES[by]:
            measure = cosine(table, how=estimate if name == "table" else name, index=index)
            shown = label if name == "table" else f"{label}:{name}"
            measures.append(measure if len(tables) == 1 else engine.Named(shown, measure))
    if common:
        measures = engine.in_common(measures)
    results = engine.evaluate(sets, measures, antonyms=contrary, samples=samples, seed=seed)
    lines = [signature_line(table, samples, seed, estimate) for table in opened]
    if len(tables) > 1:
        lines = [f"{label}|{line}" for label, line in zip(_labels(tables), lines, strict=True)]
    _put_results(results, lines, output_format)
    _require_some(sets, results, " and ".join(tables))


def _put_results(results: "list[Result]", lines: list[str], output_format: Format) -> None:
    """Print results, then a line of settings for each table."""
    if output_format == "text":
        _print_text(results)
        for line in lines:
            print(visible(line, sys.stdout))
    elif output_format == "tsv":
        print("\t".join(results[0]._fields))
        for result in results:
            print("\t".join(visible(_cell(value), sys.stdout) for value in result))
        for line in lines:
            print("# " + visible(line, sys.stdout))
    else:
        for result in results:
            values = {name: _json(value) for name, value in result._asdict().items()}
            put_object(**values, signature="\n".join(lines))


def _parted(sources: list[str]) -> tuple[list[str], list[str]]:
    """Return (tables, gold sets): the leading folders, and the files after them."""
    n = 1
    while n < len(sources) and (Path(sources[n]) / "manifest.json").exists():
        n += 1
    if n == len(sources):
        raise typer.BadParameter("give one file of judged pairs or more after the tables")
    return sources[:n], sources[n:]


def _labels(tables: list[str]) -> list[str]:
    """Return the names of the tables' folders, or their paths where names are the same."""
    names = [Path(table).name or table for table in tables]
    return names if len(set(names)) == len(names) else tables


def _require_some(sets: "list[GoldSet]", results: "list[Result]", table: str) -> None:
    """Raise InputError if no pair of a gold set was found."""
    for gold in sets:
        mine = [one for one in results if one.gold == gold.name]
        if any(one.covered for one in mine):
            continue
        (a, b), columns = gold.pairs[0], ", ".join(map(str, gold.columns))
        raise InputError(
            f"{gold.name}: none of its {len(gold.pairs):,} pairs is known to {table}: columns "
            f"{columns} were read, first {a!r} and {b!r}: name the right ones with --columns "
            "A,B,SCORE, or a table of such text"
        )


def chosen_columns(text: str | None) -> tuple[int, int, int] | None:
    """Return the three numbers of --columns, None where it was not given.

    Arguments:
        text: as typed: `1,2,3`.
    """
    if text is None:
        return None
    try:
        first, second, score = (int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}: give three column numbers such as 1,2,4") from None
    if min(first, second, score) < 1:
        raise typer.BadParameter(f"{text!r}: columns are counted from 1")
    return first, second, score


def _print_text(results: "list[Result]") -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for name in ("gold", "measure", "statistic"):
        shown.add_column(name)
    for name in ("value", "95% interval", "pearson", "pairs", "covered", "composed"):
        shown.add_column(name, justify="right")
    for one in results:
        interval = "NA" if isnan(one.low) else f"{one.low:.3f} {one.high:.3f}"
        coverage = f"{one.covered / one.pairs:.1%}" if one.pairs else "NA"
        shown.add_row(
            visible(one.gold, sys.stdout), one.measure, one.statistic, _short(one.value), interval,
            _short(one.pearson), f"{one.pairs:,}", coverage, f"{one.composed:,}",
        )  # fmt: skip
    Console(width=120, highlight=False).print(shown)


def _short(value: float) -> str:
    return "NA" if isnan(value) else f"{value:.3f}"


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return number(None if isnan(value) else value)


def _json(value: Any) -> Any:
    return None if isinstance(value, float) and isnan(value) else value
