"""`distsim augment PHRASE-TABLE`: adds rules for unknown phrases, from their paraphrases."""

from typing import Annotated

import typer

from distsim.cli.console import progress_bar, say
from distsim.cli.grammar_options import OnErrorOption
from distsim.cli.options import SetOption, chosen


def augment(
    table: Annotated[str, typer.Argument(metavar="PHRASE-TABLE", help="Of Moses; - for stdin.")],
    paraphrases: Annotated[
        str, typer.Option(metavar="FILE", help="Written by distsim paraphrase.")
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="NEW", help="Compressed if it ends in .gz."),
    ],
    settings: SetOption = None,
    on_error: OnErrorOption = "stop",
) -> None:
    """Add rules for unknown phrases to a phrase table, and one score (1 on old rules) to all."""
    from distsim.paraphrase.augment import AugmentOptions, augment_phrase_table, decoder_note

    (options,) = chosen(AugmentOptions(), settings=settings)
    with progress_bar() as bar:
        report = augment_phrase_table(
            table, paraphrases, output, options=options, on_error=on_error,
            expecting=lambda found: say(
                f"{found.old_entries:,} rules read, {found.expected:,} new ones expected"
            ),
            progress=bar,
        )  # fmt: skip
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
        say("the table is not sorted: the new rules are at its end")
    say(decoder_note(output, report.n_scores, 1 if options.features == "one" else 2))
