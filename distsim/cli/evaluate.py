"""`distsim evaluate`, `evaluate-sentences` and `judge`: measures against judgements of people."""

import sys
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from distsim.base.errors import InputError, counted
from distsim.cli.console import number, say, visible
from distsim.cli.options import AsIsOption, EstimateOption, OptionGroup, SetOption, chosen, grouped
from distsim.cli.rows import lists_rows, put_object, put_row

if TYPE_CHECKING:
    from distsim.comparison.measures import CosineName, Similarity
    from distsim.evaluation.correlations import Result
    from distsim.evaluation.gold import GoldSet
    from distsim.evaluation.rewritings import System, SystemRow


@dataclass(frozen=True)
class SentenceSettings:
    """Settings of `evaluate-sentences`.

    Arguments:
        phi: the compression that PRECIS asks for.
        seed: of bootstrap samples.
    """

    phi: float = 0.75
    seed: int = 1


@dataclass
class MeasureOptions(OptionGroup):
    """The references and measures of rewritten sentences."""

    references: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="What people wrote; repeat it.")
    ] = None
    index: Annotated[
        str | None, typer.Option(metavar="INDEX", help="Also ln p a word, by this index.")
    ] = None
    ter: Annotated[bool, typer.Option("--ter", help="TER too, which is slow.")] = False
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare with it.  [default: copy]")
    ] = None
    samples: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0: none.")] = 1000


@grouped
def evaluate_sentences(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE SYSTEM...",
            help="Sentences, and what systems made of them, line by line.",
        ),
    ],
    how: MeasureOptions,
    output_format: Annotated[
        Literal["tsv", "json"], typer.Option("--format", help="json has all intervals.")
    ] = "tsv",
    settings: SetOption = None,
    as_is: AsIsOption = False,
) -> None:
    """Print measures of rewritten sentences.

    Corpus-level SARI (add, keep, delete), the mean SARI of sentences, BLEU, chrF, PRECIS, words to
    the source's, words kept, edits of words, pairs in another order; always beside copying,
    nonsense for the longest word, truncation and deletion to the same lengths, and one person
    against the others. --set changes phi and seed.
    """
    from distsim.cli.opened import language_model
    from distsim.evaluation.rewriting_scores import SARI_SIGNATURE
    from distsim.evaluation.rewritings import (
        COPY,
        MEASURES,
        Evaluation,
        controls,
        one_person,
    )

    (fine,) = chosen(SentenceSettings(), settings=settings)
    sentences, people, mine = _read_files(files, how.references or [], as_is)
    n = len(sentences)
    model = language_model(how.index) if how.index is not None else None
    baseline = how.baseline or COPY
    evaluation = Evaluation(
        sentences, people, phi=fine.phi, ter=how.ter,
        log_probability=None if model is None else model.log_probability,
    )  # fmt: skip
    everything = [*controls(sentences, mine, fine.seed), *mine]
    rows = list(evaluation.rows(everything, baseline=baseline, samples=how.samples, seed=fine.seed))
    if len(people) > 1:
        rows.append(one_person(sentences, people))
    signature = (
        f"{SARI_SIGNATURE}|sentences:{n}|references:{len(people)}|precis:{fine.phi:g}|baseline:{baseline}"
        f"|samples:{how.samples}|seed:{fine.seed}"
    )
    if output_format == "json":
        _put_json_rows(rows, signature)
        return
    left_out = {name for name, there in (("LM", how.index), ("TER", how.ter)) if not there}
    _put_rows(rows, [name for name in MEASURES if name not in left_out], how.samples > 0)
    print(f"# {signature}")


def _put_json_rows(rows: "list[SystemRow]", signature: str) -> None:
    for row in rows:
        differences = {name: list(interval) for name, interval in row.differences.items()}
        put_object(system=row.name, **row.values, differences=differences, signature=signature)


def _read_files(
    files: list[str], references: list[str], as_is: bool
) -> "tuple[list[str], list[list[str]], list[System]]":
    """Return the source's sentences, people's rewritings of them, and the systems with theirs."""
    from distsim.evaluation.rewritings import System, read_sentences

    source, *systems = files
    if not systems:
        raise typer.BadParameter("give the source's sentences, then those of a system or more")
    if not references:
        raise typer.BadParameter("name files of references: --references FILE, one or more")
    sentences = read_sentences(source, as_is=as_is)
    n = len(sentences)
    people = [read_sentences(path, n, as_is) for path in references]
    names = [Path(path).name for path in systems]
    if len(set(names)) < len(names):
        names = list(systems)
    mine = [
        System(name, read_sentences(path, n, as_is))
        for name, path in zip(names, systems, strict=True)
    ]
    return sentences, people, mine


