"""Executors of tasks: Spark, and a local one without it."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from distsim import storage
from distsim.base.arguments import Paths, one_or_many_paths, one_path
from distsim.base.errors import (
    ArtifactError,
    DistsimError,
    InputError,
    ParameterError,
    counted,
    how_to_install,
)
from distsim.base.parallel import Progress, no_progress
from distsim.cluster.job import Job, open_job
from distsim.cluster.plan import BYTES_A_TOKEN, Plan, PlanOptions, make_plan, write_plan
from distsim.cluster.shuffled_source import PacketsByRange
from distsim.cluster.stages import (
    Stage,
    find_stage,
    giving,
    is_done,
    join,
    reports,
    run_task,
    stages,
)

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def run_alone_task(job: Job, name: str, number: int) -> None:
    """Run one task of a stage, unless it is done.

    Raises:
        ParameterError: there is no such stage or task.
    """
    stage = find_stage(job, name)
    if not 0 <= number < stage.n_tasks(job):
        raise ParameterError(
            f"task {number} of the stage {name}: it has {stage.n_tasks(job)}, counted from 0"
        )
    if _is_done(job, stage, number):
        return
    if stage.gives:
        PacketsByRange.write(
            _packet_file(job, stage.name, number), giving(job, stage, number), job.n_ranges
        )
        return
    packets: Iterator[bytes] = iter(())
    if stage.takes is not None:
        packets = chain.from_iterable(
            PacketsByRange.read(_packet_file(job, stage.takes, part), number)
            for part in range(job.n_parts)
        )
    run_task(job, stage, number, packets)


def require_all_done(job: Job) -> None:
    """Raise ArtifactError if a task is not done.

    Raises:
        ArtifactError: a task is not done; the first is named.
    """
    for stage in stages(job):
        for number in range(stage.n_tasks(job)):
            if not _is_done(job, stage, number):
                raise ArtifactError(
                    f"{job.folder}: task {number} of the stage {stage.name} is not done: run "
                    f"distsim cluster task {job.folder} {stage.name} {number}"
                )


def run_alone(
    plan: Plan, path: Path, shared: Path, *, force: bool = False, progress: Progress = no_progress
) -> Path:
    """Run all stages of a plan, one task after the other; return the run's folder.

    Arguments:
        force: replace what is at `path`.
        progress: called with (stage, done, total).
    """
    folder = write_plan(plan, shared)
    job = open_job(folder)
    for stage in stages(job):
        n_tasks = stage.n_tasks(job)
        for number in range(n_tasks):
            run_alone_task(job, stage.name, number)
            progress(stage.name, number + 1, n_tasks)
    join(job, path, force)
    return folder


def _is_done(job: Job, stage: Stage, number: int) -> bool:
    """Return whether a task was done; its report is written before its packets are in place."""
    return is_done(job, stage, number) and (
        not stage.gives or _packet_file(job, stage.name, number).exists()
    )


def _packet_file(job: Job, stage: str, part: int) -> Path:
    return job.path(f"{stage}-packets", part)


_OLDEST_JAVA = 17
_POLL_SECONDS = 0.5
_SEEN_SECONDS = 60.0  # until what a worker wrote is seen here: network file systems take their time
_FAILED = re.compile(r"<distsim (\w+)>(.*?)</distsim>", re.DOTALL)
_ERRORS = {error.__name__: error for error in (InputError, ArtifactError, ParameterError)}
# Of a context that is started here: Java only hands packets on, so compiling it well costs more
# than it saves, and workers are forked from a process that has imported what they need.
_SMALL_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SETTINGS = {
    "spark.driver.defaultJavaOptions": _SMALL_JAVA,
    "spark.executor.defaultJavaOptions": _SMALL_JAVA,
    "spark.python.daemon.module": "distsim.cluster.stages",
    "spark.shuffle.compress": "false",
    "spark.ui.showConsoleProgress": "false",
}


@dataclass(frozen=True, kw_only=True)
class SparkOptions:
    """Master, folders and remaining files of a run on Spark.

    Arguments:
        spark: a session, not of Spark Connect; where None a context is started, and stopped at the
            end. master: the address of the cluster for that context, such as `local[4]`.
        keep_work: keep the shared folder, so that another recipe finds the parts' indexes.
        force: replace a table that exists.

    >>> SparkOptions(master="local[4]").keep_work
    False
    """

    spark: "SparkSession | None" = None
    master: str | None = None
    keep_work: bool = False
    force: bool = False


@contextmanager
def spark_context(run: SparkOptions) -> "Iterator[SparkContext]":
    """Yield the context of a session, or a new one that is stopped at the end.

    Arguments:
        run: the session, or the address of the cluster.

    Raises:
        DistsimError: Spark, or Java 17 for it, is not there, or Spark cannot be started.
        ParameterError: the session has no context of its own, or one runs already.
    """
    spark, master = run.spark, run.master
    try:
        import pyspark
    except ImportError:
        raise DistsimError(
            "Spark is not there: run the tasks by another scheduler (distsim cluster plan), or "
            f"{how_to_install('spark')}"
        ) from None
    if spark is None:
        context = _started(pyspark, master)
        try:
            yield context
        finally:
            with suppress(Exception):
                context.stop()
        return
    if master is not None:
        raise ParameterError("`master` goes with a context that is started here: leave it out")
    try:
        context = spark.sparkContext
    except Exception:
        raise ParameterError(
            "`spark` is a session of Spark Connect, which has no RDDs: give one that runs in this "
            "process, or run the tasks by another scheduler (distsim cluster plan)"
        ) from None
    yield context


def _started(pyspark: Any, master: str | None) -> "SparkContext":
    _require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = pyspark.SparkConf().setAppName("distsim")
    if master is not None:
        settings.setMaster(master)
    for name, value in _SETTINGS.items():
        settings.set(name, value)
    try:
        context: SparkContext = pyspark.SparkContext(conf=settings)
    except Exception as error:
        if "multiple SparkContexts" in str(error):
            raise ParameterError(
                "Spark runs in this process already: give its session as `spark`"
            ) from None
        raise DistsimError(
            f"Spark could not be started at {master or 'its usual master'}: "
            f"{_first_line(error)}: check the address (--master)"
        ) from None
    with suppress(Exception):
        context.setLogLevel("ERROR")
    return context


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    version = None
    if java is not None:
        with suppress(OSError):
            version_text = subprocess.run(
                [java, "-version"], check=False, capture_output=True, text=True
            ).stderr
            version_match = re.search(r'version "(\d+)', version_text)
            version = int(version_match[1]) if version_match else None
    if version is None or version < _OLDEST_JAVA:
        raise DistsimError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, found {version or 'none'}: install it "
            "(Debian: openjdk-17-jre-headless) or set JAVA_HOME"
        )


@contextmanager
def errors_marked() -> Iterator[None]:
    """Mark the message of an error, so that the driver finds it in Spark's error."""
    try:
        yield
    except (DistsimError, OSError, MemoryError) as error:
        kind = type(error).__name__
        host = os.uname().nodename
        if isinstance(error, OSError):
            where = f"{error.filename}: " if error.filename else ""
            text = f"{where}{error.strerror or error} (on {host})"
        elif isinstance(error, MemoryError):
            text = f"out of memory on {host}: give smaller parts or more memory to a task"
        else:
            text = f"{error} (on {host})"
        raise RuntimeError(f"<distsim {kind}>{text}</distsim>") from None


