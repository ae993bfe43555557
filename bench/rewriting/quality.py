"""Whole sentences rewritten, beside what anybody can have without a system.

    python bench/rewriting/quality.py simplify FOLDER [--steps STEP...]
    python bench/rewriting/quality.py shorten FOLDER [--steps STEP...]
    python bench/rewriting/quality.py news FOLDER

FOLDER was made by prepare.py; all sentences of TurkCorpus's held-back half, or their longest
variants. `simplify`: against TurkCorpus's eight references, then against ASSET's ten, corpus-level
SARI and its parts, the mean SARI of sentences, BLEU, the share of words kept; the difference of
SARI from the packaged weights' row. A step without features has the packaged weights less theirs.
One person is judged against the others. `shorten`: to .75 of the words, PRECIS and its difference
from truncation's. `news`: broadcast news to .75 of the words, every system as long as ours sentence
by sentence: F1 of kept words and BLEU, which is PRECIS at equal lengths, mean over three people.
95% intervals and p by the paired bootstrap, of news by document.
"""

import argparse
import json
import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
from frame import SHARED, distsim, parser, print_machine, print_table
from prepare import ASSET, REFERENCES, lines_of, opened

from distsim import CorpusIndex, GrammarIndex
from distsim.evaluation.rewriting_scores import Bleu, corpus_bleu
from distsim.evaluation.rewritings import (
    Evaluation,
    Row,
    System,
    one_person,
    shortened,
    truncated,
    with_nonsense,
)
from distsim.paraphrase import Weights
from distsim.paraphrase.rewriting.weights import SHORTEN, SIMPLIFY

SEARCH = ("--set", "span=5", "--set", "pops=15", "--set", "rules=15")
SAMPLES, PHI, FEWEST_WORDS = 1000, 0.75, 8
LENGTH = ("--length", PHI)
PEOPLE = 3  # who compressed the news
SHIPPED = "joint, packaged weights"
LEAST_LETTERS, STEM = 4, 4
FIT = "Substitute,NotFound,Fit,OtherForm"
_ENDINGS = re.compile(r" (n't|'s|'re|'ve|'ll|'d|'m)\b")
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "``": '"', "''": '"'}


class Step(NamedTuple):
    """A row of a system: its pack, and features left out of the packaged weights."""

    name: str
    pack: str
    without: str = ""


