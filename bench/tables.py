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

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tiny import made

HERE = Path(__file__).resolve().parent
PACKAGED = HERE.parent / "distsim" / "data"
SHARED = HERE.parent / "../shared/data"
# Of tiny gold sets, whose scores are real-valued cosines, real-valued vectors agree with all.
REAL_IS_PEOPLE = r"1\.000 \(1\.000 to 1\.000\)"
TINY = ("carroll-alice-in-wonderland-1865", "buchan-thirty-nine-steps-1915")


class Benchmark(NamedTuple):
    """A script, what it is run with at full size and tiny (None: not then).

    wrong: what must not be printed. right: what must be, tiny, where texts make the answer known.
    """

    name: str
    full: str | None
    tiny: str | None
    wrong: str = "MISSED|False"
    right: str = ""


# {index}: signed; {text}: its text; {bitext}: with links; {work}: a folder of the script's own;
# {data}: ../shared/data, or of tiny runs what bench/tiny.py made in its layout.
BENCHMARKS = (
    Benchmark("peers", "", "--data {packaged}/novels --millions .1", r"\b\d\d? of 100 have faiss"),
    Benchmark(
        "roads",
        "{text} --format text -o {work}",
        "{text} --format text --weights raw --parts 2 -o {work}",
    ),
    Benchmark(
        "dedup",
        "{text} --format text --gold {data} -o {work}",
        "{text} --format text --gold {data} --phrases 20 -o {work}",
        right=r"lines dropped \| 0 \|",
    ),
    Benchmark("faults", "kill flip starve", "flip --flips 1 --tokens 500"),
    Benchmark("concurrency", "", "--readers 2 --changes 2 --tokens 2000", r"[1-9]\d* promises"),
    Benchmark("extraction", "{bitext} --preset hiero", "{bitext} --preset hiero --text"),
    Benchmark("estimates", "{index} {gold}", "{index} {gold} --phrases 20", right=REAL_IS_PEOPLE),
    Benchmark("people_peers", "{index} {peers} word2vec", None),
    Benchmark(
        "people",
        "{index} {work} {gold} --peers {peers}",
        "{index} {work} {gold}",
        right=r"real-valued \|.*\| 1\.000 \(1\.000, 100%\)",
    ),
    Benchmark("pseudowords", "{index}", "{index} --targets 3 --seeds 7"),
    Benchmark("taming", "{index}", "{index} --phrases 4", "Traceback"),
    Benchmark("paraphrase_speed", "{index}", "{index} --phrases 5", "Traceback"),
    Benchmark(
        "paraphrase_kills",
        None,
        "{index} {data}/asked {data}/known --times 1",
        right=r"^1 of 1 the same",
    ),
    Benchmark(
        "score",
        "{index}",
        "{index} --rules 500 --grammar {data}/samt.para",
        "LOST|DIFFERENT",
        "the same bytes",
    ),
    Benchmark(
        "paraphrase_quality",
        "{index}",
        "{index} --grammar {data}/samt.para --data {data}",
        "Traceback",
        r"judged\twhole phrases\t0\.9",
    ),
    Benchmark("rules", "{index} {samt}", "{index} {data}/samt.para --most 1000", "nan"),
    Benchmark("align", "", "{data}/phrase-table", right=r"distsim\t[01]\.\d+\t[01]\.\d+"),
    Benchmark("alignment", "", None),
    Benchmark(
        "grammar_road",
        None,
        "{data}/all.rules --index {index} --gold {data}/gold-pivoted",
        right=r"p\(e2 given e1\) \| \d+ \| 1\.000",
    ),
    Benchmark(
        "opposites",
        "{index} {data}/gold-antsyn",
        "{index} {data}/gold-antsyn",
        "nan",
        r"\| sim_whole \| val \| 1\.000",
    ),
    Benchmark(
        "substitution",
        "{index} {data}/gold-lexsub-dev semeval-trial coinco-dev",
        "{index} {data}/gold-lexsub-dev one two --found 5",
        "nan",
        r"likeness by bits only \| 1\.000",
    ),
    Benchmark("server", "{index}", "{index} --phrases 8 --seconds 1", right="has them: 8 of 8"),
    Benchmark(
        "rewriting/rows",
        "{turk}",
        "{data}/source {data}/reference.0 {data}/reference.1",
        right=r"copy\t\d+\.\d",
    ),
    Benchmark("rewriting/without_sentences", None, "{text} {work}/left {data}/source", "Traceback"),
    Benchmark("adversary/grammars", "", "--lines 200 --kills 1 --minutes 1", "Traceback"),
    Benchmark("adversary/rules", None, "sums {bitext} --preset phrases", "Traceback"),
    Benchmark("adversary/making", "--kills 20", None),
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
    data = made(folder / "data", index, bitext) if tiny else SHARED
    gold = sorted((data / "gold-wordsim-shared").glob("EN-*.txt"))
    turk = sorted((data / "gold-turkcorpus-tune").glob("tune.8turkers.tok.*"))
    samt = folder / "samt.para"
    if not tiny and not samt.exists():
        grammar = SHARED / "grammars/joshua.bn-en.samt.grammar.gz"
        distsim("pivot", grammar, "--columns", "joint", "-o", samt)
    return {
        "text": str(text), "index": str(index), "bitext": str(bitext), "packaged": str(PACKAGED),
        "data": str(data), "gold": " ".join(map(str, gold)), "turk": " ".join(map(str, turk)),
        "peers": str(folder / "peers"), "samt": str(samt),
    }  # fmt: skip


def run(
    benchmark: Benchmark, arguments: str, names: dict[str, str], folder: Path, tiny: bool
) -> str | None:
    """Run a benchmark, keep what it prints, and return what is wrong with it, if anything."""
    file_name = benchmark.name.replace("/", "-")
    work = folder / f"{file_name}.work"
    work.mkdir(exist_ok=True)
    given = arguments.format(work=work, **names).split()
    script = HERE / f"{benchmark.name}.py"
    began = time.monotonic()
    environment = os.environ | {"PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(
        [sys.executable, script, *given], capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip
    command = " ".join(["python", f"bench/{benchmark.name}.py", *arguments.split()])
    told = f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores"
    kept = folder / f"{file_name}.md"
    kept.write_text(f"## `{command}`\n\n{told}\n\n{done.stdout}", encoding="utf-8")
    print(f"{time.monotonic() - began:6.1f} s  {command}", flush=True)
    if done.returncode:
        return f"{command}: status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    found = re.search(benchmark.wrong, done.stdout)
    if found:
        return f"{command}: prints {found[0]!r}\n{done.stdout}"
    if tiny and not re.search(benchmark.right, done.stdout, re.MULTILINE):
        return f"{command}: does not print {benchmark.right!r}\n{done.stdout}"
    return None


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
            fault = run(one, arguments, names, asked.folder, asked.tiny)
            faults += [fault] if fault else []
    if faults:
        sys.exit("\n\n".join(faults))


if __name__ == "__main__":
    main()
