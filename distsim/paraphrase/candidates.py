"""Candidates: other phrases that occur in the contexts of a phrase, with their evidence."""

from dataclasses import dataclass

import numpy as np

from distsim.corpus.vocabulary import HashNumbering
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import copy_words, gather_evidence, walk_contexts
from distsim.paraphrase.surroundings import Surroundings

_LEAST_ROOM = 1 << 12
_MOST_ROOM = 1 << 20


@dataclass(frozen=True)
class Candidates:
    """Phrases that occur in the contexts of another, in no particular order.

    hashes: uint64, of their word ids, the same for every cut into shards. positions: int64,
    one position of each in the corpus. lengths: uint8, tokens. weights: float64, the summed
    rarity of the distinct contexts shared; evidence: int64, their number. matches: int64, how
    often the candidate is in one of them.
    """

    hashes: np.ndarray
    positions: np.ndarray
    lengths: np.ndarray
    weights: np.ndarray
    evidence: np.ndarray
    matches: np.ndarray
    _numbers: np.ndarray
    _contexts: np.ndarray

    @property
    def size(self) -> int:
        """The number of candidates."""
        return int(self.hashes.size)

    def shared(self, number: int) -> np.ndarray:
        """Return the contexts that a candidate shares, ascending, int64.

        Arguments:
            number: of the candidate.
        """
        return np.unique(self._contexts[self._numbers == number])

    def on_both_hands(self, contexts: Surroundings) -> "Candidates":
        """Return the candidates of one-sided contexts that have both a left and a right context.

        Arguments:
            contexts: the contexts in which candidates were found.
        """
        is_left = contexts.rights[self._contexts] < 0
        kept = (np.bincount(self._numbers[is_left], minlength=self.size) > 0) & (
            np.bincount(self._numbers[~is_left], minlength=self.size) > 0
        )
        new = np.cumsum(kept) - 1
        mine = kept[self._numbers]
        return Candidates(
            self.hashes[kept], self.positions[kept], self.lengths[kept], self.weights[kept],
            self.evidence[kept], self.matches[kept],
            new[self._numbers[mine]], self._contexts[mine],
        )  # fmt: skip

    def words(self, index: CorpusIndex, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (word ids of the candidates end to end, int64; ends of the candidates, int64[n]).

        Arguments:
            index: the index that the candidates were found in.
            numbers: int64[n], numbers of candidates.
        """
        positions, lengths = self.positions[numbers], self.lengths[numbers].astype(np.int64)
        stops = np.cumsum(lengths)
        words = np.empty(int(lengths.sum()), np.int64)
        starts = [shard.first_position for shard in index.shards]
        owners = np.searchsorted(starts, positions, "right") - 1
        for number, shard in enumerate(index.shards):
            mine = np.flatnonzero(owners == number)
            state = copy_words(
                shard.tokens, positions[mine] - shard.first_position, lengths[mine], stops[mine],
                words,
            )  # fmt: skip
            if state < 0:
                raise damaged()
        return words, stops

    def numbers_of_words(self, index: CorpusIndex, ids: np.ndarray) -> list[int]:
        """Return the number of the candidate that is each single word, -1 where none is.

        Arguments:
            index: where the candidates were found. ids: int64, of words.
        """
        single = np.flatnonzero(self.lengths == 1)
        words, _ = self.words(index, single)
        numbers = dict(zip(words.tolist(), single.tolist(), strict=True))
        return [numbers.get(one, -1) for one in ids.tolist()]

    def best(self, limit: int | None) -> np.ndarray:
        """Return the `limit` candidates of the strongest evidence, strongest first.

        Ordered by weight, matches and the hash of the words: a total order.

        Arguments:
            limit: maximum number of candidates.
        """
        numbers = np.arange(self.size)
        if limit is not None and limit < self.size:
            least = np.partition(self.weights, self.size - limit)[self.size - limit]
            numbers = np.flatnonzero(self.weights >= least)
        keys = (self.hashes[numbers], -self.matches[numbers], -self.weights[numbers])
        return numbers[np.lexsort(keys)][:limit]


def context_weights(contexts: Surroundings, n_tokens: int) -> np.ndarray:
    """Return the rarity of each context, float64[n]: ln(n_tokens / count of its rarer side).

    Arguments:
        contexts: contexts of the focal phrase, with their counts.
        n_tokens: number of tokens of the corpus.
    """
    rarities: np.ndarray = np.log(max(2, n_tokens) / np.maximum(1, contexts.costs)).astype(
        np.float64
    )
    return rarities


def find_candidates(
    index: CorpusIndex,
    contexts: Surroundings,
    focal: np.ndarray,
    shortest: int,
    longest: int,
) -> Candidates:
    """Return every x != focal of shortest..longest tokens with `L x R` in the corpus.

    Marton 2013, 3.2.3. The rarer side of each context is walked, in every shard.

    Arguments:
        index: the corpus.
        contexts: of the phrase.
        focal: int64, the phrase's word ids.
        shortest, longest: tokens of a candidate.
    """
    sides = contexts.sides
    counts = np.append(sides.counts, np.iinfo(np.int64).max)
    walk_left = (counts[contexts.lefts] <= counts[contexts.rights]).astype(np.uint8)
    room = min(_MOST_ROOM, int(contexts.costs.sum()) + _LEAST_ROOM)
    found = []
    for number, shard in enumerate(index.shards):
        state, *columns = walk_contexts(
            shard.tokens, shard.suffixes, frozen(sides.words), frozen(sides.starts),
            frozen(sides.lows[number]), frozen(sides.highs[number]),
            frozen(sides.at_start[number]), frozen(contexts.lefts), frozen(contexts.rights),
            frozen(walk_left), frozen(focal), shortest, longest, room,
        )  # fmt: skip
        if state < 0:
            raise damaged()
        columns[2] += shard.first_position
        found.append(columns)
    hashes, of_context, positions, lengths = (
        np.concatenate([part[column] for part in found]) for column in range(4)
    )
    if len(found) > 1:
        order = np.argsort(of_context, kind="stable")
        hashes, of_context = hashes[order], of_context[order]
        positions, lengths = positions[order], lengths[order]
    numbers, first = HashNumbering().number(hashes)
    weights, evidence, matches = gather_evidence(
        frozen(numbers), frozen(of_context),
        frozen(context_weights(contexts, index.n_tokens)), first.size,
    )  # fmt: skip
    return Candidates(
        hashes[first], positions[first], lengths[first], weights, evidence, matches,
        numbers, of_context,
    )  # fmt: skip
