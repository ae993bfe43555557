"""Translations of several systems -> BLEU, chrF and their differences with intervals.

All by the statistics of sacrebleu. A system is given as the translations of several draws of
training data, of the same test sentences. Right for an unknown word is what an aligner, trained on
everything, links to it in the reference.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Words = Sequence[str]
_SAMPLES = 2_000


class Difference(NamedTuple):
    """Mean over the draws, and the ends of its 95% interval over test sentences and draws."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


class Metric:
    """BLEU or chrF of lower-cased tokens against one reference each."""

    def __init__(self, name: str, references: Sequence[Words]) -> None:
        from sacrebleu.metrics import BLEU, CHRF

        self.name = name
        self._metric = BLEU(tokenize="none", force=True) if name == "BLEU" else CHRF()
        self._references = [" ".join(words) for words in references]

    def statistics(self, translations: Sequence[Words]) -> np.ndarray:
        """Return the counts of each sentence, one row each."""
        texts = [" ".join(words) for words in translations]
        return np.array(self._metric._extract_corpus_statistics(texts, [self._references]))

    def score(self, statistics: np.ndarray) -> float:
        """Return the score of all sentences whose counts are given."""
        return self.of_sums(statistics.sum(axis=0))

    def of_sums(self, sums: np.ndarray) -> float:
        """Return the score of summed counts."""
        return float(self._metric._compute_score_from_stats(sums.tolist()).score)

    def mean(self, draws: Sequence[Sequence[Words]]) -> float:
        """Return the mean of the scores of several draws."""
        return float(np.mean([self.score(self.statistics(one)) for one in draws]))

    def difference(
        self, before: Sequence[Sequence[Words]], after: Sequence[Sequence[Words]]
    ) -> Difference:
        """Return how much better `after` is: Koehn's paired bootstrap, sentences and draws.

        The same sentences are drawn for both systems and all draws of training data, and the
        draws of training data are drawn, too.
        """
        old = np.array([self.statistics(one) for one in before], np.float64)
        new = np.array([self.statistics(one) for one in after], np.float64)
        n_draws, n_sentences = old.shape[:2]
        rng = np.random.default_rng(1)
        gaps = []
        for _ in range(_SAMPLES):
            times = np.bincount(rng.integers(0, n_sentences, n_sentences), minlength=n_sentences)
            sums = np.einsum("s,dsk->dk", times, new), np.einsum("s,dsk->dk", times, old)
            drawn = rng.integers(0, n_draws, n_draws)
            each = {d: self.of_sums(sums[0][d]) - self.of_sums(sums[1][d]) for d in set(drawn)}
            gaps.append(float(np.mean([each[d] for d in drawn])))
        low, high = np.percentile(gaps, [2.5, 97.5])
        mean = np.mean([self.score(b) - self.score(a) for a, b in zip(old, new, strict=True)])
        return Difference(float(mean), float(low), float(high))


class Wanted(NamedTuple):
    """An unknown word of a test sentence, and the words of the reference aligned to it."""

    sentence: int
    word: str
    words: tuple[str, ...]


def recall(wanted: Sequence[Wanted], translations: Sequence[Words]) -> float:
    """Return the share of the reference's words for unknown words that a translation has."""
    found = total = 0
    for one in wanted:
        total += len(one.words)
        found += sum(word in translations[one.sentence] for word in one.words)
    return found / max(1, total)


def mean_by_type(values: Sequence[float], types: Sequence[str]) -> str:
    """Return the mean in percent with its 95% interval, types of words drawn with replacement."""
    numbers = np.unique(np.array(types), return_inverse=True)[1]
    n = numbers.max() + 1
    sums = np.bincount(numbers, np.asarray(values, float), n)
    times = np.bincount(numbers, minlength=n)
    drawn = np.random.default_rng(1).multinomial(n, np.full(n, 1 / n), _SAMPLES)
    low, high = 100 * np.percentile((drawn @ sums) / (drawn @ times), [2.5, 97.5])
    return f"{100 * np.mean(values):.1f} [{low:.1f}, {high:.1f}]"
