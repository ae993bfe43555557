"""Index -> signature table: every frequent phrase's contexts, weighed, projected, cut to bits."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from distsim import storage
from distsim.contexts import ngram
from distsim.contexts.features import FeatureSpace
from distsim.corpus.vocabulary import hash_blob
from distsim.errors import ParameterError
from distsim.indexes import phrase_walk
from distsim.indexes.corpus_index import CorpusIndex, signatures_inside
from distsim.parallel import Progress, no_progress, ordered_map
from distsim.signatures.composition import Composer, Composition, PartVectors
from distsim.signatures.gaussian import GaussianProjection
from distsim.signatures.learn import Learning, WordRows, learn_projection
from distsim.signatures.recipe import Recipe, make_fingerprint, weights_manifest
from distsim.signatures.rows import TableRows
from distsim.signatures.signer import BATCH_PHRASES, PhraseBatch, Signer
from distsim.signatures.spectral import SpectralProjection

LONGEST = 8
Result = TypeVar("Result")


@dataclass(frozen=True)
class Selection:
    """Which phrases get a row in the table.

    Arguments:
        min_count: phrases that occur less often are left out.
        max_length: the longest phrases, in tokens.
        max_phrases: keep only so many, the most frequent ones.
    """

    min_count: int = 5
    max_length: int = 4
    max_phrases: int | None = None

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise ParameterError(f"minimum count {self.min_count}: choose 1 or more")
        if not 1 <= self.max_length <= LONGEST:
            raise ParameterError(f"longest phrase {self.max_length}: choose 1 to {LONGEST} tokens")
        if self.max_phrases is not None and self.max_phrases < 1:
            raise ParameterError(f"--max-phrases {self.max_phrases}: choose 1 or more")


def sign_index(
    index: CorpusIndex,
    path: str | Path | None = None,
    recipe: Recipe | None = None,
    selection: Selection | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
    projection_path: str | Path | None = None,
    keep_parts: bool = True,
) -> Path:
    """Sign the phrases of an index into a table and return the table's folder.

    Arguments:
        path: the table's folder; kept inside the index where None.
        projection_path: a learnt projection for a recipe that wants one; where None it is
            learnt from the index first, and kept beside the index's own table.
        keep_parts: keep the real vectors of the words of which phrases were composed, so
            that phrases which are not in the table can be composed too.

    Raises:
        ArtifactError: something that is no table stands at `path`, or it is being written.
        IncompatibleError: the projection was learnt from other contexts or weights.
        ParameterError: there is too little text to learn a projection from.
    """
    recipe = recipe or Recipe()
    selection = selection or Selection()
    path = Path(path) if path is not None else signatures_inside(index.path)
    if recipe.learnt and projection_path is None:
        projection_path = learn_from_index(
            index, projection_inside(index.path), recipe, jobs=jobs, progress=progress
        )
    with storage.create(path, storage.SIGNATURES) as writer:
        space = ngram.feature_space(index, recipe.window, recipe.sides)
        model = ngram.model_manifest(recipe.window, recipe.sides)
        projection: GaussianProjection | SpectralProjection
        composer = parts = None
        if projection_path is not None:
            projection = SpectralProjection.open(projection_path)
            weights = weights_manifest(recipe.weighting, space.marginals_checksum)
            projection.require_model(model, weights)
            if recipe.composition is not None:
                parts = _part_vectors(index, space, recipe, projection, selection, jobs, progress)
            composer = Composer(projection.centre, recipe.composition, parts)
        else:
            projection = GaussianProjection(recipe.n_bits, recipe.seed)
        signer = Signer(space, recipe.weighting, projection, composer)
        rows = TableRows(projection.n_bits)
        for signed in walk_batches(index, signer.sign, recipe, selection, jobs, progress):
            rows.add(signed)
        n_rows = rows.write(writer, selection.max_phrases)
        composition = None
        if recipe.composition is not None and parts is not None:
            composition = recipe.composition.manifest() | {"parts": parts.checksum()}
            if keep_parts:
                parts.write(writer)
        writer.parameters = {
            "fingerprint": make_fingerprint(
                model,
                recipe.weighting,
                space.marginals_checksum,
                index.options.normaliser.manifest(),
                projection.manifest(),
                composition,
            ),
            "format": index.options.text_format,
            "corpus": index.parameters["corpus"],
            "min_count": selection.min_count,
            "max_length": selection.max_length,
            "max_phrases": selection.max_phrases,
            "phrases": n_rows,
            "phrases_without_context": rows.n_without_context,
        }
    return path


def projection_inside(path: str | Path) -> Path:
    """Return where an index keeps the projection that was learnt on the way to its table."""
    return Path(path) / "projection"


def learn_from_index(
    index: CorpusIndex,
    path: str | Path,
    recipe: Recipe,
    learning: Learning | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Learn a projection for a recipe from the index's frequent words; return its folder.

    Raises: as distsim.signatures.learn.learn_projection.
    """
    learning = learning or Learning()
    space = ngram.feature_space(index, recipe.window, recipe.sides)
    counts = np.sort(index.word_counts()[1:])[::-1]
    enough = int(counts[min(learning.rows, counts.size) - 1]) if counts.size else 1

    def rows_of(batch: PhraseBatch) -> WordRows:
        return WordRows(batch.hashes, batch.strengths, batch.contexts)

    selection = Selection(max(1, enough), max_length=1)
    return learn_projection(
        path,
        walk_batches(index, rows_of, recipe, selection, jobs, progress, "learning"),
        space,
        recipe.weighting,
        ngram.model_manifest(recipe.window, recipe.sides),
        weights_manifest(recipe.weighting, space.marginals_checksum),
        recipe.n_bits,
        recipe.seed,
        learning,
        jobs,
    )


