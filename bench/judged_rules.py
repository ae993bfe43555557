"""Agreement of rule scores with people: 13,954 judged paraphrase pairs as rules of a grammar.

The pairs are scored by `distsim score --set whole=true`, once without any evidence of bitexts, once
with the probabilities that a pivoted grammar of one's own has for them. Against: shared words, the
pivot probabilities of both directions (the order of packs) and PPDB's cost. Spearman's correlation
with 95% intervals, first phrases resampled.

    python bench/judged_rules.py INDEX PARAPHRASES [--data FOLDER]

PARAPHRASES: from bench/grammars.py, WORK/all.para.
"""

import tempfile
from pathlib import Path

import numpy as np
from frame import SHARED, correlation, distsim, floats, parser, print_machine, print_table
from scipy.stats import rankdata

from distsim import read_gold
from distsim.grammar import PPDB_COST

Pair = tuple[str, str]
PIVOT = "pivot, both directions"


def pivoted(path: Path, wanted: set[Pair]) -> dict[Pair, tuple[float, float]]:
    """Return ln p(e|f) + ln p(f|e) and PPDB's cost, negated, of the wanted pairs of a grammar."""
    found: dict[Pair, tuple[float, float]] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            _, source, target, features, *_ = line.split(" ||| ")
            if (source, target) in wanted:
                named = {name: float(x) for name, x in (one.split("=") for one in features.split())}
                cost = sum(weight * named[name] for name, weight in PPDB_COST.items())
                found[source, target] = -named["p(e|f)"] - named["p(f|e)"], -cost
    return found


def scored(pairs: list[Pair], index: Path) -> dict[str, np.ndarray]:
    """Return what `score` writes for pairs of phrases as rules, by name."""
    with tempfile.TemporaryDirectory() as folder:
        rules, out = Path(folder, "rules"), Path(folder, "out")
        rules.write_text("".join(f"[X] ||| {a} ||| {b} ||| n=1\n" for a, b in pairs), "utf-8")
        distsim("score", rules, "--ngram", index, "--set", "whole=true", "--jobs", 1, "-o", out)
        lines = out.read_text("utf-8").splitlines()
    named = [dict(one.split("=") for one in line.split(" ||| ")[3].split()) for line in lines]
    return {
        name: floats(float(one[name]) if one.get(name, "NA") != "NA" else None for one in named)
        for name in ("sim_ngram", "sim_whole", "sim_rule")
    }


def overlap(pair: Pair) -> float:
    a, b = (set(phrase.split()) for phrase in pair)
    return len(a & b) / len(a | b)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", type=Path, help="signed by the default")
    options.add_argument("paraphrases", type=Path)
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    gold = read_gold(given.data / "gold-paraphrase-shared" / "judgements.tsv")
    pairs, judged = list(gold.pairs), np.array(gold.scores)
    columns = {"shared words": np.array([overlap(pair) for pair in pairs])}
    columns |= scored(pairs, given.index)
    known = pivoted(given.paraphrases, set(pairs))
    for number, name in enumerate((PIVOT, "pivot, PPDB's cost")):
        columns[name] = floats(known[pair][number] if pair in known else None for pair in pairs)
    longer = np.array([max(len(phrase.split()) for phrase in pair) > 1 for pair in pairs])
    has_pivot = ~np.isnan(columns[PIVOT]) & ~np.isnan(columns["sim_whole"])
    ranks = np.full(len(pairs), np.nan)
    ranks[has_pivot] = sum(rankdata(columns[name][has_pivot]) for name in (PIVOT, "sim_whole"))
    columns["pivot and sim_whole, mean of ranks"] = ranks
    some = {"all": np.ones(len(pairs), bool), "of several words": longer, "pivoted": has_pivot}

    def row(name: str, values: np.ndarray) -> list[str]:
        cells = []
        for mine in some.values():
            rows = np.flatnonzero(mine & ~np.isnan(values))
            few = rows.size < mine.sum() / 2
            groups = [gold.groups[n] for n in rows]
            told = (
                "" if few else f"{correlation(values[rows], judged[rows], groups)}, {rows.size:,}"
            )
            cells.append(told)
        return [name, *cells]

    heads = [f"{name} ({mine.sum():,} pairs)" for name, mine in some.items()]
    print_table(["by", *heads], (row(*one) for one in columns.items()))
    print_machine()


if __name__ == "__main__":
    main()
