"""The aligner's model with fixed parameters, which links any pairs of token sequences."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distsim.base.parallel import Run
from distsim.bitext.aligner import (
    LEXICAL_PRIOR,
    NONE_PROBABILITY,
    AlignerOptions,
    LearnedLinks,
    Sampled,
    TokenisedSide,
    jump_probabilities,
    sample_both_ways,
)
from distsim.bitext.bitext import MAX_TOKENS
from distsim.bitext.kernels.link_posteriors import (
    link_posteriors,
    links_both_find,
    name_co_occurrences,
)
from distsim.kernels.compiled import frozen

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
            self._directions = [_chances(found) for found in sampled]

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
        there, back = self._directions
        posteriors = _posteriors(*sides, there), _posteriors(*sides[::-1], back)
        pairs, starts = links_both_find(
            sides, posteriors, (_frozen(there), _frozen(back)), self._least_posterior,
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


def _chances(found: Sampled) -> _Chances:
    """Return the probabilities of one direction, from the expected links of its samplers."""
    source, target = found.source, found.target
    keys = name_co_occurrences(
        source.tokens, source.starts, target.tokens, target.starts, found.co_occurrences,
        found.n_co_occurrences,
    )  # fmt: skip
    expected = np.bincount(found.co_occurrences, found.marginals, found.n_co_occurrences)
    of_source = (keys >> np.uint64(32)).astype(np.int64)
    mass = np.bincount(of_source, expected, source.n_words) + LEXICAL_PRIOR * found.partners
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
        frozen(jump_probabilities(found.jumps).astype(np.float64)),
    )
