"""Are real gappy rules told from shuffled ones? Phrase pairs, whole sides, what fills the gaps.

Shuffled: a rule with the target of another of the same label, gap labels and gap order, number of
words and frequency of its rarest word (by powers of ten), unless the grammar has that rule too
(`--any-target`: even then). Each way on the rules and shuffled ones that it scores; areas with 95%
intervals; overlap, letters, frequency alone beside. Together: the mean of ranks, half where there
is no score; learnt: logistic regression, on folds that share no source side with what it was
learnt from. With --syntax also by a syntactic table, and by both together; sim_gap and whole sides
want a learnt table.

    distsim pivot joshua.bn-en.samt.grammar.gz --columns joint -o samt.para
    python bench/rules.py INDEX samt.para [--most 6000] [--seed 1]
    python bench/rules.py INDEX samt.para --table NGRAM --syntax SYNTAX  (bench/syntax.py size)
"""

import argparse
import math
import random
import time
from collections import defaultdict

import numpy as np
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from distsim import CorpusIndex, SignatureTable
from distsim.comparison import GappedCosine
from distsim.evaluation.agreement import area_interval, area_under_curve
from distsim.grammar import PairFeatures, RuleAligner, RuleScorer, ScoreOptions
from distsim.grammar.formats.rules import gap_of
from distsim.grammar.pair_features import without_gaps

SKIPPED = ", identical skipped"


def gaps_of(side: str) -> list[str]:
    return [symbol for symbol in side.split() if gap_of(symbol.encode())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index", help="signed; sim_gap looks for patterns in it")
    parser.add_argument("rules")
    parser.add_argument("--most", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--any-target", action="store_true")
    parser.add_argument("--table", help="of n-grams, if not the index's own")
    parser.add_argument("--syntax", help="a syntactic table")
    asked = parser.parse_args()
    table = SignatureTable.open(asked.table or asked.index)
    syntax = SignatureTable.open(asked.syntax) if asked.syntax else None
    with open(asked.rules, encoding="utf-8") as file:
        rules = [tuple(line.rstrip("\n").split(" ||| ")[:3]) for line in file]
    rules = [r for r in rules if gaps_of(r[1]) and all(without_gaps(side) for side in r[1:])]
    draw = random.Random(asked.seed)
    draw.shuffle(rules)

    def like(rule: tuple[str, ...]) -> tuple:
        words = without_gaps(rule[2]).split()
        counts = [int(table.strengths[row]) if row >= 0 else 0 for row in table.find(words)]
        return rule[0], tuple(gaps_of(rule[2])), len(words), int(math.log10(min(counts) + 1))

    known = {rule[1:] for rule in rules}
    groups = defaultdict(list)
    for rule in rules[: asked.most]:
        groups[like(rule)].append(rule)
    real, shuffled = [], []
    for members in groups.values():
        for rule in members:
            others = [
                one[2] for one in members
                if one[1] != rule[1] and one[2] not in rule[1:]
                and (asked.any_target or (rule[1], one[2]) not in known)
            ]  # fmt: skip
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

    features = PairFeatures(ngram=table, syntax=syntax)
    columns = {}
    matrices = [features.matrix(pairs) for pairs in (real, shuffled)]
    for number, name in enumerate(features.names):
        columns[name] = [matrix[:, number] for matrix in matrices]
    for name, one in (("sim_ngram", table), ("sim_syn", syntax)):
        if one is None:
            continue
        ways = {", bits": ScoreOptions(estimate="bits"), "": ScoreOptions()}
        ways[SKIPPED] = ScoreOptions(identical="skip")
        if one.parts is not None:
            ways[f"{SKIPPED}, composed"] = ScoreOptions(identical="skip", compose=True)
        for way, options in ways.items():
            scorer = RuleScorer([("s", one)], options=options, aligner=RuleAligner("missing"))
            columns[name + way] = scored(scorer, real, shuffled)
    seconds = 0.0
    sides = {side for pair in real + shuffled for side in pair}
    if table.parts is not None:
        begun = time.process_time()
        gapped = GappedCosine(CorpusIndex.open(asked.index), table)
        scorer = RuleScorer([], gapped=gapped, aligner=RuleAligner("none"))
        columns["sim_gap"] = scored(scorer, real, shuffled)
        seconds = time.process_time() - begun
    for name, values in columns.items():
        line(name, *values)
    told = [name for name, values in columns.items() if not np.isnan(values).all()]
    for names in together(told):
        values = np.array([np.concatenate(columns[name]) for name in names])
        called = " + ".join(names) if len(names) < 4 else f"{len(names)} features"
        if len(names) > 3:
            called += "".join(f", {kind}" for kind in ("sim_gap", "sim_syn") if has(kind, names))
            called += " among them" if has("sim_gap", names) or has("sim_syn", names) else ""
        if len(names) < 4:
            ranks = sum(ranked(row) for row in values)
            line(f"{called}: ranks", ranks[: len(real)], ranks[len(real) :])
        fitted = learnt(values.T, len(real), [pair[0] for pair in real + shuffled])
        line(f"{called}: learnt", fitted[: len(real)], fitted[len(real) :])
    if seconds:
        print(f"\nsim_gap: {1000 * seconds / len(sides):.1f} CPU ms a side, {len(sides):,} sides")


def together(names: list[str]) -> list[list[str]]:
    """Return the sets of features that are put together."""
    first, second = f"sim_ngram{SKIPPED}", f"sim_syn{SKIPPED}"
    sets = [[first, second]] if second in names else []
    if "sim_gap" in names:
        sets += [["sim_whole", "sim_gap"], ["sim_whole", "letters"]]
        sets.append(["sim_whole", "sim_gap", "letters"])
        if "syn_whole" in names:
            sets += [["sim_whole", "syn_whole"], ["sim_whole", "sim_gap", "syn_whole"]]
    every = [name for name in names if not name.endswith((", bits", "sim_ngram", "sim_syn"))]
    of_text = [name for name in every if not name.startswith(("sim_syn", "syn_"))]
    for some in [of_text] if of_text == every else [of_text, every]:
        sets += [[name for name in some if name != "sim_gap"]] if "sim_gap" in some else []
        sets.append(some)
    return sets


def has(kind: str, names: list[str]) -> bool:
    return any(name.startswith(kind) for name in names)


def scored(scorer: RuleScorer, *sets: list[tuple[str, str]]) -> list[np.ndarray]:
    found = [[scorer.score(*pair)[0].similarity for pair in pairs] for pairs in sets]
    return [np.array([math.nan if s is None else s for s in one]) for one in found]


def ranked(values: np.ndarray) -> np.ndarray:
    some = ~np.isnan(values)
    ranks = np.full(values.size, 0.5)
    ranks[some] = rankdata(values[some]) / some.sum()
    return ranks


def learnt(values: np.ndarray, n_real: int, sources: list[str]) -> np.ndarray:
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


if __name__ == "__main__":
    main()
