"""The learned projection of a table: given, found where it was learned before, or learned.

It is in the table's folder as `projection.` and a piece of its checksum, so that an old and a
new table can have theirs side by side until the manifest says which table is there.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from distsim import storage
from distsim.base.errors import ArtifactError, DistsimError
from distsim.contexts.sources.source import Work
from distsim.signatures.projections.projection import CHECKSUM_KEY
from distsim.signatures.projections.spectral import SpectralProjection, folder_of
from distsim.signatures.projections.training import Training, TrainingRows

_OUR_FOLDERS = re.compile(r"\.?projection(\.[0-9a-f]{12})?(\.unfinished)?")


class ProjectionStore:
    """Puts the projection of a table into the table's folder.

    Attributes:
        is_new: whether the last projection was not there before.
        training_rows: the words that it was learned from, where it was learned just now.

    Arguments:
        folder: of the table that is being written.
        work: threads and progress, for learning.
        given: a learned projection, or a table that has one; none where None.
        known: tables that may have been signed by what would be learned.
        may_replace: whether it may be another one than that of the table there.
    """

    def __init__(
        self,
        folder: Path,
        work: Work,
        given: str | Path | None = None,
        known: Sequence[Path] = (),
        may_replace: bool = True,
    ) -> None:
        self._folder, self._work = folder, work
        self._given, self._known, self._may_replace = given, known, may_replace
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
        learned = self._learned_before(training) if self._given is None else self._opened(training)
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
        assert self._given is not None
        learned = SpectralProjection.open(self._given)
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
                found = SpectralProjection.open(path)
                if found.answers(training.settings) and not found.artifact.damaged():
                    return found
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
        made = storage.Artifact(folder, storage.SIGNATURES).parameters["fingerprint"]
        kept = folder_of(folder, made["projection"][CHECKSUM_KEY]).name
    for inside in folder.iterdir():
        ours = _OUR_FOLDERS.fullmatch(inside.name) and not inside.is_symlink()
        if ours and inside.is_dir() and inside.name != kept:
            shutil.rmtree(inside, ignore_errors=True)


def _is_damaged(projection: Path) -> bool:
    try:
        return bool(SpectralProjection.open(projection).artifact.damaged())
    except DistsimError:
        return True
