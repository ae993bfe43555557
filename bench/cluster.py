"""What a cluster costs a token beside one machine, and whether its table survives kills.

    python bench/cluster.py cost TEXT-FOLDER OUT --sizes 5 20 --executors 2 [--preset thesis]
    python bench/cluster.py alone TEXT-FOLDER OUT --sizes 2 8 [--preset learnt]
    python bench/cluster.py kills TEXT-FOLDER OUT

A standalone cluster of separate processes on this machine: a master, workers, an executor in each.
CPU is of whole process trees, user and system, Java and Python apart, and so is the one machine's
(index build and sign, one job). `cost` prints a line of JSON a size, the first size twice, since
the first job of a cluster also warms its daemons, and the margin between the smallest and the
largest. `alone` runs the same tasks one after the other without Spark, stage by
stage: what is left of `cost` is the engine's. `kills` kills a worker with its executor, an
executor, and the driver, at drawn moments, runs the driver again, and compares the tables byte by
byte.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PORT = 7177
TICKS = os.sysconf("SC_CLK_TCK")
DISTSIM = [sys.executable, "-m", "distsim.cli.main"]


def environment() -> dict[str, str]:
    import pyspark

    return os.environ | {
        "SPARK_HOME": str(Path(pyspark.__file__).parent), "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip


class Cluster:
    """A master and workers as processes of their own."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.url = f"spark://127.0.0.1:{PORT}"
        self.master = self._start(
            "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port",
            str(PORT), "--webui-port", "8190",
        )  # fmt: skip
        time.sleep(5)
        self.workers = [self.start_worker(n) for n in range(workers)]
        time.sleep(5)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen:
        command = [f"{environment()['SPARK_HOME']}/bin/spark-class", *arguments]
        log = open(self.folder / f"{name}.log", "ab")  # noqa: SIM115
        return subprocess.Popen(command, env=environment(), stdout=log, stderr=log)

    def start_worker(self, number: int) -> subprocess.Popen:
        return self._start(
            f"worker-{number}", "org.apache.spark.deploy.worker.Worker", "-c", "1", "-m", "1G",
            "-d", str(self.folder / f"work-{number}"), "--webui-port", str(8191 + number), self.url,
        )  # fmt: skip

    def stop(self) -> None:
        for process in [*self.workers, self.master]:
            for pid in reversed(tree([process.pid])):
                with_no_error(os.kill, pid, signal.SIGKILL)
            process.wait()


def with_no_error(function, *arguments) -> None:
    with suppress(OSError):
        function(*arguments)


