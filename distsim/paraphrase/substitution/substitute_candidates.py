"""Candidates for a target that is not found by stored profiles."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Words, check_types, plain_number
from distsim.base.errors import InputError, ParameterError, counted
from distsim.comparison.finder.inflections import Forms, LemmaVectors, as_bases
from distsim.comparison.finder.lexicon import Lexicon
from distsim.corpus.lines import read_line_blocks, split_lines
from distsim.corpus.sources import file_label
from distsim.grammar.fields import tokens
from distsim.grammar.formats import guess_format
from distsim.grammar.formats.grammar_format import GrammarFormat
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.paraphrase.paraphrasing_options import ParaphraseOptions
from distsim.signatures.table import StoredTable


@dataclass(frozen=True)
class SubstituteFeatures:
    """Features of candidates, each float64[n].

    likeness: cosine with the target, 0 where unknown. fit: cosine with the slot's own
    signature. fluency: ln p in the slot, less that of the target. frequency: ln(count + 1/2) of
    all forms, less the target's. centrality: how alike it is to the other candidates; shared_fit:
    how well those like it fit, both by `coherence`. scored: bool[n], False where nothing
    is known of a candidate.
    """

    likeness: np.ndarray
    fit: np.ndarray
    fluency: np.ndarray
    frequency: np.ndarray
    centrality: np.ndarray
    shared_fit: np.ndarray
    scored: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Mix:
    """Weights of the kinds of evidence in a substitute's score; 0 leaves a kind out.

    The defaults are RANKING's, for named candidates.

    Arguments:
        likeness, fit, centrality, shared_fit: weight of each cosine.
        fluency, frequency: weight of the natural logarithm of a probability and of a count.

    Raises:
        ParameterError: a weight is not a finite number.

    >>> Mix(fluency=0.0).likeness
    1.0
    """

    likeness: float = 1.0
    fit: float = 2.25
    fluency: float = 0.06
    frequency: float = 0.05
    centrality: float = 2.5
    shared_fit: float = 3.0

    def __post_init__(self) -> None:
        check_types(self)
        weights = list(asdict(self).values())
        if not all(np.isfinite(weights)):
            raise ParameterError(f"weights {weights}: choose finite numbers")

    def scores(self, evidence: SubstituteFeatures) -> np.ndarray:
        """Return the score of each candidate, float64[n], NaN where nothing is known of it.

        Arguments:
            evidence: that of n candidates.
        """
        total = np.zeros(evidence.scored.size)
        for kind, weight in asdict(self).items():
            if weight:
                total += weight * getattr(evidence, kind)
        return np.where(evidence.scored, total, np.nan)


RANKING = Mix()
# Of all words, unlike the few that people named, most fit and are fluent for no reason of theirs.
FINDING = Mix(fit=0.3, fluency=0.02, frequency=0.01, centrality=0.0, shared_fit=0.0)
# A phrase's candidates are found by their contexts, which tell more than the sentence: for each
# unit of ln p that a candidate is below the target, it loses such a share; and for each .01 that
# the cosine of its vector with the target's is below 1, .75%. Other forms of the phrase weigh as
# much as itself where it occurs so often. Of the first five in the 177 sentences on which these
# were chosen 260 are accepted, 235 of the paraphrases without the sentence.
_UNLIKELY = 0.005
_UNLIKELY_ALONE = 0.01  # the same where there are no learned vectors
_UNLIKE = 0.75
_ENOUGH = 200
_RAREST_FORM = 20  # other forms are asked that occur so often at least, and
_LEAST_OF_FORM = 0.1  # such a share of the target's occurrences
_UNKNOWN_CONTEXTS = 0.5  # of the cosine of words: the score of candidates of a grammar alone


def scores_of_phrases(
    scores: Sequence[float | None], features: SubstituteFeatures, *, by_vectors: bool = True
) -> np.ndarray:
    """Return the score of each candidate that was found for a phrase in a sentence, float64[n].

    It is the score without the sentence, less where the vectors of candidate and target are less
    alike, and where the sentence asks for the candidate less than for the target. Nothing is gained
    by it: in most places the commonest words are most fluent.

    Arguments:
        scores: of n candidates without the sentence, None where there is none.
        features: in the sentence.
        by_vectors: whether `likeness` is a cosine of learned vectors; if not, it takes nothing, and
            the sentence takes twice as much.
    """
    alone = [
        _UNKNOWN_CONTEXTS * max(0.0, cosine) if score is None else score
        for score, cosine in zip(scores, features.likeness.tolist(), strict=True)
    ]
    below = (_UNLIKELY if by_vectors else _UNLIKELY_ALONE) * np.minimum(0.0, features.fluency)
    if by_vectors:
        below += _UNLIKE * (np.minimum(1.0, features.likeness) - 1.0)
    return np.where(features.scored, np.array(alone) * np.exp(below), np.nan)


# -ln p(target | source) and -ln p(source | target), as `pivot` and packs name them.
NAMES = ("p(e|f)", "p(f|e)")
_UNKNOWN = 4.0  # of a rule without them


class ParaphraseGrammar:
    """Rules by source.

    Arguments:
        rules: of each source its targets, each with its -ln p(target | source) and -ln p(source |
            target); or a pack.

    >>> ParaphraseGrammar({("boy",): {("lad",): (1.5, 0.5)}}).of(("boy",))
    {('lad',): (1.5, 0.5)}
    """

    def __init__(self, rules: dict[Words, dict[Words, tuple[float, ...]]] | GrammarIndex) -> None:
        self._rules = rules

    @classmethod
    def read(cls, path: str | Path, sources: Iterable[Words]) -> "ParaphraseGrammar":
        """Return the rules of a pack, or of a grammar in any of the formats that `score` reads.

        Arguments:
            path: a pack's folder, or a file, plain or compressed; `-` for standard input.
            sources: the phrases whose rules are kept of a file, in lower case as grammars have
                them.

        Raises:
            InputError: a line is no rule; the message names it.
            ArtifactError: the folder is no pack.
        """
        if Path(path).is_dir():
            return cls(GrammarIndex.open(path))
        wanted = {" ".join(words).encode(): words for words in sources}
        rules: dict[Words, dict[Words, tuple[float, ...]]] = {}
        known: GrammarFormat | None = None
        for block in read_line_blocks(path):
            known = known or guess_format(block.text)
            for number, line in enumerate(split_lines(block.text), block.first_line):
                fields = known.fields(line)
                layout = known.layout
                if len(fields) <= max(layout.source, layout.target):
                    raise InputError(
                        f"{file_label(path)}, line {number}: "
                        f"{counted(len(fields), 'field')} separated by "
                        f"{known.separator}, too few for a rule: mend the line"
                    )
                source = wanted.get(b" ".join(tokens(fields[layout.source])))
                sides = tokens(fields[layout.target])
                if source is None or any(symbol.startswith(b"[") for symbol in sides):
                    continue
                target = tuple(word.decode(errors="replace") for word in sides)
                if target and target != source:
                    features = b"" if len(fields) <= layout.features else fields[layout.features]
                    rules.setdefault(source, {})[target] = _costs(features.decode(errors="replace"))
        return cls(rules)

    def of(self, target: Words) -> dict[Words, tuple[float, ...]]:
        """Return the targets of the rules for a source side, in the rules' order, with both costs.

        Arguments:
            target: the word or phrase to replace.
        """
        if isinstance(self._rules, dict):
            return self._rules.get(target, {})
        costs_of_words: dict[Words, tuple[float, ...]] = {}
        for rule in self._rules.rules(" ".join(target)):
            words = tuple(rule.target.split(" "))
            if words != target and not any(word.startswith("[") for word in words):
                costs = tuple(rule.features.get(name, _UNKNOWN) for name in NAMES)
                costs_of_words[words] = tuple(map(min, costs_of_words.get(words, costs), costs))
        return costs_of_words

    def of_all(self, targets: Iterable[Words]) -> dict[Words, tuple[float, ...]]:
        """Return the same of several forms of a target, the lowest costs of each.

        Arguments:
            targets: the words of each form.
        """
        costs_of_words: dict[Words, tuple[float, ...]] = {}
        for target in targets:
            for words, costs in self.of(target).items():
                known = costs_of_words.get(words, costs)
                costs_of_words[words] = tuple(map(min, known, costs))
        return costs_of_words


def _costs(features: str) -> tuple[float, ...]:
    """Return both costs of a rule's features, as text."""
    named = dict(feature.rpartition("=")[::2] for feature in features.split() if "=" in feature)
    values = (plain_number(named.get(name, "")) for name in NAMES)
    return tuple(_UNKNOWN if value is None else value for value in values)


