"""The order of paraphrase rules, learned from judged pairs, beside the pivot's probabilities.

The rules that each bitext gives for judged pairs are scored by one or more indexes. A ridge
regression on the ranks of the judgements within each bitext learns the weights of few features.
What is said of a pair comes from weights that were learned from pairs with which it shares no
phrase. Spearman's correlation within each bitext; the difference to ln p(e|f) + ln p(f|e) with its
95% interval, first phrases resampled. The first index is learned from; the weights are then used
with the others as they are.

    python bench/rule_order.py WORK INDEX [INDEX ...] [--data FOLDER] [--write FILE]

WORK: a folder with NAME.bitext of one or more bitexts, as bench/grammars.py makes them.
--write: the weights, learned from all pairs (distsim/data/weights/order.weights is this file).
"""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from frame import SHARED, distsim, parser, print_machine, print_table

from distsim import read_gold
from distsim.evaluation.agreement import spearman
from distsim.grammar.learned_weights import LearnedWeight, LearnedWeights

FEATURES = ("p(e|f)", "p(f|e)", "LogCount", "sim_ngram")
MAIN = ("help-de", "help-es", "help-fr", "europarl")
RIDGE, FOLDS, SAMPLES, FEWEST = 0.1, 10, 2000, 8
Pair = tuple[str, str]


class Judged(NamedTuple):
    """Judged rules: bitext, pair, judgement and first phrase of each; features float64[n, 4]."""

    bitexts: np.ndarray
    pairs: list[Pair]
    scores: np.ndarray
    groups: np.ndarray
    features: np.ndarray


def judged_rules(work: Path, wanted: set[Pair]) -> dict[str, list[str]]:
    """Return the lines of the rules of judged pairs, by bitext; makes rules where they lack."""
    found = {}
    for bitext in sorted(work.glob("*.bitext")):
        rules, pivot = bitext.with_suffix(".order-rules"), bitext.with_suffix(".order-para")
        if not pivot.exists():
            distsim("extract", bitext, "--preset", "phrases", "--jobs", 1, "--numeric", rules)
            distsim("pivot", rules, "--jobs", 1, "-o", pivot)
        with pivot.open(encoding="utf-8") as file:
            found[bitext.stem] = [x for x in file if tuple(x.split(" ||| ", 3)[1:3]) in wanted]
    return found


def scored(work: Path, lines: dict[str, list[str]], index: Path, gold: dict[Pair, float]) -> Judged:
    """Return the judged rules with their features, scored by an index."""
    rules, out = work / "order.judged", work / "order.scored"
    rules.write_text("".join(line for one in lines.values() for line in one), "utf-8")
    distsim("score", rules, "--ngram", index, "--jobs", 1, "-o", out)
    pairs: list[Pair] = []
    rows = []
    for line in out.read_text("utf-8").splitlines():
        _, source, target, features, *_ = line.split(" ||| ")
        named = dict(one.split("=") for one in features.split())
        pairs.append((source, target))
        rows.append([float(named.get(name, "nan").replace("NA", "nan")) for name in FEATURES])
    return Judged(
        np.repeat(list(lines), [len(one) for one in lines.values()]), pairs,
        np.array([gold[pair] for pair in pairs]), np.array([pair[0] for pair in pairs]),
        np.array(rows),
    )  # fmt: skip


def ranks(judged: Judged) -> np.ndarray:
    """Return each judgement's rank within its bitext, -.5 to .5."""
    from scipy.stats import rankdata

    values = np.zeros(judged.scores.size)
    for name in np.unique(judged.bitexts):
        mine = judged.bitexts == name
        values[mine] = rankdata(judged.scores[mine]) / mine.sum() - 0.5
    return values


def learned(judged: Judged, rows: np.ndarray) -> LearnedWeights:
    """Return the weights learned from some pairs; a missing feature adds nothing."""
    some = judged.features[rows]
    low, high = np.nanquantile(some, (0.005, 0.995), axis=0)
    held = np.clip(some, low, high)
    mean, scale = np.nanmean(held, axis=0), np.nanstd(held, axis=0)
    x = np.nan_to_num((held - mean) / scale)
    y = ranks(judged)[rows]
    weights = np.linalg.solve(x.T @ x + RIDGE * len(x) * np.eye(x.shape[1]), x.T @ (y - y.mean()))
    columns = (weights, mean, scale, low, high, np.zeros(len(weights)))
    return LearnedWeights(
        {
            name: LearnedWeight(*map(float, one))
            for name, one in zip(FEATURES, zip(*columns, strict=True), strict=True)
        }
    )


