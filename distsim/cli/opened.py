"""What commands open of the paths of a command line: measures, models, rules; and examples."""

from typing import TYPE_CHECKING

from distsim.base.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distsim.comparison.gapped.signatures import GappedCosine
    from distsim.comparison.opposites.opposites import Opposites
    from distsim.comparison.table import SimilarityEvidence
    from distsim.grammar.pair_features import PairFeatures
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.rewriting.language_model import LanguageModel
    from distsim.paraphrase.substitution.substitute_candidates import ParaphraseGrammar
    from distsim.paraphrase.substitution.substituter import Substituter
    from distsim.signatures.table import StoredTable


def language_model(path: str | None) -> "LanguageModel":
    """Return the language model at a path.

    Arguments:
        path: the folder of an index, or a file in ARPA format.

    Raises:
        ParameterError: no path is given.
    """
    from pathlib import Path

    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.rewriting.language_model import ArpaModel, IndexModel

    if path is None:
        raise ParameterError("name the language model, an index or an ARPA file, with --index")
    return ArpaModel(path) if Path(path).is_file() else IndexModel(CorpusIndex.open(path))


def fit_of_words(path: str | None) -> "Substituter | None":
    """Return a scorer of words in other words' places, None where the path is no signed index.

    Arguments:
        path: the folder of an index, or another path.
    """
    from pathlib import Path

    from distsim.comparison.finder.word_finder import WordOptions
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.substitution.substituter import Substituter
    from distsim.storage.manifest import signatures_inside

    if path is None or not Path(path).is_dir() or not signatures_inside(path).exists():
        return None
    index = CorpusIndex.open(path)
    return Substituter(index, index, words=WordOptions(opposites=False))


def examples(index: "CorpusIndex", phrase: str) -> tuple[str, ...]:
    """Return up to two passages of a corpus with a phrase in brackets, evenly spaced.

    Arguments:
        phrase: words separated by spaces.
    """
    return tuple(
        " ".join(f"{line.left} [{line.node}] {line.right}".split())
        for line in index.concordance(phrase, sample=2, width=6)
    )


def rules_of_words(
    grammar: str, index: "CorpusIndex", targets: "Iterable[str]"
) -> "ParaphraseGrammar":
    """Return the rules of some targets, and of all forms of those that are one word.

    Arguments:
        grammar: path of a grammar or of a pack.
        index: gives the words' normal form.
        targets: words or phrases.
    """
    from distsim.corpus.inflections import Inflections
    from distsim.paraphrase.substitution.substitute_candidates import ParaphraseGrammar

    forms, sources = Inflections.open(index.language), set()
    for target in targets:
        words = tuple(index.words(target))
        sources.add(words)
        if len(words) == 1:
            bases = [words[0], *forms.bases(words[0], lambda _: True)]
            sources |= {(form,) for base in bases for form in forms.forms(base)}
    return ParaphraseGrammar.read(grammar, sources)


def opened_opposites(index: str, table: str | None = None) -> "Opposites":
    """Return the measure of opposites of an index, by its own table or another of the same words.

    Raises:
        ParameterError: `index` is not an index.
    """
    from distsim.comparison.opposites.opposites import Opposites
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.storage.manifest import signatures_inside

    _require_index(index, "opposites are found in an index")
    inside = signatures_inside(index).exists()
    signatures = SignatureTable.open(index if inside or table is None else table)
    return Opposites(CorpusIndex.open(index), signatures)


def opened_gapped(index: str, table: str | None = None) -> "GappedCosine":
    """Return the similarity of patterns with gaps, by an index and a learned table, or its own.

    Raises:
        ParameterError: `index` is not an index.
    """
    from distsim.comparison.gapped.signatures import GappedCosine
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.storage.manifest import signatures_inside

    _require_index(index, "gaps are looked up in an index")
    signatures = None if table is None else SignatureTable.open(table)
    if signatures is None or (signatures.parts is None and signatures_inside(index).exists()):
        signatures = SignatureTable.open(index)
    return GappedCosine(CorpusIndex.open(index), signatures)


def _require_index(path: str, why: str) -> None:
    from distsim import storage

    if storage.Artifact(path).kind is not storage.INDEX:
        raise ParameterError(f"{path}: {why}: name the table's index")


def opened_evidence(
    table: "StoredTable", index: "CorpusIndex | str | None"
) -> "SimilarityEvidence":
    """Return the evidence of a table, with contexts where it is in an index or one is named.

    Arguments:
        table: the opened table.
        index: an index or its path; None: the one that contains the table.
    """
    from distsim.comparison.table import SimilarityEvidence

    has_no_contexts = table.fingerprint.is_syntactic or table.fingerprint.is_of_vectors
    if index is None and not has_no_contexts:
        index = table.around
    return SimilarityEvidence(table, index)


def pair_features(
    ngram: str | None, syntax: str | None, opposites: str | None = None
) -> "PairFeatures":
    """Return the features of pairs of phrases, by tables and an index.

    Arguments:
        ngram, syntax: paths of signature tables; None: without.
        opposites: path of an index, for features of opposites; None: without.
    """
    from distsim.comparison.table import SignatureTable
    from distsim.grammar.pair_features import PairFeatures

    return PairFeatures(
        ngram=None if ngram is None else SignatureTable.open(ngram),
        syntax=None if syntax is None else SignatureTable.open(syntax),
        opposites=None if opposites is None else opened_opposites(opposites, ngram),
    )