MOST_FOUND = 200
_PARAPHRASER_BYTES = 32 << 20
SEARCHED_WORDS = 30_000
_BLOCK_WORDS = 4096
_CACHED_PHRASES = 256


class Candidate(NamedTuple):
    """Where a candidate was found.

    origin: `words`, `contexts` or `grammar`. score: by contexts, else None. form_in_text: the
    words in the form in which contexts found them, else ().
    """

    origin: str
    score: float | None
    form_in_text: Words = ()


class WordCandidates:
    """The words whose real-valued vectors are nearest to a target's, of the most frequent ones.

    Their vectors stay in the table's map and are read a block at a time.

    Arguments:
        lexicon: the words that occur.
        vectors: of words.
    """

    def __init__(self, lexicon: Lexicon, vectors: LemmaVectors) -> None:
        frequent = lexicon.most_frequent(SEARCHED_WORDS)
        words = [word for word in frequent if any(map(str.isalpha, word))]
        rows = vectors.space.rows(words)
        self._words = [word for word, row in zip(words, rows.tolist(), strict=True) if row >= 0]
        self._rows = rows[rows >= 0]
        self._vectors = vectors

    def of(self, target: Words, slot: np.ndarray, max_words: int) -> list[Words]:
        """Return the words nearest to the target, or to its slot where it has no vector.

        Nearest first; none where the slot has none either.

        Arguments:
            slot: float64[n_dimensions], the vector of its place in the sentence.
        """
        vector = self._vectors.of(target)
        if vector is None:
            vector = slot
        if not vector.any() or not self._words:
            return []
        wanted = vector.astype(np.float32)
        near = np.concatenate(
            [
                self._vectors.space.vectors_at(self._rows[first : first + _BLOCK_WORDS]) @ wanted
                for first in range(0, self._rows.size, _BLOCK_WORDS)
            ]
        )
        order = np.argsort(-near, kind="stable")[:max_words]
        return [(self._words[i],) for i in order.tolist()]


