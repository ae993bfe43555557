"""Keeps the served artifacts open and reopens them when they change on disk."""

import asyncio
import logging
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from distsim.base.errors import ArtifactError, DistsimError, ParameterError
from distsim.base.parallel import available_cores, trim
from distsim.kernels.compiled import compiled_kernels, uncached_kernels
from distsim.server import jit_warm_up
from distsim.server.endpoints import Endpoint
from distsim.server.session import NotServedError, Opened, Places
from distsim.server.worker_queues import (
    LIMITS,
    BusyError,
    KeptAnswers,
    QuestionLimits,
    TooLongError,
    WorkerQueue,
)
from distsim.storage import cut_short

_LOOK_SECONDS = 1.0
_KEPT, _KEPT_BYTES = 500, 4 << 20  # answers
_TOLD_SECONDS = 3.0
T = TypeVar("T")
_LOG = logging.getLogger("distsim.server")


class DamagedError(Exception):
    """A served artifact is damaged or missing; the message is for visitors."""


@dataclass
class WarmUpProgress:
    """Progress of the work before the first answers.

    step: what is made now. number, steps: its number, and how many there are. began: when, on the
    monotonic clock, in seconds. compiles: kernels are compiled, too.
    """

    step: str = ""
    number: int = 0
    steps: int = 0
    began: float = 0.0
    compiles: bool = False

    def next(self, step: str) -> None:
        """Begin a step."""
        self.step, self.number = step, min(self.number + 1, self.steps)

    def seconds(self) -> float:
        """Return the seconds since the begin."""
        return time.monotonic() - self.began


