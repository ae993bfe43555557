"""`distsim make-grammar --bitext EN OTHER --index INDEX -o FOLDER`: the whole road at once."""

from typing import Annotated

import typer

from distsim.base.choices import ExtractPreset as Preset
from distsim.base.choices import PairDedup, Symmetrisation, TextFormat
from distsim.cli.console import JobsOption, progress_bar, put, say
from distsim.cli.options import AsIsOption


def make_grammar(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Goes on where it stopped.")
    ],
    bitext: Annotated[
        list[str],
        typer.Option(
            "--bitext", metavar="EN OTHER | BITEXT", help="Two texts, or a made bitext; repeat it."
        ),
    ],
    index: Annotated[str, typer.Option(metavar="INDEX", help="Signed; or a table: sim_ngram.")],
    others: Annotated[list[str] | None, typer.Argument(metavar="OTHER...", hidden=True)] = None,
    syntax: Annotated[str | None, typer.Option(metavar="TABLE", help="For sim_syn.")] = None,
    trees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="English trees, one a line; one for each pair of texts, in order."
        ),
    ] = None,
    preset: Annotated[Preset, typer.Option(help="Which rules are extracted.")] = "phrases",
    loose: Annotated[
        bool,
        typer.Option("--loose", help="Edges run on over unlinked words, up to 5 tokens a side."),
    ] = False,
    symmetrise: Annotated[
        Symmetrisation, typer.Option(help="intersection: fewer links, and surer ones.")
    ] = "grow-diag-final-and",
    text_format: Annotated[
        TextFormat, typer.Option("--format", help="lines: tokenised; text: running text.")
    ] = "lines",
    dedup: Annotated[PairDedup, typer.Option(help="Drop pairs seen before.")] = "off",
    unescape: Annotated[bool, typer.Option("--unescape", help="Undo Moses' escapes.")] = False,
    as_is: AsIsOption = False,
    max_translations: Annotated[
        int, typer.Option(help="Of each label and foreign side, the most probable; 0: all.")
    ] = 50,
    min_sum: Annotated[
        float, typer.Option(help="Drop paraphrases with p(e2|e1) or the reverse below.")
    ] = 0.0,
    compose: Annotated[
        bool, typer.Option(help="Make phrases that a learnt table lacks of their words.")
    ] = True,
    sizes: Annotated[
        str, typer.Option(metavar="SIZE,...", help="Which packs to write as text.")
    ] = "S,L,XXXL",
    seed: Annotated[int, typer.Option(help="Of the rules that the report draws.")] = 1,
    jobs: JobsOption = None,
) -> None:
    """Align, extract, pivot, score and pack: a paraphrase grammar of your own in one command."""
    from distsim.bitext.aligner import AlignerOptions
    from distsim.bitext.reading import BitextOptions
    from distsim.grammar.pipeline import MakeOptions, is_artifact
    from distsim.grammar.pipeline import make_grammar as make

    given: list[str | tuple[str, str]] = []
    left = list(others or ())
    for english in bitext:
        if is_artifact(english):
            given.append(english)
        elif left:
            given.append((english, left.pop(0)))
        else:
            raise typer.BadParameter(f"--bitext {english}: give its translation too: EN OTHER")
    if trees and len(trees) != sum(isinstance(one, tuple) for one in given):
        raise typer.BadParameter(f"--trees {len(trees)} times: give one for each pair of texts")
    if left:
        raise typer.BadParameter(f"{left[0]}: put --bitext EN before it")
    options = MakeOptions(
        preset=preset,
        loose=loose,
        aligner=AlignerOptions(symmetrise),
        text=BitextOptions(text_format, dedup=dedup, unescape=unescape, as_is=as_is),
        max_translations=max_translations,
        min_sum=min_sum,
        compose=compose,
        sizes=tuple(one for one in sizes.split(",") if one),
        seed=seed,
    )
    with progress_bar("done") as bar:
        report = make(
            given, index, output, options, syntax=syntax, trees=trees or (), jobs=jobs,
            progress=bar, say=say,
        )  # fmt: skip
    for line in report.lines():
        put(line)
