"""A development set -> weights that maximise expected BLEU over growing n-best lists.

Expected BLEU (Rosti et al. 2010, BBN System Description for WMT10) is BLEU of the counts expected
under the n-best lists' own probabilities; it has a gradient, so that no random search is needed
and the same lists give the same weights.
"""

from collections.abc import Callable, Sequence

import numpy as np
from decoder import Translation
from numba import njit

Decode = Callable[[np.ndarray], list[list[Translation]]]
N_STATISTICS = 10
_SHARPNESS = 1.0
_KEEP = 1e-5  # how strongly weights are held to where they began


def tune(
    decode: Decode, references: Sequence[Sequence[str]], firsts: Sequence[np.ndarray], rounds: int,
    fixed: Sequence[int] = (),
) -> np.ndarray:  # fmt: skip
    """Return weights that are good for the n-best lists that `decode(weights)` gives.

    Arguments:
        firsts: weights to begin with; their lists are put together. rounds: how often to look for
            better weights and decode with them; all lists are kept. The weights returned are those
            of all these whose best translations have the highest BLEU.
        fixed: numbers of weights that stay as they are.
    """
    numbers: dict[str, int] = {}

    def numbered(words: Sequence[str]) -> np.ndarray:
        return np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)

    wanted = [numbered(reference) for reference in references]
    pools: list[dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]]] = [{} for _ in references]
    free = np.setdiff1d(np.arange(firsts[0].size), fixed)

    def decoded(weights: np.ndarray) -> float:
        """Add the lists of some weights to the pools; return the BLEU of the first ones."""
        reached = np.zeros(N_STATISTICS)
        for pool, reference, found in zip(pools, wanted, decode(weights), strict=True):
            for rank, one in enumerate(found):
                if one.words not in pool or rank == 0:
                    statistics = bleu_statistics(numbered(one.words), reference)
                    pool[one.words] = (one.features, statistics)
                    if rank == 0:
                        reached += statistics
        return bleu(reached)

    tried = [(decoded(weights), weights) for weights in firsts]
    begin = list(firsts)
    for _ in range(rounds):
        arrays = _arrays(pools)
        found = [_climbed(weights, *arrays, free) for weights in begin]
        best = min(found, key=lambda one: one[0])[1]
        tried.append((decoded(best), best))
        begin = [best]
    return max(tried, key=lambda one: one[0])[1]


def _arrays(pools: Sequence[dict]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Return features[t, f] and statistics[t, 10] of all translations, and where lists begin."""
    features = np.array([values for pool in pools for values, _ in pool.values()])
    statistics = np.array([counts for pool in pools for _, counts in pool.values()])
    return features, statistics, np.cumsum([0, *(len(pool) for pool in pools[:-1])])


def _climbed(
    weights: np.ndarray, features: np.ndarray, statistics: np.ndarray, begins: np.ndarray,
    free: np.ndarray,
) -> tuple[float, np.ndarray]:  # fmt: skip
    """Return (loss, weights) of the nearest minimum."""
    from scipy.optimize import minimize

    lists = np.repeat(np.arange(begins.size), np.diff([*begins, len(features)]))
    moving = features[:, free]
    rest = features @ weights - moving @ weights[free]

    def loss(tried: np.ndarray) -> tuple[float, np.ndarray]:
        scores = _SHARPNESS * (rest + moving @ tried)
        shares = np.exp(scores - np.maximum.reduceat(scores, begins)[lists])
        shares /= np.add.reduceat(shares, begins)[lists]
        value, slopes = _log_bleu(shares @ statistics)
        gains = statistics @ slopes
        gains -= np.add.reduceat(shares * gains, begins)[lists]
        gradient = _SHARPNESS * ((shares * gains) @ moving)
        away = tried - weights[free]
        return _KEEP * float(away @ away) - value, 2 * _KEEP * away - gradient

    found = minimize(loss, weights[free], jac=True, method="L-BFGS-B", options={"maxiter": 60})
    climbed = weights.copy()
    climbed[free] = found.x
    return float(found.fun), climbed


def _log_bleu(sums: np.ndarray) -> tuple[float, np.ndarray]:
    """Return ln BLEU of summed statistics and its derivative by each of them."""
    slopes = np.zeros(N_STATISTICS)
    value = 0.0
    for n in range(4):
        matches, total = max(sums[2 * n], 1e-3), max(sums[2 * n + 1], 1e-3)
        value += (np.log(matches) - np.log(total)) / 4
        slopes[2 * n], slopes[2 * n + 1] = 0.25 / matches, -0.25 / total
    length, wanted = sums[8], sums[9]
    if length < wanted:
        value += 1 - wanted / length
        slopes[8] = wanted / length**2
    return float(value), slopes


def bleu(sums: np.ndarray) -> float:
    """Return BLEU (0 to 1) of summed statistics."""
    return float(np.exp(_log_bleu(sums)[0]))


@njit(nogil=True, cache=True)
def bleu_statistics(words, reference):  # type: ignore[no-untyped-def]
    """Return float64[10]: matches and totals of 1- to 4-grams, length, reference length."""
    found = np.zeros(N_STATISTICS)
    for n in range(1, 5):
        taken = np.zeros(reference.size, np.bool_)
        for i in range(words.size - n + 1):
            for j in range(reference.size - n + 1):
                if not taken[j] and (words[i : i + n] == reference[j : j + n]).all():
                    taken[j] = True
                    found[2 * n - 2] += 1
                    break
        found[2 * n - 1] = max(0, words.size - n + 1)
    found[8], found[9] = words.size, reference.size
    return found
