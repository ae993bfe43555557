"""Sentences shortened to the same length, as table 5.1.

`python bench/rewriting/compression.py FOLDER SHARED [STEP...] [--judged N] [--tune N]`; all steps
where none is named. FOLDER was made by prepare.py. Of a sentence and its eight rewritings the
longest is shortened, the shortest is the reference, where it has more than half and at most .8 of
the words (thesis 4.3). Weights are the packaged ones that shorten, less those of the features that
a system is to do without; with --tune N each system has its own, tuned from them for PRECIS at .75,
on rewritings of that length, on the first N pairs of the half to tune on. What is printed is of the
other half, or of its first N pairs with --judged N, all systems asked for .75 of the words.
Controls: truncation to the same length, and as many words deleted at random. What stands in
FOLDER/compression is not made again.
"""

import argparse
import math
import random
from pathlib import Path

from ladder import NGRAM, SEARCH, SYNTAX, Step, slug
from prepare import REFERENCES, distsim

from distsim.evaluation.rewritings import Evaluation, System, shortened, truncated
from distsim.grammar.packs import GrammarIndex
from distsim.paraphrase.rewriting.weights import SHORTEN, Weights

PHI = 0.75
LEAST, MOST = 0.5, 0.8
COLUMNS = ("BLEU", "PRECIS", "chrF", "ratio", "kept")
STEPS = (
    Step("Hiero", "hiero/packs", f"{NGRAM},{SYNTAX}"),
    Step("labels", "labels/packs", f"{NGRAM},{SYNTAX}"),
    Step("labels + sim_ngram", "labels/packs", SYNTAX),
    Step("labels + sim_syn", "labels/packs", NGRAM),
    Step("labels + both", "labels/packs", ""),
    Step("joint, packaged weights", "joint"),
)


def pairs(folder: Path, half: str, most: int | None, shared: Path) -> None:
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
    print(f"{half}: {len(found):,} pairs, {len(found[:most]):,} taken")
    for place, name in enumerate(("long", "short")):
        text = "".join(f"{one[place]}\n" for one in found[:most])
        (made / f"{half}.{name}").write_text(text, encoding="utf-8")
    distsim(
        "annotate", made / f"{half}.long", "-o", made / f"{half}.conllu", "--with", "stanza",
        "--models", shared / "models" / "tiny-en", "--format", "lines",
        "--trees", made / f"{half}.trees",
    )  # fmt: skip


def less(step: Step, folder: Path, path: Path) -> None:
    """Write the packaged weights without those that a step does without, or that a pack lacks."""
    packaged = Weights.default(SHORTEN)
    own = set(GrammarIndex.open(folder / step.pack).feature_names)
    others = set(GrammarIndex.open(folder / "joint").feature_names) - own
    left_out = {*(step.without or "").split(","), *others}
    kept = {name: x for name, x in packaged.values.items() if plain(name) not in left_out}
    Weights(kept, notes=packaged.notes).write(path)


def plain(name: str) -> str:
    return name.removeprefix("Missing(").removesuffix(")")


def shorter(folder: Path, step: Step, tuned: int) -> list[str]:
    """Make a step's weights; return the held-back sentences, shortened with them."""
    made = folder / "compression"
    weights, lines = made / f"{slug(step.name)}.weights", made / f"{slug(step.name)}.lines"
    common = (*SEARCH, "--index", folder / "wiki.index", "--length", PHI)
    if not tuned:
        less(step, folder, weights)
    elif step.without is not None and not weights.exists():
        distsim(
            "tune", folder / step.pack, made / "tune.long", "--references", made / "tune.short",
            "--trees", made / "tune.trees", "--set", "objective=precis", "--set", f"phi={PHI}",
            "-o", weights,
            "--set", "iterations=2", "--set", "n=40", *common,
            *(["--set", f"without={step.without}"] if step.without else []),
        )  # fmt: skip
    distsim(
        "rewrite", folder / step.pack, made / "held.long", "--trees", made / "held.trees",
        *([] if step.without is None else ["--weights", weights]), "-n", 1, "-o", lines, *common,
    )  # fmt: skip
    rows = [line.split("\t") for line in lines.read_text(encoding="utf-8").splitlines()]
    return [row[3] for row in rows if not row[0].startswith("#")]


def main(folder: Path, shared: Path, names: list[str], judged: int | None, tuned: int) -> None:
    made = folder / "compression"
    made.mkdir(exist_ok=True)
    for half, most in (("tune", tuned), ("held", judged)):
        if most != 0:
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
            System(step.name, shorter(folder, step, tuned))
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
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("shared", type=Path)
    parser.add_argument("names", nargs="*", metavar="STEP")
    parser.add_argument("--judged", type=int, help="so many pairs; all where not given")
    parser.add_argument("--tune", dest="tuned", type=int, default=0, help="on so many pairs")
    main(**vars(parser.parse_args()))
