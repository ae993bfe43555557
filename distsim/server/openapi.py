"""Describes the endpoints as OpenAPI 3.1."""

from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from distsim.base.errors import program_version
from distsim.server.endpoints import ENDPOINTS, EXPORT, PREFIX, Endpoint

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
        f"{PREFIX}/{one.name}": {"get": _operation(one, schemas)}
        for one in (*ENDPOINTS.values(), EXPORT)
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
            "name": one.name,
            "in": "query",
            "description": one.told,
            "required": one.default is None,
            "schema": one.schema(),
        }
        for one in endpoint.arguments
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
        "summary": endpoint.told,
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
        return {"anyOf": [_schema(one, schemas) for one in inner]}
    if get_origin(kind) is tuple and inner[-1] is ...:
        return {"type": "array", "items": _schema(inner[0], schemas)}
    if get_origin(kind) is tuple:
        return {"type": "array", "prefixItems": [_schema(one, schemas) for one in inner]}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], schemas)}
    return {}
