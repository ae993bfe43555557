"""`distsim pack GRAMMAR -o FOLDER`: packs of several sizes; `distsim rules FOLDER` asks them."""

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
from distsim.cli.grammar_options import OnErrorOption


def pack(
    grammar: Annotated[str, typer.Argument(metavar="GRAMMAR", help="Rules; - for stdin.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Packs there are replaced.")
    ],
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            "-w",
            metavar="FEATURE=NUMBER",
            help="Order by such a sum, the largest best; by PPDB's cost where not given.",
        ),
    ] = None,
    ascending: Annotated[
        bool, typer.Option("--ascending", help="The smallest sum is best.")
    ] = False,
    missing: Annotated[
        float | None, typer.Option(help="In place of features that are not there.")
    ] = None,
    sizes: Annotated[
        str, typer.Option(metavar="SIZE,...", help="Which sizes to write as text.")
    ] = "S,M,L,XL,XXL,XXXL",
    parquet: Annotated[bool, typer.Option("--parquet", help="Parquet beside text.")] = False,
    index: Annotated[bool, typer.Option(help="Write the index that `rules` asks.")] = True,
    quantise: Annotated[
        bool, typer.Option("--quantise", help="A byte for each feature in the index, rounded.")
    ] = False,
    on_error: OnErrorOption = "stop",
    jobs: JobsOption = None,
) -> None:
    """Cut a grammar into packs: S to XXXL, by type of rule, as text, Parquet and an index."""
    from distsim.grammar.packs import PackOptions, pack_grammar

    options = PackOptions(
        weights=dict(map(_weight, weight)) if weight else None,
        descending=bool(weight) and not ascending,
        missing=missing,
        sizes=tuple(one for one in sizes.split(",") if one),
        parquet=parquet,
        index=index,
        quantise=quantise,
    )
    with progress_bar("rules") as bar:
        report = pack_grammar(grammar, output, options, on_error=on_error, jobs=jobs, progress=bar)
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
    most: Annotated[int, typer.Option("--most", "-k", min=1, help="So many of each.")] = 20,
    json: JsonOption = False,
) -> None:
    """Show the rules of a packed grammar for source sides, the best first."""
    from distsim.grammar.packs import GrammarIndex

    index = GrammarIndex.open(folder)
    for asked in asked_phrases(sources, batch):
        found = index.rules(asked.phrase, label=label, size=size, most=most)
        for rule in found:
            if json:
                put_json(**rule._asdict())
            else:
                put(rule.source, rule.target, rule.label, f"{rule.cost:.5f}", rule.size, rule.kind)
        if not found and not asked.empty:
            say(f"{asked.phrase}: no rule has this source side")


def _weight(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not name or not abs(value) < float("inf"):
        raise typer.BadParameter(f"{text!r}: give FEATURE=NUMBER, as p(e|f)=-1")
    return name, value
