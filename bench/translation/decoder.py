"""Source sentence -> its best translations: a phrase-based beam decoder, log-linear.

Features: every score of a Moses phrase table (as logarithms, however many there are), the
language model, target words, phrases, and the jumped distance where reordering is allowed. A
source word without any rule is copied, as Moses does.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from language_model import BEGIN, END, LanguageModel

from distsim.grammar.phrase_table import read_entries

LM, WORDS, PHRASES, JUMP = range(4)  # the features that stand before the table's scores
_FLOOR = 1e-7


@dataclass(frozen=True)
class Rule:
    """A target phrase and its scores as logarithms."""

    target: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Translation:
    """A translation and its feature values."""

    words: tuple[str, ...]
    features: tuple[float, ...]


class Table:
    """The rules of a phrase table that can apply to some sentences."""

    def __init__(self, path: Path, sentences: Sequence[Sequence[str]], longest: int = 5) -> None:
        needed = {
            " ".join(words[a:b]).encode()
            for words in sentences
            for a in range(len(words))
            for b in range(a + 1, min(len(words), a + longest) + 1)
        }
        self.rules: dict[str, list[Rule]] = defaultdict(list)
        self.n_scores = 0
        self.longest = longest
        for _, _, entry in read_entries(path):
            if entry is None:
                continue
            self.n_scores = len(entry.scores)
            if entry.source in needed:
                scores = tuple(math.log(max(_FLOOR, number)) for number in entry.numbers())
                rule = Rule(tuple(entry.target.decode().split()), scores)
                self.rules[entry.source.decode()].append(rule)


@dataclass
class _Hypothesis:
    score: float
    covered: int
    last: int
    history: tuple[str, ...]
    features: tuple[float, ...]
    words: tuple[str, ...]


class Decoder:
    """Translates sentences with given weights.

    Arguments:
        weights: LM, words, phrases, jump, then one for each score of the table.
        reordering: how far the decoder may jump from one phrase to the next; 0: monotone.
        beam: hypotheses kept for each number of covered words; options: rules for each span.
    """

    def __init__(
        self, table: Table, model: LanguageModel, weights: np.ndarray, reordering: int = 0,
        beam: int = 12, options: int = 8,
    ) -> None:  # fmt: skip
        self._table = table
        self._model = model
        self._weights = weights
        self._reordering = reordering
        self._beam = beam
        self._options = options

    def translate(self, words: Sequence[str], n_best: int = 1) -> list[Translation]:
        """Return the n best translations found, best first, each once."""
        n = len(words)
        spans = self._spans(words)
        stacks: list[dict[tuple, list[_Hypothesis]]] = [defaultdict(list) for _ in range(n + 1)]
        start = (BEGIN,) * (self._model.order - 1)
        zero = (0.0,) * (4 + self._table.n_scores)
        stacks[0][0, 0, start] = [_Hypothesis(0.0, 0, 0, start, zero, ())]
        for done in range(n):
            for one in self._kept(stacks[done], n_best):
                for (a, b), rules in spans.items():
                    if self._fits(one, a, b, n):
                        for rule, fixed in rules:
                            new = self._extended(one, a, b, rule, fixed, n)
                            stack = stacks[done + b - a]
                            stack[new.covered, new.last, new.history].append(new)
        return self._finished(stacks[n], n_best)

    def _spans(self, words: Sequence[str]) -> dict[tuple[int, int], list[tuple[Rule, float]]]:
        spans = {}
        for a in range(len(words)):
            for b in range(a + 1, min(len(words), a + self._table.longest) + 1):
                rules = self._table.rules.get(" ".join(words[a:b]), [])
                if not rules and b == a + 1:
                    rules = [Rule((words[a],), (0.0,) * self._table.n_scores)]
                if rules:
                    scored = [(self._fixed(rule), rule) for rule in rules]
                    best = heapq.nlargest(
                        self._options, scored, key=lambda pair: pair[0] + self._alone(pair[1])
                    )
                    spans[a, b] = [(rule, fixed) for fixed, rule in best]
        return spans

    def _fixed(self, rule: Rule) -> float:
        """Return what a rule adds wherever it applies: all but the language model and jumps."""
        weights = self._weights
        return (
            weights[WORDS] * len(rule.target)
            + weights[PHRASES]
            + float(np.dot(weights[4:], rule.scores))
        )

    def _alone(self, rule: Rule) -> float:
        history: tuple[str, ...] = ()
        total = 0.0
        for word in rule.target:
            total += self._model.score(history, word)
            history = (*history, word)[-(self._model.order - 1) :]
        return self._weights[LM] * total

    def _fits(self, one: _Hypothesis, a: int, b: int, n: int) -> bool:
        if self._reordering == 0:
            return a == one.last
        if one.covered & (((1 << (b - a)) - 1) << a):
            return False
        first = next(i for i in range(n + 1) if not one.covered >> i & 1)
        return abs(a - one.last) <= self._reordering and b - first <= self._reordering + (b - a)

    def _extended(
        self, one: _Hypothesis, a: int, b: int, rule: Rule, fixed: float, n: int
    ) -> _Hypothesis:
        history = one.history
        model = 0.0
        for word in rule.target:
            model += self._model.score(history, word)
            history = (*history, word)[-(self._model.order - 1) :]
        covered = one.covered | (((1 << (b - a)) - 1) << a)
        jump = -abs(a - one.last)
        if covered == (1 << n) - 1:
            model += self._model.score(history, END)
        score = one.score + fixed + self._weights[LM] * model + self._weights[JUMP] * jump
        old = one.features
        features = (
            old[LM] + model, old[WORDS] + len(rule.target), old[PHRASES] + 1.0, old[JUMP] + jump,
            *(x + y for x, y in zip(old[4:], rule.scores, strict=True)),
        )  # fmt: skip
        return _Hypothesis(score, covered, b, history, features, one.words + rule.target)

    def _kept(self, stack: dict[tuple, list[_Hypothesis]], n_best: int) -> list[_Hypothesis]:
        """Return the best hypotheses of a stack; of those that recombine, the n best."""
        kept: list[_Hypothesis] = []
        heads = heapq.nlargest(
            self._beam, stack.values(), key=lambda same: max(o.score for o in same)
        )
        for same in heads:
            kept += heapq.nlargest(min(n_best, 3), same, key=lambda o: o.score)
        return kept

    def _finished(self, stack: dict[tuple, list[_Hypothesis]], n_best: int) -> list[Translation]:
        found: dict[tuple[str, ...], _Hypothesis] = {}
        for one in sorted((o for same in stack.values() for o in same), key=lambda o: -o.score):
            found.setdefault(one.words, one)
            if len(found) == n_best:
                break
        return [Translation(one.words, one.features) for one in found.values()]
