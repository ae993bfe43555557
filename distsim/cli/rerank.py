"""`distsim rerank GRAMMAR -o OUT`: order or cut a grammar by a weighted sum of its features."""

from dataclasses import replace
from typing import Annotated

import typer

from distsim.cli.console import progress_bar, say
from distsim.cli.costs import lines_in
from distsim.cli.grammar_options import (
    EvidenceOptions,
    GrammarFileOptions,
    WeightOption,
    feature_weights,
)
from distsim.cli.groups import grouped
from distsim.cli.options import SetOption, chosen


@grouped
def rerank(
    grammar: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="Rules or a phrase table; - for stdin.")
    ],
    evidence: EvidenceOptions,
    files: GrammarFileOptions,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="Compressed if it ends in .gz, .zst."),
    ] = "-",
    weight: WeightOption = None,
    ppdb: Annotated[
        bool, typer.Option("--ppdb-cost", help="By the cost of PPDB; the smallest is best.")
    ] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Written by distsim rank: of features and of the sides themselves."
        ),
    ] = None,
    settings: SetOption = None,
) -> None:
    """Write a grammar's rules best first within each left-hand side and source."""
    from distsim.grammar.rerank import PPDB_COST, Ranking, rerank_grammar

    if (weights is not None) + ppdb + bool(weight) > 1:
        raise typer.BadParameter(
            "give one of --weight FEATURE=NUMBER, --ppdb-cost and --weights FILE"
        )
    given = PPDB_COST if ppdb else feature_weights(weight)
    nothing = {"": 0.0}  # until the file of weights is read
    (ranking,) = chosen(Ranking(given or nothing, ascending=ppdb), settings=settings)
    if not given:
        from distsim.cli.opened import pair_features
        from distsim.grammar.learned_weights import LearnedWeights, rule_order

        ranking = replace(
            ranking,
            weights={},
            learned=rule_order() if weights is None else LearnedWeights.read(weights),
            computed=pair_features(evidence.ngram, evidence.syntax, evidence.opposites),
        )
    with progress_bar("rules", lines_in(grammar)) as bar:
        report = rerank_grammar(
            grammar, output, ranking, on_error=files.on_error,
            grammar_format=files.grammar_format, progress=bar,
        )  # fmt: skip
    if not report.was_grouped:
        say("rules of one source were not together: the output is sorted by source")
    for line in report.lines():
        say(line)
