"""All tables at once: every benchmark with the settings that bench/README.md shows, or tiny.

    python bench/tables.py FOLDER [--only NAME...]     # hours; wants ../shared/data
    python bench/tables.py FOLDER --tiny [--jobs 2]    # minutes; wants nothing but the package

What a benchmark prints goes to FOLDER/NAME.md, below the command, the date and the machine, to be
copied into bench/README.md. A tiny run is no measurement: it holds the benchmarks to what must be
so at any size (the same bytes by every road, faiss's distances, equal counts, order kept, links
found again), and ends with 1 where one fails or prints what it must not. CI runs it.
"""

import argparse
import lzma
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from functools import cached_property
from pathlib import Path
from threading import RLock, Thread
from typing import IO, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tiny import made, rewriting_folder

HERE = Path(__file__).resolve().parent
PACKAGED = HERE.parent / "distsim" / "data"
SHARED = HERE.parent / "../shared/data"
TINY = ("carroll-alice-in-wonderland-1865", "buchan-thirty-nine-steps-1915")
# Bitexts of English: name, files of the English side, of the other, format.
BITEXTS = (
    ("help-de", "bitext-lohelp/lohelp.en-de.en.gz", "bitext-lohelp/lohelp.en-de.de.gz", "text"),
    ("help-es", "bitext-lohelp/lohelp.en-es.en.gz", "bitext-lohelp/lohelp.en-es.es.gz", "text"),
    ("help-fr", "bitext-lohelp/lohelp.en-fr.en.gz", "bitext-lohelp/lohelp.en-fr.fr.gz", "text"),
    (
        "europarl", "bitext-europarl-fr-en/europarl-v7.fr-en.en.xz",
        "bitext-europarl-fr-en/europarl-v7.fr-en.fr.xz", "text",
    ),
    (
        "hansards", "bitext-hansards-fr-en/gold.en.xz bitext-hansards-fr-en/train.en.xz",
        "bitext-hansards-fr-en/gold.fr.xz bitext-hansards-fr-en/train.fr.xz", "lines",
    ),
)  # fmt: skip
NEWS = "bitext-cdec-newscomm-fr-en/corpus.fr-en"  # both sides in one file, French first


class Benchmark(NamedTuple):
    """A script, what it is run with at full size and tiny (None: not then).

    name: the script's, and a word more where it has several runs.
    wrong: what must not be printed. right: what must be, tiny, where texts make the answer known.
    """

    name: str
    full: str | None
    tiny: str | None
    wrong: str = "MISSED|False"
    right: str = ""
    after: str = ""  # the benchmark whose result it reads

    @property
    def script(self) -> Path:
        return HERE / f"{self.name.split()[0]}.py"


