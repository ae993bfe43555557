"""Joins the tables of ranges, in order of hashes, to the table of the corpus."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from distsim import storage
from distsim.base.errors import ArtifactError
from distsim.cluster.finder import join_finder
from distsim.cluster.job import Job
from distsim.cluster.stages import reports
from distsim.contexts.sources.source import Work
from distsim.kernels.compiled import frozen
from distsim.kernels.tables import permute_texts
from distsim.signatures.composition import OwnVectors
from distsim.signatures.layout import PhraseColumns, PhraseStream, strongest_rows
from distsim.signatures.projection_store import ProjectionStore, clear_projections, only_its_own
from distsim.signatures.signing import require_rows
from distsim.storage.manifest import finder_inside

_ROWS = 1 << 16


def join(job: Job, path: Path, force: bool = False) -> None:
    """Write the table of a run at `path`, with the finder of substitutes of a learned one.

    Arguments:
        job: the run.
        path: of the table.
        force: replace what is there.

    Raises:
        ArtifactError: a range's table is missing or was made otherwise, something exists at `path`.
        ParameterError: no phrase is frequent enough.
    """
    plan = job.plan
    tables = [_RangeTable(job.path("tables", number)) for number in range(job.n_ranges)]
    fingerprint = tables[0].artifact.parameters["fingerprint"]
    for table in tables:
        if table.artifact.parameters["fingerprint"] != fingerprint:
            raise ArtifactError(
                f"{table.artifact.path}: was made otherwise than its neighbours: remove "
                f"{job.folder} and run the command again"
            )
    storage.require_free(path, force)
    with storage.create(path, storage.SIGNATURES) as writer, only_its_own(writer.folder):
        if plan.recipe.is_learned:
            learned = job.folder / "projection"
            store = ProjectionStore(writer.folder, Work(writer.folder), given=learned)
            store.projection(plan.recipe.training(job.text_of_words()))
        phrases = PhraseStream(writer)
        bits = writer.stream("bits", np.uint64, plan.recipe.n_bits // 64)
        shares = None
        if plan.recipe.composition is not None:
            shares = writer.stream("own_shares", np.uint8)
        for table, rows in zip(tables, _kept_rows(tables, plan.selection.max_phrases), strict=True):
            for first in range(0, rows.size, _ROWS):
                block = rows[first : first + _ROWS]
                phrases.append(*table.phrases_of(block))
                bits.append(table.bits[block])
                if shares is not None:
                    shares.append(table.artifact.array("own_shares", np.uint8)[block])
        if job.parts is not None:
            job.parts.write(writer)
            vectors_of_tables = [OwnVectors.read(table.artifact) for table in tables]
            own_vectors = [vectors for vectors in vectors_of_tables if vectors is not None]
            OwnVectors.joined(own_vectors, job.parts.n_dimensions).write(writer)
        parameters = dict(tables[0].artifact.parameters)
        parameters["phrases"] = len(phrases)
        parameters["phrases_without_context"] = sum(
            int(table.artifact.parameters["phrases_without_context"]) for table in tables
        )
        require_rows(parameters)
        writer.parameters = parameters
    clear_projections(path)
    if job.makes_finder:
        join_finder(job, path, reports(job, "lemmas")[0], reports(job, "finder")[0])
    else:
        storage.remove_artifact(finder_inside(path))


class _RangeTable:
    """The table of a range: all of a table but its projection and its words' vectors."""

    def __init__(self, path: Path) -> None:
        self.artifact = storage.Artifact(path, storage.SIGNATURES)
        self.columns = PhraseColumns(self.artifact)
        self.bits = self.artifact.array("bits", np.uint64, ndim=2)

    def phrases_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return hashes, strengths, texts end to end and their lengths."""
        text, edges = self.columns.text_bytes()
        texts, ends = permute_texts(frozen(text), frozen(edges), frozen(rows))
        return self.columns.hashes[rows], self.columns.strengths[rows], texts, np.diff(ends)


def _kept_rows(tables: list[_RangeTable], keep: int | None) -> list[np.ndarray]:
    """Return the rows of each table that stay, ascending: the `keep` strongest of all."""
    sizes = [len(table.columns) for table in tables]
    if keep is None or sum(sizes) <= keep:
        return [np.arange(size) for size in sizes]
    strengths = np.concatenate([table.columns.strengths for table in tables])
    texts, edges, n_bytes = [], [np.zeros(1, np.int64)], 0
    for table in tables:
        text, bounds = table.columns.text_bytes()
        texts.append(text)
        edges.append(bounds[1:] + n_bytes)
        n_bytes += int(bounds[-1])
    strongest = strongest_rows(
        np.arange(strengths.size), strengths, np.concatenate(texts), np.concatenate(edges), keep
    )
    starts = np.cumsum([0, *sizes])
    return [strongest[(strongest >= a) & (strongest < b)] - a for a, b in pairwise(starts)]
