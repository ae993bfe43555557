"""`distsim cluster ...`: a corpus that one machine cannot hold -> the table that it would make."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from distsim.base.choices import Align, Aligner, Dedup, TextFormat
from distsim.base.choices import ScoreNames as Names
from distsim.cli.annotate import PlainFormatOption, ToolOption, chosen_annotator
from distsim.cli.console import ForceOption, counted, may_replace, progress_bar, put, say
from distsim.cli.grammar_options import FormatOption, OnErrorOption
from distsim.cli.groups import OptionGroup, grouped
from distsim.cli.options import (
    AsIsOption,
    DropDigitsOption,
    DropPunctuationOption,
    FoldNumbersOption,
    KeepCaseOption,
    ModelsOption,
    ProcessorsOption,
    WeightingOptions,
    memory_bytes,
)
from distsim.cli.sign import PhraseOptions, RecipeOptions, chosen_recipe
from distsim.cli.usage import Grouped, register

app = typer.Typer(cls=Grouped, no_args_is_help=True, rich_markup_mode=None)


@dataclass
class CorpusOptions(OptionGroup):
    """How text is read, and how it is shared out."""

    heading = "Text, and how it is shared out"

    from_counts: Annotated[
        bool,
        typer.Option("--from-counts", help="Sources are files of lines `w1 .. wn<TAB>count`."),
    ] = False
    text_format: Annotated[
        TextFormat,
        typer.Option("--format", help="lines: tokenised, a sentence a line; text: running text."),
    ] = "lines"
    dedup: Annotated[
        Dedup, typer.Option(help="exact: drop lines seen before, in whatever part.")
    ] = "off"
    keep_case: KeepCaseOption = False
    fold_numbers: FoldNumbersOption = False
    drop_punctuation: DropPunctuationOption = False
    drop_digits: DropDigitsOption = False
    as_is: AsIsOption = False
    part_size: Annotated[
        int,
        typer.Option(
            metavar="SIZE", parser=memory_bytes, help="Small files are read together up to this."
        ),
    ] = "16M"  # type: ignore[assignment]
    ranges: Annotated[
        int | None, typer.Option(min=1, max=4096, help="Of hashes; by the text's size otherwise.")
    ] = None
    memory: Annotated[
        int,
        typer.Option(
            metavar="SIZE", parser=memory_bytes, help="Of a task, for what it puts in order."
        ),
    ] = "256M"  # type: ignore[assignment]


Texts = Annotated[
    list[str],
    typer.Argument(metavar="TEXT...", help="Files or folders, which all machines see."),
]
OutputOption = Annotated[str, typer.Option("--output", "-o", metavar="TABLE", help="Its folder.")]
WorkOption = Annotated[
    str, typer.Option("--work", metavar="SHARED", help="A folder that all machines share.")
]


OutputFolder = Annotated[
    str, typer.Option("--output", "-o", metavar="FOLDER", help="It takes a file for each part.")
]
MasterOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="spark://..., yarn, k8s://..., local[4]; or Spark's own."),
]


@register(
    app,
    "sign",
    "Sign a corpus on a Spark cluster.",
    "cluster sign texts/ -o web.table --work /shared/work --master spark://host:7077",
)
@grouped
def sign(
    texts: Texts,
    output: OutputOption,
    work: WorkOption,
    made: RecipeOptions,
    weighed: WeightingOptions,
    phrases: PhraseOptions,
    corpus: CorpusOptions,
    master: MasterOption = None,
    keep_index: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Keep the parts' indexes there, to be asked as one."),
    ] = None,
    keep_work: Annotated[
        bool, typer.Option("--keep-work", help="Leave what is in SHARED, for another recipe.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Sign a corpus on a Spark cluster into the table that one machine would make, byte for byte.

    Run again after it was killed, it goes on with what it finds in SHARED.
    """
    from distsim.cluster.spark import sign_on_spark

    force = may_replace(output, force)
    with progress_bar("tasks") as bar:
        report = sign_on_spark(
            texts, output, work, **_settings(made, weighed, phrases, corpus), master=master,
            keep_index=keep_index, keep_work=keep_work, force=force, progress=bar, notice=say,
        )  # fmt: skip
    for sentence in report.sentences():
        say(sentence)
    _report(output)


@register(
    app,
    "score",
    "Score the parts of a grammar on a Spark cluster.",
    "cluster score grammar-parts/ -o scored/ --ngram web.table --master spark://host:7077",
)
def score(
    grammars: Annotated[
        list[str], typer.Argument(metavar="PART...", help="Files of rules, or folders of them.")
    ],
    output: OutputFolder,
    ngram: Annotated[str | None, typer.Option(metavar="TABLE", help="For sim_ngram.")] = None,
    syntax: Annotated[str | None, typer.Option(metavar="TABLE", help="For sim_syn.")] = None,
    align: Annotated[
        Align, typer.Option(help="Link words of rules without links, of all rules, of none.")
    ] = "missing",
    aligner: Annotated[
        Aligner, typer.Option(help="evidence: like words only; learnt: from the first part.")
    ] = "learnt",
    names: Annotated[Names, typer.Option(help="ppdb: GoogleNgramSim and AGigaSim.")] = "distsim",
    compose: Annotated[
        bool, typer.Option("--compose", help="Make phrases that a learnt table lacks.")
    ] = False,
    min_strength: Annotated[
        int, typer.Option(min=0, help="Only phrases with so many occurrences.")
    ] = 0,
    grammar_format: FormatOption = None,
    on_error: OnErrorOption = "stop",
    master: MasterOption = None,
) -> None:
    """Score the parts of a grammar, a task each; outputs are called as the parts.

    Run again after it was killed, it makes the parts that are missing.
    """
    from distsim.cluster.map_tasks import PartMap, ScoreTask
    from distsim.cluster.spark import map_on_spark
    from distsim.comparison.table import SignatureTable
    from distsim.corpus.sources import find_sources
    from distsim.grammar.scoring import NAMES, ScoreOptions
    from distsim.grammar.training import TrainingOptions

    if ngram is None and syntax is None:
        raise typer.BadParameter("name a table with --ngram, --syntax or both")
    tables = [
        (name, path)
        for name, path in zip(NAMES[names], (ngram, syntax), strict=True)
        if path is not None
    ]
    for _, path in tables:
        SignatureTable.open(path)
    task = ScoreTask.of(
        [source.path for source in find_sources(grammars, [output])], tables, align=align,
        options=ScoreOptions(min_strength=min_strength, compose=compose),
        training=TrainingOptions(aligner), on_error=on_error,
        grammar_format=grammar_format,
    )  # fmt: skip
    with progress_bar("parts") as bar:
        found = map_on_spark(PartMap.plan(grammars, output, task), master=master, progress=bar)
    say(f"{found.get('rules', 0):,} rules in {counted(found['parts'], 'part')} in {output}")


