"""Candidates: phrases in the contexts of a phrase or near it in a table, and their cosines."""

from collections import OrderedDict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from threading import Lock

import numpy as np

from distsim.base.arguments import WordIds
from distsim.comparison.nearest import NeighbourSearch
from distsim.corpus.vocabulary import HashNumbering
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import damaged
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import (
    CONTAINED,
    CONTAINING,
    PIECE,
    copy_words,
    hash_phrases,
    relations,
    sum_shared_contexts,
    walk_contexts,
)
from distsim.paraphrase.occurrences import COMMON_COUNT, Located, Sampler
from distsim.paraphrase.profiles import Profile, Profiler
from distsim.paraphrase.surroundings import Surroundings
from distsim.signatures.table import StoredTable


@dataclass(frozen=True)
class Pool:
    """Phrases to be compared, ordered by the hash of their words.

    words: int64, word ids of all, end to end; stops: int64, where each ends. hashes: uint64.
    numbers: int64[sources, n], the number of each phrase in each source, -1 where it is not
    among its candidates.
    """

    words: np.ndarray
    stops: np.ndarray
    hashes: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, sources: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> "Pool":
        """Return the union of the phrases of several sources, each phrase once.

        Arguments:
            sources: (words, stops, numbers) of each source: words int64, word ids of its phrases
                end to end; stops int64[n], where each phrase ends; numbers int64[n], the number of
                each phrase in the source.
        """
        words = np.concatenate([source[0] for source in sources])
        lengths = np.concatenate([np.diff(source[1], prepend=0) for source in sources])
        stops = np.cumsum(lengths)
        every = hash_phrases(frozen(words), frozen(stops))
        hashes, first, which = np.unique(every, return_index=True, return_inverse=True)
        numbers = np.full((len(sources), hashes.size), -1, np.int64)
        begin = 0
        for row, (_, ends, own) in zip(numbers, sources, strict=True):
            row[which[begin : begin + ends.size]] = own
            begin += ends.size
        chosen = lengths[first]
        new_stops = np.cumsum(chosen)
        offsets = np.arange(int(chosen.sum())) - np.repeat(new_stops - chosen, chosen)
        places = np.repeat(stops[first] - chosen, chosen) + offsets
        return cls(words[places], new_stops, hashes, numbers)

    @property
    def size(self) -> int:
        """The number of phrases."""
        return int(self.stops.size)

    def where(self, chosen: np.ndarray) -> "Pool":
        """Return the chosen phrases, bool[n]."""
        lengths = np.diff(self.stops, prepend=0)
        words = self.words[np.repeat(chosen, lengths)]
        stops = np.cumsum(lengths[chosen])
        return Pool(words, stops, self.hashes[chosen], self.numbers[:, chosen])


_LEAST_ROOM = 1 << 12
_MOST_ROOM = 1 << 20


@dataclass(frozen=True)
class ContextCandidates:
    """Phrases that occur in the contexts of another, in no particular order.

    hashes: uint64, of their word ids, the same for every cut into shards. positions: int64,
    one position of each in the corpus. lengths: uint8, tokens. weights: float64, the summed
    rarity of the distinct contexts shared; n_shared: int64, their number. matches: int64, how
    often the candidate is in one of them.
    """

    hashes: np.ndarray
    positions: np.ndarray
    lengths: np.ndarray
    weights: np.ndarray
    n_shared: np.ndarray
    matches: np.ndarray
    _numbers: np.ndarray
    _contexts: np.ndarray

    @property
    def size(self) -> int:
        """The number of candidates."""
        return int(self.hashes.size)

    def contexts_of(self, number: int) -> np.ndarray:
        """Return the contexts that a candidate shares, ascending, int64."""
        return each_once(self._contexts[self._numbers == number])

    def on_both_hands(self, contexts: Surroundings) -> "ContextCandidates":
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
        return ContextCandidates(
            self.hashes[kept], self.positions[kept], self.lengths[kept], self.weights[kept],
            self.n_shared[kept], self.matches[kept],
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
        return [numbers.get(word_id, -1) for word_id in ids.tolist()]

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
) -> ContextCandidates:
    """Return every x != focal of shortest..longest tokens with `L x R` in the corpus.

    Marton 2013, 3.2.3. The rarer side of each context is walked, in every shard.

    Arguments:
        focal: int64, the phrase's word ids.
        shortest, longest: tokens of a candidate.
    """
    sides = contexts.sides
    counts = np.append(sides.counts, np.iinfo(np.int64).max)
    walk_left = (counts[contexts.lefts] <= counts[contexts.rights]).astype(np.uint8)
    room = min(_MOST_ROOM, int(contexts.costs.sum()) + _LEAST_ROOM)
    columns_of_sides = []
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
        columns_of_sides.append(columns)
    hashes, of_context, positions, lengths = (
        np.concatenate([part[column] for part in columns_of_sides]) for column in range(4)
    )
    if len(columns_of_sides) > 1:
        order = np.argsort(of_context, kind="stable")
        hashes, of_context = hashes[order], of_context[order]
        positions, lengths = positions[order], lengths[order]
    numbers, first = HashNumbering().number(hashes)
    weights, n_shared, matches = sum_shared_contexts(
        frozen(numbers), frozen(of_context),
        frozen(context_weights(contexts, index.n_tokens)), first.size,
    )  # fmt: skip
    return ContextCandidates(
        hashes[first], positions[first], lengths[first], weights, n_shared, matches,
        numbers, of_context,
    )  # fmt: skip


