"""Are antonyms told from synonyms? Patterns and affixes beside frequency, string, likeness alone.

Areas under the curve on pairs of adjectives, nouns and verbs (gold-antsyn's parts), 95% intervals
by bootstrap; each kind of evidence alone, the plain score, and weights learnt on the training part
by `distsim rank` (with the words' vectors, and without), its penalty chosen by its folds.

    python bench/opposites.py INDEX FOLDER [--seed 1]

FOLDER: with adjective-pairs.train, .val, noun-pairs..., lines `a<TAB>b<TAB>1 or 0`.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from distsim import CorpusIndex, SignatureTable, read_gold
from distsim.comparison import Opposites
from distsim.evaluation.agreement import area_interval, area_under_curve
from distsim.grammar import PairFeatures, learn_ranking

PARTS = ("adjective", "noun", "verb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    index, table = CorpusIndex.open(asked.index), SignatureTable.open(asked.index)
    gold = {(part, of): read_gold(asked.folder / f"{part}-pairs.{of}")
            for part in PARTS for of in ("train", "val")}  # fmt: skip
    features = PairFeatures(ngram=table, opposites=Opposites(index, table))
    groups = features.groups
    kinds = [*groups["text"], *groups["table"], *groups["opposites"]]
    begun = time.process_time()
    rows = {key: features.matrix(one.pairs, names=kinds) for key, one in gold.items()}
    n = sum(len(one.pairs) for one in gold.values())
    print(f"{n:,} pairs, {1e3 * (time.process_time() - begun) / n:.2f} ms of CPU a pair\n")
    vectors = {
        key: features.matrix(one.pairs, names=groups["vectors"]) for key, one in gold.items()
    }
    labels = {key: np.array(one.scores) for key, one in gold.items()}

    def line(name: str, values: dict[tuple[str, str], np.ndarray], of: str) -> None:
        cells, areas = [], []
        for part in PARTS:
            mine, truth = np.nan_to_num(values[part, of]), labels[part, of]
            area = area_under_curve(mine[truth == 1], mine[truth == 0])
            low, high = area_interval(mine[truth == 1], mine[truth == 0], 300, asked.seed)
            areas.append(area)
            cells.append(f"{area:.3f} ({low:.3f} to {high:.3f})")
        print(f"| {name} | {of} | " + " | ".join(cells) + f" | {np.mean(areas):.3f} |")

    print("| | part | adjectives | nouns | verbs | mean |\n|---|---|---|---|---|---|")
    for of in ("train", "val"):
        for number, kind in enumerate(kinds):
            line(kind, {key: one[:, number] for key, one in rows.items()}, of)
    train = [(part, "train") for part in PARTS]
    every = {key: np.column_stack([rows[key], vectors[key]]) for key in gold}
    held = {p for part in PARTS for pair in gold[part, "val"].pairs for p in pair}
    for name, columns, matrix in (
        ("learnt, opposites' evidence", groups["opposites"], rows),
        ("learnt, all", kinds, rows),
        ("learnt, all and vectors", [*kinds, *groups["vectors"]], every),
    ):
        places = [[*kinds, *groups["vectors"]].index(one) for one in columns]
        for told, words in (("", set()), (", no word of val's", held)):
            taught = [
                (pair, score) for key in train
                for pair, score in zip(gold[key].pairs, gold[key].scores, strict=True)
                if not words & set(pair)
            ]  # fmt: skip
            pairs, scores = zip(*taught, strict=True)
            learnt = learn_ranking(
                replace(gold[train[0]], pairs=pairs, scores=scores, groups=("",) * len(pairs)),
                features, names=columns,
                samples=0,
            )  # fmt: skip
            found = {
                key: learnt.weights.values(columns, one[:, places]) for key, one in matrix.items()
            }
            line(f"{name}{told}, penalty {learnt.penalty:g}", found, "val")


if __name__ == "__main__":
    main()
