"""Paraphrases found again: half of the occurrences of words and phrases get a new name.

Is the old name among the 20 paraphrases of the new one? Words and bigrams evenly over bands of
frequency, one draw a seed, an index and tables of its own for each. Against ourselves: the paper's
exhaustive two-sided contexts, and what differs from the default in one setting.

    python bench/pseudowords.py INDEX [--each 60 40] [--seeds 7 8] [--only NAME...]

top 1, top 20: share of names; MRR: mean of 1 / rank, 0 where it is not among 20; intervals of 95%
by bootstrap over names; the difference is from the default on the same names; MRR of names of less
than 100 occurrences before the renaming; median of CPU milliseconds.
"""

import random
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from frame import parser, print_machine, print_table

from distsim import CorpusIndex, IndexOptions, Paraphraser, SignatureTable
from distsim.contexts import Weighting
from distsim.paraphrase.paraphrasing_options import PRESETS, ParaphraseOptions
from distsim.signatures import PRESETS as RECIPES

MARK = "ж"
BANDS = ((20, 60), (60, 200), (200, 1000), (1000, 5000))
RARE = 100
SAMPLES = 1000


@dataclass(frozen=True)
class Setting:
    """Options and the preset of the signatures: learned, thesis or none."""

    options: ParaphraseOptions
    table: str = "learned"


def settings() -> dict[str, Setting]:
    default = replace(PRESETS["default"], min_score=0.0)
    return {
        "default": Setting(default),
        "the paper's": Setting(replace(PRESETS["marton"], min_score=0.0), ""),
        "weights `llr`": Setting(replace(default, weighting=Weighting("llr"))),
        "weights `ppmi`": Setting(replace(default, weighting=Weighting("ppmi", shift=0.0))),
        "no places": Setting(replace(default, places=0)),
        "no signatures": Setting(default, ""),
        "the thesis's signatures": Setting(default, "thesis"),
    }


def choose_targets(index: CorpusIndex, each: list[int], seed: int) -> dict[tuple[str, ...], int]:
    """Return phrases with counts, so many of one token, of two and so on, evenly over bands."""
    rng = random.Random(seed)
    pools: dict[tuple[int, int], list[tuple[tuple[str, ...], int]]] = {}
    for phrase, count in index.ngrams(shortest=1, longest=len(each), min_count=BANDS[0][0]):
        words = tuple(phrase.split(" "))
        if all(word.isalpha() for word in words):
            for band, (low, high) in enumerate(BANDS):
                if low <= count < high:
                    pools.setdefault((len(words), band), []).append((words, count))
    for pool in pools.values():
        rng.shuffle(pool)
    chosen: dict[tuple[str, ...], int] = {}
    taken: set[str] = set()
    left = list(each)
    while any(left) and any(pools.values()):
        for length, band in sorted(pools):
            pool = pools[length, band]
            if not left[length - 1]:
                pool.clear()
            while pool:
                words, count = pool.pop()
                if not taken & set(words):
                    taken |= set(words)
                    chosen[words] = count
                    left[length - 1] -= 1
                    break
    return chosen


def write_renamed(index: CorpusIndex, targets: dict[tuple[str, ...], int], path: Path, seed: int):
    """Write the index's sentences as lines, every second target (drawn) under its new name."""
    rng = random.Random(seed + 1)
    by_first = {words[0]: words for words in targets}
    words_of = index.vocabulary.words(range(index.n_words))
    with open(path, "w", encoding="utf-8") as file:
        for shard in index.shards:
            sentence: list[str] = []
            for token in shard.tokens.tolist():
                if token:
                    sentence.append(words_of[token])
                    continue
                at = 0
                while at < len(sentence):
                    target = by_first.get(sentence[at])
                    if target and tuple(sentence[at : at + len(target)]) == target:
                        if rng.random() < 0.5:
                            sentence[at : at + len(target)] = [w + MARK for w in target]
                        at += len(target)
                    else:
                        at += 1
                file.write(" ".join(sentence) + "\n")
                sentence = []


def ranks_of(paraphraser: Paraphraser, targets: dict) -> tuple[list[int], list[float]]:
    """Return the rank of every target's old name, 0 where it is not found, and CPU ms."""
    ranks, times = [], []
    for words in targets:
        begun = time.process_time()
        answer = paraphraser.answer(" ".join(word + MARK for word in words))
        times.append(1000 * (time.process_time() - begun))
        phrases = [one.phrase for one in answer.paraphrases]
        wanted = " ".join(words)
        ranks.append(phrases.index(wanted) + 1 if wanted in phrases else 0)
    return ranks, times


def interval(values: np.ndarray) -> str:
    """Return the mean with its 95% interval."""
    rng = np.random.default_rng(1)
    means = values[rng.integers(0, values.size, (SAMPLES, values.size))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--each", type=int, nargs="+", default=[60, 40])
    options.add_argument("--seeds", type=int, nargs="+", default=[7, 8])
    options.add_argument("--only", nargs="*", help="names of settings, beside the default")
    given = options.parse_args()
    some = {
        name: one for name, one in settings().items()
        if given.only is None or name in ("default", *given.only)
    }  # fmt: skip
    source = CorpusIndex.open(given.index)
    ranks: dict[str, list[int]] = {name: [] for name in some}
    times: dict[str, list[float]] = {name: [] for name in some}
    counts: list[int] = []
    for seed in given.seeds:
        targets = choose_targets(source, given.each, seed)
        counts += targets.values()
        with tempfile.TemporaryDirectory() as folder:
            corpus = Path(folder) / "renamed.txt"
            write_renamed(source, targets, corpus, seed)
            index = CorpusIndex.build(
                [corpus], Path(folder) / "index", options=IndexOptions("lines")
            )
            tables: dict[str, SignatureTable | None] = {"": None}
            for preset in {one.table for one in some.values()} - {""}:
                tables[preset] = SignatureTable.build(
                    index, Path(folder) / preset, recipe=RECIPES[preset]
                )
            for name, one in some.items():
                paraphraser = Paraphraser(index, options=one.options, table=tables[one.table])
                found = ranks_of(paraphraser, targets)
                ranks[name] += found[0]
                times[name] += found[1]
    rare = np.array(counts) < RARE

    def row(name: str) -> list[str]:
        reciprocal, base = (
            np.array([1 / rank if rank else 0.0 for rank in ranks[one]])
            for one in (name, "default")
        )
        mine = np.array(ranks[name])
        return [
            name, f"{(mine == 1).mean():.3f}", f"{(mine > 0).mean():.3f}", interval(reciprocal),
            "" if name == "default" else interval(reciprocal - base),
            f"{reciprocal[rare].mean():.3f}", f"{np.median(times[name]):.0f}",
        ]  # fmt: skip

    heads = ["top 1", "top 20", "MRR", "difference", f"under {RARE}", "CPU ms"]
    print_table([f"{len(counts)} names", *heads], map(row, some))
    print(f"\n{source.n_tokens:,} tokens")
    print_machine()


if __name__ == "__main__":
    main()
