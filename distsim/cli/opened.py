"""Paths of tables and indexes -> what --exact needs."""

from typing import TYPE_CHECKING

from distsim.errors import ParameterError

if TYPE_CHECKING:
    from distsim.comparison import ExactCosine, LearntCosine
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


def learnt_cosine(
    table: "SignatureTable", table_path: str, index_path: str | None, projection_path: str | None
) -> "LearntCosine":
    """Return real-valued cosines for a learnt table, from its index and its projection.

    Raises:
        ParameterError: the table is not learnt, or lives in no index and none was given.
    """
    from distsim import storage
    from distsim.comparison import LearntCosine
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.sign import projection_inside
    from distsim.signatures.spectral import SpectralProjection

    if table.fingerprint["projection"]["kind"] != "spectral":
        raise ParameterError(
            f"{table_path}: was not signed by a learnt projection and has no real vectors: "
            "sign it with --projection spectral, or leave out vectors"
        )
    if index_path is None:
        if storage.Artifact(table_path).kind is not storage.INDEX:
            raise ParameterError(
                f"{table_path}: a table holds no contexts: name its index with --index INDEX"
            )
        index_path = table_path
    projection = SpectralProjection.open(projection_path or projection_inside(index_path))
    return LearntCosine(CorpusIndex.open(index_path), table, projection)
