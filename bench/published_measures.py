"""Figures of the published comparisons: alignment error rate and generalised average precision."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.bitext.links import Links


class LinkAgreement(NamedTuple):
    """Agreement of links with sure and possible links made by hand (Och and Ney 2003).

    error_rate: 1 - (|A and S| + |A and P|) / (|A| + |S|), for links A, sure ones S and possible
    ones P, which hold the sure ones. precision: |A and P| / |A|. recall: |A and S| / |S|.
    sure_precision: |A and S| / |A|. links: |A|. Not a number where nothing is divided by.
    """

    error_rate: float
    precision: float
    recall: float
    sure_precision: float
    links: int


def compare_links(links: Links, gold: Links) -> LinkAgreement:
    """Return the agreement of links with those made by hand, for the same sentence pairs.

    Arguments:
        links: links that were made by an aligner.
        gold: links made by hand, some of them only possible.

    Raises:
        ParameterError: they are of different numbers of pairs.

    >>> from distsim.bitext.links import parse_pharaoh
    >>> gold = parse_pharaoh(b"0-0 1-1 1-2-P")
    >>> compare_links(parse_pharaoh(b"0-0 1-2 2-2"), gold)
    LinkAgreement(error_rate=0.4, precision=0.6666666666666666, recall=0.5, sure_precision=0.3333333333333333, links=3)
    """  # noqa: E501
    if links.starts.size != gold.starts.size:
        raise ParameterError(
            f"links of {links.starts.size - 1:,} pairs, gold ones of {gold.starts.size - 1:,}: "
            "give both for the same pairs"
        )
    longest = 1 + max(int(one.pairs.max(initial=0)) for one in (links, gold))
    made, by_hand = _keys(links, longest), _keys(gold, longest)
    sure = by_hand[~gold.possible]
    in_possible = np.isin(made, by_hand).sum()
    in_sure = np.isin(made, sure).sum()
    with np.errstate(invalid="ignore"):
        return LinkAgreement(
            float(1 - np.divide(in_sure + in_possible, made.size + sure.size)),
            float(np.divide(in_possible, made.size)),
            float(np.divide(in_sure, sure.size)),
            float(np.divide(in_sure, made.size)),
            made.size,
        )


def _keys(links: Links, longest: int) -> np.ndarray:
    """Return one number for each link, the same for the same link of the same pair.

    longest: above any position. Beyond int64 the numbers are Python's, which are slow.
    """
    owners = np.repeat(np.arange(links.starts.size - 1), np.diff(links.starts))
    if links.starts.size * longest**2 >= 1 << 63:
        owners = owners.astype(object)
    keys: np.ndarray = (owners * longest + links.pairs[:, 0]) * longest + links.pairs[:, 1]
    return keys


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
