"""Table 3.5 of the thesis: pivoting and virtual counts against people's judgements of pairs.

The same rules are pivoted with `estimate=pivot`, `counts` and `mean` (over bitexts: Callison-Burch
2008, equation 7); p(e2|e1) of each is compared
with the judgements of the 13,954 shared pairs that all have. Pearson's and Spearman's correlation,
first phrases resampled, the difference from pivoting, and the correlation of the estimates.

    python bench/virtual_counts.py RULES [--data FOLDER]

RULES: of `distsim extract BITEXT... --preset phrases --numeric RULES`.
"""

import tempfile
from pathlib import Path

import numpy as np
from frame import SHARED, correlation, distsim, parser, print_machine, print_table
from scipy.stats import pearsonr, rankdata, spearmanr

from distsim import read_gold

ESTIMATES = ("pivot", "counts", "mean")
SAMPLES = 2000


def costs(rules: Path, estimate: str, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return -ln p(e2|e1) of the wanted pairs."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "paraphrases")
        settings = (f"estimate={estimate}", "max_translations=0")
        distsim("pivot", rules, *(x for one in settings for x in ("--set", one)), "-o", out)
        with out.open(encoding="utf-8") as file:
            for line in file:
                _, source, target, features, *_ = line.split(" ||| ")
                if (source, target) in wanted:
                    named = dict(one.split("=") for one in features.split())
                    found[source, target] = float(named["p(e|f)"])
    return found


def difference(first: np.ndarray, second: np.ndarray, judged: np.ndarray, groups: list[str]) -> str:
    """Return Spearman's correlation of the first less that of the second, with 95% interval."""
    draw = np.random.default_rng(1)
    names, number = np.unique(groups, return_inverse=True)
    rows_of = [np.flatnonzero(number == n) for n in range(names.size)]

    def between(rows: np.ndarray) -> float:
        of_first, of_second = (spearmanr(x[rows], judged[rows])[0] for x in (first, second))
        return float(of_first - of_second)

    drawn = [
        between(np.concatenate([rows_of[n] for n in draw.integers(0, names.size, names.size)]))
        for _ in range(SAMPLES)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{between(np.arange(judged.size)):+.3f} ({low:+.3f} to {high:+.3f})"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("rules", type=Path)
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    gold = read_gold(given.data / "gold-paraphrase-shared" / "judgements.tsv")
    found = {one: costs(given.rules, one, set(gold.pairs)) for one in ESTIMATES}
    rows = [n for n, pair in enumerate(gold.pairs) if all(pair in one for one in found.values())]
    judged = np.array([gold.scores[n] for n in rows])
    groups = [gold.groups[n] for n in rows]
    columns = {
        name: -np.array([of_pair[gold.pairs[n]] for n in rows]) for name, of_pair in found.items()
    }
    print_table(
        ["ln p(e2|e1)", "Pearson", "Pearson of p", f"Spearman, {len(rows)} pairs", "less pivot's",
         "Spearman with pivot's"],
        (
            [name, f"{pearsonr(x, judged)[0]:.3f}", f"{pearsonr(np.exp(x), judged)[0]:.3f}",
             correlation(x, judged, groups),
             "" if name == "pivot" else difference(x, columns["pivot"], judged, groups),
             f"{spearmanr(rankdata(x), rankdata(columns['pivot']))[0]:.3f}"]
            for name, x in columns.items()
        ),
    )  # fmt: skip
    print_machine()


if __name__ == "__main__":
    main()
