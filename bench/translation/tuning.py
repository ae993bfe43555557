"""A development set -> weights: random and coordinate search for BLEU over growing n-best lists."""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from decoder import Decoder, Translation

Decode = Callable[[np.ndarray], list[list[Translation]]]


def bleu_statistics(words: Sequence[str], reference: Sequence[str]) -> np.ndarray:
    """Return (matches, totals of 1- to 4-grams, length, reference length), int64[10]."""
    found = []
    for n in range(1, 5):
        mine = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        theirs = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        found += [sum((mine & theirs).values()), sum(mine.values())]
    return np.array([*found, len(words), len(reference)])


def bleu(sums: np.ndarray) -> np.ndarray:
    """Return BLEU (0 to 1) of summed statistics, smoothed by one where there is no match."""
    logs = sum(
        np.log(np.maximum(sums[..., 2 * n], 0.5) / np.maximum(sums[..., 2 * n + 1], 1))
        for n in range(4)
    )
    brevity = np.minimum(0.0, 1.0 - sums[..., 9] / np.maximum(1, sums[..., 8]))
    return np.exp(logs / 4 + brevity)


def tune(
    decode: Decode, references: Sequence[Sequence[str]], first: np.ndarray, rounds: int, seed: int,
    fixed: Sequence[int] = (),
) -> np.ndarray:  # fmt: skip
    """Return weights that are good for the n-best lists that `decode(weights)` gives."""
    rng = random.Random(seed)
    pools: list[dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]]] = [{} for _ in references]
    weights = first.copy()
    for _ in range(rounds):
        for pool, reference, found in zip(pools, references, decode(weights), strict=True):
            for one in found:
                pool[one.words] = (np.array(one.features), bleu_statistics(one.words, reference))
        longest = max(map(len, pools))
        features = np.full((len(pools), longest, first.size), np.nan)
        statistics = np.zeros((len(pools), longest, 10))
        for number, pool in enumerate(pools):
            for at, (values, counts) in enumerate(pool.values()):
                features[number, at], statistics[number, at] = values, counts
        weights = _searched(weights, features, statistics, rng, fixed)
    return weights


def _searched(weights, features, statistics, rng, fixed):  # type: ignore[no-untyped-def]
    rows = np.arange(len(features))

    def value(tried: np.ndarray) -> float:
        scores = np.where(np.isnan(features[..., 0]), -np.inf, np.nan_to_num(features) @ tried)
        return float(bleu(statistics[rows, scores.argmax(axis=1)].sum(axis=0)))

    best, best_value = weights, value(weights)
    for trial in range(400):
        tried = best.copy()
        for _ in range(1 if trial % 2 else 3):
            at = rng.randrange(tried.size)
            if at not in fixed:
                tried[at] += rng.gauss(0, 0.3) * max(0.1, abs(tried[at]))
        found = value(tried)
        if found > best_value:
            best, best_value = tried, found
    return best


__all__ = ["Decoder", "bleu", "bleu_statistics", "tune"]
