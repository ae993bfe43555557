"""All tables at once: every benchmark with the settings that bench/README.md shows, or tiny.

    python bench/tables.py FOLDER [--only NAME...]     # hours; wants ../shared/data
    python bench/tables.py FOLDER --tiny               # minutes; wants nothing but the package

What a benchmark prints goes to FOLDER/NAME.md, below the command, the date and the machine, to be
copied into bench/README.md. A tiny run is no measurement: it holds the benchmarks to what must be
so at any size (the same bytes by every road, faiss's distances, equal counts, order kept), and
ends with 1 where one fails or prints what it must not. CI runs it.
"""

import argparse
import lzma
import os
import platform
import re
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PACKAGED = HERE.parent / "distsim" / "data"
SHARED = HERE.parent / "../shared/data"
TINY = ("carroll-alice-in-wonderland-1865", "buchan-thirty-nine-steps-1915")


class Benchmark(NamedTuple):
    """A script, what it is run with at full size and tiny (None: not then), what would be wrong."""

    name: str
    full: str | None
    tiny: str | None
    wrong: str = "MISSED|False"


# {index}: signed; {text}: its text; {bitext}: with links; {work}: a folder of the script's own.
BENCHMARKS = (
    Benchmark("peers", "", "--data {packaged}/novels --millions .1", r"\b\d\d? of 100 have faiss"),
    Benchmark(
        "roads",
        "{text} --format text -o {work}",
        "{text} --format text --weights raw --parts 2 -o {work}",
    ),
    Benchmark("dedup", "{text} --format text -o {work}", None),
    Benchmark("faults", "kill flip starve", "flip --flips 1 --tokens 500"),
    Benchmark("concurrency", "", "--readers 2 --changes 2 --tokens 2000", r"[1-9]\d* promises"),
    Benchmark("extraction", "{bitext} --preset hiero", "{bitext} --preset hiero --text"),
    Benchmark("estimates", "{index} {gold}", "{index} --phrases 20"),
    Benchmark("people", "{index} {work} {gold}", None),
    Benchmark("pseudowords", "{index}", "{index} --targets 3 --seeds 7"),
    Benchmark("taming", "{index}", "{index} --phrases 4", "Traceback"),
    Benchmark("paraphrase_speed", "{index}", "{index} --phrases 5", "Traceback"),
    Benchmark("score", "{index}", None),
    Benchmark("paraphrase_quality", "{index}", None),
    Benchmark("alignment", "", None),
    Benchmark("substitution", "{index} {data}/gold-lexsub-dev semeval-trial coinco-dev", None),
)


def distsim(*arguments: object) -> None:
    """Run a command of distsim; its words are shown."""
    subprocess.run([sys.executable, "-m", "distsim.cli.start", *map(str, arguments)], check=True)


def prepared(folder: Path, tiny: bool) -> dict[str, str]:
    """Make the text, the signed index and the bitext that benchmarks ask for; return the names."""
    text, index, bitext = folder / "text.txt", folder / "wiki.index", folder / "help.bitext"
    novels = [PACKAGED / "novels" / f"{name}.txt.xz" for name in TINY]
    packed = novels if tiny else sorted((SHARED / "wiki-en-2015").glob("*.txt.xz"))
    if not text.exists():
        text.write_bytes(b"".join(lzma.decompress(path.read_bytes()) for path in packed))
    if not index.exists():
        distsim("index", "build", "--format", "text", "--dedup", "exact", text, "-o", index)
        distsim("sign", index)
    help_texts = PACKAGED / "bitext" if tiny else SHARED / "bitext-lohelp"
    if not bitext.exists():
        english, german = (next(help_texts.glob(f"*{language}.*z")) for language in ("en", "de"))
        distsim("align", english, german, "--format", "text", "-o", bitext)
    gold = sorted((SHARED / "gold-wordsim-shared").glob("EN-*.txt"))
    return {
        "text": str(text), "index": str(index), "bitext": str(bitext), "packaged": str(PACKAGED),
        "data": str(SHARED), "gold": " ".join(map(str, gold)),
    }  # fmt: skip


def run(benchmark: Benchmark, arguments: str, names: dict[str, str], folder: Path) -> str | None:
    """Run a benchmark, keep what it prints, and return what is wrong with it, if anything."""
    work = folder / f"{benchmark.name}.work"
    work.mkdir(exist_ok=True)
    given = arguments.format(work=work, **names).split()
    script = HERE / f"{benchmark.name}.py"
    began = time.monotonic()
    environment = os.environ | {"PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(
        [sys.executable, script, *given], capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip
    command = " ".join(["python", f"bench/{script.name}", *arguments.split()])
    told = f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores"
    kept = folder / f"{benchmark.name}.md"
    kept.write_text(f"## `{command}`\n\n{told}\n\n{done.stdout}", encoding="utf-8")
    print(f"{time.monotonic() - began:6.1f} s  {command}", flush=True)
    if done.returncode:
        return f"{command}: status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    found = re.search(benchmark.wrong, done.stdout)
    return f"{command}: prints {found[0]!r}\n{done.stdout}" if found else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tiny", action="store_true", help="no measurement: what must be so")
    parser.add_argument("--only", nargs="+", choices=[one.name for one in BENCHMARKS])
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    names = prepared(asked.folder, asked.tiny)
    faults = []
    for one in BENCHMARKS:
        arguments = one.tiny if asked.tiny else one.full
        if arguments is not None and (asked.only is None or one.name in asked.only):
            fault = run(one, arguments, names, asked.folder)
            faults += [fault] if fault else []
    if faults:
        sys.exit("\n\n".join(faults))


if __name__ == "__main__":
    main()
