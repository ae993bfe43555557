"""Grammars of one's own, step by step: CPU seconds, rates and peak memory of each command.

Six bitexts of English (help texts with three languages, Europarl, Hansards, news) are aligned each
by itself, their phrase rules extracted together and pivoted; of Europarl and of the help texts'
pairs of at most 14 words Hiero's rules, of one with trees SAMT's; two shared Bengali-English
grammars are pivoted; paraphrases without and with gaps are scored and packed. One thread, start-up
included.

    python bench/grammars.py WORK --index INDEX [--data FOLDER]

WORK keeps what other benchmarks read: all.para, hiero.para, samt.para. Checked: scoring by one job
and by two gives the same bytes, and an index of packs answers with all rules of the text.
"""

import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from frame import SHARED, Cost, distsim, parser, print_machine, print_table

HELP, EUROPARL, HANSARDS = "bitext-lohelp", "bitext-europarl-fr-en", "bitext-hansards-fr-en"
NEWS = "bitext-cdec-newscomm-fr-en/corpus.fr-en"  # both sides in one file, French first
# Name of a bitext, files of either side, format.
BITEXTS = (
    *((f"help-{other}", (f"{HELP}/lohelp.en-{other}.en.gz",),
       (f"{HELP}/lohelp.en-{other}.{other}.gz",), "text") for other in ("de", "es", "fr")),
    ("europarl", (f"{EUROPARL}/europarl-v7.fr-en.en.xz",), (f"{EUROPARL}/europarl-v7.fr-en.fr.xz",),
     "lines"),
    ("hansards", (f"{HANSARDS}/gold.en.xz", f"{HANSARDS}/train.en.xz"),
     (f"{HANSARDS}/gold.fr.xz", f"{HANSARDS}/train.fr.xz"), "lines"),
)  # fmt: skip
TREES = (f"{HANSARDS}/gold.en.ptb.xz", f"{HANSARDS}/train.en.ptb.xz")
JOINT = ("--columns", "joint")
ASKED = 1000
SHORT = 14  # words
SIDES = ("en", "other")


