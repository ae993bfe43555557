"""Counts how often a text contrasts two words, as *neither X nor Y* does."""

from collections.abc import Iterable

import numpy as np

from distsim.comparison.kernels import joins as kernel
from distsim.comparison.opposites.language import MOST_BETWEEN, Language
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard
from distsim.kernels.compiled import frozen

_STRONG = 1.0  # weight of a pattern of opposites from which it tells a contrast


class Contrasts:
    """Counter of the strong patterns of opposites of a language; may be shared by threads.

    Arguments:
        index: where they are counted. language: its patterns.
    """

    def __init__(self, index: CorpusIndex, language: Language) -> None:
        def ids(words: Iterable[str]) -> list[int]:
            hashes = hash_texts([word.encode() for word in words])
            found: list[int] = index.vocabulary.find(hashes).tolist()
            return found

        passed = np.zeros(index.n_words, bool)
        passed[[one for one in ids(sorted(language.passed)) if one > 0]] = True
        befores, betweens = [], []
        for pattern in language.patterns:
            before, between = ids([pattern.before] if pattern.before else []), ids(pattern.between)
            if pattern.weight >= _STRONG and min(before + between) > 0:
                befores.append(before[0] if before else 0)
                betweens.append([*between, *(-1 for _ in range(MOST_BETWEEN - len(between)))])
        rows = np.array(betweens, np.int64).reshape(-1, MOST_BETWEEN)
        self._patterns = frozen(passed), frozen(np.array(befores, np.int64)), frozen(rows)

    def count(
        self, shard: Shard, places: np.ndarray, numbers: np.ndarray, found: np.ndarray
    ) -> None:
        """Add to found how often each word is contrasted with the words at places.

        Arguments:
            shard: of the index. places: int64, in the shard.
            numbers: int32[n_words], the place of every word in found, -1 where it has none.
            found: int64[n].
        """
        kernel.count_joins(shard.tokens, frozen(places), numbers, *self._patterns, found)
