"""`distsim make-grammar --bitext EN OTHER --index INDEX -o FOLDER`: all steps in one command."""

from itertools import islice
from typing import Annotated

import typer

from distsim.base.choices import TextFormat
from distsim.cli.console import JobsOption, progress_bar, put, say
from distsim.cli.groups import grouped
from distsim.cli.options import AsIsOption, FineSettings


@grouped
def make_grammar(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="A stopped run continues there.")
    ],
    bitext: Annotated[
        list[str],
        typer.Option(
            "--bitext", metavar="EN OTHER | BITEXT", help="Two texts, or an artifact; repeat it."
        ),
    ],
    index: Annotated[
        str, typer.Option(metavar="INDEX", help="A signed index or a table, for sim_ngram.")
    ],
    fine: FineSettings,
    others: Annotated[list[str] | None, typer.Argument(metavar="OTHER...", hidden=True)] = None,
    syntax: Annotated[str | None, typer.Option(metavar="TABLE", help="For sim_syn.")] = None,
    trees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="English trees, one a line; one for each pair of texts, in order."
        ),
    ] = None,
    text_format: Annotated[
        TextFormat, typer.Option("--format", help="lines: tokenised; text: running text.")
    ] = "lines",
    as_is: AsIsOption = False,
    jobs: JobsOption = None,
) -> None:
    """Align, extract, pivot, score and pack: a paraphrase grammar of your own in one command."""
    from distsim.bitext.reading import BitextOptions
    from distsim.grammar.pipeline import MakeOptions, is_artifact
    from distsim.grammar.pipeline import make_grammar as make

    (options,) = fine.chosen(MakeOptions(text=BitextOptions(text_format, as_is=as_is)))
    given: list[str | tuple[str, ...]] = []
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
    of_texts = iter(trees or ())
    given = [(*one, *islice(of_texts, 1)) if isinstance(one, tuple) else one for one in given]
    with progress_bar("done") as bar:
        report = make(
            given, index, output, options=options, syntax=syntax, jobs=jobs,
            progress=bar, say=say,
        )  # fmt: skip
    for line in report.lines():
        put(line)
