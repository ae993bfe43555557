"""Paraphrase rules beside controls that must fail: does a score put the rule above its control?

A control is the rule with another target: that of another rule (same label, gaps and number of
words), its own with two gaps swapped, with a content word replaced by letters that are no word,
with `not` before its first word, with another number. `identical`, the source itself, must stand
above the rule. Each score's share of rules that stand above their control, ties count half, over
those where both have a score; rules whose sides have equal words are left out. `p`, the pivot's
ln p(e|f), knows no control. Sides are scored without their links, which a control has not.

    python bench/rule_controls.py INDEX RULES [RULES ...] [--most 4000]
"""

import random
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from frame import floats, parser, print_machine, print_table

from distsim import SignatureTable
from distsim.corpus.inflections import Inflections
from distsim.grammar import RuleAligner, RuleScorer
from distsim.grammar.formats.rules import gap_of

SCORES = ("sim_ngram", "sim_whole", "sim_rule")
NUMBER = re.compile(r"^\d+$")
Rule = tuple[str, str, str]  # label, source, target


def parted(side: str) -> tuple[list[str], list[str]]:
    """Return the words of a side, and its gaps."""
    symbols = side.split()
    gaps = [one for one in symbols if gap_of(one.encode())]
    return [one for one in symbols if one not in gaps], gaps


def read_rules(path: Path, most: int) -> list[Rule]:
    """Return rules drawn from those of a grammar with words on both sides, and different ones."""
    with path.open(encoding="utf-8") as file:
        rules = [tuple(line.split(" ||| ", 3)[:3]) for line in file]
    words = [(parted(source)[0], parted(target)[0]) for _, source, target in rules]
    usable = [
        rule for rule, (one, other) in zip(rules, words, strict=True)
        if one and other and sorted(one) != sorted(other)
    ]  # fmt: skip
    random.Random(1).shuffle(usable)
    return usable[:most]


def controls(rules: list[Rule]) -> dict[str, list[str | None]]:
    """Return another target for each rule by kind of control, None where it has none."""
    draw, function_words = random.Random(2), Inflections.open().function_words
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    targets: dict[str, set[str]] = defaultdict(set)
    for label, source, target in rules:
        words, gaps = parted(target)
        groups[label, tuple(gaps), len(words)].append(target)
        targets[source].add(target)
    found: dict[str, list[str | None]] = defaultdict(list)
    for label, source, target in rules:
        words, gaps = parted(target)
        others = groups[label, tuple(gaps), len(words)]
        other = draw.choice(others)
        found["shuffled"].append(None if other in targets[source] or other == source else other)
        swapped = None
        if len(gaps) == 2:
            turn = dict(zip(gaps, gaps[::-1], strict=True))
            swapped = " ".join(turn.get(one, one) for one in target.split())
        found["gaps swapped"].append(swapped)
        content = [w for w in words if w.isalpha() and w.lower() not in function_words]
        no_word = max(content, key=len)[::-1] + "q" if content else ""
        nonsense = [no_word if w == no_word[-2::-1] else w for w in target.split()]
        found["nonsense word"].append(" ".join(nonsense) if content else None)
        place = target.split().index(words[0])
        negated = [*target.split()[:place], "not", *target.split()[place:]]
        found["negated"].append(" ".join(negated))
        numbers = [str(int(w) + 1) if NUMBER.match(w) else w for w in target.split()]
        found["other number"].append(" ".join(numbers) if numbers != target.split() else None)
        found["identical"].append(source)
    return dict(found)


def scored(table: SignatureTable, pairs: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Return each score of pairs of sides, float64, NaN without one."""
    scorer = RuleScorer([("sim_ngram", table)], whole=True, rule=True, aligner=RuleAligner("all"))
    rows = [scorer.score(*pair) for pair in pairs]
    return {
        name: floats(row[at].similarity for row in rows) for at, name in enumerate(scorer.names)
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", help="signed by the default")
    options.add_argument("rules", type=Path, nargs="+", help="pivoted")
    options.add_argument("--most", type=int, default=4000)
    given = options.parse_args()
    table = SignatureTable.open(given.index)
    for path in given.rules:
        rules = read_rules(path, given.most)
        own = scored(table, [rule[1:] for rule in rules])
        rows = []
        for kind, others in controls(rules).items():
            at = [n for n, other in enumerate(others) if other is not None]
            if not at:
                continue
            wrong = scored(table, [(rules[n][1], others[n] or "") for n in at])
            cells = [kind, f"{len(at):,}"]
            for name in SCORES:
                a, b = own[name][at], wrong[name]
                both = ~(np.isnan(a) | np.isnan(b))
                above = np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0))[both]
                cells.append(f"{above.mean():.3f} of {above.size:,}" if above.size else "none")
            rows.append(cells)
        print(f"\n{path.stem}: share of {len(rules):,} rules above their control")
        print_table(["control", "rules", *SCORES], rows)
    print_machine()


if __name__ == "__main__":
    main()
