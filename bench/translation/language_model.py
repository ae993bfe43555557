"""Sentences -> an n-gram language model: interpolated absolute discounting, log10 scores."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache

BEGIN, END = "<s>", "</s>"
_DISCOUNT = 0.75


class LanguageModel:
    """Probability of a word after up to order - 1 others; unknown words share one count."""

    def __init__(self, sentences: Iterable[list[str]], order: int = 3) -> None:
        self.order = order
        self._counts: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(order + 1)]
        self._kinds: dict[tuple[str, ...], int] = defaultdict(int)
        self._totals: Counter[tuple[str, ...]] = Counter()
        for sentence in sentences:
            words = [BEGIN] * (order - 1) + sentence + [END]
            for at in range(order - 1, len(words)):
                for n in range(1, order + 1):
                    gram = tuple(words[at - n + 1 : at + 1])
                    if not self._counts[n][gram]:
                        self._kinds[gram[:-1]] += 1
                    self._counts[n][gram] += 1
                    self._totals[gram[:-1]] += 1
        self._n_words = len(self._counts[1]) + 1
        self.score = lru_cache(1 << 20)(self._score)

    def _score(self, history: tuple[str, ...], word: str) -> float:
        """Return ln p(word | history); history of order - 1 words at most."""
        return math.log(self._probability(history, word))

    def _probability(self, history: tuple[str, ...], word: str) -> float:
        lower = 1.0 / self._n_words if not history else self._probability(history[1:], word)
        total = self._totals.get(history, 0)
        if not total:
            return lower
        count = self._counts[len(history) + 1].get((*history, word), 0)
        mass = _DISCOUNT * self._kinds[history] / total
        return max(0.0, count - _DISCOUNT) / total + mass * lower
