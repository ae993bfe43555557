"""Distributional profiles of sampled occurrences, and cosines of many with one."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any, Literal, get_args

import numpy as np

from distsim.base.arguments import AnyPath, Pair, one_of
from distsim.comparison.measures import Estimate, Similarity, checked_pairs, cosine
from distsim.contexts.ngram import neighbour_slots
from distsim.contexts.weights import (
    FeatureSpace,
    Weighting,
    feature_log_probabilities,
    known_logarithms,
)
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels.profiles import profile_cosine, profile_cosines, weigh_profile
from distsim.paraphrase.occurrences import (
    SampledOccurrences,
    Sampler,
    locate,
    word_ids,
    words_around,
)
from distsim.signatures.table import TableLike, opened_table

_ROWS_AT_ONCE = 1 << 13  # rows of a block stay near the processor
_KNOWN_LOGARITHMS = 1 << 17


@dataclass(frozen=True)
class Profile:
    """The collocates of one phrase.

    words: uint32, place * n_words + word. weights: float64. square: sum of the squared weights.
    taken: occurrences that were looked at.
    """

    words: np.ndarray
    weights: np.ndarray
    square: float
    taken: int


class _CountWorkspace:
    """Work arrays of one thread, by collocate; all are zeros between uses."""

    def __init__(self, n_collocates: int) -> None:
        self.seen = np.zeros(n_collocates, np.uint32)
        self.focal_places = np.zeros(n_collocates, np.uint32)

    @contextmanager
    def holding(self, focal: Profile) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (focal places, weights) by which kernels look up a focal profile."""
        self.focal_places[focal.words] = np.arange(1, focal.words.size + 1, dtype=np.uint32)
        try:
            yield frozen(self.focal_places), frozen(np.append(0.0, focal.weights))
        finally:
            self.focal_places[focal.words] = 0


class Profiler:
    """Distributional profiles of phrases of an index (Marton 2013, 2.2 and 3.2.1).

    May be shared by threads.

    A profile counts the words within `window` tokens of a phrase, inside its sentence, and
    weighs them. A word's column is the slots it fills around all tokens: its count times the
    slots that a token has on average, about 2 * window. The words at the nearest `places` on
    either side count once more, each place as collocates of its own: what may be in a phrase's
    place is known by what it is right beside. Number of such a one: place * words + id.

    Arguments:
        window: tokens on either side.
        n_places: number of nearest words that count once more, with their position.
        index: the corpus.
        weighting: how words are weighed.
    """

    def __init__(
        self, index: CorpusIndex, window: int, weighting: Weighting, n_places: int = 0
    ) -> None:
        self._index = index
        self._window = window
        n_places = self._places = min(n_places, window)
        slots = [2 * n for n in neighbour_slots(index, window)]
        of_places = [n / 2 for n in slots[:n_places] for _ in range(2)]
        self._total = float(sum(slots) + sum(of_places))
        counts = index.word_counts().astype(np.float64)
        counts[0] = 0.0
        shares = counts / max(1, index.n_tokens)
        if weighting.needs.probabilities:
            space = FeatureSpace(
                ("w",), np.zeros(counts.size, np.uint8), np.empty(0, np.uint64),
                counts, np.array([counts.sum()]),
            )  # fmt: skip
            log_shares = feature_log_probabilities(space, weighting.alpha)
        else:
            log_shares = _logs(shares)
        self._words = frozen(np.column_stack([shares, log_shares]))
        parts = np.array([sum(slots), *of_places]) / max(1.0, self._total)
        self._parts = frozen(np.column_stack([parts, _logs(parts)]))
        self._logs = known_logarithms(_KNOWN_LOGARITHMS)
        self._scheme = weighting.needs.code
        self._shift = weighting.shift
        self._of_thread = threading.local()

    def profile(self, occurrences: SampledOccurrences, rough: bool = False) -> Profile:
        """Return the profile of one phrase.

        Arguments:
            rough: weigh approximately, which takes half the time.
        """
        return self.profiles(occurrences, rough)[0]

    def profiles(self, occurrences: SampledOccurrences, rough: bool = False) -> list[Profile]:
        """Return the profile of each phrase.

        Arguments:
            rough: weigh approximately, which takes half the time.
        """
        n, profiles, room = occurrences.counts.size, list[Profile](), self._room()
        scales = [0.0] * n if rough else occurrences.scales.tolist()
        for first, stop in _blocks(occurrences.starts):
            rows = frozen(self._rows(occurrences, first, stop))
            starts = (occurrences.starts[first : stop + 1] - occurrences.starts[first]).tolist()
            for number, (low, high) in enumerate(pairwise(starts), first):
                words, weights, square = weigh_profile(
                    rows[low:high], scales[number], self._words, self._parts, self._total,
                    self._scheme, self._shift, self._logs, room.seen,
                )  # fmt: skip
                profiles.append(Profile(words, weights, square, high - low))
        return profiles

    def cosines(
        self, focal: Profile, phrases: SampledOccurrences, rough: bool = False
    ) -> np.ndarray:
        """Return the cosine of a profile with that of each phrase, float64; 0 without one.

        rough: counts at the sampled places do not stand for all places, and likelihood ratios
            are those of an endless corpus: good enough for a screen, in half the time.
        """
        n = phrases.counts.size
        cosines = np.zeros(n)
        scales = np.zeros(n) if rough else phrases.scales
        room = self._room()
        with room.holding(focal) as (focal_places, weights):
            for first, stop in _blocks(phrases.starts):
                rows = self._rows(phrases, first, stop)
                starts = phrases.starts[first : stop + 1] - phrases.starts[first]
                profile_cosines(
                    frozen(rows), frozen(starts), frozen(scales[first:stop]), focal_places,
                    weights, focal.square, self._words, self._parts, self._total, self._scheme,
                    self._shift, self._logs, room.seen, cosines[first:stop],
                )  # fmt: skip
        return cosines

    def cosines_of_profiles(self, focal: Profile, others: list[Profile]) -> list[float]:
        """Return the cosine of a profile with each of some others; 0 with a zero one.

        Arguments:
            others: those that it is compared with.
        """
        with self._room().holding(focal) as (focal_places, weights):
            return [
                profile_cosine(
                    frozen(profile.words), frozen(profile.weights), profile.square, focal_places,
                    weights, focal.square,
                )
                for profile in others
            ]  # fmt: skip

    def _rows(self, phrases: SampledOccurrences, first: int, stop: int) -> np.ndarray:
        sizes = np.diff(phrases.starts[first : stop + 1])
        positions = phrases.positions[phrases.starts[first] : phrases.starts[stop]]
        lengths = np.repeat(phrases.lengths[first:stop], sizes)
        rows = words_around(self._index, positions, lengths, self._window)
        beside = [
            rows[:, side * self._window + distance]
            for distance in range(self._places)
            for side in range(2)
        ]
        columns = [
            np.where(words > 0, words + np.uint32((place + 1) * self._index.n_words), 0)
            for place, words in enumerate(beside)
        ]
        return np.column_stack([rows, *columns]) if columns else rows

    def _room(self) -> _CountWorkspace:
        room = getattr(self._of_thread, "room", None)
        if room is None:
            room = self._of_thread.room = _CountWorkspace(len(self._words) * len(self._parts))
        return room


