"""SIGKILL at random moments of every command that writes: is anything lost, half-written, left?

    python -m tests.faults.kills [COMMAND...] [--kills 1100] [--seed 1]

Each command is run undisturbed, which gives the bytes that are wanted and the time it takes; then
killed again and again at moments drawn from that time, in folders that hold nothing of its
output, and in others that hold an older output and files of the user's among it; every third time
once more while it is run again. After each kill: what stands under a final name has its old bytes
or those of the undisturbed run, `verify` finds every artifact sound, nothing of the user's has
changed. Run again to its end, the folder must have the bytes of the undisturbed run, and no other
file may be in it, nor in the folder of temporary files. Peers: none.
"""

import json
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from tests.faults import frame as common
from tests.faults.frame import Outcome, faults_of, forked, renew, run_main, snapshot, warm

_LATEST = 1.1  # moments are drawn from so much of the time that an undisturbed run takes
# What a run that was killed may leave until it is run again: hidden, or named as unfinished; and
# the list of the steps that make-grammar has done.
_LEAVING = re.compile(r"(^|/)\.|\.(part|progress)$|\.[0-9a-f]{12}\.bin$|/steps\.json$")


CLUSTER = "plan, tasks, join"  # all steps of a run without an engine, one after the other
_TOLERATED = {CLUSTER: r"^work/"}  # a run's folder goes when its user removes it


@dataclass(frozen=True)
class Written:
    """A command that writes.

    needs: the materials that it reads. outputs: what it writes. command: as typed in the folder.
    before: what wrote the older output there, nothing where none of the command's own may be.
    """

    name: str
    needs: list[str]
    outputs: list[str]
    command: str
    before: str = ""


