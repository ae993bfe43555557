"""Finds the phrases of a signature table that are nearest to a phrase."""

import math
import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple, TypedDict

import numpy as np

from distsim.base.arguments import in_range, one_or_many_texts, one_text, shown, whole_number
from distsim.base.errors import ParameterError, counted
from distsim.base.parallel import memory_to_use
from distsim.base.results import Results
from distsim.comparison.measures import EstimatedCosine, Similarity
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen
from distsim.signatures.distinctive_words import Cores, DistinctiveWords
from distsim.signatures.estimates import (
    KnownPhrases,
    cosines_of_distances,
    estimated_cosine,
)
from distsim.signatures.kernels.distinctive_words import (
    LEFT_OUT,
    SPELLING,
    choose_distinctive,
    order_neighbours,
)
from distsim.signatures.kernels.hamming import BLOCK, nearest_rows, nearest_rows_of_many
from distsim.signatures.table import StoredTable, TableLike, opened_table

RERANKED = 300
AT_ONCE = 64  # phrases whose neighbours are searched in one pass over the rows
_FIRST_RING, _WIDER = 1024, 8  # rows of the first ring; each further one holds so many times more
_LENIENCE = 2.5  # standard errors of the bits by which the first cut of a threshold is lenient
_COSINE_STEPS = float(1 << 30)
_USUAL_STRENGTH, _WORDS_A_STRENGTH = 30, 50_000
_SPELT = 30  # of the nearest rows, those that may be spellings of the focal phrase
_LEAST_OWN_SHARE = 64  # of 255, in the vector of a phrase of frequent words alone
_COPIED_SHARE = 0.25  # of a table's rows: the bits of more are read where they lie
_MOST_ROWS = 1 << 14  # of one of them; more are searched one phrase at a time
_KEPT_PARTS = 4  # parts of a table that are kept for the next search


class Neighbour(NamedTuple):
    """A phrase near another.

    phrase: its words. similarity: estimated cosine. strength: occurrences behind its signature.
    composed: the focal phrase is not in the table, its bits were made of its words.

    >>> NeighbourSearch(table, min_strength=5).nearest("the king", k=1)[0].phrase
    'the gryphon'
    """

    phrase: str
    similarity: float
    strength: int
    composed: bool = False


class NeighbourList(NamedTuple):
    """Neighbours of a phrase, and how many were left out.

    neighbours: the nearest first. hidden: near-duplicates left out, each as near as one listed.
    """

    neighbours: Results[Neighbour]
    hidden: int


class SharedNeighbour(NamedTuple):
    """A phrase near another in one of two tables, or in both.

    of: `both`, `a` or `b`: the tables among whose nearest it is. similarity_a, similarity_b: its
    estimated cosine with the other phrase in each table; None where one of them is unknown there.

    >>> SharedNeighbour("a", "position", 0.31, None).of
    'a'
    """

    of: str
    phrase: str
    similarity_a: float | None
    similarity_b: float | None


