"""Antonyms told from synonyms: the evidence of opposites beside likeness, letters, frequency.

Areas under the curve on held-out pairs of adjectives, nouns and verbs (gold-antsyn's val parts) and
their mean; 95% intervals by bootstrap. The plain score has the weights of the package's file.
Learned: `distsim rank` on the training part's pairs, all or those that share no word with the val
part, its penalty chosen by its folds.

    python bench/opposites.py INDEX [--no-vectors] [--data FOLDER]
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from frame import SHARED, Cpu, area, mean_of, parser, print_machine, print_table

from distsim import CorpusIndex, SignatureTable, read_gold
from distsim.comparison import Opposites
from distsim.grammar import PairFeatures, learn_ranking

PARTS = ("adjective", "noun", "verb")
SHOWN = ("letters", "frequency", "sim_whole", "opposite", "joined", "together", "parallel",
         "negation", "polarity")  # fmt: skip


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--no-vectors", dest="vectors", action="store_false", help="minutes less")
    given = options.parse_args()
    index, table = CorpusIndex.open(given.index), SignatureTable.open(given.index)
    folder = given.data / "gold-antsyn"
    train = [read_gold(folder / f"{part}-pairs.train") for part in PARTS]
    held = [read_gold(folder / f"{part}-pairs.val") for part in PARTS]
    features = PairFeatures(ngram=table, opposites=Opposites(index, table))
    groups = features.groups
    kinds = [*groups["text"], *groups["table"], *groups["opposites"]]
    with Cpu() as cpu:
        rows = [features.matrix(one.pairs, names=kinds) for one in held]
    n = sum(len(one.pairs) for one in held)
    vectors = [features.matrix(one.pairs, names=groups["vectors"]) for one in held]
    names = [*kinds, *groups["vectors"]]
    every = [np.column_stack(both) for both in zip(rows, vectors, strict=True)]

    def line(name: str, values: list[np.ndarray]) -> list[object]:
        cells = []
        for mine, gold in zip(values, held, strict=True):
            truth, known = np.array(gold.scores), np.nan_to_num(mine)
            cells.append(area(known[truth == 1], known[truth == 0]))
        return [name, *cells, mean_of(cells)]

    def table_rows():
        for kind in SHOWN:
            yield line(kind, [one[:, kinds.index(kind)] for one in rows])
        tested = {phrase for one in held for pair in one.pairs for phrase in pair}
        for name, columns in (("all", kinds), ("all and vectors", names))[: 1 + given.vectors]:
            for more, words in (("", set()), (", no word of val's", tested)):
                taught = [
                    (pair, score) for gold in train
                    for pair, score in zip(gold.pairs, gold.scores, strict=True)
                    if not words & set(pair)
                ]  # fmt: skip
                pairs, scores = zip(*taught, strict=True)
                gold = replace(train[0], pairs=pairs, scores=scores, groups=("",) * len(pairs))
                weights = learn_ranking(gold, features, names=columns, samples=0).weights
                places = [names.index(one) for one in columns]
                values = [weights.values(columns, one[:, places]) for one in every]
                yield line(f"learned, {name}{more}", values)

    print_table(["area", "adjectives", "nouns", "verbs", "mean"], table_rows())
    print(f"\n{n:,} pairs, {1e3 * cpu.seconds / n:.1f} CPU ms a pair")
    print_machine()


if __name__ == "__main__":
    main()
