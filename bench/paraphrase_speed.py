"""How long does one phrase take, warm? Median, 95th percentile and worst, beside the aim.

Phrases are drawn evenly over lengths 1 to 4 and frequency bands from 5 to 100,000; every one is
asked once before any is timed. Aim: 30 ms, 300 ms, 2 s.

    python bench/paraphrase_speed.py INDEX [--phrases 500] [--no-table]

CPU is process time, all threads; wall is what a user waits for, on an otherwise idle machine.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from taming import BANDS, draw

from distsim import CorpusIndex, SignatureTable
from distsim.paraphrase.options import PRESETS
from distsim.paraphrase.paraphraser import Paraphraser


def summary(values: list[float]) -> str:
    ordered = sorted(values)
    n = len(ordered)
    return f"{ordered[n // 2]:.0f}\t{ordered[min(n - 1, n * 95 // 100)]:.0f}\t{ordered[-1]:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--phrases", type=int, default=500)
    parser.add_argument("--no-table", action="store_true")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=NUMBER")
    given = parser.parse_args()
    index = CorpusIndex.open(given.index)
    changes = {name: int(value) for name, value in (one.split("=") for one in given.set)}
    options = replace(PRESETS["default"], **changes)
    table = None if given.no_table else SignatureTable.open(given.index)
    paraphraser = Paraphraser(index, options=options, table=table)
    phrases = draw(index, given.phrases, 100_000)
    counts = index.count(phrases).tolist()
    for phrase in phrases:
        paraphraser.answer(phrase)
    rows = []
    for phrase, count in zip(phrases, counts, strict=True):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = paraphraser.answer(phrase)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        rows.append((1000 * cpu, 1000 * wall, phrase, count, answer.n_profiled))
    print(f"{len(phrases)} phrases, {index.n_tokens:,} tokens\tmedian\t95%\tworst")
    print("CPU ms\t" + summary([row[0] for row in rows]))
    print("wall ms\t" + summary([row[1] for row in rows]))
    for low, high in zip(BANDS, (*BANDS[1:], 1 << 60), strict=True):
        band = [row[0] for row in rows if low <= row[3] < high]
        if band:
            print(f"CPU ms, count {low:,} on ({len(band)})\t" + summary(band))
    cpu, wall, phrase, count, profiled = max(rows)
    print(f"worst: {phrase!r}, count {count:,}, {profiled} profiled, {cpu:.0f} ms")


if __name__ == "__main__":
    main()
