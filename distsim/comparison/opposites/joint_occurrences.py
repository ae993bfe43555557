"""Joint occurrences of phrases: where the forms of both stand near each other in a sentence."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Words
from distsim.comparison import kernels as kernel
from distsim.corpus.inflections import Inflections
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import shard as shards
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard, damaged
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import DAMAGED

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
    wanted, n, room = frozen(each_once(np.concatenate(edges))), 1, 0
    while n > room:
        room = max(_ROOM, n)
        words, owners = np.empty(room, np.int64), np.empty(room, np.int64)
        n = kernel.find_words_near(
            shard.tokens, frozen(positions), window + 1, length + window + 1, wanted, n_words,
            words, owners,
        )  # fmt: skip
        if n == DAMAGED:
            raise damaged()
    words, owners = words[:n], owners[:n]
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
            marks = np.zeros(self._mask + 1, bool)
            positions = np.concatenate(_positions_of(shard, [forms]))
            kernel.mark_blocks(frozen(positions), _BLOCK_BITS, self._mask, marks)
            self._marks = frozen(marks)

    def near(self, positions: list[np.ndarray], length: int, window: int) -> list[np.ndarray]:
        """Return the positions of other phrases that may have a marked one near, uint32.

        Arguments:
            positions: uint32 by phrase, in the shard, in any order.
            length: tokens of the longest of the other phrases.
            window: maximum number of tokens between the two.
        """
        if self._marks is None or window + max(length, self._length) > 1 << _BLOCK_BITS:
            return positions
        starts = np.cumsum([0, *(places.size for places in positions)], dtype=np.int64)
        near_starts = np.empty_like(starts)
        near = kernel.marked_positions(
            frozen(np.concatenate(positions)), frozen(starts), _BLOCK_BITS, self._mask,
            self._marks, near_starts,
        )  # fmt: skip
        return np.split(near, near_starts[1:-1])


def _positions_of(shard: Shard, phrases: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the positions of all forms of each phrase, uint32, in no order.

    Arguments:
        phrases: int64[m, n_tokens] each, the word ids of its forms.
    """
    ids = np.concatenate([forms.ravel() for forms in phrases])
    sizes = np.concatenate([np.full(len(forms), forms.shape[1]) for forms in phrases])
    pieces = shard.positions_of_each(ids, np.cumsum(sizes))
    stops = np.cumsum([0, *map(len, phrases)]).tolist()
    return [np.concatenate(pieces[first:stop]) for first, stop in pairwise(stops)]


WINDOW = 14  # tokens between two phrases that occur together
_SAMPLE = 20_000  # occurrences of the rarer phrase that are looked at, evenly spaced
_CACHED = 1 << 14
_CACHED_IDS = 1 << 17  # of words
_ROOM = 1 << 10  # rows that a kernel fills at first
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