def _logs(shares: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logs: np.ndarray = np.log(shares)
    return logs


def _blocks(starts: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield (first, stop) of phrases whose rows together are about _ROWS_AT_ONCE.

    Arguments:
        starts: int64[n + 1], the first row of each phrase.
    """
    first = 0
    while first < starts.size - 1:
        limit = starts[first] + _ROWS_AT_ONCE
        stop = max(first + 1, int(np.searchsorted(starts, limit, "right")) - 1)
        yield first, stop
        first = stop


SimilarityKind = Literal["substitutes", "related"]
KINDS: tuple[str, ...] = get_args(SimilarityKind)
# (window, places) of the profiles.
WINDOWS = {"substitutes": (3, 1), "related": (10, 0)}
OCCURRENCES = 400
_EVERY_COUNT = 1 << 62


class KindCosine(Similarity):
    """Similarity of one kind, for `neighbours(..., by=...)` or by itself.

    Of the table's estimate and the cosine of two profiles, each from about 400 occurrences chosen
    by a hash of their position: for substitutes the geometric mean, 0 where one is not above 0; for
    what is related the mean.

    Arguments:
        index: where occurrences are. table: signed from it.
        kind: `substitutes`: what may replace the phrase; `related`: what belongs to
            its topic.

    Raises:
        ParameterError: there is no such kind.
        IncompatibleError: the table normalises text in another way than the index.

    >>> from distsim import neighbours
    >>> kind = KindCosine(index, table, "substitutes")
    >>> [one.phrase for one in neighbours(table, "the king", k=2, by=kind)] != []
    True
    """

    def __init__(
        self, index: CorpusIndex | AnyPath, table: TableLike, kind: SimilarityKind
    ) -> None:
        one_of(kind, KINDS, "`kind`")
        index, table = opened_index(index), opened_table(table)
        table.require_normaliser_of(index)
        self.name = kind
        self._kind: SimilarityKind = kind
        self._index, self._table = index, table
        self._estimate = cosine(table)
        window, places = WINDOWS[kind]
        self._profiler = Profiler(index, window, Weighting("log-llr"), places)
        self._sampler = Sampler(index, OCCURRENCES, common=_EVERY_COUNT)

    def __reduce__(self) -> tuple[Any, ...]:
        return KindCosine, (self._index, self._table, self._kind)

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the similarity of every pair, None where the table has none.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        checked = checked_pairs(pairs)
        estimated = self._estimate.estimates(checked)
        profiled = self.profiled(checked)
        return [
            estimate
            if estimate.similarity is None
            else Estimate(self._joined(estimate.similarity, value), estimate.composed)
            for estimate, value in zip(estimated, profiled, strict=True)
        ]

    def _joined(self, estimate: float, profiled: float) -> float:
        if self._kind == "substitutes":
            return sqrt(max(0.0, estimate) * profiled)
        return (estimate + profiled) / 2

    def profiled(self, pairs: list[Pair]) -> list[float]:
        """Return the cosine of the two profiles of every pair, 0 where a phrase has none.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        others: dict[str, list[int]] = {}
        for number, (a, _) in enumerate(pairs):
            others.setdefault(a, []).append(number)
        values = [0.0] * len(pairs)
        for phrase, numbers in others.items():
            words = self._index.words([phrase, *(pairs[number][1] for number in numbers)])
            ids = word_ids(self._index, [word for phrase_words in words for word in phrase_words])
            located = locate(
                self._index, ids, np.cumsum([len(phrase_words) for phrase_words in words])
            )
            focal = self._sampler.few(located, np.zeros(1, np.int64), OCCURRENCES)
            sampled = self._sampler.few(located, np.arange(1, len(words)), OCCURRENCES)
            profile = self._profiler.profile(focal)
            cosines = self._profiler.cosines(profile, sampled)
            for number, value in zip(numbers, cosines.tolist(), strict=True):
                values[number] = value
        return values
