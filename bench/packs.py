"""How large a packed grammar is, how fast it opens and answers; beside text and Parquet.

    python bench/packs.py RULES -o FOLDER [--copies 5] [--missing 100]

RULES: scored paraphrase rules, as text. Packs them, exactly and with a byte a feature, then as
many copies of them, in each of which the first word of the source side is another one (only the
exact index). Printed: rules, bytes of text, packed text and Parquet, of the index; CPU seconds of
packing; and of a process that has answered once: CPU milliseconds to open, to look up a source side
that is not there, and the longest list of the first thousand source sides. Every answer has as many
rules as the text (`the same: True`). Peers: none.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from distsim import GrammarIndex
from distsim.corpus.lines import read_lines

PROGRAM = [sys.executable, "-m", "distsim.cli.start"]
OPENED, ASKED = 20, 1000


def copied(rules: Path, copies: int) -> Iterator[bytes]:
    """Yield the lines of the rules, and their copies."""
    for number in range(copies):
        for _, line in read_lines(rules):
            label, source, rest = line.split(b" ||| ", 2)
            word, *others = source.split(b" ")
            if number and not word.startswith(b"["):
                source = b" ".join([b"%s-%d" % (word, number), *others])
            yield b" ||| ".join((label, source, rest.rstrip(b"\r\n"))) + b"\n"


def packed(rules: Path, folder: Path, missing: float, *more: str) -> float:
    """Pack the rules; return CPU seconds."""
    shutil.rmtree(folder, ignore_errors=True)
    before = os.times()
    command = [
        "pack",
        rules,
        "-o",
        folder,
        "--set",
        f"missing={missing}",
        "--set",
        "sizes=XXXL",
        *more,
    ]
    subprocess.run([*PROGRAM, *map(str, command)], check=True, stderr=subprocess.DEVNULL)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def size(folder: Path, pattern: str) -> str:
    found = [path for path in folder.rglob(pattern) if path.is_file()]
    return f"{sum(path.stat().st_size for path in found) / 1e6:,.1f}" if found else ""


def milliseconds(act, times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        act()
    return 1000 * (time.process_time() - begun) / times


def row(name: str, rules: Path, folder: Path, seconds: float) -> None:
    """Print what a grammar takes, and whether its answers are complete."""
    counts: Counter[str] = Counter()
    for _, line in read_lines(rules):
        counts[line.split(b" ||| ", 2)[1].decode()] += 1
    index = GrammarIndex.open(folder)
    asked = list(counts)[:ASKED]
    same = len(index) == sum(counts.values()) and all(
        len(index.rules(source)) == counts[source] for source in asked
    )
    longest = max(asked, key=lambda source: counts[source])
    cells = [
        name, f"{len(index):,}", f"{rules.stat().st_size / 1e6:,.1f}", size(folder, "*.gz"),
        size(folder, "*.parquet"), size(folder / "index", "*"), f"{seconds:.1f}",
        f"{milliseconds(lambda: GrammarIndex.open(folder), OPENED):.1f}",
        f"{milliseconds(lambda: index.rules('no such side'), OPENED):.2f}",
        f"{milliseconds(lambda: index.rules(longest), OPENED):.2f} ({counts[longest]})", str(same),
    ]  # fmt: skip
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rules", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--copies", type=int, default=5)
    parser.add_argument("--missing", type=float, default=100.0)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    plain, many = given.output / "rules", given.output / "many"
    plain.write_bytes(b"".join(copied(given.rules, 1)))
    with many.open("wb") as file:
        file.writelines(copied(given.rules, given.copies))
    heads = ["", "rules", "text, MB", "gz", "Parquet", "index", "CPU s", "opened, ms",
             "not there, ms", "longest answer, ms", "the same"]  # fmt: skip
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    folder = given.output / "packs"
    row("exact", plain, folder, packed(plain, folder, given.missing, "--parquet"))
    row("quantised", plain, folder, packed(plain, folder, given.missing, "--set", "quantise=true"))
    row(f"{given.copies} copies", many, folder, packed(many, folder, given.missing))


if __name__ == "__main__":
    main()
