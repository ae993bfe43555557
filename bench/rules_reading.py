"""Paraphrase rules for blind reading: the best 1% of two orders, mixed, each in two sentences.

    python bench/rules_reading.py make GRAMMAR --out OUT
    python bench/rules_reading.py evaluate KEY READER [READER]

GRAMMAR: a folder of make-grammar. New: rules that differ in content, by the learned order. Old: all
rules by PPDB's cost. Of the best n of either, n a hundredth of all rules, the 100 whose hash is
lowest. OUT gets exchange.tsv, READ-ME.txt and key.tsv, which readers must not see. A READER is a
copy of exchange.tsv with a mark in the last column: 2 exchanged, 1 nearly, 0 not. Prints shares
with 95% intervals (Wilson) and kappa of two readers.
"""

import argparse
import gzip
import hashlib
import math
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from frame import parser, print_table

from distsim.bitext.bitext import Bitext
from distsim.corpus.inflections import Inflections
from distsim.grammar.pair_features import pair_kind, rule_order
from distsim.grammar.rerank import PPDB_COST

DRAWN, CONTEXTS, MOST_WORDS = 100, 2, 40
HEAD = ("id", "phrase", "replacement", "sentence 1", "sentence 2", "mark")
READ_ME = """Can the second phrase stand in the place of the first?

exchange.tsv has a line for each rule: an id, a phrase, its replacement, and two sentences of
software help in which the phrase stands between >> and << (sometimes one or none: then think of a
help text). Write a mark in the last column:
  2  in the sentences shown, the replacement can stand in the phrase's place: grammatical, and the
     sentence still says the same to a user of the software
  1  nearly: one of the two sentences, or only after a change of inflection or of one function word
  0  no
Read the sentence with the replacement in it. Case and spaces around punctuation do not count. Rules
come from several systems in random order; do not guess which. Judge every line. Save the whole
table as exchange-READER.tsv, READER your name.
"""


def number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def best(scored: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the best hundredth of both orders."""
    order, english = rule_order(), Inflections.open()
    names = list(dict.fromkeys([*order.names, *PPDB_COST]))
    pairs, rows = [], []
    with gzip.open(scored, "rt", encoding="utf-8") as lines:
        for line in lines:
            _, source, target, features, *_ = line.split(" ||| ")
            named = dict(one.split("=", 1) for one in features.split())
            rows.append([float(named.get(name, "nan").replace("NA", "nan")) for name in names])
            pairs.append((source, target))
    table = np.array(rows)
    cost = sum(w * table[:, names.index(name)] for name, w in PPDB_COST.items())
    wanted = len(pairs) // 100
    new = []
    for i in np.argsort(-order.values(names, table), kind="stable").tolist():
        source, target = pairs[i]
        if pair_kind(source.lower().split(), target.lower().split(), english) == "content":
            new.append(pairs[i])
            if len(new) == wanted:
                break
    old = [pairs[i] for i in np.argsort(cost, kind="stable")[:wanted].tolist()]
    print(f"{len(pairs):,} rules, the best {wanted:,}; in both {len(set(old) & set(new)):,}")
    return {"new": new, "old": old}


def sentences(folder: Path, phrases: set[str]) -> dict[str, list[str]]:
    """Return the sentences of phrases, those of the lowest hash, the phrase marked."""
    longest = max(len(one.split()) for one in phrases)
    found: dict[str, dict[str, str]] = {one: {} for one in phrases}
    for path in sorted(folder.glob("bitext-*")):
        english = Bitext.open(path).english
        starts = english.starts.tolist()
        for a, b in pairwise(starts):
            if b - a > MOST_WORDS:
                continue
            words = english.vocabulary.words(english.tokens[a:b])
            for i in range(len(words)):
                for j in range(i + 1, min(i + longest, len(words)) + 1):
                    phrase = " ".join(words[i:j])
                    if phrase in found:
                        text = " ".join(words)
                        marked = " ".join([*words[:i], ">>", phrase, "<<", *words[j:]])
                        found[phrase].setdefault(text, marked)
    return {
        one: [texts[text] for text in sorted(texts, key=number)][:CONTEXTS]
        for one, texts in found.items()
    }


def make(given: argparse.Namespace) -> None:
    ranked = best(given.grammar / "scored.gz")
    drawn: dict[tuple[str, str], list[str]] = {}
    for system, pairs in ranked.items():
        shown = [pair for pair in pairs if any(map(str.isalpha, "".join(pair)))]
        for pair in sorted(shown, key=lambda pair: number("\t".join(pair)))[:DRAWN]:
            drawn.setdefault(pair, []).append(system)
    contexts = sentences(given.grammar, {source for source, _ in drawn})
    given.out.mkdir(parents=True, exist_ok=True)
    rows, key = [HEAD], [("id", "systems")]
    for place, pair in enumerate(sorted(drawn, key=lambda pair: number("/".join(pair))), 1):
        texts = [*contexts[pair[0]], "", ""][:CONTEXTS]
        rows.append((str(place), *pair, *texts, ""))
        key.append((str(place), " ".join(drawn[pair])))
    for name, lines in (("exchange.tsv", rows), ("key.tsv", key)):
        text = "".join("\t".join(line) + "\n" for line in lines)
        (given.out / name).write_text(text, "utf-8")
    (given.out / "READ-ME.txt").write_text(READ_ME, "utf-8")


def wilson(n: int, of: int) -> str:
    if not of:
        return "0 of 0"
    share, z = n / of, 1.96
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + (z / 2 / of) ** 2) / (1 + z * z / of)
    return f"{n} of {of}, {share:.2f} ({middle - half:.2f} to {middle + half:.2f})"


def kappa(a: list[bool], b: list[bool]) -> float:
    agreed = np.mean([x == y for x, y in zip(a, b, strict=True)])
    p, q = np.mean(a), np.mean(b)
    chance = p * q + (1 - p) * (1 - q)
    return float((agreed - chance) / (1 - chance)) if chance < 1 else 1.0


def table_of(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]


def evaluate(given: argparse.Namespace) -> None:
    systems = {row[0]: row[1].split() for row in table_of(given.key)}
    read = [{row[0]: int(row[-1]) for row in table_of(path)} for path in given.readers]
    for path, marks in zip(given.readers, read, strict=True):
        if marks.keys() != systems.keys() or not set(marks.values()) <= {0, 1, 2}:
            sys.exit(f"{path}: needs a mark 0, 1 or 2 for each of {len(systems)} ids")
    rows = []
    for system in ("new", "old"):
        ids = [one for one, some in systems.items() if system in some]
        for least, name in ((2, "exchanged"), (1, "exchanged or nearly")):
            cells = [wilson(sum(marks[i] >= least for i in ids), len(ids)) for marks in read]
            rows.append([system, name, *cells])
    print_table(["order", "mark", *(path.stem for path in given.readers)], rows)
    if len(read) == 2:
        for least, name in ((2, "exchanged"), (1, "exchanged or nearly")):
            marks = [[one[i] >= least for i in systems] for one in read]
            print(f"kappa, {name}: {kappa(*marks):.2f}")


def main() -> None:
    options = parser(__doc__)
    tasks = options.add_subparsers(required=True)
    one = tasks.add_parser("make")
    one.add_argument("grammar", type=Path)
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(run=make)
    one = tasks.add_parser("evaluate")
    one.add_argument("key", type=Path)
    one.add_argument("readers", type=Path, nargs="+")
    one.set_defaults(run=evaluate)
    given = options.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