STEPS = (
    Step("phrases", "phrases/packs"),
    Step("joint, no fit of words", "joint", FIT),
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
    distsim(
        "rewrite", folder / step.pack, folder / source, "-n", 1, "-o", out,
        "--index", folder / "wiki.index", *SEARCH, *more,
        *(() if weights is None else ("--weights", weights)),
    )  # fmt: skip
    rows = [line.split("\t") for line in lines_of(out)]
    return System(step.name, [row[3] for row in rows if not row[0].startswith("#")])


def slug(name: str) -> str:
    return name.replace(",", "").replace(" ", "_")


def weights_of(folder: Path, step: Step, name: str) -> Path | None:
    """Write the packaged weights of a name, less those that a step or its pack lacks.

    None where they are used as they are.
    """
    if step.name == SHIPPED:
        return None
    packaged = Weights.default(name)
    own = set(GrammarIndex.open(folder / step.pack).feature_names)
    others = set(GrammarIndex.open(folder / "joint").feature_names) - own
    left_out = {*step.without.split(","), *others}
    kept = {
        name: x for name, x in packaged.values.items()
        if name.removeprefix("Missing(").removesuffix(")") not in left_out
    }  # fmt: skip
    path = folder / f"{slug(step.name)}.{name}.weights"
    Weights(kept, notes=packaged.notes).write(path)
    return path


def as_written(text: str) -> str:
    """Return a sentence of TurkCorpus with ASSET's brackets, quotation marks and endings."""
    return _ENDINGS.sub(r"\1", " ".join(_BRACKETS.get(token, token) for token in text.split()))


def simplify(folder: Path, steps: list[Step]) -> None:
    lines = lines_of(folder / "held.norm")
    systems = list(controls(folder, lines))
    for one in steps:
        weights = weights_of(folder, one, SIMPLIFY)
        systems.append(rewritten(folder, one, "held.norm", weights))
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


def shorten(folder: Path, steps: list[Step]) -> None:
    lines = lines_of(folder / "held.long")
    references = [lines_of(folder / "held.short")]
    both = [(one, max(1, math.floor(PHI * len(one.split())))) for one in lines]
    draw = random.Random(1)
    systems = [
        System("copy", lines),
        System("truncation", [truncated(*one) for one in both]),
        System("random deletion", [shortened(*one, draw) for one in both]),
        *(
            rewritten(folder, one, "held.long", weights_of(folder, one, SHORTEN), *LENGTH)
            for one in steps
        ),
        System("the reference itself", references[0]),
    ]
    columns = ("BLEU", "PRECIS", "ratio", "kept")
    show(Evaluation(lines, references, phi=PHI), systems, columns, "PRECIS", "truncation")


def news(folder: Path) -> None:
    with opened(SHARED / "gold-compression-dev" / "broadcast-dev.jsonl.xz") as lines:
        rows = [one for one in map(json.loads, lines) if len(one["text"].split()) >= FEWEST_WORDS]
    source = [one["text"].lower() for one in rows]
    (folder / "news").write_text("".join(f"{one}\n" for one in source), "utf-8")
    ours = rewritten(folder, STEPS[-1], "news", weights_of(folder, STEPS[-1], SHORTEN), *LENGTH)
    lengths, draw = [len(one.split()) for one in ours.sentences], random.Random(1)
    both = list(zip(source, lengths, strict=True))
    systems = [
        ours,
        System("truncation", [truncated(*one) for one in both]),
        System("random deletion", [shortened(*one, draw) for one in both]),
    ]
    people = [[one.lower().split() for one in row["summaries"]] for row in rows]
    made = [[sentence.split() for sentence in one.sentences] for one in systems]
    kept = [list(map(mean_f1, one, people)) for one in made]
    counts = [
        [
            [Bleu([of_one[k]]).counts(tokens) for tokens, of_one in zip(one, people, strict=True)]
            for k in range(PEOPLE)
        ]
        for one in made
    ]

    def scores(system: int, places: np.ndarray) -> tuple[float, float]:
        bleu = [corpus_bleu(np.array(one)[places].sum(axis=0))[0] for one in counts[system]]
        return float(np.mean(np.array(kept[system])[places])), 100 * float(np.mean(bleu))

    every, documents = np.arange(len(rows)), defaultdict(list)
    for place, one in enumerate(rows):
        documents[one["id"].rpartition(".")[0]].append(place)
    random_documents, names = np.random.default_rng(1), list(documents)
    gaps = []
    for _ in range(SAMPLES):
        drawn = random_documents.integers(0, len(names), len(names))
        places = np.concatenate([documents[names[i]] for i in drawn.tolist()])
        gaps.append(np.subtract(scores(0, places), scores(1, places)))
    print_table(
        [f"{len(rows)} sentences, {len(names)} documents", "F1 of kept words", "PRECIS"],
        ((one.name, *map("{:.3f}".format, scores(n, every))) for n, one in enumerate(systems)),
    )
    for name, ends in zip(
        ("F1", "PRECIS"), np.quantile(gaps, (0.025, 0.975), axis=0).T, strict=True
    ):
        print(f"{name}, ours less truncation: {ends[0]:.3f} to {ends[1]:.3f}")


def mean_f1(tokens: list[str], references: list[list[str]]) -> float:
    """Return the mean F1 of a sentence's words by several references."""
    shared = [(Counter(tokens) & Counter(one)).total() for one in references]
    sizes = [len(tokens) + len(one) for one in references]
    return sum(2 * n / size for n, size in zip(shared, sizes, strict=True)) / len(references)


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


def main(given: argparse.Namespace) -> None:
    steps = [one for one in STEPS if not given.steps or one.name in given.steps]
    if given.task == "news":
        news(given.folder)
    else:
        (simplify if given.task == "simplify" else shorten)(given.folder, steps)
    print_machine()


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("task", choices=["simplify", "shorten", "news"])
    options.add_argument("folder", type=Path)
    options.add_argument("--steps", nargs="*", metavar="STEP")
    main(options.parse_args())
