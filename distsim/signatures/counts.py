"""N-gram count files -> signature table, the same as from an index with these counts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from distsim import storage
from distsim.contexts import ngram
from distsim.contexts.counts import CountReport, NgramCounts
from distsim.contexts.phrase_store import DEFAULT_MEMORY
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import find_sources
from distsim.corpus.tokeniser import TextFormat
from distsim.errors import ParameterError
from distsim.parallel import Progress, no_progress
from distsim.signatures.feature_store import FeatureWriter
from distsim.signatures.gaussian import GaussianProjection
from distsim.signatures.recipe import Recipe, make_fingerprint
from distsim.signatures.sign import Selection, require_additive, table_parameters
from distsim.signatures.signer import PhraseBatch, Signer
from distsim.signatures.stream import phrase_batches, write_table
from distsim.signatures.sums import keeping_sums


def sign_counts(
    files: Sequence[str | Path],
    path: str | Path,
    recipe: Recipe | None = None,
    selection: Selection | None = None,
    normaliser: Normaliser | None = None,
    text_format: TextFormat = "lines",
    memory_bytes: int = DEFAULT_MEMORY,
    keep_sums: bool = False,
    jobs: int | None = None,
    progress: Progress = no_progress,
    keep_features: bool = False,
) -> CountReport:
    """Sign the phrases of n-gram count files into the table `path`; return what was read.

    Arguments:
        files: of lines `w1 .. wn<TAB>count`, in any order; folders, packed files and `-` too.
        normaliser: every word passes it, and so will the phrases that are looked up.
        text_format: how the counted text was cut into words, and so how phrases that are
            looked up are cut.
        memory_bytes: for phrases and contexts, less makes more use of the disk; the words
            and the table come on top.
        keep_sums: keep the sums of all phrases, so that the table can be merged.
        keep_features: keep all weighted features, 12 bytes each, for exact cosines.

    Raises:
        InputError: a line is malformed (file and line are named), a file cannot be read, or
            a word whose corpus count the weights need has no line of its own.
        ParameterError: the window is not 1, or sums are to be kept that do not add up.
        ArtifactError: something that is no table stands at `path`, or it is being written.
    """
    recipe = recipe or Recipe()
    selection = selection or Selection()
    normaliser = normaliser or Normaliser()
    if recipe.learnt or recipe.sides:
        raise ParameterError(
            "a learnt projection or features by sides with count files: they tell of the words "
            "right beside a phrase only: use --preset thesis, or sign an index"
        )
    if recipe.window != 1:
        raise ParameterError(
            f"window {recipe.window} with count files: they tell of the words right beside a "
            "phrase only: use --window 1, or sign an index"
        )
    if keep_sums:
        require_additive(recipe, selection.max_phrases)
    sources = find_sources(files)
    with storage.create(path, storage.SIGNATURES) as writer:
        counts = NgramCounts(selection.max_length, normaliser, writer.folder, memory_bytes)
        try:
            counts.read(sources, jobs, progress)
            space = counts.space()
            projection = GaussianProjection(recipe.n_bits, recipe.seed)
            signer = Signer(space, recipe.weighting, projection)
            min_count = 1 if keep_sums else _lowest_count(counts, selection)
            batches = _batches(counts, min_count, recipe.weighting.uses_marginals)
            if keep_sums:
                offsets = projection.offsets(space.hashes)
                batches = keeping_sums(batches, writer, offsets, selection.min_count)
            n_rows, n_without_context = write_table(
                writer, batches, signer, recipe.n_bits, selection.max_phrases, jobs,
                FeatureWriter(writer) if keep_features else None,
            )  # fmt: skip
        finally:
            counts.close()
        fingerprint = make_fingerprint(
            ngram.model_manifest(recipe.window),
            recipe.weighting,
            space.marginals_checksum,
            normaliser.manifest(),
            projection.manifest(),
        )
        writer.parameters = table_parameters(
            fingerprint, text_format, space.marginals_checksum, selection, n_rows,
            n_without_context,
        )  # fmt: skip
        if keep_sums:
            writer.parameters["sums"] = {
                "tokens": counts.n_tokens, "sentences": counts.n_sentences,
            }  # fmt: skip
    return counts.report


def _batches(counts: NgramCounts, min_count: int, needs_margins: bool) -> Iterator[PhraseBatch]:
    for block in counts.blocks(min_count):
        if needs_margins:
            counts.require_margins(block)
        yield from phrase_batches(block, counts.text, counts.offsets)


def _lowest_count(counts: NgramCounts, selection: Selection) -> int:
    """Return the least count that any of the max_phrases most frequent phrases can have."""
    if selection.max_phrases is None:
        return selection.min_count
    strengths = np.concatenate(
        [np.empty(0, np.uint64)]
        + [block[block >= selection.min_count] for block in counts.strengths()]
    )
    place = strengths.size - selection.max_phrases
    if place <= 0:
        return selection.min_count
    return int(np.partition(strengths, place)[place])
