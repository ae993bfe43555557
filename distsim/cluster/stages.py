"""The stages of a run in order; runs one task of a stage and writes its report.

A stage goes over the parts or the ranges, or is one task. Parts that say something to ranges give
packets, which an engine moves: `Spread` is such a pair of tasks.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from distsim.base.arguments import one_of
from distsim.base.parallel import Progress
from distsim.cluster import finder, tasks
from distsim.cluster.job import Job
from distsim.cluster.shared_files import replacing

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


def report_path(job: Job, stage: Stage, number: int) -> Path:
    """Return the path of the report of a finished task."""
    return job.folder / "done" / f"{stage.name}-{number:06d}.json"


def is_done(job: Job, stage: Stage, number: int) -> bool:
    """Return whether a task was done, by this run or an earlier one."""
    return report_path(job, stage, number).exists()


def reports(job: Job, name: str) -> list[Tally]:
    """Return the reports of the finished tasks of a stage, in order."""
    return [
        json.loads(path.read_text())
        for path in sorted((job.folder / "done").glob(f"{name}-[0-9]*.json"))
    ]


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
        self._path = report_path(job, stage, number)
        self._tally: Tally = {}

    def __enter__(self) -> Tally:
        self._begun = time.process_time()
        return self._tally

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self._tally["cpu"] = round(time.process_time() - self._begun, 3)
            self._tally["host"] = os.uname().nodename
            with replacing(self._path) as part:
                part.write_text(json.dumps(self._tally))


def main() -> None:
    """Fork workers until Spark ends, with all modules imported.

    Spark starts `pyspark.daemon` otherwise, and each worker imports numpy and numba for itself.
    """
    from pyspark import daemon

    import distsim.cluster.stages  # noqa: F401, PLW0406 (under the name by which workers ask for it)

    daemon.manager()


if __name__ == "__main__":
    main()
