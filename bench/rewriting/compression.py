"""Sentences shortened to the same length, as table 5.1.

`python bench/rewriting/compression.py FOLDER SHARED STEP...`; all steps where none is named.
FOLDER was made by prepare.py. Of a sentence and its eight rewritings the longest is shortened, the
shortest is the reference, where it has more than half and at most .8 of the words (thesis 4.3).
Each system's weights are tuned for PRECIS at .75, on rewritings of that length, from the packaged
ones, on the first pairs of the half to tune on; what is printed is of the first pairs of the other
half, all systems asked for .75 of the words. Controls: truncation to the same length, and as many
words deleted at random. What stands in FOLDER/compression is not made again.
"""

import math
import random
import sys
from pathlib import Path

from ladder import NGRAM, SEARCH, SYNTAX, Step, slug
from prepare import REFERENCES, distsim

from distsim.evaluation.rewritings import Evaluation, System, shortened, truncated

PHI = 0.75
TUNED, JUDGED = 30, 120
LEAST, MOST = 0.5, 0.8
COLUMNS = ("BLEU", "PRECIS", "chrF", "ratio", "kept")
STEPS = (
    Step("labels", "labels/packs", f"{NGRAM},{SYNTAX}"),
    Step("labels + both", "labels/packs", ""),
    Step("labels + sim_ngram", "labels/packs", SYNTAX),
    Step("labels + sim_syn", "labels/packs", NGRAM),
    Step("joint, both", "joint", ""),
)


def pairs(folder: Path, half: str, most: int, shared: Path) -> None:
    """Write the longest and the shortest of each sentence's variants, and the longest's tree."""
    made = folder / "compression"
    if (made / f"{half}.trees").exists():
        return
    variants = [
        (folder / f"{half}.{name}").read_text(encoding="utf-8").splitlines()
        for name in ("norm", *REFERENCES)
    ]
    found = []
    for some in zip(*variants, strict=True):
        longest = max(some, key=lambda one: len(one.split()))
        shortest = min(some, key=lambda one: len(one.split()))
        if LEAST < len(shortest.split()) / max(len(longest.split()), 1) <= MOST:
            found.append((longest, shortest))
    print(f"{half}: {len(found):,} pairs, the first {min(most, len(found))} taken")
    for place, name in enumerate(("long", "short")):
        text = "".join(f"{one[place]}\n" for one in found[:most])
        (made / f"{half}.{name}").write_text(text, encoding="utf-8")
    distsim(
        "annotate", made / f"{half}.long", "-o", made / f"{half}.conllu", "--with", "stanza",
        "--models", shared / "models" / "tiny-en", "--format", "lines",
        "--trees", made / f"{half}.trees",
    )  # fmt: skip


def shorter(folder: Path, step: Step) -> list[str]:
    """Tune a step's weights; return the held-back sentences, shortened with them."""
    made = folder / "compression"
    weights, lines = made / f"{slug(step.name)}.weights", made / f"{slug(step.name)}.lines"
    common = (*SEARCH, "--index", folder / "wiki.index", "--length", PHI)
    if not weights.exists():
        distsim(
            "tune", folder / step.pack, made / "tune.long", "--references", made / "tune.short",
            "--trees", made / "tune.trees", "--objective", "precis", "--phi", PHI, "-o", weights,
            "--iterations", 2, "-n", 40, *common,
            *(["--without", step.without] if step.without else []),
        )  # fmt: skip
    distsim(
        "rewrite", folder / step.pack, made / "held.long", "--trees", made / "held.trees",
        "--weights", weights, "-n", 1, "-o", lines, *common,
    )  # fmt: skip
    rows = [line.split("\t") for line in lines.read_text(encoding="utf-8").splitlines()]
    return [row[3] for row in rows if not row[0].startswith("#")]


def main(folder: Path, shared: Path, *names: str) -> None:
    made = folder / "compression"
    made.mkdir(exist_ok=True)
    for half, most in (("tune", TUNED), ("held", JUDGED)):
        pairs(folder, half, most, shared)
    source = (made / "held.long").read_text(encoding="utf-8").splitlines()
    references = [(made / "held.short").read_text(encoding="utf-8").splitlines()]
    wanted = [max(1, math.floor(PHI * len(one.split()))) for one in source]
    draw = random.Random(1)
    both = list(zip(source, wanted, strict=True))
    systems = [
        System("copy", source),
        System("truncation", [truncated(*one) for one in both]),
        System("random deletion", [shortened(*one, draw) for one in both]),
        *(
            System(step.name, shorter(folder, step))
            for step in STEPS
            if not names or step.name in names
        ),
        System("the reference itself", references[0]),
    ]
    print(f"| {len(source):,} sentences | {' | '.join(COLUMNS)} | PRECIS less truncation's | p |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    evaluation = Evaluation(source, references, phi=PHI)
    for row in evaluation.rows(systems, baseline="truncation"):
        cells = [f"{row.values[name]:.2f}" for name in COLUMNS]
        told = ["", ""]
        if row.differences:
            gap, low, high, p = row.differences["PRECIS"]
            told = [f"{gap:.2f} ({low:.2f} to {high:.2f})", f"{p:.3f}"]
        print(f"| {row.name} | {' | '.join([*cells, *told])} |", flush=True)


if __name__ == "__main__":
    shared = Path(sys.argv[2] if len(sys.argv) > 2 else "../shared")
    main(Path(sys.argv[1]), shared, *sys.argv[3:])
