"""The stages of a run in order; runs one task of a stage and writes its report.

A stage goes over the parts or the ranges, or is one task. Parts that say something to ranges give
packets, which an engine moves: `Spread` is such a pair of tasks.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from distsim import storage
from distsim.base.arguments import one_of
from distsim.base.errors import ArtifactError
from distsim.base.parallel import Progress
from distsim.cluster import finder, tasks
from distsim.cluster.finder import join_finder
from distsim.cluster.job import Job
from distsim.contexts.sources.source import Work
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import permute_texts
from distsim.signatures.composition import OwnVectors
from distsim.signatures.layout import PhraseColumns, StreamedRows, strongest_rows
from distsim.signatures.signing import require_rows
from distsim.signatures.stores import ProjectionStore, clear_projections, only_its_own
from distsim.storage.manifest import finder_inside
from distsim.storage.resumption import FinishedTasks

Over = Literal["parts", "ranges", "one"]
Tally = dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """A stage of a run.

    Attributes:
        name: on the command line and in the run's folder.
        over: what its tasks are numbered by.
        run: the task: (job, part, tally) -> packets where it gives packets; (job, range, packets,
            tally) where it takes some; else (job, range, tally), or (job, tally) where there is
            one.
        gives: its tasks give packets.
        takes: the stage whose packets they take.
        gathers: the stage whose reports it reads; then run is (job, reports, tally).
    """

    name: str
    over: Over
    run: Callable[..., Any]
    gives: bool = False
    takes: str | None = None
    gathers: str | None = None

    def n_tasks(self, job: Job) -> int:
        """Return the number of its tasks."""
        return {"parts": job.n_parts, "ranges": job.n_ranges, "one": 1}[self.over]


def stages(job: Job) -> list[Stage]:
    """Return the stages of a run but the last, which joins, in order."""
    stages_of_job = []
    if job.drops_lines:
        stages_of_job += [
            Stage("lines", "parts", tasks.lines_of_part, gives=True),
            Stage("sum-lines", "ranges", tasks.drop_repeated, takes="lines"),
        ]
    stages_of_job += [
        Stage("count", "parts", tasks.count_part, gives=True),
        Stage("sum-counts", "ranges", tasks.sum_counts, takes="count"),
        Stage("words", "one", tasks.gather_words, gathers="count"),
    ]
    if job.shuffles_words:
        stages_of_job += [
            Stage("count-words", "parts", tasks.word_contexts, gives=True),
            Stage("sum-words", "ranges", tasks.sum_word_contexts, takes="count-words"),
            Stage("learn", "one", tasks.learn_projection),
        ]
        if job.plan.recipe.composition is not None:
            stages_of_job += [
                Stage("vectors", "ranges", tasks.vectors_of_words),
                Stage("parts", "one", tasks.gather_parts),
            ]
    if job.makes_finder:
        stages_of_job += [
            Stage("lemmas", "one", finder.choose_lemmas),
            Stage("count-frames", "parts", finder.frames_of_part, gives=True),
            Stage("sum-frames", "ranges", finder.sum_frames, takes="count-frames"),
            Stage("frames", "one", finder.choose_frames),
            Stage("count-profiles", "parts", finder.profiles_of_part, gives=True),
            Stage("sum-profiles", "ranges", finder.sum_profiles, takes="count-profiles"),
            Stage("finder", "one", finder.weigh_profiles, gathers="count-profiles"),
        ]
    return [
        *stages_of_job,
        Stage("contexts", "parts", tasks.contexts, gives=True),
        Stage("sign", "ranges", tasks.sign_range, takes="contexts"),
    ]


def find_stage(job: Job, name: str) -> Stage:
    """Return the stage of this name.

    Raises:
        ParameterError: there is none.
    """
    known = {stage.name: stage for stage in stages(job)}
    one_of(name, known, "no stage")
    return known[name]


def is_done(job: Job, stage: Stage, number: int) -> bool:
    """Return whether a task was done, by this run or an earlier one."""
    return FinishedTasks(job.folder).has(stage.name, number)


def reports(job: Job, name: str) -> list[Tally]:
    """Return the reports of the finished tasks of a stage, in order."""
    return FinishedTasks(job.folder).reports(name)


def giving(job: Job, stage: Stage, number: int) -> Iterator[tuple[int, bytes]]:
    """Run a task that gives packets; yield (range, packet)."""
    with _reported(job, stage, number) as tally:
        tally["packets"] = tally["bytes"] = 0
        for key, packet in stage.run(job, number, tally):
            tally["packets"] += 1
            tally["bytes"] += len(packet)
            yield key, packet


def run_task(
    job: Job,
    stage: Stage,
    number: int,
    packets: Iterable[bytes] = (),
    progress: Progress | None = None,
) -> None:
    """Run a task that gives no packets.

    progress: for a stage that reports its own.
    """
    with _reported(job, stage, number) as tally:
        if stage.takes is not None:
            stage.run(job, number, packets, tally)
        elif stage.gathers is not None:
            stage.run(job, reports(job, stage.gathers), tally)
        elif stage.over == "one":
            stage.run(job, tally, **({} if progress is None else {"progress": progress}))
        else:
            stage.run(job, number, tally)


class _reported:  # noqa: N801 (a context manager)
    """Measures the CPU time of a task and writes its report if it succeeds."""

    def __init__(self, job: Job, stage: Stage, number: int) -> None:
        self._note = partial(FinishedTasks(job.folder).note, stage.name, number)
        self._tally: Tally = {}

    def __enter__(self) -> Tally:
        self._begun = time.process_time()
        return self._tally

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self._tally["cpu"] = round(time.process_time() - self._begun, 3)
            self._tally["host"] = os.uname().nodename
            self._note(self._tally)


def main() -> None:
    """Fork workers until Spark ends, with all modules imported.

    Spark starts `pyspark.daemon` otherwise, and each worker imports numpy and numba for itself.
    """
    from pyspark import daemon

    import distsim.cluster.stages  # noqa: F401, PLW0406 (under the name by which workers ask for it)

    daemon.manager()


if __name__ == "__main__":
    main()


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
            store = ProjectionStore(writer.folder, Work(writer.folder), path=learned)
            store.projection(plan.recipe.training(job.text_of_words()))
        composed = plan.recipe.composition is not None
        written = StreamedRows(writer, plan.recipe.n_bits, composed)
        for table, rows in zip(tables, _kept_rows(tables, plan.selection.max_phrases), strict=True):
            for first in range(0, rows.size, _ROWS):
                block = rows[first : first + _ROWS]
                shares = table.shares[block] if composed else None
                written.append(*table.phrases_of(block), bits=table.bits[block], shares=shares)
        if job.parts is not None:
            job.parts.write(writer)
            vectors_of_tables = [OwnVectors.read(table.artifact) for table in tables]
            own_vectors = [vectors for vectors in vectors_of_tables if vectors is not None]
            OwnVectors.joined(own_vectors, job.parts.n_dimensions).write(writer)
        parameters = dict(tables[0].artifact.parameters)
        parameters["phrases"] = written.finish()
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

    @cached_property
    def shares(self) -> np.ndarray:
        """Shares of own contexts, uint8, of a table whose phrases are composed."""
        return self.artifact.array("own_shares", np.uint8)

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
