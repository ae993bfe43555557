"""Are renamed words and phrases found again? Recall, rank and CPU of each way to candidates.

Half of the occurrences of many words and phrases of an index are given new names; for each new
name the old one is the answer wanted. Measured against ourselves: the paper's exhaustive
two-sided contexts first, then each option alone and together.

    python bench/pseudowords.py INDEX [--targets 200] [--only NAME...]

candidates: the old name was among those profiled. top 20, MRR: its rank among all answers
(1 / rank, 0 where absent). CPU: process time a phrase, all threads.
"""

import argparse
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from distsim import CorpusIndex, IndexOptions, SignatureTable
from distsim.paraphrase.options import PRESETS, ParaphraseOptions
from distsim.paraphrase.paraphraser import Paraphraser

MARK = "ж"
BANDS = ((20, 60), (60, 200), (200, 1000), (1000, 5000))


def settings() -> dict[str, ParaphraseOptions]:
    plain = replace(PRESETS["marton"], min_score=0.0, k=1_000_000)
    tamed = replace(PRESETS["default"], min_score=0.0, k=1_000_000, one_sided=0, neighbours=0)
    return {
        "paper, mcc 512": plain,
        "paper, mcc 5000": replace(plain, mcc=5000),
        "tamed": tamed,
        "tamed, ppmi": replace(tamed, weighting=type(tamed.weighting)("ppmi")),
        "tamed + neighbours": replace(tamed, neighbours=100),
        "tamed + sides": replace(tamed, one_sided=100),
        "tamed + both": replace(tamed, neighbours=100, one_sided=100),
    }


def choose_targets(index: CorpusIndex, n: int, seed: int) -> list[tuple[str, ...]]:
    """Return words and phrases of 1 to 3 tokens, evenly over lengths and frequency bands."""
    rng = random.Random(seed)
    pools: dict[tuple[int, int], list[tuple[str, ...]]] = {}
    for phrase, count in index.ngrams(1, 3, BANDS[0][0]):
        words = tuple(phrase.split(" "))
        if not all(word.isalpha() for word in words):
            continue
        for band, (low, high) in enumerate(BANDS):
            if low <= count < high:
                pools.setdefault((len(words), band), []).append(words)
    chosen: list[tuple[str, ...]] = []
    taken: set[str] = set()
    for pool in pools.values():
        rng.shuffle(pool)
    while len(chosen) < n and any(pools.values()):
        for key in sorted(pools):
            while pools[key]:
                words = pools[key].pop()
                if not taken & set(words):
                    taken |= set(words)
                    chosen.append(words)
                    break
    return chosen[:n]


def renamed_corpus(index: CorpusIndex, targets: list[tuple[str, ...]], path: Path, seed: int):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--targets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    source = CorpusIndex.open(given.index)
    targets = choose_targets(source, given.targets, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "renamed.txt"
        renamed_corpus(source, targets, corpus, given.seed)
        index = CorpusIndex.build([corpus], Path(folder) / "index", IndexOptions("lines"))
        table = SignatureTable.build(index)
        print(f"{len(targets)} targets, {index.n_tokens:,} tokens")
        print("setting\tcandidates\ttop 1\ttop 20\tMRR\tprofiled\tCPU ms median\tmean\tmax")
        for name, options in settings().items():
            if given.only and name not in given.only:
                continue
            paraphraser = Paraphraser(index, options, table)
            paraphraser.answer(targets[0][0])
            ranks, times, profiled = [], [], 0
            for words in targets:
                begun = time.process_time()
                answer = paraphraser.answer(" ".join(word + MARK for word in words))
                times.append(1000 * (time.process_time() - begun))
                profiled += answer.n_profiled
                phrases = [one.phrase for one in answer.paraphrases]
                wanted = " ".join(words)
                ranks.append(phrases.index(wanted) + 1 if wanted in phrases else 0)
            n = len(targets)
            times.sort()
            print(
                f"{name}\t{sum(r > 0 for r in ranks) / n:.3f}\t{sum(r == 1 for r in ranks) / n:.3f}"
                f"\t{sum(0 < r <= 20 for r in ranks) / n:.3f}"
                f"\t{sum(1 / r for r in ranks if r) / n:.3f}\t{profiled / n:.0f}"
                f"\t{times[n // 2]:.1f}\t{sum(times) / n:.1f}\t{times[-1]:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
