"""How alike the surroundings of words of two languages are, by the words that a table translates.

The words around a source word, translated, are compared with those around a target word, near it
and in the whole sentence. What vectors lose is kept: which rare word stands where.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from distsim.indexes.corpus_index import CorpusIndex

REACHES = (2, 15)  # words on either side that count: near, and about a sentence
_MOST_OCCURRENCES = 500  # of a word, evenly spread
_TRANSLATIONS = 4  # of a known word
_MOST_KEPT = 30_000  # target words whose contexts are not counted anew
Weighted = tuple[NDArray[np.int64], NDArray[np.float64]]  # places and weights, of length 1


class SharedContexts:
    """Compares source words with target words by translated contexts.

    Arguments:
        translations: of each known source word, in words of the target text, with shares.
        source, target: the texts. sentences: of the text to translate, which counts as source text.

    All words are given as their text has them.
    """

    def __init__(
        self,
        translations: Mapping[str, Sequence[tuple[str, float]]],
        source: CorpusIndex,
        target: CorpusIndex,
        sentences: Iterable[Sequence[str]] = (),
    ) -> None:
        self._source, self._target = source, target
        self._rows = {word: row for row, word in enumerate(translations, 1)}
        self._row_of_source = np.zeros(source.n_words, np.int64)
        for word, row in self._rows.items():
            self._row_of_source[max(0, _id_of(source, word))] = row
        self._row_of_source[0] = 0
        self._learn_translations(translations)
        self._learn_places(sentences)
        self._around: dict[str, list[Weighted]] = {}

    def cosines(self, word: str, candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return how alike contexts are, float64[n, 2]: near, and in the sentence.

        Arguments:
            word: a source word.
            candidates: n target words.
        """
        wanted = [self._translated(word, reach) for reach in REACHES]
        out = np.zeros((len(candidates), len(REACHES)))
        if len(self._around) > _MOST_KEPT:
            self._around.clear()
        for n, candidate in enumerate(candidates):
            if candidate not in self._around:
                self._around[candidate] = self._of_target(candidate)
            for k, (places, weights) in enumerate(self._around[candidate]):
                out[n, k] = wanted[k][places] @ weights
        return out

    def _learn_translations(self, translations: Mapping[str, Sequence[tuple[str, float]]]) -> None:
        """Number the words of translations from 1, and spread each known word over its own."""
        places: dict[int, int] = {}
        rows, columns, shares = [0], [0], [0.0]
        for row, shared_translations in enumerate(translations.values(), 1):
            for target, share in shared_translations[:_TRANSLATIONS]:
                number = _id_of(self._target, target)
                if number > 0:
                    rows.append(row)
                    columns.append(places.setdefault(number, len(places) + 1))
                    shares.append(share)
        self._known_rows = np.array(rows)
        self._places, self._shares = np.array(columns), np.array(shares)
        self._place_of_target = np.zeros(self._target.n_words, np.int64)
        self._place_of_target[list(places)] = list(places.values())
        counts = np.ones(len(places) + 1)
        counts[1:] += self._target.word_counts()[list(places)]
        counts[0] = 0.0
        self._expected = counts / max(1.0, counts.sum())

    def _learn_places(self, sentences: Iterable[Sequence[str]]) -> None:
        """Keep the known words of the text to translate, and where each word stands there."""
        kept: list[NDArray[np.int64]] = []
        self._places_in_text: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, words in enumerate(sentences):
            kept.append(np.array([self._rows.get(word, 0) for word in words], np.int64))
            for place, word in enumerate(words):
                if len(self._places_in_text[word]) < _MOST_OCCURRENCES:
                    self._places_in_text[word].append((number, place))
        self._text = kept

    def _translated(self, word: str, reach: int) -> NDArray[np.float64]:
        """Return the weights of target words around a source word, by place, of length 1."""
        counts = np.bincount(
            self._row_of_source[_around(self._source, word, reach)], minlength=len(self._rows) + 1
        ).astype(np.float64)
        for number, place in self._places_in_text.get(word, ()):
            rows = self._text[number]
            np.add.at(counts, rows[max(0, place - reach) : place], 1)
            np.add.at(counts, rows[place + 1 : place + 1 + reach], 1)
        shared = counts[self._known_rows] * self._shares
        return self._weights(np.bincount(self._places, shared, len(self._expected)))

    def _of_target(self, word: str) -> list[Weighted]:
        weighted: list[Weighted] = []
        for reach in REACHES:
            around = self._place_of_target[_around(self._target, word, reach)]
            weights = self._weights(np.bincount(around, minlength=len(self._expected)))
            places = np.flatnonzero(weights)
            weighted.append((places, weights[places]))
        return weighted

    def _weights(self, counts: NDArray[np.floating] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return positive pointwise mutual information times the root of the count, of length 1."""
        counts = counts.astype(np.float64)
        counts[0] = 0.0
        seen = np.flatnonzero(counts)
        weights = np.zeros(len(counts))
        chances = self._expected[seen] * counts.sum()
        weights[seen] = np.maximum(0.0, np.log(counts[seen] / chances)) * np.sqrt(counts[seen])
        return weights / max(float(np.sqrt(weights @ weights)), 1e-12)


def _id_of(index: CorpusIndex, word: str) -> int:
    return index.vocabulary.number(word)


def _around(index: CorpusIndex, word: str, reach: int) -> NDArray[np.uint32]:
    """Return the words around the occurrences of a word, ids, 0 beyond the sentence's edge."""
    number = _id_of(index, word)
    if number <= 0:
        return np.empty(0, np.uint32)
    ids = np.array([number], np.uint32)
    begins_of_word = np.concatenate([s.positions(ids) + s.first_position for s in index.shards])
    begins = np.sort(begins_of_word)[:: max(1, -(-len(begins_of_word) // _MOST_OCCURRENCES))]
    before, behind = index.around(np.stack([begins, begins + 1], axis=1), reach)
    return np.concatenate([before.ravel(), behind.ravel()])