_COLLOCATE_BYTES = 12
_PHRASES_A_BLOCK = 64  # common phrases whose occurrences are gathered together


class Comparer:
    """Cosines of phrases with a focal one, from all sampled occurrences or from a few.

    Common phrases are candidates often, so their profiles are cached; the values are the same
    without the cache. May be shared by threads.

    Arguments:
        profiler: makes profiles.
        sampler: chooses the occurrences of candidates.
        memory: bytes of cached profiles.
    """

    def __init__(self, profiler: Profiler, sampler: Sampler, memory: int) -> None:
        self._max_collocates = memory // _COLLOCATE_BYTES
        self._profiler = profiler
        self._sampler = sampler
        self._kept: OrderedDict[tuple[WordIds, int | None], Profile] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def cosines(
        self, focal: Profile, located: Located, numbers: np.ndarray, few: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (cosines float64, occurrences taken int64) of some phrases.

        Arguments:
            focal: the profile compared with.
            located: phrases that occur.
            numbers: int64[n], which of them.
            few: take about so many occurrences of each and weigh them roughly; None: as many as
                the sampler takes, in full.
        """
        is_common = located.counts[numbers] > COMMON_COUNT
        cosines = np.empty(numbers.size)
        taken = np.empty(numbers.size, np.int64)
        rare = numbers[~is_common]
        if few is None:
            sampled = self._sampler.sample(located, rare)
        else:
            sampled = self._sampler.few(located, rare, few)
        cosines[~is_common] = self._profiler.cosines(focal, sampled, rough=few is not None)
        taken[~is_common] = np.diff(sampled.starts)
        profiles = self._of_common(located, numbers[is_common], few)
        cosines[is_common] = self._profiler.cosines_of_profiles(focal, profiles)
        taken[is_common] = [profile.taken for profile in profiles]
        return cosines, taken

    def _of_common(self, located: Located, numbers: np.ndarray, few: int | None) -> list[Profile]:
        """Return the profiles of common phrases: those cached, the others made some at a time.

        Arguments:
            numbers: int64, the phrases. few: as `cosines` has it.
        """
        keys = [(located.phrase(number), few) for number in numbers.tolist()]
        profiles_by_key: dict[tuple[WordIds, int | None], Profile] = {}
        with self._lock:
            for key in keys:
                kept = self._kept.get(key)
                if kept is not None:
                    self._kept.move_to_end(key)
                    profiles_by_key[key] = kept
        missing = [place for place, key in enumerate(keys) if key not in profiles_by_key]
        for first in range(0, len(missing), _PHRASES_A_BLOCK):
            places = missing[first : first + _PHRASES_A_BLOCK]
            chosen = numbers[places]
            if few is None:
                profiles = self._profiler.profiles(self._sampler.sample(located, chosen))
            else:
                profiles = self._profiler.profiles(
                    self._sampler.few(located, chosen, few), rough=True
                )
            keyed_profiles = zip([keys[place] for place in places], profiles, strict=True)
            self._keep(dict(keyed_profiles), profiles_by_key)
        return [profiles_by_key[key] for key in keys]

    def _keep(
        self,
        new_profiles: dict[tuple[WordIds, int | None], Profile],
        profiles_by_key: dict[tuple[WordIds, int | None], Profile],
    ) -> None:
        """Add new profiles to those found and to the cache.

        Arguments:
            new_profiles, profiles_by_key: profiles by phrase and number of occurrences.
        """
        profiles_by_key |= new_profiles
        with self._lock:
            for key, profile in new_profiles.items():
                if key not in self._kept:
                    self._kept[key] = profile
                    self._size += profile.words.size
            while self._size > self._max_collocates and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].words.size


_CROWD = 4  # phrases of the same distinctive words that may be around each other
_LEAST_STRENGTH = 5  # of phrases as long as the focal one: fewer are hardly worth their bits


class SimilarPhrases:
    """Nearest phrases of a table of signatures, searched in two ways.

    Among all strong ones, where the table composes phrases of their words, one phrase for each
    set of distinctive words: else those that hold the focal phrase would be most of them. But of
    `led by` and `owned by` this finds `led` and `owned`, so those of as many tokens as the
    focal phrase are searched as well, each for itself, and rare ones too.

    Arguments:
        table: a table of signatures.
        min_strength: in the first way only phrases with at least so many occurrences behind
            them.
    """

    def __init__(self, table: StoredTable, min_strength: int) -> None:
        self._table = table
        self._search = None
        self._of_length: dict[int, NeighbourSearch] = {}
        if np.any(table.strengths >= min_strength):
            self._search = NeighbourSearch(table, min_strength=min_strength, estimate="bits")

    def nearest(self, phrase: str, k: int, as_long: int) -> list[str]:
        """Return the phrases nearest to one in its normal form, itself left out.

        k in the first way, `as_long` in the second, in order of distance, strength and text in
        each way, each phrase once; none without a signature.

        Arguments:
            phrase: words separated by spaces.
            as_long: number of nearest phrases of the same length.
        """
        row = self._table.find_normal([phrase])[0]
        if row < 0 or k < 1:
            return []
        neighbour_lists = []
        if self._search is not None:
            neighbour_lists.append(self._search.neighbour_list(phrase, k=k, among=_CROWD * k))
        if self._table.strengths[row] >= _LEAST_STRENGTH:  # so that there is one of its length
            neighbour_lists.append(
                self._as_long(phrase.count(" ") + 1).neighbour_list(phrase, k=as_long)
            )
        near = [
            neighbour.phrase
            for part in neighbour_lists
            if part is not None
            for neighbour in part.neighbours
        ]
        return list(dict.fromkeys(near))

    def _as_long(self, length: int) -> NeighbourSearch:
        search = self._of_length.get(length)
        if search is None:
            search = self._of_length[length] = NeighbourSearch(
                self._table, min_strength=_LEAST_STRENGTH, lengths=[length], distinct=False,
                estimate="bits",
            )  # fmt: skip
        return search


def says_the_same(focal: np.ndarray, pool: Pool, pieces: bool, entailment: str) -> np.ndarray:
    """Return which phrases share too many words with the focal phrase, bool[n].

    Arguments:
        focal: int64, word ids. pool: the phrases.
        pieces: those that are in the focal phrase without a gap, or hold it so.
        entailment: those that fall to the entailment filter (Marton 2013, 3.2.5): `contained` (all
            words are in the focal phrase in the same order), `containing` (the other way round),
            `both` or `off`.

    >>> import numpy as np
    >>> words = np.array([2, 1, 7, 2])
    >>> pool = Pool.of([(words, np.array([1, 4]), np.arange(2))])
    >>> sorted(says_the_same(np.array([1, 2]), pool, False, "containing").tolist())
    [False, True]
    """
    relation = relations(frozen(pool.words), frozen(pool.stops), frozen(focal))
    same: np.ndarray = (relation & CONTAINED != 0) & (
        relation & CONTAINING != 0
    )  # the focal phrase itself
    if pieces:
        same |= relation & PIECE != 0
    if entailment in ("contained", "both"):
        same |= relation & CONTAINED != 0
    if entailment in ("containing", "both"):
        same |= relation & CONTAINING != 0
    return same


def is_collapsed(focal: WordIds, candidate: WordIds, better: Set[WordIds]) -> bool:
    """Return whether a longer candidate is two phrases joined.

    It begins with one of `better`, the focal phrase and the paraphrases that score higher, and
    ends with another. `fall tokyo ap stock prices fell` was gathered for `fall` from the
    context to the left of `fall` and the one to the right of `fell` (Marton 2013, 6.2).

    Arguments:
        focal: word ids of the focal phrase.
        better: word ids of paraphrases that score higher.

    >>> is_collapsed((1,), (1, 7, 8, 2), {(1,), (2,)})
    True
    """
    n = len(candidate)
    if n <= len(focal):
        return False
    first = next((size for size in range(1, n) if candidate[:size] in better), n)
    last = next((size for size in range(1, n) if candidate[n - size :] in better), n)
    return first + last <= n


def crossing(focal: np.ndarray, words: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return which of many candidates stand across the focal phrase's edge, bool[n].

    As `crosses_edge` in distsim.comparison.finder.inflections, but for pieces of the focal
    phrase, which `says_the_same` removes.

    Arguments:
        focal: int64, word ids.
        words: int64, the word ids of all candidates, end to end.
        stops: int64, where each candidate ends.

    >>> import numpy as np
    >>> crossing(np.array([1, 2]), np.array([3, 1, 4, 5]), np.array([2, 4])).tolist()
    [True, False]
    """
    lengths = np.diff(stops, prepend=0)
    crosses = np.zeros(stops.size, bool)
    if focal.size < 2:
        return crosses
    for length in np.unique(lengths).tolist():
        own = np.flatnonzero(lengths == length)
        phrases = words[(stops[own] - length)[:, None] + np.arange(length)]
        for n in range(1, min(length, focal.size) + 1):
            if not np.array_equal(focal[:n], focal[-n:]):
                crosses[own] |= (phrases[:, -n:] == focal[:n]).all(axis=1)
                crosses[own] |= (phrases[:, :n] == focal[-n:]).all(axis=1)
    return crosses
