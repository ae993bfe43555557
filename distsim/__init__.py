"""Distributional similarity for phrases, from plain text alone.

    from distsim import CorpusIndex, SignatureTable, similarity, neighbours

Public names are loaded when they are first used, so that importing distsim costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distsim.base.errors import (
        ArtifactError,
        DistsimError,
        IncompatibleError,
        InputError,
        ParameterError,
    )
    from distsim.base.results import Results, to_frame
    from distsim.bitext.aligner import AlignerOptions
    from distsim.bitext.bitext import Bitext
    from distsim.bitext.build import build_bitext
    from distsim.bitext.reading import BitextOptions
    from distsim.comparison.gapped.search import GappedNeighbour, gapped_neighbours
    from distsim.comparison.gapped.signatures import GappedCosine
    from distsim.comparison.measures import (
        Estimate,
        EstimatedCosine,
        ExactCosine,
        LearntCosine,
        Similarity,
        StoredCosine,
        similarities,
        similarity,
    )
    from distsim.comparison.neighbours import (
        Neighbour,
        NeighbourSearch,
        neighbours,
        rerank_neighbours,
    )
    from distsim.comparison.opposites.language import Language
    from distsim.comparison.opposites.opposites import OppositeEvidence, Opposites
    from distsim.contexts.contrast import contrast
    from distsim.contexts.ngram import NamedContext, NgramModel, named_contexts
    from distsim.contexts.selection import Selection
    from distsim.contexts.sources.annotated import AnnotatedText, PlainText
    from distsim.contexts.sources.counts import CountFiles
    from distsim.contexts.sources.vectors import GivenVectors, VectorFile
    from distsim.contexts.syntax.ccg import SpanLabels
    from distsim.contexts.syntax.model import SyntaxModel
    from distsim.contexts.vectors import VectorModel
    from distsim.contexts.weights import Weighting
    from distsim.corpus.annotated import read_annotated
    from distsim.corpus.annotating import annotate
    from distsim.corpus.inflections import Inflections
    from distsim.corpus.normaliser import Normaliser
    from distsim.corpus.spacy_text import SpacyAnnotator
    from distsim.corpus.stanza_text import StanzaAnnotator
    from distsim.evaluation.evaluate import Result, evaluate
    from distsim.evaluation.gold import GoldSet, read_gold
    from distsim.grammar.alignment import RuleAligner
    from distsim.grammar.decomposition import decompose
    from distsim.grammar.extraction.extract import ExtractReport, extract_rules
    from distsim.grammar.extraction.options import ExtractOptions
    from distsim.grammar.learnt_weights import LearntWeights
    from distsim.grammar.packs.grammar_index import GrammarIndex, PackedRule
    from distsim.grammar.packs.pack import PackOptions, PackReport, pack_grammar
    from distsim.grammar.pair_features import PairFeatures
    from distsim.grammar.pipeline import MakeOptions, MakeReport, make_grammar
    from distsim.grammar.pivot import PivotOptions, PivotReport, pivot_grammar
    from distsim.grammar.ranking import LearntRanking, learn_ranking
    from distsim.grammar.rerank import PPDB_COST, Ranking, RerankReport, rerank_grammar
    from distsim.grammar.score_file import ExplainedPair, explain_grammar, score_grammar
    from distsim.grammar.score_report import ScoreReport
    from distsim.grammar.score_writer import OutputOptions
    from distsim.grammar.scoring import RuleScorer, ScoreOptions
    from distsim.grammar.training import TrainingOptions
    from distsim.indexes.build import IndexOptions
    from distsim.indexes.corpus_index import ConcordanceLine, CorpusIndex
    from distsim.output.export import export, word_vectors
    from distsim.output.pictures.contexts import context_picture, contrast_picture
    from distsim.output.pictures.corpus import corpus_picture
    from distsim.output.pictures.phrase_map import neighbour_picture
    from distsim.output.verification import find_faults
    from distsim.paraphrase.augment import AugmentReport, augment_phrase_table
    from distsim.paraphrase.batch import paraphrase_phrases
    from distsim.paraphrase.kinds import KindCosine
    from distsim.paraphrase.options import ParaphraseOptions
    from distsim.paraphrase.paraphraser import Answer, Paraphrase, Paraphraser
    from distsim.paraphrase.substitution.mix import Mix
    from distsim.paraphrase.substitution.substituter import Substitute, Substituter
    from distsim.signatures.composition import Composition
    from distsim.signatures.fingerprint import Fingerprint
    from distsim.signatures.merge import merge_tables
    from distsim.signatures.projections.learn import Learning
    from distsim.signatures.recipe import PRESETS, VECTORS, Recipe
    from distsim.signatures.sign import learn
    from distsim.signatures.table import SignatureTable, sign

_HOME = {
    "PPDB_COST": "grammar.rerank",
    "PRESETS": "signatures.recipe",
    "VECTORS": "signatures.recipe",
    "AlignerOptions": "bitext.aligner",
    "AnnotatedText": "contexts.sources.annotated",
    "Answer": "paraphrase.paraphraser",
    "ArtifactError": "base.errors",
    "AugmentReport": "paraphrase.augment",
    "Bitext": "bitext.bitext",
    "BitextOptions": "bitext.reading",
    "Composition": "signatures.composition",
    "ConcordanceLine": "indexes.corpus_index",
    "CorpusIndex": "indexes.corpus_index",
    "CountFiles": "contexts.sources.counts",
    "DistsimError": "base.errors",
    "Estimate": "comparison.measures",
    "EstimatedCosine": "comparison.measures",
    "ExactCosine": "comparison.measures",
    "ExplainedPair": "grammar.score_file",
    "ExtractOptions": "grammar.extraction.options",
    "ExtractReport": "grammar.extraction.extract",
    "Fingerprint": "signatures.fingerprint",
    "GappedCosine": "comparison.gapped.signatures",
    "GappedNeighbour": "comparison.gapped.search",
    "gapped_neighbours": "comparison.gapped.search",
    "GivenVectors": "contexts.sources.vectors",
    "GoldSet": "evaluation.gold",
    "GrammarIndex": "grammar.packs.grammar_index",
    "IncompatibleError": "base.errors",
    "IndexOptions": "indexes.build",
    "Inflections": "corpus.inflections",
    "InputError": "base.errors",
    "KindCosine": "paraphrase.kinds",
    "Language": "comparison.opposites.language",
    "OppositeEvidence": "comparison.opposites.opposites",
    "Opposites": "comparison.opposites.opposites",
    "LearntRanking": "grammar.ranking",
    "LearntWeights": "grammar.learnt_weights",
    "PairFeatures": "grammar.pair_features",
    "learn_ranking": "grammar.ranking",
    "Learning": "signatures.projections.learn",
    "LearntCosine": "comparison.measures",
    "MakeOptions": "grammar.pipeline",
    "MakeReport": "grammar.pipeline",
    "Mix": "paraphrase.substitution.mix",
    "NamedContext": "contexts.ngram",
    "Neighbour": "comparison.neighbours",
    "NeighbourSearch": "comparison.neighbours",
    "NgramModel": "contexts.ngram",
    "Normaliser": "corpus.normaliser",
    "OutputOptions": "grammar.score_writer",
    "PackOptions": "grammar.packs.pack",
    "PackReport": "grammar.packs.pack",
    "PackedRule": "grammar.packs.grammar_index",
    "ParameterError": "base.errors",
    "Paraphrase": "paraphrase.paraphraser",
    "ParaphraseOptions": "paraphrase.options",
    "Paraphraser": "paraphrase.paraphraser",
    "PlainText": "contexts.sources.annotated",
    "PivotOptions": "grammar.pivot",
    "PivotReport": "grammar.pivot",
    "Ranking": "grammar.rerank",
    "Recipe": "signatures.recipe",
    "RerankReport": "grammar.rerank",
    "Results": "base.results",
    "Result": "evaluation.evaluate",
    "RuleAligner": "grammar.alignment",
    "RuleScorer": "grammar.scoring",
    "ScoreOptions": "grammar.scoring",
    "ScoreReport": "grammar.score_report",
    "Selection": "contexts.selection",
    "SignatureTable": "signatures.table",
    "Similarity": "comparison.measures",
    "SpacyAnnotator": "corpus.spacy_text",
    "SpanLabels": "contexts.syntax.ccg",
    "StanzaAnnotator": "corpus.stanza_text",
    "StoredCosine": "comparison.measures",
    "Substitute": "paraphrase.substitution.substituter",
    "Substituter": "paraphrase.substitution.substituter",
    "SyntaxModel": "contexts.syntax.model",
    "TrainingOptions": "grammar.training",
    "VectorFile": "contexts.sources.vectors",
    "VectorModel": "contexts.vectors",
    "Weighting": "contexts.weights",
    "annotate": "corpus.annotating",
    "augment_phrase_table": "paraphrase.augment",
    "build_bitext": "bitext.build",
    "decompose": "grammar.decomposition",
    "evaluate": "evaluation.evaluate",
    "explain_grammar": "grammar.score_file",
    "export": "output.export",
    "extract_rules": "grammar.extraction.extract",
    "find_faults": "output.verification",
    "learn": "signatures.sign",
    "contrast": "contexts.contrast",
    "context_picture": "output.pictures.contexts",
    "contrast_picture": "output.pictures.contexts",
    "corpus_picture": "output.pictures.corpus",
    "neighbour_picture": "output.pictures.phrase_map",
    "make_grammar": "grammar.pipeline",
    "merge_tables": "signatures.merge",
    "named_contexts": "contexts.ngram",
    "neighbours": "comparison.neighbours",
    "pack_grammar": "grammar.packs.pack",
    "paraphrase_phrases": "paraphrase.batch",
    "pivot_grammar": "grammar.pivot",
    "read_annotated": "corpus.annotated",
    "read_gold": "evaluation.gold",
    "rerank_grammar": "grammar.rerank",
    "rerank_neighbours": "comparison.neighbours",
    "score_grammar": "grammar.score_file",
    "sign": "signatures.table",
    "similarities": "comparison.measures",
    "similarity": "comparison.measures",
    "to_frame": "base.results",
    "word_vectors": "output.export",
}

__all__ = [
    "PPDB_COST",
    "PRESETS",
    "VECTORS",
    "AlignerOptions",
    "AnnotatedText",
    "Answer",
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
    "ExtractOptions",
    "ExtractReport",
    "Fingerprint",
    "GappedCosine",
    "GappedNeighbour",
    "GivenVectors",
    "GoldSet",
    "GrammarIndex",
    "IncompatibleError",
    "IndexOptions",
    "Inflections",
    "InputError",
    "KindCosine",
    "Language",
    "Learning",
    "LearntCosine",
    "LearntRanking",
    "LearntWeights",
    "MakeOptions",
    "MakeReport",
    "Mix",
    "NamedContext",
    "Neighbour",
    "NeighbourSearch",
    "NgramModel",
    "Normaliser",
    "OppositeEvidence",
    "Opposites",
    "OutputOptions",
    "PackOptions",
    "PackReport",
    "PackedRule",
    "PairFeatures",
    "ParameterError",
    "Paraphrase",
    "ParaphraseOptions",
    "Paraphraser",
    "PivotOptions",
    "PivotReport",
    "PlainText",
    "Ranking",
    "Recipe",
    "RerankReport",
    "Result",
    "Results",
    "RuleAligner",
    "RuleScorer",
    "ScoreOptions",
    "ScoreReport",
    "Selection",
    "SignatureTable",
    "Similarity",
    "SpacyAnnotator",
    "SpanLabels",
    "StanzaAnnotator",
    "StoredCosine",
    "Substitute",
    "Substituter",
    "SyntaxModel",
    "TrainingOptions",
    "VectorFile",
    "VectorModel",
    "Weighting",
    "annotate",
    "augment_phrase_table",
    "build_bitext",
    "context_picture",
    "contrast",
    "contrast_picture",
    "corpus_picture",
    "decompose",
    "evaluate",
    "explain_grammar",
    "export",
    "extract_rules",
    "find_faults",
    "gapped_neighbours",
    "learn",
    "learn_ranking",
    "make_grammar",
    "merge_tables",
    "named_contexts",
    "neighbour_picture",
    "neighbours",
    "pack_grammar",
    "paraphrase_phrases",
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


def home_of_names() -> dict[str, str]:
    """Return the module below distsim in which each public name is defined."""
    return dict(_HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
