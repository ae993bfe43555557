"""How alike the words right beside two phrases are: those of one grammatical kind share them."""

import numpy as np

from distsim.indexes.corpus_index import CorpusIndex
from distsim.paraphrase.occurrences import SampledOccurrences, words_around

COMMON = 150  # words: function words and punctuation, whatever the language
_LAST_BYTES = 256


def commonest(index: CorpusIndex) -> np.ndarray:
    """Return the ids of the commonest words of an index, int64, the commonest first.

    Arguments:
        index: of the text.
    """
    ids: np.ndarray = np.argsort(-index.word_counts().astype(np.int64), kind="stable")[:COMMON]
    return ids


class WordsBeside:
    """Kinds of the words right beside phrases; may be shared by threads.

    Each of the commonest words and the sentence's edge is a kind of its own. Other words are of one
    kind that end in the same letter, as inflected words do.

    Arguments:
        index: of the phrases.
    """

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index
        vocabulary = index.vocabulary
        ends = vocabulary.offsets[2:].astype(np.int64)
        kinds = np.zeros(index.n_words, np.int64)
        kinds[1:] = vocabulary.text[np.maximum(ends - 1, 0)]
        own = np.append(commonest(index), 0)
        kinds[own] = _LAST_BYTES + np.arange(own.size)
        self._kinds, self._n_kinds = kinds, _LAST_BYTES + own.size

    def likeness(self, focal: SampledOccurrences, others: SampledOccurrences) -> np.ndarray:
        """Return how alike the words beside a phrase and each of n others are, float64[n], 0 to 1.

        The Bhattacharyya coefficient of the shares of the kinds on the left, times that on the
        right (Bhattacharyya 1943), each divided by what so many occurrences of the one phrase
        itself would have, so that rare phrases do not lose by their few occurrences.

        Arguments:
            focal: occurrences of the one phrase. others: of the others.
        """
        alike = np.ones(others.counts.size)
        taken = np.maximum(1, np.diff(others.starts))
        for one, many in zip(self._shares(focal), self._shares(others), strict=True):
            alike *= np.minimum(1.0, np.sqrt(one * many).sum(axis=1) / _expected(one[0], taken))
        return alike

    def _shares(self, phrases: SampledOccurrences) -> list[np.ndarray]:
        """Return the shares of kinds on the left and on the right, float64[n, kinds] each."""
        n, sizes = phrases.counts.size, np.diff(phrases.starts)
        lengths = np.repeat(phrases.lengths, sizes)
        rows = words_around(self._index, phrases.positions, lengths, 1)
        places = np.repeat(np.arange(n), sizes) * self._n_kinds
        shares = []
        for side in range(2):
            counted = np.bincount(places + self._kinds[rows[:, side]], minlength=n * self._n_kinds)
            shares.append(counted.reshape(n, self._n_kinds) / np.maximum(1, sizes)[:, None])
        return shares


def _expected(shares: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Return the coefficient to be expected of samples of the same shares, float64[n].

    The mean of the square root of a count of mean m is about m / sqrt(m + 1/4 + 3/4 exp(-m)): as a
    Poisson count's where m is small and where it is large.

    Arguments:
        shares: float64[kinds], the true ones. taken: int64[n], the size of each sample.
    """
    shares = shares[shares > 0.0]
    means = taken[:, None] * shares
    roots = means / np.sqrt(means + 0.25 + 0.75 * np.exp(-means))
    expected: np.ndarray = (roots * np.sqrt(shares)).sum(axis=1) / np.sqrt(taken)
    return expected
