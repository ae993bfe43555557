"""A learned projection: vectors of features in the space that a corpus spans best.

Made by distsim.signatures.projections.learn. The similarity estimated from bits cut in
this space is the cosine of two phrases' weighted contexts *after* they were projected on the
strongest singular directions of the matrix of frequent phrases by frequent features: of what their
contexts have in common up to interchangeable neighbours, not of the very neighbours they share, as
with the Gaussian projection. Features unknown to it add nothing.
"""

from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.errors import ArtifactError, IncompatibleError
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.kernels.projection import NOWHERE
from distsim.signatures.projections.projection import CHECKSUM_KEY, SPECTRAL, WHOLE_NUMBERS
from distsim.storage import StoredArray


def folder_of(table: Path, learned: str) -> Path:
    """Return the folder in which a table keeps its projection."""
    return table / f"projection.{learned[:12]}"


def projection_inside(index: Path) -> Path:
    """Return the folder in which format version 1 kept the projection of an index's own table."""
    return index / "projection"


class SpectralProjection:
    """Projects features on learned vectors.

    Attributes:
        vectors: int16[m * n_dimensions], float32 of older ones; `unit` times each is its value.
        n_bits: bits are cut from so many of the first dimensions, the strongest.
        n_dimensions: of the vectors.
        centre: float32[n_dimensions], the mean unit vector of the words it was learned from.
        parameters: the manifest: model, weights and settings.

    Arguments:
        artifact: of the projection.
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        self.path = artifact.path
        self.parameters = artifact.parameters
        with storage.understood(artifact.path):
            self.n_bits: int = artifact.parameters["bits"]
            self.seed: int = artifact.parameters["seed"]
            self.largest = float(artifact.parameters["largest"])
            self.unit = float(artifact.parameters.get("unit", 1.0))
        whole = artifact.manifest["version"] >= WHOLE_NUMBERS
        declared = {
            "hashes": StoredArray(np.uint64, "features", ascending="strictly"),
            "centre": StoredArray(np.float32, "dimensions"),
            "vectors": StoredArray(
                np.int16 if whole else np.float32, "features", columns="dimensions"
            ),
        }
        hashes, self.centre, vectors = artifact.arrays(declared).values()
        self._hashes = frozen(hashes)
        self.n_dimensions = self.centre.size
        if self.n_dimensions < self.n_bits:
            raise artifact.contradiction("centre")
        self.vectors = vectors.reshape(-1)
        self.artifact = artifact

    def __reduce__(self) -> tuple[Any, ...]:
        return SpectralProjection, (self.artifact,)

    @classmethod
    def open(cls, path: str | Path) -> "SpectralProjection":
        """Return a projection, opened, or the one that belongs to a table; vectors are mapped.

        Arguments:
            path: folder of the projection or of the table.

        Raises:
            ArtifactError: there is no projection of a readable version at `path`.
        """
        artifact = storage.Artifact(path)
        if artifact.kind is storage.SIGNATURES:
            with storage.understood(path):
                learned = artifact.parameters["fingerprint"]["projection"].get(CHECKSUM_KEY)
            if learned is None:
                raise ArtifactError(
                    f"{path}: is a table that was not signed by a learned projection: name one "
                    "that was, or a projection"
                )
            return cls.of_table(path, learned)
        return cls(storage.Artifact(path, storage.PROJECTION))

    @classmethod
    def of_table(cls, table: str | Path, learned: str) -> "SpectralProjection":
        """Return the projection that belongs to a table, opened.

        Raises:
            ArtifactError: it is not there.
        """
        table = Path(table)
        for path in (folder_of(table, learned), projection_inside(table.parent)):
            if path.is_dir():
                projection = cls(storage.Artifact(path, storage.PROJECTION))
                if projection.artifact.checksum == learned:
                    return projection
        raise ArtifactError(
            f"{folder_of(table, learned)}: the projection that the table was signed by is not "
            "there: restore it or sign the table again"
        )

    def copy(self, writer: storage.ArtifactWriter) -> None:
        """Write a copy of the projection; it has the same bytes."""
        for name in self.artifact.manifest["arrays"]:
            writer.add(name, self.artifact.array(name))
        writer.parameters = dict(self.parameters)
        writer.version = self.artifact.manifest["version"]

    def offsets(self, feature_hashes: np.ndarray) -> np.ndarray:
        """Return where each feature's vector begins in `vectors`, uint32[n], NOWHERE if unknown.

        Arguments:
            feature_hashes: uint64[n].
        """
        rows = find_sorted(self._hashes, frozen(feature_hashes))
        return np.where(rows < 0, int(NOWHERE), rows * self.n_dimensions).astype(np.uint32)

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint."""
        return {
            "kind": self.parameters.get("kind", SPECTRAL),
            "bits": self.n_bits,
            "seed": self.seed,
            CHECKSUM_KEY: self.artifact.checksum,
        }

    def answers(self, wanted: dict[str, Any]) -> bool:
        """Return whether learning from the same text with these settings would give it again.

        Arguments:
            wanted: model, weights, bits, seed and learning, as a projection keeps them.
        """
        return all(self.parameters.get(name) == value for name, value in wanted.items())

    def require_model(self, settings: dict[str, Any]) -> None:
        """Refuse contexts of another kind than it was learned from.

        Arguments:
            settings: with the `model` and the `weights` of the contexts.

        Raises:
            IncompatibleError: model or weights differ; both are named.
        """
        for name in ("model", "weights"):
            stored, wanted = self.parameters[name], settings[name]
            if stored != wanted:
                raise IncompatibleError(
                    f"{self.path}: was learned with {name} {stored}, wanted {wanted}: "
                    "learn a projection with the same settings (distsim learn)"
                )
