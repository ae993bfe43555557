"""Every command that writes, and those that read: what they need, what they write; small inputs.

A word in front of `!` names a function here, for what has no command that runs without Spark or
a model. Materials are texts of about 3,000 words, 150 sentence pairs, and what is made of them.
"""

import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from tests.faults import frame
from tests.faults.frame import DATA, V1, d, run_here, run_main

# Name | needs | outputs, then the command, then one that wrote an older output there.
_WRITING = """
index build | a.txt b.txt | new.index
    {build} --dedup exact a.txt b.txt -o new.index
    {build} b.txt -o new.index
index build of folders | texts more | new.index
    {build} texts more -o new.index
    {build} more -o new.index
index add | x.index c.txt | x.index
    index add x.index c.txt -j 1
index add of folders | x.index more texts | x.index
    index add x.index more texts -j 1
index build --metadata | texts fields.csv | new.index
    {build} texts --metadata fields.csv -o new.index
    {build} texts -o new.index
index remove | x.index ids.txt | x.index
    index remove x.index --ids ids.txt -j 1
sign | x.index | x.index
    {sign} --preset learned --set n_bits=64
    {sign} --preset thesis
sign -o | x.index | new.table
    {sign} --preset thesis -o new.table
    {sign} --preset thesis --set weighting.scheme=ppmi -o new.table
sign --from counts | counts.txt | new.table
    {counts} --preset thesis --force -o new.table -j 1
    {counts} --preset thesis --set weighting.scheme=llr --force -o new.table -j 1
sign --from vectors | vectors.txt | new.table
    sign vectors.txt --from vectors --set n_bits=64 --force -o new.table -j 1
    sign vectors.txt --from vectors --set n_bits=128 --force -o new.table -j 1
sign --from annotated | c.conllu | new.table
    sign c.conllu --from annotated --min-count 2 --set keep_features=true --force -o new.table -j 1
    sign c.conllu --from annotated --min-count 2 --set n_bits=64 --force -o new.table -j 1
learn | x.index | new.projection
    learn x.index --set n_bits=64 --set learning.rows=200 --force -o new.projection -j 1
    learn x.index --set n_bits=128 --set learning.rows=200 --force -o new.projection -j 1
map | signed.index pairs.tsv | new.map
    map signed.index signed.index --pairs pairs.tsv --force -o new.map
    map signed.index signed.index --pairs pairs.tsv --set method=orthogonal --force -o new.map
merge | one.table two.table | new.table
    merge one.table two.table --force -o new.table -j 1
    merge one.table two.table --min-count 9 --force -o new.table -j 1
cluster plan, task, join | a.txt | new.table
    !cluster
annotate | long.txt | new.gz new.tags
    !annotate
align | en de | new.bitext new.links
    align en de -o new.bitext --write-links new.links --set iterations=.1 --set samplers=1 -j 1
    align de en -o new.bitext --write-links new.links --set iterations=.1 --set samplers=1 -j 1
align with trees | en de trees tags | new.bitext
    align en de --trees trees --tags tags -o new.bitext --set iterations=.1 --set samplers=1 -j 1
    align de en -o new.bitext --set iterations=.1 --set samplers=1 -j 1
extract | b.bitext | new.gz
    extract b.bitext --preset phrases --memory 64M -o new.gz -j 1
    extract b.bitext --preset phrases --set longest=1 -o new.gz -j 1
extract --numeric | b.bitext | new.rules
    extract b.bitext --preset phrases --numeric new.rules -j 1
    extract b.bitext --preset phrases --set longest=1 --numeric new.rules -j 1
pivot | rules.gz | new.gz
    pivot rules.gz --memory 1M -o new.gz -j 1
    pivot rules.gz --set max_translations=1 -o new.gz -j 1
pivot of numbers | numbers.rules | new.gz
    pivot numbers.rules -o new.gz -j 1
    pivot numbers.rules --set max_translations=1 -o new.gz -j 1
score to zst | para.gz signed.index | new.zst
    score para.gz --ngram signed.index --set align=none -o new.zst -j 1
    score para.gz --ngram signed.index --set aligner=evidence -o new.zst -j 1
score | para.gz signed.index | new.gz
    score para.gz --ngram signed.index --set aligner=evidence -o new.gz -j 1
    score para.gz --ngram signed.index --set align=none -o new.gz -j 1
rerank | scored.gz | new.gz
    rerank scored.gz -w p(e|f)=-1 -w p(f|e)=-1 --set missing=0 -o new.gz
    rerank scored.gz -w p(e|f)=1 --set missing=0 -o new.gz
rank | gold.tsv signed.index | new.weights
    rank --learn gold.tsv --ngram signed.index --set samples=20 -o new.weights
    rank --learn gold.tsv --ngram signed.index --features text --set samples=0 -o new.weights
augment | table.txt names | new.gz
    augment table.txt --paraphrases names -o new.gz
    augment table.txt --paraphrases names --set method=best -o new.gz
augment --unknown | table.txt unknown.txt signed.index | new.gz
    {augment} --target-index signed.index -o new.gz
    {augment} --set most_rules=1 -o new.gz
pack | scored.gz | new.packs
    pack scored.gz --set missing=100 --set sizes=S,L -o new.packs -j 1
    pack scored.gz --set missing=100 --set sizes=M -o new.packs -j 1
pack --parquet | scored.gz | new.packs
    pack scored.gz --set missing=100 --parquet --set sizes=S -o new.packs -j 1
    pack scored.gz --set missing=100 --set sizes=M -o new.packs -j 1
make-grammar | signed.index b.bitext | new.grammar
    make-grammar --bitext b.bitext --index signed.index -o new.grammar -j 1
    make-grammar --bitext b.bitext --index signed.index --set min_sum=.3 -o new.grammar -j 1
make-grammar of texts | en de signed.index | new.grammar
    make-grammar --bitext en de --index signed.index -o new.grammar -j 1
paraphrase --known | signed.index unknown.txt known.txt | new.tsv
    paraphrase signed.index -i unknown.txt --known known.txt --set sample=50 -o new.tsv -j 1
rewrite | pack source x.index | new.tsv
    rewrite pack source --index x.index --set pops=5 -n 3 -o new.tsv -j 1
rewrite --json | pack source x.index | new.json
    rewrite pack source --index x.index --set pops=5 -n 2 --json --why -o new.json -j 1
tune | pack source people x.index | new.weights
    {tune} -o new.weights
    {tune} --set objective=bleu -o new.weights
export w2v | signed.index | new.txt
    export signed.index -o new.txt
    export signed.index --format w2v-bin -o new.txt
export csv | signed.index known.txt | new.csv.gz
    export signed.index --format csv --neighbours 3 --phrases known.txt -o new.csv.gz
    export signed.index --format csv -o new.csv.gz
export parquet | signed.index | new.parquet
    export signed.index --format parquet -o new.parquet
    export signed.index --format csv -o new.parquet
"""

