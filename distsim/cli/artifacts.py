"""`distsim info`, `verify` and `export`: what an artifact is, if it is sound, and its content."""

import json
import sys
from typing import Annotated, Any

import typer

from distsim.base.arguments import ExportFormat
from distsim.base.errors import counted
from distsim.cli.console import in_flags, progress_bar, read_lines, say
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


def verify(artifact: Annotated[str, typer.Argument(metavar="ARTIFACT")]) -> None:
    """Check an artifact for damage, or a folder of packs or of make-grammar with all in it.

    Checks its checksums and its consistency; exit status 1 if anything is wrong.
    """
    from distsim.base.errors import ArtifactError
    from distsim.output.verification import find_faults

    with progress_bar("MB") as bar:
        faults = find_faults(artifact, progress=bar)
    if faults:
        more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise ArtifactError(
            f"{artifact}: {'; '.join(faults[:3])}{more}: restore it from a copy or build it again"
        )
    print(f"{artifact}\tsound")


def export(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Packed if it ends in .gz.")
    ],
    output_format: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="w2v, w2v-bin: real-valued vectors of words; parquet, csv: phrases with their "
            "signatures, or with --neighbours their neighbours.",
        ),
    ] = "w2v",
    phrases: Annotated[
        str | None, typer.Option(metavar="FILE", help="Only these phrases, one a line.")
    ] = None,
    neighbours: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="parquet, csv: K neighbours of each."),
    ] = None,
) -> None:
    """Write a table's vectors, phrases or neighbours for gensim, pandas and polars."""
    from distsim.output.exporting import export as write

    named = None
    if phrases is not None:
        named = [line for line in read_lines(phrases) if line.strip()]
    n = write(
        table, output, format=str(output_format), phrases=named, neighbours=neighbours,
        notice=lambda message: say(in_flags(message)),
    )  # fmt: skip
    say(f"{output}: {counted(n, 'row')}")