def held_out(base: Judged, others: list[Judged], seed: int = 0) -> list[np.ndarray]:
    """Return the scores of each by weights of pairs of `base` that share no phrase with a pair."""
    names = np.random.default_rng(seed).permutation(np.unique(base.groups))
    fold = {name: number % FOLDS for number, name in enumerate(names)}
    of_fold = np.array([fold[name] for name in base.groups])
    values = [np.zeros(len(one.pairs)) for one in others]
    for number in range(FOLDS):
        test = of_fold == number
        seen = {
            phrase for pair, mine in zip(base.pairs, test, strict=True) if mine for phrase in pair
        }
        apart = [not mine and seen.isdisjoint(pair)
                 for pair, mine in zip(base.pairs, test, strict=True)]  # fmt: skip
        weights = learned(base, np.flatnonzero(apart))
        for value, one in zip(values, others, strict=True):
            value[test] = weights.values(FEATURES, one.features[test])
    return values


def agreement(
    judged: Judged, values: np.ndarray, rows: np.ndarray, among: tuple[str, ...]
) -> float:
    """Return the mean of Spearman's correlations within bitexts, by their numbers of pairs."""
    total, n = 0.0, 0
    for name in among:
        mine = rows[judged.bitexts[rows] == name]
        if mine.size >= FEWEST:
            rho = spearman(values[mine], judged.scores[mine])
            if not np.isnan(rho):
                total, n = total + mine.size * rho, n + mine.size
    return total / n if n else float("nan")


def difference(judged: Judged, new: np.ndarray, old: np.ndarray, among: tuple[str, ...]) -> str:
    """Return the mean difference of two orders with its interval, first phrases resampled."""
    rows = np.flatnonzero(np.isin(judged.bitexts, among))
    by_group: dict[str, list[int]] = defaultdict(list)
    for row in rows.tolist():
        by_group[judged.groups[row]].append(row)
    groups = list(by_group.values())
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(SAMPLES):
        chosen = rng.integers(0, len(groups), len(groups))
        some = np.array([row for number in chosen for row in groups[number]])
        drawn.append(agreement(judged, new, some, among) - agreement(judged, old, some, among))
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    told = agreement(judged, new, rows, among) - agreement(judged, old, rows, among)
    return f"{told:+.3f} ({low:+.3f} to {high:+.3f})"


def within_sources(judged: Judged, values: np.ndarray) -> float:
    """Return the share of pairs of rules of one source and bitext that are in people's order."""
    right = total = 0.0
    for name in np.unique(judged.bitexts):
        for group in np.unique(judged.groups):
            rows = np.flatnonzero((judged.bitexts == name) & (judged.groups == group))
            for n, a in enumerate(rows):
                for b in rows[:n]:
                    order = np.sign(judged.scores[a] - judged.scores[b])
                    if order:
                        right += (1 + order * np.sign(values[a] - values[b])) / 2
                        total += 1
    return right / total


def main() -> None:
    options = parser(__doc__)
    options.add_argument("work", type=Path)
    options.add_argument("indexes", type=Path, nargs="+", help="signed by the default")
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--write", type=Path)
    given = options.parse_args()
    gold = read_gold(given.data / "gold-paraphrase-shared" / "judgements.tsv")
    scores = dict(zip(gold.pairs, gold.scores, strict=True))
    lines = judged_rules(given.work, set(scores))
    all_judged = [scored(given.work, lines, index, scores) for index in given.indexes]
    for judged in all_judged:  # all aligned words are equal: nothing was compared
        judged.features[judged.features[:, 3] == 1, 3] = np.nan
    base = all_judged[0]
    usual = -base.features[:, 0] - base.features[:, 1]
    columns = {"ln p(e\\|f) + ln p(f\\|e)": (base, usual)}
    for index, *one in zip(given.indexes, all_judged, held_out(base, all_judged), strict=True):
        columns[f"learned, {index.stem}"] = tuple(one)
    names = [name for name in lines if len(lines[name]) >= FEWEST]

    def row(name: str, judged: Judged, values: np.ndarray) -> list[str]:
        every = np.arange(values.size)
        cells = [f"{agreement(judged, values, every, (one,)):.3f}" for one in names]
        told = [difference(judged, values, usual, x) for x in (MAIN, *((one,) for one in names))]
        least = min(told[1:], key=lambda one: float(one.split(" to ")[1][:-1]))
        return [name, *cells, f"{agreement(judged, values, every, MAIN):.3f}", told[0], least,
                f"{within_sources(judged, values):.3f}"]  # fmt: skip

    heads = [f"{name} ({len(lines[name])})" for name in names]
    print_table(
        ["order", *heads, "main four", "difference", "lowest of one bitext", "within a source"],
        (row(name, *one) for name, one in columns.items()),
    )
    if given.write is not None:
        notes = (
            "order of paraphrase rules in packs, make-grammar's report, rerank; largest first",
            f"learned from {len(base.pairs)} rules of six bitexts for pairs judged by people "
            "(Pavlick et al. 2015, PPDB 2.0; cited, our copy states no licence, no rows kept); "
            "features are -ln p, ln of the count of pivots, similarity",
            "python bench/rule_order.py WORK INDEX --write FILE; INDEX as in bench/README.md",
        )
        weights = learned(base, np.arange(len(base.pairs)))
        given.write.write_text(LearnedWeights(weights.weights, notes=notes).text(), "utf-8")
    print_machine()


if __name__ == "__main__":
    main()
