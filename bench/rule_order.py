"""The default order of paraphrase rules beside the pivot's probabilities alone, domain by domain.

The rules that each bitext gives for judged pairs are scored by one or more indexes. Spearman's
correlation with the judgements within each bitext of ln p(e|f) + ln p(f|e), and of that sum plus
some times sim_rule; the difference has a 95% interval, first phrases resampled. Nothing is
learned: the one weight is the same for all bitexts and bounds what similarity can change. The
default takes 10 from rules whose sides are opposed (sim_rule below .001) and nothing from others.

    python bench/rule_order.py WORK INDEX [INDEX ...] [--data FOLDER]

WORK: a folder with NAME.bitext of one or more bitexts, as bench/grammars.py makes them.
"""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from frame import SHARED, distsim, parser, print_machine, print_table

from distsim import read_gold
from distsim.evaluation.correlations import spearman

FEATURES = ("p(e|f)", "p(f|e)", "sim_rule")
WEIGHTS = (0.5, 1.0, 3.0)
OPPOSED = 0.01  # sim_rule from which the default order is the plain sum
SAMPLES, FEWEST = 2000, 8
Pair = tuple[str, str]


class Judged(NamedTuple):
    """Judged rules: bitext, pair, judgement and first phrase of each; features float64[n, 3]."""

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
    given = options.parse_args()
    gold = read_gold(given.data / "gold-paraphrase-shared" / "judgements.tsv")
    scores = dict(zip(gold.pairs, gold.scores, strict=True))
    lines = judged_rules(given.work, set(scores))
    all_judged = [scored(given.work, lines, index, scores) for index in given.indexes]
    names = [name for name in lines if len(lines[name]) >= FEWEST]
    heads = [f"{name} ({len(lines[name])})" for name in names]
    rows: list[list[str]] = []
    for index, judged in zip(given.indexes, all_judged, strict=True):
        usual = -judged.features[:, 0] - judged.features[:, 1]
        every = np.arange(usual.size)
        orders = {"ln p(e\\|f) + ln p(f\\|e)": usual}
        similarity = np.nan_to_num(judged.features[:, 2])
        guarded = usual + 10 * (np.minimum(similarity, OPPOSED) / OPPOSED - 1)
        orders[f"opposed rules last, {index.stem}"] = guarded
        orders |= {f"+ {w:g} sim_rule, {index.stem}": usual + w * similarity for w in WEIGHTS}
        for name, values in orders.items():
            cells = [f"{agreement(judged, values, every, (one,)):.3f}" for one in names]
            if values is not usual:
                cells = [
                    f"{cell}, {difference(judged, values, usual, (one,))}"
                    for cell, one in zip(cells, names, strict=True)
                ]
            rows.append([name, *cells, f"{within_sources(judged, values):.3f}"])
    print_table(["order", *heads, "within a source"], rows)
    print_machine()


if __name__ == "__main__":
    main()
