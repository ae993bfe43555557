"""`distsim extract BITEXT... -o RULES`: translation rules from linked sentence pairs."""

from typing import Annotated

import typer

from distsim.base.choices import ExtractPreset as Preset
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.groups import grouped
from distsim.cli.options import FineSettings, MemoryOption


@grouped
def extract(
    bitexts: Annotated[list[str], typer.Argument(metavar="BITEXT...", help="Made by align.")],
    fine: FineSettings,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="RULES", help="Compressed if it ends in .gz, .zst."),
    ] = None,
    numeric: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Write rules as numbers, for pivot, not as text."),
    ] = None,
    preset: Annotated[Preset, typer.Option(help="Which rules are extracted.")] = "hiero",
    features: Annotated[
        str | None,
        typer.Option(metavar="NAME;...", help="Write only these features, separated by ;."),
    ] = None,
    memory: MemoryOption = "1G",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Extract translation rules with all features; English is the target side."""
    from distsim.grammar.extraction.extract import extract_rules
    from distsim.grammar.extraction.extract_options import PRESETS
    from distsim.grammar.extraction.rule_features import FeatureChoice

    options, choice = fine.chosen(
        PRESETS[preset], FeatureChoice(tuple(features.split(";")) if features else None)
    )
    if output is None and numeric is None:
        output = "-"
    with progress_bar("sentences") as bar:
        report = extract_rules(
            bitexts, output, options=options, numeric=numeric, features=choice, memory=memory,
            jobs=jobs, progress=bar,
        )  # fmt: skip
    for line in report.lines():
        say(line)
