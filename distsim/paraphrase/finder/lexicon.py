"""Ids and counts of an index's words, looked up once each."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex

_CACHED_WORDS = 1 << 17


class Lexicon:
    """Ids and counts of the words of an index; may be shared by threads.

    Arguments:
        index: of the text.
    """

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index
        self._counts = index.word_counts().astype(np.int64)
        self._id = lru_cache(_CACHED_WORDS)(self._looked_up)

    def words(self, text: str) -> tuple[str, ...]:
        """Return the words of a text in the index's normal form; () for an empty text.

        Arguments:
            text: words separated by spaces.
        """
        return tuple(self.index.words(text)) if text.strip() else ()

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the id of every word, -1 where the index does not know it; int64.

        Arguments:
            words: in normal form.
        """
        return np.array([self._id(word) for word in words], np.int64)

    def counts(self, words: Sequence[str]) -> np.ndarray:
        """Return how often every word occurs, int64.

        Arguments:
            words: in normal form.
        """
        ids = self.ids(words)
        return np.where(ids > 0, self._counts[ids], 0)

    def counts_of(self, ids: np.ndarray) -> np.ndarray:
        """Return the number of occurrences of words, int64[n].

        Arguments:
            ids: int64[n], word ids above 0.
        """
        counts: np.ndarray = self._counts[ids]
        return counts

    def most_frequent(self, most: int) -> list[str]:
        """Return the most frequent words, the most frequent first.

        Arguments:
            most: maximum number of words.
        """
        order = np.argsort(-self._counts[1:], kind="stable")[:most] + 1
        return self.index.vocabulary.words(order[self._counts[order] > 0])

    def _looked_up(self, word: str) -> int:
        return int(self.index.vocabulary.find(hash_texts([word.encode(errors="surrogatepass")]))[0])
