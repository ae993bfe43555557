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
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from distsim.base.errors import ParameterError, program_version
from distsim.server.answers import Health
from distsim.server.artifact_cache import ArtifactCache, DamagedError
from distsim.server.corpus_questions import LineContents, lines
from distsim.server.endpoints import ENDPOINTS, EXPORT, PREFIX, Endpoint
from distsim.server.session import NotServedError
from distsim.server.worker_queues import LIMITS, BusyError, TooLongError

FAULTS = {
    400: "the question cannot be answered as it stands",
    403: "a page of another site asked",
    404: "there is no such path",
    405: "only GET and HEAD are answered",
    413: "the question is too large",
    421: "the name of the server is not one that it answers to",
    422: "a table, a grammar or signatures that the question needs are not there",
    500: "the server failed; its log tells more",
    503: "damaged, or too many questions wait",
    504: "it took too long",
}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "status"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "status": {"type": "integer"},
            },
        }
    },
}


def describe() -> dict[str, Any]:
    """Return the description of all endpoints."""
    schemas: dict[str, Any] = {"Error": _ERROR}
    paths = {
        f"{PREFIX}/{endpoint.name}": {"get": _operation(endpoint, schemas)}
        for endpoint in (*ENDPOINTS.values(), EXPORT)
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "distsim",
            "version": program_version(),
            "description": "What an index, its signatures and a grammar say about phrases.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    arguments: list[dict[str, Any]] = [
        {
            "name": argument.name,
            "in": "query",
            "description": argument.description,
            "required": argument.default is None,
            "schema": argument.schema(),
        }
        for argument in endpoint.arguments
    ]
    content: dict[str, Any] = {"application/json": {"schema": _schema(endpoint.answer, schemas)}}
    if endpoint.rows or endpoint is EXPORT:
        content["text/tab-separated-values"] = {"schema": {"type": "string"}}
        content["text/csv"] = {"schema": {"type": "string"}}
        arguments.append({
            "name": "format", "in": "query", "required": False,
            "description": "the whole answer, or its table alone",
            "schema": {"type": "string", "enum": ["json", "tsv", "csv"], "default": "json"},
        })  # fmt: skip
    faults = {
        str(status): {
            "description": description,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        for status, description in FAULTS.items()
        if status not in {404, 405}
    }
    return {
        "operationId": endpoint.name,
        "summary": endpoint.description,
        "parameters": arguments,
        "responses": {"200": {"description": "the answer", "content": content}} | faults,
    }


def _schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a type of an answer; those of rows are added to `schemas`."""
    simple = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
    if kind in simple:
        return {"type": simple[kind]}
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        name = kind.__name__
        if name not in schemas:
            schemas[name] = {}
            hints = get_type_hints(kind)  # in the order of the fields
            schemas[name] = {
                "type": "object",
                "description": (kind.__doc__ or "").partition("\n")[0],
                "required": list(hints),
                "properties": {name: _schema(hint, schemas) for name, hint in hints.items()},
            }
        return {"$ref": f"#/components/schemas/{name}"}
    inner = get_args(kind)
    if get_origin(kind) is UnionType:
        return {"anyOf": [_schema(hint, schemas) for hint in inner]}
    if get_origin(kind) is tuple and inner[-1] is ...:
        return {"type": "array", "items": _schema(inner[0], schemas)}
    if get_origin(kind) is tuple:
        return {"type": "array", "prefixItems": [_schema(hint, schemas) for hint in inner]}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], schemas)}
    return {}


JSON = "application/json"
_TABLES = {
    "tsv": "text/tab-separated-values; charset=utf-8", "csv": "text/csv; charset=utf-8",
}  # fmt: skip
_BLOCK = 1_000  # lines of a concordance that are read at once


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
        texts, shape = _texts_and_shape(request)
        if shape != "json" and not endpoint.rows:
            raise ParameterError(f"`format` {shape!r}: this answer has no table: choose json")
        result = await cache.ask(endpoint, endpoint.values(texts))
        if shape == "json":
            return Response(as_json(plain(result)), media_type=JSON)
        text = as_table(result, endpoint.rows, shape)
        return Response(text, media_type=_TABLES[shape], headers=_attached(endpoint.name, shape))

    return answer


def _exporting(cache: ArtifactCache) -> Any:
    """Return the handler that sends all lines of a concordance, block by block."""

    under_way = asyncio.Semaphore(LIMITS.exports)

    async def export(request: Request) -> Response:
        texts, shape = _texts_and_shape(request)
        if under_way.locked():
            raise BusyError
        opened, values = cache.opened, EXPORT.values(texts)
        contents: LineContents = {"width": values["width"], "fields": values["fields"]}
        spans = await cache.run(lambda: EXPORT.question(opened, **values))

        def block(first: int) -> bytes:
            rows = lines(opened, spans[first : first + _BLOCK], **contents)
            if shape == "json":
                text = ",\n".join(as_json(plain(row)).decode() for row in rows)
                return ((",\n" if first else "[\n") + text).encode(errors="replace")
            table = _written(map(plain, rows), shape, head=not first)
            return table.encode(errors="replace")

        async def body() -> AsyncIterator[bytes]:
            async with under_way:
                for first in range(0, max(1, len(spans)), _BLOCK):
                    yield await cache.run(partial(block, first), goes_on=True)
                if shape == "json":
                    yield b"\n]\n"

        kind = _TABLES.get(shape, JSON)
        return StreamingResponse(body(), media_type=kind, headers=_attached("concordance", shape))

    return export


def _texts_and_shape(request: Request) -> tuple[dict[str, list[str]], str]:
    """Return (arguments, format) of a request."""
    texts = {name: request.query_params.getlist(name) for name in request.query_params}
    shape = (texts.pop("format", None) or ["json"])[0]
    if shape != "json" and shape not in _TABLES:
        raise ParameterError(f"`format` {shape[:40]!r}: choose json, {' or '.join(_TABLES)}")
    return texts, shape


def _attached(name: str, shape: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="distsim-{name}.{shape}"'}


def fault_of(error: Exception) -> tuple[int, str, str]:
    """Return (status, code, message) of an error, without paths of the machine."""
    if isinstance(error, HTTPException):
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "refused")
        messages = {404: "There is no such page.", 405: "Only GET and HEAD are answered."}
        return error.status_code, code, messages.get(error.status_code, str(error.detail))
    if isinstance(error, NotServedError):
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
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
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
                {f"{name}.{key}": v for key, v in value.items()}
                if name == "fields"
                else {name: value}
            )
        cells = [[_cell(value) for value in row.values()]]
        for line in ([list(row)] if head else []) + cells:
            if shape == "csv":
                put(line)
            else:
                out.write("\t".join(" ".join(re.split(r"[\t\r\n]", cell)) for cell in line) + "\n")
        head = False
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return "NA"
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
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
