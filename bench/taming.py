"""How much of the exhaustive top 20 is kept when only the best candidates are profiled?

Compared with the paper's own way (`--preset marton`: every candidate of every two-sided context
is profiled from up to 10,000 occurrences), on phrases drawn evenly over lengths 1 to 4 and
frequency bands from 5 on. One-sided contexts and signatures are off: they only add.

    python bench/taming.py INDEX [--phrases 80] [--most 20000]

profiled: the share of the exhaustive top 20 among the tamed candidates that were profiled.
top 20: the share among the tamed top 20 (a smaller sample also moves the scores).
"""

import argparse
import random
import time
from dataclasses import replace

from distsim import CorpusIndex
from distsim.paraphrase.options import PRESETS, ParaphraseOptions
from distsim.paraphrase.paraphraser import Paraphraser

BANDS = (5, 20, 100, 500, 2_000, 10_000, 100_000)


def draw(index: CorpusIndex, n: int, most: int, seed: int = 3) -> list[str]:
    """Return phrases drawn evenly over lengths 1-4 and bands of frequency."""
    rng = random.Random(seed)
    cells: dict[tuple[int, int], list[str]] = {}
    seen: dict[tuple[int, int], int] = {}
    for phrase, count in index.ngrams(1, 4, BANDS[0]):
        if count > most or not all(word[0].isalpha() for word in phrase.split(" ")):
            continue
        band = sum(count >= low for low in BANDS)
        key = (phrase.count(" "), band)
        cell = cells.setdefault(key, [])
        seen[key] = seen.get(key, 0) + 1
        if len(cell) < n:
            cell.append(phrase)
        elif (at := rng.randrange(seen[key])) < n:
            cell[at] = phrase
    drawn: list[str] = []
    while len(drawn) < n and any(cells.values()):
        for key in sorted(cells):
            if cells[key] and len(drawn) < n:
                drawn.append(cells[key].pop(rng.randrange(len(cells[key]))))
    return drawn


def settings(base: ParaphraseOptions) -> dict[str, ParaphraseOptions]:
    default = PRESETS["default"]
    tamed = replace(
        base, context_sample=default.context_sample, walk=default.walk,
        screened=default.screened, screens=default.screens,
        candidate_sample=default.candidate_sample,
    )  # fmt: skip
    return {
        "default taming": tamed,
        "evidence alone, 300": replace(tamed, screened=300, screens=()),
        "screened 1,500": replace(tamed, screened=1_500),
        "screened 1,500, screens 24-400, 150-120": replace(
            tamed, screened=1_500, screens=((24, 400), (150, 120))
        ),
        "screened 1,500, screens 16-300, 100-80": replace(
            tamed, screened=1_500, screens=((16, 300), (100, 80))
        ),
        "screens 64-500, 250-200": replace(tamed, screens=((64, 500), (250, 200))),
        "contexts 2,000, walk 100,000": replace(tamed, context_sample=2_000, walk=100_000),
        "contexts all, walk free": replace(tamed, context_sample=None, walk=None),
        "candidate sample 300": replace(tamed, candidate_sample=300),
        "candidate sample 10,000": replace(tamed, candidate_sample=10_000),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--phrases", type=int, default=80)
    parser.add_argument("--most", type=int, default=20_000)
    given = parser.parse_args()
    index = CorpusIndex.open(given.index)
    phrases = draw(index, given.phrases, given.most)
    base = PRESETS["marton"]
    exhaustive = Paraphraser(index, base)
    tops, spent, candidates = [], 0.0, 0
    for phrase in phrases:
        begun = time.process_time()
        answer = exhaustive.answer(phrase)
        spent += time.process_time() - begun
        candidates += answer.n_profiled
        tops.append({one.phrase for one in answer.paraphrases})
    n = len(phrases)
    total = sum(map(len, tops))
    print("setting\tprofiled\ttop 20\tcandidates profiled\tCPU ms a phrase")
    print(f"exhaustive\t1.000\t1.000\t{candidates / n:.0f}\t{1000 * spent / n:.1f}")
    for name, options in settings(base).items():
        wide = Paraphraser(index, replace(options, k=1_000_000, min_score=0.0))
        spent, reached, kept, candidates = 0.0, 0, 0, 0
        for phrase, top in zip(phrases, tops, strict=True):
            begun = time.process_time()
            answer = wide.answer(phrase)
            spent += time.process_time() - begun
            candidates += answer.n_profiled
            ranked = [one.phrase for one in answer.paraphrases]
            reached += len(top & set(ranked))
            kept += len(top & set(ranked[:20]))
        print(
            f"{name}\t{reached / total:.3f}\t{kept / total:.3f}\t{candidates / n:.0f}"
            f"\t{1000 * spent / n:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
