"""The interface of a projection: features' vectors, whose weighted sums are cut to bits."""

from typing import Any, Protocol

import numpy as np

BYTES = 3  # the format version of tables whose words' vectors are whole numbers of 8 bits
WHOLE_NUMBERS = 3  # that of learned vectors that are kept as whole numbers and their unit
LARGEST_ENTRY = 255.0  # of an entry of a learned vector
GAUSSIAN, SPECTRAL, ROTATION = "gaussian", "spectral", "rotation"
CHECKSUM_KEY = "learnt"  # of a learned projection, in the manifests of tables


class Projection(Protocol):
    """A projection: the vector of every context feature, and how sums are cut to bits."""

    # Read-only here, so that attributes of any kind will do.
    @property
    def n_bits(self) -> int:
        """Bits are cut from as many of the first entries of a vector."""

    @property
    def n_dimensions(self) -> int:
        """Entries of a vector."""

    @property
    def seed(self) -> int:
        """Seed of the random draw."""

    @property
    def vectors(self) -> np.ndarray:
        """float32 or int16, multiples of 2^-12 when multiplied by `unit`; they may overlap."""

    @property
    def unit(self) -> float:
        """A power of 2, by which vectors are multiplied."""

    @property
    def largest(self) -> float:
        """An upper bound of the absolute values of vectors."""

    @property
    def centre(self) -> np.ndarray | None:
        """float32[n_dimensions], what is taken off unit vectors before bits are cut, or None."""

    def offsets(self, feature_hashes: np.ndarray) -> np.ndarray:
        """Return where each feature's vector begins in `vectors`, uint32[n], NOWHERE if unknown.

        Arguments:
            feature_hashes: uint64[n].
        """
        ...

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint: kind, bits, seed and a checksum."""
        ...
