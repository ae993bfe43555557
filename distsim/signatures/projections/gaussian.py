"""Gaussian projection vectors, read from one pool (Van Durme and Lall 2010).

The pool's recipe is fixed: 64-bit words of PCG64(seed), taken in pairs to uniform numbers
((word >> 11) + 1) / 2^53, made normal by the Box-Muller transform in float64, centred to mean
0, rounded to multiples of 2^-12. A feature's vector is the n_bits consecutive entries that
begin at the low 20 bits of its hash.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from distsim.signatures.projections.projection import GAUSSIAN
from distsim.storage import checksum_of_array

POOL_SIZE = 1 << 20
_STEPS = 4096.0


@lru_cache(maxsize=2)
def gaussian_pool(seed: int, n_bits: int) -> np.ndarray:
    """Return the pool of random numbers, float32[2^20 + n_bits], read-only.

    Arguments:
        seed: of the generator.
        n_bits: entries of a vector.
    """
    size = POOL_SIZE + n_bits
    words = np.random.PCG64(seed).random_raw(size + size % 2)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 1.0) / 2.0**53
    radius = np.sqrt(-2.0 * np.log(uniform[0::2]))
    angle = 2.0 * math.pi * uniform[1::2]
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:size]
    centred = normal - math.fsum(normal) / size
    pool = (np.round(centred * _STEPS) / _STEPS).astype(np.float32)
    pool.flags.writeable = False
    return pool


class GaussianProjection:
    """Projects features on pool vectors: cos of the angle survives as the share of equal bits.

    Arguments:
        n_bits: bits of a signature; more bits, less error (about 1.6 / sqrt(n_bits) at most).
        seed: another seed gives another, equally good and incomparable projection.
    """

    centre = None
    unit = 1.0

    def __init__(self, n_bits: int, seed: int) -> None:
        self.n_bits = self.n_dimensions = n_bits
        self.seed = seed
        self.vectors = gaussian_pool(seed, n_bits)
        self.largest = float(np.abs(self.vectors).max())

    def offsets(self, feature_hashes: np.ndarray) -> np.ndarray:
        """Return where each feature's vector begins in `vectors`, uint32[n].

        Arguments:
            feature_hashes: uint64[n].
        """
        return (feature_hashes & np.uint64(POOL_SIZE - 1)).astype(np.uint32)

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint."""
        return {
            "kind": GAUSSIAN,
            "bits": self.n_bits,
            "seed": self.seed,
            "pool": checksum_of_array(self.vectors),
        }
