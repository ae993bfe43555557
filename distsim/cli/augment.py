"""`distsim augment PHRASE-TABLE`: rules for unknown phrases by way of their paraphrases."""

from typing import Annotated

import typer

from distsim.base.choices import AddedScores as Features
from distsim.base.choices import Aggregation as Aggregate
from distsim.cli.console import progress_bar, say
from distsim.cli.grammar_options import OnErrorOption


def augment(
    table: Annotated[str, typer.Argument(metavar="PHRASE-TABLE", help="Of Moses; - for stdin.")],
    paraphrases: Annotated[
        str, typer.Option(metavar="FILE", help="Written by distsim paraphrase.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="NEW", help="gz if it ends so; - for stdout.")
    ],
    aggregate: Annotated[
        Aggregate, typer.Option(help="Scores of several paths to a rule: one score, or none.")
    ] = "update",
    features: Annotated[
        Features, typer.Option(help="two: one for words, one for longer phrases.")
    ] = "one",
    translations: Annotated[
        int, typer.Option(min=0, help="Of each paraphrase, its most probable rules; 0: all.")
    ] = 20,
    probability: Annotated[
        int | None,
        typer.Option(min=0, metavar="PLACE", help="Which score is p(e|f), from 0; Moses: 2."),
    ] = None,
    limit_rules: Annotated[
        int, typer.Option(min=0, help="Refuse to add more rules than these.")
    ] = 10_000_000,
    on_error: OnErrorOption = "stop",
) -> None:
    """Add rules for unknown phrases to a phrase table, and one score (1 on old rules) to all."""
    from distsim.paraphrase.augment import augment_phrase_table, decoder_note

    with progress_bar() as bar:
        report = augment_phrase_table(
            table,
            paraphrases,
            output,
            method=aggregate,
            features=features,
            translations=translations,
            probability=probability,
            limit_rules=limit_rules,
            on_error=on_error,
            expecting=lambda found: say(
                f"{found.old_entries:,} rules read, {found.expected:,} new ones expected"
            ),
            progress=bar,
        )
    say(
        f"{report.old_entries:,} rules, {report.new_entries:,} new ones for "
        f"{report.new_phrases:,} phrases"
    )
    for number, what in (
        (report.known_already, "phrases are in the table already"),
        (report.without_paraphrase, "phrases have no paraphrase"),
        (report.without_translation, "phrases have paraphrases, but none in the table"),
        (report.faulty.kept, "malformed lines were kept as they are"),
        (report.faulty.dropped, "malformed lines were dropped"),
    ):
        if number:
            say(f"{number:,} {what}")
    for fault in report.faulty.shown:
        say(fault)
    if not report.is_sorted:
        say("the table is not sorted: the new rules stand at its end")
    say(decoder_note(output, report.n_scores, 1 if features == "one" else 2))
