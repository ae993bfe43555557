"""The JSON API: routes, answers as JSON or TSV, and errors."""

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from distsim.base.errors import ParameterError
from distsim.server.answers import Health
from distsim.server.artifact_cache import DamagedError, Shelf
from distsim.server.endpoints import ENDPOINTS, PREFIX, Endpoint
from distsim.server.limits import LIMITS
from distsim.server.openapi import describe
from distsim.server.session import NotThereError
from distsim.server.worker_queues import BusyError, TooLongError

JSON, TSV = "application/json", "text/tab-separated-values; charset=utf-8"


def routes(shelf: Shelf) -> list[Route]:
    """Return the routes of the API and of its description."""
    description = as_json(describe())

    def openapi(request: Request) -> Response:
        return Response(description, media_type=JSON)

    async def health(request: Request) -> Response:
        shelf.look()
        found = Health(
            shelf.fault is None, not shelf.warming, shelf.times_opened, shelf.waiting, shelf.fault
        )
        return Response(as_json(plain(found)), 200 if found.ok else 503, media_type=JSON)

    found = [Route("/openapi.json", openapi), Route(f"{PREFIX}/health", health)]
    for endpoint in ENDPOINTS.values():
        found.append(Route(f"{PREFIX}/{endpoint.name}", _answering(shelf, endpoint)))
    return found


def _answering(shelf: Shelf, endpoint: Endpoint) -> Any:
    async def answer(request: Request) -> Response:
        given = {name: request.query_params.getlist(name) for name in request.query_params}
        shape = (given.pop("format", None) or ["json"])[0]
        if shape not in ("json", "tsv") or (shape == "tsv" and not endpoint.rows):
            raise ParameterError(f"`format` {shape[:40]!r}: choose json or tsv")
        found = await shelf.ask(endpoint, endpoint.values(given))
        if shape == "json":
            return Response(as_json(plain(found)), media_type=JSON)
        name = f'attachment; filename="distsim-{endpoint.name}.tsv"'
        return Response(
            as_tsv(found, endpoint.rows), media_type=TSV, headers={"content-disposition": name}
        )

    return answer


def fault_of(error: Exception) -> tuple[int, str, str]:
    """Return (status, code, message) of an error, without paths of the machine."""
    if isinstance(error, HTTPException):
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "refused")
        told = {404: "There is no such page.", 405: "Only GET and HEAD are answered."}
        return error.status_code, code, told.get(error.status_code, str(error.detail))
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
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def as_tsv(answer: Any, parts: tuple[str, ...]) -> str:
    """Return the table of an answer, names in the first line; several parts are named in a column.

    >>> from distsim.server.answers import Completion, Completions
    >>> as_tsv(Completions("in", (Completion("in", 7),)), ("rows",))
    'phrase\\tcount\\nin\\t7\\n'
    """
    lines: list[str] = []
    for part in parts:
        for row in plain(getattr(answer, part)):
            named = {"part": part} | row if len(parts) > 1 else row
            if not lines or (len(parts) > 1 and lines[-1].partition("\t")[0] != part):
                lines.append("\t".join(named))
            lines.append("\t".join(map(_cell, named.values())))
    return "".join(line + "\n" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "NA"
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _cell("; ".join(value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _sentence(message: str) -> str:
    """Return a message of the library as visitors read it."""
    text = message.replace("`", "")
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def as_json(value: Any) -> bytes:
    """Return a plain value as JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        errors="replace"
    )
