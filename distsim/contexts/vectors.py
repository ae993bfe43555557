"""The model of given word vectors: a vector's dimensions are a word's features."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from distsim.contexts.weights import ContextCounts, FeatureSpace
from distsim.corpus.vocabulary import hash_texts

_LENGTH = np.float32(1024.0)  # weights are rounded to 2^-12 where they are projected


@dataclass(frozen=True, kw_only=True)
class VectorModel:
    """Phrases are made of the vectors of their words.

    Arguments:
        centre: take the words' mean vector off each (of length 1) before bits are cut, so that
            about half of them are set.

    >>> VectorModel().manifest()
    {'name': 'vectors', 'centre': True}
    """

    name: ClassVar[str] = "vectors"
    centre: bool = True

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a manifest."""
        return {"name": self.name, **asdict(self)}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "VectorModel":
        """Return the model that a manifest describes.

        Arguments:
            values: as `manifest` returns them.
        """
        return cls(centre=bool(values["centre"]))


def dimension_space(n: int) -> FeatureSpace:
    """Return the feature space of a vector's dimensions."""
    names = [b"dimension:%d" % number for number in range(n)]
    return FeatureSpace(
        family_names=("dimension",),
        families=np.zeros(n, np.uint8),
        hashes=hash_texts(names),
        marginals=np.ones(n),
        totals=np.array([float(n)]),
    )


def dimension_counts(vectors: np.ndarray) -> ContextCounts:
    """Return vectors as counted features, every row scaled to one length.

    Arguments:
        vectors: float32[n, dimensions].
    """
    n, dimensions = vectors.shape
    squares = np.square(vectors, dtype=np.float64)
    lengths = np.sqrt(squares.sum(axis=1))[:, None].astype(np.float64)
    scaled = vectors / np.where(lengths > 0, lengths, 1.0) * _LENGTH
    return ContextCounts(
        np.arange(n + 1, dtype=np.int64) * dimensions,
        np.tile(np.arange(dimensions, dtype=np.uint32), n),
        scaled.astype(np.float32).reshape(-1),
    )


def no_counts(n: int, dtype: type[np.number[Any]] = np.float32) -> ContextCounts:
    """Return empty rows, for phrases whose contexts are not counted."""
    return ContextCounts(np.zeros(n + 1, np.int64), np.empty(0, np.uint32), np.empty(0, dtype))
