"""The Spark context of a run: started or given, errors of workers, progress of tasks."""

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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distsim.base.errors import (
    ArtifactError,
    DistsimError,
    InputError,
    ParameterError,
    how_to_install,
)

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_OLDEST_JAVA = 17
_POLL_SECONDS = 0.5
_SEEN_SECONDS = 60.0  # until what a worker wrote is seen here: network file systems take their time
_FAILED = re.compile(r"<distsim (\w+)>(.*?)</distsim>", re.DOTALL)
_ERRORS = {one.__name__: one for one in (InputError, ArtifactError, ParameterError)}
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
            found = re.search(r'version "(\d+)', version_text)
            version = int(found[1]) if found else None
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
def tasks_watched(told: Callable[[], None]) -> Iterator[None]:
    """Call a function twice a second while Spark is running.

    Arguments:
        told: reports how many tasks are finished.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            told()

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
