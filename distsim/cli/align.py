"""`distsim align EN OTHER -o BITEXT`: writes a bitext with word links from two texts."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.arguments import TextFormat
from distsim.base.errors import counted
from distsim.cli.console import JobsOption, progress_bar, say, say_format
from distsim.cli.costs import ALIGN, say_cost, tokens_in
from distsim.cli.options import AsIsOption, FineSettings, OptionGroup, grouped, text_format_of

if TYPE_CHECKING:
    from distsim.bitext.aligner import AlignerOptions
    from distsim.bitext.bitext import Bitext


@dataclass
class GivenOptions(OptionGroup):
    """Links and annotation that exist already, and how the texts are encoded."""

    links: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Existing links, 0-0 1-2 a line, English-other."),
    ] = None
    reversed_links: Annotated[
        bool, typer.Option("--reversed-links", help="The links of --links are other-English.")
    ] = False
    trees: Annotated[
        str | None, typer.Option(metavar="FILE", help="Bracketed English trees, one a line.")
    ] = None
    tags: Annotated[
        str | None, typer.Option(metavar="FILE", help="English part-of-speech tags, line by line.")
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of text that is not UTF-8: cp1252, or utf-8,cp1251."),
    ] = None


@grouped
def align(
    english: Annotated[
        str,
        typer.Argument(
            metavar="EN",
            help="English, one sentence a line; - for stdin; or memory.tmx:en, pairs.tsv:1.",
        ),
    ],
    other: Annotated[
        str, typer.Argument(metavar="OTHER", help="Its translation, line by line; - for stdin.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="BITEXT", help="Its folder.")],
    annotations: GivenOptions,
    fine: FineSettings,
    write_links: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the links: one line for every pair read."),
    ] = None,
    text_format: Annotated[
        TextFormat | None,
        typer.Option("--format", help="lines: tokenised; text: running text.  [default: by marks]"),
    ] = None,
    as_is: AsIsOption = False,
    jobs: JobsOption = None,
) -> None:
    """Link the words of two texts; existing links, trees and tags are taken as they are."""
    from distsim import storage
    from distsim.bitext.aligner import AlignerOptions
    from distsim.bitext.bitext_builder import Given, build_bitext
    from distsim.bitext.links import pharaoh_text
    from distsim.bitext.sentence_pairs import BitextOptions

    if annotations.reversed_links and annotations.links is None:
        raise typer.BadParameter("--reversed-links says how to read --links: give both")
    fine.chosen(BitextOptions(), AlignerOptions())  # before anything is opened
    cut = text_format
    if cut is None:
        cut = _format_of(english, other, annotations, fine)
    options, aligner = fine.chosen(
        BitextOptions(cut, as_is=as_is, encoding=annotations.encoding),
        AlignerOptions(),
        text_format=text_format,
    )
    _say_cost(english, annotations, aligner, jobs)
    with ExitStack() as opened:
        # Opened first: an output that cannot be written is refused before hours of work.
        lines = (
            opened.enter_context(storage.open_output(write_links))
            if write_links is not None
            else None
        )
        bitext = build_bitext(
            english, other, output, options=options,
            given=Given(
                annotations.links, annotations.trees, annotations.tags, annotations.reversed_links
            ),
            aligner=aligner, jobs=jobs, progress=opened.enter_context(progress_bar("done")),
        )  # fmt: skip
        if lines is not None:
            lines.write(pharaoh_text(bitext))
    _report(bitext)


def _say_cost(
    english: str, annotations: GivenOptions, aligner: "AlignerOptions", jobs: int | None
) -> None:
    if annotations.links is None:
        share = aligner.iterations * aligner.samplers / type(aligner)().samplers
        say_cost(tokens_in([english]), [ALIGN._replace(seconds=ALIGN.seconds * share)], jobs)


def _format_of(
    english: str, other: str, annotations: GivenOptions, fine: FineSettings
) -> TextFormat:
    """Return how two texts are cut, and print it."""
    from distsim.bitext.sentence_pairs import find_pair

    sources = find_pair(english, other, encoding=annotations.encoding)  # which checks them
    tokenised = any((annotations.links, annotations.trees, annotations.tags))
    if sources[0].documents is None:
        return text_format_of(sources, fine.settings, "text_format", tokenised)
    cut: TextFormat = "lines" if tokenised else "text"  # both sides of one file: TMX, a table
    say_format("text", cut)
    return cut


def _report(bitext: "Bitext") -> None:
    from distsim.bitext.sentence_pairs import PairCounts, describe_left_out

    parameters = bitext.parameters
    counts = PairCounts(**parameters["counts"])
    left_out = describe_left_out(counts)
    say(
        f"{counts.kept:,} of {counted(counts.pairs, 'pair')}"
        + (f" (left out: {left_out})" if left_out else "")
        + f", {bitext.english.tokens.size:,} English tokens, "
        f"{bitext.other.tokens.size:,} of the other side, {counted(len(bitext.links), 'link')}"
        + (f", {possible:,} of them possible" if (possible := _possible(parameters)) else "")
    )
    for layer in ("trees", "tags"):
        if layer in parameters:
            missing, unlike = parameters[layer]["missing"], parameters[layer]["unlike"]
            say(
                f"{layer}: {counted(counts.kept - missing - unlike, 'sentence')} with them"
                + (f", {missing:,} without" if missing else "")
                + (f"; of {unlike:,} more they do not match the tokens: left out" if unlike else "")
            )


def _possible(parameters: dict[str, Any]) -> int:
    possible: int = parameters["links"].get("possible", 0)
    return possible
