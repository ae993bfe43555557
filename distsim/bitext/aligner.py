"""Word aligner: learns links from the sentence pairs of a bitext.

A hidden Markov model of jumps with fertilities, by Gibbs sampling (Östling and Tiedemann 2016):
IBM model 1, then jumps, then fertilities; several independent samplers in either direction, the
probabilities of their last sweeps averaged, the two directions symmetrised.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple, get_args

import numpy as np

from distsim.base.arguments import Symmetrisation, check_types, in_range, one_of, whole_number
from distsim.base.errors import check_interrupted
from distsim.base.parallel import Progress, Run, ordered_map
from distsim.bitext.bitext import MAX_TOKENS
from distsim.bitext.kernels import alignment as kernel
from distsim.bitext.kernels.links import (
    link_posteriors,
    links_both_find,
    name_co_occurrences,
)
from distsim.kernels.compiled import frozen

SYMMETRISATIONS: tuple[str, ...] = get_args(Symmetrisation)

# Priors of the paper, section 3: of a pair of words, a jump, a number of links; of no link.
LEXICAL_PRIOR, JUMP_PRIOR, FERTILITY_PRIOR, NONE_PROBABILITY = 0.001, 0.5, 0.5, 0.2
MOST_SWEEPS = 200  # of the last model, which fewer than 625 pairs would exceed
LAST_SWEEPS = 8  # whose probabilities are averaged
MOST_CELLS = 1 << 26  # pairs of positions aligned together: 270 MB each array of them
_JUMP_LIMITS = (*range(1, 12), 15, 21, 31, 51, 101)  # farther jumps share their chances
_DISTANCES = np.arange(kernel.N_JUMPS) - kernel.JUMP_ZERO
_BUCKETS = np.searchsorted(_JUMP_LIMITS, np.abs(_DISTANCES), side="right") * np.sign(_DISTANCES)
_BUCKETS += len(_JUMP_LIMITS)
_BUCKET_SIZES = np.bincount(_BUCKETS)


@dataclass(frozen=True, kw_only=True)
class AlignerOptions:
    """Settings of the aligner; stored in a bitext's manifest.

    Arguments:
        symmetrisation: `intersection` has fewer links, and surer ones.
        samplers: for each direction; more take longer and vary less.
        iterations: factor of the number of sweeps, which is 5000 / sqrt(pairs) of the last
            model, at most 200, and a quarter of it of the first two.
        seed: of the random numbers; with the same seed the same links.

    >>> AlignerOptions(samplers=1).symmetrisation
    'grow-diag-final-and'
    """

    symmetrisation: Symmetrisation = "grow-diag-final-and"
    samplers: int = 3
    iterations: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        check_types(self)
        one_of(self.symmetrisation, SYMMETRISATIONS, "symmetrisation")
        in_range(self.samplers, "samplers", 1, 100)
        in_range(self.iterations, "iterations", 0.01, 100)
        whole_number(self.seed, "`seed`", 0)

    def manifest(self) -> dict[str, Any]:
        """Return the values that are stored in a manifest."""
        return asdict(self)

    def sweeps(self, n_pairs: int) -> tuple[int, int, int]:
        """Return the numbers of sweeps of the three models.

        Arguments:
            n_pairs: sentence pairs of the bitext; fewer get more sweeps.

        >>> AlignerOptions().sweeps(10_000), AlignerOptions(iterations=0.1).sweeps(10_000)
        ((12, 12, 50), (1, 1, 5))
        """
        last = self.iterations * min(MOST_SWEEPS, 5000 / max(1, n_pairs) ** 0.5)
        return max(1, round(last / 4)), max(1, round(last / 4)), max(2, round(last))


class TokenisedSide(NamedTuple):
    """One side: tokens uint32 below n_words, end to end; starts int64[n + 1] into it."""

    tokens: np.ndarray
    starts: np.ndarray
    n_words: int

    def part(self, first: int, stop: int) -> "TokenisedSide":
        """Return some of the sentences."""
        begin, end = self.starts[first], self.starts[stop]
        return TokenisedSide(
            frozen(self.tokens[begin:end]), frozen(self.starts[first : stop + 1] - begin),
            self.n_words,
        )  # fmt: skip


class LearnedLinks(NamedTuple):
    """Links of the sentence pairs of a bitext.

    pairs: uint8[m, 2], (English position, other position), ascending within a sentence pair.
    starts: uint64[n + 1], the first link of each sentence pair.
    """

    pairs: np.ndarray
    starts: np.ndarray


def learn_links(
    english: TokenisedSide,
    other: TokenisedSide,
    options: AlignerOptions | None = None,
    run: Run = Run(),
) -> LearnedLinks:
    """Return links of sentence pairs, the same ones for any number of threads.

    Sentences have 1 to 255 tokens. Text too large for the memory at one time (more than
    MOST_CELLS pairs of positions) is cut into blocks of pairs that are aligned one by one.

    Arguments:
        english, other: the sides, of as many sentences.
        options: AlignerOptions() where None.
        run: threads and progress.

    >>> side = TokenisedSide(np.array([1, 2, 1, 2], np.uint32), np.array([0, 2, 3, 4]), 3)
    >>> learn_links(side, side).pairs.tolist()
    [[0, 0], [1, 1], [0, 0], [0, 0]]
    """
    options = options or AlignerOptions()
    pairs, lengths = [], [np.zeros(1, np.uint64)]
    for first, stop in pair_blocks(english.starts, other.starts):
        links = learn_block(english.part(first, stop), other.part(first, stop), options, run)
        pairs.append(links.pairs)
        lengths.append(np.diff(links.starts))
    return LearnedLinks(np.concatenate(pairs), np.cumsum(np.concatenate(lengths), dtype=np.uint64))


def pair_blocks(english_starts: np.ndarray, other_starts: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield (first, stop) of the blocks that are aligned one by one, of about as many cells each.

    Arguments:
        english_starts, other_starts: int64[n + 1], the first token of each sentence.
    """
    n_pairs = english_starts.size - 1
    cells = np.cumsum(np.diff(english_starts) * np.diff(other_starts))
    n_blocks = -(-int(cells[-1]) // MOST_CELLS)
    limits = np.arange(1, n_blocks) * (int(cells[-1]) // n_blocks)
    bounds = [0, *np.searchsorted(cells, limits).tolist(), n_pairs]
    for first, stop in pairwise(bounds):
        if stop > first:
            yield first, stop


class _Direction(NamedTuple):
    """Data that all samplers of one direction share: both sides and their co-occurrences.

    Attributes:
        source, target: the sides; words of the source generate those of the target.
        cells: uint32, number of the co-occurrence of every cell.
        n_co_occurrences: co-occurring pairs of words.
        partners: uint32, for each source word the number of target words that it co-occurs with.
        ring: uint8 a source token, the next position of the same word in its sentence.
    """

    source: TokenisedSide
    target: TokenisedSide
    cells: np.ndarray
    n_co_occurrences: int
    partners: np.ndarray
    ring: np.ndarray

    @property
    def n_cells(self) -> int:
        """The number of cells, a pair of a source and a target token each."""
        return self.cells.size - kernel.AHEAD


def learn_block(
    english: TokenisedSide, other: TokenisedSide, options: AlignerOptions, run: Run,
) -> LearnedLinks:  # fmt: skip
    """Return links of sentence pairs that are aligned together, whatever memory they take."""
    links = [
        frozen(
            kernel.best_links(samples.source.starts, samples.target.starts, samples.marginals, 1)
        )
        for samples in sample_both_ways(english, other, options, run)
    ]
    grows = options.symmetrisation == "grow-diag-final-and"
    return LearnedLinks(*kernel.symmetrise(english.starts, other.starts, *links, grows))


class Sampled(NamedTuple):
    """Combined result of the samplers of one direction.

    co_occurrences: uint32, of every cell (kernels/alignment), `n_co_occurrences` of them.
    partners: uint32 a source word, with how many target words it co-occurs.
    marginals: float32, the probability of every cell's link. jumps: int64[N_JUMPS], counted.
    """

    source: TokenisedSide
    target: TokenisedSide
    co_occurrences: np.ndarray
    n_co_occurrences: int
    partners: np.ndarray
    marginals: np.ndarray
    jumps: np.ndarray


def sample_both_ways(
    english: TokenisedSide, other: TokenisedSide, options: AlignerOptions, run: Run,
) -> list[Sampled]:  # fmt: skip
    """Return the results of both directions: English generates the other side, and the reverse.

    Arguments:
        english, other: the sides, of as many sentences.
    """
    sweeps = options.sweeps(english.starts.size - 1)
    n_last = min(LAST_SWEEPS, sweeps[-1])
    counter = _Counter(run.progress, 2 * options.samplers * sum(sweeps))
    directions = [_direction(english, other), _direction(other, english)]

    def sample(chain: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        return _sample(directions[chain[0]], options, chain, sweeps, n_last, counter)

    chains = list(product(range(2), range(options.samplers)))
    marginals = [np.zeros(direction.n_cells, np.float32) for direction in directions]
    jumps = [np.zeros(kernel.N_JUMPS, np.int64) for _ in directions]
    for (number, _), (sampled_marginals, jumped) in zip(
        chains, ordered_map(sample, chains, run.jobs), strict=True
    ):
        marginals[number] += sampled_marginals
        jumps[number] += jumped
    for summed in marginals:
        summed *= np.float32(1 / (options.samplers * n_last))
    return [
        Sampled(
            direction.source, direction.target, direction.cells[: direction.n_cells],
            direction.n_co_occurrences, direction.partners, frozen(summed), jumped,
        )
        for direction, summed, jumped in zip(directions, marginals, jumps, strict=True)
    ]  # fmt: skip


def _direction(source: TokenisedSide, target: TokenisedSide) -> _Direction:
    cells, n_co_occurrences, partners = kernel.number_cells(
        source.tokens, source.starts, target.tokens, target.starts,
        source.n_words, target.n_words,
    )  # fmt: skip
    ring = kernel.same_words(source.tokens, source.starts)
    return _Direction(source, target, frozen(cells), n_co_occurrences, partners, frozen(ring))


class _Counter:
    """Progress counter of sweeps, for several threads."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self._done += 1
            self._progress("aligning", self._done, self._total)


def _sample(
    shared: _Direction, options: AlignerOptions, chain: tuple[int, int],
    sweeps: tuple[int, int, int], n_last: int, counter: _Counter,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the result of one sampler.

    Returns its marginals, float32 a cell, summed over the last sweeps, and its last jumps.
    """
    source, target = shared.source, shared.target
    state = np.array([_random_state(options.seed, *chain)], np.uint64)
    links = kernel.draw_links(source.starts, target.starts, state)
    counts = kernel.LinkCounts(
        np.zeros(shared.n_co_occurrences, np.float32),
        np.zeros(source.n_words, np.float32),
        np.zeros(target.n_words, np.float32),
        np.zeros((source.n_words, kernel.FERTILITIES), np.float32),
        np.zeros(kernel.N_JUMPS, np.int64),
    )
    kernel.count_links(source, target, shared.cells, links, counts)
    alpha = np.float32(LEXICAL_PRIOR)
    source_prior = frozen(alpha * shared.partners.astype(np.float32))
    n_target_words = np.count_nonzero(np.bincount(target.tokens))
    fertility_prior = frozen(np.full(kernel.FERTILITIES, FERTILITY_PRIOR, np.float32))
    none_odds = np.float32(NONE_PROBABILITY / (1 - NONE_PROBABILITY))
    unwanted = np.empty(0, np.float32)
    marginals = unwanted
    for stage, n_sweeps in enumerate(sweeps):
        if stage == kernel.FERTILITY:  # the earlier models leave these counts alone
            for stale in counts:
                stale[:] = 0
            kernel.count_links(source, target, shared.cells, links, counts)
        for number in range(n_sweeps):
            check_interrupted()
            jumps = jump_probabilities(counts.jumps)
            counts.jumps[:] = 0
            if stage == kernel.FERTILITY and number == n_sweeps - n_last:
                marginals = np.zeros(shared.n_cells, np.float32)
            model = kernel.SweepModel(
                alpha, source_prior, alpha * np.float32(n_target_words), none_odds,
                fertility_prior, frozen(jumps), frozen(jumps[::-1]),
            )  # fmt: skip
            kernel.sweep(
                stage, source, target, shared.ring, shared.cells, links, counts, model, marginals,
                state,
            )  # fmt: skip
            counter.add()
    return marginals, counts.jumps


def jump_probabilities(counts: np.ndarray) -> np.ndarray:
    """Return the probability of every jump, float32[N_JUMPS], from int64 counts of them.

    Jumps of more than eleven positions are counted in buckets, which grow with the distance,
    and share their bucket's probability evenly; the prior is JUMP_PRIOR a bucket.

    Arguments:
        counts: int64[N_JUMPS], number of times that each jump was sampled.
    """
    mass = np.bincount(_BUCKETS, counts, _BUCKET_SIZES.size) + JUMP_PRIOR
    shares: np.ndarray = (mass / (mass.sum() * _BUCKET_SIZES))[_BUCKETS].astype(np.float32)
    return shares


def _random_state(seed: int, direction: int, sampler: int) -> int:
    """Return the initial random state of a sampler: splitmix64 of its seed and numbers."""
    mask = (1 << 64) - 1
    x = (seed * 1_000_003 + 2 * sampler + direction + 1) * 0x9E3779B97F4A7C15 & mask
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    return (x ^ x >> 31) or 1


Tokens = Sequence[str]
_UNKNOWN = 0  # the number of all words that were not learned


class _Chances(NamedTuple):
    """Probabilities of one direction.

    Attributes:
        keys: uint64, source word << 32 | target word of each co-occurrence, ascending.
        chances: float64, p(target word | source word) of each.
        unseen: float64 a source word, of a target word that it never met.
        none_chances: float64 a target word, p(target word | no link).
        jumps: float64[N_JUMPS], the probability of each distance from one link to the next.
    """

    keys: np.ndarray
    chances: np.ndarray
    unseen: np.ndarray
    none_chances: np.ndarray
    jumps: np.ndarray


class LinkModel:
    """The aligner's model with fixed parameters; pairs are linked independently.

    A link's probability in either direction is summed over all ways to link the pair
    (forward-backward; fertilities serve in learning alone, as this sum cannot include them). Where
    words are mostly alone, as in rules of a grammar, place tells little: so a link stays where
    the geometric mean of both directions' probabilities is at least `least_posterior`, and that
    of p(other | English) and p(English | other) at least `least_chance`. On the 165,000 aligned
    pairs of a French-English phrase table .05 served best.

    Arguments:
        options: of the aligner; its defaults where None.
        jobs: threads; all cores where None.
        english, other: the pairs to learn from; those of over 255 tokens are passed over.
        least_posterior, least_chance: raised, links are fewer and safer.

    >>> english = [["green", "house"], ["old", "house"], ["green", "book"], ["book"]] * 3
    >>> other = [["casa", "verde"], ["casa", "vieja"], ["libro", "verde"], ["libro"]] * 3
    >>> model = LinkModel(english, other)
    >>> model.links([["green", "house"]], [["casa", "verde"]]).pairs.tolist()
    [[0, 1], [1, 0]]
    """

    def __init__(
        self,
        english: Sequence[Tokens],
        other: Sequence[Tokens],
        least_posterior: float = 0.1,
        least_chance: float = 0.05,
        options: AlignerOptions | None = None,
        jobs: int | None = None,
    ) -> None:
        self._least_posterior = least_posterior
        self._least_chance = least_chance
        sides = [[side[i] for i in _usable(english, other)] for side in (english, other)]
        self._numbers: list[dict[str, int]] = [{}, {}]
        for numbers, side in zip(self._numbers, sides, strict=True):
            for tokens in side:
                for token in tokens:
                    numbers.setdefault(token, len(numbers) + 1)
        self._directions: list[_Chances] = []
        if sides[0]:
            sampled = sample_both_ways(
                *self._sentences(*sides), options or AlignerOptions(), Run(jobs)
            )
            self._directions = [_chances(sampled_links) for sampled_links in sampled]

    def links(self, english: Sequence[Tokens], other: Sequence[Tokens]) -> LearnedLinks:
        """Return the links of pairs of token sequences; none for sequences of 0 or over 255 tokens.

        The same pair has the same links whatever is beside it.

        Arguments:
            english, other: as many sequences of each.
        """
        usable = _usable(english, other) if self._directions else []
        if not usable:
            return LearnedLinks(np.empty((0, 2), np.uint8), np.zeros(len(english) + 1, np.uint64))
        sides = self._sentences([english[i] for i in usable], [other[i] for i in usable])
        forward, back = self._directions
        posteriors = _posteriors(*sides, forward), _posteriors(*sides[::-1], back)
        pairs, starts = links_both_find(
            sides, posteriors, (_frozen(forward), _frozen(back)), self._least_posterior,
            self._least_chance,
        )  # fmt: skip
        lengths = np.zeros(len(english), np.uint64)
        lengths[usable] = np.diff(starts)
        return LearnedLinks(pairs, np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths)]))

    def _sentences(
        self, english: Sequence[Tokens], other: Sequence[Tokens]
    ) -> tuple[TokenisedSide, TokenisedSide]:
        first, second = (
            TokenisedSide(
                frozen(
                    np.array([known.get(t, _UNKNOWN) for tokens in side for t in tokens], np.uint32)
                ),
                frozen(np.cumsum([0, *map(len, side)])),
                len(known) + 1,
            )
            for known, side in zip(self._numbers, (english, other), strict=True)
        )
        return first, second