class Steps:
    """Commands that make files of WORK; each is run once, and its cost kept beside its file."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def run(self, name: str, *arguments: object) -> Cost:
        """Run a command whose last argument is the file that it makes."""
        kept = self.work / f"{name}.cost"
        if not kept.exists():
            kept.write_text(json.dumps(distsim(*arguments)))
        return Cost(*json.loads(kept.read_text()))


def number(cost: Cost, unit: str) -> int:
    """Return the number before a unit in what a command reported."""
    found = re.search(rf"([\d,]+) (?:\w+ )?{unit}", cost.log)
    if not found:
        sys.exit(f"no number of {unit} in the report: {cost.log}")
    return int(found[1].replace(",", ""))


def row(step: str, of: str, cost: Cost, n: int, unit: str) -> list[str]:
    rate = f"{n / cost.cpu:,.0f}"
    return [step, of, f"{n:,} {unit}", f"{cost.cpu:.1f}", rate, f"{cost.peak / 1e6:,.0f}"]


def joined(data: Path, files: tuple[str, ...], to: Path) -> Path:
    """Write files as one; archives of one kind can be joined as they are."""
    to.write_bytes(b"".join((data / file).read_bytes() for file in files))
    return to


def news_sides(data: Path, work: Path) -> list[Path]:
    pairs = [line.split(" ||| ") for line in (data / NEWS).read_text("utf-8").splitlines()]
    sides = []
    for column, side in ((1, "en"), (0, "fr")):
        sides.append(work / f"news.{side}")
        sides[-1].write_text("".join(f"{pair[column]}\n" for pair in pairs), "utf-8")
    return sides


def aligned(steps: Steps, data: Path) -> Iterator[list[str]]:
    """Align the six bitexts; yield the row of all of them."""
    costs, n = [], 0
    for name, *texts, layout in BITEXTS:
        sides = [
            joined(data, files, steps.work / f"{name}.{side}{Path(files[0]).suffix}")
            for side, files in zip(SIDES, texts, strict=True)
        ]
        out = steps.work / f"{name}.bitext"
        more = ["--set", "unescape=true"] if name == "europarl" else []
        if name == "hansards" and all((data / file).exists() for file in TREES):
            more = ["--trees", joined(data, TREES, steps.work / "hansards.trees.xz")]
        costs.append(steps.run(f"align-{name}", "align", *sides, "--format", layout, *more,
                               "--jobs", 1, "-o", out))  # fmt: skip
    sides = news_sides(data, steps.work)
    costs.append(steps.run("align-news", "align", *sides, "--jobs", 1, "-o",
                           steps.work / "news.bitext"))  # fmt: skip
    n = sum(number(cost, "pairs") for cost in costs)
    cost = Cost("", "", sum(cost.cpu for cost in costs), max(cost.peak for cost in costs))
    yield row("`align`", "six bitexts", cost, n, "pairs")


def short(steps: Steps) -> list[Path]:
    """Return bitexts of the pairs of at most SHORT words of the help texts."""
    made = []
    for name, *_ in BITEXTS[:3]:
        files = [steps.work / f"{name}.{side}.gz" for side in SIDES]
        texts = [gzip.decompress(file.read_bytes()).decode().split("\n") for file in files]
        pairs = [x for x in zip(*texts, strict=True) if max(len(y.split()) for y in x) <= SHORT]
        made.append(steps.work / f"{name}.short")
        sides = [steps.work / f"{name}.short.{side}" for side in SIDES]
        for path, lines in zip(sides, zip(*pairs, strict=True), strict=True):
            path.write_text("\n".join(lines) + "\n")
        steps.run(f"align-{name}.short", "align", *sides, "--format", "text", "-o", made[-1])
    return made


def extracted(steps: Steps) -> Iterator[list[str]]:
    every = [steps.work / f"{name}.bitext" for name in (*(one[0] for one in BITEXTS), "news")]
    some = {"phrases": every, "hiero": every[3:4], "short": short(steps), "samt": every[4:5]}
    for name, bitexts in some.items():
        rules, preset = steps.work / f"{name}.rules", "hiero" if name == "short" else name
        cost = steps.run(f"extract-{name}", "extract", *bitexts, "--preset", preset, "--jobs", 1,
                         "--numeric", rules)  # fmt: skip
        of, n = ", ".join(one.stem for one in bitexts), number(cost, "instances")
        cells = row(f"`extract --preset {preset}`", of, cost, n, "instances")
        cells[2] += f", {number(cost, 'rules'):,} rules, {number(cost, 'pairs'):,} pairs"
        yield cells


def pivoted(steps: Steps, data: Path) -> Iterator[list[str]]:
    work, grammars = steps.work, data / "grammars"
    for name, of, arguments in (
        ("all", "phrases of six bitexts", (work / "phrases.rules",)),
        ("hiero", "Bengali Hiero", (grammars / "joshua.bn-en.hiero.grammar.gz", *JOINT)),
        ("samt", "Bengali SAMT", (grammars / "joshua.bn-en.samt.grammar.gz", *JOINT)),
    ):
        cost = steps.run(f"pivot-{name}", "pivot", *arguments, "--jobs", 1, "-o",
                         work / f"{name}.para")  # fmt: skip
        yield row("`pivot`", of, cost, number(cost, "paraphrase rules"), "paraphrases")


def scored(steps: Steps, index: Path) -> Iterator[list[str]]:
    work = steps.work
    for name, of in (("all", "without gaps"), ("hiero", "gappy")):
        out = work / f"{name}.scored"
        command = ("score", work / f"{name}.para", "--ngram", index, "-o", out, "--jobs")
        cost = steps.run(f"score-{name}", *command, 1)
        yield row("`score`", of, cost, number(cost, "rules"), "rules")
        if name == "hiero":
            once = out.read_bytes()
            distsim(*command, 2)
            told = "the same bytes" if out.read_bytes() == once else "DIFFERENT BYTES"
            print(f"score by one job and by two: {told}")


def sources(path: Path) -> Counter[str]:
    """Return how many rules each source side has."""
    with path.open(encoding="utf-8") as file:
        return Counter(line.split(" ||| ", 2)[1] for line in file)


def packed(steps: Steps) -> Iterator[list[str]]:
    """Pack both grammars; yield the cost, then print what opening and asking take."""
    from distsim import GrammarIndex

    for name, of in (("all", "without gaps"), ("hiero", "gappy")):
        folder, text = steps.work / f"{name}.packs", steps.work / f"{name}.scored"
        cost = steps.run(f"pack-{name}", "pack", text, "--jobs", 1, "-o", folder)
        index, counts = GrammarIndex.open(folder), sources(text)
        asked = list(counts)[:ASKED]
        same = len(index) == sum(counts.values()) and all(
            len(index.rules(one)) == counts[one] for one in asked
        )
        longest = max(asked, key=lambda one: counts[one])
        missing = milliseconds(lambda index=index: index.rules("no such side"))
        answer = milliseconds(lambda index=index, longest=longest: index.rules(longest))
        opened = milliseconds(lambda folder=folder: GrammarIndex.open(folder))
        print(f"packs, {of}: opened in {opened:.1f} CPU ms, an answer of no rule {missing:.2f}, "
              f"of {counts[longest]} {answer:.1f}; all rules there: {same}")  # fmt: skip
        yield row("`pack`", of, cost, len(index), "rules")


def milliseconds(work: Callable[[], object], times: int = 20) -> float:
    begun = time.process_time()
    for _ in range(times):
        work()
    return 1000 * (time.process_time() - begun) / times


def main() -> None:
    options = parser(__doc__)
    options.add_argument("work", type=Path)
    options.add_argument("--index", type=Path, required=True, help="signed")
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    steps = Steps(given.work)
    rows = [
        *aligned(steps, given.data), *extracted(steps), *pivoted(steps, given.data),
        *scored(steps, given.index), *packed(steps),
    ]  # fmt: skip
    print_table(["command", "of", "what", "CPU s", "a CPU second", "peak MB"], rows)
    print_machine()


if __name__ == "__main__":
    main()
