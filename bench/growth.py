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
import sys
from datetime import date
from pathlib import Path
from typing import Any

from bench.frame import distsim, parser, print_machine, print_table

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


def bytes_of(folder: Path, without: str = "") -> int:
    files = (one for one in folder.rglob("*") if one.is_file())
    return sum(one.stat().st_size for one in files if not without or without not in one.parts)


def stages(name: str, work: Path, memory: str, *how: str) -> dict[str, Any]:
    """Return the figures of each stage for one text; those that were measured are kept."""
    notes = work / "growth.json"
    all_found = json.loads(notes.read_text("utf-8")) if notes.exists() else {}
    found = all_found.setdefault(name, {})
    part, index = work / f"{name}.txt.zst", work / f"{name}.index"
    thesis = work / f"{name}.thesis"
    commands = {
        "build": (["index", "build", part, "-o", index, *how], index),
        "sign": (["sign", index], index / "signatures"),
        "thesis": (["sign", index, "--preset", "thesis", "-o", thesis], thesis),
    }
    for stage, (command, output) in commands.items():
        if stage not in found:
            if stage == "build" and index.exists():
                command.append("--force")
            cost = distsim(*command, "--memory", memory)
            size = bytes_of(output, "signatures" if stage == "build" else "")
            found[stage] = {
                "cpu": cost.cpu,
                "peak": cost.peak,
                "bytes": size,
                "on": str(date.today()),
            }
            if stage == "build":
                told = json.loads(distsim("info", index, "--json").output)["parameters"]
                counts = {"tokens": told["counts"]["tokens"], "words": told["words"]}
                found |= counts
            notes.write_text(json.dumps(all_found, indent=1), "utf-8")
    return found


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
    if given.text:
        print_machine()
        for size in map(int, given.sizes):
            part = given.work / f"{size}.txt.zst"
            if not part.exists():
                first_lines(given.text, size, part)
            stages(str(size), given.work, given.memory, "--format", "lines")
    if given.real:
        part = given.work / "real.txt.zst"
        if not part.exists():
            real_text(given.real, part)
        stages("real", given.work, given.memory, "--format", "text", "--dedup", "exact")
    notes = given.work / "growth.json"
    if not notes.exists():
        sys.exit(f"{notes} is not there: name the text first")
    found = json.loads(notes.read_text("utf-8"))
    found = dict(sorted(found.items(), key=lambda one: int(one[1]["tokens"])))
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
