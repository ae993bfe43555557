"""Source sentence -> its best translations: a phrase-based beam decoder, log-linear.

Features: language model, target words, phrases, the jumped distance, copied words, copied words
that the language model does not know, then every score of a Moses phrase table as logarithm,
however many there are. A source word without any rule
of its own is copied, as Moses does; words in `copied` may also be copied where they have rules.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from language_model import NOWHERE, LanguageModel, log_probability
from search import CACHE, search

from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.paraphrase.augment import read_phrase_table

# The features that are before the table's scores.
LM, WORDS, PHRASES, JUMP, COPIED, UNKNOWN = range(6)
N_OWN = 6
LONGEST_SENTENCE = 60
_FLOOR = 1e-7


@dataclass(frozen=True)
class Translation:
    """A translation, its feature values and the rules it was made of (numbers in the table)."""

    words: tuple[str, ...]
    features: np.ndarray
    rules: tuple[int, ...]


class Table:
    """The rules of a phrase table that can apply to some sentences.

    sources: number of each source phrase. targets: target phrases, rule by rule, those of one
    source side by side. features: float64[rules, N_OWN + n_scores], what a rule adds wherever it
    applies. firsts: the rules of source i are firsts[i] to firsts[i + 1].

    Arguments:
        path: written by Moses, by `phrase_extraction` or by `distsim augment`.
        model: says which copied words it knows.
        copied: words that may be copied although the table has rules for them.
        plain: what is said where a token is copied, if not the token.
    """

    def __init__(
        self, path: Path, model: LanguageModel, sentences: Sequence[Sequence[str]],
        copied: Iterable[str] = (), longest: int = 5, plain: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        needed = {
            " ".join(words[a:b]).encode()
            for words in sentences
            for a in range(len(words))
            for b in range(a + 1, min(len(words), a + longest) + 1)
        }
        rules: dict[str, list[tuple[str, tuple[float, ...]]]] = {}
        self.n_scores = 0
        for _, entry in read_phrase_table(path, PHRASE_TABLE.parse):
            if entry is None:
                continue
            self.n_scores = len(entry.scores)
            if entry.source in needed:
                scores = tuple(math.log(max(_FLOOR, number)) for number in entry.numbers())
                rules.setdefault(entry.source.decode(), []).append((entry.target.decode(), scores))
        with_rules = set(rules)
        all_words = {word for words in sentences for word in words}
        self.copies = {w for w in all_words if w not in with_rules} | (all_words & set(copied))
        self.longest = longest
        self.sources: dict[str, int] = {}
        self.targets: list[list[str]] = []
        rows: list[list[float]] = []
        firsts = [0]
        for source in sorted(with_rules | self.copies):
            self.sources[source] = len(self.sources)
            for target, scores in rules.get(source, ()):
                self.targets.append(target.split())
                rows.append([0.0, len(self.targets[-1]), 1.0, 0.0, 0.0, 0.0, *scores])
            if source in self.copies:
                said = (plain or {}).get(source, source)
                self.targets.append([said])
                new = float(not model.knows(said))
                rows.append([0.0, 1.0, 1.0, 0.0, 1.0, new, *[0.0] * self.n_scores])
            firsts.append(len(rows))
        self.firsts = np.array(firsts)
        self.features = np.array(rows)

    @property
    def n_features(self) -> int:
        """Return how many weights a decoder needs."""
        return N_OWN + self.n_scores

    def spans(self, words: Sequence[str]) -> np.ndarray:
        """Return int64[s, 3]: begin, end and source number of each phrase with rules."""
        found = [
            (a, b, self.sources[phrase])
            for a in range(len(words))
            for b in range(a + 1, min(len(words), a + self.longest) + 1)
            if (phrase := " ".join(words[a:b])) in self.sources
        ]
        return np.array(found, np.int64).reshape(-1, 3)


class Decoder:
    """Translates sentences with given weights.

    Arguments:
        weights: float64[N_OWN + n_scores], the features above in their order.
        reordering: how far the decoder may jump from one phrase to the next; 0: monotone.
        beam: hypotheses extended for each number of covered words; options: rules for each span,
            those which are best by themselves.
    """

    def __init__(
        self, table: Table, model: LanguageModel, weights: np.ndarray, reordering: int = 0,
        beam: int = 12, options: int = 10,
    ) -> None:  # fmt: skip
        self._table = table
        self._model = model
        self._weights = weights
        self._reordering = reordering
        self._beam = beam
        words = [[model.number(word) for word in target] for target in table.targets]
        fixed = table.features @ weights
        alone = weights[LM] * np.array([self._alone(target) for target in words])
        source = np.repeat(np.arange(table.firsts.size - 1), np.diff(table.firsts))
        order = np.lexsort((np.arange(fixed.size), -(fixed + alone), source))
        order = order[np.arange(fixed.size) - table.firsts[source] < options]
        self._rules = order
        self._fixed, self._alone_scores = fixed[order], alone[order]
        sizes = np.array([phrase.count(" ") + 1 for phrase in table.sources])
        self._sizes = sizes[source[order]]
        self._firsts = np.searchsorted(source[order], np.arange(table.firsts.size))
        self._targets = np.cumsum([0, *(len(words[rule]) for rule in order)])
        self._words = np.array([word for rule in order for word in words[rule]], np.int64)
        self._cache_keys = np.full(CACHE, -1, np.int64)
        self._cache_values = np.zeros(CACHE)

    def translate(self, words: Sequence[str], n_best: int = 1) -> list[Translation]:
        """Return the n best translations found, best first, each once."""
        if not 0 < len(words) <= LONGEST_SENTENCE:
            raise ValueError(f"{len(words)} words: 1 to {LONGEST_SENTENCE} can be translated")
        rules, lengths, language, jumps = search(
            len(words), self._table.spans(words), self._firsts, self._fixed, self._alone_scores,
            self._sizes, self._targets, self._words, self._model.arrays, self._cache_keys,
            self._cache_values, self._weights[LM], self._weights[JUMP], self._reordering,
            self._beam, n_best,
        )  # fmt: skip
        found = []
        for i, n in enumerate(lengths.tolist()):
            used = self._rules[rules[i, :n]]
            features = self._table.features[used].sum(axis=0)
            features[LM], features[JUMP] = language[i], jumps[i]
            said = tuple(word for rule in used.tolist() for word in self._table.targets[rule])
            found.append(Translation(said, features, tuple(used.tolist())))
        return found

    def _alone(self, target: Sequence[int]) -> float:
        """Return the language model's score of a target phrase anywhere in a sentence."""
        u, v, total = NOWHERE, NOWHERE, 0.0
        for word in target:
            total += log_probability(self._model.arrays, u, v, word)
            u, v = v, word
        return total
