"""Distributional similarity for phrases, from plain text alone.

    from distsim import CorpusIndex, SignatureTable, similarity, neighbours

Public names are loaded when they are first used, so that importing distsim costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distsim.comparison import (
        ExactCosine,
        LearntCosine,
        Neighbour,
        NeighbourSearch,
        neighbours,
        similarities,
        similarity,
    )
    from distsim.contexts.ngram import NamedContext, named_contexts
    from distsim.contexts.weights import Weighting
    from distsim.corpus.normaliser import Normaliser
    from distsim.errors import (
        ArtifactError,
        DistsimError,
        IncompatibleError,
        InputError,
        ParameterError,
    )
    from distsim.grammar.decomposition import decompose
    from distsim.grammar.scoring import RuleScorer
    from distsim.indexes.build import IndexOptions
    from distsim.indexes.corpus_index import ConcordanceLine, CorpusIndex
    from distsim.signatures.counts import sign_counts
    from distsim.signatures.learn import Learning
    from distsim.signatures.merge import merge_tables
    from distsim.signatures.recipe import Recipe
    from distsim.signatures.sign import Selection
    from distsim.signatures.table import SignatureTable

_HOME = {
    "ArtifactError": "errors",
    "ConcordanceLine": "indexes.corpus_index",
    "CorpusIndex": "indexes.corpus_index",
    "DistsimError": "errors",
    "ExactCosine": "comparison",
    "IncompatibleError": "errors",
    "IndexOptions": "indexes.build",
    "InputError": "errors",
    "Learning": "signatures.learn",
    "LearntCosine": "comparison",
    "NamedContext": "contexts.ngram",
    "Neighbour": "comparison",
    "NeighbourSearch": "comparison",
    "Normaliser": "corpus.normaliser",
    "ParameterError": "errors",
    "Recipe": "signatures.recipe",
    "RuleScorer": "grammar.scoring",
    "Selection": "signatures.sign",
    "SignatureTable": "signatures.table",
    "Weighting": "contexts.weights",
    "named_contexts": "contexts.ngram",
    "merge_tables": "signatures.merge",
    "decompose": "grammar.decomposition",
    "neighbours": "comparison",
    "sign_counts": "signatures.counts",
    "similarities": "comparison",
    "similarity": "comparison",
}

__all__ = [
    "ArtifactError",
    "ConcordanceLine",
    "CorpusIndex",
    "DistsimError",
    "ExactCosine",
    "IncompatibleError",
    "IndexOptions",
    "InputError",
    "Learning",
    "LearntCosine",
    "NamedContext",
    "Neighbour",
    "NeighbourSearch",
    "Normaliser",
    "ParameterError",
    "Recipe",
    "RuleScorer",
    "Selection",
    "SignatureTable",
    "Weighting",
    "decompose",
    "merge_tables",
    "named_contexts",
    "neighbours",
    "sign_counts",
    "similarities",
    "similarity",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'distsim' has no attribute {name!r}")
    return getattr(import_module(f"distsim.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
