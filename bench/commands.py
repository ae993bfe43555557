"""Commands as users type them: the first use after an installation, and every later one.

    python bench/commands.py INDEX [--phrase PHRASE] [--word WORD] [--write]

First use: the command with an empty cache of compiled kernels, in CPU seconds, with how many
kernels it compiled, and how many of numba's own functions. Later: the median of three processes,
CPU seconds and peak memory; `index` and `sign` take a packaged novel. Prints MISSED beside more
compilations than `BOUNDS` allows, and ends with 1, so that CI finds it out on a small index. INDEX
is signed by the default. `--write` lists seconds and kernels of the first use in
distsim/data/cli/first-use.tsv: a command announces the seconds, by the pace of a loop on its own
machine, and compiles the kernels on a second core. Write it where nothing else runs.
"""

import compileall
import math
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from frame import PROJECT, Cost, distsim, parser, print_machine, print_table, run

from distsim.cli.costs import AHEAD, loop_seconds

# Runs the command with a listener for compilations. At exit it writes to a file, for each, how many
# it is within, module, name and arguments.
COUNTING = """
import atexit, sys
from numba.core import event
compiled = []
depth = 0
class Listener(event.Listener):
    def on_start(self, event):
        global depth
        from distsim.kernels.compiling import signature_text
        kernel = event.data["dispatcher"].py_func
        arguments = signature_text(event.data["args"]) or ""
        compiled.append((str(depth), kernel.__module__, kernel.__name__, arguments))
        depth += 1
    def on_end(self, event):
        global depth
        depth -= 1
event.register("numba:compile", Listener())
target = sys.argv.pop(1)
atexit.register(lambda: open(target, "w").write("\\n".join(map("\\t".join, compiled))))
from distsim.cli.start import main
sys.argv[0] = "distsim"
main()
"""
# Compilations of distsim's kernels and of numba's own functions that a first use may take: those
# of 28 November 2026 and two more, since what is called differs a little between texts.
BOUNDS = {
    "index, a novel": (27, 3),
    "count": (0, 0),
    "kwic": (0, 0),
    "kwic --sort": (3, 3),
    "neighbours": (31, 6),
    "substitute": (39, 7),
    "paraphrase": (84, 13),
    "sign, a novel": (44, 8),
}
NOVEL = "carroll-alice-in-wonderland-1865.txt.xz"
REPEATS = 3


class FirstUse(NamedTuple):
    """Cost of a first use, and how many kernels of distsim and functions of numba it compiled.

    listed: module, name and arguments of the kernels that Python calls, in their order.
    """

    cost: Cost
    kernels: int
    numbas: int
    listed: list[str]


def first_use(arguments: list[object]) -> FirstUse:
    """Return what a command costs with nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "compiled"
        cost = run(
            sys.executable, "-c", COUNTING, names, *arguments,
            environment=os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache", AHEAD: "1"},
        )  # fmt: skip
        compiled = [line.split("\t") for line in names.read_text().splitlines()]
    listed = ["\t".join(kernel) for depth, *kernel in compiled if depth == "0" and kernel[-1]]
    ours = sum(module.startswith("distsim") for _, module, *_ in compiled)
    return FirstUse(cost, ours, len(compiled) - ours, listed)


def measured(
    commands: dict[str, list[object]], missed: list[str], listed: list[str]
) -> Iterator[list[str]]:
    """Yield the rows of the table; `missed` takes the commands that compile too much.

    listed: takes lines of the kernels that are compiled.
    """
    for name, arguments in commands.items():
        first = first_use(arguments)
        kernels, numbas = BOUNDS[name]
        many = first.kernels > kernels or first.numbas > numbas
        if many:
            missed.append(name)
        listed.append(f"{arguments[0]}\tseconds\t{math.ceil(first.cost.cpu)}")
        listed += [f"{arguments[0]}\t{kernel}" for kernel in first.listed]
        later = []
        for _ in range(REPEATS):
            if "-o" in arguments:
                shutil.rmtree(str(arguments[-1]))
            later.append(distsim(*arguments))
        yield [
            f"`{name}`",
            f"{first.cost.cpu:.1f}",
            f"{first.kernels} of {kernels}, {first.numbas} of {numbas}" + " MISSED" * many,
            f"{statistics.median(one.cpu for one in later):.2f}",
            f"{max(one.peak for one in later) / 1e6:.0f}",
        ]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", type=Path)
    options.add_argument("--phrase", default="in spite of")
    options.add_argument("--word", default="cold")
    options.add_argument("--write", action="store_true")
    asked = options.parse_args()
    index, word = asked.index, asked.word
    print_machine()
    # As an installation does: compiling modules would count in every process otherwise.
    compileall.compile_dir(PROJECT / "distsim", quiet=2)
    missed: list[str] = []
    listed = [f"loop\tseconds\t{loop_seconds():.4f}"]
    with tempfile.TemporaryDirectory() as folder:
        novel, table = Path(folder) / "novel.index", Path(folder) / "novel.table"
        text = PROJECT / "distsim" / "data" / "novels" / NOVEL
        commands: dict[str, list[object]] = {
            "index, a novel": ["index", "build", "--format", "text", text, "-o", novel],
            "count": ["count", index, asked.phrase],
            "kwic": ["kwic", index, "the", "-k", 20],
            "kwic --sort": ["kwic", index, "the", "--sort", "right", "-k", 20],
            "neighbours": ["neighbours", index, word],
            "substitute": ["substitute", index, f"it was a [{word}] day"],
            "paraphrase": ["paraphrase", index, asked.phrase],
            "sign, a novel": ["sign", novel, "-o", table],
        }
        columns = ("", "first use", "compiled: ours, numba's", "later", "MB")
        print_table(columns, measured(commands, missed, listed))
    if asked.write:
        (PROJECT / "distsim/data/cli/first-use.tsv").write_text(
            "".join(f"{one}\n" for one in listed)
        )
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