# Name | needs | outputs, then the command, then the one that wrote the older output.
_TABLE = """
index build | a.txt b.txt | new.index
    {build} --dedup exact a.txt b.txt -o new.index
    {build} b.txt -o new.index
index build near | a.txt b.txt | new.index
    {build} --dedup near a.txt b.txt -o new.index
    {build} b.txt -o new.index
index add | x.index c.txt | x.index
    index add x.index c.txt -j 1
index add near | near.index c.txt | near.index
    index add near.index c.txt -j 1
sign | x.index | x.index
    {sign} --preset learnt --set n_bits=64
    {sign} --preset thesis
sign -o | x.index | new.table
    {sign} --preset thesis --set keep_sums=true -o new.table
    {sign} --preset thesis --set weighting.scheme=ppmi -o new.table
sign --from counts | counts.txt | new.table
    sign counts.txt --from counts --memory 64M --force -o new.table -j 1
    sign counts.txt --from counts --set weighting.scheme=llr --force -o new.table -j 1
sign --from vectors | vectors.txt | new.table
    sign vectors.txt --from vectors --set n_bits=64 --force -o new.table -j 1
    sign vectors.txt --from vectors --set n_bits=128 --force -o new.table -j 1
sign --from annotated | c.conllu | new.table
    sign c.conllu --from annotated --min-count 2 --set keep_features=true --force -o new.table -j 1
    sign c.conllu --from annotated --min-count 2 --set n_bits=64 --force -o new.table -j 1
learn | x.index | new.projection
    learn x.index --set n_bits=64 --set learning.rows=200 --force -o new.projection -j 1
    learn x.index --set n_bits=128 --set learning.rows=200 --force -o new.projection -j 1
merge | one.table two.table | new.table
    merge one.table two.table --force -o new.table -j 1
    merge one.table two.table --min-count 9 --force -o new.table -j 1
cluster | a.txt | new.table
    {cluster}
annotate | long.txt models | new.gz new.tags
    annotate long.txt -o new.gz --with spacy --models models -j 1 --tags new.tags
align | en de | new.bitext new.links
    align en de -o new.bitext --write-links new.links --iterations .1 --samplers 1 -j 1
    align de en -o new.bitext --write-links new.links --iterations .1 --samplers 1 -j 1
extract | b.bitext | new.gz
    extract b.bitext --preset phrases --memory 64M -o new.gz -j 1
    extract b.bitext --preset phrases --longest 1 -o new.gz -j 1
extract --numeric | b.bitext | new.rules
    extract b.bitext --preset phrases --numeric new.rules -j 1
    extract b.bitext --preset phrases --longest 1 --numeric new.rules -j 1
pivot | rules.gz | new.gz
    pivot rules.gz --memory 1M -o new.gz -j 1
    pivot rules.gz --max-translations 1 -o new.gz -j 1
pivot of numbers | numbers.rules | new.gz
    pivot numbers.rules -o new.gz -j 1
    pivot numbers.rules --max-translations 1 -o new.gz -j 1
score | para.gz signed.index | new.gz
    score para.gz --ngram signed.index --aligner evidence -o new.gz -j 1
    score para.gz --ngram signed.index --align none -o new.gz -j 1
rerank | scored.gz | new.gz
    rerank scored.gz -w p(e|f)=-1 -w p(f|e)=-1 --missing 0 --memory 1M -o new.gz
    rerank scored.gz -w p(e|f)=1 --missing 0 -o new.gz
rank | gold.tsv signed.index | new.weights
    rank --learn gold.tsv --ngram signed.index --samples 20 -o new.weights
    rank --learn gold.tsv --ngram signed.index --features text --samples 0 -o new.weights
augment | table.txt names | new.gz
    augment table.txt --paraphrases names -o new.gz
    augment table.txt --paraphrases names --aggregate best -o new.gz
pack | scored.gz | new.packs
    pack scored.gz --missing 100 --parquet --sizes S,L -o new.packs -j 1
    pack scored.gz --missing 100 --sizes M -o new.packs -j 1
make-grammar | en de signed.index b.bitext | new.grammar
    make-grammar --bitext b.bitext --index signed.index -o new.grammar -j 1
    make-grammar --bitext b.bitext --index signed.index --min-sum .3 -o new.grammar -j 1
make-grammar of texts | en de signed.index | new.grammar
    make-grammar --bitext en de --index signed.index -o new.grammar -j 1
paraphrase --text | signed.index unknown.txt known.txt | new.tsv
    paraphrase signed.index --text unknown.txt --known known.txt --sample 50 -o new.tsv -j 1
rewrite | pack source x.index | new.tsv
    rewrite pack source --index x.index --pops 5 -n 3 -o new.tsv -j 1
tune | pack source people x.index | new.weights
    {tune} -o new.weights
    {tune} --objective bleu -o new.weights
export w2v | signed.index | new.txt
    export signed.index -o new.txt
    export signed.index --format w2v-bin -o new.txt
export csv | signed.index known.txt | new.csv.gz
    export signed.index --format csv --neighbours 3 --phrases known.txt -o new.csv.gz
    export signed.index --format csv -o new.csv.gz
export parquet | signed.index | new.parquet
    export signed.index --format parquet -o new.parquet
    export signed.index --format csv -o new.parquet
export graphml | signed.index known.txt | new.graphml
    export signed.index --format graphml --neighbours 2 --phrases known.txt -o new.graphml
    export signed.index --format csv -o new.graphml
evaluate --plot | signed.index gold.tsv | new.svg
    evaluate signed.index gold.tsv --samples 20 --plot new.svg
    compare signed.index the alice --plot new.svg
compare --plot | signed.index | new.png
    compare signed.index the alice --plot new.png
    compare signed.index the a --plot new.png
evaluate --form | source people | new.form new.form.key
    evaluate people --sentences source --references people --items 5 --form new.form
    evaluate source --sentences source --references people --items 5 --form new.form
"""

_SHORT = {
    "build": "index build --format text --set shard_tokens=3000 --force -j 1",
    "sign": "sign x.index --force -j 1 --max-length 2",
    "tune": "tune pack source --references people --index x.index --iterations 1 -n 5 --pops 5",
    "cluster": CLUSTER,
}


def commands() -> dict[str, Written]:
    """Return all commands of the table by name."""
    found: list[Written] = []
    for line in _TABLE.format(**_SHORT).strip().splitlines():
        if not line.startswith(" "):
            name, needs, outputs = line.split(" | ")
            found.append(Written(name, needs.split(), outputs.split(), ""))
        elif found[-1].command:
            found[-1] = replace(found[-1], before=line.strip())
        else:
            found[-1] = replace(found[-1], command=line.strip())
    return {one.name: one for one in found}


