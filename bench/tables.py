"""All tables at once: every benchmark with the settings of bench/README.md, or tiny.

    python bench/tables.py FOLDER [--only NAME...]     # hours; wants ../shared/data
    python bench/tables.py FOLDER --tiny [--jobs 2]    # minutes; wants nothing but the package

What a benchmark prints goes to FOLDER/NAME.md, below its command. A tiny run is no measurement: on
texts whose answers are known (bench/tiny.py) it checks what must be so at any size, such as faiss's
distances, equal counts, the same bytes by every road, links found again; it ends with 1 where one
fails or prints what it must not. CI runs it.
"""

import argparse
import lzma
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
from frame import PROJECT, SHARED, distsim

HERE = Path(__file__).resolve().parent
PACKAGED = PROJECT / "distsim" / "data"
NOVELS = ("carroll-alice-in-wonderland-1865", "buchan-thirty-nine-steps-1915")  # of tiny runs
WRONG = r"MISSED|False|DIFFERENT|Traceback|\bnan\b"


class Benchmark(NamedTuple):
    """A script, and what it is run with at full size and tiny (None: not then).

    name: the script's, and a word more where it has several runs. right: what a tiny run must
    print, where texts make the answer known. after: the benchmark whose files it reads.
    """

    name: str
    full: str | None
    tiny: str | None
    right: str = ""
    after: str = ""

    @property
    def script(self) -> Path:
        return HERE / f"{self.name.split()[0]}.py"


# What is in braces is a property of Materials; {work}: a folder of the run's own.
# Without a tiny run: `cluster` on Spark (tests/cluster has small ones), and rewriting/prepare
# (stanza's models, which the package has not; bench/tiny.py makes what it leaves), and
# near_duplicates (documents, which the packaged texts are not parted into), and
# labelled_substitution (trees of sentences).
BENCHMARKS = (
    Benchmark("index", "", "--data {packaged}/novels --millions .05"),
    Benchmark(
        "commands", "{index}", "{index} --phrase 'a little' --word queen", r"^\| `paraphrase`"
    ),
    Benchmark(
        "answers",
        "{index} {work}/questions {work}/answers --other {index}",
        "{index} {work}/questions {work}/answers --other {index} --questions 20",
        r"^\| `score` \| \d",
    ),
    Benchmark("warm", "{index}", "{index} --questions 6", r"^\| `stream` \|"),
    Benchmark(
        "people",
        "{index} {people} --peers word2vec fasttext",
        "{index} {people} --peers word2vec --data {data}",
        r"^\| default, real-valued \| \d+ \| \d+ \| 1\.000 \|",
    ),
    Benchmark("estimates", "{index}", "{index} --phrases 20", r"^\| restored \|"),
    Benchmark(
        "neighbours",
        "{index}",
        "{index} --words 4 --data {data}",
        r"^100 of 100 have faiss[\s\S]*\| table alone \| 1\.000 \|",
    ),
    Benchmark(
        "near_duplicates",
        "{data}/wiki-en-2015/AA.txt.xz {work}/near --documents 4000",
        None,
    ),
    Benchmark(
        "opposites", "{index}", "{index} --no-vectors --data {data}", r"^\| sim_whole \| 1\.000"
    ),
    Benchmark(
        "alignment",
        "",
        "--data {data} --pairs 360 --rows ours",
        r"^\| 360 \| ours \| 0\.000 \| .* \| 1\.000 \| [\d,]+ \|",
    ),
    Benchmark(
        "grammars",
        "{grammars} --index {index}",
        "{grammars} --index {index} --data {data}",
        r"the same bytes[\s\S]*packs, gappy: .*: True",
    ),
    Benchmark(
        "judged_rules",
        "{index} {grammars}/all.para",
        "{index} {grammars}/all.para --data {judged}",
        r"^\| pivot, both directions \|.*\| 1\.000 ",
        "grammars",
    ),
    Benchmark(
        "labelled_substitution",
        "{grammars} {index} --out {work}/judge",
        None,
        after="grammars",
    ),
    Benchmark(
        "virtual_counts",
        "{grammars}/phrases.rules",
        "{grammars}/phrases.rules --data {judged}",
        r"^\| pivot \|.*\| 1\.000 ",
        "grammars",
    ),
    Benchmark(
        "gapped",
        "{index} {grammars}/samt.para",
        "{index} {grammars}/samt.para --most 1000",
        r"^\| sim_gap \|",
        "grammars",
    ),
    Benchmark(
        "rule_controls",
        "{index} {grammars}/samt.para {grammars}/all.para",
        "{index} {grammars}/samt.para --most 200",
        r"^\| identical \|.*\| 0\.0\d\d of [\d,]+ \|$",
        "grammars",
    ),
    Benchmark("pseudowords", "{index}", "{index} --each 2 1 --seeds 7 --only", r"^\| default \|"),
    Benchmark(
        "substitution",
        "{index}",
        "{index} --data {data}",
        r"^\| likeness alone \| 0\.9",
    ),
    Benchmark(
        "syntax",
        "{data}/wiki-spacy/wiki-spacy.conllu.xz --work {work}",
        "{data}/gum-annotated/gum-free.conllu.gz --work {work} --presets thesis --data {data}",
        r"^\| syntax, thesis \|[\s\S]*\| both \|",
    ),
    Benchmark("cluster", "{data}/wiki-en-2015 {work} --sizes 5 38", None),
    Benchmark(
        "cluster local",
        "{data}/wiki-en-2015 {work} --local",
        "{packaged}/novels {work} --sizes .03 --local",
        r"\| True \|",
    ),
    Benchmark("server", "{index}", "{index} --phrases 8 --seconds 1", r"has them: 8 of 8"),
    Benchmark(
        "translation/experiment",
        "{data}/bitext-lohelp {index} {work}/translation --tunings 3",
        "{data}/bitext-lohelp none {work}/translation --sizes 500 --draws 1 --dev 8 --test 40",
        r"^\| 500 \| \d",
    ),
    Benchmark("translation/lexicon", "{data}/bitext-lohelp {work}/translation", None),
    Benchmark("rewriting/prepare", "{rewriting}", None),
    Benchmark("rewriting/weights", "-o {work}/simplify.weights", None),
    Benchmark(
        "rewriting/quality simplify",
        "simplify {rewriting}",
        "simplify {rewriting}",
        r"^\| copy \|.*\| 1\.00 \| 1\.00 \|",
        "rewriting/prepare",
    ),
    Benchmark(
        "rewriting/quality shorten",
        "shorten {rewriting}",
        "shorten {rewriting}",
        r"^\| the reference itself \| 100\.00 \| 100\.00 \|",
        "rewriting/prepare",
    ),
)


