"""Gappy paraphrase rules: are real ones told from shuffled ones?

Shuffled: a rule with the target of another of the same label, gap labels and order, number of words
and frequency of its rarest word (by powers of ten), unless the grammar has that rule too. Areas
under the curve with 95% intervals over rules that both have a score: controls (shared words,
letters, frequency), the mean of phrase pairs (sim_ngram), the whole sides (sim_whole), what fills
the gaps (sim_gap), all of the sides (sim_rule). Learned: logistic regression on folds that share
no source side.

    distsim pivot joshua.bn-en.samt.grammar.gz --columns joint -o samt.para   (bench/grammars.py)
    python bench/gapped.py INDEX RULES [--most 4000]
"""

import math
import random
from collections import defaultdict

import numpy as np
from frame import Cpu, area, floats, parser, print_machine, print_table
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from distsim import CorpusIndex, SignatureTable
from distsim.comparison import GappedCosine
from distsim.grammar import PairFeatures, RuleAligner, RuleScorer
from distsim.grammar.formats.rules import gap_of
from distsim.grammar.pair_features import without_gaps

SHOWN = ("overlap", "letters", "frequency", "sim_ngram", "sim_whole", "sim_gap", "sim_rule")
Rule = tuple[str, ...]  # label, source, target


def gaps_of(side: str) -> list[str]:
    return [symbol for symbol in side.split() if gap_of(symbol.encode())]


def paired(rules: list[Rule], table: SignatureTable, most: int) -> tuple[list, list]:
    """Return real (source, target) pairs and as many shuffled ones."""
    draw = random.Random(1)
    draw.shuffle(rules)
    known = {rule[1:] for rule in rules}
    groups = defaultdict(list)
    for rule in rules[:most]:
        words = without_gaps(rule[2]).split()
        counts = [int(table.strengths[row]) if row >= 0 else 0 for row in table.find(words)]
        rarest = int(math.log10(min(counts) + 1))
        groups[rule[0], tuple(gaps_of(rule[2])), len(words), rarest].append(rule)
    real, shuffled = [], []
    for members in groups.values():
        for rule in members:
            others = [
                one[2] for one in members
                if one[1] != rule[1] and one[2] not in rule[1:] and (rule[1], one[2]) not in known
            ]  # fmt: skip
            if others:
                real.append(rule[1:])
                shuffled.append((rule[1], draw.choice(others)))
    return real, shuffled


def scored(scorer: RuleScorer, pairs: list[tuple[str, str]]) -> np.ndarray:
    return floats(scorer.score(*pair)[0].similarity for pair in pairs)


def learned(columns: list[np.ndarray], n_real: int, sources: list[str]) -> np.ndarray:
    """Return each rule's value by weights of the other folds."""
    values = np.column_stack(columns)
    missing = np.isnan(values)
    filled = np.where(missing, np.nanmedian(values, axis=0), values)
    filled = (filled - filled.mean(axis=0)) / (filled.std(axis=0) + 1e-9)
    rows = np.column_stack([filled, missing[:, missing.any(axis=0)]])
    truth = np.arange(len(rows)) < n_real
    numbers = {source: number for number, source in enumerate(dict.fromkeys(sources))}
    groups = [numbers[source] for source in sources]
    found = np.empty(len(rows))
    for train, test in GroupKFold(5).split(rows, truth, groups):
        model = LogisticRegression().fit(rows[train], truth[train])
        found[test] = model.decision_function(rows[test])
    return found


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", help="signed by the default")
    options.add_argument("rules")
    options.add_argument("--most", type=int, default=4000)
    given = options.parse_args()
    table = SignatureTable.open(given.index)
    with open(given.rules, encoding="utf-8") as file:
        rules = [tuple(line.rstrip("\n").split(" ||| ")[:3]) for line in file]
    rules = [r for r in rules if gaps_of(r[1]) and all(without_gaps(side) for side in r[1:])]
    real, shuffled = paired(rules, table, given.most)
    pairs = real + shuffled
    features = PairFeatures(ngram=table)
    matrix = features.matrix(pairs)
    columns = {name: matrix[:, number] for number, name in enumerate(features.names)}
    scorer = RuleScorer([("s", table)], aligner=RuleAligner("missing"))
    columns["sim_ngram"] = scored(scorer, pairs)
    sides = RuleScorer([("s", table)], rule=True, aligner=RuleAligner("none"))
    columns["sim_rule"] = floats(sides.score(*pair)[1].similarity for pair in pairs)
    gapped = GappedCosine(CorpusIndex.open(given.index), table)
    with Cpu() as cpu:
        columns["sim_gap"] = scored(
            RuleScorer([], gapped=gapped, aligner=RuleAligner("none")), pairs
        )
    shown = {name: columns[name] for name in SHOWN}
    sources = [pair[0] for pair in pairs]
    for name, left_out in (("all but sim_gap", {"sim_gap", "sim_rule"}), ("all", {"sim_rule"})):
        some = [one for key, one in columns.items() if key not in left_out]
        shown[f"{name}: {len(some)} features, learned"] = learned(some, len(real), sources)

    def row(name: str, values: np.ndarray) -> list[str]:
        good, bad = values[: len(real)], values[len(real) :]
        both = ~np.isnan(good) & ~np.isnan(bad)
        return [name, area(good[both], bad[both]), f"{both.sum():,}"]

    heads = [f"{len(real):,} rules, as many shuffled", "area", "both scored"]
    print_table(heads, (row(*one) for one in shown.items()))
    sides = {side for pair in pairs for side in pair}
    print(f"\nsim_gap: {1000 * cpu.seconds / len(sides):.1f} CPU ms a side")
    print_machine()


if __name__ == "__main__":
    main()
