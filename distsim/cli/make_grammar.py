"""`distsim make-grammar --bitext EN OTHER --index INDEX -o FOLDER`: all steps in one command."""

from itertools import islice
from typing import Annotated

import typer

from distsim.base.choices import TextFormat
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.groups import grouped
from distsim.cli.options import AsIsOption, FineSettings, text_format_of


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
    language: Annotated[
        str | None,
        typer.Option(
            metavar="LL", help="Of the paraphrases; but for en they are OTHER's.", show_default="en"
        ),
    ] = None,
    trees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="English trees, one a line; one for each pair of texts, in order."
        ),
    ] = None,
    text_format: Annotated[
        TextFormat | None,
        typer.Option("--format", help="lines: tokenised; text: running text.  [default: by marks]"),
    ] = None,
    as_is: AsIsOption = False,
    jobs: JobsOption = None,
) -> None:
    """Align, extract, pivot, score and pack: a paraphrase grammar of your own in one command."""
    from distsim.bitext.sentence_pairs import BitextOptions
    from distsim.grammar.pipeline import MakeOptions
    from distsim.grammar.pipeline import make_grammar as make

    fine.chosen(MakeOptions(text=BitextOptions()), language=language)  # before anything is opened
    given = _bitexts(bitext, list(others or ()), trees)
    texts = [path for pair in given if isinstance(pair, tuple) for path in pair]
    cut = text_format or (
        text_format_of(texts, fine.settings, "text.text_format", bool(trees)) if texts else "lines"
    )
    (options,) = fine.chosen(MakeOptions(text=BitextOptions(cut, as_is=as_is)), language=language)
    of_texts = iter(trees or ())
    given = [(*one, *islice(of_texts, 1)) if isinstance(one, tuple) else one for one in given]
    with progress_bar("done") as bar:
        report = make(
            given, index, output, options=options, syntax=syntax, jobs=jobs,
            progress=bar, say=say,
        )  # fmt: skip
    for line in report.lines():
        print(line)


def _bitexts(
    bitext: list[str], left: list[str], trees: list[str] | None
) -> list[str | tuple[str, ...]]:
    """Return the artifacts and pairs of texts that --bitext names.

    Raises:
        typer.BadParameter: a text has no translation, or as many trees as pairs are not given.
    """
    from distsim.grammar.pipeline import is_artifact

    given: list[str | tuple[str, ...]] = []
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
    return given