@contextmanager
def errors_translated() -> Iterator[None]:
    """Raise a worker's error under its own type, and Spark's errors as DistsimError."""
    try:
        yield
    except Exception as error:
        failed_task = _FAILED.search(str(error))
        if failed_task is not None:
            raise _ERRORS.get(failed_task[1], DistsimError)(
                failed_task[2].replace("\\n", " ")
            ) from None
        raise DistsimError(
            f"Spark gave up: {_first_line(error)}: its log says more; what was done is kept, so "
            "run the same command again"
        ) from None


def _first_line(error: BaseException) -> str:
    """Return the message of an error in one line; of a Java error, its cause."""
    cause = re.search(r"java\.[\w.]+(?:Exception|Error): [^\n]+", str(error))
    if cause is not None:
        return cause[0].strip().rstrip(".:")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".:") if lines else type(error).__name__


@contextmanager
def tasks_watched(report: Callable[[], None]) -> Iterator[None]:
    """Call a function twice a second while Spark is running.

    Arguments:
        report: reports how many tasks are finished.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            report()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def require_seen(folder: Path, numbers: Sequence[int], is_done: Callable[[int], bool]) -> None:
    """Wait until the files that workers wrote are visible here.

    Arguments:
        folder: of the run.
        numbers: of the tasks.
        is_done: whether the files of a task are seen.

    Raises:
        ArtifactError: they never are: the folder is not shared.
    """
    deadline = time.monotonic() + _SEEN_SECONDS
    for number in numbers:
        while not is_done(number):
            if time.monotonic() > deadline:
                raise ArtifactError(
                    f"{folder}: what workers wrote there is not seen here: `work` must be a "
                    "folder that all machines share"
                )
            time.sleep(_POLL_SECONDS)


_PROCESS = 300 << 20  # Python, numpy, compiled kernels
_KEYS_BYTES = 50  # a token, while the keys of all phrases of a part are put in order
_CHUNK_ROWS = 1 << 19
_HELD_ENTRIES = 24  # bytes of what is gathered for packets, for each sixteenth of the memory


def worker_bytes(plan: Plan) -> int:
    """Return an estimate of the bytes that one task of a plan needs, without mapped files.

    It is the largest of three: counting the phrases of the largest part (indexing it takes less),
    counting contexts, signing a range.
    """
    part = max(part.unpacked_size for part in plan.parts) // BYTES_A_TOKEN
    model = plan.recipe.model
    width = plan.selection.max_length + 2 * getattr(model, "window", 1)
    chunk = _CHUNK_ROWS * (2 * 4 * width + 8 * 4 * plan.selection.max_length)
    phrases = _KEYS_BYTES * part
    counting = chunk + plan.memory_bytes // 16 * _HELD_ENTRIES
    signing = 2 * plan.memory_bytes
    composition = plan.recipe.composition
    if composition is not None:
        n_dimensions = plan.recipe.learning.directions(plan.recipe.n_bits)
        signing += 4 * n_dimensions * min(composition.most_words, part * len(plan.parts))
    return _PROCESS + max(phrases, counting, signing)


@dataclass(frozen=True)
class ClusterReport:
    """Run totals: tokens, words, phrases, bytes shuffled, CPU seconds.

    tokens, words: of the corpus. phrases: in the ranges' tables. shuffled: bytes of the packets, by
    the stage that gave them. cpu: seconds of the tasks by stage, Java's aside. seconds: it took.
    no_finder: why a learned table has no finder of substitutes; empty where it has one, or none
    was wanted.
    """

    tokens: int
    words: int
    phrases: int
    shuffled: dict[str, int]
    cpu: dict[str, float]
    seconds: float
    no_finder: str = ""

    @classmethod
    def of(cls, job: Job, seconds: float) -> "ClusterReport":
        """Return the totals of all tasks of a run, also those before it was killed."""
        cpu, shuffled = {}, {}
        for stage in stages(job):
            reported = reports(job, stage.name)
            cpu[stage.name] = sum(entry["cpu"] for entry in reported)
            if stage.gives:
                shuffled[stage.name] = sum(entry["bytes"] for entry in reported)
        words = reports(job, "words")[0]
        phrases = sum(entry.get("phrases", 0) for entry in reports(job, "sign"))
        why = reports(job, "lemmas")[0].get("why", "") if job.makes_finder else ""
        return cls(words["tokens"], words["words"], phrases, shuffled, cpu, seconds, why)

    def sentences(self) -> list[str]:
        """Return the report as lines for a person."""
        n = max(1, self.tokens)
        shuffled = sum(self.shuffled.values())
        stages_ = ", ".join(f"{name} {cpu:,.1f}" for name, cpu in self.cpu.items() if cpu >= 0.05)
        return [
            f"{counted(self.tokens, 'token')}, {counted(self.words, 'word')}, "
            f"{counted(self.phrases, 'phrase')} in "
            f"{self.seconds:,.1f} s",
            f"shuffled {shuffled:,} bytes, {shuffled / n:.1f} a token",
            f"CPU seconds of the tasks {sum(self.cpu.values()):,.1f}, "
            f"{sum(self.cpu.values()) / n * 1e6:.2f} microseconds a token: {stages_}",
            *([f"no finder of substitutes: {self.no_finder}"] if self.no_finder else []),
        ]


def sign_on_spark(
    paths: Paths,
    path: str | Path,
    work: str | Path,
    *,
    options: PlanOptions | None = None,
    run: SparkOptions | None = None,
    progress: Progress = no_progress,
    notice: Callable[[str], object] = warn,
) -> ClusterReport:
    """Return the run totals of signing a corpus on a Spark cluster; the table is written at `path`.

    Its bytes are those of the table that one machine would make: of an index of the files.
    A run that was killed is continued by the next one with the same arguments.

    Arguments:
        paths: text in the order of the corpus, under the same paths everywhere.
        path: the table's folder, which the driver writes.
        work: a folder that all machines share, a POSIX file system: object stores do not rename.
        options: what is signed, and how; the defaults where None.
        run: the Spark session or cluster, and what the run leaves; the defaults where None.
        progress: called with the stage, and its tasks done and in all.
        notice: called with sentences on the memory of workers, and on unsuitable settings.

    Raises:
        ArtifactError: another table is at `path`, or a worker does not see `work`.
        InputError: a source cannot be read.
        ParameterError: an option cannot be.
        DistsimError: Spark, or Java 17 for it, is not there, or Spark gave up.

    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> run = SparkOptions(spark=spark)  # doctest: +SKIP
    >>> sign_on_spark("texts", "web.table", "/shared/work", run=run).tokens  # doctest: +SKIP
    2031583
    """
    path, shared = one_path(path).resolve(), one_path(work, "work").resolve()
    run = run or SparkOptions()
    plan = make_plan(one_or_many_paths(paths, "paths"), options, written=[path, shared])
    storage.require_free(path, run.force)
    if not path.parent.is_dir():
        raise ArtifactError(f"{path.parent}: no such folder: create it first")
    shared.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    job = Job(write_plan(plan, shared))
    with spark_context(run) as context:
        _check(context, plan, notice)
        for stage in stages(job):
            _run_stage(context, job, stage, progress)
        progress("join", 0, 1)
        join(job, path, run.force)
    report = ClusterReport.of(job, time.monotonic() - began)
    if not run.keep_work:
        shutil.rmtree(job.folder, ignore_errors=True)
        shutil.rmtree(job.texts, ignore_errors=True)
    return report


def _run_stage(context: "SparkContext", job: Job, stage: Stage, progress: Progress) -> None:
    """Run the open tasks of a stage; a stage that yields packets runs with its reader."""
    wanted = [n for n in range(stage.n_tasks(job)) if not is_done(job, stage, n)]
    if stage.gives or not wanted:
        return
    if stage.over == "one":
        progress(stage.name, 0, 1)
        run_task(job, stage, 0, progress=progress if stage.name == "learn" else None)
        return
    context.setJobDescription(f"distsim: {stage.name}")
    folder = str(job.folder)
    watched = [stage]
    if stage.takes is None:
        numbers = context.parallelize(wanted, len(wanted))
        taken = numbers.mapPartitions(partial(_run, folder, stage.name))
    else:
        giver = find_stage(job, stage.takes)
        watched.insert(0, giver)
        numbers = context.parallelize(range(job.n_parts), job.n_parts)
        packets = numbers.mapPartitions(partial(_give, folder, giver.name, tuple(wanted)))
        taken = packets.partitionBy(len(wanted), int).mapPartitionsWithIndex(
            partial(_take, folder, stage.name, tuple(wanted))
        )

    def show_done() -> None:
        for watched_stage in watched:
            n_tasks = watched_stage.n_tasks(job)
            done = sum(is_done(job, watched_stage, number) for number in range(n_tasks))
            if done < n_tasks or watched_stage is watched[-1]:
                progress(watched_stage.name, done, n_tasks)
                break

    with tasks_watched(show_done), errors_translated():
        taken.count()
    require_seen(job.folder, wanted, partial(is_done, job, stage))


def _run(folder: str, name: str, numbers: Iterator[int]) -> Iterator[int]:
    """Yield the numbers of tasks without packets after running each."""
    with errors_marked():
        job = open_job(Path(folder))
        for number in numbers:
            run_task(job, find_stage(job, name), number)
            yield number


def _give(
    folder: str, name: str, wanted: Sequence[int], numbers: Iterator[int]
) -> Iterator[tuple[int, bytes]]:
    """Run tasks that yield packets, by number; yield (place of a wanted range, packet)."""
    with errors_marked():
        job = open_job(Path(folder))
        stage = find_stage(job, name)
        places = {key: place for place, key in enumerate(wanted)}
        for number in numbers:
            for key, packet in giving(job, stage, number):
                if key in places:
                    yield places[key], packet


def _take(
    folder: str, name: str, wanted: Sequence[int], place: int, packets: Iterator[tuple[int, bytes]]
) -> Iterator[int]:
    """Run the task of the range whose packets are in this partition."""
    with errors_marked():
        job = open_job(Path(folder))
        run_task(job, find_stage(job, name), wanted[place], (packet for _, packet in packets))
        yield wanted[place]


def _check(context: "SparkContext", plan: Plan, notice: Any) -> None:
    """Report the memory that a worker needs, and unsuitable settings."""
    need = worker_bytes(plan)
    notice(
        f"{counted(len(plan.parts), 'part')}, {counted(plan.n_ranges, 'range')}; each task "
        "needs about "
        f"{need / 2**30:.1f} GB outside Java"
    )
    conf = dict(context.getConf().getAll())
    managed = conf.get("spark.master", "").startswith(("yarn", "k8s"))
    cores = int(conf.get("spark.executor.cores", "1"))
    overhead = _size(conf.get("spark.executor.memoryOverhead"))
    if managed and (overhead or 0) < cores * need:
        notice(
            f"spark.executor.memoryOverhead is {conf.get('spark.executor.memoryOverhead', 'unset')}"
            f": give {cores * need >> 20}m for {cores} tasks side by side"
        )
    limit = _size(conf.get("spark.executor.pyspark.memory"))
    if limit and limit < cores * need:
        notice(f"spark.executor.pyspark.memory is too little: give {cores * need >> 20}m")
    if conf.get("spark.python.worker.reuse", "true") == "false":
        notice("spark.python.worker.reuse is false: every task starts Python anew, which is slow")


def _size(text: str | None) -> int | None:
    match = re.fullmatch(r"(\d+)([kmgt]?)b?", (text or "").strip().lower())
    if not match:
        return None
    return int(match[1]) << {"k": 10, "": 20, "m": 20, "g": 30, "t": 40}[match[2]]
