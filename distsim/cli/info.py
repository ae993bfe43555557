"""`distsim info ARTIFACT`: kind, size and settings of an artifact."""

import json
import sys
from typing import Annotated, Any

import typer

from distsim.cli.rows import lists_rows, prints_json, put_object, put_row


@lists_rows
def info(
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT")],
    recipe: Annotated[
        bool,
        typer.Option("--recipe", help="Print the settings that made a table, for sign --recipe."),
    ] = False,
) -> None:
    """Describe an index, a table or any other artifact."""
    from distsim import storage
    from distsim.indexes.corpus_index import has_text_of
    from distsim.storage.manifest import signatures_inside

    if recipe:
        _put_recipe(artifact)
        return
    opened = storage.Artifact(artifact)
    described = _describe(opened)
    inside = signatures_inside(artifact)
    if opened.kind is storage.INDEX and inside.exists():
        table = storage.Artifact(inside, storage.SIGNATURES)
        described["signatures"] = _describe(table) | {"up_to_date": has_text_of(opened, table)}
    if prints_json():
        put_object(**described)
        return
    parameters = described["parameters"]
    described["parameters"] = parameters | {
        name: len(parameters[name]) for name in _LONG_LISTS if name in parameters
    }
    for name, value in _flat(described):
        put_row({"name": name, "value": value})


def _put_recipe(path: str) -> None:
    from distsim.base.settings import settings_text
    from distsim.comparison.table import SignatureTable

    table = SignatureTable.open(path)
    sys.stdout.write(settings_text(table.recipe, table.selection))


_LONG_LISTS = ("texts", "earlier")  # of an index: an entry a file, an entry an addition


def _describe(artifact: Any) -> dict[str, Any]:
    return {
        "kind": artifact.kind.name,
        "version": artifact.manifest["version"],
        "bytes": artifact.size(),
        "checksum": artifact.checksum,
        "parameters": artifact.parameters,
    }


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            inner = prefix if name == "parameters" else f"{prefix}{name}."
            rows += _flat(value, inner)
        else:
            rows.append((prefix + name, json.dumps(value, ensure_ascii=False).strip('"')))
    return rows
