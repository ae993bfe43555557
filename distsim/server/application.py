"""The ASGI application: routes, headers, host names, errors and the log."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router

from distsim.server import api, pages
from distsim.server.artifact_cache import ArtifactCache
from distsim.server.endpoints import PREFIX

LONGEST_ADDRESS = 16_384  # bytes
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
        cache: the artifacts that are served.
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
        told: dict[str, Any] = {"status": 0, "bytes": 0}

        async def headed(message: Any) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
                message = message | {"headers": [*message["headers"], *HEADERS]}
            elif message["type"] == "http.response.body":
                told["bytes"] += len(message.get("body", b""))
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
                _visible("?" + query) if query else "", told["status"], told["bytes"],
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
        if len(scope["query_string"]) > LONGEST_ADDRESS:
            return _fault(413, "too-large", f"The address is over {LONGEST_ADDRESS:,} bytes.")
        if scope["method"] not in ("GET", "HEAD"):
            return _fault(405, "method-not-allowed", "Only GET and HEAD are answered.")
        return None


def _fault(status: int, code: str, message: str) -> Response:
    body = api.as_json({"error": {"code": code, "message": message, "status": status}})
    headers = {"allow": "GET, HEAD"} if status == 405 else None
    return Response(body, status, headers, media_type=api.JSON)


def _visible(text: str) -> str:
    """Return a part of an address as one word of a log line."""
    return "".join(c if "!" <= c <= "~" else f"%{ord(c) & 255:02X}" for c in text)