def processes() -> dict[int, tuple[str, int, float, int]]:
    """Return (name, parent, CPU seconds, resident bytes) of every process."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path("/proc", pid, "stat").read_text()
        except OSError:
            continue
        rest = text[text.rindex(")") + 2 :].split()
        cpu = (int(rest[11]) + int(rest[12])) / TICKS
        name = text[text.index("(") + 1 : text.rindex(")")]
        found[int(pid)] = name, int(rest[1]), cpu, int(rest[21]) * os.sysconf("SC_PAGE_SIZE")
    return found


def tree(roots: list[int]) -> list[int]:
    table, mine = processes(), list(roots)
    for pid in mine:
        mine += [child for child, (_, parent, *_) in table.items() if parent == pid]
    return mine


class Meter:
    """Watches process trees while a command runs: CPU seconds by kind, the largest Python."""

    def __init__(self, roots: list[int]) -> None:
        self._roots = roots
        self._seen: dict[int, tuple[str, float]] = {}
        self._before = {pid: row[2] for pid, row in processes().items()}
        self.largest = 0

    def look(self, more: int) -> None:
        table = processes()
        for pid in tree([*self._roots, more]):
            if pid in table:
                name, _, cpu, size = table[pid]
                kind = "java" if name == "java" else "python" if "python" in name else "other"
                self._seen[pid] = kind, cpu - self._before.get(pid, 0.0)
                if kind == "python" and pid != more:
                    self.largest = max(self.largest, size)

    def total(self) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for kind, cpu in self._seen.values():
            found[kind] += cpu
        return {kind: round(cpu, 1) for kind, cpu in found.items()}


def metered(command: list[str], roots: list[int], log: Path) -> dict:
    meter, began = Meter(roots), time.monotonic()
    with open(log, "wb") as file:
        child = subprocess.Popen(command, env=environment(), stdout=file, stderr=file)
        while child.poll() is None:
            meter.look(child.pid)
            time.sleep(0.2)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)}: {log.read_text()[-2000:]}")
    cpu = meter.total()
    return {
        "wall": round(time.monotonic() - began, 1), "cpu": cpu, "sum": round(sum(cpu.values()), 1),
        "largest_python_mb": meter.largest >> 20,
    }  # fmt: skip


def first_tokens(text: Path, folder: Path, millions: float, files: int) -> Path:
    """Write about so many million tokens of a text folder's packed files, in so many files."""
    if folder.exists():
        return folder
    import lzma

    wanted = int(millions * 1e6 * 5.55)
    whole = bytearray()
    for packed in sorted(text.glob("*.xz")):
        with lzma.open(packed) as file:
            whole += file.read(wanted - len(whole))
        if len(whole) >= wanted:
            break
    wanted = len(whole)  # there may be less
    folder.mkdir(parents=True)
    begin = 0
    for number in range(files):
        stop = (
            len(whole)
            if number == files - 1
            else whole.find(b"\n", wanted * (number + 1) // files) + 1
        )
        (folder / f"{number:03d}.txt").write_bytes(whole[begin:stop])
        begin = stop
    return folder


def sized_texts(arguments) -> Iterator[tuple[float, Path]]:
    """Yield the sizes asked for, in millions of tokens, and a folder of so much text each."""
    for millions in arguments.sizes:
        folder = Path(arguments.out) / f"text-{millions:g}"
        yield millions, first_tokens(Path(arguments.text), folder, millions, max(4, int(millions)))


def one_machine(text: Path, out: Path, preset: str) -> dict:
    for name in ("one.index", "one.table"):
        shutil.rmtree(out / name, ignore_errors=True)
    built = metered([*DISTSIM, "index", "build", str(text), "-o", str(out / "one.index"),
                     "--format", "text", "--jobs", "1"], [], out / "one.log")  # fmt: skip
    signed = metered([*DISTSIM, "sign", str(out / "one.index"), "-o", str(out / "one.table"),
                      "--preset", preset, "--jobs", "1"], [], out / "one.log")  # fmt: skip
    return {"wall": built["wall"] + signed["wall"], "cpu": round(built["sum"] + signed["sum"], 1)}


def sign_command(cluster: Cluster, text: Path, out: Path, preset: str) -> list[str]:
    return [
        *DISTSIM, "cluster", "sign", str(text), "-o", str(out / "many.table"), "--work",
        str(out / "work"), "--format", "text", "--preset", preset, "--master", cluster.url,
    ]  # fmt: skip


def same(a: Path, b: Path) -> bool:
    return subprocess.run(["diff", "-rq", a, b], check=False).returncode == 0


def cost(arguments) -> None:
    out = Path(arguments.out)
    rows = []
    cluster = Cluster(out / "cluster", arguments.executors)
    daemons = [cluster.master.pid, *(one.pid for one in cluster.workers)]
    texts = list(sized_texts(arguments))
    try:
        for millions, text in [texts[0], *texts]:
            row: dict = {"millions": millions, "preset": arguments.preset}
            row["one"] = one_machine(text, out, arguments.preset)
            for name in ("work", "many.table"):
                shutil.rmtree(out / name, ignore_errors=True)
            command = sign_command(cluster, text, out, arguments.preset)
            row["many"] = metered(command, daemons, out / "many.log")
            row["report"] = [line for line in (out / "many.log").read_text().splitlines()
                             if "a token" in line or "tokens," in line]  # fmt: skip
            row["tokens"] = int(row["report"][0].split()[0].replace(",", ""))
            row["same"] = same(out / "one.table", out / "many.table")
            print(json.dumps(row), flush=True)
            rows.append(row)
    finally:
        cluster.stop()
    rows = rows[1:]
    if len(rows) > 1:
        a, b = rows[0], rows[-1]
        n = b["tokens"] - a["tokens"]
        one = (b["one"]["cpu"] - a["one"]["cpu"]) / n * 1e6
        many = (b["many"]["sum"] - a["many"]["sum"]) / n * 1e6
        fixed = a["many"]["sum"] - many * a["tokens"] / 1e6
        print(json.dumps({
            "margin_one": round(one, 2), "margin_many": round(many, 2),
            "times": round(many / one, 2), "fixed_cpu_s": round(fixed, 1),
        }))  # fmt: skip


def alone(arguments) -> None:
    """Print the CPU seconds of all tasks by stage, beside one machine's, and the margin."""
    from distsim import IndexOptions
    from distsim.cluster.local_executor import run_alone
    from distsim.cluster.plan import make_plan
    from distsim.signatures.recipe import PRESETS

    out = Path(arguments.out)
    rows = []
    for millions, text in sized_texts(arguments):
        shutil.rmtree(out / "alone", ignore_errors=True)
        (out / "alone").mkdir()
        plan = make_plan([text], PRESETS.get(arguments.preset), None,
                         IndexOptions(text_format="text"))  # fmt: skip
        run = run_alone(plan, out / "alone" / "table", out / "alone")
        cpu: dict[str, float] = defaultdict(float)
        for report in sorted((run / "done").glob("*.json")):
            cpu[report.name.rsplit("-", 1)[0]] += json.loads(report.read_text())["cpu"]
        one = one_machine(text, out, arguments.preset)["cpu"]
        rows.append((millions, one, sum(cpu.values())))
        print(json.dumps({
            "millions": millions, "one": one, "many": round(rows[-1][2], 1),
            "stages": {stage: round(seconds, 1) for stage, seconds in cpu.items()},
            "same": same(out / "one.table", out / "alone" / "table"),
        }), flush=True)  # fmt: skip
    if len(rows) > 1:
        (a, one_a, many_a), (b, one_b, many_b) = rows[0], rows[-1]
        one, many = (one_b - one_a) / (b - a), (many_b - many_a) / (b - a)
        print(json.dumps({"margin_one": round(one, 2), "margin_many": round(many, 2),
                          "times": round(many / one, 2)}))  # fmt: skip


def kills(arguments) -> None:
    out, text = Path(arguments.out), Path(arguments.text)
    out.mkdir(parents=True, exist_ok=True)
    draw = random.Random(arguments.seed)
    one_machine(text, out, arguments.preset)
    for name in ("work", "many.table"):
        shutil.rmtree(out / name, ignore_errors=True)
    for what in arguments.what:
        shutil.rmtree(out / "many.table", ignore_errors=True)
        cluster = Cluster(out / "cluster", 2)
        try:
            began = time.monotonic()
            driver = subprocess.Popen(
                sign_command(cluster, text, out, arguments.preset), env=environment(),
                stdout=(log := open(out / f"kill-{what}.log", "wb")), stderr=log,  # noqa: SIM115
            )  # fmt: skip
            stage = draw.choice(arguments.stages)
            while driver.poll() is None and not list((out / "work").glob(f"sign-*/done/{stage}-*")):
                time.sleep(0.05)
            time.sleep(draw.uniform(0, 2))
            killed = kill(what, cluster, driver)
            if what == "worker":
                cluster.workers[1] = cluster.start_worker(1)
            status = driver.wait()
            resumed = None
            if what == "driver":
                done = len(list((out / "work").glob("sign-*/done/*")))
                time.sleep(3)
                again = metered(sign_command(cluster, text, out, arguments.preset), [],
                                out / "again.log")  # fmt: skip
                resumed = {"done_before": done, "wall": again["wall"]}
            print(json.dumps({
                "kill": what, "at": stage, "processes": killed, "status": status,
                "seconds": round(time.monotonic() - began, 1), "resumed": resumed,
                "same": same(out / "one.table", out / "many.table"),
            }), flush=True)  # fmt: skip
        finally:
            cluster.stop()


def kill(what: str, cluster: Cluster, driver: subprocess.Popen) -> int:
    roots = {"worker": [cluster.workers[1].pid], "driver": [driver.pid]}.get(what)
    if what == "executor":
        roots = tree([cluster.workers[0].pid])[1:2]
    found = tree(roots or [])
    for pid in found:
        with_no_error(os.kill, pid, signal.SIGKILL)
    return len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("cost")
    one.add_argument("text")
    one.add_argument("out")
    one.add_argument("--sizes", type=float, nargs="+", default=[5, 20])
    one.add_argument("--executors", type=int, default=2)
    one.add_argument("--preset", default="thesis")
    one.set_defaults(run=cost)
    without = commands.add_parser("alone")
    without.add_argument("text")
    without.add_argument("out")
    without.add_argument("--sizes", type=float, nargs="+", default=[2, 8])
    without.add_argument("--preset", default="thesis")
    without.set_defaults(run=alone)
    other = commands.add_parser("kills")
    other.add_argument("text")
    other.add_argument("out")
    other.add_argument("--preset", default="thesis")
    other.add_argument("--seed", type=int, default=1)
    other.add_argument("--what", nargs="+", default=["executor", "worker", "driver"])
    other.add_argument("--stages", nargs="+", default=["count", "sum-counts", "contexts"])
    other.set_defaults(run=kills)
    arguments = parser.parse_args()
    Path(arguments.out).mkdir(parents=True, exist_ok=True)
    arguments.run(arguments)


if __name__ == "__main__":
    main()
