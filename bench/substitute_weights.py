"""Weights of the finder of substitutes, learned from judged sentences, with cross-validation.

CoInCo's development part (Kremer et al. 2014), as `distsim rank --substitutes` learns. Folds by
target; a fifth of the targets, told by a hash, is left out for a last test: --locked measures on it
what ships.

accepted.tsv adds answers of the finder that readers accepted or rejected, in the place of words of
GUM's sentences and without a sentence: language models judged 6,149 by the written instruction to
accept what a careful writer would. Ten times each, beside people's choices; they do not calibrate.

    python bench/substitute_weights.py INDEX [INDEX ...] [--grammar PACK] [-o FILE | --locked]
"""

import hashlib
from itertools import pairwise
from pathlib import Path

import numpy as np
from frame import SHARED, parser, print_machine, print_table
from substitution import Instance, read_set

from distsim import CorpusIndex, SignatureTable, Substituter
from distsim.comparison.finder.word_finder import FinderWeights
from distsim.comparison.finder.word_substitutes import WordSubstitutes
from distsim.evaluation.correlations import mean_interval
from distsim.paraphrase.substitution import learning
from distsim.paraphrase.substitution.learning import Case, Cases, Judged
from distsim.paraphrase.substitution.substitute_candidates import ParaphraseGrammar

NOTES = (
    "Weights of the finder of substitutes, and how its scores become chances (p_named).",
    "Learned from sentences of CoInCo's development part (Kremer, Erk, Pado and",
    "Thater 2014), with 38 million tokens of English Wikipedia. A fifth of the targets was",
    "left out. Our copy of the data states no licence of its annotations and does not ship.",
    "And from answers that readers, language models, accepted or rejected: bench/accepted.tsv.",
    "Made by:",
    "python bench/substitute_weights.py INDEX -o FILE",
    "with the weights before, which choose the words whose fluency is computed.",
)


ACCEPTED = Path(__file__).parent / "accepted.tsv"
TIMES = 10  # that each judged answer counts


def is_locked(target: str) -> bool:
    """Tell whether a target is kept for the last test: one in five."""
    return hashlib.blake2b(target.lower().encode(), digest_size=8).digest()[0] % 5 == 0


def accepted_in(path: str) -> Cases:
    """Return the answers of accepted.tsv as cases of the judged words alone.

    Its lines are left, target, right, what was accepted and what was rejected, separated by `;`.
    """
    index, table = CorpusIndex.open(path), SignatureTable.open(path)
    substituter, words = Substituter(index, table), WordSubstitutes.open(index, table)
    assert words is not None
    found = Cases([], [])
    for line in ACCEPTED.read_text("utf-8").splitlines():
        left, target, right, *judged = line.split("\t")
        bases = [
            {
                base
                for one in filter(None, named.split(";"))
                for base in words.bases(tuple(index.words(one)))
            }
            for named in judged
        ]
        own = words.bases(tuple(index.words(target)))
        if left or right:
            names, features, _ = substituter.features(left, target, right) or ([], [], [])
        else:
            names, features = words.features(target) or ([], [])
        kept = [i for i, name in enumerate(names) if name in bases[0] | bases[1]]
        named = np.array([names[i] in bases[0] for i in kept], float)
        if own and named.any():
            case = Case(own[0], features[kept], np.zeros((len(kept), 2)), named / named.sum())
            (found.in_sentence if left or right else found.alone).extend([case] * TIMES)
    return found


def reliability(some: list[Case], chances: list[np.ndarray]) -> None:
    told = np.concatenate(chances)
    named = np.concatenate([case.shares > 0 for case in some])
    rows = []
    for low, high in pairwise([0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1]):
        own = (told >= low) & (told < high)
        if own.any():
            means = f"{told[own].mean():.3f}", f"{named[own].mean():.3f}"
            rows.append([f"{low} to {high}", f"{own.sum():,}", *means])
    print_table(["p_named", "words", "mean", "named"], rows)


def rated_row(name: str, some: list[Case], values: np.ndarray) -> list[str]:
    groups = [case.group for case in some]
    row = [name, f"{len(some):,}"]
    for column in values.T:
        low, high = mean_interval(column, groups, 1000, 1)
        row.append(f"{column.mean():.3f} ({low:.3f} to {high:.3f})")
    return row


def found_in(path: str, instances: list[Instance], grammar: str | None) -> Cases:
    rules = ParaphraseGrammar.read(grammar, []) if grammar else None
    judged = [Judged(one.left, one.written, one.right, one.gold, one.target) for one in instances]
    index = CorpusIndex.open(path)
    return learning.find_cases(index, SignatureTable.open(path), judged, grammar=rules)


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
    options.add_argument("--locked", action="store_true", help="the last test, of what ships")
    given = options.parse_args()
    instances = [
        one
        for one in read_set(given.data / "gold-lexsub-dev", given.set)
        if is_locked(one.target) == given.locked
    ]
    if len(instances) > given.most:
        chosen = np.random.default_rng(0).permutation(len(instances))[: given.most]
        instances = [instances[i] for i in sorted(chosen.tolist())]
    parts = [found_in(path, instances, given.grammar) for path in given.index]
    cases = Cases(*([case for part in kind for case in part] for kind in zip(*parts, strict=True)))
    shipped, rows = FinderWeights.open(), []
    more = Cases([], []) if given.locked else accepted_in(given.index[0])
    for kind, some, others in zip(Cases._fields, cases, more, strict=True):
        if given.locked:
            chances = learning.chances_by(shipped, kind, some)
        else:
            chances = learning.held_out_chances(some, others)
        rows.append(rated_row(kind, some, learning.rated(some, chances)))
        reliability(some, chances)
    print_table(["targets", "cases", *learning.MEASURES], rows)
    if not given.locked:
        text = learning.learn_weights(cases, more).text(NOTES)
        print(text)
        if given.output:
            given.output.write_text(text)
    print_machine()


if __name__ == "__main__":
    main()
