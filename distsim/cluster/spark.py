"""Stages on Spark: packets go through its shuffle; pyspark is imported here and in `daemon`.

By the DataFrame API alone: `mapInArrow` over the numbers of parts gives rows (range, packet), which
are parted by range, and `mapInArrow` over these takes them. A row is a packet, some hundred
kilobytes of arrays, so the Java side never sees a phrase.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from distsim import storage
from distsim.cluster.job import Job, open_job
from distsim.cluster.join import join
from distsim.cluster.maps import PartMap
from distsim.cluster.memory import worker_bytes
from distsim.cluster.plan import Plan, make_plan, write_plan
from distsim.cluster.report import ClusterReport
from distsim.cluster.stages import Stage, find_stage, giving, is_done, run_task, stages
from distsim.contexts.selection import Selection
from distsim.doors import Paths, one_or_many_paths, one_path
from distsim.errors import ArtifactError, DistsimError, InputError, ParameterError
from distsim.indexes.build import IndexOptions
from distsim.parallel import Progress, no_progress
from distsim.signatures.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

_PACKETS = "key int, packet binary"
_OLDEST_JAVA = 17
_POLL_SECONDS = 0.5
_SEEN_SECONDS = 60.0  # until what a worker wrote is seen here: network file systems take their time
_FAILED = re.compile(r"<distsim (\w+)>(.*?)</distsim>", re.DOTALL)
_ERRORS = {one.__name__: one for one in (InputError, ArtifactError, ParameterError)}
# Packets are packed and large: a few at a time are handed to Python, and none is packed again.
_SESSION = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4",
    "spark.sql.adaptive.enabled": "false",
}
# Of a session that is started here: Java only hands packets on, so compiling it well costs more
# than it saves, and workers are forked from a process that has imported what they need.
_SMALL_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_CONTEXT = {
    "spark.driver.defaultJavaOptions": _SMALL_JAVA,
    "spark.executor.defaultJavaOptions": _SMALL_JAVA,
    "spark.python.daemon.module": "distsim.cluster.daemon",
    "spark.sql.codegen.wholeStage": "false",
    "spark.shuffle.compress": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
}


def sign_on_spark(
    files: Paths,
    path: str | Path,
    work: str | Path,
    recipe: Recipe | None = None,
    selection: Selection | None = None,
    options: IndexOptions | None = None,
    *,
    spark: "SparkSession | None" = None,
    master: str | None = None,
    from_counts: bool = False,
    keep_index: str | Path | None = None,
    keep_work: bool = False,
    force: bool = False,
    progress: Progress = no_progress,
    notice: Any = lambda sentence: None,
    **settings: Any,
) -> ClusterReport:
    """Sign a corpus on a Spark cluster into the table that one machine would make of it.

    The bytes are those of an index of the files that is signed, or of `CountFiles`. What a run that
    was killed has done is found in `work` by the next one.

    Arguments:
        files: text in the order of the corpus, or n-gram counts; under the same paths everywhere.
        path: the table's folder, where the driver writes.
        work: a folder that all machines share, a POSIX file system: object stores do not rename.
        recipe, selection: as of `sign`. options: as of `CorpusIndex.build`.
        spark: a session; one is started, and stopped at the end, where None. master: of that one.
        from_counts: the files are n-gram counts.
        keep_index: a folder into which the parts' indexes go, to be opened together.
        keep_work: leave what is in `work`, so that another recipe finds the parts' indexes.
        force: replace a table that stands at `path`.
        notice: is told what memory workers need, and what settings stand in the way.
        settings: as of `make_plan`: `memory_bytes`, `part_bytes`, `n_ranges`.

    Raises:
        As `make_plan` and `sign`; ArtifactError, too, where a worker does not see `work`;
        DistsimError: Spark, or Java 17 for it, is not there, or Spark gave up.

    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> sign_on_spark("texts", "web.table", "/shared/work", spark=spark).tokens  # doctest: +SKIP
    2031583
    """
    path, shared = one_path(path).resolve(), one_path(work, "work").resolve()
    plan = make_plan(
        one_or_many_paths(files, "files"), recipe, selection, options, from_counts=from_counts,
        **settings,
    )  # fmt: skip
    storage.require_free(path, force)
    if not path.parent.is_dir():
        raise ArtifactError(f"{path.parent}: no such folder: create it first")
    shared.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    job = Job(write_plan(plan, shared))
    with _session(spark, master) as session:
        _check(session, plan, notice)
        for stage in stages(job):
            _run_stage(session, job, stage, progress)
        progress("join", 0, 1)
        join(job, path, force)
    report = ClusterReport.of(job, time.monotonic() - began)
    if keep_index is not None:
        job.move_indexes(one_path(keep_index, "keep_index"))
    if not keep_work:
        shutil.rmtree(job.folder, ignore_errors=True)
        shutil.rmtree(job.texts, ignore_errors=True)
    return report


def map_on_spark(
    parts: PartMap,
    *,
    spark: "SparkSession | None" = None,
    master: str | None = None,
    progress: Progress = no_progress,
) -> dict[str, int]:
    """Score or annotate parts on a Spark cluster, a task each, nothing shuffled.

    Parts whose output is there are passed over. Returns what the others came to, added up.

    Arguments:
        spark, master: as of `sign_on_spark`.

    Raises:
        As the task; DistsimError as of `sign_on_spark`.
    """
    wanted = parts.open_numbers()
    total = {"parts": len(wanted)}
    if not wanted:
        return total
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            progress("parts", len(parts) - len(parts.open_numbers()), len(parts))

    with _session(spark, master) as session:
        numbers = session.range(0, len(wanted), 1, len(wanted))
        rows = numbers.mapInArrow(partial(_run_parts, parts, tuple(wanted)), _PACKETS)
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            with _translated():
                found = rows.collect()
        finally:
            ended.set()
            watcher.join()
    for row in found:
        for name, value in json.loads(bytes(row.packet)).items():
            total[name] = total.get(name, 0) + value
    return total


def _run_parts(
    parts: PartMap, wanted: tuple[int, ...], given: "Iterator[pyarrow.RecordBatch]"
) -> "Iterator[pyarrow.RecordBatch]":
    with _marked():
        for batch in given:
            for place in batch.column(0).to_pylist():
                came_to = parts.run(wanted[place])
                yield _row(wanted[place], json.dumps(came_to).encode())


def _run_stage(spark: "SparkSession", job: Job, stage: Stage, progress: Progress) -> None:
    """Run what is not done of a stage; one that gives packets is run with the one that takes."""
    wanted = [n for n in range(stage.n_tasks(job)) if not is_done(job, stage, n)]
    if stage.gives or not wanted:
        return
    if stage.over == "one":
        progress(stage.name, 0, 1)
        run_task(job, stage, 0, progress=progress if stage.name == "learn" else None)
        return
    folder = str(job.folder)
    given = [] if stage.takes is None else [find_stage(job, stage.takes)]
    if given:
        numbers = spark.range(0, job.n_parts, 1, job.n_parts)
        give = partial(_give, folder, given[0].name, frozenset(wanted))
        rows = numbers.mapInArrow(give, _PACKETS)
    else:
        rows = None
    # Every range has a row without a packet, so that one of which no part says anything is run.
    everyone = spark.createDataFrame([(n, bytearray()) for n in wanted], _PACKETS)
    rows = everyone if rows is None else rows.union(everyone)
    taken = _by_range(rows, wanted).mapInArrow(partial(_take, folder, stage.name), _PACKETS)
    with _watched(job, [*given, stage], progress), _translated():
        taken.count()
    _require_seen(job, stage, wanted)


def _give(
    folder: str, name: str, wanted: frozenset[int], given: "Iterator[pyarrow.RecordBatch]"
) -> "Iterator[pyarrow.RecordBatch]":
    """Run tasks that give packets, by their numbers; a batch a packet, so that none grows large."""
    with _marked():
        job = open_job(Path(folder))
        stage = find_stage(job, name)
        for batch in given:
            for number in batch.column(0).to_pylist():
                for key, packet in giving(job, stage, number):
                    if key in wanted:
                        yield _row(key, packet)


def _take(
    folder: str, name: str, given: "Iterator[pyarrow.RecordBatch]"
) -> "Iterator[pyarrow.RecordBatch]":
    """Run the task of the range that this partition holds."""
    with _marked():
        pairs = (
            (key, packet.as_buffer())
            for batch in given
            for key, packet in zip(
                batch.column("key").to_pylist(), batch.column("packet"), strict=True
            )
        )
        first = next(pairs, None)
        if first is None:
            return
        number = first[0]

        def packets() -> Iterator[bytes]:
            for key, packet in chain([first], pairs):
                if key != number:
                    raise ArtifactError(
                        "Spark has put two ranges into one partition: switch adaptive execution "
                        "off (spark.sql.adaptive.enabled=false)"
                    )
                if packet.size:
                    yield cast(bytes, memoryview(packet))  # no copy

        job = open_job(Path(folder))
        run_task(job, find_stage(job, name), number, packets())
        yield _row(number, b"")


def _row(key: int, packet: bytes) -> "pyarrow.RecordBatch":
    import pyarrow as pa

    return pa.record_batch(
        [pa.array([key], pa.int32()), pa.array([packet], pa.binary())], names=["key", "packet"]
    )


def _by_range(rows: "DataFrame", wanted: Sequence[int]) -> "DataFrame":
    """Part rows by key, each of the wanted keys alone in a partition, on any version of Spark.

    Spark takes the hash of a column modulo the partitions, so that keys would collide: each gets a
    number whose hash falls where it is to go. (`repartitionById`, from 4.1 on, would do.)
    """
    from pyspark.sql import functions as f

    salts: dict[int, int] = {}
    number = 0
    while len(salts) < len(wanted):
        salts.setdefault(murmur3(number) % len(wanted), number)
        number += 1
    by_key = {key: salts[place] for place, key in enumerate(wanted)}
    lookup = f.array(*[f.lit(by_key.get(key, 0)) for key in range(max(wanted) + 1)])
    salted = rows.withColumn("salt", lookup[f.col("key")].cast("int"))
    return salted.repartition(len(wanted), "salt").select("key", "packet")


def murmur3(number: int, seed: int = 42) -> int:
    """Return Spark's hash of a whole number of 32 bits, with its sign.

    >>> murmur3(0), murmur3(1)
    (933211791, -559580957)
    """
    mask = 0xFFFFFFFF

    def rotated(value: int, by: int) -> int:
        return ((value << by) | (value >> (32 - by))) & mask

    mixed = rotated((number & mask) * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
    state = (rotated(seed ^ mixed, 13) * 5 + 0xE6546B64) & mask
    state ^= 4
    state = (state ^ (state >> 16)) * 0x85EBCA6B & mask
    state = (state ^ (state >> 13)) * 0xC2B2AE35 & mask
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


@contextmanager
def _session(spark: "SparkSession | None", master: str | None) -> "Iterator[SparkSession]":
    """Give a session with the settings that the flow needs; one of ours is stopped at the end."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise DistsimError(
            "Spark is not there: install it (pip install 'distsim[spark]'), or run the tasks by "
            "another scheduler (distsim cluster plan)"
        ) from None
    own = spark is None
    if spark is None:
        spark = _started(SparkSession, master)
    elif master is not None:
        raise ParameterError("`master` goes with a session that is started here: leave it out")
    before: dict[str, str | None] = {}
    try:
        if hasattr(spark, "newSession") and not own:
            spark = spark.newSession()
        for name, value in _SESSION.items():
            before[name] = spark.conf.get(name, None)
            spark.conf.set(name, value)
        yield spark
    finally:
        with suppress(Exception):
            if own:
                spark.stop()
            else:
                for name, earlier in before.items():
                    if earlier is None:
                        spark.conf.unset(name)
                    else:
                        spark.conf.set(name, earlier)


