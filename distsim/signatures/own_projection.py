"""A text and a recipe -> the projection of its table: made, given, found again or learnt.

A learnt one stands in the table's folder as `projection.` and a piece of its checksum, so that an
old and a new table can have theirs side by side until the manifest says which table is there.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import ArtifactError, DistsimError, ParameterError
from distsim.contexts.features import FeatureSpace
from distsim.contexts.sources.source import CountedText, PhraseBatch, Work, batch_results
from distsim.contexts.weights import Weigher
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.fingerprint import weights_manifest
from distsim.signatures.projections.kinds import find_kind
from distsim.signatures.projections.learn import Learning, TaughtWords, WordRows
from distsim.signatures.projections.projection import Projection
from distsim.signatures.projections.spectral import SpectralProjection, folder_of
from distsim.signatures.recipe import Recipe

_OUR_FOLDERS = re.compile(r"\.?projection(\.[0-9a-f]{12})?(\.unfinished)?")


class Chosen(NamedTuple):
    """A projection in its table's folder; `is_new` where it was put there just now.

    taught: the words that it was learnt from, where that was just now.
    """

    projection: Projection
    is_new: bool
    taught: TaughtWords | None = None


def choose_projection(
    text: CountedText,
    recipe: Recipe,
    folder: Path,
    given: str | Path | None,
    known: list[Path],
    work: Work,
    new: bool = True,
) -> Chosen:
    """Take the projection that a recipe wants into a table's folder.

    Arguments:
        folder: of the table that is being written.
        given: a learnt projection, or a table that has one.
        known: places where what would be learnt may stand already.
        new: whether it may be another one than the table has that stands there.

    Raises: as distsim.signatures.signing.sign.
    """
    kind = find_kind(recipe.projection)
    if kind.make is not None:
        return Chosen(kind.make(recipe.n_bits, recipe.seed), is_new=False)
    learnt = _learnt_before(text, recipe, known) if given is None else _given(text, recipe, given)
    if learnt is not None and learnt.path.parent == folder:
        return Chosen(learnt, is_new=False)
    storage.require_free(folder, force=new)
    part, taught = folder / "projection", None
    with storage.create(part, storage.PROJECTION) as writer:
        if learnt is None:
            taught = learn_from(text, recipe, writer, work)
        else:
            learnt.copy(writer)
    inside = folder_of(folder, storage.Artifact(part).checksum)
    is_new = not inside.exists() or _is_damaged(inside)
    if is_new:
        shutil.rmtree(inside, ignore_errors=True)
        part.rename(inside)
    else:
        shutil.rmtree(part)
    return Chosen(SpectralProjection.open(inside), is_new, taught)


@contextmanager
def only_its_own(folder: Path) -> Iterator[None]:
    """Leave in a table's folder only the projection that its manifest names."""
    clear_projections(folder)
    try:
        yield
    except BaseException:
        clear_projections(folder)
        raise


def clear_projections(folder: Path) -> None:
    """Remove projections that a table's manifest does not name: leavings of older writers."""
    kept = None
    with suppress(DistsimError, LookupError, TypeError):
        made = storage.Artifact(folder, storage.SIGNATURES).parameters["fingerprint"]
        kept = folder_of(folder, made["projection"]["learnt"]).name
    for inside in folder.iterdir():
        ours = _OUR_FOLDERS.fullmatch(inside.name) and not inside.is_symlink()
        if ours and inside.is_dir() and inside.name != kept:
            shutil.rmtree(inside, ignore_errors=True)


def learn_from(
    text: CountedText, recipe: Recipe, writer: storage.ArtifactWriter, work: Work
) -> TaughtWords | None:
    """Learn a projection from a text's frequent words and the features around them.

    Returns:
        The words, where what was counted of them serves again.

    Raises:
        ParameterError: the recipe's projection is not learnt, or there is too little text.
    """
    kind = find_kind(recipe.projection)
    if kind.learn is None:
        raise ParameterError(
            f"`projection` {recipe.projection!r} is not learnt: choose another recipe"
        )
    learning = _learning(text, recipe)
    least = text.lesson(learning.rows, learning.features).min_count
    features = text.frequent_features(learning.features)
    weighed = _Weighed(recipe, text, features)
    return kind.learn(
        writer,
        batch_results(text, text.parts(least, 1), weighed.rows, work, "learning", text.total()),
        features,
        text.model,
        weights_manifest(recipe.weighting, text.marginals),
        recipe.n_bits,
        recipe.seed,
        learning,
        jobs=work.jobs,
        progress=work.progress,
    )


def _given(text: CountedText, recipe: Recipe, path: str | Path) -> SpectralProjection:
    """Open the projection that was given, sound and learnt from contexts of this kind."""
    learnt = SpectralProjection.open(path)
    learnt.require_model(text.model, weights_manifest(recipe.weighting, text.marginals))
    if learnt.artifact.damaged():
        raise ArtifactError(f"{learnt.path}: is damaged: restore it or learn it again")
    return learnt


def _learnt_before(
    text: CountedText, recipe: Recipe, known: list[Path]
) -> SpectralProjection | None:
    """Return a sound projection that learning would give again, None where there is none."""
    wanted = {
        "model": text.model,
        "weights": weights_manifest(recipe.weighting, text.marginals),
        "bits": recipe.n_bits,
        "seed": recipe.seed,
        "learning": _learning(text, recipe).manifest(text.model),
    }
    for path in known:
        with suppress(DistsimError):
            found = SpectralProjection.open(path)
            if found.answers(wanted) and not found.artifact.damaged():
                return found
    return None


def _learning(text: CountedText, recipe: Recipe) -> Learning:
    """Return how a projection is learnt, as far as the text can teach."""
    learning = recipe.learning
    lesson = text.lesson(learning.rows, learning.features)
    directions = learning.directions(recipe.n_bits)
    return replace(learning, rows=lesson.rows, features=lesson.features, rank=directions)


def _is_damaged(projection: Path) -> bool:
    try:
        return bool(SpectralProjection.open(projection).artifact.damaged())
    except DistsimError:
        return True


class _Weighed:
    """Words' contexts -> rows over the features that are to be learnt; shared by threads."""

    def __init__(self, recipe: Recipe, text: CountedText, features: np.ndarray) -> None:
        self._weighting = recipe.weighting
        self._features = frozen(features)
        self._space = text.space
        if text.space is not None:
            self._weigher = Weigher(text.space, recipe.weighting)
            self._columns = _columns(self._features, text.space)

    def rows(self, batch: PhraseBatch) -> WordRows:
        """Return the rows of a batch of words."""
        contexts, space = batch.contexts, batch.space
        if space is self._space:
            weigher, columns = self._weigher, self._columns
        else:
            weigher = Weigher(space, self._weighting)
            columns = _columns(self._features, space)
        return WordRows(
            batch.hashes, batch.strengths, contexts.starts,
            columns[contexts.features], weigher.weigh(contexts),
        )  # fmt: skip


def _columns(features: np.ndarray, space: FeatureSpace) -> np.ndarray:
    """Return each feature's place among those to learn, int32, below 0 where it is none."""
    columns: np.ndarray = find_sorted(features, frozen(space.hashes)).astype(np.int32)
    return columns
