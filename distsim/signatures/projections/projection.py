"""The interface of a projection: features' vectors, whose weighted sums are cut to bits."""

from typing import Any, Protocol

import numpy as np

WIDER = 2  # the format version of vectors with more dimensions than bits
WHOLE_NUMBERS = 3  # that of learnt vectors that are kept as whole numbers and their unit
LARGEST_ENTRY = 255.0  # of an entry of a learnt vector
GAUSSIAN, SPECTRAL, ROTATION = "gaussian", "spectral", "rotation"


class Projection(Protocol):
    """A projection at hand.

    n_bits: cut from as many of the first entries of a vector. n_dimensions: entries of a vector.
    vectors: float32 or int16, multiples of 2^-12 when multiplied by `unit`, a power of 2; end to
    end or overlapping. largest: an upper bound of their absolute values. centre: float32, of
    n_dimensions, what is taken off unit vectors before bits are cut; None where nothing is.
    """

    # Read-only here, so that attributes of any kind will do.
    @property
    def n_bits(self) -> int: ...  # noqa: D102
    @property
    def n_dimensions(self) -> int: ...  # noqa: D102
    @property
    def seed(self) -> int: ...  # noqa: D102
    @property
    def vectors(self) -> np.ndarray: ...  # noqa: D102
    @property
    def unit(self) -> float: ...  # noqa: D102
    @property
    def largest(self) -> float: ...  # noqa: D102
    @property
    def centre(self) -> np.ndarray | None: ...  # noqa: D102

    def offsets(self, feature_hashes: np.ndarray) -> np.ndarray:
        """Return where each feature's vector begins in `vectors`, uint32[n], NOWHERE if unknown.

        Arguments:
            feature_hashes: uint64[n].
        """
        ...

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint: kind, bits, seed and a checksum."""
        ...
