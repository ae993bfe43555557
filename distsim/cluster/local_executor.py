"""Local executor: runs tasks without Spark; packets go through files of the shared folder.

For a scheduler that runs one command a task, such as Slurm, and for one machine.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from distsim.base.errors import ArtifactError, ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.cluster.job import Job, open_job
from distsim.cluster.join import join
from distsim.cluster.plan import Plan, write_plan
from distsim.cluster.shuffle_blocks import PacketsByRange
from distsim.cluster.stages import Stage, find_stage, giving, is_done, run_task, stages


def run_alone_task(job: Job, name: str, number: int) -> None:
    """Run one task of a stage, unless it is done.

    Raises:
        ParameterError: there is no such stage or task.
    """
    stage = find_stage(job, name)
    if not 0 <= number < stage.n_tasks(job):
        raise ParameterError(
            f"task {number} of the stage {name}: it has {stage.n_tasks(job)}, counted from 0"
        )
    if _is_done(job, stage, number):
        return
    if stage.gives:
        PacketsByRange.write(
            _packet_file(job, stage.name, number), giving(job, stage, number), job.n_ranges
        )
        return
    packets: Iterator[bytes] = iter(())
    if stage.takes is not None:
        packets = chain.from_iterable(
            PacketsByRange.read(_packet_file(job, stage.takes, part), number)
            for part in range(job.n_parts)
        )
    run_task(job, stage, number, packets)


def require_all_done(job: Job) -> None:
    """Raise ArtifactError if a task is not done.

    Raises:
        ArtifactError: a task is not done; the first is named.
    """
    for stage in stages(job):
        for number in range(stage.n_tasks(job)):
            if not _is_done(job, stage, number):
                raise ArtifactError(
                    f"{job.folder}: task {number} of the stage {stage.name} is not done: run "
                    f"distsim cluster task {job.folder} {stage.name} {number}"
                )


def run_alone(
    plan: Plan, path: Path, shared: Path, *, force: bool = False, progress: Progress = no_progress
) -> Path:
    """Run all stages of a plan, one task after the other; return the run's folder.

    Arguments:
        force: replace what is at `path`.
        progress: called with (stage, done, total).
    """
    folder = write_plan(plan, shared)
    job = open_job(folder)
    for stage in stages(job):
        n_tasks = stage.n_tasks(job)
        for number in range(n_tasks):
            run_alone_task(job, stage.name, number)
            progress(stage.name, number + 1, n_tasks)
    join(job, path, force)
    return folder


def _is_done(job: Job, stage: Stage, number: int) -> bool:
    """Return whether a task was done; its report is written before its packets are in place."""
    return is_done(job, stage, number) and (
        not stage.gives or _packet_file(job, stage.name, number).exists()
    )


def _packet_file(job: Job, stage: str, part: int) -> Path:
    return job.path(f"{stage}-packets", part)
