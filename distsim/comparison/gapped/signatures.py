"""Similarity of patterns with gaps, by the fillers of each gap and the words around it.

Lin and Pantel (2001) compare paths by what fills their slots; here the slots are the gaps of a
pattern, found in the suffix array, and the fillers are compared by vectors of words, so that two
gaps are alike that take like words, not the same ones alone.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np

from distsim.base.arguments import AnyPath
from distsim.base.errors import IncompatibleError
from distsim.comparison.gapped.patterns import GappedPattern, Matcher, PatternMatches
from distsim.contexts.weights import ContextCounts, FeatureSpace, Weigher, Weighting
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.table import TableLike, opened_table

PLACES, MATCHES = 5_000, 500
BESIDE = 4  # words beside an edge of a pattern
_MIN_MATCHES = 10
_CACHED_SIGNATURES = 1 << 14


@dataclass(frozen=True)
class PatternSignature:
    """Signature of a pattern: vectors of its gaps' fillers and of its neighbouring words.

    gaps: the unit vector of what fills each gap, float32[n_dimensions], by the gap's name; zeros
    where no filler has a vector. left, right: of the words beside the pattern; None where a gap
    does. matches: how often it was found, among the places looked at.
    """

    gaps: dict[Hashable, np.ndarray]
    left: np.ndarray | None
    right: np.ndarray | None
    matches: int


class GappedCosine:
    """Cosine of patterns with gaps, by the fillers of each gap; may be shared by threads.

    A gap's vector is the weighted sum of its fillers' vectors, in the space of a learned table; the
    weight is ln(1 + G2) of filler and gap. A gap between two parts has up to six tokens, one at an
    edge is the four words beside it. A pattern found less than ten times is shortened from its
    outer ends, gap by gap, until it is: `is situated at the _` has the gap of `at the _`.

    Work is bounded: of a pattern's rarest part 5,000 occurrences are looked around, chosen by a
    hash of their position, and 500 matches are kept.

    Arguments:
        index: where patterns are looked for. table: a learned table that was signed from it, or
            from other text of the same normaliser.

    Raises:
        IncompatibleError: the table keeps no vectors of words, or normalises in another way.

    >>> round(GappedCosine(index, learned).similarity("the _ of the", "the _ of a"), 1) > 0
    True
    """

    def __init__(self, index: CorpusIndex | AnyPath, table: TableLike) -> None:
        index, table = opened_index(index), opened_table(table)
        if table.parts is None:
            raise IncompatibleError(
                f"{table.path}: keeps no vectors of words to compare gaps by: sign it again with "
                "the preset learned"
            )
        table.require_normaliser_of(index)
        self.index, self.table = index, table
        self.matcher = Matcher(index, PLACES, MATCHES)
        counts = index.word_counts().astype(np.float64)
        counts[0] = 0.0
        self._space = FeatureSpace(
            ("gap",), np.zeros(counts.size, np.uint8), np.empty(0, np.uint64), counts,
            np.array([counts.sum()]),
        )  # fmt: skip
        self._weigher = Weigher(Weighting("log-llr"))
        hashes = frozen(index.vocabulary.word_hashes())
        self._rows = find_sorted(frozen(table.parts.hashes), hashes)
        self._parts = table.parts
        self._known = lru_cache(_CACHED_SIGNATURES)(self._signature_of)

    def __reduce__(self) -> tuple[Any, ...]:
        return GappedCosine, (self.index, self.table)

    def __repr__(self) -> str:
        return f"GappedCosine({self.index!r}, {self.table!r})"

    def similarity(self, a: str, b: str) -> float | None:
        """Return how alike two patterns are, -1 to 1, None where nothing is known of a gap.

        In `take _ into account` and `consider _` each `_` is a gap; the first of one stands for the
        first of the other.

        Arguments:
            a: a pattern, its gaps written `_`.
            b: another one.

        Raises:
            ParameterError: a pattern has no word, or no gap.
        """
        return self.compare(GappedPattern.of_text(a), GappedPattern.of_text(b))

    def similarities(self, pairs: Iterable[tuple[str, str]]) -> list[float | None]:
        """Return the similarity of every pair, None where nothing is known of a gap.

        Arguments:
            pairs: two patterns each.
        """
        return [self.similarity(a, b) for a, b in pairs]

    def compare(self, a: GappedPattern, b: GappedPattern) -> float | None:
        """Return how alike two patterns are: gaps of one name are compared.

        The mean of the gaps' cosines; where both patterns begin with a word, or both end with
        one, the mean of that and of the cosines of the words beside them.

        Arguments:
            a: a pattern.
            b: another one.
        """
        first, second = self.signature(a), self.signature(b)
        inside = [
            _cosine(first.gaps[name], second.gaps[name])
            for name in first.gaps
            if name in second.gaps
        ]
        beside = [
            _cosine(vector, other)
            for vector, other in ((first.left, second.left), (first.right, second.right))
            if vector is not None and other is not None
        ]
        means = [fmean(known) for known in (_known(inside), _known(beside)) if known]
        return fmean(means) if _known(inside) else None

    def signature(self, pattern: GappedPattern) -> PatternSignature:
        """Return the signature of a pattern, from the cache where it is there.

        Arguments:
            pattern: words and gaps, `take _ into`.
        """
        return self._known(pattern)

    def _signature_of(self, pattern: GappedPattern) -> PatternSignature:
        whole = self.matcher.matches(pattern.parts)
        last = len(pattern.parts)
        gaps: dict[Hashable, np.ndarray] = {}
        beside: dict[int, np.ndarray] = {}
        for slot, names in enumerate(pattern.gaps):
            vector = self._slot_vector(pattern, slot, whole)
            gaps |= dict.fromkeys(names, vector)
            if not names:
                beside[slot] = vector
        return PatternSignature(
            gaps, beside.get(0), beside.get(last), 0 if whole is None else len(whole.begins)
        )

    def _slot_vector(
        self, pattern: GappedPattern, slot: int, whole: PatternMatches | None
    ) -> np.ndarray:
        matches, at = whole, slot
        if matches is None or len(matches.begins) < _MIN_MATCHES:
            for before, behind in pattern.around(slot):
                parts = tuple(part for part in (before, behind) if part)
                if len(pattern.parts) > 1 and parts == pattern.parts:
                    continue
                other = self.matcher.matches(parts)
                if other is None:
                    continue
                enough = len(other.begins) >= _MIN_MATCHES
                if matches is None or enough:
                    matches, at = other, 1 if before else 0
                if enough:
                    break
        if matches is None:
            return np.zeros(self._parts.n_dimensions, np.float32)
        inner = 0 < at < matches.begins.shape[1]
        max_fillers = self.matcher.longest_gap if inner else BESIDE
        return self.vector(self.matcher.fillers(matches, at, max_fillers))

    def vector(self, fillers: np.ndarray) -> np.ndarray:
        """Return the unit vector of fillers, float32[n_dimensions]; uint32[n, m], 0 for none.

        Arguments:
            fillers: of the pattern.
        """
        words, counts = np.unique(fillers, return_counts=True)
        has_vector = (words != 0) & (self._rows[words] >= 0)
        words, counts = words[has_vector], counts[has_vector]
        fillers_counted = ContextCounts(
            np.array([0, words.size]), words.astype(np.uint32), counts.astype(np.uint32)
        )
        weights = self._weigher.weigh(fillers_counted, self._space)
        total = weights.astype(np.float32) @ self._parts.unit_vectors(self._rows[words])
        length = float(np.sqrt(total @ total))
        return frozen(total / length if length > 0.0 else total)


def _cosine(a: np.ndarray, b: np.ndarray) -> float | None:
    """Return the cosine of two unit vectors, None where one is of zeros.

    Arguments:
        a, b: float64[n_dimensions].
    """
    return float(np.clip(a @ b, -1.0, 1.0)) if a.any() and b.any() else None


def _known(cosines: list[float | None]) -> list[float]:
    return [cosine for cosine in cosines if cosine is not None]
