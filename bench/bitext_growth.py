"""Growth with the number of sentence pairs, from a bitext to packed paraphrase rules.

    python -m bench.bitext_growth ../shared/data INDEX --work FOLDER --sizes 1e5 1e6
    python -m bench.bitext_growth ../shared/data INDEX --work FOLDER --sizes 1e7 --links
    python -m bench.bitext_growth --work FOLDER

The pairs are those of bench/large_bitext.py. Each stage is a command of its own, and its figures
are written to FOLDER/growth.json when it ends: a run that was killed goes on with the stage that
was not finished. What nothing else will read is removed: texts, bitexts and packs stay. --links
takes the maker's links, so that extraction does not wait for the aligner. Rules with gaps are
extracted and pivoted last, up to --hiero pairs, since their instances take most of the disk.
Without data the table of what was measured is printed.

CPU seconds (in brackets microseconds a pair), the most memory of its own and with mapped files, the
most bytes on the disk while it runs, and bytes of its output.
"""

import re
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

from bench.frame import parser, print_machine, print_table, run
from bench.growth import Figures

PHRASES = ("in accordance with", "it is necessary to", "help", "select")
RULES = (r"([\d,]+) (?:paraphrase )?rules?(?: with [\d,]+ labels?)? written", r"([\d,]+) links")


class Stage(NamedTuple):
    """A command, what it makes, and which input nothing else will read."""

    name: str
    command: list[object]
    output: Path
    used: Path | None = None


def stages_of(name: str, files: list[Path], given: Any) -> list[Stage]:
    """Return the stages of one bitext in order."""
    work, memory = given.work, ("--memory", given.memory)
    bitext, packs = work / f"{name}.bitext", work / f"{name}.packs"
    rules, hiero = work / f"{name}.rules", work / f"{name}.hiero"
    pivoted, gappy = work / f"{name}.para.zst", work / f"{name}.hiero-para.zst"
    scored = work / f"{name}.scored.zst"
    links = ("--links", files[2]) if given.links else ()
    settings = [word for setting in given.set for word in ("--set", setting)]
    stages = [
        Stage("align", ["align", *files[:2], "--format", "lines", *links, "-o", bitext], bitext),
        Stage(
            "extract --preset phrases",
            ["extract", bitext, "--preset", "phrases", *settings, "--numeric", rules, *memory],
            rules,
        ),
        Stage("pivot", ["pivot", rules, "-o", pivoted, *memory], pivoted, rules),
        Stage("score", ["score", pivoted, "--ngram", given.index, "-o", scored], scored, pivoted),
        Stage("pack", ["pack", scored, "-o", packs], packs, scored),
        Stage("rules", ["rules", packs, *PHRASES], packs),
    ]
    if int(name.split(maxsplit=1)[0]) <= given.hiero:
        extract = ["extract", bitext, "--preset", "hiero", "--numeric", hiero, *memory]
        stages += [
            Stage("extract --preset hiero", extract, hiero),
            Stage("pivot, with gaps", ["pivot", hiero, "-o", gappy, *memory], gappy, hiero),
        ]
    return stages


def measure(figures: Figures, name: str, n_pairs: int, given: Any) -> None:
    """Measure the stages of one bitext that have no figures yet."""
    files = [given.work / f"{n_pairs}.{part}.zst" for part in ("en", "fr", "links")]
    if not all(file.exists() for file in files):
        # A process of its own: the peak memory of a stage begins with its parent's.
        run(sys.executable, "-m", "bench.large_bitext", given.data, "--pairs", n_pairs,
            "--work", given.work)  # fmt: skip
    figures.add(name, pairs=n_pairs)
    for stage in stages_of(name, files, given):
        if given.only and stage.name not in given.only:
            continue
        figures.measure(name, stage.name, stage.command, stage.output)
        if stage.used is not None:
            shutil.rmtree(stage.used) if stage.used.is_dir() else stage.used.unlink(True)


def rows(sizes: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Return the table: some rows of each stage, a column a bitext."""
    names = dict.fromkeys(
        stage for size in sizes.values() for stage, value in size.items() if isinstance(value, dict)
    )
    table = []
    for stage in names:
        cells = [(size.get(stage), size["pairs"]) for size in sizes.values()]
        for title, cell in (
            (f"`{stage}`", lambda c, n: f"{c['cpu']:,.0f} ({1e6 * c['cpu'] / n:,.0f})"),
            ("its own memory", lambda c, _: f"{c['own'] / 1e9:.2f} GB"),
            ("with mapped files", lambda c, _: f"{c['peak'] / 1e9:.2f} GB"),
            ("disk meanwhile", lambda c, _: f"{c['disk'] / 1e9:.2f} GB"),
            ("output", lambda c, _: f"{c['bytes'] / 1e9:.2f} GB{number_of(c['log'])}"),
        ):
            table.append([title, *(cell(c, n) if c else "" for c, n in cells)])
    return table


def number_of(log: str) -> str:
    """Return how many links or rules a command reports."""
    for pattern in RULES:
        report = re.search(pattern, log)
        if report:
            return f", {report[0]}"
    return ""


def main() -> None:
    """Print the table; measure what is not in it yet."""
    arguments = parser(__doc__)
    arguments.add_argument("data", type=Path, nargs="?", help="the folder of shared data")
    arguments.add_argument("index", nargs="?", help="signed, for scores")
    arguments.add_argument("--work", type=Path, required=True)
    arguments.add_argument("--sizes", type=float, nargs="+", default=[1e5, 1e6])
    arguments.add_argument("--hiero", type=float, default=1e5, help="the most pairs")
    arguments.add_argument("--links", action="store_true", help="do not learn them")
    arguments.add_argument("--only", nargs="+", help="stages, as in the table; all by default")
    arguments.add_argument("--set", nargs="*", default=[], help="of the extraction")
    arguments.add_argument("--memory", default="2G")
    given = arguments.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    figures = Figures(given.work)
    if given.data:
        print_machine()
        for size in map(int, given.sizes):
            name = " ".join([str(size), *("links" for _ in range(given.links)), *given.set])
            measure(figures, name, size, given)
    if not figures.sizes:
        sys.exit(f"{given.work} has no figures: name the data first")
    print_table(["pairs", *figures.sizes], rows(figures.sizes))


if __name__ == "__main__":
    main()
