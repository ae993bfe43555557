"""The JSON API: routes, answers as JSON, TSV or CSV, and errors."""

import asyncio
import csv
import io
import json
import math
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from distsim.base.errors import ParameterError
from distsim.server.answers import Health
from distsim.server.artifact_cache import ArtifactCache, DamagedError
from distsim.server.corpus_questions import lines, width_of
from distsim.server.endpoints import ENDPOINTS, EXPORT, PREFIX, Endpoint
from distsim.server.limits import LIMITS
from distsim.server.openapi import describe
from distsim.server.session import NotThereError
from distsim.server.worker_queues import BusyError, TooLongError

JSON = "application/json"
_TABLES = {
    "tsv": "text/tab-separated-values; charset=utf-8", "csv": "text/csv; charset=utf-8",
}  # fmt: skip
_BLOCK = 2_000  # lines of a concordance that are read at once


def routes(cache: ArtifactCache) -> list[Route]:
    """Return the HTTP routes of the API and of its OpenAPI description."""
    description = as_json(describe())

    def openapi(request: Request) -> Response:
        return Response(description, media_type=JSON)

    async def health(request: Request) -> Response:
        cache.look()
        state = Health(
            cache.fault is None, not cache.is_warming_up, cache.times_opened, cache.waiting,
            cache.progress.step, cache.fault,
        )  # fmt: skip
        return Response(as_json(plain(state)), 200 if state.ok else 503, media_type=JSON)

    routes_of_api = [Route("/openapi.json", openapi), Route(f"{PREFIX}/health", health)]
    for endpoint in ENDPOINTS.values():
        routes_of_api.append(Route(f"{PREFIX}/{endpoint.name}", _answering(cache, endpoint)))
    return [*routes_of_api, Route(f"{PREFIX}/{EXPORT.name}", _exporting(cache))]


def _answering(cache: ArtifactCache, endpoint: Endpoint) -> Any:
    async def answer(request: Request) -> Response:
        given, shape = _given(request)
        if shape != "json" and not endpoint.rows:
            raise ParameterError(f"`format` {shape!r}: this answer has no table: choose json")
        found = await cache.ask(endpoint, endpoint.values(given))
        if shape == "json":
            return Response(as_json(plain(found)), media_type=JSON)
        text = as_table(found, endpoint.rows, shape)
        return Response(text, media_type=_TABLES[shape], headers=_attached(endpoint.name, shape))

    return answer


def _exporting(cache: ArtifactCache) -> Any:
    """Return the handler that sends all lines of a concordance, block by block."""

    under_way = asyncio.Semaphore(LIMITS.exports)

    async def export(request: Request) -> Response:
        given, shape = _given(request)
        if under_way.locked():
            raise BusyError
        opened, values = cache.opened, EXPORT.values(given)
        spans = await cache.run(lambda: EXPORT.question(opened, **values))

        def block(first: int) -> bytes:
            rows = lines(opened, spans[first : first + _BLOCK], width_of(values["width"]))
            if shape == "json":
                text = ",\n".join(as_json(plain(row)).decode() for row in rows)
                return ((",\n" if first else "[\n") + text).encode(errors="replace")
            table = _written(map(plain, rows), shape, head=not first)
            return table.encode(errors="replace")

        async def body() -> AsyncIterator[bytes]:
            async with under_way:
                for first in range(0, max(1, len(spans)), _BLOCK):
                    yield await cache.run(partial(block, first))
                if shape == "json":
                    yield b"\n]\n"

        kind = _TABLES.get(shape, JSON)
        return StreamingResponse(body(), media_type=kind, headers=_attached("concordance", shape))

    return export


def _given(request: Request) -> tuple[dict[str, list[str]], str]:
    """Return (arguments, format) of a request."""
    given = {name: request.query_params.getlist(name) for name in request.query_params}
    shape = (given.pop("format", None) or ["json"])[0]
    if shape != "json" and shape not in _TABLES:
        raise ParameterError(f"`format` {shape[:40]!r}: choose json, {' or '.join(_TABLES)}")
    return given, shape


def _attached(name: str, shape: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="distsim-{name}.{shape}"'}


def fault_of(error: Exception) -> tuple[int, str, str]:
    """Return (status, code, message) of an error, without paths of the machine."""
    if isinstance(error, HTTPException):
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "refused")
        messages = {404: "There is no such page.", 405: "Only GET and HEAD are answered."}
        return error.status_code, code, messages.get(error.status_code, str(error.detail))
    if isinstance(error, NotThereError):
        return 422, "not-there", _sentence(str(error))
    if isinstance(error, ParameterError):
        return 400, "bad-argument", _sentence(str(error))
    if isinstance(error, BusyError):
        return 503, "busy", "Too many questions wait already: ask again in a moment."
    if isinstance(error, TooLongError):
        seconds = f"{LIMITS.quick_seconds:g} or {LIMITS.slow_seconds:g} seconds"
        return 504, "too-long", f"It took longer than {seconds}: ask for something less frequent."
    if isinstance(error, DamagedError):
        return 503, "damaged", str(error)
    return 500, "failed", "The server failed at this question; its log tells more."


def as_json_fault(error: Exception) -> Response:
    """Return the response of the API to an error."""
    status, code, message = fault_of(error)
    body = as_json({"error": {"code": code, "message": message, "status": status}})
    headers = {"retry-after": "2"} if code == "busy" else None
    return Response(body, status, headers, media_type=JSON)


def plain(value: Any) -> Any:
    """Return an answer as dicts, lists, texts and numbers.

    >>> from distsim.server.answers import Completion
    >>> plain(Completion("in spite of", 7))
    {'phrase': 'in spite of', 'count': 7}
    """
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(entry) for name, entry in zip(value._fields, value, strict=True)}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def as_table(answer: Any, parts: tuple[str, ...], shape: str) -> str:
    """Return the table of an answer, names in the first line; several parts are named in a column.

    Arguments:
        shape: `csv` or `tsv`.

    >>> from distsim.server.answers import Completion, Completions
    >>> as_table(Completions("in", (Completion("in", 7),)), ("rows",), "tsv")
    'phrase\\tcount\\nin\\t7\\n'
    """
    tables = []
    for part in parts:
        named = {"part": part} if len(parts) > 1 else {}
        rows = (named | plain(row) for row in getattr(answer, part))
        tables.append(_written(rows, shape))
    return "".join(tables)


def _written(rows: Iterable[dict[str, Any]], shape: str, head: bool = True) -> str:
    """Return rows as TSV or CSV."""
    out = io.StringIO()
    put = csv.writer(out, lineterminator="\n").writerow
    for nested in rows:
        row: dict[str, Any] = {}  # fields of documents are columns
        for name, value in nested.items():
            row |= (
                {f"{name}.{one}": v for one, v in value.items()}
                if name == "fields"
                else {name: value}
            )
        cells = [[_cell(value) for value in row.values()]]
        for line in ([list(row)] if head else []) + cells:
            if shape == "csv":
                put(line)
            else:
                out.write("\t".join(" ".join(re.split(r"[\t\r\n]", one)) for one in line) + "\n")
        head = False
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return "NA"
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "; ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sentence(message: str) -> str:
    """Return a message of the library as visitors read it."""
    text = message.replace("`", "")
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def as_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8.

    Arguments:
        value: dicts, lists, texts, numbers, booleans and None.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        errors="replace"
    )
