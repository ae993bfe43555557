"""Are renamed words and phrases found again? Recall and rank by setting, with intervals.

Half of the occurrences of many words and phrases of each index are given new names, in as many
draws as there are seeds; for each new name the old one is the answer wanted. Measured against
ourselves: the paper's exhaustive two-sided contexts first, then the default and what differs
from it in one setting. --places: of all but the paper's and those named by places.

    python bench/pseudowords.py INDEX... [--targets 200] [--each 60 40] [--seeds 7 8] [--only NAME]
                                [--places 0]

top 1, top 20: how often the old name comes first, or among 20; MRR: mean of 1 / rank, 0 where
it is not among 20; top 20 and MRR with 95% intervals by bootstrap over targets, and the
difference of MRR from the default on the same targets. By the target's count before renaming:
top 20 and MRR. CPU: process time a phrase, all threads.
"""

import argparse
import random
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from distsim import CorpusIndex, IndexOptions, SignatureTable
from distsim.contexts import Weighting
from distsim.paraphrase.options import PRESETS, ParaphraseOptions
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.signatures.recipe import PRESETS as RECIPES

MARK = "ж"
DRAWN_BANDS = ((20, 60), (60, 200), (200, 1000), (1000, 5000))
BANDS = ((20, 100), (100, 1000), (1000, 1 << 60))


@dataclass(frozen=True)
class Setting:
    """Options and the preset of the signatures: learnt, thesis or none."""

    options: ParaphraseOptions
    table: str = "learnt"


def settings(places: int) -> dict[str, Setting]:
    default = replace(PRESETS["default"], min_score=0.0, places=places)
    plain = replace(PRESETS["marton"], min_score=0.0)

    def weights(scheme: str, **settings: float) -> ParaphraseOptions:
        return replace(default, weighting=Weighting(scheme, **settings))

    return {
        "paper": Setting(plain, ""),
        "paper, mcc 5000": Setting(replace(plain, mcc=5000), ""),
        "default": Setting(default),
        "llr": Setting(weights("llr")),
        "ppmi, shift 0": Setting(weights("ppmi", shift=0.0)),
        "no sides, no signatures": Setting(replace(default, one_sided=0), ""),
        "no signatures": Setting(default, ""),
        "no sides": Setting(replace(default, one_sided=0)),
        "thesis signatures": Setting(default, "thesis"),
        "300 signatures": Setting(replace(default, neighbours=300)),
        "300 sides, to 256 occurrences": Setting(
            replace(default, one_sided=300, one_sided_mcc=256)
        ),
        "no places": Setting(replace(default, places=0)),
        "no places, thesis signatures": Setting(replace(default, places=0), "thesis"),
        "no places, no signatures": Setting(replace(default, places=0), ""),
        "1 place": Setting(replace(default, places=1)),
        "3 places": Setting(replace(default, places=3)),
        "window 3": Setting(replace(default, window=3)),
        "window 10": Setting(replace(default, window=10)),
    }


def choose_targets(
    index: CorpusIndex, n: int, seed: int, each: list[int] | None = None
) -> dict[tuple[str, ...], int]:
    """Return words and phrases of 1 to 3 tokens, evenly over lengths and bands, with counts.

    each: so many of one token, of two, of three, in place of n evenly.
    """
    rng = random.Random(seed)
    pools: dict[tuple[int, int], list[tuple[tuple[str, ...], int]]] = {}
    for phrase, count in index.ngrams(shortest=1, longest=3, min_count=DRAWN_BANDS[0][0]):
        words = tuple(phrase.split(" "))
        if not all(word.isalpha() for word in words):
            continue
        for band, (low, high) in enumerate(DRAWN_BANDS):
            if low <= count < high and (each is None or len(words) <= len(each)):
                pools.setdefault((len(words), band), []).append((words, count))
    chosen: dict[tuple[str, ...], int] = {}
    taken: set[str] = set()
    for pool in pools.values():
        rng.shuffle(pool)
    left = [n] * 3 if each is None else list(each)
    n = n if each is None else sum(each)
    while len(chosen) < n and any(pools.values()):
        for key in sorted(pools):
            if not left[key[0] - 1]:
                pools[key].clear()
            while pools[key] and len(chosen) < n:
                words, count = pools[key].pop()
                if not taken & set(words):
                    taken |= set(words)
                    chosen[words] = count
                    left[len(words) - 1] -= 1
                    break
    return chosen


def renamed_corpus(index: CorpusIndex, targets: dict[tuple[str, ...], int], path: Path, seed: int):
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


def ranks_of(
    paraphraser: Paraphraser, targets: dict[tuple[str, ...], int]
) -> tuple[list[int], list[float]]:
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
    """Return mean [2.5%, 97.5%] over a thousand bootstrap samples."""
    rng = np.random.default_rng(1)
    means = values[rng.integers(0, values.size, (1000, values.size))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


def row(name: str, ranks: np.ndarray, counts: np.ndarray, base: np.ndarray, times) -> str:
    reciprocal = np.divide(1.0, ranks, out=np.zeros(ranks.size), where=ranks > 0)
    cells = [name, f"{(ranks == 1).mean():.3f}", interval(ranks > 0), interval(reciprocal)]
    base = np.divide(1.0, base, out=np.zeros(base.size), where=base > 0)
    cells.append(interval(reciprocal - base))
    for low, high in BANDS:
        mine = (counts >= low) & (counts < high)
        cells.append(f"{(ranks[mine] > 0).mean():.3f} {reciprocal[mine].mean():.3f}")
    cells.append(f"{np.median(times):.0f}")
    return "\t".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("indexes", nargs="+", metavar="INDEX")
    parser.add_argument("--targets", type=int, default=200)
    parser.add_argument("--each", type=int, nargs="+", help="so many of 1, 2, 3 tokens")
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--places", type=int, default=PRESETS["default"].places)
    given = parser.parse_args()
    wanted = {n: s for n, s in settings(given.places).items() if not given.only or n in given.only}
    for path in given.indexes:
        source = CorpusIndex.open(path)
        ranks: dict[str, list[int]] = {name: [] for name in wanted}
        times: dict[str, list[float]] = {name: [] for name in wanted}
        counts: list[int] = []
        for seed in given.seeds:
            targets = choose_targets(source, given.targets, seed, given.each)
            counts += targets.values()
            with tempfile.TemporaryDirectory() as folder:
                corpus = Path(folder) / "renamed.txt"
                renamed_corpus(source, targets, corpus, seed)
                index = CorpusIndex.build(
                    [corpus], Path(folder) / "index", options=IndexOptions("lines")
                )
                tables = {"": None}
                for preset in {one.table for one in wanted.values()} - {""}:
                    tables[preset] = SignatureTable.build(
                        index, Path(folder) / preset, recipe=RECIPES[preset]
                    )
                for name, one in wanted.items():
                    found = ranks_of(
                        Paraphraser(index, options=one.options, table=tables[one.table]), targets
                    )
                    ranks[name] += found[0]
                    times[name] += found[1]
        bands = "\t".join(f"{low:,} on" for low, _ in BANDS)
        print(f"{Path(path).name}: {len(counts)} targets, {source.n_tokens:,} tokens")
        print(f"setting\ttop 1\ttop 20\tMRR\tdifference\t{bands}\tCPU ms")
        base = np.array(ranks["default" if "default" in ranks else next(iter(ranks))])
        for name in wanted:
            print(row(name, np.array(ranks[name]), np.array(counts), base, times[name]), flush=True)


if __name__ == "__main__":
    main()
