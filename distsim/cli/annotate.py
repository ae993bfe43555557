"""`distsim annotate CORPUS... -o OUT`: plain text -> CoNLL-U, by stanza."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import progress_bar, say
from distsim.cli.index import Corpus, TextFormat
from distsim.cli.options import ModelsOption, ProcessorsOption, split_names

if TYPE_CHECKING:
    from distsim.corpus.annotating import Report
    from distsim.parallel import Progress


def annotate(
    corpus: Corpus,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="CoNLL-U; packed if it ends in .gz")
    ],
    models: ModelsOption = None,
    processors: ProcessorsOption = None,
    text_format: Annotated[
        TextFormat, typer.Option("--format", help="text: running text; lines: tokenised.")
    ] = TextFormat.TEXT,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Processes; all cores by default.")
    ] = None,
) -> None:
    """Annotate plain text with stanza; a run that was stopped goes on where it was."""
    with progress_bar() as bar:
        report = run_stanza(
            corpus, output, models, processors, text_format is TextFormat.LINES, jobs, bar
        )
    say(f"{report.words:,} words, {report.sentences:,} sentences in {output}")
    if report.treeless:
        say(f"{report.treeless:,} sentences without a tree: its leaves are not their words")


def annotated_beside(
    corpus: Sequence[str],
    table: str,
    models: str,
    processors: str | None,
    jobs: int | None,
    progress: "Progress",
) -> str:
    """Annotate text into a file beside a table that is to be made of it; return the file."""
    output = table.rstrip("/") + ".conllu.gz"
    report = run_stanza(corpus, output, models, processors, False, jobs, progress)
    say(f"{report.words:,} words, {report.sentences:,} sentences in {output}")
    return output


def run_stanza(
    corpus: Sequence[str],
    output: str,
    models: str | None,
    processors: str | None,
    pretokenised: bool,
    jobs: int | None,
    progress: "Progress",
) -> "Report":
    """Annotate text as the options say."""
    from distsim.corpus.annotating import annotate
    from distsim.corpus.stanza_text import StanzaAnnotator
    from distsim.errors import ParameterError

    if models is None:
        raise ParameterError(
            "no models: fetch some with stanza.download('en', model_dir=DIR) and give --models DIR"
        )
    names = split_names(processors) if processors is not None else None
    return annotate(corpus, output, StanzaAnnotator(models, names, pretokenised), jobs, progress)