class Materials:
    """What benchmarks ask for by name, each made when the first one does, and kept."""

    packaged = PACKAGED

    def __init__(self, folder: Path, tiny: bool) -> None:
        self._folder, self._tiny = folder, tiny
        self._lock = RLock()

    def __getitem__(self, name: str) -> object:
        with self._lock:
            return getattr(self, name)

    def _once(self, name: str, make: Callable[[Path], object]) -> Path:
        path = self._folder / name
        if not path.exists():
            make(path)
        return path

    @cached_property
    def index(self) -> Path:
        """The text's index, signed by the default."""
        novels = [PACKAGED / "novels" / f"{name}.txt.xz" for name in NOVELS]
        archives = novels if self._tiny else sorted((SHARED / "wiki-en-2015").glob("*.txt.xz"))
        whole = (lzma.decompress(path.read_bytes()) for path in archives)
        text = self._once("text.txt", lambda path: path.write_bytes(b"".join(whole)))

        def build(path: Path) -> None:
            distsim("index", "build", "--format", "text", "--dedup", "exact", text, "-o", path)
            distsim("sign", path)

        return self._once("wiki.index", build)

    @cached_property
    def data(self) -> Path:
        """../shared/data, or of tiny runs what bench/tiny.py made in its layout."""
        from tiny import write_data

        return write_data(self._folder / "data", self.index) if self._tiny else SHARED

    @cached_property
    def judged(self) -> Path:
        """Judged pairs of tiny runs: paraphrases of the grammar, judged by their probability."""
        from tiny import write_judged

        return write_judged(self._folder / "judged", self.grammars / "all.para")

    @cached_property
    def people(self) -> Path:
        return self._folder / "people"

    @cached_property
    def grammars(self) -> Path:
        return self._folder / "grammars"

    @cached_property
    def rewriting(self) -> Path:
        """What rewriting/prepare.py leaves; of tiny runs made up."""
        from tiny import write_rewriting

        folder = self._folder / "rewriting"
        return write_rewriting(folder, self.index) if self._tiny else folder


class Arguments(dict[str, object]):
    """What stands for the names in braces."""

    def __init__(self, materials: Materials, work: Path) -> None:
        super().__init__(work=work)
        self._materials = materials

    def __missing__(self, name: str) -> object:
        return self._materials[name]


def run(one: Benchmark, arguments: str, materials: Materials, folder: Path, tiny: bool) -> str:
    """Run a benchmark, keep what it prints, and return what is wrong with it, if anything."""
    file_name = one.name.replace("/", "-").replace(" ", "-")
    work = folder / f"{file_name}.work"
    work.mkdir(exist_ok=True)
    given = shlex.split(arguments.format_map(Arguments(materials, work)))
    before, began = os.times(), time.monotonic()
    done = subprocess.run(
        [sys.executable, one.script, *given], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])  # of others, too, where there are several jobs
    command = " ".join(["python", f"bench/{one.name.split()[0]}.py", arguments]).strip()
    (folder / f"{file_name}.md").write_text(f"`{command}`\n\n{done.stdout}", encoding="utf-8")
    print(f"{time.monotonic() - began:6.1f} s {cpu:6.1f} CPU s  {command}", flush=True)
    if done.returncode:
        return f"{command}: status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    if found := re.search(WRONG, done.stdout):
        return f"{command}: prints {found[0]!r}\n{done.stdout}"
    if tiny and not re.search(one.right, done.stdout, re.MULTILINE):
        return f"{command}: does not print {one.right!r}\n{done.stdout}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tiny", action="store_true", help="no measurement: what must be so")
    parser.add_argument("--only", nargs="+", choices=[one.name for one in BENCHMARKS])
    parser.add_argument("--jobs", type=int, default=1, help="at once; of measurements only 1")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    materials = Materials(asked.folder, asked.tiny)
    started: dict[str, Future[str]] = {}

    def begin(one: Benchmark, arguments: str) -> str:
        if one.after in started:  # it is before, so it has begun
            started[one.after].result()
        try:
            return run(one, arguments, materials, asked.folder, asked.tiny)
        except Exception as error:  # a file of another benchmark that is not there
            return f"{one.name}: {type(error).__name__}: {error}"

    with ThreadPoolExecutor(asked.jobs) as pool:
        for one in BENCHMARKS:
            arguments = one.tiny if asked.tiny else one.full
            if arguments is not None and (asked.only is None or one.name in asked.only):
                started[one.name] = pool.submit(begin, one, arguments)
        faults = [fault for future in started.values() if (fault := future.result())]
    if faults:
        sys.exit("\n\n".join(faults))


if __name__ == "__main__":
    main()
