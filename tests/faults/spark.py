"""`cluster annotate` on a Spark cluster of two workers while processes of it are killed.

annotate on Spark: an executor or the driver is killed behind a random task, with speculation. The
cluster is a master and two workers as processes of their own, stanza and spaCy take turns.
Afterwards the output has the bytes of `annotate` on one machine, or the driver has said one
sentence or was killed and the same command, run again, gives these bytes; beside the output and in
the shared folder there is nothing else, and of the driver no process is left.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tests.faults.commands import novel
from tests.faults.frame import PROJECT, Budget, Case, Outcome, snapshot

MODELS = PROJECT.parent / "shared" / "models" / "tiny-en"
TOOLS = ("stanza", "spacy")
_TEXT_BYTES = 60_000
_PIECE_CHARACTERS = 5_000
_TASKS = 12  # of a second
_KILLED_ONCE_IN = 5  # kills of a command in the budget
_PATIENCE = 300.0
_POLL_SECONDS = 0.3
_MARK = "DISTSIM_FAULTS_ON_SPARK"
_EXECUTOR = "CoarseGrainedExecutorBackend"


def annotator_of(tool: str, folder: Path) -> object:
    """Return an annotator whose models are in a folder."""
    from distsim.corpus import SpacyAnnotator, StanzaAnnotator

    if tool == "stanza":
        return StanzaAnnotator(str(MODELS), processors=("tokenize", "pos"))
    return SpacyAnnotator(str(folder / "spacy-models"))


def in_small_pieces() -> None:
    """Cut texts into pieces of _PIECE_CHARACTERS, in this process."""
    from distsim.cluster import annotation
    from distsim.corpus import annotating

    annotating.PIECE_CHARACTERS = annotation.PIECE_CHARACTERS = _PIECE_CHARACTERS


def main() -> None:
    """Be a driver: `python -m tests.faults.spark PLACE TOOL MASTER`."""
    from distsim.base.errors import DistsimError
    from distsim.cluster.annotation import annotate_on_spark
    from distsim.cluster.executors import SparkOptions

    place, tool, master = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    in_small_pieces()
    try:
        annotate_on_spark(
            place / "text.txt", place / "out" / "many.conllu", place / "work",
            annotator_of(tool, place), run=SparkOptions(master=master),
        )  # fmt: skip
    except DistsimError as error:
        sys.exit(f"distsim: {error}")


def marked(place: Path, word: str = "") -> list[int]:
    """Return the processes of a place's clusters and drivers whose command line holds a word."""
    pids = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            variables = Path("/proc", pid, "environ").read_bytes().split(b"\0")
            command = Path("/proc", pid, "cmdline").read_text(errors="replace")
            if f"{_MARK}={place}".encode() in variables and word in command:
                pids.append(int(pid))
    return pids


class Cluster:
    """A master and two workers, each with a folder of its own."""

    def __init__(self, place: Path) -> None:
        import pyspark

        self.place, self.log = place, place / "log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        self.variables = os.environ | {
            "SPARK_HOME": str(Path(pyspark.__file__).parent), "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(PROJECT), _MARK: str(place),
            "OMP_NUM_THREADS": "1", "SPARK_DAEMON_MEMORY": "256m",
        }  # fmt: skip
        self.master = self._start("master.Master", "--host", "127.0.0.1", "--port", str(port),
                                  "--webui-port", "0")  # fmt: skip
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:  # a driver gives up on a master that is not there yet
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(_POLL_SECONDS)
        self.workers = [self.start_worker(n) for n in range(2)]

    def start_worker(self, number: int) -> subprocess.Popen:
        folder = self.place / f"worker-{number}"
        folder.mkdir(exist_ok=True)
        return self._start(
            "worker.Worker", "-c", "1", "-m", "1G", "-d", str(folder), "--webui-port", "0",
            self.url, SPARK_LOCAL_DIRS=str(folder),
        )  # fmt: skip

    def _start(self, name: str, *arguments: str, **variables: str) -> subprocess.Popen:
        program = [f"{self.variables['SPARK_HOME']}/bin/spark-class",
                   f"org.apache.spark.deploy.{name}"]  # fmt: skip
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [*program, *arguments], env=self.variables | variables, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def driver(self, tool: str) -> subprocess.Popen:
        confs = ("spark.speculation=true", "spark.speculation.interval=100ms",
                 "spark.speculation.quantile=0.5", "spark.executor.memory=512m",
                 "spark.driver.memory=512m", "spark.ui.enabled=false")  # fmt: skip
        submitted = " ".join(f"--conf {conf}" for conf in confs) + " pyspark-shell"
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.spark", self.place, tool, self.url],
            env=self.variables | {"PYSPARK_SUBMIT_ARGS": submitted}, cwd=PROJECT,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip

    @property
    def daemons(self) -> set[int]:
        return {self.master.pid, *(worker.pid for worker in self.workers)}

    def leftovers(self) -> list[int]:
        """Return what still runs beside master and workers, half a minute after a driver."""
        deadline = time.monotonic() + 30
        while (left := set(marked(self.place)) - self.daemons) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return sorted(left)

    def stop(self) -> None:
        for pid in marked(self.place):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for process in (self.master, *self.workers):
            process.wait()


# What is done to a run ----------------------------------------------------------------------


