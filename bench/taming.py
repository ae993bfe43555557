"""How much of the exhaustive top 20 is kept when only the best candidates are profiled?

Compared with the paper's own way (`--preset marton --weights WEIGHTS`: every candidate of every
two-sided context is profiled from up to 10,000 occurrences), on phrases drawn evenly over lengths
1 to 4 and frequency bands from 5 on. One-sided contexts and signatures are off: they only add.

    python bench/taming.py INDEX [--phrases 96] [--most 100000] [--weights log-llr]

kept: the share of the exhaustive top 20 that is in the tamed top 20, of all phrases and of those
of each frequency band. compared: candidates profiled in full.
"""

import argparse
import random
import time
from dataclasses import replace

from distsim import CorpusIndex
from distsim.contexts import Weighting
from distsim.paraphrase.options import PRESETS, ParaphraseOptions
from distsim.paraphrase.paraphraser import Paraphraser

Screens = tuple[tuple[int, int, float], ...]
BANDS = (5, 20, 100, 500, 2_000, 10_000, 100_000)


def draw(index: CorpusIndex, n: int, most: int, seed: int = 3) -> list[str]:
    """Return phrases drawn evenly over lengths 1-4 and bands of frequency."""
    rng = random.Random(seed)
    cells: dict[tuple[int, int], list[str]] = {}
    seen: dict[tuple[int, int], int] = {}
    for phrase, count in index.ngrams(shortest=1, longest=4, min_count=BANDS[0]):
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
    thorough = PRESETS["thorough"]
    tamed = replace(
        base, walk=default.walk, screened=default.screened, screens=default.screens,
        candidate_sample=default.candidate_sample,
    )  # fmt: skip
    return {
        "default": tamed,
        "thorough": replace(
            tamed, walk=thorough.walk, screened=thorough.screened, screens=thorough.screens,
            candidate_sample=thorough.candidate_sample,
        ),
        "halved screens": replace(tamed, screens=halved(default.screens)),
        "best 1,500 by contexts": replace(tamed, screened=1_500),
        "best 300 by contexts, no screens": replace(tamed, screened=300, screens=()),
        "walk 300,000": replace(tamed, walk=300_000),
        "candidate sample 4,000": replace(tamed, candidate_sample=4_000),
    }  # fmt: skip


def halved(screens: Screens) -> Screens:
    return tuple((few, most // 2, share) for few, most, share in screens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--phrases", type=int, default=96)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--weights", default=PRESETS["default"].weighting.scheme)
    given = parser.parse_args()
    index = CorpusIndex.open(given.index)
    phrases = draw(index, given.phrases, given.most)
    counts = index.count(phrases).tolist()
    band_of = [sum(count >= low for low in BANDS) - 1 for count in counts]
    bands = sorted(set(band_of))
    base = replace(PRESETS["marton"], weighting=Weighting(given.weights))
    tops: list[set[str]] = []
    print("setting\tkept\tcompared\tCPU ms\t" + "\t".join(f"{BANDS[b]:,} on" for b in bands))
    for name, options in {"exhaustive": base, **settings(base)}.items():
        paraphraser = Paraphraser(index, options=options)
        spent, compared, kept = 0.0, 0, []
        for number, phrase in enumerate(phrases):
            begun = time.process_time()
            answer = paraphraser.answer(phrase)
            spent += time.process_time() - begun
            compared += answer.n_profiled
            found = {one.phrase for one in answer.paraphrases}
            if name == "exhaustive":
                tops.append(found)
            kept.append(len(tops[number] & found))
        shares = [share(kept, tops, [b == band for b in band_of]) for band in bands]
        print(
            f"{name}\t{share(kept, tops, [True] * len(tops))}\t{compared / len(phrases):.0f}"
            f"\t{1000 * spent / len(phrases):.1f}\t" + "\t".join(shares),
            flush=True,
        )


def share(kept: list[int], tops: list[set[str]], chosen: list[bool]) -> str:
    mine = [(k, len(top)) for k, top, one in zip(kept, tops, chosen, strict=True) if one]
    return f"{sum(k for k, _ in mine) / max(1, sum(n for _, n in mine)):.3f}"


if __name__ == "__main__":
    main()
