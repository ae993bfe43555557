"""Paths of tables, indexes, models -> what measures similarity; what tells likely sentences."""

from typing import TYPE_CHECKING

from distsim.base.errors import ParameterError

if TYPE_CHECKING:
    from distsim.comparison.gapped.signatures import GappedCosine
    from distsim.comparison.measures import ComposedCosine, ExactCosine, LearntCosine, StoredCosine
    from distsim.comparison.opposites.opposites import Opposites
    from distsim.comparison.table import SignatureTable
    from distsim.grammar.pair_features import PairFeatures
    from distsim.paraphrase.rewriting.language_model import LanguageModel


def language_model(path: str | None) -> "LanguageModel":
    """Return the language model at a path: the folder of an index, or a file in ARPA format.

    Raises:
        ParameterError: no path is given.
    """
    from pathlib import Path

    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.rewriting.language_model import ArpaModel, IndexModel

    if path is None:
        raise ParameterError("name the language model, an index or an ARPA file, with --index")
    return ArpaModel(path) if Path(path).is_file() else IndexModel(CorpusIndex.open(path))


def exact_cosine(
    table: "SignatureTable", table_path: str, index_path: str | None
) -> "ExactCosine | StoredCosine":
    """Return exact cosines for a table.

    From the features kept in it, where there are some and no index is named; else from the
    index it lives in or the one named.

    Raises:
        ParameterError: the table keeps no features, lives in no index and none was given; or
            its model counts in no index.
    """
    from distsim import storage
    from distsim.comparison.measures import ExactCosine, StoredCosine
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.feature_store import has_features

    if table.fingerprint.is_of_vectors:
        raise ParameterError(
            f"{table_path}: is a table of word vectors, which have no counted contexts: measure it "
            "by its bits, or by vectors"
        )
    counts_in_index = not table.fingerprint.is_syntactic
    if has_features(table.artifact) and (index_path is None or not counts_in_index):
        return StoredCosine(table)
    if not counts_in_index:
        raise ParameterError(
            f"{table_path}: no index holds the contexts of a syntactic table: sign it again with "
            "--set keep_features=true"
        )

    if index_path is None:
        if storage.Artifact(table_path).kind is not storage.INDEX:
            raise ParameterError(
                f"{table_path}: the table holds no contexts: name its index with --index INDEX, or "
                "sign it again with --set keep_features=true"
            )
        index_path = table_path
    return ExactCosine(CorpusIndex.open(index_path), table)


def opened_opposites(index: str, table: str | None = None) -> "Opposites":
    """Return what tells opposites, by an index and its own table, or another of the same words.

    Raises:
        ParameterError: what is named is no index.
    """
    from distsim import storage
    from distsim.comparison.opposites.opposites import Opposites
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.places import signatures_inside

    if storage.Artifact(index).kind is not storage.INDEX:
        raise ParameterError(f"{index}: opposites are told by an index: name the table's index")
    inside = signatures_inside(index).exists()
    signatures = SignatureTable.open(index if inside or table is None else table)
    return Opposites(CorpusIndex.open(index), signatures)


def opened_gapped(index: str, table: str | None = None) -> "GappedCosine":
    """Return what compares patterns with gaps, by an index and a learnt table, or its own.

    Raises:
        ParameterError: what is named is no index.
    """
    from distsim import storage
    from distsim.comparison.gapped.signatures import GappedCosine
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.places import signatures_inside

    if storage.Artifact(index).kind is not storage.INDEX:
        raise ParameterError(f"{index}: gaps are looked for in an index: name the table's index")
    signatures = None if table is None else SignatureTable.open(table)
    if signatures is None or (signatures.parts is None and signatures_inside(index).exists()):
        signatures = SignatureTable.open(index)
    return GappedCosine(CorpusIndex.open(index), signatures)


def pair_features(
    ngram: str | None, syntax: str | None, opposites: str | None = None
) -> "PairFeatures":
    """Return what computes features of pairs, with the tables and the index at these paths."""
    from distsim.comparison.table import SignatureTable
    from distsim.grammar.pair_features import PairFeatures

    return PairFeatures(
        ngram=None if ngram is None else SignatureTable.open(ngram),
        syntax=None if syntax is None else SignatureTable.open(syntax),
        opposites=None if opposites is None else opened_opposites(opposites, ngram),
    )


def learnt_cosine(
    table: "SignatureTable", table_path: str, index_path: str | None
) -> "LearntCosine | ComposedCosine":
    """Return real-valued cosines for a learnt table, from its index and its own projection.

    Those of a table of word vectors need no index.

    Raises:
        ParameterError: the table is not learnt, or lives in no index and none was given.
    """
    from distsim import storage
    from distsim.comparison.measures import ComposedCosine, LearntCosine
    from distsim.indexes.corpus_index import CorpusIndex

    if not table.fingerprint.is_learnt:
        raise ParameterError(
            f"{table_path}: was not signed by a learnt projection and has no real vectors: "
            "sign it with --preset learnt, or leave out vectors"
        )
    if table.fingerprint.is_of_vectors:
        return ComposedCosine(table)
    if index_path is None:
        if storage.Artifact(table_path).kind is not storage.INDEX:
            raise ParameterError(
                f"{table_path}: a table holds no contexts: name its index with --index INDEX"
            )
        index_path = table_path
    return LearntCosine(CorpusIndex.open(index_path), table)
