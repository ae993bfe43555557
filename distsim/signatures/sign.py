"""Index -> signature table: every frequent phrase's contexts, weighed, projected, cut to bits."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from distsim import storage
from distsim.contexts import ngram
from distsim.contexts.features import FeatureSpace
from distsim.contexts.phrase_store import DEFAULT_MEMORY, PhraseStore
from distsim.contexts.weights import Weigher
from distsim.corpus.vocabulary import hash_blob
from distsim.errors import ParameterError
from distsim.indexes import phrase_walk
from distsim.indexes.corpus_index import CorpusIndex, signatures_inside
from distsim.parallel import Progress, no_progress, ordered_map
from distsim.signatures.composition import Composer, Composition, PartVectors
from distsim.signatures.gaussian import GaussianProjection
from distsim.signatures.learn import Learning, WordRows, learn_projection, most_frequent
from distsim.signatures.recipe import Recipe, make_fingerprint, weights_manifest
from distsim.signatures.rows import TableRows
from distsim.signatures.signer import BATCH_PHRASES, PhraseBatch, Signer
from distsim.signatures.spectral import SpectralProjection
from distsim.signatures.stream import phrase_batches, write_table
from distsim.signatures.sums import keeping_sums

LONGEST = 8
_TEACHING_COUNT = 5
_ALWAYS_TEACHING = 1000
T = TypeVar("T")


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


def require_additive(recipe: Recipe, max_phrases: int | None) -> None:
    """Refuse to keep sums where those of two halves do not make those of the whole.

    Raises:
        ParameterError: the weights are not raw counts, or only the most frequent are kept.
    """
    if recipe.learnt:
        raise ParameterError(
            "--keep-sums with a learnt projection: another corpus has learnt another one, so such "
            "tables cannot be merged: use --preset thesis"
        )
    scheme = recipe.weighting.scheme
    if scheme != "raw":
        raise ParameterError(
            f"--keep-sums with --weights {scheme}: the {scheme} weights of a whole are not the sum "
            "of its parts' weights, so such tables cannot be merged: use --weights raw, or sign "
            "the whole corpus at once"
        )
    if max_phrases is not None:
        raise ParameterError(
            "--keep-sums with --max-phrases: the most frequent phrases of a part are not those of "
            "the whole: use --min-count"
        )


def table_parameters(
    fingerprint: dict[str, Any],
    text_format: str,
    corpus: str,
    selection: Selection,
    n_rows: int,
    n_without_context: int,
) -> dict[str, Any]:
    """Return what the manifest of a table keeps."""
    return {
        "fingerprint": fingerprint,
        "format": text_format,
        "corpus": corpus,
        "min_count": selection.min_count,
        "max_length": selection.max_length,
        "max_phrases": selection.max_phrases,
        "phrases": n_rows,
        "phrases_without_context": n_without_context,
    }


def sign_index(
    index: CorpusIndex,
    path: str | Path | None = None,
    recipe: Recipe | None = None,
    selection: Selection | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
    keep_sums: bool = False,
    memory_bytes: int = DEFAULT_MEMORY,
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
        keep_sums: keep the sums of all phrases, however rare, so that the table can be merged.
        memory_bytes: for putting these in order; less takes longer.

    Raises:
        ArtifactError: something that is no table stands at `path`, or it is being written.
        IncompatibleError: the projection was learnt from other contexts or weights.
        ParameterError: sums are to be kept and do not add up to those of a whole, or there is
            too little text to learn a projection from.
    """
    recipe = recipe or Recipe()
    selection = selection or Selection()
    if keep_sums:
        require_additive(recipe, selection.max_phrases)
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
        if keep_sums:
            batches = _sorted_batches(
                index, recipe, selection.max_length, writer.folder, memory_bytes, jobs,
                progress,
            )  # fmt: skip
            frequent = keeping_sums(
                batches, writer, projection.offsets(space.hashes), selection.min_count
            )
            n_rows, n_without_context = write_table(
                writer, frequent, signer, projection.n_bits, None, jobs
            )
        else:
            min_count = _lowest_count(index, selection)
            rows = TableRows(projection.n_bits)
            for signed in _from_batches(
                index, recipe, min_count, selection.max_length, jobs, progress,
                lambda batch, words: signer.sign(batch),
            ):  # fmt: skip
                rows.add(signed)
            n_rows = rows.write(writer, selection.max_phrases)
            n_without_context = rows.n_without_context
        composition = None
        if recipe.composition is not None and parts is not None:
            composition = recipe.composition.manifest() | {"parts": parts.checksum()}
            if keep_parts:
                parts.write(writer)
        fingerprint = make_fingerprint(
            model,
            recipe.weighting,
            space.marginals_checksum,
            index.options.normaliser.manifest(),
            projection.manifest(),
            composition,
        )
        writer.parameters = table_parameters(
            fingerprint, index.options.text_format, index.parameters["corpus"], selection,
            n_rows, n_without_context,
        )  # fmt: skip
        if keep_sums:
            counts = index.parameters["counts"]
            writer.parameters["sums"] = {
                "tokens": counts["tokens"], "sentences": counts["sentences"],
            }  # fmt: skip
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

    Words seen fewer than five times teach nothing but cost as much as the others: unless there
    are too few others, they are neither rows nor features.

    Raises: as distsim.signatures.learn.learn_projection.
    """
    space = ngram.feature_space(index, recipe.window, recipe.sides)
    counts = np.sort(index.word_counts()[1:])[::-1]
    frequent = max(int((counts >= _TEACHING_COUNT).sum()), _ALWAYS_TEACHING)
    learning = learning or Learning()
    learning = replace(
        learning,
        rows=min(learning.rows, frequent),
        features=min(learning.features, frequent * len(space.family_names)),
    )
    enough = int(counts[min(learning.rows, counts.size) - 1]) if counts.size else 1

    features = most_frequent(space.hashes, space.marginals, learning.features)
    column = np.full(space.hashes.size, -1, np.int32)
    column[features] = np.arange(features.size, dtype=np.int32)
    weigher = Weigher(space, recipe.weighting)

    def rows_of(batch: PhraseBatch, words: np.ndarray) -> WordRows:
        contexts = batch.contexts
        weights = weigher.weigh(contexts)
        columns = column[contexts.features]
        return WordRows(batch.hashes, batch.strengths, contexts.starts, columns, weights)

    return learn_projection(
        path,
        _from_batches(index, recipe, max(1, enough), 1, jobs, progress, rows_of, "learning"),
        space.hashes[features],
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

    def vectors_of(
        batch: PhraseBatch, words: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return batch.hashes, batch.strengths, signer.vectors(batch).astype(np.float16)

    found = list(
        _from_batches(index, recipe, selection.min_count, 1, jobs, progress, vectors_of, "words")
    )
    if not found:
        found = [(np.empty(0, np.uint64), np.empty(0, np.uint64),
                  np.empty((0, projection.n_bits), np.float16))]  # fmt: skip
    hashes, strengths, vectors = (np.concatenate(column) for column in zip(*found, strict=True))
    composition = recipe.composition or Composition()
    return PartVectors.gather(hashes, strengths, vectors, index.n_tokens, composition)


def _from_batches(
    index: CorpusIndex,
    recipe: Recipe,
    min_count: int,
    max_length: int,
    jobs: int | None,
    progress: Progress,
    finish: Callable[[PhraseBatch, np.ndarray], T],
    stage: str = "signing",
) -> Iterator[T]:
    """Yield finish(batch, words) for all phrases of an index, in index order.

    words: uint32[n, length], the ids of the phrases' words; all phrases of a batch have one
    length. Chunks are counted and finished in parallel.
    """
    window = recipe.window
    word_counts = index.word_counts()
    of_thread = threading.local()

    def count_chunk(first_words: tuple[int, int]) -> list[T]:
        if not hasattr(of_thread, "counter"):
            of_thread.counter = ngram.NgramCounter(index.n_words, window, recipe.sides)
        chunk = phrase_walk.gather_chunk(
            index.shards, first_words, index.n_words, max_length, window, window
        )
        finished = []
        for length in range(1, max_length + 1):
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
                words = chunk.rows[lows, chunk.before : chunk.before + length]
                finished.append(finish(batch, words))
        return finished

    done, total = 0, int(word_counts[1:].sum())
    ranges = phrase_walk.chunk_words(word_counts)
    for words, results in zip(ranges, ordered_map(count_chunk, ranges, jobs), strict=True):
        yield from results
        done += int(word_counts[words[0] : words[1]].sum())
        progress(stage, done, total)


def _sorted_batches(
    index: CorpusIndex,
    recipe: Recipe,
    max_length: int,
    folder: Path,
    memory_bytes: int,
    jobs: int | None,
    progress: Progress,
) -> Iterator[PhraseBatch]:
    """Yield all phrases of an index, however rare, in ascending order of their hashes."""
    store = PhraseStore(max_length, folder, memory_bytes)
    try:
        for batch, words in _from_batches(
            index, recipe, 1, max_length, jobs, progress, lambda batch, words: (batch, words)
        ):
            n, length = words.shape
            store.add_phrases(
                batch.hashes, words.reshape(-1), np.arange(n) * length, np.full(n, length),
                batch.strengths,
            )  # fmt: skip
            store.add_contexts(
                np.repeat(batch.hashes, np.diff(batch.contexts.starts)),
                batch.contexts.features,
                batch.contexts.counts,
            )
        for block in store.blocks():
            yield from phrase_batches(block, index.vocabulary.text, index.vocabulary.offsets)
    finally:
        store.close()


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
