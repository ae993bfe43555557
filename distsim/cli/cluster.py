"""`distsim cluster ...`: signs or annotates a corpus that is too large for one machine."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from distsim.base.arguments import TextFormat, real_path
from distsim.base.errors import counted
from distsim.cli.annotate import PlainFormatOption, ToolOption, chosen_annotator, say_annotated
from distsim.cli.console import (
    ForceOption,
    may_replace,
    progress_bar,
    say,
    say_finder,
)
from distsim.cli.options import (
    AsIsOption,
    ModelsOption,
    ProcessorsOption,
    RecipeOption,
    SetOption,
    chosen,
)
from distsim.cli.rows import lists_rows, put_row
from distsim.cli.sign import FinderSettings, MinCountOption

if TYPE_CHECKING:
    from distsim.cluster.plan import PlanOptions


@dataclass(frozen=True)
class WorkSettings:
    """Files of a run.

    Arguments:
        keep_work: whether the shared folder is kept for another recipe.
    """

    keep_work: bool = False


TextFormatOption = Annotated[
    TextFormat | None,
    typer.Option(
        "--format",
        help="lines: tokenised, a sentence a line; text: running text.  [default: lines]",
    ),
]
NgramPresetOption = Annotated[
    Literal["learned", "thesis"] | None,
    typer.Option(help="The recipe to start from.  [default: learned]"),
]
TextArguments = Annotated[
    list[str],
    typer.Argument(metavar="TEXT...", help="Files, folders or s3://..., which all machines see."),
]
OutputOption = Annotated[str, typer.Option("--output", "-o", metavar="TABLE", help="Its folder.")]
WorkOption = Annotated[
    str, typer.Option("--work", metavar="SHARED", help="A folder that all machines share.")
]


MasterOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="spark://..., yarn, k8s://..., local[4]; or Spark's own."),
]


def sign(
    texts: TextArguments,
    output: OutputOption,
    work: WorkOption,
    text_format: TextFormatOption = None,
    preset: NgramPresetOption = None,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    min_count: MinCountOption = None,
    as_is: AsIsOption = False,
    master: MasterOption = None,
    force: ForceOption = False,
) -> None:
    """Sign a corpus on a Spark cluster into the table that one machine would make, byte for byte.

    Run again after it was killed, it continues from SHARED. --set changes what it
    changes in `sign`, and dedup, part_bytes, n_ranges, memory and keep_work.
    """
    from distsim.cluster.executors import SparkOptions, sign_on_spark

    planned, left = _planned(
        preset, WorkSettings(), recipe=recipe, settings=settings, min_count=min_count,
        text_format=text_format, as_is=as_is or None,
    )  # fmt: skip
    force = may_replace(output, force)
    with progress_bar("tasks") as bar:
        run = SparkOptions(master=master, keep_work=left.keep_work, force=force)
        report = sign_on_spark(
            texts, output, work, options=planned, run=run, progress=bar, notice=say
        )
    for sentence in report.sentences():
        say(sentence)
    _report(output)


def annotate(
    texts: TextArguments,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="CoNLL-U; compressed for .gz")
    ],
    work: WorkOption,
    tool: ToolOption = "stanza",
    models: ModelsOption = None,
    processors: ProcessorsOption = None,
    text_format: PlainFormatOption = "text",
    as_is: AsIsOption = False,
    master: MasterOption = None,
) -> None:
    """Annotate a corpus on a Spark cluster into the file that `annotate` writes, byte for byte.

    Only the driver reads the texts and the models, which it copies into SHARED. Run again after it
    was killed, it continues from there.
    """
    from distsim.cluster.annotation import annotate_on_spark
    from distsim.cluster.executors import SparkOptions

    annotator = chosen_annotator(tool, models, processors, text_format == "lines")
    with progress_bar("tasks") as bar:
        report = annotate_on_spark(
            texts, output, work, annotator, run=SparkOptions(master=master), progress=bar,
            as_is=as_is,
        )  # fmt: skip
    say_annotated(report, output)


@lists_rows
def plan(
    texts: TextArguments,
    work: WorkOption,
    text_format: TextFormatOption = None,
    preset: NgramPresetOption = None,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    min_count: MinCountOption = None,
    as_is: AsIsOption = False,
) -> None:
    """Plan a run for a scheduler without Spark: print its folder, then each stage and its tasks.

    Run the tasks of a stage, 0 to its number less one, in any order, by `distsim cluster task`;
    then those of the next stage; the last is `distsim cluster join`.
    """
    from distsim.cluster.job import Job
    from distsim.cluster.plan import make_plan, write_plan
    from distsim.cluster.stages import stages

    planned, _ = _planned(
        preset, recipe=recipe, settings=settings, min_count=min_count,
        text_format=text_format, as_is=as_is or None,
    )  # fmt: skip
    plan_made = make_plan(texts, planned, written=[work])
    job = Job(write_plan(plan_made, _shared(work)))
    put_row({"stage": "run", "tasks": str(job.folder)})
    for stage in stages(job):
        put_row({"stage": stage.name, "tasks": stage.n_tasks(job)})


def task(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder that `plan` printed.")],
    stage: Annotated[str, typer.Argument(metavar="STAGE", help="As `plan` printed it.")],
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Counted from 0.")],
) -> None:
    """Run one task of a stage; one that is done already is skipped."""
    from distsim.cluster.executors import run_alone_task
    from distsim.cluster.job import Job

    run_alone_task(Job(Path(run)), stage, number)


def join(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder that `plan` printed.")],
    output: OutputOption,
    force: ForceOption = False,
) -> None:
    """Make the table of a run whose stages are all done."""
    from distsim.cluster.executors import require_all_done
    from distsim.cluster.job import Job
    from distsim.cluster.stages import join as join_tables

    force = may_replace(output, force)
    job = Job(Path(run))
    require_all_done(job)
    join_tables(job, Path(output), force)
    _report(output)


def _planned(preset: str | None, more: Any = None, **values: Any) -> "tuple[PlanOptions, Any]":
    """Return the options of a plan, and `more` with the changes of --recipe and --set."""
    from distsim.cluster.plan import Division, PlanOptions
    from distsim.contexts.phrase_store import Selection
    from distsim.indexes.build import IndexOptions
    from distsim.signatures.recipe import PRESETS

    usual = PRESETS[preset or "learned"]
    about = [usual, Selection(), IndexOptions(), Division(), FinderSettings()]
    about += [] if more is None else [more]
    recipe_chosen, selection, index, division, finder, *left = chosen(*about, **values)
    planned = PlanOptions(
        recipe=recipe_chosen, selection=selection, index=index, division=division, **vars(finder)
    )
    return planned, left[0] if left else None


def _shared(work: str) -> Path:
    folder = real_path(work)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _report(output: str) -> None:
    from distsim.comparison.table import SignatureTable

    table = SignatureTable.open(output)
    say(
        f"{counted(len(table), 'phrase')} of 1 to {table.longest} tokens, {table.n_bits} bits, "
        f"fingerprint {table.fingerprint.short}"
    )
    say_finder(table)
