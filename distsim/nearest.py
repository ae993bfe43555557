"""A signature table and a phrase -> the phrases nearest to it."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple, overload

import numpy as np

from distsim.comparison import ExactCosine, LearntCosine, StoredCosine, estimated_cosine
from distsim.errors import ParameterError
from distsim.indexes import hamming
from distsim.signatures.table import SignatureTable

RERANKED = 300
_FIRST_ASKED = 1024
_COMMON_SHARE = 1 / 1000
_USUAL_STRENGTH, _WORDS_A_STRENGTH = 30, 50_000
_CACHED_WORDS = 1 << 14
_MOST_WORDS = 6


class Neighbour(NamedTuple):
    """A phrase near another: its estimated similarity and the occurrences behind it.

    composed: the focal phrase is not in the table, its bits were made of its words.
    """

    phrase: str
    similarity: float
    strength: int
    composed: bool = False


class NeighbourSearch:
    """Searches a table, or a part of it chosen once, for the phrases nearest to others.

    Arguments:
        candidates: only these phrases; those without a signature are passed over.
        min_strength: only phrases with at least so many occurrences behind them; None: 30
            where distinct, since the rarest are many and mostly noise; fewer in a text of less
            than 1.5 million words, one for every 50,000.
        lengths: only phrases of these numbers of tokens.
        distinct: leave out what says the same again. Phrases are compared by their telling
            words (`the king ,` and `of king` by `king`): none whose telling words are all in
            the focal phrase, or hold all of its, and one for the same telling words, the
            longest that has half of their occurrences (`due to`, not `due` or `due to the`).
            None: where the table composes phrases of their words, which crowd otherwise, and
            no candidates are named.
    """

    def __init__(
        self,
        table: SignatureTable,
        candidates: Iterable[str] | None = None,
        min_strength: int | None = None,
        lengths: Iterable[int] | None = None,
        distinct: bool | None = None,
    ) -> None:
        self._table = table
        if distinct is None:
            distinct = candidates is None and table.fingerprint.composition is not None
        self._repeats = Repeats(table) if distinct else None
        if min_strength is None:
            n_words = self._repeats.n_words if self._repeats else 0
            min_strength = min(_USUAL_STRENGTH, n_words // _WORDS_A_STRENGTH)
        self._rows: np.ndarray | None = None  # all
        self._bits = table.bits
        if candidates is not None:
            found = table.find(list(candidates))
            self._rows = np.unique(found[found >= 0])
        if min_strength > 0:
            self._keep(table.strengths >= min_strength)
        if lengths is not None:
            self._keep(np.isin(table.token_counts(), list(lengths)))
        if self._rows is not None:
            self._bits = table.bits[self._rows]

    def nearest(self, phrase: str, k: int = 10) -> list[Neighbour] | None:
        """Return the k phrases nearest to `phrase`, itself left out; None without a signature.

        Ties are common: all rows as near as the k-th are found, then ordered by distance,
        strength (strongest first) and text.
        """
        if k < 1:
            raise ParameterError(f"k {k}: choose 1 or more")
        row, query = self._query(phrase)
        if query is None:
            return None
        asked = k if self._repeats is None else max(k, _FIRST_ASKED)
        while True:
            found, distances = hamming.nearest(self._bits, query, asked + 1)
            near = self._named(phrase, row, found, distances)
            if len(near) >= k or found.size == len(self._bits):
                return near[:k]
            asked *= 8

    def reranked(
        self,
        phrase: str,
        k: int,
        measure: ExactCosine | StoredCosine | LearntCosine,
        among: int = RERANKED,
    ) -> list[Neighbour] | None:
        """Return the k most similar by another measure of the `among` nearest by bits.

        Ordered by that similarity, strength and text; those without one come last, with the
        similarity NaN. None without a signature.
        """
        near = self.nearest(phrase, max(k, among))
        if near is None:
            return None
        values = measure.similarities([(phrase, one.phrase) for one in near])
        again = [
            one._replace(similarity=math.nan if value is None else value)
            for one, value in zip(near, values, strict=True)
        ]
        again.sort(key=lambda one: (_last(one.similarity), -one.strength, one.phrase))
        return again[:k]

    def above(self, phrase: str, threshold: float) -> list[Neighbour] | None:
        """Return all phrases at least so similar, in the order of `nearest`; None without one."""
        if not -1.0 <= threshold <= 1.0:
            raise ParameterError(f"threshold {threshold}: choose -1 to 1")
        row, query = self._query(phrase)
        if query is None:
            return None
        n_bits = self._table.n_bits
        radius = max(
            (d for d in range(n_bits + 1) if estimated_cosine(d, n_bits) >= threshold), default=-1
        )
        found, distances = hamming.within(self._bits, query, radius)
        return self._named(phrase, row, found, distances)

    def _keep(self, wanted: np.ndarray) -> None:
        if self._rows is None:
            self._rows = np.flatnonzero(wanted)
        else:
            self._rows = self._rows[wanted[self._rows]]

    def _query(self, phrase: str) -> tuple[int, np.ndarray | None]:
        """Return (row, bits) of a phrase, row -1 where the bits were composed of its words."""
        row = int(self._table.find([phrase])[0])
        if row < 0:
            return row, self._table.composed_bits(phrase)
        return row, np.array(self._table.bits[row])

    def _named(
        self, phrase: str, row: int, found: np.ndarray, distances: np.ndarray
    ) -> list[Neighbour]:
        rows = found if self._rows is None else self._rows[found]
        strengths = self._table.strengths[rows].tolist()
        ordered = sorted(
            (distance, -strength, self._table.text(other))
            for other, distance, strength in zip(
                rows.tolist(), distances.tolist(), strengths, strict=True
            )
            if other != row
        )
        near = [
            Neighbour(text, estimated_cosine(distance, self._table.n_bits), -strength, row < 0)
            for distance, strength, text in ordered
        ]
        if self._repeats is None:
            return near
        return self._repeats.without(self._table.normal_form(phrase), near)


class Repeats:
    """Tells which neighbours say the same again.

    A phrase's core are its words, without those that make up more than a thousandth of the text,
    unless it has no others; punctuation alone is its own core.
    """

    def __init__(self, table: SignatureTable) -> None:
        self._table = table
        words = table.strengths[table.token_counts() == 1]
        self.n_words = int(words.sum(dtype=np.int64))
        self._common = self.n_words * _COMMON_SHARE
        self._is_telling = lru_cache(_CACHED_WORDS)(self._looked_up)

    def without(self, focal: str, near: list[Neighbour]) -> list[Neighbour]:
        """Return one neighbour for each core, none with the focal phrase's or a nearer one's."""
        groups: dict[frozenset[str], list[Neighbour]] = {}
        for one in near:
            groups.setdefault(self._core(one.phrase), []).append(one)
        usual = [(_most_usual(members), core) for core, members in groups.items()]
        usual.sort(key=lambda pair: (-pair[0].similarity, -pair[0].strength, pair[0].phrase))
        kept: list[Neighbour] = []
        wholes = {self._core(focal)}
        parts = _subsets(self._core(focal))
        for one, core in usual:
            own_parts = _subsets(core)
            if core not in parts and wholes.isdisjoint(own_parts):
                kept.append(one)
                wholes.add(core)
                parts |= own_parts
        return kept

    def _core(self, phrase: str) -> frozenset[str]:
        tokens = phrase.split(" ")
        return (
            frozenset(t for t in tokens if self._is_telling(t))
            or frozenset(t for t in tokens if _is_word(t))
            or frozenset(tokens)
        )

    def _looked_up(self, token: str) -> bool:
        if not _is_word(token):
            return False
        row = int(self._table.find_normal([token])[0])
        return row < 0 or float(self._table.strengths[row]) <= self._common


def _most_usual(members: list[Neighbour]) -> Neighbour:
    """Return the longest with half of the strongest one's occurrences or more, then nearest.

    Of those that neither begin nor end with punctuation, where there are any.
    """
    members = [one for one in members if _has_word_edges(one.phrase)] or members
    enough = max(one.strength for one in members) / 2
    usual = [one for one in members if one.strength >= enough]
    return max(usual, key=lambda one: (one.phrase.count(" "), one.similarity, one.strength))


def _subsets(core: frozenset[str]) -> set[frozenset[str]]:
    """Return all sets of words of a core, of which phrases of a table have few."""
    words = sorted(core)[:_MOST_WORDS]
    return {
        frozenset(chosen) for n in range(1, len(words) + 1) for chosen in combinations(words, n)
    } | {core}


def _has_word_edges(phrase: str) -> bool:
    tokens = phrase.split(" ")
    return _is_word(tokens[0]) and _is_word(tokens[-1])


def _is_word(token: str) -> bool:
    return any(c.isalnum() for c in token)


def _last(value: float) -> float:
    """Return a key that puts higher values first and NaN last."""
    return math.inf if math.isnan(value) else -value


@overload
def neighbours(table: SignatureTable, phrase: str, k: int = ...) -> list[Neighbour] | None: ...
@overload
def neighbours(
    table: SignatureTable, phrase: Sequence[str], k: int = ...
) -> list[list[Neighbour] | None]: ...
def neighbours(
    table: SignatureTable, phrase: str | Sequence[str], k: int = 10
) -> list[Neighbour] | list[list[Neighbour] | None] | None:
    """Return the k phrases nearest to a phrase, or to each of several; see NeighbourSearch."""
    search = NeighbourSearch(table)
    if isinstance(phrase, str):
        return search.nearest(phrase, k)
    return [search.nearest(one, k) for one in phrase]
