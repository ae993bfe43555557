"""Index -> signature table: every frequent phrase's contexts, weighed, projected, cut to bits."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from distsim import storage
from distsim.contexts import ngram
from distsim.corpus.vocabulary import hash_blob
from distsim.errors import ParameterError
from distsim.indexes import phrase_walk
from distsim.indexes.corpus_index import CorpusIndex, signatures_inside
from distsim.parallel import Progress, no_progress, ordered_map
from distsim.signatures.gaussian import GaussianProjection
from distsim.signatures.recipe import Recipe, make_fingerprint
from distsim.signatures.rows import TableRows
from distsim.signatures.signer import BATCH_PHRASES, PhraseBatch, SignedBatch, Signer

LONGEST = 8


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
) -> Path:
    """Sign the phrases of an index into a table and return the table's folder.

    Arguments:
        path: the table's folder; kept inside the index where None.

    Raises:
        ArtifactError: something that is no table stands at `path`, or it is being written.
    """
    recipe = recipe or Recipe()
    selection = selection or Selection()
    path = Path(path) if path is not None else signatures_inside(index.path)
    with storage.create(path, storage.SIGNATURES) as writer:
        space = ngram.feature_space(index, recipe.window)
        projection = GaussianProjection(recipe.n_bits, recipe.seed)
        signer = Signer(space, recipe.weighting, projection)
        rows = TableRows(recipe.n_bits)
        for signed in _signed_batches(index, signer, recipe.window, selection, jobs, progress):
            rows.add(signed)
        n_rows = rows.write(writer, selection.max_phrases)
        writer.parameters = {
            "fingerprint": make_fingerprint(
                ngram.model_manifest(recipe.window),
                recipe.weighting,
                space.marginals_checksum,
                index.options.normaliser.manifest(),
                projection.manifest(),
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


def _signed_batches(
    index: CorpusIndex,
    signer: Signer,
    window: int,
    selection: Selection,
    jobs: int | None,
    progress: Progress,
) -> Iterator[SignedBatch]:
    """Yield the signed phrases of an index, in index order; chunks are signed in parallel."""
    word_counts = index.word_counts()
    min_count = _lowest_count(index, selection)
    of_thread = threading.local()

    def sign_chunk(words: tuple[int, int]) -> list[SignedBatch]:
        if not hasattr(of_thread, "counter"):
            of_thread.counter = ngram.NgramCounter(index.n_words, window)
        chunk = phrase_walk.gather_chunk(
            index.shards, words, index.n_words, selection.max_length, window, window
        )
        signed = []
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
                signed.append(signer.sign(batch))
        return signed

    done, total = 0, int(word_counts[1:].sum())
    ranges = phrase_walk.chunk_words(word_counts)
    for words, batches in zip(ranges, ordered_map(sign_chunk, ranges, jobs), strict=True):
        yield from batches
        done += int(word_counts[words[0] : words[1]].sum())
        progress("signing", done, total)


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