# Name | needs |, then the command; standard input is the file `given`, where one is needed.
_READING = """
count | x.index |
    count x.index the alice
count by pattern | x.index |
    count x.index --query al*
kwic | x.index |
    kwic x.index the
kwic by pattern | x.index |
    kwic x.index --query al*
collocates by pattern | x.index |
    collocates x.index --query al*
ngrams | x.index |
    ngrams x.index -n 1-2
ngrams with their spread | x.index |
    ngrams x.index -n 1-2 --containing the --spread
collocates | x.index |
    collocates x.index the
keywords | x.index signed.index |
    keywords x.index --against signed.index
trace | x.index a.txt |
    trace x.index a.txt
continuations | x.index |
    continuations x.index the
contexts | x.index |
    contexts x.index the
compare | signed.index |
    compare signed.index the alice
similarity | signed.index |
    similarity signed.index the alice
neighbours | signed.index |
    neighbours signed.index alice
neighbours by a map | signed.index same.map |
    neighbours signed.index alice --map same.map
evaluate | signed.index gold.tsv |
    evaluate signed.index gold.tsv --samples 20
paraphrase | signed.index |
    paraphrase signed.index alice --set sample=50 -j 1
substitute | signed.index asked |
    substitute signed.index --set neighbours=20 -i asked -j 1
rules | pack |
    rules pack the
rewrite to standard output | pack source x.index |
    rewrite pack source --index x.index --set pops=5 -n 1 -j 1
info | signed.index |
    info signed.index
verify | signed.index |
    verify signed.index
pivot to standard output | rules.gz |
    pivot rules.gz -j 1
score from standard input | para.gz signed.index |
    score - --ngram signed.index --set align=none -j 1
index build from standard input | a.txt | new.index
    index build - -o new.index -j 1
"""
GIVEN = {"score from standard input": "para.gz", "index build from standard input": "a.txt"}

