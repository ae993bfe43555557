"""Error of the estimates that a table gives, against the real-valued cosine made anew.

Pairs: phrases of several words drawn by strength, each with some of its nearest by bits and some
drawn phrases, so that all cosines are met. Beside: theory for independent bits.

    python bench/estimates.py INDEX [--phrases 300]

Prints the root of the mean squared error by the real-valued cosine, Spearman's correlation with it
and CPU microseconds a pair.
"""

import math
from itertools import pairwise

import numpy as np
from frame import Cpu, floats, parser, print_machine, print_table

from distsim import CorpusIndex, EstimatedCosine, SignatureTable
from distsim.comparison import LearnedCosine, NeighbourSearch

BANDS = (-1.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.01)
STRENGTHS = (30, 100, 300, 1000, 3000, 1 << 40)
NEAR, DRAWN = 12, 4
ESTIMATES = ("bits", "restored")


def theory(cosine: np.ndarray, n_bits: int) -> np.ndarray:
    """Return the squared error of cos(pi h / n) where n independent bits differ."""
    p = np.arccos(np.clip(cosine, -1, 1)) / math.pi
    return math.pi**2 * np.sin(math.pi * p) ** 2 * p * (1 - p) / n_bits


def drawn_pairs(table: SignatureTable, n_phrases: int) -> list[tuple[str, str]]:
    rng = np.random.default_rng(1)
    tokens = table.token_counts()
    search = NeighbourSearch(table, estimate="bits", distinct=False, min_strength=30)
    pairs = []
    for low, high in pairwise(STRENGTHS):
        rows = np.flatnonzero((table.strengths >= low) & (table.strengths < high) & (tokens > 1))
        for row in rng.choice(rows, min(rows.size, n_phrases // 5), replace=False).tolist():
            phrase = table.text(row)
            near = [one.phrase for one in search.nearest(phrase, k=100) or ()]
            others = [near[i] for i in rng.choice(len(near), min(NEAR, len(near)), replace=False)]
            others += [table.text(i) for i in rng.integers(0, len(table), DRAWN).tolist()]
            pairs += [(phrase, other) for other in others]
    return pairs


def main() -> None:
    from distsim.evaluation.correlations import spearman

    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--phrases", type=int, default=300)
    given = options.parse_args()
    index, table = CorpusIndex.open(given.index), SignatureTable.open(given.index)
    pairs = drawn_pairs(table, given.phrases)
    true = floats(LearnedCosine(index, table).similarities(pairs))
    bands = [(low, high, (true >= low) & (true < high)) for low, high in pairwise(BANDS)]

    def row(name: str, squares: np.ndarray, *more: str) -> list[str]:
        cells = [
            f"{np.sqrt(squares[mine].mean()):.3f}" if mine.any() else "-" for *_, mine in bands
        ]
        return [name, *cells, *more]

    rows = [row("bits, theory", theory(true, table.n_bits), "", "")]
    for name in ESTIMATES:
        measure = EstimatedCosine(table, estimate=name)
        measure.similarities(pairs[:10])
        with Cpu() as cpu:
            values = floats(measure.similarities(pairs))
        rank, micros = spearman(values, true), 1e6 * cpu.seconds / len(pairs)
        rows.append(row(name, (values - true) ** 2, f"{rank:.4f}", f"{micros:.0f}"))
    heads = [f"{low:g} to {min(high, 1):g} ({mine.sum()})" for low, high, mine in bands]
    print_table([f"{len(pairs):,} pairs", *heads, "Spearman", "CPU µs a pair"], rows)
    print_machine()


if __name__ == "__main__":
    main()