def _part_vectors(
    index: CorpusIndex,
    space: FeatureSpace,
    recipe: Recipe,
    projection: SpectralProjection,
    selection: Selection,
    jobs: int | None,
    progress: Progress,
) -> PartVectors:
    """Return the vectors of the index's words, of which its phrases are then composed."""
    signer = Signer(space, recipe.weighting, projection, Composer(projection.centre))

    def vectors_of(batch: PhraseBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return batch.hashes, batch.strengths, signer.vectors(batch).astype(np.float16)

    words = Selection(selection.min_count, max_length=1)
    found = list(walk_batches(index, vectors_of, recipe, words, jobs, progress, "words"))
    if not found:
        found = [(np.empty(0, np.uint64), np.empty(0, np.uint64),
                  np.empty((0, projection.n_bits), np.float16))]  # fmt: skip
    hashes, strengths, vectors = (np.concatenate(column) for column in zip(*found, strict=True))
    composition = recipe.composition or Composition()
    return PartVectors.gather(hashes, strengths, vectors, index.n_tokens, composition)


def walk_batches(
    index: CorpusIndex,
    work: Callable[[PhraseBatch], Result],
    recipe: Recipe,
    selection: Selection,
    jobs: int | None,
    progress: Progress,
    stage: str = "signing",
) -> Iterator[Result]:
    """Yield work(batch) for the phrases of an index, in index order; chunks go in parallel."""
    window = recipe.window
    word_counts = index.word_counts()
    min_count = _lowest_count(index, selection)
    of_thread = threading.local()

    def work_chunk(words: tuple[int, int]) -> list[Result]:
        if not hasattr(of_thread, "counter"):
            of_thread.counter = ngram.NgramCounter(index.n_words, window, recipe.sides)
        chunk = phrase_walk.gather_chunk(
            index.shards, words, index.n_words, selection.max_length, window, window
        )
        done_here = []
        for length in range(1, selection.max_length + 1):
            all_lows, all_highs = chunk.runs(length, min_count)
            for begin in range(0, all_lows.size, BATCH_PHRASES):
                lows = all_lows[begin : begin + BATCH_PHRASES]
                highs = all_highs[begin : begin + BATCH_PHRASES]
                text, ends = index.render(
                    chunk.rows, lows, np.full(lows.size, length), chunk.before
                )
                batch = PhraseBatch(
                    hashes=hash_blob(text, ends),
                    text=text,
                    text_lengths=np.diff(ends),
                    strengths=(highs - lows).astype(np.uint64),
                    contexts=of_thread.counter.count_runs(chunk, lows, highs, length),
                )
                done_here.append(work(batch))
        return done_here

    done, total = 0, int(word_counts[1:].sum())
    ranges = phrase_walk.chunk_words(word_counts)
    for words, batches in zip(ranges, ordered_map(work_chunk, ranges, jobs), strict=True):
        yield from batches
        done += int(word_counts[words[0] : words[1]].sum())
        progress(stage, done, total)


def _lowest_count(index: CorpusIndex, selection: Selection) -> int:
    """Return the least count that any of the max_phrases most frequent phrases can have."""
    if selection.max_phrases is None:
        return selection.min_count
    most = int(index.word_counts()[1:].max(initial=0))
    histogram = np.zeros(most + 1, np.int64)
    for chunk in phrase_walk.walk(index.shards, index.n_words, selection.max_length):
        for length in range(1, selection.max_length + 1):
            lows, highs = chunk.runs(length, selection.min_count)
            counts = np.minimum(highs - lows, most)  # more only where the index is damaged
            histogram += np.bincount(counts, minlength=most + 1)
    at_least = np.cumsum(histogram[::-1])[::-1]
    enough = np.flatnonzero(at_least >= selection.max_phrases)
    return max(selection.min_count, int(enough[-1]) if enough.size else 0)
