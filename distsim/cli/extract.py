"""`distsim extract BITEXT... -o RULES`: translation rules from linked sentence pairs."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from distsim.base.choices import Chains, Labels, Unlabelled
from distsim.base.choices import ExtractPreset as Preset
from distsim.base.choices import LexicalNames as Names
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import MemoryOption


def extract(
    bitexts: Annotated[list[str], typer.Argument(metavar="BITEXT...", help="Made by align.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="RULES", help="Packed if it ends in .gz."),
    ] = None,
    numeric: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Write rules as numbers, for pivot, not as text."),
    ] = None,
    preset: Annotated[
        Preset, typer.Option(help="Which rules; every limit can be changed.")
    ] = "hiero",
    longest: Annotated[int | None, typer.Option(help="Tokens of a side without gaps.")] = None,
    most_symbols: Annotated[
        int | None, typer.Option(help="Symbols of a side, in rules with gaps.")
    ] = None,
    most_gaps: Annotated[int | None, typer.Option(help="0, 1 or 2.")] = None,
    loose: Annotated[
        bool | None, typer.Option("--loose/--tight", help="Edges run on over unlinked words.")
    ] = None,
    min_linked: Annotated[
        int | None, typer.Option(help="Linked words that must stand outside the gaps.")
    ] = None,
    may_touch: Annotated[
        bool | None,
        typer.Option("--may-touch/--apart", help="Gaps may be neighbours on the foreign side."),
    ] = None,
    labels: Annotated[
        Labels | None, typer.Option(help="From trees; thesis tries slashes before X+Y.")
    ] = None,
    every_label: Annotated[
        bool, typer.Option("--every-label", help="--labels every: a rule for each label.")
    ] = False,
    unlabelled: Annotated[
        Unlabelled | None, typer.Option(help="Rules with an X, where there are trees.")
    ] = None,
    chains: Annotated[
        Chains | None, typer.Option(help="Of constituents over the same words.")
    ] = None,
    whole: Annotated[
        bool | None, typer.Option("--whole/--no-whole", help="Whole sentence pairs as rules.")
    ] = None,
    min_count: Annotated[
        int | None, typer.Option(help="Leave out rarer rules, but those of one word.")
    ] = None,
    features: Annotated[
        str | None, typer.Option(metavar="NAME;...", help="Write these alone, parted by ;.")
    ] = None,
    names: Annotated[
        Names, typer.Option(help="ppdb: Lex(e|f) and Lex(f|e) swapped, as PPDB has them.")
    ] = "plain",
    memory: MemoryOption = "1G",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Extract translation rules with all features; English is the target side."""
    from distsim.grammar.extraction import PRESETS, FeatureChoice, extract_rules

    given: dict[str, Any] = {
        "longest": longest,
        "most_symbols": most_symbols,
        "most_gaps": most_gaps,
        "loose": loose,
        "min_linked": min_linked,
        "may_touch": may_touch,
        "labels": "every" if every_label else labels,
        "unlabelled": unlabelled,
        "chains": chains,
        "whole": whole,
        "min_count": min_count,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    if output is None and numeric is None:
        output = "-"
    options = replace(PRESETS[preset], **changed)
    choice = FeatureChoice(tuple(features.split(";")) if features else None, names)
    with progress_bar("sentences") as bar:
        report = extract_rules(
            bitexts, output, options, numeric=numeric, features=choice, memory=memory, jobs=jobs,
            progress=bar,
        )  # fmt: skip
    for line in report.lines():
        say(line)
