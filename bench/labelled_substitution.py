"""Callison-Burch's substitution test (2008, section 4): phrases replaced in their sentences.

Phrases of one to five words, half of them constituents, are drawn from sentences with trees, among
those that both grammars know: pivoted without labels, and with all labels that trees give them.
Eight conditions: baseline, any label of the phrase (equation 10), the best of its labels in the
tree (8), their average (9), each alone and with the language model of the sentence. Printed: how
many phrases have a paraphrase, how many best ones contain the phrase or are contained in it, and
ln p of the sentence by the model, less that of the original, over the phrases that all conditions
have. OUT gets judge.tsv, the sentences in random order without the names of conditions, to be
marked from 1 to 5 for meaning and for grammar, and key.tsv, which judges must not see.

    python bench/labelled_substitution.py WORK INDEX --out OUT [--data FOLDER] [--phrases 200]

WORK: from bench/grammars.py, hansards.bitext. INDEX: of the language model.
"""

import gzip
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from frame import SHARED, distsim, parser, print_machine, print_table

from distsim.corpus.annotation import Tree, TreeReader
from distsim.grammar import GrammarIndex
from distsim.grammar.labelled import labelled_rules
from distsim.paraphrase import IndexModel

CHOICES = ("any", "best", "average")
CONDITIONS = ("baseline", *CHOICES)
LONGEST, FEWEST, MOST = 5, 6, 30
Drawn = tuple[Tree, int, int]
Options = dict[str, float]


def grammar(work: Path, name: str, *settings: str) -> GrammarIndex:
    """Return the packed paraphrases of the Hansards, made where they are not there."""
    packs = work / f"{name}.packs"
    if not packs.exists():
        rules, lines = work / f"{name}.rules", work / f"{name}.para"
        distsim("extract", work / "hansards.bitext", "--preset", "phrases", *settings,
                "--numeric", rules)  # fmt: skip
        distsim("pivot", rules, "-o", lines)
        distsim("pack", lines, "-o", packs, "-w", "p(e|f)=-1", "--set", "sizes=")
    return GrammarIndex.open(packs)


def spans(trees: Path, grammars: tuple[GrammarIndex, ...]) -> Iterator[tuple[bool, Drawn]]:
    """Yield spans whose phrase all grammars know, and whether they are constituents."""
    reader = TreeReader()
    with gzip.open(trees, "rt", encoding="utf-8") as lines:
        for line in lines:
            tree = reader.parse(line)
            words, nodes = [w.lower() for w in tree.leaves], {node[:2] for node in tree.nodes}
            if not FEWEST <= len(words) <= MOST:
                continue
            for start in range(len(words)):
                for stop in range(start + 1, min(start + LONGEST, len(words)) + 1):
                    phrase = words[start:stop]
                    known = all(one.count(" ".join(phrase)) for one in grammars)
                    if known and any(word.isalpha() and len(word) > 3 for word in phrase):
                        yield (start, stop) in nodes, (tree, start, stop)


def options(grammars: tuple[GrammarIndex, ...], condition: str, drawn: Drawn) -> Options:
    """Return ln p of each paraphrase of a span under a condition."""
    tree, start, stop = drawn
    phrase = " ".join(word.lower() for word in tree.leaves[start:stop])
    plain, labelled = grammars
    if condition == "baseline":
        rules = plain.rules(phrase)
        return {r.target: -r.features["p(e|f)"] for r in rules if r.target != phrase}
    rules = labelled_rules(labelled, phrase, None if condition == "any" else tree, condition)  # type: ignore[arg-type]
    return {rule.target: -rule.cost for rule in rules}


def replaced(drawn: Drawn, target: str) -> list[str]:
    tree, start, stop = drawn
    words = [word.lower() for word in tree.leaves]
    return [*words[:start], *target.split(), *words[stop:]]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("index", type=Path)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--data", type=Path, default=SHARED)
    arguments.add_argument("--phrases", type=int, default=200)
    given = arguments.parse_args()
    grammars = (
        grammar(given.work, "plain"),
        grammar(given.work, "labelled", "--set", "labels=every", "--set", "unlabelled=drop"),
    )
    model, draw = IndexModel(given.index), random.Random(1)
    found: dict[bool, list[Drawn]] = {True: [], False: []}
    for is_constituent, one in spans(given.data / "gum-annotated" / "gum-free.ptb.gz", grammars):
        found[is_constituent].append(one)
    half = min(given.phrases // 2, *(len(some) for some in found.values()))
    if not half:
        sys.exit("no phrase of the sentences with trees is in both grammars")
    drawn = [one for some in found.values() for one in draw.sample(some, half)]
    items: dict[tuple[str, str], list[str]] = {}
    rows = []
    every = {c: [options(grammars, c, one) for one in drawn] for c in CONDITIONS}
    common = [all(one) for one in zip(*every.values(), strict=True)]
    for condition, of_each in every.items():
        for with_model in (False, True):
            name = condition + (" + model" if with_model else "")
            n = inside = 0
            gains = []
            for one, scores in zip(drawn, of_each, strict=True):
                if not scores:
                    continue
                lm = {t: model.log_probability(replaced(one, t)) for t in scores}
                best = max(scores, key=lambda t: (scores[t] + with_model * lm[t], t))
                words = [word.lower() for word in one[0].leaves]
                phrase = " ".join(words[one[1] : one[2]])
                n += 1
                inside += f" {best} " in f" {phrase} " or f" {phrase} " in f" {best} "
                if common[drawn.index(one)]:
                    gains.append(lm[best] - model.log_probability(words))
                marked = [*words[: one[1]], f">>{phrase}<<", *words[one[2] :]]
                key = " ".join(marked), " ".join(replaced(one, best))
                items.setdefault(key, []).append(name)
            rows.append([name, f"{n} of {len(drawn)}", f"{inside / max(1, n):.3f}",
                         f"{np.mean(gains) if gains else math.nan:.2f}"])  # fmt: skip
    print_table(["best paraphrase by", "phrases with one", "sub- or superstring", "ln p of the "
                 "sentence, less the original's"], rows)  # fmt: skip
    given.out.mkdir(exist_ok=True)
    order = draw.sample(sorted(items), len(items))
    with (given.out / "judge.tsv").open("w") as judge, (given.out / "key.tsv").open("w") as keys:
        judge.write("id\tsentence\twith the replacement\tmeaning 1-5\tgrammar 1-5\n")
        for number, key in enumerate(order, 1):
            judge.write(f"{number}\t{key[0]}\t{key[1]}\t\t\n")
            keys.write(f"{number}\t{';'.join(items[key])}\n")
    print(f"\n{len(items)} sentences to judge: {given.out / 'judge.tsv'}")
    print_machine()


if __name__ == "__main__":
    main()
