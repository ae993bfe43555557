"""The line of settings under a picture."""

from typing import Any

from distsim.base.distribution import program_version
from distsim.indexes.corpus_index import CorpusIndex
from distsim.signatures.table import StoredTable


def table_settings(table: StoredTable) -> str:
    """Return the settings of a table in one line: fingerprint, corpus, version."""
    fields: dict[str, Any] = {
        **table.fingerprint.fields(),
        "min-count": table.parameters.get("min_count"),
        "corpus": str(table.parameters.get("corpus"))[:12],
    }
    return _line(fields)


def index_settings(index: CorpusIndex, **more: Any) -> str:
    """Return the settings of counts in an index in one line: corpus, tokens, version."""
    return _line({"corpus": index.corpus[:12], "tokens": index.n_tokens, **more})


def _line(fields: dict[str, Any]) -> str:
    fields = {**fields, "version": program_version()}
    return "|".join(f"{name}:{value}" for name, value in fields.items())
