"""A learnt projection: feature hashes -> vectors of the space that a corpus spans best.

Made by distsim.signatures.learn. The similarity estimated from bits cut in this space is the
cosine of two phrases' weighted contexts *after* they were projected on the strongest singular
directions of the matrix of frequent phrases by frequent features: of what their contexts have in
common up to interchangeable neighbours, not of the very neighbours they share, as with the
Gaussian projection. Features unknown to it add nothing.
"""

from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.errors import ArtifactError, IncompatibleError
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.kernels.projection import NOWHERE


class SpectralProjection:
    """Projects features on learnt vectors; the face of a GaussianProjection.

    centre: float32[n_bits], the mean of the unit vectors of the words it was learnt from.
    parameters: what it was made with.
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        self.path = artifact.path
        self.parameters = artifact.parameters
        with storage.understood(artifact.path):
            self.n_bits: int = artifact.parameters["bits"]
            self.seed: int = artifact.parameters["seed"]
            self.largest = float(artifact.parameters["largest"])
        vectors = artifact.array("vectors", np.float32, ndim=2)
        self._hashes = frozen(artifact.array("hashes", np.uint64))
        self.centre = artifact.array("centre", np.float32)
        if vectors.shape != (self._hashes.size, self.n_bits) or self.centre.size != self.n_bits:
            raise ArtifactError(f"{self.path}: its arrays differ in length: learn it again")
        self.vectors = vectors.reshape(-1)
        self._checksum = artifact.checksum

    @classmethod
    def open(cls, path: str | Path) -> "SpectralProjection":
        """Open a projection; its vectors are mapped, not read.

        Raises:
            ArtifactError: there is no projection of a readable version at `path`.
        """
        return cls(storage.Artifact(path, storage.PROJECTION))

    def offsets(self, feature_hashes: np.ndarray) -> np.ndarray:
        """Return where each feature's vector begins in `vectors`, NOWHERE if unknown; uint32."""
        rows = find_sorted(self._hashes, frozen(feature_hashes))
        return np.where(rows < 0, int(NOWHERE), rows * self.n_bits).astype(np.uint32)

    def manifest(self) -> dict[str, object]:
        """Return what a fingerprint keeps."""
        return {
            "kind": "spectral",
            "bits": self.n_bits,
            "seed": self.seed,
            "learnt": self._checksum,
        }

    def require_model(self, model: dict[str, Any], weights: dict[str, Any]) -> None:
        """Refuse contexts of another kind than it was learnt from.

        Raises:
            IncompatibleError: model or weights differ; both are named.
        """
        for name, mine, wanted in (
            ("model", self.parameters["model"], model),
            ("weights", self.parameters["weights"], weights),
        ):
            if mine != wanted:
                raise IncompatibleError(
                    f"{self.path}: was learnt with {name} {mine}, wanted {wanted}: "
                    "learn a projection with the same settings (distsim learn)"
                )
