"""Sentences -> a trigram language model: interpolated Kneser-Ney, natural logarithms, as arrays."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

BEGIN, END = "<s>", "</s>"
_BEGIN, _END = 0, 1
WORD_BITS = 20  # of a word's number, three of them in one key
NOWHERE = (1 << WORD_BITS) - 1  # as history: nothing is known of it


class Arrays(NamedTuple):
    """What the kernels take. Keys: word numbers packed, sorted; a miss falls back with `bow`."""

    keys3: np.ndarray
    logs3: np.ndarray
    contexts3: np.ndarray
    bows3: np.ndarray
    keys2: np.ndarray
    logs2: np.ndarray
    bows2: np.ndarray  # by word
    logs1: np.ndarray  # by word; the last one is of any unknown word


class LanguageModel:
    """Probability of a word after two others; unknown words share one probability."""

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        self.numbers: dict[str, int] = {BEGIN: _BEGIN, END: _END}
        flat: list[int] = []
        for words in sentences:
            flat += [_BEGIN, _BEGIN, *(self.number(word) for word in words), _END]
        self._n_known = len(self.numbers)
        if self._n_known >= 1 << (WORD_BITS - 1):
            raise ValueError(f"{self._n_known} words: at most {1 << (WORD_BITS - 1)}")
        self.arrays = _estimated(np.array(flat, np.int64), self._n_known)

    def number(self, word: str) -> int:
        """Return the number of a word; new words get new numbers, unknown to the model."""
        return self.numbers.setdefault(word, len(self.numbers))

    def knows(self, word: str) -> bool:
        """Return whether a word was in the sentences."""
        return self.numbers.get(word, self._n_known) < self._n_known

    def score(self, history: Sequence[str], word: str) -> float:
        """Return ln p(word | the last two words of a history, which begins with two BEGINs)."""
        u, v = (self.number(one) for one in history[-2:])
        return float(log_probability(self.arrays, u, v, self.number(word)))


def _estimated(flat: np.ndarray, n_words: int) -> Arrays:
    at = np.flatnonzero(flat != _BEGIN)
    u, v, w = flat[at - 2], flat[at - 1], flat[at]
    keys3, counts3 = np.unique(_packed(_packed(u, v), w), return_counts=True)
    two = (1 << 2 * WORD_BITS) - 1
    keys2, counts2 = np.unique(keys3 & two, return_counts=True)  # kinds of words before them
    raw2, raw_counts = np.unique(_packed(v, w), return_counts=True)
    firsts = keys2 >> WORD_BITS == _BEGIN  # nothing varies before these
    counts2[firsts] = raw_counts[np.searchsorted(raw2, keys2[firsts])]
    counts1 = np.bincount(keys2 & ((1 << WORD_BITS) - 1), minlength=n_words)

    discount = _discount(counts1[counts1 > 0])
    total = counts1.sum()
    mass = discount * np.count_nonzero(counts1) / total
    share = mass / (np.count_nonzero(counts1) + 1)
    ones = np.append(np.maximum(counts1 - discount, 0.0) / total, 0.0) + share

    contexts2, twos, bows = _interpolated(
        keys2 >> WORD_BITS, counts2, ones[keys2 & ((1 << WORD_BITS) - 1)]
    )
    bows2 = np.zeros(n_words)
    bows2[contexts2] = bows
    lower = twos[np.searchsorted(keys2, keys3 & two)]
    contexts3, threes, bows3 = _interpolated(keys3 >> WORD_BITS, counts3, lower)
    return Arrays(keys3, np.log(threes), contexts3, bows3, keys2, np.log(twos), bows2, np.log(ones))


def _interpolated(
    contexts: np.ndarray, counts: np.ndarray, lower: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (distinct contexts, probabilities, logs of the mass that each context leaves)."""
    discount = _discount(counts)
    distinct, where, kinds = np.unique(contexts, return_inverse=True, return_counts=True)
    totals = np.bincount(where, counts)
    mass = discount * kinds / totals
    return distinct, (counts - discount) / totals[where] + mass[where] * lower, np.log(mass)


def _discount(counts: np.ndarray) -> float:
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return once / (once + 2 * twice) if once and twice else 0.75


def _packed(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    return (high << WORD_BITS) | low


@njit(nogil=True, cache=True)
def log_probability(model, u, v, w):  # type: ignore[no-untyped-def]
    """Return ln p(w | u v)."""
    n_known = model.logs1.size - 1
    if w >= n_known:
        one = model.logs1[n_known]
    else:
        one = model.logs1[w]
    if v >= n_known:
        return one
    bits = np.int64(WORD_BITS)
    context = (np.int64(u) << bits) | v
    if u < n_known and w < n_known:
        key = (context << bits) | w
        at = np.searchsorted(model.keys3, key)
        if at < model.keys3.size and model.keys3[at] == key:
            return model.logs3[at]
    lower = model.bows2[v] + one
    if w < n_known:
        key = (np.int64(v) << bits) | w
        at = np.searchsorted(model.keys2, key)
        if at < model.keys2.size and model.keys2[at] == key:
            lower = model.logs2[at]
    if u < n_known:
        at = np.searchsorted(model.contexts3, context)
        if at < model.contexts3.size and model.contexts3[at] == context:
            return model.bows3[at] + lower
    return lower