class ArtifactCache:
    """Answers questions from the current artifacts on disk.

    At most once a second a question looks whether a manifest has changed. What has is opened
    while the old one goes on answering; where it cannot be opened, visitors are told so until
    it can. A file that was cut short is seen before a question reads it.

    is_warming_up: first answers may have to wait until kernels are compiled for this machine; no
    question is refused for that.

    Arguments:
        places: paths of the artifacts.
        jobs: threads of a question.
        limits: of questions.

    Raises:
        ArtifactError: what is to be served cannot be opened at the start.
    """

    def __init__(
        self, places: Places, jobs: int | None = None, limits: QuestionLimits = LIMITS
    ) -> None:
        self._places = places
        self._state = places.state()
        self._opened = Opened(places)
        self._looked = time.monotonic()
        self._opening: asyncio.Future[None] | None = None
        self.fault: str | None = None
        self.times_opened = 1
        self.is_warming_up = False
        self.progress = WarmUpProgress()
        self._limits = limits
        threads = jobs or max(2, available_cores())
        self._quick = WorkerQueue("quick", threads, limits.waiting, limits.quick_seconds, trim)
        self._slow = WorkerQueue("slow", 1, limits.waiting // 4, limits.slow_seconds, trim)
        self._kept = KeptAnswers(_KEPT, _KEPT_BYTES, len)

    @property
    def opened(self) -> Opened:
        """The artifacts that are open."""
        return self._opened

    @property
    def waiting(self) -> int:
        """The number of questions that are running or queued."""
        return self._quick.taken + self._slow.taken

    def has(self, endpoint: Endpoint, values: dict[str, Any]) -> bool:
        """Return whether a question's answer is cached."""
        return self._kept.has(self._key(endpoint, values))

    async def ask(self, endpoint: Endpoint, values: dict[str, Any]) -> Any:
        """Return the answer to a question.

        Raises:
            ParameterError: the question cannot be answered as it stands.
            DamagedError, BusyError, TooLongError: it cannot be answered now.
        """
        queue = self._slow if endpoint.slow else self._quick
        with self._plain_faults():
            question = partial(endpoint.question, self._opened, **values)
            packed = await self._kept.of(
                self._key(endpoint, values), lambda: queue.run(partial(_packed, question))
            )
            return pickle.loads(packed)

    async def run(self, function: Callable[[], T], goes_on: bool = False) -> T:
        """Return function(), computed in a thread for quick questions and not kept.

        Arguments:
            goes_on: with an answer of which parts are sent, which is neither refused nor timed.

        Raises:
            ParameterError: the question cannot be answered as it stands.
            DamagedError, BusyError, TooLongError: it cannot be answered now.
        """
        with self._plain_faults():
            result: T = await self._quick.run(function, goes_on)
            return result

    @contextmanager
    def _plain_faults(self) -> Iterator[None]:
        """Look for changes; raise errors of the library as errors with messages for visitors."""
        self.look()
        if self.fault is not None:
            raise DamagedError(self.fault)
        try:
            yield
        except (ParameterError, BusyError, TooLongError):
            raise
        except ArtifactError as error:
            _LOG.error("%s", error)
            raise DamagedError(DAMAGED) from None
        except DistsimError as error:
            raise NotServedError(self.without_paths(str(error))) from None

    async def warm_up(self) -> None:
        """Prepare data for first questions, and compile kernels that are not cached.

        Questions that come meanwhile are answered when they can be, however long that takes. Then
        one of each other kind is asked beside those of visitors: the first of it is quick, and what
        the server takes from then on is what it takes later.
        """
        self.is_warming_up = True
        self._quick.seconds = self._slow.seconds = None
        notice = asyncio.get_running_loop().call_later(
            _TOLD_SECONDS, _LOG.info, "getting ready: first answers wait"
        )
        before, began = compiled_kernels(), time.monotonic()
        elsewhere = not (uncached_kernels() or jit_warm_up.is_done())
        steps = len(jit_warm_up.ALWAYS) + elsewhere * len(jit_warm_up.every())
        self.progress = WarmUpProgress(
            "opening", 0, steps, began, elsewhere or uncached_kernels() > 0
        )
        try:
            if elsewhere:
                await _ended(jit_warm_up.command(self._places), self.progress.next)
            await self._warm_up(self._quick, jit_warm_up.ALWAYS)
            if compiled_kernels() > before and not elsewhere:
                await self._warm_up(self._quick, jit_warm_up.PAGES)
                await self._warm_up(self._slow, jit_warm_up.SLOW)
            if elsewhere or compiled_kernels() > before:
                seconds = time.monotonic() - began
                _LOG.info("ready: kernels were compiled for this machine, %.0f s", seconds)
        finally:
            notice.cancel()
            trim()  # of what compiled
            self._quick.seconds = self._limits.quick_seconds
            self._slow.seconds = self._limits.slow_seconds
            self.is_warming_up = False
        if elsewhere or compiled_kernels() == before:  # else that was done above
            await self._warm_up(self._quick, jit_warm_up.PAGES)
            await self._warm_up(self._slow, jit_warm_up.SLOW)
            trim()

    async def _warm_up(
        self, queue: WorkerQueue, makers: Sequence[Callable[[Opened], object]]
    ) -> None:
        for make in makers:
            self.progress.next(jit_warm_up.name_of(make))
            try:
                await queue.run(partial(make, self._opened))
            except (DistsimError, BusyError, TooLongError) as error:
                _LOG.info("not made ready: %s", error or "busy")

    def look(self) -> None:
        """Look for changes on disk and reopen what has changed."""
        if self.fault is None:
            file = cut_short()
            if file is not None:
                _LOG.error("%s: was cut short while it was served: restore it", file)
                self.fault = DAMAGED
        now = time.monotonic()
        if self._opening is not None or now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        state = self._places.state()
        if state != self._state or self.fault is not None:
            self._opening = asyncio.ensure_future(self._open(state))

    async def _open(self, state: Any) -> None:
        try:
            opened = await self._quick.run(partial(Opened, self._places, self._opened.rules))
            self._opened, self.fault, self._state = opened, None, state
            self.times_opened += 1
            _LOG.info("opened anew: %s tokens", f"{opened.index.n_tokens:,}")
        except DistsimError as error:
            if self.fault is None:
                _LOG.error("cannot be opened anew: %s", error)
            self.fault, self._state = DAMAGED, state
        except (BusyError, TooLongError):
            pass  # looked for again in a second
        finally:
            self._opening = None

    def without_paths(self, message: str) -> str:
        """Return a message without the machine's paths."""
        for place in list(vars(self._places).values())[1:]:
            message = message.replace(str(place), "it") if place else message
        return message.replace(str(self._places.index), "INDEX")

    def _key(self, endpoint: Endpoint, values: dict[str, Any]) -> Any:
        return self.times_opened, endpoint.name, tuple(values.items())


async def _ended(command: Sequence[str], report_line: Callable[[str], object]) -> None:
    """Run a command until it or this process ends; call `report_line` with each printed line."""
    nothing, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=nothing, stdout=pipe, stderr=nothing
    )
    try:
        while process.stdout and (line := await process.stdout.readline()):
            report_line(line.decode(errors="replace").strip())
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()


DAMAGED = (
    "The index is damaged, or it is not there any more. Whoever looks after it finds the reason "
    "in the server's log; distsim verify tells more. It is opened again once it is mended."
)


def _packed(question: Callable[[], Any]) -> bytes:
    """Return the answer to a question as bytes, a fourth of what its objects take."""
    return pickle.dumps(question(), pickle.HIGHEST_PROTOCOL)