# Materials that commands make: name, commands.
_MADE = """
x.index: {build} --dedup exact a.txt b.txt -o x.index
same.map: map signed.index signed.index --pairs pairs.tsv -o same.map
signed.index: {build} --dedup exact a.txt b.txt -o signed.index; sign signed.index --set n_bits=64
one.table: {sign} --preset thesis --keep-sums -o one.table
two.table: {counts} --preset thesis --keep-sums --max-length 2 --set text_format=text -o two.table
b.bitext: align en de -o b.bitext --set iterations=.1 --set samplers=1
t.bitext: align en de --trees trees --tags tags -o t.bitext --set iterations=.1 --set samplers=1
rules.gz: extract b.bitext --preset phrases -o rules.gz
numbers.rules: extract b.bitext --preset phrases --numeric numbers.rules
para.gz: pivot rules.gz -o para.gz
scored.gz: score para.gz --ngram signed.index -o scored.gz
pack: pack scored.gz --set missing=100 -o pack
"""
_SHORT = {
    "build": "index build --format text --set shard_tokens=3000 --force -j 1",
    "counts": "sign counts.txt --from counts --memory 64M",
    "sign": "sign x.index --force -j 1 --max-length 2",
    "augment": "augment table.txt --unknown unknown.txt --index signed.index",
    "tune": "tune pack source --references people --index x.index --set iterations=1 --set n=5",
}


@dataclass(frozen=True)
class Command:
    """A command: the materials it reads, what it writes, and what wrote an older output there."""

    name: str
    needs: tuple[str, ...]
    outputs: tuple[str, ...]
    words: str
    before: str = ""

    @property
    def is_change(self) -> bool:
        """It changes something that it needs."""
        return bool(self.outputs) and set(self.outputs) <= set(self.needs)

    def run(self) -> int:
        """Run it in this process and folder; return its exit status."""
        if self.words[0] != "!":
            return run_main(self.words)

        try:
            return _FUNCTIONS[self.words[1:]]()
        except (d.DistsimError, OSError) as error:
            print(f"distsim: {error}", file=sys.stderr, flush=True)
            return 1

    def warm(self, folder: Path) -> None:
        """Run it, or its like, in this process, for the modules and kernels that it loads."""
        if self.words[0] != "!":  # no thread may start here, as pyarrow's do
            run_here(folder, self.before if "parquet" in self.words else self.words)


def _table(text: str) -> dict[str, Command]:
    found: dict[str, Command] = {}
    for entry in text.format(**_SHORT).strip().split("\n"):
        if not entry.startswith(" "):
            name, needs, outputs = (part.strip() for part in entry.split("|"))
            lines: list[str] = []
        else:
            lines.append(entry.strip())
            found[name] = Command(name, tuple(needs.split()), tuple(outputs.split()), *lines)
    return found


WRITING = _table(_WRITING)
READING = _table(_READING)


# What has no command of its own -----------------------------------------------------------


@dataclass(frozen=True)
class WordAnnotator:
    """Annotates without a model: a sentence a line, every word a noun under the first."""

    def settings(self) -> dict[str, Any]:
        return {"tool": "words"}

    def load(self) -> Callable[[list[str]], Any]:
        return _annotated


def _annotated(lines: list[str]) -> Any:
    from distsim.corpus.annotating import Annotated, Report

    text, n_words = [], 0
    for line in lines:
        for number, word in enumerate(line.split(), 1):
            head, relation = (0, "root") if number == 1 else (1, "dep")
            row = (number, word, word, "NOUN", "NN", "_", head, relation, "_", "_")
            text.append("\t".join(map(str, row)) + "\n")
            n_words += 1
        text.append("\n")
    return Annotated("".join(text), Report(n_words, len(lines), 0))


def _annotate() -> int:
    from distsim.corpus.annotated import write_line_files

    d.annotate(["long.txt"], "new.gz", WordAnnotator(), jobs=1)
    write_line_files("new.gz", tags="new.tags")
    return 0


def _cluster() -> int:
    """Plan a run without an engine, do all its tasks, join."""
    from distsim.cluster.executors import run_alone
    from distsim.cluster.plan import Division, PlanOptions, make_plan

    Path("work").mkdir(exist_ok=True)
    plan = make_plan(["a.txt"], PlanOptions(division=Division(part_bytes=1 << 13, n_ranges=2)))
    run_alone(plan, Path("new.table"), Path("work").resolve(), force=True)
    return 0


_FUNCTIONS: dict[str, Callable[[], int]] = {
    "annotate": _annotate, "cluster": _cluster,
}  # fmt: skip


# Materials --------------------------------------------------------------------------------


def novel(n_bytes: int, skip: int = 0) -> str:
    """Return so much of a novel, whole lines."""
    import lzma

    packed = DATA / "novels" / "carroll-alice-in-wonderland-1865.txt.xz"
    text = lzma.decompress(packed.read_bytes()).decode()
    text = text[text.find("\n", skip) + 1 :] if skip else text
    return text[: text.rfind("\n", 0, n_bytes) + 1]


