"""`distsim extract BITEXT... -o RULES`: translation rules from linked sentence pairs."""

from dataclasses import dataclass
from typing import Annotated

import typer

from distsim.base.choices import ExtractPreset as Preset
from distsim.base.choices import RuleFormat, TargetText
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.groups import OptionGroup, grouped
from distsim.cli.options import FineSettings, MemoryOption


@dataclass
class TableOptions(OptionGroup):
    """How rules are written."""

    rule_format: Annotated[
        RuleFormat,
        typer.Option("--format", help="moses: a sorted phrase table, for augment too."),
    ] = "joshua"
    target: Annotated[
        TargetText | None,
        typer.Option(
            help="Of a Moses table: its target is the first text of align, or the second. "
            "Default: first."
        ),
    ] = None

    def is_moses(self) -> bool:
        """Return whether a Moses phrase table is asked for.

        Raises:
            typer.BadParameter: its target is named, but it is not.
        """
        if self.target is not None and self.rule_format != "moses":
            raise typer.BadParameter("--target goes with --format moses: rules are into English")
        return self.rule_format == "moses"


@grouped
def extract(
    bitexts: Annotated[list[str], typer.Argument(metavar="BITEXT...", help="Made by align.")],
    table: TableOptions,
    fine: FineSettings,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="RULES", help="Compressed if it ends in .gz, .zst."),
    ] = None,
    numeric: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Write rules as numbers, for pivot, not as text."),
    ] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(help="Which rules are extracted.  [default: hiero; of a Moses table: moses]"),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="NAME;...", help="Write only these features, separated by ;."),
    ] = None,
    memory: MemoryOption = "1G",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Extract translation rules with all features; English is the target side.

    A Moses phrase table has four scores: p(f|e), lex(f|e), p(e|f), lex(e|f), e the target.
    """
    from distsim.grammar.extraction.extract import extract_phrase_table, extract_rules
    from distsim.grammar.extraction.extract_options import PRESETS
    from distsim.grammar.extraction.rule_features import FeatureChoice

    is_moses = table.is_moses()
    if is_moses and (numeric is not None or features is not None):
        raise typer.BadParameter("--format moses goes with neither --numeric nor --features")
    options, choice = fine.chosen(
        PRESETS[preset or ("moses" if is_moses else "hiero")],
        FeatureChoice(tuple(features.split(";")) if features else None),
    )
    if output is None and numeric is None:
        output = "-"
    with progress_bar("sentences") as bar:
        if is_moses:
            report = extract_phrase_table(
                bitexts, output or "-", target=table.target or "first", options=options,
                memory=memory, jobs=jobs, progress=bar,
            )  # fmt: skip
        else:
            report = extract_rules(
                bitexts, output, options=options, numeric=numeric, features=choice, memory=memory,
                jobs=jobs, progress=bar,
            )  # fmt: skip
    for line in report.lines():
        say(line)
