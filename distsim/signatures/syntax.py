"""Annotated corpus -> signature table: the syntactic model (thesis 5.2.2)."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from distsim import storage
from distsim.contexts.phrase_store import DEFAULT_MEMORY
from distsim.contexts.syntax.counting import (
    FeatureCounter,
    FeatureRows,
    Occurrences,
    OccurrenceStore,
)
from distsim.contexts.syntax.encoded import EncodedCorpus
from distsim.contexts.syntax.marginals import Marginals, RowSpace
from distsim.contexts.syntax.model import LONGEST, SyntaxModel
from distsim.contexts.weights import Weigher, Weighting
from distsim.corpus.annotation import NORMALISER, AnnotatedSentence
from distsim.errors import ParameterError
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.parallel import Progress, no_progress, ordered_map
from distsim.signatures.composition import Composer
from distsim.signatures.feature_store import FeatureWriter
from distsim.signatures.gaussian import GaussianProjection
from distsim.signatures.learn import Learning, WordRows, learn_projection
from distsim.signatures.recipe import Recipe, make_fingerprint, weights_manifest
from distsim.signatures.rows import TableRows
from distsim.signatures.sign import Selection, table_parameters
from distsim.signatures.signer import PhraseBatch, SignedBatch, Signer
from distsim.signatures.spectral import SpectralProjection
from distsim.signatures.stream import TableStream
from distsim.storage import checksum_of_settings

T = TypeVar("T")
USUAL = Learning()


@dataclass(frozen=True)
class SyntaxRecipe:
    """What goes into the bits of a syntactic signature.

    Arguments:
        model: which features. weighting, n_bits, seed, learnt: as of an n-gram Recipe.
    """

    model: SyntaxModel = field(default_factory=SyntaxModel)
    weighting: Weighting = field(default_factory=Weighting)
    n_bits: int = 256
    seed: int = 1
    learnt: bool = False

    def __post_init__(self) -> None:
        Recipe(
            1, self.weighting, self.n_bits, self.seed, learnt=self.learnt
        )  # refuses what is out of range


def sign_annotated(
    sentences: Iterable[AnnotatedSentence],
    path: str | Path,
    recipe: SyntaxRecipe | None = None,
    selection: Selection | None = None,
    memory_bytes: int = DEFAULT_MEMORY,
    keep_features: bool = False,
    jobs: int | None = None,
    progress: Progress = no_progress,
    projection_path: str | Path | None = None,
) -> Path:
    """Sign the phrases of annotated sentences into a table and return the table's folder.

    Arguments:
        path: the table's folder; temporary files, about 250 bytes a token, go beside it. They
            are mapped: their pages count as resident while the machine has memory to spare.
        memory_bytes: for putting occurrences and marginals in order; less takes longer. The
            distinct words are held beside them, with max_phrases the table too.
        keep_features: keep all weighted features in the table, 12 bytes each, for exact
            cosines.
        projection_path: a projection learnt from the same sentences, for a recipe that wants
            one; where None it is learnt first, and kept at `path` with `.projection` after it.

    Raises:
        InputError: an annotated file is at fault.
        ArtifactError: something that is no table stands at `path`, or it is being written.
        IncompatibleError: the projection was learnt from other features or weights.
        ParameterError: phrases are to be longer than 8 tokens, or there is too little text to
            learn a projection from.
    """
    recipe = recipe or SyntaxRecipe()
    selection = selection or Selection()
    if selection.max_length > LONGEST:
        raise ParameterError(f"longest phrase {selection.max_length}: choose 1 to {LONGEST} tokens")
    path = Path(path)
    with (
        storage.create(path, storage.SIGNATURES) as writer,
        tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder,
    ):
        store = OccurrenceStore(folder, memory_bytes // 2, selection.max_length)
        try:
            corpus = store.read(sentences, progress)
            signing = _Signing(corpus, recipe, jobs, progress)
            least = store.lowest_count(selection.min_count, selection.max_phrases)
            checksum = _checksum_of_marginals(corpus, least, selection.max_length)
            learning = recipe.learnt and projection_path is None
            if recipe.weighting.uses_marginals or learning:
                signing.gather_marginals(store.phrases(least), folder, memory_bytes // 2)
            if learning:
                projection_path = path.with_name(f"{path.name}.projection")
                signing.learn(store.phrases(least), projection_path, checksum)
            if projection_path is not None:
                signing.project_by(projection_path, checksum)
            keep = selection.max_phrases
            rows = TableStream(writer, recipe.n_bits) if keep is None else TableRows(recipe.n_bits)
            kept = FeatureWriter(writer) if keep_features else None
            for signed in signing.sign(store.phrases(least), kept):
                rows.add(signed)
        finally:
            store.close()
        n_rows = rows.write(writer, keep) if isinstance(rows, TableRows) else len(rows)
        fingerprint = make_fingerprint(
            recipe.model.manifest(),
            recipe.weighting,
            checksum,
            NORMALISER.manifest(),
            signing.projection.manifest(),
        )
        writer.parameters = {
            **table_parameters(
                fingerprint, "text", corpus.checksum, selection, n_rows, rows.n_without_context
            ),
            "tokens": corpus.n_tokens,
            "sentences": corpus.n_sentences,
        }
    return path


class _Signing:
    """One corpus being signed."""

    def __init__(
        self, corpus: EncodedCorpus, recipe: SyntaxRecipe, jobs: int | None, progress: Progress
    ) -> None:
        self.projection: GaussianProjection | SpectralProjection
        self.projection = GaussianProjection(recipe.n_bits, recipe.seed)
        self._composer: Composer | None = None
        self._counter = FeatureCounter(corpus, recipe.model)
        self._recipe = recipe
        self._jobs = jobs
        self._progress = progress
        self._marginals: Marginals | None = None

    def gather_marginals(
        self, batches: Iterator[Occurrences], folder: str, memory_bytes: int
    ) -> None:
        """Count all features of all phrases that are to be signed."""
        marginals = Marginals(folder, memory_bytes, self._recipe.model, self._recipe.weighting)
        for _, rows in self._mapped("counting", self._counter.count, batches):
            marginals.add(rows)
        marginals.finish()
        self._marginals = marginals

    def learn(
        self, batches: Iterator[Occurrences], path: Path, checksum: str, learning: Learning = USUAL
    ) -> None:
        """Learn a projection from the words among the phrases; the marginals are gathered."""
        assert self._marginals is not None
        features = self._marginals.most_frequent(learning.features)
        space = RowSpace(self._recipe.model, self._recipe.weighting, self._marginals)

        def rows_of(batch: Occurrences) -> WordRows:
            rows = self._counter.count(batch)
            part, log_p = space.space(rows)
            weights = Weigher(part, self._recipe.weighting, log_p).weigh(space.contexts(rows))
            columns = find_sorted(frozen(features), frozen(rows.hashes))
            return WordRows(batch.phrases, batch.strengths, rows.starts, columns, weights)

        words = (batch.words() for batch in batches)
        learn_projection(
            path,
            (rows for _, rows in self._mapped("learning", rows_of, words)),
            features,
            self._recipe.model.manifest(),
            weights_manifest(self._recipe.weighting, checksum),
            self._recipe.n_bits,
            self._recipe.seed,
            learning,
            self._jobs,
        )

    def project_by(self, path: str | Path, checksum: str) -> None:
        """Project by a learnt projection from now on."""
        self.projection = SpectralProjection.open(path)
        self.projection.require_model(
            self._recipe.model.manifest(), weights_manifest(self._recipe.weighting, checksum)
        )
        self._composer = Composer(self.projection.centre)

    def sign(
        self, batches: Iterator[Occurrences], kept: FeatureWriter | None
    ) -> Iterator[SignedBatch]:
        """Yield the signed phrases, ascending by hash."""
        space = RowSpace(self._recipe.model, self._recipe.weighting, self._marginals)

        def sign(batch: Occurrences) -> tuple[SignedBatch, FeatureRows, np.ndarray | None]:
            rows = self._counter.count(batch)
            part, log_p = space.space(rows)
            weigher = Weigher(part, self._recipe.weighting, log_p)
            signer = Signer(part, self._recipe.weighting, self.projection, self._composer, weigher)
            text, ends = self._counter.render(batch)
            contexts = space.contexts(rows)
            signed = signer.sign(
                PhraseBatch(
                    batch.phrases, text, np.diff(ends), batch.strengths.astype(np.uint64), contexts
                )
            )
            return signed, rows, weigher.weigh(contexts) if kept else None

        for _, (signed, rows, weights) in self._mapped("signing", sign, batches):
            if kept is not None and weights is not None:
                kept.add(signed.phrases.hashes, rows.starts, rows.hashes, weights)
            yield signed

    def _mapped(
        self, stage: str, function: Callable[[Occurrences], T], batches: Iterator[Occurrences]
    ) -> Iterator[tuple[Occurrences, T]]:
        done = 0
        for batch, result in ordered_map(
            lambda batch: (batch, function(batch)), batches, self._jobs
        ):
            yield batch, result
            done += batch.occurrences.size
            self._progress(stage, done, None)


def _checksum_of_marginals(corpus: EncodedCorpus, least: int, max_length: int) -> str:
    """Return what tells apart tables whose marginals differ: they count the signed phrases."""
    return checksum_of_settings(
        {"corpus": corpus.checksum, "least": least, "max_length": max_length}
    )
