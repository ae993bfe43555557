"""Items -> results, in order, computed by a few threads while the caller consumes them."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# progress(stage, done, total): called now and then while something long is at work.
Progress = Callable[[str, int, int | None], None]


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""


class Interrupted(BaseException):
    """A signal asked the program to stop; on its way up everything half-written is removed.

    Python loses an exception that a signal raises inside a callback from compiled code, so
    long work asks for it again at its own steps (`check_interrupted`).
    """


_signals: list[int] = []


def interrupt(number: int) -> None:
    """Raise Interrupted for a signal, here and at the next step of whatever is at work."""
    _signals.append(number)
    raise Interrupted(number)


def check_interrupted() -> None:
    """Raise Interrupted if a signal has asked for it and nothing has stopped yet."""
    if _signals:
        raise Interrupted(_signals[0])


def available_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def interruptible(function: Callable[[], Result]) -> Result:
    """Return function(), computed in a thread of its own, so that Ctrl-C need not wait for it.

    For one long call into compiled code: the process can end while it is still at work.
    """
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result()


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int | None = None
) -> Iterator[Result]:
    """Yield function(item) for every item, in order, at most 2 * jobs of them ahead.

    jobs: threads, all cores where None; kernels and decompression run side by side.
    """
    jobs = jobs or available_cores()
    if jobs == 1:
        for item in items:
            check_interrupted()
            yield function(item)
        return
    with ThreadPoolExecutor(jobs) as pool:
        ahead: deque[Future[Result]] = deque()
        try:
            for item in items:
                check_interrupted()
                ahead.append(pool.submit(function, item))
                if len(ahead) >= 2 * jobs:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()
