"""Distinctive words of a table's phrases, by which repetitive neighbours are recognised.

The core of a phrase is its words without those that make up more than a thousandth of the text,
unless it has no others; punctuation alone is its own core. An inflected form stands there as its
base word, where `sign` stored the rules of the text's language.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from threading import Lock

import numpy as np

from distsim.base.arguments import Pair
from distsim.corpus.inflections import LEAST_ALIKE, NONE, RAREST_BASE, Inflections, base_words
from distsim.corpus.vocabulary import GrowingArray, HashNumbering, hash_texts
from distsim.kernels.arrays import places_of_ranges
from distsim.kernels.compiled import frozen
from distsim.signatures.kernels import distinctive_words as kernel
from distsim.signatures.table import StoredTable

_COMMON_SHARE = 1 / 1000
_LEAST_COHESION = 4.0
_NEARLY_ALL = 0.8  # of a phrase's occurrences, in a longer one
_MAX_FORM_STEPS = 3  # from a form to its base word: buildings, building, build


@dataclass(frozen=True)
class Cores:
    """The cores of some rows of a table, as sparse rows: distinctive tokens, or else the words.

    starts: int64[n + 1], the first word of each core. words: uint64, hashes of base words,
    ascending within a core. keys: uint64, equal for equal cores of the same forms. bare: uint8,
    whether a phrase neither begins nor ends with punctuation. strengths, tokens: int64,
    occurrences and number of tokens of each row. plain: bool, whether no token is distinctive.
    fragments: bool, whether a phrase of several tokens is none by itself, as `_are_fragments`
    tells it.
    """

    starts: np.ndarray
    words: np.ndarray
    keys: np.ndarray
    bare: np.ndarray
    strengths: np.ndarray
    tokens: np.ndarray
    plain: np.ndarray
    fragments: np.ndarray


class DistinctiveWords:
    """Finds the distinctive words of a table's phrases; computed once a table.

    Arguments:
        table: the table.
    """

    def __init__(self, table: StoredTable) -> None:
        self._table = table
        self._bases: dict[str, str] = {}
        self._forget()
        self._lock = Lock()

    @cached_property
    def _inflections(self) -> Inflections | None:
        """The rules by which the table's finder knows forms; None where it has none that ship."""
        name = self._table.inflections
        return None if name in (None, NONE) else Inflections.open(name)

    @cached_property
    def tokens(self) -> np.ndarray:
        """The number of tokens of every row's phrase, uint16."""
        return frozen(self._table.token_counts())

    @cached_property
    def n_words(self) -> int:
        """Occurrences of words in the text behind the table."""
        return int(self._table.strengths[self.tokens == 1].sum(dtype=np.int64))

    def cores(self, rows: np.ndarray) -> Cores:
        """Return the cores of some rows.

        Arguments:
            rows: int64[n].
        """
        n_tokens = frozen(self.tokens[rows].astype(np.int64))
        text, *edges = self._table.edges(rows)
        starts, hashes, begins, ends = kernel.hash_tokens(text, *edges, n_tokens)
        bases, is_word, is_distinctive, of_tokens = map(
            frozen, self._describe_tokens(hashes, text, begins, ends)
        )
        arrays = kernel.gather_cores(frozen(starts), frozen(hashes), is_distinctive, is_word)
        if self._inflections is not None:
            by_base = kernel.gather_cores(frozen(starts), bases, is_distinctive, is_word)
            arrays = (*by_base[:2], *arrays[2:])
        strengths = self._table.strengths[rows].astype(np.int64)
        plain = np.zeros(rows.size, bool)
        if rows.size:
            plain = np.bitwise_or.reduceat(is_distinctive, starts[:-1]) == 0
        tokens = starts, is_word, of_tokens
        fragments = self._are_fragments(rows, strengths, tokens, text, begins, ends)
        return Cores(*map(frozen, (*arrays, strengths, n_tokens, plain, fragments)))

    def _are_fragments(
        self, rows: np.ndarray, strengths: np.ndarray, tokens: tuple[np.ndarray, ...],
        text: np.ndarray, begins: np.ndarray, ends: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Return whether phrases are pieces of text that happen to stand together, bool[n].

        Those are less than _LEAST_COHESION times as frequent as if the first token and the rest
        were independent, or the last one and what is before it (`and to`). So are those that stand
        nearly always in one of the rows that adds a word (`deputy prime`). Words never are, nor
        phrases of which parts are not in the table.

        Arguments:
            rows, strengths: int64[n], and their occurrences.
            tokens: int64[n + 1], the first token of each phrase; by token uint8, whether it is a
                word, and int64, its row or -1.
            text: uint8. begins, ends: int64, half-open range of each token in the text.
        """
        starts, is_word, of_tokens = tokens
        fragments = np.zeros(rows.size, bool)
        several = np.flatnonzero(np.diff(starts) > 1)
        first, last = starts[several], starts[several + 1] - 1
        head, behind, before, tail = (of_tokens[at] for at in (first, last, first, last))
        longer = np.flatnonzero(last - first > 1)
        without_first = begins[first[longer] + 1], ends[last[longer]]
        without_last = begins[first[longer]], ends[last[longer] - 1]
        behind[longer], before[longer] = self._rows_of(text, *without_first, *without_last)
        pieces = np.stack([head, behind, before, tail])
        counts = np.where(pieces < 0, 0, self._table.strengths[pieces]).astype(np.float64)
        own = strengths[several]
        by_chance = np.maximum(counts[0] * counts[1], counts[2] * counts[3]) / max(self.n_words, 1)
        fragments[several] = own < _LEAST_COHESION * by_chance
        wholes = [
            behind[(is_word[first] != 0) & (own >= _NEARLY_ALL * counts[1])],
            before[(is_word[last] != 0) & (own >= _NEARLY_ALL * counts[2])],
        ]
        fragments[several] |= np.isin(rows[several], np.concatenate(wholes))
        return fragments

    def _rows_of(self, text: np.ndarray, *edges: np.ndarray) -> np.ndarray:
        """Return the rows of ranges of a text, -1 where there is none; int64[m, n].

        Arguments:
            text: uint8.
            edges: int64[n] each, where ranges begin and end, m times one after the other.
        """
        begins, ends = np.concatenate(edges[::2]), np.concatenate(edges[1::2])
        offsets = np.concatenate([[0], np.cumsum(ends - begins)])
        at = places_of_ranges(begins, ends - begins)
        rows = self._table.find_rendered(frozen(text[at]), frozen(offsets))
        return rows.reshape(len(edges) // 2, -1)

    def _describe_tokens(
        self, hashes: np.ndarray, text: np.ndarray, begins: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return hashes of base words, uint64[n]; whether each is a word, and distinctive, uint8.

        And the rows of the tokens in the table, int64, -1 where there is none.

        Found once a token.

        Arguments:
            hashes: uint64[n], of tokens.
            text: uint8. begins, ends: int64[n], half-open range of each token in it.
        """
        with self._lock:
            numbers, new = self._numbering.number(hashes)
            if new.size:
                try:
                    columns = self._describe_new(text, begins[new], ends[new])
                except BaseException:
                    self._forget()
                    raise
                for column, values in zip(self._columns, columns, strict=True):
                    column.append(values)
            return tuple(column.view()[numbers] for column in self._columns)

    def _describe_new(
        self, text: np.ndarray, begins: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return what `_describe_tokens` does of tokens that were not asked for before."""
        edges = zip(begins.tolist(), ends.tolist(), strict=True)
        tokens = [text[a:b].tobytes().decode(errors="replace") for a, b in edges]
        is_word = np.array([_is_word(token) for token in tokens], np.uint8)
        rows = self._table.find_normal(tokens)
        return self._base_hashes(tokens), is_word, self._are_distinctive(rows) & is_word, rows

    def _forget(self) -> None:
        """Start anew with the tokens that were looked up."""
        self._numbering = HashNumbering()
        self._columns = tuple(
            GrowingArray(dtype) for dtype in (np.uint64, np.uint8, np.uint8, np.int64)
        )

    def core(self, phrase: str) -> tuple[np.ndarray, np.ndarray]:
        """Return (the core of a phrase, all its words): hashes of base words, uint64, ascending.

        Arguments:
            phrase: in its normal form.
        """
        tokens = phrase.split(" ")
        words = [token for token in tokens if _is_word(token)]
        distinctive = self._are_distinctive(self._table.find_normal(words))
        core = [token for token, tells in zip(words, distinctive.tolist(), strict=True) if tells]
        own = self._base_hashes(core or words or tokens)
        return np.unique(own), np.unique(self._base_hashes(tokens))

    def _base_hashes(self, tokens: list[str]) -> np.ndarray:
        """Return the hash of each token's base word, uint64."""
        for _ in range(_MAX_FORM_STEPS if self._inflections is not None else 0):
            self._learn_bases(dict.fromkeys(tokens))
            tokens = [self._bases[token] for token in tokens]
        return hash_texts([token.encode() for token in tokens])

    def _learn_bases(self, tokens: Iterable[str]) -> None:
        """Find the words of which tokens are forms: the most frequent that is like the form."""
        assert self._inflections is not None
        rules = self._inflections
        candidates = {
            form: rules.candidates(form, bool) for form in tokens if form not in self._bases
        }
        words = list(dict.fromkeys(chain(candidates, *candidates.values())))
        rows = self._table.find_normal(words)
        strengths = np.where(rows >= 0, self._table.strengths[rows].astype(np.int64), 0).tolist()
        counts = dict(zip(words, strengths, strict=True))
        self._bases |= base_words(
            candidates,
            counts.__getitem__,
            lambda base, form: (
                counts[base] > 0
                and counts[base] * RAREST_BASE >= counts[form]
                and form in rules.forms(base)
            ),
            self._alike,
        )

    def _alike(self, pairs: list[Pair]) -> list[Pair]:
        """Return the pairs of words that may be forms of one; also where it is unknown."""
        parts = self._table.parts
        if parts is None or not pairs:
            return pairs
        first, second = (parts.find(list(words)) for words in zip(*pairs, strict=True))
        a, b = (parts.unit_vectors(rows) for rows in (first, second))
        are_alike = ((a * b).sum(axis=1) >= LEAST_ALIKE) | (first < 0) | (second < 0)
        return list(compress(pairs, are_alike.tolist()))

    def _are_distinctive(self, rows: np.ndarray) -> np.ndarray:
        """Return whether the words of some rows, or of none, are rare enough in the text; uint8."""
        common = self._table.strengths[np.maximum(rows, 0)] > self.n_words * _COMMON_SHARE
        return np.where(rows < 0, True, ~common).astype(np.uint8)


def _is_word(token: str) -> bool:
    return token.isalnum() or any(c.isalnum() for c in token)