# Of tiny gold sets, whose scores are real-valued cosines, real-valued vectors agree with all.
REAL_IS_PEOPLE = r"1\.000 \(1\.000 to 1\.000\)"
# What stands in braces is a property of Materials; {work}: a folder of the run's own.
# Without a tiny run: `cluster cost` and `cluster kills` (a Spark cluster of processes, a minute
# each; tests/test_cluster_spark.py has small ones), rewriting/prepare (stanza's models, which the
# package has not; bench/tiny.py makes what it leaves). What stands in bench/translation/ beside
# experiment are its parts. At full size rewriting/augmentation wants tweets that are not in
# ../shared: its top says where they are.
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
    Benchmark("extraction", "{bitext} --preset hiero", "{bitext} --preset hiero --text"),
    Benchmark("codes", "{index} {gold}", "{index} {gold} --queries 20"),
    Benchmark("estimates", "{index} {gold}", "{index} {gold} --phrases 20", right=REAL_IS_PEOPLE),
    Benchmark(
        "people_peers", "{index} {peers} word2vec", "{index} {peers} word2vec", right=r"'words': \d"
    ),
    Benchmark("people_peers fasttext", "{index} {peers} fasttext", None),
    Benchmark(
        "people",
        "{index} {work} {gold} --peers {peers}",
        "{index} {work} {gold} --peers {peers}",
        right=r"real-valued \|.*\| 1\.000 \(1\.000 to 1\.000\)",
        after="people_peers",
    ),
    Benchmark(
        "kinds",
        "{index} {data}/gold-wordsim-shared {data}/gold-lexsub-dev/coinco-dev.gold.xz",
        "{index} {data}/gold-kinds {data}/gold-kinds/substitutes.xz --words 4",
        "nan",
        r"^\| table \| 1\.000 \|",
    ),
    Benchmark("pseudowords", "{index} --targets 250", "{index} --targets 3 --seeds 7"),
    Benchmark("taming", "{index}", "{index} --phrases 4", "Traceback"),
    Benchmark("paraphrase_speed", "{index} --phrases 500", "{index} --phrases 5", "Traceback"),
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
        r"judged\twhole phrases\t(0\.9|1\.0)",
    ),
    Benchmark("rules", "{index} {samt} --most 4000", "{index} {data}/samt.para --most 1000", "nan"),
    Benchmark("align", "", "{data}/phrase-table", right=r"distsim\t[01]\.\d+\t[01]\.\d+"),
    Benchmark(
        "alignment",
        "",
        "--data {data} --pairs 360 --rows ours",
        right=r"grow-diag-final-and \| 0\.000 \| 1\.000 \|.*\| 1\.000 \| [\d,]+ \|",
    ),
    Benchmark("packs", "{paraphrases} -o {work}", "{data}/samt.para -o {work}"),
    Benchmark(
        "grammar_road",
        "{all_rules} --index {index}",
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
    Benchmark(
        "syntax scale",
        "scale --tokens 10000000",
        "scale --data {data} --tokens 6000 --memory 1 64",
        right="the same to the byte: True",
    ),
    Benchmark(
        "syntax models",
        "models {wiki_part}",
        "models --data {data}",
        "Traceback",
        r"^\| syntax, all, only ner \| ppmi \|",
    ),
    Benchmark(
        "syntax size",
        "size {data}/wiki-spacy/wiki-spacy.conllu.xz --work {work}",
        "size {data}/gum-annotated/gum-free.conllu.gz --trees {data}/gum-annotated/gum-free.ptb.gz "
        "--data {data} --work {work}",
        "Traceback",
        r"^\| ngram-learnt \+ syntax-all-learnt \|",
    ),
    Benchmark(
        "cluster alone",
        "alone {data}/wiki-en-2015 {work} --sizes 1 8",
        "alone {packaged}/novels {work} --sizes .03",
        '"same": false',
        '"same": true',
    ),
    Benchmark("cluster cost", "cost {data}/wiki-en-2015 {work} --sizes 2 8", None, '"same": false'),
    Benchmark("cluster kills", "kills {data}/wiki-en-2015 {work}", None, '"same": false'),
    Benchmark("server", "{index}", "{index} --phrases 8 --seconds 1", right="has them: 8 of 8"),
    Benchmark(
        "translation/experiment",
        "{data}/bitext-lohelp {work}/english.index --text {data}/wiki-en-2015/AA.txt.xz "
        "{data}/wiki-en-2015/AB.txt.xz --sizes 250 2000 5000 --draws 1",
        "{data}/bitext-lohelp {work}/english.index --sizes 100 --draws 1 --dev 8 --test 8 "
        "--systems 0 1",
        "Traceback",
        r"^100\tceilings, words, from \.05: copied \d",
    ),
    Benchmark("rewriting/prepare", "{rewriting} {data}/..", None, "Traceback"),
    Benchmark(
        "rewriting/rows",
        "{turk}",
        "{data}/source {data}/reference.0 {data}/reference.1",
        right=r"copy\t\d+\.\d",
    ),
    Benchmark("rewriting/without_sentences", None, "{text} {work}/left {data}/source", "Traceback"),
    Benchmark(
        "rewriting/ladder",
        "{rewriting}",
        "{rewriting} 'joint, packaged weights'",
        "nan",
        r"^\| copy \|.*\| 1\.00 \| 1\.00 \|",
    ),
    Benchmark(
        "rewriting/compression",
        "{rewriting} {data}/..",
        "{rewriting} . labels --tune 5",
        "nan",
        r"^\| the reference itself \| 100\.00 \| 100\.00 \|",
    ),
    Benchmark(
        "rewriting/augmentation",
        None,
        "{rewriting} {rewriting}/tweets.tab",
        "nan",
        r"^\| nothing added \| [\d.]+ \| \+0\.00 \| 0\.00 \| 0 of 20 \|",
    ),
    Benchmark(
        "rewriting/speed",
        "{rewriting}/hiero/packs {index} {rewriting}/held.norm",
        "{rewriting}/labels/packs {index} {rewriting}/twenty",
        "nan",
        r"^a sentence: ",
    ),
)


