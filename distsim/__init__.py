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
        Estimate,
        EstimatedCosine,
        ExactCosine,
        LearntCosine,
        Similarity,
        StoredCosine,
        similarities,
        similarity,
    )
    from distsim.contexts.ngram import NamedContext, NgramModel, named_contexts
    from distsim.contexts.selection import Selection
    from distsim.contexts.sources.annotated import AnnotatedText
    from distsim.contexts.sources.counts import CountFiles
    from distsim.contexts.sources.vectors import GivenVectors, VectorFile
    from distsim.contexts.syntax.ccg import SpanLabels
    from distsim.contexts.syntax.model import SyntaxModel
    from distsim.contexts.vectors import VectorModel
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
    from distsim.evaluation.evaluate import evaluate
    from distsim.evaluation.gold import GoldSet, read_gold
    from distsim.export import to_frame, word_vectors
    from distsim.grammar.alignment import RuleAligner
    from distsim.grammar.decomposition import decompose
    from distsim.grammar.pivot import PivotOptions, PivotReport, pivot_grammar
    from distsim.grammar.rerank import PPDB_COST, Ranking, RerankReport, rerank_grammar
    from distsim.grammar.score_file import ExplainedPair, explain_grammar, score_grammar
    from distsim.grammar.score_report import ScoreReport
    from distsim.grammar.scoring import RuleScorer, ScoreOptions
    from distsim.grammar.training import TrainingOptions
    from distsim.grammar.written_scores import OutputOptions
    from distsim.indexes.build import IndexOptions
    from distsim.indexes.corpus_index import ConcordanceLine, CorpusIndex
    from distsim.nearest import Neighbour, NeighbourSearch, neighbours, rerank_neighbours
    from distsim.paraphrase.augment import AugmentReport, augment_phrase_table
    from distsim.paraphrase.options import ParaphraseOptions
    from distsim.paraphrase.paraphraser import Paraphrase, Paraphraser
    from distsim.signatures.composition import Composition
    from distsim.signatures.fingerprint import Fingerprint
    from distsim.signatures.merge import merge_tables
    from distsim.signatures.projections.learn import Learning
    from distsim.signatures.recipe import PRESETS, VECTORS, Recipe
    from distsim.signatures.sign import learn
    from distsim.signatures.table import SignatureTable, sign
    from distsim.substitution.inflections import Inflections
    from distsim.substitution.mix import Mix
    from distsim.substitution.substituter import Substitute, Substituter

_HOME = {
    "learn": "signatures.sign",
    "sign": "signatures.table",
    "Composition": "signatures.composition",
    "Fingerprint": "signatures.fingerprint",
    "NgramModel": "contexts.ngram",
    "CountFiles": "contexts.sources.counts",
    "AnnotatedText": "contexts.sources.annotated",
    "PRESETS": "signatures.recipe",
    "VECTORS": "signatures.recipe",
    "VectorFile": "contexts.sources.vectors",
    "GivenVectors": "contexts.sources.vectors",
    "VectorModel": "contexts.vectors",
    "AlignerOptions": "bitext.aligner",
    "ArtifactError": "errors",
    "Bitext": "bitext.bitext",
    "BitextOptions": "bitext.reading",
    "ConcordanceLine": "indexes.corpus_index",
    "CorpusIndex": "indexes.corpus_index",
    "DistsimError": "errors",
    "Estimate": "comparison",
    "EstimatedCosine": "comparison",
    "ExactCosine": "comparison",
    "GoldSet": "evaluation.gold",
    "Similarity": "comparison",
    "evaluate": "evaluation.evaluate",
    "read_gold": "evaluation.gold",
    "rerank_neighbours": "nearest",
    "IncompatibleError": "errors",
    "IndexOptions": "indexes.build",
    "Inflections": "substitution.inflections",
    "InputError": "errors",
    "Learning": "signatures.projections.learn",
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
    "AugmentReport": "paraphrase.augment",
    "ExplainedPair": "grammar.score_file",
    "OutputOptions": "grammar.written_scores",
    "PPDB_COST": "grammar.rerank",
    "PivotOptions": "grammar.pivot",
    "PivotReport": "grammar.pivot",
    "Ranking": "grammar.rerank",
    "RerankReport": "grammar.rerank",
    "RuleAligner": "grammar.alignment",
    "RuleScorer": "grammar.scoring",
    "ScoreOptions": "grammar.scoring",
    "ScoreReport": "grammar.score_report",
    "TrainingOptions": "grammar.training",
    "explain_grammar": "grammar.score_file",
    "pivot_grammar": "grammar.pivot",
    "rerank_grammar": "grammar.rerank",
    "score_grammar": "grammar.score_file",
    "Selection": "contexts.selection",
    "SignatureTable": "signatures.table",
    "SpanLabels": "contexts.syntax.ccg",
    "StoredCosine": "comparison",
    "Substitute": "substitution.substituter",
    "Substituter": "substitution.substituter",
    "SyntaxModel": "contexts.syntax.model",
    "Weighting": "contexts.weights",
    "augment_phrase_table": "paraphrase.augment",
    "build_bitext": "bitext.build",
    "to_frame": "export",
    "word_vectors": "export",
    "named_contexts": "contexts.ngram",
    "merge_tables": "signatures.merge",
    "decompose": "grammar.decomposition",
    "neighbours": "nearest",
    "read_annotated": "corpus.annotated",
    "similarities": "comparison",
    "similarity": "comparison",
}

__all__ = [
    "PPDB_COST",
    "PRESETS",
    "VECTORS",
    "AlignerOptions",
    "AnnotatedText",
    "ArtifactError",
    "AugmentReport",
    "Bitext",
    "BitextOptions",
    "Composition",
    "ConcordanceLine",
    "CorpusIndex",
    "CountFiles",
    "DistsimError",
    "Estimate",
    "EstimatedCosine",
    "ExactCosine",
    "ExplainedPair",
    "Fingerprint",
    "GivenVectors",
    "GoldSet",
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
    "NgramModel",
    "Normaliser",
    "OutputOptions",
    "ParameterError",
    "Paraphrase",
    "ParaphraseOptions",
    "Paraphraser",
    "PivotOptions",
    "PivotReport",
    "Ranking",
    "Recipe",
    "RerankReport",
    "RuleAligner",
    "RuleScorer",
    "ScoreOptions",
    "ScoreReport",
    "Selection",
    "SignatureTable",
    "Similarity",
    "SpanLabels",
    "StoredCosine",
    "Substitute",
    "Substituter",
    "SyntaxModel",
    "TrainingOptions",
    "VectorFile",
    "VectorModel",
    "Weighting",
    "augment_phrase_table",
    "build_bitext",
    "decompose",
    "evaluate",
    "explain_grammar",
    "learn",
    "merge_tables",
    "named_contexts",
    "neighbours",
    "pivot_grammar",
    "read_annotated",
    "read_gold",
    "rerank_grammar",
    "rerank_neighbours",
    "score_grammar",
    "sign",
    "similarities",
    "similarity",
    "to_frame",
    "word_vectors",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'distsim' has no attribute {name!r}")
    return getattr(import_module(f"distsim.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
