"""The weighted features of a table's phrases, kept beside their bits for exact cosines."""

import numpy as np

from distsim import storage
from distsim.base.errors import ArtifactError, ParameterError
from distsim.contexts.kernels.triples import sort_triples
from distsim.kernels.compiled import frozen

_PARTS = {
    "features/phrases": np.uint64,
    "features/starts": np.int64,
    "features/hashes": np.uint64,
    "features/weights": np.float32,
}


class FeatureWriter:
    """Writes phrases, ascending by hash, with their features into a table's artifact.

    12 bytes a feature: its hash and its weight as float32.

    Arguments:
        writer: of the table's artifact.
    """

    def __init__(self, writer: storage.ArtifactWriter) -> None:
        self._phrases, self._starts, self._hashes, self._weights = (
            writer.stream(name, dtype) for name, dtype in _PARTS.items()
        )
        self._starts.append(np.zeros(1, np.int64))

    def add(
        self, phrases: np.ndarray, starts: np.ndarray, hashes: np.ndarray, weights: np.ndarray
    ) -> None:
        """Append phrases; phrase i has features starts[i]:starts[i + 1], in any order.

        Arguments:
            phrases: uint64[n], hashes, ascending.
            starts: int64[n + 1].
            hashes: uint64, of the features.
            weights: float64, beside them.
        """
        rows = np.repeat(np.arange(phrases.size, dtype=np.uint64), np.diff(starts))
        places = np.arange(hashes.size, dtype=np.uint64)
        ordered = np.empty((3, hashes.size), np.uint64)
        sort_triples(frozen(rows), frozen(hashes), frozen(places), *ordered)
        self._phrases.append(phrases)
        self._starts.append(starts[1:] + len(self._hashes))
        self._hashes.append(ordered[1])
        self._weights.append(weights[ordered[2].astype(np.int64)])


class FeatureStore:
    """The features of phrases in a table, mapped.

    Arguments:
        artifact: of the table.

    Raises:
        ParameterError: the table was signed without its features.
        ArtifactError: the parts differ in length.
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        if not has_features(artifact):
            raise ParameterError(
                f"{artifact.path}: the table holds no features: sign it again with `keep_features`"
            )
        self._phrases, self._starts, self._hashes, self._weights = (
            artifact.array(name, dtype) for name, dtype in _PARTS.items()
        )
        if not (
            self._starts.size == self._phrases.size + 1
            and int(self._starts[-1]) == self._hashes.size == self._weights.size
        ):
            raise ArtifactError(
                f"{artifact.path}: the kept features differ in length: sign it again"
            )

    def features(self, phrase: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of a phrase: hashes uint64, ascending, and weights float64.

        Arguments:
            phrase: its hash; both arrays are empty where it is unknown.
        """
        row = int(np.searchsorted(self._phrases, np.uint64(phrase)))
        if row == self._phrases.size or int(self._phrases[row]) != phrase:
            return frozen(np.empty(0, np.uint64)), frozen(np.empty(0))
        place = slice(int(self._starts[row]), int(self._starts[row + 1]))
        return frozen(self._hashes[place]), frozen(self._weights[place].astype(np.float64))


def has_features(artifact: storage.Artifact) -> bool:
    """Return whether a table was signed with its features kept."""
    return all(name in artifact for name in _PARTS)
