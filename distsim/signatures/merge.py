"""Merges tables with stored sums into the table of all their text."""

from collections.abc import Sequence
from pathlib import Path

from distsim import storage
from distsim.base.arguments import one_or_many_paths, real_path
from distsim.base.errors import IncompatibleError, ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.contexts.phrase_store import Selection
from distsim.signatures.recipe import Recipe
from distsim.signatures.signing import Signed, SignOptions, sign
from distsim.signatures.sums import AddedSums, KeptSums
from distsim.signatures.table import StoredTable


def merge(
    tables: Sequence[str | Path],
    path: str | Path,
    *,
    min_count: int | None = None,
    keep_sums: bool = False,
    force: bool = False,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Signed:
    """Write the table of the added sums of tables and return its folder.

    Arguments:
        tables: folders of tables, or of indexes signed in place, signed with `keep_sums`.
        path: of the new table.
        min_count: as of merge_tables.
        keep_sums: store the added sums in the new table, so that it can be merged again.
        force: replace a table that exists at `path`.
        jobs: number of threads; None: one for each core.
        progress: called with (stage, done, total).
    """
    tables = one_or_many_paths(tables, "tables")
    if len(tables) < 2:
        raise ParameterError("merge: give at least two tables")
    resolved = [real_path(table) for table in tables]
    for number, table in enumerate(resolved):
        if table in resolved[:number]:
            raise ParameterError(f"{tables[number]}: the table is given twice: give it once")
    opened = [StoredTable.open(table) for table in tables]
    first = opened[0]
    for other in opened[1:]:
        _require_mergeable(first, other)
    sums = [KeptSums(table.artifact) for table in opened]
    counts = dict.fromkeys(("tokens", "sentences"), 0)
    for opened_part in opened:
        with storage.understood(opened_part.path):
            for name in counts:
                counts[name] += int(opened_part.parameters["sums"][name])
            int(opened_part.parameters["min_count"])
    if min_count is None:
        min_count = _agreed_min_count(opened)
    source = AddedSums(
        sums, first.fingerprint, first.parameters["format"], counts["tokens"], counts["sentences"]
    )
    return sign(
        source, path, Recipe.from_fingerprint(first.fingerprint),
        Selection(min_count=min_count, max_length=first.longest), None,
        SignOptions(keep_sums=keep_sums, force=force, jobs=jobs, progress=progress),
    )  # fmt: skip


def _require_mergeable(a: StoredTable, b: StoredTable) -> None:
    a.fingerprint.require_same(b.fingerprint, str(a.path), str(b.path))
    for name, setting in (("max_length", "`max_length`"), ("format", "`text_format`")):
        if a.parameters[name] != b.parameters[name]:
            raise IncompatibleError(
                f"{a.path} and {b.path} were not made alike: {setting} is {a.parameters[name]} and "
                f"{b.parameters[name]}; sign both with the same settings"
            )


def _agreed_min_count(tables: list[StoredTable]) -> int:
    for table in tables[1:]:
        a, b = tables[0].parameters["min_count"], table.parameters["min_count"]
        if a != b:
            raise IncompatibleError(
                f"{tables[0].path} and {table.path} have different minimum counts, {a} and {b}: "
                "say which `min_count` the merged table is to have"
            )
    return int(tables[0].parameters["min_count"])
