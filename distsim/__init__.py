"""Distributional similarity for phrases, from plain text alone.

    from distsim import CorpusIndex, SignatureTable, similarity, neighbours

Public names are loaded when they are first used, so that importing distsim costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distsim.bitext.aligner import AlignerOptions
    from distsim.bitext.bitext import Bitext
    from distsim.bitext.build import build_bitext
    from distsim.bitext.reading import BitextOptions
    from distsim.comparison import (
        ExactCosine,
        LearntCosine,
        StoredCosine,
        similarities,
        similarity,
    )
    from distsim.contexts.ngram import NamedContext, named_contexts
    from distsim.contexts.syntax.ccg import SpanLabels
    from distsim.contexts.syntax.model import SyntaxModel
    from distsim.contexts.weights import Weighting
    from distsim.corpus.annotated import read_annotated
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
    from distsim.nearest import Neighbour, NeighbourSearch, neighbours
    from distsim.paraphrase.augment import augment_phrase_table
    from distsim.paraphrase.options import ParaphraseOptions
    from distsim.paraphrase.paraphraser import Paraphrase, Paraphraser
    from distsim.signatures.counts import sign_counts
    from distsim.signatures.learn import Learning
    from distsim.signatures.merge import merge_tables
    from distsim.signatures.recipe import PRESETS, Recipe
    from distsim.signatures.sign import Selection
    from distsim.signatures.syntax import SyntaxRecipe, sign_annotated
    from distsim.signatures.table import SignatureTable
    from distsim.substitution.inflections import Inflections
    from distsim.substitution.mix import Mix
    from distsim.substitution.substituter import Substitute, Substituter

_HOME = {
    "PRESETS": "signatures.recipe",
    "AlignerOptions": "bitext.aligner",
    "ArtifactError": "errors",
    "Bitext": "bitext.bitext",
    "BitextOptions": "bitext.reading",
    "ConcordanceLine": "indexes.corpus_index",
    "CorpusIndex": "indexes.corpus_index",
    "DistsimError": "errors",
    "ExactCosine": "comparison",
    "IncompatibleError": "errors",
    "IndexOptions": "indexes.build",
    "Inflections": "substitution.inflections",
    "InputError": "errors",
    "Learning": "signatures.learn",
    "LearntCosine": "comparison",
    "Mix": "substitution.mix",
    "NamedContext": "contexts.ngram",
    "Neighbour": "nearest",
    "NeighbourSearch": "nearest",
    "Normaliser": "corpus.normaliser",
    "Paraphrase": "paraphrase.paraphraser",
    "ParaphraseOptions": "paraphrase.options",
    "Paraphraser": "paraphrase.paraphraser",
    "ParameterError": "errors",
    "Recipe": "signatures.recipe",
    "RuleScorer": "grammar.scoring",
    "Selection": "signatures.sign",
    "SignatureTable": "signatures.table",
    "SpanLabels": "contexts.syntax.ccg",
    "StoredCosine": "comparison",
    "Substitute": "substitution.substituter",
    "Substituter": "substitution.substituter",
    "SyntaxModel": "contexts.syntax.model",
    "SyntaxRecipe": "signatures.syntax",
    "Weighting": "contexts.weights",
    "augment_phrase_table": "paraphrase.augment",
    "build_bitext": "bitext.build",
    "named_contexts": "contexts.ngram",
    "merge_tables": "signatures.merge",
    "decompose": "grammar.decomposition",
    "neighbours": "nearest",
    "read_annotated": "corpus.annotated",
    "sign_annotated": "signatures.syntax",
    "sign_counts": "signatures.counts",
    "similarities": "comparison",
    "similarity": "comparison",
}

__all__ = [
    "PRESETS",
    "AlignerOptions",
    "ArtifactError",
    "Bitext",
    "BitextOptions",
    "ConcordanceLine",
    "CorpusIndex",
    "DistsimError",
    "ExactCosine",
    "IncompatibleError",
    "IndexOptions",
    "Inflections",
    "InputError",
    "Learning",
    "LearntCosine",
    "Mix",
    "NamedContext",
    "Neighbour",
    "NeighbourSearch",
    "Normaliser",
    "ParameterError",
    "Paraphrase",
    "ParaphraseOptions",
    "Paraphraser",
    "Recipe",
    "RuleScorer",
    "Selection",
    "SignatureTable",
    "SpanLabels",
    "StoredCosine",
    "Substitute",
    "Substituter",
    "SyntaxModel",
    "SyntaxRecipe",
    "Weighting",
    "augment_phrase_table",
    "build_bitext",
    "decompose",
    "merge_tables",
    "named_contexts",
    "neighbours",
    "read_annotated",
    "sign_annotated",
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
