"""Generalised average precision of ranked candidates (Kishida 2005)."""

from collections.abc import Sequence

import numpy as np


def generalised_average_precision(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Return GAP: the sum of p_i over ranks i with a weight, over that of the best order.

    p_i is the mean weight of the first i candidates (Thater, Fürstenau and Pinkal 2011). Ties
    count as the mean over all their orders; candidates without a score (NaN) come last, tied.

    Arguments:
        scores: of the candidates, the higher the better. weights: 0 or more, one above 0.

    >>> round(generalised_average_precision([3.0, 2.0, 1.0], [1.0, 0.0, 1.0]), 3)
    0.833
    >>> generalised_average_precision([1.0, 1.0], [1.0, 0.0])
    0.75
    """
    values = np.asarray(scores, np.float64)
    gold = np.asarray(weights, np.float64)
    if values.size != gold.size or not np.any(gold > 0) or np.any(gold < 0):
        raise ValueError("weights: give one for each score, none below 0 and one above")
    values = np.where(np.isnan(values), -np.inf, values)
    order = np.argsort(-values, kind="stable")
    ordered = gold[order]
    before, seen, total = 0, 0.0, 0.0
    for size in np.unique(-values[order], return_counts=True)[1].tolist():
        tied = ordered[before : before + size]
        own = tied[tied > 0][:, None]
        places = np.arange(size)
        others = (tied.sum() - own) / max(1, size - 1)  # expected of each tied one that is ahead
        total += float(((seen + own + places * others) / (before + places + 1)).sum()) / size
        before += size
        seen += float(tied.sum())
    best = np.sort(gold)[::-1]
    best = best[best > 0]
    return total / float((np.cumsum(best) / np.arange(1, best.size + 1)).sum())
