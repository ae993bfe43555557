"""Runs the server until it is stopped."""

import asyncio
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from distsim.base.errors import ParameterError
from distsim.base.malloc_tuning import give_back_freed
from distsim.server.application import LONGEST_ADDRESS, application
from distsim.server.artifact_cache import ArtifactCache
from distsim.server.session import Places

LOCAL = ("localhost", "127.0.0.1", "::1")
_CONNECTIONS = 1_000
_GRACE_SECONDS = 3
_REQUEST_SECONDS = 10  # from its first byte to the end of its headers
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Server(uvicorn.Server):  # type: ignore[misc]  # of an extra, which may not be there
    """A server that answers open requests before it stops."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Protocol(H11Protocol):  # type: ignore[misc]
    """A connection that is closed when a request's headers do not arrive in time.

    Else some who send a byte now and then would take all connections from the others.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unwatch()

    def _watch(self) -> None:
        """Start the timeout of a connection that is not answering a request."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._unwatch()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(_REQUEST_SECONDS, self._give_up)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def serve(
    places: Places,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    names: Sequence[str] = (),
    jobs: int | None = None,
    log: bool = True,
    ready: Callable[[str], object] = print,
) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Arguments:
        places: paths of the artifacts.
        host: the address to listen at; 127.0.0.1 is reached from this machine alone.
        port: 0: any that is free.
        names: further names by which the server may be asked for. At an address of this machine
            alone they are needed, elsewhere any name will do where none is given.
        jobs: so many questions are answered side by side; as many as there are cores, at least
            two, where None.
        log: a line on standard error for each request: time, address, method, path, status,
            bytes, milliseconds.
        ready: called with the server's address when it listens.

    Raises:
        ArtifactError: what is to be served cannot be opened.
        ParameterError: the port is taken, or the address is none of this machine.
    """
    _log_lines(log)
    give_back_freed()
    cache = ArtifactCache(places, jobs)
    listening = _listening(host, port)
    local = host in LOCAL
    hosts = (*LOCAL, *names) if local or names else ()
    shown = f"[{host}]" if ":" in host else host
    ready(f"http://{shown}:{listening.getsockname()[1]}/")
    _Server(_config(application(cache, hosts))).run([listening])


def _config(app: Any) -> uvicorn.Config:
    """Return the settings of the server."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        http=_Protocol,
        ws="none",
        loop="asyncio",
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=2 * LONGEST_ADDRESS,
    )


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only of a socket that says TCP does asyncio send small answers without delay.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise ParameterError(
            f"`host` {host}, `port` {port}: cannot be listened at ({error.strerror or error}): "
            "choose another port, or end what listens there"
        ) from None
    return listening


def _log_lines(log: bool) -> None:
    """Send log messages to standard error, one line each, with the time in UTC."""
    form = logging.Formatter("%(asctime)sZ %(message)s", "%Y-%m-%dT%H:%M:%S")
    form.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(form)
    for name, level in (
        ("distsim.access", logging.INFO if log else logging.ERROR),
        ("distsim.server", logging.INFO),
        ("uvicorn.error", logging.WARNING),
    ):
        logger: Any = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
