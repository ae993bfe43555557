"""Worker queues: threads that answer questions outside the event loop, with limits."""

import asyncio
import math
import queue
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class QuestionLimits:
    """Limits of a question.

    Arguments:
        phrase_characters, sentence_characters, text_characters: of what is typed.
        sentences, sentence_words: of a text that is rewritten.
        rows: of an answer. phrases: of a question about many.
        shown_characters: longer words are cut when they are shown, and end in `…`.
        sorted_occurrences: a concordance puts so many in order, evenly spaced ones of more.
        exported_lines: of a concordance that is exported whole; rows that may be skipped.
        quick_seconds, slow_seconds: for an answer; slow are paraphrases and substitutes.
        waiting: questions that wait for a thread; more are refused until some are done.
        exports: of whole concordances at the same time.
    """

    phrase_characters: int = 300
    sentence_characters: int = 2_000
    text_characters: int = 5_000
    sentences: int = 50
    sentence_words: int = 100
    rows: int = 1_000
    phrases: int = 100
    shown_characters: int = 300
    sorted_occurrences: int = 20_000
    exported_lines: int = 1_000_000
    quick_seconds: float = 20.0
    slow_seconds: float = 120.0
    waiting: int = 100
    exports: int = 4

    def as_numbers(self) -> dict[str, float]:
        """Return the limits by name."""
        return asdict(self)


LIMITS = QuestionLimits()


def shortened(text: str, max_characters: int = LIMITS.shown_characters) -> str:
    """Return a text, cut to the length that is shown.

    >>> shortened("x" * 10, 4)
    'xxx…'
    """
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


_LONG_SECONDS = 0.2


class BusyError(Exception):
    """The queue of questions is full."""


class TooLongError(Exception):
    """An answer did not come in time."""


class WorkerQueue:
    """A queue of limited length with threads that answer queries; further queries are refused.

    The threads are daemons: a server that is asked to end does not wait for a long answer.

    Arguments:
        name: name of the threads.
        threads: number of queries that are answered at the same time.
        waiting: maximum number of queries that wait.
        seconds: time limit of an answer, in seconds. After it the visitor gets an error; the work
            itself goes on and keeps its thread until it ends. None: no limit.
        after: called after each answer that took long, in its thread.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        waiting: int,
        seconds: float | None,
        after: Callable[[], object] = lambda: None,
    ) -> None:
        self.seconds = seconds
        self._after = after
        self._places = threads + waiting
        self._taken = 0
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for number in range(threads):
            threading.Thread(target=self._run, name=f"{name}-{number}", daemon=True).start()

    @property
    def taken(self) -> int:
        """The number of questions that are running or queued."""
        return self._taken

    async def run(self, function: Callable[[], Any], goes_on: bool = False) -> Any:
        """Return function(), computed in a thread of this queue.

        Arguments:
            function: called without arguments.
            goes_on: with an answer of which parts are sent: it waits for its turn, whatever queues.

        Raises:
            BusyError: the queue is full.
            TooLongError: it took too long.
        """
        if self._taken >= self._places and not goes_on:
            raise BusyError
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Any] = loop.create_future()
        self._taken += 1
        self._work.put((loop, outcome, function))
        try:
            return await asyncio.wait_for(outcome, None if goes_on else self.seconds)
        except TimeoutError:
            raise TooLongError from None

    def _run(self) -> None:
        while True:
            loop, outcome, function = self._work.get()
            value, error, takes_long = None, None, False
            if not outcome.cancelled():
                began = time.monotonic()
                try:
                    value = function()
                except BaseException as raised:
                    traceback.clear_frames(raised.__traceback__)  # else arrays live on in them
                    error = raised
                takes_long = time.monotonic() - began > _LONG_SECONDS
            try:
                loop.call_soon_threadsafe(self._settle, outcome, value, error)
            except RuntimeError:  # the loop has ended
                return
            del outcome, function, value, error
            if takes_long:
                self._after()

    def _settle(self, outcome: Any, value: Any, error: BaseException | None) -> None:
        self._taken -= 1
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(value)


class KeptAnswers:
    """A cache of the last answers by question; an answer in progress is not made twice.

    Arguments:
        largest: the sizes of all that are kept come to no more, in rows or bytes as `size` counts.
        max_answers: so many are kept, fewer where their sizes come to more than `largest`.
        size: of an answer.
        is_lasting: whether an answer may be kept.
    """

    def __init__(
        self,
        max_answers: float,
        largest: float = math.inf,
        size: Callable[[Any], int] = lambda answer: 1,
        is_lasting: Callable[[Any], bool] = lambda answer: True,
    ) -> None:
        self._max_answers = max_answers
        self._largest = largest
        self._size_of, self._is_lasting = size, is_lasting
        self._size = 0
        self._done: OrderedDict[Any, Any] = OrderedDict()
        self._making: dict[Any, asyncio.Task[Any]] = {}

    def has(self, key: Any) -> bool:
        """Return whether an answer is cached."""
        return key in self._done

    async def of(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the answer to a question, cached or made.

        Arguments:
            make: returns an awaitable of the answer.
        """
        if key in self._done:
            self._done.move_to_end(key)
            return self._done[key]
        task = self._making.get(key)
        if task is None:
            task = self._making[key] = asyncio.ensure_future(make())
            task.add_done_callback(lambda done: self._keep(key, done))
        return await asyncio.shield(task)

    def _keep(self, key: Any, done: "asyncio.Task[Any]") -> None:
        del self._making[key]
        if done.cancelled() or done.exception() or not self._is_lasting(done.result()):
            return
        self._done[key] = done.result()
        self._size += self._size_of(done.result())
        while len(self._done) > self._max_answers or self._size > self._largest:
            self._size -= self._size_of(self._done.popitem(last=False)[1])
