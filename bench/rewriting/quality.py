"""Whole sentences rewritten, beside what anybody can have without a system.

    python bench/rewriting/quality.py simplify FOLDER [--weights FILE...]
    python bench/rewriting/quality.py shorten FOLDER [--weights FILE...]

FOLDER was made by prepare.py; all sentences of TurkCorpus's held-back half, or their longest
variants. `simplify`: against TurkCorpus's eight references, then against ASSET's ten, corpus-level
SARI and its parts, the mean SARI of sentences, BLEU, the share of words kept; the difference of
SARI from the packaged weights' row. One person is judged against the others. `shorten`: to .75 of
the words, PRECIS and its difference from truncation's. --weights: more systems, with these weights
instead of the packaged ones. 95% intervals and p by the paired bootstrap.
"""

import math
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from frame import distsim, parser, print_machine, print_table
from prepare import ASSET, REFERENCES, lines_of

from distsim.evaluation.rewritings import (
    Evaluation,
    Row,
    System,
    one_person,
    shortened,
    truncated,
    with_nonsense,
)

SEARCH = ("--set", "span=5", "--set", "pops=15", "--set", "rules=15")
SAMPLES, PHI = 1000, 0.75
PACKAGED = "packaged weights"
_ENDINGS = re.compile(r" (n't|'s|'re|'ve|'ll|'d|'m)\b")
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "``": '"', "''": '"'}


def controls(lines: list[str]) -> Iterator[System]:
    """Yield what needs no decoder."""
    draw = random.Random(1)
    sentences = [line.split() for line in lines]

    rows = {
        "copy": sentences,
        "truncated to .8": [truncated(s, max(1, int(0.8 * len(s.split())))).split() for s in lines],
        "the last token dropped": [s[:-1] for s in sentences],
        "a fifth deleted": [[t for t in s if draw.random() > 0.2] for s in sentences],
        "the longest word replaced by nonsense": [with_nonsense(s).split() for s in lines],
    }
    for name, made in rows.items():
        yield System(name, [" ".join(one) for one in made])


def rewritten(folder: Path, source: str, weights: list[Path], *more: object) -> Iterator[System]:
    """Yield a file of FOLDER rewritten with each of some weights, the packaged ones last."""
    for one in (*weights, None):
        name = one.name if one else PACKAGED
        out = folder / f"{name.replace(' ', '_')}.{source}.lines"
        distsim(
            "rewrite", folder / "joint", folder / source, "-n", 1, "-o", out,
            "--index", folder / "wiki.index", *SEARCH, *more,
            *(("--weights", one) if one else ()),
        )  # fmt: skip
        rows = [line.split("\t") for line in lines_of(out)]
        yield System(name, [row[3] for row in rows if not row[0].startswith("#")])


def as_written(text: str) -> str:
    """Return a sentence of TurkCorpus with ASSET's brackets, quotation marks and endings."""
    return _ENDINGS.sub(r"\1", " ".join(_BRACKETS.get(token, token) for token in text.split()))


def simplify(folder: Path, weights: list[Path]) -> None:
    lines = lines_of(folder / "held.norm")
    systems = [*controls(lines), *rewritten(folder, "held.norm", weights)]
    columns = ("SARI", "add", "keep", "delete", "sentence-SARI", "BLEU", "ratio", "kept")
    for names, written in (
        ([f"held.{k}" for k in REFERENCES], str),
        ([f"held.asset.{k}" for k in ASSET], as_written),
    ):
        references = [lines_of(folder / name) for name in names]
        source = list(map(written, lines))
        some = [System(one.name, list(map(written, one.sentences))) for one in systems]
        show(Evaluation(source, references), some, columns, "SARI", systems[-1].name)
        person = one_person(source, references)
        values = ", ".join(f"{name} {person.values[name]:.2f}" for name in columns)
        print(f"\n{person.name}: {values}\n")


def shorten(folder: Path, weights: list[Path]) -> None:
    lines = lines_of(folder / "held.long")
    references = [lines_of(folder / "held.short")]
    both = [(one, max(1, math.floor(PHI * len(one.split())))) for one in lines]
    draw = random.Random(1)
    systems = [
        System("copy", lines),
        System("truncation", [truncated(*one) for one in both]),
        System("random deletion", [shortened(*one, draw) for one in both]),
        *rewritten(folder, "held.long", weights, "--length", PHI),
        System("the reference itself", references[0]),
    ]
    columns = ("BLEU", "PRECIS", "ratio", "kept")
    show(Evaluation(lines, references, phi=PHI), systems, columns, "PRECIS", "truncation")


def show(
    evaluation: Evaluation, systems: list[System], columns: tuple[str, ...], by: str, baseline: str
) -> None:
    def row(one: Row) -> list[str]:
        cells = [one.name, *(f"{one.values[name]:.2f}" for name in columns)]
        if by not in one.differences or one.name == baseline:
            return [*cells, "", ""]
        gap, low, high, p = one.differences[by]
        return [*cells, f"{gap:.2f} ({low:.2f} to {high:.2f})", f"{p:.3f}"]

    heads = [f"{len(systems[0].sentences):,} sentences", *columns, f"{by} less {baseline}'s", "p"]
    print_table(heads, map(row, evaluation.rows(systems, baseline=baseline, samples=SAMPLES)))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("task", choices=["simplify", "shorten"])
    options.add_argument("folder", type=Path)
    options.add_argument("--weights", type=Path, nargs="*", metavar="FILE", default=[])
    given = options.parse_args()
    (simplify if given.task == "simplify" else shorten)(given.folder, given.weights)
    print_machine()


if __name__ == "__main__":
    main()
