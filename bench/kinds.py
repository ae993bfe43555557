"""Are the kinds of neighbours what they say? Judged pairs, and people's substitutes.

Spearman's correlation of the table's estimate and of each kind with judgements of similarity
(SIM) and of relatedness (REL); and, without context, the share of the weight of people's
substitutes (CoInCo, all sentences of a word together) among ten neighbours, with the difference
from the table's own, 95% intervals by the normal approximation, and CPU ms a query.

    python bench/kinds.py INDEX WORDSIM_FOLDER COINCO.gold.xz [--words 300]
"""

import argparse
import lzma
import random
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from distsim import CorpusIndex, EstimatedCosine, SignatureTable
from distsim.comparison.nearest import NeighbourSearch
from distsim.paraphrase import KindCosine

SETS = ("WS-353-SIM", "WS-353-REL", "MTurk-771", "RG-65", "VERB-143")


def people(path: str) -> dict[str, dict[str, float]]:
    gold: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            target, said = line.rstrip("\n").split(" :: ")
            for one in filter(None, said.split(";")):
                word, count = one.rsplit(" ", 1)
                gold[target.split(".")[0].lower()][word.lower()] += float(count)
    return gold


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("wordsim", type=Path)
    parser.add_argument("gold")
    parser.add_argument("--words", type=int, default=300)
    asked = parser.parse_args()
    index, table = CorpusIndex.open(asked.index), SignatureTable.open(asked.index)
    kinds = {name: KindCosine(index, table, name) for name in ("substitutes", "related")}
    print("| | " + " | ".join(SETS) + " |\n" + "|---" * (len(SETS) + 1) + "|")
    for name, measure in {"table": EstimatedCosine(table), **kinds}.items():
        cells = []
        for gold_set in SETS:
            text = (asked.wordsim / f"EN-{gold_set}.txt").read_text(encoding="utf-8")
            rows = [line.split() for line in text.splitlines()]
            found = measure.similarities([(a, b) for a, b, *_ in rows])
            known = [
                (f, float(row[2])) for f, row in zip(found, rows, strict=True) if f is not None
            ]
            cells.append(f"{spearmanr(*zip(*known, strict=True))[0]:.3f}")
        print(f"| {name} | " + " | ".join(cells) + " |")
    gold = people(asked.gold)
    words = sorted(word for word, said in gold.items() if sum(said.values()) >= 8)
    random.Random(1).shuffle(words)
    search = NeighbourSearch(table)
    shares: dict[str, list[float]] = defaultdict(list)
    times: dict[str, float] = defaultdict(float)
    for word in words[: asked.words]:
        if search.nearest(word, k=10) is None:
            continue
        for name in ("table", *kinds):
            begun = time.process_time()
            near = search.reranked(word, kinds[name]) if name in kinds else search.nearest(word)
            times[name] += time.process_time() - begun
            weight = sum(gold[word].get(one.phrase, 0.0) for one in near or ())
            shares[name].append(weight / sum(gold[word].values()))
    print(f"\n| {len(shares['table'])} words | people's weight | difference | CPU ms |")
    print("|---|---|---|---|")
    for name, values in shares.items():
        apart = np.array(values) - np.array(shares["table"])
        bound = 1.96 * apart.std() / len(apart) ** 0.5
        print(
            f"| {name} | {np.mean(values):.3f} | {apart.mean():+.3f} "
            f"[{apart.mean() - bound:+.3f}, {apart.mean() + bound:+.3f}] "
            f"| {1000 * times[name] / len(values):.1f} |"
        )


if __name__ == "__main__":
    main()
