"""`distsim rerank GRAMMAR -o OUT`: order or cut a grammar by a mix of its features."""

from typing import Annotated

import typer

from distsim.cli.console import progress_bar, say
from distsim.cli.grammar_options import FormatOption, OnErrorOption
from distsim.cli.options import MemoryOption, OppositesOption


def rerank(
    grammar: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="Rules or a phrase table; - for stdin.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Packed if it ends in .gz.")
    ] = "-",
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            "-w",
            metavar="FEATURE=NUMBER",
            help="Part of the sum; by name, or position from 0. The largest sum is best.",
        ),
    ] = None,
    ppdb: Annotated[
        bool, typer.Option("--ppdb-cost", help="By the cost of PPDB; the smallest is best.")
    ] = False,
    ascending: Annotated[
        bool, typer.Option("--ascending", help="The smallest sum is best.")
    ] = False,
    top: Annotated[
        int, typer.Option(min=0, help="Of each left-hand side and source, so many; 0: all.")
    ] = 0,
    worst: Annotated[
        float | None, typer.Option(metavar="SUM", help="Cut rules with a worse sum.")
    ] = None,
    missing: Annotated[
        float | None, typer.Option(help="Stands for features that are not there or NA.")
    ] = None,
    write: Annotated[
        str | None, typer.Option(metavar="FEATURE", help="Write the sum as this feature.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Learnt by distsim rank: of features and of the sides themselves."
        ),
    ] = None,
    ngram: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For --weights that know of a table.")
    ] = None,
    syntax: Annotated[
        str | None, typer.Option(metavar="TABLE", help="The same, a syntactic one.")
    ] = None,
    opposites: OppositesOption = None,
    grammar_format: FormatOption = None,
    memory: MemoryOption = "128M",  # type: ignore[assignment]
    on_error: OnErrorOption = "stop",
) -> None:
    """Write a grammar's rules best first within each left-hand side and source."""
    from distsim.grammar.rerank import PPDB_COST, Ranking, rerank_grammar

    if (weights is not None) + ppdb + bool(weight) != 1:
        raise typer.BadParameter(
            "give --weight FEATURE=NUMBER, once or more, or --ppdb-cost, or --weights FILE"
        )
    given = PPDB_COST if ppdb else dict(map(_weight, weight or ()))
    learnt = computed = None
    if weights is not None:
        from distsim.cli.opened import pair_features
        from distsim.grammar.learnt_weights import LearntWeights

        learnt = LearntWeights.read(weights)
        computed = pair_features(ngram, syntax, opposites)
    ranking = Ranking(
        given,
        learnt=learnt,
        computed=computed,
        ascending=ppdb or ascending,
        top=top,
        missing=missing,
        worst=worst,
        write=write,
    )
    with progress_bar() as bar:
        report = rerank_grammar(
            grammar, output, ranking, on_error=on_error, grammar_format=grammar_format,
            run_bytes=memory, progress=bar,
        )  # fmt: skip
    if not report.was_grouped:
        say("rules of one source did not stand together: the output is sorted by source")
    for line in report.lines():
        say(line)


def _weight(text: str) -> tuple[str, float]:
    from distsim.corpus.numbers import plain_number

    name, _, value = text.rpartition("=")
    number = plain_number(value)
    if not name or number is None:
        raise typer.BadParameter(f"--weight {text!r}: give FEATURE=NUMBER, as sim_ngram=2 or 0=-1")
    return name, number
