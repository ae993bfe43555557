"""A Spark cluster of processes on one machine: CPU seconds a token beside one machine.

A standalone cluster: a master, workers, an executor in each. CPU seconds are of whole process
trees, user and system, Java and Python apart, and so are those of one machine (index build and
sign, one job). The first size is run twice, since the first job of a cluster also warms it. The
margin is what a million tokens more take between the smallest and the largest size. The tables must
be the same to the byte.

    python bench/cluster.py TEXT-FOLDER WORK [--sizes 2 8] [--executors 2] [--preset thesis]
    python bench/cluster.py TEXT-FOLDER WORK --local     the same tasks in turn, without Spark
"""

import argparse
import filecmp
import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from frame import distsim, parser, print_machine, print_table

PORT = 7177
TICKS = os.sysconf("SC_CLK_TCK")
BYTES_A_TOKEN = 5.55


def environment() -> dict[str, str]:
    import pyspark

    return os.environ | {
        "SPARK_HOME": str(Path(pyspark.__file__).parent), "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip


class Cluster:
    """A master and workers as processes of their own, ended with the context."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.url = f"spark://127.0.0.1:{PORT}"
        self.processes = [self._start(
            "master.Master", "--host", "127.0.0.1", "--port", str(PORT), "--webui-port", "8190",
        )]  # fmt: skip
        time.sleep(5)
        for n in range(workers):
            self.processes.append(self._start(
                "worker.Worker", "-c", "1", "-m", "1G", "-d", str(folder / f"work-{n}"),
                "--webui-port", str(8191 + n), self.url,
            ))  # fmt: skip
        time.sleep(5)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen:
        program = f"{environment()['SPARK_HOME']}/bin/spark-class"
        command = [program, f"org.apache.spark.deploy.{name}", *arguments]
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(command, env=environment(), stdout=log, stderr=log)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            for pid in reversed(tree([process.pid])):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def processes() -> dict[int, tuple[str, int, float]]:
    """Return name, parent and CPU seconds of every process."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            text = Path("/proc", pid, "stat").read_text()
            rest = text[text.rindex(")") + 2 :].split()
            name = text[text.index("(") + 1 : text.rindex(")")]
            found[int(pid)] = name, int(rest[1]), (int(rest[11]) + int(rest[12])) / TICKS
    return found


def tree(roots: list[int]) -> list[int]:
    table, mine = processes(), list(roots)
    for pid in mine:
        mine += [child for child, (_, parent, _) in table.items() if parent == pid]
    return mine


def metered(command: list[str], roots: list[int], log: Path) -> dict[str, float]:
    """Return the CPU seconds of a command and of process trees meanwhile, by kind of program."""
    before = {pid: cpu for pid, (_, _, cpu) in processes().items()}
    seen: dict[int, tuple[str, float]] = {}
    with open(log, "wb") as file:
        child = subprocess.Popen(command, env=environment(), stdout=file, stderr=file)
        while child.poll() is None:
            table = processes()
            for pid in set(tree([*roots, child.pid])) & set(table):
                name, _, cpu = table[pid]
                seen[pid] = "Java" if name == "java" else "Python", cpu - before.get(pid, 0.0)
            time.sleep(0.2)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: {log.read_text()[-2000:]}")
    found: dict[str, float] = defaultdict(float)
    for kind, cpu in seen.values():
        found[kind] += cpu
    return found


def first_tokens(text: Path, folder: Path, millions: float) -> Path:
    """Write about so many million tokens of a folder of archives, in some files."""
    if folder.exists():
        return folder
    wanted, whole = int(millions * 1e6 * BYTES_A_TOKEN), bytearray()
    for archive in sorted(text.glob("*.xz")):
        with lzma.open(archive) as file:
            whole += file.read(wanted - len(whole))
    folder.mkdir(parents=True)
    n_files, begin = max(4, int(millions)), 0
    for number in range(1, n_files + 1):
        stop = whole.find(b"\n", len(whole) * number // n_files) + 1
        stop = len(whole) if number == n_files or not stop else stop
        (folder / f"{number:03d}.txt").write_bytes(whole[begin:stop])
        begin = stop
    return folder


def one_machine(text: Path, work: Path, preset: str) -> tuple[float, float]:
    """Return CPU seconds of one machine, and millions of tokens."""
    index, table = work / "one.index", work / "one.table"
    built = distsim("index", "build", text, "-o", index, "--format", "text", "--force", "--jobs", 1)
    signed = distsim("sign", index, "-o", table, "--preset", preset, "--force", "--jobs", 1)
    told = json.loads(distsim("info", index, "--json").output)
    return built.cpu + signed.cpu, told["parameters"]["counts"]["tokens"] / 1e6


def by_spark(cluster: Cluster, text: Path, work: Path, preset: str) -> dict[str, float]:
    command = [
        sys.executable, "-m", "distsim.cli.start", "cluster", "sign", str(text), "-o",
        str(work / "many.table"), "--work", str(work / "run"), "--format", "text", "--preset",
        preset, "--master", cluster.url,
    ]  # fmt: skip
    return metered(command, [one.pid for one in cluster.processes], work / "sign.log")


def in_turn(text: Path, work: Path, preset: str) -> dict[str, float]:
    """Run the cluster's tasks one after the other, without Spark; return their CPU seconds."""
    from distsim import PRESETS, IndexOptions
    from distsim.cluster.executors import run_alone
    from distsim.cluster.plan import PlanOptions, make_plan

    plan = make_plan(
        [text], PlanOptions(recipe=PRESETS[preset], index=IndexOptions(text_format="text"))
    )
    (work / "run").mkdir()
    run = run_alone(plan, work / "many.table", work / "run")
    reports = [json.loads(one.read_text()) for one in (run / "done").glob("*.json")]
    return {"Python": sum(one["cpu"] for one in reports)}


def same(a: Path, b: Path) -> bool:
    """Return whether two tables have the same manifest and arrays.

    `.made-from` and `finder` are of a table that was signed from an index on one machine.
    """
    names, there = (
        sorted(one.name for one in folder.iterdir() if one.is_file() and one.name[0] != ".")
        for folder in (a, b)
    )
    return names == there and filecmp.cmpfiles(a, b, names, shallow=False)[0] == names


def rows(given: argparse.Namespace, cluster: Cluster | None) -> list[list[float | str]]:
    texts = [first_tokens(given.text, given.work / f"text-{one:g}", one) for one in given.sizes]
    found = []
    for text in texts if cluster is None else [texts[0], *texts]:
        for name in ("run", "many.table"):
            shutil.rmtree(given.work / name, ignore_errors=True)
        one, tokens = one_machine(text, given.work, given.preset)
        if cluster is None:
            cpu = in_turn(text, given.work, given.preset)
        else:
            cpu = by_spark(cluster, text, given.work, given.preset)
        equal = str(same(given.work / "one.table", given.work / "many.table"))
        many = sum(cpu.values())
        found.append([tokens, one, cpu.get("Java", 0.0), cpu["Python"], many, equal])
    return found if cluster is None else found[1:]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("text", type=Path)
    options.add_argument("work", type=Path)
    options.add_argument("--sizes", type=float, nargs="+", default=[2, 8])
    options.add_argument("--executors", type=int, default=2)
    options.add_argument("--preset", default="thesis")
    options.add_argument("--local", action="store_true")
    given = options.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if given.local:
        found = rows(given, None)
    else:
        with Cluster(given.work / "cluster", given.executors) as cluster:
            found = rows(given, cluster)
    heads = ["million tokens", "one machine, CPU s", "Java", "Python", "in all", "the same bytes"]
    print_table(heads, ([*(f"{x:.1f}" for x in row[:5]), row[5]] for row in found))
    if len(found) > 1:
        (a, one_a, _, _, many_a, _), (b, one_b, _, _, many_b, _) = found[0], found[-1]
        one, many = (one_b - one_a) / (b - a), (many_b - many_a) / (b - a)
        print(
            f"\na million tokens more: {one:.2f} CPU s on one machine, {many:.2f} on the cluster, "
            f"{many / one:.2f} times; {many_a - many * a:.0f} once"
        )
    print_machine()


if __name__ == "__main__":
    main()
