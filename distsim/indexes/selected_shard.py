"""A shard of which some documents count, asked as a shard of them alone."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from distsim.indexes.queries import CompiledQuery
from distsim.indexes.shard import Shard, build_suffix_array, damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import count_words


class LayerShard(Shard):
    """A shard with another text of as many tokens; its places are those of the shard.

    Suffixes are sorted when they are first asked for: about a second for two million tokens.

    Arguments:
        whole: the shard, of annotated text.
        layer: uint32, the id of the lemma or tag of each analysis.
        n_ids: of the layer's vocabulary.
    """

    _n_ids: int

    def __init__(self, whole: Shard, layer: np.ndarray, n_ids: int) -> None:
        for name in Shard.ARRAYS:
            if name not in ("tokens", "suffixes", "word_starts"):
                object.__setattr__(self, name, getattr(whole, name))
        analyses = whole.analyses
        if analyses is None or analyses.max() >= layer.size:
            raise damaged()
        object.__setattr__(self, "tokens", frozen(layer[analyses]))
        object.__setattr__(self, "first_position", whole.first_position)
        object.__setattr__(self, "analyses", None)
        object.__setattr__(self, "heads", None)
        object.__setattr__(self, "written", None)
        object.__setattr__(self, "_n_ids", n_ids)

    @cached_property
    def word_starts(self) -> np.ndarray:
        """Where the suffixes of each first id begin in `suffixes`, uint32[n_ids + 1]."""
        return frozen(count_words(self.tokens, self._n_ids))

    @cached_property
    def suffixes(self) -> np.ndarray:
        """The positions in the order of what follows them."""
        return frozen(build_suffix_array(self.tokens))


# Positions whose documents are searched for; of more, a table of all is made.
_MAX_SEARCHED = 1 << 12
_POSITIONS_A_BLOCK = 1 << 16  # positions; what is made of them stays in the processor's cache


class SelectedShard(Shard):
    """A shard of which some documents count; it has the tokens and places of all.

    Arguments:
        whole: the shard.
        begins: int64, position of the first token of each document, of one that began in an
            earlier shard 0.
        kept: bool, whether each counts.
    """

    _whole: Shard
    _begins: np.ndarray
    _kept: np.ndarray

    def __init__(self, whole: Shard, begins: np.ndarray, kept: np.ndarray) -> None:
        for name in (*Shard.ARRAYS, *Shard.ANNOTATED, "written"):
            if name not in ("suffixes", "word_starts"):
                object.__setattr__(self, name, getattr(whole, name))
        object.__setattr__(self, "first_position", whole.first_position)
        object.__setattr__(self, "_whole", whole)
        object.__setattr__(self, "_begins", begins.astype(np.uint32))
        object.__setattr__(self, "_kept", kept)

    @cached_property
    def _bits(self) -> np.ndarray:
        """For each token a bit, lowest first: whether its document counts, uint8."""
        begins = self._begins[np.flatnonzero(np.diff(self._kept, prepend=False))]
        places, n_bytes = begins >> 3, self.tokens.size // 8 + 1
        lengths = np.diff(np.concatenate([[0], places.astype(np.int64) + 1, [n_bytes]]))
        bits = np.repeat(np.resize(np.array([0, 0xFF], np.uint8), lengths.size), lengths)
        np.bitwise_xor.at(bits, places, (0xFF << (begins & 7)).astype(np.uint8))
        return bits

    @cached_property
    def inside(self) -> np.ndarray:
        """For each token whether its document counts, bool."""
        return np.unpackbits(self._bits, count=self.tokens.size, bitorder="little").view(bool)

    @cached_property
    def word_starts(self) -> np.ndarray:
        """Where the suffixes of each first word begin in `suffixes`, uint32[n_words + 1]."""
        tokens = self.tokens[self.inside]
        return frozen(count_words(frozen(tokens), self._whole.word_starts.size - 1))

    @cached_property
    def suffixes(self) -> np.ndarray:
        """The suffixes that begin in the documents that count."""
        suffixes = self._whole.suffixes
        return frozen(suffixes[self._keeps(suffixes)])

    def _keeps(self, positions: np.ndarray) -> np.ndarray:
        """Return whether the document of each position counts, bool.

        Arguments:
            positions: integers, in the shard.
        """
        if positions.size <= _MAX_SEARCHED:
            at = positions.astype(np.uint32)
            few: np.ndarray = self._kept[np.searchsorted(self._begins, at, "right") - 1]
            return few
        is_inside = np.empty(positions.size, np.uint8)
        for first in range(0, positions.size, _POSITIONS_A_BLOCK):
            block = positions[first : first + _POSITIONS_A_BLOCK]
            if block.max() >= self.tokens.size:
                raise damaged()
            of_eight = self._bits[block >> 3]
            is_inside[first : first + _POSITIONS_A_BLOCK] = (
                of_eight >> (block & 7).astype(np.uint8)
            ) & 1
        return is_inside.view(bool)

    def counts(self, ids: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """Return how often each phrase occurs, int64.

        Arguments:
            ids: integers, word ids of all phrases end to end.
            stops: int64, where each phrase ends.
        """
        pairs = zip(
            *(numbers.tolist() for numbers in self._whole.intervals(ids, stops)), strict=True
        )
        counts_inside = [np.count_nonzero(self._keeps(self._whole.suffixes[a:b])) for a, b in pairs]
        return np.array(counts_inside, np.int64)

    def count(self, ids: list[int]) -> int:
        """Return the number of occurrences of one phrase."""
        return int(self.counts(np.array(ids, np.int64), np.array([len(ids)]))[0])

    def positions(self, ids: np.ndarray) -> np.ndarray:
        """Return the positions of one phrase, int64, in suffix order."""
        everywhere = self._whole.positions(ids)
        inside: np.ndarray = everywhere[self._keeps(everywhere)]
        return inside

    def positions_of_each(self, ids: np.ndarray, stops: np.ndarray) -> list[np.ndarray]:
        """Return the positions of each phrase, uint32, in suffix order."""
        everywhere = self._whole.positions_of_each(ids, stops)
        return [positions[self._keeps(positions)] for positions in everywhere]

    def occurrences(
        self, ids: np.ndarray, stops: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (positions of many phrases, number of the phrase of each), int64, in parts."""
        for positions, numbers in self._whole.occurrences(ids, stops):
            is_inside = self._keeps(positions)
            yield positions[is_inside], numbers[is_inside]

    def query(
        self, query: CompiledQuery, which: int, max_spans: int, steps: int
    ) -> np.ndarray | None:
        """Return the spans that match a query, int64[m, 2]; m > `max_spans` if there are more."""
        spans = self._whole.query(query, which, max_spans, steps)
        if spans is None or len(spans) > max_spans:
            return spans
        inside: np.ndarray = spans[self._keeps(spans[:, 0])]
        return inside

    def sentence_lengths(self) -> np.ndarray:
        """Return the tokens in each sentence that counts, int64."""
        lengths: np.ndarray = self._whole.sentence_lengths()[self._keeps(self.sentence_starts)]
        return lengths