class NeighbourSearch:
    """Searches a table, or a part of it chosen once, for the phrases nearest to others.

    Data computed from the table are cached with it, also for later searches with the same limits.
    May be shared by threads; a pickled search is made again from the table's path.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        candidates: only these phrases; those without a signature are left out.
        min_strength: only phrases with at least so many occurrences. None: where `distinct`, 30,
            since the rarest phrases are many and mostly noise; fewer in a text of less than 1.5
            million words, one for every 50,000.
        lengths: only phrases of this number of tokens, or of these.
        estimate: how similarities are estimated, `bits` or `restored`; None: the table's default.
            Rows are always searched by the Hamming distance of their bits, which also decides on
            near-duplicates. Another estimate then sorts the phrases listed among the 1,024 nearest
            rows, after these the ones among the 8,192 nearest, and so on, for any k; under a
            threshold, all phrases that reach it.
        distinct: leave out near-duplicates. Phrases are compared by their distinctive words
            (`king` for `the king ,` and `of king`), each as its base word where `sign` stored
            English inflections (`ride` for `rides`). Left out are phrases whose distinctive words
            all occur in the focal phrase, or include all of its. Of phrases with the same
            distinctive words one is listed, the longest that has half of their occurrences
            (`due to`, not `due` or `due to the`). A phrase that includes all distinctive words of
            one listed before is left out (`despite the lack of` after `despite`); so is one that
            shares words with the focal phrase, or stands half of the time in one listed before,
            and whose distinctive words are all in that one. So is a phrase of frequent words alone
            whose own contexts are less than a quarter of its vector (`to by the`): the vector is
            theirs, whatever the phrase means. So are fragments, unless the focal phrase is one:
            phrases that are less than four times as frequent as if their first or last word stood
            there by chance (`and to`), and those that nearly always stand in a longer one
            (`deputy prime`).
            A phrase that differs from the focal one in accents and case alone is listed
            in any case. None: where the table composes phrases of their words and no candidates
            are named.

    Raises:
        ParameterError: the limits leave no phrase; the limit that left none is named.

    >>> search = NeighbourSearch(table, min_strength=5)
    >>> [one.phrase for one in search.nearest("the king", k=2)]
    ['the gryphon', 'the hatter']
    """

    def __init__(
        self,
        table: TableLike,
        *,
        candidates: Iterable[str] | None = None,
        min_strength: int | None = None,
        lengths: int | Iterable[int] | None = None,
        distinct: bool | None = None,
        estimate: str | None = None,
    ) -> None:
        table = opened_table(table)
        if min_strength is not None:
            min_strength = whole_number(min_strength, "min_strength", 0)
        self._table = table
        self._options: dict[str, Any] = {
            "candidates": None
            if candidates is None
            else tuple(one_or_many_texts(candidates, "candidates")),
            "min_strength": min_strength,
            "lengths": None if lengths is None else _lengths(lengths, table.longest),
            "distinct": distinct,
        }
        self._part = _part_of(table, **self._options)
        self._inside: np.ndarray | None = None
        self._estimator = table.estimator(estimate=estimate)

    def __reduce__(self) -> tuple[Any, ...]:
        return _search, (self._table, self._options | {"estimate": self._estimator.estimate})

    @property
    def table(self) -> StoredTable:
        """The table that is searched."""
        return self._table

    @property
    def estimate(self) -> str:
        """How similarities are estimated: `bits` or `restored`."""
        return self._estimator.estimate

    def __repr__(self) -> str:
        return f"<NeighbourSearch among {counted(len(self._part), 'phrase')} of {self._table!r}>"

    def within(
        self, *, min_strength: int | None = None, lengths: int | Iterable[int] | None = None
    ) -> "NeighbourSearch":
        """Return a search among some of the phrases of this one, for limits that change often.

        It finds what a search made with these limits finds, makes nothing anew and shares what
        this one holds, but looks at all of its phrases.

        Arguments:
            min_strength: only phrases with at least so many occurrences.
            lengths: only phrases of this number of tokens, or of these.

        Raises:
            ParameterError: the limits are wider, or leave no phrase.

        >>> search = NeighbourSearch(table, min_strength=2).within(min_strength=5)
        >>> [one.phrase for one in search.nearest("the king", k=2)]
        ['the gryphon', 'the hatter']
        """
        own, part = self._options, self._part
        options = dict(own)
        rows = slice(None) if part.rows is None else part.rows
        inside = np.ones(len(part), bool)
        if min_strength is not None:
            options["min_strength"] = whole_number(min_strength, "min_strength", 0)
            if min_strength < part.min_strength:
                raise ParameterError(
                    f"min_strength {min_strength}: choose {part.min_strength:,} or more, as the "
                    "search has it"
                )
            inside &= self._table.strengths[rows] >= min_strength
        if lengths is not None:
            options["lengths"] = _lengths(lengths, self._table.longest)
            if own["lengths"] is not None and not set(options["lengths"]) <= set(own["lengths"]):
                raise ParameterError(f"lengths: choose among {_ranges(own['lengths'])}")
            inside &= _are_among(options["lengths"], part.distinctive.tokens)[rows]
        if not inside.any():
            raise ParameterError(f"{self._table.path}: no phrase is left: choose wider limits")
        narrower = copy(self)
        narrower._options, narrower._inside = options, inside
        return narrower

    def _nearest_rows(
        self, bits: np.ndarray, max_rows: int, radius: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (the nearest rows inside the limits, their distances), the nearest first.

        Arguments:
            bits: uint64[n_words], of the focal phrase.
            radius: maximum Hamming distance.
        """
        inside = self._inside
        if inside is None:
            return self._part.nearest(bits, max_rows, radius)
        asked = max_rows * inside.size // int(np.count_nonzero(inside))
        while True:
            at, distances = self._part.nearest(bits, asked, radius)
            kept = inside[at]
            if at.size < asked or asked >= inside.size or np.count_nonzero(kept) >= max_rows:
                break
            asked = min(2 * asked, inside.size)
        at, distances = at[kept], distances[kept]
        if at.size > max_rows:
            as_near = int(np.searchsorted(distances, distances[max_rows - 1], "right"))
            at, distances = at[:as_near], distances[:as_near]
        return at, distances

    def nearest(self, phrase: str, *, k: int = 10) -> Results[Neighbour] | None:
        """Return the k phrases nearest to `phrase`, itself left out; None without a signature.

        Ties are common: all rows as near as the k-th are found, then ordered by distance,
        strength (strongest first) and text.

        Arguments:
            k: maximum number of results.
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty or no text, or k is no whole number above 0.
        """
        neighbour_list = self.neighbour_list(phrase, k=k)
        return None if neighbour_list is None else neighbour_list.neighbours

    def above(
        self, phrase: str, threshold: float, *, k: int | None = None
    ) -> Results[Neighbour] | None:
        """Return all phrases at least so similar, k at most, in the order of `nearest`.

        None without a signature.

        Arguments:
            phrase: words separated by spaces.
            threshold: the lowest similarity, -1 to 1.
            k: so many at most; all where None.
        """
        neighbour_list = self.neighbour_list(phrase, k=k, threshold=threshold)
        return None if neighbour_list is None else neighbour_list.neighbours

    def neighbour_list(
        self,
        phrase: str,
        *,
        k: int | None = 10,
        threshold: float | None = None,
        among: int | None = None,
    ) -> NeighbourList | None:
        """Return neighbours as `nearest` and `above` do, and how many were left out.

        Arguments:
            phrase: words separated by spaces.
            k: so many at most; None: all, which needs a threshold.
            threshold: only phrases at least so similar.
            among: where distinct, look at no more than so many of the nearest rows, and those as
                near; None: at as many as it takes to find k.
        """
        if k is not None or threshold is None:
            k = whole_number(k, "k", 1)
        focal = self._focal(self._table.normal_form(one_text(phrase, "phrase")))
        if not focal.phrases.known[0]:
            return None
        return self._list_neighbours(focal, k, threshold, among)

    def neighbour_lists(
        self,
        phrases: Sequence[str],
        *,
        k: int | None = 10,
        threshold: float | None = None,
        among: int | None = None,
    ) -> Iterator[NeighbourList | None]:
        """Yield for each phrase what `neighbour_list` returns, in less time: rows are read once.

        Arguments:
            phrases: words separated by spaces.
            k, threshold, among: as `neighbour_list` takes them.

        >>> search = NeighbourSearch(table, min_strength=5)
        >>> the_king, alice = search.neighbour_lists(["the king", "alice"], k=2)
        >>> the_king == search.neighbour_list("the king", k=2)
        True
        """
        if k is not None or threshold is None:
            k = whole_number(k, "k", 1)
        phrases = one_or_many_texts(phrases, "phrases")
        for first in range(0, len(phrases), AT_ONCE):
            normal = [self._table.normal_form(text) for text in phrases[first : first + AT_ONCE]]
            focals = self._focals(normal)
            rings = self._first_rings(focals, k, threshold, among)
            for focal, ring in zip(focals, rings, strict=True):
                is_known = focal.phrases.known[0]
                yield self._list_neighbours(focal, k, threshold, among, ring) if is_known else None

    def of_sum(
        self, positive: Sequence[str], negative: Sequence[str], *, k: int = 10
    ) -> Results[Neighbour] | None:
        """Return the k phrases nearest to the sum of some phrases' vectors less that of others.

        None where nothing is known of one of them. Left out is what says the same as all of them
        together.

        Arguments:
            k: maximum number of results.
            positive, negative: phrases, at least one of both.

        Raises:
            ParameterError: there is no phrase, one is empty or no text, they cancel each other
                out, or k is no whole number above 0.
        """
        k = whole_number(k, "k", 1)
        phrases = [self._table.normal_form(phrase) for phrase in (*positive, *negative)]
        if not phrases:
            raise ParameterError("no phrase is given: give at least one")
        focal = self._focal(*phrases)
        if not focal.phrases.known.all():
            return None
        if len(phrases) > 1 or negative:
            signs = np.repeat([1.0, -1.0], [len(positive), len(negative)])
            focal = replace(focal, phrases=focal.phrases.sum(signs))
        return self._list_neighbours(focal, k).neighbours

    def of_vector(self, vector: np.ndarray, *, k: int = 10) -> Results[Neighbour]:
        """Return the k phrases nearest to a vector; one with such a vector is among them.

        Arguments:
            vector: float[n_dimensions], as `SignatureTable.vectors` gives them, of any length.
            k: maximum number of results.

        Raises:
            ParameterError: the vector is of another shape, 0 or no number in places, or k is no
                whole number above 0.
        """
        known_phrases = self._estimator.of_vector(vector)
        return self._list_neighbours(
            _Focal("", np.empty(0, np.int64), known_phrases), whole_number(k, "k", 1)
        ).neighbours

    def _list_neighbours(
        self, focal: "_Focal", k: int | None, threshold: float | None = None,
        among: int | None = None, first_rows: "_Ring | None" = None,
    ) -> NeighbourList:  # fmt: skip
        """Return the neighbours of a focal vector, with the number of near-duplicates left out.

        Arguments:
            first_rows: what the search of the first ring gives, where it was searched before.
        """
        table, by_bits = self._table, self._estimator.estimate == "bits"
        wanted = len(self._part) if k is None else k
        near, hidden = _Near.nothing(), 0
        for at, distances in self._rings(focal, wanted, threshold, among, first_rows):
            if threshold is not None and not by_bits:
                at, distances = self._above(focal, at, distances, threshold)
            ring, n_hidden = self._listed(
                focal, at, distances, near.at, wanted - near.at.size, by_bits
            )
            near = near.then(ring if by_bits else self._measured(focal, ring))
            hidden += n_hidden
            if near.at.size >= wanted:
                break
        composed = bool((focal.rows < 0).any())
        rows = self._rows(near.at[:wanted])
        columns = (rows, near.cosines[:wanted], table.strengths[rows])
        named = [
            Neighbour(table.text(row), cosine, strength, composed)
            for row, cosine, strength in zip(*(c.tolist() for c in columns), strict=True)
        ]
        return NeighbourList(Results(named), hidden)

    def _rings(
        self, focal: "_Focal", wanted: int, threshold: float | None, among: int | None,
        first_rows: "_Ring | None",
    ) -> Iterator["_Ring"]:  # fmt: skip
        """Yield places and distances of the rows around the focal phrase, ring by ring.

        Each ring holds all rows as near as its farthest that are in no ring before. Where
        distances alone decide, the first ring holds what is wanted; under a threshold, all that
        may reach it; else sizes are fixed, so that what is listed first does not depend on k.
        """
        n, radius = self._first_ring(wanted, threshold, among)
        inner = -1
        while True:
            asked = n + focal.rows.size  # which are left out
            at, distances = first_rows or self._nearest_rows(focal.phrases.bits[0], asked, radius)
            first_rows = None
            is_last = at.size < asked or (among is not None and self._part.distinct)
            is_beyond = (distances > inner) & ~np.isin(self._rows(at), focal.rows)
            yield at[is_beyond], distances[is_beyond]
            if is_last:
                return
            inner = int(distances[-1])
            n = min(_WIDER * n, len(self._part))

    def _first_ring(
        self, wanted: int, threshold: float | None, among: int | None
    ) -> tuple[int, int]:
        """Return (rows of the first ring without the focal phrase's own, their largest distance).

        Arguments:
            wanted, threshold, among: as `_rings` takes them.
        """
        by_bits, distinct = self._estimator.estimate == "bits", self._part.distinct
        radius = _radius(threshold, self._table.n_bits, 0.0 if by_bits else _LENIENCE)
        among = among if distinct else None
        if among is None and threshold is not None:
            return len(self._part), radius
        if among is None and not distinct and by_bits:
            return wanted, radius
        return among or _FIRST_RING, radius

    def _first_rings(
        self, focals: "list[_Focal]", k: int | None, threshold: float | None, among: int | None
    ) -> "list[_Ring | None]":
        """Return what `_nearest_rows` does for the first ring of each phrase; None where it has to.

        Arguments:
            k, threshold, among: as `neighbour_list` takes them.
        """
        n, radius = self._first_ring(len(self._part) if k is None else k, threshold, among)
        if self._inside is not None or n > _MOST_ROWS or len(focals) == 1:
            return [None] * len(focals)
        queries = np.concatenate([focal.phrases.bits for focal in focals])
        rings = self._part.nearest_of_many(queries, n + 1, radius)
        if self._part.distinct:
            of_all = np.concatenate([at for at, _ in filter(None, rings)])
            self._part.distinctive.describe(self._rows(of_all))
        return rings

    def _rows(self, at: np.ndarray) -> np.ndarray:
        """Return rows of the table by their places among those that are searched.

        Arguments:
            at: int64, the places.
        """
        rows = self._part.rows
        return at if rows is None else rows[at].astype(np.int64)

    def reranked(
        self, phrase: str, measure: Similarity, *, k: int = 10, among: int = RERANKED
    ) -> Results[Neighbour] | None:
        """Return the k most similar by another measure of the `among` nearest, no more than those.

        Ordered by that similarity, strength and text; those without one come last, with the
        similarity NaN. None without a signature.

        Arguments:
            k: maximum number of results.
            among: of how many.
            phrase: words separated by spaces. measure: the other measure.
        """
        near = self.reranked_list(phrase, measure, k=whole_number(k, "k", 1), among=among)
        return None if near is None else near.neighbours

    def reranked_list(
        self, phrase: str, measure: Similarity, *, k: int | None = 10, among: int = RERANKED
    ) -> NeighbourList | None:
        """Return what `reranked` does, and how many were left out; all that it looks at for k None.

        Arguments:
            phrase: words separated by spaces.
        """
        near = self.neighbour_list(phrase, k=whole_number(among, "among", 1))
        if near is None:
            return None
        return near._replace(neighbours=rerank_neighbours(phrase, near.neighbours, measure)[:k])

    def _focal(self, *normal: str) -> "_Focal":
        rows = self._table.find_normal(normal)
        return _Focal(" ".join(normal), rows, self._estimator.of_phrases(normal))

    def _focals(self, normal: list[str]) -> "list[_Focal]":
        """Return `_focal` of each phrase, given in its normal form."""
        rows = self._table.find_normal(normal)
        phrases = self._estimator.of_phrases(normal)
        return [
            _Focal(text, rows[place : place + 1], phrases.one(place))
            for place, text in enumerate(normal)
        ]

    def _listed(
        self, focal: "_Focal", at: np.ndarray, distances: np.ndarray, before: np.ndarray,
        wanted: int, no_more: bool,
    ) -> tuple["_Near", int]:  # fmt: skip
        """Return the listed neighbours among the rows of a ring, in order of their bits.

        And how many rows as near as the last of the first `wanted` say the same again.

        Arguments:
            at, distances: int64[n], places of the ring's rows, and their Hamming distances.
            before: int64, the places of what earlier rings have listed.
        """
        part, table = self._part, self._table
        rows = self._rows(at)
        order = order_neighbours(
            frozen(rows), frozen(distances), table.strengths, *table.edges(rows)
        )
        hidden = 0
        if part.distinct:
            cores = part.distinctive.cores(np.concatenate([rows[order], self._rows(before)]))
            core, words = part.distinctive.core(focal.normal)
            roles = self._roles(focal, rows[order], cores)
            if not before.size:
                letters = _bare_letters(focal.normal)
                for place, other in enumerate(rows[order[:_SPELT]].tolist()):
                    if _bare_letters(table.text(other)) == letters:
                        roles[place] = SPELLING
            by_core = frozen(np.argsort(cores.keys[: order.size]))
            chosen = choose_distinctive(
                frozen(distances[order]), frozen(roles), cores.strengths, cores.tokens,
                cores.keys, cores.bare, cores.starts, cores.words, by_core, frozen(core),
                frozen(words), wanted if no_more else at.size,
            )  # fmt: skip
            shown = chosen[:wanted]
            passed = order.size if shown.size < wanted else int(shown[-1]) + 1
            hidden = passed - shown.size
            order = order[chosen]
        return _Near(at[order], cosines_of_distances(table.n_bits)[distances[order]]), hidden

    def _roles(self, focal: "_Focal", rows: np.ndarray, cores: Cores) -> np.ndarray:
        """Return uint8, LEFT_OUT for fragments and for what is composed of frequent words alone.

        Who asks for a fragment is shown others.

        Arguments:
            rows: int64[n], of the table.
            cores: those of the rows, then others.
        """
        left_out = np.zeros(rows.size, bool)
        own = focal.rows[focal.rows >= 0]
        if " " not in focal.normal or not self._part.distinctive.cores(own).fragments.any():
            left_out |= cores.fragments[: rows.size]
        shares = self._table.own_shares
        if shares is not None:
            left_out |= cores.plain[: rows.size] & (shares[rows] < _LEAST_OWN_SHARE)
        return np.where(left_out, LEFT_OUT, 0).astype(np.uint8)

    def _above(
        self, focal: "_Focal", at: np.ndarray, distances: np.ndarray, threshold: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows found, as they came, that are so similar as the estimator tells.

        Arguments:
            at, distances: int64[n], places of rows, and their Hamming distances.
        """
        similar = 1.0 - self._steps(focal, self._rows(at)) / _COSINE_STEPS >= threshold
        return at[similar], distances[similar]

    def _measured(self, focal: "_Focal", near: "_Near") -> "_Near":
        """Return rows with the similarities that the estimator tells, in order of them."""
        rows = self._rows(near.at)
        steps = self._steps(focal, rows)
        order = order_neighbours(
            frozen(rows), frozen(steps), self._table.strengths, *self._table.edges(rows)
        )
        return _Near(near.at[order], 1.0 - steps[order] / _COSINE_STEPS)

    def _steps(self, focal: "_Focal", rows: np.ndarray) -> np.ndarray:
        """Return how far rows are by the estimator: 1 - similarity as a whole number, int64.

        Whole, so that what is printed alike is a tie.
        """
        of_rows = self._estimator.of_rows(rows, *self._table.edges(rows))
        focals = np.zeros(rows.size, np.int64)
        cosines = self._estimator.cosines(focal.phrases, of_rows, focals, np.arange(rows.size))
        return np.rint((1.0 - cosines) * _COSINE_STEPS).astype(np.int64)


# Places among the rows that are searched, and their Hamming distances, int64 both, nearest first.
_Ring = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class _Focal:
    """The focal vector of a search: of a phrase, or the sum of several.

    normal: its normal form, those of several end to end. rows: int64, of each phrase, -1 where it
    has none. phrases: what is known of it.
    """

    normal: str
    rows: np.ndarray
    phrases: KnownPhrases


class _Near(NamedTuple):
    """The nearest rows.

    at: int64, places among the rows that are searched, the nearest first. cosines: float64.
    """

    at: np.ndarray
    cosines: np.ndarray

    @classmethod
    def nothing(cls) -> "_Near":
        return cls(np.empty(0, np.int64), np.empty(0))

    def then(self, others: "_Near") -> "_Near":
        return _Near(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


@dataclass(frozen=True)
class _SearchRows:
    """The rows of a table that are searched.

    Attributes:
        min_strength: the least that they have.
        rows: uint32; None: all.
        bits: of all rows, mapped; of these rows alone, copied, where they are few.
        text, bounds: the phrases of the table as UTF-8 end to end, and where each begins.
        distinctive: finds the distinctive words of phrases.
        distinct: whether near-duplicates are left out.
    """

    min_strength: int
    rows: np.ndarray | None
    bits: np.ndarray
    distinctive: DistinctiveWords
    distinct: bool

    def __len__(self) -> int:
        return len(self.bits if self.rows is None else self.rows)

    def nearest(self, query: np.ndarray, k: int, radius: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (places among the rows, their Hamming distances), the nearest first."""
        return nearest_bits(self.bits, query, k, radius, self._among)

    def nearest_of_many(self, queries: np.ndarray, k: int, radius: int) -> list[_Ring | None]:
        """Return what `nearest` does for each query; None where it has too many ties."""
        return nearest_bits_of_many(self.bits, queries, k, radius, self._among)

    @property
    def _among(self) -> np.ndarray | None:
        """The rows of `bits` that are searched; None: all."""
        return self.rows if len(self.bits) > len(self) else None


_ALL_ROWS = frozen(np.empty(0, np.uint32))


def nearest_bits(
    bits: np.ndarray,
    query: np.ndarray,
    k: int,
    radius: int | None = None,
    among: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows nearest by Hamming distance, and all rows tied with the k-th.

    One pass over all bits, on the thread that asks: nothing is started that a fork could lose.

    Arguments:
        bits: uint64[n, n_words], may be a read-only map; it is not copied.
        query: uint64[n_words].
        radius: only rows at most so far away; None: however far.
        among: uint32, ascending: only these rows, which are numbered by their place in it.
        k: number of rows, 1 or more.

    Returns (rows int64, distances int64), in order of distance, then row.
    """
    if k < 1 or not len(bits if among is None else among):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    max_distance = 64 * query.size if radius is None else radius
    nearest: tuple[np.ndarray, np.ndarray] = nearest_rows(
        frozen(bits), _ALL_ROWS if among is None else frozen(among), frozen(query), k, max_distance
    )
    return nearest


def nearest_bits_of_many(
    bits: np.ndarray,
    queries: np.ndarray,
    k: int,
    radius: int | None = None,
    among: np.ndarray | None = None,
) -> list[_Ring | None]:
    """Return what `nearest_bits` does for each of many queries, in one pass over the rows.

    None for a query with too many rows as near as the k-th.

    Arguments:
        bits, k, radius, among: as `nearest_bits` takes them.
        queries: uint64[n_queries, n_words].
    """
    n_queries, n_words = queries.shape
    if k < 1 or not len(bits if among is None else among):
        return [None] * n_queries
    room = 4 * (k + BLOCK)
    rows, distances = np.empty((n_queries, room), np.int64), np.empty((n_queries, room), np.uint16)
    sizes = nearest_rows_of_many(
        frozen(bits), _ALL_ROWS if among is None else frozen(among), frozen(queries), k,
        64 * n_words if radius is None else radius, rows, distances,
    )  # fmt: skip
    return [
        None if size < 0 else (rows[q, :size].copy(), distances[q, :size].astype(np.int64))
        for q, size in enumerate(sizes.tolist())
    ]


_LOCKS = {"making": Lock()}
# A forked child gets a lock of its own: a thread that was left behind may hold the parent's.
os.register_at_fork(after_in_child=lambda: _LOCKS.update(making=Lock()))


def _part_of(
    table: StoredTable,
    candidates: tuple[str, ...] | None,
    min_strength: int | None,
    lengths: tuple[int, ...] | None,
    distinct: bool | None,
) -> _SearchRows:
    """Return the part of a table that is searched, made once where no candidates are named."""
    if distinct is None:
        distinct = candidates is None and table.fingerprint.composition is not None
    with _LOCKS["making"]:
        distinctive = _distinctive(table)
        if min_strength is None:
            min_strength = _usual_strength(distinctive) if distinct else 0
        if candidates is not None:
            return _made_part(table, distinctive, candidates, min_strength, lengths, distinct)
        parts = table.kept.setdefault("parts", {})
        key = (min_strength, lengths, distinct)
        if key not in parts:
            while len(parts) >= _KEPT_PARTS:
                del parts[next(iter(parts))]
            parts[key] = _made_part(table, distinctive, None, *key)
        part: _SearchRows = parts[key]
        return part


def usual_strength(table: StoredTable) -> int:
    """Return the `min_strength` of a distinct search that is given none."""
    with _LOCKS["making"]:
        return _usual_strength(_distinctive(table))


def _usual_strength(distinctive: DistinctiveWords) -> int:
    return min(_USUAL_STRENGTH, distinctive.n_words // _WORDS_A_STRENGTH)


def _distinctive(table: StoredTable) -> DistinctiveWords:
    """Return the finder of a table's distinctive words, made once; the caller has the lock."""
    if "distinctive" not in table.kept:
        table.kept["distinctive"] = DistinctiveWords(table)
    distinctive: DistinctiveWords = table.kept["distinctive"]
    return distinctive


def _made_part(
    table: StoredTable,
    distinctive: DistinctiveWords,
    candidates: tuple[str, ...] | None,
    min_strength: int,
    lengths: tuple[int, ...] | None,
    distinct: bool,
) -> _SearchRows:
    if not len(table):
        raise ParameterError(
            f"{table.path}: holds no phrases: none occurs {table.parameters.get('min_count')} "
            "times: sign it again with a lower `min_count`"
        )
    rows: np.ndarray | None = None
    if candidates is not None:
        row_of_candidate = table.find(candidates)
        rows = _left(
            table, each_once(row_of_candidate[row_of_candidate >= 0]),
            f"none of {len(candidates):,} `candidates` has a signature: name others",
        )  # fmt: skip
    if min_strength > 0:
        strong = table.strengths >= min_strength
        rows = np.flatnonzero(strong) if rows is None else rows[strong[rows]]
        rows = _left(
            table, rows, f"no phrase has a strength of {min_strength:,}: lower `min_strength`"
        )
    if lengths is not None:
        fit = _are_among(lengths, distinctive.tokens)
        rows = np.flatnonzero(fit) if rows is None else rows[fit[rows]]
        rows = _left(
            table, rows, f"no phrase left has {_ranges(lengths)} tokens: choose other `lengths`"
        )
    bits = table.bits
    if rows is not None:
        is_small = bits[:1].nbytes * rows.size <= memory_to_use() // (2 * _KEPT_PARTS)
        if is_small and rows.size <= _COPIED_SHARE * len(table):
            bits = frozen(bits[rows])
        rows = frozen(rows.astype(np.uint32))
    return _SearchRows(
        min_strength,
        rows,
        bits,
        distinctive,
        distinct,
    )


def _are_among(lengths: tuple[int, ...], tokens: np.ndarray) -> np.ndarray:
    """Return whether each number of tokens, uint16, is one of `lengths`; bool."""
    wanted = np.zeros(1 << 16, bool)
    wanted[[length for length in lengths if length < wanted.size]] = True
    is_among: np.ndarray = wanted[tokens]
    return is_among


def _left(table: StoredTable, rows: np.ndarray, why: str) -> np.ndarray:
    if not rows.size:
        raise ParameterError(f"{table.path}: {why}")
    return rows


def _ranges(lengths: tuple[int, ...]) -> str:
    consecutive = lengths[-1] - lengths[0] == len(lengths) - 1
    if consecutive and len(lengths) > 1:
        return f"{lengths[0]} to {lengths[-1]}"
    return ", ".join(map(str, lengths))


def _each(lengths: int | Iterable[int]) -> list[int]:
    return [lengths] if isinstance(lengths, int | np.integer) else list(lengths)


def _lengths(lengths: int | Iterable[int], longest: int) -> tuple[int, ...]:
    """Return numbers of tokens, ascending; of a range, however long, those that phrases have."""
    try:
        listed_lengths = list(lengths[:1]) if isinstance(lengths, range) else _each(lengths)
    except TypeError:
        raise ParameterError(f"lengths: is {shown(lengths)}, wanted numbers of tokens") from None
    wanted_lengths = {
        whole_number(length, f"lengths[{n}]", 1) for n, length in enumerate(listed_lengths)
    }
    if not wanted_lengths:
        raise ParameterError("lengths: is empty, wanted numbers of tokens")
    if isinstance(lengths, range):
        wanted_lengths.update(length for length in range(1, longest + 1) if length in lengths)
    return tuple(sorted(wanted_lengths))


def _radius(threshold: float | None, n_bits: int, lenience: float) -> int:
    """Return the largest distance at which phrases may still be so similar, -1 for none.

    lenience: standard errors of bits, of unrelated phrases, by which they may fall short.
    """
    if threshold is None:
        return n_bits
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.floating):
        raise ParameterError(f"threshold: is {shown(threshold)}, wanted a number from -1 to 1")
    in_range(threshold, "threshold", -1.0, 1.0)
    least = threshold - lenience * np.pi / (2 * np.sqrt(n_bits))
    near = (d for d in range(n_bits + 1) if estimated_cosine(d, n_bits) >= least)
    return max(near, default=-1)


def _bare_letters(text: str) -> str:
    """Return a text without accents and case: spellings of one phrase are equal."""
    if text.isascii():
        return text.lower()
    return "".join(
        c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum() or c == " "
    )


def _search(table: StoredTable, options: dict[str, Any]) -> NeighbourSearch:
    return NeighbourSearch(table, **options)


def rerank_neighbours(
    phrase: str, near: Sequence[Neighbour], measure: Similarity
) -> Results[Neighbour]:
    """Return neighbours of a phrase with another measure's similarities, ordered by them.

    Then by strength and text; those without one come last, with the similarity NaN.

    Arguments:
        phrase: words separated by spaces.
        near: its neighbours.
        measure: the other similarity.

    >>> from distsim import ExactCosine
    >>> near = NeighbourSearch(table, min_strength=5).nearest("the king", k=3)
    >>> again = rerank_neighbours("the king", near, ExactCosine(index, table))
    >>> sorted(one.phrase for one in again) == sorted(one.phrase for one in near)
    True
    """
    values = measure.similarities([(phrase, neighbour.phrase) for neighbour in near])
    again = [
        neighbour._replace(similarity=math.nan if value is None else value)
        for neighbour, value in zip(near, values, strict=True)
    ]
    order = sorted(
        again,
        key=lambda neighbour: (_last(neighbour.similarity), -neighbour.strength, neighbour.phrase),
    )
    return Results(order)


def neighbours_of_both(
    a: NeighbourSearch, b: NeighbourSearch, phrase: str, *, k: int = 10
) -> Results[SharedNeighbour]:
    """Return the phrases nearest to a phrase in two tables: of both, of `a`, of `b` alone.

    Each group begins with the highest similarity, of both with the highest mean. Tables of two
    parts of a corpus show how the use of a phrase differs between these.

    Arguments:
        a, b: searches of the two tables.
        phrase: words separated by spaces.
        k: how many of each table are looked at.

    >>> search = NeighbourSearch(table, min_strength=5)
    >>> both = neighbours_of_both(search, search, "the king", k=2)
    >>> [(one.of, one.phrase) for one in both]
    [('both', 'the gryphon'), ('both', 'the hatter')]
    """
    neighbour_lists = [search.neighbour_list(phrase, k=k) for search in (a, b)]
    near = [
        [] if neighbour_list is None else [row.phrase for row in neighbour_list.neighbours]
        for neighbour_list in neighbour_lists
    ]
    phrases = list(dict.fromkeys(near[0] + near[1]))
    measured = [
        EstimatedCosine(search.table, estimate=search.estimate).similarities(
            [(phrase, other) for other in phrases]
        )
        for search in (a, b)
    ]
    rows = []
    for other, similarity_a, similarity_b in zip(phrases, *measured, strict=True):
        of = "both" if other in near[0] and other in near[1] else "a" if other in near[0] else "b"
        rows.append(SharedNeighbour(of, other, similarity_a, similarity_b))

    def order(row: SharedNeighbour) -> tuple[int, float, str]:
        values = {"both": row[2:], "a": row[2:3], "b": row[3:]}[row.of]
        total = sum(similarity for similarity in values if similarity is not None)
        return ("both", "a", "b").index(row.of), -total, row.phrase

    return Results(sorted(rows, key=order))


def _last(value: float) -> float:
    """Return a key that puts higher values first and NaN last."""
    return math.inf if math.isnan(value) else -value


class SearchOptions(TypedDict, total=False):
    """The keyword arguments of NeighbourSearch."""

    candidates: Iterable[str] | None
    min_strength: int | None
    lengths: int | Iterable[int] | None
    distinct: bool | None
    estimate: str | None