def _put_rows(rows: "list[SystemRow]", shown: list[str], differences: bool) -> None:
    print("\t".join(["system", *shown, *(("SARI-", "p") if differences else ())]))
    for row in rows:
        digits = {"ratio": 3, "kept": 3, "edits": 3, "moved": 3, "LM": 3}
        cells = [
            f"{row.values[name]:.{digits.get(name, 2)}f}" if name in row.values else ""
            for name in shown
        ]
        if differences:
            difference = row.differences.get("SARI")
            gap = difference and [f"{difference[0]:+.2f}", f"{difference[3]:.3f}"]
            cells += gap or ["", ""]
        print("\t".join([visible(row.name, sys.stdout), *cells]))


def forms(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE SYSTEM...", help="Sentences or phrases, and what systems made of them."
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FOLDER", help="For the forms.")],
    questions: Annotated[
        str, typer.Option(metavar="NAME,...", help="meaning, grammar, rating.")
    ] = "meaning,grammar",
    settings: SetOption = None,
    as_is: AsIsOption = False,
) -> None:
    """Write judge.csv, judge.html and key.csv, with hidden controls in random order.

    Controls: a copy and nonsense for each fifth source, random deletion to the length of the first
    system. Judges must not see key.csv. --set changes deletion and seed.
    """
    from distsim.evaluation.judging import FormSettings, write_forms
    from distsim.evaluation.rewritings import System, read_sentences

    (how,) = chosen(FormSettings(), settings=settings)
    source, *systems = files
    if not systems:
        raise typer.BadParameter("give the source's sentences, then those of a system or more")
    sentences = read_sentences(source, as_is=as_is)
    read_systems = [
        System(Path(path).name, read_sentences(path, len(sentences), as_is)) for path in systems
    ]
    n = write_forms(
        sentences, read_systems, output, questions=questions.split(","), deletion=how.deletion,
        seed=how.seed,
    )  # fmt: skip
    say(f"{counted(n, 'line')} to judge: {output}/judge.csv, or {output}/judge.html in a browser")


@lists_rows
def read(
    key: Annotated[str, typer.Argument(metavar="KEY", help="key.csv of the forms.")],
    sheets: Annotated[list[str], typer.Argument(metavar="SHEET...", help="One of each judge.")],
    baseline: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="Also print differences from this system.")
    ] = None,
) -> None:
    """Print system<TAB>question<TAB>marks<TAB>mean<TAB>low<TAB>high of judged forms.

    With a 95% interval, sources resampled; --baseline adds difference<TAB>low<TAB>high. Behind the
    systems a line for each question: how judges agree, by Krippendorff's alpha (ordinal) and the
    mean kappa (quadratic weights) of two.
    """
    from distsim.evaluation.judging import read_forms

    judged = read_forms(key, sheets, baseline=baseline)
    columns = ("difference", "difference_low", "difference_high")
    for row in judged.rows:
        put_row(
            {"system": row.system, "question": row.question, "marks": row.n, "mean": row.mean,
             "low": row.low, "high": row.high}
            | dict(zip(columns, row.difference, strict=False))
        )  # fmt: skip
    for question in judged.agreement if len(sheets) > 1 else ():
        say(
            f"{question.question}: alpha {question.alpha:.3f}, kappa {question.kappa:.3f}, "
            f"{counted(question.n, 'line')} with two marks or more"
        )
    for sheet in judged.doubtful:
        say(f"{sheet}: its marks of copies are not above those of nonsense: leave it out")


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
        mine = [result for result in results if result.gold == gold.name]
        if any(result.covered for result in mine):
            continue
        (a, b), columns = gold.pairs[0], ", ".join(map(str, gold.columns))
        raise InputError(
            f"{gold.name}: none of its {counted(len(gold.pairs), 'pair')} is known to "
            f"{table}: columns "
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
    for result in results:
        interval = "NA" if isnan(result.low) else f"{result.low:.3f} {result.high:.3f}"
        coverage = f"{result.covered / result.pairs:.1%}" if result.pairs else "NA"
        shown.add_row(
            visible(result.gold, sys.stdout), result.measure, result.statistic,
            _short(result.value), interval, _short(result.pearson), f"{result.pairs:,}", coverage,
            f"{result.composed:,}",
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
