"""`distsim score GRAMMAR -o OUT`: adds similarities of its sides to each rule."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.arguments import Align, ScoreNames
from distsim.base.errors import ParameterError
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.costs import lines_in
from distsim.cli.options import EvidenceOptions, GrammarFileOptions, SetOption, chosen, grouped

if TYPE_CHECKING:
    from distsim.grammar.alignment import RuleAligner
    from distsim.grammar.scoring import RuleScorer, ScoreOptions


@dataclass(frozen=True)
class RuleSettings:
    """Settings of the command beside those of the library's options.

    Arguments:
        names: `ppdb` writes GoogleNgramSim and AGigaSim for sim_ngram and sim_syn.
        align: which rules get word links: those that lack them, all, or none.
        whole: also write sim_whole, the similarity of the whole sides without their gaps.
        rule: write sim_rule, one number by which any rules can be sorted, where --ngram is given.
    """

    names: ScoreNames = "distsim"
    align: Align = "missing"
    whole: bool = False
    rule: bool = True


@grouped
def score(
    grammar: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="Rules or a phrase table; - for stdin.")
    ],
    evidence: EvidenceOptions,
    files: GrammarFileOptions,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="Compressed if it ends in .gz, .zst."),
    ] = "-",
    gaps: Annotated[
        str | None,
        typer.Option(
            metavar="INDEX", help="Also write sim_gap: of the gaps' fillers in this signed index."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write the phrase pairs behind the scores here."),
    ] = None,
    settings: SetOption = None,
    jobs: JobsOption = None,
) -> None:
    """Write a grammar with the similarity of its rules' sides as further features."""
    from distsim.grammar.alignment import RuleAligner, TrainingOptions
    from distsim.grammar.score_file import score_grammar
    from distsim.grammar.score_writer import OutputOptions
    from distsim.grammar.scoring import ScoreOptions

    usual = OutputOptions(explain=explain)
    rules, options, writing, training = chosen(
        RuleSettings(), ScoreOptions(), usual, TrainingOptions(), settings=settings
    )
    scorer = _scorer(evidence, gaps, rules, options, RuleAligner(rules.align, training=training))
    with progress_bar("rules", lines_in(grammar)) as bar:
        report = score_grammar(
            grammar, output, scorer, options=writing, on_error=files.on_error,
            grammar_format=files.grammar_format, jobs=jobs, progress=bar,
        )  # fmt: skip
    for line in report.lines():
        say(line)


def _scorer(
    evidence: EvidenceOptions,
    gaps: str | None,
    settings: RuleSettings,
    options: "ScoreOptions",
    aligner: "RuleAligner",
) -> "RuleScorer":
    from distsim.cli.opened import opened_gapped, opened_opposites
    from distsim.comparison.table import SignatureTable
    from distsim.grammar.scoring import NAMES, RuleScorer

    ngram, opposites = evidence.ngram, evidence.opposites
    if ngram is None and evidence.syntax is None and opposites is None and gaps is None:
        raise typer.BadParameter(
            "name a table with --ngram, --syntax or both, or an index with --opposites or --gaps"
        )
    if settings.whole and ngram is None:
        raise typer.BadParameter("whole=true compares by a table: name it with --ngram")
    tables = [
        (name, SignatureTable.open(path))
        for name, path in zip(NAMES[settings.names], (ngram, evidence.syntax), strict=True)
        if path is not None
    ]
    if options.compose and not any(table.parts for _, table in tables):
        raise ParameterError(
            "compose=true: no table contains vectors of words: sign one with --preset learned"
        )
    return RuleScorer(
        tables,
        options=options,
        aligner=aligner,
        opposites=None if opposites is None else opened_opposites(opposites, ngram),
        whole=settings.whole,
        rule=settings.rule and ngram is not None,
        gapped=None if gaps is None else opened_gapped(gaps, ngram),
    )
