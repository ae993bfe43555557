"""Workers that compute ahead of the consumer of their results, by joblib.

Their queue is bounded: a task is submitted when a result is taken. joblib itself hands one out when
a task ends, so that all results wait in memory for a slow consumer; and it looks for tasks that
have ended a hundred times a second.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

from joblib import Parallel, delayed

_POLL_SECONDS = 1.0  # only where a worker has died


class _Abandoned(Exception):  # noqa: N818 (nobody sees it)
    """Thrown into joblib's generator where the other results are not needed."""


class Ahead(Parallel):  # type: ignore[misc]  # joblib has no types
    """Workers that compute at most 2 * jobs items ahead of the consumer of their results.

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
        task = delayed(_attempt)
        try:
            for item in items:
                self._taken += 1
                yield task(function, self._taken - 1, item)
        except Exception as error:
            self._failure = error
        self._exhausted = True


def _attempt(
    function: Callable[[Any], Any], number: int, item: Any
) -> tuple[int, Any, BaseException | None]:
    """Return (number, function(item), what it raised)."""
    try:
        return number, function(item), None
    except BaseException as error:
        return number, None, error
