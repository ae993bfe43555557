"""Words that exclude each other told from words that mean the same: shares of pairs.

Kinds of pairs of our own that no list of the package has (months, days, directions, colours,
countries, first names, cities), antonyms of gold-antsyn (its val parts) and of PPDB; against
synonyms of both, substitutes that people named (CoInCo, development), and judged pairs of one word
with a mean of 4.5 and more. By all evidence, without the language's closed classes, and without
names and affixes too: by what the text joins alone; and with the doubtful pairs.
Controls: pairs of the same kinds with the second words shuffled among the kinds' synonyms.

    python bench/exclusive_words.py INDEX [--data FOLDER]
"""

import gzip
import lzma
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from frame import SHARED, parser, print_machine, print_table

from distsim import CorpusIndex, SignatureTable, read_gold
from distsim.comparison.opposites.exclusive import ExclusiveWords
from distsim.comparison.opposites.language import Language

KINDS = {
    "months": "january february march april june july august september october november december",
    "days": "monday tuesday wednesday thursday friday saturday sunday",
    "directions": "north south east west",
    "colours": "red blue green yellow white black brown",
    "countries": "germany france italy spain russia china japan poland sweden brazil",
    "first names": "john peter mary thomas robert william anna james henry george",
    "cities": "london paris berlin madrid rome vienna moscow boston chicago toronto",
}
OPPOSITES = (
    "before after|more less|up down|buy sell|with without|increase decrease|over under|in out|"
    "above below|inside outside|first last|early late|high low|old new|husband wife|king queen|"
    "import export|minimum maximum|open close|win lose|best worst|better worse|most least|"
    "always never|happy unhappy|legal illegal|possible impossible|public private|rise fall"
)
PARTS = ("adjective", "noun", "verb")
Pair = tuple[str, str]


def pairs_of(data: Path) -> dict[str, list[Pair]]:
    """Return the pairs of each kind, single words."""
    kinds = {name: list(combinations(words.split(), 2)) for name, words in KINDS.items()}
    kinds["opposites of our own"] = [tuple(x.split()) for x in OPPOSITES.split("|")]
    gold = [read_gold(data / "gold-antsyn" / f"{part}-pairs.val") for part in PARTS]
    judged = [(p, s) for one in gold for p, s in zip(one.pairs, one.scores, strict=True)]
    derived = data / "ppdb-derived"
    lines = (derived / "counterfit.ppdb_antonyms.txt").read_text("utf-8").splitlines()
    kinds["antonyms, gold-antsyn"] = [pair for pair, score in judged if score == 1]
    kinds["antonyms, PPDB"] = [tuple(line.split()) for line in lines]
    kinds["synonyms, gold-antsyn"] = [pair for pair, score in judged if score == 0]
    with gzip.open(derived / "counterfit.ppdb_synonyms.txt.gz", "rt", encoding="utf-8") as file:
        kinds["synonyms, PPDB"] = random.Random(1).sample([tuple(x.split()) for x in file], 5000)
    named = lzma.decompress((data / "gold-lexsub-dev" / "coinco-dev.gold.xz").read_bytes()).decode()
    kinds["substitutes of people"] = sorted({
        (line.rsplit(".", 1)[0].lower(), one.strip().rsplit(" ", 1)[0].lower())
        for line, _, substitutes in (x.partition(" :: ") for x in named.splitlines())
        for one in substitutes.split(";") if one.strip()
    })  # fmt: skip
    people = read_gold(data / "gold-paraphrase-shared" / "judgements.tsv")
    kinds["judged 4.5 and more"] = [
        pair for pair, score in zip(people.pairs, people.scores, strict=True)
        if score >= 4.5 and pair[0] != pair[1]
    ]  # fmt: skip
    seconds = [pair[1] for pair in kinds["synonyms, gold-antsyn"]]
    random.Random(1).shuffle(seconds)
    kinds["control: synonyms, shuffled"] = [
        (pair[0], other)
        for pair, other in zip(kinds["synonyms, gold-antsyn"], seconds, strict=True)
    ]
    return {
        name: [(a, b) for a, b in pairs if a != b and all(len(x.split()) == 1 for x in (a, b))]
        for name, pairs in kinds.items()
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", help="signed by the default")
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    index, table = CorpusIndex.open(given.index), SignatureTable.open(given.index)
    english = Language.open()
    bare = replace(english, classes={})
    joined = replace(bare, prefixes=(), suffixes=(), paired=())
    detectors = {
        "all evidence": ExclusiveWords(table, index, english),
        "no closed classes": ExclusiveWords(table, index, bare),
        "no affixes": ExclusiveWords(table, index, joined),
    }

    def rows():
        for name, pairs in pairs_of(given.data).items():
            known = [p for p in pairs if all(row >= 0 for row in table.find(list(p)).tolist())]
            shares = [f"{one.of_words(known).mean():.3f}" for one in detectors.values()]
            shares.append(f"{(detectors['all evidence'].grades(known) > 0).mean():.3f}")
            yield [f"{name}, {len(known):,}", *shares]

    print_table(["share taken to exclude each other", *detectors, "all, and doubtful"], rows())
    print_machine()


if __name__ == "__main__":
    main()
