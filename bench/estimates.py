"""How near do estimates from a table come to the cosines that bits were cut from? And to people?

Measured: the Hamming estimate, the asymmetric one, the restored one, each against the real-valued
cosine made anew from the index (LearntCosine); beside theory for independent bits. Pairs: phrases
drawn by strength, each with some of its nearest by bits and some drawn ones, so that all cosines
are met. Then Spearman with judgements, each with its 95% interval, on the pairs that all cover.

    python bench/estimates.py INDEX [GOLD...] [--phrases 300] [--seed 1]
"""

import argparse
import math
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from distsim import CorpusIndex, SignatureTable
from distsim.comparison import LearntCosine, NeighbourSearch
from distsim.comparison.measures import EstimatedCosine
from distsim.evaluation.agreement import spearman, spearman_interval
from distsim.evaluation.gold import GoldSet, Pair, read_gold
from distsim.signatures.estimates import ESTIMATES

BANDS = (-1.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.01)
STRENGTHS = (30, 100, 300, 1000, 3000, 1 << 40)
NEAR, DRAWN = 12, 4


def values(measure, pairs: list[Pair]) -> np.ndarray:
    return np.array([math.nan if one is None else one for one in measure.similarities(pairs)])


def theory(cosine: np.ndarray, n_bits: int) -> float:
    """Root of the mean squared error of cos(pi h / n) where n independent bits differ."""
    p = np.arccos(np.clip(cosine, -1, 1)) / math.pi
    return float(np.sqrt(np.mean(math.pi**2 * np.sin(math.pi * p) ** 2 * p * (1 - p) / n_bits)))


def drawn_pairs(table: SignatureTable, n_phrases: int, seed: int) -> tuple[list[Pair], list[int]]:
    """Return pairs of phrases of several words, and the strength of each first one."""
    rng = np.random.default_rng(seed)
    tokens = table.token_counts()
    search = NeighbourSearch(table, estimate="bits", distinct=False, min_strength=30)
    pairs, strengths = [], []
    for low, high in pairwise(STRENGTHS):
        rows = np.flatnonzero((table.strengths >= low) & (table.strengths < high) & (tokens > 1))
        for row in rng.choice(rows, min(rows.size, n_phrases // 5), replace=False).tolist():
            focal = table.text(row)
            near = [one.phrase for one in search.nearest(focal, k=100)]
            others = [near[i] for i in rng.choice(len(near), min(NEAR, len(near)), replace=False)]
            others += [table.text(i) for i in rng.integers(0, len(table), DRAWN).tolist()]
            pairs += [(focal, other) for other in others]
            strengths += [int(table.strengths[row])] * len(others)
    return pairs, strengths


def parts_of(gold: GoldSet) -> list[GoldSet]:
    if gold.layout != "judged":
        return [gold]
    n = [{len(phrase.split()) > 1 for phrase in pair} for pair in gold.pairs]
    return [gold.subset("words", [i for i, one in enumerate(n) if one == {False}]),
            gold.subset("phrases", [i for i, one in enumerate(n) if one == {True}])]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("gold", nargs="*", type=Path)
    parser.add_argument("--phrases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    index, table = CorpusIndex.open(asked.index), SignatureTable.open(asked.index)
    real = LearntCosine(index, table)
    ways = {name: EstimatedCosine(table, estimate=name) for name in ESTIMATES}

    pairs, strengths = drawn_pairs(table, asked.phrases, asked.seed)
    true = values(real, pairs)
    found, seconds = {}, {}
    for name, way in ways.items():
        way.similarities(pairs[:10])
        begun = time.process_time()
        found[name] = values(way, pairs)
        seconds[name] = time.process_time() - begun
    print(f"{len(pairs):,} pairs; root of the mean squared error (mean error)\n")
    print("| real-valued cosine | pairs | bits, theory | " + " | ".join(ways) + " |")
    print("|---" * (3 + len(ways)) + "|")

    def row(label: str, mine: np.ndarray) -> None:
        cells = [f"{np.sqrt(np.mean((found[n] - true)[mine] ** 2)):.3f} "
                 f"({np.mean((found[n] - true)[mine]):+.3f})" for n in ways]  # fmt: skip
        told = f"{theory(true[mine], table.n_bits):.3f}"
        print(f"| {label} | {mine.sum():,} | {told} | " + " | ".join(cells) + " |")

    for low, high in pairwise(BANDS):
        mine = (true >= low) & (true < high)
        if mine.sum() > 10:
            row(f"{low} to {min(high, 1)}", mine)
    for low, high in pairwise(STRENGTHS):
        some = np.array([low <= strength < high for strength in strengths])
        row(f"any, first phrase {low:,} times and more", some & np.isfinite(true))
    for name in ways:
        mine = np.isfinite(true)
        print(f"{name}: Spearman with real-valued {spearman(found[name][mine], true[mine]):.4f}, "
              f"{1e6 * seconds[name] / len(pairs):.0f} microseconds of CPU a pair")  # fmt: skip
    if not asked.gold:
        return
    print("\n| gold set | pairs | " + " | ".join([*ways, "real-valued"]) + " |")
    print("|---" * (3 + len(ways)) + "|")
    for gold in [part for path in asked.gold for part in parts_of(read_gold(path))]:
        every = {name: values(way, list(gold.pairs)) for name, way in ways.items()}
        every["real-valued"] = values(real, list(gold.pairs))
        mine = np.flatnonzero(np.all([np.isfinite(one) for one in every.values()], axis=0))
        scores, groups = np.array(gold.scores)[mine], [gold.groups[n] for n in mine]
        cells = []
        for one in every.values():
            low, high = spearman_interval(one[mine], scores, groups, 300, 1)
            cells.append(f"{spearman(one[mine], scores):.3f} ({low:.3f} to {high:.3f})")
        print(f"| {gold.name} | {mine.size:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
