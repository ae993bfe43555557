"""Corpus counts of features, summed in bounded memory."""

from collections import Counter
from pathlib import Path

import numpy as np

from distsim.contexts.features import FeatureSpace, MarginalCounts
from distsim.contexts.syntax.counting import FeatureRows
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.triples import TripleStore
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import bucket_starts, find_in_buckets

_MOST_BITS = 24
_BLOCK = 1 << 22


class Marginals:
    """Counts of features over all phrases of a table, by hash.

    Rows are added first; `finish` then makes them ready to be looked up. Hashes and counts
    lie in a mapped file in `folder`, 16 bytes a feature.

    Arguments:
        folder: for temporary files.
        memory: bytes of the buffers.
        model: by which the features were counted.
    """

    def __init__(self, folder: str | Path, memory: int, model: SyntaxModel) -> None:
        self._folder = Path(folder)
        self._store = TripleStore(folder, memory)
        self._n_families = len(model.templates)

    def add(self, rows: FeatureRows) -> None:
        """Add the features of some phrases."""
        self._store.add(rows.hashes, rows.families, rows.counts)

    def finish(self) -> None:
        """Sum the rows added so far."""
        repeats: Counter[tuple[int, int]] = Counter()  # (family, marginal): so many features
        totals = np.zeros(self._n_families)
        path = self._folder / "marginals"
        with open(path, "wb") as hashes, open(f"{path}.counts", "wb") as counts:
            for part in self._store.partitions():
                sums = np.add.reduceat(part.counts, part.starts[:-1])
                families = part.features[part.starts[:-1]].astype(np.int64)
                hashes.write(part.phrases.data)
                counts.write(sums.astype(np.float64).data)
                totals += np.bincount(families, sums, totals.size)
                pairs, n = np.unique(np.stack([families, sums]), axis=1, return_counts=True)
                for family, count, times in zip(*pairs.tolist(), n.tolist(), strict=True):
                    repeats[family, count] += times
        self._store.close()
        self._hashes = _mapped(path, np.uint64)
        self._counts = _mapped(Path(f"{path}.counts"), np.float64)
        self._bits = min(_MOST_BITS, max(1, (self._hashes.size // 4).bit_length()))
        self._starts = frozen(bucket_starts(self._hashes, self._bits))
        columns = np.array([(*pair, n) for pair, n in repeats.items()], np.int64).reshape(-1, 3).T
        self.counts = MarginalCounts(columns[0], columns[1].astype(np.float64), columns[2], totals)

    def most_frequent(self, most: int) -> np.ndarray:
        """Return the hashes of the most frequent features, uint64, ascending."""
        hashes, counts = np.empty(0, np.uint64), np.empty(0)
        for begin in range(0, self._hashes.size, _BLOCK):
            hashes = np.concatenate([hashes, self._hashes[begin : begin + _BLOCK]])
            counts = np.concatenate([counts, self._counts[begin : begin + _BLOCK]])
            best = np.lexsort((hashes, -counts))[:most]
            hashes, counts = hashes[best], counts[best]
        return np.sort(hashes)

    def of(self, hashes: np.ndarray) -> np.ndarray:
        """Return the count of each feature, float64[n].

        Arguments:
            hashes: uint64[n], of features that were added.
        """
        counts: np.ndarray = self._counts[
            find_in_buckets(self._hashes, self._starts, self._bits, frozen(hashes))
        ]
        return counts


def row_space(model: SyntaxModel, rows: FeatureRows, marginals: Marginals | None) -> FeatureSpace:
    """Return the feature space of a batch, with the corpus counts of its features.

    Features are numbered by their places in the rows, so that no corpus-wide numbering has to be
    held in memory.

    Arguments:
        model: by which the features were counted.
        marginals: of the corpus; None where no weight depends on them.
    """
    names = tuple(template.pattern for template in model.templates)
    if marginals is None:
        nothing, totals = np.empty(0), np.zeros(len(names))
        return FeatureSpace(names, rows.families, rows.hashes, nothing, totals)
    whole = marginals.counts
    counts = marginals.of(rows.hashes)
    return FeatureSpace(names, rows.families, rows.hashes, counts, whole.totals, whole=whole)


def _mapped(path: Path, dtype: type) -> np.ndarray:
    if path.stat().st_size == 0:
        return frozen(np.empty(0, dtype))
    return frozen(np.memmap(path, dtype, "r"))
