"""The weights of the package that simplify, from edits that readers judged: a second.

    python bench/rewriting/weights.py -o FILE [--recount SHARED]

edits.tsv has 355 edits of one word in odd lines of TurkCorpus's tuning set: the line, the words
before and after, what two readers said (1: correct, true to the source and simpler at once), and
the edit's features less those of the sentence as it was. They were drawn over the range of the
scores of the weights before, 135 of them listed plain words. A logistic regression gives the ln of
the odds that an edit is accepted, of which RULES is the constant. By hand: OPERATIONS are always
done (85% of 167 were accepted); rules without gaps have one word on either side; rules with gaps
must be licensed by the tree, probable, and change the order alone (GAPPY); what must
not happen is forbidden; the first edit of a word needs the chance FIRST, others FURTHER.

Constructions (`rewrite --trees`) have one weight, from what people did: constructions.tsv has the
places in odd lines that words without a tree show, and how many of the 18 people who rewrote the
sentence (TurkCorpus, ASSET) put them in the other way; the column `People` of edits.tsv has the
same of its edits, and a regression of what readers accept on it gives the chance of a place. The
mean chance, less what LM gives (LM_OF_CONSTRUCTION, mean over the 23 in GUM with an index of 11
million tokens), is asked to be FIRST, beside other edits, too. --recount counts both again from
the data.
"""

import math
import re
import sys
from collections.abc import Collection, Iterator
from importlib.resources import files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
from frame import parser, print_table
from prepare import ASSET, REFERENCES, lines_of, opened
from scipy.optimize import minimize

from distsim.paraphrase.rewriting import Weights
from distsim.paraphrase.rewriting.rewriting_features import CONSTRUCTION, deleted

