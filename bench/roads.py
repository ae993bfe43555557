"""One corpus by every road to its signature table: the same bytes, and what each road costs.

Index in one shard, index in many; n-gram counts of the index,
shuffled and packed, within --memory; parts signed with kept sums and merged; the counts of one
part merged with the sums of the others. Tables are compared file by file with the first one.
Printed per road: same bytes or not, CPU seconds and peak memory of its last command (the
signing or merging), and for count files and merges the bytes they read.

    python bench/roads.py CORPUS --format text -o FOLDER [--weights raw,log,ppmi,llr] [--parts 4]

Against: signing the index, in the same run. Merging is run a second time with parts a quarter
as large, to see that its memory does not grow with the tables.
"""

import argparse
import filecmp
import gzip
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

DISTSIM = [sys.executable, "-m", "distsim.cli.main"]


def run(*command, output: Path | None = None) -> tuple[float, float]:
    """Run distsim; return its CPU seconds and peak memory in MB."""
    out = open(output, "wb") if output else subprocess.DEVNULL  # noqa: SIM115
    process = subprocess.Popen(
        [*DISTSIM, *map(str, command)], stdout=out, stderr=subprocess.PIPE, text=True
    )
    talk = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{talk}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def size(path: Path) -> int:
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


def same(a: Path, b: Path) -> bool:
    names = sorted(file.name for file in a.iterdir())
    return (
        names == sorted(file.name for file in b.iterdir())
        and filecmp.cmpfiles(a, b, names, shallow=False)[0] == names
    )


def row(road: str, verdict: str, cost: tuple[float, float], read: int | None = None) -> None:
    megabytes = "" if read is None else f"{read / 2**20:,.0f}"
    print(f"| {road} | {verdict} | {cost[0]:.1f} | {cost[1]:,.0f} | {megabytes} |", flush=True)


def parts_of(lines: list[str], n: int, folder: Path) -> list[Path]:
    files = []
    for number in range(n):
        files.append(folder / f"part{number}.txt")
        begin, stop = len(lines) * number // n, len(lines) * (number + 1) // n
        files[-1].write_text("".join(lines[begin:stop]))
    return files


def shuffle(counts: Path, folder: Path) -> None:
    lines = counts.read_bytes().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    (folder / "counts").mkdir()
    half = len(lines) // 2
    (folder / "counts" / "a.gz").write_bytes(gzip.compress(b"".join(lines[:half]), 1))
    (folder / "counts" / "b").write_bytes(b"".join(lines[half:]))
    print(f"{len(lines):,} n-grams, {counts.stat().st_size / 2**20:,.0f} MB", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--format", default="text")
    parser.add_argument("--weights", default="raw,log,ppmi,llr")
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--memory", default="100M")
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    folder = asked.output
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text, counted = ("--format", asked.format), ("--set", f"text_format={asked.format}")
    sums = ("--preset", "thesis", "--set", "keep_sums=true")
    print("| road | same bytes | CPU s | peak MB | read MB |")
    print("|---|---|---:|---:|---:|")

    cost = run("index", "build", asked.corpus, *text, "-o", folder / "index")
    row("corpus to index", "", cost)
    small = ("--set", "shard_tokens=300000")
    run("index", "build", asked.corpus, *text, *small, "-o", folder / "shards")
    counts = folder / "counts.txt"
    row("index to counts, n = 1-5", "", run("ngrams", folder / "index", "-n", "1-5", output=counts))
    # In a process of its own: a child's peak memory begins with its parent's.
    shuffler = multiprocessing.get_context("spawn").Process(target=shuffle, args=(counts, folder))
    shuffler.start()
    shuffler.join()
    for scheme in asked.weights.split(","):
        first, other = folder / f"index-{scheme}", folder / f"other-{scheme}"
        weights = ("--preset", "thesis", "--set", f"weighting.scheme={scheme}")
        row(f"{scheme}: index", "", run("sign", folder / "index", *weights, "-o", first))
        cost = run("sign", folder / "shards", *weights, "-o", other)
        row(f"{scheme}: shards", str(same(first, other)), cost)
        cost = run("sign", "--from", "counts", folder / "counts", *counted, *weights,
                   "--memory", asked.memory, "--force", "-o", other)  # fmt: skip
        row(f"{scheme}: counts, --memory {asked.memory}", str(same(first, other)), cost,
            counts.stat().st_size)  # fmt: skip

    whole = asked.corpus.read_text().splitlines(keepends=True)
    for share, name in ((4, "quarter"), (1, "all")):
        files = parts_of(whole[: len(whole) // share], asked.parts, folder)
        tables = []
        for number, file in enumerate(files):
            run("index", "build", file, *text, "-o", folder / f"{name}{number}")
            tables.append(folder / f"{name}{number}.sums")
            cost = run("sign", folder / f"{name}{number}", *sums, "-o", tables[-1])
        row(f"{name}: one of {asked.parts} parts with sums", "", cost)
        cost = run("merge", *tables, "-o", folder / f"merged-{name}")
        verdict = "" if share > 1 else str(same(folder / "index-raw", folder / "merged-all"))
        row(f"{name}: merge of {asked.parts}", verdict, cost, sum(map(size, tables)))
    run("ngrams", folder / "all0", "-n", "1-5", output=folder / "part.counts")
    run("sign", "--from", "counts", folder / "part.counts", *counted, *sums,
        "-o", folder / "counted.sums")  # fmt: skip
    cost = run("merge", *tables[1:], folder / "counted.sums", "-o", folder / "merged-mixed")
    row("all: merge, one part from counts",
        str(same(folder / "index-raw", folder / "merged-mixed")), cost)  # fmt: skip


if __name__ == "__main__":
    main()
