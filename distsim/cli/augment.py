"""`distsim augment TABLE`: adds rules for unknown words, or for phrases from their paraphrases."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from distsim.base.arguments import Copies, TextFormat
from distsim.base.errors import counted
from distsim.base.settings import settings_text
from distsim.cli.console import progress_bar, say, say_format
from distsim.cli.options import OnErrorOption, OptionGroup, SetOption, chosen, grouped
from distsim.cli.rows import lists_rows, put_row

if TYPE_CHECKING:
    from distsim.grammar.fields import InvalidLines
    from distsim.paraphrase.unknown_words.translator import UnknownWordReport


@dataclass
class UnknownTableOptions(OptionGroup):
    """Options that go with --unknown."""

    index: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="A signed index of the source language, or a table."),
    ] = None
    target_index: Annotated[
        str | None,
        typer.Option(metavar="TARGET", help="The same, of any text of the target language."),
    ] = None
    domain_index: Annotated[
        str | None,
        typer.Option(metavar="DOMAIN", help="The same, of source text like the one to translate."),
    ] = None
    pivot: Annotated[
        str | None,
        typer.Option(metavar="RULES", help="Source paraphrases, written by distsim pivot."),
    ] = None
    text_format: Annotated[
        TextFormat | None,
        typer.Option(
            "--format",
            help="Of --unknown: lines: tokenised; text: running text, cut into words, in small "
            "letters if the table has no capitals.  [default: by marks]",
        ),
    ] = None
    write_text: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the text as it was read, for the decoder."),
    ] = None
    copies: Annotated[
        Copies | None,
        typer.Option(
            help="rules: the copied word is one of its rules; decoder: never, for a decoder that "
            "copies beside rules. Default: rules."
        ),
    ] = None
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Print word, rank, translation, p, cosine to the mapped vector, likeness of "
            "spelling, known words behind it.",
        ),
    ] = False


@lists_rows
@grouped
def augment(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="Of Moses, or rules of Joshua, Thrax, cdec; - for stdin."
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="NEW", help="Compressed if it ends in .gz."),
    ],
    unknown: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="A sentence a line: its unknown words get translations."),
    ] = None,
    paraphrases: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Written by distsim paraphrase: Marton's rules."),
    ] = None,
    settings: SetOption = None,
    on_error: OnErrorOption = "stop",
    *,
    how: UnknownTableOptions,
) -> None:
    """Add rules for unknown words or phrases to a translation table, with one more score."""
    if unknown is paraphrases is None and "keys" in (settings or ()):
        _list_settings()
    if (unknown is None) == (paraphrases is None):
        raise typer.BadParameter("give --unknown TEXT, or --paraphrases FILE")
    if paraphrases is not None:
        if how.given():
            raise typer.BadParameter(f"{how.given()[0]} goes with --unknown")
        _augment_by_paraphrases(table, paraphrases, output, settings, on_error)
        return
    _augment_unknown(table, unknown, output, settings, on_error, how)


def _augment_unknown(
    table: str,
    text: str | None,
    output: str,
    settings: list[str] | None,
    on_error: OnErrorOption,
    how: UnknownTableOptions,
) -> None:
    if how.why and output == "-":
        raise typer.BadParameter("--why prints to standard output: name a file with -o")
    from distsim.paraphrase.unknown_words.translator import (
        Monolingual,
        UnknownWordOptions,
        augment_unknown_words,
    )

    (options,) = chosen(
        UnknownWordOptions(), settings=settings, copies=how.copies, text_format=how.text_format
    )
    if how.index is None:
        raise typer.BadParameter("--unknown needs --index SOURCE")
    if how.target_index is None:
        say(
            "without --target-index only words of the table and copies are candidates: expect "
            "little"
        )
    with progress_bar("words") as bar:
        report = augment_unknown_words(
            table, str(text),
            Monolingual(
                source=how.index, target=how.target_index, domain=how.domain_index,
                pivot=how.pivot,
            ),
            output, options=options, on_error=on_error, text_output=how.write_text, progress=bar,
        )  # fmt: skip
    if how.why:
        for word in report.words:
            for rank, translation in enumerate(word.translations, 1):
                put_row({"phrase": word.word, "rank": rank, "answer": translation.target,
                         "p": translation.p, "cosine": translation.cosine,
                         "edits": translation.edits,
                         "behind": " ".join(translation.behind)})  # fmt: skip
    if report.text_format == "text" and how.text_format is None:
        say_format("text", "text")
    _say_report(report, output)


def _say_report(report: "UnknownWordReport", output: str) -> None:
    from distsim.paraphrase.augment import decoder_note

    if report.lowered:
        say("its capitals were made small: the table has none")
    for doubt in report.doubts:
        say(doubt)
    answered = sum(bool(word.translations) for word in report.words)
    say(
        f"{counted(report.old_entries, 'rule')}, {counted(report.new_entries, 'new one')} "
        f"for {answered:,} of "
        f"{counted(len(report.words), 'unknown word')}, learned from "
        f"{counted(report.learned_from, 'known one')}"
    )
    if report.resumed:
        say(f"{report.resumed:,} of them from the run before")
    if report.without_letters:
        say(f"{counted(report.without_letters, 'unknown token')} without a letter left out")
    _say_faults(report.faulty, report.is_sorted)
    if not report.of_grammar:
        say(decoder_note(output, report.n_scores - 1, 1))
    elif report.named:
        say("new rules have the feature p(unknown), -ln p, and no other; tune all weights anew")
    else:
        say(
            f"a rule has {counted(report.n_scores, 'feature')} instead of "
            f"{report.n_scores - 1}: the last is "
            "-ln p of a new rule, whose others are 0; tune all weights anew"
        )


def _say_faults(faulty: "InvalidLines", is_sorted: bool) -> None:
    for n, consequence in (
        (faulty.kept, "were kept as they are"),
        (faulty.dropped, "were dropped"),
    ):
        if n:
            say(f"{counted(n, 'malformed line')} {consequence}")
    for fault in faulty.shown:
        say(fault)
    if not is_sorted:
        say("the table is not sorted: the new rules are at its end")


def _list_settings() -> NoReturn:
    """Print the settings of either way to augment a table, and exit."""
    from distsim.paraphrase.augment import AugmentOptions
    from distsim.paraphrase.unknown_words.translator import UnknownWordOptions

    for option, options in (("unknown", UnknownWordOptions()), ("paraphrases", AugmentOptions())):
        print(f"# with --{option}\n{settings_text(options)}", end="")
    raise typer.Exit


def _augment_by_paraphrases(
    table: str, paraphrases: str, output: str, settings: list[str] | None, on_error: OnErrorOption
) -> None:
    from distsim.paraphrase.augment import (
        N_ADDED,
        AugmentOptions,
        augment_phrase_table,
        decoder_note,
    )

    (options,) = chosen(AugmentOptions(), settings=settings)
    with progress_bar() as bar:
        report = augment_phrase_table(
            table, paraphrases, output, options=options, on_error=on_error,
            expecting=lambda report: say(
                f"{counted(report.old_entries, 'rule')} read, "
                f"{counted(report.expected, 'new one')} expected"
            ),
            progress=bar,
        )  # fmt: skip
    say(
        f"{counted(report.old_entries, 'rule')}, {counted(report.new_entries, 'new one')} for "
        f"{counted(report.new_phrases, 'phrase')}"
    )
    for n, outcome in (
        (report.known_already, "phrases are in the table already"),
        (report.without_paraphrase, "phrases have no paraphrase"),
        (report.without_translation, "phrases have paraphrases, but none in the table"),
    ):
        if n:
            say(f"{n:,} {outcome}")
    _say_faults(report.faulty, report.is_sorted)
    say(decoder_note(output, report.n_scores, N_ADDED[options.features]))
