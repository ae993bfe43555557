"""The ladder of chapter 5.4 on TurkCorpus's held-back half.

`python bench/rewriting/ladder.py FOLDER [STEP...] [--most N] [--no-controls]`; all steps where none
is named, the first N sentences where asked. FOLDER was made by prepare.py. Prints SARI and its
parts, BLEU, chrF, PRECIS, words to the source's and kept, and the paired bootstrap's p of SARI's
difference from the packaged weights' row: of what needs no system, of one word replaced by
frequency alone or by `substitute`'s score, of Hiero, labels, and labels with either similarity,
both, and PPDB's pairs of words. Weights: the packaged ones, and for each step of the ladder its
own, tuned from them on the first 100 sentences of the other half. What stands in FOLDER/ladder (or
FOLDER/ladder-N) is not made again.
"""

import argparse
import math
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from prepare import REFERENCES, distsim, opened

from distsim import CorpusIndex
from distsim.evaluation.rewriting_scores import Sari
from distsim.evaluation.rewritings import Evaluation, System, truncated

CHUNKS = ("--set", "chunks=true")
SEARCH = ("--set", "span=7", "--set", "pops=15", "--set", "rules=12")
TUNED = 100
SHIPPED = "joint, packaged weights"
SAMPLES = 1000
COLUMNS = ("SARI", "add", "keep", "delete", "BLEU", "chrF", "PRECIS", "ratio", "kept")
LEAST_LETTERS, STEM = 4, 4


class Step(NamedTuple):
    """A row of a system: its pack, features left out, more options; weights of another row's.

    trees: the sentences come with theirs.
    """

    name: str
    pack: str
    without: str | None = None
    more: tuple[str, ...] = ()
    weights: str | None = None
    trees: bool = True


NGRAM, SYNTAX = "sim_ngram,sim_ngram_coverage", "sim_syn,sim_syn_coverage"
STEPS = (
    Step("Hiero", "hiero/packs", f"{NGRAM},{SYNTAX}"),
    Step("labels", "labels/packs", f"{NGRAM},{SYNTAX}"),
    Step("labels + sim_ngram", "labels/packs", SYNTAX),
    Step("labels + sim_syn", "labels/packs", NGRAM),
    Step("labels + both", "labels/packs", ""),
    Step(
        "labels + both, hidden phrases",
        "labels/packs",
        "",
        (
            "--set",
            "chunks=true",
        ),
        "labels + both",
    ),
    Step("labels + both, packaged weights", "labels/packs"),
    Step("joint, no similarity", "joint", f"{NGRAM},{SYNTAX}"),
    Step("joint, both", "joint", ""),
    Step(
        "joint, packaged weights, hidden phrases",
        "joint",
        more=(
            "--set",
            "chunks=true",
        ),
    ),
    Step("joint, packaged weights, no trees", "joint", trees=False),
    Step(SHIPPED, "joint"),
)


def slug(name: str) -> str:
    return name.replace(",", "").replace(" + ", "_").replace(" ", "_")


def rewritten(folder: Path, made: Path, step: Step) -> Path:
    """Tune a step's weights and rewrite the held-back sentences with them."""
    answers = made / f"{slug(step.name)}.held"
    weights: list[object] = []
    if step.without is not None:
        file = made / f"{slug(step.weights or step.name)}.weights"
        weights = ["--weights", file]
        if not file.exists():
            first(folder, "tune", made / "first", TUNED)
            parts = [x for k in REFERENCES for x in ("--references", made / f"first.{k}")]
            distsim(
                "tune", folder / step.pack, made / "first.norm", *parts, "-o", file, *SEARCH,
                "--index", folder / "wiki.index", "--trees", made / "first.trees",
                "--set", "iterations=3", "--set", "n=40",
                *(["--set", f"without={step.without}"] if step.without else []),
            )  # fmt: skip
    if not answers.exists():
        lines = made / f"{slug(step.name)}.lines"
        distsim(
            "rewrite", folder / step.pack, made / "held.norm", "-n", 1, "-o", lines, *weights,
            "--index", folder / "wiki.index", *SEARCH, *step.more,
            *(["--trees", made / "held.trees"] if step.trees else []),
        )  # fmt: skip
        rows = [line.split("\t") for line in lines.read_text(encoding="utf-8").splitlines()]
        best = [row[3] for row in rows if not row[0].startswith("#")]
        answers.write_text("".join(f"{one}\n" for one in best), encoding="utf-8")
    return answers


def first(folder: Path, half: str, to: Path, most: int | None) -> None:
    """Write the first sentences of a half, and what belongs to them, as `to`.*."""
    for name in ("norm", "trees", *REFERENCES):
        lines = (folder / f"{half}.{name}").read_text(encoding="utf-8").splitlines(keepends=True)
        to.with_suffix(f".{name}").write_text("".join(lines[:most]), encoding="utf-8")


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

    def more_frequent(self, word: str) -> list[str]:
        here = self.frequency(word)
        return sorted(one for one in self.others.get(word, ()) if self.frequency(one) > here)

    def by_frequency(self, tokens: list[str]) -> list[str]:
        """Replace the word that gains most by the most frequent of its paraphrases."""
        best = max(
            (
                (math.log((self.frequency(one) + 1) / (self.frequency(word) + 1)), -i, one)
                for i, word in enumerate(tokens)
                for one in self.more_frequent(word)
            ),
            default=None,
        )
        if best is None:
            return tokens
        at = -best[1]
        return [*tokens[:at], best[2], *tokens[at + 1 :]]