class Joins(NamedTuple):
    """Where two phrases stand together, looked at around the rarer one.

    n_pairs: of an occurrence and the nearest of the other phrase on either side. n_parallel: those
    with the same word beside both. rows: int64[m, COLUMNS], by find_joins, those that a pattern may
    join. factor: occurrences for each that is looked at.
    """

    n_pairs: int
    n_parallel: int
    rows: np.ndarray
    factor: float


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
        self._ids: dict[str, int] = {}
        self._sample = lru_cache(_CACHED_SAMPLES)(self._sampled)

    def learn(self, phrases: Iterable[Words]) -> None:
        """Look up the words whose forms will be counted: together they take a fifth of the time.

        Arguments:
            phrases: words of each, in normal form.
        """
        words = [phrase[0] for phrase in phrases if len(phrase) == 1]
        self._look_up(base for word in words for base in self._inflections.all_bases(word))
        self._look_up(form for word in words for form in self._forms_of(word))

    def _look_up(self, words: Iterable[str]) -> None:
        missing = [word for word in dict.fromkeys(words) if word not in self._ids]
        ids = self._index.vocabulary.find(hash_texts([word.encode() for word in missing]))
        if len(self._ids) + len(missing) > _CACHED_IDS:
            self._ids = {}
        self._ids.update(zip(missing, ids.tolist(), strict=True))

    def number(self, word: str) -> int:
        """Return the id of a word, 0 or less where the index lacks it.

        Arguments:
            word: in normal form.
        """
        number = self._ids.get(word)
        if number is None:
            number = self._ids[word] = self._index.vocabulary.number(word)
        return number

    def _forms_of(self, word: str) -> list[str]:
        """Return a word and the other forms of its base word, those that may occur."""
        bases = self._inflections.bases(word, self._occurs)
        return list(dict.fromkeys([word, *self._inflections.forms((bases or [word])[0])]))

    def _count_forms(self, words: Words) -> CountedForms:
        """Return the forms of a phrase; of a single word all of its word, else itself alone."""
        own = self.ids(words)
        if len(words) > 1 or own[0] <= 0:
            count = self._count(own)
            return CountedForms(own[None, :], count, count)
        ids = [number for number in map(self.number, self._forms_of(words[0])) if number > 0]
        counts = [self._counts[number] for number in ids]
        return CountedForms(np.array(ids, np.int64)[:, None], counts[0], sum(counts))

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the ids of words, 0 and less of those that the index lacks; int64.

        Arguments:
            words: in normal form.
        """
        return np.array([self.number(word) for word in words], np.int64)

    def _count(self, ids: np.ndarray) -> int:
        words: list[int] = ids.tolist()
        return (
            sum(shard.count(words) for shard in self._index.shards)
            if min(words, default=0) > 0
            else 0
        )

    def _occurs(self, word: str) -> bool:
        number = self.number(word)
        return number > 0 and self._counts[number] > 0

    @cached_property
    def _counts(self) -> memoryview:
        """How often each word occurs, as a view whose items are Python's whole numbers."""
        return self._index.word_counts().astype(np.int64).data

    def joint(self, pairs: list[list[CountedForms]], in_patterns: np.ndarray) -> list[Joins]:
        """Return where the two of each pair stand together.

        Looked at are the occurrences of the rarer phrase of each pair: of one that is the rarer in
        several pairs those near any of the others, found together, and else those near the other
        one, which is mostly that of several pairs.

        Arguments:
            in_patterns: bool[n_words], the words that a pattern may have between the two.
        """
        if not pairs:
            return []
        ordered = [pair if pair[0].total <= pair[1].total else pair[::-1] for pair in pairs]
        by_rare: dict[bytes, list[int]] = {}
        by_other: dict[bytes, list[int]] = {}
        for i, (rare, _) in enumerate(ordered):
            by_rare.setdefault(rare.key, []).append(i)
        groups = [numbers for numbers in by_rare.values() if len(numbers) >= _FEWEST_OTHERS]
        for i, (rare, other) in enumerate(ordered):
            if len(by_rare[rare.key]) < _FEWEST_OTHERS:
                by_other.setdefault(other.key, []).append(i)
        counts = np.zeros((len(pairs), 2), np.int64)
        rows: list[list[np.ndarray]] = [[] for _ in pairs]
        for at, shard in enumerate(self._index.shards):
            places: dict[int, np.ndarray] = {}
            for numbers in groups:
                places |= zip(numbers, self._near_others(shard, at, ordered, numbers), strict=True)
            for numbers in by_other.values():
                places |= zip(numbers, self._near_one(shard, at, ordered, numbers), strict=True)
            positions = [places[i] for i in range(len(pairs))]
            counts_of_shard, rows_of_shard = _joins_of(shard, positions, ordered, in_patterns)
            counts += counts_of_shard
            for parts, part in zip(rows, rows_of_shard, strict=True):
                parts.append(part)
        totals = [rare.total for rare, _ in ordered]
        return [
            Joins(n, n_parallel, np.concatenate(parts), total / min(total, _SAMPLE))
            for (n, n_parallel), parts, total in zip(counts.tolist(), rows, totals, strict=True)
        ]

    def _near_others(
        self, shard: Shard, at: int, pairs: list[list[CountedForms]], numbers: list[int]
    ) -> list[np.ndarray]:
        """Return the positions of the phrase that is rarer in some pairs, near each other one.

        Arguments:
            at: number of the shard. numbers: of the pairs.
        """
        rare = pairs[numbers[0]][0]
        places, others = self._sample_of(rare)[at], [pairs[i][1].forms for i in numbers]
        length, n_words = rare.forms.shape[1], self._index.n_words
        near = near_each(shard, places, length, others, WINDOW, n_words)
        return [positions.astype(np.uint32) for positions in near]

    def _near_one(
        self, shard: Shard, at: int, pairs: list[list[CountedForms]], numbers: list[int]
    ) -> list[np.ndarray]:
        """Return the positions of the rarer phrase of some pairs, near the one that all have.

        Arguments:
            at: number of the shard. numbers: of the pairs.
        """
        rare, other = [pairs[i][0] for i in numbers], pairs[numbers[0]][1]
        whole = [i for i, phrase in enumerate(rare) if phrase.total <= _SAMPLE]
        positions = [np.empty(0, np.uint32) for _ in rare]
        if whole:
            of_whole = _positions_of(shard, [rare[i].forms for i in whole])
            for i, places in zip(whole, of_whole, strict=True):
                positions[i] = places
        for i, phrase in enumerate(rare):
            if phrase.total > _SAMPLE:
                positions[i] = self._sample_of(phrase)[at].astype(np.uint32)
        if len(numbers) > 1:
            longest = max(phrase.forms.shape[1] for phrase in rare)
            positions = other.marks(shard).near(positions, longest, WINDOW)
        for i in whole:  # what is read in the order of the text is read from nearer memory
            positions[i] = np.sort(positions[i])
        return positions

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


def _joins_of(
    shard: Shard,
    positions: list[np.ndarray],
    pairs: list[list[CountedForms]],
    in_patterns: np.ndarray,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return (how many joins each pair has, and parallel ones, int64[n, 2]; rows of find_joins).

    Arguments:
        positions: uint32 by pair, of its first phrase.
    """
    starts = np.cumsum([0, *(places.size for places in positions)], dtype=np.int64)
    lengths, sizes = (
        np.array([pair[side].forms.shape[1] for pair in pairs], np.int64) for side in (0, 1)
    )
    others = [pair[1].forms.ravel() for pair in pairs]
    other_starts = np.cumsum([0, *(forms.size for forms in others)], dtype=np.int64)
    counts = np.empty((len(pairs), 2), np.int64)
    arrays = [
        np.concatenate(positions), starts, lengths, np.concatenate(others), other_starts, sizes
    ]  # fmt: skip
    n, room, row_stops = 1, 0, np.empty(len(pairs), np.int64)
    while n > room:
        room = max(_ROOM, n)
        rows = np.empty((room, kernel.COLUMNS), np.int64)
        n = kernel.find_joins(
            shard.tokens, *map(frozen, arrays), WINDOW, frozen(in_patterns), counts, rows, row_stops
        )
        if n == DAMAGED:
            raise damaged()
    return counts, np.split(rows[:n], row_stops[:-1])
