"""Paraphrases on the fly: time of a phrase, and what is lost by not comparing everything.

Time: phrases drawn evenly over lengths 1 to 4 and frequency bands from 5 to 100,000, each asked
once before it is timed; CPU milliseconds, all threads. Kept: the share of the exhaustive top 20
(every candidate of every two-sided context profiled, as in the paper) that is found with the
default's limits; one-sided contexts and signatures are off for this, since they only add
candidates.

    python bench/paraphrase_speed.py INDEX [--phrases 300] [--exhaustive 96]
"""

import random
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
from frame import Cpu, parser, print_machine, print_table

from distsim import CorpusIndex, Paraphraser, SignatureTable
from distsim.contexts import Weighting
from distsim.paraphrase.options import PRESETS, ParaphraseOptions

BANDS = (5, 20, 100, 500, 2_000, 10_000, 100_000)
LIMITS = ("walk", "screened", "screens", "candidate_sample")


def draw(index: CorpusIndex, n: int, seed: int = 3) -> list[str]:
    """Return phrases drawn evenly over lengths 1 to 4 and bands of frequency."""
    rng = random.Random(seed)
    cells: dict[tuple[int, int], list[str]] = {}
    seen: dict[tuple[int, int], int] = {}
    for phrase, count in index.ngrams(shortest=1, longest=4, min_count=BANDS[0]):
        if count > BANDS[-1] or not all(word[0].isalpha() for word in phrase.split(" ")):
            continue
        key = (phrase.count(" "), sum(count >= low for low in BANDS))
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


def speed(index: CorpusIndex, table: SignatureTable, n: int) -> None:
    paraphraser = Paraphraser(index, options=PRESETS["default"], table=table)
    phrases = draw(index, n)
    for phrase in phrases:
        paraphraser.answer(phrase)
    times = []
    for phrase in phrases:
        begun = time.process_time()
        paraphraser.answer(phrase)
        times.append(1000 * (time.process_time() - begun))
    counts, spent = index.count(phrases), np.array(times)
    some = {"all": np.ones(len(phrases), bool)}
    for low, high in pairwise(BANDS):
        some[f"{low:,} to {high:,} times"] = (counts >= low) & (counts < high)
    print_table(
        ["CPU ms", "phrases", "median", "95%", "worst"],
        ([name, mine.sum(), *(f"{one:.0f}" for one in np.percentile(spent[mine], (50, 95, 100)))]
         for name, mine in some.items() if mine.any()),
    )  # fmt: skip


def kept(index: CorpusIndex, n: int) -> None:
    default = PRESETS["default"]
    exhaustive = replace(
        PRESETS["marton"], weighting=Weighting(default.weighting.scheme), places=default.places
    )
    settings: dict[str, ParaphraseOptions] = {"exhaustive": exhaustive}
    for name in ("default", "thorough"):
        limits = {limit: getattr(PRESETS[name], limit) for limit in LIMITS}
        settings[f"limits of `{name}`"] = replace(exhaustive, **limits)
    phrases = draw(index, n)
    tops: list[set[str]] = []

    def row(name: str, options: ParaphraseOptions) -> list[str]:
        paraphraser, profiled, same = Paraphraser(index, options=options), 0, 0
        paraphraser.answer(phrases[0])
        found = []
        with Cpu() as cpu:
            for phrase in phrases:
                answer = paraphraser.answer(phrase)
                profiled += answer.n_profiled
                found.append({one.phrase for one in answer.paraphrases})
        tops[:] = tops or found
        same = sum(len(a & b) for a, b in zip(tops, found, strict=True))
        share = f"{same / max(1, sum(map(len, tops))):.3f}"
        return [name, share, f"{profiled / n:.0f}", f"{1000 * cpu.seconds / n:.0f}"]

    heads = [f"{len(phrases)} phrases", "top 20 kept", "profiled", "CPU ms"]
    print_table(heads, (row(*one) for one in settings.items()))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--phrases", type=int, default=300)
    options.add_argument("--exhaustive", type=int, default=96, help="phrases of the second table")
    given = options.parse_args()
    index = CorpusIndex.open(given.index)
    print(f"{index.n_tokens:,} tokens")
    speed(index, SignatureTable.open(given.index), given.phrases)
    kept(index, given.exhaustive)
    print_machine()


if __name__ == "__main__":
    main()
