"""Joint occurrences of phrases: where the forms of both stand near each other in a sentence."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from distsim.comparison.kernels import joins as kernel
from distsim.comparison.opposites.near_positions import PositionMarks, near_each
from distsim.corpus.inflections import Inflections
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import shard as shards
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard, damaged
from distsim.kernels.compiled import frozen

WINDOW = 14  # tokens between two phrases that occur together
_SAMPLE = 20_000  # occurrences of the rarer phrase that are looked at, evenly spaced
_MOST_JOINS = 1 << 16
_CACHED = 1 << 14
_CACHED_SAMPLES = 64  # of up to _SAMPLE places


class CountedForms(NamedTuple):
    """The forms of a phrase: int64[m, n_tokens] word ids; occurrences of itself, and of all."""

    forms: np.ndarray
    own: int
    total: int

    @property
    def key(self) -> bytes:
        """The same of the same forms alone."""
        return bytes([self.forms.shape[1]]) + self.forms.tobytes()

    def marks(self, shard: Shard) -> PositionMarks:
        """Return marks of its positions in a shard."""
        return PositionMarks(shard, self.forms, self.total)


class JointOccurrences:
    """Counts the forms of phrases, and finds where two occur together; may be shared by threads.

    Arguments:
        index: where they occur.
        inflections: the forms of words.
    """

    def __init__(self, index: CorpusIndex, inflections: Inflections) -> None:
        self._index = index
        self._inflections = inflections
        self.of = lru_cache(_CACHED)(self._count_forms)
        self._sample = lru_cache(_CACHED_SAMPLES)(self._sampled)

    def _count_forms(self, words: tuple[str, ...]) -> CountedForms:
        """Return the forms of a phrase; of a single word all of its word, else itself alone."""
        own = self.ids(words)
        if len(words) > 1 or own[0] <= 0:
            count = self._count(own)
            return CountedForms(own[None, :], count, count)
        bases = self._inflections.bases(words[0], self._occurs)
        found = dict.fromkeys([*words, *self._inflections.forms((bases or words)[0])])
        ids = self.ids(tuple(found))
        ids = ids[ids > 0]
        counts = [self._count(ids[i : i + 1]) for i in range(ids.size)]
        return CountedForms(ids[:, None], counts[0], sum(counts))

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the ids of words, 0 and less of those that the index lacks; int64.

        Arguments:
            words: in normal form.
        """
        return self._index.vocabulary.find(hash_texts([word.encode() for word in words]))

    def _count(self, ids: np.ndarray) -> int:
        words: list[int] = ids.tolist()
        return (
            sum(shard.count(words) for shard in self._index.shards)
            if min(words, default=0) > 0
            else 0
        )

    def _occurs(self, word: str) -> bool:
        number = self._index.vocabulary.number(word)
        return number > 0 and any(shard.count([number]) > 0 for shard in self._index.shards)

    def joint(self, pairs: list[list[CountedForms]]) -> list[tuple[np.ndarray, float]]:
        """Return (joint occurrences, a row each by find_joins; the weight of each) of pairs.

        Looked at are the occurrences of the rarer phrase of each pair: of one that is the rarer in
        several pairs all together, and else those near the other one alone.
        """
        by_rare: dict[bytes, list[int]] = {}
        ordered = [pair if pair[0].total <= pair[1].total else pair[::-1] for pair in pairs]
        for i, (rare, _) in enumerate(ordered):
            by_rare.setdefault(rare.key, []).append(i)
        marks: dict[bytes, list[PositionMarks]] = {}
        counts = Counter(other.key for _, other in ordered)
        found: dict[int, tuple[np.ndarray, float]] = {}
        for numbers in by_rare.values():
            rare = ordered[numbers[0]][0]
            length, factor = rare.forms.shape[1], rare.total / min(rare.total, _SAMPLE)
            others = [ordered[i][1] for i in numbers]
            parts: list[list[np.ndarray]] = [[] for _ in others]
            for at, (shard, places) in enumerate(self._places(rare)):
                near = near_each(
                    shard, places, length, [one.forms for one in others], WINDOW,
                    self._index.n_words,
                )  # fmt: skip
                for part, some, one in zip(parts, near, others, strict=True):
                    if some is places and counts[one.key] > 1:
                        if one.key not in marks:
                            marks[one.key] = [one.marks(shard) for shard in self._index.shards]
                        some = marks[one.key][at].near(places, length, WINDOW)
                    part.append(_joins_of(shard, some, length, one.forms))
            for i, part in zip(numbers, parts, strict=True):
                found[i] = np.concatenate(part), factor
        return [found[i] for i in range(len(pairs))]

    def _places(self, phrase: CountedForms) -> Iterator[tuple[Shard, np.ndarray]]:
        """Yield each shard with the positions of a phrase that are looked at, int64, ascending."""
        sample = self._sample(tuple(map(tuple, phrase.forms.tolist())))
        yield from zip(self._index.shards, sample, strict=True)

    def _sampled(self, phrases: tuple[tuple[int, ...], ...]) -> list[np.ndarray]:
        """Return _SAMPLE positions of phrases at most, evenly spaced, int64 by shard, ascending.

        Arguments:
            phrases: word ids of each.
        """
        ids = [np.array(phrase) for phrase in phrases]
        count = sum(map(self._count, ids))
        taken = min(count, _SAMPLE)
        wanted = np.arange(taken) * count // max(1, taken)
        before, parts = 0, []
        for shard in self._index.shards:
            positions = shard.sorted_positions(ids)
            first, stop = np.searchsorted(wanted, [before, before + positions.size])
            parts.append(positions[wanted[first:stop] - before].astype(np.int64))
            before += positions.size
        return parts

    def every_nth(self, words: tuple[int, ...]) -> Iterator[tuple[Shard, np.ndarray]]:
        """Yield each shard with every n-th position of words, int64, _SAMPLE in all and more.

        Arguments:
            words: their ids.
        """
        count = sum(self._count(np.array([word])) for word in words)
        yield from shards.every_nth(self._index.shards, words, max(1, count // _SAMPLE))


def _joins_of(shard: Shard, positions: np.ndarray, length: int, others: np.ndarray) -> np.ndarray:
    if positions.size and int(positions[-1]) + length > shard.tokens.size:
        raise damaged()
    out = np.empty((min(_MOST_JOINS, 2 * positions.size), kernel.COLUMNS), np.int64)
    n = kernel.find_joins(
        shard.tokens, frozen(positions), length, frozen(others.astype(np.int64)), WINDOW, out
    )
    return out[:n]
