"""Parallel work: results in order, computed by a few workers while the caller consumes them."""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from distsim.base.errors import DistsimError, check_interrupted

if TYPE_CHECKING:
    from joblib import Parallel
else:
    Parallel = object  # joblib takes .1 s to import, and few commands need it: `_ahead`

_POLL_SECONDS = 1.0  # only where a worker has died


class _Abandoned(Exception):  # noqa: N818 (nobody sees it)
    """Thrown into joblib's generator where the other results are not needed."""


class Ahead(Parallel):  # type: ignore[misc]  # joblib has no types
    """Workers that compute at most 2 * jobs items ahead of the consumer of their results.

    Made by the class that `_ahead` returns, which is one of joblib's, too.

    Arguments:
        jobs: how many, from 2.
        where: joblib's `prefer` or `require`.
    """

    def __init__(self, jobs: int, **where: str) -> None:
        # joblib takes items by n_jobs at a time and hands out one: 2 * jobs together.
        super().__init__(
            jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs + 1, **where
        )
        self._ended = threading.Semaphore(0)
        self._taken = 0
        self._exhausted = False
        self._failure: Exception | None = None

    def dispatch_next(self) -> None:
        """Submit nothing when a task ends."""

    def print_progress(self) -> None:
        """Count the end of a task; joblib calls this for each."""
        self._ended.release()

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield function(item) for every item, in order; items are taken in this thread.

        What an item or its computation raises comes out after all results before it; an
        interrupt at once.

        Arguments:
            function: computes the result of one item.
            items: are read in the caller's thread.
        """
        tasks = self._tasks(function, items)
        outputs = self(tasks)
        ready: dict[int, tuple[Any, BaseException | None]] = {}
        try:
            for number in count():
                while number not in ready:
                    if self._exhausted and number == self._taken:
                        super().dispatch_next()  # so that joblib notes the end
                        next(outputs, None)
                        if self._failure is not None:
                            raise self._failure
                        return
                    self._ended.acquire(timeout=_POLL_SECONDS)
                    ended, *outcome = next(outputs)
                    ready[ended] = outcome
                result, error = ready.pop(number)
                if error is not None:
                    raise error
                self.dispatch_one_batch(tasks)
                yield result
                del result
        finally:  # no word about results that nobody took, as closing would have it
            with suppress(_Abandoned):
                outputs.throw(_Abandoned)

    def _tasks(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        from joblib import delayed

        task = delayed(_attempt)
        try:
            for item in items:
                self._taken += 1
                yield task(function, self._taken - 1, item)
        except Exception as error:
            self._failure = error
        self._exhausted = True


@cache
def _ahead() -> type[Ahead]:
    """Return Ahead as a class of joblib's."""
    from joblib import Parallel as OfJoblib

    return type("AheadOfJoblib", (Ahead, OfJoblib), {})


def _attempt(
    function: Callable[[Any], Any], number: int, item: Any
) -> tuple[int, Any, BaseException | None]:
    """Return (number, function(item), what it raised)."""
    try:
        return number, function(item), None
    except BaseException as error:
        return number, None, error


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
    if workers != "processes" and isinstance(items, Sized) and len(items) < 2:
        jobs = 1  # one item needs neither threads nor what makes them
    jobs = jobs or _configured_jobs() or available_cores()
    if jobs > 1:
        import joblib

        jobs = joblib.effective_n_jobs(jobs)  # one inside a worker
    if jobs == 1:
        yield from map(function, _checked(items))
        return

    try:
        yield from _ahead()(jobs, **_WORKERS[workers]).map(function, _checked(items))
    except BrokenExecutor:
        raise DistsimError(
            "a worker process was ended, probably for want of memory: choose fewer jobs"
        ) from None


def _configured_jobs() -> int | None:
    """Return the number of jobs set by `joblib.parallel_config`, None where none is set."""
    joblib = sys.modules.get("joblib")  # what is not imported is not configured
    jobs = 1 if joblib is None else joblib.effective_n_jobs(None)
    return None if jobs == 1 else jobs


def _checked(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        check_interrupted()
        yield item
