"""The weights of the package that simplify, from edits that readers judged: a second.

    python bench/rewriting/weights.py -o FILE

edits.tsv has 355 edits of one word in odd lines of TurkCorpus's tuning set: the line, the words
before and after, what two readers said (1: correct, true to the source and simpler at once), and
the edit's features less those of the sentence as it was. They were drawn over the range of the
scores of the weights before, 135 of them listed plain words. A logistic regression gives the ln of
the odds that an edit is accepted, of which RULES is the constant. By hand: OPERATIONS are always
done (85% of 167 were accepted); rules without gaps have one word on either side; rules with gaps
must be licensed by the tree, probable, and change the order alone (GAPPY); what must
not happen is forbidden; the first edit of a word needs the chance FIRST, others FURTHER.
"""

import math
import sys
from collections.abc import Collection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
from frame import parser, print_table
from prepare import lines_of
from scipy.optimize import minimize

from distsim.paraphrase.rewriting import Weights
from distsim.paraphrase.rewriting.rewriting_features import deleted

EDITS = Path(__file__).parent / "edits.tsv"
FOLDS, PENALTY, FIRST, FURTHER = 10, 3.0, 0.3, 0.7
RULES = "Rules"
FORBIDDEN = (
    "NotFound", "Unlisted", "Numbers", "UnknownDiff", "Negation", "SeveralWords", "Unlicensed",
    "OddGap",
)  # fmt: skip
GAPPY = {
    "Gappy": -40.0, "Restructures": 44.0, "GappyCost": -1.0, "Construction(active)": 3.0,
    "Construction(possessive)": 2.0, "Construction(partitive)": 2.0, "Construction(dative)": 2.0,
}  # fmt: skip
NEVER = tuple(map(deleted, ("word", "commas", "RB", "DT", "JJ", "ADVP", "PP", "SBAR")))
OPERATIONS = ("Split", "Plainer", *map(deleted, ("linker", "adverb", "apposition", "brackets")))
BY_HAND = {
    **dict.fromkeys(FORBIDDEN, -40.0), **dict.fromkeys(NEVER, -60.0),
    **dict.fromkeys(OPERATIONS, 40.0), "SameStem": -3.0, "NotSimpler": -40.0, **GAPPY,
}  # fmt: skip


def fitted(values: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """Return weights of standardised columns and, last, the constant."""
    columns = np.column_stack([values, np.ones(len(values))])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds, free = columns @ weights, np.append(weights[:-1], 0.0)
        chances = 1 / (1 + np.exp(-odds))
        value = np.sum(np.logaddexp(0, odds) - accepted * odds) + PENALTY * free @ free
        return float(value), columns.T @ (chances - accepted) + 2 * PENALTY * free

    return np.asarray(minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x)


def learned(without: Collection[str] = ()) -> Weights:
    """Print how chances tell what is accepted; return the weights, without some features."""
    heads, *rows = (line.split("\t") for line in lines_of(EDITS))
    columns = [place for place, name in enumerate(heads) if place > 4 and name not in without]
    names = [heads[place] for place in columns]
    lines = np.array([int(row[0]) for row in rows])
    accepted = np.array([[int(mark) for mark in row[3:5]] for row in rows]).mean(axis=1)
    values = np.array([[float(row[place]) for place in columns] for row in rows])
    means, spreads = values.mean(axis=0), values.std(axis=0)
    scaled = (values - means) / spreads
    odds = np.empty(len(rows))
    for fold in range(FOLDS):
        mine = lines % FOLDS == fold
        weights = fitted(scaled[~mine], accepted[~mine])
        odds[mine] = scaled[mine] @ weights[:-1] + weights[-1]
    chances = 1 / (1 + np.exp(-odds))
    print_table(
        ["chance above, told by other sentences", "edits", "accepted"],
        (
            [
                f"{least:.1f}",
                str(np.sum(chances > least)),
                f"{accepted[chances > least].mean():.2f}",
            ]
            for least in (0.0, 0.3, 0.5, 0.7)
        ),
    )
    *weights, constant = fitted(scaled, accepted).tolist()
    given = {name: one / spread for name, one, spread in zip(names, weights, spreads, strict=True)}
    constant -= sum(given[name] * mean for name, mean in zip(names, means, strict=True))
    first, further = (math.log(chance / (1 - chance)) for chance in (FIRST, FURTHER))
    given |= {RULES: constant - further, "Unchanged": first - further}
    by_hand = {name: value for name, value in BY_HAND.items() if name not in without}
    return Weights(given | by_hand)


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("-o", dest="output", type=Path, required=True)
    learned().write(options.parse_args().output)
