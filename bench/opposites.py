"""Antonyms told from synonyms: the evidence of opposites beside likeness.

Areas under the curve on held-out pairs of adjectives, nouns and verbs (gold-antsyn's val parts) and
their mean; 95% intervals by bootstrap. The plain score has the weights of the package's file.

    python bench/opposites.py INDEX [--data FOLDER]
"""

from pathlib import Path

import numpy as np
from frame import SHARED, Cpu, area, mean_of, parser, print_machine, print_table

from distsim import CorpusIndex, SignatureTable, read_gold
from distsim.comparison import EstimatedCosine, Opposites

PARTS = ("adjective", "noun", "verb")
KINDS = ("score", "joined", "together", "parallel", "negation", "polarity")


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    index, table = CorpusIndex.open(given.index), SignatureTable.open(given.index)
    folder = given.data / "gold-antsyn"
    held = [read_gold(folder / f"{part}-pairs.val") for part in PARTS]
    likeness, opposites = EstimatedCosine(table), Opposites(index, table)
    with Cpu() as cpu:
        said = [opposites.evidence(one.pairs) for one in held]
    n = sum(len(one.pairs) for one in held)

    def line(name: str, values: list[np.ndarray]) -> list[object]:
        cells = []
        for mine, gold in zip(values, held, strict=True):
            truth, known = np.array(gold.scores), np.nan_to_num(mine)
            cells.append(area(known[truth == 1], known[truth == 0]))
        return [name, *cells, mean_of(cells)]

    def table_rows():
        yield line("likeness", [
            np.array([np.nan if one is None else one for one in likeness.similarities(gold.pairs)])
            for gold in held
        ])  # fmt: skip
        for kind in KINDS:
            yield line("opposite" if kind == "score" else kind, [
                np.array([0.0 if one is None else getattr(one, kind) for one in of_part])
                for of_part in said
            ])  # fmt: skip

    print_table(["area", "adjectives", "nouns", "verbs", "mean"], table_rows())
    print(f"\n{n:,} pairs, {1e3 * cpu.seconds / n:.1f} CPU ms a pair")
    print_machine()


if __name__ == "__main__":
    main()
