"""What is kept beside a table: its learned projection, and the weighted features of its phrases."""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from distsim import storage
from distsim.base.errors import ArtifactError, DistsimError, ParameterError
from distsim.contexts.kernels.triples import sort_triples
from distsim.contexts.sources.source import Work
from distsim.kernels.compiled import frozen
from distsim.signatures.projections.projection import CHECKSUM_KEY
from distsim.signatures.projections.spectral import SpectralProjection, folder_of
from distsim.signatures.projections.training import Training, TrainingRows
from distsim.storage import StoredArray, start_array

_ARRAYS = {
    "features/phrases": StoredArray(np.uint64, "phrases", ascending="weakly"),
    "features/starts": start_array("phrases", "features/hashes", np.int64, at_open=False),
    "features/hashes": StoredArray(np.uint64, "features"),
    "features/weights": StoredArray(np.float32, "features"),
}


class FeatureWriter:
    """Writes phrases, ascending by hash, with their features into a table's artifact.

    12 bytes a feature: its hash and its weight as float32.

    Arguments:
        writer: of the table's artifact.
    """

    def __init__(self, writer: storage.ArtifactWriter) -> None:
        self._phrases, self._starts, self._hashes, self._weights = (
            writer.stream(name, of.dtype) for name, of in _ARRAYS.items()
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
        arrays = artifact.arrays(_ARRAYS, values=False)
        self._phrases, self._starts, self._hashes, self._weights = arrays.values()
        if int(self._starts[-1]) != self._hashes.size:
            raise artifact.contradiction("features/starts")

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
    return all(name in artifact for name in _ARRAYS)


_OUR_FOLDERS = re.compile(r"\.?projection(\.[0-9a-f]{12})?(\.unfinished)?")


class ProjectionStore:
    """Puts the projection of a table into the table's folder.

    Attributes:
        is_new: whether the last projection was not there before.
        training_rows: the words that it was learned from, where it was learned just now.

    Arguments:
        folder: of the table that is being written.
        work: threads and progress, for learning.
        path: a learned projection, or a table that has one; none where None.
        known: tables that may have been signed by what would be learned.
        may_replace: whether it may be another one than that of the table there.
    """

    def __init__(
        self,
        folder: Path,
        work: Work,
        path: str | Path | None = None,
        known: Sequence[Path] = (),
        may_replace: bool = True,
    ) -> None:
        self._folder, self._work = folder, work
        self._path, self._known, self._may_replace = path, known, may_replace
        self.is_new = False
        self.training_rows: TrainingRows | None = None

    def projection(self, training: Training) -> SpectralProjection:
        """Return the projection of a training set, in the table's folder.

        Raises:
            ArtifactError: the given projection is damaged, or another table is in the folder
                and may not be replaced.
            IncompatibleError: the given projection was learned from other contexts or weights.
            ParameterError: there is too little text to learn from.
        """
        folder = self._folder
        learned = self._learned_before(training) if self._path is None else self._opened(training)
        if learned is not None:
            inside = folder_of(folder, learned.artifact.checksum)
            if inside.exists() and not _is_damaged(inside):
                return SpectralProjection.open(inside)
        storage.require_free(folder, force=self._may_replace)
        part = folder / "projection"
        with storage.create(part, storage.PROJECTION) as writer:
            if learned is None:
                self.training_rows = training.learn(writer, self._work)
            else:
                learned.copy(writer)
        inside = folder_of(folder, storage.Artifact(part).checksum)
        self.is_new = not inside.exists() or _is_damaged(inside)
        if self.is_new:
            shutil.rmtree(inside, ignore_errors=True)
            part.rename(inside)
        else:
            shutil.rmtree(part)
        return SpectralProjection.open(inside)

    def _opened(self, training: Training) -> SpectralProjection:
        """Return the projection that was given, sound and learned from contexts of this kind."""
        assert self._path is not None
        learned = SpectralProjection.open(self._path)
        learned.require_model(training.settings)
        if learned.artifact.damaged():
            raise ArtifactError(f"{learned.path}: is damaged: restore it or learn it again")
        return learned

    def _learned_before(self, training: Training) -> SpectralProjection | None:
        """Return a sound projection that learning would give again, None where there is none."""
        for path in self._known:
            with suppress(DistsimError):
                if not training.content or storage.Artifact(path).made_from != training.content:
                    continue
                projection = SpectralProjection.open(path)
                if projection.answers(training.settings) and not projection.artifact.damaged():
                    return projection
        return None


@contextmanager
def only_its_own(folder: Path) -> Iterator[None]:
    """Leave in a table's folder only the projection that its manifest names.

    Arguments:
        folder: of a table that is being written.
    """
    clear_projections(folder)
    try:
        yield
    except BaseException:
        clear_projections(folder)
        raise


def clear_projections(folder: Path) -> None:
    """Remove projections not named in a table's manifest, of interrupted or older writers."""
    kept = None
    with suppress(DistsimError, LookupError, TypeError):
        fingerprint_owner = storage.Artifact(folder, storage.SIGNATURES).parameters["fingerprint"]
        kept = folder_of(folder, fingerprint_owner["projection"][CHECKSUM_KEY]).name
    for inside in folder.iterdir():
        ours = _OUR_FOLDERS.fullmatch(inside.name) and not inside.is_symlink()
        if ours and inside.is_dir() and inside.name != kept:
            shutil.rmtree(inside, ignore_errors=True)


def _is_damaged(projection: Path) -> bool:
    try:
        return bool(SpectralProjection.open(projection).artifact.damaged())
    except DistsimError:
        return True
