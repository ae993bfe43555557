"""Rows of counted features -> how often each feature occurs in all of them, in bounded memory."""

import math
from collections import Counter
from pathlib import Path

import numpy as np

from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.contexts.syntax.counting import FeatureRows
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.triples import TripleStore
from distsim.contexts.weights import Weighting, kept_shares
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import log_probabilities
from distsim.kernels.hashing import bucket_starts, find_in_buckets

_MOST_BITS = 24
_BLOCK = 1 << 22


class Marginals:
    """Counts of features over all phrases of a table, by hash.

    Rows are added first; `finish` then makes them ready to be looked up. Hashes and counts
    lie in a mapped file in `folder`, 16 bytes a feature.
    """

    def __init__(
        self, folder: str | Path, memory: int, model: SyntaxModel, weighting: Weighting
    ) -> None:
        self._folder = Path(folder)
        self._store = TripleStore(folder, memory)
        self._weighting = weighting
        self.totals = np.zeros(len(model.templates))
        self.log_totals = np.zeros(len(model.templates))

    def add(self, rows: FeatureRows) -> None:
        """Add the features of some phrases."""
        self._store.add(rows.hashes, rows.families, rows.counts)

    def finish(self) -> None:
        """Sum what was added."""
        repeats: Counter[tuple[int, int]] = Counter()  # (family, marginal): so many features
        path = self._folder / "marginals"
        with open(path, "wb") as hashes, open(f"{path}.counts", "wb") as counts:
            for part in self._store.partitions():
                sums = np.add.reduceat(part.counts, part.starts[:-1])
                families = part.features[part.starts[:-1]].astype(np.int64)
                hashes.write(part.phrases.data)
                counts.write(sums.astype(np.float64).data)
                self.totals += np.bincount(families, sums, self.totals.size)
                pairs, n = np.unique(np.stack([families, sums]), axis=1, return_counts=True)
                for family, count, times in zip(*pairs.tolist(), n.tolist(), strict=True):
                    repeats[family, count] += times
        self._store.close()
        self._hashes = _mapped(path, np.uint64)
        self._counts = _mapped(Path(f"{path}.counts"), np.float64)
        self._bits = min(_MOST_BITS, max(1, (self._hashes.size // 4).bit_length()))
        self._starts = frozen(bucket_starts(self._hashes, self._bits))
        for family in range(self.totals.size):
            # Summed exactly, so that the order does not matter.
            mine = [(count, times) for (own, count), times in repeats.items() if own == family]
            values = np.array([count for count, _ in mine])
            kept = kept_shares(values, self.totals[family], self._weighting.subsample)
            powers = [
                math.pow(count, self._weighting.alpha) * times
                for count, (_, times) in zip((values * kept).tolist(), mine, strict=True)
            ]
            self.log_totals[family] = math.log(math.fsum(powers)) if powers else 0.0

    def most_frequent(self, most: int) -> np.ndarray:
        """Return the hashes of the `most` most frequent features, ascending; uint64."""
        hashes, counts = np.empty(0, np.uint64), np.empty(0)
        for begin in range(0, self._hashes.size, _BLOCK):
            hashes = np.concatenate([hashes, self._hashes[begin : begin + _BLOCK]])
            counts = np.concatenate([counts, self._counts[begin : begin + _BLOCK]])
            best = np.lexsort((hashes, -counts))[:most]
            hashes, counts = hashes[best], counts[best]
        return np.sort(hashes)

    def of(self, hashes: np.ndarray) -> np.ndarray:
        """Return the count of each feature, float64."""
        counts: np.ndarray = self._counts[
            find_in_buckets(self._hashes, self._starts, self._bits, frozen(hashes))
        ]
        return counts


class RowSpace:
    """Makes of the rows of a batch a feature space of its own, with the corpus's marginals.

    The features of a batch are numbered by their places in the rows, so that no corpus-wide
    numbering has to be held in memory.
    """

    def __init__(
        self, model: SyntaxModel, weighting: Weighting, marginals: Marginals | None
    ) -> None:
        self._names = tuple(template.pattern for template in model.templates)
        self._weighting = weighting
        self._marginals = marginals

    def contexts(self, rows: FeatureRows) -> ContextCounts:
        """Return the rows with their features numbered."""
        return ContextCounts(rows.starts, np.arange(rows.hashes.size, dtype=np.uint32), rows.counts)

    def space(self, rows: FeatureRows) -> FeatureSpace:
        """Return the feature space of the rows, with ln P of each feature where wanted."""
        log_p = None
        if self._marginals is None:
            marginals, totals = np.empty(0), np.zeros(len(self._names))
        else:
            marginals, totals = self._marginals.of(rows.hashes), self._marginals.totals
            if self._weighting.needs.probabilities:
                kept = kept_shares(marginals, totals[rows.families], self._weighting.subsample)
                log_p = log_probabilities(
                    frozen(rows.families), frozen(marginals * kept),
                    frozen(self._marginals.log_totals), self._weighting.alpha,
                )  # fmt: skip
        return FeatureSpace(self._names, rows.families, rows.hashes, marginals, totals, log_p)


def _mapped(path: Path, dtype: type) -> np.ndarray:
    if path.stat().st_size == 0:
        return frozen(np.empty(0, dtype))
    return frozen(np.memmap(path, dtype, "r"))
