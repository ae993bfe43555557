"""`distsim pack GRAMMAR -o FOLDER`: packs of several sizes; `distsim rules FOLDER` queries them."""

from typing import Annotated

import typer

from distsim.cli.console import (
    InputOption,
    JobsOption,
    JsonOption,
    asked_phrases,
    progress_bar,
    put,
    put_json,
    say,
)
from distsim.cli.costs import lines_in
from distsim.cli.grammar_options import OnErrorOption, WeightOption, feature_weights, one_of
from distsim.cli.options import SetOption, chosen
from distsim.grammar.pair_kinds import PAIR_KINDS


def pack(
    grammar: Annotated[str, typer.Argument(metavar="GRAMMAR", help="Rules; - for stdin.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Its packs are replaced.")
    ],
    weight: WeightOption = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet beside text.")] = False,
    kinds: Annotated[
        list[str] | None,
        typer.Option(help="Only rules that differ in this; repeat it.", **one_of(PAIR_KINDS)),
    ] = None,
    settings: SetOption = None,
    on_error: OnErrorOption = "stop",
    jobs: JobsOption = None,
) -> None:
    """Cut a grammar into packs: S to XXXL, by type of rule, as text, Parquet and an index."""
    from distsim.grammar.packs.pack import PackOptions, pack_grammar

    usual = PackOptions(
        weights=feature_weights(weight) or None,
        descending=bool(weight),
        parquet=parquet,
        kinds=tuple(kinds or ()),
    )
    (options,) = chosen(usual, settings=settings)
    with progress_bar("rules", lines_in(grammar)) as bar:
        report = pack_grammar(
            grammar, output, options=options, on_error=on_error, jobs=jobs, progress=bar
        )
    for line in report.lines():
        say(line)


def rules(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Made by pack.")],
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SOURCE...", help="Source sides.")
    ] = None,
    batch: InputOption = None,
    label: Annotated[str | None, typer.Option(help="Only with this left-hand side.")] = None,
    size: Annotated[str, typer.Option(help="Only of this pack: S to XXXL.")] = "XXXL",
    most: Annotated[int, typer.Option("--most", "-k", min=1, help="Rules of each at most.")] = 20,
    json: JsonOption = False,
) -> None:
    """Show the rules of a packed grammar for source sides, the best first."""
    from distsim.grammar.packs.grammar_index import GrammarIndex

    index = GrammarIndex.open(folder)
    for asked in asked_phrases(sources, batch):
        found = index.rules(asked.phrase, label=label, size=size, most=most)
        for rule in found:
            if json:
                put_json(**rule._asdict())
            else:
                put(
                    rule.source,
                    rule.target,
                    rule.label,
                    f"{rule.cost:.5f}",
                    rule.size,
                    rule.kind,
                    rule.pair_kind,
                )
        if not found and not asked.empty:
            say(f"{asked.phrase}: no rule has this source side")
