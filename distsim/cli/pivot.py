"""`distsim pivot GRAMMAR -o OUT`: translation grammar to paraphrase grammar."""

from typing import Annotated

import typer

from distsim.base.choices import Columns, Identities, LabelFree, RarityRule, Scale
from distsim.cli.console import JobsOption, progress_bar, put, say
from distsim.cli.grammar_options import FormatOption, OnErrorOption
from distsim.cli.options import MemoryOption


def pivot(
    grammars: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAMMAR",
            help="Rules, a phrase table, or numbers from extract, also several; - for stdin.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Packed if it ends in .gz.")
    ] = "-",
    e_given_f: Annotated[
        str | None,
        typer.Option(metavar="FEATURE", help="p(e|f) within a label: its name, or place from 0."),
    ] = None,
    f_given_e: Annotated[
        str | None,
        typer.Option(metavar="FEATURE", help="p(f|e); uniform where not named and not found."),
    ] = None,
    rarity: Annotated[
        str | None, typer.Option(metavar="FEATURE", help="The rarity penalty.")
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FEATURE",
            help="Another column by PPDB's name, as 'p(LHS|e)=5'; found by itself if named so.",
        ),
    ] = None,
    columns: Annotated[
        Columns | None,
        typer.Option(help="p(e,LHS|f), or p(e|f,LHS); told by their sums where not given."),
    ] = None,
    scale: Annotated[
        Scale | None,
        typer.Option(help="How the grammar writes its probabilities; negative-log for rules."),
    ] = None,
    identities: Annotated[
        Identities, typer.Option(help="Rules with equal sides: drop, or mark by Identity=1.")
    ] = "drop",
    min_rule: Annotated[
        float, typer.Option(help="Drop translation rules with p(e|f) or p(f|e) below.")
    ] = 0.0,
    min_link: Annotated[
        float, typer.Option(help="Drop links with p(e2|f) p(f|e1) or the reverse below.")
    ] = 0.0,
    min_sum: Annotated[
        float,
        typer.Option(
            "--min-sum",
            "--min-probability",
            help="Drop paraphrases with p(e2|e1) or reverse below.",
        ),
    ] = 0.0,
    max_translations: Annotated[
        int | None,
        typer.Option(
            help="Of each label and foreign side, the most probable; 0: all. By default all of "
            "text, 50 of numbers."
        ),
    ] = None,
    rarity_rule: Annotated[
        RarityRule, typer.Option(help="Of several links: the least, or that of their counts added.")
    ] = "minimum",
    label_free: Annotated[
        LabelFree, typer.Option(help="p(e|f) sums over all foreign sides, or those of the rule.")
    ] = "all",
    why: Annotated[
        str | None,
        typer.Option(
            metavar="'E1 ||| E2'",
            help="Of numbers: show the foreign sides that make these two paraphrases, and no more.",
        ),
    ] = None,
    grammar_format: FormatOption = None,
    memory: MemoryOption = "128M",  # type: ignore[assignment]
    on_error: OnErrorOption = "stop",
    jobs: JobsOption = None,
) -> None:
    """Pair English sides that share a label and a foreign side: paraphrase rules."""
    from pathlib import Path

    numeric = all(Path(grammar).is_dir() for grammar in grammars)
    if len(grammars) > 1 and not numeric:
        raise typer.BadParameter("one grammar at a time: only numbers of extract can be joined")
    if why is not None:
        if not numeric:
            raise typer.BadParameter("--why looks into the numbers that extract --numeric writes")
        _explain(grammars, why)
        return
    from distsim.grammar.pivot import PivotOptions, pivot_grammar

    named = dict(map(_feature, feature or ()))
    shortcuts = {"p(e|f)": e_given_f, "p(f|e)": f_given_e, "RarityPenalty": rarity}
    named |= {name: column for name, column in shortcuts.items() if column is not None}
    options = PivotOptions(
        features=named,
        columns=columns,
        scale=scale,
        identities=identities,
        min_rule=min_rule,
        min_link=min_link,
        min_sum=min_sum,
        max_translations=(50 if numeric else 0) if max_translations is None else max_translations,
        rarity_rule=rarity_rule,
        label_free=label_free,
    )
    with progress_bar() as bar:
        if numeric:
            from distsim.grammar.extraction.pivoting import pivot_rules

            report = pivot_rules(
                grammars, output, options, jobs=jobs, memory_bytes=memory, progress=bar
            )
        else:
            report = pivot_grammar(
                grammars[0], output, options, on_error=on_error,
                grammar_format=grammar_format, jobs=jobs, memory_bytes=memory, progress=bar,
            )  # fmt: skip
    for line in report.lines():
        say(line)


def _explain(rules: list[str], pair: str) -> None:
    """Print foreign side, label, its part of the sum, both counts, bitexts; the best first."""
    from distsim.grammar.extraction.joining import read_rules
    from distsim.grammar.extraction.pivoting import evidence_for

    source, bar, target = pair.partition("|||")
    if not bar or not source.strip() or not target.strip():
        raise typer.BadParameter(f"--why {pair!r}: give both sides, as 'in spite of ||| despite'")
    found = evidence_for(read_rules(rules), source.strip(), target.strip())
    for one in found:
        put(one.foreign, one.label, f"{one.p:.6f}", one.source_count, one.target_count, one.bitexts)
    if not found:
        say(f"{pair}: no foreign side has both as translations under one label")


def _feature(text: str) -> tuple[str, str]:
    name, separator, column = text.rpartition("=")
    if not separator or not name or not column:
        raise typer.BadParameter(f"--feature {text!r}: give NAME=FEATURE, as 'p(LHS|e)=5'")
    return name, column