EDITS, PLACES = (Path(__file__).parent / name for name in ("edits.tsv", "constructions.tsv"))
PEOPLE, N_PEOPLE, LM_OF_CONSTRUCTION = "People", 18, -2.15
FOLDS, PENALTY, FIRST, FURTHER = 10, 3.0, 0.3, 0.7
RULES = "Rules"
FORBIDDEN = (
    "NotFound", "Unlisted", "Numbers", "UnknownDiff", "Negation", "SeveralWords", "Unlicensed",
    "OddGap",
)  # fmt: skip
GAPPY = {
    "Gappy": -40.0, "Restructures": 44.0, "GappyCost": -1.0,
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


def of_constructions(people: np.ndarray, accepted: np.ndarray) -> float:
    """Print how many people used constructions; return the ln odds that readers accept one.

    Arguments:
        people: how many made each edit. accepted: share of readers who accept it.
    """

    def evidence(counts: np.ndarray) -> np.ndarray:
        return np.log((counts + 0.5) / (N_PEOPLE + 0.5 - counts))

    def loss(weights: np.ndarray) -> float:
        odds = weights[0] + weights[1] * evidence(people)
        return float(np.sum(np.logaddexp(0, odds) - accepted * odds))

    constant, slope = minimize(loss, np.zeros(2)).x
    _, *rows = (line.split("\t") for line in lines_of(PLACES))
    kinds, counts = np.array([row[1] for row in rows]), np.array([int(row[2]) for row in rows])
    chances = 1 / (1 + np.exp(-constant - slope * evidence(counts)))
    print_table(
        ["construction", "places", "used by a person", "choices", "chance"],
        (
            [kind, str(of.sum()), str((counts[of] > 0).sum()), f"{counts[of].sum()} of "
             f"{N_PEOPLE * of.sum()}", f"{chances[of].mean():.2f}"]
            for kind, of in [*((kind, kinds == kind) for kind in sorted(set(kinds.tolist()))),
                             ("all", kinds != "")]
        ),
    )  # fmt: skip
    return float(np.log(chances.mean() / (1 - chances.mean())))


def learned(without: Collection[str] = ()) -> Weights:
    """Print how chances tell what is accepted; return the weights, without some features."""
    heads, *rows = (line.split("\t") for line in lines_of(EDITS))
    unused = {PEOPLE, *without}
    columns = [place for place, name in enumerate(heads) if place > 4 and name not in unused]
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
    people = np.array([int(row[heads.index(PEOPLE)]) for row in rows])
    given[CONSTRUCTION] = (
        of_constructions(people, accepted) - LM_OF_CONSTRUCTION * given["LM"] - first
    )
    given |= {RULES: constant - further, "Unchanged": first - further}
    by_hand = {name: value for name, value in BY_HAND.items() if name not in without}
    return Weights(given | by_hand)


def places(text: str) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield the constructions of a sentence: kind, words, how the other way looks in lower case."""
    classes: dict[str, list[str]] = {}
    for line in lines_of(Path(str(files("distsim") / "data" / "constructions" / "english.txt"))):
        if line.startswith("%"):
            name, words = line[1:].split("\t")
            classes.setdefault(name, []).extend(words.split())
    pasts = {pair.split("=")[0]: pair.split("=")[-1] for pair in classes["written"]}
    for match in re.finditer(rf"\b(?:was|were) ({'|'.join(pasts)}) by (\w+)", text):
        past, agent = pasts[match[1]], match[2].lower()
        be = r"(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bbeen )(?<!\bis )(?<!\bare )(?<!\bbeing )"
        yield "active", match[0], re.compile(rf"\b{agent}\b.{{0,75}} {be}{past}\b(?! by )")
    for match in re.finditer(
        r"\b(all|both|half|two|three|four|five|six|seven|eight|nine|ten|\d+) of the (\w+)", text
    ):
        number, noun = match[1].lower(), match[2].lower()
        the = "(?:the )?" if number in ("all", "both", "half") else ""
        yield "partitive", match[0], re.compile(rf"\b{number} {the}{noun}\b")
    nouns, gave = ("|".join(classes["noun"]), "|".join(classes["give"] + classes["make"]))
    for match in re.finditer(rf"\bthe ({nouns}) of (?:the )?([A-Z]\w+)", text):
        owner = match[2].lower()
        yield "possessive", match[0], re.compile(rf"\b{owner}(?: \w+)? ?['’] ?s {match[1]}\b")
    pronoun, article = (
        "him|her|them|it|us|me|you|the \\\w+|[A-Z]\\\w+",
        "a|an|the|his|her|their|its",
    )
    for match in re.finditer(rf"\b({gave}) ({pronoun}) (?:{article}) (\w+)", text):
        verb, person, thing = (part.lower() for part in match.groups())
        yield (
            "dative",
            match[0],
            re.compile(rf"\b{verb} .{{0,60}}{thing}.{{0,20}} (?:to|for) {person}\b"),
        )


def recount(shared: Path) -> None:
    """Write constructions.tsv, and the column People of edits.tsv."""
    turk = shared / "data" / "gold-turkcorpus-tune"
    sources = lines_of(turk / "tune.8turkers.tok.norm")
    said = [lines_of(turk / f"tune.8turkers.tok.turk.{k}") for k in REFERENCES]
    for k in ASSET:
        with opened(shared / "data" / "gold-asset-valid" / f"asset.valid.simp.{k}.xz") as lines:
            said.append(list(lines))
    assert len(said) == N_PEOPLE
    texts = [[" ".join(variant.lower().split()) for variant in variants]
             for variants in zip(*said, strict=True)]  # fmt: skip
    with PLACES.open("w", encoding="utf-8") as file:
        file.write(f"line\tkind\t{PEOPLE}\n")
        for number in range(0, len(sources), 2):
            for kind, words, other in places(sources[number]):
                people = sum(
                    words.lower() not in text and other.search(text) is not None
                    for text in texts[number]
                )
                file.write(f"{number + 1}\t{kind}\t{people}\n")
    heads, *rows = (line.split("\t") for line in lines_of(EDITS))
    if heads[-1] == PEOPLE:
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    with EDITS.open("w", encoding="utf-8") as file:
        file.write("\t".join([*heads, PEOPLE]) + "\n")
        for row in rows:
            words = [set(re.findall(r"[\w'-]+", text)) for text in texts[int(row[0]) - 1]]
            people = sum(row[2] in known and row[1] not in known for known in words)
            file.write("\t".join([*row, str(people)]) + "\n")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("-o", dest="output", type=Path, required=True)
    options.add_argument("--recount", type=Path, metavar="SHARED")
    arguments = options.parse_args()
    if arguments.recount:
        recount(arguments.recount)
    learned().write(arguments.output)
