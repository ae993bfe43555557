"""Paths of tables and indexes -> what --exact needs."""

from typing import TYPE_CHECKING

from distsim.errors import ParameterError

if TYPE_CHECKING:
    from distsim.comparison import ExactCosine
    from distsim.signatures.table import SignatureTable


def exact_cosine(table: "SignatureTable", table_path: str, index_path: str | None) -> "ExactCosine":
    """Return exact cosines for a table, from the index it lives in or the one given.

    Raises:
        ParameterError: the table lives in no index and none was given.
    """
    from distsim import storage
    from distsim.comparison import ExactCosine
    from distsim.indexes.corpus_index import CorpusIndex

    if index_path is None:
        if storage.Artifact(table_path).kind is not storage.INDEX:
            raise ParameterError(
                f"{table_path}: a table holds no contexts: name its index with --index INDEX"
            )
        index_path = table_path
    return ExactCosine(CorpusIndex.open(index_path), table)