# Materials that commands make, in order; texts are written by _write_texts.
_MADE = """
{build} --dedup exact a.txt b.txt -o x.index
{build} --dedup near a.txt b.txt -o near.index
{build} --dedup exact a.txt b.txt -o signed.index
sign signed.index --min-count 3 --set n_bits=64
{sign} --preset thesis --set keep_sums=true -o one.table
sign counts.txt --from counts --set keep_sums=true --set text_format=text -o two.table
align en de -o b.bitext --iterations .1 --samplers 1
extract b.bitext --preset phrases -o rules.gz
extract b.bitext --preset phrases --numeric numbers.rules
pivot rules.gz -o para.gz
score para.gz --ngram signed.index -o scored.gz
pack scored.gz --missing 100 -o pack
"""


def _write_texts(folder: Path) -> None:
    """Write what the commands read, small: about 3,000 words a text, 200 pairs."""
    draw = random.Random(7)
    for number, name in enumerate("abc"):
        text = common.novel(18_000, skip=20_000 * number)
        (folder / f"{name}.txt").write_text(text)
    words = common.tokenised((folder / "a.txt").read_text()).split()
    pairs = list(pairwise(words))
    counted = {word: words.count(word) for word in sorted(set(words))}
    lines = [f"{word}\t{n}" for word, n in counted.items()]
    lines += [f"{' '.join(pair)}\t{n}" for pair, n in sorted(_counted(pairs).items())]
    (folder / "counts.txt").write_text("".join(f"{line}\n" for line in lines))
    frequent = sorted(counted, key=counted.__getitem__, reverse=True)[:200]
    (folder / "vectors.txt").write_text("".join(
        f"{word} {' '.join(f'{draw.gauss(0, 1):.4f}' for _ in range(20))}\n" for word in frequent
    ))  # fmt: skip
    english, german = common.bitext(150)
    (folder / "en").write_text(common.tokenised(english))
    (folder / "de").write_text(common.tokenised(german))
    shutil.copy(common.V1 / "c.conllu", folder)
    (folder / "long.txt").write_text(common.novel(180_000))
    (folder / "gold.tsv").write_text("".join(
        f"{draw.choice(frequent)}\t{draw.choice(frequent)}\t{draw.random():.2f}\n"
        for _ in range(60)
    ))  # fmt: skip
    (folder / "table.txt").write_text("".join(
        f"{frequent[k // 20]} ||| w{k} ||| 0.5 0.1 {draw.random():.3f} 0.2 ||| 0-0\n"
        for k in range(2000)
    ))  # fmt: skip
    (folder / "names").write_text("".join(f"u{k}\t1\t{frequent[k]}\t.5\n" for k in range(90)))
    (folder / "known.txt").write_text("".join(f"{word}\n" for word in frequent[:100]))
    (folder / "unknown.txt").write_text(" ".join(frequent[95:106]) + "\n")
    source = common.tokenised(english).split("\n")[:6]
    (folder / "source").write_text("".join(f"{line}\n" for line in source))
    (folder / "people").write_text("".join(f"{line.replace('the ', 'a ')}\n" for line in source))


def _counted(pairs: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for pair in pairs:
        found[pair] = found.get(pair, 0) + 1
    return found


def _write_models(folder: Path) -> None:
    """Write a pipeline of spaCy's that needs no training."""
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"IS_PUNCT": True}]], {"TAG": ".", "POS": "PUNCT", "DEP": "punct"})
    pipeline.to_disk(folder)


def _cluster() -> None:
    """Plan a run without an engine, do all its tasks, join."""
    from distsim.cluster.local_executor import run_alone
    from distsim.cluster.plan import make_plan

    Path("work").mkdir(exist_ok=True)
    plan = make_plan(["a.txt"], part_bytes=1 << 13, n_ranges=2)
    run_alone(plan, Path("new.table"), Path("work").resolve(), force=True)


def make_materials(folder: Path) -> None:
    """Write texts and all that is made of them, in a child."""

    def act() -> int:
        folder.mkdir()
        _write_texts(folder)
        _write_models(folder / "models")
        for command in _MADE.format(**_SHORT).strip().splitlines():
            warm(command.split(), folder)
        return 0

    ended = forked(act, patience=1800)
    if ended.status != 0:
        raise SystemExit(f"materials: exit {ended.status}: {ended.err.decode()[-2000:]}")


