"""Joint occurrences of phrases: where the forms of both stand near each other in a sentence."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from distsim.comparison import kernels as kernel
from distsim.corpus.inflections import Inflections
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import shard as shards
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard, damaged
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen

_BLOCK_BITS = 5  # blocks of 32 tokens, so that what is near is in a block or in one beside it
_MOST_BLOCKS = 1 << 20  # bytes of marks; blocks of a longer text share them
_MOST_MARKED = 1 << 18  # positions: of a more common phrase most blocks would be marked


def near_each(
    shard: Shard,
    positions: np.ndarray,
    length: int,
    others: Sequence[np.ndarray],
    window: int,
    n_words: int,
) -> list[np.ndarray]:
    """Return the positions of a phrase that have another one near, for each of some others.

    Arguments:
        shard: of an index.
        positions: int64, of the phrase, ascending.
        length: its number of tokens.
        others: int64[m, n_tokens] each, the word ids of another phrase's forms.
        window: maximum number of tokens between the two.
        n_words: of the vocabulary.
    """
    if not positions.size:
        return [positions] * len(others)
    edges = [each_once(forms[:, [0, -1]].ravel()) for forms in others]
    is_edge = np.zeros(n_words, bool)
    for words in edges:
        is_edge[words] = True
    rows = shard.neighbourhoods(positions, window + 1, length + window + 1, n_words)
    hits = np.flatnonzero(is_edge[rows])
    words, owners = rows.reshape(-1)[hits], hits // rows.shape[1]
    order = np.argsort(words, kind="stable")
    words, owners = words[order], owners[order]
    places_of_phrases = []
    for own in edges:
        starts, stops = np.searchsorted(words, own), np.searchsorted(words, own, "right")
        parts = [owners[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        places_of_phrases.append(positions[each_once(np.concatenate(parts))])
    return places_of_phrases


class PositionMarks:
    """Marks of the blocks of a shard around the positions of a phrase.

    Arguments:
        shard: of an index.
        forms: int64[m, n_tokens], the word ids of the phrase's forms.
        count: occurrences of all; no marks are made of a common phrase.
    """

    def __init__(self, shard: Shard, forms: np.ndarray, count: int) -> None:
        self._length = forms.shape[1]
        self._mask = min(_MOST_BLOCKS, 1 << (shard.n_positions >> _BLOCK_BITS).bit_length()) - 1
        self._marks: np.ndarray | None = None
        if count <= _MOST_MARKED:
            marks = self._marks = np.zeros(self._mask + 1, bool)
            for ids in forms:
                blocks = shard.positions(ids) >> _BLOCK_BITS
                for shift in (-1, 0, 1):
                    marks[(blocks + shift) & self._mask] = True

    def near(self, positions: np.ndarray, length: int, window: int) -> np.ndarray:
        """Return the positions of another phrase that may have a marked one near.

        Arguments:
            positions: int64, in the shard, in any order.
            length: tokens of the other phrase.
            window: maximum number of tokens between the two.
        """
        if self._marks is None or window + max(length, self._length) > 1 << _BLOCK_BITS:
            return positions
        near: np.ndarray = positions[self._marks[(positions >> _BLOCK_BITS) & self._mask]]
        return near


WINDOW = 14  # tokens between two phrases that occur together
_SAMPLE = 20_000  # occurrences of the rarer phrase that are looked at, evenly spaced
_MOST_JOINS = 1 << 16
_CACHED = 1 << 14
_FEWEST_OTHERS = 3  # from which on surroundings are read once for all
_CACHED_SAMPLES = 16  # of up to _SAMPLE places


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
        self._number = lru_cache(_CACHED)(index.vocabulary.number)
        self._sample = lru_cache(_CACHED_SAMPLES)(self._sampled)

    def _count_forms(self, words: tuple[str, ...]) -> CountedForms:
        """Return the forms of a phrase; of a single word all of its word, else itself alone."""
        own = self.ids(words)
        if len(words) > 1 or own[0] <= 0:
            count = self._count(own)
            return CountedForms(own[None, :], count, count)
        bases = self._inflections.bases(words[0], self._occurs)
        forms = dict.fromkeys([*words, *self._inflections.forms((bases or words)[0])])
        ids = [number for number in map(self._number, forms) if number > 0]
        counts = [self._counts[number] for number in ids]
        return CountedForms(np.array(ids, np.int64)[:, None], counts[0], sum(counts))

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
        number = self._number(word)
        return number > 0 and self._counts[number] > 0

    @cached_property
    def _counts(self) -> memoryview:
        """How often each word occurs, as a view whose items are Python's whole numbers."""
        return self._index.word_counts().astype(np.int64).data

    def joint(self, pairs: list[list[CountedForms]]) -> list[tuple[np.ndarray, float]]:
        """Return (joint occurrences, a row each by find_joins; the weight of each) of pairs.

        Looked at are the occurrences of the rarer phrase of each pair: of one that is the rarer in
        several pairs all together, and else those near the other one alone.
        """
        by_rare: dict[bytes, list[int]] = {}
        ordered = [pair if pair[0].total <= pair[1].total else pair[::-1] for pair in pairs]
        for i, (rare, _) in enumerate(ordered):
            by_rare.setdefault(rare.key, []).append(i)
        shared = Counter(other.key for _, other in ordered)
        marks: dict[bytes, list[PositionMarks | None]] = {}
        joins_of_pairs: dict[int, np.ndarray] = {}
        for numbers in by_rare.values():
            rare, others = ordered[numbers[0]][0], [ordered[i][1] for i in numbers]
            if len(others) >= _FEWEST_OTHERS:
                joins_of_pairs |= zip(numbers, self._joins_of_one(rare, others), strict=True)
                continue
            for i, other in zip(numbers, others, strict=True):
                if other.key not in marks:
                    is_shared = shared[other.key] > 1
                    marks[other.key] = [
                        other.marks(shard) if is_shared else None for shard in self._index.shards
                    ]
                joins_of_pairs[i] = self._joins_near(rare, other, marks[other.key])
        rarer = [rare.total for rare, _ in ordered]
        return [(joins_of_pairs[i], total / min(total, _SAMPLE)) for i, total in enumerate(rarer)]

    def _joins_of_one(self, rare: CountedForms, others: list[CountedForms]) -> list[np.ndarray]:
        """Return the joint occurrences of a phrase with each of some others."""
        length, parts = rare.forms.shape[1], [list[np.ndarray]() for _ in others]
        forms = [counted_forms.forms for counted_forms in others]
        for shard, places in zip(self._index.shards, self._sample_of(rare), strict=True):
            near = near_each(shard, places, length, forms, WINDOW, self._index.n_words)
            for part, places_of_part, counted_forms in zip(parts, near, forms, strict=True):
                part.append(_joins_of(shard, places_of_part, length, counted_forms))
        return [np.concatenate(part) for part in parts]

    def _joins_near(
        self, rare: CountedForms, other: CountedForms, marks: list[PositionMarks | None]
    ) -> np.ndarray:
        """Return the joint occurrences of two phrases.

        Arguments:
            marks: of the other one by shard.
        """
        length, parts = rare.forms.shape[1], []
        is_sampled = rare.total > _SAMPLE
        sample = self._sample_of(rare) if is_sampled else [None for _ in marks]
        for shard, marked, places in zip(self._index.shards, marks, sample, strict=True):
            if places is None:
                places = np.concatenate([shard.positions(ids) for ids in rare.forms])
            if marked is not None:
                places = marked.near(places, length, WINDOW)
            places = places if is_sampled else np.sort(places)
            parts.append(_joins_of(shard, places, length, other.forms))
        return np.concatenate(parts)

    def _sample_of(self, phrase: CountedForms) -> list[np.ndarray]:
        """Return the positions of a phrase that are looked at, int64 by shard, ascending."""
        return self._sample(tuple(map(tuple, phrase.forms.tolist())))

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
        count = sum(self._count(np.array([word_id])) for word_id in words)
        yield from shards.every_nth(self._index.shards, words, max(1, count // _SAMPLE))


def _joins_of(shard: Shard, positions: np.ndarray, length: int, others: np.ndarray) -> np.ndarray:
    if positions.size and int(positions[-1]) + length > shard.tokens.size:
        raise damaged()
    out = np.empty((min(_MOST_JOINS, 2 * positions.size), kernel.COLUMNS), np.int64)
    n = kernel.find_joins(
        shard.tokens, frozen(positions), length, frozen(others.astype(np.int64)), WINDOW, out
    )
    return out[:n]
