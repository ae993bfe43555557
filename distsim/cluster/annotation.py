"""Annotates text on Spark: the file that `distsim annotate` writes on one machine, byte for byte.

The driver cuts the text into the pieces that one machine would cut, and writes them and a copy of
the models into the shared folder, so that workers need neither the texts nor installed models. A
task annotates some pieces and writes them as they stand in the output; the driver puts these files
end to end. A run that was killed goes on behind the tasks that are done.

    SHARED/annotate-CHECKSUM/   plan.json, text/, models/, parts/, done/
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

import zstandard

from distsim.base.arguments import Paths, one_or_many_paths, one_path
from distsim.base.errors import InputError
from distsim.base.parallel import Progress, no_progress
from distsim.cluster.executors import (
    SparkOptions,
    errors_marked,
    errors_translated,
    require_seen,
    spark_context,
    tasks_watched,
)
from distsim.corpus.annotating import (
    PIECE_CHARACTERS,
    AnnotatedFile,
    Annotator,
    Report,
    annotate_piece,
    checksum_of_text,
    cut_pieces,
    files_of,
    packed_piece,
)
from distsim.corpus.sources import Source, file_state, find_texts, require_files
from distsim.storage.resumption import FinishedTasks, first_stays, replacing

_MOST_PIECES = 16  # of a task: minutes of work
_TASKS = 64  # at least, where the text has so many pieces


class AnnotationJob:
    """The shared folder of a run, as the driver and the tasks see it.

    Arguments:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done = FinishedTasks(folder)

    def write_text(self, sources: Sequence[Source], n_bytes: int) -> int:
        """Return the number of tasks, for which the text is written unless it is there.

        Arguments:
            sources: the text.
            n_bytes: of all files.
        """
        plan_file = self.folder / "plan.json"
        if plan_file.exists():
            return int(json.loads(plan_file.read_text())["tasks"])
        pieces, n_tasks = cut_pieces(sources), 0
        size = min(_MOST_PIECES, 1 + n_bytes // PIECE_CHARACTERS // _TASKS)
        while batch := list(islice(pieces, size)):
            with replacing(self._path("text", n_tasks)) as part:
                part.write_bytes(zstandard.compress(json.dumps(batch).encode()))
            n_tasks += 1
        with replacing(plan_file) as part:
            part.write_text(json.dumps({"tasks": n_tasks}))
        return n_tasks

    def ship(self, annotator: Annotator) -> Annotator:
        """Return the annotator with models that all machines see: a copy of them.

        Arguments:
            annotator: whose models this machine sees.
        """
        models = self.folder / "models"
        if not models.is_dir():
            with first_stays(models) as part:
                shutil.copytree(annotator.models_folder, part, copy_function=shutil.copyfile)
        return annotator.with_models(str(models))

    def is_done(self, number: int) -> bool:
        """Return whether a task was done, by this run or an earlier one.

        Arguments:
            number: of the task.
        """
        return self.done.has("annotate", number)

    def run_task(self, annotator: Annotator, packs: bool, number: int) -> None:
        """Annotate the pieces of a task and write them.

        Arguments:
            annotator: with models that this machine sees.
            packs: whether the output is compressed.
            number: of the task.
        """
        pieces = json.loads(zstandard.decompress(self._path("text", number).read_bytes()))
        total = Report()
        with replacing(self._path("parts", number)) as part, open(part, "wb") as out:
            for lines in pieces:
                piece = annotate_piece(annotator, lines)
                total = total.plus(piece.report)
                out.write(packed_piece(piece.text, packs))
        self.done.note("annotate", number, total)

    def join(self, output: AnnotatedFile, n_tasks: int) -> Report:
        """Return the totals of all tasks, whose files are put end to end.

        Arguments:
            output: the file that is written.
            n_tasks: how many there are.

        Raises:
            InputError: the text has no sentence.
        """
        reports = self.done.reports("annotate")
        total = Report(*map(sum, zip(Report(), *reports, strict=True)))
        if total.sentences:
            output.write(total, (self._path("parts", n).read_bytes() for n in range(n_tasks)))
        return total

    def remove(self) -> None:
        """Remove the folder; what is there under its name is whole at any time."""
        leaving = self.folder.with_name(f".{self.folder.name}.leaving")
        shutil.rmtree(leaving, ignore_errors=True)
        with suppress(OSError):
            self.folder.rename(leaving)
        shutil.rmtree(leaving, ignore_errors=True)

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / kind / f"{number:06d}"


def annotate_on_spark(
    paths: Paths,
    path: str | Path,
    work: str | Path,
    annotator: Annotator,
    *,
    run: SparkOptions | None = None,
    progress: Progress = no_progress,
    as_is: bool = False,
) -> Report:
    """Return the totals of annotating text on a Spark cluster into one CoNLL-U file.

    Its bytes are those that `annotate` writes on one machine. A run that was killed is continued by
    the next one with the same arguments; a finished output stays as it is.

    Arguments:
        paths: files or folders of plain text, or their addresses `scheme://...`, which the driver
            alone reads.
        path: the output, compressed where its name ends in .gz.
        work: a folder that all machines share, a POSIX file system.
        annotator: a StanzaAnnotator or SpacyAnnotator; its models are copied into `work`, its
            library must be installed on all machines.
        run: the Spark session or cluster; the defaults where None.
        progress: called with the stage, and its tasks done and in all.
        as_is: take text that looks like HTML, XML, JSON or a table.

    Raises:
        InputError: a file cannot be read or looks like something else than plain text, or there is
            no text.
        ArtifactError: a worker does not see `work`.
        DistsimError: Spark, or Java 17 for it, is not there, or Spark gave up.

    >>> from distsim.corpus import StanzaAnnotator
    >>> annotator = StanzaAnnotator("stanza_resources")  # doctest: +SKIP
    >>> annotate_on_spark("texts", "web.conllu.gz", "/shared/work", annotator)  # doctest: +SKIP
    Report(words=98000, sentences=4636, treeless=0)
    """
    run, shared = run or SparkOptions(), one_path(work, "work").resolve()
    checked_paths = one_or_many_paths(paths, "paths")
    require_files(checked_paths)
    sources = find_texts(checked_paths, as_is, [*files_of(path), shared])
    checksum = checksum_of_text(sources, annotator)
    output = AnnotatedFile(Path(path), checksum)
    packs = Path(path).suffix == ".gz"
    job = AnnotationJob(shared / f"annotate-{checksum[:12]}{'-gz' if packs else ''}")
    if output.finished is not None:
        if not run.keep_work:
            job.remove()  # which a driver that was killed at its end has left
        return output.finished
    progress("cut", 0, None)
    n_bytes = sum(file_state(source).size for source in sources)
    n_tasks, shipped = job.write_text(sources, n_bytes), job.ship(annotator)
    wanted = [number for number in range(n_tasks) if not job.is_done(number)]
    with spark_context(run) as context:
        context.setJobDescription("distsim: annotate")
        if wanted:
            work_of = partial(_run, job, shipped, packs)
            taken = context.parallelize(wanted, len(wanted)).mapPartitions(work_of)

            def show_done() -> None:
                progress("annotating", sum(map(job.is_done, range(n_tasks))), n_tasks)

            with tasks_watched(show_done), errors_translated():
                taken.count()
            require_seen(job.folder, wanted, job.is_done)
    progress("join", 0, 1)
    total = job.join(output, n_tasks)
    if not run.keep_work:
        job.remove()
    if not total.sentences:
        raise InputError(f"{', '.join(s.label for s in sources)}: no text: give some")
    return total


def _run(
    job: AnnotationJob,
    annotator: Annotator,
    packs: bool,
    numbers: Iterator[int],
) -> Iterator[int]:
    """Yield the numbers of tasks after running each."""
    with errors_marked():
        for number in numbers:
            job.run_task(annotator, packs, number)
            yield number