class Killed:
    """One command and a folder to begin from, killed again and again; runs in a child."""

    def __init__(self, scratch: Path, start: Path, written: Written) -> None:
        self._start = start
        self._folder = scratch / "folder"
        self._temporary = scratch / "temporary"
        self._written = written
        self._litter = re.compile(_TOLERATED.get(written.command, r"(?!)"))
        self.outcome = Outcome()
        self._old = snapshot(start)
        ended = self._run(renew(self._folder, start))
        if ended.status != 0:
            raise SystemExit(f"undisturbed: {ended.err.decode()[-2000:]}")
        self._new = snapshot(self._folder)
        self._seconds = self._run(renew(self._folder, start)).seconds
        again = self._kept(snapshot(self._folder))
        self.outcome.check(again == self._kept(self._new), "two runs differ")

    def kill(self, draw: random.Random, times: int) -> None:
        """Kill the command so many times."""
        number = 0
        while times > 0:
            folder = renew(self._folder, self._start)
            number += 1
            how = []
            for _ in range(min(times, 2 if number % 3 == 0 else 1)):
                times -= 1
                moment = draw.uniform(0, _LATEST * self._seconds)
                how.append(f"{moment:.3f} s")
                ended = self._run(folder, moment)
                self.outcome.counts["killed" if ended.status == -9 else "ended before"] += 1
                if ended.status not in (-9, 0):
                    self._broken(how, f"exit {ended.status}: {ended.err.decode()[-300:]}")
                self._judge(folder, how)
            ended = self._run(folder)
            if ended.status != 0:
                self._broken(how, f"run again: {ended.status}: {ended.err.decode()[-500:]}")
            self._compare(folder, how)

    def _run(self, folder: Path, kill_after: float | None = None) -> common.Ended:
        shutil.rmtree(self._temporary, ignore_errors=True) if kill_after is None else None
        self._temporary.mkdir(exist_ok=True)

        def act() -> int:
            os.chdir(folder)
            tempfile.tempdir = os.environ["TMPDIR"] = str(self._temporary)
            if self._written.command == CLUSTER:
                _cluster()
                return 0
            return run_main(self._written.command.split())

        return forked(act, kill_after=kill_after)

    def _kept(self, found: dict[str, str]) -> dict[str, str]:
        return {name: is_ for name, is_ in found.items() if not self._litter.search(name)}

    def _broken(self, how: list[str], what: str) -> None:
        self.outcome.broken.append(f"killed after {' and '.join(how)}: {what}")

    def _judge(self, folder: Path, how: list[str]) -> None:
        """Look at what a kill has left."""
        found = snapshot(folder)
        for name in sorted(found.keys() | self._old.keys()):
            old, new, now = (one.get(name) for one in (self._old, self._new, found))
            if now is not None and now not in (old, new):
                if not (_LEAVING.search(name) or self._litter.search(name)) or (
                    old is not None and old == new
                ):
                    self._broken(how, f"{name} is half-written, or nobody's")
            elif now is None and old is not None and old == new:
                self._broken(how, f"{name} is gone")
        for output in self._written.outputs:
            if output in self._old and output not in found:
                self._broken(how, f"the old {output} is gone and the new one not there")
        for manifest in folder.rglob("manifest.json"):
            inside = manifest.parent.relative_to(folder)
            if self._litter.search(f"{inside}/"):
                continue  # a part of a run, which is no artifact yet
            if not any(part.startswith(".") for part in inside.parts):
                faults = faults_of(manifest.parent)
                if faults:
                    self._broken(how, f"{inside}: {faults}")
        state = {True: "new", False: "old"}[found == self._new]
        self.outcome.counts[f"left {state if found in (self._new, self._old) else 'midway'}"] += 1

    def _compare(self, folder: Path, how: list[str]) -> None:
        """Look at what stands there after the command was run again."""
        found = self._kept(snapshot(folder))
        for name in sorted(found.keys() | self._new.keys()):
            now, new = found.get(name), self._new.get(name)
            if now != new and not self._litter.search(name):
                what = "missing" if now is None else "left over" if new is None else "different"
                self._broken(how, f"run again: {name} is {what}")
        left = sorted(path.name for path in self._temporary.iterdir())
        if left:
            self._broken(how, f"run again: {left} left among temporary files")


