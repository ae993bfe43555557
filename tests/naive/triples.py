"""The slow, obvious sum of triples: a dict."""

import itertools
from collections import Counter

import numpy as np


def summed(phrases, features, counts):
    """Return [(phrase, [(feature, count), ...]), ...] in order, counts of equal pairs summed."""
    total = Counter()
    for phrase, feature, count in zip(phrases, features, counts, strict=True):
        total[int(phrase), int(feature)] += int(count)
    rows: dict[int, list[tuple[int, int]]] = {}
    for (phrase, feature), count in sorted(total.items()):
        rows.setdefault(phrase, []).append((feature, count))
    return list(rows.items())


def as_rows(partitions):
    """Return partitions of a TripleStore in the shape of `summed`, checking their order."""
    rows = []
    for part in partitions:
        assert part.starts[0] == 0
        assert part.starts[-1] == part.features.size == part.counts.size
        assert part.starts.size == part.phrases.size + 1
        for i, phrase in enumerate(part.phrases.tolist()):
            mine = slice(part.starts[i], part.starts[i + 1])
            pairs = zip(part.features[mine].tolist(), part.counts[mine].tolist(), strict=True)
            rows.append((phrase, list(pairs)))
            assert np.all(part.features[mine][1:] > part.features[mine][:-1])
    assert all(a[0] < b[0] for a, b in itertools.pairwise(rows))
    return rows
