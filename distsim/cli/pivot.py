"""`distsim pivot GRAMMAR -o OUT`: paraphrase rules from translation rules."""

from typing import Annotated

import typer

from distsim.base.choices import Columns
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.grammar_options import GrammarFileOptions
from distsim.cli.groups import grouped
from distsim.cli.options import FineSettings, MemoryOption
from distsim.cli.rows import lists_rows, put_row

_MOST_OF_NUMBERS = 50  # translations of a label and foreign side, of numeric rules


@lists_rows
@grouped
def pivot(
    grammar: Annotated[
        str,
        typer.Argument(
            metavar="GRAMMAR",
            help="Rules, a phrase table, or a folder of extract --numeric; - for stdin.",
        ),
    ],
    files: GrammarFileOptions,
    fine: FineSettings,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="Compressed if it ends in .gz, .zst."),
    ] = "-",
    columns: Annotated[
        Columns | None,
        typer.Option(help="p(e,LHS|f), or p(e|f,LHS); inferred from their sums where not given."),
    ] = None,
    why: Annotated[
        str | None,
        typer.Option(
            metavar="'E1 ||| E2'",
            help="Of numeric rules: only show the foreign sides that these paraphrases share.",
        ),
    ] = None,
    memory: MemoryOption = "128M",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Pair English sides that share a label and a foreign side: paraphrase rules."""
    from pathlib import Path

    from distsim.grammar.pivot import PivotOptions, pivot_grammar

    numeric = bool(grammar) and Path(grammar).is_dir()
    usual = PivotOptions(max_translations=_MOST_OF_NUMBERS if numeric else 0)
    (options,) = fine.chosen(usual, columns=columns)
    if why is not None:
        if not numeric:
            raise typer.BadParameter("--why looks into the numbers that extract --numeric writes")
        _explain(grammar, why)
        return
    with progress_bar() as bar:
        if numeric:
            from distsim.grammar.extraction.pivoting import pivot_rules

            report = pivot_rules(grammar, output, options, jobs=jobs, memory=memory, progress=bar)
        else:
            report = pivot_grammar(
                grammar, output, options=options, on_error=files.on_error,
                grammar_format=files.grammar_format, jobs=jobs, memory=memory, progress=bar,
            )  # fmt: skip
    for line in report.lines():
        say(line)


def _explain(rules: str, pair: str) -> None:
    """Print pivot, left-hand side, share of the sum, both counts, bitexts; the best first."""
    from distsim.grammar.extraction.numeric import NumericRules
    from distsim.grammar.extraction.pivoting import evidence_for

    source, bar, target = pair.partition("|||")
    if not bar or not source.strip() or not target.strip():
        raise typer.BadParameter(f"--why {pair!r}: give both sides, as 'in spite of ||| despite'")
    found = evidence_for(NumericRules(rules), source.strip(), target.strip())
    for one in found:
        counts = {"source_count": one.source_count, "target_count": one.target_count}
        put_row({"pivot": one.foreign, "label": one.label, "p": one.p, **counts,
                 "bitexts": one.bitexts})  # fmt: skip
    if not found:
        say(f"{pair}: no foreign side has both as translations under one label")