def _usable(english: Sequence[Tokens], other: Sequence[Tokens]) -> list[int]:
    return [
        number
        for number, (e, o) in enumerate(zip(english, other, strict=True))
        if 1 <= len(e) <= MAX_TOKENS and 1 <= len(o) <= MAX_TOKENS
    ]


def _posteriors(source: TokenisedSide, target: TokenisedSide, chances: _Chances) -> np.ndarray:
    return frozen(link_posteriors(source, target, _frozen(chances), NONE_PROBABILITY))


def _frozen(chances: _Chances) -> _Chances:
    return _Chances(*map(frozen, chances))


def _chances(sampled_links: Sampled) -> _Chances:
    """Return the probabilities of one direction, from the expected links of its samplers."""
    source, target = sampled_links.source, sampled_links.target
    keys = name_co_occurrences(
        source.tokens, source.starts, target.tokens, target.starts, sampled_links.co_occurrences,
        sampled_links.n_co_occurrences,
    )  # fmt: skip
    expected = np.bincount(
        sampled_links.co_occurrences, sampled_links.marginals, sampled_links.n_co_occurrences
    )
    of_source = (keys >> np.uint64(32)).astype(np.int64)
    mass = np.bincount(of_source, expected, source.n_words) + LEXICAL_PRIOR * sampled_links.partners
    # A word that was never met may become any word; one that was met, hardly a new one.
    n_target_words = target.n_words
    unseen = LEXICAL_PRIOR / np.where(
        mass > 0, mass + LEXICAL_PRIOR, LEXICAL_PRIOR * n_target_words
    )
    tokens = np.bincount(target.tokens, minlength=n_target_words)
    of_target = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    alone = np.maximum(0, tokens - np.bincount(of_target, expected, n_target_words))
    order = np.argsort(keys)
    return _Chances(
        frozen(keys[order]),
        frozen(((expected + LEXICAL_PRIOR) / mass[of_source])[order]),
        frozen(unseen),
        frozen((alone + LEXICAL_PRIOR) / (alone.sum() + LEXICAL_PRIOR * n_target_words)),
        frozen(jump_probabilities(sampled_links.jumps).astype(np.float64)),
    )
