"""Ids and counts of an index's words, looked up once each."""

from collections.abc import Iterable, Sequence

import numpy as np

from distsim.corpus.vocabulary import Vocabulary, hash_texts
from distsim.indexes.corpus_index import CorpusIndex

_CACHED_WORDS = 1 << 18
_MOST_WORDS = 1 << 20  # of an index whose words are all read at once: 0.1 GB of them
# Words that were looked up, from which on all are read: .2 s for a million.
_MAX_LOOKED_UP = 1 << 14


class CountedWords:
    """Ids and counts of words; may be shared by threads.

    Arguments:
        vocabulary: the words.
        counts: uint64[n_words], how often each occurs, by id.
    """

    def __init__(self, vocabulary: Vocabulary, counts: np.ndarray) -> None:
        self.vocabulary = vocabulary
        self._counts = counts.astype(np.int64)
        self._count_of = self._counts.data  # whose items are Python's whole numbers
        self._ids: dict[str, int] = {}
        self._counted: dict[str, int] = {}
        self._has_all = False
        self._n_learned = 0

    @property
    def n_words(self) -> int:
        """Distinct words, plus one for the sentence boundary."""
        return self._counts.size

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the id of every word, -1 where the index does not know it; int64.

        Arguments:
            words: in normal form.
        """
        return np.array([self._id(word) for word in words], np.int64)

    def count(self, word: str) -> int:
        """Return how often one word occurs.

        Arguments:
            word: in normal form.
        """
        if self._has_all:
            number = self._ids.get(word, 0)
            return self._count_of[number] if number else 0
        count = self._counted.get(word)
        if count is None:
            number = self._id(word)
            count = self._count_of[number] if number > 0 else 0
            self._counted[word] = count
        return count

    def learn(self, words: Iterable[str]) -> None:
        """Look up words that will be asked for one by one: together they take a fifth of the time.

        Arguments:
            words: in normal form; one may come several times.
        """
        if self._has_all:
            return
        missing = [word for word in dict.fromkeys(words) if word not in self._ids]
        self._n_learned += len(missing)
        if self._n_learned > _MAX_LOOKED_UP:
            self.learn_all()
            if self._has_all:
                return
        hashes = hash_texts([word.encode(errors="surrogatepass") for word in missing])
        ids = self.vocabulary.find(hashes)
        self._keep(missing, ids.tolist())
        self._counted.update(zip(missing, self._counts_at(ids).tolist(), strict=True))

    def learn_all(self) -> None:
        """Read all words of the index, unless they are too many, and look none up any more.

        For what asks for most of them, and for many that do not occur: one by one these take
        twenty times as long.
        """
        if self.n_words <= _MOST_WORDS:
            numbers = np.arange(1, self.n_words)
            words = self.vocabulary.words(numbers)
            self._ids = dict(zip(words, numbers.tolist(), strict=True))
            self._has_all = True

    def counts(self, words: Sequence[str]) -> np.ndarray:
        """Return how often every word occurs, int64.

        Arguments:
            words: in normal form.
        """
        return self._counts_at(self.ids(words))

    def _counts_at(self, ids: np.ndarray) -> np.ndarray:
        return np.where(ids > 0, self._counts[ids], 0)

    def counts_of(self, ids: np.ndarray) -> np.ndarray:
        """Return the number of occurrences of words, int64[n].

        Arguments:
            ids: int64[n], word ids above 0.
        """
        counts: np.ndarray = self._counts[ids]
        return counts

    def most_frequent(self, n_words: int) -> list[str]:
        """Return the most frequent words, the most frequent first.

        Arguments:
            n_words: maximum number of words.
        """
        order = np.argsort(-self._counts[1:], kind="stable")[:n_words] + 1
        return self.vocabulary.words(order[self._counts[order] > 0])

    def _id(self, word: str) -> int:
        """Return the id of a word in normal form, -1 where the index does not know it."""
        number = self._ids.get(word)
        if number is None:
            if self._has_all:
                return -1
            number = self.vocabulary.number(word)
            self._keep([word], [number])
        return number

    def _keep(self, words: Sequence[str], numbers: Sequence[int]) -> None:
        if len(self._ids) + len(words) > _CACHED_WORDS:
            self._ids.clear()
            self._counted.clear()
        self._ids.update(zip(words, numbers, strict=True))


class Lexicon(CountedWords):
    """Ids and counts of the words of an index; may be shared by threads.

    Arguments:
        index: of the text.
    """

    def __init__(self, index: CorpusIndex) -> None:
        super().__init__(index.vocabulary, index.word_counts())
        self.index = index

    def words(self, text: str) -> tuple[str, ...]:
        """Return the words of a text in the index's normal form; () for an empty text.

        Arguments:
            text: words separated by spaces.
        """
        return tuple(self.index.words(text)) if text.strip() else ()
