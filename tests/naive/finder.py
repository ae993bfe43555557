"""Profiles of words and of frames, cosines and ranks, slowly and from the definitions."""

import math
from collections import Counter


def profiles(sentences: list[list[str]], lemma_of: dict[str, str], n_contexts: int, least: int):
    """(words, frames): for each lemma a Counter of (side, lemma) within two places, and of frames.

    lemma_of: in order of the lemmas' frequency; the first n_contexts are context.
    """
    lemmas = list(dict.fromkeys(lemma_of.values()))
    contexts = set(lemmas[:n_contexts])
    words = {lemma: Counter() for lemma in lemmas}
    frames = {lemma: Counter() for lemma in lemmas}
    for sentence in sentences:
        edged = ["", *sentence, ""]
        for at, word in enumerate(sentence):
            if word not in lemma_of:
                continue
            own = lemma_of[word]
            for side, beside in (
                (0, sentence[max(0, at - 2) : at]),
                (1, sentence[at + 1 : at + 3]),
            ):
                for other in beside:
                    if lemma_of.get(other) in contexts:
                        words[own][side, lemma_of[other]] += 1
            frames[own][edged[at], edged[at + 2]] += 1
    total = sum(frames.values(), Counter())
    for counted in frames.values():
        for frame in [one for one in counted if total[one] < least]:
            del counted[frame]
    return words, frames


def weights(counted: dict[str, Counter], share, shift: float) -> dict[str, dict]:
    """Positive pointwise mutual information, discounted, 255 the largest of each lemma."""
    columns = Counter()
    for own in counted.values():
        for feature, n in own.items():
            columns[feature] += n * share(feature)
    powers = {feature: n**0.75 for feature, n in columns.items()}
    mass = sum(powers.values())
    found = {}
    for lemma, own in counted.items():
        row = sum(n * share(feature) for feature, n in own.items())
        raw = {}
        for feature, n in own.items():
            count = n * share(feature)
            pmi = math.log(count / row / (powers[feature] / mass)) - shift
            raw[feature] = max(0.0, pmi * count / (count + 1))
        largest = max(raw.values(), default=0.0)
        whole = {f: math.floor(255 * w / largest + 0.5) for f, w in raw.items() if w > 0}
        found[lemma] = {f: w for f, w in whole.items() if w}
    return found


def cosine(a: dict, b: dict) -> float:
    """0 where one has nothing."""
    lengths = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    return sum(w * b.get(f, 0) for f, w in a.items()) / lengths if lengths else 0.0


def log_rank(others: list[float], value: float) -> float:
    """ln of the rank of a cosine among others, known at the ranks 1, 2, 4, 8 ... alone."""
    kept = sorted(others, reverse=True)
    known = [(math.log(2**j), kept[2**j - 1]) for j in range(20) if 2**j <= len(kept)]
    for (rank, above), (further, below) in zip(known, known[1:], strict=False):
        if above > value >= below:
            return rank + (further - rank) * (above - value) / (above - below)
    return known[0][0] if value >= known[0][1] else known[-1][0]