def write_bitext(folder: Path, n_pairs: int) -> list[str]:
    """Write the first pairs of the package's bitext as `en` and `de`; return the English."""
    import re

    from distsim.corpus.lines import read_lines

    for side in ("de", "en"):
        lines = islice(read_lines(DATA / "bitext" / f"help.{side}.xz"), n_pairs)
        text = b"".join(line.rstrip(b"\n") + b"\n" for _, line in lines).decode().lower()
        text = re.sub(r" +", " ", re.sub(r"([^\w\s'-])", r" \1 ", text))
        (folder / side).write_text(text)
    return text.split("\n")[:n_pairs]


def write_texts(folder: Path) -> None:
    """Write what the commands read and nothing of ours has made."""
    draw = random.Random(7)

    def write(name: str, lines: Any) -> None:
        (folder / name).write_text("".join(f"{line}\n" for line in lines))

    for number, name in enumerate("abc"):
        (folder / f"{name}.txt").write_text(novel(18_000, skip=20_000 * number))
    for name in ("texts", "more"):
        (folder / name).mkdir()
        for number in range(3):
            text = novel(4000, skip=5000 * number + 60_000 * (name == "more"))
            (folder / name / f"{number}.txt").write_text(text)
    words = (folder / "a.txt").read_text().lower().split()
    counts = Counter(words) + Counter(" ".join(pair) for pair in pairwise(words))
    write("counts.txt", (f"{phrase}\t{n}" for phrase, n in sorted(counts.items())))
    frequent = [word for word, _ in Counter(words).most_common(200)]
    write("vectors.txt", (
        f"{word} {' '.join(f'{draw.gauss(0, 1):.4f}' for _ in range(20))}" for word in frequent
    ))  # fmt: skip
    english = write_bitext(folder, 150)
    write("trees", (f"(S {' '.join(f'(X {w})' for w in _leaves(line))})" for line in english))
    write("tags", (" ".join("X" for _ in line.split()) for line in english))
    shutil.copy(V1 / "c.conllu", folder)
    (folder / "long.txt").write_text(novel(180_000))
    write("gold.tsv", (
        f"{draw.choice(frequent)}\t{draw.choice(frequent)}\t{draw.random():.2f}" for _ in range(60)
    ))  # fmt: skip
    write("fields.csv", ["file,year", *(f"{number}.txt,18{number}0" for number in range(3))])
    write("ids.txt", ["1"])
    write("pairs.tsv", (f"{word}\t{word}" for word in frequent[:50]))
    write("table.txt", (
        f"{frequent[k // 20]} ||| w{k} ||| 0.5 0.1 {draw.random():.3f} 0.2 ||| 0-0"
        for k in range(2000)
    ))  # fmt: skip
    write("names", (f"u{k}\t1\t{frequent[k]}\t.5" for k in range(90)))
    write("known.txt", frequent[:100])
    write("unknown.txt", [" ".join(frequent[95:106])])
    write("source", english[:6])
    write("people", (line.replace("the ", "a ") for line in english[:6]))
    write("asked", ["the\tking\tsees"])


def _leaves(line: str) -> list[str]:
    brackets = {"(": "-LRB-", ")": "-RRB-"}
    return [brackets.get(word, word) for word in line.split()]


class Materials:
    """Materials by name in one folder, made when they are first asked for, in a child."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir()
        write_texts(folder)
        self._made = dict(line.split(": ") for line in _MADE.format(**_SHORT).strip().split("\n"))

    def give(self, names: tuple[str, ...], place: Path) -> None:
        """Copy materials into a folder."""
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            self._make(name)
            copy = shutil.copytree if (self._folder / name).is_dir() else shutil.copy2
            copy(self._folder / name, place / name)

    def _make(self, name: str) -> None:
        if (self._folder / name).exists():
            return
        commands = self._made[name].split("; ")
        for word in self._made[name].split():
            if word != name and word in self._made:
                self._make(word)

        def act() -> int:
            for command in commands:
                run_here(self._folder, command)
            return 0

        ended = frame.forked(act, patience=1800)
        if ended.status != 0:
            raise SystemExit(f"{name}: exit {ended.status}: {ended.said[-2000:]}")


def in_folder(
    command: Command, folder: Path, temporary: Path, first: Callable[[], object] = list
) -> Callable[[], int]:
    """Return what runs a command in a folder, with another for temporary files.

    first: what is done before; standard input is `given` there, where that is needed.
    """

    def act() -> int:
        os.chdir(folder)
        tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
        os.dup2(os.open(GIVEN.get(command.name, os.devnull), os.O_RDONLY), 0)
        first()
        return command.run()

    return act
