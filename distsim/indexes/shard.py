"""Shards of an index: arrays, and searches by token ids."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from pydivsufsort import divsufsort

from distsim.base.errors import ArtifactError, ParameterError, counted
from distsim.base.parallel import interruptible
from distsim.indexes.kernels.queries import (
    DAMAGED,
    TOO_LONG,
    Automaton,
    match_query,
    match_tokens,
)
from distsim.indexes.queries import CompiledQuery
from distsim.indexes.written import WrittenText
from distsim.kernels import suffixes as kernel
from distsim.kernels.arrays import places_of_ranges
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import count_beside, count_beside_words
from distsim.kernels.suffixes import pack_tokens, unpack_suffixes
from distsim.storage import Artifact, StoredArray, start_array
from distsim.storage.reading import Declaration

# divsufsort sorts bytes, in 32 bits up to 2^31 of them; a token takes at most four.
MAX_TOKENS = (1 << 29) - 1


def build_suffix_array(tokens: np.ndarray) -> np.ndarray:
    """Return the start positions of all suffixes of `tokens` in order of their ids, uint32.

    The tokens are written as big-endian numbers of as few bytes as their largest id needs,
    so that the order of the bytes is the order of the tokens; every suffix of the bytes that
    begins at a token is a suffix of the tokens. With three bytes (up to 16.7 million words)
    the peak is 23 bytes a token beside `tokens`, half of what sorting four bytes at a time
    and filtering with numpy takes.

    Arguments:
        tokens: uint32, ids.

    Raises:
        ParameterError: more than MAX_TOKENS tokens.
    """
    if tokens.size > MAX_TOKENS:
        raise ParameterError(
            f"a shard of {counted(tokens.size, 'token')}: at most {MAX_TOKENS:,} can be sorted; "
            "lower `shard_tokens`"
        )
    if tokens.size == 0:
        return np.empty(0, np.uint32)
    width = max(1, (int(tokens.max()).bit_length() + 7) // 8)
    packed = pack_tokens(frozen(tokens), width)
    byte_suffixes = interruptible(lambda: divsufsort(packed))
    suffixes = np.empty(tokens.size, np.uint32)
    unpack_suffixes(frozen(byte_suffixes), width, suffixes)
    return suffixes


LAST_WORD = 1 << 32  # above every id
_WORTH_SORTING = 256  # occurrences
_POSITIONS_AT_ONCE = 1 << 20  # that are copied of a frequent phrase
_WORD_TOKENS = 200  # tokens are read as fast as the occurrences of a word are taken
# Phrases or places that are looked up without a kernel: avoids importing numba.
_MAX_WITHOUT_KERNEL = 64


def damaged(path: str | Path = "the index") -> ArtifactError:
    """Return the error for arrays that contradict each other.

    Arguments:
        path: of the index.
    """
    return ArtifactError(
        f"{path}: is damaged (an array points outside another): run distsim verify on it, "
        "then restore it or build it again"
    )


class FirstWords(NamedTuple):
    """How some phrases begin: by a word of the ids first..stop, half-open.

    second, second_stop: of a single first word, phrases whose second word is in this range; 0 is
    the end of the sentence.
    """

    first: int
    stop: int
    second: int = 0
    second_stop: int = LAST_WORD

    @property
    def is_whole(self) -> bool:
        """Whether all phrases that begin with these words are meant."""
        return self.second == 0 and self.second_stop == LAST_WORD


@dataclass(frozen=True)
class Shard:
    """A shard's arrays; positions are token positions within it.

    tokens: uint32, sentences each closed by 0. suffixes: uint32, positions in suffix order.
    word_starts: uint32[n_words + 1], where the suffixes of each first word begin.
    sentence_starts, sentence_lines: uint32 per sentence. document_starts: uint32, sentences.
    source_starts, source_numbers: uint32, the sentence at which each source begins.
    first_position: tokens, boundaries included, in the shards before this one.
    analyses: uint32, the number of each token's lemma and tag; None in text without annotation.
    heads: uint32, the distance to each token's head; None in text without dependencies.
    written: the text as it was written, None where it is not kept.
    """

    tokens: np.ndarray
    suffixes: np.ndarray
    word_starts: np.ndarray
    sentence_starts: np.ndarray
    sentence_lines: np.ndarray
    document_starts: np.ndarray
    source_starts: np.ndarray
    source_numbers: np.ndarray
    first_position: int
    analyses: np.ndarray | None = None
    heads: np.ndarray | None = None
    written: WrittenText | None = None

    ARRAYS: ClassVar[Declaration] = {
        "tokens": StoredArray(np.uint32, "positions", below="words"),
        "suffixes": StoredArray(np.uint32, "positions", below="positions"),
        "word_starts": start_array("first words", "suffixes", np.uint32),
        "sentence_starts": StoredArray(np.uint32, "sentences", ascending="strictly"),
        "sentence_lines": StoredArray(np.uint32, "sentences"),
        "document_starts": StoredArray(np.uint32, below="sentences", ascending="strictly"),
        "source_starts": StoredArray(np.uint32, "sources", below="sentences", ascending="strictly"),
        "source_numbers": StoredArray(np.uint32, "sources", below="all sources"),
    }
    ANNOTATED: ClassVar[Declaration] = {
        "analyses": StoredArray(np.uint32, "positions", optional=True),
        "heads": StoredArray(np.uint32, "positions", optional=True),
    }

    @classmethod
    def open(
        cls, artifact: Artifact, number: int, first_position: int, sizes: Mapping[str, int]
    ) -> "Shard":
        """Return shard `number` of an index.

        Arguments:
            artifact: the index.
            number: of the shard, from 0.
            first_position: of its first token in the corpus.
            sizes: of the index: words, all sources.

        Raises:
            ArtifactError: an array is missing or contradicts another.
        """
        arrays = artifact.arrays(
            {**cls.ARRAYS, **cls.ANNOTATED, **WrittenText.ARRAYS}, f"shard-{number}/", sizes
        )
        text = [arrays.pop(name) for name in WrittenText.ARRAYS if name in arrays]
        shard = cls(
            **{name: frozen(values) for name, values in arrays.items()},
            first_position=first_position,
            written=WrittenText(*text) if len(text) == len(WrittenText.ARRAYS) else None,
        )
        n_sentences = shard.sentence_starts.size
        if not (shard.tokens.size and n_sentences and shard.source_starts.size):
            raise artifact.contradiction(f"shard-{number} is empty")
        if text and (shard.written is None or not shard.written.is_sound(n_sentences)):
            raise artifact.contradiction(f"shard-{number}/text_frames")
        return shard

    @property
    def n_positions(self) -> int:
        """Tokens and sentence boundaries."""
        return int(self.tokens.size)

    def intervals(self, ids: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each phrase's half-open interval of suffixes, (lows, highs) int64.

        Arguments:
            ids: int64, the phrases' word ids end to end, -1 for an unknown word.
            stops: int64[n], where each phrase ends.
        """
        if 0 < stops.size <= _MAX_WITHOUT_KERNEL:
            if ids.size == stops.size > 1 and np.diff(stops).all():
                return self._intervals_of_words(ids)
            phrases = np.split(ids, stops[:-1])
            intervals = np.array([self._interval(phrase.tolist()) for phrase in phrases], np.int64)
            return intervals[:, 0], intervals[:, 1]
        lows = np.empty(stops.size, np.int64)
        highs = np.empty(stops.size, np.int64)
        state = kernel.find_intervals(
            self.tokens, self.suffixes, self.word_starts, frozen(ids), frozen(stops), lows, highs
        )
        if state == kernel.DAMAGED:
            raise damaged()
        return lows, highs

    def _intervals_of_words(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each word's half-open interval of suffixes, (lows, highs) int64."""
        known = (ids > 0) & (ids < self.word_starts.size - 1)
        places = np.where(known, ids, 0)
        lows, highs = (
            np.where(known, self.word_starts[at], 0).astype(np.int64) for at in (places, places + 1)
        )
        if not ((lows <= highs) & (highs <= self.suffixes.size)).all():
            raise damaged()
        return lows, highs

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview, memoryview]:
        """Where each word's suffixes begin, the suffixes and the tokens, as memory views."""
        return self.word_starts.data, self.suffixes.data, self.tokens.data

    def _interval(self, ids: list[int]) -> tuple[int, int]:
        """Return one phrase's half-open interval of suffixes."""
        # Items of memory views are Python's whole numbers, and come several times as fast.
        word_starts, suffixes, tokens = self._views
        if not ids or min(ids) <= 0 or max(ids) >= len(word_starts) - 1:
            return 0, 0
        low, high = word_starts[ids[0]], word_starts[ids[0] + 1]
        if not low <= high <= len(suffixes):
            raise damaged()
        try:
            for distance, word in enumerate(ids[1:], 1):
                word_after = tokens[distance:].__getitem__
                low = bisect_left(suffixes, word, low, high, key=word_after)
                stop = low + 1
                while stop < high and word_after(suffixes[stop - 1]) == word:
                    stop += 2 * (stop - low)  # phrases are mostly rare among those of fewer words
                high = bisect_right(suffixes, word, low, min(stop, high), key=word_after)
        except IndexError:  # a text ends behind a sentence
            raise damaged() from None
        return low, high

    def count(self, ids: list[int]) -> int:
        """Return the number of occurrences of one phrase.

        Arguments:
            ids: its words.
        """
        low, high = self._interval(ids)
        return high - low

    def counts(self, ids: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """Return the number of occurrences of each phrase, int64.

        Arguments:
            ids: integers, word ids of all phrases end to end.
            stops: int64, where each phrase ends.
        """
        lows, highs = self.intervals(ids, stops)
        counts: np.ndarray = highs - lows
        return counts

    def positions(self, ids: np.ndarray) -> np.ndarray:
        """Return the positions of one phrase, int64, in suffix order.

        ids: uint32, its words.
        """
        lows, highs = self.intervals(ids, np.array([ids.size]))
        return self.suffixes[lows[0] : highs[0]].astype(np.int64)

    def positions_of_each(self, ids: np.ndarray, stops: np.ndarray) -> list[np.ndarray]:
        """Return the positions of each phrase, uint32, in suffix order.

        Arguments:
            ids: integers, word ids of all phrases end to end.
            stops: int64, where each phrase ends.
        """
        lows, highs = self.intervals(ids, stops)
        pairs = zip(lows.tolist(), highs.tolist(), strict=True)
        return [self.suffixes[low:high] for low, high in pairs]

    def sorted_positions(self, phrases: Iterable[np.ndarray]) -> np.ndarray:
        """Return the positions of some phrases, uint32, ascending.

        Arguments:
            phrases: the word ids of each, integers.
        """
        parts = [np.empty(0, np.uint32)]
        for ids in phrases:
            lows, highs = self.intervals(ids, np.array([ids.size]))
            parts.append(self.suffixes[lows[0] : highs[0]])
        return np.sort(np.concatenate(parts))

    def occurrences(
        self, ids: np.ndarray, stops: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (positions of many phrases end to end, number of the phrase of each), int64.

        They come in parts of up to a million, in the order of the phrases.

        Arguments:
            ids: integers, word ids of all phrases end to end.
            stops: int64, where each phrase ends.
        """
        lows, highs = self.intervals(ids, stops)
        ends = np.cumsum(highs - lows)
        n_all = int(ends[-1]) if ends.size else 0
        for first in range(0, n_all, _POSITIONS_AT_ONCE):
            last = min(first + _POSITIONS_AT_ONCE, n_all)
            begin = int(np.searchsorted(ends, first, "right"))
            stop = int(np.searchsorted(ends, last)) + 1
            of_part = slice(begin, stop)
            skipped = np.maximum(first - ends[of_part] + highs[of_part] - lows[of_part], 0)
            starts = lows[of_part] + skipped
            sizes = highs[of_part] - np.maximum(ends[of_part] - last, 0) - starts
            positions = self.suffixes[places_of_ranges(starts, sizes)].astype(np.int64)
            yield positions, np.repeat(np.arange(begin, stop), sizes)

    def neighbourhoods(
        self, suffixes: np.ndarray, before: int, after: int, n_words: int
    ) -> np.ndarray:
        """Return the tokens around positions, uint32[len(suffixes), before + after].

        Columns [0, before) hold the tokens before the position, the rest those from it on;
        0 from the sentence's edge outwards.

        Arguments:
            suffixes: integers, the positions.
            before, after: tokens.
            n_words: of the vocabulary.
        """
        if suffixes.size <= _MAX_WITHOUT_KERNEL:
            return self._few_neighbourhoods(suffixes.astype(np.int64), before, after, n_words)
        rows = np.empty((suffixes.size, before + after), np.uint32)
        state = kernel.gather_neighbourhoods(
            self.tokens, frozen(suffixes), before, after, n_words, rows
        )
        if state == kernel.DAMAGED:
            raise damaged()
        return rows

    def _few_neighbourhoods(
        self, suffixes: np.ndarray, before: int, after: int, n_words: int
    ) -> np.ndarray:
        places = suffixes[:, None] + np.arange(-before, after)
        inside = (places >= 0) & (places < self.tokens.size)
        rows = np.where(inside, self.tokens[np.clip(places, 0, self.tokens.size - 1)], np.uint32(0))
        if suffixes.max(initial=0) >= self.tokens.size or rows.max(initial=0) >= n_words:
            raise damaged()
        left, right = rows[:, :before], rows[:, before:]
        left *= np.logical_and.accumulate(left[:, ::-1] != 0, axis=1)[:, ::-1]
        right *= np.logical_and.accumulate(right != 0, axis=1)
        return rows

    def beside(
        self, ids: np.ndarray, wide: int, narrow: int, n_words: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the counted features of one phrase: (features uint32, ascending; counts uint32).

        Arguments:
            ids: uint32, its words.
            wide: words on either side, counted by sides, nearer ones more; 0: none.
            narrow: words on either side, counted by positions; 0: none.
            n_words: of the vocabulary.

        Returns (features uint32, family * n_words + word, ascending; counts uint32).
        """
        (low,), (high,) = self.intervals(ids, np.array([ids.size]))
        suffixes = np.sort(self.suffixes[low:high])  # else every look would miss the cache
        seen = np.zeros(((2 if wide else 0) + 2 * narrow) * n_words, np.uint32)
        features = np.empty(min(seen.size, 2 * (wide + narrow) * suffixes.size) + 1, np.uint32)
        n = count_beside(
            self.tokens, frozen(suffixes), ids.size, wide, narrow, n_words, seen, features
        )
        if n == kernel.DAMAGED:
            raise damaged()
        distinct = np.sort(features[:n])
        return distinct, seen[distinct]

    def beside_words(
        self, words: np.ndarray, wide: int, narrow: int, n_words: int, seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the counted features of many words as sparse rows; ids below 0 have empty rows.

        Returns (row_starts int64, features uint32, in no particular order, counts uint32).

        Arguments:
            words: integers, ids.
            wide: words on either side, counted by sides, nearer ones more; 0: none.
            narrow: words on either side, counted by positions; 0: none.
            n_words: of the vocabulary.
            seen: uint32[families * n_words] of zeros, and zeros again afterwards.
        """
        starts = self.word_starts.astype(np.int64)
        known = (words >= 0) & (words < starts.size - 1)
        places = np.where(known, words, 0)
        lows, highs = starts[places], np.where(known, starts[places + 1], 0)
        pieces = [
            np.sort(self.suffixes[a:b]) if b - a > _WORTH_SORTING else self.suffixes[a:b]
            for a, b in zip(lows.tolist(), highs.tolist(), strict=True)
        ]  # in the order of the text, or every look would miss the cache
        suffixes = np.concatenate([np.empty(0, np.uint32), *pieces])
        # Of what was cut out: in a damaged index that is not what it says.
        ends = np.cumsum([0, *(piece.size for piece in pieces)])
        row_starts, features, counts = count_beside_words(
            self.tokens, frozen(suffixes), frozen(ends), wide, narrow, n_words, seen
        )
        if row_starts.size != ends.size:
            raise damaged()
        return row_starts, features, counts

    def query(
        self, query: CompiledQuery, which: int, max_spans: int, steps: int
    ) -> np.ndarray | None:
        """Return the spans that match a query, int64[m, 2], half-open, in no order, some twice.

        m > max_spans if there are more; None where matching takes too many steps.

        Arguments:
            query: a compiled query.
            which: the kernel's SHORTEST, LONGEST or ALL.
            max_spans: number of spans that are expected.
            steps: that matching may take.
        """
        tokens = self.tokens
        if query.layered:
            if self.analyses is None:
                raise damaged()
            tokens = self.analyses
        automaton = query.automaton
        if not automaton.each_follow.any() and not automaton.condition.size and query.longest:
            places = None if query.anchor_words is None else self._anchors(query)
            return self._single_tokens(tokens, places, automaton, max_spans)
        if automaton.starts.size or automaton.stops.size:
            automaton = automaton._replace(
                starts=frozen(automaton.starts - self.first_position),
                stops=frozen(automaton.stops - self.first_position),
            )
        reach = self.n_positions if query.reach is None else query.reach
        n, spans = match_query(
            tokens, frozen(self._anchors(query)), reach, automaton, which, query.longest, max_spans,
            steps,
        )  # fmt: skip
        if n == DAMAGED:
            raise damaged()
        return None if n == TOO_LONG else spans

    def _single_tokens(
        self, tokens: np.ndarray, places: np.ndarray | None, automaton: Automaton, max_spans: int
    ) -> np.ndarray:
        """Return what `query` does, of a query whose matches are single tokens.

        Arguments:
            tokens: words or analyses.
            places: int64, ascending: each match is one of these; None: it may be any token.
            automaton: of the query.
            max_spans: number of spans that are expected.
        """
        if places is not None and not places.size:
            return np.empty((0, 2), np.int64)
        states = automaton.first[0] & automaton.last[0]
        is_match = frozen(automaton.bits & states != 0)
        anchors = np.empty(0, np.int64) if places is None else places
        n, spans = match_tokens(tokens, frozen(anchors), is_match, max_spans)
        if n == DAMAGED:
            raise damaged()
        matches: np.ndarray = spans
        return matches

    def _anchors(self, query: CompiledQuery) -> np.ndarray:
        """Return the positions of tokens of which each match has one, int64, ascending."""
        if query.anchor_words is None:
            return self.sentence_starts.astype(np.int64)
        anchors = np.flatnonzero(query.anchor_words[: self.word_starts.size - 1])
        if anchors.size > self.n_positions // _WORD_TOKENS:
            positions = np.flatnonzero(query.anchor_words[self.tokens])
        else:
            edges = self.word_starts.astype(np.int64)
            pieces = [self.suffixes[edges[a] : edges[a + 1]] for a in anchors.tolist()]
            positions = np.sort(np.concatenate([np.empty(0, np.uint32), *pieces]))
        if query.layered and self.analyses is not None:  # words are there with others, too
            analyses, bits = self.analyses[positions], query.automaton.bits
            if analyses.max(initial=0) >= bits.size:
                raise damaged()
            positions = positions[bits[analyses] & np.uint64(query.anchor) != 0]
        return positions.astype(np.int64, copy=False)

    def word_counts(self, n_words: int) -> np.ndarray:
        """Return the number of occurrences of each word, uint64[n_words]; id 0 counts sentences.

        Arguments:
            n_words: number of words of the vocabulary.
        """
        counts = np.zeros(n_words, np.uint64)
        starts = self.word_starts.astype(np.int64)
        counts[: starts.size - 1] = np.diff(starts).astype(np.uint64)
        return counts

    def rows_of_words(
        self,
        words: FirstWords,
        before: int,
        longest: int,
        after: int,
        n_words: int,
    ) -> np.ndarray:
        """Return the neighbourhoods of all suffixes that begin with some words.

        uint32[n, before + longest + after], in order of the `longest` tokens from column `before`.

        Arguments:
            words: first words.
            before, longest, after: columns.
            n_words: of the vocabulary.
        """
        suffixes = self.suffixes_of_words(words)
        return self.neighbourhoods(suffixes, before, longest + after, n_words)

    def suffixes_of_words(self, words: FirstWords) -> np.ndarray:
        """Return the suffixes that begin with some words, uint32, in their order.

        Arguments:
            words: half-open range of word ids.
        """
        first, stop = (min(word, self.word_starts.size - 1) for word in (words.first, words.stop))
        suffixes = self.suffixes[self.word_starts[first] : self.word_starts[stop]]
        if words.is_whole:
            return suffixes

        def second_word(suffix: np.uint32) -> int:
            return int(self.words_after(np.array([suffix]))[0])

        low = bisect_left(suffixes, words.second, key=second_word)
        return suffixes[low : bisect_left(suffixes, words.second_stop, low, key=second_word)]

    def words_after(self, positions: np.ndarray) -> np.ndarray:
        """Return the words that follow positions, 0 at the end of a sentence, uint32.

        Arguments:
            positions: int64, positions in the shard.
        """
        if np.max(positions, initial=0) + 1 >= self.tokens.size:
            raise damaged()
        return self.tokens[positions.astype(np.int64) + 1]

    def words_at(self, first: int, stop: int) -> np.ndarray:
        """Return the words at positions within the shard, uint32.

        Arguments:
            first, stop: half-open range of positions.
        """
        return self.tokens[first:stop]

    def sentence_lengths(self) -> np.ndarray:
        """Return the tokens in each sentence, int64."""
        starts = self.sentence_starts.astype(np.int64)
        return np.diff(starts, append=self.tokens.size) - 1

    def places(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (number of the source, line) of each position.

        positions: integers.
        """
        # Of one dtype, or all of sentence_starts would be converted for every look.
        at = positions.astype(self.sentence_starts.dtype)
        sentences = np.searchsorted(self.sentence_starts, at, "right") - 1
        sources = np.searchsorted(self.source_starts, sentences, "right") - 1
        if np.any(sentences < 0) or np.any(sources < 0):
            raise damaged()
        return self.source_numbers[sources], self.sentence_lines[sentences]


def every_nth(
    shards: Sequence[Shard], words: Iterable[int], step: int
) -> Iterator[tuple[Shard, np.ndarray]]:
    """Yield each shard with every step-th position of some words in it, int64, ascending.

    Positions are counted through all shards: what is taken does not depend on where shards end.

    Arguments:
        shards: of one index, in order. words: their ids. step: 1 takes all.
    """
    ids = [np.array([word]) for word in words]
    yield from nth_of(((shard, shard.sorted_positions(ids)) for shard in shards), step)


def nth_of(
    places: Iterable[tuple[Shard, np.ndarray]], step: int
) -> Iterator[tuple[Shard, np.ndarray]]:
    """Yield each shard with every step-th of its positions, int64, as `every_nth` does.

    Arguments:
        places: shards of one index in order, each with positions in it, ascending.
        step: 1 takes all.
    """
    first = 0
    for shard, of_shard in places:
        yield shard, of_shard[first::step].astype(np.int64)
        first = (first - of_shard.size) % step
