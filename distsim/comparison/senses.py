"""Groups answers by their vectors, so that senses of a word can be told apart on the screen."""

from collections.abc import Sequence

import numpy as np

from distsim.comparison.table import SignatureTable

MOST = 3


def group_senses(table: SignatureTable, phrases: Sequence[str]) -> list[str]:
    """Return the name of each phrase's group, its two most typical phrases: at most three groups.

    Average linkage of the cosines of their vectors. A phrase without a vector is in a group "".

    Arguments:
        table: has their vectors. phrases: the answers for a word.

    >>> group_senses(table, [])
    []
    """
    if not phrases:
        return []
    vectors = table.vectors(list(phrases))
    known = [i for i in range(len(phrases)) if not np.isnan(vectors[i]).any()]
    rows = vectors.astype(np.float64)
    cosines = rows @ rows.T
    groups = [[i] for i in known]
    while len(groups) > MOST:
        pairs = [(a, b) for b in range(len(groups)) for a in range(b)]
        means = [cosines[np.ix_(groups[a], groups[b])].mean() for a, b in pairs]
        a, b = pairs[int(np.argmax(means))]
        groups[a] += groups.pop(b)
    names = [""] * len(phrases)
    for group in groups:
        inside = cosines[np.ix_(group, group)].sum(axis=1)
        typical = [group[i] for i in np.argsort(-inside, kind="stable")[:2]]
        for i in group:
            names[i] = ", ".join(phrases[one] for one in typical)
    return names
