"""Parallel map: results in order, computed by a few workers while the caller consumes them; memory.

The workers are joblib's, and imported with the first results that several compute.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from distsim.base.errors import DistsimError, check_interrupted

_UNKNOWN = 4 << 30
_CGROUP = Path("/sys/fs/cgroup")
_limit: int | None = None


def set_memory_limit(n_bytes: int) -> None:
    """Have `memory_to_use` return this in place of half of the memory that is free."""
    global _limit  # noqa: PLW0603 (a setting of the process)
    _limit = n_bytes


def memory_limit() -> int | None:
    """Return the limit that was set, in bytes; None where none was."""
    return _limit


def memory_to_use() -> int:
    """Return the limit of `set_memory_limit`, without one half of the memory that is free; bytes.

    2 GB where the system does not tell what is free. Within a container that is limited by a
    cgroup (version 2), half of what its limit leaves.
    """
    if _limit is not None:
        return _limit
    free = _UNKNOWN
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = 1024 * next(
            int(line.split()[1]) for line in lines if line.startswith("MemAvailable")
        )
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        free = min(free, max(0, limit - used))
    return free // 2


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of mallopt(3)
_ALWAYS = 2**31 - 1


def keep_freed() -> None:
    """Keep freed memory in the process, for commands that make many large arrays one after another.

    The system clears every page that it hands out, which took a tenth of the time of signing.
    """
    _set_malloc_options((_MMAP_THRESHOLD, 1 << 30), (_TRIM_THRESHOLD, _ALWAYS))


def give_back_freed() -> None:
    """Return large freed blocks to the system at once, for a server, which runs long.

    It would keep up to 32 MB of every thread's for the next that asks.
    """
    _set_malloc_options((_MMAP_THRESHOLD, 1 << 20), (_ARENA_MAX, 1))


def trim() -> None:
    """Return the free pages between blocks in use to the system, too."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _set_malloc_options(*settings: tuple[int, int]) -> None:
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for name, value in settings:
            library.mallopt(name, value)


Item = TypeVar("Item")
TaskResult = TypeVar("TaskResult")

# progress(stage, done, total): called now and then while something long is at work.
Progress = Callable[[str, int, int | None], None]


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Report nothing.

    Arguments:
        done, total: units of it; total None where not known.
    """


class Run(NamedTuple):
    """Resources of a run, and who is told of its progress.

    Attributes:
        jobs: threads, all cores where None; results do not depend on it.
        memory: working memory in bytes; None: what the step takes by itself.
        progress: called with (stage, units done, their total or None).
    """

    jobs: int | None = None
    memory: int | None = None
    progress: Progress = no_progress


def available_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def interruptible(function: Callable[[], TaskResult]) -> TaskResult:
    """Return function(), computed in a separate thread, so that Ctrl-C need not wait for it.

    For one long call into compiled code: the process can end while it is still running.
    """
    outcome: Future[TaskResult] = Future()

    def run() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result()


# Where a function may be computed. here: in threads of this process, since it shares memory with
# its caller; anywhere: it is pure and pickles, so threads will do and other workers may be
# configured; processes: likewise, but threads would be in each other's way.
Workers = Literal["here", "anywhere", "processes"]
_WORKERS: dict[Workers, dict[str, str]] = {
    "here": {"require": "sharedmem"},
    "anywhere": {"prefer": "threads"},
    "processes": {"prefer": "processes"},
}


def ordered_map(
    function: Callable[[Item], TaskResult],
    items: Iterable[Item],
    jobs: int | None = None,
    workers: Workers = "here",
) -> Iterator[TaskResult]:
    """Yield function(item) for every item, in order, at most 2 * jobs of them ahead.

    Items are taken in the caller's thread. An error of the function or of the items comes out
    where it belongs, after all results before it.

    jobs: workers; where None as many as `joblib.parallel_config` says, or else all cores.
    Kernels and decompression run side by side in threads.

    Arguments:
        function: computes the result of one item.
        items: are read in the caller's thread.
        workers: where the function may be computed: `here` in threads of this process, `anywhere`,
            or `processes`.

    Raises:
        DistsimError: a worker process was ended from outside.
    """
    jobs = jobs or _configured_jobs() or available_cores()
    items = _checked(items)
    if jobs > 1 and workers != "processes":  # one item needs neither threads nor what makes them
        first_items, error = _first_two(items)
        if len(first_items) < 2:
            yield from map(function, first_items)
            if error is not None:
                raise error
            return
        items = chain(first_items, items)
        del first_items  # the workers alone keep them
    if jobs > 1:
        import joblib

        jobs = joblib.effective_n_jobs(jobs)  # one inside a worker
    if jobs == 1:
        yield from map(function, items)
        return

    from distsim.base.workers import Ahead

    try:
        yield from Ahead(jobs, **_WORKERS[workers]).map(function, items)
    except BrokenExecutor:
        raise DistsimError(
            "a worker process was ended, probably for want of memory: choose fewer jobs"
        ) from None


def _first_two(items: Iterator[Item]) -> tuple[list[Item], Exception | None]:
    """Return the first two items, or less where there are no more, and what taking them raised."""
    taken: list[Item] = []
    try:
        taken.extend(item for _, item in zip(range(2), items, strict=False))
    except Exception as error:
        return taken, error
    return taken, None


def _configured_jobs() -> int | None:
    """Return the number of jobs set by `joblib.parallel_config`, None where none is set."""
    joblib = sys.modules.get("joblib")  # what is not imported is not configured
    jobs = 1 if joblib is None else joblib.effective_n_jobs(None)
    return None if jobs == 1 else jobs


def _checked(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        check_interrupted()
        yield item
