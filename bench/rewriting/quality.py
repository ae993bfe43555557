"""Whole sentences rewritten, beside what anybody can have without a system.

    python bench/rewriting/quality.py simplify FOLDER [--steps STEP...]
    python bench/rewriting/quality.py shorten FOLDER [--steps STEP...]

FOLDER was made by prepare.py; all sentences of TurkCorpus's held-back half, or their longest
variants. `simplify`: corpus-level SARI and its parts, the mean SARI of sentences, BLEU, the share
of words kept; the difference of SARI from the packaged weights' row. Steps without the packaged
weights have their own, tuned from them on the
first 100 sentences of the other half. One person is judged against the other seven. `shorten`: to
.75 of the words, PRECIS and its difference from truncation's; the packaged weights that shorten,
less those of the features that a step does without. 95% intervals and p by the paired bootstrap.
"""

import argparse
import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from frame import distsim, parser, print_machine, print_table
from prepare import REFERENCES, lines_of, opened

from distsim import CorpusIndex, GrammarIndex
from distsim.evaluation.rewritings import (
    Evaluation,
    System,
    one_person,
    shortened,
    truncated,
    with_nonsense,
)
from distsim.paraphrase import Weights
from distsim.paraphrase.rewriting.weights import SHORTEN

SEARCH = ("--set", "span=7", "--set", "pops=15", "--set", "rules=12")
TUNED, SAMPLES, PHI = 100, 1000, 0.75
SHIPPED = "joint, packaged weights"
LEAST_LETTERS, STEM = 4, 4
NGRAM, SYNTAX = "sim_ngram,sim_ngram_coverage", "sim_syn,sim_syn_coverage"


class Step(NamedTuple):
    """A row of a system: its pack, and features left out; None: the packaged weights."""

    name: str
    pack: str
    without: str | None = None


STEPS = (
    Step("Hiero", "hiero/packs", f"{NGRAM},{SYNTAX}"),
    Step("labels", "labels/packs", f"{NGRAM},{SYNTAX}"),
    Step("labels, both similarities", "labels/packs", ""),
    Step(SHIPPED, "joint"),
)


class Pairs:
    """A grammar's pairs of words, and how frequent words are."""

    def __init__(self, rules: Path, index: CorpusIndex) -> None:
        self._index = index
        self._known: dict[str, float] = {}
        self.others: dict[str, set[str]] = defaultdict(set)
        with opened(rules) as lines:
            for line in lines:
                _, source, target, *_ = line.split(" ||| ")
                if self.is_word(source) and self.is_word(target) and source[:STEM] != target[:STEM]:
                    self.others[source].add(target)

    @staticmethod
    def is_word(text: str) -> bool:
        return len(text) >= LEAST_LETTERS and text.isalpha()

    def frequency(self, word: str) -> float:
        if word not in self._known:
            self._known[word] = float(self._index.count(word))
        return self._known[word]

    def replaced(self, tokens: list[str]) -> list[str]:
        """Replace the word that gains most frequency by the most frequent of its paraphrases."""
        best = max(
            (
                (math.log((self.frequency(one) + 1) / (self.frequency(word) + 1)), -i, one)
                for i, word in enumerate(tokens)
                for one in sorted(self.others.get(word, ()))
                if self.frequency(one) > self.frequency(word)
            ),
            default=None,
        )
        if best is None:
            return tokens
        at = -best[1]
        return [*tokens[:at], best[2], *tokens[at + 1 :]]


def controls(folder: Path, lines: list[str]) -> Iterator[System]:
    """Yield what needs no decoder."""
    draw = random.Random(1)
    pairs = Pairs(folder / "joint.rules", CorpusIndex.open(folder / "wiki.index"))
    sentences = [line.split() for line in lines]

    rows = {
        "copy": sentences,
        "truncated to .8": [truncated(s, max(1, int(0.8 * len(s.split())))).split() for s in lines],
        "the last token dropped": [s[:-1] for s in sentences],
        "a fifth deleted": [[t for t in s if draw.random() > 0.2] for s in sentences],
        "the longest word replaced by nonsense": [with_nonsense(s).split() for s in lines],
        "a word replaced by frequency": [pairs.replaced(s) for s in sentences],
    }
    for name, made in rows.items():
        yield System(name, [" ".join(one) for one in made])


