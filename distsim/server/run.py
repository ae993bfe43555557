"""Runs the server until it is stopped."""

import asyncio
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from uvicorn.protocols.http.h11_impl import H11Protocol

from distsim.base.errors import ParameterError
from distsim.base.parallel import give_back_freed
from distsim.server import api, pages
from distsim.server.artifact_cache import ArtifactCache
from distsim.server.endpoints import PREFIX
from distsim.server.session import Places

LONGEST_ADDRESS = 16_384  # bytes
_SEND_SECONDS = 30.0  # until a visitor has read a piece of an answer
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_LOG = logging.getLogger("distsim.server")
_ACCESS = logging.getLogger("distsim.access")


def application(cache: ArtifactCache, hosts: Sequence[str] = ()) -> Any:
    """Return the ASGI application.

    Arguments:
        hosts: the names by which it may be asked for; any where empty. A page of another site
            that points its own name at this machine is so refused.
    """

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        warming = asyncio.ensure_future(cache.warm_up())
        yield
        warming.cancel()

    router = Router([*api.routes(cache), *pages.routes(cache)], lifespan=lifespan)
    router.redirect_slashes = False
    return _RequestChecks(router, cache, hosts)


class _RequestChecks:
    """Checks each request's size, method and host, and logs its response."""

    def __init__(self, router: Router, cache: ArtifactCache, hosts: Sequence[str]) -> None:
        self._router = router
        self._cache = cache
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        began = time.perf_counter()
        totals: dict[str, Any] = {"status": 0, "bytes": 0}

        async def headed(message: Any) -> None:
            if message["type"] == "http.response.start":
                totals["status"] = message["status"]
                message = message | {"headers": [*message["headers"], *HEADERS]}
            elif message["type"] == "http.response.body":
                totals["bytes"] += len(message.get("body", b""))
            async with asyncio.timeout(_SEND_SECONDS):  # a visitor who does not read is let go
                await send(message)

        try:
            refused = self._refused(scope)
            if refused is not None:
                await refused(scope, receive, headed)
            else:
                await self._answer(scope | {"app": self._router}, receive, headed)
        finally:
            query = scope["query_string"].decode("latin-1")
            _ACCESS.info(
                "%s %s %s%s %d %d %.1f",
                (scope.get("client") or ("-",))[0], scope["method"],
                _visible(scope.get("raw_path", b"").decode("latin-1").partition("?")[0]),
                _visible("?" + query) if query else "", totals["status"], totals["bytes"],
                1000 * (time.perf_counter() - began),
            )  # fmt: skip

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Return the response to a request, or an error page or JSON error by its path."""
        begun = False

        async def started(message: Any) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._router(scope, receive, started)
        except Exception as error:
            if isinstance(error, TimeoutError) and begun:
                raise  # the connection is closed
            if api.fault_of(error)[0] == 500:
                _LOG.error("%s: %r", _visible(scope["path"]), error, exc_info=error)
            if not begun:
                await self._fault(scope, error)(scope, receive, send)

    def _fault(self, scope: Any, error: Exception) -> Response:
        if scope["path"].startswith(PREFIX):
            return api.as_json_fault(error)
        return pages.as_page(self._cache, Request(scope), error)

    def _refused(self, scope: Any) -> Response | None:
        headers = dict(scope["headers"])
        if self._hosts:
            try:
                host = urlsplit("//" + headers.get(b"host", b"").decode("latin-1"))
                name = (host.hostname or "").lower()
            except ValueError:  # such as "[::1", or one of Unicode that stands for a slash
                name = ""
            if name not in self._hosts:
                return _fault(421, "wrong-host", "The server does not answer to this name.")
        if _is_of_another_site(headers, self._hosts):
            return _fault(
                403, "other-site", "A page of another site asks: only pages of this server may."
            )
        if len(scope["query_string"]) > LONGEST_ADDRESS:
            return _fault(413, "too-large", f"The address is over {LONGEST_ADDRESS:,} bytes.")
        if scope["method"] not in ("GET", "HEAD"):
            return _fault(405, "method-not-allowed", "Only GET and HEAD are answered.")
        return None


def _is_of_another_site(headers: Mapping[bytes, bytes], hosts: frozenset[str]) -> bool:
    """Return whether a page of another site asks, such as by an image; a link is followed.

    Browsers say so by Sec-Fetch-Site, and by Origin where a script asks.
    """
    site = headers.get(b"sec-fetch-site", b"none")
    if site not in (b"none", b"same-origin"):
        clicked = headers.get(b"sec-fetch-user") == b"?1"
        if not (clicked and headers.get(b"sec-fetch-dest") == b"document"):
            return True
    origin = headers.get(b"origin")
    if origin is None or site == b"same-origin":
        return False
    try:
        named = urlsplit(origin.decode("latin-1"))
        is_known = (named.hostname or "").lower() in hosts and named.port is None
    except ValueError:
        return True
    address = headers.get(b"host", b"").decode("latin-1")
    return named.netloc.lower() != address.lower() and not is_known


def _fault(status: int, code: str, message: str) -> Response:
    body = api.as_json({"error": {"code": code, "message": message, "status": status}})
    headers = {"allow": "GET, HEAD"} if status == 405 else None
    return Response(body, status, headers, media_type=api.JSON)


def _visible(text: str) -> str:
    """Return a part of an address as one word of a log line."""
    return "".join(c if "!" <= c <= "~" else f"%{ord(c) & 255:02X}" for c in text)


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
