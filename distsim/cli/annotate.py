"""`distsim annotate CORPUS... -o OUT`: annotates plain text as CoNLL-U with stanza or spaCy."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.arguments import TextFormat, Tool
from distsim.base.errors import ParameterError, counted
from distsim.cli.console import progress_bar, say
from distsim.cli.index import Corpus
from distsim.cli.options import AsIsOption, ModelsOption, ProcessorsOption, split_names

if TYPE_CHECKING:
    from distsim.corpus.annotating import Annotator, Report


PlainFormatOption = Annotated[
    TextFormat,
    typer.Option("--format", help="text: running text; lines: tokenised, a sentence a line."),
]
ToolOption = Annotated[Tool, typer.Option("--with", help="What annotates plain text.")]


def annotate(
    corpus: Corpus,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="CoNLL-U; compressed for .gz"),
    ],
    tool: ToolOption = "stanza",
    models: ModelsOption = None,
    processors: ProcessorsOption = None,
    text_format: PlainFormatOption = "text",
    trees: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the bracketed trees too, one a sentence."),
    ] = None,
    tags: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the parts of speech too, a line a sentence."),
    ] = None,
    as_is: AsIsOption = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Processes; all cores by default.")
    ] = None,
) -> None:
    """Annotate plain text; a run that was stopped continues where it was.

    With --format lines, line n of --trees and --tags stands for line n of the text, as `align`
    takes them; an empty line for an empty one, or for a sentence without a tree.
    """
    from distsim.corpus.annotating import annotate as annotate_files
    from distsim.corpus.annotating import files_of
    from distsim.corpus.sources import find_texts, spooled_sources

    pretokenised = text_format == "lines"
    annotator = chosen_annotator(tool, models, processors, pretokenised)
    if trees is not None and "constituency" not in getattr(annotator, "chosen", ()):
        raise ParameterError(
            "--trees needs a model of constituency: stanza has some; name those in --models DIR, "
            "and constituency among --processors if that is given"
        )
    written: list[str | Path] = [*files_of(output), *(extra for extra in (trees, tags) if extra)]
    with spooled_sources(find_texts(corpus, as_is, written)) as sources:
        with progress_bar("words") as bar:
            report = annotate_files(sources, output, annotator, jobs=jobs, progress=bar)
        say_annotated(report, output)
        if trees is not None or tags is not None:
            from distsim.corpus.annotated import write_line_files

            lines = write_line_files(output, trees, tags, sources if pretokenised else ()).lines
            say(f"{counted(lines, 'line')} in {' and '.join(f for f in (trees, tags) if f)}")
    if report.treeless:
        say(
            f"{counted(report.treeless, 'sentence')} without a tree: its leaves are not their words"
        )


def chosen_annotator(
    tool: Tool, models: str | None, processors: str | None, pretokenised: bool
) -> "Annotator":
    """Return the annotator that the options choose.

    Arguments:
        tool: `stanza` or `spacy`.
        models: a folder of models, or the name of one; the tool's own where None.
        processors: of stanza, separated by commas; all where None.
        pretokenised: whether the text is tokenised, a sentence a line.

    Raises:
        ParameterError: something is missing; all that is, with the commands that bring it.
    """
    from distsim.corpus.annotators import SpacyAnnotator, StanzaAnnotator

    names = split_names(processors) if processors is not None else None
    if tool == "spacy":
        if names is not None:
            raise ParameterError("--processors chooses what stanza does: leave it out")
        return SpacyAnnotator(models, pretokenised=pretokenised)
    return StanzaAnnotator(models, processors=names, pretokenised=pretokenised)


def say_annotated(report: "Report", output: str) -> None:
    """Print the numbers of words and sentences on standard error."""
    say(f"{counted(report.words, 'word')}, {counted(report.sentences, 'sentence')} in {output}")
