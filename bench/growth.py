"""What building and signing take as a text grows: CPU seconds, memory and disk by stage.

    python -m bench.growth large.txt.zst --work FOLDER [--sizes 1e7 4e7 1.5e8 1e9] [--memory 6G]
    python -m bench.growth --work FOLDER --real ../shared/data
    python -m bench.growth --work FOLDER --picture growth.svg

The text is a sentence a line (`bench/large_text.py`); its first lines are the smaller texts.
--real adds a text of several real sources, all the English ones, repeated lines dropped. Each
stage is a command of its own, and its figures are written to FOLDER/growth.json when it ends: a run
that was killed goes on with the stage that was not finished. Indexes and tables stay in FOLDER.
"""

import json
import os
import re
import sys
import time
from contextlib import suppress
from datetime import date
from pathlib import Path
from threading import Thread
from typing import Any

from bench.frame import distsim, parser, print_machine, print_table
from distsim.storage.resumption import replacing

REAL = (
    "wiki-en-2015/*.txt.xz", "eltec-en/*.xz", "bitext-europarl-fr-en/*.en.xz",
    "bitext-lohelp/*.en.gz", "bitext-hansards-fr-en/train.en.xz", "wiki-split/*.tsv.gz",
    "bitext-cdec-newscomm-fr-en/corpus.fr-en",
)  # fmt: skip
STAGES = {"build": "index build", "sign": "sign", "thesis": "sign --preset thesis"}


def first_lines(text: Path, n_tokens: int, output: Path) -> None:
    """Write the first lines of a text, `n_tokens` tokens in all."""
    from distsim.corpus.sources import find_file, open_source
    from distsim.storage.files import open_output

    n = 0
    with open_source(find_file(text)) as lines, open_output(output) as out:
        for line in lines:
            n += line.count(b" ") + 1
            if n > n_tokens:
                break
            out.write(line)


def real_text(data: Path, output: Path) -> None:
    """Write the English text of several sources, a sentence or paragraph a line."""
    from distsim.corpus.sources import find_file, open_source
    from distsim.storage.files import open_output

    with open_output(output) as out:
        for file in (file for pattern in REAL for file in sorted(data.glob(pattern))):
            with open_source(find_file(file)) as lines:
                for line in lines:
                    if ".tsv" in file.name:
                        line = line.split(b"\t")[0] + b"\n"  # what was split
                    out.write(line.split(b" ||| ")[-1])
            out.write(b"\n")


def bytes_of(path: Path, without: str = "") -> int:
    """Return the bytes of a file or of all files in a folder, some of which may go meanwhile."""
    files = [path] if path.is_file() else [Path(a) / b for a, _, c in os.walk(path) for b in c]
    n = 0
    for file in files:
        with suppress(FileNotFoundError):
            n += file.stat().st_size if not without or without not in file.parts else 0
    return n


class Watch:
    """Peaks of a running process: memory without mapped files, and bytes more in a folder."""

    own = disk = 0

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = bytes_of(folder)

    def begin(self, process: int) -> None:
        Thread(target=self._look, args=(Path(f"/proc/{process}/status"),), daemon=True).start()

    def _look(self, status: Path) -> None:
        while status.exists():
            with suppress(OSError):
                size = re.search(r"RssAnon:\s+(\d+) kB", status.read_text())
                self.own = max(self.own, 1024 * int(size[1]) if size else 0)
            self.disk = max(self.disk, bytes_of(self._folder) - self._before)
            time.sleep(0.1)


class Figures:
    """Figures of stages by size of the input, kept in a folder: a stage is measured once.

    Attributes:
        sizes: stages by the input's name, with facts about it.
    """

    def __init__(self, work: Path) -> None:
        self._work = work
        self._notes = work / "growth.json"
        self.sizes = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        sizes: dict[str, dict[str, Any]] = {}
        if self._notes.exists():
            sizes = json.loads(self._notes.read_text("utf-8"))
        return sizes

    def add(self, name: str, **facts: object) -> None:
        """Keep facts about an input, beside what another run has written meanwhile."""
        self.sizes = self._read()
        self.sizes.setdefault(name, {}).update(facts)
        with replacing(self._notes) as part:
            part.write_text(json.dumps(self.sizes, indent=1), "utf-8")

    def measure(
        self, name: str, stage: str, command: list[object], output: Path, without: str = ""
    ) -> None:
        """Run a stage that has no figures yet; its output is sized without a folder of it."""
        if stage in self.sizes.get(name, {}):
            return
        watch = Watch(self._work)
        began = time.monotonic()
        cost = distsim(*command, started=watch.begin)
        figures = {
            "cpu": cost.cpu, "seconds": time.monotonic() - began, "peak": cost.peak,
            "own": watch.own, "bytes": bytes_of(output, without), "disk": watch.disk,
            "log": cost.log[-2000:], "on": str(date.today()),
        }  # fmt: skip
        self.add(name, **{stage: figures})


