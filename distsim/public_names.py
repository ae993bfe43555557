"""The table of public names: which are at the root, which topic has the others, who defines them.

`distsim` and its topics (`distsim.grammar` and so on) load a name when it is first used. Their
`__all__`, `__dir__`, `__getattr__` and the stubs that type checkers read are made from this table;
`python -m tests.project.stubs` writes the stubs.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class Home(NamedTuple):
    """A module below distsim, the topic its public names belong to, and the names.

    root: names that `distsim` has as well. others: names that the topic alone has.
    """

    topic: str
    module: str
    root: str = ""
    others: str = ""


TABLE = (
    Home("base", "base.errors",
         "ArtifactError DistsimError IncompatibleError InputError ParameterError",
         "EarlierVersionWarning"),
    Home("base", "base.results", "to_frame", "Results"),
    Home("corpus", "corpus.annotated", "", "read_annotated"),
    Home("corpus", "corpus.annotating", "annotate"),
    Home("corpus", "corpus.documents", "", "Document"),
    Home("corpus", "corpus.inflections", "", "Inflections"),
    Home("corpus", "corpus.normaliser", "", "Normaliser"),
    Home("corpus", "corpus.annotators", "", "SpacyAnnotator StanzaAnnotator"),
    Home("indexes", "indexes.build", "IndexOptions"),
    Home("indexes", "indexes.corpus_index", "CorpusIndex", "ConcordanceLine"),
    Home("indexes", "indexes.grouping", "", "GroupCount counts_by"),
    Home("indexes", "indexes.collocation", "", "Collocate collocates"),
    Home("indexes", "indexes.phrase_lists", "", "Keyword keywords ListedPhrase list_phrases"),
    Home("indexes", "indexes.sketches", "",
         "SketchDifference SketchRelation SketchRow read_relations sketch "
         "sketch_difference sketch_spans"),
    Home("indexes", "indexes.subcorpora", "",
         "Subcorpus list_subcorpora remove_subcorpus save_subcorpus"),
    Home("indexes", "indexes.tracing", "", "Continuations Trace TracedSpan continuations trace"),
    Home("bitext", "bitext.aligner", "", "AlignerOptions"),
    Home("bitext", "bitext.bitext", "", "Bitext"),
    Home("bitext", "bitext.bitext_builder", "build_bitext"),
    Home("bitext", "bitext.sentence_pairs", "", "BitextOptions"),
    Home("contexts", "contexts.contrasting", "", "contrast"),
    Home("contexts", "contexts.ngram", "", "NamedContext NgramModel named_contexts"),
    Home("contexts", "contexts.phrase_store", "Selection"),
    Home("contexts", "contexts.sources.annotated", "", "AnnotatedText"),
    Home("contexts", "contexts.sources.counts", "", "NgramCounts"),
    Home("contexts", "contexts.sources.vectors", "", "GivenVectors VectorFile"),
    Home("contexts", "contexts.syntax.model", "", "SyntaxModel"),
    Home("contexts", "contexts.weights", "", "VectorModel"),
    Home("contexts", "contexts.weights", "", "Weighting"),
    Home("signatures", "signatures.composition", "", "Composition"),
    Home("signatures", "signatures.recipe", "PRESETS Recipe", "Fingerprint VECTORS"),
    Home("signatures", "signatures.projections.training", "", "Learning"),
    Home("signatures", "signatures.signing", "learn"),
    Home("signatures", "comparison.table", "SignatureTable merge_tables sign"),
    Home("comparison", "comparison.table", "", "CosineEvidence SimilarityEvidence group_senses"),
    Home("comparison", "comparison.gapped.search", "", "GappedNeighbour gapped_neighbours"),
    Home("comparison", "comparison.gapped.signatures", "", "GappedCosine"),
    Home("comparison", "comparison.mapping", "", "MapOptions Translation VectorMap WordPair"),
    Home("comparison", "comparison.measures",
         "EstimatedCosine ExactCosine similarities similarity",
         "Estimate LearnedCosine Similarity StoredCosine cosine"),
    Home("comparison", "comparison.nearest", "",
         "Neighbour NeighbourSearch SharedNeighbour neighbours_of_both "
         "rerank_neighbours"),
    Home("comparison", "comparison.opposites.language", "", "Language"),
    Home("comparison", "comparison.opposites.opposites", "", "OppositeEvidence Opposites"),
    Home("evaluation", "evaluation.correlations", "evaluate", "Result"),
    Home("evaluation", "evaluation.gold", "read_gold", "GoldSet"),
    Home("evaluation", "evaluation.rewritings", "", "integer_compression length_pairs"),
    Home("evaluation", "evaluation.judging", "",
         "JudgeAgreement Judgements SystemMarks read_forms write_forms"),
    Home("grammar", "grammar.alignment", "", "RuleAligner TrainingOptions"),
    Home("grammar", "grammar.block", "", "decompose"),
    Home("grammar", "grammar.extraction.extract", "extract_rules",
         "ExtractReport extract_phrase_table"),
    Home("grammar", "grammar.extraction.instances", "", "ExtractOptions"),
    Home("grammar", "grammar.pair_features", "", "LearnedWeights PairFeatures"),
    Home("grammar", "grammar.packs.grammar_index", "GrammarIndex", "PackedRule"),
    Home("grammar", "grammar.packs.pack", "pack_grammar", "PackOptions PackReport"),
    Home("grammar", "grammar.pipeline", "make_grammar", "MakeOptions MakeReport"),
    Home("grammar", "grammar.pivot", "pivot_grammar", "PivotOptions PivotReport"),
    Home("grammar", "grammar.ranking", "", "LearnedRanking learn_ranking"),
    Home("grammar", "grammar.rerank", "rerank_grammar", "PPDB_COST Ranking RerankReport"),
    Home("grammar", "grammar.score_file", "score_grammar", "ScoreReport"),
    Home("grammar", "grammar.score_writer", "", "OutputOptions"),
    Home("grammar", "grammar.scoring", "", "RuleScorer ScoreOptions"),
    Home("grammar", "grammar.terms", "", "Term bitext_terms tbx_lines"),
    Home("paraphrase", "paraphrase.augment", "augment_phrase_table",
         "AugmentOptions AugmentReport"),
    Home("paraphrase", "paraphrase.unknown_words.translator", "",
         "augment_unknown_words Monolingual RankedTranslation UnknownWord "
         "UnknownWordOptions UnknownWordReport"),
    Home("paraphrase", "paraphrase.records", "", "paraphrase_phrases ParaphraseStream"),
    Home("paraphrase", "comparison.finder.word_neighbours", "neighbours",
         "WordNeighbour WordNeighbours"),
    Home("paraphrase", "comparison.finder.word_profiles", "", "build_finder"),
    Home("paraphrase", "comparison.finder.word_substitutes", "", "FoundWord WordSubstitutes"),
    Home("paraphrase", "paraphrase.profiles", "", "KindCosine"),
    Home("paraphrase", "paraphrase.paraphrasing_options", "ParaphraseOptions"),
    Home("paraphrase", "paraphrase.paraphraser", "Paraphraser", "Answer Paraphrase"),
    Home("paraphrase", "paraphrase.rewriting.language_model", "", "ArpaModel IndexModel"),
    Home("paraphrase", "paraphrase.rewriting.rewriting_options", "RewriteOptions", "Weights"),
    Home("paraphrase", "paraphrase.rewriting.rewriter", "Rewriter", "Rewriting"),
    Home("paraphrase", "paraphrase.substitution.substitute_candidates", "", "Mix"),
    Home("paraphrase", "paraphrase.substitution.substituter", "Substituter", "Substitute"),
    Home("output", "output.exporting", "export", "word_vectors"),
    Home("output", "output.verification", "find_faults"),
    Home("cluster", "cluster.executors", "sign_on_spark", "SparkOptions"),
    Home("cluster", "cluster.annotation", "", "annotate_on_spark"),
    Home("cluster", "cluster.plan", "", "Division PlanOptions"),
)  # fmt: skip

TOPICS = tuple(dict.fromkeys(home.topic for home in TABLE))


def modules_of_names(topic: str | None = None) -> dict[str, str]:
    """Return the full name of the module that defines each public name, names in order.

    Arguments:
        topic: of which names; those of the root where None.

    >>> modules_of_names("evaluation")["GoldSet"]
    'distsim.evaluation.gold'
    """
    module_of_name: dict[str, str] = {}
    for home in TABLE:
        names = home.root if topic is None else f"{home.root} {home.others}"
        if topic in (None, home.topic):
            module_of_name |= dict.fromkeys(names.split(), f"distsim.{home.module}")
    return dict(sorted(module_of_name.items()))


def lazy_names(
    package: str,
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of `distsim` or of one of its topics.

    Arguments:
        package: its name.
    """
    topic = package.partition(".")[2] or None
    modules = modules_of_names(topic)
    topics = TOPICS if topic is None else ()

    def load(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        if name in topics:
            return import_module(f"{package}.{name}")
        now = next(
            (f"distsim.{topic}.{name}" for topic in TOPICS if name in modules_of_names(topic)), ""
        )
        if not now:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        sentence = f"{package}.{name} is {now}"
        # `from distsim import name` asks through importlib, which would hide an AttributeError.
        if sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap":
            raise ImportError(sentence, name=package)
        raise AttributeError(sentence)

    return list(modules), load, lambda: sorted([*modules, *topics])
