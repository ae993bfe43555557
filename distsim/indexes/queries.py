"""Queries by pattern, as compiled (query_compiler.py), and which of their matches are taken.

The rarest token that no match lacks is looked up in the suffix array, and the sentences around its
occurrences are read. The language: query_language.py.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, get_args

import numpy as np

from distsim.base.arguments import Matching
from distsim.base.errors import ParameterError
from distsim.indexes.kernels import queries as kernel
from distsim.indexes.kernels.queries import Automaton
from distsim.indexes.query_language import GAP
from distsim.kernels.compiled import frozen

LONGEST_GAP = 6
MAX_MATCHES = 10_000_000
MATCHINGS: tuple[str, ...] = get_args(Matching)
MATCHING_STEPS = 20_000_000  # of a query, and one for each token: about a second


@dataclass(frozen=True)
class QuerySettings:
    """Settings of queries by pattern.

    matching: of the matches with the same first token the `shortest`, the `longest`, or `all`.
    """

    matching: Matching = "shortest"


class CompiledFilter(NamedTuple):
    """A filter of matches.

    contains, negated: how `inner` lies to a match. inner: a compiled query, or bool by document.
    """

    contains: bool
    negated: bool
    inner: Any


class CompiledQuery(NamedTuple):
    """A query compiled for an index.

    Attributes:
        anchor_words: bool by word: each match has one of these; None: all text is read.
        anchor: the states of the anchor.
        automaton: of the words, or of the analyses where `layered`. Its `starts` and `stops` are
            positions in the corpus.
        reach: tokens from the anchor to the farthest token of a match; None: its sentence.
        longest: tokens of a match at most.
        filters: of matches.
        layered: the query asks for lemmas or tags.
    """

    anchor_words: np.ndarray | None
    anchor: int
    automaton: Automaton
    reach: int | None
    longest: int
    filters: tuple[CompiledFilter, ...]
    layered: bool = False

    @property
    def n_queries(self) -> int:
        """Number of queries: this one and those of its filters."""
        inner = [part.inner for part in self.filters if isinstance(part.inner, CompiledQuery)]
        return 1 + sum(inner_query.n_queries for inner_query in inner)


def gapped_query(pattern: str, longest_gap: int = LONGEST_GAP) -> str:
    r"""Return the query with the matches of a phrase with gaps.

    Arguments:
        pattern: the phrase, `_` for a gap.
        longest_gap: tokens.

    Raises:
        ParameterError: the pattern has no gap, or no word on one side of it.

    >>> gapped_query("take _ into", 2)
    'take []{1,2} into'
    """
    words = pattern.split()
    is_gap = [word == GAP for word in words]
    if not any(is_gap) or is_gap[0] or is_gap[-1] or any(map(all, pairwise(is_gap))):
        raise ParameterError(
            f"{pattern!r}: a gapped phrase has words before and after each {GAP}, "
            f"as in 'take {GAP} into account'"
        )
    gap = f"[]{{1,{longest_gap}}}"
    # A backslash before signs, and before words that are operators.
    return " ".join(
        gap if word == GAP else re.sub(r"^(?=within$|containing$|meet$|union$)|(?=\W)", r"\\", word)
        for word in words
    )


def matches(
    query: CompiledQuery, matching: str, of_shards: Callable[[CompiledQuery, int], np.ndarray],
    document_edges: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the spans that match a compiled query, int64[m, 2], ascending.

    Arguments:
        query: the compiled query.
        matching: of the matches with the same first token the `shortest`, `longest` or `all`.
        of_shards: returns the spans of all shards, of a query and SHORTEST, LONGEST or ALL.
        document_edges: int64, where each document begins, and where the last one ends.
    """
    which = MATCHINGS.index(matching)
    changes = [
        condition for condition in query.filters
        if isinstance(condition.inner, CompiledQuery)
        and (condition.negated or condition.contains != (matching == "longest"))
    ]  # fmt: skip
    spans = of_shards(query, kernel.ALL if changes else which)
    for condition in query.filters:
        if isinstance(condition.inner, CompiledQuery):
            shortest = "shortest" if condition.contains else "longest"
            inner = matches(condition.inner, shortest, of_shards, document_edges)
            holds = _contain(spans, inner) if condition.contains else _within(spans, inner)
        else:
            holds = condition.inner[np.searchsorted(document_edges, spans[:, 0], "right") - 1]
        spans = spans[holds != condition.negated]
    return one_of_each_start(spans, which)


def one_of_each_start(spans: np.ndarray, which: int) -> np.ndarray:
    """Return the shortest or longest span of each beginning, or all; ascending, each once.

    Arguments:
        spans: int64[m, 2]. which: a kernel's SHORTEST, LONGEST or ALL.
    """
    if kernel.is_ascending(frozen(spans), which != kernel.ALL):
        return spans
    keys = spans[:, 0] << 24 | np.minimum(spans[:, 1] - spans[:, 0], (1 << 24) - 1)
    keys.sort(kind="stable")  # they are nearly so
    begins = keys >> 24
    if which == kernel.SHORTEST:
        stays = np.diff(begins, prepend=-1) != 0
    elif which == kernel.LONGEST:
        stays = np.diff(begins, append=-1) != 0
    else:
        stays = np.diff(keys, prepend=-1) != 0
    begins, lengths = begins[stays], keys[stays] & ((1 << 24) - 1)
    return np.column_stack([begins, begins + lengths])


def _within(spans: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Return whether each span lies in one of the outer ones, bool; of each start the longest."""
    if not len(outer):
        return np.zeros(len(spans), np.bool_)
    farthest = np.maximum.accumulate(outer[:, 1])
    before = np.searchsorted(outer[:, 0], spans[:, 0], "right") - 1
    inside: np.ndarray = (before >= 0) & (farthest[np.maximum(before, 0)] >= spans[:, 1])
    return inside


def _contain(spans: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Return whether each span contains one of the inner ones, bool; of each start the shortest."""
    if not len(inner):
        return np.zeros(len(spans), np.bool_)
    nearest = np.minimum.accumulate(inner[::-1, 1])[::-1]
    after = np.searchsorted(inner[:, 0], spans[:, 0], "left")
    contain: np.ndarray = (after < len(inner)) & (
        nearest[np.minimum(after, len(inner) - 1)] <= spans[:, 1]
    )
    return contain
