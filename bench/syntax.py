"""Syntactic models: cost, and agreement with people beside n-grams of the same tokens.

The words of an annotated file are signed as n-grams, the file itself as syntax: by the thesis (raw
counts, random bits) and learned. Each table is made in a process of its own, one thread; CPU
seconds and peak memory are of reading, indexing and signing. `both`: the mean of the two models'
standard scores. Spearman on the pairs that all rows of one preset cover, 95% intervals.

    python bench/syntax.py ANNOTATED --work FOLDER [--trees FILE] [--presets thesis learned]
                           [--data FOLDER]

FOLDER keeps the tables; one that is there is not made again.
"""

import json
import resource
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from frame import (
    SHARED,
    WORD_SETS,
    Estimate,
    correlation,
    floats,
    gold_sets,
    mean_of,
    parser,
    print_machine,
    print_table,
    run,
)

from distsim import PRESETS, CorpusIndex, EstimatedCosine, IndexOptions, Recipe, SignatureTable
from distsim.contexts import AnnotatedText, SyntaxModel, Weighting
from distsim.contexts.sources.annotated import AnnotatedSentences
from distsim.corpus import read_annotated
from distsim.signatures import Composition

WARM_UP = 1000  # sentences


def recipes() -> dict[str, Recipe]:
    learned = {
        "weighting": Weighting("ppmi", subsample=1e-4, discount=1.5, min_weight=0.3),
        "projection": "spectral", "composition": Composition(spelling=0.0),
    }  # fmt: skip
    return {
        "n-grams, thesis": PRESETS["thesis"],
        "syntax, thesis": Recipe(model=SyntaxModel()),
        "n-grams, learned": PRESETS["learned"],
        "dependencies, learned": Recipe(
            model=SyntaxModel(families=("dep",), kinds=("lex", "lem")), **learned
        ),
    }


def sign(name: str, annotated: str, work: Path, trees: list[str]) -> None:
    """Sign one table and print what it took, as JSON."""
    recipe = recipes()[name]

    def signed(
        folder: Path, lines: Path, source: AnnotatedText | AnnotatedSentences
    ) -> SignatureTable:
        text = source
        if name.startswith("n-grams"):
            text = CorpusIndex.build(
                [lines], folder / "index", options=IndexOptions("lines"), force=True
            )
        return SignatureTable.build(text, folder / name, recipe=recipe, jobs=1, force=True)

    with tempfile.TemporaryDirectory(dir=work) as place:  # compiles
        few = list(islice(read_annotated([annotated], trees=trees), WARM_UP))
        lines = Path(place) / "lines.txt"
        lines.write_text("".join(" ".join(one.words) + "\n" for one in few), encoding="utf-8")
        signed(Path(place), lines, AnnotatedSentences(few))
    begun = time.process_time()
    table = signed(work, work / "lines.txt", AnnotatedText(annotated, trees=trees))
    cpu, peak = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"cpu": cpu, "mb": peak / 1024, "phrases": len(table)}))


def together(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the sum of the standard scores of two measures."""
    return sum((one - np.nanmean(one)) / np.nanstd(one) for one in (a, b))


def agreement(measures: dict[str, EstimatedCosine], sets: list) -> dict[str, list[Estimate]]:
    """Return each measure's agreement with each set, and both models' together."""
    rows: dict[str, list[Estimate]] = {name: [] for name in (*measures, "both")}
    for gold in sets:
        found = {name: floats(one.similarities(gold.pairs)) for name, one in measures.items()}
        found["both"] = together(*found.values())
        mine = np.flatnonzero(~np.isnan(found["both"]))
        groups = [gold.groups[n] for n in mine]
        for name, values in found.items():
            rows[name].append(correlation(values[mine], np.array(gold.scores)[mine], groups))
    return rows


def main() -> None:
    options = parser(__doc__)
    options.add_argument("annotated")
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--trees", nargs="*", default=[])
    options.add_argument("--presets", nargs="*", default=["thesis", "learned"])
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--sign", help="make this table alone")
    given = options.parse_args()
    if given.sign:
        sign(given.sign, given.annotated, given.work, given.trees)
        return
    given.work.mkdir(parents=True, exist_ok=True)
    lines = given.work / "lines.txt"
    if not lines.exists():
        texts = (
            " ".join(one.words) for one in read_annotated([given.annotated], trees=given.trees)
        )
        lines.write_text("\n".join(texts) + "\n", encoding="utf-8")
    sets = gold_sets(given.data)[:-1]
    rows = []
    for preset in given.presets:
        costs, measures = {}, {}
        for name in (name for name in recipes() if name.endswith(preset)):
            kept = given.work / f"{name}.json"
            if not kept.exists():
                cost = run(sys.executable, __file__, given.annotated, "--work", given.work,
                           "--sign", name, "--trees", *given.trees)  # fmt: skip
                kept.write_text(cost.output)
            costs[name] = json.loads(kept.read_text())
            measures[name] = EstimatedCosine(SignatureTable.open(given.work / name))
        for name, cells in agreement(measures, sets).items():
            told = ["", ""]
            if name in costs:
                told = [f"{costs[name]['cpu']:.1f}", f"{costs[name]['mb']:,.0f}"]
            n = len(WORD_SETS)
            rows.append([name, *told, mean_of(cells[:n]), *cells[n:]])
    heads = ["CPU s", "peak MB", f"{len(WORD_SETS)} word sets", "judged words", "judged phrases"]
    print_table(["", *heads], rows)
    print_machine()


if __name__ == "__main__":
    main()
