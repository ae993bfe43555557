"""`distsim align EN OTHER -o BITEXT`: two texts -> a bitext with word links."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.choices import PairDedup, Symmetrisation, TextFormat
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import (
    AsIsOption,
    DropDigitsOption,
    DropPunctuationOption,
    FoldNumbersOption,
    KeepCaseOption,
)

if TYPE_CHECKING:
    from distsim.bitext.bitext import Bitext


def align(
    english: Annotated[
        str, typer.Argument(metavar="EN", help="English, a sentence a line; plain or packed.")
    ],
    other: Annotated[
        str, typer.Argument(metavar="OTHER", help="Its translation, line by line; - for stdin.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="BITEXT", help="Its folder.")],
    links: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Links that exist, 0-0 1-2 a line, English-other."),
    ] = None,
    reversed_links: Annotated[
        bool, typer.Option("--reversed-links", help="Those of --links are other-English.")
    ] = False,
    trees: Annotated[
        str | None, typer.Option(metavar="FILE", help="Bracketed English trees, one a line.")
    ] = None,
    tags: Annotated[
        str | None, typer.Option(metavar="FILE", help="English part-of-speech tags, line by line.")
    ] = None,
    write_links: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the links: a line for every pair read."),
    ] = None,
    text_format: Annotated[
        TextFormat,
        typer.Option("--format", help="lines: tokenised; text: running text. A line is a pair."),
    ] = "lines",
    dedup: Annotated[PairDedup, typer.Option(help="Drop pairs seen before.")] = "off",
    unescape: Annotated[
        bool, typer.Option("--unescape", help="Undo Moses' escapes, such as &apos;.")
    ] = False,
    as_is: AsIsOption = False,
    keep_case: KeepCaseOption = False,
    fold_numbers: FoldNumbersOption = False,
    drop_punctuation: DropPunctuationOption = False,
    drop_digits: DropDigitsOption = False,
    symmetrise: Annotated[
        Symmetrisation, typer.Option(help="intersection: fewer links, and surer ones.")
    ] = "grow-diag-final-and",
    samplers: Annotated[
        int, typer.Option(min=1, max=100, help="Each way; more take longer and vary less.")
    ] = 3,
    iterations: Annotated[
        float, typer.Option(help="Factor of how often all links are drawn anew.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="The same seed, the same links.")] = 1,
    jobs: JobsOption = None,
) -> None:
    """Link the words of two texts; links, trees and tags that exist are taken as they come."""
    from distsim import storage
    from distsim.bitext.aligner import AlignerOptions
    from distsim.bitext.build import Given, build_bitext
    from distsim.bitext.links import pharaoh_text
    from distsim.bitext.reading import BitextOptions
    from distsim.corpus.normaliser import Normaliser

    normaliser = Normaliser(
        lower=not keep_case,
        fold_numbers=fold_numbers,
        drop_punctuation=drop_punctuation,
        drop_digits=drop_digits,
    )
    if reversed_links and links is None:
        raise typer.BadParameter("--reversed-links says how to read --links: give both")
    options = BitextOptions(text_format, normaliser, dedup, unescape, as_is)
    aligner = AlignerOptions(symmetrise, samplers, iterations, seed)
    with ExitStack() as opened:
        # Opened first: what cannot be written is refused before hours of work.
        lines = (
            opened.enter_context(storage.open_output(write_links))
            if write_links is not None
            else None
        )
        bitext = build_bitext(
            english, other, output, options, Given(links, trees, tags, reversed_links), aligner,
            jobs=jobs, progress=opened.enter_context(progress_bar("done")),
        )  # fmt: skip
        if lines is not None:
            lines.write(pharaoh_text(bitext))
    _report(bitext)


def _report(bitext: "Bitext") -> None:
    from distsim.bitext.reading import PairCounts, describe_left_out

    parameters = bitext.parameters
    counts = PairCounts(**parameters["counts"])
    left_out = describe_left_out(counts)
    say(
        f"{counts.kept:,} of {counts.pairs:,} pairs"
        + (f" (left out: {left_out})" if left_out else "")
        + f", {bitext.english.tokens.size:,} English tokens, "
        f"{bitext.other.tokens.size:,} of the other side, {len(bitext.links):,} links"
        + (f", {possible:,} of them possible" if (possible := _possible(parameters)) else "")
    )
    for what in ("trees", "tags"):
        if what in parameters:
            missing, unlike = parameters[what]["missing"], parameters[what]["unlike"]
            say(
                f"{what}: {counts.kept - missing - unlike:,} sentences have them"
                + (f", {missing:,} have none" if missing else "")
                + (
                    f"; of {unlike:,} they do not match the tokens and are left out"
                    if unlike
                    else ""
                )
            )


def _possible(parameters: dict[str, Any]) -> int:
    possible: int = parameters["links"].get("possible", 0)
    return possible
