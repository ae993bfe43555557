"""What dropping repeated lines changes in the results, and what it costs.

One corpus, three indexes: --dedup off, exact and near (Jaccard .8 of runs of five words).
Printed per index: lines and tokens left and dropped, CPU seconds and peak memory of the build,
phrases that get a signature; against `off`: how many of the 10 nearest neighbours of a phrase
are others, and how far similarities move (256 bits and exact, raw counts, window 1; the same
pool of vectors, so that equal contexts give equal bits); and Spearman's correlation of exact
cosines (raw, and ppmi) with people's judgements, over the pairs that all three know.

    python bench/dedup.py CORPUS... --format text --gold ../shared/data -o FOLDER

Against: the same corpus without dedup. Phrases for neighbours: every n-th, in order of their
hashes, of those with 50 occurrences or more in all three.
"""

import argparse
import multiprocessing
import os
import resource
import shutil
import sys
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from distsim import (
    CorpusIndex,
    ExactCosine,
    IndexOptions,
    Recipe,
    SignatureTable,
    neighbours,
    similarities,
)
from distsim.contexts import Weighting

MODES = ("off", "exact", "near")
STRONG = 50
K = 10


def build(corpus: list[str], folder: Path, mode: str, text_format: str, results) -> None:
    """In a process of its own, for its CPU seconds and memory."""
    index = CorpusIndex.build(
        corpus, folder / mode, options=IndexOptions(text_format, dedup=mode), memory=16 << 30
    )
    used = os.times()
    near = index.report.near_cost
    results.put(
        {
            "seconds": used.user + used.system,
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "near": None if near is None else (near.seconds, near.lines, near.n_bytes),
        }
    )


def gold_sets(folder: Path) -> dict[str, list[tuple[str, str, float]]]:
    sets = {}
    judged = folder / "gold-paraphrase-shared" / "judgements.tsv"
    rows = [line.split("\t") for line in judged.read_text().splitlines()]
    sets["paraphrases"] = [(row[2], row[3], float(row[0])) for row in rows]
    for path in sorted((folder / "gold-wordsim-shared").glob("EN-*.txt")):
        rows = [line.split("\t") for line in path.read_text().splitlines() if line.strip()]
        sets[path.stem.removeprefix("EN-")] = [(a, b, float(score)) for a, b, score in rows]
    return sets


def known(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values])


def row(name: str, cells: list[str]) -> None:
    print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--format", default="text")
    parser.add_argument("--gold", type=Path, default=Path("../shared/data"))
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--phrases", type=int, default=1000)
    asked = parser.parse_args()
    shutil.rmtree(asked.output, ignore_errors=True)
    asked.output.mkdir(parents=True)
    costs = {}
    for mode in MODES:
        results = multiprocessing.get_context("spawn").Queue()
        process = multiprocessing.get_context("spawn").Process(
            target=build, args=(asked.corpus, asked.output, mode, asked.format, results)
        )
        process.start()
        costs[mode] = results.get()
        process.join()
        print(f"built {mode}", file=sys.stderr)
    indexes = {mode: CorpusIndex.open(asked.output / mode) for mode in MODES}
    tables = {mode: SignatureTable.build(index, recipe=Recipe()) for mode, index in indexes.items()}

    print("| | " + " | ".join(MODES) + " |")
    print("|---|" + "---:|" * len(MODES))
    counts = [indexes[mode].parameters["counts"] for mode in MODES]
    row("lines read", [f"{one['lines']:,}" for one in counts])
    row("lines dropped", [f"{one['dropped_lines']:,}" for one in counts])
    row("of these near-duplicates", [f"{one.get('near_lines', 0):,}" for one in counts])
    row("tokens kept", [f"{one['tokens']:,}" for one in counts])
    row("tokens dropped", [f"{one['dropped_tokens']:,}" for one in counts])
    row("of these in near-duplicates", [f"{one.get('near_tokens', 0):,}" for one in counts])
    row("CPU seconds of the build", [f"{costs[mode]['seconds']:.1f}" for mode in MODES])
    row("peak memory, MB", [f"{costs[mode]['peak'] / 2**20:,.0f}" for mode in MODES])
    near = [costs[mode]["near"] for mode in MODES]
    row("of these for near: CPU seconds", [f"{one[0]:.1f}" if one else "" for one in near])
    row("lines held", [f"{one[1]:,}" if one else "" for one in near])
    row("MB held (estimate)", [f"{one[2] / 2**20:,.0f}" if one else "" for one in near])
    row("phrases signed", [f"{len(tables[mode]):,}" for mode in MODES])

    base = tables["off"]
    strong = [base.text(i) for i in np.flatnonzero(base.strengths >= STRONG).tolist()]
    kept = np.ones(len(strong), bool)
    for mode in MODES:
        rows = tables[mode].find_normal(strong)
        kept &= (rows >= 0) & (tables[mode].strengths[rows] >= STRONG)
    phrases = [strong[i] for i in np.flatnonzero(kept)]
    phrases = phrases[:: max(1, len(phrases) // asked.phrases)][: asked.phrases]
    found = {
        mode: [[n.phrase for n in near or []] for near in neighbours(tables[mode], phrases, k=K)]
        for mode in MODES
    }
    changed = {
        mode: [len(set(a) - set(b)) for a, b in zip(found["off"], found[mode], strict=True)]
        for mode in MODES
    }
    row(f"others among {K} neighbours, of {len(phrases):,} phrases",
        [f"{np.mean(changed[mode]):.2f}" for mode in MODES])  # fmt: skip
    row("phrases with another nearest neighbour",
        [f"{np.mean([a[:1] != b[:1] for a, b in zip(found['off'], found[mode], strict=True)]):.1%}"
         for mode in MODES])  # fmt: skip
    pairs = [(a, b) for a, near in zip(phrases, found["off"], strict=True) for b in near]
    estimated = {mode: known(similarities(tables[mode], pairs)) for mode in MODES}
    exact = {
        mode: known(ExactCosine(indexes[mode], tables[mode]).similarities(pairs)) for mode in MODES
    }
    for name, values in (("256 bits", estimated), ("exact", exact)):
        moves = [np.abs(values[mode] - values["off"]) for mode in MODES]
        row(f"mean change of a neighbour's similarity, {name}",
            [f"{np.nanmean(move):.4f}" for move in moves])  # fmt: skip
        row(f"largest change, {name}", [f"{np.nanmax(move):.3f}" for move in moves])
    row("neighbours lost from the table", [f"{np.isnan(exact[m]).mean():.2%}" for m in MODES])

    ppmi = {
        mode: SignatureTable.build(
            indexes[mode], asked.output / f"ppmi-{mode}",
            recipe=Recipe(weighting=Weighting("ppmi")),
        )
        for mode in MODES
    }  # fmt: skip
    for name, gold in gold_sets(asked.gold).items():
        pairs = [(a, b) for a, b, _ in gold]
        scores = np.array([score for _, _, score in gold])
        for weights, signed in (("raw", tables), ("ppmi", ppmi)):
            cosines = {
                mode: known(ExactCosine(indexes[mode], signed[mode]).similarities(pairs))
                for mode in MODES
            }
            both = np.all([~np.isnan(values) for values in cosines.values()], axis=0)
            cells = [f"{spearmanr(cosines[mode][both], scores[both])[0]:.4f}" for mode in MODES]
            row(f"Spearman, {name}, {weights}, {both.sum():,} pairs", cells)


if __name__ == "__main__":
    main()
