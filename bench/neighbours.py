"""Neighbours: time of a query beside faiss's brute force, and the worth of either kind.

Time: the ten nearest of 100 drawn phrases, one core, CPU milliseconds a query, the least of three
runs: the default; the nearest bits of all rows, as faiss's IndexBinaryFlat finds them, whose
distances must be the same. Kinds: Spearman's correlation with judgements of similarity and of
relatedness, and the share of the weight of people's substitutes (CoInCo, all sentences of a word
together) among ten neighbours, its difference from the table's with 95% intervals.

    python bench/neighbours.py INDEX [--words 300] [--data FOLDER]        (needs faiss)
"""

import lzma
import math
import random
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
from frame import SHARED, Cpu, floats, parser, print_machine, print_table

from distsim import CorpusIndex, EstimatedCosine, SignatureTable, neighbours, read_gold
from distsim.comparison import NeighbourSearch
from distsim.paraphrase import KindCosine

SETS = ("WS-353-SIM", "WS-353-REL", "MTurk-771", "RG-65", "VERB-143")
N_QUERIES, LEAST_WEIGHT = 100, 8


def best(work: Callable[[], object]) -> float:
    """Return CPU milliseconds a query."""
    work()
    found = []
    for _ in range(3):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return 1e3 * min(found) / N_QUERIES


def speed(table: SignatureTable) -> None:
    faiss.omp_set_num_threads(1)
    search = NeighbourSearch(table)
    every = NeighbourSearch(table, min_strength=0, distinct=False, estimate="bits")
    rows = np.random.default_rng(1).integers(len(table), size=N_QUERIES)
    phrases = [table.text(row) for row in rows.tolist()]
    flat = faiss.IndexBinaryFlat(table.n_bits)
    flat.add(np.ascontiguousarray(table.bits).view(np.uint8))
    queries = np.ascontiguousarray(table.bits[rows]).view(np.uint8)
    cells = [
        (
            "`neighbours(table, phrase, by='table')`",
            lambda: [neighbours(table, one, by="table") for one in phrases],
        ),
        ("the same search kept", lambda: [search.nearest(one) for one in phrases]),
        ("nearest bits of all rows", lambda: [every.nearest(one) for one in phrases]),
        ("faiss, one by one", lambda: [flat.search(one[None], 11) for one in queries]),
        ("faiss, 100 at once", lambda: flat.search(queries, 11)),
    ]
    print_table(
        [f"{len(table):,} phrases", "CPU ms a query"],
        ([name, f"{best(work):.1f}"] for name, work in cells),
    )
    distances = flat.search(queries, 11)[0]
    agreed = sum(
        abs(near[-1].similarity - math.cos(math.pi * int(row[-1]) / table.n_bits)) < 1e-9
        for near, row in zip((every.nearest(one) or [] for one in phrases), distances, strict=True)
    )
    print(f"\n{agreed} of {N_QUERIES} have faiss's distance")


def substitutes(path: Path) -> dict[str, dict[str, float]]:
    """Return people's weight on each substitute of each word."""
    gold: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            target, named = line.rstrip("\n").split(" :: ")
            for one in filter(None, named.split(";")):
                word, count = one.rsplit(" ", 1)
                gold[target.split(".")[0].lower()][word.lower()] += float(count)
    return gold


def kinds(index: CorpusIndex, table: SignatureTable, data: Path, n_words: int) -> None:
    from distsim.evaluation.correlations import spearman

    search = NeighbourSearch(table)
    measures = {name: KindCosine(index, table, name) for name in ("substitutes", "related")}
    rows: dict[str, list[str]] = {}
    for name, measure in {"table alone": EstimatedCosine(table), **measures}.items():
        rows[name] = []
        for gold in (read_gold(data / "gold-wordsim-shared" / f"EN-{one}.txt") for one in SETS):
            found = floats(measure.similarities(gold.pairs))
            known = ~np.isnan(found)
            rows[name].append(f"{spearman(found[known], np.array(gold.scores)[known]):.3f}")
    gold_weights = substitutes(data / "gold-lexsub-dev" / "coinco-dev.gold.xz")
    words = [word for word, one in gold_weights.items() if sum(one.values()) >= LEAST_WEIGHT]
    words.sort()
    random.Random(1).shuffle(words)
    words = [word for word in words[:n_words] if search.nearest(word) is not None]
    shares: dict[str, np.ndarray] = {}
    for name, cells in rows.items():
        weights = []
        with Cpu() as cpu:
            for word in words:
                by = measures.get(name)
                near = search.reranked(word, by) if by else search.nearest(word)
                own = gold_weights[word]
                weights.append(sum(own.get(one.phrase, 0) for one in near) / sum(own.values()))
        shares[name] = np.array(weights)
        apart = shares[name] - shares["table alone"]
        bound = 1.96 * apart.std() / len(apart) ** 0.5
        cells += [
            f"{shares[name].mean():.3f}",
            f"{apart.mean():+.3f} ({apart.mean() - bound:+.3f} to {apart.mean() + bound:+.3f})",
            f"{1e3 * cpu.seconds / len(words):.0f}",
        ]
    heads = [*SETS, f"substitutes of {len(words)} words", "difference", "CPU ms a query"]
    print_table(["kind", *heads], ([name, *cells] for name, cells in rows.items()))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--words", type=int, default=300)
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    table = SignatureTable.open(given.index)
    speed(table)
    kinds(CorpusIndex.open(given.index), table, given.data, given.words)
    print_machine()


if __name__ == "__main__":
    main()