def kill_one(word: str, cluster: Cluster, driver: subprocess.Popen, draw: random.Random) -> bool:
    """Kill a process whose command line holds a word; return whether there was one."""
    while driver.poll() is None:
        if pids := marked(cluster.place, word):
            with suppress(OSError):
                os.kill(draw.choice(pids), signal.SIGKILL)
            return True
        time.sleep(_POLL_SECONDS)
    return False


def kill_driver(cluster: Cluster, driver: subprocess.Popen, draw: random.Random) -> bool:
    """Kill the driver, its Java too."""
    with suppress(OSError):
        os.killpg(driver.pid, signal.SIGKILL)
    return True


KILLS: dict[str, Callable[[Cluster, subprocess.Popen, random.Random], bool]] = {
    "executor": partial(kill_one, _EXECUTOR), "driver": kill_driver,
}  # fmt: skip


# Trials -------------------------------------------------------------------------------------


class Trial:
    """Runs of one text on a cluster, judged by the output of one machine."""

    def __init__(self, place: Path, outcome: Outcome) -> None:
        from distsim.corpus.annotating import annotate

        self.place, self.outcome = place, outcome
        (place / "text.txt").write_text(novel(_TEXT_BYTES), encoding="utf-8")
        _spacy_models(place / "spacy-models")
        in_small_pieces()
        self.wanted = {}
        for tool in TOOLS:
            out = place / f"{tool}.conllu"
            annotate([place / "text.txt"], out, annotator_of(tool, place), jobs=1)  # type: ignore
            self.wanted[tool] = out.read_bytes()
        self.cluster = Cluster(place)

    def renew(self) -> None:
        for name in ("out", "work"):
            folder = self.place / name
            folder.mkdir(exist_ok=True)
            for inside in folder.iterdir():
                shutil.rmtree(inside) if inside.is_dir() else inside.unlink()

    def wait(self, driver: subprocess.Popen, n_done: int, seconds: float) -> None:
        """Wait until so many tasks are done, or -1: until it has started; then some seconds."""
        while driver.poll() is None and n_done > len([*self.place.glob("work/*/done/[0-9]*")]):
            time.sleep(_POLL_SECONDS)
        with suppress(subprocess.TimeoutExpired):
            driver.wait(seconds)

    def judge(self, how: str, tool: str, driver: subprocess.Popen, may_fail: bool = True) -> None:
        """Wait for a driver, look at what it has left; run it again where it failed."""
        try:
            said = driver.communicate(timeout=_PATIENCE)[1].strip()
        except subprocess.TimeoutExpired:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.communicate()
            self.outcome.broken.append(f"{how}: hangs")
            return
        self.outcome.counts[f"exit {driver.returncode}"] += 1
        if left := self.cluster.leftovers():
            commands = [Path("/proc", str(pid), "cmdline").read_bytes()[:200] for pid in left]
            self.outcome.broken.append(f"{how}: still running: {commands}")
        last = said.rpartition("\n")[2]
        if driver.returncode:
            is_told = driver.returncode == -signal.SIGKILL or (
                driver.returncode == 1 and last.startswith("distsim: ") and "Traceback" not in said
            )
            self.outcome.check(may_fail and is_told, f"{how}: {driver.returncode}: {said[-600:]}")
            if may_fail:
                self.judge(f"{how}, again", tool, self.cluster.driver(tool), may_fail=False)
            return
        found = snapshot(self.place / "out").keys() | snapshot(self.place / "work").keys()
        self.outcome.check(found == {"many.conllu"}, f"{how}: left over: {sorted(found)[:5]}")
        out = self.place / "out" / "many.conllu"
        same = out.exists() and out.read_bytes() == self.wanted[tool]
        self.outcome.check(same, f"{how}: other bytes")


def _spacy_models(folder: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(folder)


def missing() -> str:
    """Return why there is no Spark, or no annotation, here; empty where all is there."""
    from tests.cluster.test_cluster_spark import java_version

    absent = [name for name in ("pyspark", "stanza", "spacy") if find_spec(name) is None]
    if java_version() < 17:
        absent.append("Java 17")
    if not MODELS.is_dir():
        absent.append("../shared/models/tiny-en")
    return ", ".join(absent)


@contextmanager
def trials(place: Path, outcome: Outcome) -> Iterator[Trial | None]:
    """Give a trial whose cluster is stopped at the end, or None where something is missing."""
    if absent := missing():
        outcome.counts[f"skipped: without {absent}"] += 1
        yield None
        return
    trial = Trial(place, outcome)
    try:
        yield trial
    finally:
        trial.cluster.stop()


def disturb(kind: str, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Do something to a run at a random moment, some times."""
    outcome = Outcome()
    with trials(place, outcome) as trial:
        for number in range(times(budget) if trial else 0):
            tool = TOOLS[number % 2]
            trial.renew()
            driver = trial.cluster.driver(tool)
            n_done = draw.randrange(-1, _TASKS)
            trial.wait(driver, n_done, draw.uniform(0, 2))
            outcome.counts["disturbed"] += KILLS[kind](trial.cluster, driver, draw)
            trial.judge(f"{kind} {number}, {tool}, behind {n_done} tasks", tool, driver)
    return outcome


def times(budget: Budget) -> int:
    """Return how often: ten times by the usual budget, twice by the tiny one."""
    return max(2, budget.kills // _KILLED_ONCE_IN)


def cases() -> list[Case]:
    """Return a case for each kind of process that is killed."""
    return [Case(f"annotate on Spark/{kind}", partial(disturb, kind), (), True) for kind in KILLS]


if __name__ == "__main__":
    main()