def rewritten(folder: Path, step: Step, source: str, weights: Path | None, *more: object) -> System:
    """Rewrite a file of FOLDER by a step's pack."""
    out = folder / f"{slug(step.name)}.{source}.lines"
    trees = f"{source.removesuffix('.norm')}.trees"
    distsim(
        "rewrite", folder / step.pack, folder / source, "-n", 1, "-o", out,
        *([] if weights is None else ["--weights", weights]),
        "--index", folder / "wiki.index", *SEARCH, "--trees", folder / trees, *more,
    )  # fmt: skip
    rows = [line.split("\t") for line in lines_of(out)]
    return System(step.name, [row[3] for row in rows if not row[0].startswith("#")])


def slug(name: str) -> str:
    return name.replace(",", "").replace(" ", "_")


def tuned(folder: Path, step: Step) -> Path | None:
    """Return a step's own weights to simplify, tuned where they are not there; None: packaged."""
    if step.without is None:
        return None
    file = folder / f"{slug(step.name)}.weights"
    if not file.exists():
        for name in ("norm", "trees", *REFERENCES):
            lines = lines_of(folder / f"tune.{name}")[:TUNED]
            (folder / f"first.{name}").write_text("".join(f"{one}\n" for one in lines), "utf-8")
        references = [x for k in REFERENCES for x in ("--references", folder / f"first.{k}")]
        distsim(
            "tune", folder / step.pack, folder / "first.norm", *references, "-o", file, *SEARCH,
            "--index", folder / "wiki.index", "--trees", folder / "first.trees",
            "--set", "iterations=3", "--set", "n=40",
            *(["--set", f"without={step.without}"] if step.without else []),
        )  # fmt: skip
    return file


def reduced(folder: Path, step: Step) -> Path:
    """Write the packaged weights that shorten, less those that a step or its pack lacks."""
    packaged = Weights.default(SHORTEN)
    own = set(GrammarIndex.open(folder / step.pack).feature_names)
    others = set(GrammarIndex.open(folder / "joint").feature_names) - own
    left_out = {*(step.without or "").split(","), *others}
    kept = {
        name: x for name, x in packaged.values.items()
        if name.removeprefix("Missing(").removesuffix(")") not in left_out
    }  # fmt: skip
    path = folder / f"{slug(step.name)}.shorten.weights"
    Weights(kept, notes=packaged.notes).write(path)
    return path


def simplify(folder: Path, steps: list[Step]) -> None:
    lines = lines_of(folder / "held.norm")
    references = [lines_of(folder / f"held.{k}") for k in REFERENCES]
    systems = list(controls(folder, lines))
    systems += [rewritten(folder, one, "held.norm", tuned(folder, one)) for one in steps]
    columns = ("SARI", "add", "keep", "delete", "sentence-SARI", "BLEU", "ratio", "kept")
    show(Evaluation(lines, references), systems, columns, "SARI", systems[-1].name)
    person = one_person(lines, references)
    print(f"\n{person.name}: " + ", ".join(f"{name} {person.values[name]:.2f}" for name in columns))


def shorten(folder: Path, steps: list[Step]) -> None:
    lines = lines_of(folder / "held.long")
    references = [lines_of(folder / "held.short")]
    both = [(one, max(1, math.floor(PHI * len(one.split())))) for one in lines]
    draw = random.Random(1)
    length = ("--length", PHI)
    systems = [
        System("copy", lines),
        System("truncation", [truncated(*one) for one in both]),
        System("random deletion", [shortened(*one, draw) for one in both]),
        *(rewritten(folder, one, "held.long", reduced(folder, one), *length) for one in steps),
        System("the reference itself", references[0]),
    ]
    columns = ("BLEU", "PRECIS", "ratio", "kept")
    show(Evaluation(lines, references, phi=PHI), systems, columns, "PRECIS", "truncation")


def show(
    evaluation: Evaluation, systems: list[System], columns: tuple[str, ...], by: str, baseline: str
) -> None:
    def row(one) -> list[str]:
        cells = [one.name, *(f"{one.values[name]:.2f}" for name in columns)]
        if by not in one.differences or one.name == baseline:
            return [*cells, "", ""]
        gap, low, high, p = one.differences[by]
        return [*cells, f"{gap:.2f} ({low:.2f} to {high:.2f})", f"{p:.3f}"]

    heads = [f"{len(systems[0].sentences):,} sentences", *columns, f"{by} less {baseline}'s", "p"]
    print_table(heads, map(row, evaluation.rows(systems, baseline=baseline, samples=SAMPLES)))


def main(given: argparse.Namespace) -> None:
    steps = [one for one in STEPS if not given.steps or one.name in given.steps]
    (simplify if given.task == "simplify" else shorten)(given.folder, steps)
    print_machine()


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("task", choices=["simplify", "shorten"])
    options.add_argument("folder", type=Path)
    options.add_argument("--steps", nargs="*", metavar="STEP")
    main(options.parse_args())