@register(
    app,
    "annotate",
    "Annotate the parts of a text on a Spark cluster.",
    "cluster annotate texts/ -o annotated/ --models tiny-en --master spark://host:7077",
)
def annotate(
    texts: Texts,
    output: OutputFolder,
    tool: ToolOption = "stanza",
    models: ModelsOption = None,
    processors: ProcessorsOption = None,
    text_format: PlainFormatOption = "text",
    as_is: AsIsOption = False,
    master: MasterOption = None,
) -> None:
    """Annotate the parts of a text, a task each, into files of CoNLL-U that are packed.

    Run again after it was killed, it makes the parts that are missing.
    """
    from distsim.cluster.map_tasks import AnnotateTask, PartMap
    from distsim.cluster.spark import map_on_spark

    annotator = chosen_annotator(tool, models, processors, text_format == "lines")
    with progress_bar("parts") as bar:
        found = map_on_spark(
            PartMap.plan(texts, output, AnnotateTask(annotator, as_is)), master=master, progress=bar
        )
    say(f"{found.get('words', 0):,} words in {counted(found['parts'], 'part')} in {output}")


@register(
    app,
    "plan",
    "Plan a run for a scheduler without Spark.",
    "cluster plan texts/ --work /shared/work",
)
@grouped
def plan(
    texts: Texts,
    work: WorkOption,
    made: RecipeOptions,
    weighed: WeightingOptions,
    phrases: PhraseOptions,
    corpus: CorpusOptions,
) -> None:
    """Plan a run for a scheduler without Spark: print its folder, then each stage and its tasks.

    Run the tasks of a stage, 0 to its number less one, in any order, by `distsim cluster task`;
    then those of the next stage; the last is `distsim cluster join`.
    """
    from distsim.cluster.job import Job
    from distsim.cluster.plan import make_plan, write_plan
    from distsim.cluster.stages import stages

    planned = make_plan(texts, **_settings(made, weighed, phrases, corpus), written=[work])
    job = Job(write_plan(planned, _shared(work)))
    put("run", job.folder)
    for stage in stages(job):
        put(stage.name, stage.n_tasks(job))


@register(app, "task", "Run one task of a stage of such a plan.", "cluster task RUN count 0")
def task(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder that `plan` printed.")],
    stage: Annotated[str, typer.Argument(metavar="STAGE", help="As `plan` printed it.")],
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Counted from 0.")],
) -> None:
    """Run one task of a stage; one that is done already is passed over."""
    from distsim.cluster.job import Job
    from distsim.cluster.local_executor import run_alone_task

    run_alone_task(Job(Path(run)), stage, number)


@register(
    app,
    "join",
    "Make the table of a run whose stages are all done.",
    "cluster join RUN -o web.table",
)
def join(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder that `plan` printed.")],
    output: OutputOption,
    force: ForceOption = False,
) -> None:
    """Make the table of a run whose stages are all done."""
    from distsim.cluster.job import Job
    from distsim.cluster.join import join as join_tables
    from distsim.cluster.local_executor import require_all_done

    force = may_replace(output, force)
    job = Job(Path(run))
    require_all_done(job)
    join_tables(job, Path(output), force)
    _report(output)


def _settings(
    made: RecipeOptions, weighed: WeightingOptions, phrases: PhraseOptions, corpus: CorpusOptions
) -> dict[str, Any]:
    """Return what make_plan is told."""
    from distsim.contexts.selection import Selection
    from distsim.corpus.normaliser import Normaliser
    from distsim.indexes.build import IndexOptions

    if made.projection_file is not None:
        raise typer.BadParameter(
            "--projection FILE: a cluster learns its own projection: name spectral or gaussian"
        )
    normaliser = Normaliser(
        not corpus.keep_case, corpus.fold_numbers, corpus.drop_punctuation, corpus.drop_digits
    )
    return {
        "recipe": chosen_recipe(made, weighed, plain=corpus.from_counts),
        "selection": Selection(phrases.min_count, phrases.max_length, phrases.max_phrases),
        "options": IndexOptions(corpus.text_format, normaliser, corpus.dedup, as_is=corpus.as_is),
        "from_counts": corpus.from_counts,
        "memory": corpus.memory,
        "part_bytes": corpus.part_size,
        "n_ranges": corpus.ranges,
    }


def _shared(work: str) -> Path:
    folder = Path(work).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _report(output: str) -> None:
    from distsim.comparison.table import SignatureTable

    table = SignatureTable.open(output)
    say(
        f"{counted(len(table), 'phrase')} of 1 to {table.longest} tokens, {table.n_bits} bits, "
        f"fingerprint {table.fingerprint.short}"
    )
