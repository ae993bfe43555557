"""Weights of the finder of substitutes, learnt from judged sentences, with cross-validation.

CoInCo's development part (Kremer et al. 2014): the weights are those under which
the shares of people's choices among the words that are found are likeliest (softmax regression);
then a logistic regression on ln of a word's share, with a highest value, tells the chance that
people name it. Folds by
target; a fifth of the targets, told by a hash, is left out for a last test.

    python bench/substitute_weights.py INDEX [INDEX ...] [--grammar PACK] [-o FILE]
"""

import hashlib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from frame import SHARED, parser, print_machine, print_table
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from substitution import Instance, read_set, with_interval

from distsim import CorpusIndex, SignatureTable, Substituter
from distsim.paraphrase.finder.word_finder import (
    ALONE,
    IN_SENTENCE,
    FinderWeights,
    Scale,
    WordOptions,
)
from distsim.paraphrase.finder.word_substitutes import WordSubstitutes
from distsim.paraphrase.substitution.grammar import ParaphraseGrammar

FOLDS, PENALTY = 5, 1e-3
LEAST_WEIGHT = 8  # people's choices of a target, all sentences together


class Case(NamedTuple):
    """What is found for a target. gold: float64[n], the share of people's choices on each.

    rules: float64[n, 2], the evidence of a grammar.
    """

    lemma: str
    words: list[str]
    features: np.ndarray
    gold: np.ndarray
    rules: np.ndarray


def is_locked(target: str) -> bool:
    """Tell whether a target is kept for the last test: one in five."""
    return hashlib.blake2b(target.lower().encode(), digest_size=8).digest()[0] % 5 == 0


def cases(
    path: str, instances: list[Instance], grammar: str | None = None
) -> tuple[list[Case], list[Case]]:
    """Return what is found for targets in their sentences, and alone."""
    index = CorpusIndex.open(path)
    table = SignatureTable.open(path)
    rules = grammar and ParaphraseGrammar.read(grammar, [])
    some = FinderWeights.open()._replace(grammar=np.ones(2))  # rules are looked up where any counts
    substituter = Substituter(index, table, grammar=rules or None, words=WordOptions(some))
    words = WordSubstitutes.open(index, table)
    in_sentence, together = [], {}  # the latter by the target's form
    for one in instances:
        gold: dict[str, float] = {}
        for substitute, weight in one.gold.items():
            for base in words.bases(tuple(index.words(substitute))):
                gold[base] = gold.get(base, 0.0) + weight
        own = together.setdefault((one.target, one.written.lower()), {})
        for substitute, weight in gold.items():
            own[substitute] = own.get(substitute, 0.0) + weight
        found = substituter.features(one.left, one.written, one.right)
        in_sentence.append(_case(one.target, found, gold, sum(one.gold.values())))
    alone = [
        _case(target, words.features(written), gold, sum(gold.values()))
        for (target, written), gold in together.items()
        if sum(gold.values()) >= LEAST_WEIGHT
    ]
    return in_sentence, alone


def _case(target, found, gold, total) -> Case:
    words, features, *rules = found or ([], np.empty((0, 1)))
    shares = np.array([gold.get(w, 0.0) for w in words]) / total
    return Case(target, words, features, shares, rules[0] if rules else np.zeros((len(words), 2)))


def learn_rules(some: list[Case], scale: Scale) -> np.ndarray:
    """Return the weights of a grammar's evidence beside the others, which stay as they are."""
    some = [case for case in some if case.words]
    sums = [case.features @ scale.weights for case in some]

    def loss(weights: np.ndarray) -> float:
        total = PENALTY * float(weights @ weights) * len(some)
        for case, own in zip(some, sums, strict=True):
            margin = own + case.rules @ weights
            total -= float(case.gold @ margin - case.gold.sum() * logsumexp(margin))
        return total / len(some)

    found: np.ndarray = minimize(loss, np.zeros(2), method="Nelder-Mead").x
    return found


def learn(some: list[Case], names: tuple[str, ...]) -> Scale:
    """Return the weights under which people's choices are likeliest, and the calibration."""
    some = [case for case in some if case.words]
    every = np.concatenate([case.features for case in some])
    spread = every.std(axis=0)
    sizes = np.array([len(case.words) for case in some])
    starts = np.cumsum(sizes) - sizes
    scaled, gold = every / spread, np.concatenate([case.gold for case in some])

    def log_shares(weights: np.ndarray) -> np.ndarray:
        sums = scaled @ weights
        sums -= np.repeat(np.maximum.reduceat(sums, starts), sizes)
        return sums - np.repeat(np.log(np.add.reduceat(np.exp(sums), starts)), sizes)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logs = log_shares(weights)
        chosen = np.repeat(np.add.reduceat(gold, starts), sizes)
        slope = scaled.T @ (gold - chosen * np.exp(logs))
        value = -(gold @ logs) / len(some) + PENALTY * weights @ weights
        return value, -slope / len(some) + 2 * PENALTY * weights

    weights = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x
    logs, named = log_shares(weights), gold > 0

    edges = np.quantile(logs, np.append(np.linspace(0, 0.99, 200), np.linspace(0.9901, 1, 200)))
    bins = np.searchsorted(edges[1:-1], logs)
    counts, hits = np.bincount(bins), np.bincount(bins, named)
    means = np.bincount(bins, logs) / np.maximum(counts, 1)

    def misfit(line: np.ndarray) -> float:
        chances = expit(line[2]) * expit(line[0] + line[1] * means)
        return float(-(hits * np.log(chances) + (counts - hits) * np.log1p(-chances)).sum())

    intercept, slope, limit = minimize(
        misfit, np.array([1.0, 1.0, 1.0]), method="Nelder-Mead", options={"maxiter": 2000}
    ).x.tolist()
    return Scale(weights / spread, intercept, slope, float(expit(limit)))


