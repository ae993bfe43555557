"""Does spelling add to similarities of words and phrases, ours and fastText's?

A pair's cosine c becomes c + w s (1 - c), with s = (d - t) / (1 - t), at least 0, and d the share
of character trigrams that the two sides have in common (Dice). The threshold t and the weight w
are chosen on four fifths of the judged phrases and measured on the last fifth, five times; on the
sets of word pairs, which choose nothing, stands the median of the five choices. Pairs that share
no stem, that is no first four letters of any two words, stand apart. fastText as in people.py;
WORK is its folder.

    python bench/spelling.py INDEX WORK [--epochs 3] [--data FOLDER]
"""

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import people
from frame import SHARED, WORD_SETS, floats, gold_sets, parser, print_machine, print_table

from distsim import CorpusIndex, EstimatedCosine, SignatureTable
from distsim.evaluation.agreement import spearman

CHOICES = list(product((0.2, 0.3, 0.4, 0.5, 0.6), (0.0, 0.2, 0.4, 0.6, 1.0)))
FOLDS, STEM = 5, 4


def trigrams(phrase: str) -> Counter[str]:
    text = f" {phrase.lower()} "
    return Counter(text[i : i + 3] for i in range(len(text) - 2))


def dice(a: str, b: str) -> float:
    first, second = trigrams(a), trigrams(b)
    return 2 * (first & second).total() / (first.total() + second.total())


def shares_stem(a: str, b: str) -> bool:
    first, second = ({word[:STEM].lower() for word in phrase.split()} for phrase in (a, b))
    return not first.isdisjoint(second)


def spelt(cosines: Any, letters: Any, choice: tuple[float, float]) -> Any:
    least, weight = choice
    shared = np.maximum(0.0, (letters - least) / (1.0 - least))
    return cosines + weight * shared * (1.0 - cosines)


class Judged(NamedTuple):
    """A gold set: scores, groups, Dice of each pair's trigrams, whether it shares no stem."""

    scores: Any
    groups: Any
    letters: Any
    apart: Any

    @classmethod
    def of(cls, gold: Any) -> "Judged":
        letters = np.array([dice(*pair) for pair in gold.pairs])
        apart = np.array([not shares_stem(*pair) for pair in gold.pairs])
        return cls(np.array(gold.scores), np.array(gold.groups), letters, apart)


def agreement(cosines: Any, one: Judged, some: Any, choice: tuple[float, float]) -> float:
    values = spelt(cosines[some], one.letters[some], choice)
    return float(spearman(values, one.scores[some]))


def with_spelling(cosines: list[Any], sets: list[Judged], known: list[Any]) -> tuple[list, list]:
    """Return similarities with the spelling chosen on other phrases, and what was chosen."""
    focals = np.unique(np.concatenate([one.groups for one in sets[-2:]]))
    folded, chosen = [values.copy() for values in cosines], []
    for fold in range(FOLDS):
        inside = [np.isin(one.groups, focals[fold::FOLDS]) for one in sets]
        sums = [
            sum(agreement(cosines[n], sets[n], known[n] & ~inside[n], choice) for n in (-2, -1))
            for choice in CHOICES
        ]
        chosen.append(CHOICES[int(np.argmax(sums))])
        for n in (-2, -1):
            folded[n][inside[n]] = spelt(cosines[n], sets[n].letters, chosen[-1])[inside[n]]
    usual = sorted(chosen)[FOLDS // 2]
    for n in range(len(WORD_SETS)):
        folded[n] = spelt(cosines[n], sets[n].letters, usual)
    return folded, chosen


def row(label: str, values: list[Any], sets: list[Judged], known: list[Any]) -> list[str]:
    plain = (0.0, 0.0)
    every = [agreement(*one, plain) for one in zip(values, sets, known, strict=True)]
    far = [agreement(values[n], sets[n], known[n] & sets[n].apart, plain) for n in (-2, -1)]
    means = (np.mean(every[: len(WORD_SETS)]), every[-2], far[0], every[-1], far[1])
    return [label, *(f"{mean:.3f}" for mean in means)]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("work", type=Path)
    options.add_argument("--epochs", type=int, default=people.SETTINGS["epochs"])
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    people.SETTINGS["epochs"] = given.epochs
    given.work.mkdir(parents=True, exist_ok=True)
    index = CorpusIndex.open(given.index)
    people.trained(index, given.work, "fasttext")
    measures = {
        "default": EstimatedCosine(SignatureTable.open(given.index)).similarities,
        "fastText": people.averaged(index, given.work, "fasttext", None),
        "fastText, by rarity": people.averaged(index, given.work, "fasttext", 0.003),
    }
    gold = gold_sets(given.data)[: len(WORD_SETS) + 2]
    sets = [Judged.of(one) for one in gold]
    found = {name: [floats(measure(g.pairs)) for g in gold] for name, measure in measures.items()}
    known = [np.all([~np.isnan(values) for values in some], axis=0)
             for some in zip(*found.values(), strict=True)]  # fmt: skip
    rows = []
    for name, cosines in found.items():
        folded, chosen = with_spelling(cosines, sets, known)
        rows.append([*row(name, cosines, sets, known), ""])
        rows.append([*row(f"{name}, spelling", folded, sets, known), chosen])
    stemless = "no stem shared"
    heads = ["", "seven word sets", "judged words", stemless, "judged phrases", stemless, "t, w"]
    print_table(heads, rows)
    print_machine()


if __name__ == "__main__":
    main()