def distsim(*arguments: object) -> None:
    """Run a command of distsim; its words are shown."""
    subprocess.run([sys.executable, "-m", "distsim.cli.start", *map(str, arguments)], check=True)


class Materials:
    """What benchmarks ask for by name, each made when the first one does, and kept."""

    def __init__(self, folder: Path, tiny: bool) -> None:
        self._folder, self._tiny = folder, tiny
        self._lock = RLock()

    def __getitem__(self, name: str) -> object:
        with self._lock:
            return getattr(self, name)

    packaged = PACKAGED

    def _once(self, name: str, make: Callable[[Path], object]) -> Path:
        path = self._folder / name
        if not path.exists():
            make(path)
        return path

    @cached_property
    def text(self) -> Path:
        novels = [PACKAGED / "novels" / f"{name}.txt.xz" for name in TINY]
        packed = novels if self._tiny else sorted((SHARED / "wiki-en-2015").glob("*.txt.xz"))
        whole = (lzma.decompress(path.read_bytes()) for path in packed)
        return self._once("text.txt", lambda path: path.write_bytes(b"".join(whole)))

    @cached_property
    def index(self) -> Path:
        def build(path: Path) -> None:
            distsim("index", "build", "--format", "text", "--dedup", "exact", self.text, "-o", path)
            distsim("sign", path)

        return self._once("wiki.index", build)

    @cached_property
    def bitext(self) -> Path:
        if not self._tiny:
            return self._aligned(*BITEXTS[0])
        sides = [PACKAGED / "bitext" / f"help.{side}.xz" for side in ("en", "de")]
        return self._once(
            "help.bitext", lambda path: distsim("align", *sides, "--format", "text", "-o", path)
        )

    def _aligned(self, name: str, english: str, other: str, text_format: str) -> Path:
        sides = []
        for side, files in (("en", english), ("other", other)):
            paths = [SHARED / file for file in files.split()]
            whole = self._folder / f"{name}.{side}{paths[0].suffix}"
            whole.write_bytes(b"".join(path.read_bytes() for path in paths))  # archives join so
            sides.append(whole)
        return self._once(
            f"{name}.bitext",
            lambda path: distsim("align", *sides, "--format", text_format, "-o", path),
        )

    def _news(self) -> tuple[str, str]:
        """Write the news pairs as two texts; return their paths."""
        lines = (SHARED / NEWS).read_text(encoding="utf-8").splitlines()
        pairs = [line.split(" ||| ") for line in lines]
        names = []
        for column, side in ((1, "en"), (0, "fr")):
            path = self._folder / f"news.{side}"
            path.write_text("".join(f"{pair[column]}\n" for pair in pairs), encoding="utf-8")
            names.append(str(path.resolve()))
        return names[0], names[1]

    @cached_property
    def paraphrases(self) -> Path:
        grammar = SHARED / "grammars/joshua.bn-en.hiero.grammar.gz"
        columns = (
            "--set",
            "features.p(e|f)=12",
            "--set",
            "features.p(f|e)=10",
            "--set",
            "features.RarityPenalty=9",
        )
        return self._once(
            "hiero.para", lambda path: distsim("pivot", grammar, *columns, "-o", path)
        )

    @cached_property
    def all_rules(self) -> Path:
        """Rules of the bitexts that ../shared has as texts, each aligned by itself."""

        def extract(path: Path) -> None:
            bitexts = [self._aligned(*one) for one in BITEXTS]
            bitexts.append(self._aligned("news", *self._news(), "lines"))
            distsim("extract", *bitexts, "--preset", "phrases", "--numeric", path)

        return self._once("all.rules", extract)

    @cached_property
    def data(self) -> Path:
        """../shared/data, or of tiny runs what bench/tiny.py made in its layout."""
        return made(self._folder / "data", self.index, self.bitext) if self._tiny else SHARED

    @cached_property
    def gold(self) -> str:
        files = sorted((self.data / "gold-wordsim-shared").glob("EN-*.txt"))
        return " ".join(map(str, files))

    @cached_property
    def turk(self) -> str:
        files = sorted((self.data / "gold-turkcorpus-tune").glob("tune.8turkers.tok.*"))
        return " ".join(map(str, files))

    @cached_property
    def peers(self) -> Path:
        return self._folder / "peers"

    @cached_property
    def wiki_part(self) -> Path:
        """The first half million bytes of text, annotated by the tiny pipeline."""

        def annotate(path: Path) -> None:
            part = self._folder / "wiki-part.txt"
            part.write_bytes(self.text.read_bytes()[:500_000].rpartition(b"\n")[0])
            models = SHARED.parent / "models" / "tiny-en"
            distsim("annotate", part, "-o", path, "--models", models)

        return self._once("wiki-part.conllu.gz", annotate)

    @cached_property
    def samt(self) -> Path:
        grammar = SHARED / "grammars/joshua.bn-en.samt.grammar.gz"
        return self._once(
            "samt.para",
            lambda path: distsim("pivot", grammar, "--columns", "joint", "-o", path),
        )

    @cached_property
    def rewriting(self) -> Path:
        """What rewriting/prepare.py leaves; of tiny runs made up."""
        folder = self._folder / "rewriting"
        return rewriting_folder(folder, self.index, self.data) if self._tiny else folder


