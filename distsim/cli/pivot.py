"""`distsim pivot GRAMMAR -o OUT`: translation grammar to paraphrase grammar."""

from enum import StrEnum
from typing import Annotated

import typer

from distsim.cli.console import progress_bar, say
from distsim.cli.grammar_options import OnError, OnErrorOption
from distsim.cli.options import MemoryOption


class Scale(StrEnum):
    """How probabilities are written in the translation grammar."""

    PROBABILITY = "probability"
    NEGATIVE_LOG = "negative-log"
    LOG = "log"


class Identities(StrEnum):
    """What becomes of rules with two equal sides."""

    DROP = "drop"
    MARK = "mark"


def pivot(
    grammar: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="Translation rules; - for stdin.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Packed if it ends in .gz.")
    ] = "-",
    e_given_f: Annotated[
        str | None,
        typer.Option(metavar="FEATURE", help="p(e|f): its name, or position from 0."),
    ] = None,
    f_given_e: Annotated[
        str | None,
        typer.Option(metavar="FEATURE", help="p(f|e); both are uniform where not named."),
    ] = None,
    rarity: Annotated[
        str | None, typer.Option(metavar="FEATURE", help="The rarity penalty, to be carried over.")
    ] = None,
    scale: Annotated[
        Scale, typer.Option(help="How the grammar writes its probabilities.")
    ] = Scale.NEGATIVE_LOG,
    identities: Annotated[
        Identities, typer.Option(help="Rules with equal sides: drop, or mark by Identity=1.")
    ] = Identities.DROP,
    min_link: Annotated[
        float, typer.Option(help="Drop translation rules with p(e|f) or p(f|e) below.")
    ] = 0.0,
    min_probability: Annotated[
        float, typer.Option(help="Drop paraphrases with p(e2|e1) or p(e1|e2) below.")
    ] = 0.0,
    max_translations: Annotated[
        int, typer.Option(help="Of each label and foreign side, the most probable; 0: all.")
    ] = 0,
    memory: MemoryOption = "128M",  # type: ignore[assignment]
    on_error: OnErrorOption = OnError.STOP,
) -> None:
    """Pair English sides that share a label and a foreign side: paraphrase rules."""
    from distsim.grammar.pivot import PivotOptions, pivot_file

    options = PivotOptions(
        e_given_f, f_given_e, rarity, scale.value, identities.value, min_link, min_probability,
        max_translations,
    )  # fmt: skip
    with progress_bar() as bar:
        report = pivot_file(grammar, output, options, on_error.value, memory, bar)
    for line in report.lines():
        say(line)