def _started(kind: Any, master: str | None) -> "SparkSession":
    _require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = kind.builder.appName("distsim")
    if master is not None:
        builder = builder.master(master)
    for name, value in (_CONTEXT | _SESSION).items():
        builder = builder.config(name, value)
    try:
        spark: SparkSession = builder.getOrCreate()
    except Exception as error:
        raise DistsimError(
            f"Spark could not be started at {master or 'its usual master'}: "
            f"{_first_line(error)}: check the address (--master)"
        ) from None
    with suppress(Exception):
        spark.sparkContext.setLogLevel("ERROR")
    return spark


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    version = None
    if java is not None:
        with suppress(OSError):
            told = subprocess.run(
                [java, "-version"], check=False, capture_output=True, text=True
            ).stderr
            found = re.search(r'version "(\d+)', told)
            version = int(found[1]) if found else None
    if version is None or version < _OLDEST_JAVA:
        raise DistsimError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, found {version or 'none'}: install it "
            "(Debian: openjdk-17-jre-headless) or set JAVA_HOME"
        )


def _check(spark: "SparkSession", plan: Plan, notice: Any) -> None:
    """Tell what memory a worker needs; look for settings that stand in the way."""
    for name, value in _SESSION.items():
        if spark.conf.get(name, None) != value:
            raise ParameterError(
                f"the session keeps {name} at {spark.conf.get(name, None)}, wanted {value}: "
                "do not fix it"
            )
    need = worker_bytes(plan)
    notice(
        f"{len(plan.parts):,} parts, {plan.n_ranges:,} ranges; each task needs about "
        f"{need / 2**30:.1f} GB outside Java"
    )
    conf = dict(_all_settings(spark))
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


