"""Are real gappy rules told from shuffled ones? Means over phrase pairs, and whole sides.

Shuffled: a rule with the target of another of the same label, gap labels and gap order, number of
words and frequency of its rarest word (by powers of ten). Each way on the rules and shuffled ones
that it scores; areas with 95% intervals; overlap, letters, frequency alone beside.

    distsim pivot joshua.bn-en.samt.grammar.gz --columns joint -o samt.para
    python bench/rules.py TABLE samt.para [--most 6000] [--seed 1]
"""

import argparse
import math
import random
from collections import defaultdict

import numpy as np

from distsim import PairFeatures, RuleAligner, RuleScorer, ScoreOptions, SignatureTable
from distsim.evaluation.agreement import area_interval, area_under_curve
from distsim.grammar.formats.rules import gap_of
from distsim.grammar.pair_features import without_gaps


def gaps_of(side: str) -> list[str]:
    return [symbol for symbol in side.split() if gap_of(symbol.encode())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("rules")
    parser.add_argument("--most", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    table = SignatureTable.open(asked.table)
    with open(asked.rules, encoding="utf-8") as file:
        rules = [tuple(line.rstrip("\n").split(" ||| ")[:3]) for line in file]
    rules = [r for r in rules if gaps_of(r[1]) and all(without_gaps(side) for side in r[1:])]
    draw = random.Random(asked.seed)
    draw.shuffle(rules)

    def like(rule: tuple[str, ...]) -> tuple:
        words = without_gaps(rule[2]).split()
        counts = [int(table.strengths[row]) if row >= 0 else 0 for row in table.find(words)]
        return rule[0], tuple(gaps_of(rule[2])), len(words), int(math.log10(min(counts) + 1))

    groups = defaultdict(list)
    for rule in rules[: asked.most]:
        groups[like(rule)].append(rule)
    real, shuffled = [], []
    for members in groups.values():
        for rule in members:
            others = [one[2] for one in members if one[1] != rule[1] and one[2] not in rule[1:]]
            if others:
                real.append(rule[1:])
                shuffled.append((rule[1], draw.choice(others)))
    print(f"{len(real):,} rules and as many shuffled\n\n| | area (95% interval) | both scored |")
    print("|---|---|---|")

    def line(name: str, good: np.ndarray, bad: np.ndarray) -> None:
        both = ~np.isnan(good) & ~np.isnan(bad)
        low, high = area_interval(good[both], bad[both], 300, asked.seed)
        area = area_under_curve(good[both], bad[both])
        print(f"| {name} | {area:.3f} ({low:.3f} to {high:.3f}) | {both.sum():,} |")

    features = PairFeatures(table)
    matrices = [features.matrix(pairs) for pairs in (real, shuffled)]
    for number, name in enumerate(features.names):
        line(name, *(matrix[:, number] for matrix in matrices))
    for name, options in (
        ("sim_ngram, bits", ScoreOptions(estimate="bits")),
        ("sim_ngram", ScoreOptions()),
        ("sim_ngram, identical skipped", ScoreOptions(identical="skip")),
        ("the same, composed", ScoreOptions(identical="skip", compose=True)),
    ):
        scorer = RuleScorer([("s", table)], options, aligner=RuleAligner("missing"))
        line(name, *(
            np.array([math.nan if (s := scorer.score(*pair)[0].similarity) is None else s
                      for pair in pairs]) for pairs in (real, shuffled)
        ))  # fmt: skip


if __name__ == "__main__":
    main()