def judged(some: list[Case], names: tuple[str, ...]) -> tuple[list[list[float]], np.ndarray]:
    """Return (best, share in ten, precision of five) of cases held out, and (chance, named)."""
    targets = sorted({case.lemma for case in some})
    fold = dict(
        zip(targets, np.random.default_rng(1).permutation(len(targets)) % FOLDS, strict=True)
    )
    values: list[list[float]] = [[] for _ in some]
    chances = []
    for number in range(FOLDS):
        others = [case for case in some if fold[case.lemma] != number]
        scale = learn(others, names)
        has_rules = any(case.rules.any() for case in others)
        rules = learn_rules(others, scale) if has_rules else np.zeros(2)
        for at, case in enumerate(some):
            if fold[case.lemma] != number:
                continue
            if not case.words:
                values[at] = [0.0, 0.0, 0.0]
                continue
            own = scale.chances(case.features, more=case.rules @ rules)
            gold = case.gold[np.argsort(-own, kind="stable")]
            values[at] = [gold[0], gold[:10].sum(), float((gold[:5] > 0).mean())]
            chances.append(np.column_stack([own, case.gold > 0]))
    return values, np.concatenate(chances)


def reliability(chances: np.ndarray) -> None:
    edges = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1]
    rows = []
    for low, high in pairwise(edges):
        own = chances[(chances[:, 0] >= low) & (chances[:, 0] < high)]
        if len(own):
            mean = own.mean(axis=0)
            rows.append([f"{low} to {high}", f"{len(own):,}", f"{mean[0]:.3f}", f"{mean[1]:.3f}"])
    print_table(["p_named", "words", "mean", "named"], rows)


def text(
    scales: dict[str, Scale], names: dict[str, tuple[str, ...]], rules: np.ndarray, n_cases: int
) -> str:
    lines = [
        "# Weights of the finder of substitutes, and how its scores become chances (p_named).",
        f"# Learnt from {n_cases:,} sentences of CoInCo's development part (Kremer, Erk, Pado and",
        "# Thater 2014), with 38 million tokens of English Wikipedia. A fifth of the targets was",
        "# left out. Our copy of the data states no licence of its annotations and does not ship.",
        "# Made by:",
        "# python bench/substitute_weights.py INDEX -o distsim/data/weights/substitutes.toml",
    ]
    for name, scale in scales.items():
        lines += ["", f"[{name}]"]
        values = zip((*names[name], "intercept", "slope", "highest"),
                     (*scale.weights, *scale[1:]), strict=True)  # fmt: skip
        lines += [f"{key} = {value:.5g}" for key, value in values]
    lines += ["", "[grammar]", f"rule = {rules[0]:.5g}", f"inverse_rule = {rules[1]:.5g}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", nargs="+")
    options.add_argument("--grammar", help="a pack; default: none, and its weights are 0")
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument(
        "--set", default="coinco-dev", help="judged sentences, files as of that set"
    )
    options.add_argument("--most", type=int, default=10_000, help="sentences")
    options.add_argument("-o", "--output", type=Path)
    given = options.parse_args()
    instances = [
        one
        for one in read_set(given.data / "gold-lexsub-dev", given.set)
        if not is_locked(one.target)
    ]
    if len(instances) > given.most:
        chosen = np.random.default_rng(0).permutation(len(instances))[: given.most]
        instances = [instances[i] for i in sorted(chosen.tolist())]
    names = {"alone": ALONE, "in_sentence": IN_SENTENCE}
    found: dict[str, list[Case]] = {name: [] for name in names}
    for path in given.index:
        in_sentence, alone = cases(path, instances, given.grammar)
        found["in_sentence"] += in_sentence
        found["alone"] += alone
    rows = []
    for name, some in found.items():
        values, chances = judged(some, names[name])
        rows.append([name, f"{len(some):,}"])
        for column in zip(*values, strict=True):
            rows[-1].append(with_interval(column, some))
        reliability(chances)
    print_table(["held-out targets", "cases", "best", "oot", "P@5"], rows)
    scales = {name: learn(some, names[name]) for name, some in found.items()}
    rules = learn_rules(found["in_sentence"], scales["in_sentence"])
    made = text(scales, names, rules, len(instances))
    print(made)
    if given.output:
        given.output.write_text(made)
    print_machine()


if __name__ == "__main__":
    main()