def stages(figures: Figures, name: str, work: Path, memory: str, *how: str) -> None:
    """Measure the stages of one text."""
    part, index = work / f"{name}.txt.zst", work / f"{name}.index"
    thesis = work / f"{name}.thesis"
    is_there = ["--force"] if index.exists() else []
    commands: tuple[tuple[str, list[object], Path], ...] = (
        ("build", ["index", "build", part, "-o", index, *how, *is_there], index),
        ("sign", ["sign", index], index / "signatures"),
        ("thesis", ["sign", index, "--preset", "thesis", "-o", thesis], thesis),
    )
    for stage, command, output in commands:
        without = "signatures" if stage == "build" else ""
        figures.measure(name, stage, [*command, "--memory", memory], output, without)
        if stage == "build" and "tokens" not in figures.sizes[name]:
            parameters = json.loads(distsim("info", index, "--json").output)["parameters"]
            figures.add(name, tokens=parameters["counts"]["tokens"], words=parameters["words"])


def rows(found: dict[str, dict[str, Any]]) -> list[list[str]]:
    sizes = list(found.values())
    table = [["different words", *(f"{one['words']:,}" for one in sizes)]]
    for stage, name in STAGES.items():
        cells = [(one[stage], one["tokens"]) for one in sizes]
        table += [
            [f"`{name}`", *(f"{c['cpu']:.1f} ({1e6 * c['cpu'] / n:.2f})" for c, n in cells)],
            ["its peak, mapped files included", *(f"{c['peak'] / 1e9:.1f} GB" for c, _ in cells)],
            [
                "on disk, bytes a token",
                *(f"{c['bytes'] / 1e9:.2f} GB, {c['bytes'] / n:.1f}" for c, n in cells),
            ],
        ]
    return table


def draw(found: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw CPU seconds a million tokens by stage and size."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    real = found.pop("real", None)
    tokens = [one["tokens"] for one in found.values()]
    for stage, name in STAGES.items():
        seconds = [1e6 * one[stage]["cpu"] / one["tokens"] for one in found.values()]
        (line,) = axes.plot(tokens, seconds, marker="o", label=name)
        if real:
            cpu = 1e6 * real[stage]["cpu"] / real["tokens"]
            axes.plot(real["tokens"], cpu, "x", color=line.get_color())
    axes.set(xscale="log", xlabel="tokens", ylabel="CPU seconds a million tokens", ylim=0)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print the table; measure what is not in it yet."""
    arguments = parser(__doc__)
    arguments.add_argument("text", type=Path, nargs="?")
    arguments.add_argument("--work", type=Path, required=True)
    arguments.add_argument("--sizes", type=float, nargs="+", default=[1e7, 4e7, 1.5e8, 1e9])
    arguments.add_argument("--memory", default="6G")
    arguments.add_argument("--real", type=Path, help="the folder of shared data")
    arguments.add_argument("--picture", type=Path, help="needs matplotlib")
    given = arguments.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    figures = Figures(given.work)
    if given.text:
        print_machine()
        for size in map(int, given.sizes):
            part = given.work / f"{size}.txt.zst"
            if not part.exists():
                first_lines(given.text, size, part)
            stages(figures, str(size), given.work, given.memory, "--format", "lines")
    if given.real:
        part = given.work / "real.txt.zst"
        if not part.exists():
            real_text(given.real, part)
        stages(figures, "real", given.work, given.memory, "--format", "text", "--dedup", "exact")
    if not figures.sizes:
        sys.exit(f"{given.work} has no figures: name the text first")
    found = dict(sorted(figures.sizes.items(), key=lambda one: int(one[1]["tokens"])))
    print_table(
        [
            "tokens",
            *(f"{one['tokens']:,}{' real' * (name == 'real')}" for name, one in found.items()),
        ],
        rows(found),
    )
    if given.picture:
        draw(found, given.picture)


if __name__ == "__main__":
    main()