_MINE = {  # files of the user's, where an older output stands; names may look like ours
    "notes.txt": "mine\n", "mine.bin": "mine\n", "tokens.0123456789ab.bin": "mine\n",
    ".hidden": "mine\n", "new.gz.part.mine": "mine\n",
}  # fmt: skip


def kill_command(
    scratch: Path, materials: Path, written: Written, draw: random.Random, times: int
) -> Outcome:
    """Kill one command, with and without an older output; runs in a child of its own."""
    outcome = Outcome()
    bare = scratch / "bare"
    bare.mkdir()
    for name in written.needs:
        copy = shutil.copytree if (materials / name).is_dir() else shutil.copy2
        copy(materials / name, bare / name)
    starts = [bare]
    is_change = all(name in written.needs for name in written.outputs)
    if written.before or is_change:
        old = renew(scratch / "old", bare)
        if written.before:
            warm(written.before.split(), old)
        for place in [old, *(old / one for one in written.outputs if (old / one).is_dir())]:
            if place != old and not (place / "manifest.json").exists():
                continue  # what may stand in such a folder is checked by tests
            for name, text in _MINE.items():
                (place / name).write_text(text)
        starts = [old] if is_change else [bare, old]
    known = written.before if "parquet" in written.command else written.command
    if known != CLUSTER:  # for the kernels; no thread may start here, as pyarrow's do
        warm(known.split(), renew(scratch / "warm", starts[0]))
    outcome.check(common.n_threads() == 1, f"{common.n_threads()} threads before the fork")
    for number, start in enumerate(starts):
        killed = Killed(scratch, start, written)
        killed.kill(draw, times * (number + 1) // len(starts) - times * number // len(starts))
        outcome.add(killed.outcome)
    return outcome


def kills(draw: random.Random, kills: int, only: list[str]) -> Outcome:
    """Kill every command equally often, `kills` in all."""
    total = Outcome()
    chosen = {name: one for name, one in commands().items() if not only or name in only}
    with common.scratch_folder("kills") as scratch:
        materials = scratch / "materials"
        make_materials(materials)
        for number, (name, written) in enumerate(chosen.items()):
            times = kills * (number + 1) // len(chosen) - kills * number // len(chosen)
            work = partial(
                kill_command, materials=materials, written=written, draw=draw, times=times
            )
            if in_child(total, name, work, scratch, 3600):
                draw.random()
    return total


def in_child(
    total: Outcome, name: str, work: Callable[[Path], Outcome], scratch: Path, patience: int
) -> bool:
    """Add to `total` what a child finds that works in a new folder; False where it fails."""
    place, answer = scratch / "place", scratch / "answer"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    ended = forked(partial(told, partial(work, place), answer), patience=patience)
    if ended.status != 0:
        said = ended.err.decode().strip().splitlines()[-1:]
        total.broken.append(f"{name}: exit {ended.status}: {said}")
        print(f"  {total.broken[-1]}", flush=True)
        return False
    found = json.loads(answer.read_text())
    counts = ", ".join(f"{what} {n}" for what, n in sorted(found["counts"].items()))
    print(f"  {name}: {counts}; {len(found['broken'])} broken; {ended.seconds:.0f} s", flush=True)
    for what in found["broken"][:6]:
        print(f"    {what}", flush=True)
    total.counts.update(found["counts"])
    total.broken += [f"{name}, {what}" for what in found["broken"]]
    return True


def told(work: Callable[[], Outcome], answer: Path) -> int:
    outcome = work()
    answer.write_text(json.dumps({"counts": outcome.counts, "broken": outcome.broken}))
    return 0


def main() -> None:
    import sys

    only = [one for one in sys.argv[1:] if one in commands()]
    sys.argv = [one for one in sys.argv if one not in only]
    common.main(__doc__, {"kills": partial(kills, only=only)}, kills=1100)


if __name__ == "__main__":
    main()