def run(one: Benchmark, arguments: str, materials: Materials, folder: Path, tiny: bool) -> str:
    """Run a benchmark, keep what it prints, and return what is wrong with it, if anything."""
    file_name = one.name.replace("/", "-").replace(" ", "-")
    work = folder / f"{file_name}.work"
    work.mkdir(exist_ok=True)

    class Named(dict[str, object]):
        def __missing__(self, name: str) -> object:
            return materials[name]

    given = shlex.split(arguments.format_map(Named(work=work)))
    began = time.monotonic()
    environment = os.environ | {"PYTHONPATH": str(HERE.parent)}
    child = subprocess.Popen(
        [sys.executable, one.script, *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment,
    )  # fmt: skip
    out, err, used = ended(child)
    command = " ".join(["python", f"bench/{one.name.split()[0]}.py", arguments]).strip()
    told = f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores"
    kept = folder / f"{file_name}.md"
    kept.write_text(f"## `{command}`\n\n{told}\n\n{out}", encoding="utf-8")
    spent = f"{time.monotonic() - began:6.1f} s {used:6.1f} CPU s"
    print(f"{spent}  {command}", flush=True)
    if child.returncode:
        return f"{command}: status {child.returncode}\n{out[-1000:]}{err[-3000:]}"
    found = re.search(one.wrong, out)
    if found:
        return f"{command}: prints {found[0]!r}\n{out}"
    if tiny and not re.search(one.right, out, re.MULTILINE):
        return f"{command}: does not print {one.right!r}\n{out}"
    return ""


def ended(child: subprocess.Popen[str]) -> tuple[str, str, float]:
    """Return what a process and its children say, and their CPU seconds."""
    said = ["", ""]

    def read(number: int, stream: IO[str] | None) -> None:
        assert stream is not None
        said[number] = stream.read()

    readers = [Thread(target=read, args=one) for one in enumerate((child.stdout, child.stderr))]
    for reader in readers:
        reader.start()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    for reader in readers:
        reader.join()
    return said[0], said[1], used.ru_utime + used.ru_stime


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
        if one.after in started:  # it stands before, so it has begun
            started[one.after].result()
        return run(one, arguments, materials, asked.folder, asked.tiny)

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
