"""Words of an index that are spelt like one that it lacks, or begin like it."""

from dataclasses import dataclass

import numpy as np

from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.kernels.words import compare_spellings
from distsim.kernels.compiled import frozen

_SHORTEST = 5  # letters of a word of which two may be wrong
_MAX_LETTERS = 24  # letters of a word that is compared
_MOST_EDITS = 2
_SHORTEST_STEM = 4  # first letters that words of one stem share
_STEM_SHARE = 0.6  # of the longer word's letters, that words of one stem share


@dataclass(frozen=True)
class LikeSpelling:
    """A word of the corpus that is written like another.

    word: the word. count: its occurrences. by: `spelling`, or `stem`: both begin alike.

    >>> LikeSpelling("colour", 12, "spelling").count
    12
    """

    word: str
    count: int
    by: str


class NearestSpellings:
    """Finds the nearest spellings and the stems of words; may be shared by threads.

    Holds four bytes a letter of the vocabulary, and twelve a word.

    Arguments:
        index: of the text.

    >>> NearestSpellings(index).nearest("quen", 1)[0].word
    'queen'
    """

    def __init__(self, index: CorpusIndex) -> None:
        words = index.vocabulary.all_words()
        self._vocabulary = index.vocabulary
        self._counts = index.word_counts().astype(np.int64)
        self._counts[0] = 0
        coded = "".join(words).encode("utf-32-le", errors="surrogatepass")
        self._letters = np.frombuffer(coded, np.uint32)
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        self._ends = frozen(np.cumsum(sizes))
        self._sets = np.zeros(len(words), np.uint32)
        np.bitwise_or.at(self._sets, np.repeat(np.arange(len(words)), sizes), _bits(self._letters))

    def nearest(self, word: str, k: int) -> list[LikeSpelling]:
        """Return the words at the least distance of one or two edits, the most frequent first.

        Two edits only in words of five letters and more. A word of letters alone has answers of
        letters, hyphens and apostrophes alone.

        Arguments:
            word: in the index's normal form.
            k: at most so many.
        """
        return self._nearest(word, self._compared(word)[0], k)

    def like(self, word: str, k: int) -> list[LikeSpelling]:
        """Return up to k nearest spellings, then up to k words of the same stem.

        Those have the first six tenths of the letters in common, four or more; the longest common
        beginning comes first.

        Arguments:
            word: in the index's normal form.
            k: at most so many of each.
        """
        distances, prefixes = self._compared(word)
        nearest = self._nearest(word, distances, k)
        long = np.maximum(np.diff(self._ends, prepend=0), len(word))
        begins = (prefixes >= max(_SHORTEST_STEM, 1)) & (prefixes >= _STEM_SHARE * long)
        rows = np.flatnonzero(begins & (self._counts > 0))
        share = prefixes[rows] / long[rows]
        ranked = rows[np.lexsort((rows, -self._counts[rows], -share))]
        seen = {word, *(word_form.word for word_form in nearest)}
        stems = self._rows(ranked[: k + len(seen)], "stem")
        return nearest + [word_form for word_form in stems if word_form.word not in seen][:k]

    def _compared(self, word: str) -> tuple[np.ndarray, np.ndarray]:
        """Return (edits from a word, up to 3; shared first letters), uint8 by word id."""
        n = len(self._ends)
        distances, prefixes = np.full(n, _MOST_EDITS + 1, np.uint8), np.zeros(n, np.uint8)
        if 0 < len(word) <= _MAX_LETTERS:
            coded = np.frombuffer(word.encode("utf-32-le", errors="surrogatepass"), np.uint32)
            differing = np.bitwise_count(self._sets ^ np.bitwise_or.reduce(_bits(coded)))
            near = differing <= 2 * _MOST_EDITS  # an edit drops a letter and adds one at most
            compare_spellings(
                self._letters, self._ends, near, coded, _MOST_EDITS, distances, prefixes
            )
        return distances, prefixes

    def _nearest(self, word: str, distances: np.ndarray, k: int) -> list[LikeSpelling]:
        for edits in range(1, _MOST_EDITS + 1 if len(word) >= _SHORTEST else 2):
            rows = np.flatnonzero((distances == edits) & (self._counts > 0))
            ranked = rows[np.lexsort((rows, -self._counts[rows]))]
            word_forms = self._rows(ranked[: 8 * k + 64], "spelling")
            if any(map(str.isalpha, word)):
                word_forms = [
                    word_form for word_form in word_forms if _is_spelt_with(word_form.word, word)
                ]
            if word_forms:
                return word_forms[:k]
        return []

    def _rows(self, ids: np.ndarray, by: str) -> list[LikeSpelling]:
        words, counts = self._vocabulary.words(ids), self._counts[ids].tolist()
        return [LikeSpelling(word, n, by) for word, n in zip(words, counts, strict=True)]


def _bits(letters: np.ndarray) -> np.ndarray:
    """Return a bit for each letter, uint32: the same for the same letter."""
    bits: np.ndarray = np.uint32(1) << (letters & np.uint32(31))
    return bits


def _is_spelt_with(word: str, asked_word: str) -> bool:
    """Return whether a word has letters, and no other characters than these and those given."""
    allowed = {*asked_word, "'", "-"}
    return any(map(str.isalpha, word)) and all(
        letter.isalpha() or letter in allowed for letter in word
    )