class SubstituteCandidates:
    """Finds candidates for targets that are no words of the finder; may be shared by threads.

    Words are found by their vectors; phrases, and words of a table without vectors, by the contexts
    that they share with the target.

    Arguments:
        table: the signatures.
        lexicon: the words that occur in the corpus.
        forms: inflected forms.
        vectors: vectors of words; None where the table is not learned.
        most: maximum number of candidates from each source.
        grammar: paraphrase rules whose targets are candidates; None: no rules.
    """

    def __init__(
        self,
        table: StoredTable,
        lexicon: Lexicon,
        forms: Forms,
        vectors: LemmaVectors | None,
        max_words: int,
        grammar: ParaphraseGrammar | None,
    ) -> None:
        self._forms = forms
        self._vectors = vectors
        self._max_words = max_words
        self._grammar = grammar
        options = ParaphraseOptions(k=max_words, depth=max_words, opposites="ranked")
        self._paraphraser = Paraphraser(
            lexicon.index, options=options, table=table, memory=_PARAPHRASER_BYTES
        )
        self._paraphrases = lru_cache(_CACHED_PHRASES)(self._paraphraser.paraphrases)
        self._lexicon = lexicon
        self._building = threading.Lock()
        self._words: WordCandidates | None = None

    def of(self, target: Words, slot: np.ndarray) -> dict[Words, Candidate]:
        """Return candidates, single words as base words, with where each was found.

        Without the target, its forms and what contains one of them.

        Arguments:
            slot: the occurrence's own signature, for a target that the corpus does not know.
            target: the word or phrase to replace.
        """
        by_words: dict[Words, Candidate] = {}
        for name, scores in self._sources(target, slot):
            for words, own in as_bases(target, scores, self._forms).items():
                known = by_words.get(words, Candidate("", None))
                score, form_in_text = known.score, known.form_in_text
                if score is None and scores[own] is not None:
                    score, form_in_text = scores[own], own
                by_words[words] = Candidate(
                    ",".join(filter(None, (known.origin, name))), score, form_in_text
                )
        return by_words

    def _sources(
        self, target: Words, slot: np.ndarray
    ) -> Iterator[tuple[str, dict[Words, float | None]]]:
        if self._vectors is not None and len(target) == 1:
            with self._building:
                self._words = self._words or WordCandidates(self._lexicon, self._vectors)
            yield "words", dict.fromkeys(self._words.of(target, slot, self._max_words))
        else:
            yield "contexts", self._by_contexts(target)
        if self._grammar is not None:
            yield "grammar", dict.fromkeys(self._grammar.of(target), None)

    def _by_contexts(self, target: Words) -> dict[Words, float | None]:
        """Return what shares contexts with a phrase or its other forms, in the target's form.

        The score is the mean of the target's and of what the other forms have, each weighing its
        occurrences. The target weighs more the more often it occurs: the senses of other forms may
        be others (*broke down* and *break down*).
        """
        phrases = self._forms.inflected(target) if len(target) > 1 else [target]
        count, *others = self._lexicon.index.count(list(map(" ".join, phrases))).tolist()
        least = max(_RAREST_FORM, _LEAST_OF_FORM * count)
        asked = {
            phrase: n for phrase, n in zip(phrases[1:], others, strict=True) if n >= least
        }  # fmt: skip
        weight = count / (count + _ENOUGH) if asked else 1.0
        total = sum(asked.values())
        weights = {target: weight} | {
            phrase: (1.0 - weight) * n / total for phrase, n in asked.items()
        }
        written: dict[Words, Words] = {}  # by base words
        sums: dict[Words, float] = {}
        for phrase, weight in weights.items():
            answers = self._paraphrases(" ".join(phrase))
            scores = {tuple(answer.phrase.split(" ")): answer.score for answer in answers}
            for words in as_bases(phrase, scores, self._forms).values():
                inflected = words
                if phrase != target:
                    inflected = self._forms.as_inflected(words, phrase, target) or ()
                if not inflected:
                    continue
                bases = tuple(map(self._forms.base, inflected))
                written.setdefault(bases, inflected)
                sums[bases] = sums.get(bases, 0.0) + weight * scores[words]
        return {written[bases]: score for bases, score in sums.items()}
