"""`distsim score GRAMMAR -o OUT`: distributional features for every rule."""

from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.choices import Align, Aligner, Identical
from distsim.base.choices import FeatureStyle as Style
from distsim.base.choices import ScoreNames as Names
from distsim.base.errors import ParameterError
from distsim.cli.console import JobsOption, number, progress_bar, put, say
from distsim.cli.grammar_options import FormatOption, OnErrorOption
from distsim.cli.options import EstimateOption, OppositesOption

if TYPE_CHECKING:
    from distsim.grammar.scoring import RuleScorer


def score(
    grammar: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="Rules or a phrase table; - for stdin.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Packed if it ends in .gz.")
    ] = "-",
    ngram: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For sim_ngram: a table or signed index.")
    ] = None,
    syntax: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For sim_syn: another table.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Cosines of the contexts themselves, from the index.")
    ] = False,
    index: Annotated[
        str | None, typer.Option(metavar="INDEX", help="The index that --exact counts in.")
    ] = None,
    align: Annotated[
        Align, typer.Option(help="Link words of rules without links, of all rules, of none.")
    ] = "missing",
    aligner: Annotated[
        Aligner, typer.Option(help="evidence: like words only; learnt: the rest too.")
    ] = "learnt",
    align_sample: Annotated[
        int, typer.Option(min=1, help="Rules that links are learnt from, at most.")
    ] = 20_000,
    names: Annotated[Names, typer.Option(help="ppdb: GoogleNgramSim and AGigaSim.")] = "distsim",
    style: Annotated[
        Style, typer.Option("--features", help="name=value or bare values; auto: as the input.")
    ] = "auto",
    coverage: Annotated[
        bool, typer.Option(help="Write the share of phrase pairs that were scored, too.")
    ] = True,
    missing: Annotated[
        str, typer.Option(help="Stands for a score that is not there, among bare values.")
    ] = "NA",
    identical: Annotated[
        Identical, typer.Option(help="Pairs of identical phrases count 1, or are left out.")
    ] = "one",
    min_strength: Annotated[
        int, typer.Option(min=0, help="Only phrases with so many occurrences.")
    ] = 0,
    compose: Annotated[
        bool,
        typer.Option(
            "--compose", help="Make phrases that a learnt table lacks of their words' vectors."
        ),
    ] = False,
    estimate: EstimateOption = None,
    opposites: OppositesOption = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="Also write sim_whole: of the whole sides, gaps left out, by --ngram."
        ),
    ] = False,
    gaps: Annotated[
        str | None,
        typer.Option(
            metavar="INDEX", help="Also write sim_gap: of what fills the gaps in this signed index."
        ),
    ] = None,
    grammar_format: FormatOption = None,
    on_error: OnErrorOption = "stop",
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print line<TAB>feature<TAB>phrase<TAB>phrase<TAB>similarity<TAB>why "
            "instead of the grammar.",
        ),
    ] = False,
    jobs: JobsOption = None,
) -> None:
    """Write a grammar with the similarity of its rules' sides as further features."""
    from distsim.grammar.score_file import explain_grammar, score_grammar
    from distsim.grammar.score_writer import OutputOptions
    from distsim.grammar.training import TrainingOptions

    scorer = _scorer(ngram, syntax, exact, index, align, names, identical,
                     min_strength, compose, estimate, opposites, whole, gaps)  # fmt: skip
    training = TrainingOptions(aligner, align_sample)
    if explain:
        explained = explain_grammar(
            grammar, scorer, training=training, on_error=on_error,
            grammar_format=grammar_format,
        )  # fmt: skip
        for pair in explained:
            put(pair.line, pair.name, pair.source, pair.target, number(pair.similarity), pair.why)
        return
    options = OutputOptions(style, coverage, missing)
    with progress_bar() as bar:
        report = score_grammar(
            grammar, output, scorer, options=options, training=training, on_error=on_error,
            grammar_format=grammar_format, jobs=jobs, progress=bar,
        )  # fmt: skip
    for line in report.lines():
        say(line)


def _scorer(
    ngram: str | None, syntax: str | None, exact: bool, index: str | None, align: str,
    names: str, identical: str, min_strength: int, compose: bool, estimate: str | None,
    opposites: str | None, whole: bool, gaps: str | None,
) -> "RuleScorer":  # fmt: skip
    from distsim.cli.opened import exact_cosine, opened_gapped, opened_opposites
    from distsim.comparison.table import SignatureTable
    from distsim.grammar.alignment import RuleAligner
    from distsim.grammar.scoring import NAMES, RuleScorer, ScoreOptions

    if ngram is None and syntax is None and opposites is None and gaps is None:
        raise typer.BadParameter(
            "name a table with --ngram, --syntax or both, or an index with --opposites or --gaps"
        )
    if whole and ngram is None:
        raise typer.BadParameter("--whole is told by a table: name it with --ngram")
    tables, counters = [], []
    for name, path in zip(NAMES[names], (ngram, syntax), strict=True):
        if path is not None:
            table = SignatureTable.open(path)
            tables.append((name, table))
            counters.append(exact_cosine(table, path, index) if exact else None)
    if compose and exact:
        raise typer.BadParameter("--compose makes vectors, --exact counts contexts: choose one")
    if compose and not any(table.parts for _, table in tables):
        raise ParameterError(
            "--compose: no table keeps vectors of words: sign one with --preset learnt"
        )
    if exact and estimate is not None:
        raise typer.BadParameter("--exact counts contexts, --estimate reads tables: choose one")
    options = ScoreOptions(
        identical,  # type: ignore[arg-type]
        min_strength,
        compose=compose,
        estimate=estimate,
    )
    return RuleScorer(
        tables,
        options,
        counters,
        RuleAligner(align),  # type: ignore[arg-type]
        opposites=None if opposites is None else opened_opposites(opposites, ngram),
        whole=whole,
        gapped=None if gaps is None else opened_gapped(gaps, ngram),
    )