def substituted(
    folder: Path, made: Path, sentences: list[list[str]], pairs: Pairs
) -> list[list[str]]:
    """Replace the word whose more frequent paraphrase `substitute` scores highest."""
    places = []
    asked = made / "substitutions.tsv"
    with asked.open("w", encoding="utf-8") as out:
        for number, tokens in enumerate(sentences):
            for i, word in enumerate(tokens):
                others = pairs.more_frequent(word)
                if others:
                    places.append((number, i))
                    left, right = " ".join(tokens[:i]), " ".join(tokens[i + 1 :])
                    out.write(f"{left}\t{word}\t{right}\t{';'.join(others)}\n")
    answers = made / "substitutions.json"
    if not answers.exists():
        with answers.open("w", encoding="utf-8") as out:
            import subprocess

            subprocess.run(
                [Path(sys.executable).parent / "distsim", "substitute", folder / "wiki.index",
                 "--input", asked, "-k", "1"], stdout=out, check=True,
            )  # fmt: skip
    best: dict[int, tuple[float, int, str]] = {}
    for line in answers.read_text(encoding="utf-8").splitlines():
        at, _, word, score = line.split("\t")
        number, i = places[int(at) - 1]
        if score != "NA":
            found = float(score), i, word
            best[number] = max(best.get(number, found), found)
    out = []
    for number, tokens in enumerate(sentences):
        if number in best:
            _, i, word = best[number]
            tokens = [*tokens[:i], word, *tokens[i + 1 :]]
        out.append(tokens)
    return out


def plain_rows(folder: Path, made: Path, sentences: list[list[str]]) -> list[System]:
    """Return what needs no decoder."""
    draw = random.Random(1)
    index = CorpusIndex.open(folder / "wiki.index")
    joint = Pairs(folder / "joint.rules", index)
    labels = Pairs(folder / "labels" / "scored.gz", index)

    def nonsense(tokens: list[str]) -> list[str]:
        at = draw.randrange(len(tokens))
        return [*tokens[:at], "zzqq", *tokens[at + 1 :]]

    rows = {
        "copy": sentences,
        "truncated to .8": [
            truncated(" ".join(s), max(1, int(0.8 * len(s)))).split() for s in sentences
        ],
        "the last token dropped": [s[:-1] for s in sentences],
        "a fifth deleted": [[t for t in s if draw.random() > 0.2] for s in sentences],
        "a word replaced by nonsense": [nonsense(s) for s in sentences],
        "frequency only, labels' words": [labels.by_frequency(s) for s in sentences],
        "frequency only, joint words": [joint.by_frequency(s) for s in sentences],
        "best substitution, joint words": substituted(folder, made, sentences, joint),
    }
    return [System(name, [" ".join(one) for one in made]) for name, made in rows.items()]


def people(made: Path, system: list[str]) -> str:
    """Return how the system and one person do against the other seven, in turn."""
    source, *references = (
        [line.split() for line in (made / f"held.{name}").read_text().splitlines()]
        for name in ("norm", *REFERENCES)
    )
    mine, theirs = [], []
    for number, tokens in enumerate(source):
        everybody = [one[number] for one in references]
        for k, person in enumerate(everybody):
            sari = Sari(tokens, everybody[:k] + everybody[k + 1 :])
            theirs.append(sari.score(person))
            mine.append(sari.score(system[number].split()))
    gaps = 100 * (np.array(mine) - np.array(theirs)).reshape(len(source), -1).mean(axis=1)
    draw = np.random.default_rng(1)
    means = [gaps[draw.integers(0, gaps.size, gaps.size)].mean() for _ in range(SAMPLES)]
    low, high = np.quantile(means, (0.025, 0.975))
    return (
        f"against seven people in turn: one person {100 * np.mean(theirs):.2f}, the packaged "
        f"weights {100 * np.mean(mine):.2f}, difference {gaps.mean():.2f} ({low:.2f} to {high:.2f})"
    )


def main(folder: Path, names: list[str], most: int | None, controls: bool) -> None:
    made = folder / ("ladder" if most is None else f"ladder-{most}")
    made.mkdir(exist_ok=True)
    first(folder, "held", made / "held", most)
    lines = (made / "held.norm").read_text(encoding="utf-8").splitlines()
    references = [(made / f"held.{k}").read_text().splitlines() for k in REFERENCES]
    steps = [step for step in STEPS if not names or step.name in (*names, SHIPPED)]
    systems = [System("copy", lines)]
    if controls:
        systems = plain_rows(folder, made, [line.split() for line in lines])
    systems += [
        System(step.name, rewritten(folder, made, step).read_text().splitlines()) for step in steps
    ]
    print(f"| {len(lines):,} sentences | {' | '.join(COLUMNS)} | difference | p |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    for row in Evaluation(lines, references).rows(systems, baseline=SHIPPED, samples=SAMPLES):
        cells = [f"{row.values[name]:.2f}" for name in COLUMNS]
        gap, low, high, p = row.differences.get("SARI", (0.0, 0.0, 0.0, math.nan))
        told = ["", ""] if math.isnan(p) else [f"{gap:.2f} ({low:.2f} to {high:.2f})", f"{p:.3f}"]
        print(f"| {row.name} | {' | '.join([*cells, *told])} |", flush=True)
    print(people(made, systems[-1].sentences))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="STEP")
    parser.add_argument("--most", type=int, help="so many sentences")
    parser.add_argument("--no-controls", dest="controls", action="store_false")
    main(**vars(parser.parse_args()))