def _all_settings(spark: "SparkSession") -> list[tuple[str, str]]:
    with suppress(Exception):
        found: list[tuple[str, str]] = spark.sparkContext.getConf().getAll()
        return found
    return []


def _size(text: str | None) -> int | None:
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", (text or "").strip().lower())
    if not found:
        return None
    return int(found[1]) << {"k": 10, "": 20, "m": 20, "g": 30, "t": 40}[found[2]]


@contextmanager
def _marked() -> Iterator[None]:
    """Mark the sentence of an error for the driver, inside whatever Spark makes of it."""
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
def _translated() -> Iterator[None]:
    """Raise what a worker said as our own error; what Spark itself says in one line."""
    try:
        yield
    except Exception as error:
        found = _FAILED.search(str(error))
        if found is not None:
            raise _ERRORS.get(found[1], DistsimError)(found[2].replace("\\n", " ")) from None
        raise DistsimError(
            f"Spark gave up: {_first_line(error)}: its log says more; what was done is kept, so "
            "run the same command again"
        ) from None


def _first_line(error: BaseException) -> str:
    """Return what an error says in a line: of Java's, what was at the bottom of it."""
    cause = re.search(r"java\.[\w.]+(?:Exception|Error): [^\n]+", str(error))
    if cause is not None:
        return cause[0].strip().rstrip(".:")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".:") if lines else type(error).__name__


@contextmanager
def _watched(job: Job, watched: Sequence[Stage], progress: Progress) -> Iterator[None]:
    """Tell how many tasks of the stages are done, by what they wrote, while Spark is at work."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            for stage in watched:
                n_tasks = stage.n_tasks(job)
                done = sum(is_done(job, stage, number) for number in range(n_tasks))
                if done < n_tasks or stage is watched[-1]:
                    progress(stage.name, done, n_tasks)
                    break

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _require_seen(job: Job, stage: Stage, wanted: Sequence[int]) -> None:
    """Wait until what workers wrote is seen here.

    Raises:
        ArtifactError: it never is: the folder is not shared.
    """
    deadline = time.monotonic() + _SEEN_SECONDS
    for number in wanted:
        while not is_done(job, stage, number):
            if time.monotonic() > deadline:
                raise ArtifactError(
                    f"{job.folder}: what workers wrote there is not seen here: `work` must be a "
                    "folder that all machines share"
                )
            time.sleep(_POLL_SECONDS)
